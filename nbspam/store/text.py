"""A model as text, and back.

Hides the text form: UTF-8, a line a row, fields separated by tabs, the first field the name of the
table.  A line `#table<TAB>columns` comes before the rows of each table, rows stand in a fixed order,
and the last line says how many there were.  What follows from the rows (totals, histograms, keys)
is not written but worked out anew, so a text edited by hand cannot contradict itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import NamedTuple

from nbspam.errors import BadDataError, NbspamError
from nbspam.labels import checked_name, ordered
from nbspam.store.autolearned import autolearned_rows, packed, unpacked
from nbspam.store.derived import prior_columns
from nbspam.store.inspect import calibration_complaints, read_settings
from nbspam.store.reader import FORMAT, Model, check_format, count_columns, store_error
from nbspam.store.tsv_fields import escaped, natural, unescaped
from nbspam.store.writer import NewModel, add_prior_columns, new_model
from nbspam.tokens.bag import N_VIEWS, NOTAWORD_VIEW
from nbspam.tokens.keys import NOTAWORD, NOTAWORD_KEY, token_key

MAGIC = "#nbspam-model"
END = "#end"
_REMEDY = "dump the model again: nbspam model dump -m MODEL"
_NULL = "\\N"  # no text can be written so: the escape means nothing else

# table -> (columns with their kinds, order).  Kinds: t text, n whole number >= 0, i whole number, f float,
# b number of a class, c the same or nothing, k keys of tokens and how often each occurs.
TABLES = {
    "setting": ("name:t value:t", "name"),
    "class": ("number:n name:t messages:n", "number"),
    "token": ("view:n text:t", "view, text"),  # and the count columns
    "calibration": ("number:n feature:t class:c weight:f", "number"),
    "calibration_covariance": ("line:n place:n value:f", "line, place"),
    "learned": ("digest:i class:b times:n", "digest, class"),
    "numeric_feature": ("number:n name:t edges:t", "number"),
    "numeric_count": ("kind:t class:b place:n value:t", "kind, class, place"),
    "prior_class": ("number:b messages:n", "number"),
    "autolearned": ("digest:i class:b tokens:k", "number"),
}
# Not written where it has no rows; a text without it is whole.
OPTIONAL = "autolearned"


class _Column(NamedTuple):
    name: str
    kind: str


def _columns(table: str, counts: Iterable[str] = ()) -> list[_Column]:
    fixed = [_Column(*column.split(":")) for column in TABLES[table][0].split()]
    return fixed + [_Column(name, "n") for name in counts if table == "token"]


def dump(model: Model) -> Iterator[str]:
    """The lines of a model's text form; the same counts give the same lines."""
    connection = model.connection
    counts = [*count_columns(len(model.classes)), *prior_columns(connection)]
    rows = 0
    yield f"{MAGIC}\t{FORMAT}\n"
    for table, (_, order) in TABLES.items():
        if table == OPTIONAL and not any(autolearned_rows(connection)):
            continue
        columns = _columns(table, counts)
        yield "\t".join(["#" + table, *(column.name for column in columns)]) + "\n"
        names = ", ".join(column.name for column in columns)
        for row in connection.execute(f"SELECT {names} FROM {table} ORDER BY {order}"):
            rows += 1
            try:
                yield "\t".join([table, *map(_field, row)]) + "\n"
            except sqlite3.DatabaseError as error:
                raise store_error(model.path, error) from None
    yield f"{END}\t{rows}\n"


def _field(value: object) -> str:
    if value is None:
        return _NULL
    if isinstance(value, bytes):
        return " ".join(f"{key}:{times}" for key, times in unpacked(value).items())
    return repr(value) if isinstance(value, float) else escaped(str(value))


def load(lines: Iterable[str], where: str, path: str, replaces: bool = True) -> None:
    """Writes the model of a text form at `path`, whole or not at all.

    replaces : see new_model
    Raises BadDataError with the number of the line that is wrong.
    """
    _Loading(where, lines).write(path, replaces)


class _Loading:
    """Lines on their way into a new file."""

    def __init__(self, where: str, lines: Iterable[str]) -> None:
        self._where = where
        self._lines = enumerate(lines, 1)
        self._at = 0
        self._held: list[str] | None = None
        self._rows = 0
        self._n_classes = 0

    def _error(self, why: str) -> NbspamError:
        return BadDataError(f"{self._where}: line {self._at}", why, _REMEDY, "dump-damaged")

    def _next(self) -> list[str]:
        """The fields of the next line."""
        self._at, line = next(self._lines, (self._at, ""))
        if line.endswith("\n"):
            return line[:-1].split("\t")
        raise BadDataError(self._where, "the text of the model is cut short", _REMEDY, "dump-truncated")

    def write(self, path: str, replaces: bool) -> None:
        """Reads everything and writes it."""
        self._check_first()
        settings = list(self._table("setting"))
        classes = self._classes()
        self._n_classes = len(classes[0])
        with new_model(path, classes[0], classes[1], replaces) as file:
            file.settings({str(name): str(value) for name, value in settings})
            try:
                for table in list(TABLES)[2:]:
                    if table != OPTIONAL or self._comes(table):
                        self._fill(file, table)
                file.recount()
            except sqlite3.IntegrityError as error:
                raise self._error(f"a row is there twice ({error})") from None
            self._check_end()
            self._check_sound(Model(self._where, file.connection))

    def _comes(self, table: str) -> bool:
        """Whether a table is next."""
        self._held = self._held or self._next()
        return self._held[0] == "#" + table

    def _check_first(self) -> None:
        fields = self._next()
        if fields[0] != MAGIC or len(fields) != 2:
            raise BadDataError(self._where, "this is not the text of a model", _REMEDY, "dump-foreign")
        try:
            version = natural(fields[1])
        except ValueError:
            raise self._error("here belongs a version") from None
        check_format(self._where, version, "upgrade nbspam" if version > FORMAT else "train again")

    def _check_end(self) -> None:
        fields = self._held or self._next()
        if fields[0] != END or fields[1:] != [str(self._rows)]:
            raise self._error(f"here belongs the end, with {self._rows} rows before it")

    def _check_sound(self, model: Model) -> None:
        kinds = read_settings(model).kinds
        for complaint in calibration_complaints(model, kinds):
            raise BadDataError(self._where, complaint, _REMEDY, "dump-damaged")

    def _classes(self) -> tuple[tuple[str, ...], list[int]]:
        rows = list(self._table("class"))
        names = tuple(checked_name(str(row[1]), self._where) for row in rows)
        if [row[0] for row in rows] != list(range(len(rows))) or not rows or ordered(names) != names:
            raise self._error("the classes are not numbered in class order (ham first, spam last)")
        return names, [int(str(row[2])) for row in rows]

    def _fill(self, file: NewModel, table: str) -> None:
        columns = self._header(table, count_columns(self._n_classes))
        names = [column.name for column in columns]
        rows = self._read(table, columns)
        if table == "token":
            add_prior_columns(file.connection, [name for name in names if name.startswith("prior_")])
            _insert(file.connection, table, ["key", *names], ((self._key(row), *row) for row in rows))
        else:
            _insert(file.connection, table, names, rows)

    def _key(self, row: tuple[object, ...]) -> int:
        view, text = int(str(row[0])), str(row[1])
        if view >= N_VIEWS or (view == NOTAWORD_VIEW) != (text == NOTAWORD):
            raise self._error("here belongs a token of a view 0, 1, 2, 3 or 5, or NOTAWORD of view 4")
        return NOTAWORD_KEY if view == NOTAWORD_VIEW else token_key(text)

    def _table(self, table: str) -> Iterator[tuple[object, ...]]:
        return self._read(table, self._header(table, ()))

    def _header(self, table: str, counts: Iterable[str]) -> list[_Column]:
        """The columns of a table as its header line has them."""
        fields = self._held or self._next()
        self._held = None
        expected = _columns(table, counts)
        names = [column.name for column in expected]
        more = fields[1 + len(names) :] if table == "token" else []
        prior = ["prior_" + name for name in counts]
        if fields[: 1 + len(names)] != ["#" + table, *names] or (more and sorted(more) != sorted(prior)):
            raise self._error(f"here belongs #{table} with its columns")
        return expected + [_Column(name, "n") for name in more]

    def _read(self, table: str, columns: list[_Column]) -> Iterator[tuple[object, ...]]:
        """The rows of a table; the line after them is held for who comes next."""
        while True:
            fields = self._next()
            if fields[0] != table:
                self._held = fields
                return
            if len(fields) != 1 + len(columns):
                raise self._error(f"{len(fields) - 1} fields instead of {len(columns)}")
            self._rows += 1
            yield tuple(self._value(column, text) for column, text in zip(columns, fields[1:], strict=True))

    def _value(self, column: _Column, text: str) -> object:
        try:
            if column.kind == "t":
                return unescaped(text)
            if column.kind == "f":
                return _finite(text)
            if column.kind == "c" and text == _NULL:
                return None
            if column.kind == "k":
                return packed(map(_key_and_times, text.split()))
            if column.kind in "bc":
                return self._class_number(text)
            return _whole(text) if column.kind == "i" else natural(text)
        except ValueError:
            raise self._error(f"{text[:40]!r} cannot be a {column.name}") from None

    def _class_number(self, text: str) -> int:
        number = natural(text)
        if number >= self._n_classes:
            raise ValueError(text)
        return number


def _insert(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)


def _key_and_times(text: str) -> tuple[int, int]:
    key, _, times = text.partition(":")
    if natural(times) >= 1 << 32:
        raise ValueError(times)
    return _whole(key), natural(times)


def _whole(text: str) -> int:
    """A whole number of the model file, perhaps below 0."""
    if text.startswith("-"):
        return -natural(text[1:]) if text != f"-{1 << 63}" else -(1 << 63)
    return natural(text)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value
