"""A fault of the program in any stage of reading costs that stage of that message, and no run.

Faults are planted, for none is known.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nbspam.tokens import read
from nbspam.tokens.bag import BIGRAMS, DATE, MEASURES, NUMERIC
from tests.tiny_mail import program, run

EVERYTHING = (BIGRAMS, MEASURES, NUMERIC, DATE)
MAIL = b"""From: a@lake.example
Subject: offer
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

first words
--b
Content-Type: text/html

<p>second page</p>
--b--
"""
# What fails, the stage that is named, and a token that is read all the same.
STAGES = (
    ("nbspam.mail.find_header", "header", "defect=failed-header"),
    ("nbspam.mail._read_body", "body", "subject:offer"),
    ("nbspam.mail.leaf._read_payload", "part", "subject:offer"),
    ("nbspam.tokens.headers.tokenize_header", "header-tokens", "words"),
    ("nbspam.tokens.structure.tokenize_part", "text", "subject:offer"),
    ("nbspam.mail.html.reader._Reader", "text", "first"),
    ("nbspam.tokens.structure.Texts.read_rest", "text", "second"),
    ("nbspam.tokens.headers.tokenize_order", "structure", "first"),
    ("nbspam.tokens.measures.measure_message", "measures", "second"),
    ("nbspam.mail.dates.parse_date", "date", "second"),
    ("nbspam.tokens.numeric._measure_pages", "numeric", "second"),
)


@pytest.fixture(autouse=True)
def python_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The faults are planted in the Python reader."""
    monkeypatch.setenv("NBSPAM_CORE", "no")
    monkeypatch.setattr("nbspam.tokens._found", [])


def planted(*_: Any, **__: Any) -> None:
    raise IndexError("planted")


@pytest.mark.parametrize(("place", "stage", "read_all_the_same"), STAGES)
def test_a_fault_in_one_stage_leaves_the_other_stages(
    monkeypatch: pytest.MonkeyPatch, place: str, stage: str, read_all_the_same: str
) -> None:
    monkeypatch.setattr(place, planted)
    tokens = read(MAIL.replace(b"From:", b"Date: Mon, 2 Sep 2002 12:30:00 +0000\nFrom:"), EVERYTHING)
    assert read_all_the_same in [*tokens.header, *tokens.body, *tokens.structure]
    assert tokens.failures[0].startswith(f"{stage}: IndexError('planted')\nTraceback")
    assert f"defect=failed-{stage}" in tokens.structure or stage == "numeric"


def test_many_faults_of_one_message_are_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbspam.tokens.structure.tokenize_part", planted)
    part = b"--b\nContent-Type: text/plain\n\nwords\n"
    many = b"Content-Type: multipart/mixed; boundary=b\n\n" + part * 500 + b"--b--\n"
    assert 0 < len(read(many).failures) < 10


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with mail, half of it with a page; a model and a vocabulary of it; then every page fails."""
    page, plain = MAIL, b"Subject: x\n\ny"
    for label in ("ham", "spam"):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for number in range(12):
            text = page.replace(b"offer", b"%s %d" % (label.encode(), number)) if number % 2 else plain
            (tmp_path / "mail" / label / f"{number}.eml").write_bytes(text)
    monkeypatch.chdir(tmp_path)
    run("train", "mail", "-m", "model", "-q")
    run("vocab", "build", "mail", "-o", "vocabulary", "-q")
    monkeypatch.setattr("nbspam.mail.html.reader._Reader", planted)
    return tmp_path


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "command",
    [
        "train mail -m new",
        "train mail -m model --update",
        "learn ham mail/spam -m model",
        "classify mail/spam -m model",
        "explain mail/spam/1.eml -m model",
        "eval mail --replay",
        "tune mail",
        "vectorize mail --vocab vocabulary --event-model bernoulli -o x.npz",
    ],
)
def test_no_command_ends_by_a_fault_in_one_message(command: str) -> None:
    done = program(*command.split(), "-v")
    said = done.stderr.decode()
    assert done.returncode == 0, said
    assert "1.eml: read in part (text: IndexError('planted'))" in said
    assert "Traceback" not in said


# The program with every page failing.
PLANTED = """
import nbspam.mail.html.reader as reader
def planted(*_):
    raise IndexError("planted")
reader._Reader = planted
from nbspam.__main__ import main
main()
"""


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("asked", [False, True])
def test_tracebacks_are_shown_on_request_only(asked: bool) -> None:
    command = [sys.executable, "-c", PLANTED, "classify", "-p", "-m", "model"]
    environment = {"NBSPAM_CORE": "no"} | ({"NBSPAM_TRACEBACK": "1"} if asked else {})
    done = subprocess.run(command, input=MAIL, capture_output=True, env=environment)
    assert done.returncode == 0
    assert done.stdout.startswith(b"X-Nbspam: ")
    assert (b"IndexError: planted" in done.stderr) == asked


# The program without the memory to load its command line.
UNLOADED = """
import sys
class Full:
    def find_spec(self, name, *_):
        if name == "nbspam.cli":
            raise MemoryError
sys.meta_path.insert(0, Full())
from nbspam.__main__ import main
main()
"""


def test_too_little_memory_to_load_the_program_is_a_temporary_failure() -> None:
    done = subprocess.run([sys.executable, "-c", UNLOADED, "classify"], input=MAIL, capture_output=True)
    assert done.returncode == 75
    assert b"[no-memory]" in done.stderr


@pytest.mark.parametrize("command", [["classify"], ["classify", "-p"], ["learn", "ham"], ["train", "mail"]])
def test_too_little_memory_is_a_temporary_failure(
    place: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    def planted(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("nbspam.tokens.bag.hash_tokens", planted)
    monkeypatch.setattr("nbspam.corpus.reading.read", planted)
    model = place / ("new" if command[0] == "train" else "model")
    done = program(*command, "-m", model, stdin=MAIL)
    assert done.returncode == 75
    assert done.stdout == (MAIL if "-p" in command else b"")
