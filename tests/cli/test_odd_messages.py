"""Odd and huge messages: a verdict in a second, and every byte passed through."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import booleans, lists, sampled_from

from nbspam.decision import zero_one_loss
from nbspam.filter import Verdict, open_filter
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.posterior import Scored
from nbspam.passthrough import marked, own_fields
from tests.cli.hardship import HAM, SPAM, process, program
from tests.tiny_mail import Done, write_folders

CPU_SECONDS = 1.0  # a message, in addition to an empty one
ODD_MESSAGES = {
    "empty": b"",
    "newlines": b"\n" * 5_000_000,
    "carriage returns": b"\r" * 5_000_000,
    "one line of 50 MB": b"x" * 50_000_000,
    "a header line of 50 MB": b"Subject: " + b"y " * 25_000_000,
    "NUL bytes": bytes(5_000_000),
    "NULs in a message": b"Subject: a\0b\n\n" + b"free \0 pills\n" * 10_000,
    "an indented first line": b" From: a@example.org\nSubject: b\n\nbody\n",
    "open tags": b"Content-Type: text/html\n\n" + b"<" * 5_000_000,
    "boundaries": b'Content-Type: multipart/mixed; boundary="b"\n\n' + b"--b\n" * 1_000_000,
}


def _cpu_seconds(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("name", ODD_MESSAGES)
def test_an_odd_message_gets_a_verdict_in_a_second_of_cpu(model: Path, name: str) -> None:
    done: list[Done] = []
    used = _cpu_seconds(lambda: done.append(process("classify", "-m", model, stdin=ODD_MESSAGES[name])))
    assert done[0].returncode == 0
    assert done[0].stdout.partition(b"\t")[0] in (b"ham", b"spam", b"unsure")
    bare = _cpu_seconds(lambda: process("classify", "-m", model, stdin=b""))
    assert used - bare <= CPU_SECONDS


@pytest.mark.parametrize("name", ODD_MESSAGES)
def test_an_odd_message_passes_through_byte_for_byte(model: Path, name: str) -> None:
    message = ODD_MESSAGES[name]
    done = program("classify", "-p", "-m", model, stdin=message)
    assert done.returncode == 0
    assert len(done.stdout) > len(message)
    if name == "an indented first line":
        first = message.index(b"\n") + 1
        assert done.stdout.startswith(message[:first] + b"X-Nbspam: ")
        assert done.stdout.endswith(message[first:])
    else:
        assert done.stdout.startswith(b"X-Nbspam: ")
        assert done.stdout.endswith(message)


LONG_HEADER = b"".join(b"A%d: %s\n" % (n, b"x" * 1000) for n in range(400))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"To: z\rX-Nbspam: x\n\nbody\n", b"|To: z\r\n\nbody\n"),
        (b"A:\nTo: z\rX-Nbspam: x\r\n\r\nbody\n", b"|A:\nTo: z\r\r\n\r\nbody\n"),
        (b"To: z\rX-Nbspam: x\nX-Nbspam: y\n\nbody\n", b"|To: z\r\n\nbody\n"),
        (b"To: z\rX-Nbspam: x\nCc: y\n\nbody\n", b"|To: z\rCc: y\n\nbody\n"),
        (b" hello\nX-Nbspam: ham\nFrom: a@b\n\nbody\n", b"|\n hello\nX-Nbspam: ham\nFrom: a@b\n\nbody\n"),
        (b"From x\n\thello\nX-Nbspam: ham\n\nb\n", b"From x\n|\n\thello\nX-Nbspam: ham\n\nb\n"),
        (b"From x\n To: z\nX-Nbspam: ham\n\nb\n", b"From x\n To: z\n|\nb\n"),
        (b" To: z\rX-Nbspam: ham\rCc: y\r\rb", b" To: z\r|Cc: y\r\rb"),
        (LONG_HEADER + b"X-NBspam : ham;\r\n\tp\nCc: y\n\nb", b"|" + LONG_HEADER + b"Cc: y\n\nb"),
        (LONG_HEADER + b"B: c\rX-Nbspam: a\n\nX-Nbspam: b", b"|" + LONG_HEADER + b"B: c\r\n\nX-Nbspam: b"),
        (LONG_HEADER + b"X-Nbspam-Not: a\n X-Nbspam: b\n\nc", None),
        (b"A: b\nX-Nbspam: c\n" + b" d\n" * 200_000 + b"Cc: e\n\nb", b"|A: b\nCc: e\n\nb"),
    ],
)
def test_passthrough_removes_forged_fields_and_no_other_byte(
    model: Path, before: bytes, after: bytes | None
) -> None:
    verdict = open_filter(str(model)).classify(before, "-")
    own = own_fields(verdict, []).encode()
    expected = b"|" + before if after is None else after
    assert marked(before, verdict, []) == expected.replace(b"|", own)


LINES = ("From a@b Mon Jun  3 10:00:00 2024", "To: z", " folded", "\tx", "no field", "", "X: y", "\ufeff")


@given(lists(sampled_from(LINES)), sampled_from(["\n", "\r\n", "\r"]), booleans())
def test_passthrough_adds_a_line_end_in_two_cases_only(lines: list[str], end: str, is_ended: bool) -> None:
    message = (end.join(lines) + end * is_ended).encode()
    verdict = Verdict("", Scored([0.0, 0.0], []), HAM_AND_SPAM, zero_one_loss(2))
    exact, longer = set(), set()
    for feed in (b"\n", b"\r\n"):
        own = own_fields(verdict, [], "spamassassin").encode().replace(b"\n", feed)
        for at in range(len(message) + 1):
            exact.add(message[:at] + own + message[at:])
            if message[at : at + 1] in (b" ", b"\t"):  # indented text
                longer.add(message[:at] + own + feed + message[at:])
        if message.startswith(b"From ") and not message.endswith((b"\n", b"\r")):
            longer.add(message + feed + own)
    assert marked(message, verdict, [], "spamassassin") in exact | longer


def test_forged_fields_in_a_header_of_ten_megabytes_are_found_in_seconds(model: Path) -> None:
    for line in (b"a: b\n", b" b\r", b"a:\r\r\n"):
        message = b"Subject: b\n" + line * ((10 << 20) // len(line)) + b"X-NBSPAM: b\n\nbody"
        verdict = open_filter(str(model)).classify(message, "-")
        start = time.process_time()
        assert b"X-NBSPAM" not in marked(message, verdict, [], "spamassassin")
        assert time.process_time() - start < 10


def test_odd_messages_are_trained_on_and_evaluated(tmp_path: Path) -> None:
    messages = [message[:1_000_000] for message in ODD_MESSAGES.values()]
    folder = write_folders(tmp_path / "source", {"ham": messages + HAM, "spam": messages[::-1] + SPAM})
    path = tmp_path / "model"
    done = program("train", "--force", folder, "-m", path)
    assert done.returncode == 0
    assert b"44 messages (22 ham, 22 spam)" in done.stderr
    assert program("eval", folder, "--folds", "2").returncode == 0
    assert program("classify", "-m", path, folder).returncode == 0


def test_passthrough_is_idempotent(model: Path) -> None:
    classifier = open_filter(str(model))
    for message in (HAM[0], b" From: a@example.org\nSubject: b\n\nbody\n", b"", b"\n\nbody", b"Subject: a"):
        verdict = classifier.classify(message, "-")
        once = marked(message, verdict, [], "spamassassin")
        assert marked(once, verdict, [], "spamassassin") == once
