"""The figures by which filters are compared, each computed from plain arrays.

Hides the conventions of the field: what unsure counts as, what zero errors mean in a
logistic average, how ties fall into bins.  Rates are in percent where the name says so,
undefined ones (a class without messages) are nan.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, nan

import numpy as np
from numpy.typing import NDArray

from nbspam.decision import UNDECIDED, Loss
from nbspam.errors import UsageError
from nbspam.evaluate.outcomes import Columns, log_odds_of
from nbspam.evaluate.ranking import Ranking, ranked

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

ECE_BINS = 15
HAM_LOST_PERMILLE = {"0.1": 1, "0.5": 5, "1": 10}  # hm% as written in the summary, and per mille
SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)  # 2.2e-16, as scikit-learn's log_loss cuts


@dataclass(frozen=True, slots=True)
class HamSpam:
    """Counts for the two-class figures.  Ham is every class but the positive one.

    ham_lost: decided as spam.  spam_missed: decided as anything else but unsure.  An
    unsure message is neither lost nor missed (the user still sees it); it is counted apart.
    """

    ham: int
    ham_lost: int
    ham_unsure: int
    spam: int
    spam_missed: int
    spam_unsure: int


def confusion(columns: Columns) -> Whole:
    """int64 (n_classes, n_classes + 1): a row a true class, a column a decided one, unsure last."""
    width = columns.n_classes + 1
    decided = np.where(columns.decided == UNDECIDED, columns.n_classes, columns.decided)
    cells = np.bincount(columns.truth * width + decided, minlength=columns.n_classes * width)
    return cells.reshape(columns.n_classes, width).astype(np.int64)


def ham_spam(counts: Whole, positive: int) -> HamSpam:
    """The two-class counts out of a confusion matrix with unsure as its last column."""
    others = np.delete(counts, positive, axis=0)
    own = counts[positive]
    spam, spam_unsure = int(own.sum()), int(own[-1])
    return HamSpam(
        ham=int(others.sum()),
        ham_lost=int(others[:, positive].sum()),
        ham_unsure=int(others[:, -1].sum()),
        spam=spam,
        spam_missed=spam - int(own[positive]) - spam_unsure,
        spam_unsure=spam_unsure,
    )


def percent(part: float, whole: float) -> float:
    """100 * part / whole, nan for a share of nothing."""
    return 100 * part / whole if whole else nan


def lam_with_interval(
    ham_lost: float, ham: float, spam_missed: float, spam: float
) -> tuple[float, tuple[float, float]]:
    """Logistic average misclassification percentage, the two rates averaged as logits; its 95 % interval.

    logit(lam) = (logit(ham_lost / ham) + logit(spam_missed / spam)) / 2.  A rate of 0 or 1
    has no logit: there half a message is counted as wrong, or right (0.5 / n, 1 - 0.5 / n), as
    TREC's toolkit does for its curves; other rates are not smoothed, so that the figure
    agrees with published ones.  nan where a class has no messages.
    The interval is normal in logits.  The variance of a logit is 1 / wrong + 1 / right, that of their mean a
    quarter of the sum of both (Woolf 1955).  Without errors it is still wide, where resampling would see no
    variation at all.
    Source: Cormack and Lynam, TREC 2005 spam track overview, section 3.
    """
    if not ham or not spam:
        return nan, (nan, nan)
    logits, variance = 0.0, 0.0
    for errors, messages in ((ham_lost, ham), (spam_missed, spam)):
        wrong = min(max(errors, 0.5), max(messages - 0.5, 0.5))
        right = max(messages - wrong, 0.5)
        logits += log(wrong / right) / 2
        variance += (1 / wrong + 1 / right) / 4
    low, value, high = (100 / (1 + exp(-logits - step * variance**0.5)) for step in (-1.959964, 0, 1.959964))
    return value, (low, high)


def expected_loss(counts: NDArray[np.generic], costs: Floats) -> Floats:
    """Mean loss a message.

    counts : (..., n_classes, n_classes + 1), confusion matrices with unsure last
    costs  : loss_table() of one such matrix
    Returns float64 (...), in the units of the loss.
    """
    cells = np.asarray(counts, dtype=np.float64)
    return np.asarray((cells * costs).sum(axis=(-2, -1)) / cells.sum(axis=(-2, -1)))


def loss_table(loss: Loss, counts: Whole) -> Floats:
    """The loss laid out like a confusion matrix: float64 (n_classes, n_classes + 1), row truth, unsure last.

    UsageError if the loss is of another number of classes, or does not price the unsure decisions there are.
    """
    n_classes = len(counts)
    if len(loss.matrix) != n_classes:
        raise UsageError(
            "loss", f"it prices {len(loss.matrix)} classes, the evaluation has {n_classes}", slug="loss-shape"
        )
    if loss.unsure is None and counts[:, -1].any():
        raise UsageError(
            "loss",
            f"{int(counts[:, -1].sum())} decisions are unsure, and the loss does not price that",
            "add it, for example FP=10,FN=1,unsure=0.2",
            "loss-unsure",
        )
    unsure = loss.unsure or (0.0,) * n_classes
    return np.column_stack([np.array(loss.matrix, dtype=np.float64).T, unsure])


def brier_terms(columns: Columns) -> Floats:
    """Squared error of the probabilities, float64 (n,); their mean is the Brier score.

    Two classes: (p - y)^2 of one class, 0 to 1.  More: summed over the classes, 0 to 2.
    Source: Brier 1950, halved for two classes as is usual.
    """
    hot = np.eye(columns.n_classes)[columns.truth]
    total: Floats = ((columns.probabilities - hot) ** 2).sum(axis=1)
    return total / 2 if columns.n_classes == 2 else total


def log_loss_terms(columns: Columns) -> Floats:
    """-ln of the probability given to the true class, float64 (n,), nats; its mean is the log loss.

    Probabilities are cut at 2.2e-16, so that one message costs at most 36 nats.
    """
    given = columns.probabilities[np.arange(len(columns.truth)), columns.truth]
    return np.asarray(-np.log(np.clip(given, SMALLEST_PROBABILITY, 1.0)))


@dataclass(frozen=True, slots=True)
class Reliability:
    """Confidence against what came true, in bins of equal mass; a row a bin that is not empty.

    bin_of     : int64 (n,), the bin of each message
    surplus    : float64 (n,), what came true (0 or 1) minus the confidence
    messages   : int64 (n_bins,)
    confidence : float64 (n_bins,), mean probability
    came_true  : float64 (n_bins,), share
    """

    bin_of: Whole
    surplus: Floats
    messages: Whole
    confidence: Floats
    came_true: Floats

    def ece(self, weights: Floats | None = None) -> float:
        """Expected calibration error, 0 to 1: mean over messages of a bin's distance from the diagonal.

        weights : float64 (n,), how often each message counts, n in all; None = once
        """
        surplus = self.surplus if weights is None else weights * self.surplus
        return float(np.abs(np.bincount(self.bin_of, weights=surplus)).sum()) / len(surplus)


def reliability(columns: Columns, bins: int = ECE_BINS) -> Reliability:
    """Bins for a reliability diagram and the calibration error.

    With a positive class: its probability against whether the message was of it.  Without:
    the largest probability against whether that class was right.  Bins hold equally many messages;
    messages of one probability share a bin (that of their middle rank), so the result does not
    depend on the order of the messages, and there may be fewer bins than asked for.
    """
    if columns.positive is not None:
        confidence = columns.probabilities[:, columns.positive]
        came_true = columns.is_positive.astype(np.float64)
    else:
        confidence = columns.probabilities.max(axis=1)
        came_true = (columns.probabilities.argmax(axis=1) == columns.truth).astype(np.float64)
    _, place, repeats = np.unique(confidence, return_inverse=True, return_counts=True)
    middle = np.cumsum(repeats) - repeats / 2
    _, bin_of = np.unique(np.floor(bins * middle / len(confidence))[place], return_inverse=True)
    messages = np.bincount(bin_of)
    return Reliability(
        bin_of=bin_of,
        surplus=came_true - confidence,
        messages=messages,
        confidence=np.bincount(bin_of, weights=confidence) / messages,
        came_true=np.bincount(bin_of, weights=came_true) / messages,
    )


@dataclass(frozen=True, slots=True)
class ClassRates:
    """Rates over all classes, 0 to 1.  Scores for one class: float64 (..., n_classes); macro: their mean.

    Unsure lowers recall and accuracy, and leaves precision alone.  A class never decided
    has precision 0; a class without messages has recall 0 and is left out of the macro means.
    """

    precision: Floats
    recall: Floats
    f1: Floats
    macro_precision: Floats
    macro_recall: Floats
    macro_f1: Floats
    micro_precision: Floats
    micro_recall: Floats
    micro_f1: Floats


def class_rates(counts: NDArray[np.generic]) -> ClassRates:
    """Precision, recall and F1 from confusion matrices (..., n_classes, n_classes + 1)."""
    cells = np.asarray(counts, dtype=np.float64)
    right = np.diagonal(cells[..., :-1], axis1=-2, axis2=-1)
    actual, decided = cells.sum(axis=-1), cells[..., :-1].sum(axis=-2)
    precision, recall = _share(right, decided), _share(right, actual)
    f1 = _share(2 * right, actual + decided)
    present = actual > 0
    hits, called, total = right.sum(axis=-1), decided.sum(axis=-1), actual.sum(axis=-1)
    classes = present.sum(axis=-1)
    return ClassRates(
        precision=precision,
        recall=recall,
        f1=f1,
        macro_precision=_share((precision * present).sum(axis=-1), classes),
        macro_recall=_share(recall.sum(axis=-1), classes),
        macro_f1=_share((f1 * present).sum(axis=-1), classes),
        micro_precision=_share(hits, called),
        micro_recall=_share(hits, total),
        micro_f1=_share(2 * hits, called + total),
    )


def _share(part: Floats, whole: NDArray[np.generic]) -> Floats:
    """part / whole, 0 where whole is 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(np.shape(part)), where=np.asarray(whole) > 0))


def rankings(columns: Columns) -> list[Ranking]:
    """What (1-ROCA)% is computed on: the positive class; without one, each class against the rest.

    Classes without messages, or with all of them, are left out; so the list may be empty.
    """
    if columns.positive is not None:
        tasks = [ranked(columns.score, columns.is_positive)]
    elif columns.probabilities.shape[1]:
        tasks = one_against_rest(columns)
    else:
        tasks = []
    return [task for task in tasks if task.is_defined]


def hangs_on_one(columns: Columns, is_mean: bool = False) -> bool:
    """Whether one message is a side of a ranking: drawn anew within its class, it is itself every time.

    is_mean : of the mean over the classes against the rest, even where one plays spam
    """
    by_class = columns.positive is None or (is_mean and columns.n_classes > 2)
    sizes = np.bincount(columns.truth if by_class else columns.is_positive)
    return bool((sizes == 1).any())


def loses_none(ham: int, level: str) -> bool:
    """Whether a share of HAM_LOST_PERMILLE is less than one ham, so that its threshold loses none at all."""
    return ham * HAM_LOST_PERMILLE[level] < 1000


def one_against_rest(columns: Columns) -> list[Ranking]:
    """One ranking a class, by its log-odds against all others."""
    odds = log_odds_of(columns.probabilities)
    return [ranked(odds[:, number], columns.truth == number) for number in range(columns.n_classes)]


def mean_one_minus_roca(tasks: list[Ranking], weights: Floats | None = None) -> float:
    """Mean of 1 - ROCA over the rankings that are defined, 0 to 1; nan if none is."""
    values = [task.one_minus_roca(weights) for task in tasks if task.is_defined]
    return sum(values) / len(values) if values else nan
