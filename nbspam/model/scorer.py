"""One message scored by one model: tokens in, log-odds out.

Hides the choice between the two ways of scoring: averaged views with calibration (the
default) and the sum of the textbook.  Both give a score a class in nats, and the tokens with
what each adds to it, so `explain` only has to print.
"""

from __future__ import annotations

from math import fsum

from nbspam.errors import DamagedModelError, UsageError
from nbspam.model.evidence import (
    ViewEvidence,
    capped_scale,
    mean_scale,
    measure_evidence,
    own_weights,
    times_counted,
)
from nbspam.model.posterior import Scored, ScorePart
from nbspam.model.priors import log_priors_of, prior_shift
from nbspam.settings import ALL_VIEWS, DILUTION
from nbspam.tokens.bag import MEASURES_VIEW, VIEW_NAMES, VIEWS
from nbspam.tokens.keys import NOTAWORD_KEY, key_list, message_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.model.alike import Alike
    from nbspam.model.features import FeatureScorer
    from nbspam.settings import Settings
    from nbspam.store.reader import Model
    from nbspam.tokens import Tokens

    KnownWord = tuple[str, int, tuple[int, ...]]  # text, how often, its counts as the model has them

COUNTS_REPEATS = ("multinomial", "complement")  # event models that ask how often a word occurs in a message


class Counted:
    """The distinct tokens of a message under their keys.

    tokens   : by number of the view (VIEW_NAMES), key -> (text, how often)
    features : values of tokens.numeric.FEATURES; empty where they were not measured
    """

    __slots__ = ("_digest", "features", "tokens")

    def __init__(self, read: Tokens) -> None:
        self.features = read.numeric
        self.tokens: list[dict[int, tuple[str, int]]] = []
        self._digest: int | None = None
        for found in (*read.views(), (), read.measures):  # none is NOTAWORD: what that is, a model says
            times: dict[str, int] = {}
            for token in found:
                times[token] = times.get(token, 0) + 1
            self.tokens.append(dict(zip(key_list(times), times.items(), strict=True)))

    @property
    def digest(self) -> int:
        """What tells that two messages are the same."""
        if self._digest is None:
            counts = {key: n for view in self.tokens for key, (_, n) in view.items()}
            self._digest = message_digest(counts, self.features)
        return self._digest

    def keys(self) -> list[int]:
        """All keys."""
        return [key for view in self.tokens for key in view]

    def keep(self, views: str) -> None:
        """Forgets the tokens of the views not named (names parted by commas, or `all`); the digest stays."""
        if views != ALL_VIEWS:
            self._digest = self.digest
            read = views.split(",")
            for number, name in enumerate(VIEW_NAMES):
                if name not in read:
                    self.tokens[number] = {}


def counted(tokens: Tokens, name: str = "") -> Counted:
    """The distinct tokens of a message that was read; a fault met in it is logged under `name`."""
    if tokens.failures:
        from nbspam.errors import log_faults

        log_faults(name, tokens.failures)
    return Counted(tokens)


class ViewWords:
    """The words of one view of a message that the model met, and what they add to the scores.

    known       : (n_jk by class, word) in the order of the message
    unknown     : share of the view's distinct tokens that were never met
    familiarity : what the evidence of the view is multiplied by
    parts       : text -> what the word adds
    """

    __slots__ = ("familiarity", "known", "parts", "unknown", "view")

    def __init__(
        self, view: int, tokens: dict[int, tuple[str, int]], rows: dict[int, tuple[int, ...]], diluted: bool
    ) -> None:
        self.view = view
        self.known: list[tuple[tuple[int, ...], KnownWord]] = []
        for key, (text, times) in tokens.items():
            counts = rows.get(key, ())
            if any(counts):
                self.known.append((counts[::2], (text, times, counts)))
        self.unknown = 1.0 - len(self.known) / len(tokens) if tokens else 0.0
        self.familiarity = 1.0 - self.unknown ** DILUTION[view] if diluted else 1.0
        self.parts: dict[str, ScorePart] = {}

    def add(self, word: KnownWord, values: list[float], scale: float) -> None:
        """Adds nats by class to the part of a word, which begins here if it has none yet."""
        text, times, counts = word
        part = self.parts.get(text)
        if part is None:
            part = self.parts[text] = ScorePart("token", text, self.view, values, counts, times)
        else:
            part.values = [a + b for a, b in zip(part.values, values, strict=True)]
        part.scale += scale


class Scorer:
    """Scores messages by one model under one way of scoring.

    words    : the event model of words where scores are one sum; averaged views have none
    features : the event model of numeric features; None for words alone
    """

    __slots__ = (
        "_alike",
        "_ham_cap",
        "_laws",
        "_log_prior",
        "_weights",
        "features",
        "model",
        "settings",
        "words",
    )

    def __init__(self, model: Model, settings: Settings) -> None:
        """model: with the counts of its prior model, if it has one, added"""
        self.model = model
        self.settings = settings = settings.of(model.classes)
        self._ham_cap = settings.ham_cap(len(model.classes))
        self._log_prior = log_priors_of(settings, model.messages, model.classes)
        self._weights: list[float] = []
        self._alike: Alike | None = None  # of three classes and more
        self._laws: list[list[ViewEvidence]] = []  # by smoothing, by view
        self.features: FeatureScorer | None = None
        if settings.features != "words":
            from nbspam.model.features import FeatureScorer  # word models do not pay for it

            self.features = FeatureScorer(model, settings)
        if settings.features != "numeric":
            _check_words(model, settings)
            if settings.averaged:
                self._prepare_views()
            else:
                from nbspam.model.word_sum import make_words  # averaged views do without

                self.words = make_words(model, settings)

    def _prepare_views(self) -> None:
        model, settings = self.model, self.settings
        self._weights = model.calibration()
        if not self._weights:
            from nbspam.model.calibration import first_weights  # a model with a calibration does without

            self._weights = first_weights(len(model.classes), settings.kinds)[0]
        if len(model.classes) > 2 or len(self._weights) != _weights_of_two_classes(settings):
            from nbspam.model.calibration import check_weights

            check_weights(model.path, self._weights, len(model.classes), settings.kinds)
        if len(model.classes) > 2:
            from nbspam.model.alike import Alike

            self._alike = Alike(self._weights, len(model.classes), settings.kinds)
        self._laws = [self._view_laws(alpha) for alpha in settings.alphas]

    def _view_laws(self, alpha: float) -> list[ViewEvidence]:
        model, threshold = self.model, self.settings.threshold
        return [
            ViewEvidence(view, alpha, threshold, model.documents[view], model.words[view] + 1)
            for view in range(len(VIEWS))
        ]

    def score(self, counted: Counted) -> Scored:
        """Scores of one message; it forgets the tokens of views that the model does not read."""
        if self.settings.features == "numeric":
            return self._summed([*self._feature_parts(counted), self._prior_part()], counted)
        counted.keep(self.model.settings.get("views", ALL_VIEWS))
        rows = self.model.counts([*counted.keys(), NOTAWORD_KEY])
        try:
            return self._score_words(counted, rows)
        except (ValueError, TypeError, ZeroDivisionError):  # looked for here alone: it takes time
            if all(type(n) in (int, float) and n >= 0 for row in rows.values() for n in row):
                raise
            raise DamagedModelError(self.model.path, "a token has counts that it cannot have") from None

    def _score_words(self, counted: Counted, rows: dict[int, tuple[int, ...]]) -> Scored:
        if self.settings.averaged:
            return self._score_views(counted, rows)
        from nbspam.model.word_sum import word_parts

        parts = word_parts(self.words, self.settings.event_model, counted, rows)
        if self.words.uses_prior or self.features is not None:
            parts.append(self._prior_part())
        return self._summed([*parts, *self._feature_parts(counted)], counted)

    def _feature_parts(self, counted: Counted) -> list[ScorePart]:
        if self.features is None:
            return []
        found = self.features.contributions(counted.features)
        return [ScorePart("feature", text, -1, values) for text, values in found]

    def _summed(self, parts: list[ScorePart], counted: Counted) -> Scored:
        scored = Scored([fsum(part.values[k] for part in parts) for k in range(len(self._log_prior))], parts)
        scored.features = counted.features
        return scored

    def _prior_part(self) -> ScorePart:
        return ScorePart("prior", self.settings.prior, -1, list(self._log_prior))

    def _score_views(self, counted: Counted, rows: dict[int, tuple[int, ...]]) -> Scored:
        n_classes = len(self.model.classes)
        parts: list[ScorePart] = []
        evidence: list[list[float]] = [[] for _ in range(len(self._laws) * len(VIEWS))]
        unknown: list[float] = []
        for view, tokens in enumerate(counted.tokens[: len(VIEWS)]):
            words = ViewWords(view, tokens, rows, self.settings.diluted)
            unknown.append(words.unknown)
            for number, laws in enumerate(self._laws):
                place = number * len(VIEWS) + view
                evidence[place] = self._mean(words, laws[view], place)
            parts.extend(words.parts.values())
        if self.settings.measures:
            found, measured = self._measures(
                counted.tokens[MEASURES_VIEW], rows, self._weights[len(evidence) :]
            )
            parts.extend(found)
            evidence.extend(measured)
        common = [*unknown, *self._alike.scores(evidence)] if self._alike else unknown
        parts.extend(self._fixed_parts(unknown, len(evidence), len(common)))
        scored = Scored([sum(part.values[k] for part in parts) for k in range(n_classes)], parts)
        scored.evidence, scored.common = evidence, common
        return scored

    def _with_others(self, own: list[float], values: list[float], share: float, place: int) -> list[float]:
        """What a word adds to the scores, nats by class.

        own  : what it adds to its own class;  values : what it says, of which `share` is evidence;
        place : of that evidence
        """
        if self._alike is None:
            return own
        return [a + share * b for a, b in zip(own, self._alike.adds(place, values), strict=True)]

    def _mean(self, words: ViewWords, law: ViewEvidence, place: int) -> list[float]:
        """The mean evidence of a view, row `place`; what each informative word adds goes to its part."""
        candidates: list[tuple[float, tuple[KnownWord, list[float]]]] = []
        weigh, floor = law.weigh, law.floor
        for documents, word in words.known:
            spread, weights = weigh(documents)
            if spread > floor:
                candidates.append((spread, (word, weights)))
        found = [(word, times_counted(word[1]), weights) for word, weights in law.informative(candidates)]
        sums = [sum([n * weights[k] for _, n, weights in found]) for k in range(len(self.model.classes))]
        share = mean_scale(sum([n for _, n, _ in found]), words.familiarity)
        share = capped_scale(share, sums[1], self._ham_cap)
        scale = self._weights[place] * share  # what a nat of a word's weight adds, counted once
        for word, n, weights in found:
            own = [n * scale * value for value in weights]
            words.add(word, self._with_others(own, weights, n * share, place), n * scale)
        return [share * total for total in sums]

    def _measures(
        self, tokens: dict[int, tuple[str, int]], rows: dict[int, tuple[int, ...]], weights: list[float]
    ) -> tuple[list[ScorePart], list[list[float]]]:
        """What each measure that was met adds, and the evidence of all in order, by class.

        tokens : those of the measures, some of which may be gone;  weights : theirs first
        """
        from nbspam.tokens.measures import MEASURES, N_BINS, measure_of, messages_measured

        messages = messages_measured(self.model.documents[MEASURES_VIEW])
        found = {measure_of(text): (text, rows.get(key)) for key, (text, _) in tokens.items()}
        parts: list[ScorePart] = []
        evidence: list[list[float]] = []
        for name, weight in zip(MEASURES, weights, strict=False):
            text, counts = found.get(name, (name, None))
            values = [0.0] * len(messages)
            if counts and any(counts):
                values = measure_evidence(counts[::2], messages, N_BINS[name])
                part = ScorePart("token", text, MEASURES_VIEW, [weight * value for value in values], counts)
                part.scale = weight
                parts.append(part)
            evidence.append(values)
        return parts, evidence

    def _fixed_parts(self, unknown: list[float], n_evidence: int, n_common: int) -> list[ScorePart]:
        """The constant, the unknown shares, and the prior against that the constant was learned under."""
        model, weights, n_views = self.model, self._weights, len(VIEWS)
        own = own_weights(n_evidence, n_common, len(model.classes))
        parts = []
        for view in range(n_views):
            shares = [0.0, *(weights[begin + 1 + view] * unknown[view] for begin in own)]
            parts.append(ScorePart("unknown", VIEWS[view], view, shares))
        parts.append(ScorePart("base", "constant", -1, [0.0, *(weights[begin] for begin in own)]))
        shift = prior_shift(self._log_prior, model.messages)
        if any(shift):
            parts.append(ScorePart("prior", self.settings.prior, -1, shift))
        return parts


def _weights_of_two_classes(settings: Settings) -> int:
    """How many weights their calibration has, without the module that knows their names."""
    n_evidence = (len(settings.kinds) - settings.measures) * len(VIEWS)
    if settings.measures:
        from nbspam.tokens.measures import MEASURES  # the message needs it, too

        n_evidence += len(MEASURES)
    return own_weights(n_evidence, len(VIEWS), 2).stop


def _check_words(model: Model, settings: Settings) -> None:
    if model.settings.get("features") == "numeric":
        raise UsageError(
            f"--event-model {settings.event_model}",
            f"{model.path} was trained without words",
            "train again with --features words or --features both",
            "model-no-words",
        )
    if settings.event_model in COUNTS_REPEATS:
        check_repeats(model, settings.event_model)


def check_repeats(model: Model, event_model: str) -> None:
    """UsageError if the model does not know how often a word occurs in a message."""
    imported = model.settings.get("imported") or model.settings.get("prior_imported")
    if imported:
        raise UsageError(
            f"--event-model {event_model}",
            f"{model.path} has counts of {imported}: how many messages hold a word, not how often",
            "score by presence or bernoulli",
            "model-no-repeats",
        )
