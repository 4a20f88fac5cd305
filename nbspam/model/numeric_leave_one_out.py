"""Numeric features of training messages scored as if each had not been trained on.

Hides that only the counts that a message meets in its own class change, and each by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nbspam.model import bulk_numeric as numeric
from nbspam.model.feature_counts import FeatureCounts
from nbspam.model.numeric_models import AodeScorer, BinTotals, smoothed_log

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def numeric_leave_one_out(
    counts: FeatureCounts, event_model: str, features: Floats, labels: Integers, alpha: float
) -> Floats:
    """Log-likelihoods, float64 (n_messages, n_classes), each message scored by the counts without itself.

    features, labels : messages that are all contained in `counts`;  alpha : > 0
    Under the Gaussian model a message stays in: one among hundreds hardly moves a mean, and no lambda
    hangs on it.
    """
    scorer = counts.scorer(event_model, alpha)
    if event_model == "gaussian":
        return numeric.log_likelihood(scorer, features)
    bins = numeric.bins_of(features, counts.bins.edges)
    alone = _categorical(counts.bins, bins, labels, alpha)
    return _aode(scorer, bins, labels, alone) if isinstance(scorer, AodeScorer) else alone


def _categorical(totals: BinTotals, bins: Integers, labels: Integers, alpha: float) -> Floats:
    joint = np.zeros((len(bins), len(totals.counts)))
    for k, by_feature in enumerate(totals.counts):
        own = labels == k
        for f, row in enumerate(by_feature):
            joint[:, k] += _logs(row, sum(row), alpha, 0)[bins[:, f]] * ~own
            joint[:, k] += _logs(row, sum(row), alpha, 1)[bins[:, f]] * own
    return joint


def _logs(row: list[int], total: int, alpha: float, less: int) -> Floats:
    """Log probability of each bin, and 0 in the last place for bin -1, missing."""
    logs = [smoothed_log(max(n - less, 0), max(total - less, 0), alpha, len(row)) for n in row]
    return np.asarray([*logs, 0.0])


def _aode(scorer: AodeScorer, bins: Integers, labels: Integers, alone: Floats) -> Floats:
    """alone : the categorical scores, for messages whose every value no other message has."""
    totals = scorer.totals
    usable, cells = _parents_without(scorer, bins)
    numbers = usable.sum(axis=1)
    hot = numeric.one_hot(bins, totals).astype(np.float64)
    joint = np.empty_like(alone)
    for k in range(scorer.n_classes):
        for less, rows in ((0, labels != k), (1, labels == k)):
            parents = np.concatenate(
                [_logs(row, sum(row), scorer.alpha, less)[:-1] for row in totals.counts[k]]
            )
            children = hot[np.flatnonzero(rows)] @ numeric.conditionals(scorer, k, less).T
            terms = np.take_along_axis(children, cells[rows], axis=1) + parents[cells[rows]]
            terms[~usable[rows]] = -np.inf
            joint[rows, k] = np.logaddexp.reduce(terms, axis=1, initial=-np.inf)
        joint[:, k] -= np.log(np.maximum(numbers, 1))
    joint[numbers == 0] = alone[numbers == 0]
    return joint


def _parents_without(
    scorer: AodeScorer, bins: Integers
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.bool_]], Integers]:
    """Which features of each message can be parents without it, and their cells."""
    eligible = numeric.times_seen(scorer.totals) - 1 >= scorer.minimum
    cells = np.where(bins >= 0, bins + np.asarray(scorer.totals.offsets), 0)
    return (bins >= 0) & eligible[cells], cells
