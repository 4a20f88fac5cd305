"""The lambda of averaged views, chosen on the mail trained on.

Hides the criterion: the log loss of the calibrated probabilities, each message scored by counts that do
not hold it.  The event models without averaging have nbspam.models.leave_one_out for the same purpose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from nbspam.engine.block import Block, Ints
from nbspam.models.calibrate import bulk_scores, fit
from nbspam.models.leave_one_out import ALPHA_GRID
from nbspam.settings import Settings
from nbspam.workflow.calibrating import fresh_sample, out_of_sample


def best_averaged_alpha(
    sample: Block, documents: Ints, settings: Settings, grid: Sequence[float] = ALPHA_GRID
) -> float:
    """The lambda of the grid with least log loss; the larger one of two that are equal.

    sample    : labelled messages, all of them among the counted
    documents : int64 (n_classes, n_columns), n_jk in the columns of the sample
    """
    seen = out_of_sample(sample, documents)
    losses = []
    for alpha in sorted(grid, reverse=True):
        found = fresh_sample(seen, settings.replaced(alpha=alpha), sample)
        weights, _ = fit(found.evidence, found.labels)
        losses.append((_log_loss(bulk_scores(weights, found.evidence), found.labels), -alpha))
    return -min(losses)[1]


def _log_loss(joint: np.ndarray[tuple[int, int], np.dtype[np.float64]], labels: Ints) -> float:
    """Nats a message."""
    return float(np.mean(logsumexp(joint, axis=1) - joint[np.arange(len(labels)), labels]))
