"""Models added up: the counts of several files, or of an overlay and its base, in one new file.

Counts are whole numbers, so merged parts equal one training on all of their mail, in any order and grouping.
Settings and calibration are those of the first model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import NamedTuple

from nbspam.errors import BadDataError, UsageError
from nbspam.settings import EXTRA_VIEWS
from nbspam.store.changes import PRUNED
from nbspam.store.check import vocabulary_keys
from nbspam.store.digest import check_tables
from nbspam.store.reader import COUNTED, OWN_SERVERS, Model, open_model
from nbspam.store.rows import add_integers
from nbspam.store.senders import join_senders
from nbspam.store.writer import new_model


class Merged(NamedTuple):
    """What merging did.

    different : senders that one model allows and another denies; the decision is that of the first
    """

    path: str
    classes: tuple[str, ...]
    messages: list[int]
    different: list[str]


def merge(paths: Sequence[str], path: str, replaces: bool = True) -> Merged:
    """Write the merged model at `path`, whole or not at all.  replaces : see new_model"""
    if len(paths) < 2:
        remedy = "name them: model merge A B -o C"
        raise UsageError("model merge", "needs at least two models", remedy, "merge-few")
    with ExitStack() as stack:
        # To open a file once more drops the locks on it: all are open before one is locked.
        opened = [stack.enter_context(open_model(name)) for name in paths]
        models = [stack.enter_context(_hold_whole(model)) for model in opened]
        check_mergeable(models)
        messages = [sum(counts) for counts in zip(*(model.messages for model in models), strict=True)]
        add_models(models, messages, path, _choose_settings(models), replaces)
        return Merged(path, models[0].classes, messages, join_senders(models)[1])


@contextmanager
def open_whole(path: str) -> Iterator[Model]:
    """One state of a model with the counts of its base, as one file: for what reads whole tables."""
    with open_model(path) as model, _hold_whole(model) as whole:
        yield whole


@contextmanager
def _hold_whole(model: Model) -> Iterator[Model]:
    """One state of an open model, see open_whole; a writer waits with its commit."""
    with model.one_state():
        model.refresh()
        if model.base is None:
            yield model
            return
        with TemporaryDirectory(prefix="nbspam-") as folder:
            path = os.path.join(folder, "whole")
            for part in model.parts:
                check_tables(part.connection)
            add_models(model.parts, model.messages, path, model.settings, False)
            with open_model(path) as whole:
                whole.path = model.path
                yield whole


def _choose_settings(models: Sequence[Model]) -> dict[str, str]:
    """The first model's settings, and of all: their servers, and whether tokens were taken out."""
    settings = {**models[0].settings}
    if servers := sorted({name for model in models for name in model.servers}):
        settings[OWN_SERVERS] = " ".join(servers)
    if any(PRUNED in model.settings for model in models):
        settings[PRUNED] = "1"
    return settings


def add_models(
    models: Sequence[Model], messages: list[int], path: str, settings: dict[str, str], replaces: bool
) -> None:
    """Write a new model with the sums of all counts.

    models   : that check_mergeable accepts, or an overlay and its base; the first one's calibration is copied
    messages : of all, by class
    settings : how the new model scores
    replaces : see new_model
    """
    first = models[0]
    with new_model(path, first.classes, messages, "model merge", replaces) as file:
        file.settings(settings)
        file.copy_calibration(first)
        tokens = f"SELECT key, view, text, {', '.join(file.columns)} FROM token ORDER BY key"
        sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in file.columns)
        learned = f"SELECT digest, class, times FROM {COUNTED}"
        for model in models:
            file.insert("token", model.connection.stream(tokens), f"ON CONFLICT DO UPDATE SET {sums}")
            messages_of = model.connection.stream(learned)
            file.insert("learned", messages_of, "ON CONFLICT DO UPDATE SET times = times + excluded.times")
        file.insert("sender", join_senders(models)[0])
        file.numeric_features(first.numeric_features(), _add_numeric_counts(models))


def _add_numeric_counts(models: Sequence[Model]) -> list[tuple[str, int, int, list[int]]]:
    """(kind, class, place, integers), the integers added."""
    sums: dict[tuple[str, int, int], list[int]] = {}
    for model in models:
        for cell, row in model.numeric_counts().items():
            sums[cell] = add_integers(model.path, sums.get(cell, [0] * len(row)), row)
    return [(*cell, row) for cell, row in sorted(sums.items())]


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
        "classes": model.classes,
        # A word of one vocabulary is NOTAWORD in the other: the sum could not separate them.
        "vocabulary": (setting("views", "all"), vocabulary_keys(model)),
        "features": (setting("features") == "numeric", features, bool(features) and has_pairs),
        **{name: setting(name) == "1" for name in EXTRA_VIEWS},
    }
