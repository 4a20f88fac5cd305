"""Counts of any amount of mail in bounded memory.

The counts grow with the vocabulary.  What grows too large is kept in temporary files, by ranges of keys.
Keys are hashes, so each of the equal ranges holds about the same share of the tokens, and one range of all
files is merged in the memory of a few.  The rows (which message has which token) are kept for the latest
messages of each class only, because the calibration needs no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.corpus import list_views
from nbspam.corpus.executor import give_back_memory
from nbspam.corpus.item import Skipped
from nbspam.corpus.reading import OpenLexicon, Progress, close_lexicons, read_blocks
from nbspam.model.block import (
    Block,
    Lexicon,
    choose_rows,
    keep_views,
    limit_to_words,
    merge_blocks,
    select_rows,
)
from nbspam.model.counts import Counts, Floats, Ints, cut_counts, merge_counts
from nbspam.settings import ALL_VIEWS, Settings

KEPT_MESSAGES = 12_000  # rows kept for the calibration: docs/decisions.md, "Calibration: on which scores"
KEPT_PAIRS = 6_000_000  # tokens in them, 50 MB: of very long messages fewer are kept
MOST_KEPT = 1.5  # times as many rows are kept before some of them go
MAX_PENDING_PAIRS = 1_500_000  # some 4,000 messages, 12 MB
N_RANGES = 64
UNBOUNDED = 1 << 40  # bytes
TABLE_BYTES = 2.6  # of all tables of the core, for a byte of counts, which are copied while they are merged


class Accumulator:
    """Adds blocks up.

    messages   : int64 (n_classes,)
    learned    : digests and class numbers of the messages, by block
    names      : of the messages in the same order, or empty
    numeric    : their numeric features, by block; None if they are not kept
    skipped    : the mail that could not be read
    """

    def __init__(
        self,
        classes: tuple[str, ...],
        settings: Settings,
        vocabulary: Sequence[int] | None = None,
        max_bytes: int | None = None,
        keeps_names: bool = False,
        jobs: int = 1,
    ) -> None:
        """Count nothing yet.

        settings    : which views are counted, and whether numeric features are kept
        vocabulary  : keys of a fixed one, all other tokens are one NOTAWORD; None: every word has its count
        max_bytes   : of the counts in memory, see RunningSum
        keeps_names : keep the names of the messages, 100 bytes each
        jobs        : processes that read mail
        """
        self.classes, self.settings, self._jobs, self._keeps_names = classes, settings, jobs, keeps_names
        self._vocabulary = None if vocabulary is None else np.array(vocabulary, np.int64)
        self._views = list_views(settings) if settings.features != "numeric" else ()
        self.numeric: list[Floats] | None = [] if settings.features != "words" else None
        self._counts = RunningSum(len(classes), max_bytes)
        self._pending: list[Block] = []
        self._pairs = 0  # of the pending blocks
        self._recent: list[Block] = []
        is_plain = vocabulary is None and settings.views == ALL_VIEWS
        table_bytes = UNBOUNDED if max_bytes is None else int(max_bytes * TABLE_BYTES)
        self._counted_bytes = max(1, table_bytes // jobs) if is_plain else 0
        self._lexicons: dict[int, OpenLexicon] = {}  # by reader
        self.messages = np.zeros(len(classes), np.int64)
        self.learned: list[tuple[Ints, NDArray[np.int16]]] = []
        self.names: list[str] = []
        self.skipped: Skipped = []

    def read(self, items: Iterable[Any], progress: Progress | None = None) -> None:
        """Read these Items and add them."""
        wanted = self.settings.wanted
        for shard in read_blocks(items, self.classes, self._jobs, wanted, self._counted_bytes):
            self.skipped += shard.skipped
            for block in shard.blocks:
                self.add(block)
                if progress:
                    progress(len(block))

    def add(self, block: Block) -> None:
        """One more block; its rows are labelled."""
        if isinstance(block.lexicon, OpenLexicon):
            self._open(block.lexicon)
        self._pending.append(block)
        self._pairs += len(block.columns)
        if self.numeric is not None:
            self.numeric.append(block.features)
        self.messages += np.bincount(block.labels, minlength=len(self.messages))
        self.learned.append((block.digests(), block.labels))
        if self._keeps_names:
            self.names += block.names
        if self._pairs > MAX_PENDING_PAIRS:
            self._count_pending()

    def _open(self, lexicon: OpenLexicon) -> None:
        """Note a lexicon; the one before it of the same reader is whole."""
        latest = self._lexicons.get(lexicon.reader, lexicon)
        if latest is not lexicon:
            self._close([latest])
        self._lexicons[lexicon.reader] = lexicon

    def _close(self, lexicons: list[OpenLexicon]) -> None:
        """Add what the core has counted, and let the rows have its columns."""
        counts, places = close_lexicons(lexicons, len(self.classes))
        whole = Lexicon(counts.keys, counts.views, counts.texts)
        for block in (*self._recent, *self._pending):
            if block.lexicon in places:
                block.columns, block.lexicon = places[block.lexicon][block.columns], whole
        self._counts.add(counts)

    def _finish(self) -> None:
        """Count what is pending, and what the core has counted."""
        self._count_pending()
        if lexicons := [*self._lexicons.values()]:
            self._close(lexicons)
            self._lexicons.clear()

    def _count_pending(self) -> None:
        """Count what is pending, if the core does not, and drop old rows."""
        if self._lexicons:
            self._recent += self._pending
        elif self._pending:
            block = keep_views(merge_blocks(self._pending), self._views)
            self._recent.append(block)
            counted = block if self._vocabulary is None else limit_to_words(block, self._vocabulary)
            self._counts.add(counted.count(len(self.messages)))
        self._pending, self._pairs = [], 0
        if sum(map(len, self._recent)) > MOST_KEPT * self._most_rows():
            self._keep_latest()

    def _most_rows(self) -> int:
        """How many rows are kept: fewer of messages with very many tokens."""
        rows = sum(len(block) for block in self._recent)
        pairs = sum(len(block.columns) for block in self._recent)
        return min(KEPT_MESSAGES, KEPT_PAIRS * rows // max(1, pairs))

    def ranges(self) -> Iterator[Counts]:
        """The counts of the words of all messages, in ascending ranges of keys; can be asked for again."""
        self._finish()
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
        if self.numeric is None:
            return None
        labels = [labels for _, labels in self.learned]
        return np.concatenate(self.numeric), np.concatenate(labels).astype(np.int64)

    def recent(self) -> Block:
        """About KEPT_MESSAGES of all classes, the latest; fewer if they have more than KEPT_PAIRS."""
        self._finish()
        self._keep_latest()
        return self._recent[0]

    def _keep_latest(self) -> None:
        self._recent = select_latest(self._recent, self._most_rows(), self.messages)
        give_back_memory()
        if not self._lexicons:
            self._recent = [merge_blocks(self._recent)]


def select_latest(blocks: list[Block], n: int, shares: Ints) -> list[Block]:
    """About n rows of some blocks, see choose_rows, block by block."""
    chosen = choose_rows(blocks, n, shares)
    return [select_rows(*pair) for pair in zip(blocks, chosen, strict=True) if len(pair[1])]


class RunningSum:
    """Adds Counts up."""

    def __init__(self, n_classes: int, max_bytes: int | None = None) -> None:
        """max_bytes : of the counts that are kept in memory if there are several parts; None: any number"""
        self._none = Block().count(n_classes)
        self._parts: list[Counts] = []  # each at least twice as long as the next
        self._max_bytes = max_bytes
        self._files: list[IO[bytes]] = []  # one a range of keys; each has arrays of parts, end to end

    def add(self, counts: Counts) -> None:
        """One more part.

        Parts are merged as the digits of a number are carried: to add each to a single sum would copy all
        counts every time.
        """
        self._parts.append(counts)
        is_alone = len(self._parts) == 1 and not self._files
        if self._max_bytes is not None and not is_alone and self._measure() > self._max_bytes:
            self._spill()
        while len(self._parts) > 1 and 2 * len(self._parts[-1].keys) > len(self._parts[-2].keys):
            self._parts[-2:] = [merge_counts(self._parts[-2:])]

    def _measure(self) -> int:
        """The bytes of the counts in memory."""
        arrays = [(part.keys, part.views, part.documents, part.occurrences) for part in self._parts]
        texts = sum([len(part.texts) for part in self._parts])
        return texts + sum([array.nbytes for part in arrays for array in part])

    def _spill(self) -> None:
        self._files = self._files or [TemporaryFile() for _ in range(N_RANGES)]  # noqa: SIM115 - kept open
        for part in self._parts:
            for counts, file in zip(cut_by_key(part, N_RANGES), self._files, strict=True):
                for array in (counts.keys, counts.views, np.frombuffer(counts.texts, np.uint8)):
                    np.save(file, array)
                np.save(file, np.stack([counts.documents, counts.occurrences]))
        self._parts = []

    def ranges(self) -> Iterator[Counts]:
        """The sum, in ascending ranges of keys; it can be asked for again."""
        if self._files and self._parts:
            self._spill()
        if not self._files:
            self._parts = [merge_counts(self._parts or [self._none])]
            yield self._parts[0]
        for file in self._files:
            yield merge_counts([*self._load_parts(file)])

    def _load_parts(self, file: IO[bytes]) -> Iterator[Counts]:
        end = file.seek(0, 2)
        file.seek(0)
        while file.tell() < end:
            keys, views, texts, (documents, occurrences) = (np.load(file) for _ in range(4))
            yield Counts(keys, views, texts.tobytes(), documents, occurrences, self._none.messages)


def cut_by_key(counts: Counts, n_ranges: int) -> list[Counts]:
    """Counts of the tokens in each of so many equal ranges of keys, in ascending order."""
    bounds = [(number << 64) // n_ranges - (1 << 63) for number in range(1, n_ranges)]
    ends = [0, *np.searchsorted(counts.keys, bounds).tolist(), len(counts.keys)]
    return cut_counts(counts, ends)
