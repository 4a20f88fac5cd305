"""What numeric features are counted into, for a whole corpus: moments, bins and pairs.

Hides which of them each event model scores with, and how they become the rows of a model file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nbspam.model import bulk_numeric as numeric
from nbspam.model.numeric_models import GaussianTotals, NumericScorer, PairTotals, make_numeric_scorer
from nbspam.tokens.numeric import NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nbspam.model.block import Block

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Chunks = Iterable[tuple[Floats, Integers]]

Edges = list[list[float]]


class FeatureCounts:
    """Sufficient statistics of every numeric model; exact under add, remove and merge.

    moments : for the Gaussian model;  bins : for the categorical one, with pairs for AODE if asked for
    """

    __slots__ = ("bins", "moments", "with_pairs")

    def __init__(self, n_classes: int, edges: Edges, with_pairs: bool = False) -> None:
        self.moments = GaussianTotals(n_classes, len(edges))
        self.bins = PairTotals(n_classes, edges)
        self.with_pairs = with_pairs

    def add(self, features: Floats, labels: Integers) -> None:
        """Count messages: values (n_messages, n_features), NaN missing, and the class of each."""
        n_classes, edges = len(self.bins.counts), self.bins.edges
        self.moments.merge(numeric.count_gaussian(features, labels, n_classes))
        count = numeric.count_pairs if self.with_pairs else numeric.count_bins
        self.bins.merge(count(features, labels, n_classes, edges))

    def like(self, block: Block) -> FeatureCounts:
        """The same statistics of other messages."""
        chunks = [(block.features, block.labels.astype(np.int64))]
        return count_features(chunks, len(self.bins.counts), self.bins.edges, self.with_pairs)

    def scorer(self, event_model: str, alpha: float) -> NumericScorer:
        """The event model on these counts."""
        totals = self.moments if event_model == "gaussian" else self.bins
        return make_numeric_scorer(event_model, totals, alpha)

    def features(self) -> list[tuple[str, Sequence[float]]]:
        """Names and edges, as a model file keeps them."""
        return list(zip(NAMES, self.bins.edges, strict=True))

    def rows(self) -> Iterator[tuple[str, int, int, list[int]]]:
        """(kind, class, place, integers), as a model file keeps them."""
        moments = self.moments
        for k in range(len(self.bins.counts)):
            for f, row in enumerate(self.bins.counts[k]):
                yield "moment", k, f, [moments.counts[k][f], moments.sums[k][f], moments.squares[k][f]]
                yield "bin", k, f, row
            if self.with_pairs:
                for cell, together in enumerate(numeric.pair_matrix(self.bins, k).tolist()):
                    yield "pair", k, cell, together


def count_features(chunks: Chunks, n_classes: int, edges: Edges, with_pairs: bool) -> FeatureCounts:
    """All messages of a corpus counted between the given edges."""
    counts = FeatureCounts(n_classes, edges, with_pairs)
    for features, labels in chunks:
        counts.add(features, labels)
    return counts
