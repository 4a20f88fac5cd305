"""Numeric features of all training mail, kept until the edges of the bins are known.

Edges need the whole range of values, and counts need the edges, so the values are read twice.  They take 300
bytes a message: in memory up to MAX_MEMORY, else in a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_MEMORY = 64 << 20  # bytes: 230,000 messages
CHUNK_MESSAGES = 20_000
MAX_SAMPLE = 200_000  # rows that edges are learned from; of more, every second, third, ...


class FeatureRows:
    """Values and labels in the order added."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=MAX_MEMORY)  # noqa: SIM115 - as long as this object
        self._labels: list[NDArray[np.int16]] = []
        self._width = 0

    def add(self, features: Floats, labels: NDArray[np.int16]) -> None:
        """features : float64 (n, n_features), NaN missing"""
        self._width = features.shape[1]
        self._file.write(np.ascontiguousarray(features, np.float64).tobytes())
        self._labels.append(labels)

    def labels(self) -> NDArray[np.int64]:
        """Class numbers of all rows."""
        return np.concatenate([np.zeros(0, np.int16), *self._labels]).astype(np.int64)

    def chunks(self) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
        """(features, labels) of some thousand messages at a time."""
        labels = self.labels()
        self._file.seek(0)
        for start in range(0, len(labels), CHUNK_MESSAGES):
            some = labels[start : start + CHUNK_MESSAGES]
            data = self._file.read(len(some) * self._width * 8)
            yield np.frombuffer(data, np.float64).reshape(len(some), self._width), some

    def sample(self, most: int = MAX_SAMPLE) -> tuple[Floats, NDArray[np.int64]]:
        """All rows, or an even share of them, at most about `most`."""
        step = max(1, -(-sum(map(len, self._labels)) // most))
        start, kept = 0, [(np.zeros((0, self._width)), np.zeros(0, np.int64))]
        for features, labels in self.chunks():
            first = -start % step
            kept.append((features[first::step], labels[first::step]))
            start += len(labels)
        return np.concatenate([part for part, _ in kept]), np.concatenate([part for _, part in kept])
