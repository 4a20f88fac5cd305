"""A model that is replaced while others wait for it, begin to write to it, or read on."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_mail import counts, mail, run, write_folders

from nbspam import files as whole_file
from nbspam.cli import classify as command
from nbspam.cli import explain
from nbspam.corpus import Item
from nbspam.errors import TryAgainError
from nbspam.filter import open_filter
from nbspam.model.explain import Explanation
from nbspam.store import reader
from nbspam.store.check import check_model
from nbspam.store.connection import ReadingConnection, open_to_write
from nbspam.store.learn import learn
from nbspam.store.reader import open_model
from nbspam.store.text import dump, load
from nbspam.tasks.evaluate import evaluate_model

LETTER = mail("cheap pills and a garden fence")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    ham = [mail("garden " + " ".join(f"fence{n}x{m}" for m in range(60))) for n in range(30)]
    folder = write_folders(tmp_path / "mail", {"ham": ham, "spam": [mail("cheap pills")]})
    run("train", "-q", "-j1", folder, "-m", tmp_path / "model")
    return tmp_path / "model"


def half_written(model: Path) -> sqlite3.Connection:
    """A program in the middle of its transaction, pages of it in the file already."""
    writer = sqlite3.connect(model, isolation_level=None, check_same_thread=False)
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE token SET documents_0 = documents_0 + 1, text = text || 'x'")
    assert journal(model).read_bytes()[:1] != b"\0"  # else SQLite would not take it for one to be played back
    return writer


def journal(model: Path) -> Path:
    return Path(f"{model}-journal")


def test_who_waited_for_a_model_that_is_replaced_leaves_the_journal_of_the_next_writer(
    model: Path, tmp_path: Path
) -> None:
    other, new = shutil.copy(model, tmp_path / "other"), shutil.copy(model, tmp_path / "new")
    learn(str(other), "spam", LETTER)
    first = sqlite3.connect(model, isolation_level=None)
    first.execute("BEGIN IMMEDIATE")
    said: list[str] = []
    waiting = threading.Thread(target=lambda: said.append(learn(str(model), "spam", LETTER)))
    waiting.start()
    time.sleep(0.3)
    os.replace(new, model)
    third = half_written(model)
    first.execute("ROLLBACK")
    time.sleep(0.5)
    assert journal(model).exists()
    third.execute("ROLLBACK")
    waiting.join()
    assert said == ["learned"]
    assert counts(model) == counts(Path(other))
    assert check_model(str(model)) == []


def test_training_anew_leaves_the_journal_of_who_writes_to_the_new_model(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the new name and the return of `keep` the folder is written to the disk: time for a learner."""
    flush = whole_file._flush
    writers: list[sqlite3.Connection] = []

    def flush_and_begin(path: str) -> None:
        flush(path)
        if path == str(tmp_path):
            writers.append(half_written(model))

    read = open_model(str(model))
    text = [line.encode() for line in dump(read)]
    read.close()
    monkeypatch.setattr(whole_file, "_flush", flush_and_begin)
    load(text, "text", str(model))
    (writer,) = writers
    assert journal(model).exists()
    writer.execute("ROLLBACK")
    assert check_model(str(model)) == []


def test_classify_follows_a_model_that_is_replaced(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file is nobody's; and a journal beside the new one would be taken for its own."""
    new = tmp_path / "new"
    run("train", "-q", "-j1", "--textbook", tmp_path / "mail", "-m", new)
    expected = [f"{open_filter(str(path)).classify(LETTER, '-').log_odds}" for path in (model, new)]
    written: list[str] = []

    def messages(*given: object) -> Iterator[tuple[str, bytes]]:
        yield "-", LETTER
        os.replace(new, model)
        yield "-", LETTER

    monkeypatch.setattr(command, "named_messages", messages)
    monkeypatch.setattr(command, "verdict_json", lambda judge, verdict: f"{verdict.log_odds}")
    monkeypatch.setattr(command, "_write", written.append)
    assert command.classify({"model": str(model), "json": "1"}, []) == 0
    assert written == expected


def test_explain_follows_a_model_that_is_replaced(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is not stopped by who writes to the new one, whose journal is not of the file that was open."""
    new = tmp_path / "new"
    run("train", "-q", "-j1", "--textbook", tmp_path / "mail", "-m", new)
    expected = [open_filter(str(path)).classify(LETTER, "-").log_odds for path in (model, new)]
    found: list[float | None] = []

    def messages(*given: object) -> Iterator[tuple[str, bytes]]:
        yield "-", LETTER
        os.replace(new, model)
        yield "-", LETTER

    def form(explained: Explanation, *others: object) -> str:
        found.append(explained.verdict.log_odds)
        return ""

    monkeypatch.setattr(command, "named_messages", messages)
    monkeypatch.setattr(explain, "explanation_json", form)
    assert explain.explain_command.callback((), str(model), "", 1, None, True) == 0  # type: ignore[misc]
    assert found == expected


def test_what_fails_on_a_model_that_was_replaced_is_not_told_of_the_new_one(
    model: Path, tmp_path: Path
) -> None:
    """SQLite takes the journal of who writes to the new file for the old one's, and may not play it back."""
    opened = open_filter(str(model))
    os.replace(shutil.copy(model, tmp_path / "new"), model)
    writer = half_written(model)
    with pytest.raises(TryAgainError, match="was replaced"):
        opened.classify(LETTER, "-")
    writer.execute("ROLLBACK")
    assert opened.classify(LETTER, "-").label == "spam"


def test_a_model_that_is_replaced_while_it_is_opened_is_followed(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = shutil.copy(model, tmp_path / "new")
    connect = reader.open_to_read

    def connect_and_replace(path: str) -> ReadingConnection:
        connection = connect(path)
        os.replace(new, path)
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(reader, "open_to_read", connect_and_replace)
        opened = open_model(str(model))
    assert opened.replaced()
    opened.close()
    assert not open_model(str(model)).replaced()


def test_a_file_that_cannot_be_locked_is_closed(model: Path) -> None:
    """Where it is kept open, the locks that the process has on it are lost when it is closed at last."""
    model.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(sqlite3.DatabaseError) as kept:
        open_to_write(str(model), 1)
    held = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if name.isdigit()
            and os.path.exists(f"/proc/self/fd/{name}")]  # fmt: skip
    assert str(model) not in held
    assert kept


def test_an_evaluation_is_not_made_by_two_models(model: Path, tmp_path: Path) -> None:
    """Each process opens the model when its first mail comes, and the settings told are of the one before."""
    new = shutil.copy(model, tmp_path / "new")

    def items() -> Iterator[Item]:
        os.replace(new, model)
        yield Item("a", "ham", "a", data=LETTER)

    with pytest.raises(TryAgainError, match="was replaced"):
        evaluate_model(items(), ("ham", "spam"), str(model))
