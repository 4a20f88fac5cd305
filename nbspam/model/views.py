"""View evidence of many messages, also of messages that are themselves among the counted.

The law is that of nbspam.model.scorer: log(n + lambda) of each count less log(N + lambda |V|) of the
totals.  A message that was counted is scored at other counts: without itself and its copies or its campaign,
or as they were before it came.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.model.block import SLICE_PAIRS, Block
from nbspam.model.counts import Counts, Floats, Ints, take_columns
from nbspam.model.scorer import NEARLY_ZERO, damp_times, weigh_same_text
from nbspam.settings import (
    AT_LEAST,
    BERNOULLI_OUTCOMES,
    DILUTION,
    MEASURE_ALPHA,
    MOST_TIMES,
    SAME_SPREAD,
    SHRINKAGE,
    STRONG,
    WEAK,
    Settings,
)
from nbspam.tokens import bag


class ScoredRows(NamedTuple):
    """Rows, and the counts that each is scored with.

    pairs  : int32 (n_classes, n_pairs), n_jk of each pair's token
    totals : float64 (n_classes, N_VIEWS, n_rows), sum of n_jk by view; of raw, messages
    words  : float64 (N_VIEWS, n_rows), |V| by view, NOTAWORD included; of raw, 2
    """

    block: Block
    pairs: NDArray[np.int32]
    totals: Floats
    words: Floats


class Evidence(NamedTuple):
    """What the calibration sees of some messages, and what it does not see: same_text.

    evidence : float64 (n_rows, n_evidence, n_classes), nats, class 0 is 0; all views of a kind, then those of
               the next, at last the measures
    common   : float64 (n_rows, n_views), the share of each view's distinct tokens that were never met
    same_text : float64 (n_rows, n_classes), nats, see weigh_same_text
    labels   : int64 (n_rows,), class numbers
    """

    evidence: Floats
    common: Floats
    same_text: Floats
    labels: Ints

    def take(self, rows: slice | NDArray[Any]) -> Evidence:
        """Some of the rows."""
        return Evidence(self.evidence[rows], self.common[rows], self.same_text[rows], self.labels[rows])


def as_counted(block: Block, counts: Counts) -> ScoredRows:
    """All rows scored with the same counts: messages that were not counted."""
    is_same = block.keys is counts.keys
    if len(block.columns) < len(block.keys):  # few rows: the columns of others cost nothing
        places = block.columns if is_same else counts.places(block.keys[block.columns])
        pairs = take_columns(counts.documents, places).astype(np.int32)
    else:
        pairs = np.empty((len(counts.messages), len(block.columns)), np.int32)
        documents = counts.documents if is_same else take_columns(counts.documents, counts.places(block.keys))
        for of_class, row in zip(documents, pairs, strict=True):
            # Without an array of larger numbers in between.
            of_class.astype(np.int32).take(block.columns, out=row, mode="clip")
    totals = np.repeat(counts.totals.documents.T[:, :, None].astype(np.float64), len(block), axis=2)
    totals[:, bag.RAW_VIEW] = counts.messages[:, None]
    words = np.repeat(counts.totals.words[:, None] + 1.0, len(block), axis=1)
    words[bag.RAW_VIEW] = BERNOULLI_OUTCOMES
    return ScoredRows(block, pairs, totals, words)


def leave_groups_out(block: Block, counts: Counts, groups: Ints) -> ScoredRows:
    """Each labelled row scored as if no row of its group had been counted.

    groups : int64 (n_rows,), group numbers from 0: a message and its copies, a sender, or a campaign
    """
    seen = as_counted(block, counts)
    counted = _sum_classes(seen.pairs) > 0  # false outside a fixed vocabulary
    lengths = _count_in_totals(block, counted)
    n_groups = int(groups.max(initial=-1)) + 1
    is_first = np.zeros(len(counted), bool)  # of the tokens of a group: several rows may have one
    for rows in _split_groups(block, groups):
        pairs = block.find_pairs(rows)
        row_of = np.repeat(rows, np.diff(block.starts)[rows])
        cells = (groups - groups[rows[:1]]).take(row_of) * len(block.keys) + block.columns.take(pairs)
        order, is_first[pairs], cell = _number_equal(cells)
        pairs, labels = pairs.take(order), block.labels.take(row_of.take(order))
        for k, of_class in enumerate(seen.pairs):
            lost = np.bincount(cell, labels == k).astype(np.int32).take(cell)
            of_class[pairs] = np.maximum(of_class.take(pairs) - lost, 0)

    def group_sums(values: Floats) -> Floats:  # float64 (n_values, n_rows), of each row's group
        return np.stack([np.bincount(groups, column, n_groups)[groups] for column in values.T])

    for k in range(len(seen.pairs)):
        seen.totals[k] -= group_sums(lengths * (block.labels == k)[:, None])
    if not counts.is_fixed:
        gone = counted & is_first & (_sum_classes(seen.pairs) == 0)
        gone &= block.views[block.columns] != bag.RAW_VIEW
        seen.words[:] -= group_sums(count_by_view(block, gone))
    return seen


def _number_equal(values: Ints) -> tuple[Ints, NDArray[np.bool_], Ints]:
    """(order, is_first, number): an order in which equal values follow each other; then the numbers of these.

    values   : int64 (n,), 0 or more, and so small that a place fits below each
    is_first : bool (n,), by place, True for the first of equal values
    number   : int64 (n,), in this order, from 0, equal for equal values
    """
    # One sort of values with their places takes a tenth of the time of np.unique with indices.
    bits = len(values).bit_length()
    both = np.sort(values << bits | np.arange(len(values)))
    order = both & (1 << bits) - 1
    begins = np.diff(both >> bits, prepend=-1) > 0
    is_first = np.zeros(len(values), bool)
    is_first[order[begins]] = True
    return order, is_first, np.cumsum(begins) - 1


def _split_groups(block: Block, groups: Ints) -> list[Ints]:
    """The rows, a few groups at a time: some SLICE_PAIRS tokens, or a larger group alone."""
    order = np.argsort(groups, kind="stable")
    ends = np.flatnonzero(np.diff(groups[order], append=-1)) + 1
    slices = np.cumsum(np.diff(block.starts)[order])[ends - 1] // SLICE_PAIRS
    return np.split(order, ends[:-1][np.diff(slices) > 0])


def before_each(block: Block, counts: Counts) -> ScoredRows:
    """Each row scored with what was counted before it came (prequential).

    block : the rows in the order of time; every row is labelled, and those messages among the counted that
            are not in the block came before all of them
    Counts before a row are today's counts less the row's own and all later ones.
    """
    seen = as_counted(block, counts)
    lengths = _count_in_totals(block, _sum_classes(seen.pairs) > 0)
    # Rows without gaps: of those with gaps `take` would make a whole copy each time.
    documents = take_columns(counts.documents, counts.places(block.keys))
    now = [*documents.astype(np.int32, order="C")]
    starts, labels = block.starts.tolist(), block.labels.tolist()
    classes = [*zip(now, seen.pairs, strict=True)]
    # Back in time: each message is taken out, and then its tokens are read.
    for row in reversed(range(len(block))):
        pairs = slice(starts[row], starts[row + 1])
        columns = block.columns[pairs].astype(np.intp)  # here: of all at once they are large
        now[labels[row]][columns] -= 1  # the tokens of a message are distinct
        for of_class, before in classes:  # a third of the time of now[:, columns]
            of_class.take(columns, out=before[pairs], mode="clip")
    np.maximum(seen.pairs, 0, out=seen.pairs)  # below 0 outside a fixed vocabulary
    for k in range(len(now)):
        later = np.cumsum((lengths * (block.labels == k)[:, None])[::-1], axis=0)[::-1]
        seen.totals[k] -= later.T
    if not counts.is_fixed:  # a token's first message: unknown to it and to all earlier ones
        is_first = _sum_classes(seen.pairs) == 0
        firsts = count_by_view(block, is_first & (block.views[block.columns] != bag.RAW_VIEW))
        seen.words[:] -= np.cumsum(firsts[::-1], axis=0)[::-1].T
    return seen


def _sum_classes(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """The sum over the first axis, row by row: numpy's own reduce is slow at a few long rows."""
    return reduce(np.add, values)


def _count_in_totals(block: Block, pairs: NDArray[np.bool_]) -> Floats:
    """float64 (n_rows, N_VIEWS): what each row adds to the totals of its class, see ScoredRows."""
    lengths = count_by_view(block, pairs)
    lengths[:, bag.RAW_VIEW] = 1.0
    return lengths


def count_by_view(block: Block, pairs: NDArray[np.bool_]) -> Floats:
    """float64 (n_rows, N_VIEWS): of how many distinct tokens of each row `pairs` is true."""
    lengths = np.zeros((len(block), bag.N_VIEWS))
    for chosen in block.slices():
        starts = block.starts[chosen.start : chosen.stop + 1]
        span = slice(starts[0], starts[-1])
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        cells = (rows * bag.N_VIEWS + block.views.take(block.columns[span]))[pairs[span]]
        sums = np.bincount(cells, minlength=(len(starts) - 1) * bag.N_VIEWS)
        lengths[chosen] = sums.reshape(-1, bag.N_VIEWS)
    return lengths


def compute_evidence(seen: ScoredRows, settings: Settings) -> Evidence:
    """What the calibration sees of every row; the law is nbspam.model.scorer.  settings : see Settings.of"""
    block, n_classes = seen.block, len(seen.pairs)
    arrays = zip(*[_Slice(seen, rows, settings).results() for rows in block.slices()], strict=True)
    evidence, unknown, measures = (np.concatenate(slices) for slices in arrays)
    if settings.diluted:
        evidence *= (1.0 - unknown**DILUTION)[:, None, :, None]
    np.maximum(evidence[..., 1], -settings.ham_cap, out=evidence[..., 1])
    rows_of_evidence = np.concatenate([evidence.reshape(len(block), -1, n_classes), measures], axis=1)
    same_text = _weigh_same_texts(seen, settings)
    return Evidence(rows_of_evidence, unknown, same_text, block.labels.astype(np.int64))


def _weigh_same_texts(seen: ScoredRows, settings: Settings) -> Floats:
    """float64 (n_rows, n_classes), nats: what texts add that were learned."""
    block, n_classes = seen.block, len(seen.pairs)
    pairs = np.flatnonzero(block.views[block.columns] == bag.SIGNATURE_VIEW)
    rows = np.searchsorted(block.starts, pairs, "right") - 1
    is_met = seen.pairs[:, pairs] > 0
    is_met &= is_met.sum(axis=0) == 1
    shared = np.stack([np.bincount(rows, row, len(block)) for row in is_met], axis=1).astype(int)
    n_tokens = np.bincount(rows, minlength=len(block))
    nats = np.zeros((len(block), n_classes))
    for row in np.flatnonzero(shared.any(axis=1)).tolist():
        nats[row] = weigh_same_text(shared[row].tolist(), int(n_tokens[row]), settings.capped)
    return nats


def log_counts(counts: NDArray[np.int32], pseudo: float) -> Floats:
    """log(count + pseudo), nats: nbspam.model.scorer.log_ratios is the difference of two classes.

    Each value is computed once: counts are small numbers that come again and again.
    """
    most = int(counts.max(initial=0))
    if most > counts.size:
        return np.asarray(np.log(counts + pseudo))
    return np.asarray(np.log(np.arange(most + 1) + pseudo).take(counts))


class _Slice:
    """The known tokens of some rows: slices bound the memory of the temporary arrays."""

    def __init__(self, seen: ScoredRows, rows: slice, settings: Settings) -> None:
        block, self._settings = seen.block, settings
        self._n_rows = rows.stop - rows.start
        pairs = slice(int(block.starts[rows.start]), int(block.starts[rows.stop]))
        row_of = np.repeat(np.arange(self._n_rows), np.diff(block.starts[rows.start : rows.stop + 1]))
        columns, counts = block.columns[pairs], seen.pairs[:, pairs]
        views = block.views.take(columns)
        cells = np.asarray(row_of * bag.N_VIEWS + views, np.int64)
        known = np.flatnonzero(_sum_classes(counts))
        self._keys, self._columns = block.keys, columns.take(known)
        self._views, self._cells = views.take(known), cells.take(known)
        self._counts, self._times = counts.take(known, axis=1), block.counts[pairs].take(known)
        self._totals, self._words = seen.totals[:, :, rows], seen.words[:, rows]
        self._every = self._by_view(cells)
        self._strong = (settings.threshold * _STRONG).take(self._views)
        self._weak = (settings.threshold * _WEAK).take(self._views)

    def results(self) -> tuple[Floats, Floats, Floats]:
        """Evidence of words, the share of tokens that were never met, and the evidence of the measures.

        Evidence is float64 (n_rows, n_kinds of words, n_views, n_classes), not diluted; shares (n_rows,
        n_views).
        """
        evidence = np.zeros((self._n_rows, len(self._settings.alphas), len(bag.VIEWS), len(self._counts)))
        for number, alpha in enumerate(self._settings.alphas):
            evidence[:, number, :, 1:] = self._means(self._weights(alpha or NEARLY_ZERO))
        never = self._every - self._by_view(self._cells)
        return evidence, never / np.maximum(self._every, 1), self._measures()

    def _by_view(self, cells: Ints, weights: Floats | None = None) -> Floats:
        """float64 (n_rows, n_views): sums by view of each row; without weights of ones."""
        sums = np.bincount(cells, weights, self._n_rows * bag.N_VIEWS)
        return np.asarray(sums.reshape(-1, bag.N_VIEWS)[:, : len(bag.VIEWS)], np.float64)

    def _weights(self, alpha: float) -> Floats:
        """The log-likelihood ratios of the known tokens against class 0, float64 (n_classes - 1, n_known)."""
        logs = log_counts(self._counts, alpha)
        totals = np.log(self._totals + alpha * self._words)
        for k in range(1, len(logs)):
            logs[k] -= logs[0]
            logs[k] -= (totals[k] - totals[0]).T.ravel().take(self._cells)
        return logs[1:]

    def _means(self, weights: Floats) -> Floats:
        """float64 (n_rows, n_views, n_classes - 1), nats: the means over the informative tokens."""
        # The largest weight less the smallest, that of class 0 among them, which is 0.
        spreads = np.maximum(reduce(np.maximum, weights), 0.0) - np.minimum(reduce(np.minimum, weights), 0.0)
        chosen = self._informative(spreads)
        cells, times = self._cells.take(chosen), _TIMES.take(self._times.take(chosen), mode="clip")
        divisors = self._by_view(cells, times) + SHRINKAGE
        sums = [self._by_view(cells, times * of_class.take(chosen)) for of_class in weights]
        return np.stack(sums, axis=2) / divisors[:, :, None]

    def _informative(self, spreads: Floats) -> Ints:
        """int64: which tokens count in their row's mean, see ViewEvidence.informative."""
        cells, n_cells = self._cells, self._n_rows * bag.N_VIEWS
        chosen = spreads > self._strong
        least = np.tile(_AT_LEAST, self._n_rows)
        is_short = np.bincount(cells.take(np.flatnonzero(chosen)), minlength=n_cells) < least
        weak = np.flatnonzero(spreads > self._weak)
        weak = weak.compress(is_short.take(cells.take(weak)))
        if not len(weak):
            return np.flatnonzero(chosen)
        # By cell, the largest spread first; one key, because to sort by two takes ten times as long.
        weak = weak[np.argsort(cells[weak] * (spreads[weak].max() + 1.0) - spreads[weak])]
        sizes = np.bincount(cells[weak], minlength=n_cells)
        short = np.flatnonzero(sizes)
        sizes = sizes[short]
        firsts = np.cumsum(sizes) - sizes
        last = firsts + np.minimum(sizes, least[short]) - 1  # of those that a cell takes
        bounds = np.repeat(spreads[weak[last]] - SAME_SPREAD, sizes)
        chosen[weak[spreads[weak] >= bounds]] = True
        return np.flatnonzero(chosen)

    def _measures(self) -> Floats:
        """float64 (n_rows, n_measures, n_classes), nats, class 0 is 0; 0 where a row has no known bin."""
        if not self._settings.measures:
            return np.zeros((self._n_rows, 0, len(self._counts)))
        evidence = np.zeros((self._n_rows, len(bag.MEASURE_NAMES), len(self._counts)))
        pairs = np.flatnonzero(self._views == bag.MEASURES_VIEW)
        keys = self._keys[self._columns[pairs]].tolist()
        which = np.array([_MEASURE_OF.get(key, -1) for key in keys], np.int64)
        pairs, which = pairs[which >= 0], which[which >= 0]
        rows = self._cells[pairs] // bag.N_VIEWS
        # Each message counts once in each measure.
        messages = self._totals[:, bag.MEASURES_VIEW, rows] / len(bag.MEASURE_NAMES)
        logs = log_counts(self._counts[:, pairs], MEASURE_ALPHA)
        logs -= np.log(messages + MEASURE_ALPHA * _BINS[which])
        evidence[rows, which] = (logs - logs[0]).T
        return evidence


_MEASURE_OF = {
    key: place for place, name in enumerate(bag.MEASURE_NAMES) for key in bag.hash_tokens(bag.list_bins(name))
}
_BINS = np.array([bag.N_BINS[name] for name in bag.MEASURE_NAMES])
_TIMES = np.array([0.0, *map(damp_times, range(1, MOST_TIMES + 1))])
# By view: NOTAWORD, measures and signatures, which are last, are in no mean.
_STRONG, _WEAK = (np.array([*some, *[np.inf] * (bag.N_VIEWS - len(bag.VIEWS))]) for some in (STRONG, WEAK))
_AT_LEAST = np.array([*AT_LEAST, *[0] * (bag.N_VIEWS - len(bag.VIEWS))])
