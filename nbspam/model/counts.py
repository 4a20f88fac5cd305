"""Counts: the sufficient statistics of every word model, by token and class.

Counting is the whole of learning.  Counts are integers that add and subtract exactly, so training at once, in
parts, message by message, merging models, unlearning and leaving messages out all give the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.tokens.bag import N_VIEWS

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LINE_FEED = 10
SLICE_TEXTS = 20_000  # gathered at a time: the place of each character takes eight bytes


class ViewSums(NamedTuple):
    """Sums over the vocabulary.

    words                  : int64 (N_VIEWS,), how many tokens of each view are words
    documents, occurrences : int64 (N_VIEWS, n_classes)
    """

    words: Ints
    documents: Ints
    occurrences: Ints


@dataclass(eq=False)
class Counts:
    """Counts of some messages.

    keys        : int64 (n_tokens,), ascending;  views : uint8 (n_tokens,), see VIEW_NAMES
    texts       : the tokens' texts in UTF-8, joined by line feeds; empty where nobody reads them
    documents   : int64 (n_classes, n_tokens), n_jk;  occurrences : the same shape, N_jk
    messages    : int64 (n_classes,), m_k
    is_fixed    : the vocabulary is fixed: every token is a word; else those that were counted
    totals      : where these are the counts of some tokens only, to be set to those of all
    """

    keys: Ints
    views: NDArray[np.uint8]
    texts: bytes
    documents: Ints
    occurrences: Ints
    messages: Ints
    is_fixed: bool = False
    _histograms: dict[str, list[Counter[int]]] = field(default_factory=dict, init=False)

    def __add__(self, other: Counts) -> Counts:
        return merge_counts([self, other])

    def take(self, places: Ints) -> Counts:
        """Some of the tokens.  places : ascending"""
        return replace(
            self,
            keys=self.keys[places],
            views=self.views[places],
            texts=take_texts(self.texts, places),
            documents=self.documents[:, places],
            occurrences=self.occurrences[:, places],
        )

    def places(self, keys: Ints) -> Ints:
        """int64 (n,): the column of each key; -1 for keys without a column."""
        return find_places(self.keys, keys)

    def known(self, places: Any = slice(None)) -> NDArray[np.bool_]:
        """Which tokens, of some places, are words."""
        return np.asarray(self.documents[:, places].any(axis=0) | self.is_fixed)

    @cached_property
    def totals(self) -> ViewSums:
        """Sums over the vocabulary, kept up to date by add_message."""
        words = np.bincount(self.views[self.known()], minlength=N_VIEWS)
        return ViewSums(words, self._by_view(self.documents), self._by_view(self.occurrences))

    def _by_view(self, counts: Ints) -> Ints:
        rows = [np.bincount(self.views, row, N_VIEWS) for row in counts]
        return np.array(rows).reshape(-1, N_VIEWS).T.astype(np.int64)

    def histogram(self, kind: str) -> list[Counter[int]]:
        """By class, count -> how many words have it, see ClassSums; kept up to date by add_message.

        kind : `documents`: n_jk, or `complement`: occurrences outside the class
        """
        if kind not in self._histograms:
            rows = self._rows(kind, np.flatnonzero(self.known()))
            self._histograms[kind] = [Counter(row.tolist()) for row in rows]
        return self._histograms[kind]

    def _rows(self, kind: str, places: Ints) -> Ints:
        """(n_classes, n_places): the counts of these tokens that a histogram counts."""
        if kind == "documents":
            return self.documents[:, places]
        occurrences = self.occurrences[:, places]
        return np.asarray(occurrences.sum(axis=0) - occurrences)

    def add_message(self, places: NDArray[Any], times: NDArray[Any], label: int, sign: int = 1) -> None:
        """Counts one message in place, or with sign -1 takes it out.

        places : its distinct tokens;  times : how often each is in it
        """
        totals = self.totals
        views = self.views[places]
        known = self.known(places)
        before = {kind: self._rows(kind, places) for kind in self._histograms}
        self.messages[label] += sign
        self.documents[label, places] += sign
        self.occurrences[label, places] += sign * times
        for kind, rows in before.items():
            for histogram, old, new in zip(
                self._histograms[kind], rows, self._rows(kind, places), strict=True
            ):
                histogram.subtract(old.tolist())
                histogram.update(new.tolist())
        totals.words[:] += sign * np.bincount(views[known != self.known(places)], minlength=N_VIEWS)
        totals.documents[:, label] += sign * np.bincount(views, minlength=N_VIEWS)
        occurrences = np.bincount(views, weights=times, minlength=N_VIEWS)
        totals.occurrences[:, label] += sign * occurrences.astype(np.int64)


def find_places(ordered: Ints, keys: Ints) -> Ints:
    """int64 (n,): where each key is among the distinct keys of an ascending list; -1 if it is not there."""
    if np.array_equal(keys, ordered):
        return np.arange(len(keys))
    if not len(ordered):
        return np.full(len(keys), -1)
    place = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return np.where(ordered[place] == keys, place, -1)


def take_columns(counts: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Some columns of counts, the last axis; 0 at place -1."""
    if not counts.shape[-1]:
        return np.zeros((*counts.shape[:-1], len(places)), counts.dtype)
    columns = counts.take(places, axis=-1, mode="clip")
    columns[..., places < 0] = 0
    return columns


def merge_counts(parts: Sequence[Counts]) -> Counts:
    """Counts added token by token."""
    if len(parts) == 1:
        return parts[0]
    keys, places, origins = merge_columns([part.keys for part in parts])
    documents = np.zeros((len(parts[0].documents), len(keys)), np.int64)
    occurrences = np.zeros_like(documents)
    for part, place in zip(parts, places, strict=True):
        documents[:, place] += part.documents  # places are distinct within a part
        occurrences[:, place] += part.occurrences
    views = np.concatenate([part.views for part in parts])[origins]
    texts = take_texts(join_texts([part.texts for part in parts]), origins)
    messages = reduce(np.add, [part.messages for part in parts])
    is_fixed = any(part.is_fixed for part in parts)
    return Counts(keys, views, texts, documents, occurrences, messages, is_fixed)


def merge_columns(
    key_lists: Sequence[Ints], kind: Literal["quicksort", "stable"] = "stable"
) -> tuple[Ints, list[NDArray[np.int32]], Ints]:
    """(keys, places, origins): distinct keys; per list the index of each key; per key its origin.

    keys    : int64, ascending
    origins : int64 (n_keys,), index in the lists joined end to end; of equal keys any of them
    kind    : of the one sort, a third of the time of looking each key up: "stable" takes half the time of
              "quicksort" where each list is in order, six times as much where none is
    """
    ordered = np.concatenate(key_lists)
    order = np.argsort(ordered, kind=kind)
    ordered = ordered[order]  # only one of the two is in memory from here
    is_first = np.append(np.ones(min(1, len(ordered)), bool), ordered[1:] != ordered[:-1])
    places = np.empty(len(ordered), np.int32)
    places[order] = np.cumsum(is_first, dtype=np.int32) - 1
    ends = np.cumsum([len(keys) for keys in key_lists])
    return ordered[is_first], np.split(places, ends[:-1]), order[is_first]


def join_texts(parts: Sequence[bytes]) -> bytes:
    """The texts of several byte strings, one after the other; an empty string has none."""
    return b"\n".join([part for part in parts if part])


def split_texts(texts: bytes, n: int) -> list[bytes]:
    """The n token texts, one by one."""
    return texts.split(b"\n") if n else []


def slice_texts(texts: bytes, n: int, size: int) -> Iterator[tuple[int, list[str]]]:
    """The n token texts in slices of at most so many: (number of the first, the texts)."""
    firsts = range(0, n, size)
    for first, piece in zip(firsts, cut_texts(texts, [*firsts, n]), strict=True):
        yield first, piece.decode("utf-8", "replace").split("\n")


def cut_texts(texts: bytes, bounds: Sequence[int]) -> Iterator[bytes]:
    """The texts from each of these numbers up to the next one."""
    feeds = np.flatnonzero(np.frombuffer(texts, np.uint8) == LINE_FEED)
    begins = np.concatenate([[0], feeds + 1, [len(texts) + 1]])
    for begin, end in pairwise(begins[bounds].tolist()):
        yield texts[begin : max(begin, end - 1)]


def cut_counts(counts: Counts, bounds: Sequence[int]) -> list[Counts]:
    """The tokens from each of these numbers up to the next one."""
    return [
        replace(
            counts,
            keys=counts.keys[first:end],
            views=counts.views[first:end],
            texts=texts,
            documents=counts.documents[:, first:end],
            occurrences=counts.occurrences[:, first:end],
        )
        for (first, end), texts in zip(pairwise(bounds), cut_texts(counts.texts, bounds), strict=True)
    ]


def take_texts(texts: bytes, places: Ints) -> bytes:
    """Some of the texts in the order given, without an object for each, which takes as long as counting.

    places : int64 (n,), numbers of texts, from 0
    """
    if not len(places) or not texts:
        return b""
    characters = np.frombuffer(texts + b"\n", np.uint8)
    ends = np.flatnonzero(characters == LINE_FEED) + 1
    begins = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    slices = []
    for first in range(0, len(places), SLICE_TEXTS):
        numbers = places[first : first + SLICE_TEXTS]
        lengths = ends[numbers] - begins[numbers]
        goes_to = np.cumsum(lengths) - lengths
        source = np.repeat(begins[numbers] - goes_to, lengths) + np.arange(lengths.sum())
        slices.append(characters[source].tobytes())
    return b"".join(slices)[:-1]


class MemoryModel:
    """In-memory stand-in for store.reader.Model."""

    def __init__(self, classes: tuple[str, ...], counts: Counts, weights: Sequence[float] = ()) -> None:
        """weights : of the calibration"""
        self.path = "counts in memory"
        self.classes, self._counts, self._weights = classes, counts, weights
        self.settings: dict[str, str] = {}
        totals = counts.totals
        self.messages: list[int] = counts.messages.tolist()
        self.words: list[int] = totals.words.tolist()
        self.documents: list[list[int]] = totals.documents.tolist()
        self.occurrences: list[list[int]] = totals.occurrences.tolist()

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """key -> (documents_0, occurrences_0, documents_1, ...) for the keys that are words."""
        counts = self._counts
        places = counts.places(np.array(keys, np.int64))
        places = places[places >= 0]
        places = places[counts.known(places)]
        pairs = np.stack([counts.documents[:, places], counts.occurrences[:, places]], axis=1)
        rows = pairs.reshape(2 * len(self.classes), -1).T.tolist()
        return dict(zip(counts.keys[places].tolist(), map(tuple, rows), strict=True))

    def histogram(self, kind: str) -> list[Counter[int]]:
        """By class, count -> how many words have it."""
        return self._counts.histogram(kind)

    def calibration(self) -> list[float]:
        """The weights of the calibration."""
        return list(self._weights)

    def covariance(self) -> list[list[float]]:
        """Empty: none is kept."""
        return []
