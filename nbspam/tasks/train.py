"""Training: read and count labelled mail in parallel, calibrate on a sample of it, write a model file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from nbspam.corpus.accumulator import Accumulator
from nbspam.corpus.cluster import Cluster
from nbspam.corpus.executor import JOBS_PER_CORE, default_jobs, run_shards
from nbspam.corpus.item import Item, Skipped
from nbspam.corpus.reading import Progress
from nbspam.corpus.vocabulary import new_counts
from nbspam.corpus.walk import MailFile
from nbspam.decision import describe_loss, load_loss
from nbspam.errors import BadDataError, NoInputError, UsageError
from nbspam.model.block import Block
from nbspam.model.calibrate import calibrate_on, choose_ways, take_sample
from nbspam.model.counts import Counts, Ints, ViewSums, merge_counts
from nbspam.model.numeric import FeatureStatistics
from nbspam.model.textbook import learn_features
from nbspam.model.views import Evidence
from nbspam.settings import Settings
from nbspam.store.bulk import insert_counts, insert_learned
from nbspam.store.reader import Model, open_model
from nbspam.store.senders import keep_senders
from nbspam.store.writer import new_model
from nbspam.tasks.plan import Plan
from nbspam.tokens import choose_core
from nbspam.tokens.bag import hash_token
from nbspam.tokens.numeric import NAMES

REPORT_TOKENS = ("field:x-ms-journal-report", "type=message/rfc822")
# The memory of a training, in megabytes.  `python -m bench.stream` measures it.
DEFAULT_MEGABYTES = 500  # of all processes together
PARENT_MEGABYTES = 200  # of the parent with the sample for the calibration and the least counts
JOB_MEGABYTES = 70  # of each other process
THREAD_MEGABYTES = 20  # of each thread of the compiled core, without the tokens that it has counted
SPARE_MEGABYTES = 30  # of the parent's: the least counts
COPIES = 6  # of the counts while they are merged, and the rows that wait


class Contradictions(NamedTuple):
    """Messages that are in more than one class.

    messages : how many different ones
    classes  : those that they are in
    copies   : (class, name) of each copy, those of a message in a row; empty if names were not kept
    """

    messages: int
    classes: list[str]
    copies: list[tuple[str, str]]


class Trained(NamedTuple):
    """The result of a training, for the summary."""

    path: str
    classes: tuple[str, ...]
    messages: tuple[int, ...]
    tokens: int
    size_bytes: int
    skipped: Skipped
    contradictions: Contradictions
    reports: dict[str, int]  # by class, see count_reports
    costs: str  # of decisions, in words
    counted_before: int = 0  # messages that the model had counted before
    begins: str = ""  # as what it began: of nbspam.filter.begin_model


def train_model(
    items: Iterable[Item | MailFile],
    classes: tuple[str, ...],
    path: str,
    plan: Plan,
    jobs: int | Cluster = 1,
    progress: Progress | None = None,
) -> Trained:
    """Count the items and write the model to `path`, whole or not at all.

    items : MailFiles if `jobs` is a cluster
    """
    settings = plan.settings.of(classes)
    mail = _start_accumulator(classes, settings, plan, jobs)
    mail.read(items, progress)
    _check_classes(path, classes, mail.messages)
    ranges: Callable[[], Iterable[Counts]] = mail.ranges
    if plan.vocabulary:
        counts = new_counts(plan.vocabulary, len(classes)) + mail.counts()
        ranges = partial(iter, (counts,))
    rows = mail.features()
    features = learn_features(*rows, len(classes), settings, plan.edges) if rows else None
    tokens = _write(path, settings, plan, mail, ranges, features, jobs)
    return summarise_training(path, mail, tokens)


def _start_accumulator(
    classes: tuple[str, ...], settings: Settings, plan: Plan, jobs: int | Cluster
) -> Accumulator:
    """What the mail of a training is added to."""
    megabytes = THREAD_MEGABYTES if choose_core(settings.wanted) else JOB_MEGABYTES
    max_bytes = _share_memory(plan.max_memory, jobs if isinstance(jobs, int) else 1, megabytes)
    keys = plan.vocabulary.keys() if plan.vocabulary else None
    counting = (classes, settings, keys, max_bytes, plan.keeps_names)
    return Accumulator(*counting, jobs) if isinstance(jobs, int) else jobs.accumulator(*counting)


def _write(
    path: str,
    settings: Settings,
    plan: Plan,
    mail: Accumulator,
    ranges: Callable[[], Iterable[Counts]],
    features: FeatureStatistics | None,
    jobs: int | Cluster,
) -> int:
    """Write the model file; the number of its tokens."""
    block = mail.recent() if settings.averaged else Block()
    counts = _sum_ranges(ranges(), block)
    samples = _start_sampling(settings, block, counts, jobs)
    with new_model(path, mail.classes, mail.messages.tolist(), plan.source, plan.replaces) as file:
        loss = plan.loss.stored if plan.loss else {}
        vocabulary = "fixed" if plan.vocabulary else "open"
        file.settings(settings.as_text() | loss | {"vocabulary": vocabulary})
        if plan.replaces:
            keep_senders(file, path)
        insert_counts(file, ranges(), counts.totals)
        insert_learned(file, mail.learned)
        if features:
            file.numeric_features(zip(NAMES, features.edges, strict=True), features.rows())
        if settings.averaged:
            file.calibration(settings.kinds, *calibrate_on(list(samples), settings.kinds))
    return int(counts.totals.words.sum())


def _start_sampling(
    settings: Settings, block: Block, counts: Counts, jobs: int | Cluster
) -> Iterable[Evidence]:
    """What the calibration is learned on; another process may compute it while the counts are written."""
    if not settings.averaged:
        return []
    work = partial(take_sample, block=block, counts=counts, settings=settings)
    return run_shards(work, choose_ways(block, counts), jobs, is_beside=True)


def _sum_ranges(ranges: Iterable[Counts], block: Block) -> Counts:
    """The counts of the tokens of a block, with the totals of all tokens."""
    parts: list[Counts] = []
    totals: list[ViewSums] = []
    for counts in ranges:
        numbers = replace(counts, texts=b"")
        totals.append(numbers.totals)
        first, end = np.searchsorted(block.keys, numbers.keys[[0, -1]] if len(numbers.keys) else [0, 0])
        places = numbers.places(block.keys[first : end + 1])
        places = places[places >= 0]
        parts.append(numbers if len(places) == len(numbers.keys) else numbers.take(places))
    counts = merge_counts(parts)
    if np.array_equal(counts.keys, block.keys):
        counts.keys = block.keys  # so that nobody has to look for the place of each
    counts.messages = numbers.messages  # each range has those of all
    counts.totals = ViewSums(*[reduce(np.add, arrays) for arrays in zip(*totals, strict=True)])
    return counts


def _share_memory(max_memory: int, jobs: int, job_megabytes: int) -> int:
    """The bytes that the counts may have in memory; UsageError if that is too few.

    max_memory    : megabytes of all processes together, 0 for the default
    job_megabytes : what each job takes while it reads
    """
    processes = min(jobs, JOBS_PER_CORE * default_jobs())
    needed = PARENT_MEGABYTES + JOB_MEGABYTES * processes
    max_memory = max_memory or max(DEFAULT_MEGABYTES, needed)
    if max_memory < needed:
        why = f"training with {jobs} jobs needs at least {needed} megabytes"
        remedy = "allow more, or use fewer jobs"
        raise UsageError(str(max_memory), why, remedy, "max-memory", option="max_memory")
    reading = PARENT_MEGABYTES + job_megabytes * processes
    return (max_memory - reading + SPARE_MEGABYTES) * 1_000_000 // COPIES


def _check_classes(path: str, classes: tuple[str, ...], messages: Ints) -> None:
    """Raise unless there are messages of each class."""
    if not messages.any():
        why = "no readable message was found, so nothing was trained"
        raise NoInputError(path, why, "check SOURCE", "no-mail")
    for name, count in zip(classes, messages, strict=True):
        if not count:
            why, remedy = f"no message of class {name} could be read", "a filter needs mail of each class"
            raise BadDataError(path, why, remedy, "class-empty")


def summarise_training(path: str, mail: Accumulator, tokens: int, **more: Any) -> Trained:
    """What was done with the mail.  more : the optional fields of Trained"""
    messages, size_bytes = tuple(mail.messages.tolist()), os.path.getsize(path)
    contradictions = _find_contradictions(mail)
    with open_model(path) as model:
        reports = count_reports(model)
        costs = describe_loss(load_loss(model.settings, model.classes, path), model.classes)
    counted = (path, mail.classes, messages, tokens, size_bytes, mail.skipped)
    return Trained(*counted, contradictions, reports, costs, **more)


def count_reports(model: Model) -> dict[str, int]:
    """Class -> messages that are there to carry another one, if there are any.

    Reports of Exchange's journal, or all with an attached message if most messages of the class are so.
    """
    none = [0] * 2 * len(model.classes)
    journal, attached = (model.counts([key]).get(key, none)[::2] for key in map(hash_token, REPORT_TOKENS))
    most = [n if 2 * n > total else 0 for n, total in zip(attached, model.messages, strict=True)]
    return {name: n for name, n in zip(model.classes, map(max, journal, most), strict=True) if n}


def _find_contradictions(mail: Accumulator) -> Contradictions:
    """The messages that were read in more than one class."""
    digests, labels = (np.concatenate(arrays) for arrays in zip(*mail.learned, strict=True))
    order = np.argsort(digests, kind="stable")
    is_same = np.diff(digests[order]) == 0
    is_other_class = np.diff(labels[order]) != 0
    is_contradicted = is_same & is_other_class
    if not is_contradicted.any():
        return Contradictions(0, [], [])
    contradicted = np.unique(digests[order][1:][is_contradicted])
    rows = order[np.isin(digests[order], contradicted)]
    classes = mail.classes
    copies = [(classes[labels[row]], mail.names[row]) for row in rows] if mail.names else []
    return Contradictions(len(contradicted), [classes[number] for number in np.unique(labels[rows])], copies)
