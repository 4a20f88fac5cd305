"""Messages over the words of a fixed vocabulary: what a filter of one counts message by message.

Hides that the tokens of a message that are no words of it are one more column, NOTAWORD.
"""

from __future__ import annotations

import numpy as np

from nbspam.corpus.accumulator import Table
from nbspam.corpus.block import Block
from nbspam.corpus.blocks import without_columns
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.model.textbook import word_matrix
from nbspam.model.views import Floats
from nbspam.tasks.fixed_words import outside_tokens, with_all_words
from nbspam.tokens.bag import NOTAWORD_VIEW
from nbspam.tokens.keys import NOTAWORD, NOTAWORD_KEY


def vocabulary_block(block: Block, vocabulary: Vocabulary) -> Block:
    """The messages over the words of a vocabulary, met or not, in the order of their keys, and NOTAWORD.

    NOTAWORD stands where `with_all_words` has it; a message holds it as often as tokens that are no words.
    """
    words = _with_notaword(vocabulary)
    matrix = word_matrix(block, words.keys, int(np.searchsorted(words.keys, NOTAWORD_KEY)))
    return Block(
        words.keys,
        words.views,
        words.texts,
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.int32),
        block.labels,
        block.dates,
        block.names,
        block.sizes,
        block.features,
    )


def tokens_outside(block: Block, vocabulary: Vocabulary) -> Floats:
    """float64 (n_rows, n_views): distinct tokens of each message that are no words, see outside_tokens."""
    inside = np.isin(block.keys, np.array(vocabulary.keys(), np.int64))
    return outside_tokens(without_columns(block, inside), block, vocabulary.views)


def _with_notaword(vocabulary: Vocabulary) -> Table:
    nothing = np.zeros((1, 1), np.int64)
    keys, views = np.array([NOTAWORD_KEY], np.int64), np.array([NOTAWORD_VIEW], np.uint8)
    return with_all_words(Table(keys, views, NOTAWORD.encode(), nothing, nothing), vocabulary)
