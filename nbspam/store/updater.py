"""Changes to a model file in place, each in one transaction.

Totals and histograms change with the token rows, so adding a message and removing it restores every table.
A program that reads the model meanwhile sees the old state until the commit.
"""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nbspam.errors import UsageError
from nbspam.store.connection import BUSY_SECONDS, Connection, check_file, open_to_write, store_error
from nbspam.store.prior import stored_units
from nbspam.store.reader import Model, count_columns, rows_of_keys
from nbspam.store.writer import Writer, insert
from nbspam.tokens.bag import NO_TEXTBOOK_VIEWS, NOTAWORD, NOTAWORD_KEY, NOTAWORD_VIEW

# (key, view, text, how often it occurs in the message)
MessageToken = tuple[int, int, str, int]

_ROWS_AT_ONCE = 4_096


class Updater(Writer):
    """An open transaction on a model; made by `updating`."""

    def __init__(self, path: str, connection: Connection) -> None:
        super().__init__(connection)
        model = Model(path, connection)
        self.n_classes = len(model.classes)
        self.fixed_vocabulary = model.settings.get("vocabulary") == "fixed"
        self._unit, _ = stored_units(model)
        self._columns = count_columns(self.n_classes)
        self._totals: Counter[tuple[str, int, int]] = Counter()  # (column, view, class)
        self._words: Counter[int] = Counter()  # by view
        self._histogram: Counter[tuple[str, int, int]] = Counter()  # (kind, class, count)

    def count(self, label: int, digest: int, tokens: list[MessageToken], sign: int) -> None:
        """Add (sign 1) or remove (sign -1) one message of class `label`.

        Raises UsageError if a message is to be removed that was never counted in the class.
        """
        if sign < 0 and label not in learned(self.connection, digest):
            raise _never_counted()
        if self.fixed_vocabulary:
            tokens = self._with_notaword(tokens)
        before, after = [0] * (2 * label), [0] * (2 * (self.n_classes - label - 1))
        rows = [(key, view, text, *before, sign, sign * times, *after) for key, view, text, times in tokens]
        messages = [0] * self.n_classes
        messages[label] = sign
        self.add(messages, rows, [(digest, label, sign)])

    def _with_notaword(self, tokens: list[MessageToken]) -> list[MessageToken]:
        """The tokens of the vocabulary, and all others as one NOTAWORD."""
        known = rows_of_keys(self.connection, "view", [key for key, _, _, _ in tokens])
        inside = [token for token in tokens if token[0] in known]
        outside = sum(times for key, _, _, times in tokens if key not in known)
        return [*inside, (NOTAWORD_KEY, NOTAWORD_VIEW, NOTAWORD, outside)] if outside else inside

    def add(
        self,
        messages: Sequence[int],
        tokens: Iterable[tuple[Any, ...]],
        learned: Sequence[tuple[int, int, int]],
    ) -> None:
        """Add counts to those of the model; negative counts remove.

        messages : by class
        tokens   : (key, view, text, documents_0, occurrences_0, documents_1, ...), each key once
        learned  : (digest, class, times)
        """
        rows = list(tokens)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            self._add_rows(rows[start : start + _ROWS_AT_ONCE])
        self._write_sums()
        self.connection.executemany(
            "UPDATE class SET messages = messages + ? WHERE number = ?",
            [(count, number) for number, count in enumerate(messages) if count],
        )
        self.learned(learned)
        self.connection.executemany(
            "DELETE FROM learned WHERE digest = ? AND class = ? AND times = 0", [row[:2] for row in learned]
        )

    def _add_rows(self, rows: list[tuple[Any, ...]]) -> None:
        known = rows_of_keys(self.connection, ", ".join(self._columns), [row[0] for row in rows])
        nothing = (0,) * len(self._columns)
        kept, gone = [], []
        for key, view, text, *change in rows:
            old = known.get(key)
            change = [self._unit * n for n in change]
            new = [a + b for a, b in zip(old or nothing, change, strict=True)]
            if min(new) < 0:
                raise _never_counted()
            if is_kept := self.fixed_vocabulary or any(new):
                kept.append((key, view, text, *new))
            else:
                gone.append((key,))
            self._note_totals(view, change, is_kept - (old is not None))
            if view not in NO_TEXTBOOK_VIEWS:
                if old is not None:
                    self._note_histogram(old, -1)
                if is_kept:
                    self._note_histogram(new, 1)
        self._write_rows(kept, gone)

    def _write_rows(self, kept: list[tuple[Any, ...]], gone: list[tuple[int]]) -> None:
        marks = ", ".join("?" * (3 + len(self._columns)))
        changes = ", ".join(f"{column} = excluded.{column}" for column in self._columns)
        self.connection.executemany(
            f"INSERT INTO token (key, view, text, {', '.join(self._columns)}) VALUES ({marks}) "
            f"ON CONFLICT DO UPDATE SET {changes}",
            sorted(kept),
        )
        self.connection.executemany("DELETE FROM token WHERE key = ?", gone)

    def _note_totals(self, view: int, change: Sequence[int], rows: int) -> None:
        self._words[view] += rows
        for k in range(self.n_classes):
            self._totals["documents", view, k] += change[2 * k]
            self._totals["occurrences", view, k] += change[2 * k + 1]

    def _note_histogram(self, counts: Sequence[int], sign: int) -> None:
        """Move one token in the histograms."""
        occurrences = sum(counts[1::2])
        for k in range(self.n_classes):
            self._histogram["documents", k, counts[2 * k]] += sign
            self._histogram["complement", k, occurrences - counts[2 * k + 1]] += sign

    def _write_sums(self) -> None:
        for (column, view, k), count in self._totals.items():
            statement = f"UPDATE view_total SET {column} = {column} + ? WHERE view = ? AND class = ?"
            self.connection.execute(statement, (count, view, k))
        words = [(count, view) for view, count in self._words.items()]
        self.connection.executemany("UPDATE view SET words = words + ? WHERE number = ?", words)
        moves = [(*cell, words) for cell, words in self._histogram.items() if words]
        self.connection.executemany(
            "INSERT INTO histogram VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET words = words + excluded.words",
            moves,
        )
        self.connection.executemany(
            "DELETE FROM histogram WHERE kind = ? AND class = ? AND count = ? AND words = 0",
            [move[:3] for move in moves],
        )
        for counter in (self._totals, self._words, self._histogram):
            counter.clear()

    def count_numeric(self, label: int, rows: dict[tuple[str, int], list[int]], sign: int) -> None:
        """Add (sign 1) or remove (sign -1) the numeric features of messages of class `label`.

        rows : (kind, place) -> integers, see numeric_count in schema.sql
        """
        where = "WHERE kind = ? AND class = ? AND place = ?"
        for (kind, place), change in rows.items():
            at = (kind, label, place)
            rows_there = self.connection.ask(f"SELECT value FROM numeric_count {where}", at)
            old = _integers(rows_there[0][0]) if rows_there else [0] * len(change)
            if len(old) != len(change):
                raise sqlite3.DatabaseError("a row of numeric_count has not one integer a bin")
            new = [a + sign * self._unit * b for a, b in zip(old, change, strict=True)]
            self.connection.execute(f"DELETE FROM numeric_count {where}", at)
            if any(new):
                insert(self.connection, "numeric_count", [(*at, " ".join(map(str, new)))])


@contextlib.contextmanager
def updating(path: str) -> Iterator[Updater]:
    """One transaction: all of it is written, or nothing.  It waits for other writers."""
    check_file(path)
    try:
        with contextlib.closing(open_to_write(path, BUSY_SECONDS)) as connection:
            try:
                yield Updater(path, connection)
            except BaseException:
                if connection.in_transaction:  # a full disk has rolled it back already
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise store_error(path, error) from None


def learned(connection: Connection, digest: int) -> dict[int, int]:
    """class number -> how often a message of this digest was counted in it."""
    return dict(connection.ask("SELECT class, times FROM learned WHERE digest = ?", (digest,)))


def _never_counted() -> UsageError:
    return UsageError(
        "message", "was not counted in this class, so it cannot be removed from it", "", "not-learned"
    )


def _integers(text: str) -> list[int]:
    try:
        return list(map(int, text.split()))
    except (ValueError, AttributeError):
        raise sqlite3.DatabaseError("a row of numeric_count is not of integers") from None


# Messages that the model has counted on the filter's own verdict, and that nobody has labelled yet.  Their
# tokens are kept, so that they can be removed when the message itself is gone.


def autolearned_rows(connection: Connection) -> Iterator[tuple[int, int, bytes]]:
    """(digest, class number, tokens) of each, the oldest first."""
    yield from connection.stream("SELECT digest, class, tokens FROM autolearned ORDER BY number")


def autolearned_messages(model: Model) -> list[int]:
    """How many there are, by class."""
    found = dict(model.connection.ask("SELECT class, count(*) FROM autolearned GROUP BY class"))
    return [found.get(k, 0) for k in range(len(model.classes))]


def oldest(connection: Connection) -> int:
    """The digest of the one that was counted first."""
    return next(autolearned_rows(connection))[0]


def mark(updater: Updater, digest: int, label: int, tokens: Iterable[MessageToken]) -> None:
    """Note that a message of these tokens was counted as class `label` on the filter's own verdict."""
    updater.autolearned([(digest, label, packed((key, times) for key, _, _, times in tokens))])


def take_back(updater: Updater, digest: int) -> int | None:
    """Take out a message that the filter counted itself; its class, or None if there is no such message."""
    connection = updater.connection
    query = "SELECT class, tokens FROM autolearned WHERE digest = ?"
    rows = connection.ask(query, (digest,))
    if not rows:
        return None
    label, tokens = rows[0]
    times = unpacked(tokens)
    views = rows_of_keys(connection, "view", list(times))
    # A word outside a fixed vocabulary has no row: its view does not matter.
    updater.count(label, digest, [(key, views.get(key, (0,))[0], "", n) for key, n in times.items()], -1)
    connection.execute("DELETE FROM autolearned WHERE digest = ?", (digest,))
    return int(label)


def packed(tokens: Iterable[tuple[int, int]]) -> bytes:
    """(key, times) as the column `tokens` of `autolearned` has them."""
    return zlib.compress(" ".join(f"{key}:{times}" for key, times in sorted(tokens)).encode())


def unpacked(tokens: bytes) -> dict[int, int]:
    """key -> times; sqlite3.DatabaseError for what `packed` did not make."""
    try:
        pairs = [pair.split(b":") for pair in zlib.decompress(tokens).split()]
        return {int(key): int(times) for key, times in pairs}
    except (zlib.error, ValueError, TypeError):
        raise sqlite3.DatabaseError("the tokens of a message cannot be read") from None
