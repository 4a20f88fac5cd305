"""`--start`: a model that begins as a copy of one that others share."""

from __future__ import annotations

import errno
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
from mail_samples import run_here
from test_serve import HAM, SPAM, tiny_model
from tiny_mail import counts, error, mail, process, program, run, write_folders

from nbspam.cli import train as train_cli
from nbspam.errors import NbspamError, TryAgainError
from nbspam.store import connection as store_connection
from nbspam.store import writer as store_writer
from nbspam.store.check import check_model
from nbspam.store.connection import journal_of
from nbspam.store.reader import open_model
from nbspam.tasks.start import copy_shared, own_or_shared

NEW = mail("a winner of the lottery")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("start"))


@pytest.fixture
def shared(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(trained, tmp_path / "shared"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Where nothing is yet, not even the folder."""
    return tmp_path / "folder" / "own"


@pytest.mark.parametrize("command", [["classify"], ["classify", "-p"], ["classify", "--json"], ["explain"]])
def test_until_there_is_a_model_its_start_judges(command: list[str], shared: Path, own: Path) -> None:
    expected = run(*command, "-m", shared, stdin=SPAM)
    assert run(*command, "-m", own, "--start", shared, stdin=SPAM) == expected
    assert not own.parent.exists()


def test_what_is_learned_first_is_learned_by_a_copy(shared: Path, own: Path, tmp_path: Path) -> None:
    before, other = shared.read_bytes(), Path(shutil.copy(shared, tmp_path / "other"))
    done = program("learn", "spam", "-m", own, "--start", shared, stdin=NEW)
    assert (done.returncode, done.stdout) == (0, b"learned\t-\n")
    assert done.stderr.decode() == f"{own} begins as a copy of {shared}.\n1 message: 1 learned.\n"
    run("learn", "-q", "spam", "-m", other, stdin=NEW)
    assert run("model", "dump", "-m", own) == run("model", "dump", "-m", other)
    assert shared.read_bytes() == before
    assert check_model(str(own)) == []


def test_a_model_that_is_there_needs_its_start_no_more(shared: Path, own: Path) -> None:
    run("learn", "-q", "spam", "-m", own, "--start", shared, stdin=NEW)
    shared.unlink()
    run("learn", "-q", "ham", "-m", own, "--start", shared, stdin=mail("fence"))
    expected = run("classify", "-m", own, stdin=NEW)
    assert run("classify", "-m", own, "--start", shared, stdin=NEW) == expected


def test_what_the_shared_model_counted_can_be_taken_out_of_the_copy(shared: Path, own: Path) -> None:
    assert run("unlearn", "-q", "-m", own, "--start", shared, stdin=SPAM) == "forgotten\t-\n"
    run("unlearn", "-q", "-m", shared, stdin=SPAM)
    assert counts(own) == counts(shared)


def test_much_mail_may_be_added_to_a_copy(shared: Path, own: Path, tmp_path: Path) -> None:
    source = write_folders(tmp_path / "more", {"ham": [mail("fence")], "spam": [NEW]})
    done = program("train", "--update", source, "-m", own, "--start", shared)
    assert done.stderr.decode().startswith(f"{own} begins as a copy of {shared}.\nAdded 2 messages ")
    run("train", "-q", "--update", source, "-m", shared)
    assert counts(own) == counts(shared)
    assert "[train-start]" in error("train", source, "-m", tmp_path / "new", "--start", shared, status=64)


def test_an_update_that_fails_makes_no_copy(shared: Path, own: Path, tmp_path: Path) -> None:
    source = write_folders(tmp_path / "more", {"ham": [HAM], "work": [NEW]})
    text = error("train", "--update", source, "-m", own, "--start", shared, status=65)
    assert "[update-classes]" in text
    assert not own.parent.exists()


def test_the_start_may_be_named_by_the_environment(
    shared: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBSPAM_START", str(shared))
    assert run("classify", "-m", own, stdin=SPAM).startswith("spam\t")
    run("learn", "-q", "ham", "-m", own, stdin=HAM)
    assert own.exists()
    own.unlink()
    assert "[model-missing]" in error("classify", "-m", own, "--start", "", status=66, stdin=SPAM)


def test_a_start_that_is_missing_or_no_model_is_told_and_loses_nothing(own: Path, tmp_path: Path) -> None:
    for start, slug in ((tmp_path / "none", "model-missing"), (Path(__file__), "model-foreign")):
        text = error("learn", "spam", "-m", own, "--start", start, status=66 if "miss" in slug else 65)
        assert text.startswith(f"nbspam: {start}: ")
        assert slug in text
        done = program("classify", "-p", "-m", own, "--start", start, stdin=SPAM)
        assert (done.returncode, done.stdout) == (75, SPAM)
    assert not own.parent.exists()


def test_a_class_that_the_start_has_not_makes_no_copy(shared: Path, own: Path) -> None:
    assert "[no-such-class]" in error("learn", "work", "-m", own, "--start", shared, status=64, stdin=NEW)
    assert not own.exists()


def test_no_message_makes_no_copy(shared: Path, own: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    run("learn", "-q", "spam", tmp_path / "empty", "-m", own, "--start", shared)
    assert not own.exists()


def test_a_place_where_none_can_be_made_is_told(shared: Path) -> None:
    text = error("learn", "spam", "-m", "/proc/own", "--start", shared, status=73, stdin=NEW)
    assert text.startswith(f"nbspam: /proc/own: cannot be made a copy of {shared}: ")


def test_a_disk_that_is_full_leaves_no_half_of_a_copy(shared: Path, own: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nbspam", "learn", "spam", "-m", own, "--start", shared],
        input=NEW,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert done.returncode == 74, done.stderr
    assert b"Traceback" not in done.stderr
    assert list(own.parent.iterdir()) == []
    run("learn", "-q", "spam", "-m", own, "--start", shared, stdin=NEW)


def test_of_many_that_begin_at_once_each_is_learned(shared: Path, own: Path, tmp_path: Path) -> None:
    messages = [mail(f"offer{n} of pills{n}") for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        done = list(
            pool.map(
                lambda one: process("learn", "-q", "spam", "-m", own, "--start", shared, stdin=one), messages
            )
        )
    assert [(one.returncode, one.stdout) for one in done] == [(0, b"learned\t-\n")] * 8
    for message in messages:
        run("learn", "-q", "spam", "-m", shared, stdin=message)
    assert counts(own) == counts(shared)
    assert os.listdir(own.parent) == [own.name]


def test_a_model_that_comes_first_stays(
    shared: Path, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`train` does not ask who copies: its file comes while the copy is being made."""
    first = Path(shutil.copy(shared, tmp_path / "first"))
    run("learn", "-q", "spam", "-m", first, stdin=NEW)

    def comes_first(path: str) -> None:
        first.rename(path)

    monkeypatch.setattr(store_writer, "_remove_journal", comes_first)
    expected = counts(first)
    assert not copy_shared(str(own), str(shared))
    assert counts(own) == expected
    assert os.listdir(own.parent) == [own.name]


def test_a_training_writes_over_no_model_that_began_meanwhile(
    shared: Path, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mail that was learned while the training read its own would be lost."""
    source = write_folders(tmp_path / "more", {"ham": [mail("fence")], "spam": [NEW]})
    monkeypatch.setattr(train_cli, "check_new_model", lambda *_: copy_shared(str(own), str(shared)))
    status, _, complaint = run_here("train", str(source), "-m", str(own), "-q", "-j1")
    assert (status, "[model-exists]" in complaint) == (73, True)
    assert counts(own) == counts(shared)
    assert os.listdir(own.parent) == [own.name]
    assert run_here("train", str(source), "-m", str(own), "-q", "-j1", "--replace")[0] == 0
    assert counts(own) != counts(shared)


@pytest.mark.parametrize("first", [False, True])
def test_a_file_system_without_links_has_models_too(
    first: bool, shared: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(source: str, target: str) -> None:
        if first:
            Path(target).write_bytes(b"another")
        raise PermissionError(errno.EPERM, "Operation not permitted", source)

    monkeypatch.setattr(os, "link", refused)
    assert copy_shared(str(own), str(shared)) != first
    assert own.read_bytes() == b"another" if first else counts(own) == counts(shared)
    assert os.listdir(own.parent) == [own.name]


def test_the_copy_is_of_what_is_done_and_not_of_what_is_begun(shared: Path, own: Path) -> None:
    expected = counts(shared)
    with closing(sqlite3.connect(shared, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE class SET messages = 77")
        assert copy_shared(str(own), str(shared))
    assert counts(own) == expected


def test_a_start_that_is_locked_is_a_passing_trouble(
    shared: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_connection, "BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(shared, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TryAgainError, match="another program is writing the model"):
            copy_shared(str(own), str(shared))
    assert not own.exists()


def test_the_journal_of_a_model_that_was_taken_away_is_not_played_back(
    shared: Path, own: Path, tmp_path: Path
) -> None:
    old = Path(shutil.copy(shared, tmp_path / "old"))
    with closing(sqlite3.connect(old, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE token SET documents_0 = 9")
        journal = Path(journal_of(str(old))).read_bytes()
    own.parent.mkdir()
    Path(journal_of(str(own))).write_bytes(journal)
    assert copy_shared(str(own), str(shared))
    assert counts(own) == counts(shared)
    assert os.listdir(own.parent) == [own.name]


def test_paths_need_not_be_utf8(shared: Path, tmp_path: Path) -> None:
    own = os.fsdecode(os.fsencode(tmp_path) + b"/\xff/\xfe")
    run("learn", "-q", "spam", "-m", own, "--start", shared, stdin=NEW)
    assert check_model(own) == []


def test_through_a_link_the_file_that_it_leads_to_is_made(shared: Path, own: Path, tmp_path: Path) -> None:
    own.parent.mkdir()
    own.symlink_to(tmp_path / "elsewhere" / "model")
    assert run("classify", "-m", own, "--start", shared, stdin=SPAM).startswith("spam\t")
    run("learn", "-q", "spam", "-m", own, "--start", shared, stdin=NEW)
    assert own.is_symlink()
    assert (tmp_path / "elsewhere" / "model").exists()


def test_a_folder_that_cannot_be_looked_into_is_not_taken_for_one_without_a_model(shared: Path) -> None:
    """Else the shared model would judge, and nobody would see that the own one is out of reach."""
    inside = shared / "own"
    assert own_or_shared(str(inside), str(shared)) == str(inside)
    with pytest.raises(NbspamError):
        open_model(own_or_shared(str(inside), str(shared)))


def test_doctor_tells_who_judges_and_looks_at_it(shared: Path, own: Path) -> None:
    text = run("doctor", "-m", own, "--start", shared)
    assert "learn begins with a copy of it" in " ".join(text.split())
    assert "2 ham, 2 spam" in text
    shared.write_bytes(shared.read_bytes()[:5000])
    assert "cut short" in " ".join(run("doctor", "-m", own, "--start", shared, status=65).split())
    shared.unlink()
    text = run("doctor", "-q", "-m", own, "--start", shared, status=66)
    assert f"start {shared}: there is no model here" in " ".join(text.split())


def test_doctor_judges_labels_by_the_start(shared: Path, own: Path, tmp_path: Path) -> None:
    source = write_folders(tmp_path / "wrong", {"ham": [SPAM], "spam": [HAM]})
    text = run("doctor", source, "-m", own, "--start", shared, status=65)
    assert "counted in the model as another class" in " ".join(text.split())
