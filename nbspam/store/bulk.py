"""What a training has counted, as rows of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbspam.model.counts import Counts, Ints, ViewSums, slice_texts
from nbspam.store.changes import ClassToken
from nbspam.store.digest import digest_array
from nbspam.store.rows import FIRST, Writer
from nbspam.tokens.bag import N_VIEWS, VIEW_NAMES

TOKENS_AT_ONCE = 16_384  # in a slice of _slice_tokens
Learned = Sequence[tuple[Ints, NDArray[np.int16]]]  # digests and class numbers of messages, by block


def insert_counts(file: Writer, ranges: Iterable[Counts], totals: ViewSums) -> None:
    """Write all tokens of a new model, their sums and their digest.

    ranges : each token in one of them, ascending by key
    totals : the sums; to work them out from the file takes 3 % of a training
    """
    digest = 0
    # Arrays of whole numbers need no CHECK, which takes 3 % of a training.
    file.connection.execute("PRAGMA ignore_check_constraints = ON")
    for counts in ranges:
        for columns in _slice_tokens(counts):
            file.insert_columns("token", columns)
        since = np.full_like(counts.keys, FIRST)
        digest += digest_array([counts.keys, counts.views, since, *_interleave(counts)])
    file.connection.execute("PRAGMA ignore_check_constraints = OFF")
    file.digests["token"] = digest
    views = zip(range(N_VIEWS), VIEW_NAMES, totals.words.tolist(), strict=True)
    sums = np.stack([totals.documents, totals.occurrences], axis=2).tolist()
    rows = [(view, k, *pair) for view, row in enumerate(sums) for k, pair in enumerate(row)]
    file.insert("view", views)
    file.insert("view_total", rows)


def list_tokens_of(counts: Counts, label: int) -> Iterator[ClassToken]:
    """(key, view, text, documents, occurrences) of the tokens of a class, ascending by key."""
    for keys, views, texts, *columns in _slice_tokens(counts):
        rows = zip(keys, views, texts, *columns[2 * label : 2 * label + 2], strict=True)
        yield from (row for row in rows if row[3])


def _slice_tokens(counts: Counts) -> Iterator[list[list[Any]]]:
    """The same columns, in slices, because a token takes 150 bytes as Python objects."""
    arrays = _interleave(counts)
    for first, texts in slice_texts(counts.texts, len(counts.keys), TOKENS_AT_ONCE):
        rows = slice(first, first + len(texts))
        numbers = (row[rows].tolist() for row in arrays)
        yield [counts.keys[rows].tolist(), counts.views[rows].tolist(), texts, *numbers]


def _interleave(counts: Counts) -> list[Ints]:
    """documents_0, occurrences_0, documents_1, ... of all tokens."""
    return [row for pair in zip(counts.documents, counts.occurrences, strict=True) for row in pair]


def insert_learned(file: Writer, learned: Learned) -> None:
    """Write the messages of a new model, and their digest."""
    columns = _count_learned(learned)
    file.insert_columns("learned", [column.tolist() for column in columns])
    digests, labels, times = columns
    file.digests["learned"] = digest_array([digests, labels, np.full_like(times, FIRST), times])


def make_learned_rows(learned: Learned) -> Iterator[tuple[int, int, int]]:
    """(digest, class, times) of the counted messages, ascending."""
    return zip(*[column.tolist() for column in _count_learned(learned)], strict=True)


def _count_learned(learned: Learned) -> tuple[Ints, Ints, Ints]:
    """The columns of these rows."""
    digests, labels = (np.concatenate(arrays) for arrays in zip(*learned, strict=True))
    order = np.lexsort((labels, digests))
    digests, labels = digests[order], labels[order].astype(np.int64)
    is_first = np.append(True, (np.diff(digests) != 0) | (np.diff(labels) != 0))
    places = np.flatnonzero(is_first)
    return digests[places], labels[places], np.diff(places, append=len(order))
