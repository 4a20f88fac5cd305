"""Changes to a model file in place, each in one transaction.

Totals change with the token rows, so adding a message and removing it restores every table.
A program that reads the model meanwhile sees the old state until the commit.
"""

from __future__ import annotations

import contextlib
import zlib

from nbspam.errors import DamagedModelError, UsageError
from nbspam.store.connection import (
    BUSY_SECONDS,
    MAX_VALUE_BYTES,
    Connection,
    check_file,
    open_to_write,
    sqlite3,
    store_error,
)
from nbspam.store.digest import learned_number, row_number, write_digests
from nbspam.store.reader import Model, count_columns, token_columns
from nbspam.store.writer import Writer
from nbspam.tokens.bag import NO_TEXTBOOK_VIEWS, NOTAWORD, NOTAWORD_KEY, NOTAWORD_VIEW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

# (key, view, text, how often it occurs in the message)
MessageToken = tuple[int, int, str, int]

PRUNED = "pruned"  # the setting that says that tokens were taken out (nbspam.store.prune)
_ROWS_AT_ONCE = 4_096


class Updater(Writer):
    """An open transaction on a model; made by `updating`.

    model : as it was when the transaction began
    """

    def __init__(self, path: str, connection: Connection) -> None:
        super().__init__(connection)
        self.model = Model(path, connection)
        self.fixed_vocabulary = self.model.settings.get("vocabulary") == "fixed"
        self._pruned = PRUNED in self.model.settings
        self._columns = count_columns(len(self.model.classes))
        self._sums: dict[int, list[int]] = {}  # view -> tokens, then the sum of each count column
        # table -> what is added to its digest; None: all rows are read again
        self.digests: dict[str, int | None] = dict.fromkeys(("token", "learned", "autolearned"), 0)

    def _digest(self, table: str, change: int) -> None:
        before = self.digests[table]
        self.digests[table] = None if before is None else before + change

    def write_digests(self) -> None:
        """Bring the digests up to date; the last write."""
        write_digests(self.connection, self.digests)

    def calibration(self, *arguments: Any) -> None:
        """As Writer.calibration."""
        super().calibration(*arguments)
        self.digests["calibration_covariance"] = None

    def learned(self, rows: Iterable[tuple[int, int, int]]) -> None:
        """As Writer.learned."""
        rows = list(rows)
        super().learned(rows)
        self._digest("learned", sum(learned_number(*row) for row in rows))

    def autolearned(self, rows: Iterable[tuple[int, int, bytes]]) -> None:
        """As Writer.autolearned."""
        rows = list(rows)
        super().autolearned(rows)
        self._digest("autolearned", sum(map(row_number, rows)))

    def count(self, label: int, digest: int, tokens: list[MessageToken], sign: int) -> None:
        """Add (sign 1) or remove (sign -1) one message of class `label`.

        Raises UsageError if a message is to be removed that was never counted in the class.
        """
        if sign < 0 and label not in learned(self.connection, digest):
            raise _never_counted()
        takes_pruned = self._pruned and sign < 0
        if self.fixed_vocabulary or takes_pruned:  # a token without a row counts as NOTAWORD
            known = token_columns(self.connection, "view", [key for key, _, _, _ in tokens])
            others = () if self.fixed_vocabulary else NO_TEXTBOOK_VIEWS
            outside = sum(times for key, view, _, times in tokens if key not in known and view not in others)
            tokens = [token for token in tokens if token[0] in known]
            if outside or takes_pruned:
                tokens.append((NOTAWORD_KEY, NOTAWORD_VIEW, NOTAWORD, outside))
        before, after = [0] * (2 * label), [0] * (len(self._columns) - 2 * label - 2)
        rows = [(key, view, text, *before, sign, sign * times, *after) for key, view, text, times in tokens]
        messages = [0] * len(self.model.classes)
        messages[label] = sign
        self.add(messages, rows, [(digest, label, sign)])

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
        columns = ", ".join(["view", *self._columns])
        known = token_columns(self.connection, columns, [row[0] for row in rows])
        nothing = (0,) * len(self._columns)
        kept, gone = [], []
        changed = 0  # of the digest
        for key, view, text, *change in rows:
            view, *old = known.get(key, (view,))
            new = [a + b for a, b in zip(old or nothing, change, strict=True)]
            if self._pruned:
                new = _possible(new)
            if min(new) < 0:
                raise _never_counted()
            if old:
                self._note(view, old, -1)
                changed -= row_number((key, view, *old))
            if self.fixed_vocabulary or any(new):
                self._note(view, new, 1)
                changed += row_number((key, view, *new))
                kept.append((key, view, text, *new))
            else:
                gone.append((key,))
        self._digest("token", changed)
        marks = ", ".join("?" * (3 + len(self._columns)))
        changes = ", ".join(f"{column} = excluded.{column}" for column in self._columns)
        statement = f"INSERT INTO token VALUES ({marks}) ON CONFLICT DO UPDATE SET {changes}"
        self.connection.executemany(statement, sorted(kept))
        self.connection.executemany("DELETE FROM token WHERE key = ?", gone)

    def _note(self, view: int, counts: Sequence[int], sign: int) -> None:
        """Add a row of `token` to the sums over the rows, or take it out of them."""
        sums = self._sums.setdefault(view, [0] * (1 + len(counts)))
        sums[0] += sign
        for place, count in enumerate(counts, 1):
            sums[place] += sign * count

    def _write_sums(self) -> None:
        many = self.connection.executemany
        for view, (words, *sums) in self._sums.items():
            many("UPDATE view SET words = words + ? WHERE number = ?", [(words, view)])
            many(
                "UPDATE view_total SET documents = documents + ?, occurrences = occurrences + ? "
                "WHERE view = ? AND class = ?",
                [(*sums[2 * k : 2 * k + 2], view, k) for k in range(len(sums) // 2)],
            )
        self._sums.clear()

    def count_numeric(self, rows: Iterable[tuple[str, int, int, Sequence[int]]], sign: int) -> None:
        """Add (sign 1) or remove (sign -1) counts of numeric features.

        rows : (kind, class, place, integers), see numeric_count in schema.sql
        """
        self.digests["numeric_count"] = None
        where = "WHERE kind = ? AND class = ? AND place = ?"
        stored = {kind: self.model.numeric_counts(kind) for kind in ("moment", "bin", "pair")}
        for kind, label, place, change in rows:
            old = stored[kind].get((label, place), [0] * len(change))
            if len(old) != len(change):
                raise DamagedModelError(self.model.path, "a row of numeric_count has not one integer a bin")
            new = [a + sign * b for a, b in zip(old, change, strict=True)]
            self.connection.execute(f"DELETE FROM numeric_count {where}", (kind, label, place))
            if any(new):
                self.insert("numeric_count", [(kind, label, place, " ".join(map(str, new)))])

    def take_back(self, digest: int) -> int | None:
        """Take out a message that the filter counted itself; its class, or None for another message."""
        rows = self.connection.ask("SELECT class, tokens FROM autolearned WHERE digest = ?", (digest,))
        for label, tokens in rows:
            self._digest("autolearned", -row_number((digest, label, tokens)))
            times = unpacked(tokens)
            views = token_columns(self.connection, "view", list(times))
            # A word outside a fixed vocabulary has no row: its view does not matter.
            rest = [(key, views.get(key, (0,))[0], "", n) for key, n in times.items()]
            self.count(label, digest, rest, -1)
            self.connection.execute("DELETE FROM autolearned WHERE digest = ?", (digest,))
            return int(label)
        return None


@contextlib.contextmanager
def updating(path: str, seconds: float = BUSY_SECONDS) -> Iterator[Updater]:
    """One transaction: all of it is written, or nothing.

    seconds : how long to wait for other writers; then TryAgainError
    """
    check_file(path)
    try:
        with contextlib.closing(open_to_write(path, seconds)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * BUSY_SECONDS)}")  # for readers, at COMMIT
            try:
                updater = Updater(path, connection)
                yield updater
                if connection.total_changes:
                    updater.write_digests()
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


def _possible(counts: list[int]) -> list[int]:
    """The nearest counts (documents_0, occurrences_0, ...) that a token can have.

    In a pruned model a message may be taken out that is no longer counted under all of its tokens.
    """
    possible = []
    for documents, occurrences in zip(counts[::2], counts[1::2], strict=True):
        documents = max(0, min(documents, occurrences))
        possible += [documents, occurrences if documents else 0]
    return possible


def _never_counted() -> UsageError:
    why = "was not counted in this class, so it cannot be removed from it"
    return UsageError("message", why, "", "not-learned")


# Messages that the model has counted on the filter's own verdict, and that nobody has labelled yet.  Their
# tokens are kept, so that they can be removed when the message itself is gone.


def autolearned_rows(connection: Connection) -> Iterator[tuple[int, int, bytes]]:
    """(digest, class number, tokens) of each, the oldest first."""
    yield from connection.stream("SELECT digest, class, tokens FROM autolearned ORDER BY number")


def autolearned_messages(model: Model) -> list[int]:
    """How many there are, by class."""
    found = dict(model.connection.ask("SELECT class, count(*) FROM autolearned GROUP BY class"))
    return [found.get(k, 0) for k in range(len(model.classes))]


def packed(tokens: Iterable[tuple[int, int]]) -> bytes:
    """(key, times) as the column `tokens` of `autolearned` has them."""
    return zlib.compress(" ".join(f"{key}:{times}" for key, times in sorted(tokens)).encode())


def unpacked(tokens: bytes) -> dict[int, int]:
    """key -> times; sqlite3.DatabaseError for what `packed` did not make."""
    try:
        stream = zlib.decompressobj()
        text = stream.decompress(tokens, MAX_VALUE_BYTES)  # without a bound, a small blob may fill the memory
        if not stream.eof:
            raise ValueError(text)
        pairs = [pair.split(b":") for pair in text.split()]
        return {int(key): int(times) for key, times in pairs}
    except (zlib.error, ValueError, TypeError):
        raise sqlite3.DatabaseError("the tokens of a message cannot be read") from None
