"""What the mathematics asks of a model, be its counts in a file (the room store) or in memory."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class ReadableModel(Protocol):
    """The counts of words.

    path        : for messages about errors
    classes     : names in class order;  messages : m_k by class;  settings : name -> value
    words       : number of tokens by view, see VIEW_NAMES
    documents, occurrences : sums over the tokens, [view][class]
    """

    path: str
    classes: tuple[str, ...]
    settings: dict[str, str]
    messages: list[int]
    words: list[int]
    documents: list[list[int]]
    occurrences: list[list[int]]

    def counts(self, keys: list[int]) -> dict[int, tuple[int, ...]]:
        """key -> (documents_0, occurrences_0, documents_1, ...) for the keys that are words."""

    def histogram(self, kind: str) -> Sequence[Mapping[int, int]]:
        """By class, count -> how many words have it, see ClassSums."""

    def calibration(self) -> list[float]:
        """The weights of the calibration; empty without one."""

    def covariance(self) -> list[list[float]]:
        """The covariance of these weights; empty where none is kept."""


class FeatureModel(ReadableModel, Protocol):
    """The counts of numeric features, too."""

    def numeric_features(self) -> list[tuple[str, list[float]]]:
        """(name, inner bin edges) of each feature; empty when only words are counted."""

    def numeric_counts(self, with_pairs: bool = True) -> dict[tuple[str, int, int], list[int]]:
        """(kind, class, place) -> integers, see FeatureStatistics.rows.  Rows of zeros are missing."""
