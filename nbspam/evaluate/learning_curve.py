"""How a filter fares over time: cumulative figures and those of a moving window.

Hides the bookkeeping; a row of the returned array is one point of the curve.
"""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from nbspam.evaluate import metrics
from nbspam.evaluate.outcomes import Columns, Evaluation
from nbspam.evaluate.ranking import ranked

POINTS = 50
FIELDS = (
    "messages",
    "hm_percent",
    "sm_percent",
    "one_minus_roca_percent",
    "window_hm_percent",
    "window_sm_percent",
    "window_one_minus_roca_percent",
)
_ROW = np.dtype([("messages", np.int64), *((name, np.float64) for name in FIELDS[1:])])


def learning_curve(
    evaluation: Evaluation, points: int = POINTS, window: int | None = None
) -> NDArray[np.void]:
    """Figures after every n / points messages, in the order judged.

    points : how many rows at most
    window : messages that the windowed figures look back on; None = a tenth of the corpus
    Returns a structured array with FIELDS; nan where ham or spam is still missing, and
    throughout where no class plays spam.
    """
    columns = evaluation.columns
    order = np.argsort([outcome.index for outcome in evaluation.outcomes], kind="stable")
    total = len(order)
    window = window or max(1, total // 10)
    ends = np.unique(np.linspace(0, total, min(points, total) + 1).astype(np.int64)[1:])
    rows = [
        (end, *_figures(columns, order[:end]), *_figures(columns, order[max(0, end - window) : end]))
        for end in ends
    ]
    return np.array(rows, dtype=_ROW)


def _figures(columns: Columns, rows: NDArray[np.int64]) -> tuple[float, float, float]:
    """hm%, sm% and (1-ROCA)% of some messages."""
    if columns.positive is None:
        return nan, nan, nan
    is_spam = columns.is_positive[rows]
    called_spam = columns.decided[rows] == columns.positive
    called_ham = ~called_spam & (columns.decided[rows] >= 0)
    spam = int(is_spam.sum())
    return (
        metrics.percent(int((called_spam & ~is_spam).sum()), len(rows) - spam),
        metrics.percent(int((called_ham & is_spam).sum()), spam),
        100 * ranked(columns.score[rows], is_spam).one_minus_roca(),
    )
