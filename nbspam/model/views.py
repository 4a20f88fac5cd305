"""View evidence of many messages, also of messages that are themselves among the counted.

The law is that of nbspam.model.evidence, called at the distinct tuples of counts.  A message that was counted is
scored at other counts: without itself and its copies or its campaign, or as they were before it came.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.model.block import Block, select_rows
from nbspam.model.calibration import rough_weights
from nbspam.model.counts import Counts, Floats, Ints, Numbers
from nbspam.model.evidence import NEARLY_ZERO, log_ratios, times_counted
from nbspam.settings import (
    ALL_VIEWS,
    AT_LEAST,
    DILUTION,
    MEASURE_ALPHA,
    MOST_TIMES,
    SAME,
    SHRINKAGE,
    STRONG,
    WEAK,
    Settings,
)
from nbspam.tokens.bag import BIGRAMS_VIEW, MEASURES_VIEW, N_VIEWS, READ_NUMBERS, VIEW_NAMES, VIEWS
from nbspam.tokens.keys import key_list
from nbspam.tokens.measures import MEASURES, N_BINS, bins_of

SLICE_ROWS = 250  # scored at a time: bounds the memory of the temporary arrays
TABLE_CELLS = 2**24  # numbers up to which a table finds distinct ones; above, they are sorted


class Seen(NamedTuple):
    """Rows, and the counts that each is scored with.

    pairs  : numbers (n_classes, n_pairs), n_jk of each pair's token
    totals : float64 (n_classes, N_VIEWS, n_rows), sum of n_jk by view
    words  : float64 (N_VIEWS, n_rows), |V| by view, NOTAWORD included
    """

    block: Block
    pairs: Numbers
    totals: Floats
    words: Floats

    def take(self, rows: Ints) -> Seen:
        """Some of the rows, in the order given."""
        pairs = self.pairs.take(self.block.pairs_of(rows), axis=1)
        return Seen(select_rows(self.block, rows), pairs, self.totals[:, :, rows], self.words[:, rows])


class Evidence(NamedTuple):
    """What the calibration sees of some messages.

    evidence : float64 (n_rows, n_evidence, n_classes), nats, class 0 is 0; all views of a kind, then those of
               the next, at last the measures
    common   : float64 (n_rows, n_views and more), the share of each view's distinct tokens that were never
               met; of three classes and more also the rough scores of class 1 and on
    labels   : int64 (n_rows,), class numbers
    kinds    : of evidence, see Settings.kinds
    """

    evidence: Floats
    common: Floats
    labels: Ints
    kinds: tuple[str, ...]

    def take(self, rows: slice | NDArray[Any]) -> Evidence:
        """Some of the rows."""
        return Evidence(self.evidence[rows], self.common[rows], self.labels[rows], self.kinds)


def views_read(settings: Settings) -> tuple[int, ...]:
    """The numbers of the views that a way of scoring reads."""
    wanted = {BIGRAMS_VIEW: settings.bigrams, MEASURES_VIEW: settings.measures}
    return tuple(number for number in view_numbers(settings.views) if wanted.get(number, True))


def view_numbers(views: str) -> tuple[int, ...]:
    """The numbers of views: of those named, separated by commas, or of `all` that are read."""
    return READ_NUMBERS if views == ALL_VIEWS else tuple(map(VIEW_NAMES.index, views.split(",")))


def as_counted(block: Block, counts: Counts) -> Seen:
    """All rows scored with the same counts: messages that were not counted."""
    documents, totals = counts.documents_of(block.keys), counts.totals
    kind = np.float64 if documents.dtype.kind == "f" else np.int32
    pairs: Numbers = np.empty((len(documents), len(block.columns)), kind)
    for k, of_class in enumerate(documents):
        pairs[k] = of_class.astype(kind)[block.columns]
    return Seen(
        block,
        pairs,
        np.repeat(totals.documents.T[:, :, None].astype(np.float64), len(block), axis=2),
        np.repeat(totals.words[:, None] + 1.0, len(block), axis=1),
    )


def leave_groups_out(block: Block, counts: Counts, groups: Ints) -> Seen:
    """Each labelled row scored as if no row of its group had been counted.

    groups : int64 (n_rows,), group numbers from 0: a message and its copies, or a campaign
    """
    seen = as_counted(block, counts)
    rows, counted = block.rows(), _sum_classes(seen.pairs) > 0  # false outside a fixed vocabulary
    lengths, n_groups = view_lengths(block, counted), int(groups.max(initial=-1)) + 1
    alone = (np.bincount(groups, minlength=n_groups) == 1)[groups][rows]
    shared = np.flatnonzero(~alone)
    cells = groups[rows[shared]] * len(block.keys) + block.columns[shared]
    _, first, cell = np.unique(cells, return_index=True, return_inverse=True)
    for k in range(len(seen.pairs)):
        own = block.labels == k
        lost = own[rows].astype(seen.pairs.dtype)
        lost[shared] = np.bincount(cell, own[rows[shared]], len(first))[cell]
        np.maximum(seen.pairs[k] - lost, 0, out=seen.pairs[k])
        seen.totals[k] -= _by_group(lengths * own[:, None], groups, n_groups)[groups].T
    if not counts.is_fixed:
        gone = counted & (_sum_classes(seen.pairs) == 0)
        alone[shared[first]] = True  # a word of several messages of a group is lost once
        gone_words = _by_group(view_lengths(block, gone & alone), groups, n_groups)
        seen.words[:] -= gone_words[groups].T
    return seen


def _by_group(values: Floats, groups: Ints, n_groups: int) -> Floats:
    """float64 (n_groups, n_values): the sums over the rows of each group."""
    return np.stack([np.bincount(groups, column, n_groups) for column in values.T], axis=1)


def before_each(block: Block, counts: Counts, order: Ints) -> Seen:
    """Each row scored with what was counted before it came (prequential).

    order : int64 (n_rows,), the rows in the order of time; every row is labelled, and those
            messages among the counted that are not in the block came before all of them
    Counts before a row are today's counts less the row's own and all later ones.
    """
    seen = as_counted(block, counts)
    lengths = view_lengths(block, _sum_classes(seen.pairs) > 0)[order]
    # Rows without gaps: of those with gaps `take` would make a whole copy each time.
    now = [*counts.documents_of(block.keys).astype(seen.pairs.dtype, order="C")]
    starts, labels = block.starts.tolist(), block.labels.tolist()
    classes = [*zip(now, seen.pairs, strict=True)]
    for row in order[::-1].tolist():  # back in time: each message is taken out, and then its tokens are read
        pairs = slice(starts[row], starts[row + 1])
        columns = block.columns[pairs].astype(np.intp)  # here: of all at once they are large
        now[labels[row]][columns] -= 1  # the tokens of a message are distinct
        for of_class, before in classes:  # a third of the time of now[:, columns]
            of_class.take(columns, out=before[pairs], mode="clip")
    np.maximum(seen.pairs, 0, out=seen.pairs)  # below 0 outside a fixed vocabulary
    for k in range(len(now)):
        later = np.cumsum((lengths * (block.labels[order] == k)[:, None])[::-1], axis=0)[::-1]
        seen.totals[k][:, order] -= later.T
    if not counts.is_fixed:  # a token's first message: unknown to it and to all earlier ones
        firsts = view_lengths(block, _sum_classes(seen.pairs) == 0)
        seen.words[:, order] -= np.cumsum(firsts[order][::-1], axis=0)[::-1].T
    return seen


def _sum_classes(values: Numbers) -> Numbers:
    """The sum over the first axis, row by row: numpy's own reduce is slow at a few long rows."""
    return reduce(np.add, values)


def view_lengths(block: Block, pairs: NDArray[np.bool_]) -> Floats:
    """float64 (n_rows, N_VIEWS): of how many distinct tokens of each row `pairs` is true."""
    cells = (block.rows() * N_VIEWS + block.views[block.columns])[pairs]
    return np.bincount(cells, minlength=len(block) * N_VIEWS).reshape(-1, N_VIEWS).astype(np.float64)


def distinct_tuples(counts: Numbers) -> tuple[list[list[float]], Ints]:
    """(tuples, place): the distinct columns of counts, and which of them each column is.

    counts : numbers >= 0 (n_classes, n);  of no columns there is a tuple of ones, which no column is
    """
    place = np.zeros(counts.shape[1], np.int64)
    first = place
    if not len(place):
        return [[1.0] * len(counts)], place
    for row in counts:
        if row.dtype.kind == "f":
            row = np.unique(row, return_inverse=True)[1]
        codes = place * (int(row.max(initial=0)) + 1) + row
        size = int(codes.max(initial=0)) + 1
        if size > TABLE_CELLS:
            _, first, place = np.unique(codes, return_index=True, return_inverse=True)
        else:
            where = np.full(size, -1)
            where[codes] = np.arange(len(codes))
            found = np.flatnonzero(where >= 0)
            first = where[found]
            where[found] = np.arange(len(found))
            place = where[codes]
    return counts[:, first].T.tolist(), place


def at_tuples(law: Callable[[list[float]], list[float]], tuples: list[list[float]]) -> Floats:
    """float64 (n_values, n_tuples): a law of one tuple of counts at each of them."""
    return np.ascontiguousarray(np.array([law(counts) for counts in tuples], np.float64).T)


def view_evidence(seen: Seen, settings: Settings) -> Evidence:
    """What the calibration sees of every row; the law is nbspam.model.evidence."""
    block, n_classes = seen.block, len(seen.pairs)
    tuples, place = distinct_tuples(seen.pairs)
    tables = [_Law(seen, tuples, alpha or NEARLY_ZERO) for alpha in settings.alphas]
    known = np.array([any(counts) for counts in tuples], bool)
    evidence = np.zeros((len(block), len(tables), len(VIEWS), n_classes))
    missing, tokens = np.zeros((2, len(block), len(VIEWS)))
    for first in range(0, len(block), SLICE_ROWS):
        rows = slice(first, min(first + SLICE_ROWS, len(block)))
        part = _Slice(block, rows, place, known, settings.threshold)
        tokens[rows], missing[rows] = part.count_tokens()
        for number, law in enumerate(tables):
            evidence[rows, number, :, 1:] = part.means(law)
    unknown = missing / np.maximum(tokens, 1)
    if settings.diluted:
        evidence *= (1.0 - unknown**DILUTION)[:, None, :, None]
    np.maximum(evidence[..., 1], -settings.ham_cap(n_classes), out=evidence[..., 1])
    found = evidence.reshape(len(block), -1, n_classes)
    rough = np.array(rough_weights(n_classes, settings.kinds))
    common = np.hstack([unknown, rough @ found[:, :, 1:]]) if len(rough) else unknown
    if settings.measures:
        found = np.concatenate([found, _measures(seen)], axis=1)
    return Evidence(found, common, block.labels.astype(np.int64), settings.kinds)


class _Law:
    """The log-likelihood ratios of all tokens under one lambda, class 0 left out.

    ratios : float64 (n_classes - 1, n_tuples), of each distinct tuple of counts
    shifts : float64 (n_classes - 1, n_rows * N_VIEWS), of the totals of each row's view
    """

    def __init__(self, seen: Seen, tuples: list[list[float]], alpha: float) -> None:
        self.ratios = at_tuples(lambda counts: log_ratios(counts, alpha)[1:], tuples)
        totals = np.concatenate([seen.totals, seen.words[None]]).transpose(0, 2, 1).reshape(len(seen.pairs) + 1, -1)
        at, place = distinct_tuples(totals)
        self.shifts = at_tuples(lambda one: log_ratios(one[:-1], alpha * one[-1])[1:], at)[:, place]


class _Slice:
    """The tokens of some rows."""

    def __init__(
        self, block: Block, rows: slice, place: Ints, known: NDArray[np.bool_], threshold: float
    ) -> None:
        self._n_rows, self._rows = rows.stop - rows.start, rows
        pairs = slice(int(block.starts[rows.start]), int(block.starts[rows.stop]))
        of_row = np.repeat(np.arange(self._n_rows), np.diff(block.starts[rows.start : rows.stop + 1]))
        views = block.views[block.columns[pairs]]
        self._cells = of_row * N_VIEWS + views
        self._place = place[pairs]
        self._known = known[self._place]
        self._times = _TIMES[np.minimum(block.counts[pairs], MOST_TIMES)]
        self._strong, self._weak = threshold * _STRONG[views], threshold * _WEAK[views]

    def count_tokens(self) -> tuple[Floats, Floats]:
        """Distinct words, and those that were never met, each float64 (n_rows, n_views)."""
        return self._by_view(None), self._by_view(np.where(self._known, 0.0, 1.0))

    def _by_view(self, weights: Floats | None, chosen: Any = slice(None)) -> Floats:
        size = self._n_rows * N_VIEWS
        return np.bincount(self._cells[chosen], weights, size).reshape(-1, N_VIEWS)[:, : len(VIEWS)]

    def means(self, law: _Law) -> Floats:
        """float64 (n_rows, n_views, n_classes - 1), nats: the means over the informative tokens."""
        shifts = law.shifts[:, self._rows.start * N_VIEWS : self._rows.stop * N_VIEWS]
        weights = [ratios[self._place] - shift[self._cells] for ratios, shift in zip(law.ratios, shifts, strict=True)]
        chosen = self._informative(_spreads(weights) * self._known)
        times = self._times[chosen]
        divisors = self._by_view(times, chosen) + SHRINKAGE
        return np.stack([self._by_view(times * one[chosen], chosen) / divisors for one in weights], axis=2)

    def _informative(self, spreads: Floats) -> Ints:
        """int64: which tokens count in their row's mean, see ViewEvidence.informative."""
        chosen, cells = spreads > self._strong, self._cells
        size, least = self._n_rows * N_VIEWS, np.tile(_AT_LEAST, self._n_rows)
        strong = np.bincount(cells[chosen], minlength=size)
        wanting = np.flatnonzero((spreads > self._weak) & (strong < least)[cells])
        if not len(wanting):
            return np.flatnonzero(chosen)
        # By cell, the largest spread first; one key, because to sort by two takes ten times as long.
        wanting = wanting[np.argsort(cells[wanting] * (spreads[wanting].max() + 1.0) - spreads[wanting])]
        sizes = np.bincount(cells[wanting], minlength=size)
        there = np.flatnonzero(sizes)
        sizes = sizes[there]
        last = np.cumsum(sizes) - sizes + np.minimum(sizes, least[there]) - 1
        bounds = np.repeat(spreads[wanting[last]] - SAME, sizes)
        chosen[wanting[spreads[wanting] >= bounds]] = True
        return np.flatnonzero(chosen)


def _spreads(weights: list[Floats]) -> Floats:
    """The largest weight less the smallest, that of class 0 among them, which is 0."""
    if len(weights) == 1:
        return np.asarray(np.abs(weights[0]))
    largest = reduce(np.maximum, weights, np.zeros_like(weights[0]))
    return np.asarray(largest - reduce(np.minimum, weights, np.zeros_like(weights[0])))


def _measures(seen: Seen) -> Floats:
    """float64 (n_rows, n_measures, n_classes), nats, class 0 is 0; 0 where a message has no known bin."""
    found = np.zeros((len(seen.block), len(MEASURES), len(seen.pairs)))
    which = _measure_of(seen.block.keys)[seen.block.columns]
    pairs = np.flatnonzero(which >= 0)
    pairs = pairs[_sum_classes(seen.pairs[:, pairs]) > 0]
    rows, which = seen.block.rows()[pairs], which[pairs]
    # Each message counts once in each measure.
    totals = np.vstack([seen.totals[:, MEASURES_VIEW, rows] / len(MEASURES), _BINS[which]])
    (tuples, place), (ends, end) = distinct_tuples(seen.pairs[:, pairs]), distinct_tuples(totals)
    ratios = at_tuples(lambda counts: log_ratios(counts, MEASURE_ALPHA), tuples)
    shifts = at_tuples(lambda one: log_ratios(one[:-1], MEASURE_ALPHA * one[-1]), ends)
    found[rows, which] = (ratios[:, place] - shifts[:, end]).T
    return found


def _measure_of(keys: Ints) -> Ints:
    """The place in MEASURES of each key; -1 for other tokens."""
    at = np.minimum(np.searchsorted(_MEASURE_KEYS, keys), len(_MEASURE_KEYS) - 1)
    return np.where(_MEASURE_KEYS[at] == keys, _MEASURE_PLACES[at], -1)


def _of_views(values: tuple[float, ...], others: float) -> Floats:
    return np.array([*values, *[others] * (N_VIEWS - len(VIEWS))])


_PLACE_OF = {key: place for place, name in enumerate(MEASURES) for key in key_list(bins_of(name))}
_MEASURE_KEYS = np.array(sorted(_PLACE_OF), np.int64)
_MEASURE_PLACES = np.array([_PLACE_OF[key] for key in sorted(_PLACE_OF)], np.int64)
_BINS = np.array([N_BINS[name] for name in MEASURES])
_TIMES = np.array([0.0, *map(times_counted, range(1, MOST_TIMES + 1))])
_STRONG, _WEAK = _of_views(STRONG, np.inf), _of_views(WEAK, np.inf)  # what is no word is in no mean
_AT_LEAST = _of_views(AT_LEAST, 0).astype(np.int64)
