"""Files are written whole or not at all: the mode, the link and the device that were there stay."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nbspam.errors import CannotCreateError, InputOutputError
from nbspam.files import whole_file
from nbspam.store.reader import open_model
from nbspam.store.writer import new_model
from tests.mail_samples import make_corpus, run_here


def write_model(path: Path) -> None:
    with new_model(str(path), ("ham", "spam"), [1, 2]) as file:
        file.settings({"alpha": "1"})


def write_text(path: Path) -> None:
    with whole_file(str(path)) as file:
        file.write(b"new")


def mode(path: Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


writers = pytest.mark.parametrize("write", [write_model, write_text])


@writers
@pytest.mark.parametrize("bits", [0o600, 0o640, 0o444])
def test_a_file_written_over_keeps_its_mode(write, bits: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(bits)
    write(path)
    assert path.read_bytes() not in (b"", b"old")
    assert mode(path) == bits


@writers
def test_what_killed_programs_left_is_removed_when_it_is_a_day_old(write, tmp_path: Path) -> None:
    names = [".file.1.new", ".file.7-0123abcd.new", ".file.7-0123abcd.new-journal", ".file.x.new"]
    names += [".file2.1.new", ".file.2.new"]
    for name in names:
        (tmp_path / name).write_bytes(b"left")
    for name in names[:-1]:
        os.utime(tmp_path / name, (0, 0))
    write(tmp_path / "file")
    assert sorted(os.listdir(tmp_path)) == [".file.2.new", ".file.x.new", ".file2.1.new", "file"]


@writers
def test_a_file_that_a_killed_program_of_the_same_number_left_is_not_in_the_way(
    write, tmp_path: Path
) -> None:
    (tmp_path / f".file.{os.getpid()}.new").write_bytes(b"left")
    write(tmp_path / "file")
    assert (tmp_path / "file").exists()


@writers
def test_a_new_file_has_the_mode_that_the_user_wants(write, tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write(tmp_path / "file")
    finally:
        os.umask(old)
    assert mode(tmp_path / "file") == 0o640


@writers
def test_root_leaves_a_file_to_its_owner(write, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    (tmp_path / "file").write_bytes(b"old")
    os.chown(tmp_path / "file", 12345, 23456)
    write(tmp_path / "file")
    found = os.stat(tmp_path / "file")
    assert (found.st_uid, found.st_gid) == (12345, 23456)


@writers
@pytest.mark.parametrize("there", [False, True])
def test_a_link_stays_a_link(write, there: bool, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    if there:
        (tmp_path / "folder" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("folder/file")
    write(tmp_path / "link")
    assert (tmp_path / "link").readlink() == Path("folder/file")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["file"]
    assert (tmp_path / "folder" / "file").read_bytes() not in (b"", b"old")


@writers
def test_after_an_error_the_old_file_is_there_and_nothing_beside_it(
    write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "file").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises((CannotCreateError, InputOutputError)):
        write(tmp_path / "file")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"old")]


def test_a_fifo_is_written_in_place(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_bytes()))
    reader.start()
    write_text(tmp_path / "fifo")
    reader.join(10)
    assert read == [b"new"]
    assert stat.S_ISFIFO(os.stat(tmp_path / "fifo").st_mode)


def test_a_model_takes_the_place_of_no_device(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(CannotCreateError, match="not a regular file"):
        write_model(tmp_path / "fifo")
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]


def test_a_model_trained_anew_is_as_private_as_it_was(tmp_path: Path) -> None:
    folder, model = str(make_corpus(tmp_path / "mail", {"ham": 3, "spam": 3})), tmp_path / "model"
    assert run_here("train", "-q", "-j1", folder, "-m", str(model))[0] == 0
    model.chmod(0o600)
    assert run_here("train", "-q", "-j1", folder, "-m", str(model), "--replace")[0] == 0
    assert mode(model) == 0o600
    assert open_model(str(model)).messages == [3, 3]


def test_eval_saves_to_a_fifo_and_to_stdout(tmp_path: Path) -> None:
    folder = str(make_corpus(tmp_path / "mail", {"ham": 6, "spam": 6}))
    os.mkfifo(tmp_path / "fifo")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_bytes()))
    reader.start()
    command = [sys.executable, "-m", "nbspam", "eval", "-q", "-j1", "--folds", "2", folder, "--save"]
    subprocess.run([*command, tmp_path / "fifo"], check=True, capture_output=True, cwd=tmp_path)
    reader.join(10)
    assert json.loads(read[0])["format"] == "nbspam-evaluation"
    out = subprocess.run([*command, "-"], check=True, capture_output=True, cwd=tmp_path).stdout
    assert out.endswith(read[0])
    assert sorted(os.listdir(tmp_path)) == ["fifo", "mail"]
