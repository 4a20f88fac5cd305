"""One message scored by one model: tokens in, log-odds out.

There are two ways of scoring: averaged views with a calibration (the default) and the sum of the textbook.
Both give a score for each class in nats, and what each token adds to it, so `explain` only has to print.

Naive Bayes adds up evidence that is not independent, so long messages saturate; a mean over the informative
tokens of a view (a geometric mean of likelihood ratios) does not.  The mean is scaled down by the view's
share of unknown tokens: a few known words say little of a text in an unknown language.  Spammers can add
hammy words, so each view's evidence for ham is capped.  Each measure is evidence of its own.  The log-odds of
mail unlike that of training are damped: `trust`.  At last a text that was learned before adds its own:
`weigh_same_text`; the calibration knows nothing of it.

`log_ratios` is the law: a tuple of counts to nats.  One message calls it for each token.  Many messages take
the logarithm of each distinct count from a table instead (nbspam.model.views), with numpy, which takes longer
to load than one message to score.  The results differ in the last digits; a test compares them.  Chosen by
experiment: docs/decisions.md, "Views", "Threshold", "Dilution", "Second λ", "Cap", "Measures", "Strange",
"Same text".
"""

from __future__ import annotations

from math import fsum, inf, log

from nbspam.errors import UsageError
from nbspam.model.calibration import check_places, first_weights
from nbspam.model.posterior import Scored, ScorePart, can_judge, log_priors_of, prior_scores, prior_shift
from nbspam.settings import (
    ALL_VIEWS,
    AT_LEAST,
    BERNOULLI_OUTCOMES,
    DILUTION,
    HAM_SAME_TEXT,
    MEASURE_ALPHA,
    MOST_TIMES,
    SAME_SPREAD,
    SAME_TEXT,
    SHRINKAGE,
    STRONG,
    WEAK,
)
from nbspam.tokens import bag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from nbspam.model.features import FeatureScorer
    from nbspam.model.protocols import ReadableModel
    from nbspam.model.words import WordLaw
    from nbspam.settings import Settings
    from nbspam.tokens import KeyedTokens

    TokenCounts = tuple[int, ...]  # as a model has them: documents_0, occurrences_0, documents_1, ...
    CountsByKey = dict[int, TokenCounts]
    KnownWord = tuple[TokenCounts, str, int, TokenCounts]  # n_jk by class, text, how often, all counts
    # Row of evidence, view, what the sum is multiplied by; the words, how often each counts, weights by class
    ViewMean = tuple[int, int, float, list[tuple[KnownWord, float, list[float]]]]

STRANGE, FAMILIAR = 0.42, 0.52  # parts of what is usual: no trust up to the first, all from the second on
MIN_USUAL = 500  # messages; of fewer, the bytes of a new sender are as strange as those of another world
NEARLY_ZERO = 1e-12  # lambda where 0 is asked for: a mean of -inf says nothing, so 0 is approached


class Scorer:
    """Scores messages by one model under one way of scoring.

    look_up   : gives the counts of tokens by their keys, perhaps of more tokens
    log_prior : log pi_k by class, nats
    words     : the event model of words where scores are one sum; not set for averaged views
    weights   : of the calibration; not set for one sum
    features  : the event model of numeric features; None for words alone
    """

    def __init__(self, model: ReadableModel, settings: Settings) -> None:
        self.model, self.look_up = model, model.counts
        self.settings = settings = settings.of(model.classes, model.settings)
        self.log_prior = log_priors_of(settings, model.messages, model.classes)
        self.features: FeatureScorer | None = None
        if settings.features != "words":
            from nbspam.model.features import FeatureScorer  # not needed for words

            self.features = FeatureScorer(model, settings)  # type: ignore[arg-type]  # a file has them
        if settings.features != "numeric":
            _check_words(model, settings)
            if settings.averaged:
                self._prepare_views()
            else:
                self.words = make_words(model, settings)

    def _prepare_views(self) -> None:
        model, settings = self.model, self.settings
        n_classes = len(model.classes)
        self.weights = model.calibration() or first_weights(n_classes, settings.kinds)[0]
        self._own = check_places(model.path, self.weights, n_classes, settings.kinds)
        self._usual = Usual([*map(sum, model.documents)], model.words, sum(model.messages))
        documents, sizes = [*model.documents], [size + 1 for size in model.words]
        documents[bag.RAW_VIEW], sizes[bag.RAW_VIEW] = model.messages, BERNOULLI_OUTCOMES
        self._laws = [
            ViewEvidence(view, alpha, settings.threshold, documents[view], sizes[view])
            for alpha in settings.alphas
            for view in range(len(bag.VIEWS))
        ]

    def score_or_prior(self, message: KeyedTokens) -> Scored:
        """The scores of one message; those of the prior without words, or without mail to judge by."""
        settings, model = self.settings, self.model
        if message.has_words and can_judge(settings.averaged, model.messages):
            return self.score(message)
        values = prior_scores(settings, model.messages, model.classes)
        return Scored(values, [ScorePart("prior", settings.prior, -1, values)])

    def score(self, message: KeyedTokens) -> Scored:
        """Scores of one message, without the tokens of views that the model does not read."""
        if self.settings.features == "numeric":
            return self._sum(message, {})
        rows = self._look_up(message)
        return self._score_views(message, rows) if self.settings.averaged else self._sum(message, rows)

    def _look_up(self, message: KeyedTokens) -> CountsByKey:
        """The counts of the tokens of a message, which then has no others than the model reads."""
        message.keep(self.model.settings.get("views", ALL_VIEWS))
        return self.look_up([*message.keys(), bag.NOTAWORD_KEY])

    def _sum(self, message: KeyedTokens, rows: CountsByKey) -> Scored:
        """The sum of the textbook."""
        features, prior = [], [ScorePart("prior", self.settings.prior, -1, list(self.log_prior))]
        if self.features is not None:
            contributions = self.features.contributions(message.features)
            features = [ScorePart("feature", text, -1, values) for text, values in contributions]
        if self.settings.features == "numeric":
            parts = [*features, *prior]
        else:
            parts = word_parts(self.words, message, rows)
            if self.words.uses_prior or self.features is not None:
                parts += [*prior, *features]
        return Scored([fsum(part.values[k] for part in parts) for k in range(len(self.log_prior))], parts)

    def weigh(self, view: int, counts: TokenCounts) -> list[float]:
        """The log-likelihoods of a token, nats by class up to a constant, before its view is averaged."""
        if self.settings.averaged:
            return self._laws[view].weigh(counts[::2])[1]
        return self.words.token(counts[::2], counts[1::2], 1)

    def find_evidence(self, message: KeyedTokens) -> tuple[list[list[float]], list[float]]:
        """What the calibration learns from a message, see calibration.design: as `score` finds it."""
        rows = self._look_up(message)
        evidence, unknown, _ = self._see(message, rows)
        if self.settings.measures:
            self._add_measures(message.tokens[bag.MEASURES_VIEW], rows, evidence)
        return evidence, unknown

    def _see(
        self, message: KeyedTokens, rows: CountsByKey
    ) -> tuple[list[list[float]], list[float], list[ViewMean]]:
        """Evidence and unknown shares of the views, and the means that the evidence is made of."""
        evidence: list[list[float]] = [[] for _ in self._laws]
        unknown: list[float] = []
        means: list[ViewMean] = []
        for view, tokens in enumerate(message.tokens[: len(bag.VIEWS)]):
            words: list[KnownWord] = []
            for key, (text, times) in tokens.items():
                counts = rows.get(key, ())
                if any(counts):
                    words.append((counts[::2], text, times, counts))
            share = 1.0 - len(words) / len(tokens) if tokens else 0.0
            familiarity = 1.0 - share ** DILUTION[view] if self.settings.diluted else 1.0
            unknown.append(share)
            for row in range(view, len(self._laws), len(bag.VIEWS)):
                evidence[row], mean = self._mean(row, view, words, familiarity)
                means.append(mean)
        return evidence, unknown, means

    def _score_views(self, message: KeyedTokens, rows: CountsByKey) -> Scored:
        evidence, unknown, means = self._see(message, rows)
        parts = self._word_parts(means)
        if self.settings.measures:
            parts.extend(self._add_measures(message.tokens[bag.MEASURES_VIEW], rows, evidence))
        parts.extend(self._fixed_parts(unknown))
        parts.extend(self._damp(self._add_up(parts), len(message.tokens[bag.HEADER_VIEW]), unknown))
        parts.extend(self._last_parts(message.tokens[bag.SIGNATURE_VIEW], rows))
        scored = Scored(self._add_up(parts), parts)
        scored.evidence, scored.common = evidence, unknown
        return scored

    def _add_up(self, parts: list[ScorePart]) -> list[float]:
        return [sum(part.values[k] for part in parts) for k in range(len(self.log_prior))]

    def _mean(
        self, row: int, view: int, words: list[KnownWord], familiarity: float
    ) -> tuple[list[float], ViewMean]:
        """A row of evidence, nats by class: the mean of the informative words of a view; and what is in it.

        words       : the words of the view that the model met, in the order of the message
        familiarity : what the mean is multiplied by
        SHRINKAGE scales down a mean of few words.
        """
        law = self._laws[row]
        informative = [(word, damp_times(word[2]), weights) for word, weights in law.informative(words)]
        n_classes = len(self.model.classes)
        sums = [sum([n * weights[k] for _, n, weights in informative]) for k in range(n_classes)]
        share = familiarity / (sum([n for _, n, _ in informative]) + SHRINKAGE)
        ham_cap = self.settings.ham_cap
        if share * sums[1] < -ham_cap:
            share = ham_cap / -sums[1]
        return [share * total for total in sums], (row, view, share, informative)

    def _word_parts(self, means: list[ViewMean]) -> list[ScorePart]:
        """What each word adds to the means.

        Each word of a capped view is scaled alike, so that `explain` still adds up.
        """
        parts: dict[str, ScorePart] = {}
        for row, view, share, informative in means:
            scale = self.weights[row] * share  # what a nat of a word's weight adds, counted once
            for (_, text, times, counts), n, weights in informative:
                values = [n * scale * value for value in weights]
                part = parts.get(text)
                if part is None:
                    part = parts[text] = ScorePart("token", text, view, [0.0] * len(values), counts, times)
                part.values = [a + b for a, b in zip(part.values, values, strict=True)]
                part.scale += n * scale
        return [*parts.values()]

    def _add_measures(
        self, tokens: dict[int, tuple[str, int]], rows: CountsByKey, evidence: list[list[float]]
    ) -> list[ScorePart]:
        """What each measure adds that was met; its evidence is added to the others'.

        tokens : those of the measures, some may be missing
        """
        messages = bag.count_measured(self.model.documents[bag.MEASURES_VIEW])
        measured = {bag.find_measure(text): (text, rows.get(key)) for key, (text, _) in tokens.items()}
        parts: list[ScorePart] = []
        for name in bag.MEASURE_NAMES:
            weight = self.weights[len(evidence)]
            text, counts = measured.get(name, (name, None))
            values = [0.0] * len(messages)
            if counts and any(counts):
                values = measure_evidence(counts[::2], messages, bag.N_BINS[name])
                part = ScorePart("token", text, bag.MEASURES_VIEW, [weight * nats for nats in values], counts)
                part.scale = weight
                parts.append(part)
            evidence.append(values)
        return parts

    def _fixed_parts(self, unknown: list[float]) -> list[ScorePart]:
        """The constant and the unknown shares."""
        weights, parts = self.weights, []
        for view, share in enumerate(unknown):
            shares = [0.0, *(weights[begin + 1 + view] * share for begin in self._own)]
            parts.append(ScorePart("unknown", bag.VIEWS[view], view, shares))
        parts.append(ScorePart("base", "constant", -1, [0.0, *(weights[begin] for begin in self._own)]))
        return parts

    def _damp(self, calibrated: list[float], n_tokens: int, unknown: list[float]) -> list[ScorePart]:
        """What damping takes away.  calibrated : scores so far;  n_tokens : of the header"""
        if not self.settings.damped or not n_tokens:
            return []
        share = 1.0 - unknown[bag.HEADER_VIEW]
        trusted = self._usual.trust(n_tokens * share, share, 1.0 - unknown[bag.RAW_VIEW])
        if trusted == 1.0:
            return []
        lost = [(trusted - 1.0) * score for score in calibrated]
        return [ScorePart("strange", "unlike the mail of training", -1, lost)]

    def _last_parts(self, signature: Collection[int], rows: CountsByKey) -> list[ScorePart]:
        """What a text adds that was learned, and the prior less that under which the constant was learned.

        signature : keys of its tokens
        """
        parts: list[ScorePart] = []
        shared = [len(keys) for keys in find_same_text(signature, rows, len(self.log_prior))]
        if any(shared):
            same = weigh_same_text(shared, len(signature), self.settings.capped)
            parts.append(ScorePart("same-text", "a text that was learned", -1, same))
        shift = prior_shift(self.settings, self.model.messages, self.model.classes)
        if any(shift):
            parts.append(ScorePart("prior", self.settings.prior, -1, shift))
        return parts


def make_words(model: ReadableModel, settings: Settings) -> WordLaw:
    """The event model of words on the counts of a model; it knows no measures."""
    from nbspam.model.words import ClassSums, make_word_law, vocabulary_size, word_totals

    totals = ClassSums(
        model.messages,
        word_totals(model.documents),
        word_totals(model.occurrences),
        vocabulary_size(model.words),
        model.histogram,
    )
    return make_word_law(settings.event_model, totals, settings.alpha, settings.normalise)


def word_parts(words: WordLaw, message: KeyedTokens, rows: CountsByKey) -> list[ScorePart]:
    """What each word of a message adds, and the base, which does not depend on the words.

    All words that the model does not know are one NOTAWORD.
    """
    known_words: list[tuple[str, int, int, TokenCounts]] = []
    outside = 0
    for view, tokens in enumerate(message.tokens[: len(bag.TEXTBOOK_VIEWS)]):
        for key, (text, times) in tokens.items():
            if key in rows:
                known_words.append((text, view, times, rows[key]))
            else:
                outside += times
    if outside:
        nothing = (0,) * (2 * words.n_classes)
        known_words.append((bag.NOTAWORD, bag.NOTAWORD_VIEW, outside, rows.get(bag.NOTAWORD_KEY, nothing)))
    parts = [
        ScorePart("token", text, view, words.token(counts[::2], counts[1::2], times), counts, times)
        for text, view, times, counts in known_words
    ]
    ruled_out = words.ruled_out(part.counts[::2] for part in parts)
    parts.append(ScorePart("base", words.event_model, -1, list(words.base)))
    if any(ruled_out):
        absent = [-inf if out else 0.0 for out in ruled_out]
        parts.append(ScorePart("base", "a word of every message is absent", -1, absent))
    return parts


def _check_words(model: ReadableModel, settings: Settings) -> None:
    if model.settings.get("features") == "numeric":
        why = f"{model.path} was trained without words"
        remedy = "train again with `features=words` or `features=both`"
        raise UsageError(settings.event_model, why, remedy, "model-no-words", option="event_model")


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

    def __init__(
        self, view: int, alpha: float, threshold: float, documents: Sequence[float], vocabulary_size: float
    ) -> None:
        """documents : N_k, sums of document counts by class over the vocabulary of the view; of raw, messages

        vocabulary_size : |V|, NOTAWORD included; of raw, BERNOULLI_OUTCOMES
        """
        self._alpha = alpha or NEARLY_ZERO
        self._floor, self._threshold = threshold * WEAK[view], threshold * STRONG[view]
        self._at_least = AT_LEAST[view]
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

    def informative(self, words: list[KnownWord]) -> list[tuple[KnownWord, list[float]]]:
        """The informative ones of some tokens, with their weights by class."""
        weighed = []
        for word in words:
            spread, weights = self.weigh(word[0])
            if spread > self._floor:
                weighed.append((spread, word, weights))
        strong = [(word, weights) for spread, word, weights in weighed if spread > self._threshold]
        if len(strong) >= self._at_least:
            return strong
        spreads = sorted([spread for spread, _, _ in weighed], reverse=True)
        last = spreads[min(len(spreads), self._at_least) - 1] - SAME_SPREAD if spreads else 0.0
        return [(word, weights) for spread, word, weights in weighed if spread >= last]


class Usual:
    """How much of a message the model knows as a rule.

    Of its tokens counted in a view, all but the first of each word had come before: those were known.
    number, share : of the known tokens of a header
    raw_share     : of the known runs of raw bytes; 0 if too few messages tell
    """

    __slots__ = ("number", "raw_share", "share")

    def __init__(self, documents: Sequence[int], words: Sequence[int], messages: int) -> None:
        """documents : sum of n_jk by view, all classes;  words : by view"""
        known = [n - m for n, m in zip(documents, words, strict=True)]
        self.number = known[bag.HEADER_VIEW] / max(messages, 1)
        self.share = known[bag.HEADER_VIEW] / max(documents[bag.HEADER_VIEW], 1)
        raw_share = known[bag.RAW_VIEW] / max(documents[bag.RAW_VIEW], 1)
        self.raw_share = raw_share if messages >= MIN_USUAL else 0.0

    def trust(self, number: float, share: float, raw_share: float) -> float:
        """What log-odds of the calibration are multiplied by: less than 1 for mail unlike that of training.

        The arguments are of the message, as parts of what is usual.  A low share alone is no sign: unknown
        tokens can be stuffed into a header.  They lower neither the number nor, much, the share of raw bytes.
        """
        others = min(_part(number, self.number), _part(raw_share, self.raw_share))
        part = max(_part(share, self.share), others)
        return min(max((part - STRANGE) / (FAMILIAR - STRANGE), 0.0), 1.0)


def _part(value: float, usual: float) -> float:
    return value / usual if usual > 0 else 1.0


def find_same_text(signature: Collection[int], rows: CountsByKey, n_classes: int) -> list[list[int]]:
    """By class, the keys of a signature that messages of that class have, and of no other."""
    keys: list[list[int]] = [[] for _ in range(n_classes)]
    for key in signature:
        classes = [k for k, n in enumerate(rows.get(key, ())[::2]) if n]
        if len(classes) == 1:
            keys[classes[0]].append(key)
    return keys


def weigh_same_text(shared: Sequence[int], n_tokens: int, capped: bool) -> list[float]:
    """What a text adds that was learned before, nats by class.

    shared   : by class, how many tokens of the signature messages of that class have, and of no other
    n_tokens : of the signature
    A square, because texts of one form share a quarter of their runs, and the same text nearly all.
    """
    nats = [SAME_TEXT * (n / (n_tokens or 1)) ** 2 for n in shared]
    if capped:
        nats[0] = min(nats[0], HAM_SAME_TEXT)
    return nats


def damp_times(times: int) -> float:
    """How often a word counts in the mean if a message has it so many times: 1 + log of it, or of MOST_TIMES.

    A second time says more, not as much again.
    Source: Rennie et al. 2003, "Tackling the Poor Assumptions of Naive Bayes", 4.1, here of weights.
    """
    return 1.0 if times == 1 else 1.0 + log(min(times, MOST_TIMES))


def measure_evidence(documents: Sequence[float], messages: Sequence[float], bins: int) -> list[float]:
    """What the bin of a numeric feature says, nats by class, class 0 has 0: the categorical model.

    documents : messages of each class in the bin;  messages : those measured;  bins : how many there are
    """
    totals = log_ratios(messages, bins * MEASURE_ALPHA)
    return [ratio - total for ratio, total in zip(log_ratios(documents, MEASURE_ALPHA), totals, strict=True)]
