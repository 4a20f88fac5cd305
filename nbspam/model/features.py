"""The numeric features of one message under a stored model.

A model may know other features than this program measures: they meet by name, and one that is not measured
counts as missing.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from nbspam.errors import DamagedModelError, UsageError
from nbspam.model import numeric
from nbspam.model.counts import Floats, Ints
from nbspam.model.protocols import FeatureModel
from nbspam.settings import Settings
from nbspam.tokens.numeric import NAMES

Bin = tuple[float | None, float | None]  # its edges, None where it has none
ALL_FEATURES = "all features"  # the name of a factor that is of no single feature


def make_bins(edges: Sequence[float]) -> list[Bin]:
    """The bins of a feature, from its inner edges."""
    return list(zip([None, *edges], [*edges, None], strict=True))


def bin_text(low: float | None, high: float | None) -> str:
    """The values in a bin, for people: `below 871`, `871 to 1,200`, `from 1,200`."""
    if low is None and high is None:
        return "all values"
    if low is None or high is None:
        return f"below {high:,.6g}" if low is None else f"from {low:,.6g}"
    return f"{low:,.6g} to {high:,.6g}"


class FeatureScorer:
    """Scores the features of messages by one model."""

    def __init__(self, model: FeatureModel, settings: Settings) -> None:
        self.event_model = settings.numeric_model
        self.names = [name for name, _ in model.numeric_features()]
        if not self.names:
            why = f"{model.path} was trained without numeric features"
            remedy = "train again with `features=numeric` or `features=both`"
            raise UsageError(self.event_model, why, remedy, "model-no-numeric", option="event_model")
        if self.event_model == "aode" and model.settings.get("numeric_model") != "aode":
            why = f"{model.path} was trained without counting pairs of features"
            remedy = "train again with `event_model=aode`"
            raise UsageError("aode", why, remedy, "model-no-pairs", option="event_model")
        counts = load_counts(model, with_pairs=self.event_model == "aode")
        self.law = numeric.make_numeric_law(self.event_model, counts, settings.alpha)

    def contributions(self, measured: Sequence[float | None]) -> list[tuple[str, list[float]]]:
        """(feature=value, nats by class) of each feature that is not missing; one for all under AODE.

        measured : in the order of tokens.numeric.NAMES
        """
        values = arrange(self.names, measured)
        rows = self.law.contributions(values)[0].tolist()
        if self.event_model == "aode":
            return [(ALL_FEATURES, row) for row in rows]
        named = zip(self.names, values[0].tolist(), rows, strict=True)
        return [(f"{name}={value:.6g}", row) for name, value, row in named if value == value]


def arrange(names: Sequence[str], measured: Sequence[float | None] | Floats) -> Floats:
    """float64 (n_messages, n_features): measured values in the order of some features; NaN where missing.

    measured : in the order of NAMES, of one message or a row a message
    """
    columns = dict(zip(NAMES, np.atleast_2d(np.array(measured, np.float64)).T, strict=True))
    missing = np.full_like(columns[NAMES[0]], np.nan)
    return np.array([columns.get(name, missing) for name in names]).T


def load_counts(model: FeatureModel, with_pairs: bool = False) -> numeric.FeatureStatistics:
    """Moments and bins of a model, and the pairs of AODE if they are wanted."""
    edges = [row for _, row in model.numeric_features()]
    numeric.check_bins(max([numeric.MIN_BINS, *(len(row) + 1 for row in edges)]), with_pairs)
    counts = numeric.FeatureStatistics(len(model.classes), edges, with_pairs)
    try:
        for cell, row in model.numeric_counts(with_pairs).items():
            counts.set_row(*cell, row)
    except (ValueError, IndexError, TypeError):
        raise DamagedModelError(model.path, "a row of numeric_count fits no feature") from None
    return counts


def message_rows(
    model: FeatureModel, labels: Sequence[int] | Ints, measured: Sequence[float | None] | Floats
) -> Iterator[tuple[str, int, int, list[int]]]:
    """What messages add to the stored rows of counts, as FeatureStatistics.rows.

    labels : class numbers;  measured : see arrange
    """
    features = model.numeric_features()
    with_pairs = model.settings.get("numeric_model") == "aode"
    values = arrange([name for name, _ in features], measured)
    edges = [row for _, row in features]
    return numeric.count_features(values, np.array(labels), max(labels) + 1, edges, with_pairs).rows()


def parse_edges(texts: Sequence[str], event_model: str) -> dict[str, list[float]]:
    """Inner edges of the bins of some features, as people write them: `size=1000,5000`.

    Values below 1000, from 1000 to below 5000, and from 5000 are then three bins.
    event_model : of NUMERIC_MODELS; aode allows fewer bins
    """
    edges_of: dict[str, list[float]] = {}
    for text in texts:
        name, _, numbers = text.partition("=")
        try:
            edges = [float(number) for number in numbers.split(",")]
        except ValueError:
            edges = []
        steps = [-numeric.MAX_MAGNITUDE, *edges, numeric.MAX_MAGNITUDE]
        if name not in NAMES or not edges or not all(low < high for low, high in pairwise(steps)):
            why, remedy = "is not a numeric feature with ascending numbers", "for example: size=1000,5000"
            raise UsageError(text, why, remedy, "edges", option="edges")
        numeric.check_bins(len(edges) + 1, event_model == "aode")
        edges_of[name] = edges
    return edges_of
