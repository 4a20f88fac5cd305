"""Spam that SpamAssassin has wrapped (report_safe): what is learned is the spam, not the report around it."""

from collections.abc import Callable
from pathlib import Path

import pytest

import nbspam
from nbspam.corpus import unwrap
from tests.tiny_mail import counts, mail, run, write_folders

SPAM = mail("cheap cherries")
HAM = mail("minutes of the meeting")
ORIGINAL = b"Content-Type: message/rfc822; x-spam-type=original\nContent-Disposition: attachment\n"


def wrap(
    message: bytes, fields: bytes = ORIGINAL, kind: bytes = b"multipart/mixed", more: bytes = b""
) -> bytes:
    """The report of SpamAssassin on a message.  fields : of its part;  more : parts after it"""
    return b"""\
From: writer@example.org
Subject: *****SPAM*****
X-Spam-Flag: YES
MIME-Version: 1.0
Content-Type: %s; boundary="----------=_4F2A.1B"

This is a multi-part message in MIME format.

------------=_4F2A.1B
Content-Type: text/plain; charset=utf-8
Content-Disposition: inline

Spam detection software has identified this incoming email as possible spam.

------------=_4F2A.1B
%sContent-Description: original message before SpamAssassin

%s
%s------------=_4F2A.1B--
""" % (kind, fields, message, more)


TWICE = wrap(SPAM).replace(b"4F2A", b"5E77")


@pytest.mark.parametrize("message", [SPAM, SPAM.replace(b"\n", b"\r\n"), TWICE, b"\xff\xfe no header"])
@pytest.mark.parametrize(
    "fields", [ORIGINAL, b"Content-Type: text/plain; x-spam-type=original\nContent-Disposition: inline\n"]
)
def test_the_message_inside_a_report_comes_out_as_it_was(message: bytes, fields: bytes) -> None:
    end = b"\r\n" if b"\r\n" in message else b"\n"
    assert unwrap(wrap(message, fields).replace(b"\r\n", b"\n").replace(b"\n", end)) == message


@pytest.mark.parametrize(
    "message",
    [
        SPAM,
        mail("Content-Type: message/rfc822; x-spam-type=original"),
        wrap(SPAM, b"Content-Type: message/rfc822\n"),
        wrap(SPAM, kind=b"multipart/alternative"),
        wrap(SPAM, more=b"------------=_4F2A.1B\n\nwith another part\n"),
        wrap(b""),
    ],
)
def test_other_mail_is_learned_as_it_is(message: bytes) -> None:
    assert unwrap(message) == message


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = write_folders(tmp_path / "first", {"ham": [HAM], "spam": [mail("a prize")]})
    run("train", folder, "-q", "-m", tmp_path / "model.nbspam")
    return tmp_path / "model.nbspam"


def train(tmp_path: Path, model: Path, message: bytes) -> None:
    folder = write_folders(tmp_path / "mail", {"ham": [HAM], "spam": [message]})
    run("train", folder, "-q", "--replace", "-m", model)


def learn(tmp_path: Path, model: Path, message: bytes) -> None:
    run("learn", "spam", "-m", model, stdin=message)


def sync(tmp_path: Path, model: Path, message: bytes) -> None:
    folder = tmp_path / "Maildir" / ".Junk"
    for part in ("cur", "new", "tmp"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "cur" / "1:2,S").write_bytes(message)
    run("sync", folder.parent, "-m", model)


@pytest.mark.parametrize("teach", [train, learn, sync])
def test_a_report_teaches_what_the_message_inside_teaches(
    teach: Callable[[Path, Path, bytes], None], model: Path, tmp_path: Path
) -> None:
    teach(tmp_path, model, wrap(SPAM))
    learned = counts(model)
    assert "cherries" in str(learned) and "detection" not in str(learned)
    assert run("learn", "spam", "-m", model, stdin=SPAM).startswith("already learned")
    assert run("unlearn", "-m", model, stdin=wrap(SPAM)).startswith("forgotten")
    run("learn", "spam", "-m", model, stdin=SPAM)
    assert counts(model) == learned


def test_classify_reads_the_report_and_the_message_inside() -> None:
    """Or a report of the spammer's own would hide spam behind ham, or in it."""
    for around, inside in ((SPAM, HAM), (HAM, SPAM)):
        forged = wrap(inside).replace(b"Spam detection software", around.split()[-1])
        body = nbspam.tokenize(forged).body
        assert {around.split()[-1].decode(), inside.split()[-1].decode()} <= set(body)
