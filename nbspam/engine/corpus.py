"""Counted mail of a whole source: blocks merged over one set of columns.

Hides the merge.  It is associative and keeps integers, so the result does not depend on how
the mail was cut into blocks; columns stand in the order of their keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbspam.engine.block import Block, Ints


def split_texts(texts: bytes, n: int) -> list[bytes]:
    """The token texts of a block, one a column."""
    return texts.split(b"\n") if n else []


def distinct(values: Ints) -> Ints:
    """The values once, ascending; sorts, which is faster than the hashing of np.unique."""
    ordered = np.sort(values)
    return np.asarray(
        ordered[np.concatenate([np.ones(min(1, len(ordered)), bool), ordered[1:] != ordered[:-1]])]
    )


def merge_columns(key_lists: list[Ints]) -> tuple[Ints, list[Ints]]:
    """All keys once, ascending, and for each list where its keys went."""
    keys = distinct(np.concatenate([np.zeros(0, np.int64), *key_lists]))
    return keys, [np.searchsorted(keys, part) for part in key_lists]


def merge_blocks(blocks: list[Block]) -> Block:
    """One block with the rows of all, in the order given."""
    keys, places = merge_columns([block.keys for block in blocks])
    views = np.zeros(len(keys), np.uint8)
    texts: NDArray[np.object_] = np.empty(len(keys), object)
    for block, place in zip(blocks, places, strict=True):
        views[place] = block.views
        texts[place] = split_texts(block.texts, len(block.keys))
    lengths = [np.diff(block.starts) for block in blocks]
    return Block(
        keys=keys,
        views=views,
        texts=b"\n".join(texts),
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


def _joined(parts: list[Any], kind: type) -> Any:
    """One array of a kind; the types of `Block` say which."""
    return np.concatenate([np.zeros(0, kind), *parts]).astype(kind)
