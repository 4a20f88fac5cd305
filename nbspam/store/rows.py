"""Rows of a model that is being written: what a new model and one that is changed have in common."""

from __future__ import annotations

from itertools import chain, islice

from nbspam.errors import DamagedModelError
from nbspam.model.calibration import feature_names
from nbspam.store.connection import Connection
from nbspam.store.digest import DIGESTED
from nbspam.store.reader import count_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nbspam.store.reader import Model

FIRST = 1  # the number of the batch that a model is made with
ROWS_AT_ONCE = 40  # in one statement: two thirds of the time of one by one; SQLite allows 32,766 values
FIELDS_AT_ONCE = 2_800  # of many narrow rows: 400 tokens of two classes
# table -> the columns that a row gives; the others have their defaults: the first batch, and the next number.
FIRST_BATCH = {
    "token": " (key, view, text, {})",
    "learned": " (digest, class, times)",
}


class Writer:
    """The tables of a model in a transaction.

    columns : the count columns of `token`
    digests : changed table -> its digest; None: to be worked out from its rows in the end
    """

    def __init__(self, connection: Connection, n_classes: int) -> None:
        self.connection = connection
        self.n_classes = n_classes
        self.columns = count_columns(n_classes)
        self.digests: dict[str, int | None] = {}

    def settings(self, settings: dict[str, str]) -> None:
        """Replace settings, or add them; see `setting` in schema.sql."""
        self.connection.executemany("INSERT OR REPLACE INTO setting VALUES (?, ?)", settings.items())

    def calibration(self, kinds: Sequence[str], weights: list[float], covariance: list[list[float]]) -> None:
        """Replace names, weights and covariance of the calibration.  kinds : of evidence, see Settings"""
        features = feature_names(self.n_classes, kinds)
        lines = [line[: i + 1] for i, line in enumerate(covariance)] or [[] for _ in weights]
        texts = [" ".join(repr(cell + 0.0) for cell in line) for line in lines]  # 0.0 for -0.0
        rows = zip(features, weights, texts, strict=True)
        self.replace("calibration", [(i, *feature, *row) for i, (feature, *row) in enumerate(rows)])

    def copy_calibration(self, model: Model) -> None:
        """Make the calibration that of another model."""
        self.replace("calibration", model.connection.ask("SELECT * FROM calibration"))

    def numeric_features(
        self,
        features: Iterable[tuple[str, Sequence[float]]],
        counts: Iterable[tuple[str, int, int, Sequence[int]]],
    ) -> None:
        """Write numeric features, and how often their values came; rows of zeros are left out.

        features : name and inner bin edges of each, in order
        counts   : (kind, class, place, integers), see numeric_count in schema.sql
        """
        rows = [(n, name, " ".join(map(repr, edges))) for n, (name, edges) in enumerate(features)]
        self.insert("numeric_feature", rows)
        cells = [(kind, k, place, " ".join(map(str, row))) for kind, k, place, row in counts if any(row)]
        self.insert("numeric_count", cells)

    def insert(self, table: str, rows: Iterable[tuple[object, ...]], conflict: str = "") -> None:
        """Insert rows that have a value for each column, several in a statement.

        Of the tables of FIRST_BATCH, a value for each column there: all is of the first batch.
        conflict : an ON CONFLICT clause
        """
        rows = iter(rows)
        while some := list(islice(rows, ROWS_AT_ONCE)):
            self._insert(table, list(chain.from_iterable(some)), len(some[0]), conflict)

    def insert_columns(self, table: str, columns: Sequence[list[Any]]) -> None:
        """The same rows, given column by column, without a tuple for each: a quarter of the time less."""
        width = len(columns)
        fields: list[Any] = [None] * (width * len(columns[0]))
        for number, column in enumerate(columns):
            fields[number::width] = column
        at_once = width * max(ROWS_AT_ONCE, FIELDS_AT_ONCE // width)
        for begin in range(0, len(fields), at_once):
            self._insert(table, fields[begin : begin + at_once], width)

    def _insert(self, table: str, fields: list[Any], width: int, conflict: str = "") -> None:
        """Insert some rows.  fields : row after row"""
        columns = FIRST_BATCH.get(table, "").format(", ".join(self.columns))
        row = f"({', '.join('?' * width)})"
        values = f"VALUES {', '.join([row] * (len(fields) // width))}"
        self.connection.execute(f"INSERT INTO {table}{columns} {values} {conflict}", fields)

    def delete(self, table: str, where: str = "") -> None:
        """Delete rows of a table.  where : a WHERE clause"""
        self.connection.execute(f"DELETE FROM {table} {where}")
        if table in DIGESTED:
            self.digests[table] = None

    def replace(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Make these the rows of a table."""
        self.delete(table)
        self.insert(table, rows)


def add_integers(path: str, row: Sequence[int], change: Sequence[int], times: int = 1) -> list[int]:
    """The integers of a row of numeric_count in the model at `path`, with others added so many times."""
    if len(row) != len(change):
        raise DamagedModelError(path, "a row of numeric_count has not one integer a bin")
    return [a + times * b for a, b in zip(row, change, strict=True)]


def escape_bytes(text: str) -> str:
    """The text with an escape for each byte of a file name that is not UTF-8, which SQLite refuses."""
    return text.encode("utf-8", "backslashreplace").decode()
