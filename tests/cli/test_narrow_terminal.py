"""Claims about a terminal of 40 columns: columns go, words and figures stay whole."""

import io
import os
import re
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from tests.tiny_mail import PROGRAM, program, run


class Terminal(io.TextIOWrapper):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def home(data: Path, data_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the commands read."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "data").symlink_to(data)
    (folder / "m").symlink_to(data_model)
    run("vocab", "build", "-q", folder / "data", "-o", folder / "v.tsv", "--size", 30)
    for alpha in ("0.01", "1"):
        saved = ("--save", folder / f"{alpha}.json")
        run("eval", "-q", "-j1", "--folds", 2, "--alpha", alpha, folder / "data", *saved)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "explain --top 20 -m m data/spam/0002.eml",
        "compare 0.01.json 1.json",
        "model info -m m",
        "log -m m",
        "vocab show v.tsv",
        "eval -q -m m data",
        "doctor -m m",
    ],
)
def test_no_word_is_broken_at_40_columns(home: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    wide = program(*command.split()).stdout.decode()
    for name, value in {"COLUMNS": "40", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    with mock.patch("io.TextIOWrapper", Terminal):
        shown = program(*command.split()).stdout.decode()
    lines = re.sub(r"\x1b\[[\d;]*m", "", shown).splitlines()
    assert max(map(len, lines)) <= 40
    # A word of 30 characters or more may be broken, and a line about a message ends in ….
    whole = {word for word in wide.split() if len(word) < 30}
    long = " ".join(word for word in wide.split() if len(word) >= 30)
    odd = {word for line in lines if not line.endswith("…") for word in line.split()} - whole
    heads_of_log = {"when", "by", "messages", "source"}  # lines with tabs have none
    assert {word for word in odd if word not in long and not {*word} <= {*"─■"}} <= heads_of_log


def test_classify_of_many_says_how_far_it_is(home: Path) -> None:
    """On a terminal that does not show the verdicts themselves."""
    terminal, end = os.openpty()
    command = [*PROGRAM, "classify", "-m", home / "m", home / "data"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=end, env=os.environ | {"TERM": "xterm"})
    os.close(end)
    assert b"Classifying" in os.read(terminal, 1 << 16)
    os.close(terminal)
    assert done.stdout.count(b"\n") == 246


def test_log_keeps_the_counts_at_40_columns(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    with mock.patch("io.TextIOWrapper", Terminal):
        assert " ham, " in program("log", "-m", "m").stdout.decode()
