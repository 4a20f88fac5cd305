"""A model file, open for reading.

Hides the queries that a fresh `nbspam classify` makes, and how a file that is not a sound
model is told from one that is: by its first hundred bytes, before SQLite sees it.
"""

from __future__ import annotations

import os
from math import isfinite

from nbspam.errors import (
    RETRAIN,
    BadDataError,
    DamagedModelError,
    InputOutputError,
    NbspamError,
    NoInputError,
    TryAgainError,
)
from nbspam.store.reading import ReadingConnection, sqlite3
from nbspam.tokens.bag import N_VIEWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

APPLICATION_ID = 0x6E627370
FORMAT = 4  # 1 had no bigrams, 2 each word of a message once, 3 strongest words as evidence
BUSY_SECONDS = 10.0  # how long a reader waits for a writer's lock
BESIDE = ("-journal", "-wal", "-shm")  # how the names end of what SQLite looks for beside a file
_MAGIC = b"SQLite format 3\x00"
_ASK_AT_ONCE = 800  # keys in one query; a typical message has fewer


class Model:
    """What a model file holds, read on demand.

    classes  : names in class order
    messages : m_k by class
    settings : str -> str
    words    : number of tokens by view, see VIEW_NAMES
    documents, occurrences : totals[view][class]
    """

    __slots__ = (
        "_version",
        "classes",
        "connection",
        "documents",
        "file",
        "messages",
        "occurrences",
        "path",
        "settings",
        "words",
    )

    def __init__(
        self, path: str, connection: sqlite3.Connection, file: tuple[int, int] | None = None
    ) -> None:
        """file : the identity of what was opened, for `replaced`; None where that is not asked"""
        self.path = path
        self.connection = connection
        self.file = file
        self._version = -1  # unknown: a single message does without
        self._read()

    def _read(self) -> None:
        ask = self.connection.execute
        classes = ask("SELECT name, messages FROM class ORDER BY number").fetchall()
        self.classes = tuple(name for name, _ in classes)
        self.messages = [messages for _, messages in classes]
        self.settings: dict[str, str] = dict(ask("SELECT name, value FROM setting"))
        self.words = [0] * N_VIEWS
        self.documents = [[0] * len(classes) for _ in range(N_VIEWS)]
        self.occurrences = [[0] * len(classes) for _ in range(N_VIEWS)]
        for view, words in ask("SELECT number, words FROM view"):
            self.words[view] = words
        for view, number, documents, occurrences in ask(
            "SELECT view, class, documents, occurrences FROM view_total"
        ):
            self.documents[view][number] = documents
            self.occurrences[view][number] = occurrences
        for counts in (self.messages, self.words, *self.documents, *self.occurrences):
            if any(type(count) is not int or count < 0 for count in counts):
                raise DamagedModelError(self.path, "messages or tokens are counted that cannot be so many")

    def refresh(self) -> bool:
        """Reads the file anew if another program changed it since it was last read; whether it did.

        The first call always reads.  Within OneState, what is read later is of the same state.
        """
        with OneState(self.connection):
            version = self.connection.execute("PRAGMA data_version").fetchone()[0]
            if version == self._version:
                return False
            self._read()
            self._version = version
        return True

    def replaced(self) -> bool:
        """Whether the path leads to another file by now; if to none, the one that is open serves."""
        return file_identity(self.path) not in (self.file, None)

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """key -> (documents_0, occurrences_0, documents_1, ...) for the keys that the model knows."""
        columns = ", ".join(count_columns(len(self.classes)))
        return rows_of_keys(self.connection, columns, keys)

    def histogram(self, kind: str) -> list[dict[int, int]]:
        """By class, count -> how many tokens have it; kind is 'documents' or 'complement'."""
        by_class: list[dict[int, int]] = [{} for _ in self.classes]
        for number, count, words in self.connection.execute(
            "SELECT class, count, words FROM histogram WHERE kind = ?", (kind,)
        ):
            by_class[number][count] = words
        return by_class

    def calibration(self) -> list[float]:
        """The weights of the calibration in order; empty when the model was trained without one."""
        rows = self.connection.execute("SELECT weight FROM calibration ORDER BY number").fetchall()
        weights = [weight for (weight,) in rows]
        if any(type(weight) is not float or not isfinite(weight) for weight in weights):
            raise DamagedModelError(self.path, "a weight of the calibration is no number")
        return weights

    def covariance(self) -> list[list[float]]:
        """The symmetric covariance of these weights; empty where none is kept."""
        try:
            return read_covariance(self.connection)
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def numeric_features(self) -> list[tuple[str, list[float]]]:
        """(name, inner bin edges) of each numeric feature; empty when trained on words alone."""
        rows = self.connection.execute("SELECT name, edges FROM numeric_feature ORDER BY number")
        return [(name, [float(edge) for edge in edges.split()]) for name, edges in rows]

    def numeric_counts(self, kind: str, places: list[int] | None = None) -> dict[tuple[int, int], list[int]]:
        """(class, place) -> integers; kind is 'moment', 'bin' or 'pair'.  Rows of zeros are not there."""
        query = "SELECT class, place, value FROM numeric_count WHERE kind = ?"
        if places is not None:
            query += f" AND place IN ({','.join(map(str, places))})"
        found = self.connection.execute(query, (kind,))
        try:
            return {(number, place): read_integers(value) for number, place, value in found}
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def close(self) -> None:
        """Gives the file back."""
        self.connection.close()


def file_identity(path: str) -> tuple[int, int] | None:
    """Which file the path leads to."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class OneState:
    """A context in which all that is read is of one state of the file, whoever writes meanwhile."""

    __slots__ = ("_begun", "_connection")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._begun = False

    def __enter__(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN")
            self._begun = True

    def __exit__(self, *error: object) -> None:
        if self._begun and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")  # nothing was written; a COMMIT would fail on a damaged page


def count_columns(n_classes: int) -> list[str]:
    """The names of the count columns of `token`: documents_0, occurrences_0, documents_1, ..."""
    return [name for k in range(n_classes) for name in (f"documents_{k}", f"occurrences_{k}")]


def rows_of_keys(
    connection: sqlite3.Connection, columns: str, keys: Sequence[int]
) -> dict[int, tuple[int, ...]]:
    """key -> these columns of its token, for the keys that the model has."""
    found: list[tuple[int, ...]] = []
    with OneState(connection):
        for start in range(0, len(keys), _ASK_AT_ONCE):
            some = ",".join(map(str, sorted(keys[start : start + _ASK_AT_ONCE])))  # pages in order
            found += connection.execute(f"SELECT key, {columns} FROM token WHERE key IN ({some})").fetchall()
    return {row[0]: row[1:] for row in found}


def read_integers(text: str) -> list[int]:
    """The integers of a row of numeric_count."""
    try:
        return list(map(int, text.split()))
    except (ValueError, AttributeError):
        raise sqlite3.DatabaseError("a row of numeric_count is not of integers") from None


def read_covariance(connection: sqlite3.Connection) -> list[list[float]]:
    """See Model.covariance."""
    cells = connection.execute("SELECT line, place, value FROM calibration_covariance").fetchall()
    size = connection.execute("SELECT count(*) FROM calibration").fetchone()[0] if cells else 0
    if any(not 0 <= place <= line < size for line, place, _ in cells):
        raise sqlite3.DatabaseError("calibration_covariance has more lines than there are weights")
    covariance = [[0.0] * size for _ in range(size)]
    for line, place, value in cells:
        covariance[line][place] = covariance[place][line] = value
    return covariance


def open_model(path: str) -> Model:
    """Opens a model for reading.  Raises a child of NbspamError that says what is wrong with the file."""
    check_file(path)
    try:
        try:
            model = _read(path)
        except sqlite3.OperationalError:
            if not os.path.exists(journal_of(path)):
                raise
            _roll_back(path)
            model = _read(path)
    except sqlite3.Error as error:
        raise store_error(path, error) from None
    except (LookupError, TypeError, ValueError) as error:  # rows that no writer of ours wrote
        raise DamagedModelError(path, type(error).__name__)
    opened = model.file
    model.connection.told = lambda error: _told(path, opened, error)  # type: ignore[attr-defined]
    return model


def _told(path: str, opened: tuple[int, int] | None, error: sqlite3.Error) -> NbspamError:
    """What SQLite met later on, in the file that had the name `path` when it was opened.

    Where another has taken its place, SQLite takes the journal of who writes to that one for this one's.
    """
    if file_identity(path) in (opened, None):
        return store_error(path, error)
    return replaced_error(path)


def replaced_error(path: str) -> NbspamError:
    """What tells that another model has taken the place of the one that is read."""
    return TryAgainError(path, "was replaced by another program", "try again in a moment", "model-changed")


def _read(path: str) -> Model:
    """One state of the file, whoever writes meanwhile."""
    # Before it is opened: a file that takes its place between the two is then seen to be another.
    found = file_identity(path)
    connection = _connect(path)
    with OneState(connection):
        return Model(path, connection, found)


def journal_of(path: str) -> str:
    """Where who writes to the model keeps what it was before; beside the file that a link leads to."""
    return os.path.realpath(path) + "-journal"


def _roll_back(path: str) -> None:
    """Takes back what a killed writer left half done; a reader may not, and would fail for ever."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM class").fetchone()
    finally:
        connection.close()


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri(path, "ro"),
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        factory=ReadingConnection,
    )
    connection.execute("PRAGMA mmap_size = 268435456")
    return connection


def uri(path: str, mode: str) -> str:
    """How SQLite is asked to open a file.

    mode : ro or rw, which make no file where there is none
    """
    path = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    if path.startswith("//"):  # what is between it and the next slash would be a host
        path = "//" + path
    return f"file:{path}?mode={mode}"


def check_file(path: str) -> None:
    """Raises what is wrong with a file that is no sound model of this program and format."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        remedy = "train one: nbspam train SOURCE, or name it: --model PATH"
        raise NoInputError(path, "there is no model here", remedy, "model-missing") from None
    except OSError as error:
        raise NoInputError(
            path, f"the model cannot be read: {error.strerror}", "check its permissions", "model-unreadable"
        )
    try:
        size = os.fstat(handle).st_size
        head = os.read(handle, 100)
    except OSError as error:
        raise NoInputError(
            path,
            f"the model cannot be read: {error.strerror}",
            "name a file: --model PATH",
            "model-unreadable",
        )
    finally:
        os.close(handle)
    _check_head(path, head, size)


def is_foreign(path: str) -> bool:
    """Whether a file is known to be something else than a model: another's, not a damaged or an empty one."""
    try:
        check_file(path)
    except NbspamError as error:
        return error.slug == "model-foreign"
    return False


def check_format(where: str, found: int, remedy: str) -> None:
    """BadDataError if a model is of another format than this program reads."""
    if found != FORMAT:
        age = "newer" if found > FORMAT else "older"
        why = f"format {found} is {age} than this program reads ({FORMAT})"
        raise BadDataError(where, why, remedy, f"model-format-{age}")


def _check_head(path: str, head: bytes, size: int) -> None:
    if not head:
        raise BadDataError(path, "the model file is empty", RETRAIN, "model-empty")
    if not head.startswith(_MAGIC):
        raise BadDataError(
            path, "this is not a model of nbspam", "name another file: --model PATH", "model-foreign"
        )
    if len(head) < 100:
        raise BadDataError(path, "the model file is cut short", RETRAIN, "model-truncated")
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise BadDataError(
            path, "this is another program's database", "name another file: --model PATH", "model-foreign"
        )
    found = int.from_bytes(head[60:64], "big")
    check_format(path, found, "upgrade nbspam, or " + RETRAIN if found > FORMAT else RETRAIN)
    page_size = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big")
    if size < pages * (65536 if page_size == 1 else page_size) and not os.path.exists(journal_of(path)):
        raise BadDataError(path, "the model file is cut short", RETRAIN, "model-truncated")


def store_error(path: str, error: sqlite3.Error) -> NbspamError:
    """The NbspamError that tells what SQLite met."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return TryAgainError(
            path, "another program is writing the model", "try again in a moment", "model-busy"
        )
    if "full" in text:
        remedy = "free some space" + ("; the old model is intact" if os.path.exists(path) else "")
        return InputOutputError(path, "no space left for the model", remedy, "no-space")
    if "readonly" in text or "unable to open" in text:
        return InputOutputError(
            path, "the model cannot be written", "check the permissions of file and folder", "model-readonly"
        )
    if "disk I/O" in text:
        return InputOutputError(path, "reading or writing the model failed", "check the disk", "model-io")
    return DamagedModelError(path, text)
