"""The evidence of a view: the mean of what its informative tokens say.

Hides the averaging.  Naive Bayes adds up evidence that is not independent, so long messages
saturate; a mean over the informative tokens (a geometric mean of likelihood ratios) does not
(accuracy-findings, section 2).  Pure Python; nbspam.models.views computes the same in bulk.
"""

from __future__ import annotations

from math import log

from nbspam.settings import SHRINKAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class ViewEvidence:
    """Turns the stored counts of one view's distinct tokens into evidence.

    For token j and class k, l_jk = log((n_jk + alpha) / (N_k + alpha |V|)), nats.  A token is
    informative when max_k l_jk - min_k l_jk > threshold.  The evidence for class k against class 0
    is the sum of l_jk - l_j0 over informative tokens, divided by (their number + SHRINKAGE).
    """

    __slots__ = ("_alpha", "_log_totals", "_logs", "_threshold")

    def __init__(self, alpha: float, threshold: float, documents: Sequence[int], vocabulary_size: int) -> None:
        """documents: N_k, sums of document counts by class over the vocabulary."""
        self._alpha = alpha or 1e-12  # a mean of -inf says nothing; maximum likelihood is approached
        self._threshold = threshold
        self._logs: dict[int, float] = {}
        self._log_totals = [log(n + self._alpha * vocabulary_size) for n in documents]

    def weights(self, counts: Sequence[int]) -> list[float] | None:
        """l_jk - l_j0 by class, or None for a token that is not informative.

        counts : documents_0, occurrences_0, documents_1, ... as the model file keeps them
        """
        logs = self._logs
        ratios: list[float] = []
        for n, total in zip(counts[::2], self._log_totals, strict=True):
            value = logs.get(n)
            if value is None:
                value = logs[n] = log(n + self._alpha)
            ratios.append(value - total)
        first = ratios[0]
        if max(ratios) - min(ratios) <= self._threshold:
            return None
        return [ratio - first for ratio in ratios]


def mean_evidence(sums: Sequence[float], informative: int) -> list[float]:
    """Sums of weights by class -> evidence by class."""
    return [total / (informative + SHRINKAGE) for total in sums]
