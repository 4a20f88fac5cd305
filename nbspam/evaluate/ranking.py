"""How well scores put spam above ham: area under the ROC curve, spam missed at a given ham loss, the curve.

Hides the sorting, and that most of it is redundant.  A Ranking sorts once and cuts the
sorted messages into blocks: messages of one score, and neighbouring blocks of ham alone or of
spam alone, joined.  Inside a block no figure below depends on the order, so a bootstrap replicate
costs one pass over the messages and then works on blocks, of which a good filter has few.
Ties are never broken: messages of one score stand or fall together.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

# How often ham and spam of each block count: float64 (n_blocks, 2), column 0 ham, column 1 spam,
# blocks by falling score.
Tally = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Messages cut into blocks by score.

    cell     : int64 (n,), 2 * block + (1 for spam), blocks numbered by falling score
    n_blocks : number of blocks
    """

    cell: Whole
    n_blocks: int

    def tally(self, weights: Floats | None = None) -> Tally:
        """How often each block's ham and spam count.

        weights : float64 (n,), how often each message counts; None = once
        """
        return (
            np.bincount(self.cell, weights=weights, minlength=2 * self.n_blocks)
            .reshape(-1, 2)
            .astype(np.float64)
        )

    def one_minus_roca(self, weights: Floats | None = None) -> float:
        """one_minus_roca() of the messages so weighted."""
        return one_minus_roca(self.tally(weights))

    @property
    def is_defined(self) -> bool:
        """Whether there is both ham and spam; without that no figure has a meaning."""
        return bool(self.tally().sum(axis=0).all())


def ranked(score: Floats, is_spam: NDArray[np.bool_]) -> Ranking:
    """Sort the messages and cut them into blocks.

    score   : float64 (n,), larger = more like spam; infinite is allowed, nan is not
    is_spam : bool (n,)
    """
    scores, group = np.unique(-score, return_inverse=True)
    spam = np.bincount(group, weights=is_spam, minlength=len(scores))
    size = np.bincount(group, minlength=len(scores))
    kind = np.where(spam == 0, 0, np.where(spam == size, 1, 2))  # ham alone, spam alone, mixed
    starts = np.ones(len(scores), dtype=np.bool_)
    starts[1:] = (kind[1:] != kind[:-1]) | (kind[1:] == 2)
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
    """Share of spam missed by the most watchful threshold that loses at most `permille` / 1000 of ham.

    A message is taken for spam when its score is at or above the threshold.  The threshold is the
    lowest at which no more than floor(ham * permille / 1000) ham messages are at or above it.  Messages
    of one score are taken or left together; with fewer than 1000 / permille ham messages none may be lost.
    Returns 0 to 1; nan without ham or without spam.
    """
    ham, spam = np.cumsum(tally[:, 0]), np.cumsum(tally[:, 1])
    if not ham[-1] or not spam[-1]:
        return nan
    # The first block that would lose too much ham; all spam above it is caught.
    block = int(np.searchsorted(ham, int(ham[-1]) * permille // 1000, side="right"))
    if block == len(ham):
        return 0.0
    return float((spam[-1] - (spam[block - 1] if block else 0.0)) / spam[-1])


def curve(tally: Tally) -> tuple[Floats, Floats]:
    """The corners of the ROC curve: shares of ham lost and of spam missed, from the strictest threshold down.

    Returns two float64 arrays of one length: the first rises from 0 to 1, the second falls from 1 to 0.
    """
    lost, caught = (np.concatenate([[0.0], np.cumsum(column)]) for column in tally.T)
    return lost / max(lost[-1], 1.0), 1.0 - caught / max(caught[-1], 1.0)
