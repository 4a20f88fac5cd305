"""A model file, open for reading: the queries of `nbspam classify`.

The file may be somebody else's.  Its schema is compared with ours before any other query, so no view or
trigger of it runs, and what is read has bounds.
"""

from __future__ import annotations

import os
from itertools import chain, islice
from math import isfinite

from nbspam.errors import DamagedModelError, NbspamError
from nbspam.labels import MAX_CLASSES, parse_class_name, sort_classes
from nbspam.store.connection import (
    BUSY_SECONDS,
    MAX_SCHEMA_STEPS,
    MAX_VALUE_BYTES,
    Connection,
    OneState,
    check_file,
    connect,
    file_identity,
    replaced_error,
    retry_after_rollback,
    sqlite3,
    store_error,
)
from nbspam.tokens.bag import FORM_BITS, N_VIEWS, NO_TEXTBOOK_VIEWS, hash_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    FindBase = Callable[["Model"], "Model | None"]

_KEYS_PER_QUERY = 800  # a typical message has fewer
_ROWS_AT_ONCE = 10_000
MAX_COUNT = 1 << 53  # a float has it without rounding, and 64 bits have the sum of a thousand
ROW_BYTES = 100  # of memory, at least
MAX_TABLE_BYTES = 64 << 20  # of a table that a message needs whole; the small ones have MAX_VALUE_BYTES
MAX_KNOWN = 50_000  # counts that are remembered, of 200 bytes each
SEEN_BITS = (1 << 22) - 1  # of a key
DATA_VERSION = "PRAGMA data_version"  # another number after each change by another program
# The small tables, which are read whenever a model is opened.
OPENING = {
    "setting": "SELECT name, value FROM setting ORDER BY name",
    "class": "SELECT number, name, messages FROM class ORDER BY number",
    "view": "SELECT number, words FROM view ORDER BY number",
    "view_total": "SELECT view, class, documents, occurrences FROM view_total ORDER BY view, class",
    "calibration": "SELECT number, feature, class, weight FROM calibration ORDER BY number",
}
_OPENING_BASE = "SELECT path, digest, batches, sources FROM base LIMIT 2"
_SCHEMAS: dict[tuple[int, bool], set[tuple[str, ...]]] = {}  # number of classes, is it an overlay -> tables
OVERLAY_TABLES = ("base", "unlearned")


class Model:
    """The content of a model file, read on demand; a context that closes it.

    classes  : names in class order
    messages : m_k by class
    settings : str -> str
    words    : number of tokens by view, see VIEW_NAMES
    documents, occurrences : totals[view][class]
    base_path, base_digest : of an overlay the base that it names; or empty
    """

    def __init__(self, path: str, connection: Connection, find_base: FindBase | None = None) -> None:
        """find_base : of Bases: an overlay shares an open base with others"""
        self.path = path
        self.connection = connection
        self.base: Model | None = None  # of `find_base`
        self.known: dict[int, tuple[int, ...]] | None = None  # counts that `remember` keeps
        self.base_file: tuple[int, int] | None = None  # the identity of a base that is attached
        self._find_base = find_base
        check_schema(path, connection)
        self.read()

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
        self._version = self.connection.ask(DATA_VERSION)
        if self.known is not None:
            self.remember()
        self._check_base()

    def remember(self) -> None:
        """From now on keep counts in memory, and which keys there can be: for a model that many ask.

        It takes a third of a second for a million tokens, now and after each change.
        """
        self.known, self._seen = {}, bytearray(SEEN_BITS + 1)
        for (key,) in self.connection.stream("SELECT key FROM token"):
            self._seen[key & SEEN_BITS] = 1

    def _check_base(self) -> None:
        """TryAgainError unless the base of an overlay is there, as it was."""
        if self._find_base and self.base_path:
            self.base = self._find_base(self)
            self.connection.shared = self.base.connection if self.base else None
        elif self.connection.attached:
            if self.connection.attached != self.base_path:
                raise replaced_error(self.base_path)
            if state_digest(self.connection, "below") != self.base_digest:
                from nbspam.store.overlay import changed_error  # few models are overlays

                raise changed_error(self.path, self.base_path)

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
        ((self.base_path, self.base_digest, *_),) = rows.get("base", [("", 0)])
        if type(self.base_path) is not str or type(self.base_digest) is not int:
            raise TypeError("the name of its base is not a path")
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
        for counts in (self.messages, self.words, *self.documents, *self.occurrences):
            if any(type(count) is not int or not 0 <= count <= MAX_COUNT for count in counts):
                raise ValueError("a count of messages or tokens is impossible")

    def refresh(self) -> bool:
        """Read the file again if another program has changed it since; True if it was read.

        Within OneState, later reads are of the same state.
        """
        with OneState(self.connection):
            if self.connection.ask(DATA_VERSION) == self._version:
                self._check_base()
                return False
            check_schema(self.path, self.connection)
            self.read()
        return True

    def is_at(self, path: str) -> bool:
        """True unless another file is at the path by now; ask before a message is counted for it."""
        if self.base and not self.base.is_at(self.base_path):
            return False
        if self.base_file and file_identity(self.base_path) not in (self.base_file, None):
            return False
        return file_identity(path) in (self.connection.file, None)

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """key -> (documents_0, occurrences_0, documents_1, ...) for the keys that the model knows."""
        columns = ", ".join(count_columns(len(self.classes)))
        if self.known is not None:
            known, seen = self.known, self._seen
            found = {key: before for key in keys if (before := known.get(key))}
            asked = [key for key in keys if key not in found and seen[key & SEEN_BITS]]
            new = find_columns(self.connection, columns, asked)
            if len(known) + len(new) > MAX_KNOWN:
                known.clear()
            known |= new
            return found | new
        if self.base is None:
            return find_columns(self.connection, columns, keys)
        own = find_rows(self.connection, f"SELECT key, {columns} FROM main.token WHERE key", keys)
        found = self.base.counts(keys)
        sums = {}
        try:
            for key, *counts in own:
                sums[key] = tuple(map(int.__add__, found[key], counts) if key in found else counts)
        except TypeError:
            raise _odd_count(self.path) from None
        found |= check_counts(self.path, sums)
        for key, total in sums.items():
            if not any(total):
                del found[key]
        return found

    def stream_documents(self) -> Iterator[tuple[list[int], list[int]]]:
        """Keys of some tokens, and documents_0, documents_1, ... of each in turn; ascending by key.

        Not of an overlay whose base others share.
        """
        names = [f"documents_{k}" for k in range(len(self.classes))]
        rows = self.connection.stream(f"SELECT key, {', '.join(names)} FROM token ORDER BY key")
        while some := [*islice(rows, _ROWS_AT_ONCE)]:
            documents = [*chain.from_iterable(some)]
            keys = documents[:: 1 + len(names)]
            del documents[:: 1 + len(names)]
            _check_numbers(self.path, documents)
            yield keys, documents

    def histogram(self, kind: str) -> list[dict[int, int]]:
        """By class, count -> how many tokens that a textbook knows have it; all tokens are read.

        kind : `documents`: n_jk, or `complement`: occurrences outside the class
        """
        if self.base is not None:
            with open_model(self.path) as model:
                return model.histogram(kind)
        numbers, found = range(len(self.classes)), []
        words = f"FROM token WHERE view NOT IN {NO_TEXTBOOK_VIEWS}"
        for k in numbers:
            count = f"documents_{k}"
            if kind == "complement":
                count = " + ".join([f"occurrences_{i}" for i in numbers if i != k]) or "0"
            query = f"SELECT {count} AS n, count(*) {words} GROUP BY n"
            rows = read_bounded(self.connection, query, MAX_TABLE_BYTES)
            if any(type(n) is not int or n < 0 for n, _ in rows):
                raise _odd_count(self.path)
            found.append(dict(rows))
        return found

    def calibration(self) -> list[float]:
        """The weights of the calibration in order; empty when the model was trained without one."""
        return self._weights

    def covariance(self) -> list[list[float]]:
        """The covariance of these weights; empty where none is kept."""
        rows = self.connection.ask("SELECT value FROM calibration_covariance LIMIT 2")
        if len(rows) > 1:
            raise DamagedModelError(self.path, "calibration_covariance is not a matrix: it has several rows")
        if not rows:
            return []
        from nbspam.store.covariance import unpack_covariance  # `classify` needs none

        return unpack_covariance(rows[0][0], len(self._weights), self.path)

    def numeric_features(self) -> list[tuple[str, list[float]]]:
        """(name, inner bin edges) of each numeric feature; empty when only words are counted."""
        rows = read_bounded(self.connection, "SELECT name, edges FROM numeric_feature ORDER BY number")
        try:
            return [(name, [float(edge) for edge in edges.split()]) for name, edges in rows]
        except (ValueError, AttributeError):
            raise DamagedModelError(self.path, "the edges of a numeric feature are not numbers") from None

    def numeric_counts(self, with_pairs: bool = True) -> dict[tuple[str, int, int], list[int]]:
        """(kind, class, place) -> integers, see numeric_count in schema.sql.  Rows of zeros are missing."""
        which = "" if with_pairs else "WHERE kind != 'pair'"
        query = f"SELECT kind, class, place, value FROM numeric_count {which}"
        found = read_bounded(self.connection, query, MAX_TABLE_BYTES)
        try:
            return {tuple(cell): list(map(int, value.split())) for *cell, value in found}
        except (ValueError, AttributeError):
            raise DamagedModelError(self.path, "a row of numeric_count is not of integers") from None

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_model(path: str, snapshot: bool = False, find_base: FindBase | None = None) -> Model:
    """Open a model for reading.  Raises a child of NbspamError that says what is wrong with the file.

    snapshot : read one state of the file until it is closed; a writer waits with its commit
    find_base : see Model
    """
    check_file(path)
    try:
        model = retry_after_rollback(path, lambda: _open(path, snapshot, find_base))
    except sqlite3.Error as error:
        raise store_error(path, error) from None
    model.connection.is_open = True
    return model


def _open(path: str, snapshot: bool, find_base: FindBase | None) -> Model:
    found = file_identity(path)  # first, so that a file that replaces it now is seen to be another
    connection = connect(path, "ro", BUSY_SECONDS)
    connection.file = found
    try:
        if snapshot:
            connection.execute("BEGIN")
        with OneState(connection):
            model = Model(path, connection, find_base)
        if model.base_path and find_base is None:
            attach_base(model)  # not in OneState, which takes back what is made in it
        return model
    except (sqlite3.Error, NbspamError):
        connection.close()
        raise


def attach_base(model: Model, path: str | None = None) -> None:
    """Let the queries of an overlay read the sum; TryAgainError without the base that it names.

    path : of a base that is attached in any case; empty for what is now at the path of that
    """
    from nbspam.store.overlay import attach, missing_error

    base = path or model.base_path
    model.base_file = file_identity(base)
    try:
        attach(model.connection, base, count_columns(len(model.classes)), check_schema)
    except (sqlite3.Error, NbspamError) as error:
        raise missing_error(model.path, base, error) from None
    if path is None:
        with OneState(model.connection):
            model.read()


def schema(n_classes: int, is_overlay: bool = False) -> list[str]:
    """The statements of schema.sql for K classes, one line each, without comments."""
    with open(os.path.join(os.path.dirname(__file__), "schema.sql"), encoding="utf-8") as file:
        text = " ".join([line.partition("--")[0] for line in file])
    statements = [" ".join(statement.split()) for statement in text.split(";")[:-1]]
    counts = "".join([f", {name} INTEGER NOT NULL DEFAULT 0" for name in count_columns(n_classes)])
    token = [statement.startswith("CREATE TABLE token ") for statement in statements].index(True)
    statements[token] = statements[token].removesuffix(" )") + counts + " )"
    return [one for one in statements if is_overlay or one.split(" ", 3)[2] not in OVERLAY_TABLES]


def check_schema(path: str, connection: Connection, where: str = "main") -> None:
    """DamagedModelError unless the file has the tables and columns of schema.sql, and nothing else.

    where : SQLite's name of the file; a base is no overlay
    """
    calls = iter((False,))  # SQLite counts the steps of earlier runs of a query, too: the first call is early
    connection.set_progress_handler(lambda: next(calls, True), MAX_SCHEMA_STEPS)
    try:
        query = f"SELECT type, name, tbl_name, sql FROM {where}.sqlite_master WHERE sql NOT NULL LIMIT 99"
        found = connection.ask(query)
    except UnicodeDecodeError:  # an error of SQLite quotes a schema
        found = []
    finally:
        connection.set_progress_handler(None, 0)
    is_overlay = where == "main" and "base" in [name for _, name, _, _ in found]
    n_classes = [sql.count(" occurrences_") for _, name, _, sql in found if name == "token"]
    if n_classes and n_classes[0] <= MAX_CLASSES:
        shape = n_classes[0], is_overlay
        if shape not in _SCHEMAS:
            statements = schema(*shape)
            names = [statement.split(" ", 3)[2] for statement in statements]
            _SCHEMAS[shape] = {*zip(["table"] * len(names), names, names, statements, strict=True)}
        if {*found} == _SCHEMAS[shape]:
            connection.is_overlay = connection.is_overlay or is_overlay
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
    queries = {**OPENING, "base": _OPENING_BASE} if connection.is_overlay else OPENING
    return {table: read_bounded(connection, query) for table, query in queries.items()}


def state_digest(connection: Connection, where: str = "main") -> int:
    """The digest of all digests of a model, 64 bits with a sign.  where : as for check_schema"""
    return hash_token(repr(connection.ask(f"SELECT name, value FROM {where}.digest ORDER BY name LIMIT 99")))


def opening_digest(rows: dict[str, list[Any]]) -> int:
    """The digest of what opening_rows returns, 64 bits with a sign."""
    return hash_token(repr(rows))


def count_columns(n_classes: int) -> list[str]:
    """The names of the count columns of `token`: documents_0, occurrences_0, documents_1, ..."""
    return [name for k in range(n_classes) for name in (f"documents_{k}", f"occurrences_{k}")]


def has_form_of(digest: str) -> str:
    """SQL: a column `digest` is that of the same message, in whatever form.  digest : an expression"""
    form = (1 << FORM_BITS) - 1
    return f"digest BETWEEN {digest} & {~form} AND {digest} | {form}"


def find_rows(connection: Connection, query: str, keys: Sequence[int]) -> list[tuple[int, ...]]:
    """The rows of a query that ends in the name of a column, which is to be one of the keys."""
    found: list[tuple[int, ...]] = []
    with OneState(connection):
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            some = keys[start : start + _KEYS_PER_QUERY]
            if connection.attached:  # SQLite asks a view of a sum for single keys, not for a query's
                found += connection.ask(f"{query} IN ({','.join('?' * len(some))})", some)
            else:  # one text whatever the number of keys, so it is compiled once: 15 % of the time
                found += connection.ask(f"{query} IN (SELECT value FROM json_each(?))", (str(some),))
    return found


def find_columns(connection: Connection, columns: str, keys: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """key -> these columns of its token, for the keys that the model has; the columns are whole numbers."""
    rows = find_rows(connection, f"SELECT key, {columns} FROM token WHERE key", keys)
    return check_counts(connection.path, {row[0]: row[1:] for row in rows})


def check_counts(path: str, found: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """The same counts; DamagedModelError if one cannot be."""
    _check_numbers(path, [*chain.from_iterable(found.values())])
    return found


def _check_numbers(path: str, counts: list[int]) -> None:
    try:
        total = sum(counts)  # a float with a float among them, a TypeError with a text
        if type(total) is int and min(counts, default=0) >= 0 and max(counts, default=0) <= MAX_COUNT:
            return
    except TypeError:
        pass
    raise _odd_count(path)


def _odd_count(path: str) -> DamagedModelError:
    return DamagedModelError(path, "a token has a count that is not a whole number")
