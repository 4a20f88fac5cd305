"""Models added up: the counts of several files in one new file.

Counts are whole numbers, so merged parts equal one training on all of their mail, in any order and grouping.
"""

from __future__ import annotations

from collections.abc import Container, Generator, Iterator, Sequence
from contextlib import closing

from nbspam.errors import BadDataError, DamagedModelError
from nbspam.labels import ordered
from nbspam.store.check import learned_as, learned_messages
from nbspam.store.prior import WEIGHT
from nbspam.store.reader import Model, count_columns
from nbspam.store.updater import autolearned_rows
from nbspam.store.writer import new_model

_TRAIN = "train one model on all of the mail, or add mail with train `update`"

Calibration = tuple[list[tuple[str, int | None]], list[float], list[list[float]]]


def united_classes(models: Sequence[Model]) -> tuple[str, ...]:
    """The classes of all, in class order."""
    return ordered([name for model in models for name in model.classes])


def merge_models(
    models: Sequence[Model], path: str, settings: dict[str, str], calibration: Calibration, replaces: bool
) -> None:
    """Write a new model with the sums of all counts, of models that check_mergeable accepts.

    settings    : how the new model scores
    calibration : features, weights and covariance for the united classes; may be empty
    replaces    : see new_model
    """
    classes = united_classes(models)
    messages = [0] * len(classes)
    for model in models:
        for name, count in zip(model.classes, model.messages, strict=True):
            messages[classes.index(name)] += count
    with new_model(path, classes, messages, replaces) as file:
        file.settings(settings)
        for model in models:
            with closing(token_rows(model, classes)) as rows:
                file.tokens(rows)
            if _counted_alike(model, settings):
                file.learned(_learned_rows(model, classes))
                others = [other for other in models if other is not model]
                file.autolearned(_autolearned_rows(model, others, classes))
        file.write_sums()
        file.calibration(*calibration)
        edges = _common_edges(models)
        file.numeric_features(edges)
        file.numeric_counts(
            numeric_rows(models, classes, {i for i, (_, inner) in enumerate(edges) if not inner})
        )


def token_rows(model: Model, classes: Sequence[str]) -> Generator[tuple[object, ...], None, None]:
    """(key, view, text, documents_0, occurrences_0, ...) ascending by key, in the order of other classes."""
    columns = ["0"] * (2 * len(classes))
    for k, name in enumerate(model.classes):
        place = 2 * classes.index(name)
        columns[place : place + 2] = count_columns(k + 1)[-2:]
    query = f"SELECT key, view, text, {', '.join(columns)} FROM token ORDER BY key"
    yield from model.connection.stream(query)


def _learned_rows(model: Model, classes: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    for digest, number, times in model.connection.stream("SELECT digest, class, times FROM learned"):
        yield digest, _place(model, classes, number), times


def _autolearned_rows(
    model: Model, others: Sequence[Model], classes: Sequence[str]
) -> Iterator[tuple[int, int, bytes]]:
    """(digest, class, tokens) of messages that no other model has counted."""
    rows = {digest: (number, tokens) for digest, number, tokens in autolearned_rows(model.connection)}
    known = {digest for other in others for digest in learned_as(other, list(rows))}
    for digest, (number, tokens) in rows.items():
        if digest not in known:
            yield digest, _place(model, classes, number), tokens


def numeric_rows(
    models: Sequence[Model], classes: Sequence[str], uncut: Container[int] = ()
) -> Iterator[tuple[str, int, int, list[int]]]:
    """(kind, class, place, integers), the integers added.

    uncut : features of one bin, which holds all that the bins of a model held
    """
    sums: dict[tuple[str, int, int], list[int]] = {}
    for model in models:
        for kind in _kinds(model):
            for (number, place), row in model.numeric_counts(kind).items():
                cell = (kind, _place(model, classes, number), place)
                row = [sum(row)] if kind == "bin" and place in uncut else row
                sums[cell] = [a + b for a, b in zip(sums.get(cell, [0] * len(row)), row, strict=True)]
    for cell, row in sorted(sums.items()):
        yield *cell, row


def _place(model: Model, classes: Sequence[str], number: int) -> int:
    """The number of one of the model's classes among other classes."""
    if not 0 <= number < len(model.classes):
        raise DamagedModelError(model.path, f"class number {number} does not exist")
    return classes.index(model.classes[number])


def forgotten(models: Sequence[Model], settings: dict[str, str]) -> int:
    """How many different messages of the models the merged one counts without knowing them again."""
    return sum(learned_messages(model) for model in models if not _counted_alike(model, settings))


def _counted_alike(model: Model, settings: dict[str, str]) -> bool:
    """True if a model with these settings has the same digests of messages: they depend on bigrams."""
    return model.settings.get("bigrams") == settings.get("bigrams")


def check_mergeable(models: Sequence[Model]) -> None:
    """Raise BadDataError unless all models counted the same things."""
    first = models[0]
    other_words = f"was counted with another vocabulary than {first.path}"
    for model in models:
        if WEIGHT in model.settings:
            raise _unlike(model, "has the counts of a prior model among its own", "merge-prior")
        for name in ("vocabulary", "views"):
            if model.settings.get(name, "all") != first.settings.get(name, "all"):
                raise _unlike(
                    model, f"was counted with another vocabulary than {first.path}", "merge-vocabulary"
                )
        if (model.settings.get("features") == "numeric") != (first.settings.get("features") == "numeric"):
            raise _unlike(model, f"does not count words as {first.path} does", "merge-features")
        if not _same_features(model, first):
            why = f"has not the numeric features of {first.path}, or other edges of their bins"
            raise _unlike(model, why, "merge-features")
        if _kinds(model) != _kinds(first):
            which = "has" if "pair" in _kinds(model) else "has no"
            why = f"{which} counts of pairs of features, which aode needs, unlike {first.path}"
            raise _unlike(model, why, "merge-features")
        if (model.settings.get("measures") == "1") != (first.settings.get("measures") == "1"):
            which = "has" if model.settings.get("measures") == "1" else "has no"
            why = f"{which} counts of the measures of its mail, unlike {first.path}"
            raise _unlike(model, why, "merge-measures")
        # A word of one vocabulary is NOTAWORD in the other: the sum could not separate them.
        if first.settings.get("vocabulary") == "fixed" and _keys(model) != _keys(first):
            raise _unlike(model, other_words, "merge-vocabulary")


def _unlike(model: Model, why: str, slug: str) -> BadDataError:
    return BadDataError(model.path, why, _TRAIN, slug)


def _keys(model: Model) -> set[int]:
    return {key for (key,) in model.connection.ask("SELECT key FROM token")}


def _same_features(model: Model, first: Model) -> bool:
    """True if numeric features can be added: the same names and, where bins are scored, the same bins."""
    one, other = model.numeric_features(), first.numeric_features()
    if model.settings.get("numeric_model") == first.settings.get("numeric_model") == "gaussian":
        return [name for name, _ in one] == [name for name, _ in other]
    return one == other


def _common_edges(models: Sequence[Model]) -> list[tuple[str, list[float]]]:
    """Features with their inner edges; no edges, so one bin, where the models differ."""
    every = zip(*(model.numeric_features() for model in models), strict=True)
    return [(same[0][0], same[0][1] if all(one == same[0] for one in same) else []) for same in every]


def _kinds(model: Model) -> list[str]:
    """Which statistics of numeric features a model keeps, even if it has no mail now."""
    if not model.numeric_features():
        return []
    return ["moment", "bin", *(["pair"] if model.settings.get("numeric_model") == "aode" else [])]
