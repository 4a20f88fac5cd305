"""Models added up: the counts of several files, or of an overlay and its base, in one new file.

Counts are whole numbers, so merged parts equal one training on all of their mail, in any order and grouping.
Each calibration is a Gaussian posterior over the same weights, learned on its own mail from a prior of the
same precision.  The merged calibration adds what all mail taught to one prior, in any order.  A model with
other classes than the merged one, or without a covariance, is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from nbspam.errors import BadDataError, UsageError
from nbspam.labels import sort_classes
from nbspam.model.calibration import CREDIT, Weights, feature_names, first_weights
from nbspam.model.counts import Floats
from nbspam.settings import EXTRA_VIEWS, parse_settings
from nbspam.store.changes import PRUNED
from nbspam.store.check import vocabulary_keys
from nbspam.store.digest import check_tables
from nbspam.store.reader import COUNTED, OWN_SERVERS, Model, count_columns, open_model
from nbspam.store.rows import add_integers
from nbspam.store.senders import join_senders
from nbspam.store.writer import new_model


class Merged(NamedTuple):
    """What merging did.

    calibrated : number of models in the merged calibration; None if views are not averaged
    different  : senders that one model allows and another denies; the decision is that of the first
    """

    path: str
    classes: tuple[str, ...]
    messages: tuple[int, ...]
    calibrated: int | None
    different: list[str]


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
        different = join_senders(models)[1]
        return Merged(path, classes, tuple(messages), calibrated if is_averaged else None, different)


@contextmanager
def open_whole(path: str) -> Iterator[Model]:
    """One state of a model with the counts of its base, as one file: for what reads whole tables."""
    with open_model(path, snapshot=True) as model:
        if model.base is None:
            yield model
            return
        with TemporaryDirectory(prefix="nbspam-") as folder:
            whole = os.path.join(folder, "whole")
            # To open the file once more would drop the lock of the connection that is open.
            alone = Model(path, model.connection, lambda _: None)
            for part in (alone, model.base):
                check_tables(part.connection)
            calibration = (model.calibration(), model.covariance()) if model.calibration() else None
            merge_models([alone, model.base], model.classes, whole, model.settings, calibration, False)
            with open_model(whole) as opened:
                opened.path = path
                yield opened


def _choose_settings(models: Sequence[Model], classes: tuple[str, ...]) -> dict[str, str]:
    """The first model's settings; a prior or losses of other classes become the defaults."""
    settings = {name: value for name, value in models[0].settings.items() if name != CREDIT}
    if servers := sorted({name for model in models for name in model.servers}):
        settings[OWN_SERVERS] = " ".join(servers)
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
    first, spread = map(np.array, first_weights(*shape))
    prior = np.linalg.inv(spread)
    precision, pull = prior, prior @ first
    for model in fitting:  # Gaussians, whose precisions add up; each began with the prior
        own = np.linalg.inv(np.array(model.covariance()))
        precision = precision + own - prior
        pull = pull + own @ np.array(model.calibration()) - prior @ first
    covariance: Floats = np.linalg.inv(precision)
    return ((covariance @ pull).tolist(), covariance.tolist()), len(fitting)


def merge_models(
    models: Sequence[Model],
    classes: tuple[str, ...],
    path: str,
    settings: dict[str, str],
    calibration: Weights | None,
    replaces: bool,
) -> list[int]:
    """Write a new model with the sums of all counts; how many messages of each class it has.

    models      : that check_mergeable accepts;  classes : of all of them, in order
    settings    : how the new model scores
    calibration : weights and covariance
    replaces    : see new_model
    """
    messages = [0] * len(classes)
    for model in models:
        for k, count in enumerate(model.messages):
            messages[_place(model, classes, k)] += count
    with new_model(path, classes, messages, "model merge", replaces) as file:
        file.settings(settings)
        sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in file.columns)
        for model in models:
            file.insert("token", select_token_rows(model, classes), f"ON CONFLICT DO UPDATE SET {sums}")
            learned = model.connection.ask(f"SELECT digest, class, times FROM {COUNTED}")
            learned = [(digest, _place(model, classes, k), times) for digest, k, times in learned]
            file.insert("learned", learned, "ON CONFLICT DO UPDATE SET times = times + excluded.times")
        file.insert("sender", join_senders(models)[0])
        if calibration:
            file.calibration(parse_settings(settings, path).kinds, *calibration)
        file.numeric_features(models[0].numeric_features(), numeric_rows(models, classes))
    return messages


def select_token_rows(model: Model, classes: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """(key, view, text, documents_0, occurrences_0, ...) ascending by key, in the order of other classes."""
    columns = ["0"] * (2 * len(classes))
    for k, name in enumerate(model.classes):
        place = 2 * classes.index(name)
        columns[place : place + 2] = count_columns(k + 1)[-2:]
    query = f"SELECT key, view, text, {', '.join(columns)} FROM token ORDER BY key"
    return model.connection.stream(query)


def numeric_rows(models: Sequence[Model], classes: Sequence[str]) -> list[tuple[str, int, int, list[int]]]:
    """(kind, class, place, integers), the integers added."""
    sums: dict[tuple[str, int, int], list[int]] = {}
    for model in models:
        for (kind, number, place), row in model.numeric_counts().items():
            cell = (kind, _place(model, classes, number), place)
            sums[cell] = add_integers(model.path, sums.get(cell, [0] * len(row)), row)
    return [(*cell, row) for cell, row in sorted(sums.items())]


def _place(model: Model, classes: Sequence[str], number: int) -> int:
    """The number of one of the model's classes among other classes."""
    return classes.index(model.classes[number])


def check_mergeable(models: Sequence[Model]) -> None:
    """Raise BadDataError unless all models counted the same things, numeric features in the same bins."""
    remedy = "train one model on all of the mail, or add mail with train `update`"
    for model in models:
        check_tables(model.connection)
    first = list_counted(models[0])
    for model in models:
        for what, counted in list_counted(model).items():
            if counted != first[what]:
                why = f"does not count the same {what} as {models[0].path}"
                raise BadDataError(model.path, why, remedy, f"merge-{what}")


def list_counted(model: Model) -> dict[str, object]:
    """What a model counts."""
    setting, features = model.settings.get, model.numeric_features()
    has_pairs = setting("numeric_model") == "aode"
    return {
        # A word of one vocabulary is NOTAWORD in the other: the sum could not separate them.
        "vocabulary": (setting("views", "all"), vocabulary_keys(model)),
        "features": (setting("features") == "numeric", features, bool(features) and has_pairs),
        **{name: setting(name) == "1" for name in EXTRA_VIEWS},
    }
