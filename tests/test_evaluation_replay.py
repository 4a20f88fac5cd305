"""Replaying mail through a filter: who is told what, and when; and the curve that comes of it."""

import math

import numpy as np
import pytest

from nbspam.errors import UsageError
from nbspam.evaluate.learning_curve import FIELDS, learning_curve
from nbspam.evaluate.outcomes import Evaluation, Outcome
from nbspam.evaluate.replay import Feedback, parse_feedback, replay
from nbspam.evaluate.summary import summary


class Recorder:
    """A filter that decides by a given list of log-odds and writes down all calls."""

    def __init__(self, odds):
        self.odds = odds
        self.calls = []

    def score(self, message):
        self.calls.append(f"score {message}")
        odds = self.odds[message]
        decided = -1 if odds is None else int(odds > 0)
        return Outcome(f"m{message}", 0, decided, odds, ())

    def learn(self, message, label):
        self.calls.append(f"learn {message} as {label}")

    def learned(self):
        return [int(call.split()[1]) for call in self.calls if call.startswith("learn")]


TRUTH = [0, 1, 1, 0, 1]
ODDS = [-5.0, 2.0, -0.5, 1.0, 0.3]  # right, right, wrong, wrong, right


def run(text, odds=ODDS, truth=TRUTH, **options):
    subject = Recorder(odds)
    return subject, replay(truth, subject, parse_feedback(text), **options)


def test_immediate_feedback_comes_right_after_each_message():
    subject, _ = run("immediate", truth=TRUTH[:2])
    assert subject.calls == ["score 0", "learn 0 as 0", "score 1", "learn 1 as 1"]


def test_delayed_feedback_comes_after_that_many_further_messages():
    subject, result = run("delayed:2")
    assert subject.calls == [
        "score 0",
        "score 1",
        "score 2",
        "learn 0 as 0",
        "score 3",
        "learn 1 as 1",
        "score 4",
        "learn 2 as 1",
    ]
    assert result.trained == 3


def test_no_delay_is_immediate():
    assert run("delayed:0")[0].calls == run("immediate")[0].calls


def test_on_error_learns_mistakes_and_unsure_decisions_only():
    subject, result = run("on-error", odds=[*ODDS[:4], None])
    assert subject.learned() == [2, 3, 4]
    assert result.trained == 3


def test_a_thick_threshold_learns_close_calls_too():
    assert run("thick:0.4")[0].learned() == [2, 3, 4]
    assert run("thick:0")[0].learned() == [2, 3]
    assert run("thick:2")[0].learned() == [1, 2, 3, 4]
    assert run("thick:1", centre_nats=-5.0)[0].learned() == [0, 2, 3]


def test_partial_feedback_tells_the_share_by_the_seed():
    truth, odds = [0, 1] * 2000, [0.5] * 4000
    _, first = run("partial:0.25", odds, truth, seed=1)
    subject, again = run("partial:0.25", odds, truth, seed=1)
    other, _ = run("partial:0.25", odds, truth, seed=2)
    assert first.trained == again.trained == pytest.approx(1000, abs=100)
    assert subject.learned() != other.learned()
    assert run("partial:1")[1].trained == 5


def test_outcomes_carry_the_truth_and_the_order_of_the_replay():
    _, result = run("immediate")
    assert [outcome.truth for outcome in result.outcomes] == TRUTH
    assert [outcome.index for outcome in result.outcomes] == [0, 1, 2, 3, 4]
    assert [outcome.log_odds for outcome in result.outcomes] == ODDS


def test_progress_is_told_after_each_message():
    steps = []
    run("immediate", progress=steps.append)
    assert steps == [1] * 5


@pytest.mark.parametrize(
    ("text", "feedback"),
    [
        ("immediate", Feedback("immediate")),
        ("on-error", Feedback("on-error")),
        ("delayed:100", Feedback("delayed", 100)),
        ("partial:0.5", Feedback("partial", 0.5)),
        ("thick:1.5", Feedback("thick", 1.5)),
    ],
)
def test_feedback_is_read_and_written_alike(text, feedback):
    assert parse_feedback(text) == feedback
    assert str(feedback) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "never",
            "immediate:1",
            "on-error:",
            "delayed",
            "delayed:",
            "delayed:-1",
            "delayed:1.5",
            "delayed:²",
        ),
        *("delayed:9999999999", "partial:0", "partial:1.1", "partial:x", "partial:nan", "partial"),
        *("thick:-1", "thick:inf", "thick:nan", "thick"),
    ],
)
def test_other_feedback_is_a_usage_error(text):
    with pytest.raises(UsageError) as caught:
        parse_feedback(text)
    assert "delayed:N" in caught.value.remedy


def curve_sample():
    # Wrong at first, right later: 100 messages, ham and spam in turn.
    outcomes = []
    for place in range(100):
        truth = place % 2
        right = place >= 20
        decided = truth if right else 1 - truth
        outcomes.append(Outcome(str(place), truth, decided, 3.0 if decided else -3.0, (), None, place))
    return Evaluation(("ham", "spam"), tuple(outcomes), "replay")


def test_the_curve_is_cumulative_and_windowed():
    curve = learning_curve(curve_sample(), points=5, window=20)
    assert curve.dtype.names == FIELDS
    assert curve["messages"].tolist() == [20, 40, 60, 80, 100]
    assert curve["hm_percent"].tolist() == pytest.approx([100, 50, 100 / 3, 25, 20])
    assert curve["window_sm_percent"].tolist() == [100, 0, 0, 0, 0]
    assert curve["window_one_minus_roca_percent"].tolist() == [100, 0, 0, 0, 0]


def test_the_curve_ends_at_the_summary():
    last = learning_curve(curve_sample())[-1]
    found = summary(curve_sample())
    for name in ("hm_percent", "sm_percent", "one_minus_roca_percent"):
        assert last[name] == pytest.approx(found[name])


def test_the_curve_follows_the_order_judged_and_not_the_order_listed():
    evaluation = curve_sample()
    shuffled = Evaluation(evaluation.classes, evaluation.outcomes[::-1], "replay")
    assert np.array_equal(learning_curve(shuffled), learning_curve(evaluation))


def test_a_curve_starts_undefined_until_both_classes_came():
    outcomes = tuple(Outcome(str(n), int(n == 3), 0, -1.0 * n, (), None, n) for n in range(4))
    curve = learning_curve(Evaluation(("ham", "spam"), outcomes, "replay"))
    assert len(curve) == 4
    assert [math.isnan(value) for value in curve["one_minus_roca_percent"]] == [True, True, True, False]
