"""Messages of an evaluation, each counted as often as a weight says: what every figure is a function of.

With weights of 1 a figure is that of the evaluation, with the weights of resamples its bootstrap
distribution.  A resample draws messages with replacement within each true class (stratified), with a fixed
seed: the same evaluation gives the same intervals.
"""

from collections.abc import Iterator
from functools import cached_property
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.evaluation.outcomes import Evaluation, Floats, Ints, compute_log_odds

ECE_BINS = 15
SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)  # 2.2e-16, as scikit-learn's log_loss cuts
RESAMPLING_SEED = 20050815
MOST_REPLICATES, FEWEST_REPLICATES = 2000, 200
DRAWS = 45_000_000  # messages drawn in all: 75,000 messages take about two seconds with 600 replicates

# Number of ham and spam of each block: float64 (n_blocks, 2), column 0 ham, column 1 spam, by falling score.
Tally = NDArray[np.float64]


class Ranking(NamedTuple):
    """Messages cut into blocks by score: those of one score, and neighbours of only ham or only spam, joined.

    The order inside a block changes no figure: ties are never broken, and a good filter has few blocks.

    cell     : int64 (n,), 2 * block + (1 for spam), blocks numbered by falling score
    n_blocks : number of blocks
    """

    cell: Ints
    n_blocks: int

    def tally(self, weights: Floats) -> Tally:
        """Ham and spam of each block.  weights : float64 (n,), how often each message counts"""
        return np.asarray(np.bincount(self.cell, weights, 2 * self.n_blocks), np.float64).reshape(-1, 2)


def rank(score: Floats, is_spam: NDArray[np.bool_]) -> Ranking:
    """Sort the messages and cut them into blocks.

    score   : float64 (n,), larger = more like spam; infinite is allowed, nan is not
    is_spam : bool (n,)
    """
    scores, group, size = np.unique(-score, return_inverse=True, return_counts=True)
    spam = np.bincount(group, weights=is_spam, minlength=len(scores))
    kind = np.where(spam == 0, 0, np.where(spam == size, 1, 2))  # only ham, only spam, mixed
    starts = np.append(True, (kind[1:] != kind[:-1]) | (kind[1:] == 2))
    block = np.cumsum(starts) - 1
    return Ranking(2 * block[group] + is_spam, int(starts.sum()))


def one_minus_roca(tally: Tally) -> float:
    """1 - area under the ROC curve: the share of (ham, spam) pairs in the wrong order, ties counted half.

    Returns 0 to 1; nan without ham or without spam.  Exact for whole weights (sums stay below 2**53).
    Source: Cormack and Lynam, TREC 2005 spam track overview; the sum is Mann and Whitney's U.
    """
    ham, spam = tally[:, 0], tally[:, 1]
    above = np.cumsum(ham)
    pairs = float(above[-1]) * float(spam.sum())
    return float(spam @ (above - ham / 2)) / pairs if pairs else nan


def spam_missed_at(tally: Tally, permille: int) -> float:
    """Share of spam missed, 0 to 1, by the lowest threshold that loses at most `permille` / 1000 of ham.

    A message is taken for spam if its score is at or above the threshold; at most
    floor(ham * permille / 1000) ham may be.  Messages of one score are taken or left together.
    nan without ham or without spam.
    """
    ham, spam = np.cumsum(tally[:, 0]), np.cumsum(tally[:, 1])
    if not ham[-1] or not spam[-1]:
        return nan
    # All spam above the first block that would lose too much ham is caught.
    block = int(np.searchsorted(ham, int(ham[-1]) * permille // 1000, side="right"))
    caught = spam[block - 1] if block else 0.0
    return float((spam[-1] - caught) / spam[-1])


def trace_curve(tally: Tally) -> tuple[Floats, Floats]:
    """The corners of the ROC curve: shares of ham lost and of spam missed, from the strictest threshold down.

    Returns two float64 arrays of one length: the first rises from 0 to 1, the second falls from 1 to 0.
    """
    lost, caught = (np.concatenate([[0.0], np.cumsum(column)]) for column in tally.T)
    return lost / max(lost[-1], 1.0), 1.0 - caught / max(caught[-1], 1.0)


class Judgement:
    """What figures read of the messages, each computed once for all samples."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation

    @cached_property
    def cells(self) -> Ints:
        """int64 (n,): the cell of each message in the confusion matrix, row by row."""
        width = self.evaluation.n_classes + 1
        return self.evaluation.truth * width + self.evaluation.decided % width  # unsure is -1, the last

    @cached_property
    def ranking(self) -> Ranking:
        """By the score of spam."""
        return rank(self.evaluation.score, self.evaluation.is_positive)

    @cached_property
    def rankings(self) -> list[Ranking]:
        """Each class against the rest by its log-odds.

        A class without messages, or with all of them, is left out.
        """
        truth, shares = self.evaluation.truth, self.evaluation.probabilities
        classes, odds = np.unique(truth), compute_log_odds(shares)
        return [rank(odds[:, k], truth == k) for k in classes if len(classes) > 1 and shares.size]

    @cached_property
    def log_losses(self) -> Floats:
        """-ln of the probability given to the true class, float64 (n,), nats; their mean is the log loss.

        Probabilities are cut at 2.2e-16, so that one message costs at most 36 nats.
        """
        return np.asarray(-np.log(np.clip(self.evaluation.given, SMALLEST_PROBABILITY, 1.0)))

    @cached_property
    def errors(self) -> Floats:
        """Squared error of the probabilities and log loss of each message, float64 (n, 2).

        Two classes: (p - y)^2 of one class, 0 to 1.  More: summed over the classes, 0 to 2.
        Source: Brier 1950, halved for two classes as is usual.
        """
        truth, n_classes = self.evaluation.truth, self.evaluation.n_classes
        squares = ((self.evaluation.probabilities - np.eye(n_classes)[truth]) ** 2).sum(axis=1)
        return np.stack([squares / 2 if n_classes == 2 else squares, self.log_losses], axis=1)

    @cached_property
    def reliability(self) -> tuple[Ints, Floats, Floats]:
        """Confidence against what came true, in bins of equal mass: the diagram, and the calibration error.

        (int64 (n,), the bin of each message, none empty; float64 (n,), probability; float64 (n,), 0 or 1)
        With a class spam: its probability against what was spam.  Without: the largest probability against
        whether that class was right.  Bins hold equally many messages; messages of one probability share a
        bin (that of their middle rank), so the order of the messages does not matter, and there may be fewer
        bins.
        """
        judged, shares = self.evaluation, self.evaluation.probabilities
        if judged.positive is not None:
            confidence, right = shares[:, judged.positive], judged.is_positive
        else:
            confidence, right = shares.max(axis=1), np.asarray(shares.argmax(axis=1) == judged.truth)
        _, place, repeats = np.unique(confidence, return_inverse=True, return_counts=True)
        middle = np.cumsum(repeats) - repeats / 2
        _, bin_of = np.unique(np.floor(ECE_BINS * middle / len(confidence))[place], return_inverse=True)
        return bin_of, confidence, right.astype(np.float64)


class Sample:
    """Messages, each counted as often as its weight.  weights : float64 (n,), n in all"""

    def __init__(self, judgement: Judgement, weights: Floats) -> None:
        self.judgement, self.evaluation, self.weights = judgement, judgement.evaluation, weights

    @cached_property
    def counts(self) -> Floats:
        """Messages by true and decided class, unsure in the last column, (n_classes, n_classes + 1)."""
        n = self.evaluation.n_classes
        cells = np.bincount(self.judgement.cells, self.weights, n * (n + 1))
        return np.asarray(cells, np.float64).reshape(n, n + 1)

    @cached_property
    def k(self) -> int:
        """The number of the class spam; -1 without one."""
        return -1 if self.evaluation.positive is None else self.evaluation.positive

    @cached_property
    def spam(self) -> Floats:
        """Spam by decided class, float64 (n_classes + 1,), unsure last."""
        return np.asarray(self.counts[self.k])

    @cached_property
    def ham(self) -> Floats:
        """Messages of every class but spam by decided class, float64 (n_classes + 1,), unsure last."""
        return np.asarray(self.counts.sum(axis=0) - self.spam)

    @cached_property
    def tally(self) -> Tally:
        """Of the ranking by the score of spam."""
        return self.judgement.ranking.tally(self.weights)

    @cached_property
    def mean_errors(self) -> list[float]:
        """The Brier score and the log loss."""
        means: list[float] = (self.weights @ self.judgement.errors / len(self.weights)).tolist()
        return means


def take_all(evaluation: Evaluation) -> Sample:
    """Each message once."""
    return Sample(Judgement(evaluation), np.ones(len(evaluation)))


def choose_replicates(evaluation: Evaluation) -> int:
    """How many resamples to draw: 2,000, of large corpora fewer, as their intervals are narrow."""
    sorted_messages = len(evaluation) * (evaluation.n_classes - 1)  # a ranking for each class
    return min(MOST_REPLICATES, max(FEWEST_REPLICATES, DRAWS // sorted_messages))


def draw_weights(evaluation: Evaluation) -> Iterator[Floats]:
    """How often a resample counts each message, float64 (n,), as many times as choose_replicates says."""
    truth = evaluation.truth
    random = np.random.default_rng(RESAMPLING_SEED)
    strata = [np.flatnonzero(truth == number) for number in np.unique(truth)]
    for _ in range(choose_replicates(evaluation)):
        weights = np.empty(len(truth))
        for rows in strata:
            drawn = random.integers(0, len(rows), len(rows))  # 64-bit: narrower ones cost a conversion
            weights[rows] = np.bincount(drawn, minlength=len(rows))
        yield weights


def can_vary(evaluation: Evaluation) -> bool:
    """False if each resample has the same one ham, or the same one spam."""
    return 1 not in np.bincount(evaluation.is_positive)
