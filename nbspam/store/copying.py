"""A copy of a model under another name.

Hides that both may be in use: the copy is of one state of the model, whoever writes to it meanwhile, and a
model that comes to the place of the copy first stays.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator

from nbspam.errors import CannotCreateError
from nbspam.files import NewFile
from nbspam.store.reader import is_foreign, open_model, store_error
from nbspam.store.writer import kept_if_first, without_journal


def copy_model(source: str, path: str, replace: bool = False) -> bool:
    """Make the copy, whole or not at all; False if a file is at `path` already.

    replace : a model at `path` gives way
    """
    if replace and os.path.isfile(path) and is_foreign(path):
        why = "there is a file that is no model, and it stays as it is"
        raise CannotCreateError(path, why, "choose another place, or take it away", "model-foreign")
    model = open_model(source)
    try:
        with contextlib.closing(model.connection) as connection, _one_at_a_time(path):
            if os.path.exists(path) and not replace:
                return False
            connection.told = None  # type: ignore[attr-defined]
            return _copied(connection, path, replace)
    except sqlite3.Error as error:
        raise store_error(path if "full" in str(error) else source, error) from None
    except OSError as error:
        why = f"cannot be made a copy of {source}: {error.strerror}"
        raise CannotCreateError(path, why, "choose another place: --model PATH", "model-create") from None


@contextlib.contextmanager
def _one_at_a_time(path: str) -> Iterator[None]:
    """Of the programs that would copy to this folder, which is made where it is missing.

    Another's copy may have been begun to be written to: its journal is none that a killed program left.
    """
    folder = os.path.dirname(os.path.realpath(path))
    os.makedirs(folder, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _copied(connection: sqlite3.Connection, path: str, replace: bool) -> bool:
    new = NewFile(path)
    try:
        name = os.fsencode(new.path)  # as bytes, for a path need not be UTF-8
        connection.execute("VACUUM INTO CAST(? AS TEXT)", (name,))
        if not replace:
            return kept_if_first(new, path)
        with without_journal(os.path.realpath(path)):
            new.keep()
        return True
    finally:
        new.discard()
