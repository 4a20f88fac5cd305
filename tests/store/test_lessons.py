"""Lessons that find another writer at work: each counts once, whatever waits, is killed or comes late."""

import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam.store import learn as learning
from nbspam.store import lessons, updater
from nbspam.store.check import check_model
from nbspam.store.learn import LATER, LEARNED, learn, learn_all, unlearn
from nbspam.store.updater import Origin
from nbspam.tasks.doctor import examine
from tests.tiny_mail import counts, mail, run

LEARNERS, MESSAGES_EACH = 12, 10
ROUNDS = max(1, int(os.environ.get("NBSPAM_KILLS", 0)) // 50)
FORK = multiprocessing.get_context("fork")


def in_process(work: Callable[[], object]) -> multiprocessing.process.BaseProcess:
    """A process of its own that does this work."""
    process = FORK.Process(target=work)
    process.start()
    return process


def folder(model: Path) -> Path:
    return Path(f"{model}-lessons")


def letters(number: int) -> list[bytes]:
    return [mail(f"letter{number} number{n} " + "pills " * n) for n in range(MESSAGES_EACH)]


def assert_counted_once(model: Path, original: Path, messages: list[bytes], tmp_path: Path) -> None:
    other = shutil.copy(original, tmp_path / "one-by-one")
    learn_all(str(other), "spam", [("", one) for one in messages])
    assert counts(model) == counts(other)
    assert check_model(str(model)) == []


@pytest.fixture
def original(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(model, tmp_path / "original"))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (learning, updater):
        monkeypatch.setattr(module, "BUSY_SECONDS", 0.2)


@pytest.fixture
def busy(model: Path, impatient: None) -> sqlite3.Connection:
    """Another program that writes for longer than a learner waits."""
    writer = sqlite3.connect(model, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    return writer


@pytest.mark.slow
def test_many_learners_at_once_are_all_answered_and_count_once(
    model: Path, original: Path, tmp_path: Path
) -> None:
    def learner(number: int) -> None:
        results = [learn(str(model), "spam", message) for message in letters(number)]
        os._exit(0 if results == [LEARNED] * MESSAGES_EACH else 1)

    running = [in_process(lambda n=n: learner(n)) for n in range(LEARNERS)]
    for one in running:
        one.join()
    assert [one.exitcode for one in running] == [0] * LEARNERS
    everything = [message for n in range(LEARNERS) for message in letters(n)]
    assert_counted_once(model, original, everything, tmp_path)
    assert not folder(model).exists()


@pytest.mark.crash
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_killed_learners_lose_nothing_that_they_were_told_and_nothing_counts_twice(
    model: Path, original: Path, tmp_path: Path, seed: int
) -> None:
    told = tmp_path / "told"
    told.mkdir()

    def learner(number: int) -> None:
        for n, message in enumerate(letters(number)):
            if learn(str(model), "spam", message):
                (told / f"{number} {n}").touch()

    chance = random.Random(seed)
    running = [in_process(lambda n=n: learner(n)) for n in range(LEARNERS)]
    for one in running:
        time.sleep(chance.uniform(0, 0.05))
        os.kill(one.pid or 0, signal.SIGKILL)
        one.join()
    written = {tuple(map(int, path.name.split())) for path in told.iterdir()}
    everything = [message for n in range(LEARNERS) for message in letters(n)]
    results = learn_all(str(model), "spam", [("", one) for one in everything])
    for place, result in enumerate(results):
        if divmod(place, MESSAGES_EACH) in written:
            assert result == "already learned"
    assert_counted_once(model, original, everything, tmp_path)


@pytest.mark.parametrize("moment", ["finish", "pwrite", "unlink"])
def test_writer_killed_after_its_commit_has_learned_and_nothing_counts_twice(
    moment: str, model: Path, original: Path, busy: sqlite3.Connection, tmp_path: Path
) -> None:
    messages = letters(0)
    assert learn_all(str(model), "spam", [("", one) for one in messages]) == [LATER] * MESSAGES_EACH
    busy.execute("ROLLBACK")
    place = lessons.Lesson if moment == "finish" else lessons.os

    def killed_writer() -> None:
        setattr(place, moment, lambda *_: os._exit(9))
        unlearn(str(model), mail("never learned"))

    one = in_process(killed_writer)
    one.join()
    assert one.exitcode == 9
    assert len(list(folder(model).iterdir())) == MESSAGES_EACH
    for again in range(2):
        assert unlearn(str(model), mail(f"never learned {again}")) == "was never learned"
        assert_counted_once(model, original, messages, tmp_path)
    assert not folder(model).exists()


def test_lesson_that_waits_too_long_is_kept_in_private_and_told_by_doctor(
    model: Path, original: Path, busy: sqlite3.Connection, tmp_path: Path
) -> None:
    assert learn(str(model), "spam", mail("garden pills")) == LATER
    assert folder(model).stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder(model).iterdir()] == [0o600]
    notes = {one.about: one.text for one in examine(str(model), "named", [], "/nonexistent")}
    assert notes["waiting"].startswith("1 lessons wait")
    busy.execute("ROLLBACK")
    assert counts(model) == counts(original)
    assert learn(str(model), "spam", mail("more pills")) == LEARNED
    assert_counted_once(model, original, [mail("garden pills"), mail("more pills")], tmp_path)
    assert not folder(model).exists()


def test_every_writer_takes_lessons_in_before_its_own_work(
    model: Path, original: Path, busy: sqlite3.Connection, tmp_path: Path
) -> None:
    assert learn(str(model), "spam", mail("garden pills"), Origin("sync\t/mail")) == LATER
    busy.execute("ROLLBACK")
    assert unlearn(str(model), mail("something else")) == "was never learned"
    assert run("log", "-n", 1, "-m", model).endswith("\tsync /mail\n")
    assert unlearn(str(model), mail("garden pills")) == "forgotten"
    assert counts(model) == counts(original)
    busy.execute("BEGIN IMMEDIATE")
    assert learn(str(model), "spam", mail("garden pills")) == LATER
    busy.execute("ROLLBACK")
    (tmp_path / "new" / "ham").mkdir(parents=True)
    (tmp_path / "new" / "ham" / "1.eml").write_bytes(mail("minutes"))
    run("train", "-q", "-j1", "--update", tmp_path / "new", "-m", model)
    run("train", "-q", "-j1", "--update", tmp_path / "new", "-m", original)
    assert_counted_once(model, original, [mail("garden pills")], tmp_path)
