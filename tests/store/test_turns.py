"""Writers take turns in the order in which they come; each lesson counts once, whoever is killed."""

import multiprocessing
import os
import random
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nbspam.errors import TryAgainError
from nbspam.learning.learn import LEARNED, learn_message, learn_messages
from nbspam.store.check import check_model
from nbspam.store.turns import Turn
from nbspam.store.updater import open_updater
from tests.server import eventually
from tests.tiny_mail import counts, mail, process

LEARNERS, MESSAGES_EACH = 12, 10
ROUNDS = max(1, int(os.environ.get("NBSPAM_KILLS", 0)) // 50)
FORK = multiprocessing.get_context("fork")
Process = multiprocessing.process.BaseProcess


def in_process(work: Callable[[], object]) -> Process:
    """A process of its own that does this work."""
    process = FORK.Process(target=work)
    process.start()
    return process


def letters(number: int) -> list[bytes]:
    return [mail(f"letter{number} number{n} " + "pills " * n) for n in range(MESSAGES_EACH)]


def assert_counted_once(model: Path, original: Path, messages: list[bytes], tmp_path: Path) -> None:
    other = shutil.copy(original, tmp_path / "one-by-one")
    learn_messages(str(other), "spam", [("", one) for one in messages])
    assert counts(model) == counts(other)
    assert check_model(str(model)) == []


@pytest.fixture
def original(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(model, tmp_path / "original"))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_updater.__wrapped__, "__defaults__", (0.2,))


def count_writers(model: Path) -> int:
    """How many have the turn or wait for it: each has a lock on a byte of the lock file."""
    lock = Path(f"{model}-lock")
    place = f":{lock.stat().st_ino} " if lock.exists() else "no lock"
    return sum(place in line and " WRITE " in line for line in Path("/proc/locks").read_text().splitlines())


@contextmanager
def turn_taken(model: Path, seconds: float = 30) -> Iterator[Process]:
    """Another program has the turn, or waits for it, until the context ends."""

    def hold() -> None:
        with Turn(str(model), seconds):
            time.sleep(60)

    before = count_writers(model)
    one = in_process(hold)
    eventually(lambda: count_writers(model) > before)
    try:
        yield one
    finally:
        one.kill()
        one.join()


def test_many_learners_at_once_are_all_answered_and_count_once(
    model: Path, original: Path, tmp_path: Path
) -> None:
    def learner(number: int) -> None:
        results = [learn_message(str(model), "spam", message) for message in letters(number)]
        os._exit(0 if results == [LEARNED] * MESSAGES_EACH else 1)

    running = [in_process(lambda n=n: learner(n)) for n in range(LEARNERS)]
    for one in running:
        one.join()
    assert [one.exitcode for one in running] == [0] * LEARNERS
    everything = [message for n in range(LEARNERS) for message in letters(n)]
    assert_counted_once(model, original, everything, tmp_path)


@pytest.mark.crash
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_killed_learners_lose_nothing_that_they_were_told_and_nothing_counts_twice(
    model: Path, original: Path, tmp_path: Path, seed: int
) -> None:
    told = tmp_path / "told"
    told.mkdir()

    def learner(number: int) -> None:
        for n, message in enumerate(letters(number)):
            if learn_message(str(model), "spam", message):
                (told / f"{number} {n}").touch()

    chance = random.Random(seed)
    running = [in_process(lambda n=n: learner(n)) for n in range(LEARNERS)]
    for one in running:
        time.sleep(chance.uniform(0, 0.05))
        one.kill()  # if it has not ended
        one.join()
    written = {tuple(map(int, path.name.split())) for path in told.iterdir()}
    everything = [message for n in range(LEARNERS) for message in letters(n)]
    results = learn_messages(str(model), "spam", [("", one) for one in everything])
    for place, result in enumerate(results):
        if divmod(place, MESSAGES_EACH) in written:
            assert result == "already learned"
    assert_counted_once(model, original, everything, tmp_path)


@pytest.mark.parametrize("way", ["threads", "processes"])
def test_turns_come_in_the_order_in_which_they_were_asked_for(model: Path, tmp_path: Path, way: str) -> None:
    done = tmp_path / "done"

    def wait(number: int) -> None:
        with Turn(str(model), 30), done.open("a") as file:
            file.write(f"{number} ")

    make = threading.Thread if way == "threads" else FORK.Process
    running = [make(target=wait, args=(number,)) for number in range(8)]
    with Turn(str(model), 0):
        for number, one in enumerate(running):
            one.start()
            eventually(lambda n=number: count_writers(model) == n + 2)
        assert not done.exists()
    for one in running:
        one.join()
    assert done.read_text() == "0 1 2 3 4 5 6 7 "


def test_killed_holder_and_killed_waiter_let_the_next_one_in(model: Path) -> None:
    with turn_taken(model) as holder, turn_taken(model) as waiter:
        with pytest.raises(TryAgainError), Turn(str(model), 0.1):
            pass
        holder.kill()
        holder.join()
        time.sleep(0.1)  # it is the waiter's turn now
        with pytest.raises(TryAgainError), Turn(str(model), 0.1):
            pass
        waiter.kill()
        assert learn_message(str(model), "spam", mail("garden pills")) == LEARNED


def test_process_forked_meanwhile_does_not_keep_the_turn(model: Path) -> None:
    with Turn(str(model), 0):
        forked = in_process(lambda: time.sleep(30))
    with Turn(str(model), 0):
        forked.kill()
    forked.join()


@pytest.mark.parametrize("busy", ["turn", "sqlite"])
def test_who_waits_too_long_learns_nothing_and_may_try_again(
    model: Path, original: Path, impatient: None, busy: str
) -> None:
    writer = sqlite3.connect(model, isolation_level=None)
    other = Turn(str(model), 0)
    if busy == "turn":
        other.__enter__()
    else:
        writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(TryAgainError, match="another program is writing"):
        learn_message(str(model), "spam", mail("garden pills"))
    other.__exit__()
    writer.close()
    assert counts(model) == counts(original)
    assert learn_message(str(model), "spam", mail("garden pills")) == LEARNED


@pytest.mark.parametrize("planted", ["fifo", "link", "folder", "others"])
def test_nothing_in_the_place_of_the_lock_file_stops_learning(model: Path, planted: str) -> None:
    lock, other = Path(f"{model}-lock"), model.parent / "other"
    other.touch()
    if planted == "fifo":
        os.mkfifo(lock)
    elif planted == "link":
        lock.symlink_to(other)
    elif planted == "folder":
        lock.mkdir()
    else:
        lock.touch()
        if os.geteuid():
            pytest.skip("only root can give a file away")
        os.chown(lock, 65534, 65534)
    assert process("learn", "spam", "-m", model, stdin=mail("garden pills")).stdout == b"learned\t-\n"
    assert other.read_bytes() == b""


def test_lock_file_is_private_and_empty(model: Path) -> None:
    learn_message(str(model), "spam", mail("garden pills"))
    status = Path(f"{model}-lock").stat()
    assert (status.st_mode & 0o777, status.st_size) == (0o600, 0)
