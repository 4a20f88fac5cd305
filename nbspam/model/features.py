"""The numeric features of one message under one model.

Hides how stored counts become a numeric scorer, and that a model may know other features than this program
measures: they meet by name, and one that is not measured counts as missing.
"""

from __future__ import annotations

from nbspam.errors import DamagedModelError, UsageError
from nbspam.model import numeric_models as numeric
from nbspam.tokens.numeric import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbspam.model.numeric_models import Features, NumericScorer
    from nbspam.settings import Settings
    from nbspam.store.reader import Model

ALL_FEATURES = "all features"  # what a factor is called that no single feature makes


class FeatureScorer:
    """Scores the features of messages by one model.

    names   : features of the model
    scorer  : the event model, smoothed
    """

    __slots__ = ("_order", "_pairs", "names", "scorer")

    def __init__(self, model: Model, settings: Settings) -> None:
        features = model.numeric_features()
        if not features:
            raise UsageError(
                f"--event-model {settings.numeric_model}",
                f"{model.path} was trained without numeric features",
                "train again with --features numeric or --features both",
                "model-no-numeric",
            )
        self.names = [name for name, _ in features]
        self._order = feature_order(self.names)
        self._pairs: StoredPairs | None = None
        totals = self._totals(model, settings.numeric_model, [edges for _, edges in features])
        self.scorer: NumericScorer = numeric.make_numeric_scorer(
            settings.numeric_model, totals, settings.alpha
        )

    def _totals(
        self, model: Model, event_model: str, edges: list[list[float]]
    ) -> numeric.GaussianTotals | numeric.BinTotals:
        n_classes = len(model.classes)
        if event_model == "gaussian":
            return read_moments(model, n_classes, len(edges))
        if event_model == "aode":
            check_pairs(model)
            self._pairs = StoredPairs(model, n_classes, edges)
            return self._pairs
        return read_bins(model, numeric.BinTotals(n_classes, edges))

    def contributions(self, measured: Features) -> list[tuple[str, list[float]]]:
        """(feature=value, nats by class) of each feature that is there; one in all under AODE."""
        values = [None if place is None else measured[place] for place in self._order]
        if self._pairs is not None:
            self._pairs.load(values)
            return [(ALL_FEATURES, row) for row in self.scorer.contributions(values)]
        rows = self.scorer.contributions(values)
        return [
            (f"{name}={value:.6g}", row)
            for name, value, row in zip(self.names, values, rows, strict=True)
            if value is not None
        ]


def feature_order(names: Sequence[str]) -> list[int | None]:
    """Where this program measures each of a model's features; None if it does not."""
    return [NAMES.index(name) if name in NAMES else None for name in names]


def read_moments(model: Model, n_classes: int, n_features: int) -> numeric.GaussianTotals:
    """The stored moments."""
    totals = numeric.GaussianTotals(n_classes, n_features)
    for (k, f), row in model.numeric_counts("moment").items():
        if not (0 <= k < n_classes and 0 <= f < n_features and len(row) == 3):
            raise _damaged(model)
        totals.counts[k][f], totals.sums[k][f], totals.squares[k][f] = row
    return totals


def read_bins(model: Model, totals: numeric.BinTotals) -> numeric.BinTotals:
    """The stored bins, into totals of the right edges."""
    for (k, f), row in model.numeric_counts("bin").items():
        if not (0 <= k < len(totals.counts) and 0 <= f < len(totals.edges)) or (
            len(row) != len(totals.edges[f]) + 1
        ):
            raise _damaged(model)
        totals.counts[k][f] = row
    return totals


def _damaged(model: Model) -> DamagedModelError:
    return DamagedModelError(model.path, "a row of numeric_count fits no feature")


def check_pairs(model: Model) -> None:
    """UsageError unless the model counted pairs of features."""
    if model.settings.get("numeric_model") != "aode":
        raise UsageError(
            "--event-model aode",
            f"{model.path} was trained without counting pairs of features",
            "train again with --event-model aode",
            "model-no-pairs",
        )


class StoredPairs(numeric.PairTotals):
    """Pairs read from a model for the message at hand: the rows of its own cells."""

    __slots__ = ("_model", "_rows")

    def __init__(self, model: Model, n_classes: int, edges: list[list[float]]) -> None:
        super().__init__(n_classes, edges)
        read_bins(model, self)
        self._model = model
        self._rows: dict[tuple[int, int], list[int]] = {}

    def load(self, features: Features) -> None:
        """Reads what scoring these features will ask for."""
        self._rows = self._model.numeric_counts("pair", [cell for _, cell in self.present(features)])

    def pairs_of(self, label: int, cell: int, first: int, size: int) -> Sequence[float]:
        row = self._rows.get((label, cell))
        return row[first : first + size] if row else [0] * size


def message_rows(
    features: Sequence[tuple[str, list[float]]], measured: Features, with_pairs: bool
) -> dict[tuple[str, int], list[int]]:
    """What one message adds to each stored row of counts: (kind, place) -> integers.

    features : names and edges of the model;  measured : values in the order of NAMES
    """
    values = [None if place is None else measured[place] for place in feature_order([n for n, _ in features])]
    edges = [row for _, row in features]
    rows: dict[tuple[str, int], list[int]] = {}
    moments = numeric.GaussianTotals(1, len(values))
    moments.add(0, values)
    pairs = numeric.PairTotals(1, edges)
    present = pairs.present(values)
    for f, cell in present:
        rows["moment", f] = [moments.counts[0][f], moments.sums[0][f], moments.squares[0][f]]
        counts = [0] * (len(edges[f]) + 1)
        counts[cell - pairs.offsets[f]] = 1
        rows["bin", f] = counts
    if with_pairs:
        together = [0] * pairs.cells
        for _, cell in present:
            together[cell] = 1
        for _, cell in present:
            rows["pair", cell] = together
    return rows
