"""Event models of real features, one message at a time: Gaussian, categorical (binned), AODE.

Hides how features are counted so that adding and removing a message is exact, what a variance may not fall
below, and which bin a value belongs to.  A message is a list of features, None where one is absent or
could not be read: that factor is left out of the product, for naive Bayes needs no imputation.

Exactness: a feature is counted as a whole number of quanta of 2^-20, and sums and sums of squares are
Python integers, so no order of adding, removing and merging changes a bit of them.  Features of mail are
counts, sizes and shares; a millionth is below what any of them is known to.  Scoring uses the value itself.
"""

from __future__ import annotations

from bisect import bisect_right
from math import fsum, inf, isnan, log, pi

from nbspam.errors import UsageError
from nbspam.model.posterior import log_sum_exp
from nbspam.model.words import checked_alpha, log_or_minus_inf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Features = Sequence[float | None]
    Edges = Sequence[Sequence[float]]

QUANTA = 1 << 20  # of one unit; a power of two, so that whole numbers and halves are counted as they are
MAX_MAGNITUDE = float(1 << 31)  # larger values (and infinity) are taken as this: 2 GB is no longer a mail
VARIANCE_FLOOR = 1e-3  # share of the feature's variance over all classes; its deviation is then 3 % of that
LEAST_VARIANCE = 1.0 / QUANTA**2  # of a feature that is the same in all mail: one quantum of deviation
MIN_BINS = 2
MAX_BINS = 1_000  # of a feature; more hold no message each
MAX_PAIRED_BINS = 100  # under AODE, which counts the square: 38 features then take 100 MB a class


def clamped(value: float | None) -> float | None:
    """The value as it is scored: None for NaN, and no larger than MAX_MAGNITUDE either way."""
    if value is None or isnan(value):
        return None
    return min(max(float(value), -MAX_MAGNITUDE), MAX_MAGNITUDE)


def checked_bins(bins: int, with_pairs: bool = False) -> int:
    """A number of bins of a feature that can be counted, with_pairs for AODE; UsageError otherwise."""
    most, where = (MAX_PAIRED_BINS, " under aode") if with_pairs else (MAX_BINS, "")
    if MIN_BINS <= bins <= most:
        return bins
    raise UsageError(f"bins {bins}", f"there are {MIN_BINS} to {most:,} bins{where}", "use --bins 10", "bins")


class GaussianTotals:
    """Sufficient statistics of the Gaussian model, [class][feature]: n, sum and sum of squares.

    sums are in quanta and squares in quanta squared (Python integers of any size: store them as text).
    """

    __slots__ = ("counts", "squares", "sums")

    def __init__(self, n_classes: int, n_features: int) -> None:
        self.counts = [[0] * n_features for _ in range(n_classes)]
        self.sums = [[0] * n_features for _ in range(n_classes)]
        self.squares = [[0] * n_features for _ in range(n_classes)]

    def add(self, label: int, features: Features, sign: int = 1) -> None:
        """Count one message of class `label`; sign -1 takes it back."""
        counts, sums, squares = self.counts[label], self.sums[label], self.squares[label]
        for f, raw in enumerate(features):
            value = clamped(raw)
            if value is not None:
                quanta = round(value * QUANTA)
                counts[f] += sign
                sums[f] += sign * quanta
                squares[f] += sign * quanta * quanta

    def remove(self, label: int, features: Features) -> None:
        """Undo `add` exactly."""
        self.add(label, features, -1)

    def merge(self, other: GaussianTotals) -> None:
        """Add the counts of another model of the same classes and features."""
        both = ((self.counts, other.counts), (self.sums, other.sums), (self.squares, other.squares))
        for mine, theirs in both:
            for row, added in zip(mine, theirs, strict=True):
                row[:] = [a + b for a, b in zip(row, added, strict=True)]


class BinTotals:
    """Counts of binned features, [class][feature][bin].

    The edges are learned from the first training mail and then fixed, so that counts stay additive.
    """

    __slots__ = ("counts", "edges")

    def __init__(self, n_classes: int, edges: Edges) -> None:
        self.edges = [list(row) for row in edges]
        self.counts = [[[0] * (len(row) + 1) for row in edges] for _ in range(n_classes)]

    def bins(self, features: Features) -> list[int | None]:
        """The bin of each feature, how many edges are at or below its value; None where it is missing."""
        values = [clamped(raw) for raw in features]
        return [
            None if value is None else bisect_right(edges, value)
            for value, edges in zip(values, self.edges, strict=True)
        ]

    def add(self, label: int, features: Features, sign: int = 1) -> None:
        """Count one message of class `label`; sign -1 takes it back."""
        for row, bin_number in zip(self.counts[label], self.bins(features), strict=True):
            if bin_number is not None:
                row[bin_number] += sign

    def remove(self, label: int, features: Features) -> None:
        """Undo `add` exactly."""
        self.add(label, features, -1)

    def merge(self, other: BinTotals) -> None:
        """Add the counts of another model with the same edges; UsageError if they differ."""
        if self.edges != other.edges:
            raise UsageError(
                "merge",
                "the two models cut their numeric features at different edges",
                "train the second with the edges of the first: nbspam train --prior-model or --update",
                "bin-edges",
            )
        for mine, theirs in zip(self.counts, other.counts, strict=True):
            for row, added in zip(mine, theirs, strict=True):
                row[:] = [a + b for a, b in zip(row, added, strict=True)]


class PairTotals(BinTotals):
    """Bin counts and, for AODE, how often two bins of different features occur together.

    A cell is one bin of one feature, numbered through: offsets[f] + bin.  pairs[class] maps
    first_cell * cells + second_cell (first < second) to a count; pairs never seen are left out.
    """

    __slots__ = ("cells", "offsets", "pairs")

    def __init__(self, n_classes: int, edges: Edges) -> None:
        super().__init__(n_classes, edges)
        self.offsets = [0]
        for row in edges:
            self.offsets.append(self.offsets[-1] + len(row) + 1)
        self.cells = self.offsets.pop()
        self.pairs: list[dict[int, int]] = [{} for _ in range(n_classes)]

    def add(self, label: int, features: Features, sign: int = 1) -> None:
        super().add(label, features, sign)
        pairs, present = self.pairs[label], self.present(features)
        for at, (_, first) in enumerate(present):
            for _, second in present[at + 1 :]:
                _add_pair(pairs, first * self.cells + second, sign)

    def present(self, features: Features) -> list[tuple[int, int]]:
        """(feature, cell) of each feature that is there."""
        return [(f, self.offsets[f] + b) for f, b in enumerate(self.bins(features)) if b is not None]

    def pair(self, label: int, first: int, second: int) -> int:
        """How many messages of a class are in both cells."""
        low, high = (first, second) if first < second else (second, first)
        return self.pairs[label].get(low * self.cells + high, 0)

    def pairs_of(self, label: int, cell: int, first: int, size: int) -> Sequence[float]:
        """How many messages of a class are in a cell and in each of `size` cells from `first` on."""
        return [self.pair(label, cell, other) for other in range(first, first + size)]

    def merge(self, other: BinTotals) -> None:
        super().merge(other)
        if isinstance(other, PairTotals):
            for mine, theirs in zip(self.pairs, other.pairs, strict=True):
                for key, count in theirs.items():
                    _add_pair(mine, key, count)


def _add_pair(pairs: dict[int, int], key: int, count: int) -> None:
    total = pairs.get(key, 0) + count
    if total:
        pairs[key] = total
    else:
        pairs.pop(key, None)  # so that add and remove leave the same dictionary


class NumericScorer:
    """What a model of real features has: contributions of the features to each class's score."""

    __slots__ = ("n_classes",)

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def contributions(self, features: Features) -> list[list[float]]:
        """Per factor of the product the log-likelihood under each class, nats; zeros for a missing feature.

        One factor a feature where the model is a product, one in all for AODE.
        """
        raise NotImplementedError

    def log_likelihood(self, features: Features) -> list[float]:
        """Per class, the sum of the contributions."""
        return add_parts([0.0] * self.n_classes, self.contributions(features))


class GaussianScorer(NumericScorer):
    """log N(x; mu_jk, sigma^2_jk) with maximum likelihood mean and variance.

    floor : a variance is at least this share of the feature's variance over all messages, and never below
            LEAST_VARIANCE; floored lists the (class, feature) where that was needed
    added : share of the largest variance of any feature, added to every variance; 1e-9 with floor 0 is
            scikit-learn's var_smoothing, which is not scale-free: bytes squared drown shares
    A class without a value of a feature takes the mean and variance of all classes.
    constant : by feature, whether it is the same in all mail.  It says nothing and is left out: the density
            of the first message to differ would be so small that adding it rounds all others away
    """

    __slots__ = ("constant", "floored", "means", "variances")

    def __init__(self, totals: GaussianTotals, floor: float = VARIANCE_FLOOR, added: float = 0.0) -> None:
        super().__init__(len(totals.counts))
        overall = [_pooled(totals, f) for f in range(len(totals.counts[0]))]
        extra = added * max([variance for _, variance in overall], default=0.0)
        self.constant = [not variance + extra for _, variance in overall]
        self.means: list[list[float]] = []
        self.variances: list[list[float]] = []
        self.floored: list[tuple[int, int]] = []
        for k in range(self.n_classes):
            moments = [
                mean_and_variance(*row) if row[0] else overall[f]
                for f, row in enumerate(zip(totals.counts[k], totals.sums[k], totals.squares[k], strict=True))
            ]
            least = [max(floor * variance, LEAST_VARIANCE) for _, variance in overall]
            raised = [variance + extra for _, variance in moments]
            self.floored += [(k, f) for f, value in enumerate(raised) if value < least[f]]
            self.means.append([mean for mean, _ in moments])
            self.variances.append([max(pair) for pair in zip(raised, least, strict=True)])

    def contributions(self, features: Features) -> list[list[float]]:
        rows = []
        for f, raw in enumerate(features):
            value = clamped(raw)
            if value is None or self.constant[f]:
                rows.append([0.0] * self.n_classes)
            else:
                rows.append([self._log_density(value, k, f) for k in range(self.n_classes)])
        return rows

    def _log_density(self, value: float, k: int, f: int) -> float:
        variance = self.variances[k][f]
        return -0.5 * (log(2 * pi * variance) + (value - self.means[k][f]) ** 2 / variance)


def mean_and_variance(count: int, total: int, squares: int) -> tuple[float, float]:
    """Maximum likelihood mean and variance from counts in quanta; correctly rounded; (0, 0) for none."""
    if not count:
        return 0.0, 0.0
    mean = total / count / QUANTA
    return mean, (count * squares - total * total) / (count * count) / QUANTA**2


def _pooled(totals: GaussianTotals, f: int) -> tuple[float, float]:
    return mean_and_variance(
        sum(row[f] for row in totals.counts),
        sum(row[f] for row in totals.sums),
        sum(row[f] for row in totals.squares),
    )


class CategoricalScorer(NumericScorer):
    """log (n_jtk + lambda) / (n_jk + k_j lambda), n_jk the messages of class k that have feature j.

    -inf for a bin never seen in the class, or a class without data, under lambda = 0.
    """

    __slots__ = ("alpha", "sums", "totals")

    def __init__(self, totals: BinTotals, alpha: float) -> None:
        super().__init__(len(totals.counts))
        self.totals = totals
        self.alpha = checked_alpha(alpha)
        self.sums = [[sum(row) for row in by_feature] for by_feature in totals.counts]

    def contributions(self, features: Features) -> list[list[float]]:
        rows = []
        for f, bin_number in enumerate(self.totals.bins(features)):
            if bin_number is None:
                rows.append([0.0] * self.n_classes)
            else:
                rows.append([self.log_probability(k, f, bin_number) for k in range(self.n_classes)])
        return rows

    def log_probability(self, k: int, f: int, bin_number: int) -> float:
        """log P(bin of feature f | class k)."""
        row = self.totals.counts[k][f]
        return smoothed_log(row[bin_number], self.sums[k][f], self.alpha, len(row))


class AodeScorer(NumericScorer):
    """Averaged one-dependence estimators: every feature in turn is the parent of all others.

    log mean over parents i of  P(x_i | k) product over j != i of P(x_j | k, x_i).
    A parent is used where its value was seen at least `minimum` times in all classes together; where none is,
    the score is the categorical one.  joint(features, None) is Webb's estimate with his own P(k, x_i), in
    which the prior is smoothed by v_i lambda; with a prior given, that prior takes its place.
    Source: Webb, Boughton and Wang 2005, section 4 (lambda = 1 and minimum = 1 there).
    """

    __slots__ = ("alpha", "categorical", "minimum", "totals")

    def __init__(self, totals: PairTotals, alpha: float, minimum: int = 1) -> None:
        super().__init__(len(totals.counts))
        self.totals = totals
        self.alpha = checked_alpha(alpha)
        self.minimum = minimum
        self.categorical = CategoricalScorer(totals, alpha)

    def contributions(self, features: Features) -> list[list[float]]:
        return [self.joint(features, [0.0] * self.n_classes)]

    def joint(self, features: Features, log_prior: Sequence[float] | None) -> list[float]:
        """Per class log prior + log likelihood; without a prior, Webb's joint estimate."""
        present = self.totals.present(features)
        parents = [(f, cell) for f, cell in present if self._seen(f, cell) >= self.minimum]
        if not parents:
            prior = self.naive_prior() if log_prior is None else log_prior
            return add_parts(prior, self.categorical.contributions(features))
        scores = []
        for k in range(self.n_classes):
            terms = [
                self.parent(k, f, cell, log_prior) + self._children(k, f, cell, present)
                for f, cell in parents
            ]
            scores.append(log_sum_exp(terms) - log(len(terms)))
        return scores

    def _seen(self, f: int, cell: int) -> int:
        return sum(by_feature[f][cell - self.totals.offsets[f]] for by_feature in self.totals.counts)

    def naive_prior(self) -> list[float]:
        """Webb's P(k) where no parent carries it; m_k is how often the most often known feature is."""
        sizes = [max(sums, default=0) for sums in self.categorical.sums]
        return [smoothed_log(size, sum(sizes), self.alpha, len(sizes)) for size in sizes]

    def parent(self, k: int, f: int, cell: int, log_prior: Sequence[float] | None) -> float:
        """log P(k, cell of feature f), nats: the parent's own factor; log_prior as `joint` has it."""
        bin_number = cell - self.totals.offsets[f]
        if log_prior is not None:
            return log_prior[k] + self.categorical.log_probability(k, f, bin_number)
        row = self.totals.counts[k][f]
        known = sum(sums[f] for sums in self.categorical.sums)
        return smoothed_log(row[bin_number], known, self.alpha, len(row) * self.n_classes)

    def _children(self, k: int, f: int, cell: int, present: list[tuple[int, int]]) -> float:
        terms = []
        for g, other in present:
            if g != f:
                offset, size = self.totals.offsets[g], len(self.totals.counts[k][g])
                row = self.totals.pairs_of(k, cell, offset, size)
                terms.append(smoothed_log(row[other - offset], sum(row), self.alpha, size))
        return fsum(terms)


def smoothed_log(count: float, total: float, alpha: float, cells: int) -> float:
    """log (count + alpha) / (total + cells alpha); -inf for 0 / anything."""
    if alpha > 1:  # no overflow up to the largest float
        return log(count / alpha + 1) - log(total / alpha + cells)
    return log_or_minus_inf(count + alpha) - log(total + alpha * cells) if count + alpha > 0 else -inf


def add_parts(log_joint: Sequence[float], contributions: Sequence[Sequence[float]]) -> list[float]:
    """Log joints with the contributions of further independent parts added: the mixed model."""
    return [fsum(column) for column in zip(log_joint, *contributions, strict=True)]


def make_numeric_scorer(
    event_model: str, totals: GaussianTotals | BinTotals, alpha: float = 1.0
) -> NumericScorer:
    """The scorer of one event model; UsageError if the totals are not of its kind."""
    if event_model == "gaussian" and isinstance(totals, GaussianTotals):
        return GaussianScorer(totals)
    if event_model == "categorical" and isinstance(totals, BinTotals):
        return CategoricalScorer(totals, alpha)
    if event_model == "aode" and isinstance(totals, PairTotals):
        return AodeScorer(totals, alpha)
    raise UsageError(
        f"event model {event_model}",
        "the model at hand has no counts of numeric features for it",
        f"train again: nbspam train --features numeric --event-model {event_model} ...",
        "event-model",
    )
