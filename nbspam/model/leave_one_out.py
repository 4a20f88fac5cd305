"""Scores of training messages as if each had not been trained on, and the lambda they choose.

Hides that no second training is needed: counts are additive, so a message is taken out by subtraction while
it is scored.  The result equals training on the others, which a test does: words that no other message has
leave the vocabulary with it, and are NOTAWORD to it, unless the vocabulary is fixed.

Why leave-one-out and not the evidence of the Dirichlet-multinomial: the evidence asks which lambda explains
the words, and is dominated by those that tell nothing; leave-one-out asks which lambda tells the classes
apart.  Its weakness is known: near-duplicates of a message stay in, so that campaigns favour a small lambda.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from nbspam.errors import UsageError
from nbspam.model.bulk_words import WordCounts, as_counts, log_absent
from nbspam.model.priors import OF_MAIL, log_priors
from nbspam.model.word_models import checked_alpha, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbspam.model.priors import Prior

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

ALPHA_GRID = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
_SEARCH_STEPS = 40  # shrink the bracket by 0.618^40, to 1e-7 of log s; the loss is flat where it is least
_LOG_SCALE_BOUNDS = (-12.0, 6.0)


class Entries:
    """One stored count of the matrix a place: row, word, how often; and which class each row is.

    counts            : those that hold the messages
    words, lengths    : int64 (n_messages,), distinct words and occurrences of each message
    counted           : the same two, of what the counts lose with the message
    taken             : int64, by entry, what the count of its word loses with the message
    lone, lone_values : by entry that is no more: its row, and how often the word was there
    lone_words        : int64 (n_messages,), how many words leave the vocabulary with each message
    """

    __slots__ = (
        *("columns", "counted", "counts", "labels", "lengths", "lone", "lone_values", "lone_words"),
        *("n_rows", "rows", "taken", "values", "words"),
    )

    def __init__(
        self, counts: WordCounts, matrix: sparse.csr_matrix, labels: Integers, fixed: bool = False
    ) -> None:
        """matrix, labels : messages that are all contained in `counts`, with the classes they were counted as
        fixed : all words stay in the vocabulary; else the last is NOTAWORD, which no message had
        """
        self.counts = counts
        matrix = as_counts(matrix)
        self.n_rows: int = matrix.shape[0]
        self.counted = _sizes(matrix)
        self.lone = self.lone_values = np.zeros(0, np.int64)
        last = matrix.shape[1] - 1
        if not fixed:
            lone = counts.documents.sum(axis=0) == 1
            rows, gone = np.repeat(np.arange(self.n_rows), self.counted[0]), lone[matrix.indices]
            self.lone, self.lone_values = rows[gone], matrix.data[gone].astype(np.int64)
            matrix = matrix.copy()  # sum_duplicates works in place
            matrix.indices[gone] = last
            matrix.has_sorted_indices = False
            matrix.sum_duplicates()
        self.lone_words = np.bincount(self.lone, minlength=self.n_rows)
        self.words, self.lengths = _sizes(matrix)
        self.rows: Integers = np.repeat(np.arange(self.n_rows), self.words)
        self.columns: Integers = matrix.indices
        self.values: Integers = matrix.data.astype(np.int64)
        self.taken = self.values if fixed else np.where(self.columns == last, 0, self.values)
        self.labels = np.asarray(labels, dtype=np.int64)

    def sum_by_row(self, values: Floats) -> Floats:
        """Sums of one number an entry, over each message."""
        return np.bincount(self.rows, values, self.n_rows).astype(np.float64, copy=False)


def _sizes(matrix: sparse.csr_matrix) -> tuple[Integers, Integers]:
    """Distinct words and occurrences of each message."""
    lengths = np.asarray(matrix.sum(axis=1)).ravel()
    return np.diff(matrix.indptr).astype(np.int64), lengths.astype(np.int64)


def leave_one_out(
    event_model: str,
    entries: Entries,
    alpha: float,
    prior: Prior = "smoothed",
    normalise: bool = False,
    names: Sequence[str] = (),
) -> Floats:
    """Log joints, float64 (n_messages, n_classes), each message scored by the counts without itself.

    entries   : of the messages; the same serve every lambda
    alpha     : > 0; UsageError for 0
    prior     : of the messages that are left, if it is of messages; complement has none (see scoring.events)
    normalise : concerns complement alone
    names     : the class names, needed with a prior that names them
    """
    counts = entries.counts
    if not checked_alpha(alpha) > 0:
        raise UsageError(
            f"alpha {alpha}",
            "a message left out takes its rare words along, and nothing is left of them without smoothing",
            "use a smoothing constant above 0",
            "alpha",
        )
    joint = np.zeros((entries.n_rows, len(counts.messages)))
    for k in range(len(counts.messages)):
        if event_model == "bernoulli":
            joint[:, k] = _bernoulli(entries, k, alpha)
        elif event_model == "complement":
            joint[:, k] = _complement(entries, k, alpha, normalise)
        else:
            joint[:, k] = _multinomial(entries, k, alpha, event_model == "presence")
    if event_model != "complement" or len(counts.messages) == 1:
        joint += priors_without(counts.messages, prior, alpha, names)[entries.labels]
    return joint


def priors_without(messages: Integers, prior: Prior, alpha: float, names: Sequence[str] = ()) -> Floats:
    """Row y: the log prior when one message of class y is left out; -inf for a class without any other."""
    rows = [messages - (np.arange(len(messages)) == y) for y in range(len(messages))]
    return np.asarray([log_priors(prior, np.maximum(row, 0).tolist(), names, alpha) for row in rows])


def prior_weights(prior: Prior, labels: Integers, names: Sequence[str]) -> Floats:
    """What each message counts in a loss, float64 (n_messages,): classes weigh as they will be, pi_k m / m_k.

    A prior that is of the mail says that they will be as they are: 1 each.
    """
    if prior in OF_MAIL:
        return np.ones(len(labels))
    messages = np.bincount(labels, minlength=len(names))
    shares = np.exp(log_priors(prior, messages.tolist(), names))
    return np.asarray((shares * len(labels) / np.maximum(messages, 1))[labels])


def _multinomial(entries: Entries, k: int, alpha: float, once: bool) -> Floats:
    cells = entries.counts.documents if once else entries.counts.occurrences
    times, taken = entries.values, entries.taken
    if once:
        times, taken = np.ones_like(times), taken > 0
    sizes, counted = (entries.words, entries.counted[0]) if once else (entries.lengths, entries.counted[1])
    own = entries.labels == k
    scale, pseudo = scaled(alpha)
    count = cells[k, entries.columns] - np.where(own[entries.rows], taken, 0)
    total = cells[k].sum() - np.where(own, counted, 0)
    size = cells.shape[1] - entries.lone_words
    tops = entries.sum_by_row(times * np.log(count * scale + pseudo))
    return np.asarray(tops - sizes * np.log(total * scale + pseudo * size), dtype=np.float64)


def _bernoulli(entries: Entries, k: int, alpha: float) -> Floats:
    """Base over the vocabulary with one message less of the own class; then the words of the message."""
    documents, messages = entries.counts.documents[k], entries.counts.messages[k]
    own = entries.labels == k
    absent = np.empty(len(own))
    for mine in (False, True):
        # A word of all messages is in this one too: without it no absence of that word is asked for.
        askable = documents <= messages - mine
        absent[own == mine] = log_absent(documents[askable], messages - mine, alpha).sum()
        if mine <= messages - mine:  # the lone words of a message were among them
            of_lone = log_absent(np.array([int(mine)]), messages - mine, alpha)[0]
            absent[own == mine] -= of_lone * entries.lone_words[own == mine]
    count, size = documents[entries.columns], messages - own[entries.rows]
    tokens = np.log(count - own[entries.rows] * (entries.taken > 0) + alpha) - np.log(size + 2 * alpha)
    tokens -= np.where(count <= size, log_absent(count, size, alpha), 0.0)
    return np.asarray(absent + entries.sum_by_row(tokens), dtype=np.float64)


def _complement(entries: Entries, k: int, alpha: float, normalise: bool) -> Floats:
    occurrences = entries.counts.occurrences
    outside = occurrences.sum(axis=0) - occurrences[k]
    other = entries.labels != k  # the message is part of the complement of every class but its own
    scale, pseudo = scaled(alpha)
    count = outside[entries.columns] - np.where(other[entries.rows], entries.taken, 0)
    total = outside.sum() - np.where(other, entries.counted[1], 0)
    size = len(outside) - entries.lone_words
    log_count = np.log(count * scale + pseudo)
    log_total = np.log(total * scale + pseudo * size)
    scores = entries.sum_by_row(entries.values * log_count) - entries.lengths * log_total
    if not normalise:
        return np.asarray(-scores, dtype=np.float64)
    whole = np.log(outside * scale + pseudo)
    changed = entries.sum_by_row(log_count - whole[entries.columns])
    in_others = np.where(other[entries.lone], entries.lone_values, 0)
    changed -= np.bincount(entries.lone, np.log(in_others * scale + pseudo), entries.n_rows)
    alone = size == 1  # NOTAWORD is all that is left, and has the whole weight: its logarithm is 0
    sums = np.where(alone, 1.0, whole.sum() + changed - size * log_total)
    return np.asarray(np.where(alone, entries.lengths, scores / sums), dtype=np.float64)


def scaled_log_loss(joint: Floats, labels: Integers, weights: Floats | None = None) -> float:
    """Least mean log loss over s of the posteriors softmax(s * joint), nats a message; 0 for no messages.

    joint   : float64 (n_messages, n_classes);  log s is within _LOG_SCALE_BOUNDS
    weights : what each message counts in the mean; None: 1.  One whose own class is ruled out counts nothing,
              for no scale could help it

    Naive Bayes is over-sure, so that the raw log loss would be a story of its few worst mistakes.  The scores
    are therefore shrunk by the one factor that suits them best (temperature scaling; Guo et al. 2017, section
    4.2), and what remains is how well they tell the classes apart.
    The loss is convex in s and so has one valley in log s, found by golden-section search.
    """
    share = np.ones(len(labels)) if weights is None else weights
    some = np.isfinite(joint[np.arange(len(labels)), labels]) & (share > 0)
    joint, labels, share = joint[some], labels[some], share[some]
    if not len(labels):
        return 0.0
    share = share / share.sum()
    centred = joint - joint.max(axis=1, keepdims=True)
    own = centred[np.arange(len(labels)), labels]
    low, high = _LOG_SCALE_BOUNDS
    ratio = (5**0.5 - 1) / 2
    at = [high - ratio * (high - low), low + ratio * (high - low)]
    losses = [_loss(centred, own, value, share) for value in at]
    for _ in range(_SEARCH_STEPS):
        if losses[0] <= losses[1]:
            high = at[1]
            at = [high - ratio * (high - low), at[0]]
            losses = [_loss(centred, own, at[0], share), losses[0]]
        else:
            low = at[0]
            at = [at[1], low + ratio * (high - low)]
            losses = [losses[1], _loss(centred, own, at[1], share)]
    return min(losses)


def _loss(centred: Floats, own: Floats, log_scale: float, share: Floats) -> float:
    scale = float(np.exp(log_scale))
    return float(share @ (logsumexp(scale * centred, axis=1) - scale * own))
