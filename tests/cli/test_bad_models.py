"""Files that are not sound models, and places where no model can be made."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam.store.connection import FORMAT
from tests.cli.hardship import HAM, refusal
from tests.tiny_mail import program


def of_format(number: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:60] + number.to_bytes(4, "big") + data[64:]


BAD_MODELS: dict[str, tuple[Callable[[bytes], bytes | None], int, str]] = {
    "missing": (lambda data: None, 66, "model-missing"),
    "empty": (lambda data: b"", 65, "model-empty"),
    "cut short": (lambda data: data[: len(data) // 2], 65, "model-truncated"),
    "cut in the header": (lambda data: data[:50], 65, "model-truncated"),
    "text": (lambda data: b"this is a letter\n" * 1000, 65, "model-foreign"),
    "newer": (of_format(FORMAT + 1), 65, "model-format-newer"),
    "older": (of_format(FORMAT - 1), 65, "model-format-older"),
    "another program's": (lambda data: data[:68] + bytes(4) + data[72:], 65, "model-foreign"),
    "damaged": (lambda data: data[:100] + bytes(len(data) - 100), 65, "model-damaged"),
}

MODEL_COMMANDS = (
    ["classify"],
    ["explain"],
    ["learn", "spam"],
    *(["model", name] for name in ("info", "check", "dump")),
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


@pytest.mark.parametrize("name", ["folder/", "folder", "new/", "", "/dev/null", "file/new"])
def test_a_wrong_model_path_is_refused_before_mail_is_read(
    source: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir())
    refusal(73, "model-create", name, "train", source, "-m", name, "--replace")
    refusal(73, "model-create", name, "tune", "no-such-mail", "--write", "--replace", "-m", name)
    refusal(73, "model-create", name, "model", "merge", model, model, "-o", name, "--replace")
    assert sorted(os.listdir()) == before


def test_an_empty_model_name_is_not_the_default_model(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBSPAM_MODEL", str(model))
    for command in (["classify"], ["explain"], ["learn", "spam"], ["model", "info"]):
        refusal(66, "model-missing", "", *command, "-m", "", stdin=b"Subject: x\n\ny\n")


@pytest.mark.parametrize("options", [[], ["--replace"]])
def test_another_file_is_never_overwritten_by_a_model(
    source: Path, model: Path, tmp_path: Path, options: list[str]
) -> None:
    mailbox = tmp_path / "inbox"
    mailbox.write_bytes(b"From a@example.org Mon Jan  1 00:00:00 2024\n" + HAM[0])
    for command in (
        ["train", source, "-m"],
        ["tune", source, "--write", "-m"],
        ["model", "load", "-m"],
        ["model", "import", "-m"],
        ["model", "merge", model, model, "-o"],
    ):
        refusal(73, "model-foreign", mailbox, *command, mailbox, *options)
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
