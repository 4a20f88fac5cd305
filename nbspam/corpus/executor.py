"""Runs the same work over many shards of mail: in this process, in several, in threads, or on a cluster.

Work is `map` over shards; what it returns is merged by an associative sum, so the number of processes changes
no result.  Processes are forked (Linux and other POSIX systems): the work and all that it holds is in their
memory and is never pickled, and what it keeps from shard to shard is the process's own.  Results come in the
order of the shards, and only a few shards wait at a time, so a mailbox of any size streams through.
"""

from __future__ import annotations

import itertools
import operator
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from nbspam.errors import TryAgainError, UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

ShardT = TypeVar("ShardT")
ResultT = TypeVar("ResultT")
WAITING_PER_JOB = 2  # shards at work or waiting
WAITING_PER_THREAD = 6  # enough for a tenth of a second, while the main thread merges what was read
JOBS_PER_CORE = 4  # more processes are no faster and fill the memory
WAIT_SECONDS = 1.0
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_work_of_process: list[Callable[[Any], Any]] = []  # in a worker process: what it does


class Workers(Protocol):
    """Machines that work in place of processes, see cluster.py."""

    def run(self, work: Callable[[ShardT], ResultT], shards: Iterable[ShardT]) -> Iterator[ResultT]:
        """As run_shards."""

    def read(self, files: Iterable[Any], classes: tuple[str, ...], wanted: frozenset[str]) -> Iterator[Any]:
        """A ReadShard of some MailFiles after another, in order."""


def default_jobs() -> int:
    """The cores that this process may use; where the system does not say which (macOS), all cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def choose_jobs(jobs: int | None) -> int:
    """The number of processes that a program asks for; None for all cores.  UsageError for no number >= 1."""
    number = default_jobs() if jobs is None else operator.index(jobs)
    if number < 1:
        raise UsageError(f"{jobs}", "is not a number >= 1", "use None for all cores", "jobs", option="jobs")
    return number


def run_shards(
    work: Callable[[ShardT], ResultT], shards: Iterable[ShardT], jobs: int | Workers, is_beside: bool = False
) -> Iterator[ResultT]:
    """work(shard) for each shard, in order.  One job, or a single shard, runs in this process.

    jobs : the most processes; there are no more than shards, or JOBS_PER_CORE a core.  They begin to work
        before a result is asked for.  Or the machines that work.
    is_beside : this process is one of them, with other work before it asks for the results
    """
    if not isinstance(jobs, int):
        return jobs.run(work, shards)
    stream = iter(shards)
    jobs = min(jobs, JOBS_PER_CORE * default_jobs())
    first = list(itertools.islice(stream, max(2, jobs)))
    if jobs <= 1 or len(first) <= 1:
        return map(work, itertools.chain(first, stream))
    results = _run_in_processes(work, first, stream, min(jobs - is_beside, len(first)))
    next(results)
    return results


def run_in_threads(
    make_work: Callable[[], Callable[[ShardT], ResultT]], shards: Iterable[ShardT], jobs: int
) -> Iterator[ResultT]:
    """The same in threads, each with work of its own, which should not need the interpreter's lock."""
    jobs = min(jobs, JOBS_PER_CORE * default_jobs())
    if jobs <= 1:
        yield from map(make_work(), shards)
        return
    from concurrent.futures import ThreadPoolExecutor

    of_thread, is_done = threading.local(), False

    def begin() -> None:
        of_thread.work = make_work()

    pool = ThreadPoolExecutor(jobs, initializer=begin)
    try:
        futures = (pool.submit(lambda shard: of_thread.work(shard), shard) for shard in shards)
        waiting = deque(itertools.islice(futures, jobs * WAITING_PER_THREAD))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(itertools.islice(futures, 1))
        is_done = True
    finally:
        pool.shutdown(wait=is_done, cancel_futures=True)


def _run_in_processes(
    work: Callable[[ShardT], Any], first: list[ShardT], stream: Iterator[ShardT], jobs: int
) -> Iterator[Any]:
    """None when the processes have begun, then the results."""
    with _open_pool(work, jobs) as (pool, lacks_threads):
        # The first submit forks.  An exception of a signal would be lost in the functions that run then.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            waiting = deque(pool.submit(_run, shard) for shard in first)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        yield None
        futures = (pool.submit(_run, shard) for shard in stream)
        waiting.extend(itertools.islice(futures, jobs * (WAITING_PER_JOB - 1)))
        while waiting:
            yield _await_result(waiting.popleft(), lacks_threads)
            waiting.extend(itertools.islice(futures, 1))


def _await_result(future: Future[Any], lacks_threads: threading.Event) -> Any:
    from concurrent.futures import wait

    while not wait([future], WAIT_SECONDS).done:
        if lacks_threads.is_set():
            raise MemoryError("a thread cannot start")
    return future.result()


@contextmanager
def _open_pool(
    work: Callable[[Any], Any], jobs: int
) -> Iterator[tuple[ProcessPoolExecutor, threading.Event]]:
    """Processes for `work`, and what is set if the pool cannot go on for want of memory."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    give_back_memory()
    # fork: the workers share the loaded modules; a spawned one would import numpy again (0.1 s each).
    context = multiprocessing.get_context("fork")
    pipe = os.pipe()
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_process, initargs=(*pipe, work))
    is_done, lacks_threads, hook = False, threading.Event(), threading.excepthook
    # If a thread of the pool cannot start another, its futures never finish; excepthook reports it.
    threading.excepthook = lambda _: lacks_threads.set()
    try:
        yield pool, lacks_threads
        is_done = True
    except BrokenProcessPool:
        why = "ended before its work was done (out of memory?)"
        raise TryAgainError("worker process", why, "try `jobs=1`", "worker-died") from None
    finally:
        threading.excepthook = hook
        # Waiting for processes that a signal has ended may take for ever; the pipe ends the others.
        pool.shutdown(wait=is_done, cancel_futures=True)
        for end in pipe:
            os.close(end)


def give_back_memory() -> None:
    """Return freed memory to the system: each process would have a copy of what it uses again."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim:
        trim(0)


def _start_process(reading_end: int, writing_end: int, work: Callable[[Any], Any]) -> None:
    """In a worker process: leave Ctrl-C and the parent's clean-up to the parent, and end when it does."""
    _work_of_process.append(work)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    os.close(writing_end)  # the parent alone has one now: its end is the end of the pipe
    try:
        threading.Thread(target=_end_with_parent, args=(reading_end,), daemon=True).start()
    except RuntimeError:  # no memory for a thread
        os._exit(1)


def _end_with_parent(reading_end: int) -> None:
    os.read(reading_end, 1)
    os._exit(1)


def _run(shard: Any) -> Any:
    return _work_of_process[-1](shard)
