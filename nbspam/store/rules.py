"""What the values of a row may be.  Whoever reads rows asks here, for a file may be damaged or forged."""

from __future__ import annotations

from nbspam.errors import DamagedModelError
from nbspam.store.connection import Connection
from nbspam.store.reader import MAX_COUNT, count_columns
from nbspam.tokens.bag import N_VIEWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

# table -> each column and its kind.  `opening` tables are checked by Model.
RULES = {
    "token": "view:view text:text since:number",  # and the count columns
    "source": "name:text own:flag",
    "batch": "time:integer source:number",
    "learned": "digest:integer class:class batch:number times:times",
    "moved": "digest:integer class:class batch:number times:times until:number",
    "autolearned": "digest:integer class:class tokens:blob",
    "numeric_feature": "name:text edges:text",
    "numeric_count": "kind:text class:class place:count value:text",
    "calibration_covariance": "value:blob",
}
_RANGES = {
    "view": f"0 AND {N_VIEWS - 1}",
    "flag": "0 AND 1",
    "count": f"0 AND {MAX_COUNT}",
    "times": f"1 AND {MAX_COUNT}",
    "number": f"1 AND {(1 << 63) - 1}",
}


def _rule_of(table: str, n_classes: int = 0) -> str:
    """SQL: 1 for a sound row of the table.  n_classes : whose count columns of `token` are meant, too"""
    columns = RULES[table].split()
    if table == "token":
        columns += [name + ":count" for name in count_columns(n_classes)]
    return " AND ".join(_rule(*column.split(":")) for column in columns)


def _rule(column: str, kind: str) -> str:
    if kind == "class":
        return f"{column} IN (SELECT number FROM class)"
    if kind in _RANGES:
        return f"typeof({column}) = 'integer' AND {column} BETWEEN {_RANGES[kind]}"
    return f"typeof({column}) = '{kind}'"


def stream_sound(
    connection: Connection, table: str, columns: str, rest: str = "", values: Sequence[object] = ()
) -> Iterator[tuple[Any, ...]]:
    """The rows of SELECT `columns` FROM `table` `rest`; DamagedModelError for one against its rule."""
    for *row, is_sound in connection.stream(
        f"SELECT {columns}, {_rule_of(table)} FROM {table} {rest}", values
    ):
        if not is_sound:
            raise _unsound_error(connection, table)
        yield tuple(row)


def check_rows(connection: Connection, *tables: str) -> None:
    """DamagedModelError if a row of one of these tables, by default of all, is against its rule."""
    n_classes = connection.ask("SELECT count(*) FROM class")[0][0]
    for table in tables or RULES:
        if connection.ask(f"SELECT 1 FROM {table} WHERE ({_rule_of(table, n_classes)}) IS NOT 1 LIMIT 1"):
            raise _unsound_error(connection, table)


def _unsound_error(connection: Connection, table: str) -> DamagedModelError:
    return DamagedModelError(connection.path, f"{table}: a row has a value that nbspam never writes")
