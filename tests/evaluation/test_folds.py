"""Folds, grouped folds, splits in time, a holdout; and replay: which messages a filter learns, and when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.errors import BadDataError, UsageError
from nbspam.evaluation.folds import draw_folds, draw_grouped_folds, hold_out, split_by_time
from nbspam.evaluation.outcomes import Outcome
from nbspam.evaluation.replay import parse_feedback, replay

two_classes = st.tuples(st.integers(3, 40), st.integers(3, 40)).map(lambda sizes: np.repeat([0, 1], sizes))


@given(two_classes, st.integers(2, 3), st.integers(0, 9))
def test_folds_spread_each_class_evenly(truth, folds, seed):
    fold = draw_folds(truth, folds, seed)
    assert set(fold) == set(range(folds))
    for rows in (truth == 0, truth == 1, truth >= 0):
        sizes = np.bincount(fold[rows], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


@given(two_classes, st.data())
def test_a_group_stays_in_one_fold(truth, data):
    groups = np.array([data.draw(st.integers(0, 25)) for _ in truth])
    groups[:3], groups[-3:] = [100, 101, 102], [103, 104, 105]  # at least three groups a class
    fold = draw_grouped_folds(truth, groups, 3)
    for group in set(groups):
        assert len(set(fold[groups == group])) == 1


@pytest.mark.parametrize(
    ("truth", "folds", "error", "slug"),
    [
        ([0, 0, 0, 1], 2, BadDataError, "too-many-folds"),
        ([0, 0, 0, 0], 2, BadDataError, "one-class"),
        ([], 2, BadDataError, "one-class"),
        ([0, 1, 0, 1], 1, UsageError, "too-few-folds"),
    ],
)
def test_folds_that_cannot_be_made_are_refused(truth, folds, error, slug):
    for make in (draw_folds, lambda t, f: draw_grouped_folds(t, np.arange(len(t)), f)):
        with pytest.raises(error) as caught:
            make(truth, folds)
        assert caught.value.slug == slug


def test_splits_in_time_train_on_the_past_only():
    order = np.array([4, 2, 0, 1, 3, 5, 7, 6])
    splits = split_by_time([0, 1, 1, 1, 0, 0, 0, 1], order, 3)
    assert [(train.tolist(), judged.tolist()) for train, judged in splits] == [
        ([2, 4], [0, 1]),
        ([0, 1, 2, 4], [3, 5]),
        ([0, 1, 2, 3, 4, 5], [6, 7]),
    ]


def test_a_past_without_one_of_the_classes_is_refused():
    with pytest.raises(BadDataError, match="oldest"):
        split_by_time([0, 0, 0, 1, 1, 1], np.arange(6), 2)
    with pytest.raises(BadDataError, match="oldest"):
        hold_out([0, 0, 0, 1], 0.25, order=np.arange(4))


def test_a_holdout_keeps_the_share_of_each_class():
    truth = np.repeat([0, 1], [70, 30])
    train, judged = hold_out(truth, 0.3, seed=5)
    assert np.bincount(truth[judged]).tolist() == [21, 9]
    assert sorted([*train, *judged]) == list(range(100))
    assert hold_out(truth, 0.3, seed=5)[1].tolist() == judged.tolist()
    assert hold_out(truth, 0.3, seed=6)[1].tolist() != judged.tolist()


def test_a_holdout_in_time_judges_the_newest():
    train, judged = hold_out([0, 1, 0, 1, 0], 0.4, order=[4, 3, 2, 1, 0])
    assert (train.tolist(), judged.tolist()) == ([2, 3, 4], [0, 1])


@pytest.mark.parametrize("share", [0, 1, -0.5, 30, float("nan")])
def test_a_share_outside_0_to_1_is_refused(share):
    with pytest.raises(UsageError):
        hold_out([0, 1, 0, 1], share)


class Recorder:
    """A filter that decides by a given list of log-odds and writes down all calls."""

    def __init__(self, odds):
        self.odds = odds
        self.calls = []

    def score(self, message):
        self.calls.append(f"score {message}")
        odds = self.odds[message]
        return Outcome(-1 if odds is None else int(odds > 0), odds, ())

    def learn(self, message, label):
        self.calls.append(f"learn {message} as {label}")


TRUTH = [0, 1, 1, 0, 1, 0]
ODDS = [-5.0, 2.0, -0.5, 1.0, 0.3, -0.6]  # right, right, wrong, wrong, right, right


def run(text, odds=ODDS, truth=TRUTH, **options):
    subject = Recorder(odds)
    return subject, replay(range(len(truth)), truth, subject, parse_feedback(text), **options)


def learned(text, **options):
    return run(text, **options)[1].learned


def test_immediate_feedback_comes_right_after_each_message():
    subject, result = run("immediate", truth=TRUTH[:2])
    assert subject.calls == ["score 0", "learn 0 as 0", "score 1", "learn 1 as 1"]
    assert [outcome.log_odds for outcome in result.outcomes] == ODDS[:2]


def test_delayed_feedback_comes_after_that_many_further_messages():
    subject, result = run("delayed:2", truth=TRUTH[:4])
    calls = ["score 0", "score 1", "score 2", "learn 0 as 0", "score 3", "learn 1 as 1"]
    assert subject.calls == calls
    assert result.learned == [0, 1]
    assert run("delayed:0")[0].calls == run("immediate")[0].calls


def test_on_error_learns_mistakes_and_unsure_decisions_only():
    assert learned("on-error") == [2, 3]
    assert learned("on-error", odds=[*ODDS[:4], None, -0.6]) == [2, 3, 4]


def test_partial_feedback_draws_the_share_by_the_seed():
    truth, odds = [0, 1] * 2000, [0.5] * 4000
    first, again, other = (learned("partial:0.25", odds=odds, truth=truth, seed=n) for n in (1, 1, 2))
    assert first == again != other
    assert len(first) == pytest.approx(1000, abs=100)
    assert len(learned("partial:1")) == 6


def test_first_feedback_ends_after_that_many_messages():
    assert learned("first:2") == [0, 1]


def test_feedback_is_read_as_it_was_written():
    for text in ("immediate", "on-error", "delayed:100", "partial:0.5", "first:7"):
        assert str(parse_feedback(text)) == text


def test_other_feedback_is_a_usage_error():
    for text in ("never", "immediate:1", "delayed", "delayed:-1", "delayed:1.5", "partial:0", "thick:1"):
        with pytest.raises(UsageError) as caught:
            parse_feedback(text)
        assert "delayed:N" in caught.value.remedy
