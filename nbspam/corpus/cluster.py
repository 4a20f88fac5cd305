"""Training and evaluation on many machines: Dask runs the work.

The client lists the files; workers read and count them, some files a task.  Counts are merged in the workers,
each range of keys by a tree of its own, and the client fetches one range after the other while it writes the
model, so no machine holds all counts.  Dask runs a task again if the worker that had its result is gone, and
a task changes nothing outside it, so that changes no integer.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain, islice
from operator import call, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nbspam import __version__
from nbspam.corpus.accumulator import (
    KEPT_MESSAGES,
    N_RANGES,
    Accumulator,
    Counting,
    cut_by_key,
    select_latest,
)
from nbspam.corpus.item import Item, Skipped
from nbspam.corpus.reading import Progress, ReadShard, ShardReader
from nbspam.corpus.walk import MailFile, Notes
from nbspam.errors import InternalError, NoInputError, UsageError
from nbspam.model.block import Block
from nbspam.model.counts import Counts, Floats, Ints, merge_counts

if TYPE_CHECKING:
    from distributed import Client, Future

Shard = TypeVar("Shard")
Result = TypeVar("Result")
FIRST_FILES, MOST_FILES = 150, 9_600  # of a task: small ones share out little mail, large ones are few
TASKS_OF_A_SIZE = 32
MOST_BYTES = 64 << 20  # of the mboxes of a task
FAN_IN = 8  # results that one task merges
WAITING_TASKS = 256  # given to the scheduler ahead of their results
CONNECT_SECONDS = 10
PATIENCE_SECONDS = 20  # without any worker


class Cluster:
    """The workers of one scheduler."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future:
        """Have a worker do it; futures among the arguments become their results."""
        return self._client.submit(work, *arguments, pure=False)

    def run(self, work: Callable[[Shard], Result], shards: Iterable[Shard]) -> Iterator[Result]:
        """work(shard) for each shard, in order; what `work` holds is sent to each worker once."""
        held = self._client.scatter(work, broadcast=True, hash=False)
        return self.results(self.submit(call, held, shard) for shard in shards)

    def read(
        self, files: Iterable[MailFile], classes: tuple[str, ...], wanted: frozenset[str]
    ) -> Iterator[ReadShard]:
        """The blocks of all messages, in order."""
        return self.run(partial(_read, classes=classes, wanted=wanted), _cut_files(files))

    def accumulator(self, counting: Counting) -> ClusterMail:
        """An Accumulator of MailFiles."""
        return ClusterMail(self, counting)

    def results(self, futures: Iterator[Future]) -> Iterator[Any]:
        """The result of each future, in order."""
        waiting = deque(islice(futures, WAITING_TASKS))
        while waiting:
            yield self.result(waiting.popleft())
            waiting.extend(islice(futures, 1))

    def result(self, future: Future) -> Any:
        """The result of a future; InternalError if no worker is left to compute it."""
        while True:
            try:
                return future.result(timeout=PATIENCE_SECONDS)
            except TimeoutError:
                if not self._client.nthreads():
                    raise _lost("no worker is left") from None


class _Counted(NamedTuple):
    """What a task found in its messages, without their tokens; see Accumulator."""

    messages: Ints
    size_bytes: int
    learned: list[tuple[Ints, NDArray[np.int16]]]
    numeric: list[Floats] | None
    skipped: Skipped


class ClusterMail(Accumulator):
    """An Accumulator of files that workers read and count."""

    def __init__(self, cluster: Cluster, counting: Counting) -> None:
        super().__init__(counting)
        self._cluster = cluster
        self._ranges: list[Future] = []

    def read(self, files: Iterable[Any], progress: Progress | None = None) -> None:
        """Read and add all mail in these MailFiles; this is called once."""
        submit = self._cluster.submit
        rows = _Tree(self._cluster, _select_latest)
        ranges = [_Tree(self._cluster, merge_counts) for _ in range(N_RANGES)]

        def summaries() -> Iterator[Future]:
            shards = _cut_files(files)
            while parts := [submit(_count, some, self.counting) for some in islice(shards, FAN_IN)]:
                yield from [submit(itemgetter(0), part) for part in parts]
                merged = submit(_merge_and_cut, parts)
                for number, tree in enumerate([rows, *ranges]):
                    tree.add(submit(itemgetter(number), merged))

        for one in self._cluster.results(summaries()):
            self.messages += one.messages
            self.size_bytes += one.size_bytes
            self.learned += one.learned
            self.skipped += one.skipped
            if self.numeric is not None:
                self.numeric += one.numeric
            if progress:
                progress(int(one.messages.sum()), one.size_bytes)
        self._ranges = [tree.root() for tree in ranges]
        self._recent = [self._cluster.result(rows.root())]

    def ranges(self) -> Iterator[Counts]:
        """The counts of all messages, in ascending ranges of keys, fetched one after the other."""
        for future in self._ranges:
            yield self._cluster.result(future)


class _Tree:
    """Results merged as the digits of a number are carried, in their order."""

    def __init__(self, cluster: Cluster, merge: Callable[[list[Any]], Any]) -> None:
        self._cluster, self._merge = cluster, merge
        self._levels: defaultdict[int, list[Future]] = defaultdict(list)

    def add(self, future: Future, level: int = 0) -> None:
        self._levels[level].append(future)
        if len(self._levels[level]) == FAN_IN:
            self.add(self._cluster.submit(self._merge, self._levels.pop(level)), level + 1)

    def root(self) -> Future:
        """The sum of all."""
        left = [self._levels[level] for level in sorted(self._levels, reverse=True)]
        return self._cluster.submit(self._merge, [*chain.from_iterable(left)])


@contextmanager
def open_cluster(scheduler: str, workers: int) -> Iterator[Cluster]:
    """The cluster of a scheduler, tcp://HOST:PORT, or of new worker processes on this machine.

    NoInputError if it is absent or has other versions, InternalError if it is lost before the end.
    """
    try:
        from distributed import Client, KilledWorker, LocalCluster
        from distributed.comm import CommClosedError
    except ImportError as error:
        why = f"it needs a library that cannot be imported here ({error})"
        remedy = "install the extra: pip install 'nbspam[dask]'"
        raise UsageError(scheduler or str(workers), why, remedy, "dask-extra") from None
    lost = (KilledWorker, CancelledError, CommClosedError, TimeoutError)
    for name in logging.root.manager.loggerDict:
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # our own errors tell it
    with ExitStack() as stack:
        place: Any = scheduler
        if not scheduler:
            how = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
            place = stack.enter_context(LocalCluster(workers, threads_per_worker=1, **how))
        client = stack.enter_context(_connect(Client, place))
        if scheduler:
            _check_workers(client, scheduler)
        try:
            yield Cluster(client)
        except lost as error:
            raise _lost(f"the scheduler or the worker of a task is gone ({type(error).__name__})") from error


def _connect(client: Callable[..., Client], place: Any) -> Client:
    """A client of a scheduler."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions: see _check_workers
            return client(place, timeout=CONNECT_SECONDS)
    except Exception as error:  # the answer of another version may lead to anything
        why = f"no scheduler of this version of Dask answers ({str(error)[:200] or type(error).__name__})"
        raise NoInputError(str(place), why, "start one: dask scheduler", "scheduler") from None


def _check_workers(client: Client, scheduler: str) -> None:
    """Raise unless there are workers, and all machines have the same versions."""
    if not client.nthreads():
        remedy = f"start one on each machine: dask worker {scheduler}"
        raise NoInputError(scheduler, "the scheduler has no worker", remedy, "no-workers")
    others = client.run(_versions, on_error="return")
    dask = client.get_versions()["scheduler"]["packages"]["distributed"]
    others["the scheduler"] = {**_versions(), "Dask": dask}
    for place, other in others.items():
        if other != _versions():
            why = f"{place} has {other}; this machine has {_versions()}"
            remedy = "install the same version on all machines"
            raise NoInputError(scheduler, why, remedy, "cluster-version")


def _versions() -> dict[str, str]:
    import distributed

    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"nbspam": __version__, "Dask": distributed.__version__, "Python": python}


def _lost(why: str) -> InternalError:
    return InternalError("cluster", f"{why}; nothing is written", "start it again", "worker-died")


def _cut_files(files: Iterable[MailFile]) -> Iterator[list[MailFile]]:
    """The files cut into the work of a task each, more and more of them."""
    shard: list[MailFile] = []
    size_bytes = made = 0
    for file in files:
        shard.append(file)
        size_bytes += os.path.getsize(file.path) if file.may_be_mbox and os.path.isfile(file.path) else 0
        most = min(MOST_FILES, FIRST_FILES << (made // TASKS_OF_A_SIZE))
        if len(shard) >= most or size_bytes >= MOST_BYTES:
            yield shard
            shard, size_bytes, made = [], 0, made + 1
    if shard:
        yield shard


def _items(files: list[MailFile], notes: Notes) -> Iterator[Item]:
    return chain.from_iterable(file.items(notes) for file in files)


def _read(files: list[MailFile], classes: tuple[str, ...], wanted: frozenset[str]) -> ReadShard:
    notes = Notes()
    found = ShardReader(classes, wanted)(_items(files, notes))
    return found._replace(skipped=found.skipped + notes.skipped)


def _count(files: list[MailFile], counting: Counting) -> tuple[_Counted, Block, Counts]:
    """What is _Counted of the messages, their rows for the calibration, and their Counts."""
    mail, notes = Accumulator(counting), Notes()
    mail.read(_items(files, notes))
    skipped = mail.skipped + notes.skipped
    counted = _Counted(mail.messages, mail.size_bytes, mail.learned, mail.numeric, skipped)
    return counted, mail.recent(), mail.counts()


def _merge_and_cut(parts: list[tuple[_Counted, Block, Counts]]) -> list[Any]:
    """The rows of some tasks, and N_RANGES Counts."""
    _, rows, counts = zip(*parts, strict=True)
    return [_select_latest(list(rows)), *cut_by_key(merge_counts(list(counts)))]


def _select_latest(blocks: list[Block]) -> Block:
    """The latest KEPT_MESSAGES of each class: among them are the latest of all, whatever the shares."""
    n_classes = 1 + max((int(block.labels.max(initial=0)) for block in blocks), default=0)
    return select_latest(blocks, KEPT_MESSAGES * n_classes, np.ones(n_classes, np.int64))
