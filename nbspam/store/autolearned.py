"""The messages that a model has counted on the filter's own verdict, and that nobody has labelled yet.

Hides the table `autolearned`, that models made before it had tokens are as if it were empty, and how the
tokens of each message are kept: by these it is taken out again when the message itself is gone.
"""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections.abc import Iterable, Iterator

from nbspam.store.reader import rows_of_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.store.reader import Model
    from nbspam.store.updater import MessageToken, Updater

_ROW_BYTES = 12  # of a token: its key, and how often it occurs


def autolearned_rows(connection: sqlite3.Connection) -> Iterator[tuple[int, int, bytes]]:
    """(digest, class number, tokens) of each, the oldest first."""
    if _is_there(connection):
        yield from connection.execute("SELECT digest, class, tokens FROM autolearned ORDER BY number")


def autolearned_messages(model: Model) -> list[int]:
    """How many there are, by class."""
    found: dict[int, int] = {}
    if _is_there(model.connection):
        found = dict(model.connection.execute("SELECT class, count(*) FROM autolearned GROUP BY class"))
    return [found.get(k, 0) for k in range(len(model.classes))]


def oldest(connection: sqlite3.Connection) -> int:
    """The digest of the one that was counted first of those that are there."""
    digest: int = connection.execute("SELECT digest FROM autolearned ORDER BY number LIMIT 1").fetchone()[0]
    return digest


def mark(connection: sqlite3.Connection, digest: int, label: int, tokens: Iterable[MessageToken]) -> None:
    """Notes that a message of these tokens was counted as class `label` on the filter's own verdict."""
    if not _is_there(connection):
        from nbspam.store.writer import schema  # a model of before

        connection.execute("DROP TABLE IF EXISTS autolearned")
        for statement in schema(0):
            if statement.startswith("CREATE TABLE autolearned "):
                connection.execute(statement)
    row = (digest, label, packed((key, times) for key, _, _, times in tokens))
    connection.execute("INSERT INTO autolearned (digest, class, tokens) VALUES (?, ?, ?)", row)


def take_back(updater: Updater, digest: int) -> int | None:
    """Takes a message out that the filter counted itself; the class it was counted in, None if it did not."""
    connection = updater.connection
    if not _is_there(connection):
        return None
    query = "SELECT class, tokens FROM autolearned WHERE digest = ?"
    row = connection.execute(query, (digest,)).fetchone()
    if row is None:
        return None
    label: int = row[0]
    updater.count(label, digest, _as_counted(connection, unpacked(row[1])), -1)
    connection.execute("DELETE FROM autolearned WHERE digest = ?", (digest,))
    return label


def _as_counted(connection: sqlite3.Connection, tokens: dict[int, int]) -> list[MessageToken]:
    """What Updater.count takes.  A word outside a fixed vocabulary has no row: its view does not matter."""
    views = rows_of_keys(connection, "view", list(tokens))
    return [(key, views.get(key, (0,))[0], "", times) for key, times in tokens.items()]


def packed(tokens: Iterable[tuple[int, int]]) -> bytes:
    """(key, times) as the column `tokens` has them."""
    rows = sorted(tokens)
    values = [key for key, _ in rows] + [times for _, times in rows]
    return zlib.compress(struct.pack(f"<{len(rows)}q{len(rows)}I", *values))


def unpacked(tokens: bytes) -> dict[int, int]:
    """key -> times; sqlite3.DatabaseError for what `packed` did not make."""
    try:
        plain = zlib.decompress(tokens)
        n = len(plain) // _ROW_BYTES
        values = struct.unpack(f"<{n}q{n}I", plain)
    except (zlib.error, struct.error, TypeError):
        raise sqlite3.DatabaseError("the tokens of a message cannot be read") from None
    return dict(zip(values[:n], values[n:], strict=True))


def _is_there(connection: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM pragma_table_info('autolearned') WHERE name = 'tokens'"
    return connection.execute(query).fetchone() is not None
