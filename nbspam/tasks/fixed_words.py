"""Training with a fixed vocabulary: what is different when not every word has a count of its own.

Hides two things that an open vocabulary does not know: words that have a row though no message held
them (|V| is the vocabulary's from the start), and tokens of a message that have none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nbspam.corpus.accumulator import Table, empty_table, merge_tables
from nbspam.corpus.block import Block, Ints
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.model.views import Floats, view_lengths
from nbspam.settings import Settings
from nbspam.tokens.bag import N_VIEWS, VIEWS, view_numbers


class Fixed(NamedTuple):
    """What evidence is made of beside counts, where the vocabulary is fixed.

    views : those that are read, as Settings.views has them
    words : int64 (N_VIEWS,), words by view, met or not; |V| less NOTAWORD
    """

    views: str
    words: Ints


def fixed_of(vocabulary: Vocabulary | None) -> Fixed | None:
    """The same of a vocabulary; None where every word counts."""
    if vocabulary is None:
        return None
    numbers = [word.view for word in vocabulary.words[1:]]
    return Fixed(vocabulary.views, np.bincount(np.array(numbers, np.int64), minlength=N_VIEWS))


def settings_under(settings: Settings, vocabulary: Vocabulary | None) -> Settings:
    """A way of scoring by a vocabulary: it has no bigrams and measures, and says which views are read.

    A word outside it may be one that every message has, so it is no news.
    """
    if vocabulary is None:
        return settings
    return settings.replaced(diluted=False, bigrams=False, measures=False, views=vocabulary.views)


def sorted_keys(vocabulary: Vocabulary | None) -> Ints | None:
    """The keys of the words, ascending, as counting wants them; None where every word counts."""
    return None if vocabulary is None else np.unique(np.array(vocabulary.keys(), np.int64))


def vocabulary_settings(vocabulary: Vocabulary | None) -> dict[str, str]:
    """What the model file says about its vocabulary."""
    if vocabulary is None:
        return {"vocabulary": "open"}
    return {"vocabulary": "fixed", "views": vocabulary.views}


def with_all_words(table: Table, vocabulary: Vocabulary | None) -> Table:
    """The table with a row for each word of the vocabulary, also of those that were not met."""
    if vocabulary is None:
        return table
    return merge_tables([_zero_table(vocabulary, len(table.documents)), table])


def _zero_table(vocabulary: Vocabulary, n_classes: int) -> Table:
    words = vocabulary.words[1:]
    if not words:
        return empty_table(n_classes)
    keys, order = np.unique(np.array(vocabulary.keys(), np.int64), return_index=True)
    nothing = np.zeros((n_classes, len(keys)), np.int64)
    texts = b"\n".join(words[j].text.encode("utf-8", "replace") for j in order.tolist())
    return Table(keys, np.array([word.view for word in words], np.uint8)[order], texts, nothing, nothing)


def outside_tokens(inner: Block, block: Block, views: str) -> Floats:
    """float64 (n_rows, n_views): distinct tokens of `block` that `inner` leaves out, in views that are read.

    As in scoring one message: a token of a view that is read and not in the vocabulary is unknown.
    """
    read = np.isin(np.arange(len(VIEWS)), view_numbers(views))
    lengths = [view_lengths(some) for some in (block, inner)]
    left_out = lengths[0] - lengths[1]
    return np.asarray(left_out[:, : len(VIEWS)] * read)
