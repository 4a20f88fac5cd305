"""Overlays: models that hold what differs from a base that many share; see `base` in schema.sql.

A connection to an overlay has its base attached, and a temporary view of the sum in place of each table of
which the overlay has a part.  SQLite finds such a view before the table of its name, so every query reads the
sum, and whatever writes names `main.TABLE`.  A server opens an overlay for one message, and adds the counts
itself (store/bases.py).
"""

from __future__ import annotations

import os
import zlib

from nbspam.errors import DamagedModelError, NbspamError, TryAgainError
from nbspam.store.connection import APPLICATION_ID, Connection, check_format, file_uri, retry_after_rollback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Rows = Sequence[tuple[Any, ...]]

_KEYS = "m.digest = b.digest AND m.class = b.class AND m.batch = b.batch"
_VIEWS = {
    "learned": f"""SELECT b.digest AS digest, b.class AS class, b.batch AS batch,
        b.times + ifnull(m.times, 0) AS times
        FROM below.learned b LEFT JOIN main.learned m ON {_KEYS} WHERE b.times + ifnull(m.times, 0)
        UNION ALL SELECT digest, class, batch, times FROM main.learned m
        WHERE NOT EXISTS (SELECT 1 FROM below.learned b WHERE {_KEYS})""",
    "moved": f"""SELECT digest, class, batch, times, until FROM below.moved b
        WHERE NOT EXISTS (SELECT 1 FROM main.moved m WHERE {_KEYS})
        UNION ALL SELECT digest, class, batch, times, until FROM main.moved WHERE times""",
    "batch": "SELECT * FROM below.batch UNION ALL SELECT * FROM main.batch",
    "source": "SELECT * FROM below.source UNION ALL SELECT * FROM main.source",
}


def _token_view(names: Sequence[str]) -> str:
    """names : of the count columns"""
    sums = [f"b.{name} + ifnull(m.{name}, 0)" for name in names]
    columns = ", ".join([f"{total} AS {name}" for total, name in zip(sums, names, strict=True)])
    return f"""SELECT b.key AS key, b.view AS view, b.text AS text,
        max(b.since, ifnull(m.since, 0)) AS since, {columns}
        FROM below.token b LEFT JOIN main.token m ON m.key = b.key WHERE {" OR ".join(sums)}
        UNION ALL SELECT key, view, text, since, {", ".join(names)} FROM main.token m
        WHERE NOT EXISTS (SELECT 1 FROM below.token b WHERE b.key = m.key)"""


def attach(
    connection: Connection, path: str, columns: Sequence[str], check: Callable[[str, Connection, str], None]
) -> None:
    """Let the queries of an overlay's connection read the sum with a base; its name for SQLite is `below`.

    columns : the count columns;  check : nbspam.store.reader.check_schema
    """
    retry_after_rollback(path, lambda: connection.execute("ATTACH ? AS below", (file_uri(path, "ro"),)))
    (application,) = connection.ask("PRAGMA below.application_id")[0]
    if application != APPLICATION_ID:
        raise DamagedModelError(path, "it is not a model")
    check_format(path, *connection.ask("PRAGMA below.user_version")[0])
    check(path, connection, "below")
    for name, query in {"token": _token_view(columns), **_VIEWS}.items():
        connection.execute(f"CREATE TEMP VIEW {name} AS {query}")
    connection.attached = path


def missing_error(path: str, base: str, error: Exception) -> NbspamError:
    """The error for a base that cannot be read.  path : of the overlay"""
    is_there = os.path.exists(base)
    why = f"cannot be read ({getattr(error, 'why', str(error))})" if is_there else "is missing"
    remedy = f"bring it back, or take another base: nbspam model rebase `start=BASE` {path}"
    return TryAgainError(path, f"its base {why}: {base}", remedy, "base-missing")


def changed_error(path: str, base: str) -> NbspamError:
    """The error for a base that is no longer what an overlay was made of.  path : of the overlay"""
    remedy = f"take in what the base has now: nbspam model rebase {path}, or bring back the base as it was"
    return TryAgainError(path, f"its base has changed: {base}", remedy, "base-changed")


def own_rows(connection: Connection, table: str, gone: Rows, new: Rows) -> tuple[Rows, Rows]:
    """What an overlay has to take out and to put in, so that the sum loses some rows and gets others."""
    if table not in ("learned", "moved"):
        return gone, new
    after = {row[:3]: row for row in new}
    minus, plus = [], []
    for key in {row[:3] for row in (*gone, *new)}:
        where = "WHERE digest = ? AND class = ? AND batch = ?"
        own, below = (connection.ask(f"SELECT * FROM {of}.{table} {where}", key) for of in ("main", "below"))
        minus += own
        row = after.get(key)
        if table == "learned":
            times = (row[3] if row else 0) - (below[0][3] if below else 0)
            row = (*key, times) if times else None
        elif below and not row:
            row = (*key, 0, below[0][4])
        if row:
            plus.append(row)
    return minus, plus


def note_unlearned(
    connection: Connection, digest: int, label: int, source: str, tokens: Sequence[tuple[int, int, str, int]]
) -> None:
    """Keep the tokens of a message while an overlay has it taken out of its base.

    source : of the command;  tokens : of the message, as for Updater.count
    """
    where, message = "WHERE digest = ? AND class = ?", (digest, label)
    if connection.ask(f"SELECT 1 FROM main.learned {where} AND times < 0", message):
        packed = pack([row[1:] for row in tokens])
        connection.execute("INSERT OR IGNORE INTO unlearned VALUES (?, ?, ?, ?)", (*message, source, packed))
    else:
        connection.execute(f"DELETE FROM unlearned {where}", message)


def pack(value: object) -> bytes:
    """A value as JSON, compressed."""
    import json  # 2 ms, and few messages need it

    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def unpack(packed: bytes, path: str) -> Any:
    """What `pack` was given; DamagedModelError of the overlay at `path` otherwise."""
    import json

    try:
        return json.loads(zlib.decompress(packed))
    except (zlib.error, TypeError, ValueError):
        raise DamagedModelError(path, "what it has taken from its base cannot be read") from None
