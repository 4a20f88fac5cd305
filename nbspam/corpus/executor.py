"""Runs the same work over many shards of mail.

Hides processes.  Two executors: serial, and forked processes (Linux and other POSIX systems).
A worker is a copy of the process that made it: the work, and all that it holds, is in its memory
and is never pickled.  What the work keeps from one shard to the next is the worker's own.
Results come in the order of the shards whatever finishes first, and no more than a few shards
wait at a time, so a mailbox of any size streams through.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from nbspam.errors import InternalError

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

Shard = TypeVar("Shard")
Result = TypeVar("Result")
WAITING_PER_JOB = 2  # shards handed out beyond the one at work
JOBS_PER_CORE = 4  # more processes do no work sooner and fill the memory
MAX_JOBS = 1_000  # that can be asked for: more is a slip of the finger
_at_work: list[Callable[[Any], Any]] = []  # in a worker: what it does


def default_jobs() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_shards(work: Callable[[Shard], Result], shards: Iterable[Shard], jobs: int) -> Iterator[Result]:
    """work(shard) for each shard, in order.  One job, or a single shard, runs in this process.

    jobs : processes at most; no more are made than there are shards, or JOBS_PER_CORE a core
    """
    with begun(work, shards, jobs) as results:
        yield from results


@contextlib.contextmanager
def begun(work: Callable[[Shard], Result], shards: Iterable[Shard], jobs: int) -> Iterator[Iterator[Result]]:
    """The results of run_shards; processes are at work on the first before it is asked for."""
    stream = iter(shards)
    jobs = min(jobs, JOBS_PER_CORE * default_jobs())
    first = list(itertools.islice(stream, max(2, jobs)))
    jobs = min(jobs, len(first))
    if jobs <= 1 or len(first) < 2 or not hasattr(os, "fork"):
        yield map(work, itertools.chain(first, stream))
        return
    with _processes(jobs, work) as pool:
        with _interrupt_waits():  # the first submission makes the workers
            submitted = [pool.submit(_work_on, shard) for shard in first]
        yield _collect(pool, submitted, stream, jobs)


@contextlib.contextmanager
def _processes(jobs: int, work: Callable[[Any], Any]) -> Iterator[ProcessPoolExecutor]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # fork: the workers share the loaded modules; a spawned one would import numpy anew (0.1 s each).
    context = multiprocessing.get_context("fork")
    lifeline = os.pipe()
    pool = ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_begin_worker, initargs=(*lifeline, work)
    )
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        os.close(lifeline[0])
        os.close(lifeline[1])


@contextlib.contextmanager
def _interrupt_waits() -> Iterator[None]:
    """Holds Ctrl-C back: a worker that has begun and does not yet ignore it would say so with a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _collect(
    pool: ProcessPoolExecutor, first: list[Future[Result]], stream: Iterator[Shard], jobs: int
) -> Iterator[Result]:
    from concurrent.futures.process import BrokenProcessPool

    waiting = deque(first)
    try:
        for shard in stream:
            waiting.append(pool.submit(_work_on, shard))
            if len(waiting) > jobs * WAITING_PER_JOB:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise InternalError(
            "worker process", "ended before its work was done (out of memory?)", "try --jobs 1", "worker-died"
        )


def _begin_worker(reading_end: int, writing_end: int, work: Callable[[Any], Any]) -> None:
    """Ctrl-C goes to the whole group, and only the parent answers it; a killed parent ends its workers.

    What the parent does as it is ended (a terminal to set right) is not for the worker to do.
    """
    _at_work.append(work)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    os.close(writing_end)
    threading.Thread(target=_end_with_parent, args=(reading_end,), daemon=True).start()


def _work_on(shard: Any) -> Any:
    return _at_work[-1](shard)


def _end_with_parent(reading_end: int) -> None:
    """Ends when the parent does, who alone holds the other end of the pipe; a worker would wait for ever."""
    os.read(reading_end, 1)
    os._exit(1)
