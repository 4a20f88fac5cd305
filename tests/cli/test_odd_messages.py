"""Odd and huge messages: a verdict in a second, and every byte passed through."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import booleans, lists, sampled_from

from nbspam.decision import Verdict, zero_one_loss
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.posterior import Scored
from nbspam.passthrough import format_fields, mark_message
from tests.cli.hardship import HAM
from tests.tiny_mail import program

CPU_SECONDS = 1.0  # a message
ODD_MESSAGES = {
    "empty": b"",
    "newlines": b"\n" * 5_000_000,
    "carriage returns": b"\r" * 5_000_000,
    "one line of 50 MB": b"x" * 50_000_000,
    "a header line of 50 MB": b"Subject: " + b"y " * 25_000_000,
    "NUL bytes": bytes(5_000_000),
    "NULs in a message": b"Subject: a\0b\n\n" + b"free \0 pills\n" * 10_000,
    "open tags": b"Content-Type: text/html\n\n" + b"<" * 5_000_000,
    "boundaries": b'Content-Type: multipart/mixed; boundary="b"\n\n' + b"--b\n" * 1_000_000,
}


@pytest.mark.parametrize("name", ODD_MESSAGES)
def test_an_odd_message_passes_through_byte_for_byte_in_a_second_of_cpu(model: Path, name: str) -> None:
    message = ODD_MESSAGES[name]
    before = time.process_time()
    done = program("classify", "-p", "-m", model, stdin=message)
    assert time.process_time() - before <= CPU_SECONDS
    assert done.returncode == 0
    assert done.stdout.startswith(b"X-Nbspam: ")
    assert done.stdout.endswith(message)


VERDICT = Verdict("", Scored([0.0, 0.0], []), HAM_AND_SPAM, zero_one_loss(2))
LONG_HEADER = b"".join(b"A%d: %s\n" % (n, b"x" * 1000) for n in range(400))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LONG_HEADER + b"X-NBspam : ham;\r\n\tp\nCc: y\n\nb", b"|" + LONG_HEADER + b"Cc: y\n\nb"),
        (LONG_HEADER + b"B: c\rX-Nbspam: a\n\nX-Nbspam: b", b"|" + LONG_HEADER + b"B: c\r\n\nX-Nbspam: b"),
        (LONG_HEADER + b"X-Nbspam-Not: a\n X-Nbspam: b\n\nc", None),
        (b"A: b\nX-Nbspam: c\n" + b" d\n" * 200_000 + b"Cc: e\n\nb", b"|A: b\nCc: e\n\nb"),
    ],
)
def test_passthrough_removes_forged_fields_of_long_headers(before: bytes, after: bytes | None) -> None:
    own = format_fields(VERDICT).encode()
    expected = b"|" + before if after is None else after
    assert mark_message(before, VERDICT) == expected.replace(b"|", own)


LINES = ("From a@b Mon Jun  3 10:00:00 2024", "To: z", " folded", "\tx", "no field", "", "X: y", "\ufeff")


@given(lists(sampled_from(LINES)), sampled_from(["\n", "\r\n", "\r"]), booleans())
def test_passthrough_adds_a_line_end_in_two_cases_only(lines: list[str], end: str, is_ended: bool) -> None:
    message = (end.join(lines) + end * is_ended).encode()
    exact, longer = set(), set()
    for feed in (b"\n", b"\r\n"):
        own = format_fields(VERDICT, "spamassassin").encode().replace(b"\n", feed)
        for at in range(len(message) + 1):
            exact.add(message[:at] + own + message[at:])
            if message[at : at + 1] in (b" ", b"\t"):  # indented text
                longer.add(message[:at] + own + feed + message[at:])
        if message.startswith(b"From ") and not message.endswith((b"\n", b"\r")):
            longer.add(message + feed + own)
    assert mark_message(message, VERDICT, "spamassassin") in exact | longer


def test_forged_fields_in_a_header_of_ten_megabytes_are_found_in_seconds() -> None:
    for line in (b"a: b\n", b" b\r", b"a:\r\r\n"):
        message = b"Subject: b\n" + line * ((10 << 20) // len(line)) + b"X-NBSPAM: b\n\nbody"
        start = time.process_time()
        assert b"X-NBSPAM" not in mark_message(message, VERDICT, "spamassassin")
        assert time.process_time() - start < 10


@pytest.mark.parametrize(
    "message", [HAM[0], b" From: a@b\nSubject: b\n\nbody\n", b"", b"\n\nbody", b"Subject: a"]
)
def test_passthrough_is_idempotent(message: bytes) -> None:
    once = mark_message(message, VERDICT, "spamassassin")
    assert mark_message(once, VERDICT, "spamassassin") == once
