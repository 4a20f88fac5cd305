"""A model as text, and back: `model dump` and `model load`.

The text is UTF-8, one line a row, fields separated by tabs, the first field the name of the table.  A line
`#table<TAB>columns` comes before the rows of each table, rows are in a fixed order, and the last line gives
their number.  Keys and totals follow from the rows and are not written, so a text edited by hand cannot
contradict itself.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from math import isfinite

from nbspam.errors import BadDataError, NbspamError
from nbspam.labels import checked_name, ordered
from nbspam.store.check import calibration_complaints, key_of, read_settings
from nbspam.store.connection import check_format, store_error
from nbspam.store.reader import Model, count_columns, open_model
from nbspam.store.updater import packed, unpacked
from nbspam.store.writer import new_model
from nbspam.tokens.bag import N_VIEWS, NOTAWORD, NOTAWORD_VIEW

MAGIC = "#nbspam-model"
TEXT_FORMAT = 4
END = "#end"
_REMEDY = "dump the model again: nbspam model dump"
_NULL = "\\N"  # no escaped text is the same
_BOUND = 1 << 63  # integers of the model file are from -_BOUND to _BOUND - 1

# table -> (columns with their kinds, order).  Kinds: t text, n whole number >= 0, i whole number, f float,
# b number of a class, c the same or nothing, k tokens of an autolearned message.
TABLES = {
    "setting": ("name:t value:t", "name"),
    "class": ("number:n name:t messages:n", "number"),
    "token": ("view:n text:t", "view, text"),  # and the count columns
    "calibration": ("number:n feature:t class:c weight:f", "number"),
    "calibration_covariance": ("line:n place:n value:f", "line, place"),
    "learned": ("digest:i class:b times:n", "digest, class"),
    "numeric_feature": ("number:n name:t edges:t", "number"),
    "numeric_count": ("kind:t class:b place:n value:t", "kind, class, place"),
    "autolearned": ("digest:i class:b tokens:k", "number"),
}
# When a message was counted is not in the text.
_SUMS = {
    "learned": "(SELECT digest, class, sum(times) AS times FROM learned GROUP BY digest, class)",
}
OPTIONAL = "autolearned"  # left out of a text if it has no rows
_NO_PRIOR = "#prior_class\tnumber\tmessages\n"  # comes before it, a table that no model has rows of any more

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_MEANINGS = {escape: character for character, escape in _ESCAPES.items()}
_ESCAPE_TABLE = str.maketrans(_ESCAPES)


def escaped(text: str) -> str:
    """The text without tabs and line ends; `unescaped` gives it back."""
    return text.translate(_ESCAPE_TABLE)


def unescaped(text: str) -> str:
    """What `escaped` was given; ValueError for a backslash that means nothing."""
    if "\\" not in text:
        return text
    try:
        return re.sub(r"(?s)\\.?", lambda escape: _MEANINGS[escape[0]], text)
    except KeyError:
        raise ValueError("a backslash without a meaning") from None


def natural(text: str, bound: int = _BOUND) -> int:
    """A whole number from 0 to below a bound; ValueError otherwise (also for signs, spaces, 1_000)."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) < bound):
        raise ValueError("not a whole number")
    return int(text)


def dump_model(path: str) -> Iterator[str]:
    """The text form of one state of the model at `path`."""
    with open_model(path, snapshot=True) as model:
        yield from dump(model)


def dump(model: Model) -> Iterator[str]:
    """The lines of a model's text form; the same counts give the same lines."""
    n_rows = 0
    yield f"{MAGIC}\t{TEXT_FORMAT}\n"
    for table, (_, order) in TABLES.items():
        names = list(_columns(table, len(model.classes)))
        header = "\t".join(["#" + table, *names]) + "\n"
        yield header if table != OPTIONAL else _NO_PRIOR
        of = f"{', '.join(names)} FROM {_SUMS.get(table, table)}"
        for row in model.connection.stream(f"SELECT {of} ORDER BY {order}"):
            if table == OPTIONAL and header:
                yield header
                header = ""
            n_rows += 1
            try:
                yield "\t".join([table, *map(_field, row)]) + "\n"
            except sqlite3.DatabaseError as error:
                raise store_error(model.path, error) from None
    yield f"{END}\t{n_rows}\n"


def documents_of(model: Model) -> Iterator[tuple[int, str, int, int]]:
    """(view, text, messages of the first class, of the second) of each token, in a fixed order."""
    query = "SELECT view, text, documents_0, documents_1 FROM token ORDER BY view, text"
    return model.connection.stream(query)


def _columns(table: str, n_classes: int) -> dict[str, str]:
    """column -> kind."""
    columns = dict(column.split(":") for column in TABLES[table][0].split())
    return {**columns, **dict.fromkeys(count_columns(n_classes), "n")} if table == "token" else columns


def _field(value: object) -> str:
    if value is None:
        return _NULL
    if isinstance(value, bytes):
        return " ".join(f"{key}:{times}" for key, times in unpacked(value).items())
    return repr(value) if isinstance(value, float) else escaped(str(value))


def load(lines: Iterable[bytes], where: str, path: str, replaces: bool = True) -> None:
    """Write the model of a text form at `path`, whole or not at all.

    lines    : UTF-8, with their ends
    where    : the name of the text, for errors
    replaces : see new_model
    Raises BadDataError with the number of the line that is wrong.
    """
    text = _Text(where, lines)
    settings = {str(name): str(value) for name, value in text.rows("setting")}
    classes, messages = text.classes()
    with new_model(path, classes, messages, "model load", replaces) as file:
        file.settings(settings)
        try:
            for table in list(TABLES)[2:]:
                file.insert(table, text.rows(table))
        except sqlite3.IntegrityError as error:
            raise text.error(f"a row comes twice ({error})") from None
        text.check_end()
        model = Model(where, file.connection)
        for complaint in calibration_complaints(model, read_settings(model).kinds):
            raise BadDataError(where, complaint, _REMEDY, "dump-damaged")


class _Text:
    """The lines of a dump, read in order and checked."""

    def __init__(self, where: str, lines: Iterable[bytes]) -> None:
        self._where, self._lines = where, enumerate(lines, 1)
        self._number = self._n_rows = self._n_classes = 0
        self._advance()
        if self._fields[:-1] != [MAGIC] or not re.fullmatch("[0-9]{1,9}", self._fields[-1]):
            raise BadDataError(where, "this is not the text of a model", _REMEDY, "dump-foreign")
        check_format(where, int(self._fields[-1]), TEXT_FORMAT)
        self._advance()

    def error(self, why: str) -> NbspamError:
        """The error for the current line."""
        return BadDataError(f"{self._where}: line {self._number}", why, _REMEDY, "dump-damaged")

    def _advance(self) -> None:
        """Read the next line."""
        self._number, line = next(self._lines, (self._number, b""))
        try:
            text = line.decode()
        except UnicodeDecodeError:
            where = f"{self._where}: line {self._number}"
            raise BadDataError(where, "this is not UTF-8 text", _REMEDY, "dump-foreign") from None
        if not text.endswith("\n"):
            raise BadDataError(self._where, "the text of the model is cut short", _REMEDY, "dump-truncated")
        self._fields = text[:-1].split("\t")

    def check_end(self) -> None:
        """Raise unless the current line is the last one and gives the number of rows."""
        if self._fields != [END, str(self._n_rows)]:
            raise self.error(f"expected the end, after {self._n_rows} rows")

    def classes(self) -> tuple[tuple[str, ...], list[int]]:
        """Names and messages."""
        rows = list(self.rows("class"))
        names = tuple(checked_name(str(row[1]), self._where) for row in rows)
        if [row[0] for row in rows] != list(range(len(rows))) or not rows or ordered(names) != names:
            raise self.error("the classes are not numbered in class order (ham first, spam last)")
        self._n_classes = len(rows)
        return names, [int(str(row[2])) for row in rows]

    def rows(self, table: str) -> Iterator[tuple[object, ...]]:
        """The rows of a table as the model file has them."""
        columns = _columns(table, self._n_classes)
        if self._fields == _NO_PRIOR.split():
            self._advance()
        if self._fields != ["#" + table, *columns]:
            if table == OPTIONAL:
                return
            raise self.error(f"expected #{table} with its columns")
        self._advance()
        while self._fields[0] == table:
            if len(self._fields) != 1 + len(columns):
                raise self.error(f"{len(self._fields) - 1} fields instead of {len(columns)}")
            self._n_rows += 1
            row = tuple(map(self._value, columns.items(), self._fields[1:]))
            if table == "token":
                yield (self._key(row), *row)
            else:
                yield row
            self._advance()

    def _key(self, row: tuple[object, ...]) -> int:
        view, text = int(str(row[0])), str(row[1])
        if view >= N_VIEWS or (view == NOTAWORD_VIEW) != (text == NOTAWORD):
            raise self.error("expected a token of view 0, 1, 2, 3 or 5, or NOTAWORD of view 4")
        return key_of(text, view)

    def _value(self, column: tuple[str, str], text: str) -> object:
        name, kind = column
        try:
            if kind == "b" or kind == "c":
                return None if kind == "c" and text == _NULL else natural(text, self._n_classes)
            return _PARSERS[kind](text)
        except ValueError:
            raise self.error(f"{text[:40]!r} cannot be a {name}") from None


def _integer(text: str) -> int:
    """A whole number of the model file, perhaps below 0."""
    return -natural(text[1:], _BOUND + 1) if text.startswith("-") else natural(text)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


def _packed_tokens(text: str) -> bytes:
    pairs = (pair.partition(":") for pair in text.split())
    return packed((_integer(key), natural(times, 1 << 32)) for key, _, times in pairs)


_PARSERS: dict[str, Callable[[str], object]] = {
    "t": unescaped,
    "n": natural,
    "i": _integer,
    "f": _finite,
    "k": _packed_tokens,
}
