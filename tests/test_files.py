"""Files are written whole or not at all; mode, owner, link and device stay."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nbspam.errors import CannotCreateError, InputOutputError
from nbspam.files import open_whole_file
from nbspam.store.writer import new_model
from tests.programs import needs_root


def write_model(path: Path) -> None:
    with new_model(str(path), ("ham", "spam"), [1, 2], "train") as file:
        file.settings({"alpha": "1"})


def write_text(path: Path) -> None:
    with open_whole_file(str(path)) as file:
        file.write(b"new")


def mode(path: Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


writers = pytest.mark.parametrize("write", [write_model, write_text])


@writers
@pytest.mark.parametrize("bits", [0o600, 0o640, 0o444])
def test_replaced_file_keeps_its_mode(write, bits: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(bits)
    write(path)
    assert path.read_bytes() not in (b"", b"old")
    assert mode(path) == bits


@writers
def test_files_of_killed_programs_are_removed_by_the_next(write, tmp_path: Path) -> None:
    names = [".file.1.new", ".file.7-0123abcd.new", ".file.7-0123abcd.new-journal", ".file.8.new-journal"]
    others = [".file.x.new", ".file2.1.new"]
    for name in (*names, *others):
        (tmp_path / name).write_bytes(b"left")
    write(tmp_path / "file")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "file"])


@writers
def test_file_that_another_program_writes_stays_whatever_its_number_and_age(write, tmp_path: Path) -> None:
    """The number of its process may be of another container, or of another machine."""
    code = (
        "import os, sys, time; from nbspam.files import NewFile\n"
        "with NewFile(sys.argv[1]) as new:\n"
        "    path = f'{sys.argv[1][:-4]}.file.1.new'\n"
        "    os.rename(new.path, path); open(f'{path}-journal', 'w'); os.utime(path, (0, 0))\n"
        "    print('there', flush=True); time.sleep(100)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "file")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout and other.stdout.readline() == "there\n"
        write(tmp_path / "file")
        assert sorted(os.listdir(tmp_path)) == [".file.1.new", ".file.1.new-journal", "file"]
        other.kill()
        other.wait()
        write(tmp_path / "file")
        assert {*os.listdir(tmp_path)} <= {"file", "file-lock"}


@writers
def test_new_file_is_private_whatever_the_umask(write, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        write(tmp_path / "file")
        write_model(tmp_path / "new" / "folder" / "file")
    finally:
        os.umask(old)
    assert mode(tmp_path / "file") == mode(tmp_path / "new" / "folder" / "file") == 0o600
    assert mode(tmp_path / "new") == mode(tmp_path / "new" / "folder") == 0o700


@needs_root("gives files away")
@writers
def test_root_keeps_the_owner(write, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    os.chown(tmp_path / "file", 12345, 23456)
    write(tmp_path / "file")
    found = os.stat(tmp_path / "file")
    assert (found.st_uid, found.st_gid) == (12345, 23456)


@writers
@pytest.mark.parametrize("there", [False, True])
def test_link_stays_a_link(write, there: bool, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    if there:
        (tmp_path / "folder" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("folder/file")
    write(tmp_path / "link")
    assert (tmp_path / "link").readlink() == Path("folder/file")
    assert {path.name for path in (tmp_path / "folder").iterdir()} - {"file-lock"} == {"file"}
    assert (tmp_path / "folder" / "file").read_bytes() not in (b"", b"old")


@writers
def test_error_leaves_the_old_file_and_nothing_else(
    write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "file").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises((CannotCreateError, InputOutputError)):
        write(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} - {"file-lock"} == {"file"}


def test_fifo_is_written_in_place(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_bytes()))
    reader.start()
    write_text(tmp_path / "fifo")
    reader.join(10)
    assert read == [b"new"]
    assert stat.S_ISFIFO(os.stat(tmp_path / "fifo").st_mode)


def test_model_does_not_replace_a_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(CannotCreateError, match="not a regular file"):
        write_model(tmp_path / "fifo")
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]
