"""The executor: any number of processes or threads gives the same; there are no more than there is work."""

import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing import get_context

import pytest

from nbspam.corpus import executor
from nbspam.errors import DamagedModelError, NbspamError, TryAgainError
from tests.tiny_mail import error


@pytest.mark.parametrize(
    ("jobs", "shards", "most"), [(20, 3, 3), (20, 12, 4), (2, 9, 2), (20, 1, 1), (1, 5, 1)]
)
def test_processes_are_no_more_than_shards_jobs_and_four_a_core(
    monkeypatch: pytest.MonkeyPatch, jobs: int, shards: int, most: int
) -> None:
    monkeypatch.setattr(executor, "default_jobs", lambda: 1)

    def work(number: int) -> tuple[int, int]:
        time.sleep(0.01)
        return number, os.getpid()

    found = list(executor.run_shards(work, range(shards), jobs))
    assert [number for number, _ in found] == list(range(shards))
    processes = {process for _, process in found}
    assert len(processes) <= most
    assert (os.getpid() in processes) == (most == 1)


def test_a_system_that_does_not_say_which_cores_are_free_uses_all(monkeypatch: pytest.MonkeyPatch) -> None:
    assert executor.default_jobs() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    assert executor.default_jobs() == 12
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert executor.default_jobs() == 1


@pytest.mark.parametrize(
    ("jobs", "shards", "others"), [(1, 3, 0), (2, 1, 0), (2, 2, 1), (2, 3, 1), (4, 3, 3)]
)
def test_a_process_with_other_work_is_one_of_those_that_work(jobs: int, shards: int, others: int) -> None:
    all_work = get_context("fork").Barrier(max(1, others))  # so that each process gets some

    def work(number: int) -> tuple[int, int]:
        if number < max(1, others):
            all_work.wait(60)
        return number, os.getpid()

    found = list(executor.run_shards(work, range(shards), jobs, is_beside=True))
    assert [number for number, _ in found] == list(range(shards))
    processes = {process for _, process in found}
    assert len(processes - {os.getpid()}) == others
    assert (os.getpid() in processes) == (others == 0)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_each_thread_has_work_of_its_own_and_results_come_in_order(jobs: int) -> None:
    begun = []

    def make_work() -> Callable[[int], tuple[int, int]]:
        begun.append(threading.get_ident())

        def work(number: int) -> tuple[int, int]:
            time.sleep(0.01 * (number % 3))
            assert begun.count(threading.get_ident()) == 1
            return number, threading.get_ident()

        return work

    found = list(executor.run_in_threads(make_work, iter(range(30)), jobs))
    assert [number for number, _ in found] == list(range(30))
    assert {thread for _, thread in found} <= set(begun)
    assert len(begun) <= jobs
    assert threading.get_ident() not in begun or jobs == 1
    assert jobs == 1 or not {*begun} & {thread.ident for thread in threading.enumerate()}


def test_an_error_in_a_thread_ends_the_work() -> None:
    def fail(number: int) -> int:
        if number == 5:
            raise TryAgainError("a.nbspam", "locked", "wait", "busy")
        return number

    before = {*threading.enumerate()}  # other tests may leave some
    results = executor.run_in_threads(lambda: fail, range(1000), 2)
    with pytest.raises(TryAgainError):
        list(results)
    for _ in range(500):
        if {*threading.enumerate()} <= before:
            return
        time.sleep(0.01)
    pytest.fail("threads go on after an error")


@pytest.mark.parametrize(
    "raised", [DamagedModelError("a.nbspam", "no table"), TryAgainError("a.nbspam", "locked", "wait", "busy")]
)
def test_an_error_in_a_worker_keeps_its_data(raised: NbspamError) -> None:
    def fail(_: int) -> None:
        raise raised

    with pytest.raises(type(raised)) as caught:
        list(executor.run_shards(fail, range(4), 2))
    assert str(caught.value) == str(raised)
    assert vars(caught.value) == vars(raised)


@pytest.mark.parametrize("name", ["QueueFeederThread", "_end_with_parent"], ids=["here", "in workers"])
def test_a_thread_that_cannot_start_is_no_hang(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    start = threading.Thread.start

    def fail(thread: threading.Thread) -> None:
        if name in thread.name:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", fail)
    with pytest.raises((MemoryError, TryAgainError)):
        list(executor.run_shards(bool, range(4), 2))


def test_absurd_numbers_of_jobs_are_refused() -> None:
    assert "--jobs" in error("train", "nowhere", "-j", 10_000, status=64)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_workers_do_not_run_the_signal_handlers_of_the_parent(number: signal.Signals) -> None:
    before = signal.signal(number, lambda *_: None)
    try:
        found = set(executor.run_shards(lambda _: signal.getsignal(number), range(4), 2))
    finally:
        signal.signal(number, before)
    assert found == {signal.SIG_DFL}
