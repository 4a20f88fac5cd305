"""Digests of the rows of a model file.  They find damage; a forger can write digests that fit.

The digest of a table is a sum over its rows modulo 2^64: the order of the rows does not matter, and a writer
adds or takes out single rows.  `model check` compares it with the rows.  The digest `opening` is of the small
tables that are read whenever a model is opened, and is compared then (store/reader.py).
"""

from __future__ import annotations

from functools import cache
from operator import mul

from nbspam.errors import DamagedModelError
from nbspam.store.connection import Connection
from nbspam.store.reader import count_columns, opening_digest, opening_rows
from nbspam.tokens.bag import hash_token, mix_bits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# table -> the columns of its digest; of `token` also the count columns.  The text of a token follows from its
# key, views and totals from the tokens.
DIGESTED = {
    "token": "key, view, since",
    "source": "number, name, own",
    "batch": "number, time, source",
    "learned": "digest, class, batch, times",
    "moved": "digest, class, batch, times, until",
    "autolearned": "digest, class, tokens",
    "calibration_covariance": "line, place, value",
    "numeric_feature": "number, name, edges",
    "numeric_count": "kind, class, place, value",
}
_BITS = (1 << 64) - 1


def digest_row(row: Sequence[object]) -> int:
    """The number of a row, 0 .. 2^64 - 1, to add to the digest of its table."""
    values = [value if type(value) is int else hash_token(repr(value)) for value in row]
    return int(mix_bits(sum(map(mul, values, _factors(len(row)))) & _BITS))


def digest_table(connection: Connection, table: str) -> int:
    """The digest of the rows of a table of DIGESTED."""
    columns = DIGESTED[table]
    if table == "token":
        n_classes = connection.ask("SELECT count(*) FROM class")[0][0]
        columns = ", ".join([columns, *count_columns(n_classes)])
    return sum(map(digest_row, connection.stream(f"SELECT {columns} FROM {table}"))) & _BITS


def digest_array(rows: Any) -> int:
    """The digest of a table of integers.  rows : int64 (n_rows, n_columns)"""
    import numpy as np

    return int(mix_bits(rows.view(np.uint64) @ np.array(_factors(rows.shape[1]), np.uint64)).sum())


def write_digests(connection: Connection, changes: Mapping[str, int | None]) -> None:
    """Write the digests of changed tables.

    changes : table of DIGESTED -> what to add to its digest; None: work it out from the rows
    """
    written = dict(connection.ask("SELECT name, value FROM digest"))
    try:
        new = {
            table: _to_signed(digest_table(connection, table) if added is None else written[table] + added)
            for table, added in changes.items()
        }
    except (KeyError, TypeError):
        raise DamagedModelError(connection.path, "the digest of a table is missing") from None
    new["opening"] = opening_digest(opening_rows(connection))
    connection.executemany("INSERT OR REPLACE INTO digest VALUES (?, ?)", new.items())


def differing_tables(connection: Connection) -> list[str]:
    """Tables whose rows are not those that were written."""
    written = dict(connection.ask("SELECT name, value FROM digest"))
    return [table for table in DIGESTED if written.get(table) != _to_signed(digest_table(connection, table))]


def _to_signed(number: int) -> int:
    """The same 64 bits as SQLite's integers have them."""
    return (number + (1 << 63) & _BITS) - (1 << 63)


@cache
def _factors(n_columns: int) -> tuple[int, ...]:
    return tuple(mix_bits(0x9E3779B97F4A7C15 * n & _BITS) | 1 for n in range(1, n_columns + 1))
