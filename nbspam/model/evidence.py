"""The evidence of a view: the mean of what its informative tokens say.

Naive Bayes adds up evidence that is not independent, so long messages saturate; a mean over the informative
tokens (a geometric mean of likelihood ratios) does not.  The mean of a view is scaled down by its share of
unknown tokens: a few known words say little of a text in an unknown language.  Spammers can add hammy words,
so each view's evidence for ham is capped.  Each measure is evidence of its own.
The places of the calibration's weights are defined here, too: most messages are scored without
nbspam.model.calibration.
Pure Python; nbspam.model.views computes the same in bulk.
Chosen by experiment: docs/decisions.md.
"""

from __future__ import annotations

from math import log

from nbspam.settings import AT_LEAST, MEASURE_ALPHA, MOST_TIMES, SAME, SHRINKAGE, STRONG, WEAK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    Thing = TypeVar("Thing")


class ViewEvidence:
    """Turns the document counts of one view's distinct tokens into evidence.

    For token j and class k, l_jk = log((n_jk + alpha) / (N_k + alpha |V|)), nats.  Its weight is
    l_jk - l_j0, its spread the difference of its largest and smallest l_jk.  Informative are the tokens
    with a spread over `threshold * STRONG`; where they are fewer than AT_LEAST, that many of the largest
    spreads over `threshold * WEAK` (and those tied with the last of them).
    """

    __slots__ = ("_alpha", "_at_least", "_log_totals", "floor", "n_classes", "threshold")

    def __init__(
        self, view: int, alpha: float, threshold: float, documents: Sequence[float], vocabulary_size: float
    ) -> None:
        """documents: N_k, sums of document counts by class over the vocabulary of the view."""
        self._alpha = alpha or 1e-12  # a mean of -inf says nothing; maximum likelihood is approached
        self.floor = threshold * WEAK[view]
        self.threshold = threshold * STRONG[view]
        self._at_least = AT_LEAST[view]
        self.n_classes = len(documents)
        self._log_totals = [log(n + self._alpha * vocabulary_size) for n in documents]

    def weigh(self, documents: tuple[float, ...]) -> tuple[float, list[float]]:
        """(spread, weights by class) of a token with n_jk by class; class 0 has weight 0."""
        # Not remembered: of the words of a message three in four have counts that no other one has.
        alpha, log_totals = self._alpha, self._log_totals
        if len(documents) == 2:  # the common case, with one logarithm
            value = log((documents[1] + alpha) / (documents[0] + alpha)) - log_totals[1] + log_totals[0]
            return abs(value), [0.0, value]
        ratios = [log(n + alpha) - total for n, total in zip(documents, log_totals, strict=True)]
        first = ratios[0]
        return max(ratios) - min(ratios), [ratio - first for ratio in ratios]

    def informative(self, found: list[tuple[float, Thing]]) -> list[Thing]:
        """What is informative among (spread, thing) of tokens whose spread is over the floor."""
        strong = [thing for spread, thing in found if spread > self.threshold]
        if len(strong) >= self._at_least:
            return strong
        spreads = sorted((spread for spread, _ in found), reverse=True)
        last = spreads[min(len(spreads), self._at_least) - 1] - SAME if spreads else 0.0
        return [thing for spread, thing in found if spread >= last]


def times_counted(times: int) -> float:
    """How often a word counts in the mean if a message has it so many times: 1 + log of it, or of MOST_TIMES.

    A second time says more, not as much again.
    Source: Rennie et al. 2003, "Tackling the Poor Assumptions of Naive Bayes", 4.1, here of weights.
    """
    return 1.0 if times == 1 else 1.0 + log(min(times, MOST_TIMES))


def mean_scale(informative: float, familiarity: float) -> float:
    """What a word's weight is multiplied by in a mean of so many; SHRINKAGE scales down a mean of few.

    familiarity : what the evidence is multiplied by, see ViewWords
    """
    return familiarity / (informative + SHRINKAGE)


def capped_scale(scale: float, log_ratio: float, ham_cap: float) -> float:
    """The scale, or less if the evidence, scale * log_ratio, would say more for ham than the cap.

    log_ratio : nats for spam against ham;  ham_cap : nats, >= 0
    Each word of a capped view is scaled alike, so that `explain` still adds up.
    """
    return ham_cap / -log_ratio if scale * log_ratio < -ham_cap else scale


def own_weights(n_evidence: int, n_common: int, n_classes: int) -> range:
    """Where the weights of class 1, 2, ... begin among those of the calibration.

    First are n_evidence weights that the classes share, one for each row of evidence.  Then each class k >= 1
    has its constant b_k and a weight for each of the n_common values: c_vk by view, then m_jk by class.
    The step of the range is how many weights a class has, its end how many there are of all.
    """
    step = 1 + n_common
    return range(n_evidence, n_evidence + (n_classes - 1) * step, step)


def measure_evidence(documents: Sequence[float], messages: Sequence[float], bins: int) -> list[float]:
    """What the bin that a numeric feature falls into says, nats by class, class 0 has 0.

    documents : messages of each class in the bin;  messages : those measured;  bins : how many there are
    Source: the categorical model, log (n_jk + alpha) / (m_k + bins alpha).  A bin never met says nothing.
    """
    if not any(documents):
        return [0.0] * len(documents)
    logs = [
        log((n + MEASURE_ALPHA) / (m + bins * MEASURE_ALPHA))
        for n, m in zip(documents, messages, strict=True)
    ]
    return [value - logs[0] for value in logs]
