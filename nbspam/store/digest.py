"""Is each row one that nbspam writes?  A model file may be damaged or forged.

Digests find damage.  A forger can write digests that fit, and values against the CHECKs of schema.sql, so
whoever reads rows asks for the CHECKs again here.

The digest of a table is a sum over its rows modulo 2^64: the order of the rows does not matter, and a writer
adds or takes out single rows.  `model check` compares it with the rows.  The digest `opening` is of the small
tables that are read whenever a model is opened, and is compared then (store/reader.py).
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from operator import mul

from nbspam.errors import DamagedModelError
from nbspam.store.connection import Connection
from nbspam.store.reader import count_columns, opening_digest, opening_rows
from nbspam.tokens.bag import hash_token, mix_bits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

# table -> the columns of its digest; of `token` also the count columns.  The text of a token follows from its
# key, views and totals from the tokens, and Model checks the other tables of `opening`.
DIGESTED = {
    "token": "key, view, since",
    "batch": "number, time, source, own",
    "learned": "digest, class, batch, times",
    "autolearned": "digest, class, tokens",
    "calibration": "number, feature, class, weight, covariance",
    "numeric_feature": "number, name, edges",
    "sender": "who, decision, verified, since",
    "base": "path, digest",
    "numeric_count": "kind, class, place, value",
}
_BITS = (1 << 64) - 1
_FACTORS: list[int] = []  # as far as they were needed


def _rule_of(connection: Connection, table: str) -> str:
    """SQL: 1 for a sound row of the table, by the CHECKs of schema.sql."""
    ((statement,),) = connection.ask("SELECT sql FROM main.sqlite_master WHERE name = ?", (table,))
    return _join_checks(statement)


@cache
def _join_checks(statement: str) -> str:
    """SQL: all CHECKs of a CREATE TABLE.  To import `re` would cost a lesson 3 ms."""
    return " AND ".join(map(_take_brackets, statement.split("CHECK ")[1:]))


def _take_brackets(text: str) -> str:
    """The brackets that a text begins with, and what is in them."""
    depths = accumulate((character == "(") - (character == ")") for character in text)
    return text[: [*depths].index(0) + 1]


def stream_sound(
    connection: Connection, table: str, columns: str, rest: str = "", values: Sequence[object] = ()
) -> Iterator[tuple[Any, ...]]:
    """The rows of SELECT `columns` FROM `table` `rest`; DamagedModelError for one against its rule."""
    query = f"SELECT {columns}, {_rule_of(connection, table)} FROM {table} {rest}"
    for *row, is_sound in connection.stream(query, values):
        if not is_sound:
            raise _unsound_error(connection, table)
        yield tuple(row)


def check_rows(connection: Connection, *tables: str) -> None:
    """DamagedModelError if a row of one of these tables, by default of all, is against its rule."""
    for table in tables or DIGESTED:
        if connection.ask(f"SELECT 1 FROM {table} WHERE ({_rule_of(connection, table)}) IS NOT 1 LIMIT 1"):
            raise _unsound_error(connection, table)


def _unsound_error(connection: Connection, table: str) -> DamagedModelError:
    return DamagedModelError(connection.path, f"{table}: a row has a value that nbspam never writes")


def digest_row(row: Sequence[object]) -> int:
    """The number of a row, 0 .. 2^64 - 1, to add to the digest of its table."""
    return digest_integers([value if type(value) is int else hash_token(repr(value)) for value in row])


def digest_integers(row: Sequence[int]) -> int:
    """The same for a row of integers alone."""
    factors = _FACTORS if len(_FACTORS) >= len(row) else _factors(len(row))
    return int(mix_bits(sum(map(mul, row, factors)) & _BITS))


def digest_rows(rows: Iterable[Sequence[object]]) -> int:
    """The sum of the numbers of rows."""
    return sum(map(digest_row, rows))


def digest_table(connection: Connection, table: str) -> int:
    """The digest of the rows of a table of DIGESTED."""
    columns = DIGESTED[table]
    if table == "token":
        n_classes = connection.ask("SELECT count(*) FROM class")[0][0]
        columns = ", ".join([columns, *count_columns(n_classes)])
    return digest_rows(connection.stream(f"SELECT {columns} FROM {table}")) & _BITS


def digest_array(columns: Sequence[Any]) -> int:
    """The digest of a table of integers.  columns : arrays of one length"""
    import numpy as np

    total = np.zeros(len(columns[0]), np.uint64)
    for column, factor in zip(columns, _factors(len(columns)), strict=False):
        total += column.astype(np.uint64) * np.uint64(factor)
    return int(mix_bits(total).sum())


def read_digests(connection: Connection) -> dict[str, int]:
    """Table -> its digest as it was written."""
    return dict(connection.ask("SELECT name, value FROM digest"))


def write_digests(connection: Connection, digests: Mapping[str, int | None]) -> None:
    """Write the digests of changed tables.  digests : table of DIGESTED -> digest; None: of its rows"""
    new = {
        table: _to_signed(digest_table(connection, table) if digest is None else digest)
        for table, digest in digests.items()
    }
    new["opening"] = opening_digest(opening_rows(connection))
    connection.executemany("INSERT OR REPLACE INTO digest VALUES (?, ?)", new.items())


def differing_tables(connection: Connection) -> list[str]:
    """The tables that have other rows than those that were written."""
    written = read_digests(connection)
    return [table for table in DIGESTED if written.get(table) != _to_signed(digest_table(connection, table))]


def check_tables(connection: Connection) -> None:
    """DamagedModelError unless the rows of all tables keep their rules and digests.

    Ask before whole tables are copied or written anew: the new digests would hide damage.
    """
    check_rows(connection)
    if damaged := differing_tables(connection):
        raise DamagedModelError(connection.path, f"{damaged[0]}: its rows are not those that were written")


def _to_signed(number: int) -> int:
    """The same 64 bits as SQLite's integers have them."""
    return ((number + (1 << 63)) & _BITS) - (1 << 63)


def _factors(n_columns: int) -> list[int]:
    """What the columns of a row are multiplied by: odd numbers, at least so many."""
    for n in range(len(_FACTORS) + 1, n_columns + 1):
        _FACTORS.append(mix_bits((0x9E3779B97F4A7C15 * n) & _BITS) | 1)
    return _FACTORS
