"""Judging a filter as a user would: message after message, learning what the user corrects or confirms.

Any object that scores and learns can be replayed, so other filters are measured by the same code.
"""

from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np

from nbspam.decision import UNDECIDED
from nbspam.errors import UsageError
from nbspam.evaluation.outcomes import Outcome

IMMEDIATE, DELAYED, PARTIAL = "immediate", "delayed", "partial"
ON_ERROR, FIRST = "on-error", "first"
FEEDBACK_KINDS = ("immediate", "delayed:N", "partial:SHARE", "on-error", "first:N")


class ReplayFilter(Protocol):
    """What replay needs of a filter; it knows the messages by their numbers."""

    def score(self, message: int) -> Outcome:
        """Judge a message with what was learned so far."""

    def learn(self, message: int, label: int) -> None:
        """Learn that a message is of class `label`."""


class Autolearn:
    """A filter that learns each message on its own verdict, and unlearns it on feedback or long after.

    subject : a filter that also has autolearn(message, outcome), which learns a message on that verdict and
              returns the class or UNDECIDED, and unlearn(message, label)
    most    : how many of them count; the oldest are unlearned
    learned : message -> class, of those without feedback
    """

    def __init__(self, subject: Any, most: float = inf) -> None:
        self._subject, self._most = subject, most
        self._counted: dict[int, int] = {}  # of `learned` what is not unlearned, the oldest first
        self.learned: dict[int, int] = {}

    def score(self, message: int) -> Outcome:
        """Judge a message, and learn the verdict."""
        outcome: Outcome = self._subject.score(message)
        label = self._subject.autolearn(message, outcome)
        if label != UNDECIDED:
            self.learned[message] = self._counted[message] = label
            if len(self._counted) > self._most:
                oldest = next(iter(self._counted))
                self._subject.unlearn(oldest, self._counted.pop(oldest))
        return outcome

    def learn(self, message: int, label: int) -> None:
        """Learn the true class of a message in place of its verdict."""
        self.learned.pop(message, None)
        if message in self._counted:
            self._subject.unlearn(message, self._counted.pop(message))
        self._subject.learn(message, label)


class Feedback(NamedTuple):
    """When the filter learns the true class.

    kind   : immediate, delayed, partial, on-error or first
    amount : messages of delay, share, or number of messages; 0 for the others
    """

    kind: str = IMMEDIATE
    amount: float = 0.0

    def __str__(self) -> str:
        return self.kind if self.kind in (IMMEDIATE, ON_ERROR) else f"{self.kind}:{self.amount:.10g}"


class Replay(NamedTuple):
    """The outcome of each message in the order replayed, and the messages learned, in the order learned."""

    outcomes: list[Outcome]
    learned: list[int]


def parse_feedback(text: str) -> Feedback:
    """Read `immediate`, `delayed:N`, `partial:SHARE`, `on-error` or `first:N`.

    N is a whole number >= 0, 0 < SHARE <= 1.  UsageError for anything else.
    """
    kind, colon, amount = text.partition(":")
    if kind in (IMMEDIATE, ON_ERROR) and not colon:
        return Feedback(kind)
    if kind in (DELAYED, FIRST) and amount.isdecimal() and amount.isascii() and len(amount) < 10:
        return Feedback(kind, float(amount))
    try:
        number = float(amount)
    except ValueError:
        number = -1.0
    if kind == PARTIAL and 0 < number <= 1:
        return Feedback(kind, number)
    why = "is not a kind of feedback"
    raise UsageError(text[:40], why, slug="feedback", option="feedback", allowed=FEEDBACK_KINDS)


def replay(
    order: Sequence[int],
    truth: Sequence[int],
    subject: ReplayFilter,
    feedback: Feedback,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> Replay:
    """Judge each message, then let the filter learn the true class as `feedback` says.

    order       : the numbers of the messages, in the order of the replay
    truth       : the class number of each message, by its number
    immediate   : right after each message (TREC's own setting)
    delayed:N   : after N further messages were judged; the last N are never learned
    partial:S   : at once for a share S of the messages drawn by `seed`, never for the others
    first:N     : at once for the first N messages, never for the others
    on-error    : after a wrong or unsure decision
    progress    : called with 1 after each message
    """
    kind, amount = feedback
    drawn = np.random.default_rng(seed).random(len(order)) < amount
    waiting: deque[int] = deque()  # places in the order
    run = Replay([], [])
    for place, message in enumerate(order):
        label, outcome = truth[message], subject.score(message)
        run.outcomes.append(outcome)
        is_learned = {
            IMMEDIATE: True,
            DELAYED: True,
            PARTIAL: drawn[place],
            FIRST: place < amount,
            ON_ERROR: outcome.decided != label,
        }[kind]
        if is_learned:
            waiting.append(place)
        while waiting and waiting[0] <= place - (amount if kind == DELAYED else 0):
            learned = order[waiting.popleft()]
            run.learned.append(learned)
            subject.learn(learned, truth[learned])
        if progress is not None:
            progress(1)
    return run
