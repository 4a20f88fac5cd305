"""Word models over a sparse matrix of counts: count, smooth, score.

Hides how the four event models become one linear form: a base and a table of weights a class, so that scoring
is one sparse product.  Counts are int64 and exact: the same integers in any order of add, remove and merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from nbspam.model.word_models import WordTotals, checked_alpha, make_word_scorer, scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


class WordCounts:
    """The sufficient statistics of every word model.

    messages    : int64 (n_classes,), m_k
    documents   : int64 (n_classes, n_words), n_jk, messages that contain the word
    occurrences : int64 (n_classes, n_words), N_jk
    The columns are the whole vocabulary, NOTAWORD among them.
    """

    __slots__ = ("documents", "messages", "occurrences")

    def __init__(self, n_classes: int, n_words: int) -> None:
        self.messages: Integers = np.zeros(n_classes, dtype=np.int64)
        self.documents: Integers = np.zeros((n_classes, n_words), dtype=np.int64)
        self.occurrences: Integers = np.zeros((n_classes, n_words), dtype=np.int64)

    def add(self, counts: sparse.csr_matrix, labels: Integers, sign: int = 1) -> None:
        """Count messages: (n_messages, n_words) integers >= 0 and the class number of each row."""
        labels = np.asarray(labels, dtype=np.int64)
        rows = np.arange(len(labels))
        shape = (len(self.messages), len(labels))
        indicator = sparse.csr_matrix((np.ones(len(labels), np.int64), (labels, rows)), shape=shape)
        counts = as_counts(counts).astype(np.int64)
        self.messages += sign * np.bincount(labels, minlength=len(self.messages))
        self.occurrences += sign * (indicator @ counts).toarray()
        self.documents += sign * (indicator @ presence(counts)).toarray()

    def remove(self, counts: sparse.csr_matrix, labels: Integers) -> None:
        """Undo `add` exactly."""
        self.add(counts, labels, -1)

    def merge(self, other: WordCounts) -> None:
        """Add the counts of another model over the same classes and words."""
        self.messages += other.messages
        self.documents += other.documents
        self.occurrences += other.occurrences

    def totals(self) -> WordTotals:
        """What the scalar scorers need beside a token's own counts."""
        outside = self.occurrences.sum(axis=0) - self.occurrences
        return WordTotals(
            self.messages.tolist(),
            self.documents.sum(axis=1).tolist(),
            self.occurrences.sum(axis=1).tolist(),
            self.documents.shape[1],
            [_histogram(row) for row in self.documents],
            [_histogram(row) for row in outside],
        )


class Weights:
    """A smoothed model: score = prior + base + counts @ table.T.

    base    : float64 (n_classes,);  table : float64 (n_classes, n_words), nats, -inf allowed
    certain : bool (n_classes, n_words), words whose absence is impossible, or None (see scoring.events)
    """

    __slots__ = ("base", "certain", "table", "uses_presence", "uses_prior")

    def __init__(self, base: Floats, table: Floats, uses_presence: bool, uses_prior: bool = True) -> None:
        self.base = base
        self.table = table
        self.uses_presence = uses_presence
        self.uses_prior = uses_prior
        self.certain: NDArray[np.bool_] | None = None


def as_counts(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """The matrix as CSR with no stored zeros (0 * -inf would be NaN) and no duplicates, a copy if needed."""
    matrix = sparse.csr_matrix(counts)
    if matrix.has_canonical_format and (matrix.nnz == 0 or matrix.data.min() > 0):
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def presence(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """The same words, each counted once."""
    ones = np.ones(counts.nnz, dtype=np.int64)
    return sparse.csr_matrix((ones, counts.indices, counts.indptr), shape=counts.shape)


def smooth(event_model: str, counts: WordCounts, alpha: float, normalise: bool = False) -> Weights:
    """The weights of one event model at one lambda >= 0.  Formulas and sources: nbspam.model.word_models."""
    alpha = checked_alpha(alpha)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if event_model == "presence":
            return _smooth_multinomial(counts.documents, alpha, True)
        if event_model == "multinomial":
            return _smooth_multinomial(counts.occurrences, alpha, False)
        if event_model == "bernoulli":
            return _smooth_bernoulli(counts, alpha)
        if event_model == "complement":
            return _smooth_complement(counts.occurrences, alpha, normalise)
    make_word_scorer(event_model, WordTotals([], [], [], 0), alpha)  # raises: no such event model
    raise AssertionError(event_model)


def score(weights: Weights, counts: sparse.csr_matrix, log_prior: Sequence[float]) -> Floats:
    """Log joints of messages, float64 (n_messages, n_classes), nats; -inf allowed, never NaN."""
    matrix = as_counts(counts)
    words = presence(matrix) if weights.uses_presence else matrix
    joint: Floats = np.asarray(words.astype(np.float64) @ np.ascontiguousarray(weights.table.T))
    joint += weights.base
    if weights.uses_prior:
        joint += np.asarray(log_prior, dtype=np.float64)
    if weights.certain is not None:
        seen = presence(matrix) @ weights.certain.T.astype(np.int64)
        joint[seen < weights.certain.sum(axis=1)] = -np.inf
    return joint


def _histogram(row: Integers) -> dict[int, int]:
    values, words = np.unique(row, return_counts=True)
    return dict(zip(values.tolist(), words.tolist(), strict=True))


def _smooth_multinomial(cells: Integers, alpha: float, uses_presence: bool) -> Weights:
    scale, pseudo = scaled(alpha)
    totals = cells.sum(axis=1, keepdims=True) * scale + pseudo * cells.shape[1]
    table = np.log(cells * scale + pseudo) - np.log(totals)
    table[np.isnan(table)] = -np.inf  # a class without data at lambda = 0
    return Weights(np.zeros(len(cells)), table, uses_presence)


def _smooth_bernoulli(counts: WordCounts, alpha: float) -> Weights:
    messages = counts.messages[:, None]
    present, absent = counts.documents + alpha, messages - counts.documents + alpha
    table = np.where(present > 0, np.log(present) - np.log(absent), -np.inf)
    log_absences = log_absent(counts.documents, messages, alpha)
    certain = np.isneginf(log_absences) & (counts.documents > 0)
    table[certain] = 0.0
    log_absences[certain] = 0.0
    weights = Weights(log_absences.sum(axis=1), table, True)
    weights.certain = certain if certain.any() else None
    return weights


def log_absent(documents: NDArray[np.int64], messages: NDArray[np.int64], alpha: float) -> Floats:
    """log(1 - phi) of the Bernoulli model; by log1p where phi is small, as in scoring.events."""
    scale, pseudo = scaled(alpha)
    total = messages * scale + 2 * pseudo
    present, absent = documents * scale + pseudo, (messages - documents) * scale + pseudo
    with np.errstate(divide="ignore", invalid="ignore"):
        values: Floats = np.where(
            present < absent, np.log1p(-present / total), np.log(absent) - np.log(total)
        )
    values[np.broadcast_to(absent <= 0, values.shape)] = -np.inf
    return values


def _smooth_complement(cells: Integers, alpha: float, normalise: bool) -> Weights:
    scale, pseudo = scaled(alpha)
    outside = cells.sum(axis=0) - cells
    totals = outside.sum(axis=1, keepdims=True) * scale + pseudo * cells.shape[1]
    log_theta = np.log(outside * scale + pseudo) - np.log(totals)
    log_theta[outside * scale + pseudo <= 0] = -np.inf
    base = np.zeros(len(cells))
    if normalise:
        return Weights(base, _normalised(log_theta), False, len(cells) == 1)
    table = -log_theta
    unbounded = np.isposinf(table)
    rows = unbounded.any(axis=0)
    settled = np.where(unbounded & (cells.sum(axis=0) > 0), 0.0, -np.inf)
    return Weights(base, np.where(rows, settled, table), False, len(cells) == 1)


def _normalised(log_theta: Floats) -> Floats:
    """log theta over its sum; where some are -inf (lambda = 0) the limit: those share weight 1."""
    unseen = np.isneginf(log_theta)
    zeros = unseen.sum(axis=1, keepdims=True)
    sums = log_theta.sum(axis=1, keepdims=True)
    finite = np.where(sums == 0, 1.0, log_theta / sums)
    return np.where(zeros > 0, unseen / np.maximum(zeros, 1), finite)
