"""Any event model over blocks of messages: count some rows, score others.

Hides how words and numeric features are brought together: the columns of a vocabulary, the one NOTAWORD that
stands for all other words, edges learned on the training rows alone, one prior, parts added.  The scores are
those of nbspam.model.scorer for a model trained on the same rows (averaged views apart: models.views).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nbspam.corpus.block import Block, Ints
from nbspam.model import bulk_words as words
from nbspam.model.bulk_words import WordCounts
from nbspam.model.leave_one_out import (
    ALPHA_GRID,
    Entries,
    leave_one_out,
    prior_weights,
    priors_without,
    scaled_log_loss,
)
from nbspam.model.numeric import FeatureCounts, count_features, learn_edges, make_numeric_law
from nbspam.model.priors import log_priors_of, parse_prior
from nbspam.settings import Settings

if TYPE_CHECKING:
    from nbspam.model.priors import Prior

Floats = NDArray[np.float64]


class TextbookModel:
    """A textbook model: what was counted of its words and of its features, each None where it has none.

    messages : int64 (n_classes,), m_k
    keys     : int64 (n_words,), ascending, the columns of the words' counts but the last, which is NOTAWORD
    """

    __slots__ = ("_words", "classes", "features", "keys", "messages", "settings")

    def __init__(
        self,
        settings: Settings,
        classes: tuple[str, ...],
        messages: Ints,
        keys: Ints,
        word_counts: WordCounts | None,
        features: FeatureCounts | None,
    ) -> None:
        self.settings = settings
        self.classes = classes
        self.messages = messages
        self.keys = keys
        self._words = word_counts
        self.features = features

    def log_joint(self, block: Block) -> Floats:
        """float64 (n_messages, n_classes), nats; -inf where lambda = 0 rules a class out, never NaN."""
        settings = self.settings
        prior = np.asarray(log_priors_of(settings, self.messages.tolist(), self.classes))
        joint = np.zeros((len(block), len(self.classes)))
        uses_prior = self.features is not None
        if self._words is not None:
            weights = words.smooth(settings.event_model, self._words, settings.alpha, settings.normalise)
            uses_prior |= weights.uses_prior
            joint = words.score(weights, word_matrix(block, self.keys), [0.0] * len(prior))
        if self.features is not None:
            law = make_numeric_law(settings.numeric_model, self.features, settings.alpha)
            joint = joint + law.log_likelihood(block.features)
        return joint + prior if uses_prior else joint

    def best_alpha(self, block: Block, fixed: bool = False) -> float:
        """The lambda with which the messages of a block, all among the counted, are best told apart unseen.

        Least log loss after temperature scaling, each message left out while it is scored; see
        nbspam.model.leave_one_out.  A model without lambda (Gaussian alone) keeps the one it has.
        The prior is the model's, and where it is not that of the mail, the classes weigh as it says.

        fixed : the vocabulary is that of a file, whatever the messages have
        """
        labels = block.labels.astype(np.int64)
        if self._words is None and self.settings.numeric_model == "gaussian":
            return self.settings.alpha
        entries = None
        if self._words is not None:
            entries = Entries(self._words, word_matrix(block, self.keys), labels, fixed)
        prior = parse_prior(self.settings.prior)
        weights = prior_weights(prior, labels, self.classes)
        losses = []
        for alpha in ALPHA_GRID:
            joint = self._left_out(block, entries, labels, alpha, prior)
            losses.append((scaled_log_loss(joint, labels, weights), -alpha))
        return -min(losses)[1]

    def _left_out(
        self, block: Block, entries: Entries | None, labels: Ints, alpha: float, prior: Prior
    ) -> Floats:
        """As log_joint under a lambda, each message left out while it is scored.

        entries : None without words
        """
        settings, has_prior = self.settings, False
        joint = np.zeros((len(block), len(self.classes)))
        if entries is not None:
            event_model, has_prior = settings.event_model, settings.event_model != "complement"
            joint = leave_one_out(event_model, entries, alpha, prior, settings.normalise, self.classes)
        if self.features is not None:
            joint = joint + _numeric_held_out(
                self.features, settings.numeric_model, block.features, labels, alpha
            )
            if not has_prior:
                joint = joint + priors_without(self.messages, prior, alpha, self.classes)[labels]
        return joint


def _numeric_held_out(
    counts: FeatureCounts, event_model: str, features: Floats, labels: Ints, alpha: float
) -> Floats:
    """Log-likelihoods, float64 (n_messages, n_classes), by the counts without each tenth of the messages."""
    joint = np.zeros((len(features), len(counts.bins)))
    for tenth in range(10):
        own = np.arange(len(features)) % 10 == tenth
        rest = FeatureCounts(len(counts.bins), counts.edges, counts.pairs is not None)
        rest.merge(counts)
        rest.add(features[own], labels[own], -1)
        joint[own] = make_numeric_law(event_model, rest, alpha).log_likelihood(features[own])
    return joint


def count_textbook(settings: Settings, block: Block, classes: tuple[str, ...]) -> TextbookModel:
    """Counts the rows of a block, all labelled.  Its words are the vocabulary; edges are learned on it."""
    n_classes = len(classes)
    labels = block.labels.astype(np.int64)
    messages = np.bincount(labels, minlength=n_classes)
    keys, word_counts, features = np.zeros(0, np.int64), None, None
    if settings.features != "numeric":
        documents, occurrences = block.totals(n_classes)
        seen = documents.any(axis=0)
        order = np.argsort(block.keys[seen])
        keys = block.keys[seen][order]
        word_counts = word_counts_of(messages, documents[:, seen][:, order], occurrences[:, seen][:, order])
    if settings.features != "words":
        edges = learn_edges(block.features, settings.bins, settings.binning)
        with_pairs = settings.numeric_model == "aode"
        features = count_features([(block.features, labels)], n_classes, edges, with_pairs)
    return TextbookModel(settings, classes, messages, keys, word_counts, features)


def word_counts_of(messages: Ints, documents: Ints, occurrences: Ints) -> WordCounts:
    """Counts with a last column for NOTAWORD, which was not met in training."""
    counts = WordCounts(len(messages), documents.shape[1] + 1)
    counts.messages = messages.astype(np.int64)
    counts.documents[:, :-1] = documents
    counts.occurrences[:, :-1] = occurrences
    return counts


def word_matrix(block: Block, keys: Ints, notaword: int | None = None) -> sparse.csr_matrix:
    """int64 (n_messages, n_words + 1): occurrences by column of `keys` (ascending), all else as NOTAWORD.

    notaword : which of the keys is its; None: it has none, and is a column behind the last
    """
    place = np.minimum(np.searchsorted(keys, block.keys), max(len(keys) - 1, 0))
    known = keys[place] == block.keys if len(keys) else np.zeros(len(block.keys), bool)
    columns = np.where(known, place, len(keys) if notaword is None else notaword)
    cells = (block.counts.astype(np.int64), columns[block.columns], block.starts)
    matrix = sparse.csr_matrix(cells, shape=(len(block), len(keys) + (notaword is None)))
    matrix.sum_duplicates()
    return matrix
