"""A model or overlay from somebody else: refused with one line, soon, in little memory; mail is passed on."""

import contextlib
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from nbspam.filter import begin_model
from tests.laws.escapes import read_lines
from tests.store.changed_model import forge
from tests.tiny_mail import PROGRAM, mail, run, write_folders

pytestmark = pytest.mark.slow

PIPE = subprocess.PIPE
# Runs a program, and writes at the end of stderr its memory in kB and its seconds.
MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.stderr.write(f"\\n{used.ru_maxrss} {used.ru_utime + used.ru_stime}")
sys.exit(status)
"""

MESSAGE = mail("cheap pills")
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n {}) SELECT i"
MANY = NUMBERS.format("WHERE i < 400000")
TABLE = read_lines(Path(__file__).with_name("foreign.txt"))
PATHS = dict(line.split(" | ") for line in TABLE.pop("paths of a base"))


@pytest.mark.parametrize("kind", TABLE)
def test_model_of_somebody_else_is_refused_soon(model: Path, kind: str) -> None:
    with contextlib.closing(sqlite3.connect(model)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in TABLE[kind]:
            connection.execute(statement.replace("NUMBERS", NUMBERS.format("")).replace("MANY", MANY))
        connection.commit()
    if "class" in kind:
        forge(model, "UPDATE digest SET value = 0")
    for command in (["classify", "-p"], ["learn", "spam"], ["model", "check"]):
        done = bounded(*command, "-m", model)
        assert done.returncode == (75 if "-p" in command else 65), done
        assert done.stdout == (MESSAGE if "-p" in command else b"")
        assert b"[model-damaged]" in done.stderr
        assert b"\x1b" not in done.stderr


def test_blob_that_unpacks_to_gigabytes_is_refused(model: Path) -> None:
    packer = zlib.compressobj(9)
    bomb = b"".join([*(packer.compress(bytes(1 << 24)) for _ in range(100)), packer.flush()])
    with contextlib.closing(sqlite3.connect(model)) as connection:
        connection.execute("INSERT INTO autolearned VALUES (1, 5, 1, ?)", (bomb,))
        connection.commit()
    for command in (["model", "check"], ["model", "dump"]):
        assert bounded(*command, "-m", model).returncode == 65


def bounded(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """The program; it takes less than 100 MB and a second (of its own time: the machine may be busy)."""
    command = [*PROGRAM, *map(str, arguments)]
    process = subprocess.Popen(
        [sys.executable, "-c", MEASURE, *command], stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    out, err = process.communicate(MESSAGE)
    err, _, used = err.rpartition(b"\n")
    kilobytes, seconds = map(float, used.split())
    assert kilobytes < 100_000
    assert seconds < 1
    return subprocess.CompletedProcess(command, process.returncode, out, err)


NAN = struct.pack("<d", float("nan"))
COMMANDS = (
    *(["classify"], ["explain"], ["learn", "ham"], ["unlearn"], ["undo", "--last"], ["log"]),
    *(["model", "check"], ["model", "dump"], ["model", "rebase", "--start", "{renewed}"]),
)
REFUSED, NOTHING_LEARNED, TRY_AGAIN = 65, 66, 75


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a base, what it is after a lesson, and two overlays of the base."""
    folder = tmp_path_factory.mktemp("foreign")
    ham, spam = [[mail(f"{words} {n}") for n in range(60)] for words in ("garden fence", "cheap pills")]
    run("train", "-q", write_folders(folder / "mail", {"ham": ham, "spam": spam}), "-m", folder / "base")
    shutil.copy(folder / "base", folder / "renewed")
    run("learn", "-q", "ham", "-m", folder / "renewed", stdin=mail("a new fence"))
    for name in ("overlay", "other"):
        begin_model(str(folder / name), str(folder / "base"))
        run("learn", "-q", "spam", "-m", folder / name, stdin=mail("lottery"))
    os.mkfifo(folder / "fifo")
    return folder


def statuses(folder: Path) -> dict[str, int]:
    """The exit status of each command on the overlay; they leave no escape on the terminal."""
    found = {}
    for command in COMMANDS:
        words = [word.format(renewed=folder / "renewed") for word in command]
        place = [folder / "overlay"] if "rebase" in command else ["-m", folder / "overlay"]
        done = bounded(*words, *place)
        assert b"\x1b" not in done.stderr
        found[" ".join(command[:2])] = done.returncode
    return found


@pytest.mark.parametrize("kind", PATHS)
def test_base_that_is_no_model_is_refused_by_every_command(kind: str, made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "copy", ignore=shutil.ignore_patterns("fifo", "mail")))
    os.mkfifo(folder / "fifo")
    path = PATHS[kind].replace("FOLDER", str(folder))
    forge(folder / "overlay", f"UPDATE base SET path = {path}")
    found = statuses(folder)
    found.pop("model rebase")  # it takes another base
    assert {*found.values()} <= {REFUSED, TRY_AGAIN}, found


def test_weights_that_are_no_numbers_are_refused(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "copy", ignore=shutil.ignore_patterns("fifo", "mail")))
    forge(folder / "overlay", "UPDATE calibration SET weight = 9e999 WHERE number = 0")
    assert {*statuses(folder).values()} == {REFUSED}
