"""No damage goes unseen: a damaged file is refused or found by `model check`, or still says the same.

`make crash` tries 2,000 files, `make test` fewer.
"""

import contextlib
import os
import random
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tiny_mail import mail, program, run

FILES = int(os.environ.get("NBSPAM_DAMAGED", 60))
MESSAGE = mail("cheap pills and minutes of the meeting")
COMMANDS = (
    *(["classify"], ["explain"], ["model", "info"], ["model", "dump"], ["learn", "spam"], ["log"]),
    *(["undo", "--last"], ["unlearn"]),
)


def flipped(path: Path, drawn: random.Random) -> None:
    """One or two bits."""
    data = bytearray(path.read_bytes())
    for _ in range(drawn.randint(1, 2)):
        data[drawn.randrange(len(data))] ^= 1 << drawn.randrange(8)
    path.write_bytes(data)


def cut(path: Path, drawn: random.Random) -> None:
    os.truncate(path, drawn.randrange(os.path.getsize(path)))


def overwritten(path: Path, drawn: random.Random) -> None:
    """A stretch of bytes is lost, or comes from elsewhere in the file."""
    data = bytearray(path.read_bytes())
    size = drawn.choice((8, 100, 4096))
    to, start = (drawn.randrange(len(data) - size) for _ in range(2))
    data[to : to + size] = drawn.choice((bytes(size), data[start : start + size], drawn.randbytes(size)))
    path.write_bytes(data)


def no_number(path: Path, drawn: random.Random) -> None:
    """One of the floats becomes NaN."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        values = [value for (value,) in connection.execute("SELECT weight FROM calibration")]
    old = struct.pack(">d", drawn.choice([value for value in values if value != int(value)]))
    path.write_bytes(path.read_bytes().replace(old, struct.pack(">d", float("nan")), 1))


@pytest.mark.crash
@pytest.mark.parametrize("damage", [flipped, cut, overwritten, no_number])
def test_damage_is_refused_or_found_and_is_no_fault_of_ours(
    model: Path, tmp_path: Path, damage: Callable[[Path, random.Random], None]
) -> None:
    whole, text = model.read_bytes(), run("model", "dump", "-m", model)
    kinds = {"refused or found": 0, "the same": 0}
    for number in range(max(12, FILES // 5)):  # of two, none may have changed anything
        model.write_bytes(whole)
        damage(model, random.Random(f"{damage.__name__} {number}"))
        damaged = model.read_bytes()
        for command in (["model", "check"], *COMMANDS):
            done = program(*command, "-m", model, stdin=MESSAGE)
            allowed = (64, 65, 66) if command[0] == "undo" else (0, 64, 65)  # the mail was in a pipe
            assert done.returncode in allowed, (number, command, done)
            assert b"Traceback" not in done.stderr
            if command == ["model", "check"]:
                found = done.returncode == 65
            elif command == ["model", "dump"] and not found:
                assert done.stdout.decode() == text, number
        kinds["refused or found" if found else "the same"] += 1
        if found:
            model.write_bytes(damaged)
            passed = program("classify", "-p", "-m", model, stdin=MESSAGE)
            assert passed.returncode in (0, 75)
            assert passed.stdout.endswith(MESSAGE)
    assert kinds["refused or found"] > 0, kinds
