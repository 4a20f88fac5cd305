"""Models that were changed by another program than ours: damaged, or forged."""

import contextlib
import sqlite3
from pathlib import Path

from nbspam.store.connection import connect
from nbspam.store.digest import DIGESTED, write_digests


def change(model: str | Path, statement: str) -> None:
    """Change a model as damage does: the digests no longer fit."""
    with contextlib.closing(sqlite3.connect(model)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        assert connection.execute(statement).rowcount != 0
        connection.commit()


def forge(model: str | Path, statement: str) -> None:
    """Change a model as a forger does: the digests fit."""
    change(model, statement)
    with contextlib.closing(connect(str(model), "rw", 0)) as connection:
        write_digests(connection, dict.fromkeys(DIGESTED))
