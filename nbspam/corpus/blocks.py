"""Counted mail of a whole source: blocks merged over one set of columns.

The merge is associative and keeps integers, so the result does not depend on how the mail was cut into
blocks; columns are in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.block import Block, Ints
from nbspam.corpus.token_texts import join_texts, take_texts

MAX_PENDING_PAIRS = 600_000  # some 1,500 messages, 20 MB


def merge_columns(key_lists: list[Ints]) -> tuple[Ints, list[Ints], Ints]:
    """(keys, places, origins): all keys once, ascending; where those of each list went; whence each came.

    origins : int64 (n_keys,), place of each key in all lists, end to end
    By one sort: to look each key up would take three times as long.  One that finds what is in order already,
    as the keys of merged lists are: five times as fast.
    """
    everything = np.concatenate([np.zeros(0, np.int64), *key_lists])
    order = np.argsort(everything, kind="stable")
    ordered = everything[order]
    begins = np.flatnonzero(
        np.concatenate([np.ones(min(1, len(ordered)), bool), ordered[1:] != ordered[:-1]])
    )
    places = np.empty(len(everything), np.int64)
    places[order] = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(ordered))))
    ends = np.cumsum([len(keys) for keys in key_lists])
    return ordered[begins], np.split(places, ends[:-1]) if key_lists else [], order[begins]


def merge_blocks(blocks: list[Block]) -> Block:
    """One block with the rows of all, in the order given."""
    if len(blocks) == 1 and (np.diff(blocks[0].keys) > 0).all():
        return blocks[0]
    keys, places, origins = merge_columns([block.keys for block in blocks])
    lengths = [np.diff(block.starts) for block in blocks]
    return Block(
        keys=keys,
        views=_joined([block.views for block in blocks], np.uint8)[origins],
        texts=take_texts(join_texts([block.texts for block in blocks]), origins),
        starts=np.concatenate(
            [np.zeros(1, np.int64), np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))]
        ),
        columns=_joined(
            [place[block.columns].astype(np.int32) for block, place in zip(blocks, places, strict=True)],
            np.int32,
        ),
        counts=_joined([block.counts for block in blocks], np.int32),
        labels=_joined([block.labels for block in blocks], np.int16),
        dates=_joined([block.dates for block in blocks], np.float64),
        names=[name for block in blocks for name in block.names],
        sizes=_joined([block.sizes for block in blocks], np.int64),
        features=np.concatenate([block.features for block in blocks]) if blocks else None,
    )


class Pile:
    """Blocks that wait to be merged, a thousand messages or two at a time: most have the same tokens."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._pairs = 0

    def add(self, block: Block) -> None:
        self._blocks.append(block)
        self._pairs += len(block.columns)

    def is_high(self) -> bool:
        """True if merging pays."""
        return self._pairs > MAX_PENDING_PAIRS

    def taken(self) -> list[Block]:
        """All blocks merged, or none if there are none; the pile is empty after it."""
        merged = [merge_blocks(self._blocks)] if self._blocks else []
        self._blocks, self._pairs = [], 0
        return merged


def without_rows(keys: Ints, views: NDArray[np.uint8], texts: bytes, n_features: int) -> Block:
    """No messages over some columns."""
    return Block(
        keys,
        views,
        texts,
        starts=np.zeros(1, np.int64),
        columns=np.zeros(0, np.int32),
        counts=np.zeros(0, np.int32),
        labels=np.zeros(0, np.int16),
        dates=np.zeros(0, np.float64),
        names=[],
        sizes=np.zeros(0, np.int64),
        features=np.zeros((0, n_features)),
    )


def without_columns(block: Block, kept: NDArray[np.bool_]) -> Block:
    """The messages without the tokens where `kept` is false; the columns keep their places."""
    pairs = kept[block.columns]
    lengths = np.bincount(block.rows()[pairs], minlength=len(block))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return block.taken(np.arange(len(block)), starts, pairs)


def used_columns(block: Block) -> Block:
    """The same messages over those columns that are in them."""
    used = np.zeros(len(block.keys), bool)
    used[block.columns] = True
    return Block(
        block.keys[used],
        block.views[used],
        take_texts(block.texts, np.flatnonzero(used)),
        block.starts,
        (np.cumsum(used) - 1)[block.columns].astype(np.int32),
        block.counts,
        block.labels,
        block.dates,
        block.names,
        block.sizes,
        block.features,
    )


def only_views(block: Block, views: Sequence[int]) -> Block:
    """The messages with the tokens of some views, by number, as if there were no others."""
    wanted = np.isin(block.views, views)
    return block if wanted.all() else used_columns(without_columns(block, wanted))


def _joined(parts: list[Any], kind: type) -> Any:
    """One array of a kind; the types of `Block` say which."""
    return np.concatenate([np.zeros(0, kind), *parts]).astype(kind, copy=False)
