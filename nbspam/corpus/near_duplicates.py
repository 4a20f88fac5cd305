"""Near-duplicates: messages that are variants of one another, such as a spam campaign, a newsletter, a copy.

They are found by MinHash by one permutation and its bands (Li, Owen and Zhang 2012; Shrivastava and Li 2014;
Leskovec et al., Mining of Massive Datasets, ch. 3): each message becomes 128 numbers, and only messages that
share a band of four are compared.  Time and memory grow with the number of tokens, not with pairs.  No random
numbers.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from nbspam.corpus.corpus import Corpus
from nbspam.model.block import drop_columns
from nbspam.model.counts import Ints
from nbspam.tokens.bag import NO_TEXTBOOK_VIEWS, mix_bits

Hashes = NDArray[np.uint64]

SKETCH_BINS = 128
ROWS_PER_BAND = 4
SIMILARITY = 0.6  # Jaccard; below it messages of one list or one sender begin to flow together
CHUNK_MESSAGES = 4096  # sketched at a time: bounds memory at SKETCH_BINS * 8 bytes a message of the chunk
EMPTY_BIN = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


def group_duplicates(corpus: Corpus) -> Ints:
    """int64 (n,): near-duplicates of a corpus share a number, see group_near_duplicates."""
    # Many short texts share measures; bigrams and raw bytes are the words once more.
    block = drop_columns(corpus.block, ~np.isin(corpus.block.views, NO_TEXTBOOK_VIEWS))
    keys = block.keys[block.columns].view(np.uint64)
    return group_near_duplicates(np.split(keys, block.starts[1:-1]))


def group_near_duplicates(tokens: Sequence[Hashes], similarity: float = SIMILARITY) -> Ints:
    """Group numbers: messages linked by a chain of near-duplicates share one.

    tokens     : hashes of the tokens of each message, uint64; repeats and order do not matter
    similarity : estimated Jaccard similarity (shared tokens / all tokens of both) from which two are linked
    Returns int64 (n,), groups numbered in order of first appearance.  A message without tokens is
    its own group.  The estimate's standard error is about 0.04 (0.08 for messages of 30 tokens): at the
    default a pair of similarity 0.7 is linked nearly always, one of 0.6 half of the time, of 0.5 hardly ever.
    """
    n = len(tokens)
    sketches = np.empty((n, SKETCH_BINS), np.uint64)
    for start in range(0, n, CHUNK_MESSAGES):
        sketches[start : start + CHUNK_MESSAGES] = _sketch(tokens[start : start + CHUNK_MESSAGES])
    first, second = _find_pairs(sketches, np.flatnonzero([len(hashes) > 0 for hashes in tokens]))
    same = np.empty(len(first), dtype=np.bool_)
    for start in range(0, len(first), CHUNK_MESSAGES):
        part = slice(start, start + CHUNK_MESSAGES)
        same[part] = (sketches[first[part]] == sketches[second[part]]).mean(axis=1) >= similarity
    links = coo_array((np.ones(int(same.sum()), np.int8), (first[same], second[same])), shape=(n, n))
    _, groups = connected_components(links, directed=False)  # numbered by their first rows
    return np.asarray(groups, dtype=np.int64)


def _sketch(tokens: Sequence[Hashes]) -> Hashes:
    """uint64 (n, SKETCH_BINS): the least hash that fell into each bin.

    Empty bins take the value of the next full one to the right (densification by rotation).  A value's first
    bits are its own bin's number, so that borrowed values of different origin never agree.
    """
    hashes = mix_bits(np.concatenate(tokens))
    row = np.repeat(np.arange(len(tokens)), [len(message) for message in tokens])
    least = np.full((len(tokens), SKETCH_BINS), EMPTY_BIN)
    np.minimum.at(least, (row, (hashes >> np.uint64(57)).astype(np.int64)), hashes)
    places = np.where(np.tile(least != EMPTY_BIN, 2), np.arange(2 * SKETCH_BINS), 2 * SKETCH_BINS - 1)
    nearest = np.minimum.accumulate(places[:, ::-1], axis=1)[:, ::-1][:, :SKETCH_BINS]
    return np.take_along_axis(least, nearest % SKETCH_BINS, axis=1)


def _find_pairs(sketches: Hashes, rows: Ints) -> tuple[Ints, Ints]:
    """Pairs of messages that agree in a whole band.

    Each message of a bucket is paired with the next one only: linear, where all pairs would be quadratic.
    """
    firsts, seconds = [], []
    for start in range(0, SKETCH_BINS, ROWS_PER_BAND):
        key = np.zeros(len(rows), np.uint64)
        for column in range(start, start + ROWS_PER_BAND):
            key = mix_bits(key ^ sketches[rows, column])
        order = np.argsort(key, kind="stable")
        neighbours = key[order[1:]] == key[order[:-1]]
        firsts.append(rows[order[:-1][neighbours]])
        seconds.append(rows[order[1:][neighbours]])
    return np.concatenate(firsts), np.concatenate(seconds)
