"""Models of real features over a matrix of messages: Gaussian, categorical, AODE; and the edges of bins.

Hides how the counting of a whole matrix stays as exact as message by message (sums of squares in two
limbs of 26 bits), and that AODE is a product with a one-hot matrix of cells.  Counts come back as the
totals of nbspam.model.numeric_models, so that one class holds what is stored, merged and scored.

features : float64 (n_messages, n_features), NaN where missing;  labels : int (n_messages,)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from nbspam.errors import UsageError
from nbspam.model.numeric_models import (
    MAX_MAGNITUDE,
    QUANTA,
    AodeScorer,
    BinTotals,
    CategoricalScorer,
    GaussianScorer,
    GaussianTotals,
    NumericScorer,
    PairTotals,
    checked_bins,
)
from nbspam.model.words import scaled
from nbspam.settings import BINNINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_LIMB = 26  # bits: values in quanta have up to 51, so two limbs, and products of limbs up to 52
_EXACT_ROWS = 1024  # sums of so many products stay below 2^63
_CHUNK = 4096  # messages scored at once under AODE: bounds the memory, 4096 x cells x 8 bytes


def clamped(features: Floats) -> Floats:
    """The features as they are scored: infinities and huge values at +-MAX_MAGNITUDE, NaN kept."""
    return np.clip(np.asarray(features, dtype=np.float64), -MAX_MAGNITUDE, MAX_MAGNITUDE)


def learn_edges(features: Floats, bins: int, binning: str = "frequency") -> list[list[float]]:
    """Inner edges of each feature's bins; a value on an edge belongs to the bin above it.

    binning : of settings.BINNINGS
      width     : the range of the training values cut into `bins` equal intervals
      frequency : at the i/bins quantiles; equal edges fall together, so a feature may get fewer bins
    A feature that is constant or never there gets no edge: one bin, which tells nothing.
    """
    checked_bins(bins)
    if binning not in BINNINGS:
        raise UsageError(
            f"binning {binning}", "no such way to bin", "use one of: " + ", ".join(BINNINGS), "bins"
        )
    edges = []
    for column in clamped(features).T:
        values = np.sort(column[~np.isnan(column)])
        edges.append(_edges_of(values, bins, binning) if len(values) else [])
    return edges


def _edges_of(values: Floats, bins: int, binning: str) -> list[float]:
    low, high = float(values[0]), float(values[-1])
    if binning == "width":
        candidates = [low + (high - low) * (i / bins) for i in range(1, bins)]
    else:
        candidates = [float(values[i * len(values) // bins]) for i in range(1, bins)]
    return sorted({edge for edge in candidates if low < edge <= high})


def count_gaussian(features: Floats, labels: Integers, n_classes: int) -> GaussianTotals:
    """Count, sum and sum of squares a class and feature; the same integers as message by message."""
    values = clamped(features)
    totals = GaussianTotals(n_classes, values.shape[1])
    known = ~np.isnan(values)
    quanta = np.rint(np.where(known, values, 0.0) * QUANTA).astype(np.int64)
    for k in range(n_classes):
        own = np.asarray(labels) == k
        totals.counts[k] = known[own].sum(axis=0).tolist()
        totals.sums[k], totals.squares[k] = _exact_sums(quanta[own])
    return totals


def _exact_sums(quanta: Integers) -> tuple[list[int], list[int]]:
    """Column sums and sums of squares as Python integers: (h 2^26 + l)^2 = h^2 2^52 + 2 h l 2^26 + l^2."""
    sums = [0] * quanta.shape[1]
    squares = [0] * quanta.shape[1]
    for start in range(0, len(quanta), _EXACT_ROWS):
        part = quanta[start : start + _EXACT_ROWS]
        high, low = part >> _LIMB, part & ((1 << _LIMB) - 1)
        products = [(high * high).sum(0), (high * low).sum(0), (low * low).sum(0)]
        for f, (total, hh, hl, ll) in enumerate(zip(part.sum(0), *products, strict=True)):
            sums[f] += int(total)
            squares[f] += (int(hh) << 2 * _LIMB) + (int(hl) << (_LIMB + 1)) + int(ll)
    return sums, squares


def bins_of(features: Floats, edges: Sequence[Sequence[float]]) -> Integers:
    """Bin numbers, int64 (n_messages, n_features); -1 where missing."""
    values = clamped(features)
    bins = np.empty(values.shape, dtype=np.int64)
    for f, row in enumerate(edges):
        bins[:, f] = np.searchsorted(np.asarray(row, dtype=np.float64), values[:, f], side="right")
    bins[np.isnan(values)] = -1
    return bins


def count_bins(
    features: Floats, labels: Integers, n_classes: int, edges: Sequence[Sequence[float]]
) -> BinTotals:
    """Counts of bins a class and feature."""
    totals = BinTotals(n_classes, edges)
    _fill_bins(totals, bins_of(features, edges), labels)
    return totals


def _fill_bins(totals: BinTotals, bins: Integers, labels: Integers) -> None:
    for k, by_feature in enumerate(totals.counts):
        own = bins[np.asarray(labels) == k]
        for f, row in enumerate(by_feature):
            row[:] = np.bincount(own[:, f] + 1, minlength=len(row) + 1)[1:].tolist()


def count_pairs(
    features: Floats, labels: Integers, n_classes: int, edges: Sequence[Sequence[float]]
) -> PairTotals:
    """Counts of bins, and of pairs of bins of different features, a class."""
    totals = PairTotals(n_classes, edges)
    bins = bins_of(features, edges)
    _fill_bins(totals, bins, labels)
    hot = one_hot(bins, totals)
    for k in range(n_classes):
        own = hot[np.flatnonzero(np.asarray(labels) == k)]
        upper = sparse.triu(own.T @ own, k=1).tocoo()
        keys = (upper.row.astype(np.int64) * totals.cells + upper.col).tolist()
        totals.pairs[k] = dict(zip(keys, upper.data.tolist(), strict=True))
    return totals


def one_hot(bins: Integers, totals: PairTotals) -> sparse.csr_matrix:
    """int64 (n_messages, n_cells): 1 for the cell of each feature that is there."""
    rows, features = np.nonzero(bins >= 0)
    cells = bins[rows, features] + np.asarray(totals.offsets, dtype=np.int64)[features]
    ones = np.ones(len(rows), dtype=np.int64)
    return sparse.csr_matrix((ones, (rows, cells)), shape=(len(bins), totals.cells))


def log_likelihood(scorer: NumericScorer, features: Floats) -> Floats:
    """Log-likelihoods, float64 (n_messages, n_classes), of any of the numeric scorers."""
    if isinstance(scorer, GaussianScorer):
        return _gaussian(scorer, clamped(features))
    if isinstance(scorer, AodeScorer):
        return aode_joint(scorer, features, [0.0] * scorer.n_classes)
    if isinstance(scorer, CategoricalScorer):
        return _categorical(scorer, bins_of(features, scorer.totals.edges))
    raise TypeError(type(scorer).__name__)


def _gaussian(scorer: GaussianScorer, values: Floats) -> Floats:
    silent = np.isnan(values) | np.asarray(scorer.constant)
    joint = np.empty((len(values), scorer.n_classes))
    for k in range(scorer.n_classes):
        variance = np.asarray(scorer.variances[k])
        distance = (values - np.asarray(scorer.means[k])) ** 2 / variance
        densities = -0.5 * (np.log(2 * np.pi * variance) + distance)
        joint[:, k] = np.where(silent, 0.0, densities).sum(axis=1)
    return joint


def _categorical(scorer: CategoricalScorer, bins: Integers) -> Floats:
    joint = np.zeros((len(bins), scorer.n_classes))
    for k in range(scorer.n_classes):
        for f, row in enumerate(scorer.totals.counts[k]):
            # the last place stands for bin -1, missing
            logs = [scorer.log_probability(k, f, b) for b in range(len(row))]
            joint[:, k] += np.asarray([*logs, 0.0])[bins[:, f]]
    return joint


def aode_joint(scorer: AodeScorer, features: Floats, log_prior: Sequence[float] | None) -> Floats:
    """What AodeScorer.joint gives, for each row."""
    bins = bins_of(features, scorer.totals.edges)
    tables = [conditionals(scorer, k) for k in range(scorer.n_classes)]
    parents = [_parents(scorer, k, log_prior) for k in range(scorer.n_classes)]
    eligible = times_seen(scorer.totals) >= scorer.minimum
    joint = np.empty((len(bins), scorer.n_classes))
    for rows in _chunks(len(bins)):
        _score_chunk(scorer, bins[rows], eligible, tables, parents, log_prior, joint[rows])
    return joint


def times_seen(totals: BinTotals) -> Floats:
    """(n_cells,), messages of all classes in each cell."""
    by_class = [np.concatenate([np.zeros(0), *by_feature]) for by_feature in totals.counts]
    return np.asarray(np.sum(by_class, axis=0), dtype=np.float64)


def _chunks(count: int) -> Iterator[slice]:
    for start in range(0, count, _CHUNK):
        yield slice(start, min(start + _CHUNK, count))


def _score_chunk(
    scorer: AodeScorer,
    bins: Integers,
    eligible: NDArray[np.bool_],
    tables: list[Floats],
    parents: list[Floats],
    log_prior: Sequence[float] | None,
    joint: Floats,
) -> None:
    hot = one_hot(bins, scorer.totals).astype(np.float64)
    cells = np.where(bins >= 0, bins + np.asarray(scorer.totals.offsets), 0)
    usable = (bins >= 0) & eligible[cells]
    numbers = usable.sum(axis=1)
    for k in range(scorer.n_classes):
        terms = np.take_along_axis(hot @ tables[k].T, cells, axis=1) + parents[k][cells]
        terms[~usable] = -np.inf
        with np.errstate(divide="ignore"):
            joint[:, k] = np.logaddexp.reduce(terms, axis=1, initial=-np.inf) - np.log(np.maximum(numbers, 1))
    alone = numbers == 0
    if alone.any():
        prior = scorer.naive_prior() if log_prior is None else list(log_prior)
        joint[alone] = _categorical(scorer.categorical, bins[alone]) + np.asarray(prior)


def pair_matrix(totals: PairTotals, k: int) -> Integers:
    """int64 (n_cells, n_cells), symmetric: messages of a class in both cells; own counts on the diagonal."""
    matrix = np.zeros((totals.cells, totals.cells), np.int64)
    if totals.pairs[k]:
        first, second = np.divmod(np.fromiter(totals.pairs[k], np.int64), totals.cells)
        matrix[first, second] = matrix[second, first] = list(totals.pairs[k].values())
    np.fill_diagonal(matrix, np.concatenate([np.asarray(row, np.int64) for row in totals.counts[k]]))
    return matrix


def conditionals(scorer: AodeScorer, k: int, less: int = 0) -> Floats:
    """log P(cell j | k, cell i), float64 (n_cells, n_cells); 0 for cells of the same feature.

    less : taken off every count, as one message less takes it off those that it is in
    """
    totals = scorer.totals
    pairs = pair_matrix(totals, k)
    table = np.zeros(pairs.shape)
    scale, pseudo = scaled(scorer.alpha)
    for f, row in enumerate(totals.counts[k]):
        own = slice(totals.offsets[f], totals.offsets[f] + len(row))
        known = np.maximum(pairs[:, own].sum(axis=1, keepdims=True) - less, 0) * scale + pseudo * len(row)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.maximum(pairs[:, own] - less, 0) * scale + pseudo) - np.log(known)
        logs[np.isnan(logs)] = -np.inf  # nothing known of the pair at lambda = 0
        logs[own] = 0.0
        table[:, own] = logs
    return table


def _parents(scorer: AodeScorer, k: int, log_prior: Sequence[float] | None) -> Floats:
    """The parent's factor of each cell."""
    offsets, counts = scorer.totals.offsets, scorer.totals.counts[k]
    return np.asarray(
        [
            scorer.parent(k, f, offsets[f] + b, log_prior)
            for f, row in enumerate(counts)
            for b in range(len(row))
        ]
    )
