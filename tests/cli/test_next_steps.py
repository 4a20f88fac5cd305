"""What to type instead, where many people type something else; and no command that ends without a word."""

import os
import shutil
from pathlib import Path

import pytest

from tests.tiny_mail import error, mail, process, program, run, write_folders


@pytest.mark.parametrize("command", ["classify", "explain"])
def test_a_folder_without_messages_is_said_to_be_empty(command: str, model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = program(command, tmp_path / "empty", "-m", model)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"There is no message at these paths.\n"
    (tmp_path / "empty" / "1.eml").write_bytes(mail("a letter"))
    assert b"no message" not in program(command, tmp_path / "empty", "-m", model).stderr


@pytest.mark.parametrize("command", ["info", "check", "dump"])
def test_a_model_as_an_argument_is_answered_with_the_option(command: str, model: Path) -> None:
    text = error("model", command, model, status=64)
    assert f"next: nbspam model {command} -m {model}  [usage]" in text
    assert "-m" not in error("model", command, "no such file", status=64)


def test_a_class_as_an_option_is_answered_with_the_class(model: Path, tmp_path: Path) -> None:
    text = error("learn", "--spam", "-m", model, "two words.eml", status=64)
    assert f"next: nbspam learn spam -m {model} 'two words.eml'  [usage]" in text
    assert "next: nbspam help learn" in error("learn", "--junk", "-m", model, status=64)


def test_a_file_in_place_of_the_class_is_named_and_stdin_is_not_read(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "new.eml"
    path.write_bytes(mail("a letter"))
    for stdin in (b"", mail("another")):
        text = error("learn", path, "-m", model, status=64, stdin=stdin)
        assert f"{path}: is a file" in text and f"next: nbspam learn spam {path}" in text


def test_a_file_named_as_a_class_does_not_hide_the_class(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spam").write_bytes(b"")
    assert run("learn", "spam", "-m", model, stdin=mail("a letter")).startswith("learned")


def test_undo_names_what_it_took_for_mail(model: Path) -> None:
    assert "nbspam: 99: " in error("undo", "99", "-m", model, status=64)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o555)
    for place in ("model.nbspam", "share/nbspam/model.nbspam"):
        source = ["--ham", tmp_path, "--spam", tmp_path]
        text = error("train", *source, "-m", tmp_path / "home" / place, status=73)
        assert f"the folder {tmp_path}/home cannot be written to" in text


def test_a_folder_of_the_system_that_cannot_be_written_to_is_named(data: Path) -> None:
    done = process("train", data, "-m", f"/proc/{os.getpid()}/model.nbspam")
    assert (done.returncode, b"cannot be written to" in done.stderr) == (73, True)
    assert b"regular file" not in done.stderr


@pytest.mark.parametrize(("kind", "name"), [("gztar", "tar"), ("tar", "tar"), ("zip", "zip")])
def test_an_archive_is_to_be_unpacked(kind: str, name: str, tmp_path: Path) -> None:
    folder = write_folders(tmp_path / "mail", {"ham": [mail("a letter")], "spam": [mail("a prize")]})
    path = shutil.make_archive(str(tmp_path / "archive"), kind, folder)
    text = error("train", path, "-m", tmp_path / "model", status=65)
    assert f"packed with {name}" in text and "unpack it" in text


@pytest.mark.parametrize("charset", ["ascii", "latin-1"])
def test_bars_of_explain_are_readable_on_a_terminal_without_utf_8(
    charset: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", charset)
    letter = mail("a letter", "=?utf-8?q?=E6=A2=A8?=")
    shown = process("explain", "-m", model, stdin=letter).stdout.decode(charset)
    assert "##" in shown and "\\u25a0" not in shown
    assert "\\u68a8" in shown  # what the sender wrote is not spelled in another way
