"""The settings of a model: how it counts and scores.

Each default chosen by experiment has its row in docs/decisions.md: "Views", "λ", "Second λ", "Threshold",
"Dilution", "Cap", "Repeats" and "Bigrams".
"""

from __future__ import annotations

from nbspam.errors import DamagedModelError, UsageError
from nbspam.labels import HAM_AND_SPAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

WORD_MODELS = ("presence", "multinomial", "bernoulli", "complement")
NUMERIC_MODELS = ("gaussian", "categorical", "aode")
EVENT_MODELS = (*WORD_MODELS, *NUMERIC_MODELS)
FEATURES = ("words", "numeric", "both")
BINNINGS = ("frequency", "width")

ALPHA = 0.03  # Laplace's 1 of textbooks is many times worse on whole mail
TEXTBOOK_ALPHA = 1.0
SECOND_ALPHA = 10.0
MEASURE_ALPHA = 1.0  # of the bins of a measure
# Averages of a view: header, body, structure, bigrams, raw.
THRESHOLD = 2.0  # nats; a token whose classes differ by less is ignored
STRONG = (1.0, 0.75, 0.5, 0.5, 1.5)  # of the threshold, by view: spreads above it count
WEAK = (1.0, 0.5, 0.5, 0.5, 1.5)  # of the threshold, by view: spreads above it count to reach AT_LEAST
AT_LEAST = (0, 20, 0, 0, 0)  # of the largest spreads, by view: short texts have few strong words
MOST_TIMES = 4  # a word that occurs n times in a message counts 1 + log n, n at most this
DILUTION = (1, 2, 2, 2, 2)  # p by view: evidence is multiplied by 1 - u^p, u the share of unknown tokens
HAM_CAP = 2.5  # nats
SAME_TEXT = 6.0  # nats that a text adds that was learned in one class alone
HAM_SAME_TEXT = 1.5  # nats, at most, for ham: spammers can copy a text
BERNOULLI_OUTCOMES = 2  # of a raw token, as in the Bernoulli model: a message has it or not
SHRINKAGE = 3.0  # added to the number of tokens that an average divides by
SAME_SPREAD = 1e-9  # nats; spreads that differ by less are ties
# Of evidence: under `alpha`, under `second_alpha`, of measures.  Each has a weight for each view, or measure.
WORD_KINDS = ("evidence", "cautious")
EVIDENCE_KINDS = (*WORD_KINDS, "measure")
DEFAULT_BINS = 10
ALL_VIEWS = "all"
EXTRA_VIEWS = ("bigrams", "raw", "measures", "signature")  # read for averaged views; each is a setting
NUMERIC_NAME = "numeric"
OWN_WORDS = "pattern="  # before the pattern of own words, where names say what is read of a message


class Settings:
    """Settings of counting and scoring; `replaced` gives others, these never change.

    A model file keeps them in this order, all but `capped` and `damped`.
    """

    event_model: str = "presence"  # one of EVENT_MODELS
    alpha: float = ALPHA  # the smoothing constant, >= 0; by default ALPHA for averaged views, else 1
    prior: str = "empirical"  # a named prior, or a probability for each class: spam=0.4,ham=0.6
    averaged: bool = True  # views are averaged and calibrated; else one sum, as in textbooks
    threshold: float = THRESHOLD  # nats; averaged views ignore a token whose classes differ by less
    normalise: bool = False  # the weights of `complement` are normalised
    features: str = ""  # one of FEATURES
    numeric_model: str = ""  # the model of the numeric features
    bins: int = DEFAULT_BINS  # how training cuts numeric features
    binning: str = "frequency"
    second_alpha: float = SECOND_ALPHA  # of averaging the views once more, which trusts rare words less
    diluted: bool = True  # the evidence of a view counts less if few of its tokens are known, see DILUTION
    views: str = ALL_VIEWS  # the views whose tokens are counted: `all`, or names with commas between
    measures: bool = True  # a few binned numeric features are evidence of their own
    bigrams: bool = True  # so are pairs of neighbouring words
    raw: bool = True  # and runs of the bytes as they came
    signature: bool = True  # a text that was learned is known again, see nbspam.model.scorer.weigh_same_text
    token_pattern: str = ""  # what it matches is a word, see nbspam.tokens.own_words; empty: our own tokens
    # No view says more for ham than HAM_CAP, because spammers can add words of ham and copy its header.
    capped: bool = True  # for the classes ham and spam, see `of`
    damped: bool = True  # log-odds of mail unlike that of training, see `of` and nbspam.model.scorer.trust

    def __init__(self, event_model: str = "presence", **others: Any) -> None:
        """others : any of the settings above, except `capped` and `damped`"""
        self._set(others)
        if event_model in NUMERIC_MODELS:
            self.numeric_model = event_model
            event_model = "presence" if self.features == "both" else event_model
        if event_model not in EVENT_MODELS:
            why = "no such event model"
            raise UsageError(event_model, why, slug="event-model", option="event_model", allowed=EVENT_MODELS)
        self.event_model = event_model
        self.features = self.features or ("words" if event_model in WORD_MODELS else "numeric")
        allowed = ("numeric" if event_model in NUMERIC_MODELS else "words", "both")
        if self.features not in allowed:
            why = f"event model {event_model} does not score these features"
            raise UsageError(self.features, why, slug="features", option="features", allowed=allowed)
        prior = self.prior.strip()
        self.prior = prior if "=" in prior else prior.lower()  # a class may be named Ham
        self.numeric_model = self.numeric_model or "gaussian"
        averaged = self.averaged and event_model == "presence" and self.features == "words"
        self.averaged = self.capped = averaged
        if others.get("alpha") is None:
            self.alpha = ALPHA if averaged else TEXTBOOK_ALPHA
        read = EXTRA_VIEWS if self.views == ALL_VIEWS else self.views.split(",")
        for name in EXTRA_VIEWS:
            setattr(self, name, getattr(self, name) and averaged and name in read)
        self.second_alpha = self.second_alpha if averaged else 0.0
        self.diluted = self.diluted and averaged

    def replaced(self, **changes: object) -> Settings:
        """A copy with some settings replaced and no other recomputed; AttributeError for an unknown name."""
        new = Settings.__new__(Settings)
        new._set(vars(self) | changes)
        return new

    def _set(self, values: dict[str, object]) -> None:
        for name, value in values.items():
            getattr(Settings, name)  # AttributeError for an unknown name
            setattr(self, name, value)

    @property
    def alphas(self) -> tuple[float, ...]:
        """The smoothing constants of averaged views; each gives evidence of its own."""
        return self.alpha, self.second_alpha

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of evidence of averaged views, in the order of their weights in the calibration."""
        return EVIDENCE_KINDS if self.measures else WORD_KINDS

    @property
    def wanted(self) -> frozenset[str]:
        """What to read of a message in addition to its words, see nbspam.tokens.read."""
        wanted = [name for name in EXTRA_VIEWS if getattr(self, name)]
        if self.features != "words":
            wanted.append(NUMERIC_NAME)
        return frozenset(wanted) | want_words(self.token_pattern)

    def of(self, classes: tuple[str, ...], stored: Iterable[str] = ()) -> Settings:
        """The settings for a model: evidence is capped only for ham and spam.

        stored : the names of what the model file keeps; counts that lack tokens cannot damp
        """
        damped = self.damped and self.diluted and "pruned" not in stored
        return self.replaced(capped=self.capped and classes == HAM_AND_SPAM, damped=damped)

    @property
    def ham_cap(self) -> float:
        """Nats: the most that a view may say for ham; infinite without a cap."""
        return HAM_CAP if self.capped else float("inf")

    def values(self) -> dict[str, str | float]:
        """name -> value, in the order of the JSON of an evaluation; without an empty token_pattern."""
        names = sorted(Settings.__annotations__)
        return {name: value for name in names if (value := getattr(self, name)) != ""}

    def as_text(self) -> dict[str, str]:
        """name -> value, as a model file keeps them; without an empty token_pattern."""
        values = {name: value for name in _STORED if (value := getattr(self, name)) != ""}
        return {name: str(int(value) if isinstance(value, bool) else value) for name, value in values.items()}


_STORED = [name for name in Settings.__annotations__ if name not in ("capped", "damped")]


def describe_scoring(settings: Mapping[str, Any]) -> str:
    """How a filter scores.  settings : of an evaluation, perhaps of another filter, or of a model"""
    if "event_model" not in settings:
        return str(settings.get("filter", settings.get("results", "another filter")))
    how = "views averaged" if str(settings["averaged"]) in ("True", "1") else "one sum"
    both = f" and {settings['numeric_model']}" if settings["features"] == "both" else ""
    return f"{settings['event_model']}{both}, {how}, smoothing λ = {settings['alpha']}"


def want_words(token_pattern: str) -> frozenset[str]:
    """What to read of a message for words of this pattern; nothing in addition for an empty one."""
    return frozenset([OWN_WORDS + token_pattern] if token_pattern else [])


def parse_settings(values: dict[str, str], where: str = "model") -> Settings:
    """The settings in the model file `where`; DamagedModelError if they are wrong."""
    settings: dict[str, Any] = {}
    try:
        for name in _STORED:
            default = getattr(Settings, name)
            kind = type(default)
            text = values.get(name, "") if name == "token_pattern" else values[name]
            settings[name] = text == "1" if kind is bool else kind(text)
            if kind is float and not 0 <= settings[name] < float("inf"):
                raise ValueError(f"{name} {values[name]}")
        return Settings(**settings)
    except (KeyError, ValueError, UsageError) as error:
        raise DamagedModelError(where, f"setting {error}") from None
