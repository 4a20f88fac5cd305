"""Out-of-sample evidence of the mail that was counted, and the calibration learned from it.

Hides where scores of new mail come from when all mail at hand has been counted: by subtraction,
twice.  Leave-one-out uses every message but knows the rest of its campaign, before and after it;
prequential scores (as the counts stood when the message came) know only the past, but the early
ones have few counts.  Both samples together calibrate better than either, on random splits and
in time order: docs/experiments/calibration.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from nbspam.engine.accumulator import Table, select_rows, time_order
from nbspam.engine.block import Block, Ints
from nbspam.models.calibrate import fit
from nbspam.models.views import (
    Background,
    Evidence,
    Floats,
    exact_copies,
    leave_one_out,
    prequential,
    view_evidence,
)
from nbspam.settings import Settings
from nbspam.vocabulary.file import Vocabulary
from nbspam.workflow.fixed_words import with_outside, without_columns

WARM_UP_SHARE = 0.4  # of the messages in time order; the prequential scores of earlier ones are left out
MAX_LEFT_OUT = 3_000  # messages scored leave-one-out, evenly taken; more change no weight
MIN_CALIBRATION = 20  # messages of each class; below, the calibration keeps its prior
DATED_SHARE = 0.9  # of the messages, for time order to mean anything


class Sample(NamedTuple):
    """Evidence of messages as if they were new, with their classes, int64 (n_rows,)."""

    evidence: Evidence
    labels: Ints


class Seen(NamedTuple):
    """Rows, and the counts each is to be scored with; independent of the way of scoring."""

    block: Block
    background: Background
    used: Ints


def calibrate(
    block: Block, table: Table, settings: Settings, vocabulary: Vocabulary | None = None
) -> tuple[Floats, Floats, int]:
    """Weights, covariance and on how many messages they were learned; empty where nothing is averaged."""
    if not settings.averaged:
        return np.zeros(0), np.zeros((0, 0)), 0
    documents = aligned_documents(block, table)
    fixed_views = vocabulary.views if vocabulary else ""
    sample = fresh_sample(out_of_sample(block, documents, fixed_views), settings, block, fixed_views)
    if np.bincount(block.labels, minlength=len(documents)).min() < MIN_CALIBRATION:
        sample = Sample(
            Evidence(sample.evidence.evidence[:0], sample.evidence.unknown[:0]), sample.labels[:0]
        )
    weights, covariance = fit(sample.evidence, sample.labels)
    return weights, covariance, len(block) if len(sample.labels) else 0


def calibrate_on(sample: Sample) -> tuple[Floats, Floats, int]:
    """As `calibrate`, on evidence that is at hand."""
    if np.bincount(sample.labels, minlength=sample.evidence.evidence.shape[2]).min() < MIN_CALIBRATION:
        nothing = Evidence(sample.evidence.evidence[:0], sample.evidence.unknown[:0])
        sample = Sample(nothing, sample.labels[:0])
    weights, covariance = fit(sample.evidence, sample.labels)
    return weights, covariance, len(sample.labels)


def aligned_documents(block: Block, table: Table) -> Ints:
    """int64 (n_classes, n_columns): the table's document counts in the columns of a block."""
    if not len(table.keys):
        return np.zeros((len(table.documents), len(block.keys)), np.int64)
    place = np.minimum(np.searchsorted(table.keys, block.keys), len(table.keys) - 1)
    return np.where(table.keys[place] == block.keys, table.documents[:, place], 0)


def out_of_sample(block: Block, documents: Ints, fixed_views: str = "") -> Iterator[Seen]:
    """The ways in which the rows of a block can be seen as new.

    documents   : int64 (n_classes, n_columns), n_jk, the block's own messages among the counted
    fixed_views : the views that a fixed vocabulary reads; empty where every token has counts
    """
    inner = without_columns(block, np.asarray(documents.any(axis=0))) if fixed_views else block
    chosen = np.arange(0, len(inner), 1 + (len(inner) - 1) // MAX_LEFT_OUT)
    some = select_rows(inner, chosen)
    copies = exact_copies(inner, len(documents))[:, chosen]
    yield Seen(some, leave_one_out(some, documents, copies), np.arange(len(some)))
    if len(block) and np.isnan(block.dates).mean() <= 1 - DATED_SHARE:
        order = time_order(inner)
        used = order[int(len(order) * WARM_UP_SHARE) :]
        yield Seen(inner, prequential(inner, documents, order), used)


def fresh_sample(seen: Iterable[Seen], settings: Settings, block: Block, fixed_views: str = "") -> Sample:
    """The evidence under one way of scoring, of all rows that can be used."""
    evidence: list[Floats] = []
    unknown: list[Floats] = []
    labels: list[Ints] = []
    for inner, background, used in seen:
        found = view_evidence(inner, background, settings.alpha, settings.threshold)
        if fixed_views:
            found = with_outside(found, inner, select_rows(block, _places(inner, block)), fixed_views)
        evidence.append(found.evidence[used])
        unknown.append(found.unknown[used])
        labels.append(inner.labels[used].astype(np.int64))
        del inner, background, used, found  # tens of MB each, before the next are made
    return Sample(Evidence(np.concatenate(evidence), np.concatenate(unknown)), np.concatenate(labels))


def _places(inner: Block, block: Block) -> Ints:
    """Where the rows of `inner`, a stride of those of `block`, stand in it."""
    return (
        np.arange(0, len(block), 1 + (len(block) - 1) // MAX_LEFT_OUT)
        if len(inner) < len(block)
        else np.arange(len(block))
    )
