"""A sum of Counts in bounded memory: what grows too large is kept in temporary files, by ranges of keys.

Keys are hashes, so each of the equal ranges holds about the same share of the tokens, and one range of all
files is merged in the memory of a few.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from tempfile import TemporaryFile
from typing import IO

import numpy as np

from nbspam.model.block import Block
from nbspam.model.counts import Counts, merge_counts

N_RANGES = 64
_BOUNDS = np.array([(number << 58) - (1 << 63) for number in range(1, N_RANGES)], np.int64)


class CountSum:
    """Adds Counts up."""

    def __init__(self, n_classes: int, max_bytes: int | None = None) -> None:
        """max_bytes : of the counts that are kept in memory; None: any number"""
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
        while len(self._parts) > 1 and 2 * len(self._parts[-1].keys) > len(self._parts[-2].keys):
            self._parts[-2:] = [merge_counts(self._parts[-2:])]
        if self._max_bytes is not None and sum(map(_size_bytes, self._parts)) > self._max_bytes:
            self._spill()

    def _spill(self) -> None:
        self._files = self._files or [TemporaryFile() for _ in range(N_RANGES)]  # noqa: SIM115 - kept open
        parts = cut(merge_counts(self._parts))
        self._parts = []
        for part, file in zip(parts, self._files, strict=True):
            for array in (part.keys, part.views, np.frombuffer(part.texts, np.uint8)):
                np.save(file, array)
            np.save(file, np.stack([part.documents, part.occurrences]))

    def ranges(self) -> Iterator[Counts]:
        """The sum, in ascending ranges of keys; it can be asked for again."""
        if self._files and self._parts:
            self._spill()
        if not self._files:
            self._parts = [merge_counts(self._parts or [self._none])]
            yield self._parts[0]
        for file in self._files:
            yield merge_counts([*self._saved(file)])

    def _saved(self, file: IO[bytes]) -> Iterator[Counts]:
        end = file.seek(0, 2)
        file.seek(0)
        while file.tell() < end:
            keys, views, texts, (documents, occurrences) = (np.load(file) for _ in range(4))
            yield Counts(keys, views, texts.tobytes(), documents, occurrences, self._none.messages)


def cut(counts: Counts) -> list[Counts]:
    """N_RANGES counts, each of the tokens in one range of keys."""
    ends = [0, *np.searchsorted(counts.keys, _BOUNDS).tolist(), len(counts.keys)]
    return [counts.take(np.arange(*pair)) for pair in pairwise(ends)]


def _size_bytes(counts: Counts) -> int:
    arrays = (counts.keys, counts.views, counts.documents, counts.occurrences)
    return len(counts.texts) + sum([array.nbytes for array in arrays])
