"""Many messages added to a model in place, in the transaction of an Updater.

Hides the bulk form of what the updater does message by message: rows are added to rows, and the
totals and histograms worked out anew from them at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nbspam.store.derived import recount
from nbspam.store.reader import count_columns
from nbspam.store.updater import Updater


def add_counts(
    updater: Updater,
    messages: Sequence[int],
    tokens: Iterable[tuple[object, ...]],
    learned: Sequence[tuple[int, int, int]],
) -> None:
    """Adds counts to those of the model.

    messages : by class
    tokens   : (key, view, text, documents_0, occurrences_0, documents_1, ...)
    learned  : (digest, class, times)
    """
    connection = updater.connection
    columns = count_columns(updater.n_classes)
    marks = ", ".join("?" * (3 + len(columns)))
    sums = ", ".join(f"{column} = {column} + excluded.{column}" for column in columns)
    connection.executemany(
        f"INSERT INTO token (key, view, text, {', '.join(columns)}) VALUES ({marks}) "
        f"ON CONFLICT DO UPDATE SET {sums}",
        tokens,
    )
    connection.executemany(
        "UPDATE class SET messages = messages + ? WHERE number = ?",
        [(count, number) for number, count in enumerate(messages)],
    )
    connection.executemany(
        "INSERT INTO learned VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET times = times + excluded.times",
        learned,
    )
    recount(connection)
