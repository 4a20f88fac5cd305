"""New model files: written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter

from nbspam.errors import CannotCreateError, DamagedModelError
from nbspam.files import NewFile, flush, make_folders
from nbspam.store.connection import (
    APPLICATION_ID,
    FORMAT,
    Connection,
    connect,
    journal_of,
    refuse_foreign,
    sqlite3,
    store_error,
)
from nbspam.store.digest import DIGESTED, write_digests
from nbspam.store.reader import count_columns, open_model, schema
from nbspam.store.rows import FIRST, Writer, escape_bytes
from nbspam.store.turns import PATIENCE_SECONDS, Turn
from nbspam.tokens.bag import N_VIEWS, VIEW_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from nbspam.store.reader import Model


def new_identity() -> int:
    """A random number of 63 bits; see `identity` in schema.sql."""
    return int.from_bytes(os.urandom(8), "big") >> 1


def sum_rows(connection: Connection, base: Model | None = None) -> dict[str, list[tuple[Any, ...]]]:
    """table -> the rows that it must have, worked out from the rows of `token`.  base : of an overlay"""
    n_classes = connection.ask("SELECT count(*) FROM class")[0][0]
    sums = ", ".join(f"sum({name})" for name in count_columns(n_classes))
    query = f"SELECT view, count(*), {sums} FROM token GROUP BY view"
    found = {view: (words, counts) for view, words, *counts in connection.ask(query)}
    rows = [found.get(view, (0, [0] * 2 * n_classes)) for view in range(N_VIEWS)]
    views = dict(connection.ask("SELECT key, view FROM token")) if base else {}
    shared = base.counts([*views]) if base else ()
    in_base = Counter(views[key] for key in shared)
    places = [(view, k) for k in range(n_classes) for view in range(N_VIEWS)]
    return {
        "view": [(view, VIEW_NAMES[view], words - in_base[view]) for view, (words, _) in enumerate(rows)],
        "view_total": [(view, k, *rows[view][1][2 * k : 2 * k + 2]) for view, k in places],
    }


@contextlib.contextmanager
def new_model(
    path: str,
    classes: tuple[str, ...],
    messages: list[int],
    source: str,
    replaces: bool = True,
    page_bytes: int = 4_096,
) -> Iterator[Writer]:
    """A new file to be filled; it takes the name `path` when the context ends, and is gone after an error.

    Without rows of `view`, the sums of the tokens are worked out in the end.
    source   : the command that makes it, and its mail, see Origin of nbspam.store.updater
    replaces : replace a model that is there then; False: raise CannotCreateError
    """
    try:
        with _make_file(path) as new:
            with contextlib.closing(connect(new.path, "rw", 0)) as connection:
                # It needs no journal: nobody sees the file yet, and after a crash nobody needs it.
                pragmas = ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE")
                for pragma in (*pragmas, f"page_size = {page_bytes}"):
                    connection.execute(f"PRAGMA {pragma}")
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                connection.execute("BEGIN")
                file = Writer(connection, len(classes))
                file.digests |= dict.fromkeys(DIGESTED)
                for statement in schema(len(classes)):
                    connection.execute(statement)
                file.insert("identity", [(new_identity(),)])
                file.insert("class", zip(range(len(classes)), classes, messages, strict=True))
                file.insert("batch", [(FIRST, time.time_ns() // 1_000_000, escape_bytes(source), 0)])
                yield file
                if not connection.ask("SELECT 1 FROM view LIMIT 1"):
                    for table, rows in sum_rows(connection).items():
                        file.insert(table, rows)
                write_digests(connection, file.digests)
                connection.execute("COMMIT")
            if not _keep(new, path, replaces):
                why = "a model was made here meanwhile, and it is not overwritten"
                raise CannotCreateError(path, why, "to write over it: `replace`", "model-exists")
    except sqlite3.Error as error:
        raise store_error(path, error) from None


@contextlib.contextmanager
def _make_file(path: str) -> Iterator[NewFile]:
    """A file that becomes a model at `path`, and the folders that it needs."""
    try:
        make_folders(os.path.dirname(os.path.realpath(path)))
        with NewFile(path) as new:
            yield new
    except OSError as error:
        why, remedy = f"cannot be written: {error.strerror}", "free some space or choose another place"
        raise CannotCreateError(path, why, remedy, "model-create") from None


def _keep(new: NewFile, path: str, replaces: bool) -> bool:
    """Give a new model the name `path`; False if there is a file of this name that is not to be replaced.

    No journal of an old model may be next to it, for SQLite would play that back into the new file.  Only in
    its turn a program removes one, and an old model is locked until the new one has its name: a journal that
    comes later belongs to a writer to the new.
    """
    target = os.path.realpath(path)
    with contextlib.ExitStack() as stack:
        if os.path.exists(journal_of(target)) or (replaces and os.path.exists(target)):
            turn = stack.enter_context(Turn(target, PATIENCE_SECONDS))
            if not os.path.lexists(target):
                _remove_journal(target)
            elif replaces:
                try:
                    stack.enter_context(contextlib.closing(turn.open()))
                except (sqlite3.Error, DamagedModelError):
                    _remove_journal(target)  # the old file is damaged, foreign or read-only
        return new.keep(replaces)


def _remove_journal(path: str) -> None:
    """Remove the journal of a killed writer whose model is no longer there, or is not kept."""
    with contextlib.suppress(OSError):
        os.unlink(journal_of(path))
        flush(os.path.dirname(journal_of(path)))  # before the new model gets its name


def copy_model(source: str, path: str, replaces: bool = False) -> bool:
    """Copy one state of a model, whole or not at all; False if there is a file at `path` already.

    replaces : replace a model at `path`
    """
    if replaces:
        refuse_foreign(path)
    try:
        with open_model(source) as model:
            if os.path.exists(path) and not replaces:
                return False
            with _make_file(path) as new:
                name = os.fsencode(new.path)  # as bytes, because a path need not be UTF-8
                model.connection.execute("VACUUM INTO CAST(? AS TEXT)", (name,))
                with contextlib.closing(connect(new.path, "rw", 0)) as copy:
                    copy.execute("UPDATE identity SET number = ?", (new_identity(),))
                return _keep(new, path, replaces)
    except sqlite3.Error as error:
        raise store_error(path if "full" in str(error) else source, error) from None
