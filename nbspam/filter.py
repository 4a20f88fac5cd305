"""One message -> a verdict.

The walk of every fresh `nbspam classify`: parse, tokenise, look up, score, decide.  Stands on
the classify lane: what it imports, every mail pays for.
"""

from __future__ import annotations

from math import exp, fsum, inf, isfinite

from nbspam.decision import UNDECIDED, Loss, decide, risks, zero_one_loss
from nbspam.labels import UNSURE, positive
from nbspam.model.posterior import Scored, ScorePart, rest_weights
from nbspam.model.priors import OF_MAIL, log_priors, parse_prior
from nbspam.model.scorer import Scorer
from nbspam.settings import from_text
from nbspam.store.reader import OneState, open_model
from nbspam.tasks.message_bytes import counted_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nbspam.model.scorer import Counted
    from nbspam.settings import Settings
    from nbspam.store.reader import Model

CLUES = 10  # shown in a verdict; explain shows all
CLUE_KINDS = ("token", "feature")  # of parts; the others no message has of its own


class Verdict:
    """What the filter says of one message.

    label         : the class decided, or 'unsure'
    probability   : of spam where there is such a class, else of the label; None where undefined
    log_odds      : the same in nats, unrounded; None where infinite or undefined
    probabilities : by class, or None
    risks         : conditional risk of each action: the classes in order, then unsure if allowed
    scored        : the scores and what they are made of
    shown         : number of the class that probability and log-odds are of
    """

    __slots__ = ("label", "log_odds", "name", "probabilities", "probability", "risks", "scored", "shown")

    def __init__(self, name: str, scored: Scored, classes: tuple[str, ...], loss: Loss) -> None:
        self.name = name
        self.scored = scored
        logs = scored.posteriors
        self.probabilities = None if logs is None else [exp(value) for value in logs]
        action = decide(self.probabilities, loss)
        self.label = UNSURE if action == UNDECIDED else classes[action]
        self.risks = None if self.probabilities is None else risks(self.probabilities, loss)
        shown = positive(classes)
        if shown is None:
            shown = (
                max(range(len(classes)), key=lambda k: scored.scores[k]) if action == UNDECIDED else action
            )
        self.shown = shown
        self.probability = None if self.probabilities is None else self.probabilities[shown]
        odds = scored.log_odds(shown)
        self.log_odds = odds if odds is not None and isfinite(odds) else None


class Classifier:
    """A model, a way of scoring and a loss, ready for any number of messages."""

    __slots__ = ("_again", "loss", "model", "scorer", "settings")

    def __init__(
        self,
        model: Model,
        settings: Settings,
        loss: Loss | None = None,
        again: Callable[[], Classifier] | None = None,
    ) -> None:
        """again : makes the same classifier from the model file as it is then"""
        self._again = again
        self.model = model
        self.settings = settings
        self.loss = loss or zero_one_loss(len(model.classes))
        self.scorer = Scorer(as_scored(model), settings)

    def verdict(self, data: bytes, name: str) -> Verdict:
        """The verdict on one message; never raises on what a mail may hold."""
        return self.judge(self.counted(data, name), name)

    def counted(self, data: bytes, name: str = "") -> Counted:
        """The tokens of a message, and its measures and numeric features if they are scored."""
        return counted_message(data, self.settings, name)

    def judge(self, counted: Counted, name: str) -> Verdict:
        """The verdict on a message whose tokens are at hand."""
        scored = (
            self.scorer.score(counted)
            if tells_apart(self.settings.averaged, self.scorer.model.messages)
            else self._prior_alone()
        )
        return Verdict(name, scored, self.model.classes, self.loss)

    def _prior_alone(self) -> Scored:
        """The scores of any message where no mail tells: undefined, unless the prior is not of the mail."""
        model, prior = self.scorer.model, parse_prior(self.settings.prior)
        values = [-inf] * len(model.classes)
        if prior not in OF_MAIL:
            values = log_priors(prior, model.messages, model.classes)
        return Scored(values, [ScorePart("prior", self.settings.prior, -1, list(values))])

    def judge_now(self, counted: Counted, name: str) -> Verdict:
        """As `judge`, by the model as it is now: another program may learn while many messages are judged."""
        with OneState(self.model.connection):
            self.refresh()
            return self.judge(counted, name)

    def current(self) -> Classifier:
        """Itself, or a new one where another file took the model's place: `train --replace`.

        To be asked before a message is counted, for the other model may look at other things.
        """
        if self._again is None or not self.model.replaced():
            return self
        new = self._again()
        self.model.close()
        return new

    def refresh(self) -> None:
        """Takes up what another program did to the model since it was opened."""
        if self.model.refresh():
            self.scorer = Scorer(as_scored(self.model), self.settings)


def as_scored(model: Model) -> Model:
    """The model as a Scorer reads it: with the counts of its prior model, if it has one, added."""
    if "prior_weight" not in model.settings:
        return model
    from nbspam.store.with_prior import on_prior  # most models have none

    return on_prior(model)


def tells_apart(averaged: bool, messages: Sequence[float]) -> bool:
    """Whether mail is judged by mail: averaged views need some of two classes.

    The calibration would go on weighing without: it was learned on mail that is unlearned by now.
    """
    return not averaged or sum(map(bool, messages)) > 1


def open_classifier(path: str, change: dict[str, str] | None = None, loss: str | None = None) -> Classifier:
    """A classifier from a model file.

    change : settings that the command line gives over those of the file (event_model, alpha, prior, textbook)
    loss   : as `--loss` spells it; empty for the loss in the file, or 0-1
    """
    model = open_model(path)
    settings = from_text(model.settings, model.path)
    if change:
        settings = changed(settings, change)
    losses = read_loss(loss, model.classes) or stored_loss(model)
    return Classifier(model, settings, losses, lambda: open_classifier(path, change, loss))


def changed(settings: Settings, change: dict[str, str]) -> Settings:
    """The settings with some of them replaced; UsageError for one that changes nothing beside the others."""
    from nbspam.tasks.idle_settings import check_all_act

    new = _changed(settings, change)
    check_all_act(change, new)
    return new


def _changed(settings: Settings, change: dict[str, str]) -> Settings:
    from nbspam.model.words import asked_alpha
    from nbspam.settings import Settings, textbook

    event_model, numeric_model, features = _models_asked(settings, change)
    same = event_model == settings.event_model
    new = Settings(
        event_model,
        alpha=asked_alpha(change["alpha"]) if "alpha" in change else settings.alpha if same else None,
        prior=change.get("prior", settings.prior),
        averaged=settings.averaged if same else None,
        threshold=settings.threshold,
        normalise=settings.normalise,
        features=features,
        numeric_model=numeric_model,
        bins=settings.bins,
        binning=settings.binning,
    )
    if "textbook" in change:
        plain = textbook(new)
        return plain.replaced(alpha=new.alpha) if "alpha" in change else plain
    if new.averaged and settings.averaged:  # the calibration weighs the evidence that it was learned on
        return settings.replaced(alpha=new.alpha, prior=new.prior)
    return new


def _models_asked(settings: Settings, change: dict[str, str]) -> tuple[str, str, str]:
    """(event model, numeric model, features): what is not asked for stays, if it goes with the rest."""
    from nbspam.settings import NUMERIC_MODELS

    asked = change.get("event_model", "")
    event_model, numeric_model = asked or settings.event_model, settings.numeric_model
    stays = event_model == settings.event_model or settings.features == "both"
    features = change.get("features", settings.features if stays else "")
    check_features(features)
    if asked in NUMERIC_MODELS and features == "both":
        event_model, numeric_model = settings.event_model, asked  # the words keep theirs
    elif not asked and features == "numeric" and event_model not in NUMERIC_MODELS:
        event_model = numeric_model
    return event_model, numeric_model, features


def check_features(features: str) -> None:
    """UsageError for features that are none; '' leaves them to the event model."""
    from nbspam.errors import UsageError
    from nbspam.settings import FEATURES

    if features and features not in FEATURES:
        remedy = "one of: " + ", ".join(FEATURES)
        raise UsageError(f"--features {features}", "there are no such features", remedy, "features")


def read_loss(text: str | None, classes: tuple[str, ...]) -> Loss | None:
    """The losses of `--loss`: costs, or the path of a matrix file; None where it is not given."""
    if text is None:
        return None
    from nbspam.losses import parse_loss, read_loss_matrix

    return parse_loss(text, classes) if "=" in text or not text else read_loss_matrix(text, classes)


def stored_loss(model: Model) -> Loss | None:
    """The losses that the model was trained with: costs, or the text of a matrix file."""
    if "loss" in model.settings:
        return read_loss(model.settings["loss"], model.classes)
    if "loss_matrix" in model.settings:
        from nbspam.losses import matrix_from_text

        return matrix_from_text(model.settings["loss_matrix"], model.classes, model.path)
    return None


def contribution(part: ScorePart, shown: int, weights: list[float]) -> float | None:
    """What a part adds to the log-odds of the class shown, nats; None where it rules out both sides.

    weights : those of rest_weights
    """
    rest = [weight * value for weight, value in zip(weights, part.values, strict=True) if weight]
    against = -inf if -inf in rest else fsum(rest)
    own = part.values[shown]
    return None if own == against == -inf else own - against


def top_clues(verdict: Verdict) -> list[tuple[str, float]]:
    """The tokens that speak loudest for or against what the probability is about: (text, nats)."""
    return sorted(clues_for(verdict.scored, verdict.shown), key=lambda clue: (-abs(clue[1]), clue[0]))[:CLUES]


def clues_for(scored: Scored, shown: int) -> list[tuple[str, float]]:
    """What each token adds to the log-odds of a class: (text, nats), in no order."""
    return [(part.text, nats) for part, nats in clue_parts(scored, shown) if nats is not None]


def clue_parts(scored: Scored, shown: int) -> list[tuple[ScorePart, float | None]]:
    """The tokens and numeric features, and what `contribution` says of each."""
    weights = rest_weights(scored.scores, shown)
    return [(part, contribution(part, shown, weights)) for part in scored.parts if part.kind in CLUE_KINDS]
