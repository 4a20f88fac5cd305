"""A model file, open for reading: the queries of `nbspam classify`."""

from __future__ import annotations

import os
from math import isfinite

from nbspam.errors import DamagedModelError
from nbspam.store.connection import (
    BUSY_SECONDS,
    Connection,
    OneState,
    check_file,
    connect,
    file_identity,
    journal_of,
    open_to_read,
    sqlite3,
    store_error,
)
from nbspam.tokens.bag import N_VIEWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_KEYS_PER_QUERY = 800  # a typical message has fewer


class Model:
    """The content of a model file, read on demand; a context that closes it.

    classes  : names in class order
    messages : m_k by class, without those of a prior model
    settings : str -> str
    words    : number of tokens by view, see VIEW_NAMES
    documents, occurrences : totals[view][class]
    file     : identity of the file that is open; None in a transaction that writes
    """

    def __init__(self, path: str, connection: Connection) -> None:
        self.path = path
        self.connection = connection
        self.file: tuple[int, int] | None = connection.file
        self._version = -1  # unknown: a single message does not need it
        self._read()

    def _read(self) -> None:
        ask = self.connection.ask
        classes = ask("SELECT name, messages FROM class ORDER BY number")
        self.classes = tuple(name for name, _ in classes)
        self.messages = [messages for _, messages in classes]
        self.settings: dict[str, str] = dict(ask("SELECT name, value FROM setting"))
        self.words = [0] * N_VIEWS
        self.documents = [[0] * len(classes) for _ in range(N_VIEWS)]
        self.occurrences = [[0] * len(classes) for _ in range(N_VIEWS)]
        for view, words in ask("SELECT number, words FROM view"):
            self.words[view] = words
        query = "SELECT view, class, documents, occurrences FROM view_total"
        for view, number, documents, occurrences in ask(query):
            self.documents[view][number] = documents
            self.occurrences[view][number] = occurrences
        for counts in (self.messages, self.words, *self.documents, *self.occurrences):
            if any(type(count) is not int or count < 0 for count in counts):
                raise DamagedModelError(self.path, "messages or tokens are counted that cannot be so many")

    def refresh(self) -> bool:
        """Read the file again if another program has changed it since; True if it was read.

        The first call always reads.  Within OneState, later reads are of the same state.
        """
        with OneState(self.connection):
            version = self.connection.ask("PRAGMA data_version")[0][0]
            if version == self._version:
                return False
            self._read()
            self._version = version
        return True

    def replaced(self) -> bool:
        """True if the path leads to another file by now; False if it leads to none."""
        return file_identity(self.path) not in (self.file, None)

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """key -> (documents_0, occurrences_0, documents_1, ...) for the keys that the model knows."""
        columns = ", ".join(count_columns(len(self.classes)))
        return token_columns(self.connection, columns, keys)

    def histogram(self, kind: str) -> list[dict[int, int]]:
        """By class, count -> how many tokens have it; kind is 'documents' or 'complement'."""
        by_class: list[dict[int, int]] = [{} for _ in self.classes]
        query = "SELECT class, count, words FROM histogram WHERE kind = ?"
        for number, count, words in self.connection.ask(query, (kind,)):
            by_class[number][count] = words
        return by_class

    def calibration(self) -> list[float]:
        """The weights of the calibration in order; empty when the model was trained without one."""
        weights = [
            weight for (weight,) in self.connection.ask("SELECT weight FROM calibration ORDER BY number")
        ]
        if any(type(weight) is not float or not isfinite(weight) for weight in weights):
            raise DamagedModelError(self.path, "a weight of the calibration is no number")
        return weights

    def covariance(self) -> list[list[float]]:
        """The symmetric covariance of these weights; empty where none is kept."""
        cells = self.connection.ask("SELECT line, place, value FROM calibration_covariance")
        size = self.connection.ask("SELECT count(*) FROM calibration")[0][0] if cells else 0
        if any(not 0 <= place <= line < size for line, place, _ in cells):
            raise DamagedModelError(self.path, "calibration_covariance has more lines than there are weights")
        covariance = [[0.0] * size for _ in range(size)]
        for line, place, value in cells:
            covariance[line][place] = covariance[place][line] = value
        return covariance

    def numeric_features(self) -> list[tuple[str, list[float]]]:
        """(name, inner bin edges) of each numeric feature; empty when only words are counted."""
        rows = self.connection.ask("SELECT name, edges FROM numeric_feature ORDER BY number")
        return [(name, [float(edge) for edge in edges.split()]) for name, edges in rows]

    def numeric_counts(self, kind: str, places: list[int] | None = None) -> dict[tuple[int, int], list[int]]:
        """(class, place) -> integers; kind is 'moment', 'bin' or 'pair'.  Rows of zeros are missing."""
        query = "SELECT class, place, value FROM numeric_count WHERE kind = ?"
        if places is not None:
            query += f" AND place IN ({','.join(map(str, places))})"
        found = self.connection.ask(query, (kind,))
        try:
            return {(number, place): list(map(int, value.split())) for number, place, value in found}
        except (ValueError, AttributeError):
            raise DamagedModelError(self.path, "a row of numeric_count is not of integers") from None

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_model(path: str, snapshot: bool = False) -> Model:
    """Open a model for reading.  Raises a child of NbspamError that says what is wrong with the file.

    snapshot : read one state of the file until it is closed; a writer waits with its commit
    """
    check_file(path)
    try:
        try:
            model = _open(path, snapshot)
        except sqlite3.OperationalError:
            if not os.path.exists(journal_of(path)):
                raise
            # A read-only connection cannot roll back the journal of a killed writer.
            connection = connect(path, "rw", BUSY_SECONDS)
            connection.ask("SELECT count(*) FROM class")
            connection.close()
            model = _open(path, snapshot)
    except sqlite3.Error as error:
        raise store_error(path, error) from None
    except (LookupError, TypeError, ValueError) as error:  # rows that no writer of ours wrote
        raise DamagedModelError(path, type(error).__name__) from None
    model.connection.path = path
    return model


def _open(path: str, snapshot: bool) -> Model:
    connection = open_to_read(path)
    if snapshot:
        connection.execute("BEGIN")
    with OneState(connection):
        return Model(path, connection)


def count_columns(n_classes: int) -> list[str]:
    """The names of the count columns of `token`: documents_0, occurrences_0, documents_1, ..."""
    return [name for k in range(n_classes) for name in (f"documents_{k}", f"occurrences_{k}")]


def rows_of_keys(connection: Connection, query: str, keys: Sequence[int]) -> list[tuple[int, ...]]:
    """The rows of a query that ends in the name of a column, which is to be one of the keys."""
    found: list[tuple[int, ...]] = []
    with OneState(connection):
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            some = ",".join(map(str, sorted(keys[start : start + _KEYS_PER_QUERY])))  # pages in order
            found += connection.ask(f"{query} IN ({some})")
    return found


def token_columns(connection: Connection, columns: str, keys: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """key -> these columns of its token, for the keys that the model has."""
    rows = rows_of_keys(connection, f"SELECT key, {columns} FROM token WHERE key", keys)
    return {row[0]: row[1:] for row in rows}
