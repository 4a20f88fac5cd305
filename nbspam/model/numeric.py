"""Event models of numeric features: Gaussian, categorical (binned) and AODE.

They work on counts that add and subtract exactly, in any order: number, sum and sum of squares of the values
(as Python integers, in quanta of 2^-20 of a unit), counts of the bins, and for AODE counts of pairs of bins.
One message is a batch of one row.

features : float64 (n_messages, n_features), NaN where a value is missing: that factor is left out
labels   : int64 (n_messages,), class numbers
"""

from collections.abc import Iterator, Sequence
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nbspam.errors import UsageError
from nbspam.model.counts import Floats, Ints
from nbspam.model.words import parse_alpha
from nbspam.settings import BINNINGS

Edges = Sequence[Sequence[float]]  # of each feature the inner edges of its bins, ascending

QUANTA = 1 << 20  # of one unit; a power of two, so that whole numbers and halves are counted as they are
MAX_MAGNITUDE = float(1 << 31)  # larger values (and infinity) are taken as this: 2 GB is no longer a mail
VARIANCE_FLOOR = 1e-3  # share of the feature's variance over all classes; its deviation is then 3 % of that
LEAST_VARIANCE = 1.0 / QUANTA**2  # of a feature that is the same in all mail: one quantum of deviation
MIN_BINS = 2
MAX_BINS = 1_000  # of a feature; more hold no message each
MAX_PAIRED_BINS = 50  # under AODE, which counts the square: 38 features then take 29 MB a class
COUNTED_AT_ONCE = 2_000  # messages
AODE_ROWS = 1_024  # under AODE, which looks up the square of the features for each message
_log_gamma = np.vectorize(lgamma, otypes=[np.float64])


def clamp(features: ArrayLike) -> Floats:
    """The features as they are scored: no value beyond MAX_MAGNITUDE either way; NaN stays."""
    return np.clip(np.asarray(features, dtype=np.float64), -MAX_MAGNITUDE, MAX_MAGNITUDE)


def check_bins(bins: int, with_pairs: bool = False) -> int:
    """A number of bins that can be counted, with_pairs for AODE; UsageError otherwise."""
    most, where = (MAX_PAIRED_BINS, " under aode") if with_pairs else (MAX_BINS, "")
    if MIN_BINS <= bins <= most:
        return bins
    why = f"the number of bins is from {MIN_BINS} to {most:,}{where}"
    raise UsageError(str(bins), why, "use 10", "bins", option="bins")


def learn_edges(features: Floats, bins: int, binning: str = "frequency") -> list[list[float]]:
    """Inner edges of each feature's bins; a value on an edge belongs to the bin above it.

    binning : of settings.BINNINGS
      width     : the range of the values cut into `bins` equal intervals
      frequency : at the i/bins quantiles; equal edges fall together, so a feature may get fewer bins
    A feature that is constant or always missing has no edge: one bin, which says nothing.
    """
    check_bins(bins)
    if binning not in BINNINGS:
        raise UsageError(binning, "no such way to bin", slug="bins", option="binning", allowed=BINNINGS)
    learned = []
    for column in clamp(features).T:
        values = np.sort(column[~np.isnan(column)]).tolist() or [0.0]
        low, high = values[0], values[-1]
        if binning == "width":
            candidates = [low + (high - low) * (i / bins) for i in range(1, bins)]
        else:
            candidates = [values[i * len(values) // bins] for i in range(1, bins)]
        learned.append(sorted({edge for edge in candidates if low < edge <= high}))
    return learned


class FeatureStatistics:
    """Sufficient statistics of every numeric model.

    A cell is one bin of one feature; all are numbered through, those of feature f from starts[f] on.

    moments : Python numbers (n_classes, n_features, 3): n, sum and sum of squares, in quanta
    bins    : numbers (n_classes, n_cells)
    pairs   : numbers (n_classes, n_cells, n_cells): messages in both cells, in one cell on the diagonal;
              None if they are not counted
    """

    def __init__(self, n_classes: int, edges: Edges, with_pairs: bool = False) -> None:
        self.edges = [list(row) for row in edges]
        self.sizes = np.array([len(row) + 1 for row in edges], np.int64)
        self.starts = np.concatenate([np.zeros(1, np.int64), self.sizes.cumsum()])[:-1]
        self.feature_of_cell = np.repeat(np.arange(len(self.sizes)), self.sizes)
        n_cells = len(self.feature_of_cell)
        self.moments: NDArray[Any] = np.zeros((n_classes, len(edges), 3), object)
        self.bins: NDArray[Any] = np.zeros((n_classes, n_cells), np.int64)
        self.pairs: NDArray[Any] | None = (
            np.zeros((n_classes, n_cells, n_cells), np.int64) if with_pairs else None
        )

    def cells(self, features: ArrayLike) -> Ints:
        """int64 (n_messages, n_features): the cell of each value; -1 where it is missing."""
        values = clamp(features)
        cells = np.full(values.shape, -1, np.int64)
        for f, row in enumerate(self.edges):
            cells[:, f] = np.searchsorted(row, values[:, f], side="right") + self.starts[f]
        cells[np.isnan(values)] = -1
        return cells

    def add(self, features: ArrayLike, labels: ArrayLike, sign: int = 1) -> None:
        """Counts messages; with sign -1 takes them out again."""
        values = clamp(features)
        labels = np.asarray(labels)
        n_cells = self.bins.shape[1]
        table = np.zeros((len(values), n_cells + 1))  # 1 where a message is in a cell; -1 is the last column
        np.put_along_axis(table, self.cells(values), 1.0, axis=1)
        for k in range(len(self.bins)):
            of_class = table[labels == k, :n_cells]
            self.moments[k] += sign * _moments(values[labels == k])
            self.bins[k] += sign * of_class.sum(axis=0).astype(np.int64)
            if self.pairs is not None:
                self.pairs[k] += sign * (of_class.T @ of_class).astype(np.int64)

    def of_feature(self, k: int, f: int) -> NDArray[Any]:
        """The counts of the bins of one feature in one class."""
        return self.bins[k, self.starts[f] : self.starts[f] + self.sizes[f]]

    def known(self, counts: NDArray[Any]) -> NDArray[Any]:
        """For each cell on the last axis, the sum over the cells of the same feature."""
        return np.add.reduceat(counts, self.starts, axis=-1)[..., self.feature_of_cell]

    def rows(self) -> Iterator[tuple[str, int, int, list[int]]]:
        """(kind, class, place, numbers) of each row that is not all zeros, as a model file keeps them."""
        for k in range(len(self.bins)):
            every = [("moment", f, row.tolist()) for f, row in enumerate(self.moments[k])]
            every += [("bin", f, self.of_feature(k, f).tolist()) for f in range(len(self.edges))]
            if self.pairs is not None:
                met = np.flatnonzero(self.pairs[k].any(axis=1))
                every += [("pair", cell, self.pairs[k, cell].tolist()) for cell in met.tolist()]
            yield from ((kind, k, place, row) for kind, place, row in every if any(row))

    def set_row(self, kind: str, k: int, place: int, row: Sequence[int]) -> None:
        """Puts in a row of `rows`; ValueError or IndexError if it fits no feature or cell."""
        table: Any = self.pairs if kind == "pair" else self.moments
        target = self.of_feature(k, place) if kind == "bin" else table[k, place]
        if len(row) != len(target):
            raise ValueError(f"{len(row)} numbers where there are {len(target)}")
        target[:] = row


def count_features(
    features: Floats, labels: Ints, n_classes: int, edges: Edges, with_pairs: bool = False
) -> FeatureStatistics:
    """Counts any number of messages, some at a time."""
    counts = FeatureStatistics(n_classes, edges, with_pairs)
    for start in range(0, len(labels), COUNTED_AT_ONCE):
        rows = slice(start, start + COUNTED_AT_ONCE)
        counts.add(features[rows], labels[rows])
    return counts


def _moments(values: Floats) -> NDArray[Any]:
    """Python integers (n_features, 3): n, sum and sum of squares in quanta, exact: squares pass 64 bits."""
    is_given = ~np.isnan(values)
    quanta = np.rint(np.where(is_given, values, 0.0) * QUANTA).astype(np.int64).astype(object)
    return np.stack([is_given.sum(axis=0), quanta.sum(axis=0), (quanta * quanta).sum(axis=0)], axis=1)


class NumericLaw:
    """A model of numeric features: what the features add to the score of each class.

    log_phi : float64 (n_cells, n_classes), nats, of the categorical model: log of a bin's share in a class
    """

    def __init__(self, counts: FeatureStatistics, alpha: float = 1.0) -> None:
        self.counts, self.alpha = counts, parse_alpha(alpha)
        sizes = counts.sizes[counts.feature_of_cell]
        self.log_phi = log_shares(counts.bins, counts.known(counts.bins), self.alpha, sizes).T

    def contributions(self, features: ArrayLike) -> Floats:
        """Log-likelihoods, float64 (n_messages, n_factors, n_classes), nats; zeros for a missing feature.

        One factor a feature where the model is a product, one in all for AODE.
        -inf at lambda = 0 for what was never met in the class; never NaN.
        """
        return np.asarray(add_zero_row(self.log_phi)[self.counts.cells(features)])

    def log_likelihood(self, features: ArrayLike) -> Floats:
        """float64 (n_messages, n_classes): the sum of the contributions."""
        return np.asarray(self.contributions(features).sum(axis=1))


class CategoricalLaw(NumericLaw):
    """log (n_jtk + lambda) / (n_jk + k_j lambda), n_jk the messages of class k that have feature j."""


class NormalInverseGamma(NamedTuple):
    """sigma^2 ~ inverse gamma(shape, scale), mu | sigma^2 ~ N(mean, sigma^2 / kappa): numbers or arrays.

    Source: Murphy 2007, section 6 (kappa is his 1 / V, shape a, scale b).
    """

    mean: Any
    kappa: Any
    shape: Any
    scale: Any


def normal_posterior(counts: FeatureStatistics) -> NormalInverseGamma:
    """The posterior of mean and variance, arrays (n_classes, n_features).

    The prior is worth a message of each class, with the mean and variance over all classes.
    """
    prior_mean, prior_variance = estimate_normal(counts.moments.sum(axis=0))
    mean, variance = estimate_normal(counts.moments)
    n = counts.moments[:, :, 0].astype(float)
    squares = n * variance + n / (1 + n) * (mean - prior_mean) ** 2
    return NormalInverseGamma(
        (prior_mean + n * mean) / (1 + n),
        kappa=1 + n,
        shape=(1 + n) / 2,
        scale=(np.maximum(prior_variance, LEAST_VARIANCE) + squares) / 2,
    )


class GaussianLaw(NumericLaw):
    """The density of a value whose mean and variance have the posterior of normal_posterior.

    log t(x; 2 shape degrees of freedom, mean, variance (1 + 1 / kappa)), Student's t: of few messages it has
    long tails, of many it is a normal distribution.
    A variance is at least the share VARIANCE_FLOOR of the feature's variance over all messages, and
    LEAST_VARIANCE.

    means, variances : float64 (n_classes, n_features): of the posterior its mean and scale / shape
    floored  : bool (n_classes, n_features), true where the floor was needed
    constant : bool (n_features,), true for a feature that is the same in all mail.  It is left out: the
               density of the first message to differ would be so small that adding it rounds all others away
    Source: Murphy 2007, section 6.5.
    """

    def __init__(self, counts: FeatureStatistics) -> None:
        super().__init__(counts)
        self.means, kappa, shape, scale = normal_posterior(counts)
        _, variance = estimate_normal(counts.moments.sum(axis=0))
        least = np.maximum(VARIANCE_FLOOR * variance, LEAST_VARIANCE)
        self.constant = variance == 0
        self.floored = scale / shape < least
        self.variances = np.maximum(scale / shape, least)
        self._power = (shape + 0.5).T
        self._width = (2 * shape * self.variances * (1 + 1 / kappa)).T  # nu times the squared scale of t
        self._peak = _log_gamma(self._power) - _log_gamma(shape.T) - 0.5 * np.log(np.pi * self._width)

    def contributions(self, features: ArrayLike) -> Floats:
        values = clamp(features)[:, :, None]
        densities = self._peak - self._power * np.log1p((values - self.means.T) ** 2 / self._width)
        return np.where(np.isnan(values) | self.constant[:, None], 0.0, densities)


def estimate_normal(moments: NDArray[Any]) -> tuple[Floats, Floats]:
    """Maximum likelihood mean and variance from moments on the last axis; zeros where there is no value.

    Correctly rounded quotients of exact integers, so that variances do not cancel.
    """
    n, total, squares = np.moveaxis(moments, -1, 0)
    n = np.maximum(n, 1)
    means, variances = total / n, (n * squares - total * total) / (n * n)
    return means.astype(np.float64) / QUANTA, variances.astype(np.float64) / QUANTA**2


class AodeLaw(NumericLaw):
    """Averaged one-dependence estimators: every feature in turn is the parent of all others.

    log mean over parents i of  P(x_i | k) product over j != i of P(x_j | k, x_i).
    A parent is used where its value was counted at all; where none was, the score is the categorical one.
    Source: Webb, Boughton and Wang 2005, section 4 (there with lambda = 1).
    """

    def contributions(self, features: ArrayLike) -> Floats:
        cells = self.counts.cells(features)
        joint = super().contributions(features).sum(axis=1)
        usable: NDArray[np.bool_] = (cells >= 0) & (self.counts.bins.sum(axis=0) > 0)[cells]
        has_parent = usable.any(axis=1)
        used, places = np.unique(cells, return_inverse=True)
        parents = add_zero_row(self.log_phi)
        for k, pairs in enumerate(() if self.counts.pairs is None else self.counts.pairs):
            table = self._log_children(pairs[used], used)
            for rows in np.array_split(np.flatnonzero(has_parent), len(cells) // AODE_ROWS + 1):
                children = table[places.reshape(cells.shape)[rows, :, None], cells[rows, None, :]].sum(axis=2)
                terms = np.where(usable[rows], children + parents[cells[rows], k], -np.inf)
                sums = np.logaddexp.reduce(terms, axis=1, initial=-np.inf)
                joint[rows, k] = sums - np.log(usable[rows].sum(axis=1))
        return np.asarray(joint[:, None, :])

    def _log_children(self, pairs: NDArray[Any], parents: Ints) -> Floats:
        """log P(cell | k, parent), float64 (n_parents, n_cells + 1), nats.

        0 for cells of the parent's own feature, and in the last column, of missing features.
        """
        counts, feature = self.counts, self.counts.feature_of_cell
        table = log_shares(pairs, counts.known(pairs), self.alpha, counts.sizes[feature])
        table[feature[parents][:, None] == feature] = 0.0
        return np.pad(table, ((0, 0), (0, 1)))


def log_shares(counts: NDArray[Any], totals: NDArray[Any], alpha: float, cells: Ints) -> Floats:
    """log (count + alpha) / (total + cells alpha), nats; -inf for 0 / anything."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(counts + alpha) - np.log(totals + alpha * cells)
    return np.where(np.isnan(logs), -np.inf, logs)


def add_zero_row(table: Floats) -> Floats:
    """A table with zeros in a last row, which number -1 (missing) finds."""
    return np.pad(table, ((0, 1), (0, 0)))


def make_numeric_law(event_model: str, counts: FeatureStatistics, alpha: float) -> NumericLaw:
    """One of the NUMERIC_MODELS on these counts."""
    if event_model == "gaussian":
        return GaussianLaw(counts)
    return (AodeLaw if event_model == "aode" else CategoricalLaw)(counts, alpha)
