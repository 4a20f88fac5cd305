"""How a model scores unless the command line says otherwise.

Hides the defaults and how a setting is written in a model file or on the command line.
Every default that was chosen by experiment names its table.
"""

from __future__ import annotations

from nbspam.errors import UsageError

EVENT_MODELS = ("presence", "multinomial", "bernoulli", "complement", "gaussian", "categorical", "aode")
WORD_MODELS = ("presence", "multinomial", "bernoulli", "complement")
FEATURES = ("words", "numeric", "both")

ALPHA = 0.01  # docs/experiments/alpha.md; Laplace's 1 is the textbook, ten times worse on whole mail
TEXTBOOK_ALPHA = 1.0
THRESHOLD = 2.0  # nats; docs/experiments/threshold.md
SHRINKAGE = 3.0  # added to the number of tokens an average divides by; accuracy-findings, section 2
BINS = 10


class Settings:
    """One way of scoring.

    event_model : one of EVENT_MODELS
    alpha       : the smoothing constant, >= 0
    prior       : as `--prior` spells it
    averaged    : views averaged and calibrated (the default) or one sum (the textbook)
    threshold   : nats; a token whose classes differ by no more says nothing in an averaged view
    normalise   : weight normalisation of `complement`
    features    : words, numeric or both
    """

    __slots__ = ("alpha", "averaged", "event_model", "features", "normalise", "prior", "threshold")

    def __init__(
        self,
        event_model: str = "presence",
        alpha: float | None = None,
        prior: str = "empirical",
        averaged: bool | None = None,
        threshold: float = THRESHOLD,
        normalise: bool = False,
        features: str = "",
    ) -> None:
        if event_model not in EVENT_MODELS:
            remedy = "one of: " + ", ".join(EVENT_MODELS)
            raise UsageError(f"--event-model {event_model}", "no such event model", remedy, "event-model")
        self.event_model = event_model
        self.averaged = event_model == "presence" if averaged is None else averaged and event_model == "presence"
        self.alpha = (ALPHA if self.averaged else TEXTBOOK_ALPHA) if alpha is None else alpha
        self.prior = prior
        self.threshold = threshold
        self.normalise = normalise
        self.features = features or ("words" if event_model in WORD_MODELS else "numeric")

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
        }


def from_text(values: dict[str, str]) -> Settings:
    """The settings kept in a model file."""
    return Settings(
        values["event_model"],
        float(values["alpha"]),
        values["prior"],
        values["averaged"] == "1",
        float(values["threshold"]),
        values["normalise"] == "1",
        values["features"],
    )


def textbook(settings: Settings) -> Settings:
    """The same event model as the lecture notes have it: one bag, lambda = 1, no averaging."""
    return Settings(
        settings.event_model, TEXTBOOK_ALPHA, settings.prior, False, settings.threshold, settings.normalise, settings.features
    )
