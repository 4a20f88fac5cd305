"""Counts at hand where a Scorer expects a model file.

Hides that there is no file: one message scored from memory goes the very way of `classify`, which is
how an evaluation tells the clues of its mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.accumulator import Table
from nbspam.corpus.block import Block, Ints
from nbspam.corpus.token_texts import split_texts
from nbspam.store.reader import Model
from nbspam.tokens.bag import MEASURES_VIEW, N_VIEWS, VIEWS, Tokens

Whole = NDArray[np.integer[Any]]


class Sums(NamedTuple):
    """What is true of the whole vocabulary.

    messages               : int64 (n_classes,)
    words                  : int64 (N_VIEWS,), distinct tokens by view
    documents, occurrences : int64 (N_VIEWS, n_classes)
    """

    messages: Ints
    words: Ints
    documents: Ints
    occurrences: Ints


def sums_of(
    columns: Block | Table, documents: Ints, occurrences: Ints, messages: Ints, fixed: bool = False
) -> Sums:
    """The sums of counts over some columns.

    fixed : every column is a word, also where nothing was counted
    """
    views = columns.views
    by_view = [_by_view(views, rows) for rows in (documents, occurrences)]
    words = np.bincount(views[documents.any(axis=0) | fixed], minlength=N_VIEWS)
    return Sums(messages, words, by_view[0], by_view[1])


def _by_view(views: NDArray[np.uint8], rows: Ints) -> Ints:
    """int64 (N_VIEWS, n_classes): rows of counts by class, added up over each view."""
    return np.array([np.bincount(views, weights=row, minlength=N_VIEWS) for row in rows], dtype=np.int64).T


class Histograms:
    """How many words have which count, kept up to date: what Bernoulli and normalised complement sum over.

    kind       : 'documents' or 'complement', see WordTotals
    by_class   : count -> number of words; count 0 is left out
    """

    def __init__(self, kind: str, n_classes: int) -> None:
        self.kind = kind
        self.by_class: list[dict[int, int]] = [{} for _ in range(n_classes)]

    def add(self, documents: Whole, occurrences: Whole, times: Whole, label: int) -> None:
        """One message of class `label` is about to be counted.

        documents, occurrences : (n_classes, n_words), counts of the words of the message so far
        times                  : (n_words,), how often each is in the message
        """
        if self.kind == "documents":
            _move(self.by_class[label], documents[label], documents[label] + 1)
            return
        everywhere = occurrences.sum(axis=0)
        for k, histogram in enumerate(self.by_class):
            if k != label:
                _move(histogram, everywhere - occurrences[k], everywhere - occurrences[k] + times)


def _move(histogram: dict[int, int], before: Whole, after: Whole) -> None:
    """Words leave one count for another."""
    for values, sign in ((before, -1), (after, 1)):
        found, words = np.unique(values, return_counts=True)
        for value, number in zip(found.tolist(), words.tolist(), strict=True):
            if value:
                histogram[value] = histogram.get(value, 0) + sign * number
                if not histogram[value]:
                    del histogram[value]


class MemoryModel(Model):
    """A model that is counts in the columns of a block.

    keys                   : int64 (n_columns,), ascending
    documents, occurrences : integers (n_classes, n_columns)
    histograms             : where they are kept; else they are made from the counts when asked for
    fixed                  : every column is a word, also where nothing was counted
    """

    __slots__ = ("_fixed", "_histograms", "_keys", "_tables", "_weights")

    def __init__(
        self,
        classes: tuple[str, ...],
        keys: Ints,
        documents: Whole,
        occurrences: Whole,
        sums: Sums,
        weights: Sequence[float],
        histograms: Histograms | None = None,
        fixed: bool = False,
    ) -> None:
        # Not Model.__init__: there is no file to read from.
        self.path = "the model of this evaluation"
        self.classes = classes
        self.settings = {}
        self.messages = sums.messages.tolist()
        self.words = sums.words.tolist()
        self.documents = sums.documents.tolist()
        self.occurrences = sums.occurrences.tolist()
        self._keys = keys
        self._tables = (documents, occurrences)
        self._weights = list(weights)
        self._histograms = histograms
        self._fixed = fixed

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """key -> (documents_0, occurrences_0, documents_1, ...) for the keys that are words."""
        if not len(self._keys):  # no message has a token of the views that are read
            return {}
        asked = np.array(keys, dtype=np.int64)
        places = np.minimum(np.searchsorted(self._keys, asked), len(self._keys) - 1)
        documents, occurrences = (table[:, places] for table in self._tables)
        known = (self._keys[places] == asked) & (documents.any(axis=0) | self._fixed)
        rows = np.stack([documents, occurrences], axis=2).transpose(1, 0, 2).reshape(len(asked), -1)
        return {key: tuple(row) for key, row in zip(asked[known].tolist(), rows[known].tolist(), strict=True)}

    def histogram(self, kind: str) -> list[dict[int, int]]:
        """By class, count -> how many tokens have it."""
        if self._histograms and self._histograms.kind == kind:
            return self._histograms.by_class
        documents, occurrences = self._tables
        seen = documents.any(axis=0) | self._fixed
        rows = documents if kind == "documents" else occurrences.sum(axis=0) - occurrences
        by_class = [np.unique(row[seen], return_counts=True) for row in rows]
        return [dict(zip(values.tolist(), words.tolist(), strict=True)) for values, words in by_class]

    def calibration(self) -> list[float]:
        """The weights of the calibration."""
        return self._weights


def bag_of(block: Block, row: int, texts: list[bytes]) -> Tokens:
    """The tokens of one message as the tokenizer gave them, but for their order."""
    by_view: list[list[str]] = [[] for _ in range(N_VIEWS)]
    pairs = slice(block.starts[row], block.starts[row + 1])
    for column, times in zip(block.columns[pairs].tolist(), block.counts[pairs].tolist(), strict=True):
        by_view[block.views[column]].extend([texts[column].decode("utf-8", "replace")] * times)
    header, body, structure, bigrams = by_view[: len(VIEWS)]
    return Tokens(header, body, structure, by_view[MEASURES_VIEW], bigrams)


def texts_of(block: Block) -> list[bytes]:
    """The texts of a block's columns; of a large corpus they take seconds to cut apart, so once."""
    return split_texts(block.texts, len(block.keys))
