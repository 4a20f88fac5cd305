"""The evidence of a view: the mean of what its informative tokens say.

Naive Bayes adds up evidence that is not independent, so long messages saturate; a mean over the informative
tokens (a geometric mean of likelihood ratios) does not.  The mean of a view is scaled down by its share of
unknown tokens: a few known words say little of a text in an unknown language.  Spammers can add hammy words,
so each view's evidence for ham is capped.  Each measure is evidence of its own.

`log_ratios` is the law: a tuple of counts to nats.  One message calls it for each token; many messages call
it for each distinct tuple (nbspam.model.views).  Chosen by experiment: docs/decisions.md.
"""

from __future__ import annotations

from math import log

from nbspam.settings import AT_LEAST, MEASURE_ALPHA, MOST_TIMES, SAME, SHRINKAGE, STRONG, WEAK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    Thing = TypeVar("Thing")

NEARLY_ZERO = 1e-12  # lambda where 0 is asked for: a mean of -inf says nothing, so 0 is approached


def log_ratios(counts: Sequence[float], pseudo: float) -> list[float]:
    """log((count_k + pseudo) / (count_0 + pseudo)) by class, nats; class 0 has 0.

    The log-likelihood ratios of a token are those of its n_jk and lambda less those of N_k and lambda |V|.
    """
    if len(counts) == 2:  # the common case
        return [0.0, log((counts[1] + pseudo) / (counts[0] + pseudo))]
    first = counts[0] + pseudo
    return [0.0, *[log((count + pseudo) / first) for count in counts[1:]]]


class ViewEvidence:
    """Turns the document counts of one view's distinct tokens into evidence.

    The weights of a token are its log-likelihood ratios, its spread the difference of its largest and
    smallest weight.  Informative are the tokens with a spread over `threshold * STRONG`; where they are fewer
    than AT_LEAST, that many of the largest spreads over `threshold * WEAK` (and those tied with the last of
    them).
    """

    __slots__ = ("_alpha", "_at_least", "_totals", "floor", "n_classes", "threshold")

    def __init__(
        self, view: int, alpha: float, threshold: float, documents: Sequence[float], vocabulary_size: float
    ) -> None:
        """documents : N_k, sums of document counts by class over the vocabulary of the view"""
        self._alpha = alpha or NEARLY_ZERO
        self.floor, self.threshold = threshold * WEAK[view], threshold * STRONG[view]
        self._at_least = AT_LEAST[view]
        self.n_classes = len(documents)
        self._totals = log_ratios(documents, self._alpha * vocabulary_size)

    def weigh(self, documents: Sequence[float]) -> tuple[float, list[float]]:
        """(spread, weights by class) of a token with n_jk by class."""
        # Not remembered: of the words of a message three in four have counts that no other one has.
        weights = log_ratios(documents, self._alpha)
        if len(weights) == 2:
            value = weights[1] = weights[1] - self._totals[1]
            return abs(value), weights
        weights = [ratio - total for ratio, total in zip(weights, self._totals, strict=True)]
        return max(weights) - min(weights), weights

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
    """The factor of each weight in a mean of so many tokens; SHRINKAGE scales down a mean of few.

    familiarity : what the evidence of the view is multiplied by, see ViewWords
    """
    return familiarity / (informative + SHRINKAGE)


def capped_scale(scale: float, log_ratio: float, ham_cap: float) -> float:
    """The scale, or less if the evidence, scale * log_ratio, would say more for ham than the cap.

    log_ratio : nats for spam against ham;  ham_cap : nats, >= 0
    Each word of a capped view is scaled alike, so that `explain` still adds up.
    """
    return ham_cap / -log_ratio if scale * log_ratio < -ham_cap else scale


def measure_evidence(documents: Sequence[float], messages: Sequence[float], bins: int) -> list[float]:
    """What the bin of a numeric feature says, nats by class, class 0 has 0: the categorical model.

    documents : messages of each class in the bin;  messages : those measured;  bins : how many there are
    A bin that was never met says nothing.
    """
    if not any(documents):
        return [0.0] * len(documents)
    totals = log_ratios(messages, bins * MEASURE_ALPHA)
    return [ratio - total for ratio, total in zip(log_ratios(documents, MEASURE_ALPHA), totals, strict=True)]
