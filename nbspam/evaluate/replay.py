"""Judging a filter as a user would: message after message, learning what the user tells it.

Hides when the true class reaches the filter (the feedback), and nothing of the filter
itself: any object that scores and learns can be replayed, so peers are measured by the same code.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

import numpy as np

from nbspam.decision import UNDECIDED
from nbspam.errors import UsageError
from nbspam.evaluate.outcomes import Outcome

IMMEDIATE, DELAYED, PARTIAL, ON_ERROR, THICK = "immediate", "delayed", "partial", "on-error", "thick"
FIRST = "first"
WITH_AMOUNT = (DELAYED, PARTIAL, THICK, FIRST)


class Filter(Protocol):
    """What replay needs of a filter."""

    def score(self, message: int) -> Outcome:
        """Judge message number `message` with what was learned so far."""

    def learn(self, message: int, label: int) -> None:
        """Learn that message number `message` is of class `label`."""


class SelfTeaching(Filter, Protocol):
    """What OwnWord needs of a filter."""

    def autolearn(self, message: int, outcome: Outcome) -> int:
        """Learn message number `message`, just judged, on that verdict; the class, or UNDECIDED if not."""

    def unlearn(self, message: int, label: int) -> None:
        """Take back that message number `message` was learned as class `label`."""


class OwnWord:
    """A filter that learns each message on its own verdict, and forgets it when it is told or long after.

    learned : message -> class, of those that nobody has told it
    """

    def __init__(self, subject: SelfTeaching, outdated: Callable[[int], int] = lambda own: 0) -> None:
        """outdated : how many it forgets of so many that it has learned so; none unless given"""
        self._subject = subject
        self._outdated = outdated
        self._counted: dict[int, int] = {}  # of `learned` what is not forgotten, the oldest first
        self.learned: dict[int, int] = {}

    def score(self, message: int) -> Outcome:
        """Judge a message, and learn that."""
        outcome = self._subject.score(message)
        label = self._subject.autolearn(message, outcome)
        if label != UNDECIDED:
            self.learned[message] = self._counted[message] = label
            for _ in range(self._outdated(len(self._counted))):
                self._take_back(next(iter(self._counted)))
        return outcome

    def learn(self, message: int, label: int) -> None:
        """Learn what a message is in truth, in place of what it was taken for."""
        self.learned.pop(message, None)
        if message in self._counted:
            self._take_back(message)
        self._subject.learn(message, label)

    def _take_back(self, message: int) -> None:
        self._subject.unlearn(message, self._counted.pop(message))


@dataclass(frozen=True, slots=True)
class Feedback:
    """When the filter is told the true class.

    kind   : immediate, delayed, partial, on-error, thick or first
    amount : messages of delay, share told, margin in nats, or messages told; 0 for the others
    """

    kind: str = IMMEDIATE
    amount: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind}:{self.amount:.10g}" if self.kind in WITH_AMOUNT else self.kind


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay gave.

    outcomes : one a message, in the order replayed, `index` set to it
    trained  : how many messages were learned
    """

    outcomes: tuple[Outcome, ...]
    trained: int


def parse_feedback(text: str) -> Feedback:
    """Read `immediate`, `delayed:N`, `partial:SHARE`, `on-error`, `thick:MARGIN` (nats) or `first:N`.

    N is a whole number >= 0, SHARE 0 < SHARE <= 1, MARGIN >= 0.  UsageError for anything else.
    """
    kind, colon, amount = text.partition(":")
    if kind in (IMMEDIATE, ON_ERROR) and not colon:
        return Feedback(kind)
    if kind in (DELAYED, FIRST) and amount.isdecimal() and amount.isascii() and len(amount) < 10:
        return Feedback(kind, float(int(amount)))
    try:
        number = float(amount) if kind in (PARTIAL, THICK) else -1.0
    except ValueError:
        number = -1.0
    if (kind == PARTIAL and 0 < number <= 1) or (kind == THICK and number >= 0 and isfinite(number)):
        return Feedback(kind, number)
    raise UsageError(
        "--feedback",
        f"{text[:40]!r} is no feedback",
        "use immediate, delayed:N, partial:SHARE, on-error, thick:MARGIN or first:N, for example delayed:100",
        "feedback",
    )


def replay(
    truth: Sequence[int],
    subject: Filter,
    feedback: Feedback = Feedback(),
    seed: int = 0,
    centre_nats: float = 0.0,
    progress: Callable[[int], object] | None = None,
) -> Replay:
    """Classify each message, then tell the filter the true class as `feedback` says.

    truth       : class number of each message, in the order of the replay
    immediate   : told right after each message (TREC's own setting)
    delayed:N   : told after N further messages were classified; the last N are never told
    partial:S   : told at once for a share S of the messages drawn by `seed`, never for the others
    first:N     : told at once of the first N messages, never of the others
    on-error    : told when the decision was not the true class; unsure counts as an error
    thick:M     : told on error, and when the log-odds lie within M nats of `centre_nats`, or are undefined
    progress    : called with 1 after each message
    """
    told = np.random.default_rng(seed).random(len(truth)) < feedback.amount
    waiting: deque[int] = deque()
    outcomes: list[Outcome] = []
    trained = 0
    for message, label in enumerate(truth):
        outcome = subject.score(message)
        outcomes.append(_placed(outcome, message, label))
        if _is_told(feedback, outcomes[-1], bool(told[message]), centre_nats):
            waiting.append(message)
        delay = int(feedback.amount) if feedback.kind == DELAYED else 0
        while waiting and waiting[0] <= message - delay:
            learned = waiting.popleft()
            subject.learn(learned, truth[learned])
            trained += 1
        if progress is not None:
            progress(1)
    return Replay(tuple(outcomes), trained)


def _placed(outcome: Outcome, message: int, label: int) -> Outcome:
    """The outcome with the truth and place that the replay knows: a filter need not know either."""
    if outcome.truth == label and outcome.index == message:
        return outcome
    return Outcome(
        outcome.name, label, outcome.decided, outcome.log_odds, outcome.probabilities, outcome.time, message
    )


def _is_told(feedback: Feedback, outcome: Outcome, drawn: bool, centre_nats: float) -> bool:
    if feedback.kind in (IMMEDIATE, DELAYED):
        return True
    if feedback.kind == PARTIAL:
        return drawn
    if feedback.kind == FIRST:
        return outcome.index < feedback.amount
    if outcome.decided != outcome.truth:
        return True
    if feedback.kind == ON_ERROR:
        return False
    return outcome.log_odds is None or abs(outcome.log_odds - centre_nats) <= feedback.amount
