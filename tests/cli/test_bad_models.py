"""Files that are not sound models, and places where no model can be made."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam.store.connection import APPLICATION_ID, FORMAT
from tests import tiny_mail
from tests.cli.hardship import HAM, SPAM, program, refusal
from tests.tiny_mail import write_folders


def _newer(data: bytes) -> bytes:
    return data[:60] + (FORMAT + 1).to_bytes(4, "big") + data[64:]


def _older(data: bytes) -> bytes:
    return data[:60] + (FORMAT - 1).to_bytes(4, "big") + data[64:]


def _foreign(data: bytes) -> bytes:
    assert int.from_bytes(data[68:72], "big") == APPLICATION_ID
    return data[:68] + bytes(4) + data[72:]


BAD_MODELS: dict[str, tuple[Callable[[bytes], bytes | None], int, str]] = {
    "missing": (lambda data: None, 66, "model-missing"),
    "empty": (lambda data: b"", 65, "model-empty"),
    "cut short": (lambda data: data[: len(data) // 2], 65, "model-truncated"),
    "cut in the header": (lambda data: data[:50], 65, "model-truncated"),
    "text": (lambda data: b"this is a letter\n" * 1000, 65, "model-foreign"),
    "newer": (_newer, 65, "model-format-newer"),
    "older": (_older, 65, "model-format-older"),
    "another program's": (_foreign, 65, "model-foreign"),
    "damaged": (lambda data: data[:100] + bytes(len(data) - 100), 65, "model-damaged"),
}

MODEL_COMMANDS = (
    ["classify"],
    ["explain"],
    ["learn", "spam"],
    ["model", "info"],
    ["model", "check"],
    ["model", "dump"],
)


@pytest.mark.parametrize("kind", BAD_MODELS)
def test_a_bad_model_is_refused_by_every_command_and_not_changed(
    trained: bytes, tmp_path: Path, source: Path, kind: str
) -> None:
    change, status, slug = BAD_MODELS[kind]
    path = tmp_path / "model"
    content = change(trained)
    if content is not None:
        path.write_bytes(content)
    for command in MODEL_COMMANDS:
        refusal(status, slug, path, *command, "-m", path, stdin=HAM[0])
    message = b"Subject: \0\xff\r\n\r\nno end"
    done = program("classify", "-p", "-m", path, stdin=message)
    assert (done.returncode, done.stdout, f"[{slug}]" in done.stderr.decode()) == (75, message, True)
    refusal(status, slug, path, "eval", source, "-m", path)
    refusal(status, slug, path, "train", "--update", source, "-m", path)
    refusal(status, slug, path, "model", "merge", path, path, "-o", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert (path.read_bytes() if path.exists() else None) == content


def test_a_model_with_any_page_overwritten_never_ends_in_a_traceback(trained: bytes, tmp_path: Path) -> None:
    drawn = random.Random(7)
    path = tmp_path / "model"
    for _ in range(12):
        at = drawn.randrange(100, len(trained) - 600)
        path.write_bytes(trained[:at] + drawn.randbytes(600) + trained[at + 600 :])
        # Damage that is still a database may hold counts that no mail has: 70 is for these.
        judged = tiny_mail.program("classify", "-m", path, stdin=SPAM[0])
        assert judged.returncode in (0, 65, 70)
        assert b"Traceback" not in judged.stderr
        done = program("classify", "-p", "-m", path, stdin=SPAM[0])
        assert done.returncode in (0, 75)
        assert done.stdout.endswith(SPAM[0])


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE class (number, name)")
    refusal(65, "model-foreign", path, "classify", "-m", path, stdin=HAM[0])


@pytest.mark.parametrize("name", ["folder/", "folder", "new/", "", "/dev/null"])
def test_a_wrong_model_path_is_refused_before_mail_is_read(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir())
    refusal(73, "model-create", name, "train", "no-such-mail", "-m", name, "--replace")
    refusal(73, "model-create", name, "tune", "no-such-mail", "--write", "--replace", "-m", name)
    refusal(73, "model-create", name, "model", "merge", model, model, "-o", name, "--replace")
    assert sorted(os.listdir()) == before


def test_an_empty_model_name_is_not_the_default_model(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBSPAM_MODEL", str(model))
    for command in (["classify"], ["explain"], ["learn", "spam"], ["model", "info"]):
        refusal(66, "model-missing", "", *command, "-m", "", stdin=b"Subject: x\n\ny\n")


@pytest.mark.parametrize("options", [[], ["--replace"]])
@pytest.mark.parametrize(
    "command",
    [
        ["train", "SOURCE", "-m"],
        ["tune", "SOURCE", "--write", "-m"],
        ["model", "load", "-m"],
        ["model", "import", "-m"],
        ["model", "merge", "MODEL", "MODEL", "-o"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_another_file_is_never_overwritten_by_a_model(
    source: Path, model: Path, tmp_path: Path, command: list[str], options: list[str]
) -> None:
    mailbox = tmp_path / "inbox"
    mailbox.write_bytes(b"From a@example.org Mon Jan  1 00:00:00 2024\n" + HAM[0])
    named = {"SOURCE": source, "MODEL": model}
    arguments = [named.get(word, word) for word in command]
    refusal(73, "model-foreign", mailbox, *arguments, mailbox, *options)
    assert HAM[0] in mailbox.read_bytes()


def test_a_damaged_or_an_empty_model_is_replaced(source: Path, trained: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model"
    for content in (b"", trained[:5000]):
        path.write_bytes(content)
        assert program("train", "--replace", source, "-m", path).returncode == 0
        assert program("model", "check", "-m", path).returncode == 0


def test_an_output_never_overwrites_an_input(source: Path, model: Path, tmp_path: Path) -> None:
    vocabulary, mailbox, words = tmp_path / "v.tsv", tmp_path / "ham.mbox", tmp_path / "words"
    assert program("vocab", "build", source, "-o", vocabulary, "-q").returncode == 0
    mailbox.write_bytes(b"From a@example.org Mon Jan  1 00:00:00 2024\n" + HAM[0])
    words.write_text("viagra\n")
    mail = ("--ham", mailbox, "--spam", source / "spam")
    by = ("--vocab", vocabulary, "--event-model", "bernoulli")
    (tmp_path / "link").symlink_to(model)
    before = {path: path.read_bytes() for path in (vocabulary, mailbox, words, model)}
    for path, command in (
        (vocabulary, ["vectorize", source, *by, "-o"]),
        (mailbox, ["vectorize", *mail, *by, "-o"]),
        (mailbox, ["vocab", "build", *mail, "-o"]),
        (words, ["vocab", "build", *mail, "--word-list", words, "-o"]),
        (model, ["model", "dump", "-m", model, "-o"]),
        (tmp_path / "link", ["model", "dump", "-m", model, "-o"]),
        (model, ["eval", source, "-m", model, "--save"]),
        (vocabulary, ["eval", source, "--folds", "2", "--vocab", vocabulary, "--results"]),
        (mailbox, ["eval", f"--class=ham={mailbox}", *mail[2:], "--report"]),
        (tmp_path / "new", ["eval", source, "--folds", "2", "--save", tmp_path / "new", "--results"]),
    ):
        refusal(64, "output-twice", path, *command, path)
    assert {path: path.read_bytes() for path in before} == before
    assert program("eval", source, "--folds", "2", "--save=/dev/null", "--results=/dev/null").returncode == 0


@pytest.mark.parametrize("target", ["gone", "no/such/folder/gone"])
def test_a_broken_link_leads_to_the_new_model(tmp_path: Path, target: str) -> None:
    source = write_folders(tmp_path / "source", {"ham": HAM, "spam": SPAM})
    (tmp_path / "link").symlink_to(target)
    assert program("train", "-q", source, "-m", tmp_path / "link").returncode == 0
    assert (tmp_path / "link").readlink() == Path(target)
    assert (tmp_path / target).is_file()
    refusal(73, "model-exists", tmp_path / "link", "train", source, "-m", tmp_path / "link")
