"""The writers of a model take turns, in the order in which they come.

SQLite lets in one writer at a time, but any of those that wait, and some wait for seconds.  So a writer first
draws a ticket: a lock on one byte of the empty file MODEL-lock, a higher byte the later it comes.  Its turn
comes when no lower byte has a lock.  Whatever ends a program, the kernel takes its locks away.

Turns are for fairness alone.  A writer that can draw no ticket (the file is another user's, the folder is
read-only, the file system has no locks) waits for SQLite's lock as if it had its turn.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time

from nbspam.errors import DamagedModelError
from nbspam.files import set_lock
from nbspam.store.connection import LOCK, Connection, busy_error, connect, file_identity, sqlite3

PATIENCE_SECONDS = 60.0  # how long a writer waits
PAUSE_SECONDS = 0.002  # between two looks
BEGIN = (
    # A cache that overflows is written at once, and nobody could read until the commit.
    "PRAGMA cache_spill = OFF",
    # The removal of the journal is on the disk, too: else a power loss would undo the change.
    "PRAGMA synchronous = EXTRA",
    "BEGIN IMMEDIATE",
)


class Turn:
    """The turn of a writer to the model at `path`: a context that waits for it, and ends it.

    seconds : how long to wait, for the turn and then for SQLite's lock; then TryAgainError
    """

    __slots__ = ("_byte", "_deadline", "_file", "_path")

    def __init__(self, path: str, seconds: float) -> None:
        self._path = path
        self._deadline = time.monotonic() + seconds
        self._file: int | None = None
        self._byte = 0  # of the ticket; 0 before it is drawn

    def __enter__(self) -> Turn:
        self._file = _open_tickets(os.path.realpath(self._path) + LOCK)
        try:
            while not self._has_come():
                self.pause()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            set_lock(file, fcntl.LOCK_UN, 0, 0)  # a process that was forked meanwhile has the file open, too
            os.close(file)

    def pause(self) -> None:
        """Wait a moment; TryAgainError when the time is up."""
        if time.monotonic() >= self._deadline:
            raise busy_error(self._path)
        time.sleep(PAUSE_SECONDS)

    def _has_come(self) -> bool:
        if self._file is None:
            return True
        if not self._byte:
            now = time.monotonic_ns()
            if set_lock(self._file, fcntl.LOCK_EX, now, 1) is False:
                return False  # between our look at the clock and this line, a later ticket had its turn
            self._byte = now
        return set_lock(self._file, fcntl.LOCK_SH, 0, self._byte) is not False

    def open(self) -> Connection:
        """A connection in a transaction that is the only writer to the file now at the path.

        A busy file is closed and opened again, never kept open: SQLite knows a journal only by the file's
        name.  If the model is replaced while we wait, and a third program writes to the new file, SQLite
        would take that program's journal for a killed one's, play it back into the old file and delete it.
        """
        while True:
            connection = connect(self._path, "rw", 0)
            try:
                if self._begin(connection):
                    return connection
                connection.close()
            except sqlite3.Error as error:
                connection.close()
                if "locked" not in str(error):
                    raise
            except UnicodeDecodeError:  # an error of SQLite quotes a schema
                connection.close()
                raise DamagedModelError(self._path, "the schema is not UTF-8") from None
            self.pause()

    def _begin(self, connection: Connection) -> bool:
        """Begin to write; False if another file is at the path.  Each statement may play a journal back."""
        for statement in BEGIN:
            if file_identity(self._path) != connection.file:
                return False
            connection.execute(statement)
        return file_identity(self._path) == connection.file


def _open_tickets(path: str) -> int | None:
    """The file of the tickets; None if it cannot be opened, or is not a file of this user."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o600)
    except OSError:
        return None
    status = os.fstat(file)
    if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
        return file
    os.close(file)
    return None
