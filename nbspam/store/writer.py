"""Makes a whole new model file.

Hides the layout of the tables and what makes filling them fast; the file is seen when it is whole.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from nbspam.errors import CannotCreateError, TryAgainError
from nbspam.files import NewFile
from nbspam.store.derived import recount
from nbspam.store.locking import locked
from nbspam.store.reader import APPLICATION_ID, BUSY_SECONDS, FORMAT, count_columns, journal_of, store_error

ROWS_AT_ONCE = 16  # of a statement that inserts many
MAX_VARIABLES = 30_000  # of one statement; SQLite's bound is 32,766
BATCH_ROWS = 4_096


class NewModel:
    """A model file under construction: a method a table, filled by the caller."""

    def __init__(self, connection: sqlite3.Connection, classes: tuple[str, ...], messages: list[int]) -> None:
        self.connection = connection
        self._n_classes = len(classes)
        connection.executemany(
            "INSERT INTO class VALUES (?, ?, ?)",
            [
                (number, name, count)
                for number, (name, count) in enumerate(zip(classes, messages, strict=True))
            ],
        )

    def settings(self, settings: dict[str, str]) -> None:
        """How to score, see `setting` in schema.sql."""
        write_settings(self.connection, settings)

    def views(self, names: Iterable[str], words: Iterable[int]) -> None:
        """Views in order with their number of tokens."""
        rows = [(number, name, count) for number, (name, count) in enumerate(zip(names, words, strict=True))]
        self.connection.executemany("INSERT INTO view VALUES (?, ?, ?)", rows)

    def recount(self) -> None:
        """Views, totals and histograms, worked out from the tokens that are there."""
        recount(self.connection)

    def view_totals(self, rows: Iterable[tuple[int, int, int, int]]) -> None:
        """(view, class, documents, occurrences)."""
        self.connection.executemany("INSERT INTO view_total VALUES (?, ?, ?, ?)", rows)

    def tokens(self, rows: Iterable[tuple[object, ...]]) -> None:
        """(key, view, text, documents_0, occurrences_0, documents_1, ...), ascending by key for speed."""
        stream = iter(rows)
        while batch := list(islice(stream, BATCH_ROWS)):
            self.token_columns(list(zip(*batch, strict=True)))

    def token_columns(self, columns: Sequence[Sequence[object]]) -> None:
        """What `tokens` takes, a sequence a column."""
        _insert_many(self.connection, "token", columns)

    def histogram(self, rows: Iterable[tuple[str, int, int, int]]) -> None:
        """(kind, class, count, words)."""
        self.connection.executemany("INSERT INTO histogram VALUES (?, ?, ?, ?)", rows)

    def calibration(
        self, features: list[tuple[str, int | None]], weights: list[float], covariance: list[list[float]]
    ) -> None:
        """Names, weights and covariance of the calibration."""
        write_calibration(self.connection, features, weights, covariance)

    def learned(self, rows: Iterable[tuple[int, int, int]]) -> None:
        """(digest, class, times)."""
        self.connection.executemany("INSERT INTO learned VALUES (?, ?, ?)", rows)

    def autolearned(self, rows: Iterable[tuple[int, int, bytes]]) -> None:
        """(digest, class, tokens), the oldest first."""
        self.connection.executemany("INSERT INTO autolearned (digest, class, tokens) VALUES (?, ?, ?)", rows)

    def numeric_features(self, features: Iterable[tuple[str, Sequence[float]]]) -> None:
        """Name and inner bin edges of each feature, in order."""
        rows = [(n, name, " ".join(map(repr, edges))) for n, (name, edges) in enumerate(features)]
        self.connection.executemany("INSERT INTO numeric_feature VALUES (?, ?, ?)", rows)

    def numeric_counts(self, counts: Iterable[tuple[str, int, int, Sequence[int]]]) -> None:
        """(kind, class, place, integers), see numeric_count in schema.sql; rows of zeros are left out."""
        rows = ((kind, k, place, " ".join(map(str, row))) for kind, k, place, row in counts if any(row))
        self.connection.executemany("INSERT INTO numeric_count VALUES (?, ?, ?, ?)", rows)

    def prior(self, messages: Iterable[int], tokens: Iterable[tuple[object, ...]]) -> None:
        """The counts of a prior model, after `tokens`; all sums are worked out anew.

        messages : by class;  tokens : (key, view, text, documents_0, occurrences_0, ...)
        """
        self.connection.executemany("INSERT INTO prior_class VALUES (?, ?)", enumerate(messages))
        columns = ["prior_" + column for column in count_columns(self._n_classes)]
        add_prior_columns(self.connection, columns)
        marks = ", ".join("?" * (3 + len(columns)))
        self.connection.executemany(
            f"INSERT INTO token (key, view, text, {', '.join(columns)}) VALUES ({marks}) "
            f"ON CONFLICT DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in columns)}",
            tokens,
        )
        self.recount()


def _insert_many(connection: sqlite3.Connection, table: str, columns: Sequence[Sequence[object]]) -> None:
    """Rows given by columns of one length, several a statement: two thirds of the time of one by one."""
    width, n_rows = len(columns), len(columns[0])
    row = f"({', '.join('?' * width)})"
    at_once = max(1, min(ROWS_AT_ONCE, MAX_VARIABLES // width))
    for first in range(0, n_rows, BATCH_ROWS):
        n = min(BATCH_ROWS, n_rows - first)
        values: list[object] = [None] * (n * width)
        for place, column in enumerate(columns):
            values[place::width] = column[first : first + n]
        whole = n // at_once * at_once * width
        for begin, end, rows in ((0, whole, at_once), (whole, n * width, 1)):
            size = rows * width
            statement = f"INSERT INTO {table} VALUES {', '.join([row] * rows)}"
            connection.executemany(statement, [values[i : i + size] for i in range(begin, end, size)])


def add_prior_columns(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Columns of `token` for the counts of a prior model."""
    for name in names:
        connection.execute(f"ALTER TABLE token ADD COLUMN {name} INTEGER NOT NULL DEFAULT 0")


def write_settings(connection: sqlite3.Connection, settings: dict[str, str]) -> None:
    """Replaces settings, or adds them."""
    connection.executemany("INSERT OR REPLACE INTO setting VALUES (?, ?)", settings.items())


def write_calibration(
    connection: sqlite3.Connection,
    features: list[tuple[str, int | None]],
    weights: list[float],
    covariance: list[list[float]],
) -> None:
    """Replaces the calibration."""
    connection.execute("DELETE FROM calibration")
    connection.execute("DELETE FROM calibration_covariance")
    rows = [
        (i, name, number, weight)
        for i, ((name, number), weight) in enumerate(zip(features, weights, strict=True))
    ]
    connection.executemany("INSERT INTO calibration VALUES (?, ?, ?, ?)", rows)
    cells = [(i, j, line[j]) for i, line in enumerate(covariance) for j in range(i + 1)]
    connection.executemany("INSERT INTO calibration_covariance VALUES (?, ?, ?)", cells)


@contextlib.contextmanager
def new_model(
    path: str, classes: tuple[str, ...], messages: list[int], replaces: bool = True
) -> Iterator[NewModel]:
    """A new file to be filled; on leaving the context it takes the name `path`, on an error it is gone.

    replaces : whether a model that is there then gives way; else that is an error
    """
    try:
        os.makedirs(os.path.dirname(os.path.realpath(path)), exist_ok=True)
        new = NewFile(path)
    except OSError as error:
        raise CannotCreateError(
            path, f"cannot be created: {error.strerror}", "choose another place for it", "model-create"
        )
    try:
        yield from _fill(new.path, classes, messages)
        if replaces:
            with without_journal(os.path.realpath(path)):
                new.keep()
        elif not kept_if_first(new, path):
            why = "there is a model by now, and it stays as it is"
            raise CannotCreateError(path, why, "to write over it: --replace", "model-exists")
    except sqlite3.Error as error:
        raise store_error(path, error) from None
    except OSError as error:
        raise CannotCreateError(
            path,
            f"cannot be written: {error.strerror}",
            "free some space or choose another place",
            "model-create",
        )
    finally:
        new.discard()


@contextlib.contextmanager
def without_journal(path: str) -> Iterator[None]:
    """The old model, kept from writers while a new one takes its place.

    What a killed writer left half done is taken back in the old file first, for SQLite would play any journal
    of this name back into the new one.  Once the new one is there, a journal is of who writes to it.
    """
    with contextlib.ExitStack() as stack:
        try:
            if os.path.exists(path):
                stack.enter_context(contextlib.closing(locked(path, BUSY_SECONDS)))
            else:
                remove_journal(path)
        except sqlite3.Error as error:
            if isinstance(store_error(path, error), TryAgainError):
                raise
            remove_journal(path)  # damaged, foreign, or not to be written to: it is replaced all the same
        yield


def kept_if_first(new: NewFile, path: str) -> bool:
    """Gives a model the name `path` unless another has it; whether it did."""
    target = os.path.realpath(path)
    if os.path.lexists(target):
        return False
    remove_journal(target)  # of a model that was taken away: SQLite would play it back
    return new.keep_if_first()


def remove_journal(path: str) -> None:
    """Takes away what a killed writer of a model left that is no longer there, or not to be kept."""
    with contextlib.suppress(OSError):
        os.unlink(journal_of(path))


def _fill(path: str, classes: tuple[str, ...], messages: list[int]) -> Iterator[NewModel]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # No journal: until the rename nobody sees this file, and after a crash nobody needs it.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("BEGIN")
        for statement in schema(len(classes)):
            connection.execute(statement)
        yield NewModel(connection, classes, messages)
        connection.execute("COMMIT")


def schema(n_classes: int) -> list[str]:
    """The statements of schema.sql for K classes."""
    with open(os.path.join(os.path.dirname(__file__), "schema.sql"), encoding="utf-8") as file:
        text = file.read()
    plain = "\n".join(line.partition("--")[0] for line in text.splitlines())
    counts = "".join(
        f",\n documents_{k} INTEGER NOT NULL DEFAULT 0, occurrences_{k} INTEGER NOT NULL DEFAULT 0"
        for k in range(n_classes)
    )
    statements = [statement.strip() for statement in plain.split(";") if statement.strip()]
    return [
        s[: s.rindex(")")] + counts + ")" if s.startswith("CREATE TABLE token ") else s for s in statements
    ]
