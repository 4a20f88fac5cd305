"""A model as text, and back: `model dump` and `model load`.

The text is UTF-8, one line a row, fields separated by tabs, the first field the name of the table.  A line
`#table<TAB>columns` comes before the rows of each table, rows are in a fixed order, and the last line gives
their number.  Keys and totals follow from the rows and are not written, so a text edited by hand cannot
contradict itself.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nbspam.errors import BadDataError, NbspamError
from nbspam.labels import parse_class_name, sort_classes
from nbspam.store.check import check_usable, compute_key
from nbspam.store.connection import check_format
from nbspam.store.covariance import pack_covariance
from nbspam.store.digest import check_rows, check_tables
from nbspam.store.reader import Model, count_columns, open_model
from nbspam.store.writer import new_model
from nbspam.tokens.bag import N_VIEWS, NOTAWORD, NOTAWORD_VIEW

MAGIC = "#nbspam-model"
TEXT_FORMAT = 4
END = "#end"
_REMEDY = "dump the model again: nbspam model dump"
_NULL = "\\N"  # no escaped text is the same
_BOUND = 1 << 63  # integers of the model file are from -_BOUND to _BOUND - 1

# table -> (columns with their kinds, order; empty if the model file has other rows).  Kinds: t text, n whole
# number >= 0, i whole number, f float, c number of a class or nothing.
TABLES = {
    "setting": ("name:t value:t", "name"),
    "class": ("number:n name:t messages:n", "number"),
    "token": ("view:n text:t", "view, text"),  # and the count columns
    "calibration": ("number:n feature:t class:c weight:f", "number"),
    "calibration_covariance": ("line:n place:n value:f", ""),  # the model file has one row
    "learned": ("digest:i class:c times:n", "digest, class"),
    "numeric_feature": ("number:n name:t edges:t", "number"),
    "numeric_count": ("kind:t class:c place:n value:t", "kind, class, place"),
}
# When a message was counted is not in the text, nor by whom: all of them count as labelled.
_LEARNED = "(SELECT digest, class, sum(times) AS times FROM learned GROUP BY digest, class)"
_NO_PRIOR = "#prior_class\tnumber\tmessages\n"  # before the end; no model has rows of it any more

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_MEANINGS = {escape: character for character, escape in _ESCAPES.items()}
_ESCAPE_TABLE = str.maketrans(_ESCAPES)


def escape_text(text: str) -> str:
    """The text without tabs and line ends; `unescape_text` gives it back."""
    return text.translate(_ESCAPE_TABLE)


def unescape_text(text: str) -> str:
    """What `escape_text` was given; ValueError for a backslash that means nothing."""
    if "\\" not in text:
        return text
    try:
        return re.sub(r"(?s)\\.?", lambda escape: _MEANINGS[escape[0]], text)
    except KeyError:
        raise ValueError("a backslash without a meaning") from None


def parse_natural(text: str, bound: int = _BOUND) -> int:
    """A whole number from 0 to below a bound; ValueError otherwise (also for signs, spaces, 1_000)."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) < bound):
        raise ValueError("not a whole number")
    return int(text)


def dump_model(path: str) -> Iterator[str]:
    """The lines of the text form of one state of the model at `path`; the same counts give the same lines."""
    n_rows = 0
    with open_model(path, snapshot=True) as model:
        check_tables(model.connection)
        yield f"{MAGIC}\t{TEXT_FORMAT}\n"
        for table, (_, order) in TABLES.items():
            names = list(_columns(table, len(model.classes)))
            yield "\t".join(["#" + table, *names]) + "\n"
            of = f"{', '.join(names)} FROM {_LEARNED if table == 'learned' else table}"
            rows = model.connection.stream(f"SELECT {of} ORDER BY {order}") if order else _covariances(model)
            for row in rows:
                n_rows += 1
                yield "\t".join([table, *(_field(value) for value in row)]) + "\n"
    yield _NO_PRIOR
    yield f"{END}\t{n_rows}\n"


def _covariances(model: Model) -> Iterator[tuple[int, int, float]]:
    for line, values in enumerate(model.covariance()):
        for place in range(line + 1):
            yield line, place, values[place]


def _columns(table: str, n_classes: int) -> dict[str, str]:
    """column -> kind."""
    columns = dict(column.split(":") for column in TABLES[table][0].split())
    return {**columns, **dict.fromkeys(count_columns(n_classes), "n")} if table == "token" else columns


def _field(value: object) -> str:
    if value is None:
        return _NULL
    return repr(value) if isinstance(value, float) else escape_text(str(value))


def load_dump(lines: Iterable[bytes], where: str, path: str, replaces: bool = True) -> None:
    """Write the model of a text form at `path`, whole or not at all.

    lines    : UTF-8, with their ends
    where    : the name of the text, for errors
    replaces : see new_model
    Raises BadDataError with the number of the line that is wrong.
    """
    text = _Text(where, lines)
    settings = dict(text.rows("setting"))
    classes, messages = text.classes()
    with new_model(path, classes, messages, "model load", replaces) as file:
        file.settings(settings)
        try:
            for table in list(TABLES)[2:]:
                file.insert(table, text.rows(table) if TABLES[table][1] else text.covariance())
        except sqlite3.IntegrityError as error:
            raise text.error(f"a row comes twice, or has no value ({error})") from None
        text.check_end()
        check_usable(Model(where, file.connection))
        check_rows(file.connection)


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

    def error(self, why: str, slug: str = "dump-damaged") -> NbspamError:
        """The error for the current line."""
        return BadDataError(f"{self._where}: line {self._number}", why, _REMEDY, slug)

    def _advance(self) -> None:
        """Read the next line."""
        self._number, line = next(self._lines, (self._number, b""))
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise self.error("this is not UTF-8 text", "dump-foreign") from None
        if not text.endswith("\n"):
            raise BadDataError(self._where, "the text of the model is cut short", _REMEDY, "dump-truncated")
        self._fields = text[:-1].split("\t")

    def check_end(self) -> None:
        """Raise unless the current line is the last one and gives the number of rows."""
        if self._fields == _NO_PRIOR.split():
            self._advance()
        if self._fields != [END, str(self._n_rows)]:
            raise self.error(f"expected the end, after {self._n_rows} rows")

    def classes(self) -> tuple[tuple[str, ...], list[int]]:
        """Names and messages."""
        rows = list(self.rows("class"))
        names = tuple(parse_class_name(name, self._where) for _, name, _ in rows)
        if [row[0] for row in rows] != list(range(len(rows))) or not rows or sort_classes(names) != names:
            raise self.error("the classes are not numbered in class order (ham first, spam last)")
        self._n_classes = len(rows)
        return names, [messages for _, _, messages in rows]

    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a table as the model file has them."""
        columns = _columns(table, self._n_classes)
        if self._fields != ["#" + table, *columns]:
            raise self.error(f"expected #{table} with its columns")
        self._advance()
        while self._fields[0] == table:
            if len(self._fields) != 1 + len(columns):
                raise self.error(f"{len(self._fields) - 1} fields instead of {len(columns)}")
            self._n_rows += 1
            row = tuple(map(self._value, columns.items(), self._fields[1:]))
            yield (self._key(*row[:2]), *row) if table == "token" else row
            self._advance()

    def covariance(self) -> list[tuple[bytes]]:
        """The row of calibration_covariance in the model file, if any."""
        lines: list[list[float]] = []
        for line, place, value in self.rows("calibration_covariance"):
            if not place:
                lines.append([])
            if (line, place) != (len(lines) - 1, len(lines[-1])) or place > line:
                raise self.error("expected the next cell of the covariance, up to the diagonal")
            lines[-1].append(value)
        return [(pack_covariance(lines),)] if lines else []

    def _key(self, view: int, text: str) -> int:
        if view >= N_VIEWS or (view == NOTAWORD_VIEW) != (text == NOTAWORD):
            raise self.error("expected a token of view 0, 1, 2, 3, 4 or 6, or NOTAWORD of view 5")
        return compute_key(text, view)

    def _value(self, column: tuple[str, str], text: str) -> Any:
        name, kind = column
        try:
            if kind == "c":
                return None if text == _NULL else parse_natural(text, self._n_classes)
            return _PARSERS[kind](text)
        except ValueError:
            raise self.error(f"{text[:40]!r} cannot be a {name}") from None


def _parse_integer(text: str) -> int:
    """A whole number of the model file, perhaps below 0."""
    return -parse_natural(text[1:], _BOUND + 1) if text.startswith("-") else parse_natural(text)


_PARSERS: dict[str, Callable[[str], object]] = {
    "t": unescape_text,
    "n": parse_natural,
    "i": _parse_integer,
    "f": float,
}
