"""A block: the tokens of some messages as numbers.

It is the layout in which counted mail travels between processes and is merged: token texts as
one byte string, rows as compressed sparse rows over the block's own columns.  Everything is
an integer array, so a block of 500 messages pickles in a millisecond.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbspam.tokens.bag import READ_NUMBERS, Tokens
from nbspam.tokens.keys import features_digest, token_digests

Ints = NDArray[np.int64]


class Block:
    """Messages (rows) over tokens (columns).

    keys    : int64 (n_columns,), token keys, unique, in no order
    views   : uint8 (n_columns,), number of the token's view, see VIEW_NAMES
    texts   : the tokens' texts in UTF-8, joined by line feeds (no token holds one)
    starts  : int64 (n_messages + 1,), where each row begins in columns and counts
    columns : int32 (n_pairs,), distinct tokens of each message
    counts  : int32 (n_pairs,), how often each occurs in it, >= 1
    labels  : int16 (n_messages,), class number, -1 unlabelled
    dates   : float64 (n_messages,), unix time of arrival, NaN unknown
    names   : display names of the messages
    sizes   : int64 (n_messages,), bytes
    features : float64 (n_messages, n_features), NaN missing; no columns where they were not asked for
    """

    __slots__ = (
        "columns",
        "counts",
        "dates",
        "features",
        "keys",
        "labels",
        "names",
        "sizes",
        "starts",
        "texts",
        "views",
    )

    def __init__(
        self,
        keys: Ints,
        views: NDArray[np.uint8],
        texts: bytes,
        starts: Ints,
        columns: NDArray[np.int32],
        counts: NDArray[np.int32],
        labels: NDArray[np.int16],
        dates: NDArray[np.float64],
        names: list[str],
        sizes: Ints,
        features: NDArray[np.float64] | None = None,
    ) -> None:
        self.keys = keys
        self.views = views
        self.texts = texts
        self.starts = starts
        self.columns = columns
        self.counts = counts
        self.labels = labels
        self.dates = dates
        self.names = names
        self.sizes = sizes
        self.features = np.zeros((len(names), 0)) if features is None else features

    def __len__(self) -> int:
        return len(self.names)

    def rows(self) -> Ints:
        """int64 (n_pairs,): the row of each pair."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.starts))

    def pairs_of(self, rows: Ints) -> Ints:
        """int64: the places of the pairs of some rows, row after row."""
        lengths = np.diff(self.starts)[rows]
        begins = np.cumsum(lengths) - lengths
        places = np.repeat(self.starts[rows] - begins, lengths)
        places += np.arange(len(places))
        return np.asarray(places)

    def taken(self, rows: Ints, starts: Ints, pairs: NDArray[Any]) -> Block:
        """Some of the messages, each with some of its tokens, over the same columns.

        rows : int64, which messages;  starts : where their rows begin;  pairs : places, or a mask
        """
        return Block(
            self.keys,
            self.views,
            self.texts,
            starts,
            self.columns[pairs],
            self.counts[pairs],
            self.labels[rows],
            self.dates[rows],
            [self.names[row] for row in rows],
            self.sizes[rows],
            self.features[rows],
        )

    def digests(self) -> Ints:
        """int64 (n_messages,): what tells that two messages are the same, see message_digest."""
        terms = self.keys[self.columns]
        terms *= 2 * self.counts + 1  # wraps at 64 bits, as meant
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(terms)])
        digests = np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])
        if self.features.shape[1]:
            digests += np.array(list(map(features_digest, self.features.tolist())), np.int64)
        return digests

    def totals(self, n_classes: int) -> tuple[Ints, Ints]:
        """(documents, occurrences), each int64 (n_classes, n_columns), over the labelled rows."""
        documents = np.zeros((n_classes, len(self.keys)), np.int64)
        occurrences = np.zeros_like(documents)
        labels = np.repeat(self.labels, np.diff(self.starts))
        for k in range(n_classes):
            own = labels == k
            columns, counts = self.columns[own], self.counts[own]
            documents[k] = np.bincount(columns, minlength=len(self.keys))
            occurrences[k] = np.bincount(columns, weights=counts, minlength=len(self.keys))
        return documents, occurrences


class BlockBuilder:
    """Collects the tokens of messages into a block."""

    def __init__(self) -> None:
        # A new token gets the next number in C: 0.1 us a token, a loop takes 0.3.
        self._numbers: list[dict[str, int]] = [defaultdict(count().__next__) for _ in READ_NUMBERS]
        self._tokens = [array("I") for _ in READ_NUMBERS]
        self._ends: list[array[int]] = [array("Q") for _ in READ_NUMBERS]
        self.labels: list[int] = []
        self.dates: list[float] = []
        self.names: list[str] = []
        self.sizes: list[int] = []
        self.features: list[Sequence[float | None]] = []

    def __len__(self) -> int:
        return len(self.names)

    def n_columns(self) -> int:
        """Distinct tokens so far: what the memory of the builder grows with."""
        return sum(len(numbers) for numbers in self._numbers)

    def add(
        self,
        name: str,
        label: int,
        read: Tokens,
        size_bytes: int,
    ) -> None:
        """One more message."""
        views = (*read.views(), read.measures)
        for numbers, tokens, ends, found in zip(self._numbers, self._tokens, self._ends, views, strict=True):
            tokens.fromlist(list(map(numbers.__getitem__, found)))
            ends.append(len(tokens))
        self.names.append(name)
        self.labels.append(label)
        self.dates.append(float("nan") if read.date is None else read.date)
        self.sizes.append(size_bytes)
        self.features.append(read.numeric)

    def build(self) -> Block:
        """The block of all messages added."""
        pairs: list[Ints] = []
        first_column = 0
        for numbers, tokens, ends in zip(self._numbers, self._tokens, self._ends, strict=True):
            stops = np.frombuffer(ends, np.uint64).astype(np.int64)
            lengths = stops - np.concatenate([np.zeros(1, np.int64), stops[:-1]])
            rows = np.repeat(np.arange(len(self), dtype=np.int64), lengths)
            pairs.append((rows << 32) | (np.frombuffer(tokens, np.uint32) + first_column))
            first_column += len(numbers)
        ordered = np.sort(np.concatenate(pairs))  # sorting beats the hashing of np.unique
        begins = np.flatnonzero(np.diff(ordered, prepend=-1))
        distinct, counts = ordered[begins], np.diff(np.append(begins, len(ordered)))
        rows = distinct >> 32
        return Block(
            keys=_keys(self._numbers),
            views=np.repeat(np.array(READ_NUMBERS, np.uint8), [len(numbers) for numbers in self._numbers]),
            texts="\n".join("\n".join(numbers) for numbers in self._numbers if numbers).encode(
                "utf-8", "replace"
            ),
            starts=np.searchsorted(rows, np.arange(len(self) + 1)),
            columns=(distinct & 0xFFFFFFFF).astype(np.int32),
            counts=counts.astype(np.int32),
            labels=np.array(self.labels, np.int16),
            dates=np.array(self.dates, np.float64),
            names=self.names,
            sizes=np.array(self.sizes, np.int64),
            features=self._feature_matrix(),
        )

    def _feature_matrix(self) -> NDArray[np.float64]:
        width = len(self.features[0]) if self.features else 0
        return np.array(self.features, np.float64).reshape(len(self), width)  # None becomes NaN


def _keys(numberings: Iterable[dict[str, int]]) -> Ints:
    digests = token_digests([*chain.from_iterable(numberings)])
    keys = np.frombuffer(digests, "<i8")[::2].astype(np.int64)
    return np.where(keys == 0, 1, keys)
