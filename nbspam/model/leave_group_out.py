"""Counts to score rows with as if their whole group had not been counted: the other mail of a campaign, too.

Hides the subtraction.  Leave-one-out lets the copies of a message vouch for its label; here everything of its
group is taken out while it is scored, by subtraction, so that no second training is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.block import Block, Ints
from nbspam.model.views import Background, fixed_background, view_lengths
from nbspam.tokens.bag import N_VIEWS


def leave_group_out(block: Block, documents: NDArray[Any], groups: Ints) -> Background:
    """Each labelled row scored as if no row of its group had been counted.

    documents : numbers (n_classes, n_columns), n_jk, all rows among the counted, once each
    groups    : int64 (n_rows,), group numbers from 0
    Where every group is one row, this is leave_one_out without copies.
    """
    background = fixed_background(block, documents)
    rows = block.rows()
    first, place = _cells(block, groups[rows])
    lengths = view_lengths(block)
    gone = np.zeros(len(first))  # what each cell's token loses with the group, all classes
    for k in range(len(documents)):
        own = (block.labels == k)[rows]
        lost = np.bincount(place[own], minlength=len(first))
        background.pairs[k] -= lost[place].astype(background.pairs.dtype)
        gone += lost
        background.totals[k] -= _by_group(lengths * (block.labels == k)[:, None], groups)[groups].T
    columns = block.columns[first]
    vanishes = gone >= documents.sum(axis=0)[columns]
    cells = groups[rows[first]][vanishes] * N_VIEWS + block.views[columns[vanishes]]
    words = np.bincount(cells, minlength=(int(groups.max(initial=-1)) + 1) * N_VIEWS)
    background.words[:] -= words.reshape(-1, N_VIEWS)[groups].T
    return background


def _cells(block: Block, groups: Ints) -> tuple[Ints, Ints]:
    """The tokens of each group, once each however many of its messages have it: cells.

    groups : int64 (n_pairs,), of each pair's row
    Returns a pair that lies in each cell, and for each pair the number of its cell.
    """
    _, first, place = np.unique(
        groups * len(block.keys) + block.columns, return_index=True, return_inverse=True
    )
    return first, place


def _by_group(values: NDArray[np.float64], groups: Ints) -> NDArray[np.float64]:
    """float64 (n_groups, n_values): the sums over the rows of each group."""
    sums = np.zeros((int(groups.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return sums
