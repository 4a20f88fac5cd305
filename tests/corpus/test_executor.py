"""The executor: the results of any number of processes, and no more processes than there is work for."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tiny_mail import error

from nbspam.corpus import executor
from nbspam.errors import DamagedModelError, NbspamError, TryAgainError


def double(number: int) -> int:
    return 2 * number


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many processes were made each time, on a machine of one core."""
    made: list[int] = []
    make = executor._process_pool

    @contextlib.contextmanager
    def counted(jobs: int, work: Callable[[Any], Any]) -> Iterator[Any]:
        made.append(jobs)
        with make(jobs, work) as pool:
            yield pool

    monkeypatch.setattr(executor, "_process_pool", counted)
    monkeypatch.setattr(executor, "default_jobs", lambda: 1)
    return made


@pytest.mark.parametrize(("jobs", "shards", "made"), [(20, 3, [3]), (20, 9, [4]), (2, 9, [2]), (20, 1, [])])
def test_no_more_process_pool_are_made_than_there_is_work_and_cores_for(
    processes: list[int], jobs: int, shards: int, made: list[int]
) -> None:
    assert list(executor.run_shards(double, range(shards), jobs)) == [double(n) for n in range(shards)]
    assert processes == made


def test_the_work_is_not_pickled_and_keeps_what_it_holds_from_shard_to_shard() -> None:
    seen: list[int] = []

    def known_before(number: int) -> tuple[int, list[int]]:
        before = list(seen)
        seen.append(number)
        return number, before

    found = list(executor.run_shards(known_before, range(8), 2))
    assert [number for number, _ in found] == list(range(8))
    assert sum(not before for _, before in found) <= 2  # the first shard of each process
    assert seen == []  # of this process


@pytest.mark.parametrize(
    "raised", [DamagedModelError("a.nbspam", "no table"), TryAgainError("a.nbspam", "locked", "wait", "busy")]
)
def test_an_error_in_a_worker_is_told_as_it_is(raised: NbspamError) -> None:
    def fail(_: int) -> None:
        raise raised

    with pytest.raises(type(raised)) as told:
        list(executor.run_shards(fail, range(4), 2))
    assert str(told.value) == str(raised)
    assert vars(told.value) == vars(raised)


def test_a_number_of_process_pool_that_is_a_slip_of_the_finger_is_refused() -> None:
    assert "--jobs" in error("train", "nowhere", "-j", 10_000, status=64)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_the_parent_does_at_its_end_is_not_done_by_its_workers(number: signal.Signals) -> None:
    before = signal.signal(number, lambda *_: None)
    try:
        found = set(executor.run_shards(lambda _: signal.getsignal(number), range(4), 2))
    finally:
        signal.signal(number, before)
    assert found == {signal.SIG_DFL}
