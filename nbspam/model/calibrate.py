"""Learns the calibration from out-of-sample evidence of the mail that was counted.

All mail at hand has been counted.  Subtracting a message's counts makes it look new, in two ways.
Leave-one-out uses every message, but knows what came after it.  It leaves out all mail of the sender's host,
because mail that changes comes from new senders.  Prequential evidence (by the counts as they were when the
message came) knows only the past, but the early messages have few counts.  Both samples together calibrate
better than either, on random splits and in time order: docs/decisions.md, "Calibration".

Both see mail that the filter has kept up with.  A third sample sees mail that came long after the last
lesson, so that evidence which holds for weeks only gets less weight: docs/decisions.md, "Mail left alone".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from nbspam.model.block import Block, is_dated, select_rows, sort_by_time
from nbspam.model.calibration import (
    MAX_COVARIANCE,
    OWN_WEIGHTS,
    Learner,
    Weights,
    count_weights,
    first_weights,
    own_weights,
)
from nbspam.model.counts import LINE_FEED, Counts, Floats, Ints, merge_columns
from nbspam.model.posterior import prior_shift
from nbspam.model.scorer import Usual
from nbspam.model.views import (
    Evidence,
    ScoredRows,
    as_counted,
    before_each,
    compute_evidence,
    leave_groups_out,
)
from nbspam.settings import Settings
from nbspam.tokens.bag import HEADER_VIEW, RAW_VIEW

# Of the messages in time order; the prequential scores of earlier ones are left out.
WARM_UP_SHARE = 0.4  # docs/decisions.md, "Calibration: on which scores"
# Of the messages in time order: where each part of the mail that was left alone begins, and how much of the
# mail before it was learned.
LEFT_ALONE_BOUNDS = (0.4, 0.6, 0.8)
LEARNED_SHARE = 2 / 3
MIN_LEFT_ALONE = 1_000  # messages of each class in the earlier half; fewer say too little of later mail
# Messages of each of two classes; with fewer the calibration keeps its prior.  Other classes may have fewer:
# most weights are shared by all (docs/decisions.md, "From how few messages").
MIN_CALIBRATION = 5
MAX_STEPS = 60  # of Newton; the mail tried took six to eight
MAX_MOVE = 2.0  # of a weight in one step: a whole step of Newton may go too far
SLICE_CELLS = 2**24  # of the design at a time, 128 MB: with many classes it is far larger than the evidence

_HOST = re.compile(rb"\nmessage-id:[^~\n]*\.[^~\n]*(?![^\n])")  # a token; ~ is in the form of a number

Way = Callable[[Block, Counts], ScoredRows]
Design = tuple[Floats, Floats]  # design_matrix of some rows; (n_rows, n_classes), 1 at the class of each


def calibrate_on(samples: Sequence[Evidence], kinds: Sequence[str]) -> Weights:
    """The calibration learned on samples of evidence, see choose_ways.  kinds : see Settings.kinds"""
    sample = Evidence(*map(np.concatenate, zip(*samples, strict=True)))
    if not can_calibrate(np.bincount(sample.labels, minlength=sample.evidence.shape[2]).tolist()):
        sample = sample.take(slice(0))
    return fit(sample, kinds)


def can_calibrate(messages: Sequence[int]) -> bool:
    """True if there are enough messages, by class, to learn a calibration from."""
    return sorted(messages)[-2] >= MIN_CALIBRATION


def take_sample(way: Way, block: Block, counts: Counts, settings: Settings) -> Evidence:
    """The evidence of rows as if they were new, in one way to see them."""
    return compute_evidence(way(block, counts), settings)


def choose_ways(block: Block, counts: Counts) -> list[Way]:
    """How the rows of a block can be seen as new; prequential, where dates are known, comes last.

    counts : the rows are among the counted messages
    """
    if not is_dated(block.dates):
        return [see_left_out]
    earlier = block.labels[sort_by_time(block.dates)[: len(block) // 2]]
    is_large = np.bincount(earlier, minlength=len(counts.messages)).min() >= MIN_LEFT_ALONE
    left_alone = [see_left_alone] if is_large and not counts.is_fixed else []
    return [see_left_out, *left_alone, see_as_they_came]


def see_left_out(block: Block, counts: Counts) -> ScoredRows:
    """All rows, each scored without the mail of its sender's host, or without its copies if it names none."""
    _, (copies,), _ = merge_columns([block.digests()])  # np.unique costs an import
    hosts = sender_hosts(block)
    _, (groups,), _ = merge_columns([np.where(hosts < 0, -1 - copies, hosts)])
    return leave_groups_out(block, counts, groups.astype(np.int64))


def sender_hosts(block: Block) -> Ints:
    """int64 (n_rows,): the column of the host in each Message-ID, the longest of its names; -1 for none."""
    # A pattern that begins with a line feed is found four times as fast as one that begins with ^.
    places = [match.span() for match in _HOST.finditer(b"\n" + block.texts)]
    spans = np.array(places, np.int64).reshape(-1, 2)
    line_feeds = np.flatnonzero(np.frombuffer(block.texts, np.uint8) == LINE_FEED)
    length = np.zeros(len(block.keys), np.int64)
    length[np.searchsorted(line_feeds, spans[:, 0])] = spans[:, 1] - spans[:, 0]
    pairs = np.flatnonzero((length > 0)[block.columns])
    columns = block.columns[pairs]
    order = np.lexsort((columns, length[columns]))
    hosts = np.full(len(block), -1)
    hosts[block.rows()[pairs[order]]] = columns[order]  # of several, the last stays
    return hosts


def see_as_they_came(block: Block, counts: Counts) -> ScoredRows:
    """The later rows, each scored with what was counted before it came."""
    order = sort_by_time(block.dates)
    later = order[int(len(order) * WARM_UP_SHARE) :]
    return before_each(select_rows(block, later), counts)


def see_left_alone(block: Block, counts: Counts) -> ScoredRows:
    """The later rows, each scored by counts that ended long before it came.

    Those between two bounds of LEFT_ALONE_BOUNDS are scored by the first LEARNED_SHARE of all rows before.
    """
    order = sort_by_time(block.dates)
    parts = []
    for bound, end in pairwise([*LEFT_ALONE_BOUNDS, 1.0]):
        first, last = int(len(order) * bound), int(len(order) * end)
        learned = select_rows(block, order[: int(first * LEARNED_SHARE)]).count(len(counts.messages))
        parts.append(as_counted(select_rows(block, order[first:last]), learned))
    pairs, totals, words = ([getattr(part, name) for part in parts] for name in ScoredRows._fields[1:])
    later = select_rows(block, order[int(len(order) * LEFT_ALONE_BOUNDS[0]) :])
    return ScoredRows(later, np.concatenate(pairs, 1), np.concatenate(totals, 2), np.concatenate(words, 1))


def learn_sample(learner: Learner, sample: Evidence, counted: float, first: int = 0) -> None:
    """A calibration goes on learning, in place, from the rows of a sample from the first on.

    counted : messages that the model had counted before those of the sample
    """
    for row in range(first, len(sample.labels)):
        evidence, common = sample.evidence[row].tolist(), sample.common[row].tolist()
        learner.learn(evidence, common, int(sample.labels[row]), counted + row)


def score_evidence(weights: Floats, sample: Evidence) -> Floats:
    """float64 (n_rows, n_classes), nats, class 0 is 0: what calibration.scores gives row by row."""
    return np.asarray(design_matrix(sample) @ weights)


def score_new_rows(
    weights: Floats, block: Block, counts: Counts, settings: Settings, classes: tuple[str, ...]
) -> Floats:
    """float64 (n_rows, n_classes), nats: what a Scorer gives messages that were not counted."""
    sample = compute_evidence(as_counted(block, counts), settings)
    return score_sample(weights, sample, block, counts, settings, classes)


def score_sample(
    weights: Floats,
    sample: Evidence,
    block: Block,
    counts: Counts,
    settings: Settings,
    classes: tuple[str, ...],
) -> Floats:
    """The same from the evidence of the rows by these counts."""
    scores = score_evidence(weights, sample)
    if settings.damped:
        scores *= trust_rows(block, counts, sample)[:, None]
    return scores + sample.same_text + prior_shift(settings, counts.messages.tolist(), classes)


def trust_rows(block: Block, counts: Counts, sample: Evidence) -> Floats:
    """float64 (n_rows,): how much each row is trusted, see Usual; 1 without a header.

    sample : the evidence by these counts
    """
    totals, words = counts.totals.documents.sum(axis=1).tolist(), counts.totals.words.tolist()
    usual = Usual(totals, words, int(counts.messages.sum()))
    in_header = block.views[block.columns] == HEADER_VIEW
    tokens = np.bincount(block.rows()[in_header], minlength=len(block))
    shares = 1.0 - sample.common[:, HEADER_VIEW]
    rows = np.stack([tokens * shares, shares, 1.0 - sample.common[:, RAW_VIEW]], axis=1).tolist()
    return np.where(tokens > 0, [usual.trust(*row) for row in rows], 1.0)


def design_matrix(sample: Evidence) -> Floats:
    """float64 (n_rows, n_classes, n_weights): the features of each class, class 0 all zero."""
    n_rows, n_evidence, n_classes = sample.evidence.shape
    matrix = np.zeros((n_rows, n_classes, count_weights(n_evidence, n_classes)))
    matrix[:, :, :n_evidence] = sample.evidence.transpose(0, 2, 1)
    for k, begin in enumerate(own_weights(n_evidence, n_classes), 1):
        matrix[:, k, begin] = 1.0
        matrix[:, k, begin + 1 : begin + OWN_WEIGHTS] = sample.common
    return matrix


def fit(sample: Evidence, kinds: Sequence[str]) -> Weights:
    """Weights and their covariance (empty if there are too many): the mode and Laplace's approximation.

    Newton's method on the multinomial logistic likelihood with the Gaussian prior of
    nbspam.model.calibration.
    Source: Bishop 2006, section 4.3.4 (Newton's method) and 4.5.1 (Laplace).
    """
    first, spread = first_weights(sample.evidence.shape[2], kinds)
    mean = np.array(first)
    precision = np.diag(1.0 / np.diag(np.array(spread)))
    weights = mean.copy()
    designs = _cut_designs(sample, len(weights))
    for _ in range(MAX_STEPS):
        gradient, hessian = _differentiate(designs(), weights)
        gradient = gradient + precision @ (weights - mean)
        step = np.linalg.solve(hessian + precision, gradient)
        move = float(np.abs(step).max())
        weights = weights - step * min(1.0, MAX_MOVE / max(move, 1e-300))
        if move < 1e-9:
            break
    if len(weights) > MAX_COVARIANCE:
        return weights.tolist(), []
    covariance = np.linalg.inv(_differentiate(designs(), weights)[1] + precision)
    return weights.tolist(), covariance.tolist()


def _cut_designs(sample: Evidence, n_weights: int) -> Callable[[], Iterable[Design]]:
    """All rows, some after another, as often as they are asked for; what fits into memory is made once."""
    n_classes = sample.evidence.shape[2]
    step = max(1, SLICE_CELLS // (n_weights * n_classes))
    parts = [sample.take(slice(first, first + step)) for first in range(0, len(sample.labels), step)]

    def make(rows: Evidence) -> Design:
        return design_matrix(rows), np.eye(n_classes)[rows.labels]

    if len(parts) > 1:
        return lambda: map(make, parts)
    whole = [*map(make, parts)]
    return lambda: whole


def _differentiate(designs: Iterable[Design], weights: Floats) -> tuple[Floats, Floats]:
    """Gradient and Hessian of minus the log-likelihood."""
    n_weights = len(weights)
    gradient, hessian = np.zeros(n_weights), np.zeros((n_weights, n_weights))
    for matrix, truth in designs:
        scores = matrix @ weights
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        flat = matrix.reshape(-1, n_weights)
        weighted = matrix * shares[:, :, None]
        centred = weighted.sum(axis=1)
        gradient += (shares - truth).ravel() @ flat
        hessian += weighted.reshape(-1, n_weights).T @ flat - centred.T @ centred
    return gradient, hessian
