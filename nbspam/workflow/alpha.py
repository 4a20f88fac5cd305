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
from nbspam.models.views import Evidence, view_evidence
from nbspam.settings import Settings
from nbspam.workflow.training import out_of_sample


def best_averaged_alpha(
    sample: Block, documents: Ints, settings: Settings, grid: Sequence[float] = ALPHA_GRID
) -> float:
    """The lambda of the grid with least log loss; the larger one of two that are equal.

    sample    : labelled messages, all of them among the counted
    documents : int64 (n_classes, n_columns), n_jk in the columns of the sample
    """
    background, rows = out_of_sample(sample, documents)
    labels = sample.labels[rows].astype(np.int64)
    losses = []
    for alpha in sorted(grid, reverse=True):
        found = view_evidence(sample, background, alpha, settings.threshold)
        evidence = Evidence(found.evidence[rows], found.unknown[rows])
        weights, _ = fit(evidence, labels)
        joint = bulk_scores(weights, evidence)
        losses.append((_log_loss(joint, labels), -alpha))
    return -min(losses)[1]


def _log_loss(joint: np.ndarray[tuple[int, int], np.dtype[np.float64]], labels: Ints) -> float:
    """Nats a message."""
    return float(np.mean(logsumexp(joint, axis=1) - joint[np.arange(len(labels)), labels]))
