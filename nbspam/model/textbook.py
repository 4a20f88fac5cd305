"""Any event model over many messages, in one sum: the textbook.

A word model is its law (nbspam.model.words) at the distinct tuples of counts, added up over the words of each
message; all words outside the vocabulary are one NOTAWORD.  Numeric features add their part to it.  The
scores are those of nbspam.model.scorer for the same counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nbspam.model.block import Block, over_words
from nbspam.model.counts import Counts, CountsModel, Floats, Ints, columns_of
from nbspam.model.numeric import FeatureCounts, count_features, learn_edges, make_numeric_law
from nbspam.model.posterior import log_priors_of
from nbspam.model.scorer import make_words
from nbspam.model.words import WordLaw
from nbspam.settings import Settings
from nbspam.tokens.bag import NOTAWORD_KEY


class TextbookModel:
    """What was counted of words and numeric features (None if they are not scored), and how it scores."""

    def __init__(
        self, settings: Settings, classes: tuple[str, ...], counts: Counts, features: FeatureCounts | None
    ) -> None:
        self.settings, self.classes, self.counts, self.features = settings, classes, counts, features

    def count(self, block: Block) -> Counts:
        """The counts of more messages, over words of these counts where the vocabulary is fixed."""
        counted = over_words(block, self.counts.keys) if self.counts.is_fixed else block
        return counted.count(len(self.classes))

    def log_joint(self, block: Block, words: WordRows | None = None) -> Floats:
        """float64 (n_messages, n_classes), nats; -inf where lambda = 0 rules a class out, never NaN.

        words : of the block, if at hand
        """
        settings, joint = self.settings, np.zeros((len(block), len(self.classes)))
        uses_prior = self.features is not None
        if settings.features != "numeric":
            law = make_words(CountsModel(self.classes, self.counts), settings)
            uses_prior |= law.uses_prior
            joint = (words or WordRows(self.counts, block)).score(law)
        if self.features is not None:
            numeric = make_numeric_law(settings.numeric_model, self.features, settings.alpha)
            joint = joint + numeric.log_likelihood(block.features)
        prior = np.asarray(log_priors_of(settings, self.counts.messages.tolist(), self.classes))
        return joint + prior if uses_prior else joint


def count_features_of(block: Block, settings: Settings, n_classes: int) -> FeatureCounts | None:
    """Numeric features of labelled messages, in bins with edges learned on them; None if not scored."""
    if settings.features == "words":
        return None
    edges = learn_edges(block.features, settings.bins, settings.binning)
    labels, with_pairs = block.labels.astype(np.int64), settings.numeric_model == "aode"
    return count_features(block.features, labels, n_classes, edges, with_pairs)


class WordRows:
    """Messages over the words of some counts, to be scored under any law: words outside are one NOTAWORD."""

    def __init__(self, counts: Counts, block: Block) -> None:
        used, columns = np.unique(block.columns, return_inverse=True)
        places = counts.places(np.append(block.keys[used], NOTAWORD_KEY))
        known = (columns_of(counts.known(), places) if len(counts.keys) else places < 0) & (places >= 0)
        rows, times, inside = block.rows(), block.counts.astype(np.float64), known[columns]
        outside = np.bincount(rows[~inside], times[~inside], len(block))
        without = np.flatnonzero(outside)  # rows that have a NOTAWORD
        self._n_rows = len(block)
        self._rows = np.concatenate([rows[inside], without])
        self._columns = np.concatenate([columns[inside], np.full(len(without), len(used))])
        self._times = np.concatenate([times[inside], outside[without]])
        self._counts, self._places = counts, places
        self._tuples: dict[bool, tuple[list[list[int]], Ints]] = {}  # by WordLaw.repeats

    def score(self, law: WordLaw) -> Floats:
        """Log-likelihoods, float64 (n_rows, n_classes), nats; -inf allowed, never NaN."""
        if law.repeats not in self._tuples:
            counts = self._counts.occurrences if law.repeats else self._counts.documents
            self._tuples[law.repeats] = distinct_tuples(columns_of(counts, self._places))
        joint = self._sums(law.weigh, law.repeats, law.repeats) + law.base
        if any(law.certain):
            certain = self._sums(law.is_certain, law.repeats, times=False)
            joint[certain < law.certain] = -np.inf
        return joint

    def _sums(self, law: Callable[[list[int]], Sequence[float]], repeats: bool, times: bool) -> Floats:
        """float64 (n_rows, n_classes): of each row the sum of a law of one tuple of counts at its words."""
        tuples, place = self._tuples[repeats]
        table = np.array([law(counts) for counts in tuples], np.float64)
        at_words = place[self._columns]
        weights = [of_class[at_words] * (self._times if times else 1.0) for of_class in table.T]
        return np.stack([np.bincount(self._rows, one, self._n_rows) for one in weights], axis=1)


def distinct_tuples(counts: Ints) -> tuple[list[list[int]], Ints]:
    """(tuples, place): the distinct columns of counts, and which of them each column is.

    counts : int64 (n_classes, n), n >= 1
    By codes: numpy's unique of columns takes ten times as long.
    """
    place = np.zeros(counts.shape[1], np.int64)
    first = place
    for row in counts:
        values, numbers = np.unique(row, return_inverse=True)
        codes = place * len(values) + numbers
        _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    return counts[:, first].T.tolist(), place
