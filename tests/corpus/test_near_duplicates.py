"""Groups of near-duplicates."""

import numpy as np
import pytest

from nbspam.corpus.corpus import Corpus
from nbspam.corpus.near_duplicates import group_duplicates, group_near_duplicates
from nbspam.model.block import BlockBuilder, merge_blocks
from nbspam.tokens.bag import MEASURE_NAMES, Tokens, list_bins


def hashes(random, size):
    return random.integers(0, 2**63, size, dtype=np.uint64)


def test_variants_of_a_message_are_one_group_and_others_are_alone():
    random = np.random.default_rng(0)
    template = hashes(random, 200)
    variants = [np.concatenate([random.permutation(template)[:190], hashes(random, 10)]) for _ in range(6)]
    strangers = [hashes(random, 200) for _ in range(6)]
    mixed = [one for pair in zip(variants, strangers, strict=True) for one in pair]
    assert group_near_duplicates(mixed).tolist() == [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]


@pytest.mark.parametrize(("shared", "linked"), [(180, True), (120, False)])  # of 200: Jaccard 0.82 and 0.43
def test_two_messages_are_linked_by_the_share_of_their_tokens(shared, linked):
    random = np.random.default_rng(2)
    for _ in range(20):
        tokens = hashes(random, 400 - shared)
        first, second = group_near_duplicates([tokens[:200], tokens[-200:]])
        assert bool(first == second) is linked


def test_messages_that_share_their_measures_alone_are_no_near_duplicates() -> None:
    """Short texts have as many measures as words."""
    builder = BlockBuilder()
    found = [list_bins(name)[0] for name in MEASURE_NAMES]
    for number in range(6):
        builder.add(str(number), number % 2, Tokens([], [f"{number}-{w}" for w in range(4)], [], found), 9)
    corpus = Corpus(merge_blocks([builder.build()]), ("ham", "spam"), [], [], False)
    assert len(set(group_duplicates(corpus).tolist())) == 6
