"""A fault of the program in any stage of reading costs that stage of that message, and no run.

Faults are planted, for none is known.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nbspam.mail import parse
from nbspam.tokens import BIGRAMS, DATE, MEASURES, NUMERIC, read

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
    ("nbspam.mail.header_start", "header", "defect=failed-header"),
    ("nbspam.mail._read_body", "body", "subject:offer"),
    ("nbspam.mail.leaf._read_payload", "part", "subject:offer"),
    ("nbspam.tokens.header_tokens", "header-tokens", "words"),
    ("nbspam.tokens.texts.part_tokens", "text", "subject:offer"),
    ("nbspam.mail.html.reader._Reader", "text", "first"),
    ("nbspam.tokens.texts.Texts.read_rest", "text", "second"),
    ("nbspam.tokens.field_order", "structure", "first"),
    ("nbspam.tokens.measures.measure_values", "measures", "second"),
    ("nbspam.mail.dates.parse_date", "date", "second"),
    ("nbspam.tokens.numeric._link_values", "numeric", "second"),
)


def planted(*_: Any, **__: Any) -> None:
    raise IndexError("planted")


@pytest.mark.parametrize(("place", "stage", "read_all_the_same"), STAGES)
def test_a_fault_in_a_stage_costs_that_stage_alone(
    monkeypatch: pytest.MonkeyPatch, place: str, stage: str, read_all_the_same: str
) -> None:
    monkeypatch.setattr(place, planted)
    tokens = read(MAIL.replace(b"From:", b"Date: Mon, 2 Sep 2002 12:30:00 +0000\nFrom:"), EVERYTHING)
    assert read_all_the_same in [*tokens.header, *tokens.body, *tokens.structure]
    assert tokens.failures[0].startswith(f"{stage}: IndexError('planted')\nTraceback")


@pytest.mark.parametrize(("place", "stage", "_"), STAGES[:8])
def test_a_fault_is_a_defect(monkeypatch: pytest.MonkeyPatch, place: str, stage: str, _: str) -> None:
    monkeypatch.setattr(place, planted)
    assert f"defect=failed-{stage}" in read(MAIL).structure


def test_a_sound_message_has_no_failure() -> None:
    assert parse(MAIL).failures == read(MAIL, EVERYTHING).failures == []


def test_many_faults_of_one_message_are_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbspam.tokens.texts.part_tokens", planted)
    part = b"--b\nContent-Type: text/plain\n\nwords\n"
    many = b"Content-Type: multipart/mixed; boundary=b\n\n" + part * 500 + b"--b--\n"
    assert 0 < len(read(many).failures) < 10


# The program with every page failing, as `python -c PLANTED classify ...`.
PLANTED = """
import sys
import nbspam.mail.html.reader as reader
def planted(*_, **__):
    raise IndexError("planted")
reader._Reader = planted
from nbspam.__main__ import main
main()
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program in a folder with mail, some of which fails; `-v` and NBSPAM_TRACEBACK as given."""
    for label in ("ham", "spam"):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for number in range(12):
            text = MAIL.replace(b"offer", b"%s %d" % (label.encode(), number))
            (tmp_path / "mail" / label / f"{number}.eml").write_bytes(
                text if number % 2 else b"Subject: x\n\ny"
            )

    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", PLANTED, *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            env={**environment, "HOME": str(tmp_path)},
        )
        return subprocess.CompletedProcess(
            command, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "mail", "-m", "new"),
        ("train", "mail", "-m", "model", "--update"),
        ("train", "mail", "-m", "new", "--features", "both"),
        ("learn", "ham", "mail/spam", "-m", "model"),
        ("unlearn", "mail/spam", "-m", "model"),
        ("classify", "mail/spam", "-m", "model"),
        ("explain", "mail/spam/1.eml", "-m", "model"),
        ("eval", "mail", "-m", "model"),
        ("eval", "mail", "--folds", "3"),
        ("eval", "mail", "--replay"),
        ("tune", "mail"),
        ("vocab", "build", "mail", "-o", "words.tsv"),
        ("vectorize", "mail", "--vocab", "vocabulary", "--event-model", "bernoulli", "-o", "x.npz"),
        ("doctor", "mail", "-m", "model"),
    ],
    ids=" ".join,
)
def test_no_command_ends_by_a_fault_in_one_message(
    run: Callable[..., subprocess.CompletedProcess[str]], arguments: tuple[str, ...]
) -> None:
    assert run("train", "mail", "-m", "model").returncode == 0
    assert run("vocab", "build", "mail", "-o", "vocabulary").returncode == 0
    done = run(*arguments, "-v")
    found_something = 65  # what doctor says of a model of so few messages
    assert done.returncode == (found_something if arguments[0] == "doctor" else 0), done.stderr
    assert "1.eml: read in part (text: IndexError('planted'))" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_verbose_nothing_is_said(run: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    assert run("train", "mail", "-m", "model").stderr.count("planted") == 0


def test_a_message_piped_through_is_marked_and_a_traceback_is_shown_where_asked(
    run: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    assert run("train", "mail", "-m", "model").returncode == 0
    done = run("classify", "-p", "-m", "model", stdin=MAIL, NBSPAM_TRACEBACK="1")
    assert done.returncode == 0
    assert done.stdout.startswith("X-Nbspam: ")
    assert "IndexError: planted" in done.stderr
