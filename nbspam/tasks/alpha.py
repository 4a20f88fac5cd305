"""What `--alpha auto` chooses, on the mail trained on.

Hides the criteria, under the prior that the model is to have.  Averaged views: the log loss of the calibrated
probabilities, each message scored by counts that do not hold it.  The event models without averaging:
nbspam.model.leave_one_out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from nbspam.corpus.accumulator import KEPT_MESSAGES, Accumulator, Table
from nbspam.corpus.block import Block, Ints
from nbspam.corpus.blocks import merge_blocks
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.model.bulk_words import WordCounts
from nbspam.model.calibrate import bulk_scores, fit
from nbspam.model.leave_one_out import ALPHA_GRID, prior_weights
from nbspam.model.priors import parse_prior
from nbspam.model.textbook import TextbookModel, word_counts_of
from nbspam.settings import Settings
from nbspam.tasks.calibrate import aligned_documents, fresh_sample, joined, prior_shift, ways_to_see
from nbspam.tasks.fixed_words import Fixed, fixed_of
from nbspam.tasks.train import Counted
from nbspam.tokens.keys import NOTAWORD_KEY


def best_averaged_alpha(
    sample: Block,
    documents: Ints,
    settings: Settings,
    messages: Ints,
    classes: tuple[str, ...],
    fixed: Fixed | None = None,
) -> float:
    """The lambda of ALPHA_GRID with least log loss; the larger one of two that are equal.

    sample    : labelled messages, all of them among the counted
    documents : int64 (n_classes, n_columns), n_jk in the columns of the sample
    messages  : int64 (n_classes,), m_k of all that was counted
    fixed     : a fixed vocabulary; None where every token has counts
    """
    seen = [way(sample, documents, fixed) for way in ways_to_see(sample)]
    shift, prior = prior_shift(settings, messages, classes), parse_prior(settings.prior)
    losses = []
    for alpha in sorted(ALPHA_GRID, reverse=True):
        found = joined([fresh_sample(one, settings.replaced(alpha=alpha), sample, fixed) for one in seen])
        weights, _ = fit(found.evidence, found.labels)
        joint = bulk_scores(weights, found.evidence) + shift
        losses.append((_log_loss(joint, found.labels, prior_weights(prior, found.labels, classes)), -alpha))
    return -min(losses)[1]


def best_alpha(
    settings: Settings, classes: tuple[str, ...], counted: Counted, vocabulary: Vocabulary | None = None
) -> float:
    """What `--alpha auto` chooses for a model trained on these counts, by its latest messages."""
    mail = counted.mail
    sample = mail.recent()
    if settings.averaged:
        documents = aligned_documents(sample, counted.table)
        return best_averaged_alpha(sample, documents, settings, mail.messages, classes, fixed_of(vocabulary))
    textbook = counted_textbook(settings, classes, counted)
    block = _feature_block(mail) if settings.features == "numeric" else sample
    return textbook.best_alpha(block, fixed=vocabulary is not None)


def counted_textbook(settings: Settings, classes: tuple[str, ...], counted: Counted) -> TextbookModel:
    """The textbook model of counts as a model file has them."""
    messages, table = counted.mail.messages, counted.table
    words = None if settings.features == "numeric" else _word_counts(messages, table)
    keys = table.keys[table.keys != NOTAWORD_KEY]
    return TextbookModel(settings, classes, messages, keys, words, counted.features)


def _word_counts(messages: Ints, table: Table) -> WordCounts:
    """The counts with NOTAWORD last, where the matrix of models.textbook has it."""
    notaword = table.keys == NOTAWORD_KEY
    found = word_counts_of(messages, table.documents[:, ~notaword], table.occurrences[:, ~notaword])
    if notaword.any():
        found.documents[:, -1] = table.documents[:, notaword][:, 0]
        found.occurrences[:, -1] = table.occurrences[:, notaword][:, 0]
    return found


def _feature_block(counts: Accumulator) -> Block:
    """Messages of which only the numeric features are known."""
    features, labels = counts.features.sample(KEPT_MESSAGES) if counts.features else (np.zeros((0, 0)), None)
    n = len(features)
    empty = merge_blocks([])
    return Block(
        empty.keys,
        empty.views,
        empty.texts,
        np.zeros(n + 1, np.int64),
        empty.columns,
        empty.counts,
        np.zeros(0, np.int16) if labels is None else labels.astype(np.int16),
        np.full(n, np.nan),
        [""] * n,
        np.zeros(n, np.int64),
        features,
    )


def _log_loss(joint: NDArray[np.float64], labels: Ints, weights: NDArray[np.float64]) -> float:
    """Nats a message.  weights : what each counts in the mean"""
    some = weights > 0  # a class that never comes is ruled out, and its messages count nothing
    losses = logsumexp(joint[some], axis=1) - joint[some, labels[some]]
    return float(weights[some] @ losses / max(weights.sum(), 1e-300))
