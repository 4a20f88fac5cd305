"""Mail that cannot be read: an error with its place and a remedy, and nothing is written."""

import gzip
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.hardship import HAM, SPAM, refusal
from tests.tiny_mail import PROGRAM, program, write_folders


@pytest.mark.parametrize("name", ["a\x1b[31mb", "new\nline", "tab\tname", " spaced ", "unsure"])
def test_a_wrong_class_name_is_refused(tmp_path: Path, name: str) -> None:
    write_folders(tmp_path / "source", {"ham": HAM, name: SPAM})
    for arguments, status, remedy in (
        ([tmp_path / "source"], 65, b"rename "),
        (["--ham", tmp_path / "source" / "ham", "--class", f"{name}={tmp_path}"], 64, b"give another name"),
        (["--ham", tmp_path / "source" / "ham", "--class", f"={tmp_path}"], 64, b"give another name"),
    ):
        done = program("train", *arguments, "-m", tmp_path / "new.nbspam")
        assert done.returncode == status
        assert b"next: " + remedy in done.stderr
        assert b"[class-name]" in done.stderr
        assert b"\x1b" not in done.stderr
        assert not (tmp_path / "new.nbspam").exists()


@pytest.mark.parametrize("command", [["classify"], ["explain"], ["learn", "spam"], ["unlearn"]])
def test_unreadable_parts_of_a_folder_are_named(model: Path, tmp_path: Path, command: list[str]) -> None:
    folder = write_folders(tmp_path, {"folder": SPAM[:1]}) / "folder"
    (folder / "link.eml").symlink_to("nowhere")
    os.mkfifo(folder / "fifo.eml")
    done = program(*command, "-m", model, folder)
    assert done.returncode == 66
    assert done.stdout
    errors = done.stderr.decode().split("nbspam: ")[1:]
    assert sorted(error.partition(": ")[0] for error in errors) == [
        f"{folder}/fifo.eml",
        f"{folder}/link.eml",
    ]


def test_a_damaged_compressed_file_is_not_a_message(model: Path, tmp_path: Path) -> None:
    damaged, before = tmp_path / "damaged.gz", model.read_bytes()
    damaged.write_bytes(gzip.compress(SPAM[0])[:10] + b"\xff" * 50)
    for command in (["learn", "spam"], ["classify"], ["classify", "--exit-code"], ["explain"]):
        done = program(*command, "-m", model, damaged)
        assert (done.returncode, done.stdout) == (66, b""), command
        assert b"and that it is whole" in done.stderr
    assert model.read_bytes() == before


def test_path_in_a_list_ends_at_a_line_feed_and_has_no_nul(model: Path, tmp_path: Path) -> None:
    odd, listed = tmp_path / "a\rb\x0b\x1c\x85c.eml", tmp_path / "list"
    odd.write_bytes(SPAM[0])
    done = program("classify", "-m", model, "--files-from", "-", stdin=os.fsencode(odd) + b"\n")
    assert (done.returncode, done.stdout[:5]) == (0, b"spam\t")
    listed.write_bytes(b"one.eml\ntwo.eml\0three.eml\n")
    refusal(65, "list-nul", listed, "learn", "spam", "-m", model, "--files-from", listed)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["classify", "explain", "learn -q spam"])
def test_a_pipe_of_the_shell_is_read_like_a_file(model: Path, command: str) -> None:
    words = shlex.join([*PROGRAM, *command.split(), "-m", str(model)])
    for line in (f"cat | {words} /dev/stdin", f"cat > mail; {words} <(cat mail)"):
        done = subprocess.run(["bash", "-c", line], input=SPAM[0], capture_output=True, cwd=model.parent)
        assert (done.returncode, done.stderr) == (0, b""), line
        assert done.stdout
