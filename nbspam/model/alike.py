"""How evidence for one class counts for the others, where a model has three to twelve classes.

The weights are the m_jk of nbspam.model.calibration.  A module of its own, because mail that is ham or
spam does without.
"""

from __future__ import annotations

from nbspam.model.calibration import own_weights_of, rough_scores, rough_weights
from nbspam.tokens.bag import VIEWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Alike:
    """The rough scores R_j, and what they add to the score of each class."""

    __slots__ = ("_rough", "_weights")

    def __init__(self, weights: Sequence[float], n_classes: int, kinds: Sequence[str]) -> None:
        """weights: of the calibration, all of them"""
        self._rough = rough_weights(n_classes, kinds)
        own = own_weights_of(n_classes, kinds)
        first = 1 + len(VIEWS)  # of the m_jk among the weights of a class
        self._weights = [weights[begin + first : begin + own.step] for begin in own]

    def scores(self, evidence: Sequence[Sequence[float]]) -> list[float]:
        """R_j for j >= 1, nats; none beyond twelve classes."""
        return rough_scores(self._rough, evidence)

    def adds(self, place: int, values: Sequence[float]) -> list[float]:
        """What a row of evidence adds by way of the others, nats by class.

        place : of the row among the evidence;  values : of the row, by class
        """
        if not self._rough:
            return [0.0] * len(values)
        rough = self._rough[place]
        others = [sum([m * value for m, value in zip(row, values[1:], strict=True)]) for row in self._weights]
        return [0.0, *[rough * other for other in others]]
