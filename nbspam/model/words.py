"""The event models of words: presence, multinomial, Bernoulli, complement.

Each is one function, `weigh`: a tuple of counts of a word, one a class, to what the word adds to the score of
each class.  One message calls it for each of its words; many messages call it for each distinct tuple
(nbspam.model.textbook).  ByClass are what is stored, so lambda is chosen when a message is scored.

The score of every model is  log prior + base + the sum of what the words add.  lambda = 0 is maximum
likelihood: a word may add -inf, never +inf and never NaN, so sums stay defined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, inf, log, log1p
from typing import Any, NamedTuple

from nbspam.errors import UsageError
from nbspam.tokens.bag import NOTAWORD_VIEW, TEXTBOOK_VIEWS

ByClass = Sequence[float]  # one number a class
Histogram = Mapping[Any, int]  # count -> how many words of the vocabulary have it
# What may be asked for.  Far outside sums overflow, and the intervals of `explain` divide by 0 or take long.
ALPHA_RANGE = (1e-100, 1e12)


class ClassSums(NamedTuple):
    """Sums over the whole vocabulary, as a word model needs them.

    messages        : m_k, messages of class k
    documents       : sum over the vocabulary of n_jk
    occurrences     : N_k, sum over the vocabulary of N_jk
    vocabulary_size : |V|, NOTAWORD included
    histogram       : of "documents", for bernoulli: by class {c: words with n_jk = c}; of "complement", for
                      normalised complement: by class k {c: words that occur c times outside k}
    In a histogram the words with count 0 may be left out: they are what is missing to |V|.
    """

    messages: ByClass
    documents: ByClass
    occurrences: ByClass
    vocabulary_size: int
    histogram: Callable[[str], Sequence[Histogram]]


def word_totals(by_view: Sequence[ByClass]) -> list[float]:
    """Sums over the views of the textbook and NOTAWORD, by class.  by_view : numbers [view][class]"""
    scored_views = (*by_view[: len(TEXTBOOK_VIEWS)], by_view[NOTAWORD_VIEW])
    return [sum(column) for column in zip(*scored_views, strict=True)]


def vocabulary_size(words: Sequence[int]) -> int:
    """|V| from the words by view; NOTAWORD is one of them even when it was never counted."""
    return sum(words[: len(TEXTBOOK_VIEWS)]) + max(words[NOTAWORD_VIEW], 1)


def parse_alpha(value: float | str) -> float:
    """lambda as a float; UsageError unless it is 0 or within the ALPHA_RANGE."""
    try:
        alpha = float(value)
    except (ValueError, OverflowError):
        alpha = inf
    low, high = ALPHA_RANGE
    if alpha == 0 or low <= alpha <= high:
        return alpha
    why = f"is neither 0 nor a number from {low:g} to {high:g}"
    remedy = "use a number, for example 1 (Laplace)"
    raise UsageError(str(value), why, remedy, "alpha", option="alpha")


def make_word_law(event_model: str, totals: ClassSums, alpha: float, normalise: bool = False) -> WordLaw:
    """The law of one event model on these totals.  normalise concerns `complement` alone."""
    alpha = parse_alpha(alpha)
    if event_model == "bernoulli":
        return BernoulliLaw(totals, alpha)
    if event_model == "complement":
        return ComplementLaw(totals, alpha, normalise)
    return MultinomialLaw(totals, alpha, repeats=event_model == "multinomial")


class WordLaw:
    """What one word adds to the scores.

    repeats    : it reads N_jk, and a word counts as often as it occurs; else n_jk, and once
    base       : what does not depend on the words of a message, by class
    uses_prior : false for a score without the class prior
    certain    : by class, words that are in all of its messages at lambda = 0: a message without one of them
                 cannot be of the class
    """

    uses_prior = True

    def __init__(self, event_model: str, n_classes: int, alpha: float, repeats: bool) -> None:
        self.event_model, self.n_classes, self.alpha, self.repeats = event_model, n_classes, alpha, repeats
        self.base, self.certain = [0.0] * n_classes, [0] * n_classes

    def weigh(self, counts: ByClass) -> list[float]:
        """What a word adds each time it counts, nats by class.  counts : N_jk if `repeats`, else n_jk"""
        raise NotImplementedError

    def token(self, documents: ByClass, occurrences: ByClass, times: int) -> list[float]:
        """What one distinct word adds that a message has `times` times, nats by class."""
        if self.repeats:
            return [times * value for value in self.weigh(occurrences)]
        return self.weigh(documents)

    def is_certain(self, documents: ByClass) -> list[bool]:
        """By class, true for one of its `certain` words."""
        return [False] * self.n_classes

    def ruled_out(self, documents: Iterable[ByClass]) -> list[bool]:
        """By class, true if one of its `certain` words is not in a message.

        documents : n_jk of each distinct word of the message
        """
        missing = list(self.certain)
        if any(missing):
            for counts in documents:
                missing = [n - c for n, c in zip(missing, self.is_certain(counts), strict=True)]
        return [n != 0 for n in missing]


class MultinomialLaw(WordLaw):
    """(N_jk + lambda) / (N_k + lambda |V|) for each occurrence; on presence the same with n_jk, once a word.

    Source: Manning et al. 2008, eq. 13.7; on presence Metsis et al. 2006, section 2.
    """

    def __init__(self, totals: ClassSums, alpha: float, repeats: bool = False) -> None:
        super().__init__("multinomial" if repeats else "presence", len(totals.messages), alpha, repeats)
        sums, size = totals.occurrences if repeats else totals.documents, totals.vocabulary_size
        self._log_totals = [log_or_minus_inf(n + alpha * size) for n in sums]

    def weigh(self, counts: ByClass) -> list[float]:
        pairs = zip(counts, self._log_totals, strict=True)
        return [log(n + self.alpha) - total if n + self.alpha > 0 else -inf for n, total in pairs]


class BernoulliLaw(WordLaw):
    """(n_jk + lambda) / (m_k + 2 lambda), present or absent, over the whole vocabulary.

    base is the score of the message without words; a word adds log(phi / (1 - phi)).
    Source: McCallum and Nigam 1998, eq. 2 and 3.
    """

    def __init__(self, totals: ClassSums, alpha: float) -> None:
        super().__init__("bernoulli", len(totals.messages), alpha, repeats=False)
        self.messages = totals.messages
        self.histogram = [add_zero_count(h, totals.vocabulary_size) for h in totals.histogram("documents")]
        for k, histogram in enumerate(self.histogram):
            messages = self.messages[k]
            absent = [(count, words, log_absent(count, messages, alpha)) for count, words in histogram]
            self.certain[k] = sum(words for count, words, nats in absent if nats == -inf and count > 0)
            self.base[k] = fsum(words * nats for count, words, nats in absent if nats > -inf or count == 0)

    def weigh(self, counts: ByClass) -> list[float]:
        weights = []
        for n, m in zip(counts, self.messages, strict=True):
            present, absent = n + self.alpha, m - n + self.alpha
            weight = log(present) - log(absent) if present > 0 < absent else 0.0  # 0: certain, see ruled_out
            weights.append(weight if present > 0 else -inf)
        return weights

    def is_certain(self, documents: ByClass) -> list[bool]:
        return [not self.alpha and n == m > 0 for n, m in zip(documents, self.messages, strict=True)]


class ComplementLaw(WordLaw):
    """Weights from the counts of all classes but k (Rennie et al. 2003, section 3.1 and 3.2).

    theta_jk = (sum over other classes of N_j + lambda) / (sum over other classes of N + lambda |V|);
    a word adds -log theta for each occurrence, or with weight normalisation log theta / sum_j log theta.
    The class prior is left out unless there is only one class, as in scikit-learn's ComplementNB.

    At lambda = 0 a word never met outside class k rules all other classes out (written as -inf for them,
    because +inf for k could not be summed); a word met nowhere rules out all.  Normalised weights take the
    least lambda of the ALPHA_RANGE in place of 0.
    """

    def __init__(self, totals: ClassSums, alpha: float, normalise: bool) -> None:
        if normalise:
            alpha = alpha or ALPHA_RANGE[0]
        super().__init__("complement", len(totals.messages), alpha, repeats=True)
        self.uses_prior = self.n_classes == 1
        size, every = totals.vocabulary_size, sum(totals.occurrences)
        self._log_totals = [log_or_minus_inf(every - n + alpha * size) for n in totals.occurrences]
        self._sums: list[float] = []  # by class, of log theta over the vocabulary; empty: not normalised
        for k, histogram in enumerate(totals.histogram("complement") if normalise else ()):
            sums = (words * self._log_theta(count, k) for count, words in add_zero_count(histogram, size))
            self._sums.append(fsum(sums))

    def _log_theta(self, count: float, k: int) -> float:
        value = count + self.alpha
        return log(value) - self._log_totals[k] if value > 0 else -inf

    def weigh(self, counts: ByClass) -> list[float]:
        every = sum(counts)
        outside = [every - n for n in counts]
        if self._sums:
            return [self._log_theta(n, k) / (self._sums[k] or 1.0) for k, n in enumerate(outside)]
        weights = [-self._log_theta(n, k) for k, n in enumerate(outside)]
        if inf not in weights:
            return weights
        return [0.0 if weight == inf and every > 0 else -inf for weight in weights]


def log_absent(count: float, messages: float, alpha: float) -> float:
    """log(1 - phi) of Bernoulli; with alpha = 0, -inf for a word in every message, or no message.

    Small phi by log1p: a vocabulary has a million words that are in hardly any message, and the
    rounding errors of a difference of logs would add up.
    """
    present, absent = count + alpha, messages - count + alpha
    if absent <= 0:
        return -inf
    if present < absent:
        return log1p(-present / (present + absent))
    return log(absent) - log(present + absent)


def log_or_minus_inf(value: float) -> float:
    """Natural logarithm with log 0 = -inf."""
    return log(value) if value > 0 else -inf


def add_zero_count(histogram: Histogram, vocabulary_size: int) -> list[tuple[float, int]]:
    """(count, words) pairs that cover the whole vocabulary: the words left out have count 0."""
    pairs = [(count, words) for count, words in histogram.items() if count and words]
    zeros = vocabulary_size - sum(words for _, words in pairs)
    return [(0, zeros), *pairs] if zeros > 0 else pairs
