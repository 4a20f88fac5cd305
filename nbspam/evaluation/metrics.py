"""Figures by which filters are compared, as functions of an evaluation's columns or its confusion matrix.

Rates are in percent where the name says so; the rate of a class without messages is nan.
"""

from math import exp, log, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.decision import Loss
from nbspam.evaluation.intervals import ERRORS, NO_INTERVAL, Bounds
from nbspam.evaluation.outcomes import Evaluation, Floats, Ints
from nbspam.evaluation.ranking import rank_messages, roca_percent

ECE_BINS = 15
SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)  # 2.2e-16, as scikit-learn's log_loss cuts
CURVE_POINTS = 50
Matrix = NDArray[np.int64]  # (n_classes, n_classes + 1): row true class, column decided one, unsure last


def count_confusion(evaluation: Evaluation) -> Matrix:
    """Messages by true and decided class, int64 (n_classes, n_classes + 1), unsure in the last column."""
    counts = np.zeros((evaluation.n_classes, evaluation.n_classes + 1), np.int64)
    np.add.at(counts, (evaluation.truth, evaluation.decided), 1)  # unsure is -1, the last
    return counts


def largest_confusions(counts: list[list[int]], limit: int) -> list[tuple[int, int, int]]:
    """(true class, decided class, messages) of the wrong decisions of most messages, most first.

    counts : see count_confusion; unsure is the last class
    """
    cells = [
        (truth, decided, count)
        for truth, row in enumerate(counts)
        for decided, count in enumerate(row)
        if truth != decided and count
    ]
    return sorted(cells, key=lambda cell: -cell[2])[:limit]


def count_spam_shares(counts: Matrix, positive: int) -> dict[str, tuple[int, int]]:
    """For each rate of spam and ham how many messages have it, and of how many.  Ham is every class but spam.

    positive : number of the class spam
    An unsure message is neither lost nor missed, because the user still sees it.
    """
    spam = counts[positive].tolist()
    ham = np.delete(counts, positive, axis=0).sum(axis=0).tolist()
    n_spam, n_ham = sum(spam), sum(ham)
    caught, lost = spam[positive], ham[positive]
    return {
        "precision": (caught, caught + lost),
        "recall": (caught, n_spam),
        "hm_percent": (lost, n_ham),
        "sm_percent": (n_spam - caught - spam[-1], n_spam),
        "ham_unsure_percent": (ham[-1], n_ham),
        "spam_unsure_percent": (spam[-1], n_spam),
    }


def error_percents(evaluation: Evaluation) -> tuple[float, float]:
    """hm% and sm%; nan for a class without messages, and for both without a class spam."""
    if evaluation.positive is None:
        return nan, nan
    shares = count_spam_shares(count_confusion(evaluation), evaluation.positive)
    (lost, n_ham), (missed, n_spam) = shares["hm_percent"], shares["sm_percent"]
    return 100 * lost / n_ham if n_ham else nan, 100 * missed / n_spam if n_spam else nan


def lam_with_interval(ham_lost: float, ham: float, spam_missed: float, spam: float) -> tuple[float, Bounds]:
    """Logistic average misclassification percentage, the mean of two rates as logits; its 95 % interval.

    logit(lam) = (logit(ham_lost / ham) + logit(spam_missed / spam)) / 2.  A rate of 0 or 1 has no logit:
    there half a message counts as wrong, or right (0.5 / n, 1 - 0.5 / n), as in TREC's toolkit for curves;
    other rates are not smoothed, so that the figure agrees with published ones.  nan for an empty class.
    The interval is normal in logits.  The variance of a logit is 1 / wrong + 1 / right, that of their mean a
    quarter of the sum of both (Woolf 1955).  Without errors it is still wide.
    Source: Cormack and Lynam, TREC 2005 spam track overview, section 3.
    """
    if not ham or not spam:
        return nan, NO_INTERVAL
    logits, variance = 0.0, 0.0
    for errors, messages in ((ham_lost, ham), (spam_missed, spam)):
        wrong = min(max(errors, 0.5), max(messages - 0.5, 0.5))
        right = max(messages - wrong, 0.5)
        logits += log(wrong / right) / 2
        variance += (1 / wrong + 1 / right) / 4
    low, value, high = (100 / (1 + exp(-logits - step * variance**0.5)) for step in (-ERRORS, 0, ERRORS))
    return value, (low, high)


def expected_loss(counts: NDArray[Any], costs: Floats) -> Floats:
    """Mean loss a message, float64 (...).

    counts : (..., n_classes, n_classes + 1), confusion matrices
    costs  : lay_out_costs()
    """
    return np.asarray((counts * costs).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1)))


def lay_out_costs(loss: Loss) -> Floats:
    """The loss in the layout of a confusion matrix, float64 (n_classes, n_classes + 1).

    An unsure message is delivered: without a price of its own it costs as one decided as the first class.
    """
    return np.column_stack([np.array(loss.matrix).T, loss.unsure or loss.matrix[0]])


def brier_terms(evaluation: Evaluation) -> Floats:
    """Squared error of the probabilities, float64 (n,); their mean is the Brier score.

    Two classes: (p - y)^2 of one class, 0 to 1.  More: summed over the classes, 0 to 2.
    Source: Brier 1950, halved for two classes as is usual.
    """
    errors = evaluation.probabilities - np.eye(evaluation.n_classes)[evaluation.truth]
    total: Floats = (errors**2).sum(axis=1)
    return total / 2 if evaluation.n_classes == 2 else total


def log_loss_terms(evaluation: Evaluation) -> Floats:
    """-ln of the probability given to the true class, float64 (n,), nats; its mean is the log loss.

    Probabilities are cut at 2.2e-16, so that one message costs at most 36 nats.
    """
    return np.asarray(-np.log(np.clip(evaluation.given, SMALLEST_PROBABILITY, 1.0)))


class Reliability(NamedTuple):
    """Confidence against what came true, in bins of equal mass; a row a bin that is not empty.

    bin_of     : int64 (n,), the bin of each message
    surplus    : float64 (n,), what came true (0 or 1) minus the confidence
    messages   : int64 (n_bins,)
    confidence : float64 (n_bins,), mean probability
    came_true  : float64 (n_bins,), share
    """

    bin_of: Ints
    surplus: Floats
    messages: Ints
    confidence: Floats
    came_true: Floats

    def ece(self, weights: Floats | float = 1.0) -> float:
        """Expected calibration error, 0 to 1: mean over messages of a bin's distance from the diagonal.

        weights : float64 (n,), how often each message counts, n in all
        """
        surplus = weights * self.surplus
        return float(np.abs(np.bincount(self.bin_of, weights=surplus)).sum()) / len(surplus)


def bin_by_confidence(evaluation: Evaluation) -> Reliability:
    """Bins for a reliability diagram and the calibration error.

    With a class spam: its probability against what was spam.  Without: the largest probability against
    whether that class was right.  Bins hold equally many messages; messages of one probability share a bin
    (that of their middle rank), so the order of the messages does not matter, and there may be fewer bins.
    """
    if evaluation.positive is not None:
        confidence, right = evaluation.probabilities[:, evaluation.positive], evaluation.is_positive
    else:
        confidence = evaluation.probabilities.max(axis=1)
        right = np.asarray(evaluation.probabilities.argmax(axis=1) == evaluation.truth)
    came_true = right.astype(np.float64)
    _, place, repeats = np.unique(confidence, return_inverse=True, return_counts=True)
    middle = np.cumsum(repeats) - repeats / 2
    _, bin_of = np.unique(np.floor(ECE_BINS * middle / len(confidence))[place], return_inverse=True)
    messages = np.bincount(bin_of)
    means = [np.bincount(bin_of, weights=values) / messages for values in (confidence, came_true)]
    return Reliability(bin_of, came_true - confidence, messages, *means)


def class_rates(counts: NDArray[Any]) -> dict[str, Floats]:
    """Precision, recall and F1 from confusion matrices (..., n_classes, n_classes + 1), 0 to 1.

    By class float64 (..., n_classes); `macro_` their mean.  Unsure lowers recall and leaves precision alone.
    A class never decided has precision 0; a class without messages has recall 0 and is left out of the means.
    """
    right = np.diagonal(counts[..., :-1], axis1=-2, axis2=-1)
    actual, decided = counts.sum(axis=-1), counts[..., :-1].sum(axis=-2)
    parts = {"precision": (right, decided), "recall": (right, actual), "f1": (2 * right, actual + decided)}
    present = actual > 0
    rates = {}
    for name, (part, whole) in parts.items():
        rates[name] = _divide(part, whole)
        rates[f"macro_{name}"] = _divide((rates[name] * present).sum(axis=-1), present.sum(axis=-1))
    return rates


def _divide(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """part / whole, 0 where whole is 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(np.shape(part)), where=np.asarray(whole) > 0))


class CurvePoint(NamedTuple):
    """The figures of a part of the messages; nan where undefined."""

    hm_percent: float
    sm_percent: float
    one_minus_roca_percent: float


def trace_learning(evaluation: Evaluation) -> dict[str, NDArray[Any]]:
    """Figures at CURVE_POINTS places in the order judged, at most.

    Returns columns: `messages`, those of CurvePoint for all messages so far, and those of the latest tenth as
    `window_...`; nan while ham or spam is missing, and throughout without a class spam.
    """
    total = len(evaluation)
    window = max(1, total // 10)
    ends = np.unique(np.linspace(0, total, min(CURVE_POINTS, total) + 1).astype(np.int64)[1:])
    rows = [
        (*_trace_point(evaluation, 0, end), *_trace_point(evaluation, max(0, end - window), end))
        for end in ends.tolist()
    ]
    names = (*CurvePoint._fields, *(f"window_{name}" for name in CurvePoint._fields))
    return {"messages": ends} | dict(zip(names, np.array(rows).T, strict=True))


def _trace_point(evaluation: Evaluation, start: int, end: int) -> CurvePoint:
    """The figures of the messages from start to end."""
    part = evaluation.take(np.arange(start, end))
    ranking = nan if part.positive is None else roca_percent(rank_messages(part))
    return CurvePoint(*error_percents(part), ranking)
