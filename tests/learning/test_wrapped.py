"""Spam that SpamAssassin has wrapped (report_safe): what is learned is the spam, not the report around it."""

from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from math import exp
from pathlib import Path

import pytest

import nbspam
from nbspam import tokens
from nbspam.corpus import split_report, unwrap
from nbspam.learning.autolearn import choose_lesson
from nbspam.serve.codec import Request
from nbspam.serve.users import UserFilters
from tests.tiny_mail import counts, mail, run, write_folders

SPAM = mail("cheap cherries")
HAM = mail("minutes of the meeting")
BASE64 = b"Content-Transfer-Encoding: base64\n"
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
    "fields",
    [
        ORIGINAL,
        ORIGINAL.replace(b"x-spam-type=original", b'x-spam-type="Original"'),
        b"Content-Type: text/plain; x-spam-type=original\nContent-Disposition: inline\n",
    ],
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


FORGED = wrap(HAM).replace(b"Spam detection software", SPAM.split()[-1] * 9)
HONEST = wrap(SPAM).replace(b"Spam detection software", HAM.split()[-1])
ENCODED = FORGED.replace(HAM, b64encode(HAM)).replace(b"attachment\n", b"attachment\n%b" % BASE64)


def of_api(model: Path, message: bytes) -> float:
    with closing(nbspam.load(model)) as spam_filter:
        return log_odds(spam_filter.classify(message).log_odds)


def of_explanation(model: Path, message: bytes) -> float:
    with closing(nbspam.load(model)) as spam_filter:
        explanation = spam_filter.explain(message)
    return log_odds(sum(one.log_odds or 0 for one in explanation.sums))


def of_folder(model: Path, message: bytes) -> float:
    folder = write_folders(model.parent / "folder", {"spam": [message] * 2})
    done = {line.split("\t")[1] for line in run("classify", "-m", model, folder).splitlines()}
    odds = of_api(model, message)
    assert done == {f"{1 / (1 + exp(-odds)):.6f}"}
    return odds


def of_evaluation(model: Path, message: bytes) -> float:
    folder = write_folders(model.parent / "mail", {"ham": [message], "spam": [message]})
    run("eval", folder, "-q", "-m", model, "--results", model.parent / "results")
    [score] = {line.split("score=")[1] for line in (model.parent / "results").read_text().splitlines()}
    return log_odds(float(score))


def of_server(model: Path, message: bytes) -> float:
    users = UserFilters(str(model))
    with closing(users):
        answer = users.judge(Request("CHECK", (1, 5), message=message)).data.decode()
    odds = of_api(model, message)
    assert f"; {odds:.3f} /" in answer
    return odds


def log_odds(value: float | None) -> float:
    assert value is not None
    return round(value, 6)


@pytest.mark.parametrize("ask", [of_api, of_explanation, of_folder, of_evaluation, of_server])
@pytest.mark.parametrize("reader", ["core", "Python"])
def test_the_more_spammy_of_report_and_message_decides(
    ask: Callable[[Path, bytes], float], reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a report of the spammer's own would hide spam behind ham."""
    if reader == "Python":
        monkeypatch.setattr(tokens, "find_core", lambda: None)
    folder = write_folders(tmp_path / "first", {"ham": [HAM, mail("lunch")], "spam": [SPAM, mail("a prize")]})
    run("train", folder, "-q", "-m", tmp_path / "m")
    for message in (FORGED, ENCODED):
        inside, report = split_report(message)
        assert inside == HAM
        assert ask(tmp_path / "m", message) == of_api(tmp_path / "m", report) > of_api(tmp_path / "m", HAM)
    assert ask(tmp_path / "m", HONEST) == of_api(tmp_path / "m", SPAM)


def test_a_report_is_no_lesson_of_the_filters_own() -> None:
    assert choose_lesson({"ham": 0.0, "spam": 1.0}, SPAM, "m", "m", "classify")
    assert choose_lesson({"ham": 0.0, "spam": 1.0}, FORGED, "m", "m", "classify") is None
