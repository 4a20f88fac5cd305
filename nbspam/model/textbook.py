"""Any event model over many messages, in one sum: the textbook.

A word model is its law (nbspam.model.words) at the distinct tuples of counts, added up over the words of each
message; all words outside the vocabulary are one NOTAWORD.  Numeric features add their part to it.  The scores
are those of nbspam.model.scorer for the same counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nbspam.model.block import Block, over_words
from nbspam.model.counts import Counts, CountsModel, Floats, Ints
from nbspam.model.priors import log_priors_of
from nbspam.model.scorer import make_words
from nbspam.model.views import at_tuples, distinct_tuples
from nbspam.settings import Settings
from nbspam.tokens.keys import NOTAWORD_KEY

if TYPE_CHECKING:
    from nbspam.model.feature_counts import FeatureCounts
    from nbspam.model.words import WordLaw


class TextbookModel:
    """What was counted of words and numeric features (None if they are not scored), and how it scores."""

    __slots__ = ("classes", "counts", "features", "settings")

    def __init__(
        self, settings: Settings, classes: tuple[str, ...], counts: Counts, features: FeatureCounts | None
    ) -> None:
        self.settings, self.classes, self.counts, self.features = settings, classes, counts, features

    def count(self, block: Block) -> Counts:
        """The counts of more messages, over words of these counts where the vocabulary is fixed."""
        counted = over_words(block, self.counts.keys) if self.counts.is_fixed else block
        return counted.count(len(self.classes))

    def log_joint(self, block: Block) -> Floats:
        """float64 (n_messages, n_classes), nats; -inf where lambda = 0 rules a class out, never NaN."""
        settings, joint = self.settings, np.zeros((len(block), len(self.classes)))
        uses_prior = self.features is not None
        if settings.features != "numeric":
            law = make_words(CountsModel(self.classes, self.counts), settings)
            uses_prior |= law.uses_prior
            joint = word_scores(law, self.counts, block)
        if self.features is not None:
            from nbspam.model.bulk_numeric import log_likelihood  # scipy: 0.2 s and 20 MB

            scorer = self.features.scorer(settings.numeric_model, settings.alpha)
            joint = joint + log_likelihood(scorer, block.features)
        prior = np.asarray(log_priors_of(settings, self.counts.messages.tolist(), self.classes))
        return joint + prior if uses_prior else joint


def word_scores(law: WordLaw, counts: Counts, block: Block) -> Floats:
    """Log-likelihoods of messages, float64 (n_messages, n_classes), nats; -inf allowed, never NaN."""
    keys = np.append(block.keys, NOTAWORD_KEY)
    places = counts.places(keys)
    known = (places >= 0) & (counts.known(places) if len(counts.keys) else False)
    rows, times = block.rows(), block.counts.astype(np.float64)
    inside = known[block.columns]
    outside = np.bincount(rows[~inside], times[~inside], len(block))
    without = np.flatnonzero(outside)  # rows that have a NOTAWORD
    rows = np.concatenate([rows[inside], without])
    columns = np.concatenate([block.columns[inside], np.full(len(without), len(block.keys))])
    times = np.concatenate([times[inside], outside[without]]) if law.repeats else np.ones(len(rows))
    used = np.unique(columns)
    columns = np.searchsorted(used, columns)
    cells = counts.occurrences_of(keys[used]) if law.repeats else counts.documents_of(keys[used])
    tuples, place = distinct_tuples(cells)
    joint = _sums(at_tuples(law.weigh, tuples)[:, place], rows, columns, times, len(block)) + law.base
    if any(law.certain):
        certain = at_tuples(lambda one: [*map(float, law.is_certain(one))], tuples)[:, place]
        met = _sums(certain, rows, columns, np.ones(len(rows)), len(block))
        joint[met < law.certain] = -np.inf
    return joint


def _sums(table: Floats, rows: Ints, columns: Ints, times: Floats, n_rows: int) -> Floats:
    """float64 (n_rows, n_values): for each row the sum of the table's values at its columns."""
    return np.stack([np.bincount(rows, values[columns] * times, n_rows) for values in table], axis=1)
