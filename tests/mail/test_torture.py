"""Broken mail that others wrote: every command that reads mail gets through each message.

723 messages from the test suites of other mail software.
"""

import random
import time
from pathlib import Path

from nbspam.filter import open_filter
from nbspam.mail import find_header_fields
from nbspam.mail.headers import find_header
from nbspam.passthrough import OWN, mark_message
from tests.tiny_mail import program


def controls(output: bytes) -> set[str]:
    """The control characters (C0, DEL, C1, bidirectional overrides) in what a terminal would get."""
    text = output.decode("utf-8")
    return {c for c in text if (not c.isprintable() and c not in "\n\t") or "\u202a" <= c <= "\u202e"}


def test_every_torture_message_whole_or_cut_passes_through_in_a_second_of_cpu(
    data_model: Path, torture_files: list[Path]
) -> None:
    classifier, drawn = open_filter(str(data_model)), random.Random(1)
    for path in torture_files:
        data, start = path.read_bytes(), time.process_time()
        verdict = classifier.classify(data, "-")
        assert time.process_time() - start < 1, path
        once = mark_message(data, verdict)
        if OWN.encode() not in data.lower():
            assert without_own_fields(once) == data, path
        assert mark_message(once, verdict) == once, path
        cut = drawn.randrange(len(data) + 1)
        assert classifier.classify(data[:cut], path.name).label
        assert classifier.classify(data[cut:], path.name).label


def without_own_fields(message: bytes) -> bytes:
    """The message without the field that passthrough put in: first, or behind an indented first line."""
    spans = [(first, last) for first, last, name in find_header_fields(message) if name == OWN]
    assert len(spans) == 1
    first, last = spans[0]
    assert first == find_header(message) or message[find_header(message)] in b" \t"
    return message[:first] + message[last:]


def test_an_explanation_of_torture_mail_holds_no_control_character(
    data_model: Path, torture_files: list[Path]
) -> None:
    for options in (["--json"], ["--top", "0"]):
        done = program("explain", "-m", data_model, *options, *torture_files[len(options) :: 24])
        assert done.returncode == 0
        assert controls(done.stdout + done.stderr) == set()


def test_a_verdict_line_holds_no_control_character(model: Path, tmp_path: Path) -> None:
    name = tmp_path / "a\x1b[31mb\x07\u202e\x9b.eml"
    name.write_bytes(b"Subject: \x1b]0;title\x07\n\n\x1b[2J\x9b31m\n")
    for command in (["classify"], ["explain", "--top", "0"], ["learn", "spam"], ["unlearn"]):
        done = program(*command, "-m", model, name)
        assert done.returncode == 0
        assert controls(done.stdout + done.stderr) == set(), command
        assert b"a\\x1b[31mb" in done.stdout
