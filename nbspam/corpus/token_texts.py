"""Many token texts as one byte string.

Line feeds separate them; no token holds one.  An object for each would cost as much time as counting them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.block import Ints

LINE_FEED = 10
SLICE_TEXTS = 20_000  # gathered at a time: the place of each character takes eight bytes


def join_texts(parts: Sequence[bytes]) -> bytes:
    """The texts of several byte strings, one after the other; an empty string has none."""
    return b"\n".join([part for part in parts if part])


def split_texts(texts: bytes, n: int) -> list[bytes]:
    """The n token texts, one by one."""
    return texts.split(b"\n") if n else []


def text_slices(texts: bytes, n: int, size: int) -> Iterator[tuple[int, list[str]]]:
    """The n token texts in slices of at most so many: (number of the first, the texts)."""
    ends = np.append(np.flatnonzero(np.frombuffer(texts, np.uint8) == LINE_FEED), len(texts))
    begin = 0
    for first in range(0, n, size):
        end = int(ends[min(first + size, n) - 1])
        yield first, texts[begin:end].decode("utf-8", "replace").split("\n")
        begin = end + 1


def take_texts(texts: bytes, places: Ints) -> bytes:
    """Some of the texts in the order given.

    places : int64 (n,), numbers of texts, from 0
    """
    if not len(places):
        return b""
    characters = np.frombuffer(texts + b"\n", np.uint8)
    ends = np.flatnonzero(characters == LINE_FEED) + 1
    begins = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    slices = [places[first : first + SLICE_TEXTS] for first in range(0, len(places), SLICE_TEXTS)]
    return b"".join([_gathered(characters, begins[some], ends[some]) for some in slices])[:-1]


def _gathered(characters: NDArray[np.uint8], begins: Ints, ends: Ints) -> bytes:
    lengths = ends - begins
    goes_to = np.cumsum(lengths) - lengths
    return bytes(characters[np.repeat(begins - goes_to, lengths) + np.arange(lengths.sum())])
