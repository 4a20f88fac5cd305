"""Training and evaluation on many machines: Dask runs the work.

The client lists the files; workers read and count them, some files a task, and cut the counts into ranges of
keys.  Each range is merged two by two in the workers, and the client fetches one range after the other while
it writes the model, so no machine holds all counts.  Dask runs a task again if the worker that had its result
is gone, and a task changes nothing outside it, so that changes no integer.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from operator import add, call, itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from nbspam import __version__
from nbspam.corpus.accumulator import KEPT_MESSAGES, Accumulator, cut_by_key, select_latest
from nbspam.corpus.executor import ResultT, ShardT
from nbspam.corpus.item import Item
from nbspam.corpus.reading import Progress, ReadShard, ShardReader
from nbspam.corpus.walk import MailFile, Notes
from nbspam.errors import MissingExtraError, NoInputError, TryAgainError
from nbspam.model.block import Block, merge_blocks
from nbspam.model.counts import Counts

if TYPE_CHECKING:
    from distributed import Client, Future

KEY_RANGES = 16  # of keys
ADDED_UP = ("messages", "learned", "names", "numeric", "skipped")  # of an Accumulator
TASK_FILES = 500
TASK_BYTES = 64 << 20  # of its mboxes
CONNECT_SECONDS = 10
WORKERLESS_SECONDS = 20  # without any worker
STALLED_SECONDS = 600  # Dask may wait for ever for what a killed worker had; a task takes less than a minute


class Cluster:
    """The workers of one scheduler."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def map(self, work: Callable[..., Any], *arguments: list[Any], priority: int = 0) -> list[Future]:
        """Have workers do it, as `map`; futures among the arguments become their results.

        priority : above 0 before other work that can begin
        """
        return [*self._client.map(work, *arguments, pure=False, priority=priority)]

    def merge(self, work: Callable[[Any, Any], Any], parts: list[Future]) -> Future:
        """The parts merged two by two, in their order; at least one part."""
        while len(parts) > 1:
            odd_one = parts[-1:] if len(parts) % 2 else []
            parts = self.map(work, parts[:-1:2], parts[1::2], priority=1) + odd_one
        return parts[0]

    def run(self, work: Callable[[ShardT], ResultT], shards: Iterable[ShardT]) -> Iterator[ResultT]:
        """work(shard) for each shard, in order; what `work` holds is sent to each worker once."""
        held = self._client.scatter(work, broadcast=True, hash=False)
        work_shards = [*shards]
        return self.results(self.map(call, [held] * len(work_shards), work_shards))

    def read(
        self, files: Iterable[MailFile], classes: tuple[str, ...], wanted: frozenset[str]
    ) -> Iterator[ReadShard]:
        """The blocks of all messages, in order."""
        return self.run(partial(_read_files, classes=classes, wanted=wanted), _cut_files(files))

    def accumulator(self, *counting: Any) -> ClusterMail:
        """An Accumulator of MailFiles.  counting : the arguments of Accumulator, without `jobs`"""
        return ClusterMail(self, counting)

    def results(self, futures: Iterable[Future]) -> Iterator[Any]:
        """The result of each future, in order; a worker may forget it then."""
        waiting = deque(futures)
        while waiting:
            yield self.result(waiting.popleft())

    def result(self, future: Future) -> Any:
        """The result of a future; TryAgainError if no worker is left to compute it, or it never comes."""
        end = time.monotonic() + STALLED_SECONDS
        while time.monotonic() < end:
            try:
                return future.result(timeout=WORKERLESS_SECONDS)
            except TimeoutError:
                if not self._client.nthreads():
                    raise _lost("no worker is left") from None
        raise _lost(f"no worker has had a result for {STALLED_SECONDS} seconds")


class ClusterMail(Accumulator):
    """An Accumulator of files that workers read and count."""

    def __init__(self, cluster: Cluster, counting: tuple[Any, ...]) -> None:
        super().__init__(*counting)
        self._cluster, self._counting = cluster, counting
        self._ranges: list[Future] = []

    def read(self, files: Iterable[Any], progress: Progress | None = None) -> None:
        """Read and add all mail in these MailFiles; this is called once."""
        cluster = self._cluster
        counted = cluster.map(partial(_count_files, counting=self._counting), [*_cut_files(files)])
        parts = [cluster.map(itemgetter(part), counted, priority=1) for part in range(2 + KEY_RANGES)]
        del counted  # so that the workers may forget it
        summaries, rows, *ranges = parts
        self._ranges = [cluster.merge(add, parts_of_range) for parts_of_range in ranges]
        latest = cluster.merge(_merge_rows, rows)
        del parts, rows, ranges
        for summary in cluster.results(summaries):
            for name, more in summary.items():
                vars(self)[name] += more
            if progress:
                progress(int(summary["messages"].sum()))
        self._recent = [cluster.result(latest)]

    def ranges(self) -> Iterator[Counts]:
        """The counts of all messages, in ascending ranges of keys, fetched one after the other."""
        for future in self._ranges:
            yield self._cluster.result(future)


@contextmanager
def open_cluster(scheduler: str, workers: int) -> Iterator[Cluster]:
    """The cluster of a scheduler, tcp://HOST:PORT, or of new worker processes on this machine.

    NoInputError if it is absent or has other versions, TryAgainError if it is lost before the end.
    """
    try:
        from distributed import Client, KilledWorker, LocalCluster
        from distributed.comm import CommClosedError
    except ImportError as error:
        raise MissingExtraError("dask", error, scheduler or str(workers)) from None
    lost = (KilledWorker, CancelledError, CommClosedError, TimeoutError)
    for name in logging.root.manager.loggerDict:
        if name.startswith(("distributed", "asyncio")):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # our own errors tell it
    with ExitStack() as stack:
        place: Any = scheduler
        if not scheduler:
            how = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
            try:
                place = stack.enter_context(LocalCluster(workers, threads_per_worker=1, **how))
            except Exception as error:  # whatever the start of a process may raise
                raise _lost(f"a worker process does not start ({type(error).__name__})") from error
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


def _lost(why: str) -> TryAgainError:
    return TryAgainError("cluster", f"{why}; nothing is written", "start it again", "worker-died")


def _cut_files(files: Iterable[MailFile]) -> Iterator[list[MailFile]]:
    """The files cut into the work of a task each."""
    shard: list[MailFile] = []
    size_bytes = 0
    for file in files:
        shard.append(file)
        size_bytes += os.path.getsize(file.path) if file.may_be_mbox and os.path.isfile(file.path) else 0
        if len(shard) == TASK_FILES or size_bytes >= TASK_BYTES:
            yield shard
            shard, size_bytes = [], 0
    if shard:
        yield shard


def _open_files(files: list[MailFile], notes: Notes) -> Iterator[Item]:
    return chain.from_iterable(file.items(notes) for file in files)


def _read_files(files: list[MailFile], classes: tuple[str, ...], wanted: frozenset[str]) -> ReadShard:
    notes = Notes()
    shard = ShardReader(classes, wanted)(_open_files(files, notes))
    return shard._replace(skipped=shard.skipped + notes.skipped)


def _count_files(files: list[MailFile], counting: tuple[Any, ...]) -> list[Any]:
    """What is ADDED_UP of the messages, their rows for the calibration, and KEY_RANGES Counts."""
    mail, notes = Accumulator(*counting), Notes()
    mail.read(_open_files(files, notes))
    mail.skipped += notes.skipped
    summary = {name: more for name in ADDED_UP if (more := getattr(mail, name)) is not None}
    return [summary, mail.recent(), *cut_by_key(mail.counts(), KEY_RANGES)]


def _merge_rows(left: Block, right: Block) -> Block:
    """The latest KEPT_MESSAGES of each class: among them are the latest of all, whatever the shares."""
    n_classes = 1 + max(int(block.labels.max(initial=0)) for block in (left, right))
    latest = select_latest([left, right], KEPT_MESSAGES * n_classes, np.ones(n_classes, np.int64))
    return merge_blocks(latest)
