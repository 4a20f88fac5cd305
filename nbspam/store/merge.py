"""Models added up: the counts of several files in one new file.

Hides the walk over rows in the order of their keys, so that models larger than memory merge, and
what can be added at all: integers counted in the same way.  Adding is exact, so merged parts equal
one training on all of their mail, in whatever order and groups they are merged.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import compress, groupby
from operator import itemgetter

from nbspam.errors import BadDataError, DamagedModelError
from nbspam.labels import ordered
from nbspam.store.autolearned import autolearned_rows
from nbspam.store.inspect import learned_as
from nbspam.store.reader import Model, count_columns
from nbspam.store.writer import new_model

_TRAIN = "train one model on all of the mail, or add mail with train --update"


def united_classes(models: Sequence[Model]) -> tuple[str, ...]:
    """The classes of all, in class order."""
    return ordered([name for model in models for name in model.classes])


def merge_models(
    models: Sequence[Model],
    path: str,
    settings: dict[str, str],
    calibration: tuple[list[tuple[str, int | None]], list[float], list[list[float]]],
    replaces: bool,
) -> None:
    """Writes a new model with the sums of all counts.

    settings    : how the new model scores
    calibration : features, weights and covariance for the united classes; may be empty
    replaces    : see new_model
    The models are mergeable, see check_mergeable.
    """
    classes = united_classes(models)
    numbers = [[classes.index(name) for name in model.classes] for model in models]
    messages = [0] * len(classes)
    for model, places in zip(models, numbers, strict=True):
        for place, count in zip(places, model.messages, strict=True):
            messages[place] += count
    with new_model(path, classes, messages, replaces) as file:
        file.settings(settings)
        with closing(_tokens(models, numbers, len(classes))) as tokens:
            file.tokens(tokens)
        file.recount()
        same = _counted_alike(models, settings)
        file.learned(_learned(models, numbers, same))
        file.autolearned(_autolearned(models, numbers, same))
        file.calibration(*calibration)
        edges = _common_edges(models)
        file.numeric_features(edges)
        uncut = {place for place, (_, inner) in enumerate(edges) if not inner}
        file.numeric_counts(_numeric(models, numbers, uncut))


def forgotten(models: Sequence[Model], settings: dict[str, str]) -> int:
    """How many different messages of the models the merged one does not know again; they are counted."""
    unlike = [model for model, same in zip(models, _counted_alike(models, settings), strict=True) if not same]
    query = "SELECT count(DISTINCT digest) FROM learned"
    return sum(model.connection.execute(query).fetchone()[0] for model in unlike)


def _counted_alike(models: Sequence[Model], settings: dict[str, str]) -> list[bool]:
    """Of each model, whether one with these settings knows its messages again: digests hang on bigrams."""
    return [model.settings.get("bigrams") == settings.get("bigrams") for model in models]


def check_mergeable(models: Sequence[Model]) -> None:
    """Raises BadDataError unless all models counted the same things."""
    first = models[0]
    for model in models:
        if "prior_weight" in model.settings:
            why = "stands on a prior model, and its counts are not all its own"
            raise BadDataError(model.path, why, _TRAIN, "merge-prior")
        for name in ("vocabulary", "views"):
            if model.settings.get(name, "all") != first.settings.get(name, "all"):
                raise BadDataError(
                    model.path,
                    f"was counted with another vocabulary than {first.path}",
                    _TRAIN,
                    "merge-vocabulary",
                )
        if (model.settings.get("features") == "numeric") != (first.settings.get("features") == "numeric"):
            raise BadDataError(
                model.path, f"does not count words as {first.path} does", _TRAIN, "merge-features"
            )
        if not _same_features(model, first):
            why = f"has not the numeric features of {first.path}, or other edges of their bins"
            raise BadDataError(model.path, why, _TRAIN, "merge-features")
        if _kinds(model) != _kinds(first):
            which = "has" if "pair" in _kinds(model) else "has no"
            why = f"{which} counts of pairs of features, which aode needs, unlike {first.path}"
            raise BadDataError(model.path, why, _TRAIN, "merge-features")
        if (model.settings.get("measures") == "1") != (first.settings.get("measures") == "1"):
            which = "has" if model.settings.get("measures") == "1" else "has no"
            why = f"{which} counts of the measures of its mail, unlike {first.path}"
            raise BadDataError(model.path, why, _TRAIN, "merge-measures")
    if first.settings.get("vocabulary") == "fixed":
        _check_same_words(models)


def _same_features(model: Model, first: Model) -> bool:
    """Whether numeric features can be added: of the same names and, where bins are scored, the same bins."""
    one, other = model.numeric_features(), first.numeric_features()
    if model.settings.get("numeric_model") == first.settings.get("numeric_model") == "gaussian":
        return [name for name, _ in one] == [name for name, _ in other]
    return one == other


def _common_edges(models: Sequence[Model]) -> list[tuple[str, list[float]]]:
    """Features with their inner edges; those that models cut otherwise have none, and so one bin."""
    every = [model.numeric_features() for model in models]
    return [
        (same[0][0], same[0][1] if all(one == same[0] for one in same) else [])
        for same in zip(*every, strict=True)
    ]


def _kinds(model: Model) -> list[str]:
    """Which statistics of the numeric features a model keeps, be it that it has no mail now."""
    if not model.numeric_features():
        return []
    return ["moment", "bin", *(["pair"] if model.settings.get("numeric_model") == "aode" else [])]


def _check_same_words(models: Sequence[Model]) -> None:
    """A word of one vocabulary that is NOTAWORD in the other cannot be told apart any more."""
    keys = {key for (key,) in models[0].connection.execute("SELECT key FROM token")}
    for model in models[1:]:
        if keys != {key for (key,) in model.connection.execute("SELECT key FROM token")}:
            why = f"was counted with another vocabulary than {models[0].path}"
            raise BadDataError(model.path, why, _TRAIN, "merge-vocabulary")


def _tokens(
    models: Sequence[Model], numbers: list[list[int]], n_classes: int
) -> Generator[tuple[object, ...], None, None]:
    """(key, view, text, counts ...) ascending by key, the counts of a key added."""
    with ExitStack() as stack:  # where one fails the others are still open, and end before their models do
        streams = [
            stack.enter_context(closing(_token_rows(model, places, n_classes)))
            for model, places in zip(models, numbers, strict=True)
        ]
        for _, group in groupby(heapq.merge(*streams, key=itemgetter(0)), key=itemgetter(0)):
            same = list(group)
            if len(same) == 1:
                yield same[0]
            else:
                yield (*same[0][:3], *map(sum, zip(*(row[3:] for row in same), strict=True)))


def _token_rows(model: Model, places: list[int], n_classes: int) -> Generator[tuple[int, ...], None, None]:
    columns = ", ".join(count_columns(len(places)))
    query = f"SELECT key, view, text, {columns} FROM token ORDER BY key"
    if places == list(range(n_classes)):
        yield from model.connection.execute(query)
        return
    for row in model.connection.execute(query):
        counts = [0] * (2 * n_classes)
        for k, place in enumerate(places):
            counts[2 * place : 2 * place + 2] = row[3 + 2 * k : 5 + 2 * k]
        yield (*row[:3], *counts)


def _learned(
    models: Sequence[Model], numbers: list[list[int]], same: list[bool]
) -> Iterator[tuple[int, int, int]]:
    """(digest, class, times), the times added, of messages that the merged model knows again."""
    known = compress(zip(models, numbers, strict=True), same)
    streams = [_learned_rows(model, places) for model, places in known]
    for cell, group in groupby(heapq.merge(*streams), key=itemgetter(0, 1)):
        yield (*cell, sum(times for _, _, times in group))


def _learned_rows(model: Model, places: list[int]) -> Iterable[tuple[int, int, int]]:
    # Within a model class order is that of the united classes, so the rows stay sorted.
    for digest, number, times in model.connection.execute("SELECT * FROM learned ORDER BY digest, class"):
        yield digest, _place(model, places, number), times


def _autolearned(
    models: Sequence[Model], numbers: list[list[int]], same: list[bool]
) -> Iterator[tuple[int, int, bytes]]:
    """(digest, class, tokens) of messages that one filter counted itself, and no other model has counted."""
    for model, places in compress(zip(models, numbers, strict=True), same):
        rows = {row[0]: row[1:] for row in autolearned_rows(model.connection)}
        for other in models:
            if other is not model:
                for digest in learned_as(other, list(rows)):
                    del rows[digest]
        for digest, (number, tokens) in rows.items():
            yield digest, _place(model, places, number), tokens


def _numeric(
    models: Sequence[Model], numbers: list[list[int]], uncut: set[int]
) -> Iterator[tuple[str, int, int, list[int]]]:
    """(kind, class, place, integers), the integers added.

    uncut : features of one bin, which holds all that the bins of a model held
    """
    sums: dict[tuple[str, int, int], list[int]] = {}
    for model, places in zip(models, numbers, strict=True):
        for kind in _kinds(model):
            for (number, place), row in model.numeric_counts(kind).items():
                cell = (kind, _place(model, places, number), place)
                added = [sum(row)] if kind == "bin" and place in uncut else row
                old = sums.get(cell)
                sums[cell] = added if old is None else [a + b for a, b in zip(old, added, strict=True)]
    for (kind, number, place), row in sorted(sums.items()):
        yield kind, number, place, row


def _place(model: Model, places: list[int], number: int) -> int:
    """The number of one of the model's classes in the merged one."""
    if not 0 <= number < len(places):
        raise DamagedModelError(model.path, f"class number {number} does not exist")
    return places[number]
