"""The calibration in a model file, on its way from one learned message to the next."""

from __future__ import annotations

from nbspam.errors import DamagedModelError
from nbspam.model.calibration import (
    FIRST_CREDIT,
    MAX_COVARIANCE,
    Learner,
    check_weights,
    feature_names,
    first_weights,
)
from nbspam.settings import Settings
from nbspam.store.reader import Model
from nbspam.store.updater import Updater

CREDIT = "calibration_credit"  # the setting that keeps Learner.credit


def learner_of(updater: Updater, model: Model, settings: Settings) -> Learner | None:
    """The learner where the model's stands; None where it has none, or one of too many weights to learn."""
    weights = model.calibration()
    if not weights or not settings.averaged or len(weights) > MAX_COVARIANCE:
        return None
    check_weights(model.path, weights, len(model.classes), settings.kinds)
    covariance = model.covariance() or [[0.0] * len(weights) for _ in weights]
    prior = first_weights(len(model.classes), settings.kinds)
    return Learner(prior, (weights, covariance), _credit(model))


def _credit(model: Model) -> int:
    text = model.settings.get(CREDIT, str(FIRST_CREDIT))
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise DamagedModelError(model.path, f"setting {CREDIT} {text}")
    return int(text)


def write_learner(updater: Updater, settings: Settings, learner: Learner) -> None:
    """Keeps what it has learned."""
    features = feature_names(updater.n_classes, settings.kinds)
    updater.write_calibration(features, learner.weights, learner.covariance)
    updater.write_setting(CREDIT, str(learner.credit))
