"""Models added up: the counts of several files in one new file.

Counts are whole numbers, so merged parts equal one training on all of their mail, in any order and grouping.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nbspam.errors import BadDataError
from nbspam.settings import EXTRA_VIEWS, parse_settings
from nbspam.store.check import vocabulary_keys
from nbspam.store.digest import check_tables
from nbspam.store.reader import COUNTED, Model, count_columns
from nbspam.store.rows import add_integers
from nbspam.store.writer import new_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.model.calibration import Weights


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
