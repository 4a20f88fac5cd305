"""Replaying mail through a filter: which messages it learns, and when."""

import pytest

from nbspam.errors import UsageError
from nbspam.evaluation.outcomes import Outcome
from nbspam.evaluation.replay import parse_feedback, replay


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
