"""Messages -> code sequences -> rows of a matrix.

Hides reading and tokenising in parallel.  A message is the sequence of its tokens' codes in their order:
the header's, then the body's, then those of the structure; a token outside the vocabulary is code 0,
NOTAWORD.  The sequence is the multinomial event model's message; counted it is its row, and with every
count cut down to 1 that of Bernoulli.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus import Item
from nbspam.corpus.executor import run_shards
from nbspam.corpus.item import Skipped
from nbspam.corpus.reading import readable, shards
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.errors import log_faults
from nbspam.tokens import read

EVENT_MODELS = ("bernoulli", "multinomial")
Codes = NDArray[np.int32]


class Coded(NamedTuple):
    """One message.

    label : class number in the vocabulary's order
    codes : int32, a code for each token, in order, repeats kept
    """

    name: str
    label: int
    codes: Codes
    size_bytes: int


class MatrixRow(NamedTuple):
    """One row of the matrix: ascending distinct codes (int32) and their values, >= 1 (int32)."""

    codes: Codes
    values: Codes


class _CodeOf(dict[str, int]):
    """Token -> code; 0 for every token outside the vocabulary."""

    def __missing__(self, token: str) -> int:
        if token.isascii():
            return 0
        # A token may hold half of a surrogate pair, which a vocabulary file cannot.
        return self.get(token.encode("utf-8", "replace").decode("utf-8"), 0)


class CodeReader:
    """Codes one shard; the callable of the worker processes."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._numbers = {name: number for number, name in enumerate(vocabulary.classes)}
        self._codes = _CodeOf(vocabulary.codes())
        self._views = vocabulary.word_views()

    def __call__(self, items: list[Item]) -> tuple[list[Coded], Skipped]:
        found: list[Coded] = []
        skipped: Skipped = []
        for item, data in readable(items, skipped):
            read_tokens = read(data)
            log_faults(item.name, read_tokens.failures)
            views = read_tokens.views()
            tokens = [token for view in self._views for token in views[view]]
            codes = np.fromiter(map(self._codes.__getitem__, tokens), np.int32, len(tokens))
            found.append(Coded(item.name, self._numbers[item.label], codes, len(data)))
        return found, skipped


def read_codes(
    items: Iterable[Item], vocabulary: Vocabulary, jobs: int
) -> Iterator[tuple[list[Coded], Skipped]]:
    """Messages in the order of the items, a shard at a time; labels are the vocabulary's class numbers."""
    return run_shards(CodeReader(vocabulary), shards(items), jobs)


def row_of(codes: Codes, event_model: str) -> MatrixRow:
    """The row of a message: counts under `multinomial`, ones under `bernoulli`."""
    distinct, counts = np.unique(codes, return_counts=True)
    values = np.ones(len(distinct), np.int32) if event_model == "bernoulli" else counts.astype(np.int32)
    return MatrixRow(distinct.astype(np.int32), values)
