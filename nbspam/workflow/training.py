"""Labelled mail -> a model file.

The use case: read and count in parallel, calibrate on a sample of what was read, write one file.
Hides the order of the steps; each step is another room's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from nbspam.engine.accumulator import Accumulator, Table
from nbspam.engine.block import Ints
from nbspam.engine.corpus import split_texts
from nbspam.engine.reading import Skipped, read_blocks
from nbspam.errors import BadDataError, NoInputError
from nbspam.scoring.calibration import feature_names
from nbspam.settings import Settings
from nbspam.sources import Item
from nbspam.store.writer import NewModel, new_model
from nbspam.tokens.bag import VIEWS
from nbspam.vocabulary.file import ALL_VIEWS as ALL
from nbspam.vocabulary.file import Vocabulary
from nbspam.workflow.calibrating import calibrate
from nbspam.workflow.fixed_words import (
    sorted_keys,
    view_numbers,
    vocabulary_settings,
    with_all_words,
)

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
