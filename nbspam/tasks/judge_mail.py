"""From the scores of a message to its outcome and clues, decided and explained as `classify` does it."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isfinite

from nbspam.decision import Loss, decide
from nbspam.evaluate.evaluation import Outcome, ShortClue
from nbspam.filter import Verdict
from nbspam.labels import positive
from nbspam.model.posterior import log_odds, log_posteriors
from nbspam.model.scorer import Counted, Scorer

MOST_CLUED = 10  # worst mistakes of each class whose clues are kept


def outcome_of(joint: Sequence[float], classes: tuple[str, ...], loss: Loss) -> Outcome:
    """The outcome of a message with these log joints, nats.

    An undefined posterior (alpha = 0 rules every class out) gives each class the same probability.
    """
    logs, spam = log_posteriors(joint), positive(classes)
    if logs is None:
        return Outcome(decide(None, loss), None, (1.0 / len(classes),) * len(classes))
    probabilities = tuple([exp(value) for value in logs])
    odds = None if spam is None else log_odds(joint, spam)
    odds = odds if odds is not None and isfinite(odds) else None
    return Outcome(decide(probabilities, loss), odds, probabilities)


def clues_of(
    scorer: Scorer, counted: Counted, name: str, classes: tuple[str, ...], loss: Loss
) -> tuple[ShortClue, ...]:
    """The tokens with most weight, each with its nats: for spam, or the class decided if none is spam.

    Without those that alone rule a class out, as at alpha = 0: JSON has no number for them.
    """
    found = Verdict(name, scorer.score(counted), classes, loss).clues
    return tuple([clue for clue in found if isfinite(clue[1])])
