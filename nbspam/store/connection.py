"""How a model file is opened, for reading or writing, and what SQLite's errors mean.

`nbspam classify` starts once a mail, so this file uses the C module `_sqlite3`: the package `sqlite3` also
loads datetime.
"""

from __future__ import annotations

import os

from nbspam.errors import (
    RETRAIN,
    BadDataError,
    CannotCreateError,
    DamagedModelError,
    ForeignFileError,
    InputOutputError,
    NbspamError,
    NoInputError,
    NoModelError,
    TryAgainError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3 as sqlite3
    from collections.abc import Generator, Sequence
    from typing import Any
else:
    import _sqlite3 as sqlite3

APPLICATION_ID = 0x6E627370
FORMAT = 10
BUSY_SECONDS = 10.0  # how long a reader waits for a writer's commit, and a commit for readers
LOCK = "-lock"  # ending of the file of store/turns.py
BESIDE = ("-journal", "-wal", "-shm", LOCK)  # endings of what SQLite and we keep next to a model
CACHED_STATEMENTS = 8  # a query for the tokens of a message has a text for each number of them
HEAD_BYTES = 100
# Bounds on the file of somebody else.  No setting, text or list of tokens of ours is longer.
MAX_VALUE_BYTES = 4 << 20
MAX_SCHEMA_STEPS = 20_000  # of SQLite's virtual machine, to read the schema; ours takes a few hundred
_MAGIC = b"SQLite format 3\x00"
_OTHER = "name another file: `model=PATH`"
_AGAIN = "try again in a moment"
_BUSY = "another program is writing the model"
_PERMISSIONS = "check the permissions of file and folder"
_FREE = "free some space; a model that was there is intact"


class Connection(sqlite3.Connection):
    """A connection to a model file.

    file : identity of the file that is open
    """

    path = ""
    file: tuple[int, int] | None = None

    def ask(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """All rows of a query."""
        return list(self.stream(query, values))

    def stream(self, query: str, values: Sequence[object] = ()) -> Generator[tuple[Any, ...], None, None]:
        """The rows of a query, one after the other.  A damaged page shows only when it is read."""
        try:
            for row in self.execute(query, values):  # noqa: UP028 - it would close the cursor of a closed file
                yield row
        except sqlite3.Error as error:
            # If another file has replaced this one, SQLite takes the journal of its writer for this file's.
            if file_identity(self.path) in (self.file, None):
                raise store_error(self.path, error) from None
            raise replaced_error(self.path) from None


def connect(path: str, mode: str, seconds: float) -> Connection:
    """A connection to a file.  mode : ro or rw; neither makes a missing file"""
    file = file_identity(path)  # first, so that a file that replaces it now is seen to be another
    connection: Connection = sqlite3.connect(
        file_uri(path, mode),
        uri=True,
        timeout=seconds,
        isolation_level=None,
        factory=Connection,
        cached_statements=CACHED_STATEMENTS,
    )
    connection.path, connection.file = path, file
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def roll_back(path: str, seconds: float) -> None:
    """Roll back what a killed writer has left half done; a read-only connection cannot do that."""
    connection = connect(path, "rw", seconds)
    try:
        connection.ask("SELECT count(*) FROM sqlite_master")
    finally:
        connection.close()


def file_uri(path: str, mode: str) -> str:
    """The URI of a file for SQLite.  mode : as for connect"""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    host = "//" if path.startswith("/") else ""  # of no name; a path that begins with // would have one
    return f"file:{host}{name}?mode={mode}"


def file_identity(path: str) -> tuple[int, int] | None:
    """Device and number of the file at `path`; None without a file."""
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
        raise NoModelError(path, "there is no model here", remedy, "model-missing") from None
    except OSError as error:
        why, remedy = f"the model cannot be read: {error.strerror}", _OTHER
        raise NoInputError(path, why, remedy, "model-unreadable") from None
    if not head:
        raise BadDataError(path, "the model file is empty", RETRAIN, "model-empty")
    application = int.from_bytes(head[68:72], "big")
    if not head.startswith(_MAGIC) or (len(head) == HEAD_BYTES and application != APPLICATION_ID):
        raise ForeignFileError(path, "this is not a model of nbspam", _OTHER, "model-foreign")
    if len(head) == HEAD_BYTES:
        check_format(path, int.from_bytes(head[60:64], "big"))
        page_size, pages = int.from_bytes(head[16:18], "big"), int.from_bytes(head[28:32], "big")
        if size >= pages * (65536 if page_size == 1 else page_size) or os.path.exists(journal_of(path)):
            return
    raise BadDataError(path, "the model file is cut short", RETRAIN, "model-truncated")


def check_format(where: str, found: int, ours: int = FORMAT) -> None:
    """BadDataError if a model is of another format than this program reads."""
    if found != ours:
        is_newer = found > ours
        age = "newer" if is_newer else "older"
        why = f"format {found} is {age} than this program reads ({ours})"
        remedy = (
            f"upgrade nbspam, or {RETRAIN}"
            if is_newer
            else f"{RETRAIN}, or keep its lessons: docs/model-file.md"
        )
        raise BadDataError(where, why, remedy, f"model-format-{age}")


def refuse_foreign(path: str) -> None:
    """Raise before a file is overwritten that is certainly no model: not a damaged, empty or missing one."""
    if not os.path.isfile(path):
        return
    try:
        check_file(path)
    except ForeignFileError as error:
        why = "there is a file that is not a model, and it is not overwritten"
        remedy = "choose another place, or remove the file"
        raise CannotCreateError(path, why, remedy, error.slug) from None
    except NbspamError:
        return


def replaced_error(path: str) -> NbspamError:
    """The error for a model that another file has replaced."""
    return TryAgainError(path, "was replaced by another program", _AGAIN, "model-changed")


def busy_error(path: str) -> NbspamError:
    """The error for a model that others have been writing all the time."""
    return TryAgainError(path, _BUSY, _AGAIN, "model-busy")


# Words in an error of SQLite, and what it means.
_ERRORS = (
    (("locked", "busy"), TryAgainError, _BUSY, _AGAIN, "model-busy"),
    (("full",), InputOutputError, "no space left for the model", _FREE, "no-space"),
    (("readonly", "unable to open"), InputOutputError, "is not writable", _PERMISSIONS, "model-readonly"),
    (("disk I/O",), InputOutputError, "reading or writing the model failed", "check the disk", "model-io"),
)


def store_error(path: str, error: sqlite3.Error) -> NbspamError:
    """The NbspamError for an error of SQLite."""
    text = str(error)
    for words, kind, why, remedy, slug in _ERRORS:
        if any(word in text for word in words):
            return kind(path, why, remedy, slug)
    return DamagedModelError(path, text)
