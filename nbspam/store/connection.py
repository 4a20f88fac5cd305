"""How a model file is opened, for reading or writing, and what SQLite's errors mean.

`nbspam classify` starts once a mail, so this file uses the C module `_sqlite3`: the package `sqlite3` loads
datetime and collections, which take half of the time of a fresh `nbspam classify`.
"""

from __future__ import annotations

import os
import sys
import time

from nbspam.errors import (
    RETRAIN,
    BadDataError,
    DamagedModelError,
    InputOutputError,
    NbspamError,
    NoInputError,
    TryAgainError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3 as sqlite3
    from collections.abc import Generator, Sequence
    from types import ModuleType
    from typing import Any

APPLICATION_ID = 0x6E627370
FORMAT = 4  # 1 had no bigrams, 2 each word of a message once, 3 strongest words as evidence
BUSY_SECONDS = 10.0  # how long a reader waits for a writer's lock
BESIDE = ("-journal", "-wal", "-shm")  # endings of the files that SQLite keeps next to a database
FIRST_PAUSE = 0.001  # seconds between two tries to write; doubled each time up to the longest
LONGEST_PAUSE = 0.05
HEAD_BYTES = 100
_MAGIC = b"SQLite format 3\x00"


def _load() -> ModuleType:
    """The module `_sqlite3`, or `sqlite3` in a build of Python where that does not work."""
    try:
        if "functools" not in sys.modules:
            _load_without_functools()
        import _sqlite3
    except (ImportError, AttributeError):
        import sqlite3

        return sqlite3
    return _sqlite3


def _load_without_functools() -> None:
    """Import `_sqlite3`, which asks functools for lru_cache only, with a stand-in for functools."""
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

    part = type(sys)("functools")
    part.lru_cache = lambda size: lambda call: _lru_cache_wrapper(call, size, False, tuple)  # type: ignore[attr-defined]
    sys.modules["functools"] = part
    try:
        import _sqlite3  # noqa: F401
    finally:
        del sys.modules["functools"]


if not TYPE_CHECKING:
    sqlite3 = _load()


class Connection(sqlite3.Connection):
    """A connection to a model file.

    path : for NbspamErrors; "" raises SQLite's own errors
    file : the identity of the file that is open to read
    """

    path = ""
    file: tuple[int, int] | None = None

    def ask(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """All rows of a query.  A damaged page shows only when a query reads it."""
        try:
            return self.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self.explained(error) from None

    def stream(self, query: str) -> Generator[tuple[Any, ...], None, None]:
        """The rows of a query, one after the other."""
        try:
            yield from self.execute(query)
        except sqlite3.Error as error:
            raise self.explained(error) from None

    def explained(self, error: sqlite3.Error) -> Exception:
        """What to raise for an error of SQLite.

        When another file has replaced this one, SQLite takes the journal of the new file's writer for the
        journal of this file.
        """
        if not self.path:
            return error
        if file_identity(self.path) in (self.file, None):
            return store_error(self.path, error)
        return replaced_error(self.path)


class OneState:
    """A context in which everything read is of one state of the file, even if another program writes."""

    __slots__ = ("_connection", "_is_outermost")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._is_outermost = False

    def __enter__(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN")
            self._is_outermost = True

    def __exit__(self, *error: object) -> None:
        if self._is_outermost and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")  # nothing was written; COMMIT would fail on a damaged page


def open_to_read(path: str) -> Connection:
    """A read-only connection to a file that check_file accepts; sqlite3.Error if it cannot be opened."""
    found = file_identity(path)  # first, so that a file that replaces it now is seen to be another
    connection = _connect(uri(path, "ro"), BUSY_SECONDS)
    connection.execute("PRAGMA mmap_size = 268435456")
    connection.file = found
    return connection


def open_to_write(path: str, seconds: float) -> Connection:
    """A connection in a transaction that is the only writer to the file now at `path`.

    seconds : how long to wait for other writers, as the sum of the pauses; then sqlite3.OperationalError

    A busy file is closed and opened again, never kept open: SQLite knows a journal only by the file's name.
    If the model is replaced while we wait, and a third program writes to the new file, SQLite would take that
    program's journal for a killed program's, play it back into the old file and delete it.
    """
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        connection = _try_to_write(path, is_last=waited >= seconds)
        if connection:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")  # for readers, at the commit
            return connection
        time.sleep(pause)
        waited += pause
        pause = min(2 * pause, LONGEST_PAUSE)


def _try_to_write(path: str, is_last: bool) -> Connection | None:
    """None if another program writes to the file or has just replaced it; an error in the last try."""
    found = file_identity(path)
    connection = _connect(uri(path, "rw"), 0)
    try:
        # A cache that overflows is written to the file at once, and nobody could read until the commit.
        connection.execute("PRAGMA cache_spill = OFF")
        connection.execute("BEGIN IMMEDIATE")
        if file_identity(path) == found:
            return connection
        if is_last:
            raise sqlite3.OperationalError("database is locked: replaced again and again")
    except sqlite3.Error as error:
        connection.close()
        if is_last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return None
    connection.close()
    return None


def roll_back(path: str) -> None:
    """Roll back the journal of a killed writer, which a read-only connection cannot do."""
    connection = _connect(uri(path, "rw"), BUSY_SECONDS)
    try:
        connection.execute("SELECT count(*) FROM class").fetchone()
    finally:
        connection.close()


def open_new(path: str) -> Connection:
    """A connection to an empty file that nobody else sees yet.

    It needs no journal: after a crash nobody needs the file.
    """
    connection = _connect(uri(path, "rw"), 0)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    return connection


def _connect(address: str, seconds: float) -> Connection:
    connection: Connection = sqlite3.connect(
        address, uri=True, timeout=seconds, isolation_level=None, factory=Connection
    )
    return connection


def uri(path: str, mode: str) -> str:
    """The address of a file for SQLite.  mode : ro or rw; neither makes a missing file"""
    path = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    if path.startswith("//"):  # what follows would be a host
        path = "//" + path
    return f"file:{path}?mode={mode}"


def file_identity(path: str) -> tuple[int, int] | None:
    """Device and number of the file at `path`; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def journal_of(path: str) -> str:
    """The place of the journal: next to the file that a link leads to."""
    return os.path.realpath(path) + "-journal"


def check_file(path: str) -> None:
    """Raise what is wrong with a file that is no model of this format, by its first bytes and its size."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            size, head = os.fstat(handle).st_size, os.read(handle, HEAD_BYTES)
        finally:
            os.close(handle)
    except FileNotFoundError:
        remedy = "train one: nbspam train SOURCE, or name it: `model=PATH`"
        raise NoInputError(path, "there is no model here", remedy, "model-missing") from None
    except OSError as error:
        why = f"the model cannot be read: {error.strerror}"
        raise NoInputError(
            path, why, "name a file that you may read: `model=PATH`", "model-unreadable"
        ) from None
    _check_head(path, head, size)


def _check_head(path: str, head: bytes, size: int) -> None:
    other = "name another file: `model=PATH`"
    if not head:
        raise BadDataError(path, "the model file is empty", RETRAIN, "model-empty")
    if not head.startswith(_MAGIC):
        raise BadDataError(path, "this is not a model of nbspam", other, "model-foreign")
    if len(head) < HEAD_BYTES:
        raise BadDataError(path, "the model file is cut short", RETRAIN, "model-truncated")
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise BadDataError(path, "this is another program's database", other, "model-foreign")
    found = int.from_bytes(head[60:64], "big")
    check_format(path, found, "upgrade nbspam, or " + RETRAIN if found > FORMAT else RETRAIN)
    page_size = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big")
    if size < pages * (65536 if page_size == 1 else page_size) and not os.path.exists(journal_of(path)):
        raise BadDataError(path, "the model file is cut short", RETRAIN, "model-truncated")


def check_format(where: str, found: int, remedy: str) -> None:
    """BadDataError if a model is of another format than this program reads."""
    if found != FORMAT:
        age = "newer" if found > FORMAT else "older"
        why = f"format {found} is {age} than this program reads ({FORMAT})"
        raise BadDataError(where, why, remedy, f"model-format-{age}")


def is_foreign(path: str) -> bool:
    """True for a file that is certainly no model: not a damaged, empty or missing one."""
    try:
        check_file(path)
    except NbspamError as error:
        return error.slug == "model-foreign"
    return False


def replaced_error(path: str) -> NbspamError:
    """The error for a model that another file has replaced."""
    return TryAgainError(path, "was replaced by another program", "try again in a moment", "model-changed")


def store_error(path: str, error: sqlite3.Error) -> NbspamError:
    """The NbspamError for an error of SQLite."""
    text = str(error)
    if "locked" in text or "busy" in text:
        why = "another program is writing the model"
        return TryAgainError(path, why, "try again in a moment", "model-busy")
    if "full" in text:
        remedy = "free some space" + ("; the old model is intact" if os.path.exists(path) else "")
        return InputOutputError(path, "no space left for the model", remedy, "no-space")
    if "readonly" in text or "unable to open" in text:
        remedy = "check the permissions of file and folder"
        return InputOutputError(path, "the model cannot be written", remedy, "model-readonly")
    if "disk I/O" in text:
        return InputOutputError(path, "reading or writing the model failed", "check the disk", "model-io")
    return DamagedModelError(path, text)
