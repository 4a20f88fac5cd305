"""How well scores rank spam above ham: area under the ROC curve, spam missed at a given ham loss, the curve.

A Ranking sorts once and cuts the sorted messages into blocks: messages of one score, and neighbouring blocks
of only ham or only spam, joined.  The order inside a block changes no figure, so a bootstrap replicate costs
one pass over the messages and then works on blocks; a good filter has few.  Ties are never broken.
"""

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.evaluation.outcomes import Evaluation, Floats, Ints, compute_log_odds

# Number of ham and spam of each block: float64 (n_blocks, 2), column 0 ham, column 1 spam, by falling score.
Tally = NDArray[np.float64]


class Ranking(NamedTuple):
    """Messages cut into blocks by score.

    cell     : int64 (n,), 2 * block + (1 for spam), blocks numbered by falling score
    n_blocks : number of blocks
    """

    cell: Ints
    n_blocks: int

    def tally(self, weights: Floats | None = None) -> Tally:
        """Ham and spam of each block.  weights : float64 (n,), how often each message counts; None = once"""
        counts = np.bincount(self.cell, weights=weights, minlength=2 * self.n_blocks)
        return counts.reshape(-1, 2).astype(np.float64)

    @property
    def is_defined(self) -> bool:
        """True if there is both ham and spam."""
        return bool(self.tally().sum(axis=0).all())


def rank(score: Floats, is_spam: NDArray[np.bool_]) -> Ranking:
    """Sort the messages and cut them into blocks.

    score   : float64 (n,), larger = more like spam; infinite is allowed, nan is not
    is_spam : bool (n,)
    """
    scores, group, size = np.unique(-score, return_inverse=True, return_counts=True)
    spam = np.bincount(group, weights=is_spam, minlength=len(scores))
    kind = np.where(spam == 0, 0, np.where(spam == size, 1, 2))  # only ham, only spam, mixed
    starts = np.ones(len(scores), dtype=np.bool_)
    starts[1:] = (kind[1:] != kind[:-1]) | (kind[1:] == 2)
    block = np.cumsum(starts) - 1
    return Ranking(2 * block[group] + is_spam, int(starts.sum()))


def rank_messages(evaluation: Evaluation) -> list[Ranking]:
    """The rankings behind (1-ROCA)%: by the score of spam; without a class spam, each class against the rest.

    A class without messages, or with all of them, is left out; so the list may be empty.
    """
    if evaluation.positive is None:
        return rank_against_rest(evaluation)
    task = rank(evaluation.score, evaluation.is_positive)
    return [task] if task.is_defined else []


def rank_against_rest(evaluation: Evaluation) -> list[Ranking]:
    """One ranking a class, by its log-odds against all others; none without probabilities."""
    if not evaluation.has_probabilities:
        return []
    odds = compute_log_odds(evaluation.probabilities)
    tasks = [rank(odds[:, k], evaluation.truth == k) for k in range(evaluation.n_classes)]
    return [task for task in tasks if task.is_defined]


def one_minus_roca(tally: Tally) -> float:
    """1 - area under the ROC curve: the share of (ham, spam) pairs in the wrong order, ties counted half.

    Returns 0 to 1; nan without ham or without spam.  Exact for whole weights (sums stay below 2**53).
    Source: Cormack and Lynam, TREC 2005 spam track overview; the sum is Mann and Whitney's U.
    """
    ham, spam = tally[:, 0], tally[:, 1]
    above = np.cumsum(ham)
    pairs = float(above[-1]) * float(spam.sum())
    return float(spam @ (above - ham / 2)) / pairs if pairs else nan


def roca_percent(tasks: list[Ranking], weights: Floats | None = None) -> float:
    """(1-ROCA)%, the mean over the rankings; nan without any."""
    values = [one_minus_roca(task.tally(weights)) for task in tasks]
    return 100 * (sum(values) / len(values)) if values else nan


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
