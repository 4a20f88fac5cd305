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

from nbspam import whole_file
from nbspam.cli import classify as command
from nbspam.store.inspect import check_model
from nbspam.store.reader import open_model
from nbspam.store.text import dump, load
from nbspam.workflow.classifying import open_classifier
from nbspam.workflow.learning import learn

LETTER = mail("cheap pills and a garden fence")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = write_folders(
        tmp_path / "mail",
        {"ham": [mail(f"garden fence{n}") for n in range(30)], "spam": [mail("cheap pills")]},
    )
    run("train", "-q", "-j1", folder, "-m", tmp_path / "model")
    return tmp_path / "model"


def half_written(model: Path) -> sqlite3.Connection:
    """A program in the middle of its transaction, pages of it in the file already."""
    writer = sqlite3.connect(model, isolation_level=None, check_same_thread=False)
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE token SET documents_0 = documents_0 + 1, text = text || 'x'")
    assert journal(model).exists()
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
    text = list(dump(read))
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
    expected = [f"{open_classifier(str(path)).verdict(LETTER, '-').log_odds}" for path in (model, new)]
    written: list[str] = []

    def messages(*given: object) -> Iterator[tuple[str, bytes]]:
        yield "-", LETTER
        os.replace(new, model)
        yield "-", LETTER

    monkeypatch.setattr(command, "named_messages", messages)
    monkeypatch.setattr(command, "_form", lambda classifier, verdict, options: f"{verdict.log_odds}")
    monkeypatch.setattr(command, "_write", written.append)
    assert command.classify({"model": str(model)}, []) == 0
    assert written == expected
