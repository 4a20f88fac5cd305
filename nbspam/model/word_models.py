"""Event models of words, one token at a time: presence, multinomial, Bernoulli, complement.

Hides how a token's stored counts become its log-likelihood under each class: smoothing, the
denominators, the Bernoulli sum over the whole vocabulary (taken from a histogram of counts),
the complement's weights.  Counts are what is stored, so lambda may be chosen for each message.

A score is  log_prior + base + sum of token contributions  for every model.  lambda = 0 is maximum
likelihood: a contribution may be -inf, never +inf and never NaN, so sums stay defined.
"""

from __future__ import annotations

from math import fsum, inf, isfinite, log, log1p

from nbspam.errors import UsageError
from nbspam.settings import WORD_MODELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Counts = Sequence[int] | Sequence[float]  # one number a class; floats where a prior model is added
    Histogram = dict[int, int] | dict[float, int]  # count -> how many words of the vocabulary have it
    Token = tuple[Counts, Counts, int]  # documents a class, occurrences a class, times seen in the message

# What may be asked for.  Far outside sums overflow, and the intervals of `explain` divide by 0 or take long.
ALPHA_RANGE = (1e-100, 1e12)
MAX_PRIOR_WEIGHT = 1_000_000_000  # messages


class WordTotals:
    """What a word model must know beside the token at hand: sums over the whole vocabulary.

    messages             : m_k, messages of class k
    documents            : sum over the vocabulary of n_jk (each word once a message)
    occurrences          : N_k, sum over the vocabulary of N_jk
    vocabulary_size      : |V|, NOTAWORD included
    document_histogram   : per class {c: words with n_jk = c}; read by bernoulli
    complement_histogram : per class k {c: words that occur c times outside k}; read by normalised complement
    In a histogram the words with count 0 may be left out: they are what is missing to |V|.
    """

    __slots__ = (
        "complement_histogram",
        "document_histogram",
        "documents",
        "messages",
        "occurrences",
        "vocabulary_size",
    )

    def __init__(
        self,
        messages: Counts,
        documents: Counts,
        occurrences: Counts,
        vocabulary_size: int,
        document_histogram: Sequence[Histogram] = (),
        complement_histogram: Sequence[Histogram] = (),
    ) -> None:
        self.messages = messages
        self.documents = documents
        self.occurrences = occurrences
        self.vocabulary_size = vocabulary_size
        self.document_histogram = document_histogram
        self.complement_histogram = complement_histogram


def checked_alpha(alpha: float) -> float:
    """lambda as a float >= 0; UsageError otherwise (also for infinity and NaN)."""
    if isfinite(alpha) and alpha >= 0:
        return float(alpha)
    raise UsageError(
        f"alpha {alpha}",
        "the smoothing constant is a finite number >= 0",
        "use --alpha 1 (Laplace), or a smaller number",
        "alpha",
    )


def asked_alpha(text: str, others: str = "") -> float:
    """lambda as a command line has it; UsageError unless it is 0 or within the ALPHA_RANGE.

    others : what else may stand there, for the remedy
    """
    try:
        alpha = checked_alpha(float(text))
    except (ValueError, UsageError):
        remedy = f"use a number, for example 1 (Laplace){others}"
        raise UsageError(f"--alpha {text}", "is not a finite number >= 0", remedy, "alpha") from None
    low, high = ALPHA_RANGE
    if alpha and not low <= alpha <= high:
        remedy = f"use 0, or a number from {low:g} to {high:g}{others}"
        raise UsageError(f"--alpha {text}", "no mail can tell it from a milder one", remedy, "alpha")
    return alpha


def scaled(alpha: float) -> tuple[float, float]:
    """(scale of the counts, pseudo-count): above 1 all is divided by lambda, so that nothing overflows."""
    return (1.0 / alpha, 1.0) if alpha > 1 else (1.0, alpha)


def make_word_scorer(
    event_model: str, totals: WordTotals, alpha: float, normalise: bool = False
) -> WordScorer:
    """The scorer of one event model on these totals.  normalise concerns `complement` alone."""
    alpha = checked_alpha(alpha)
    if event_model == "presence":
        return PresenceScorer(totals, alpha)
    if event_model == "multinomial":
        return MultinomialScorer(totals, alpha)
    if event_model == "bernoulli":
        return BernoulliScorer(totals, alpha)
    if event_model == "complement":
        return ComplementScorer(totals, alpha, normalise)
    raise UsageError(
        f"event model {event_model}",
        "it does not score words",
        "use one of: " + ", ".join(WORD_MODELS),
        "event-model",
    )


class WordScorer:
    """What every scorer has.

    base          : per class, what a message without any token scores; finite, or -inf for a class
                    without data under lambda = 0
    uses_prior    : False where the score of a class must not get the class prior (complement, K > 1)
    certain       : per class, how many words cannot be absent (in every message, lambda = 0, bernoulli);
                    they are left out of `base`, see `ruled_out`
    concentration : per class, the sum of the Dirichlet posterior's parameters (for intervals)
    """

    __slots__ = ("alpha", "base", "certain", "concentration", "event_model", "n_classes", "uses_prior")

    def __init__(self, event_model: str, n_classes: int, alpha: float) -> None:
        self.event_model = event_model
        self.n_classes = n_classes
        self.alpha = alpha
        self.base = [0.0] * n_classes
        self.certain = [0] * n_classes
        self.concentration = [0.0] * n_classes
        self.uses_prior = True

    def token(self, documents: Counts, occurrences: Counts, count: int) -> list[float]:
        """Per class, what one distinct token seen `count` times adds to the score, nats."""
        raise NotImplementedError

    def pseudo_counts(self, documents: Counts, occurrences: Counts) -> list[float]:
        """Per class, the token's parameter of the Dirichlet (Bernoulli: Beta) posterior."""
        return [count + self.alpha for count in documents]

    def certainty(self, documents: Counts) -> list[bool]:
        """Per class, whether this word is one of the `certain` ones."""
        return [False] * self.n_classes

    def ruled_out(self, documents: Iterable[Counts]) -> list[bool]:
        """Per class, whether one of its `certain` words is not in a message: it then scores -inf.

        documents : n_jk of each distinct word of the message
        """
        missing = list(self.certain)
        if any(missing):
            for counts in documents:
                missing = [n - c for n, c in zip(missing, self.certainty(counts), strict=True)]
        return [n != 0 for n in missing]


class PresenceScorer(WordScorer):
    """Multinomial on presence: (n_jk + lambda) / (sum_j n_jk + lambda |V|), each word once."""

    __slots__ = ("_log_total", "_pseudo", "_scale")

    def __init__(self, totals: WordTotals, alpha: float) -> None:
        super().__init__("presence", len(totals.messages), alpha)
        self._prepare(totals.documents, totals.vocabulary_size)

    def _prepare(self, sums: Counts, vocabulary_size: int) -> None:
        self._scale, self._pseudo = scaled(self.alpha)
        self._log_total = [log_or_minus_inf(n * self._scale + self._pseudo * vocabulary_size) for n in sums]
        self.concentration = [n + self.alpha * vocabulary_size for n in sums]

    def _log_parameters(self, counts: Counts) -> list[float]:
        scale, pseudo = self._scale, self._pseudo
        if pseudo:
            return [log(n * scale + pseudo) - total for n, total in zip(counts, self._log_total, strict=True)]
        return [log(n) - total if n > 0 else -inf for n, total in zip(counts, self._log_total, strict=True)]

    def token(self, documents: Counts, occurrences: Counts, count: int) -> list[float]:
        return self._log_parameters(documents) if count > 0 else [0.0] * self.n_classes


class MultinomialScorer(PresenceScorer):
    """(N_jk + lambda) / (N_k + lambda |V|), once for each occurrence.  Manning et al. 2008, eq. 13.7."""

    __slots__ = ()

    def __init__(self, totals: WordTotals, alpha: float) -> None:
        WordScorer.__init__(self, "multinomial", len(totals.messages), alpha)
        self._prepare(totals.occurrences, totals.vocabulary_size)

    def token(self, documents: Counts, occurrences: Counts, count: int) -> list[float]:
        if count <= 0:  # 0 * -inf would be NaN
            return [0.0] * self.n_classes
        return [count * value for value in self._log_parameters(occurrences)]

    def pseudo_counts(self, documents: Counts, occurrences: Counts) -> list[float]:
        return [count + self.alpha for count in occurrences]


class BernoulliScorer(WordScorer):
    """(n_jk + lambda) / (m_k + 2 lambda), present or absent, over the whole vocabulary.

    base is the score of the message without words; a token adds log(phi / (1 - phi)).
    Source: McCallum and Nigam 1998, eq. 2 and 3.
    """

    __slots__ = ("histogram", "messages", "vocabulary_size")

    def __init__(self, totals: WordTotals, alpha: float) -> None:
        super().__init__("bernoulli", len(totals.messages), alpha)
        self.messages = totals.messages
        self.vocabulary_size = totals.vocabulary_size
        self.histogram = [with_zero(h, totals.vocabulary_size) for h in totals.document_histogram]
        self.concentration = [m + 2 * alpha for m in totals.messages]
        for k, histogram in enumerate(self.histogram):
            self._add_absences(k, histogram)

    def _add_absences(self, k: int, histogram: list[tuple[float, int]]) -> None:
        terms = []
        for count, words in histogram:
            absent = log_absent(count, self.messages[k], self.alpha)
            if absent == -inf and count > 0:
                self.certain[k] += words
            else:
                terms.append(words * absent)
        self.base[k] = fsum(terms)

    def token(self, documents: Counts, occurrences: Counts, count: int) -> list[float]:
        if count <= 0:
            return [0.0] * self.n_classes
        return [self._weight(n, m) for n, m in zip(documents, self.messages, strict=True)]

    def _weight(self, count: float, messages: float) -> float:
        present, absent = count + self.alpha, messages - count + self.alpha
        if present <= 0:
            return -inf
        return log(present) - log(absent) if absent > 0 else 0.0  # 0: a certain word, see ruled_out

    def certainty(self, documents: Counts) -> list[bool]:
        if self.alpha:
            return [False] * self.n_classes
        return [n == m and m > 0 for n, m in zip(documents, self.messages, strict=True)]


class ComplementScorer(WordScorer):
    """Weights from the counts of all classes but k (Rennie et al. 2003, section 3.1 and 3.2).

    theta_jk = (sum over other classes of N_j + lambda) / (sum over other classes of N + lambda |V|);
    a token adds -count * log theta, or with weight normalisation count * log theta / sum_j log theta.
    The class prior is left out unless there is only one class, as in scikit-learn's ComplementNB.

    At lambda = 0 a word never seen outside class k rules all other classes out (written as -inf for them,
    because +inf for k could not be summed); a word seen nowhere rules out all.  The normalised weights
    have a limit as lambda -> 0, which is used: the words never seen outside k share weight 1.
    """

    __slots__ = ("_log_total", "_pseudo", "_scale", "_sums", "_zeros")

    def __init__(self, totals: WordTotals, alpha: float, normalise: bool) -> None:
        super().__init__("complement", len(totals.messages), alpha)
        self.uses_prior = self.n_classes == 1
        self._scale, self._pseudo = scaled(alpha)
        size, everything = totals.vocabulary_size, sum(totals.occurrences)
        others = [everything - n for n in totals.occurrences]
        self._log_total = [log_or_minus_inf(n * self._scale + self._pseudo * size) for n in others]
        self.concentration = [n + alpha * size for n in others]
        # Per class, the sum of log theta over the vocabulary; empty: not normalised.
        self._sums: list[float] = []
        self._zeros = [0] * self.n_classes  # at lambda = 0, words of the vocabulary never seen outside k
        if normalise:
            for k, histogram in enumerate(totals.complement_histogram):
                self._sum_weights(k, with_zero(histogram, size))

    def _sum_weights(self, k: int, histogram: list[tuple[float, int]]) -> None:
        if not self._pseudo:
            self._zeros[k] = sum(words for count, words in histogram if count == 0)
        if self._zeros[k]:
            self._sums.append(-inf)
            return
        self._sums.append(fsum(words * self._log_theta(count, k) for count, words in histogram))

    def _log_theta(self, count: float, k: int) -> float:
        value = count * self._scale + self._pseudo
        return log(value) - self._log_total[k] if value > 0 else -inf

    def token(self, documents: Counts, occurrences: Counts, count: int) -> list[float]:
        if count <= 0:
            return [0.0] * self.n_classes
        everything = sum(occurrences)
        outside = [everything - n for n in occurrences]
        if self._sums:
            return [count * self._normalised(n, k) for k, n in enumerate(outside)]
        weights = [-self._log_theta(n, k) for k, n in enumerate(outside)]
        if inf not in weights:
            return [count * weight for weight in weights]
        return [0.0 if weight == inf and everything > 0 else -inf for weight in weights]

    def _normalised(self, count: float, k: int) -> float:
        if self._sums[k] == -inf:
            return 0.0 if count > 0 else 1.0 / (self._zeros[k] or 1)
        return self._log_theta(count, k) / self._sums[k] if self._sums[k] else 1.0

    def pseudo_counts(self, documents: Counts, occurrences: Counts) -> list[float]:
        everything = sum(occurrences)
        return [everything - n + self.alpha for n in occurrences]


def log_joint(scorer: WordScorer, log_prior: Sequence[float], tokens: Iterable[Token]) -> list[float]:
    """log P(class) + log P(message | class) up to a constant, per class, nats.

    tokens : (documents, occurrences, count) of each distinct token.  Sums are exactly rounded, so the
    order of the tokens does not matter.  A class is -inf too where a `certain` word is absent.
    """
    rows: list[Sequence[float]] = [scorer.base, log_prior] if scorer.uses_prior else [scorer.base]
    present: list[Counts] = []
    for documents, occurrences, count in tokens:
        rows.append(scorer.token(documents, occurrences, count))
        if count > 0:
            present.append(documents)
    sums = [fsum(column) for column in zip(*rows, strict=True)]
    return [-inf if out else value for value, out in zip(sums, scorer.ruled_out(present), strict=True)]


def power_factor(weight_messages: float, prior_messages: Sequence[int]) -> float:
    """What a count of the prior model is worth, so that the whole model is worth `weight_messages` messages.

    A model trained elsewhere becomes the prior by adding factor * count to each of its sufficient
    statistics (messages, documents, occurrences): the power prior.  In terms of parameters, class k gets
    the Dirichlet pseudo-counts w_k * phi_jk with phi the prior model's maximum likelihood estimate and
    w_k = factor * N0_k; lambda is added once, on top.  Source: Ibrahim and Chen 2000 (power prior).
    """
    if not 0 <= weight_messages <= MAX_PRIOR_WEIGHT:
        raise UsageError(
            f"prior weight {weight_messages:g}",
            f"the weight of a prior model is a number of messages from 0 to {MAX_PRIOR_WEIGHT:,}",
            "use --prior-weight 100: the prior model then counts as 100 messages",
            "prior-weight",
        )
    total = sum(prior_messages)
    return weight_messages / total if total else 0.0


def log_absent(count: float, messages: float, alpha: float) -> float:
    """log(1 - phi) of Bernoulli; with alpha = 0, -inf for a word in every message, or no message.

    Small phi by log1p: a vocabulary has a million words that are hardly ever there, and the
    rounding errors of a difference of logs would add up.
    """
    scale, pseudo = scaled(alpha)
    present, absent = count * scale + pseudo, (messages - count) * scale + pseudo
    if absent <= 0:
        return -inf
    if present < absent:
        return log1p(-present / (messages * scale + 2 * pseudo))
    return log(absent) - log(messages * scale + 2 * pseudo)


def log_or_minus_inf(value: float) -> float:
    """Natural logarithm with log 0 = -inf."""
    return log(value) if value > 0 else -inf


def with_zero(histogram: Histogram, vocabulary_size: int) -> list[tuple[float, int]]:
    """(count, words) pairs that cover the whole vocabulary: the words left out have count 0."""
    pairs = [(count, words) for count, words in histogram.items() if count and words]
    zeros = vocabulary_size - sum(words for _, words in pairs)
    return [(0, zeros), *pairs] if zeros > 0 else pairs
