"""Scores -> outcomes: the posterior, the decision under the loss, and why.

Hides what an undefined posterior counts as.  Decisions are made by the same function as those of
`classify`; the clues of a message are those that `classify --json` would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isfinite

from nbspam.decision import Loss, decide
from nbspam.evaluate.outcomes import Outcome, ShortClue
from nbspam.filter import Verdict
from nbspam.labels import positive
from nbspam.model.posterior import log_odds, log_posteriors
from nbspam.model.scorer import Counted, Scorer

MOST_CLUED = 10  # worst mistakes of each class whose clues are kept


class Judge:
    """The classes and the loss, ready for any number of messages."""

    def __init__(self, classes: tuple[str, ...], loss: Loss) -> None:
        self._loss = loss
        self._positive = positive(classes)
        # A posterior that is undefined (lambda = 0 rules every class out) says nothing of any class.
        self._nothing = (1.0 / len(classes),) * len(classes)

    def outcome(
        self, name: str, truth: int, joint: Sequence[float], time: float | None = None, index: int = 0
    ) -> Outcome:
        """What is decided about one message whose log joints, nats, are given."""
        logs = log_posteriors(joint)
        probabilities = None if logs is None else [exp(value) for value in logs]
        odds = None if logs is None or self._positive is None else log_odds(joint, self._positive)
        return Outcome(
            name=name,
            truth=truth,
            decided=decide(probabilities, self._loss),
            log_odds=odds if odds is not None and isfinite(odds) else None,
            probabilities=self._nothing if probabilities is None else tuple(probabilities),
            time=time,
            index=index,
        )


def clues_of(
    scorer: Scorer, counted: Counted, name: str, classes: tuple[str, ...], loss: Loss
) -> tuple[ShortClue, ...]:
    """The tokens that spoke loudest, each with its nats: for spam, or the class decided if none is spam.

    Not those that alone rule a class out, as they may where lambda is 0: no file has a number for these.
    """
    found = Verdict(name, scorer.score(counted), classes, loss).clues
    return tuple([clue for clue in found if isfinite(clue[1])])
