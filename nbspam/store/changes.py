"""A model in a transaction: its counts change in memory, and are written in the end.

Each lesson is scored by the counts of all lessons before it.  So a token that comes in many messages of a
transaction is read once and written once.
"""

from __future__ import annotations

from itertools import count

from nbspam.errors import UsageError
from nbspam.store.connection import Connection
from nbspam.store.digest import digest_integers
from nbspam.store.reader import Model, count_columns, find_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nbspam.store.reader import FindBase

# (key, view, text, documents, occurrences)
ClassToken = tuple[int, int, str, int, int]

PRUNED = "pruned"  # the setting that says that tokens were taken out (nbspam.store.prune)
MAX_ROWS = 50_000  # of `token` in memory: 25 MB


class ChangedModel(Model):
    """A model with the changes of a transaction in its counts and totals; `write` writes them into the file.

    fixed_vocabulary, pruned : by its settings
    """

    def __init__(self, path: str, connection: Connection, find_base: FindBase | None = None) -> None:
        super().__init__(path, connection, find_base)
        self.fixed_vocabulary = self.settings.get("vocabulary") == "fixed"
        self.pruned = PRUNED in self.settings
        self._columns = count_columns(len(self.classes))
        # By key, view, since and counts of a row of `token`, None without one: in the file, and as it is now.
        self._stored: dict[int, tuple[int, ...] | None] = {}
        self._rows: dict[int, list[int] | None] = {}
        self._texts: dict[int, str] = {}  # of new rows
        self._in_base: dict[int, tuple[int, ...]] = {}
        self._written = self._own_totals()

    def _own_totals(self) -> list[list[int]]:
        """The totals without those of a base."""
        of_base = self.base.totals if self.base else [[0] * len(counts) for counts in self.totals]
        pairs = zip(self.totals, of_base, strict=True)
        return [[*map(int.__sub__, counts, less)] for counts, less in pairs]

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """As of Model, with the changes."""
        self._read_rows(keys)
        rows, in_base = self._rows, self._in_base
        counts = {key: tuple(row[2:]) for key in keys if (row := rows[key])}
        if in_base:
            for key in keys:
                if more := in_base.get(key):
                    counts[key] = tuple(map(int.__add__, counts[key], more)) if key in counts else more
        return counts

    def find_views(self, keys: list[int]) -> dict[int, int]:
        """key -> view of its row, for the keys that have one here."""
        self._read_rows(keys)
        return {key: row[0] for key in keys if (row := self._rows[key])}

    def _read_rows(self, keys: list[int]) -> None:
        rows = self._rows
        new = [key for key in keys if key not in rows]
        if not new:
            return
        found = find_columns(self.connection, ", ".join(["view", "since", *self._columns]), sorted(new))
        for key in new:
            row = self._stored[key] = found.get(key)
            rows[key] = [*row] if row else None
        if self.base:
            self._in_base |= self.base.counts(new)

    @property
    def is_full(self) -> bool:
        """True if so many rows are in memory that it is time to write."""
        return len(self._stored) > MAX_ROWS

    def add_tokens(self, label: int, tokens: list[ClassToken], since: int) -> None:
        """Add counts to those of a class; negative ones remove.

        tokens : each key once;  since : the batch in which new ones are first counted
        """
        self._read_rows([token[0] for token in tokens])
        rows, place = self._rows, 2 + 2 * label
        sums, more = [[0] * len(self.words) for _ in range(2)]
        for key, view, text, documents, occurrences in tokens:
            row = rows[key] or self._begin_row(key, view, text, since)
            view = row[0]
            if documents < 0:
                documents, occurrences = self._limit(row[place], row[place + 1], documents, occurrences)
            row[place] += documents
            row[place + 1] += occurrences
            sums[view] += documents
            more[view] += occurrences
        for view, (documents, occurrences) in enumerate(zip(sums, more, strict=True)):
            self.documents[view][label] += documents
            self.occurrences[view][label] += occurrences
        if not self.fixed_vocabulary:
            self._drop_rows([token[0] for token in tokens if token[3] < 0])

    def _begin_row(self, key: int, view: int, text: str, since: int) -> list[int]:
        row = self._rows[key] = [view, since, *[0] * len(self._columns)]
        self._texts[key] = text
        self.words[view] += key not in self._in_base
        return row

    def _drop_rows(self, keys: list[int]) -> None:
        """Drop those of these rows that count nothing any more."""
        for key in keys:
            row = self._rows[key]
            if row and not any(row[2:]):
                self._rows[key] = None
                self.words[row[0]] -= key not in self._in_base

    def _limit(self, documents: int, occurrences: int, less: int, fewer: int) -> tuple[int, int]:
        """What is added to the counts of a token when these (negative) ones are to be.

        In a pruned model a message may be taken out that is no longer counted under all of its tokens: the
        counts become the nearest possible ones.
        """
        left, more = documents + less, occurrences + fewer
        if self.pruned:
            left = max(0, min(left, more))
            more = more if left else 0
        if min(left, more) < 0:
            raise never_counted()
        return left - documents, more - occurrences

    def write(self) -> int:
        """Write what has changed since the last time; what to add to the digest of `token`."""
        digest = 0
        kept: list[tuple[Any, ...]] = []
        gone: list[tuple[int]] = []
        for key, before in sorted(self._stored.items()):
            row = self._rows[key]
            after = tuple(row) if row else None
            if before == after:
                continue
            digest += digest_integers((key, *after)) if after else 0
            digest -= digest_integers((key, *before)) if before else 0
            if after is None:
                gone.append((key,))
            else:  # a row in the file has its text there
                kept.append((key, after[0], self._texts.get(key, ""), *after[1:]))
        many, columns = self.connection.executemany, ["since", *self._columns]
        changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
        many("DELETE FROM token WHERE key = ?", gone)
        many(
            f"INSERT INTO token VALUES (?, ?, ?{', ?' * len(columns)}) ON CONFLICT DO UPDATE SET {changes}",
            kept,
        )
        self._write_totals()
        for remembered in (self._stored, self._rows, self._texts, self._in_base):
            remembered.clear()
        return digest

    def _write_totals(self) -> None:
        totals, many = self._own_totals(), self.connection.executemany
        if totals == self._written:
            return
        self._written = totals
        messages, words, *sums = totals
        many("UPDATE class SET messages = ? WHERE number = ?", zip(messages, count()))
        many("UPDATE view SET words = ? WHERE number = ?", zip(words, count()))
        for column, counts in (("documents", sums[: len(words)]), ("occurrences", sums[len(words) :])):
            cells = [(n, view, k) for view, row in enumerate(counts) for k, n in enumerate(row)]
            many(f"UPDATE view_total SET {column} = ? WHERE view = ? AND class = ?", cells)


def never_counted() -> UsageError:
    """The error for a message that is to be taken out of a class and is not in it."""
    why = "was not counted in this class, so it cannot be removed from it"
    return UsageError("message", why, "", "not-learned")
