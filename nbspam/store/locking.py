"""The lock of who writes to a model file.

Hides how it is waited for.  SQLite knows a journal by the name of its file alone.  Who waits with the file
open while `train --replace` puts another in its place, and a third program begins to write to that one, takes
the third one's journal for that of a killed program: plays it back into the old file, and deletes it.  If the
third is killed then, its half of a change stays.  So a file that is busy is closed, and opened anew.

Mail is classified while a model is written to, by what it was; only the commit keeps readers out.  Until then
what is changed stays in memory: at most as much as the file is long.
"""

from __future__ import annotations

import sqlite3
import time

from nbspam.store.reader import file_identity, uri

FIRST_PAUSE = 0.001  # seconds, doubled each time up to the longest, as SQLite's own
LONGEST_PAUSE = 0.05


def locked(path: str, seconds: float) -> sqlite3.Connection:
    """A connection in a transaction that alone may write to the file that has the name `path` now.

    seconds : how long other writers are waited for; sqlite3.OperationalError after that.  It is the sum of
              the pauses, not the clock's: where fifty wait on a busy machine, each has its tries
    """
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        connection = _begun(path, last=waited >= seconds)
        if connection:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")  # for readers, at the commit
            return connection
        time.sleep(pause)
        waited += pause
        pause = min(2 * pause, LONGEST_PAUSE)


def _begun(path: str, last: bool) -> sqlite3.Connection | None:
    """None if another program writes to the file or has just replaced it; the last try ends with an error."""
    found = file_identity(path)
    connection = sqlite3.connect(uri(path, "rw"), uri=True, timeout=0, isolation_level=None)
    try:
        # A cache that runs over is written to the file at once, and from then to the commit nobody can read.
        connection.execute("PRAGMA cache_spill = OFF")  # in a transaction it would do nothing
        connection.execute("BEGIN IMMEDIATE")
        if file_identity(path) == found:
            return connection
        if last:
            raise sqlite3.OperationalError("database is locked: replaced again and again")
    except sqlite3.Error as error:
        connection.close()
        if last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return None
    connection.close()
    return None
