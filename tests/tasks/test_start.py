"""`--start`: a model that begins as one that others share."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from nbspam.filter import begin_model
from nbspam.store.check import check_model
from nbspam.store.connection import journal_of
from tests.server import HAM, SPAM
from tests.tiny_mail import counts, error, mail, process, program, run, write_folders

NEW = mail("a winner of the lottery")


@pytest.fixture
def shared(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(trained, tmp_path / "shared"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A path in a folder that is missing."""
    return tmp_path / "folder" / "own"


@pytest.mark.parametrize("command", [["classify"], ["classify", "-p"], ["classify", "--json"], ["explain"]])
def test_shared_model_judges_until_there_is_an_own_one(command: list[str], shared: Path, own: Path) -> None:
    expected = run(*command, "-m", shared, stdin=SPAM)
    assert run(*command, "-m", own, "--start", shared, stdin=SPAM) == expected
    assert not own.parent.exists()


def test_first_message_is_learned_by_an_overlay(shared: Path, own: Path, tmp_path: Path) -> None:
    before, other = shared.read_bytes(), Path(shutil.copy(shared, tmp_path / "other"))
    done = program("learn", "spam", "-m", own, "--start", shared, stdin=NEW)
    assert (done.returncode, done.stdout) == (0, b"learned\t-\n")
    assert done.stderr.decode() == f"{own} begins as an overlay of {shared}.\n1 message: 1 learned.\n"
    run("learn", "-q", "spam", "-m", other, stdin=NEW)
    assert run("model", "dump", "-m", own) == run("model", "dump", "-m", other)
    assert shared.read_bytes() == before
    assert check_model(str(own)) == []
    assert run("classify", "-m", own, stdin=NEW) == run("classify", "-m", other, stdin=NEW)


def test_missing_or_foreign_start_is_refused_and_no_mail_is_lost(own: Path, tmp_path: Path) -> None:
    for start, slug, status in (
        (tmp_path / "none", "model-missing", 66),
        (Path(__file__), "model-foreign", 65),
    ):
        text = error("learn", "spam", "-m", own, "--start", start, status=status)
        assert text.startswith(f"nbspam: {start}: ")
        assert slug in text
        done = program("classify", "-p", "-m", own, "--start", start, stdin=SPAM)
        assert (done.returncode, done.stdout) == (75, SPAM)
    assert not own.parent.exists()


def test_no_model_is_made_if_nothing_is_learned(shared: Path, own: Path, tmp_path: Path) -> None:
    assert "[no-such-class]" in error("learn", "work", "-m", own, "--start", shared, status=64, stdin=NEW)
    source = write_folders(tmp_path / "more", {"ham": [HAM], "work": [NEW]})
    text = error("train", "--update", source, "-m", own, "--start", shared, status=65)
    assert "[update-classes]" in text
    (tmp_path / "empty").mkdir()
    run("learn", "-q", "spam", tmp_path / "empty", "-m", own, "--start", shared)
    assert not own.exists()


def test_model_that_cannot_be_made_is_an_error(shared: Path, own: Path) -> None:
    text = error("learn", "spam", "-m", "/proc/own", "--start", shared, status=73, stdin=NEW)
    assert text.startswith("nbspam: /proc/own: cannot be written: ")
    done = subprocess.run(  # on a full disk
        [sys.executable, "-m", "nbspam", "learn", "spam", "-m", own, "--start", shared],
        input=NEW,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert done.returncode == 74, done.stderr
    assert b"Traceback" not in done.stderr
    assert list(own.parent.iterdir()) == []


def test_many_first_learners_at_once_lose_no_message(shared: Path, own: Path) -> None:
    messages = [mail(f"offer{n} of pills{n}") for n in range(8)]
    command = ["learn", "-q", "spam", "-m", own, "--start", shared]
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda one: process(*command, stdin=one), messages))
    assert [(one.returncode, one.stdout) for one in done] == [(0, b"learned\t-\n")] * 8
    other = shutil.copy(shared, own.parent.parent / "other")
    for message in messages:
        run("learn", "-q", "spam", "-m", other, stdin=message)
    assert counts(own) == counts(other)
    assert sorted(os.listdir(own.parent)) == [own.name, f"{own.name}-lock"]


def test_shared_model_whose_name_is_not_utf_8_is_copied(shared: Path, own: Path, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/b\xe4se"
    shutil.copy(shared, odd)
    done = program("learn", "spam", "-m", own, "--start", odd, stdin=NEW)
    assert done.returncode == 0
    assert b"begins as a copy of" in done.stderr
    assert check_model(str(own)) == []


def test_overlay_has_no_uncommitted_change(shared: Path, own: Path) -> None:
    expected = counts(shared)
    with closing(sqlite3.connect(shared, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE class SET messages = 77")
        assert begin_model(str(own), str(shared))
    assert counts(own) == expected


def test_journal_of_a_removed_model_is_not_played_back(shared: Path, own: Path, tmp_path: Path) -> None:
    old = Path(shutil.copy(shared, tmp_path / "old"))
    with closing(sqlite3.connect(old, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE token SET documents_0 = 9")
        journal = Path(journal_of(str(old))).read_bytes()
    own.parent.mkdir()
    Path(journal_of(str(own))).write_bytes(journal)
    assert begin_model(str(own), str(shared))
    assert counts(own) == counts(shared)
    assert {*os.listdir(own.parent)} == {own.name, f"{own.name}-lock"}
