"""Labelled mail -> a model file.

The use case: read and count in parallel, calibrate on a sample of what was read, write one file.
Hides the order of the steps; each step is another room's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from nbspam.engine.accumulator import Accumulator, Table, time_order
from nbspam.engine.block import Block, Ints
from nbspam.engine.corpus import split_texts
from nbspam.engine.reading import Skipped, read_blocks
from nbspam.errors import BadDataError, NoInputError
from nbspam.models.calibrate import fit
from nbspam.models.views import Background, Evidence, Floats, leave_one_out, prequential, view_evidence
from nbspam.scoring.calibration import feature_names
from nbspam.settings import Settings
from nbspam.sources import Item
from nbspam.store.writer import NewModel, new_model
from nbspam.tokens.bag import VIEWS
from nbspam.vocabulary.file import ALL_VIEWS as ALL
from nbspam.vocabulary.file import Vocabulary
from nbspam.workflow.fixed_words import (
    sorted_keys,
    view_numbers,
    vocabulary_settings,
    with_all_words,
    with_outside,
    without_columns,
)

# Prequential scores need messages counted before them; the first tenth only warms up.
WARM_UP_SHARE = 0.1
MIN_CALIBRATION = 20  # messages of each class; below, the calibration keeps its prior
DATED_SHARE = 0.9  # of the messages, for time order to mean anything

Progress = Callable[[int, int], None]  # messages, bytes


class Trained(NamedTuple):
    """What training did: for the summary that people read."""

    path: str
    classes: tuple[str, ...]
    messages: tuple[int, ...]
    tokens: int
    size_bytes: int
    skipped: Skipped
    calibrated_on: int


def train(
    items: Iterable[Item],
    classes: tuple[str, ...],
    path: str,
    settings: Settings,
    jobs: int = 1,
    vocabulary: Vocabulary | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Counts the items and writes the model at `path`, whole or not at all.

    vocabulary : all other words become NOTAWORD.  None: every word has its own count.
    """
    views = view_numbers(vocabulary.views if vocabulary else ALL)
    counts = Accumulator(len(classes), sorted_keys(vocabulary), views)
    skipped: Skipped = []
    for blocks, unread in read_blocks(items, classes, jobs):
        skipped.extend(unread)
        for block in blocks:
            counts.add(block)
            if progress:
                progress(len(block), int(block.sizes.sum()))
    check_balance(path, classes, counts.messages)
    table = with_all_words(counts.table(), vocabulary)
    weights, covariance, used = calibrate(counts.recent(), table, settings, vocabulary)
    with new_model(path, classes, counts.messages.tolist()) as file:
        file.settings({**settings.as_text(), **vocabulary_settings(vocabulary)})
        write_table(file, table)
        write_learned(file, counts.learned)
        if len(weights):
            file.calibration(feature_names(len(classes)), weights.tolist(), covariance.tolist())
    import os

    return Trained(
        path, classes, tuple(counts.messages.tolist()), len(table.keys), os.path.getsize(path), skipped, used
    )


def check_balance(path: str, classes: tuple[str, ...], messages: Ints) -> None:
    """Raises if there is nothing to tell apart."""
    if not messages.any():
        raise NoInputError(
            path, "no readable message was found, so nothing was trained", "check SOURCE", "no-mail"
        )
    for name, count in zip(classes, messages, strict=True):
        if not count:
            raise BadDataError(
                path,
                f"no message of class {name} could be read",
                "a filter needs mail of each class",
                "class-empty",
            )


def aligned_documents(block: Block, table: Table) -> Ints:
    """int64 (n_classes, n_columns): the table's document counts in the columns of a block."""
    place = np.searchsorted(table.keys, block.keys)
    place = np.minimum(place, max(len(table.keys) - 1, 0))
    known = table.keys[place] == block.keys if len(table.keys) else np.zeros(len(block.keys), bool)
    return (
        np.where(known, table.documents[:, place], 0)
        if len(table.keys)
        else np.zeros((len(table.documents), len(block.keys)), np.int64)
    )


def calibrate(
    block: Block, table: Table, settings: Settings, vocabulary: Vocabulary | None = None
) -> tuple[Floats, Floats, int]:
    """Weights, covariance and how many messages they were learned on; empty where nothing is averaged."""
    if not settings.averaged:
        return np.zeros(0), np.zeros((0, 0)), 0
    documents = aligned_documents(block, table)
    sample, rows = new_evidence(block, documents, settings, vocabulary.views if vocabulary else "")
    labels = block.labels[rows].astype(np.int64)
    if np.bincount(labels, minlength=len(documents)).min() < MIN_CALIBRATION:
        rows = rows[:0]
    weights, covariance = fit(
        Evidence(sample.evidence[rows], sample.unknown[rows]), block.labels[rows].astype(np.int64)
    )
    return weights, covariance, len(rows)


def new_evidence(
    block: Block, documents: Ints, settings: Settings, fixed_views: str
) -> tuple[Evidence, Ints]:
    """Evidence of each row as if it were new, and the rows whose evidence can be used.

    fixed_views : the views that a fixed vocabulary reads; empty where every token has counts
    """
    inner = without_columns(block, np.asarray(documents.any(axis=0))) if fixed_views else block
    background, rows = out_of_sample(inner, documents)
    sample = view_evidence(inner, background, settings.alpha, settings.threshold)
    return with_outside(sample, inner, block, fixed_views) if fixed_views else sample, rows


def out_of_sample(block: Block, documents: Ints) -> tuple[Background, Ints]:
    """Counts to score each row with, as if it were new, and the rows whose scores can be used."""
    if np.isnan(block.dates).mean() > 1 - DATED_SHARE:
        return leave_one_out(block, documents), np.arange(len(block))
    order = time_order(block)
    return prequential(block, documents, order), order[int(len(order) * WARM_UP_SHARE) :]


def write_table(file: NewModel, table: Table) -> None:
    """Fills the tables of counts."""
    views = [*VIEWS, "NOTAWORD"]
    n_classes = len(table.documents)
    file.views(views, np.bincount(table.views, minlength=len(views)).tolist())
    totals = []
    for k in range(n_classes):
        documents = np.bincount(table.views, weights=table.documents[k], minlength=len(views))
        occurrences = np.bincount(table.views, weights=table.occurrences[k], minlength=len(views))
        totals.extend([(v, k, int(documents[v]), int(occurrences[v])) for v in range(len(views))])
    file.view_totals(totals)
    file.tokens(_token_rows(table))
    file.histogram(_histogram_rows(table))


def _token_rows(table: Table) -> Iterator[tuple[object, ...]]:
    texts = [text.decode("utf-8", "replace") for text in split_texts(table.texts, len(table.keys))]
    columns = [
        column.tolist() for pair in zip(table.documents, table.occurrences, strict=True) for column in pair
    ]
    return zip(table.keys.tolist(), table.views.tolist(), texts, *columns, strict=True)


def _histogram_rows(table: Table) -> Iterator[tuple[str, int, int, int]]:
    everything = table.occurrences.sum(axis=0)
    for k in range(len(table.documents)):
        for kind, counts in (
            ("documents", table.documents[k]),
            ("complement", everything - table.occurrences[k]),
        ):
            values, words = np.unique(counts, return_counts=True)
            yield from ((kind, k, int(value), int(n)) for value, n in zip(values, words, strict=True))


def write_learned(
    file: NewModel, learned: list[tuple[Ints, np.ndarray[tuple[int], np.dtype[np.int16]]]]
) -> None:
    """Which messages were counted."""
    pairs = np.empty(sum(len(labels) for _, labels in learned), [("digest", np.int64), ("class", np.int16)])
    pairs["digest"] = np.concatenate([digests for digests, _ in learned])
    pairs["class"] = np.concatenate([labels for _, labels in learned])
    distinct, times = np.unique(pairs, return_counts=True)
    file.learned(zip(distinct["digest"].tolist(), distinct["class"].tolist(), times.tolist(), strict=True))
