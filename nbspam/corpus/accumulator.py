"""Counts of any amount of mail in bounded memory.

The table of counts grows with the vocabulary.  The rows (which message held which token) are kept only for
the latest messages of each class, because the calibration needs no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.block import Block, Ints
from nbspam.corpus.blocks import Pile, merge_blocks, merge_columns, only_views, used_columns, without_rows
from nbspam.corpus.token_texts import join_texts, take_texts
from nbspam.tokens.bag import NOTAWORD_VIEW, READ_NUMBERS
from nbspam.tokens.keys import NOTAWORD, NOTAWORD_KEY

if TYPE_CHECKING:
    from nbspam.corpus.feature_rows import FeatureRows

DATED_SHARE = 0.9  # of the messages, for time order to mean anything
KEPT_MESSAGES = 12_000  # rows kept for the calibration: docs/decisions.md


class Table:
    """The sufficient statistics of the word models.

    keys        : int64 (n,), ascending;  views : uint8 (n,);  texts : UTF-8, joined by line feeds
    documents   : int64 (n_classes, n), n_jk;  occurrences : the same shape, N_jk
    """

    __slots__ = ("documents", "keys", "occurrences", "texts", "views")

    def __init__(
        self, keys: Ints, views: NDArray[np.uint8], texts: bytes, documents: Ints, occurrences: Ints
    ) -> None:
        self.keys = keys
        self.views = views
        self.texts = texts
        self.documents = documents
        self.occurrences = occurrences


def empty_table(n_classes: int) -> Table:
    """A table of no tokens."""
    none = np.zeros((n_classes, 0), np.int64)
    return Table(np.zeros(0, np.int64), np.zeros(0, np.uint8), b"", none, none)


def merge_tables(tables: list[Table]) -> Table:
    """Counts added token by token."""
    keys, places, origins = merge_columns([table.keys for table in tables])
    documents = np.zeros((len(tables[0].documents), len(keys)), np.int64)
    occurrences = np.zeros_like(documents)
    for table, place in zip(tables, places, strict=True):
        documents[:, place] += table.documents  # places are distinct within a table
        occurrences[:, place] += table.occurrences
    views = np.concatenate([table.views for table in tables])[origins]
    texts = take_texts(join_texts([table.texts for table in tables]), origins)
    return Table(keys, views, texts, documents, occurrences)


def sorted_table(table: Table) -> Table:
    """The same table with its keys ascending."""
    return merge_tables([table]) if (np.diff(table.keys) < 0).any() else table


def count_block(block: Block, n_classes: int, vocabulary: Ints | None = None) -> Table:
    """The counts of one block.

    vocabulary : keys, ascending; all other tokens are one NOTAWORD
    """
    documents, occurrences = block.totals(n_classes)
    table = Table(block.keys, block.views, block.texts, documents, occurrences)
    return table if vocabulary is None else _restricted(block, table, vocabulary)


def select_columns(table: Table, chosen: NDArray[np.bool_]) -> Table:
    """The tokens where `chosen` is true."""
    return Table(
        table.keys[chosen],
        table.views[chosen],
        take_texts(table.texts, np.flatnonzero(chosen)),
        table.documents[:, chosen],
        table.occurrences[:, chosen],
    )


def _restricted(block: Block, table: Table, vocabulary: Ints) -> Table:
    place = np.minimum(np.searchsorted(vocabulary, block.keys), max(len(vocabulary) - 1, 0))
    inside = vocabulary[place] == block.keys if len(vocabulary) else np.zeros(len(block.keys), bool)
    outside_pair = (~inside)[block.columns]
    rows = block.rows()[outside_pair]
    n_classes = len(table.documents)
    documents = np.zeros((n_classes, 1), np.int64)
    occurrences = np.zeros((n_classes, 1), np.int64)
    labels = block.labels.astype(np.int64)
    np.add.at(documents[:, 0], labels[np.unique(rows)], 1)
    np.add.at(occurrences[:, 0], labels[rows], block.counts[outside_pair])
    words = select_columns(table, inside)
    return Table(
        np.append(words.keys, NOTAWORD_KEY),
        np.append(words.views, np.uint8(NOTAWORD_VIEW)),
        words.texts + b"\n" * bool(len(words.keys)) + NOTAWORD.encode(),
        np.concatenate([words.documents, documents], axis=1),
        np.concatenate([words.occurrences, occurrences], axis=1),
    )


class Accumulator:
    """Adds blocks up."""

    def __init__(
        self,
        n_classes: int,
        vocabulary: Ints | None = None,
        views: tuple[int, ...] = READ_NUMBERS,
        words: bool = True,
        features: bool = False,
    ) -> None:
        """words, features : what of the messages is kept"""
        self._vocabulary = vocabulary
        self._views = views
        self._n_classes = n_classes
        self._words = words
        self.features = _feature_rows() if features else None
        self._tables: list[Table] = []  # each at least twice as long as the next: see _fold
        self._pending = Pile()
        self._recent: list[Block] = []
        self.messages = np.zeros(n_classes, np.int64)
        self.learned: list[tuple[Ints, NDArray[np.int16]]] = []

    def add(self, block: Block) -> None:
        """One more block; its rows are labelled."""
        if self._words:
            self._pending.add(only_views(block, self._views))
        if self.features is not None:
            self.features.add(block.features, block.labels)
        self.messages += np.bincount(block.labels, minlength=self._n_classes)
        self.learned.append((block.digests(), block.labels))
        if self._pending.is_high():
            self._fold()

    def _fold(self) -> None:
        """Counts what is pending.

        Tables are merged as the digits of a number are carried: to add each new one to a single table would
        copy all counts every time, and the rows kept are looked through when there are twice as many.
        """
        for merged in self._pending.taken():
            self._tables.append(sorted_table(count_block(merged, self._n_classes, self._vocabulary)))
            self._recent.append(merged)
        while len(self._tables) > 1 and 2 * len(self._tables[-1].keys) > len(self._tables[-2].keys):
            self._tables[-2:] = [merge_tables(self._tables[-2:])]
        if sum(map(len, self._recent)) > 2 * KEPT_MESSAGES:
            self._recent = [self._latest()]

    def _latest(self) -> Block:
        """Of the rows kept, those to be kept longer; without the tokens that the others alone have."""
        rows = merge_blocks(self._recent)
        chosen = representative_rows(rows, np.arange(len(rows)), KEPT_MESSAGES, self.messages)
        return rows if len(chosen) == len(rows) else used_columns(select_rows(rows, chosen))

    def table(self) -> Table:
        """All counts."""
        self._fold()
        self._tables = [merge_tables(self._tables)] if len(self._tables) > 1 else self._tables
        return self._tables[0] if self._tables else empty_table(self._n_classes)

    def recent(self) -> Block:
        """About KEPT_MESSAGES of all classes, the latest; the tokens of `table` all have a column."""
        table = self.table()
        latest = self._latest()
        self._recent = [latest]
        if len(latest) == self.messages.sum():
            return latest
        words = select_columns(table, table.views != NOTAWORD_VIEW)
        rest = without_rows(words.keys, words.views, words.texts, latest.features.shape[1])
        return merge_blocks([latest, rest])


def _feature_rows() -> FeatureRows:
    from nbspam.corpus.feature_rows import FeatureRows  # tempfile: 4 ms

    return FeatureRows()


def time_order(block: Block) -> Ints:
    """Rows by date; an undated message keeps its place behind the one read before it."""
    return order_of_dates(block.dates)


def order_of_dates(dates: NDArray[np.float64]) -> Ints:
    """What time_order gives, from the dates alone."""
    known = ~np.isnan(dates)
    if not known.any():
        return np.arange(len(dates))
    filled = np.where(known, np.arange(len(dates)), 0)
    np.maximum.accumulate(filled, out=filled)
    dates = dates[filled]
    dates[np.isnan(dates)] = -np.inf
    return np.argsort(dates, kind="stable")


def representative_rows(block: Block, rows: Ints, n: int, messages: Ints) -> Ints:
    """About n of some labelled rows, in their order: the latest of each class, in proportion.

    messages : int64 (n_classes,), for the proportions
    The latest of all would be of one class where a folder of ham is older than that of spam.  Of mail without
    dates the last read is not the latest: a few by their digests, which is to say any.
    """
    if len(rows) <= n:
        return rows
    dates = block.dates[rows]
    order = order_of_dates(dates) if is_dated(dates) else np.argsort(block.digests()[rows])
    labels = block.labels[rows][order]
    quotas = np.ceil(n * messages / max(int(messages.sum()), 1)).astype(np.int64)
    parts = [order[labels == k][-quota:] for k, quota in enumerate(quotas.tolist()) if quota]
    return np.asarray(rows[np.sort(np.concatenate(parts))])


def is_dated(dates: NDArray[np.float64]) -> bool:
    """True if enough different dates are known to order the messages by time."""
    known = dates[~np.isnan(dates)]
    return len(np.unique(known)) > 1 and bool(np.isnan(dates).mean() <= 1 - DATED_SHARE)


def select_rows(block: Block, rows: Ints) -> Block:
    """The given rows in the given order, over the same columns."""
    if len(rows) == len(block) and np.array_equal(rows, np.arange(len(block))):
        return block  # a copy of all would take as much memory again
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(block.starts)[rows])])
    return block.taken(rows, starts, block.pairs_of(rows))
