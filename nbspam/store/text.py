"""A model as text, and back: `model dump` and `model load`.

The text is UTF-8, a JSON array a line: the name of a table and the values of a row, in the order of the line
`["#TABLE", COLUMN, ...]` before the rows of the table.  Rows are in a fixed order, and the last line gives
their number.  Keys and totals follow from the rows and are not written, so a text edited by hand cannot
contradict itself.  Nor is it written when and by whom a message was counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from nbspam.errors import BadDataError, NbspamError
from nbspam.labels import parse_class_name, sort_classes
from nbspam.store.check import check_usable, compute_key
from nbspam.store.connection import check_format, sqlite3
from nbspam.store.digest import check_tables
from nbspam.store.merge import open_whole
from nbspam.store.overlay import add_base
from nbspam.store.reader import COUNTED, MAX_COUNT, Model, count_columns
from nbspam.store.writer import new_model
from nbspam.tokens.bag import N_VIEWS, NOTAWORD, NOTAWORD_VIEW

MAGIC = "#nbspam-model"
TEXT_FORMAT = 5
END = "#end"
_WITH_TABS = b"#nbspam-model\t"
_TYPES = {int, float, str, type(None)}  # of a value
_REMEDY = "dump the model again: nbspam model dump"
# table -> its columns in the text, and their order
TABLES = {
    "setting": ("name, value", "name"),
    "class": ("number, name, messages", "number"),
    "token": ("view, text", "view, text"),  # and the count columns
    "calibration": ("number, feature, class, weight, covariance", "number"),
    "learned": ("digest, class, times", "digest, class"),
    "numeric_feature": ("number, name, edges", "number"),
    "numeric_count": ("kind, class, place, value", "kind, class, place"),
    "sender": ("who, decision, verified, since", "who"),
}
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def dump_model(path: str) -> Iterator[str]:
    """The lines of the text form of one state of the model at `path`; the same counts give the same lines."""
    n_rows = 0
    with open_whole(path) as model:
        check_tables(model.connection)
        yield _encode([MAGIC, TEXT_FORMAT]) + "\n"
        for table in TABLES:
            columns = _list_columns(table, len(model.classes))
            yield _encode(["#" + table, *columns]) + "\n"
            rows = COUNTED if table == "learned" else table
            query = f"SELECT {', '.join(columns)} FROM {rows} ORDER BY {TABLES[table][1]}"
            for row in model.connection.stream(query):
                n_rows += 1
                yield _encode([table, *row]) + "\n"
    yield _encode([END, n_rows]) + "\n"


def _list_columns(table: str, n_classes: int) -> list[str]:
    columns = TABLES[table][0].split(", ")
    return columns + count_columns(n_classes) if table == "token" else columns


def load_dump(lines: Iterable[bytes], where: str, path: str, replaces: bool = True, base: str = "") -> None:
    """Write the model of a text form at `path`, whole or not at all.

    lines    : UTF-8, with their ends
    where    : the name of the text, for errors
    replaces : see new_model
    base     : the model that this one adds to, if it is an overlay
    Raises BadDataError with the number of a line: the wrong one, or one of the next 40 if SQLite refuses it.
    """
    text = _Text(where, lines)
    settings = dict(text.rows("setting"))
    classes, messages = text.classes()
    with new_model(path, classes, messages, "model load", replaces) as file:
        try:
            file.settings(settings)
            for table in list(TABLES)[2:]:
                file.insert(table, text.rows(table, len(classes)))
        except (sqlite3.DataError, sqlite3.IntegrityError, OverflowError, TypeError, ValueError) as error:
            raise text.error(f"a row here or shortly before cannot be one ({error})") from None
        if file.connection.ask("SELECT 1 FROM learned WHERE times < 1"):
            raise text.error("a message counts less than once")
        text.check_end()
        model = Model(where, file.connection)
        check_usable(model)
        if base:
            add_base(file, model, base)


class _Text:
    """The lines of a dump, read in order and checked."""

    def __init__(self, where: str, lines: Iterable[bytes]) -> None:
        self._where, self._lines = where, enumerate(lines, 1)
        self._number = self._n_rows = 0
        self._values: list[Any] = []
        self._advance()
        name, *version = self._values
        if name != MAGIC or len(version) != 1 or type(version[0]) is not int:
            raise BadDataError(where, "this is not the text of a model", _REMEDY, "dump-foreign")
        check_format(where, version[0], TEXT_FORMAT)
        self._advance()

    def error(self, why: str, slug: str = "dump-damaged") -> NbspamError:
        """The error for the current line."""
        return BadDataError(f"{self._where}: line {self._number}", why, _REMEDY, slug)

    def _advance(self) -> None:
        """Read the next line."""
        self._number, line = next(self._lines, (self._number, b""))
        if line.startswith(_WITH_TABS):  # older forms
            check_format(self._where, TEXT_FORMAT - 1, TEXT_FORMAT)
        if not line.endswith(b"\n"):
            raise BadDataError(self._where, "the text of the model is cut short", _REMEDY, "dump-truncated")
        try:
            values = json.loads(line.decode())
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, list) or not values or not {*map(type, values)} <= _TYPES:
            raise self.error(
                "this is not a row of a model", "dump-damaged" if self._values else "dump-foreign"
            )
        self._values = values

    def check_end(self) -> None:
        """Raise unless the current line is the last one and gives the number of rows."""
        if self._values != [END, self._n_rows]:
            raise self.error(f"expected the end, after {self._n_rows} rows")

    def classes(self) -> tuple[tuple[str, ...], list[int]]:
        """Names and messages."""
        rows = list(self.rows("class"))
        names = tuple(parse_class_name(str(name), self._where) for _, name, _ in rows)
        if [row[0] for row in rows] != list(range(len(rows))) or not rows or sort_classes(names) != names:
            raise self.error("the classes are not numbered in class order (ham first, spam last)")
        messages = [row[2] for row in rows]
        if any(type(number) is not int or not 0 <= number <= MAX_COUNT for number in messages):
            raise self.error("a class has no sound number of messages")
        return names, messages

    def rows(self, table: str, n_classes: int = 0) -> Iterator[tuple[Any, ...]]:
        """The rows of a table as the model file has them."""
        columns = _list_columns(table, n_classes)
        if self._values != ["#" + table, *columns]:
            raise self.error(f"expected #{table} with its columns")
        self._advance()
        while self._values[0] == table:
            _, *row = self._values
            if len(row) != len(columns):
                raise self.error(f"{len(row)} values instead of {len(columns)}")
            self._n_rows += 1
            yield (self._key(*row[:2]), *row) if table == "token" else tuple(row)
            self._advance()

    def _key(self, view: Any, text: Any) -> int:
        if (
            type(text) is not str
            or view not in range(N_VIEWS)
            or (view == NOTAWORD_VIEW) != (text == NOTAWORD)
        ):
            raise self.error("expected a text and its view, NOTAWORD alone in view 5")
        return compute_key(text, view)
