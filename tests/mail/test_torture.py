"""Broken mail that others wrote: every command that reads mail gets through each message.

723 messages from the test suites of other mail software.  Each gets a verdict in no more than a second
of CPU, without a traceback and without a control character that reaches the terminal.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nbspam.filter import open_filter
from nbspam.mail import header_lines
from nbspam.mail.headers import header_start
from nbspam.passthrough import OWN, marked

ROOT = Path(__file__).resolve().parents[2]
CPU_SECONDS = 1.0  # a message
PROGRAM = [sys.executable, "-m", "nbspam"]

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained on data/."""
    path = tmp_path_factory.mktemp("model") / "model.nbspam"
    subprocess.run([*PROGRAM, "train", "-q", "-j", "1", ROOT / "data", "-m", path], check=True)
    return path


@pytest.fixture(scope="module")
def labelled(torture_files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that labels every third message, by turns."""
    index = tmp_path_factory.mktemp("labelled") / "index"
    names = ("ham", "spam")
    index.write_text("".join(f"{names[n % 2]} {path}\n" for n, path in enumerate(torture_files[::3])))
    return index


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The real program; whatever it is given, it ends as cli.md says and shows no traceback."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, timeout=600, check=False
    )
    assert b"Traceback" not in done.stderr, done.stderr
    assert b"[bug]" not in done.stderr, done.stderr
    assert controls(done.stderr) == set()
    return done


def controls(output: bytes) -> set[str]:
    """The control characters (C0, DEL, C1, bidirectional overrides) in what a terminal would get."""
    text = output.decode("utf-8")
    return {c for c in text if (not c.isprintable() and c not in "\n\t") or "\u202a" <= c <= "\u202e"}


def test_every_torture_message_whole_or_cut_passes_through_in_a_second_of_cpu(
    model: Path, torture_files: list[Path]
) -> None:
    classifier = open_filter(str(model))
    slow = {}
    drawn = random.Random(1)
    for path in torture_files:
        data = path.read_bytes()
        start = time.process_time()
        verdict = classifier.classify(data, "-")
        if time.process_time() - start > CPU_SECONDS:
            slow[path.name] = time.process_time() - start
        once = marked(data, verdict, verdict.clues)
        if OWN.encode() not in data.lower():
            assert without_own_fields(once) == data, path
        assert marked(once, verdict, verdict.clues) == once, path
        cut = drawn.randrange(len(data) + 1)
        assert classifier.classify(data[:cut], path.name).label
        assert classifier.classify(data[cut:], path.name).label
    assert slow == {}


def without_own_fields(message: bytes) -> bytes:
    """The message without the field that passthrough put in: first, or behind an indented first line."""
    spans = [(first, last) for first, last, name in header_lines(message) if name == OWN]
    assert len(spans) == 1
    first, last = spans[0]
    assert first == header_start(message) or message[header_start(message)] in b" \t"
    return message[:first] + message[last:]


def test_commands_explain_torture_mail_and_pass_it_through_byte_for_byte(
    model: Path, torture_files: list[Path]
) -> None:
    for path in torture_files[::80]:
        data = path.read_bytes()
        assert without_own_fields(run("classify", "-p", "-m", model, stdin=data).stdout) == data, path
    for options in (["--json"], ["--top", "0"]):
        done = run("explain", "-m", model, *options, *torture_files[len(options) :: 24])
        assert done.returncode == 0
        assert controls(done.stdout) == set()


def test_a_verdict_line_holds_no_control_character(model: Path, tmp_path: Path) -> None:
    name = tmp_path / "a\x1b[31mb\x07\u202e\x9b.eml"
    name.write_bytes(b"Subject: \x1b]0;title\x07\n\n\x1b[2J\x9b31m\n")
    for command in (["classify"], ["explain", "--top", "0"], ["learn", "spam"], ["unlearn"]):
        done = run(*command, "-m", model, name)
        assert done.returncode == 0
        assert controls(done.stdout) == set(), command
        assert b"a\\x1b[31mb" in done.stdout


def test_torture_mail_trains_a_model_that_judges_it(
    labelled: Path, torture_files: list[Path], tmp_path: Path
) -> None:
    path = tmp_path / "torture.nbspam"
    assert run("train", labelled, "--features", "both", "-m", path).returncode == 0
    assert run("model", "check", "-m", path).returncode == 0
    done = run("classify", "-m", path, *torture_files)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) >= len(torture_files)
