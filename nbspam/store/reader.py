"""A model file, open for reading: the queries of `nbspam classify`.

The file may be somebody else's.  Its schema is compared with ours before any other query, so no view or
trigger of it runs, and what is read has bounds.

An overlay is a small model that adds to one that many share, its base.  It counts its own messages alone, and
cannot take out what the base has counted.  Whoever scores gets the sums of both.
"""

from __future__ import annotations

import os
from itertools import chain, pairwise
from math import isfinite

from nbspam.errors import DamagedModelError, NbspamError, TryAgainError, UsageError
from nbspam.labels import MAX_CLASSES, parse_class_name, sort_classes
from nbspam.store.connection import (
    BUSY_SECONDS,
    MAX_SCHEMA_STEPS,
    MAX_VALUE_BYTES,
    Connection,
    check_file,
    connect,
    file_identity,
    journal_of,
    replaced_error,
    roll_back,
    sqlite3,
    store_error,
)
from nbspam.tokens.bag import N_VIEWS, NO_TEXTBOOK_VIEWS, hash_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeVar

    Number = TypeVar("Number")
    FindBase = Callable[["Model"], "Model | None"]

_KEYS_PER_QUERY = 800  # a typical message has fewer
_ROWS_AT_ONCE = 10_000
MAX_COUNT = 1 << 53  # a float has it without rounding, and 64 bits have the sum of a thousand
ODD_COUNT = "a token has a count that is not a whole number"
ROW_BYTES = 100  # of memory, at least
MAX_TABLE_BYTES = 64 << 20  # of a table that a message needs whole; the small ones have MAX_VALUE_BYTES
BASE_PAGES = 4_000  # of a base that a server has open: 16 MB hold a model of 5,000 messages
OWN_SERVERS = "own_servers"  # the setting
DATA_VERSION = "PRAGMA data_version"  # another number after each change by another program
# The small tables, which are read whenever a model is opened.
OPENING = {
    "setting": "SELECT name, value FROM setting ORDER BY name",
    "class": "SELECT number, name, messages FROM class ORDER BY number",
    "view": "SELECT number, words FROM view ORDER BY number",
    "view_total": "SELECT view, class, documents, occurrences FROM view_total ORDER BY view, class",
    "calibration": "SELECT number, feature, class, weight FROM calibration ORDER BY number",
    "base": "SELECT path, digest FROM base LIMIT 2",
}
# What counts now, without batches: a table of digest, class and times.
COUNTED = """(SELECT digest, class, sum(times) AS times FROM learned GROUP BY digest, class
HAVING sum(times) > 0)"""
_SCHEMAS: dict[int, set[tuple[str, ...]]] = {}  # number of classes -> tables


class OneState:
    """See Model.one_state.  A class, so that no mail waits for the import of contextlib."""

    __slots__ = ("_begun", "_path")

    def __init__(self, model: Model) -> None:
        self._path = model.path
        self._begun = [part.connection for part in model.parts if not part.connection.in_transaction]

    def __enter__(self) -> None:
        try:
            for connection in self._begun:
                connection.execute("BEGIN")
        except sqlite3.ProgrammingError:
            why = "another thread has opened this model"
            remedy = "give each thread its own filter: copy.copy(filter)"
            raise UsageError(self._path, why, remedy, "other-thread") from None

    def __exit__(self, *error: object) -> None:
        for connection in self._begun:
            if connection.in_transaction:
                connection.execute("ROLLBACK")  # nothing was written; COMMIT would fail on a damaged page


class Model:
    """The content of a model file, read on demand; a context that closes it.

    classes  : names in class order
    messages : m_k by class
    settings : str -> str
    words    : number of tokens by view, see VIEW_NAMES
    documents, occurrences : totals[view][class]
    base_path, base_digest : of an overlay the base that it names; or empty
    base     : of an overlay, its open base; the counts are the sums of both
    has_senders : True if the user has allowed or denied a sender
    """

    def __init__(self, path: str, connection: Connection, find_base: FindBase | None = None) -> None:
        """find_base : of Bases that are shared; None: the model opens its base itself"""
        self.path = path
        self.connection = connection
        self.base: Model | None = None
        self._find_base = find_base
        self.close_base: Callable[[], None] = lambda: None  # unless others have it open, too
        with self.one_state():
            check_schema(path, connection)
            try:
                self.read()
            except NbspamError:
                self.close_base()
                raise

    def one_state(self) -> OneState:
        """A context in which everything read is of one state of the file, even if another program writes.

        A writer waits with its commit.  What was read before may be of an older state, see refresh.
        """
        return OneState(self)

    def read(self) -> None:
        """Read the tables that a message needs whole; also what this connection has changed since.

        DamagedModelError for what no writer wrote.
        """
        rows = opening_rows(self.connection)
        if not self.connection.total_changes:  # a writer writes the digest last
            digest = self.connection.ask("SELECT value FROM digest WHERE name = 'opening'")
            if digest != [(opening_digest(rows),)]:
                raise DamagedModelError(self.path, "settings, totals or weights are not those written")
        try:  # a forger may have written them
            self._take(rows)
        except (AttributeError, LookupError, TypeError, ValueError, NbspamError) as error:
            raise DamagedModelError(self.path, getattr(error, "why", str(error))) from None
        self.has_senders = self.connection.ask("SELECT EXISTS (SELECT 1 FROM sender)") == [(1,)]
        if self.base_path:
            self._look_at_base()
            self._add_base()
        self._version = self.connection.ask(DATA_VERSION)  # last: after an error all is read again

    def _take(self, rows: dict[str, list[Any]]) -> None:
        numbers, names, messages = zip(*rows["class"], strict=True)
        if numbers != tuple(range(len(names))) or sort_classes([*map(parse_class_name, names)]) != names:
            raise ValueError("its classes are not in order")
        if any(type(text) is not str for row in rows["setting"] for text in row):
            raise TypeError("a setting is not text")
        self.classes: tuple[str, ...] = names
        self.messages: list[int] = list(messages)
        self.settings: dict[str, str] = dict(rows["setting"])
        self._weights: list[float] = [weight for *_, weight in rows["calibration"]]
        ((self.base_path, self.base_digest),) = rows["base"] or [("", 0)]
        is_whole = not rows["base"] or (os.path.isabs(self.base_path) and "\0" not in self.base_path)
        if not is_whole or type(self.base_path) is not str or type(self.base_digest) is not int:
            raise ValueError("the name of its base is not a whole path")
        self.words = [0] * N_VIEWS
        self.documents = [[0] * len(names) for _ in range(N_VIEWS)]
        self.occurrences = [[0] * len(names) for _ in range(N_VIEWS)]
        for view, words in rows["view"]:
            self.words[view] = words
        for view, number, documents, occurrences in rows["view_total"]:
            self.documents[view][number] = documents
            self.occurrences[view][number] = occurrences
        if any(type(weight) is not float or not isfinite(weight) for weight in self._weights):
            raise ValueError("a weight of the calibration is not a number")
        for counts in self.totals:
            if any(type(count) is not int or not 0 <= count <= MAX_COUNT for count in counts):
                raise ValueError("a count of messages or tokens is impossible")

    @property
    def totals(self) -> list[list[int]]:
        """Messages by class, tokens by view, and by class the documents and occurrences of each view."""
        return [self.messages, self.words, *self.documents, *self.occurrences]

    def _look_at_base(self) -> None:
        """Raise TryAgainError unless the base of an overlay is there, as it was."""
        if self._find_base is None:
            bases = Bases()
            self._find_base, self.close_base = bases.find, bases.close
        if self.base and not self.base.is_at(self.base_path):
            raise replaced_error(self.base_path)  # filter.open_filter opens both again
        self.base = self._find_base(self)

    def _add_base(self) -> None:
        base = self.base
        if base is None:
            return
        for counts, more in zip(self.totals, base.totals, strict=True):
            counts[:] = map(int.__add__, counts, more)
        self.has_senders |= base.has_senders

    def refresh(self) -> bool:
        """Read the file again if another program has changed it since; True if it was read.

        Within one_state, later reads are of the same state.
        """
        with self.one_state():
            if self.connection.ask(DATA_VERSION) == self._version:
                if self.base:
                    self._look_at_base()
                return False
            check_schema(self.path, self.connection)
            self.read()
        return True

    def is_at(self, path: str) -> bool:
        """True unless another file is at the path by now; ask before a message is counted for it."""
        if self.base and not self.base.is_at(self.base_path):
            return False
        return file_identity(path) in (self.connection.file, None)

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """key -> (documents_0, occurrences_0, documents_1, ...) for the keys that the model knows."""
        columns = ", ".join(count_columns(len(self.classes)))
        with self.one_state():
            own = find_columns(self.connection, columns, keys)
            if self.base is None:
                return own
            sums = self.base.counts(keys)
        for key, counts in own.items():
            sums[key] = tuple(map(int.__add__, counts, sums[key])) if key in sums else counts
        return sums

    @property
    def servers(self) -> list[str]:
        """The names of the user's own mail servers, also those of the base."""
        return [name for part in self.parts for name in part.settings.get(OWN_SERVERS, "").split()]

    def stream_documents(self) -> Iterator[list[str]]:
        """Key, documents_0, documents_1, ... of some tokens after another, each column with commas between.

        Not of an overlay.  SQLite joins the numbers, because objects for each row take three times as long.
        """
        counts = ", ".join(f"group_concat(documents_{k})" for k in range(len(self.classes)))
        n_slices = 1 + sum(self.words) // _ROWS_AT_ONCE
        bounds = [(number << 64) // n_slices - (1 << 63) for number in range(n_slices + 1)]
        for first, end in pairwise(bounds):
            query = f"SELECT group_concat(key), {counts} FROM token WHERE key BETWEEN {first} AND {end - 1}"
            yield [column or "" for column in self.connection.ask(query)[0]]

    def histogram(self, kind: str) -> list[dict[int, int]]:
        """By class, count -> how many tokens that a textbook knows have it; all tokens are read.

        kind : `documents`: n_jk, or `complement`: occurrences outside the class
        """
        if self.base is not None:
            return self._sum_histogram(self.base, kind)
        numbers, found = range(len(self.classes)), []
        words = f"FROM token WHERE view NOT IN {NO_TEXTBOOK_VIEWS}"
        for k in numbers:
            count = f"documents_{k}"
            if kind == "complement":
                count = " + ".join([f"occurrences_{i}" for i in numbers if i != k]) or "0"
            query = f"SELECT {count} AS n, count(*) {words} GROUP BY n"
            rows = read_bounded(self.connection, query, MAX_TABLE_BYTES)
            _check_numbers(self.path, [n for n, _ in rows])
            found.append(dict(rows))
        return found

    def _sum_histogram(self, base: Model, kind: str) -> list[dict[int, int]]:
        """The histogram with a base: each token of the overlay moves from its count there to the sum."""
        histogram = base.histogram(kind)
        query = f"SELECT key FROM token WHERE view NOT IN {NO_TEXTBOOK_VIEWS}"
        keys = [key for (key,) in self.connection.stream(query)]
        for found, change in ((base.counts(keys), -1), (self.counts(keys), 1)):
            for counts in found.values():
                for k, tokens in enumerate(histogram):
                    n = counts[2 * k] if kind == "documents" else sum(counts[1::2]) - counts[2 * k + 1]
                    tokens[n] = tokens.get(n, 0) + change
        return histogram

    def read_number(self, name: str, default: int = 0) -> int:
        """The value of a setting that is a whole number."""
        text = self.settings.get(name, str(default))
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            raise DamagedModelError(self.path, f"setting {name} {text}")
        return int(text)

    def calibration(self) -> list[float]:
        """The weights of the calibration in order; empty when the model was trained without one."""
        return self._weights

    def covariance(self) -> list[list[float]]:
        """The covariance of these weights; empty where none is kept."""
        texts = read_bounded(self.connection, "SELECT covariance FROM calibration ORDER BY number")
        lines = [_split_numbers(self.path, text, float) for (text,) in texts]
        if not any(lines):
            return []
        is_whole = [*map(len, lines)] == [*range(1, len(lines) + 1)]
        if not is_whole or not all(map(isfinite, chain(*lines))) or any(line[-1] <= 0 for line in lines):
            raise DamagedModelError(self.path, "the covariance of the calibration is not one")
        return [line + [later[i] for later in lines[i + 1 :]] for i, line in enumerate(lines)]

    def numeric_features(self) -> list[tuple[str, list[float]]]:
        """(name, inner bin edges) of each numeric feature; empty when only words are counted."""
        rows = read_bounded(self.connection, "SELECT name, edges FROM numeric_feature ORDER BY number")
        return [(name, _split_numbers(self.path, edges, float)) for name, edges in rows]

    def numeric_counts(self, with_pairs: bool = True) -> dict[tuple[str, int, int], list[int]]:
        """(kind, class, place) -> integers, see numeric_count in schema.sql.  Rows of zeros are missing."""
        which = "" if with_pairs else "WHERE kind != 'pair'"
        query = f"SELECT kind, class, place, value FROM numeric_count {which}"
        rows = read_bounded(self.connection, query, MAX_TABLE_BYTES)
        return {tuple(cell): _split_numbers(self.path, value, int) for *cell, value in rows}

    @property
    def parts(self) -> list[Model]:
        """The models whose tables make it up: it alone, or an overlay and its base."""
        return [self, self.base] if self.base else [self]

    @property
    def identity(self) -> int:
        """The number of this file: other files, and copies of it, have others."""
        rows = self.connection.ask("SELECT number FROM identity LIMIT 2")
        if len(rows) != 1:
            raise DamagedModelError(self.path, "it has not one identity")
        return int(rows[0][0])

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
        self.close_base()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_model(path: str, find_base: FindBase | None = None, busy_seconds: float = BUSY_SECONDS) -> Model:
    """Open a model for reading.  Raises a child of NbspamError that says what is wrong with the file.

    find_base : see Model
    busy_seconds : how long to wait for a writer's commit; then TryAgainError
    """
    check_file(path)
    try:
        try:
            return _open(path, find_base, busy_seconds)
        except NbspamError:
            if not os.path.exists(journal_of(path)):
                raise
        roll_back(path, busy_seconds)
        return _open(path, find_base, busy_seconds)
    except sqlite3.Error as error:
        raise store_error(path, error) from None


def _open(path: str, find_base: FindBase | None, busy_seconds: float) -> Model:
    connection = connect(path, "ro", busy_seconds)
    try:
        return Model(path, connection, find_base)
    except (sqlite3.Error, NbspamError):
        connection.close()
        raise


class Bases:
    """Bases that are open once for all overlays of a process; they belong to one thread.

    folder : of the bases of a server, which never waits for their writers; None for any
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder and os.path.realpath(folder)
        self._open: dict[str, Model] = {}

    def find(self, overlay: Model) -> Model:
        """The open base of an overlay; TryAgainError unless it is the one that the overlay names."""
        path = overlay.base_path
        base = self._open.pop(path, None)
        if base and not base.is_at(path):
            base.close()
            base = None
        base = self._open[path] = base or self._open_base(overlay)
        base.refresh()
        if state_digest(base.connection) != overlay.base_digest:
            rebase = f"nbspam model rebase {overlay.path}"
            remedy = f"take in what the base has now: {rebase}, or bring back the base as it was"
            raise TryAgainError(overlay.path, f"its base has changed: {path}", remedy, "base-changed")
        if base.classes != overlay.classes:
            raise DamagedModelError(overlay.path, "its classes are not those of its base")
        return base

    def _open_base(self, overlay: Model) -> Model:
        path = overlay.base_path
        try:
            if self._folder and os.path.dirname(os.path.realpath(path)) != self._folder:
                raise DamagedModelError(path, f"it is not in {self._folder}")
            busy_seconds = 0.0 if self._folder else BUSY_SECONDS
            base = open_model(path, find_base=_refuse_overlay, busy_seconds=busy_seconds)
        except NbspamError as error:
            why = f"cannot be read ({error.why})" if os.path.exists(path) else "is missing"
            remedy = f"bring it back, or take another base: nbspam model rebase `start=BASE` {overlay.path}"
            raise TryAgainError(overlay.path, f"its base {why}: {path}", remedy, "base-missing") from None
        if self._folder:
            base.connection.execute(f"PRAGMA cache_size = {BASE_PAGES}")
        return base

    def close(self) -> None:
        """Close all bases."""
        while self._open:
            self._open.popitem()[1].close()


def _refuse_overlay(model: Model) -> Model:
    raise DamagedModelError(model.path, "it is an overlay itself")


def schema(n_classes: int) -> list[str]:
    """The statements of schema.sql for K classes, one line each, without comments."""
    with open(os.path.join(os.path.dirname(__file__), "schema.sql"), encoding="utf-8") as file:
        text = " ".join([line.partition("--")[0] for line in file])
    statements = [" ".join(statement.split()) for statement in text.split(";")[:-1]]
    statements = [statement.replace("K - 1", str(n_classes - 1)) for statement in statements]
    rule = "CHECK (typeof({0}) = 'integer' AND {0} BETWEEN 0 AND 1 << 53)"
    counts = ""
    for name in count_columns(n_classes):
        counts += f", {name} INTEGER NOT NULL DEFAULT 0 {rule.format(name)}"
    token = [statement.startswith("CREATE TABLE token ") for statement in statements].index(True)
    statements[token] = statements[token].removesuffix(" )") + counts + " )"
    return statements


def check_schema(path: str, connection: Connection) -> None:
    """DamagedModelError unless the file has the tables and columns of schema.sql, and nothing else."""
    calls = iter((False,))  # SQLite counts the steps of earlier runs of a query, too: the first call is early
    connection.set_progress_handler(lambda: next(calls, True), MAX_SCHEMA_STEPS)
    try:
        found = connection.ask(
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql NOT NULL LIMIT 99"
        )
    except UnicodeDecodeError:  # an error of SQLite quotes a schema
        found = []
    finally:
        connection.set_progress_handler(None, 0)
    n_classes = [sql.count(", occurrences_") for _, name, _, sql in found if name == "token"]
    if n_classes and n_classes[0] <= MAX_CLASSES:
        if n_classes[0] not in _SCHEMAS:
            statements = schema(n_classes[0])
            names = [statement.split(" ", 3)[2] for statement in statements]
            _SCHEMAS[n_classes[0]] = {*zip(["table"] * len(names), names, names, statements, strict=True)}
        if {*found} == _SCHEMAS[n_classes[0]]:
            return
    raise DamagedModelError(path, "its tables are not those of a model")


def read_bounded(connection: Connection, query: str, most_bytes: int = MAX_VALUE_BYTES) -> list[Any]:
    """All rows of a query; DamagedModelError if they take more memory than this."""
    rows, size = [], 0
    for row in connection.stream(query):
        rows.append(row)
        size += ROW_BYTES + sum([len(value) for value in row if type(value) is str or type(value) is bytes])
        if size > most_bytes:
            raise DamagedModelError(connection.path, "a table has more or longer rows than nbspam writes")
    return rows


def opening_rows(connection: Connection) -> dict[str, list[Any]]:
    """Table -> its rows, of the tables of OPENING."""
    return {table: read_bounded(connection, query) for table, query in OPENING.items()}


def state_digest(connection: Connection) -> int:
    """The digest of all digests of a model, 64 bits with a sign."""
    return hash_token(repr(connection.ask("SELECT name, value FROM digest ORDER BY name LIMIT 99")))


def opening_digest(rows: dict[str, list[Any]]) -> int:
    """The digest of what opening_rows returns, 64 bits with a sign."""
    return hash_token(repr(rows))


def count_columns(n_classes: int) -> list[str]:
    """The names of the count columns of `token`: documents_0, occurrences_0, documents_1, ..."""
    return [name for k in range(n_classes) for name in (f"documents_{k}", f"occurrences_{k}")]


def find_rows(connection: Connection, query: str, keys: Sequence[int]) -> list[tuple[int, ...]]:
    """The rows of a query that ends in the name of a column, which is to be one of the keys."""
    rows: list[tuple[int, ...]] = []
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        asked = str(keys[start : start + _KEYS_PER_QUERY])
        # One text whatever the number of keys, so it is compiled once: 15 % of the time.
        rows += connection.ask(f"{query} IN (SELECT value FROM json_each(?))", (asked,))
    return rows


def find_columns(connection: Connection, columns: str, keys: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """key -> these columns of its token, for the keys that the model has; the columns are whole numbers."""
    rows = find_rows(connection, f"SELECT key, {columns} FROM token WHERE key", keys)
    found = {row[0]: row[1:] for row in rows}
    _check_numbers(connection.path, [*chain.from_iterable(found.values())])
    return found


def _check_numbers(path: str, counts: list[int]) -> None:
    try:
        total = sum(counts)  # a float with a float among them, a TypeError with a text
        if type(total) is int and min(counts, default=0) >= 0 and max(counts, default=0) <= MAX_COUNT:
            return
    except TypeError:
        pass
    raise DamagedModelError(path, ODD_COUNT)


def _split_numbers(path: str, text: Any, kind: Callable[[str], Number]) -> list[Number]:
    """The numbers that a text of the model at `path` has, separated by spaces."""
    try:
        return [*map(kind, text.split())]
    except (AttributeError, ValueError):
        raise DamagedModelError(path, f"{text!r:.40} is not a text of numbers") from None
