"""Several models -> one that knows what all of them learned; an overlay gets another base.

Each calibration is a Gaussian posterior over the same weights, learned on its own mail from a prior of the
same precision.  The merged calibration adds what all mail taught to one prior, in any order.  A model with
other classes than the merged one, or without a covariance, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbspam.errors import UsageError
from nbspam.labels import sort_classes
from nbspam.model.calibration import CREDIT, feature_names, first_weights
from nbspam.model.counts import Floats
from nbspam.settings import parse_settings
from nbspam.store.merge import check_mergeable, merge_models
from nbspam.store.overlay import Calibration, open_whole
from nbspam.store.overlay import rebase as write_rebased
from nbspam.store.reader import Model
from nbspam.store.updater import PRUNED

if TYPE_CHECKING:
    from nbspam.model.calibration import Weights


class Merged(NamedTuple):
    """What merging did.

    calibrated : number of models in the merged calibration; None if views are not averaged
    """

    path: str
    classes: tuple[str, ...]
    messages: tuple[int, ...]
    calibrated: int | None


def merge(paths: Sequence[str], path: str, replaces: bool = True) -> Merged:
    """Write the merged model at `path`, whole or not at all.  replaces : see new_model"""
    if len(paths) < 2:
        remedy = "name them: model merge A B -o C"
        raise UsageError("model merge", "needs at least two models", remedy, "merge-few")
    with ExitStack() as stack:
        models = [stack.enter_context(open_whole(name)) for name in paths]
        check_mergeable(models)
        classes = sort_classes([name for model in models for name in model.classes])
        calibration, calibrated = _merge_calibrations(models, classes)
        settings = _choose_settings(models, classes)
        messages = merge_models(models, classes, path, settings, calibration, replaces)
        is_averaged = parse_settings(settings, path).averaged
        return Merged(path, classes, tuple(messages), calibrated if is_averaged else None)


def _choose_settings(models: Sequence[Model], classes: tuple[str, ...]) -> dict[str, str]:
    """The first model's settings; a prior or losses of other classes become the defaults."""
    settings = {name: value for name, value in models[0].settings.items() if name != CREDIT}
    if any(PRUNED in model.settings for model in models):
        settings[PRUNED] = "1"
    if classes != models[0].classes:
        for name in ("loss", "loss_matrix"):
            settings.pop(name, None)
        if "=" in settings["prior"]:
            settings["prior"] = "empirical"
    return settings


def _merge_calibrations(models: Sequence[Model], classes: tuple[str, ...]) -> tuple[Weights | None, int]:
    """The calibration, and how many models are in it."""
    shape = (len(classes), parse_settings(models[0].settings, models[0].path).kinds)
    n_weights = len(feature_names(*shape))
    fitting = [
        model
        for model in models
        if model.classes == classes and len(model.calibration()) == n_weights and model.covariance()
    ]
    if not fitting:
        return None, 0
    first = first_weights(*shape)
    learned = [((model.calibration(), model.covariance()), first) for model in fitting]
    return add_lessons(first, learned), len(fitting)


def add_lessons(first: Weights, learned: Sequence[tuple[Weights, Weights]]) -> Weights:
    """A calibration and what others have learned: Gaussians, whose precisions add up.

    learned : of each other what it is now, and what it began with
    """
    precision = np.linalg.inv(np.array(first[1]))
    pull = precision @ np.array(first[0])
    for now, before in learned:
        for sign, (weights, spread) in ((1, now), (-1, before)):
            part = np.linalg.inv(np.array(spread))
            precision += sign * part
            pull += sign * part @ np.array(weights)
    covariance: Floats = np.linalg.inv(precision)
    return (covariance @ pull).tolist(), covariance.tolist()


def rebase(path: str, start: str = "") -> None:
    """Let the overlay at `path` add to another base.

    start : the new base; empty for what is now at the path of the old one
    """
    write_rebased(path, start, _combine)


def _combine(new: Calibration, own: Calibration, old: Calibration) -> Calibration:
    """The calibration of a new base, with what an overlay has learned since it had the old one."""
    if not len(new.covariance) == len(own.covariance) == len(old.covariance) != 0 or own == old:
        return new
    try:
        weights, covariance = add_lessons(new[1:], [(own[1:], old[1:])])
        np.linalg.cholesky(np.array(covariance))
    except np.linalg.LinAlgError:
        return new
    return Calibration(max(new.credit + own.credit - old.credit, 0), weights, covariance)
