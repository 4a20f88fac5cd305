"""Changes to a model file in place, each in one transaction.

Totals change with the token rows, so adding a message and removing it restores every table.
A program that reads the model meanwhile sees the old state until the commit.
"""

from __future__ import annotations

import os
import time
from contextlib import closing, contextmanager
from itertools import islice

from nbspam.errors import DamagedModelError
from nbspam.store.changes import ChangedModel, never_counted
from nbspam.store.connection import BUSY_SECONDS, Connection, check_file, sqlite3, store_error
from nbspam.store.digest import DIGESTED, digest_rows, read_digests, stream_sound, write_digests
from nbspam.store.reader import Model
from nbspam.store.rows import FIRST, Writer, add_integers, escape_bytes
from nbspam.store.turns import PATIENCE_SECONDS, Turn
from nbspam.tokens.bag import FORM_BITS, NOTAWORD, NOTAWORD_KEY, NOTAWORD_VIEW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from nbspam.store.changes import ClassToken
    from nbspam.store.reader import FindBase

# (key, view, text, how often it occurs in the message)
MessageToken = tuple[int, int, str, int]

_ROWS_AT_ONCE = 4_096
STDIN = "-"  # the name of a message that lies nowhere


class Origin:
    """Where messages come from, for the ledger.

    source  : the command, and after a tab each folder of its mail
    is_own  : the filter learns its own verdicts
    time_ms : when the command began
    """

    __slots__ = ("is_own", "source", "time_ms")

    def __init__(self, source: str, is_own: bool = False) -> None:
        self.source, self.is_own = source, is_own
        self.time_ms = time.time_ns() // 1_000_000

    def of(self, name: str) -> str:
        """The source of a message with this name: also its mailbox, or the folder that it lies in."""
        box, _, number = name.rpartition("#")
        if not number.isdecimal():
            box = os.path.dirname(name)
            top, part = os.path.split(box)
            box = top if part in ("cur", "new") and os.path.isdir(os.path.join(top, "cur")) else box
        return self.source if name in ("", STDIN) else f"{self.source}\t{os.path.abspath(box)}"


class Updater(Writer):
    """An open transaction on a model; made by open_updater.

    model : as it is now
    """

    def __init__(self, path: str, connection: Connection, find_base: FindBase | None = None) -> None:
        self.model = ChangedModel(path, connection, find_base)
        super().__init__(connection, len(self.model.classes))
        self._entry, self._batch = ("", False, 0), 0
        written = read_digests(connection)
        if any(type(written.get(table)) is not int for table in DIGESTED):
            raise DamagedModelError(path, "the digest of a table is missing")
        self.digests |= {table: written[table] for table in DIGESTED}

    def settings(self, settings: dict[str, str]) -> None:
        """As of Writer."""
        super().settings(settings)
        self.model.settings |= settings

    def _add_digest(self, table: str, change: int) -> None:
        """Add to the digest of a table, unless it is to be worked out in the end."""
        before = self.digests[table]
        self.digests[table] = None if before is None else before + change

    def change(
        self, table: str, gone: Sequence[tuple[Any, ...]] = (), new: Sequence[tuple[Any, ...]] = ()
    ) -> None:
        """Take rows out of a table, and put others in; their columns are those of DIGESTED."""
        names = DIGESTED[table].split(", ")
        same, marks = " = ? AND ".join(names), ", ".join("?" * len(names))
        self.connection.executemany(f"DELETE FROM {table} WHERE {same} = ?", gone)
        self.connection.executemany(f"INSERT INTO {table} ({DIGESTED[table]}) VALUES ({marks})", new)
        self._add_digest(table, digest_rows(new) - digest_rows(gone))

    def begin(self, origin: Origin, name: str = "") -> None:
        """Count what follows as from this origin.  name : of the message"""
        entry = (escape_bytes(origin.of(name)), origin.is_own, origin.time_ms)
        if entry != self._entry:
            self._entry, self._batch = entry, 0

    @property
    def batch(self) -> int:
        """The number of the present batch; the ledger gets it when it is asked for, so none is empty."""
        if not self._batch:
            source, is_own, time_ms = self._entry
            # The sum is SQLite's, because a forger may have written the largest number.
            ((self._batch,),) = self.connection.ask("SELECT max(number) + 1 FROM batch")
            self.change("batch", new=[(self._batch, time_ms, source, int(is_own))])
        return self._batch

    def count(self, label: int, digest: int, tokens: list[MessageToken], times: int, since: int = 0) -> None:
        """Add one message of class `label` to the counts; who calls writes the ledger.

        times : copies to add; negative removes
        since : the batch in which new tokens are first counted; 0: the present one
        Raises UsageError if a message is to be removed that was never counted in the class.
        """
        if times < 0:
            rows = read_rows(self.connection, "learned", digest)
            if count_copies(rows).get((digest, label), 0) + times < 0:
                raise never_counted()
        if self.model.fixed_vocabulary or (self.model.pruned and times < 0):
            tokens = self._keep_known(tokens)
        self.add(label, times, [(key, view, text, times, times * n) for key, view, text, n in tokens], since)

    def forget(self, digest: int, label: int) -> None:
        """Take one counting of a message off the latest batch that has one; off the ledger after the last."""
        rows = read_rows(self.connection, "learned", digest)
        *place, times = latest = max(row for row in rows if row[:2] == (digest, label) and row[3] > 0)
        left = [(*place, times - 1)] if times > 1 else []
        others = [row for row in rows if row != latest]
        if count_copies([*others, *left]):
            self.change("learned", [latest], left)
        else:
            self.change("learned", rows)

    def _keep_known(self, tokens: list[MessageToken]) -> list[MessageToken]:
        """The tokens that have a row; all others are one NOTAWORD of a fixed vocabulary."""
        known = self.model.find_views([key for key, _, _, _ in tokens])
        outside = sum(times for key, _, _, times in tokens if key not in known)
        tokens = [token for token in tokens if token[0] in known]
        if outside and self.model.fixed_vocabulary:
            tokens.append((NOTAWORD_KEY, NOTAWORD_VIEW, NOTAWORD, outside))
        return tokens

    def add(self, label: int, messages: int, tokens: Iterable[ClassToken], since: int = 0) -> None:
        """Add counts to those of a class; negative counts remove.

        tokens : each key once;  since : as for count
        """
        tokens, since = iter(tokens), since or self.batch
        while some := list(islice(tokens, _ROWS_AT_ONCE)):
            self.model.add_tokens(label, some, since)
            if self.model.is_full:
                self.write()
        self.model.messages[label] += messages

    def write(self) -> None:
        """Write the counts that have changed."""
        self._add_digest("token", self.model.write())

    def count_numeric(self, rows: Iterable[tuple[str, int, int, Sequence[int]]], times: int) -> None:
        """Add counts of numeric features.

        times : copies to add; negative removes
        rows  : (kind, class, place, integers), see numeric_count in schema.sql
        """
        stored = self.model.numeric_counts()
        gone: list[tuple[object, ...]] = []
        new: list[tuple[object, ...]] = []
        for kind, label, place, change in rows:
            old = stored.get((kind, label, place), [0] * len(change))
            sums = add_integers(self.model.path, old, change, times)
            for numbers, stored_rows in ((old, gone), (sums, new)):
                if any(numbers):
                    stored_rows.append((kind, label, place, " ".join(map(str, numbers))))
        self.change("numeric_count", gone, new)

    def take_back(self, digest: int) -> int | None:
        """Take out a message that the filter counted itself, in whatever form; its class, or None."""
        label = None
        for form, label, tokens in read_rows(self.connection, "autolearned", digest):
            from nbspam.store.autolearned import unpack_tokens  # few messages were

            self.change("autolearned", [(form, label, tokens)])
            times = unpack_tokens(tokens, self.model.path)
            views = self.model.find_views(list(times))
            # A word outside a fixed vocabulary has no row: its view does not matter.
            rest = [(key, views.get(key, 0), "", n) for key, n in times.items()]
            self.count(label, form, rest, -1, FIRST)
            self.forget(form, label)
        return label


@contextmanager
def open_updater(
    path: str, seconds: float = PATIENCE_SECONDS, *, find_base: FindBase | None = None
) -> Iterator[Updater]:
    """One transaction, as a context that has an Updater: all of it is written, or nothing.

    seconds   : how long to wait for other writers; then TryAgainError
    find_base : as for Model
    """
    check_file(path)
    try:
        with Turn(path, seconds) as turn, closing(turn.open()) as connection:
            milliseconds = int(1000 * BUSY_SECONDS)  # that COMMIT waits for readers
            connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
            updater = Updater(path, connection, find_base)
            try:
                yield updater
                updater.write()
                if connection.total_changes:
                    write_digests(connection, updater.digests)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:  # a full disk has rolled it back already
                    connection.execute("ROLLBACK")
                updater.model.close_base()
    except sqlite3.Error as error:
        raise store_error(path, error) from None


def read_rows(connection: Connection, table: str, digest: int) -> list[tuple[Any, ...]]:
    """The rows of `learned` or `autolearned` of a message, in whatever form."""
    form = (1 << FORM_BITS) - 1
    bounds = (digest & ~form, digest | form)
    return [*stream_sound(connection, table, DIGESTED[table], "WHERE digest BETWEEN ? AND ?", bounds)]


def count_copies(rows: Iterable[tuple[int, ...]]) -> dict[tuple[int, int], int]:
    """(digest, class number) -> how often a message counts now, by its rows of `learned`; those that do."""
    copies: dict[tuple[int, int], int] = {}
    for digest, label, _, times in rows:
        copies[digest, label] = copies.get((digest, label), 0) + times
    return {message: times for message, times in copies.items() if times > 0}


def list_base_classes(model: Model, digest: int) -> set[int]:
    """The numbers of the classes in which the base of an overlay has counted a message, in whatever form."""
    rows = read_rows(model.base.connection, "learned", digest) if model.base else []
    return {number for _, number in count_copies(rows)}
