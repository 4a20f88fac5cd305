"""A model or overlay from somebody else: refused with one line, soon, in little memory; mail is passed on."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from nbspam.filter import begin_model
from tests.conftest import ROOT
from tests.laws.escapes import read_lines
from tests.store.changed_model import forge
from tests.tiny_mail import mail, run, write_folders

pytestmark = pytest.mark.slow

# Runs commands, and prints what each answers and its seconds, and the memory of all in kB.
MEASURE = """
import json, sys, time
from tests.tiny_mail import program
message, *commands = json.load(sys.stdin)
found = []
for command in commands:
    before = time.process_time()
    done = program(*command, stdin=message.encode())
    found.append([done.returncode, done.stdout.decode(), done.stderr.decode(), time.process_time() - before])
(memory,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(json.dumps([found, int(memory)]))
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
    commands = [
        [*words, "-m", str(model)] for words in (["classify", "-p"], ["learn", "spam"], ["model", "check"])
    ]
    for command, (status, out, err) in zip(commands, bounded(commands), strict=True):
        assert status == (75 if "-p" in command else 65), err
        assert out == (MESSAGE.decode() if "-p" in command else "")
        assert "[model-damaged]" in err
        assert "\x1b" not in err


def test_blob_that_unpacks_to_half_a_gigabyte_is_refused(model: Path) -> None:
    packer = zlib.compressobj(9)
    bomb = b"".join([*(packer.compress(bytes(1 << 24)) for _ in range(32)), packer.flush()])
    with contextlib.closing(sqlite3.connect(model)) as connection:
        connection.execute("INSERT INTO autolearned VALUES (1, 5, 1, ?)", (bomb,))
        connection.commit()
    commands = [["model", name, "-m", str(model)] for name in ("check", "dump")]
    assert [status for status, *_ in bounded(commands)] == [65, 65]


def bounded(commands: list[list[str]]) -> list[tuple[int, str, str]]:
    """Status, stdout and stderr of each command.

    Together they take less than 100 MB, and each less than a second of its own time.
    """
    given = json.dumps([MESSAGE.decode(), *commands])
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=given, capture_output=True, text=True, cwd=ROOT, check=True
    )
    found, kilobytes = json.loads(done.stdout)
    assert kilobytes < 100_000
    assert max(seconds for *_, seconds in found) < 1
    return [(status, out, err) for status, out, err, _ in found]


COMMANDS = ("classify", "explain", "learn ham", "unlearn", "undo --last", "log", "model check", "model dump")
REFUSED, TRY_AGAIN = 65, 75


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


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    shutil.copytree(made, tmp_path / "copy", ignore=shutil.ignore_patterns("fifo", "mail"))
    os.mkfifo(tmp_path / "copy/fifo")
    return tmp_path / "copy"


def statuses(folder: Path) -> list[int]:
    """The exit status of each command on the overlay, rebase at last; they leave no escape."""
    commands = [[*words.split(), "-m", str(folder / "overlay")] for words in COMMANDS]
    rebase = ["model", "rebase", "--start", str(folder / "renewed"), str(folder / "overlay")]
    done = bounded([*commands, rebase])
    assert not any("\x1b" in err for _, _, err in done)
    return [status for status, _, _ in done]


@pytest.mark.parametrize("kind", PATHS)
def test_base_that_is_no_model_is_refused_by_every_command(kind: str, folder: Path) -> None:
    forge(folder / "overlay", f"UPDATE base SET path = {PATHS[kind].replace('FOLDER', str(folder))}")
    assert {*statuses(folder)[:-1]} <= {REFUSED, TRY_AGAIN}  # rebase takes another base


def test_weights_that_are_no_numbers_are_refused(folder: Path) -> None:
    forge(folder / "overlay", "UPDATE calibration SET weight = 9e999 WHERE number = 0")
    assert {*statuses(folder)} == {REFUSED}
