"""Learns the calibration from out-of-sample evidence, in bulk.

Hides the optimiser: Newton's method on the multinomial logistic likelihood with the Gaussian
prior of nbspam.model.calibration.  What it returns, `learn` goes on from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nbspam.model.calibration import MAX_COVARIANCE, first_weights
from nbspam.model.evidence import own_weights
from nbspam.model.views import Evidence, Floats

MAX_STEPS = 60  # of Newton; the mail tried took six to eight
MAX_MOVE = 2.0  # of a weight in one step: a whole step of Newton may go too far
SLICE_CELLS = 2**24  # of the design at a time, 128 MB: with many classes it is far larger than the evidence


def design_matrix(sample: Evidence) -> Floats:
    """float64 (n_rows, n_classes, n_weights): the features of each class, class 0 all zero."""
    n_rows, n_evidence, n_classes = sample.evidence.shape
    own = own_weights(n_evidence, sample.common.shape[1], n_classes)
    matrix = np.zeros((n_rows, n_classes, own.stop))
    matrix[:, :, :n_evidence] = sample.evidence.transpose(0, 2, 1)
    for k, begin in enumerate(own, 1):
        matrix[:, k, begin] = 1.0
        matrix[:, k, begin + 1 : begin + own.step] = sample.common
    return matrix


def bulk_scores(weights: Floats, sample: Evidence) -> Floats:
    """float64 (n_rows, n_classes), nats, class 0 is 0: what calibration.scores gives row by row."""
    return np.asarray(design_matrix(sample) @ weights)


def fit(sample: Evidence, labels: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Weights and their covariance (empty if there are too many): the mode and Laplace's approximation.

    sample : evidence of messages that were not counted when they were scored
    labels : int64 (n_rows,), class numbers
    Source: Bishop 2006, section 4.3.4 (Newton's method) and 4.5.1 (Laplace).
    """
    n_classes = sample.evidence.shape[2]
    first, spread = first_weights(n_classes, sample.kinds)
    mean = np.array(first)
    precision = np.diag(1.0 / np.diag(np.array(spread)))
    weights = mean.copy()
    for _ in range(MAX_STEPS):
        gradient, hessian = _derivatives(sample, labels, weights)
        gradient = gradient + precision @ (weights - mean)
        step = np.linalg.solve(hessian + precision, gradient)
        move = float(np.abs(step).max())
        weights = weights - step * min(1.0, MAX_MOVE / max(move, 1e-300))
        if move < 1e-9:
            break
    if len(weights) > MAX_COVARIANCE:
        return weights, np.zeros((0, 0))
    covariance = np.linalg.inv(_derivatives(sample, labels, weights)[1] + precision)
    return weights, np.asarray(covariance, np.float64)


def _derivatives(sample: Evidence, labels: NDArray[np.int64], weights: Floats) -> tuple[Floats, Floats]:
    """Gradient and Hessian of minus the log-likelihood."""
    n_weights, n_classes = len(weights), sample.evidence.shape[2]
    step = max(1, SLICE_CELLS // (n_weights * n_classes))
    gradient, hessian = np.zeros(n_weights), np.zeros((n_weights, n_weights))
    for first in range(0, len(labels), step):
        rows = slice(first, first + step)
        truth = np.eye(n_classes)[labels[rows]]
        more = _derivatives_of(design_matrix(sample.of_rows(rows)), truth, weights)
        gradient += more[0]
        hessian += more[1]
    return gradient, hessian


def _derivatives_of(matrix: Floats, truth: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The same of some rows.  matrix : see design_matrix;  truth : (n_rows, n_classes), 1 for the class"""
    scores = matrix @ weights
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    shares /= shares.sum(axis=1, keepdims=True)
    n_weights = len(weights)
    flat = matrix.reshape(-1, n_weights)
    gradient = (shares - truth).ravel() @ flat
    weighted = matrix * shares[:, :, None]
    centred = weighted.sum(axis=1)
    hessian = weighted.reshape(-1, n_weights).T @ flat - centred.T @ centred
    return gradient, hessian
