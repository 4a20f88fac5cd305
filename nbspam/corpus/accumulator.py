"""Counts of any amount of mail in bounded memory.

The counts grow with the vocabulary; see nbspam.corpus.count_sum.  The rows (which message has which token)
are kept for the latest messages of each class only, because the calibration needs no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.count_sum import CountSum
from nbspam.corpus.executor import give_back_memory
from nbspam.corpus.item import Skipped
from nbspam.corpus.reading import Progress, ReadShard
from nbspam.model.block import (
    Block,
    merge_blocks,
    only_views,
    over_words,
    representative_rows,
    select_rows,
)
from nbspam.model.counts import Counts, Floats, Ints, merge_counts
from nbspam.tokens.bag import READ_NUMBERS

KEPT_MESSAGES = 12_000  # rows kept for the calibration: docs/decisions.md
KEPT_PAIRS = 6_000_000  # tokens in them, 50 MB: of very long messages fewer are kept
MOST_KEPT = 1.5  # times as many rows are kept before some of them go
MAX_PENDING_PAIRS = 1_500_000  # some 4,000 messages, 12 MB


class Accumulator:
    """Adds blocks up."""

    def __init__(
        self,
        n_classes: int,
        vocabulary: Ints | None = None,
        views: tuple[int, ...] = READ_NUMBERS,
        features: bool = False,
        max_bytes: int | None = None,
    ) -> None:
        """vocabulary : keys of a fixed one; all other tokens are one NOTAWORD

        views     : numbers of those that are counted; none for numeric features alone
        features  : whether numeric features are kept
        max_bytes : of the counts in memory, see CountSum
        """
        self._vocabulary, self._views = vocabulary, views
        self._features: list[Floats] | None = [] if features else None
        self._counts = CountSum(n_classes, max_bytes)
        self._pending: list[Block] = []
        self._pairs = 0  # of the pending blocks
        self._recent: list[Block] = []
        self.messages = np.zeros(n_classes, np.int64)
        self.learned: list[tuple[Ints, NDArray[np.int16]]] = []

    def add_all(self, parts: Iterable[ReadShard], progress: Progress | None = None) -> Skipped:
        """All blocks of some shards; the mail that could not be read."""
        skipped: Skipped = []
        for blocks, unread, _ in parts:
            skipped.extend(unread)
            for block in blocks:
                self.add(block)
                if progress:
                    progress(len(block), int(block.sizes.sum()))
        return skipped

    def add(self, block: Block) -> None:
        """One more block; its rows are labelled."""
        self._pending.append(block)
        self._pairs += len(block.columns)
        if self._features is not None:
            self._features.append(block.features)
        self.messages += np.bincount(block.labels, minlength=len(self.messages))
        self.learned.append((block.digests(), block.labels))
        if self._pairs > MAX_PENDING_PAIRS:
            self._fold()

    def _fold(self) -> None:
        """Counts what is pending."""
        if self._pending:
            block = only_views(merge_blocks(self._pending), self._views)
            self._pending, self._pairs = [], 0
            self._recent.append(block)
            counted = block if self._vocabulary is None else over_words(block, self._vocabulary)
            self._counts.add(counted.count(len(self.messages)))
            if sum(map(len, self._recent)) > MOST_KEPT * self._most_rows():
                self._latest()

    def _most_rows(self) -> int:
        """How many rows are kept: fewer of messages with very many tokens."""
        rows, pairs = (sum(map(len, some)) for some in (self._recent, [one.columns for one in self._recent]))
        return min(KEPT_MESSAGES, KEPT_PAIRS * rows // max(1, pairs))

    def ranges(self) -> Iterator[Counts]:
        """The counts of the words of all messages, in ascending ranges of keys; can be asked for again."""
        self._fold()
        for counts in self._counts.ranges():
            counts.messages = self.messages  # some may have no words
            yield counts

    def counts(self) -> Counts:
        """The counts of the words of all messages, all in memory."""
        counts = merge_counts([*self.ranges()])
        counts.messages = self.messages
        return counts

    def features(self) -> tuple[Floats, Ints] | None:
        """Numeric features float64 (n_messages, n_features), and class numbers; None if they are not kept.

        They take 300 bytes a message: bins need the whole range of values before anything is counted.
        """
        if self._features is None:
            return None
        labels = [np.zeros(0, np.int16), *(labels for _, labels in self.learned)]
        none = np.zeros((0, self._features[0].shape[1] if self._features else 0))
        return np.concatenate([none, *self._features]), np.concatenate(labels).astype(np.int64)

    def recent(self) -> Block:
        """About KEPT_MESSAGES of all classes, the latest; fewer if they have more than KEPT_PAIRS."""
        self._fold()
        return self._latest()

    def _latest(self) -> Block:
        chosen = representative_rows(self._recent, self._most_rows(), self.messages)
        rows = merge_blocks([select_rows(*pair) for pair in zip(self._recent, chosen, strict=True)])
        self._recent = [rows]
        give_back_memory()
        return rows
