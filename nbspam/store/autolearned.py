"""The messages that a model has counted on the filter's own verdict, and that nobody has labelled yet.

Hides the table `autolearned`, and that models made before it was there lack it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.store.reader import Model


def autolearned_rows(connection: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    """(digest, class number) of each, by digest."""
    if _is_there(connection):
        yield from connection.execute("SELECT digest, class FROM autolearned ORDER BY digest")


def autolearned_messages(model: Model) -> list[int]:
    """How many there are, by class."""
    found: dict[int, int] = {}
    if _is_there(model.connection):
        found = dict(model.connection.execute("SELECT class, count(*) FROM autolearned GROUP BY class"))
    return [found.get(k, 0) for k in range(len(model.classes))]


def autolearned_as(connection: sqlite3.Connection, digest: int) -> int | None:
    """The number of the class that the filter counted a message in; None if it is not among them."""
    if not _is_there(connection):
        return None
    row = connection.execute("SELECT class FROM autolearned WHERE digest = ?", (digest,)).fetchone()
    return row[0] if row else None


def mark(connection: sqlite3.Connection, digest: int, label: int) -> None:
    """Notes that a message was counted as class `label` on the filter's own verdict."""
    if not _is_there(connection):
        from nbspam.store.writer import schema  # a model of before

        for statement in schema(0):
            if statement.startswith("CREATE TABLE autolearned "):
                connection.execute(statement)
    connection.execute("INSERT INTO autolearned VALUES (?, ?)", (digest, label))


def unmark(connection: sqlite3.Connection, digests: list[int]) -> None:
    """Notes that messages are not among them, or not any more; their counts stay as they are."""
    if _is_there(connection):
        rows = [(digest,) for digest in digests]
        connection.executemany("DELETE FROM autolearned WHERE digest = ?", rows)


def _is_there(connection: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE name = 'autolearned'"
    return connection.execute(query).fetchone() is not None
