"""Any event model over many messages, in one sum: the textbook.

A word model is its law (nbspam.model.words) at the distinct tuples of counts, added up over the words of each
message; all words outside the vocabulary are one NOTAWORD.  Numeric features add their part to it.  The
scores are those of nbspam.model.scorer for the same counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.model.block import Block
from nbspam.model.counts import Counts, Floats, MemoryModel, take_columns
from nbspam.model.numeric import FeatureStatistics, count_features, learn_edges, make_numeric_law
from nbspam.model.posterior import log_priors_of
from nbspam.model.scorer import make_words
from nbspam.model.words import WordLaw
from nbspam.settings import Settings
from nbspam.tokens.bag import NOTAWORD_KEY
from nbspam.tokens.numeric import NAMES


class TextbookModel(NamedTuple):
    """What was counted of words and numeric features (None if they are not scored), and how it scores."""

    settings: Settings
    classes: tuple[str, ...]
    counts: Counts
    features: FeatureStatistics | None

    def log_joint(self, block: Block) -> Floats:
        """float64 (n_messages, n_classes), nats; -inf where lambda = 0 rules a class out, never NaN."""
        settings, joint = self.settings, np.zeros((len(block), len(self.classes)))
        uses_prior = self.features is not None
        if settings.features != "numeric":
            law = make_words(MemoryModel(self.classes, self.counts), settings)
            uses_prior |= law.uses_prior
            joint = score_words(law, self.counts, block)
        if self.features is not None:
            numeric = make_numeric_law(settings.numeric_model, self.features, settings.alpha)
            joint = joint + numeric.log_likelihood(block.features)
        prior = np.asarray(log_priors_of(settings, self.counts.messages.tolist(), self.classes))
        return joint + prior if uses_prior else joint


def learn_features(
    features: Floats,
    labels: NDArray[Any],
    n_classes: int,
    settings: Settings,
    edges: Mapping[str, list[float]] = MappingProxyType({}),
) -> FeatureStatistics:
    """The counts of numeric features.

    features : float64 (n_messages, n_features);  labels : class numbers
    edges    : inner edges of the bins of some features, by name; all others are learned
    """
    learned = dict(zip(NAMES, learn_edges(features, settings.bins, settings.binning), strict=True))
    bins = [edges.get(name, learned[name]) for name in NAMES]
    return count_features(features, labels, n_classes, bins, settings.numeric_model == "aode")


def score_words(law: WordLaw, counts: Counts, block: Block) -> Floats:
    """Log-likelihoods of messages, float64 (n_rows, n_classes), nats; -inf allowed, never NaN.

    counts : what the law counts with; all words that they do not have are one NOTAWORD
    """
    used, columns = np.unique(block.columns, return_inverse=True)
    places = counts.places(np.append(block.keys[used], NOTAWORD_KEY))
    inside = take_columns(counts.known(), places)[columns]
    rows, times = block.rows(), block.counts.astype(np.float64)
    outside = np.bincount(rows[~inside], times[~inside], len(block))
    without = np.flatnonzero(outside)  # rows that have a NOTAWORD
    rows = np.concatenate([rows[inside], without])
    times = np.concatenate([times[inside], outside[without]])
    of_class = counts.occurrences if law.repeats else counts.documents
    distinct, place = np.unique(take_columns(of_class, places), axis=1, return_inverse=True)
    tuples, place = distinct.T.tolist(), place.ravel()
    at_words = place[np.concatenate([columns[inside], np.full(len(without), len(used))])]

    def add_up(weigh: Callable[[list[int]], Sequence[float]], times: Floats | float) -> Floats:
        table = np.array([*map(weigh, tuples)], np.float64)
        sums = [np.bincount(rows, weights[at_words] * times, len(block)) for weights in table.T]
        return np.stack(sums, axis=1)

    joint = add_up(law.weigh, times if law.repeats else 1.0) + law.base
    if any(law.certain):
        joint[add_up(law.is_certain, 1.0) < law.certain] = -np.inf
    return joint
