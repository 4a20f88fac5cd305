"""Changes a model file in place: one message more or less, in one transaction.

Hides how the totals and histograms are kept equal to the sums over the token rows, so that
adding a message and removing it restores every table exactly.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from nbspam.errors import UsageError
from nbspam.store.derived import number_of_classes
from nbspam.store.locking import locked
from nbspam.store.reader import (
    BUSY_SECONDS,
    check_file,
    count_columns,
    read_covariance,
    read_integers,
    rows_of_keys,
    store_error,
)
from nbspam.store.writer import write_calibration, write_settings
from nbspam.tokens.bag import NO_TEXTBOOK_VIEWS, NOTAWORD_VIEW
from nbspam.tokens.keys import NOTAWORD, NOTAWORD_KEY

# (key, view, text, how often it occurs in the message)
MessageToken = tuple[int, int, str, int]


class Updater:
    """An open transaction on a model; made by `updating`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.n_classes = number_of_classes(connection)
        row = connection.execute("SELECT value FROM setting WHERE name = 'vocabulary'").fetchone()
        self.fixed_vocabulary = row is not None and row[0] == "fixed"
        self._histogram: dict[tuple[str, int, int], int] = {}
        self._totals: dict[tuple[int, int], list[int]] = {}  # (view, class): documents, occurrences, words
        prior = connection.execute("SELECT count(*) FROM prior_class").fetchone()[0]
        columns = [f"prior_documents_{k} + prior_occurrences_{k}" for k in range(self.n_classes)]
        self._prior_sum = " + ".join(columns) if prior else ""

    def count(self, label: int, digest: int, tokens: list[MessageToken], sign: int) -> None:
        """Adds (sign 1) or removes (sign -1) one message of class `label`.

        Raises UsageError if a message is to be removed that was never counted in the class.
        """
        if sign < 0 and label not in learned(self.connection, digest):
            raise _never_counted()
        known = self._known([key for key, _, _, _ in tokens])
        if self.fixed_vocabulary:
            tokens = _with_notaword(tokens, known)
            known.update(self._known([NOTAWORD_KEY]))
        for token in tokens:
            self._count_token(label, token, sign, known.get(token[0]))
        self._write_totals()
        self._write_histogram()
        self.connection.execute("UPDATE class SET messages = messages + ? WHERE number = ?", (sign, label))
        self._remember(label, digest, sign)

    def _known(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """key -> its counts, as Model.counts."""
        columns = ", ".join(count_columns(self.n_classes))
        return rows_of_keys(self.connection, columns, keys)

    def _count_token(
        self, label: int, token: MessageToken, sign: int, before: tuple[int, ...] | None
    ) -> None:
        """before : its counts; None where it has no row"""
        key, view, text, times = token
        old = list(before or [0] * (2 * self.n_classes))
        new = list(old)
        new[2 * label] += sign
        new[2 * label + 1] += sign * times
        if min(new) < 0:
            raise _never_counted()
        is_kept = self.fixed_vocabulary or any(new) or self._in_prior(key)
        if before is None:
            self._insert_token((key, view, text, *new))
        elif is_kept:
            self._update_token(key, label, new)
        else:
            self.connection.execute("DELETE FROM token WHERE key = ?", (key,))
        new_rows = is_kept - (before is not None)
        totals = self._totals.setdefault((view, label), [0, 0, 0])
        totals[:] = [a + b for a, b in zip(totals, (sign, sign * times, new_rows), strict=True)]
        if view in NO_TEXTBOOK_VIEWS:
            return
        if before is not None:
            self._note(old, -1)
        if is_kept:
            self._note(new, 1)

    def _update_token(self, key: int, label: int, counts: list[int]) -> None:
        statement = f"UPDATE token SET documents_{label} = ?, occurrences_{label} = ? WHERE key = ?"
        self.connection.execute(statement, (counts[2 * label], counts[2 * label + 1], key))

    def _insert_token(self, row: tuple[object, ...]) -> None:
        columns = ", ".join(count_columns(self.n_classes))
        marks = ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO token (key, view, text, {columns}) VALUES ({marks})", row)

    def _in_prior(self, key: int) -> bool:
        """Whether the prior model, if there is one, knows the token: its row stays then."""
        if not self._prior_sum:
            return False
        row = self.connection.execute(f"SELECT {self._prior_sum} FROM token WHERE key = ?", (key,)).fetchone()
        return row is not None and row[0] > 0

    def count_numeric(self, label: int, rows: dict[tuple[str, int], list[int]], sign: int) -> None:
        """Adds (sign 1) or removes (sign -1) the numeric features of one message of class `label`.

        rows : (kind, place) -> integers, see numeric_count in schema.sql
        """
        execute = self.connection.execute
        for (kind, place), change in rows.items():
            at = (kind, label, place)
            row = execute(
                "SELECT value FROM numeric_count WHERE kind = ? AND class = ? AND place = ?", at
            ).fetchone()
            old = read_integers(row[0]) if row else [0] * len(change)
            if len(old) != len(change):
                raise sqlite3.DatabaseError("a row of numeric_count has not one integer a bin")
            new = [a + sign * b for a, b in zip(old, change, strict=True)]
            if any(new):
                execute(
                    "INSERT OR REPLACE INTO numeric_count VALUES (?, ?, ?, ?)", (*at, " ".join(map(str, new)))
                )
            else:
                execute("DELETE FROM numeric_count WHERE kind = ? AND class = ? AND place = ?", at)

    def _note(self, counts: list[int], sign: int) -> None:
        """Moves one token in the histograms."""
        occurrences = sum(counts[1::2])
        for k in range(self.n_classes):
            for cell in (("documents", k, counts[2 * k]), ("complement", k, occurrences - counts[2 * k + 1])):
                self._histogram[cell] = self._histogram.get(cell, 0) + sign

    def _write_totals(self) -> None:
        """Once a message: a statement a token would cost more than the tokens do."""
        for (view, label), (documents, occurrences, words) in self._totals.items():
            self.connection.execute(
                "UPDATE view_total SET documents = documents + ?, occurrences = occurrences + ? "
                "WHERE view = ? AND class = ?",
                (documents, occurrences, view, label),
            )
            self.connection.execute("UPDATE view SET words = words + ? WHERE number = ?", (words, view))
        self._totals.clear()

    def _write_histogram(self) -> None:
        moves = [(*cell, words) for cell, words in self._histogram.items() if words]
        self._histogram.clear()
        self.connection.executemany(
            "INSERT INTO histogram VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET words = words + excluded.words",
            moves,
        )
        self.connection.executemany(
            "DELETE FROM histogram WHERE kind = ? AND class = ? AND count = ? AND words = 0",
            [move[:3] for move in moves],
        )

    def _remember(self, label: int, digest: int, sign: int) -> None:
        self.connection.execute(
            "INSERT INTO learned VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET times = times + excluded.times",
            (digest, label, sign),
        )
        self.connection.execute(
            "DELETE FROM learned WHERE digest = ? AND class = ? AND times = 0", (digest, label)
        )

    def calibration(self) -> tuple[list[tuple[str, int | None]], list[float], list[list[float]]]:
        """Feature names, weights and the full symmetric covariance."""
        rows = self.connection.execute(
            "SELECT feature, class, weight FROM calibration ORDER BY number"
        ).fetchall()
        covariance = read_covariance(self.connection) or [[0.0] * len(rows) for _ in rows]
        return [(name, number) for name, number, _ in rows], [weight for _, _, weight in rows], covariance

    def write_calibration(
        self, features: list[tuple[str, int | None]], weights: list[float], covariance: list[list[float]]
    ) -> None:
        """Replaces the calibration."""
        write_calibration(self.connection, features, weights, covariance)

    def write_setting(self, name: str, value: str) -> None:
        """Replaces a setting, or adds it."""
        write_settings(self.connection, {name: value})


def learned(connection: sqlite3.Connection, digest: int) -> dict[int, int]:
    """class number -> how often a message of this digest was counted in it."""
    return dict(connection.execute("SELECT class, times FROM learned WHERE digest = ?", (digest,)))


def _never_counted() -> UsageError:
    return UsageError(
        "message", "was not counted in this class, so it cannot be removed from it", "", "not-learned"
    )


def _with_notaword(tokens: list[MessageToken], known: dict[int, tuple[int, ...]]) -> list[MessageToken]:
    """The tokens of the vocabulary, and all others as one NOTAWORD."""
    outside = sum(times for key, _, _, times in tokens if key not in known)
    inside = [token for token in tokens if token[0] in known]
    return [*inside, (NOTAWORD_KEY, NOTAWORD_VIEW, NOTAWORD, outside)] if outside else inside


@contextlib.contextmanager
def updating(path: str) -> Iterator[Updater]:
    """One transaction: all of it is written, or nothing.  Another writer is waited for."""
    check_file(path)
    try:
        with contextlib.closing(locked(path, BUSY_SECONDS)) as connection:
            try:
                yield Updater(connection)
            except BaseException:
                if connection.in_transaction:  # a full disk has rolled it back already
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise store_error(path, error) from None
