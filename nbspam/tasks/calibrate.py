"""Out-of-sample evidence of the mail that was counted, and the calibration learned from it.

Hides where scores of new mail come from when all mail at hand has been counted: by subtraction,
twice.  Leave-one-out uses every message but knows the rest of its campaign, before and after it;
prequential scores (as the counts stood when the message came) know only the past, but the early
ones have few counts.  Both samples together calibrate better than either, on random splits and
in time order: docs/decisions.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.accumulator import Table, is_dated, select_rows, time_order
from nbspam.corpus.block import Block, Ints
from nbspam.corpus.blocks import without_columns
from nbspam.corpus.executor import start_shards
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.model import priors
from nbspam.model.calibrate import fit
from nbspam.model.calibration import Learner
from nbspam.model.views import (
    Background,
    Evidence,
    Floats,
    exact_copies,
    fixed_background,
    leave_one_out,
    prequential,
    view_evidence,
)
from nbspam.settings import Settings
from nbspam.tasks.fixed_words import Fixed, fixed_of, outside_tokens
from nbspam.tokens.bag import N_VIEWS

# How much of each sample: docs/decisions.md.
WARM_UP_SHARE = 0.4  # of the messages in time order; the prequential scores of earlier ones are left out
MAX_LEFT_OUT = 3_000  # messages scored leave-one-out beside prequential ones; where there are none: all
# Messages of each of two classes; below, the calibration keeps its prior.  Other classes may have fewer: most
# weights are shared by all (docs/decisions.md).
MIN_CALIBRATION = 5


class Sample(NamedTuple):
    """Evidence of messages as if they were new, with their classes, int64 (n_rows,)."""

    evidence: Evidence
    labels: Ints


class Seen(NamedTuple):
    """Rows as if they were new, and the counts each is to be scored with; independent of the way of scoring.

    rows : int64, where the rows of `block` stand in the block that they were taken from
    """

    block: Block
    background: Background
    rows: Ints


Way = Callable[[Block, Ints, Fixed | None], Seen]


class Fitted(NamedTuple):
    """A calibration: weights and their covariance, and on how many messages it was learned."""

    weights: Floats
    covariance: Floats
    messages: int


NOT_FITTED = Fitted(np.zeros(0), np.zeros((0, 0)), 0)  # where nothing is averaged


def calibrate(block: Block, table: Table, settings: Settings, vocabulary: Vocabulary | None = None) -> Fitted:
    """The calibration learned on the rows of a block.  settings : those of averaged views"""
    with calibration_begun(block, table, settings, vocabulary) as finish:
        return finish()


@contextlib.contextmanager
def calibration_begun(
    block: Block, table: Table, settings: Settings, vocabulary: Vocabulary | None = None, jobs: int = 1
) -> Iterator[Callable[[], Fitted]]:
    """What `calibrate` gives, worked out by other processes until it is asked for if `jobs` allows it."""
    fixed = fixed_of(vocabulary)
    documents = aligned_documents(block, table)
    ways = ways_to_see(block)

    def sample(way: Way) -> Sample:
        return fresh_sample(way(block, documents, fixed), settings, block, fixed)

    with start_shards(sample, ways, min(jobs, len(ways))) as samples:
        yield lambda: calibrate_on(joined(list(samples)), len(block))


def calibrate_on(sample: Sample, messages: int | None = None) -> Fitted:
    """As `calibrate`, on evidence that is at hand.

    messages : how many the evidence is of.  None: one row a message
    """
    if not can_calibrate(np.bincount(sample.labels, minlength=sample.evidence.evidence.shape[2]).tolist()):
        sample, messages = Sample(sample.evidence.of_rows(slice(0)), sample.labels[:0]), 0
    weights, covariance = fit(sample.evidence, sample.labels)
    return Fitted(weights, covariance, len(sample.labels) if messages is None else messages)


def can_calibrate(messages: Sequence[int]) -> bool:
    """Whether there are messages enough, by class, to learn a calibration from."""
    return sorted(messages)[-2] >= MIN_CALIBRATION


def aligned_documents(block: Block, table: Table) -> Ints:
    """int64 (n_classes, n_columns): the table's document counts in the columns of a block."""
    if not len(table.keys):
        return np.zeros((len(table.documents), len(block.keys)), np.int64)
    place = np.minimum(np.searchsorted(table.keys, block.keys), len(table.keys) - 1)
    return np.where(table.keys[place] == block.keys, table.documents.take(place, axis=1), 0)


def ways_to_see(block: Block) -> list[Way]:
    """How the rows of a block can be seen as new; prequential, where dates are known, comes last."""
    return [see_left_out, see_as_they_came] if is_dated(block.dates) else [see_left_out]


def see_left_out(block: Block, documents: Ints, fixed: Fixed | None = None) -> Seen:
    """Rows, each scored without itself and its exact copies: all, or some evenly taken if others come beside.

    documents : int64 (n_classes, n_columns), n_jk, the block's own messages among the counted
    fixed     : a fixed vocabulary; None where every token has counts
    """
    inner = _inner(block, documents, fixed)
    most = MAX_LEFT_OUT if is_dated(inner.dates) else len(inner)
    rows = np.arange(0, len(inner), max(1, -(-len(inner) // max(1, most))))
    some = select_rows(inner, rows)
    copies = exact_copies(inner, len(documents))[:, rows]
    return Seen(some, _all_words(leave_one_out(some, documents, copies), fixed), rows)


def see_as_they_came(block: Block, documents: Ints, fixed: Fixed | None = None) -> Seen:
    """The later rows, each scored with what was counted before it came; parameters as for see_left_out."""
    inner = _inner(block, documents, fixed)
    order = time_order(inner)
    rows = order[int(len(order) * WARM_UP_SHARE) :]
    background = _all_words(prequential(inner, documents, order), fixed)
    return Seen(select_rows(inner, rows), background.of_rows(inner, rows), rows)


def see_as_counted(block: Block, documents: Ints, fixed: Fixed | None = None) -> Seen:
    """All rows, none of which was counted, each scored with all counts; parameters as for see_left_out."""
    inner = _inner(block, documents, fixed)
    background = _all_words(fixed_background(inner, documents), fixed)
    return Seen(inner, background, np.arange(len(inner)))


def _inner(block: Block, documents: Ints, fixed: Fixed | None) -> Block:
    return without_columns(block, np.asarray(documents.any(axis=0))) if fixed else block


def _all_words(background: Background, fixed: Fixed | None) -> Background:
    """The words of a fixed vocabulary are as many before the first message as after the last."""
    if fixed is None:
        return background
    return background._replace(words=np.broadcast_to(fixed.words[:, None] + 1.0, background.words.shape))


def fresh_sample(seen: Seen, settings: Settings, block: Block, fixed: Fixed | None = None) -> Sample:
    """The evidence of the seen rows of a block under one way of scoring."""
    outside = None
    if fixed:
        outside = outside_tokens(seen.block, select_rows(block, seen.rows), fixed.views)
    found = view_evidence(seen.block, seen.background, settings, outside)
    return Sample(found, seen.block.labels.astype(np.int64))


def sample_beside(
    block: Block,
    documents: NDArray[Any],
    totals: Floats,
    words: Ints,
    settings: Settings,
    fixed: Fixed | None = None,
) -> Sample:
    """The evidence of the rows of a block, as new as can be, by a model that has more tokens than the block.

    documents : numbers (n_classes, n_columns), n_jk of the model, the block's own messages among the counted
    totals    : float64 (N_VIEWS, n_classes), N_k of all that the model has
    words     : int64 (N_VIEWS,), |V| of it; that of a fixed vocabulary is known without
    """
    seen = ways_to_see(block)[-1](block, documents, fixed)
    for k, counts in enumerate(documents):
        inside = np.bincount(block.views, counts, N_VIEWS)
        seen.background.totals[k] += (totals[:, k] - inside)[:, None]
    if fixed is None:
        met = np.bincount(block.views[documents.any(axis=0)], minlength=N_VIEWS)
        seen.background.words[...] += (words - met)[:, None]
    return fresh_sample(seen, settings, block, fixed)


def learn_sample(learner: Learner, sample: Sample, counted: float, first: int = 0) -> None:
    """A calibration goes on learning, in place, from the rows of a sample from the first on.

    counted : messages that the model had counted before those of the sample
    """
    for row in range(first, len(sample.labels)):
        evidence, common = sample.evidence.evidence[row].tolist(), sample.evidence.common[row].tolist()
        learner.learn(evidence, common, int(sample.labels[row]), counted + row)


def joined(samples: list[Sample]) -> Sample:
    """All rows of several samples."""
    evidence = Evidence(
        np.concatenate([sample.evidence.evidence for sample in samples]),
        np.concatenate([sample.evidence.common for sample in samples]),
        samples[0].evidence.kinds,
    )
    return Sample(evidence, np.concatenate([sample.labels for sample in samples]))


def prior_shift(settings: Settings, messages: Ints, classes: tuple[str, ...]) -> Floats:
    """float64 (n_classes,), nats: scoring.priors.prior_shift under a way of scoring."""
    counts = messages.tolist()
    return np.array(priors.prior_shift(priors.log_priors_of(settings, counts, classes), counts))
