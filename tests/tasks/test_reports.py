"""Mail that only carries other mail, as Exchange's journal: train and doctor say so, --attached opens it."""

import json
import re
from pathlib import Path

import pytest

from tests.tiny_mail import counts, error, mail, program, run, write_folders

HAM = [mail(f"minutes of meeting {'abcdef'[number]}") for number in range(6)]
SPAM = [mail(f"cheap cherries {'abcdef'[number]}") for number in range(6)]
JOURNAL = b"X-MS-Journal-Report:\n"


def report(message: bytes, more: bytes = b"") -> bytes:
    """A report that carries a message.  more : fields of its header"""
    return b"""\
From: journal@example.org
%sMIME-Version: 1.0
Content-Type: multipart/mixed; boundary="=_j"

--=_j
Content-Type: text/plain

Sender: ann@example.org
--=_j
Content-Type: message/rfc822

%s
--=_j--
""" % (more, message)


def write(folder: Path, ham: list[bytes], spam: list[bytes]) -> Path:
    return write_folders(folder, {"ham": ham, "spam": spam})


@pytest.mark.parametrize(
    ("ham", "said"),
    [
        ([report(HAM[0], JOURNAL), *HAM[1:]], 1),
        ([*map(report, HAM[:4]), *HAM[4:]], 4),
        ([*map(report, HAM[:3]), *HAM[3:]], 0),
        (HAM, 0),
    ],
)
def test_reports_are_counted_if_they_are_a_journal_or_most_mail(
    ham: list[bytes], said: int, tmp_path: Path
) -> None:
    folder = write(tmp_path / "mail", ham, SPAM)
    for arguments in (["train", folder], ["doctor"]):
        text = program(*arguments, "-m", tmp_path / "m", merged=True).stdout.decode()
        assert re.findall(r"(\d+) messages? of (\w+) carry", text) == ([(str(said), "ham")] if said else [])
        assert ("train --attached" in text) == bool(said)


def test_attached_trains_on_what_reports_carry(tmp_path: Path) -> None:
    folder = write(tmp_path / "mail", [*map(report, HAM), mail("bare")], [*map(report, SPAM)])
    inside = write(tmp_path / "inside", HAM, SPAM)
    done = program("train", "--attached", folder, "-m", tmp_path / "m")
    run("train", "-q", inside, "-m", tmp_path / "same")
    assert b"Left out: 1 (without an attached message)" in done.stderr
    assert b"carry" not in done.stderr
    assert counts(tmp_path / "m") == counts(tmp_path / "same")
    run("train", "--update", "-q", "--attached", folder, "-m", tmp_path / "m")
    run("train", "--update", "-q", inside, "-m", tmp_path / "same")
    assert counts(tmp_path / "m") == counts(tmp_path / "same")
    judged = json.loads(run("eval", "--json", "--attached", folder, "-m", tmp_path / "m"))
    assert (judged["messages"], judged["settings"]["learned"]) == (12, 12)
    assert json.loads(run("eval", "--json", "--attached", folder, "--folds", 2))["messages"] == 12


def test_mail_without_a_report_teaches_nothing_with_attached(tmp_path: Path) -> None:
    folder = write(tmp_path / "mail", HAM, SPAM)
    assert "no readable message" in error("train", "--attached", folder, "-m", tmp_path / "m", status=66)
    assert not (tmp_path / "m").exists()
    text = error("train", "--attached", "--local-cluster", 2, folder, "-m", tmp_path / "m", status=64)
    assert "--attached --local-cluster" in text
