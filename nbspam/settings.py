"""How a model scores unless the command line says otherwise.

Hides the defaults and how a setting is written in a model file or on the command line.
Every default that was chosen by experiment names its table.
"""

from __future__ import annotations

from nbspam.errors import DamagedModelError, UsageError
from nbspam.labels import HAM_AND_SPAM

EVENT_MODELS = ("presence", "multinomial", "bernoulli", "complement", "gaussian", "categorical", "aode")
WORD_MODELS = ("presence", "multinomial", "bernoulli", "complement")
NUMERIC_MODELS = ("gaussian", "categorical", "aode")
FEATURES = ("words", "numeric", "both")
BINNINGS = ("frequency", "width")

ALPHA = 0.03  # docs/decisions.md; Laplace's 1 is the textbook, many times worse on whole mail
TEXTBOOK_ALPHA = 1.0
SECOND_ALPHA = 10.0  # of averaged views, beside the first: docs/decisions.md
MEASURE_ALPHA = 1.0  # of the bins of a measure: docs/decisions.md
# How evidence is averaged in a view: header, body, structure, bigrams.  All of docs/decisions.md.
THRESHOLD = 2.0  # nats; a token whose classes differ by no more says nothing in an average
STRONG = (1.0, 0.75, 0.5, 0.5)  # of the threshold, by view: spreads over it count
WEAK = (1.0, 0.5, 0.5, 0.5)  # of the threshold, by view: spreads over it count where AT_LEAST asks for more
AT_LEAST = (0, 20, 0, 0)  # so many of the largest spreads count, by view: short texts have few strong words
MOST_TIMES = 4  # a word that a message has n times counts 1 + log n times in an average, n at most this
DILUTION = (1, 2, 2, 2)  # p by view: evidence is multiplied by 1 - u^p, u the share of tokens never met
HAM_CAP = 2.5  # nats; of ham and spam no view's evidence says more for ham: docs/decisions.md
SHRINKAGE = 3.0  # added to the number of tokens an average divides by
SAME = 1e-9  # nats; spreads no further apart are tied, whatever rounded them
KINDS = ("evidence", "cautious", "measure")  # of evidence; a weight for each view, or measure
BINS = 10
ALL_VIEWS = "all"
BIGRAMS_NAME = "bigrams"
NUMERIC_NAME = "numeric"
MEASURES_NAME = "measures"  # the view that is not averaged


class Settings:
    """One way of scoring.

    event_model : one of EVENT_MODELS
    alpha       : the smoothing constant, >= 0
    prior       : as people write it, a named one in small letters
    averaged    : views averaged and calibrated (the default) or one sum (the textbook)
    second_alpha : views are averaged a second time under this lambda, which trusts rare words less; 0: once
    diluted     : the evidence of a view counts less if few of its tokens were met; see DILUTION
    capped      : no view's evidence says more for ham than HAM_CAP, because spammers can add words of ham and
                  copy its header; true for the classes ham and spam, see `of`; no part of a model file
    threshold   : nats; a token whose classes differ by no more says nothing in an averaged view
    normalise   : weight normalisation of `complement`
    features    : words, numeric or both
    numeric_model : what scores the numeric features; with `both` beside a word model, else event_model
    views       : those whose tokens are counted: `all`, or names parted by commas
    measures    : a few numeric features are evidence of their own: docs/decisions.md
    bigrams     : so are pairs of neighbouring words: docs/decisions.md
    bins, binning : how training cuts numeric features: bins of equal frequency or width
    """

    __slots__ = (
        "alpha",
        "averaged",
        "bigrams",
        "binning",
        "bins",
        "capped",
        "diluted",
        "event_model",
        "features",
        "measures",
        "normalise",
        "numeric_model",
        "prior",
        "second_alpha",
        "threshold",
        "views",
    )

    def __init__(
        self,
        event_model: str = "presence",
        *,
        alpha: float | None = None,
        prior: str = "empirical",
        averaged: bool | None = None,
        threshold: float = THRESHOLD,
        normalise: bool = False,
        features: str = "",
        numeric_model: str = "",
        bins: int = BINS,
        binning: str = "frequency",
        second_alpha: float = SECOND_ALPHA,
        diluted: bool = True,
        views: str = ALL_VIEWS,
        measures: bool = True,
        bigrams: bool = True,
    ) -> None:
        _check_event_model(event_model)
        if features == "both" and event_model in NUMERIC_MODELS:
            event_model, numeric_model = "presence", event_model
        self.event_model = event_model
        self.features = features or ("words" if event_model in WORD_MODELS else "numeric")
        _check_features(event_model, self.features)
        can_average = event_model == "presence" and self.features == "words"
        self.averaged = self.capped = can_average if averaged is None else averaged and can_average
        self.alpha = (ALPHA if self.averaged else TEXTBOOK_ALPHA) if alpha is None else alpha
        self.prior = prior.strip() if "=" in prior else prior.strip().lower()  # a class may be named Ham
        self.threshold, self.normalise, self.views = threshold, normalise, views
        self.numeric_model = event_model if event_model in NUMERIC_MODELS else numeric_model or "gaussian"
        self.bins, self.binning = bins, binning
        self.second_alpha = second_alpha if self.averaged else 0.0
        self.diluted = diluted and self.averaged
        self.measures = measures and self.averaged and _reads(MEASURES_NAME, views)
        self.bigrams = bigrams and self.averaged and _reads(BIGRAMS_NAME, views)

    @property
    def alphas(self) -> tuple[float, ...]:
        """The smoothing constants of averaged views, each with evidence of its own."""
        return (self.alpha, self.second_alpha) if self.second_alpha else (self.alpha,)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of evidence of averaged views, in the order of their weights in the calibration."""
        there = (True, bool(self.second_alpha), self.measures)
        return tuple(kind for kind, is_there in zip(KINDS, there, strict=True) if is_there)

    @property
    def wanted(self) -> frozenset[str]:
        """What is read of a message in addition to its words, see nbspam.tokens.read."""
        asked = {
            BIGRAMS_NAME: self.bigrams,
            MEASURES_NAME: self.measures,
            NUMERIC_NAME: self.features != "words",
        }
        return frozenset(name for name, is_asked in asked.items() if is_asked)

    def of(self, classes: tuple[str, ...]) -> Settings:
        """The same for a filter of these classes: only spam hides, and only in ham."""
        return self if classes == HAM_AND_SPAM else self.replaced(capped=False)

    def ham_cap(self, n_classes: int) -> float:
        """Nats: no evidence of a view says more for ham than that; infinite if nothing caps it."""
        return HAM_CAP if self.capped and n_classes == 2 else float("inf")

    def replaced(self, **changes: object) -> Settings:
        """The same settings with some of them replaced, nothing else recomputed; AttributeError: no such."""
        new = Settings.__new__(Settings)
        for name in Settings.__slots__:
            setattr(new, name, getattr(self, name))
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def as_text(self) -> dict[str, str]:
        """name -> value, as a model file keeps them."""
        return {
            "event_model": self.event_model,
            "alpha": repr(self.alpha),
            "prior": self.prior,
            "averaged": str(int(self.averaged)),
            "threshold": repr(self.threshold),
            "normalise": str(int(self.normalise)),
            "features": self.features,
            "numeric_model": self.numeric_model,
            "bins": str(self.bins),
            "binning": self.binning,
            "second_alpha": repr(self.second_alpha),
            "diluted": str(int(self.diluted)),
            "views": self.views,
            "measures": str(int(self.measures)),
            "bigrams": str(int(self.bigrams)),
        }


def _reads(view: str, views: str) -> bool:
    return views == ALL_VIEWS or view in views.split(",")


def _check_event_model(event_model: str) -> None:
    if event_model not in EVENT_MODELS:
        why = "no such event model"
        raise UsageError(event_model, why, slug="event-model", option="event_model", allowed=EVENT_MODELS)


def _check_features(event_model: str, features: str) -> None:
    if features == ("words" if event_model in NUMERIC_MODELS else "numeric"):
        fitting = NUMERIC_MODELS if features == "numeric" else WORD_MODELS
        raise UsageError(
            features,
            f"event model {event_model} does not score {'numbers' if features == 'numeric' else features}",
            f"`event_model={', '.join(fitting)}`; or `features=both`",
            "features",
            option="features",
        )


def from_text(values: dict[str, str], where: str = "model") -> Settings:
    """The settings kept in the model file `where`; DamagedModelError if they are none."""
    try:
        return _from_text(values)
    except (KeyError, ValueError, UsageError) as error:
        raise DamagedModelError(where, f"setting {error}") from None


def _from_text(values: dict[str, str]) -> Settings:
    return Settings(
        values["event_model"],
        alpha=_not_negative(values, "alpha"),
        prior=values["prior"],
        averaged=values["averaged"] == "1",
        threshold=_not_negative(values, "threshold"),
        normalise=values["normalise"] == "1",
        features=values["features"],
        numeric_model=values.get("numeric_model", ""),
        bins=int(values.get("bins", BINS)),
        binning=values.get("binning", "frequency"),
        second_alpha=_not_negative(values, "second_alpha", "0"),
        diluted=values.get("diluted") == "1",
        views=values.get("views", ALL_VIEWS),
        measures=values.get("measures") == "1",
        bigrams=values.get("bigrams") == "1",
    )


def _not_negative(values: dict[str, str], name: str, missing: str | None = None) -> float:
    text = values[name] if missing is None else values.get(name, missing)
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} {text}")
    return value


def textbook(settings: Settings) -> Settings:
    """The same event model as the lecture notes have it: one bag, lambda = 1, no averaging."""
    return settings.replaced(
        alpha=TEXTBOOK_ALPHA,
        averaged=False,
        second_alpha=0.0,
        diluted=False,
        measures=False,
        bigrams=False,
        capped=False,
    )
