"""Near-duplicates: messages that are variants of one another, such as a spam campaign, a newsletter, a copy.

Two messages are linked if they share two tokens of their signatures, the smallest hashes of the runs of words
in a text: two texts share about as many of them as runs (Broder 1997).  A text of a few words has hardly any
such tokens; it is linked with the texts of the same words.
"""

from collections import defaultdict
from itertools import combinations, count, pairwise

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from nbspam.corpus.corpus import Corpus
from nbspam.model.block import Block, drop_columns
from nbspam.model.counts import Ints
from nbspam.tokens.bag import BODY_VIEW, SIGNATURE_VIEW


def group_duplicates(corpus: Corpus) -> Ints:
    """int64 (n,): messages linked by a chain of near-duplicates share a number, in order of appearance.

    corpus : read with SIGNATURE wanted
    """
    block = corpus.block
    signatures, bodies = (drop_columns(block, block.views == view) for view in (SIGNATURE_VIEW, BODY_VIEW))
    numbers: dict[object, int] = defaultdict(count(len(block)).__next__)  # of links: nodes after the messages
    rows, links = [], []
    for row, (begin, end) in enumerate(pairwise(signatures.starts.tolist())):
        found: list[object] = [*combinations(sorted(signatures.columns[begin:end].tolist()), 2)]
        for link in found or [_identify_text(bodies, row)]:
            rows.append(row)
            links.append(numbers[link])
    size = len(block) + len(numbers)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, links)), shape=(size, size))
    _, groups = connected_components(graph, directed=False)  # numbered by their first rows
    return np.asarray(groups[: len(block)], dtype=np.int64)


def _identify_text(bodies: Block, row: int) -> object:
    """Equal for texts of the same words; without a word for copies of the whole message."""
    pairs = slice(bodies.starts[row], bodies.starts[row + 1])
    words = frozenset(zip(bodies.columns[pairs].tolist(), bodies.counts[pairs].tolist(), strict=True))
    return words or int(bodies.identities[row])
