"""The settings of a model: how it counts and scores.

Each default chosen by experiment has its table in docs/decisions.md.
"""

from __future__ import annotations

from nbspam.errors import DamagedModelError, UsageError
from nbspam.labels import HAM_AND_SPAM

TYPE_CHECKING = False
if TYPE_CHECKING:
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
# Averages of a view: header, body, structure, bigrams.
THRESHOLD = 2.0  # nats; a token whose classes differ by less is ignored
STRONG = (1.0, 0.75, 0.5, 0.5)  # of the threshold, by view: spreads above it count
WEAK = (1.0, 0.5, 0.5, 0.5)  # of the threshold, by view: spreads above it count to reach AT_LEAST
AT_LEAST = (0, 20, 0, 0)  # of the largest spreads, by view: short texts have few strong words
MOST_TIMES = 4  # a word that occurs n times in a message counts 1 + log n, n at most this
DILUTION = (1, 2, 2, 2)  # p by view: evidence is multiplied by 1 - u^p, u the share of unknown tokens
HAM_CAP = 2.5  # nats
SHRINKAGE = 3.0  # added to the number of tokens that an average divides by
SAME = 1e-9  # nats; spreads that differ by less are ties
KINDS = ("evidence", "cautious", "measure")  # of evidence; each has a weight for each view, or measure
BINS = 10
ALL_VIEWS = "all"
BIGRAMS_NAME = "bigrams"
NUMERIC_NAME = "numeric"
MEASURES_NAME = "measures"  # the view that is not averaged
# The settings in a model file: type, default, and value in older files without it; None: they all have it.
_STORED: dict[str, tuple[type, object, str | None]] = {
    "event_model": (str, "presence", None),
    "alpha": (float, None, None),
    "prior": (str, "empirical", None),
    "averaged": (bool, True, None),
    "threshold": (float, THRESHOLD, None),
    "normalise": (bool, False, None),
    "features": (str, "", None),
    "numeric_model": (str, "", ""),
    "bins": (int, BINS, str(BINS)),
    "binning": (str, "frequency", "frequency"),
    "second_alpha": (float, SECOND_ALPHA, "0"),
    "diluted": (bool, True, "0"),
    "views": (str, ALL_VIEWS, ALL_VIEWS),
    "measures": (bool, True, "0"),
    "bigrams": (bool, True, "0"),
}


class Settings:
    """Immutable settings of counting and scoring."""

    __slots__ = tuple(sorted((*_STORED, "capped")))  # the order in the JSON of an evaluation

    event_model: str  # one of EVENT_MODELS
    alpha: float  # the smoothing constant, >= 0; by default ALPHA for averaged views, else 1
    prior: str  # a named prior, or a probability for each class: spam=0.4,ham=0.6
    averaged: bool  # views are averaged and calibrated; else one sum, as in textbooks
    threshold: float  # nats; averaged views ignore a token whose classes differ by less
    normalise: bool  # the weights of `complement` are normalised
    features: str  # one of FEATURES
    numeric_model: str  # the model of the numeric features
    bins: int  # how training cuts numeric features
    binning: str
    second_alpha: float  # of averaging the views once more, which trusts rare words less; 0: only once
    diluted: bool  # the evidence of a view counts less if few of its tokens are known, see DILUTION
    views: str  # the views whose tokens are counted: `all`, or names with commas between
    measures: bool  # a few binned numeric features are evidence of their own
    bigrams: bool  # so are pairs of neighbouring words
    # No view says more for ham than HAM_CAP, because spammers can add words of ham and copy its header.
    capped: bool  # for the classes ham and spam, see `of`; not in a model file

    def __init__(self, event_model: str = "presence", **given: Any) -> None:
        """given : any of the settings above, except `capped`"""
        values: dict[str, Any] = {name: default for name, (_, default, _) in _STORED.items()} | given
        features, views, prior = values["features"], values["views"], values["prior"].strip()
        if features == "both" and event_model in NUMERIC_MODELS:
            event_model, values["numeric_model"] = "presence", event_model
        if event_model not in EVENT_MODELS:
            why = "no such event model"
            raise UsageError(event_model, why, slug="event-model", option="event_model", allowed=EVENT_MODELS)
        features = features or ("words" if event_model in WORD_MODELS else "numeric")
        _check_features(event_model, features)
        averaged = values["averaged"] and event_model == "presence" and features == "words"
        read = (BIGRAMS_NAME, MEASURES_NAME) if views == ALL_VIEWS else views.split(",")
        default_alpha, numeric_model = ALPHA if averaged else TEXTBOOK_ALPHA, values["numeric_model"]
        values |= {
            "event_model": event_model,
            "alpha": default_alpha if values["alpha"] is None else values["alpha"],
            "prior": prior if "=" in prior else prior.lower(),  # a class may be named Ham
            "averaged": averaged,
            "capped": averaged,
            "features": features,
            "numeric_model": event_model if event_model in NUMERIC_MODELS else numeric_model or "gaussian",
            "second_alpha": values["second_alpha"] if averaged else 0.0,
            "diluted": values["diluted"] and averaged,
            "measures": values["measures"] and averaged and MEASURES_NAME in read,
            "bigrams": values["bigrams"] and averaged and BIGRAMS_NAME in read,
        }
        self._set(**values)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings are immutable: use replaced({name}=...)")

    def __setstate__(self, state: tuple[None, dict[str, object]]) -> None:
        """For pickle, which other processes get the settings by."""
        self._set(**state[1])

    def replaced(self, **changes: object) -> Settings:
        """A copy with some settings replaced and no other recomputed; AttributeError for an unknown name."""
        new = Settings.__new__(Settings)
        new._set(**{name: getattr(self, name) for name in Settings.__slots__} | changes)
        return new

    @property
    def alphas(self) -> tuple[float, ...]:
        """The smoothing constants of averaged views; each gives evidence of its own."""
        return (self.alpha, self.second_alpha) if self.second_alpha else (self.alpha,)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of evidence of averaged views, in the order of their weights in the calibration."""
        present = (True, bool(self.second_alpha), self.measures)
        return tuple(kind for kind, is_present in zip(KINDS, present, strict=True) if is_present)

    @property
    def wanted(self) -> frozenset[str]:
        """What to read of a message in addition to its words, see nbspam.tokens.read."""
        wanted = {BIGRAMS_NAME: self.bigrams, MEASURES_NAME: self.measures}
        wanted[NUMERIC_NAME] = self.features != "words"
        return frozenset(name for name, is_wanted in wanted.items() if is_wanted)

    def of(self, classes: tuple[str, ...]) -> Settings:
        """The settings for these classes: evidence is capped only for ham and spam."""
        return self if classes == HAM_AND_SPAM else self.replaced(capped=False)

    def ham_cap(self, n_classes: int) -> float:
        """Nats: the most that a view may say for ham; infinite without a cap."""
        return HAM_CAP if self.capped and n_classes == 2 else float("inf")

    def as_text(self) -> dict[str, str]:
        """name -> value, as a model file keeps them."""
        values = {name: getattr(self, name) for name in _STORED}
        return {
            name: str(int(value)) if isinstance(value, bool) else str(value) for name, value in values.items()
        }


def textbook(settings: Settings) -> Settings:
    """The same event model as in the lecture notes: one bag, lambda = 1, no averaging."""
    off = dict.fromkeys(("averaged", "diluted", "measures", "bigrams", "capped"), False)
    return settings.replaced(alpha=TEXTBOOK_ALPHA, second_alpha=0.0, **off)


def from_text(values: dict[str, str], where: str = "model") -> Settings:
    """The settings in the model file `where`; DamagedModelError if they are wrong."""
    found: dict[str, Any] = {}
    try:
        for name, (kind, _, missing) in _STORED.items():
            text = values[name] if missing is None else values.get(name, missing)
            found[name] = text == "1" if kind is bool else kind(text)
            if kind is float and not 0 <= found[name] < float("inf"):
                raise ValueError(f"{name} {text}")
        return Settings(**found)
    except (KeyError, ValueError, UsageError) as error:
        raise DamagedModelError(where, f"setting {error}") from None


def _check_features(event_model: str, features: str) -> None:
    if features == ("words" if event_model in NUMERIC_MODELS else "numeric"):
        what, others = ("words", WORD_MODELS) if features == "words" else ("numbers", NUMERIC_MODELS)
        why = f"event model {event_model} does not score {what}"
        remedy = f"`event_model={', '.join(others)}`; or `features=both`"
        raise UsageError(features, why, remedy, "features", option="features")
