"""Mail that cannot be read: an error with its place and a remedy, and nothing is written."""

from __future__ import annotations

import gzip
import os
import random
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.hardship import HAM, SPAM, program, refusal
from tests.tiny_mail import PROGRAM, mail, write_folders

READERS = (
    ["train", "-m", "new.nbspam"],
    ["eval"],
    ["vectorize", "--vocab", "v.tsv", "--event-model", "bernoulli", "-o", "x.npz"],
)


@pytest.fixture
def place(tmp_path: Path, source: Path) -> Path:
    """A working folder with a vocabulary in it and sources that are none."""
    assert program("vocab", "build", "-q", source, "-o", "v.tsv", cwd=tmp_path).returncode == 0
    write_folders(tmp_path / "one", {"ham": HAM})
    write_folders(tmp_path / "nothing", {"ham": [], "spam": []})
    (tmp_path / "empty").mkdir()
    (tmp_path / "unlabelled").mkdir()
    (tmp_path / "unlabelled" / "a.eml").write_bytes(HAM[0])
    (tmp_path / "empty.index").write_bytes(b"")
    (tmp_path / "odd.index").write_bytes(b"\x00\xff\xfe neither label nor path\n")
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("name", "status", "slug"),
    [
        ("missing", 66, "no-such-source"),
        ("one", 65, "one-class"),
        ("nothing", 66, "source-empty"),
        ("empty", 66, "source-empty"),
        ("unlabelled", 65, "unlabelled"),
        ("fifo", 66, "source-kind"),
    ],
)
def test_a_wrong_source_is_refused_and_nothing_is_written(
    place: Path, command: list[str], name: str, status: int, slug: str
) -> None:
    before = sorted(place.iterdir())
    if command[0] == "vectorize" and name == "one":
        pytest.skip("a matrix of one class is a matrix")
    refusal(status, slug, name, *command, name, cwd=place)
    assert sorted(place.iterdir()) == before


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


@pytest.fixture
def maildir(tmp_path: Path) -> Path:
    """A Maildir with a .Spam folder, and in it what cannot be read as mail."""
    folder = tmp_path / "Maildir"
    for part, messages in ((folder, HAM), (folder / ".Spam", SPAM)):
        for name in ("cur", "new", "tmp"):
            (part / name).mkdir(parents=True)
        for number, message in enumerate(messages):
            (part / "cur" / f"{number}.host:2,S").write_bytes(message)
    os.mkfifo(folder / "cur" / "fifo.host:2,S")
    (folder / "cur" / "dangling.host:2,S").symlink_to("nowhere")
    (folder / "cur" / "loop.host:2,S").symlink_to("loop.host:2,S")
    return folder


def test_unreadable_files_in_a_maildir_are_skipped_and_named(maildir: Path, tmp_path: Path) -> None:
    done = program("train", maildir, "-m", tmp_path / "new.nbspam")
    assert done.returncode == 66
    text = done.stderr.decode()
    assert "24 messages (12 ham, 12 spam)" in text
    for name in ("fifo", "dangling", "loop"):
        assert any(line.startswith("Skipped: ") and name in line for line in text.splitlines()), text


@pytest.fixture
def spoilt(tmp_path: Path) -> dict[str, Path]:
    """A folder with one message, a dangling link and a FIFO in it; compressed files with less than all."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "good.eml").write_bytes(SPAM[0])
    (folder / "link.eml").symlink_to("nowhere")
    os.mkfifo(folder / "fifo.eml")
    noise = random.Random(1)
    mbox = b"".join(
        b"From a@example.org Sat Jan  3 01:05:34 2026\n" + mail(noise.randbytes(9000).hex()) + b"\n"
        for _ in range(20)
    )
    packed = gzip.compress(mbox)
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) * 3 // 4])
    (tmp_path / "nothing.gz").write_bytes(packed[:10] + b"\xff" * 50)
    return {"folder": folder, "cut": tmp_path / "cut.gz", "nothing": tmp_path / "nothing.gz"}


@pytest.mark.parametrize("command", ["classify", "explain", "learn", "unlearn"])
def test_unreadable_parts_of_a_folder_or_mailbox_are_named(
    model: Path, spoilt: dict[str, Path], command: str
) -> None:
    class_name = ["spam"] if command == "learn" else []
    for name, unread in (
        ("folder", [spoilt["folder"] / "fifo.eml", spoilt["folder"] / "link.eml"]),
        ("cut", [spoilt["cut"]]),
    ):
        done = program(command, *class_name, "-m", model, spoilt[name])
        assert done.returncode == 66
        assert done.stdout
        errors = done.stderr.decode().split("nbspam: ")[1:]
        assert sorted(error.partition(": ")[0] for error in errors) == sorted(map(str, unread))


def test_a_damaged_compressed_file_is_not_a_message(
    model: Path, spoilt: dict[str, Path], source: Path
) -> None:
    before = model.read_bytes()
    for command in (["learn", "spam"], ["classify"], ["classify", "--exit-code"], ["explain"]):
        done = program(*command, "-m", model, spoilt["nothing"])
        assert (done.returncode, done.stdout) == (66, b""), command
        assert b"is used" not in done.stderr
        assert b"next: check that it is whole" in done.stderr
    assert model.read_bytes() == before
    ham = ["--ham", source / "ham", "-m", model.parent / "new"]
    done = program("train", "-j1", *ham, "--spam", spoilt["nothing"])
    assert done.returncode == 66
    assert b"nothing.gz: gz data damaged\n" in done.stderr
    assert not (model.parent / "new").exists()


@pytest.mark.parametrize("command", [["classify"], ["learn", "spam"]])
def test_a_list_of_paths_with_a_nul_is_refused_with_its_line(
    model: Path, tmp_path: Path, command: list[str]
) -> None:
    listed = tmp_path / "list"
    listed.write_bytes(b"one.eml\ntwo.eml\0three.eml\n")
    refusal(65, "list-nul", f"{listed}:2", *command, "-m", model, "--files-from", listed)


def test_a_listed_path_ends_only_at_a_line_feed(model: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a\rb\x0b\x1c\x85c.eml"
    odd.write_bytes(SPAM[0])
    done = program("classify", "-m", model, "--files-from", "-", stdin=os.fsencode(odd) + b"\n")
    assert (done.returncode, done.stdout[:5]) == (0, b"spam\t")


@pytest.mark.parametrize("command", ["classify", "explain", "learn -q spam", "classify --exit-code"])
def test_a_pipe_of_the_shell_is_read_like_a_file(model: Path, command: str) -> None:
    words = shlex.join([*PROGRAM, *command.split(), "-m", str(model)])
    for line in (f"cat | {words} /dev/stdin", f"cat > mail; {words} <(cat mail)"):
        done = subprocess.run(["bash", "-c", line], input=SPAM[0], capture_output=True, cwd=model.parent)
        assert (done.returncode, done.stderr) == (0, b""), line
        assert done.stdout
