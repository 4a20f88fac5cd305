"""View evidence in bulk, also of messages that are themselves among the counted.

Hides how the counts that a message must be scored with are had by subtraction: without the
message itself (leave-one-out), or as they stood before it came (prequential).  The law is that
of nbspam.model.evidence, which scores one message; a test holds them together.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.block import Block, Ints
from nbspam.model.binned_features import measure_evidence
from nbspam.model.calibration import rough_weights
from nbspam.settings import AT_LEAST, DILUTION, MOST_TIMES, SAME, SHRINKAGE, STRONG, WEAK, Settings
from nbspam.tokens.bag import MEASURES_VIEW, N_VIEWS, VIEWS

Floats = NDArray[np.float64]
SLICE_ROWS = 250


class Background(NamedTuple):
    """The counts that rows are scored with.

    pairs  : numbers (n_classes, n_pairs), n_jk of each pair's token, see pair_type
    totals : float64 (n_classes, N_VIEWS, n_rows), sum of n_jk by view
    words  : float64 (N_VIEWS, n_rows), |V| by view, NOTAWORD included
    """

    pairs: NDArray[Any]
    totals: Floats
    words: Floats

    def of_rows(self, block: Block, rows: Ints) -> Background:
        """The counts of some rows of the block, in the order given."""
        pairs = self.pairs.take(block.pairs_of(rows), axis=1)
        return Background(pairs, self.totals[:, :, rows], self.words[:, rows])


class Evidence(NamedTuple):
    """What the calibration sees.

    evidence : float64 (n_rows, n_evidence, n_classes), nats, class 0 is 0; all views of a kind, then those of
               the next, at last the measures
    common   : float64 (n_rows, n_views and more), the share of each view's distinct tokens that were never
               met; of three classes and more also the rough scores of class 1 and on
    kinds    : of evidence, see Settings.kinds
    """

    evidence: Floats
    common: Floats
    kinds: tuple[str, ...]

    def of_rows(self, rows: slice | Ints) -> Evidence:
        """Some rows of it."""
        return Evidence(self.evidence[rows], self.common[rows], self.kinds)


def pair_type(documents: NDArray[Any]) -> type[np.int32] | type[np.float64]:
    """What the counts of pairs are kept in: those that stand on a prior model are no whole numbers."""
    return np.float64 if documents.dtype.kind == "f" else np.int32


def fixed_background(block: Block, documents: NDArray[Any]) -> Background:
    """All rows scored with the same counts: messages that were not counted.

    documents : numbers (n_classes, n_columns), n_jk
    """
    n_classes = len(documents)
    totals = np.zeros((n_classes, N_VIEWS))
    for k in range(n_classes):
        totals[k] = np.bincount(block.views, weights=documents[k], minlength=N_VIEWS)
    words = np.bincount(block.views[documents.any(axis=0)], minlength=N_VIEWS) + 1.0
    number = pair_type(documents)
    pairs: NDArray[Any] = np.empty((n_classes, len(block.columns)), number)
    for k in range(n_classes):
        pairs[k] = documents[k].astype(number)[block.columns]
    return Background(
        pairs,
        np.repeat(totals[:, :, None], len(block), axis=2),
        np.repeat(words[:, None], len(block), axis=1),
    )


def leave_one_out(block: Block, documents: NDArray[Any], copies: Ints | None = None) -> Background:
    """Each labelled row scored as if neither it nor an exact copy of it had been counted.

    copies : int64 (n_classes, n_rows), how often each row's message was counted, itself included;
             None: once, in its own class
    """
    background = fixed_background(block, documents)
    if copies is None:
        copies = (block.labels == np.arange(len(documents))[:, None]).astype(np.int64)
    lengths = np.diff(block.starts)
    for seen, of_class in zip(background.pairs, copies, strict=True):  # one at a time: they are large
        seen -= np.repeat(of_class.astype(seen.dtype), lengths)
    background.totals[:] -= copies[:, None, :] * view_lengths(block).T
    alone = np.repeat(copies.any(axis=0), lengths) & (_over_classes(np.add, background.pairs) == 0)
    background.words[:] -= view_lengths(block, alone).T
    return background


def exact_copies(block: Block, n_classes: int) -> Ints:
    """int64 (n_classes, n_rows): how many rows of each class are the same message as a row."""
    _, which = np.unique(block.digests(), return_inverse=True)
    counted = np.zeros((n_classes, int(which.max(initial=-1)) + 1), np.int64)
    labelled = np.flatnonzero(block.labels >= 0)
    np.add.at(counted, (block.labels[labelled], which[labelled]), 1)
    return counted[:, which]


def prequential(block: Block, documents: NDArray[Any], order: Ints) -> Background:
    """Each row scored with what was counted before it came.

    order : int64 (n_rows,), the rows in the order of time; every row is labelled, and those
            messages among `documents` that are not in the block came before all of them
    Counts before a row are today's counts less the row's own and all later ones.
    """
    background = fixed_background(block, documents)
    n_classes = len(documents)
    # Rows without gaps: of those with gaps `take` would make a whole copy each time.
    counts = [*documents.astype(pair_type(documents), order="C")]
    starts, labels = block.starts.tolist(), block.labels.tolist()
    classes = [*zip(counts, background.pairs, strict=True)]
    for row in order[::-1].tolist():  # back in time: each message is taken out, and then its tokens are read
        pairs = slice(starts[row], starts[row + 1])
        columns = block.columns[pairs].astype(np.intp)  # here: of all at once they are large
        counts[labels[row]][columns] -= 1  # the tokens of a message are distinct
        for of_class, seen in classes:  # a third of the time of counts[:, columns]
            of_class.take(columns, out=seen[pairs], mode="clip")
    lengths = view_lengths(block)[order]
    own = block.labels[order]
    for k in range(n_classes):
        later = np.cumsum((lengths * (own == k)[:, None])[::-1], axis=0)[::-1]
        background.totals[k][:, order] -= later.T
    # The token's first message: unknown to it and to all earlier ones.
    firsts = view_lengths(block, _over_classes(np.add, background.pairs) == 0)
    background.words[:, order] -= np.cumsum(firsts[order][::-1], axis=0)[::-1].T
    return background


def _over_classes(operation: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
    """The first axis folded row by row: a few long rows are what numpy's own reduce is slow at."""
    return reduce(operation, values)


def view_lengths(block: Block, pairs: NDArray[np.bool_] | None = None) -> Floats:
    """float64 (n_rows, N_VIEWS), distinct tokens of each row, or those of them where `pairs` is true."""
    cells = np.repeat(np.arange(0, len(block) * N_VIEWS, N_VIEWS), np.diff(block.starts))
    cells += block.views[block.columns]
    cells = cells if pairs is None else cells[pairs]
    return np.bincount(cells, minlength=len(block) * N_VIEWS).reshape(-1, N_VIEWS).astype(np.float64)


def view_evidence(
    block: Block, background: Background, settings: Settings, outside: Floats | None = None
) -> Evidence:
    """What the calibration sees of every row; the law is nbspam.model.evidence.

    outside : float64 (n_rows, n_views), distinct tokens of each row that the block leaves out because the
              model has no counts of them; None: it leaves none out
    """
    parts = [
        _slice_evidence(block, background, first, min(first + SLICE_ROWS, len(block)), settings)
        for first in range(0, max(1, len(block)), SLICE_ROWS)
    ]
    evidence, measures, met, missing = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    if outside is not None:
        missing = missing + outside
    unknown = missing / np.maximum(met + missing, 1)
    if settings.diluted:
        evidence *= (1.0 - unknown**DILUTION)[:, None, :, None]
    np.maximum(evidence[..., 1], -settings.ham_cap(evidence.shape[3]), out=evidence[..., 1])
    of_words = evidence.reshape(len(block), -1, evidence.shape[3])
    found = np.concatenate([of_words, measures], axis=1)
    rough = np.array(rough_weights(evidence.shape[3], settings.kinds))
    common = np.hstack([unknown, rough @ of_words[:, :, 1:]]) if len(rough) else unknown
    return Evidence(found, common, settings.kinds)


class _Slice(NamedTuple):
    """What is known of some rows.

    evidence     : float64 (n_rows, n_kinds of words, n_views, n_classes), nats, not diluted
    measures     : float64 (n_rows, n_measures, n_classes), nats; no measures where they are not asked for
    met, missing : float64 (n_rows, n_views), distinct words that the model met, and others
    """

    evidence: Floats
    measures: Floats
    met: Floats
    missing: Floats


def _slice_evidence(
    block: Block, background: Background, first: int, last: int, settings: Settings
) -> _Slice:
    """The evidence of rows first .. last - 1; slices bound the memory of the temporary arrays."""
    n_classes, n_rows = len(background.pairs), last - first
    pairs = slice(int(block.starts[first]), int(block.starts[last]))
    rows = np.repeat(np.arange(n_rows), np.diff(block.starts[first : last + 1]))
    views = block.views[block.columns[pairs]].astype(np.int64)
    cells = rows * N_VIEWS + views
    shape = (n_rows, N_VIEWS)
    counts = _as_places(background.pairs[:, pairs])
    missing = np.flatnonzero(_over_classes(np.add, counts) <= 0)
    limits = _limits(settings.threshold, views, n_rows)
    times = 1.0 + np.log(np.minimum(block.counts[pairs], MOST_TIMES))
    evidence = np.zeros((n_rows, len(settings.alphas), N_VIEWS, n_classes))
    for number, alpha in enumerate(settings.alphas):
        weights = _weights(background, counts, first, last, alpha or 1e-12, cells)
        evidence[:, number, :, 1:] = _means(weights, times, missing, limits, cells, shape)
    measures = np.zeros((n_rows, 0, n_classes))
    if settings.measures:
        some = np.flatnonzero(views == MEASURES_VIEW)
        keys, totals = block.keys[block.columns[pairs][some]], background.totals[:, MEASURES_VIEW, first:last]
        measures = measure_evidence(counts[:, some], totals, keys, rows[some])
    tokens = np.bincount(cells, minlength=n_rows * N_VIEWS).reshape(shape).astype(np.float64)
    never = np.bincount(cells[missing], minlength=n_rows * N_VIEWS).reshape(shape).astype(np.float64)
    words = slice(len(VIEWS))
    return _Slice(evidence[:, :, words], measures, (tokens - never)[:, words], never[:, words])


def _means(
    weights: Floats, times: Floats, missing: Ints, limits: _Limits, cells: Ints, shape: tuple[int, int]
) -> Floats:
    """float64 (n_rows, n_views, n_classes - 1), nats: the means over the informative tokens.

    times : how often each token counts in its mean, see nbspam.model.evidence.times_counted
    """
    size = shape[0] * shape[1]
    spreads = _over_classes(np.maximum, weights) - _over_classes(np.minimum, weights)
    spreads[missing] = 0.0
    informative = _informative(spreads, limits, cells, size)
    some = cells[informative]
    times = times[informative]
    divisors = np.bincount(some, weights=times, minlength=size) + SHRINKAGE
    sums = [
        np.bincount(some, weights=times * of_class[informative], minlength=size) for of_class in weights[1:]
    ]
    return np.stack([(total / divisors).reshape(shape) for total in sums], axis=2)


def _as_places(counts: NDArray[Any]) -> NDArray[Any]:
    """Counts in the type that arrays are indexed by; those on a prior model or aged are no integers."""
    return counts if counts.dtype.kind == "f" else counts.astype(np.intp)


def _weights(
    background: Background, counts: NDArray[Any], first: int, last: int, alpha: float, cells: Ints
) -> Floats:
    """l_jk - l_j0, see nbspam.model.evidence, nats: float64 (n_classes, n_pairs) of a slice of rows."""
    totals = np.log(background.totals[:, :, first:last] + alpha * background.words[:, first:last])
    logs = _logs(counts, alpha)
    for k in range(1, len(logs)):
        logs[k] -= logs[0]
        logs[k] -= (totals[k] - totals[0]).T.ravel()[cells]
    logs[0] = 0.0
    return logs


def _logs(counts: NDArray[Any], alpha: float) -> Floats:
    """log(count + alpha), each value worked out once: counts are small numbers that come again and again."""
    most = int(counts.max(initial=0))
    if counts.dtype.kind == "f" or most > counts.size:
        return np.asarray(np.log(counts + alpha))
    return np.asarray(np.log(np.arange(most + 1) + alpha)[counts])


class _Limits(NamedTuple):
    """What the spread of each pair's token has to exceed, see ViewEvidence.informative.

    strong, weak : float64 (n_pairs,), nats
    least        : int64 (n_rows * n_views,), so many of the largest spreads over `weak` count at least
    """

    strong: Floats
    weak: Floats
    least: Ints


def _limits(threshold: float, views: Ints, n_rows: int) -> _Limits:
    others = N_VIEWS - len(VIEWS)  # what is no word is in no average
    strong, weak = (threshold * np.array(one + (np.inf,) * others)[views] for one in (STRONG, WEAK))
    return _Limits(strong, weak, np.array((AT_LEAST + (0,) * others) * n_rows))


def _informative(spreads: Floats, limits: _Limits, cells: Ints, size: int) -> Ints:
    """int64: the places of those tokens that count in their row's average, see ViewEvidence.informative.

    cells : which average each would count in, 0 to size - 1, views within rows
    """
    chosen = spreads > limits.strong
    strong = np.bincount(cells[np.flatnonzero(chosen)], minlength=size)
    wanting = np.flatnonzero((spreads > limits.weak) & (strong < limits.least)[cells])
    if not len(wanting):
        return np.flatnonzero(chosen)
    # By cell, the largest spread first; one key, because to sort by two takes ten times as long.
    wanting = wanting[np.argsort(cells[wanting] * (spreads[wanting].max() + 1.0) - spreads[wanting])]
    sizes = np.bincount(cells[wanting], minlength=size)
    there = np.flatnonzero(sizes)
    sizes = sizes[there]
    last = np.cumsum(sizes) - sizes + np.minimum(sizes, limits.least[there]) - 1
    bounds = np.repeat(spreads[wanting[last]] - SAME, sizes)
    chosen[wanting[spreads[wanting] >= bounds]] = True
    return np.flatnonzero(chosen)
