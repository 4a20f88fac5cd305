"""A model that is replaced while other programs wait for it, write to it or read it."""

import json
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nbspam import files
from nbspam.cli import classify
from nbspam.errors import TryAgainError
from nbspam.filter import open_filter
from nbspam.learning.learn import learn_message
from nbspam.store.check import check_model
from nbspam.store.text import dump_model, load_dump
from tests.server import eventually
from tests.store.test_turns import count_writers
from tests.tiny_mail import PROGRAM, counts, mail, run, write_folders

LETTER = mail("cheap pills and a garden fence")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    ham = [mail("garden " + " ".join(f"fence{n}x{m}" for m in range(60))) for n in range(30)]
    folder = write_folders(tmp_path / "mail", {"ham": ham, "spam": [mail("cheap pills")]})
    run("train", "-q", "-j1", folder, "-m", tmp_path / "model")
    return tmp_path / "model"


def half_written(model: Path) -> sqlite3.Connection:
    """A writer in the middle of its transaction, with pages of it in the file already."""
    writer = sqlite3.connect(model, isolation_level=None, check_same_thread=False)
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE token SET documents_0 = documents_0 + 1, text = text || 'x'")
    assert journal(model).read_bytes()[:1] != b"\0"
    return writer


def journal(model: Path) -> Path:
    return Path(f"{model}-journal")


def test_waiting_writer_keeps_the_new_writers_journal(model: Path, tmp_path: Path) -> None:
    other, new = shutil.copy(model, tmp_path / "other"), shutil.copy(model, tmp_path / "new")
    learn_message(str(other), "spam", LETTER)
    first = sqlite3.connect(model, isolation_level=None)
    first.execute("BEGIN IMMEDIATE")
    (tmp_path / "letter").write_bytes(LETTER)
    # Not a thread, which would wait for this one between two steps.
    waiting = subprocess.Popen([*PROGRAM, "learn", "spam", tmp_path / "letter", "-m", model, "-q"])
    eventually(lambda: count_writers(model) == 1)
    time.sleep(0.1)
    os.replace(new, model)
    third = half_written(model)
    first.execute("ROLLBACK")
    time.sleep(0.5)
    assert journal(model).exists()
    third.execute("ROLLBACK")
    assert waiting.wait(60) == 0
    assert counts(model) == counts(Path(other))
    assert check_model(str(model)) == []


def test_replacing_keeps_the_journal_of_a_writer_to_the_new_model(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the folder is flushed to the disk, after the file has its new name, another program may write."""
    flush = files.flush
    writers: list[sqlite3.Connection] = []

    def flush_and_begin(path: str) -> None:
        flush(path)
        if path == str(tmp_path):
            writers.append(half_written(model))

    text = [line.encode() for line in dump_model(str(model))]
    monkeypatch.setattr(files, "flush", flush_and_begin)
    load_dump(text, "text", str(model))
    (writer,) = writers
    assert journal(model).exists()
    writer.execute("ROLLBACK")
    assert check_model(str(model)) == []


def test_model_whose_schema_is_not_utf_8_is_replaced(model: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(model)) as file:
        file.execute("PRAGMA writable_schema = ON")
        file.execute("UPDATE sqlite_master SET sql = CAST(x'43ff' AS TEXT) WHERE name = 'sender'")
        file.commit()
    run("train", "-q", "-j1", "--replace", tmp_path / "mail", "-m", model)
    assert check_model(str(model)) == []


@pytest.mark.parametrize("command", ["classify", "explain"])
def test_model_replaced_between_two_messages_is_followed(
    command: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = tmp_path / "new"
    run("train", "-q", "-j1", "--textbook", tmp_path / "mail", "-m", new)
    expected = [open_filter(str(path)).classify(LETTER, "-").log_odds for path in (model, new)]

    def messages(*given: object) -> Iterator[tuple[str, bytes]]:
        yield "-", LETTER
        os.replace(new, model)
        yield "-", LETTER

    monkeypatch.setattr(classify.ReadableMessages, "__iter__", messages)
    lines = run(command, "--json", "-m", model).splitlines()
    assert [json.loads(line)["log_odds"] for line in lines] == expected


def test_failure_on_a_replaced_model_is_temporary(model: Path, tmp_path: Path) -> None:
    """SQLite takes the journal of the new file's writer for the old file's, and may not play it back."""
    opened = open_filter(str(model))
    os.replace(shutil.copy(model, tmp_path / "new"), model)
    writer = half_written(model)
    with pytest.raises(TryAgainError, match="was replaced"):
        opened.classify(LETTER, "-")
    writer.execute("ROLLBACK")
    assert opened.classify(LETTER, "-").probability is not None
