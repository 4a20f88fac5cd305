"""`nbspam filed`: what lies in a spam folder, the most doubtful first."""

import json
import mailbox
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from tests.tiny_mail import error, mail, program, run

PILLS = "cheap pills free money click here"


def message(
    subject: str, body: str = PILLS, days: float | None = 0, sender: str = "A <a@b.example>"
) -> bytes:
    lines = mail(body, subject).replace(b"writer@example.org", sender.encode())
    return lines if days is None else b"Date: %s\n" % formatdate(time.time() - 86_400 * days).encode() + lines


@pytest.fixture
def model(data_model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("NBSPAM_MODEL", str(data_model))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return data_model


def make_maildir(folder: Path, *messages: bytes) -> Path:
    box = mailbox.Maildir(folder)
    for one in messages:
        box.add(one)
    return folder


def listed(*arguments: object) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("filed", "--json", *arguments).splitlines()]


def test_the_most_doubtful_come_first_with_the_verdict_of_classify(model: Path, data: Path) -> None:
    rows = [*listed(data / "spam"), *listed(data / "ham")]
    for part in (rows[:113], rows[113:]):
        order = [(row["label"] == "spam", row["log_odds"]) for row in part]
        assert order == sorted(order)
    verdicts = [
        json.loads(line) for line in run("classify", "--json", data / "spam", data / "ham").splitlines()
    ]
    keys = ("name", "label", "probability", "log_odds")
    judged = {tuple(row[key] for key in keys) for row in rows}
    assert {one[:2] for one in judged} == {(row["name"], row["label"]) for row in verdicts}
    assert sorted(one[3] for one in judged) == pytest.approx(sorted(row["log_odds"] for row in verdicts))


def test_a_line_has_day_sureness_sender_and_subject(model: Path, tmp_path: Path) -> None:
    sent = message("Срочно 发票", days=2, sender="Mara <mara@x.example>")
    folder = make_maildir(tmp_path / "Junk", sent, message("lunch", "At noon?", None))
    first, second = sorted(run("filed", folder).splitlines(), key=len)
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 2 * 86_400))
    assert second.startswith(f"{day}  ")
    assert second.endswith("  Mara <mara@x.example>  Срочно 发票")
    assert "spam, " in second
    assert first.startswith("no date ")


@pytest.mark.parametrize("age", ["36h", "1d", "1w"])
def test_since_leaves_out_what_came_before_and_keeps_what_has_no_date(
    model: Path, tmp_path: Path, age: str
) -> None:
    days = (0.5, 1.2, 3, 20, None)
    folder = make_maildir(tmp_path / "Junk", *[message(f"m{n}", days=n) for n in days])
    subjects = {row["subject"] for row in listed(folder, "--since", age)}
    new = {"36h": {"m0.5", "m1.2"}, "1d": {"m0.5"}, "1w": {"m0.5", "m1.2", "m3"}}
    assert subjects == new[age] | {"mNone"}
    assert {row["subject"] for row in listed(folder, "--since", "0d")} == {"mNone"}


@pytest.mark.parametrize("age", ["1", "d", "-1d", "1.5d", "1 day", ""])
def test_a_wrong_age_is_named(model: Path, tmp_path: Path, age: str) -> None:
    assert "12h, 1d or 2w" in error("filed", tmp_path, "--since", age, status=64)


def test_an_mbox_is_read_message_by_message(model: Path, tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "junk.mbox")
    for number in range(3):
        box.add(message(f"number {number}"))
    box.flush()
    rows = listed(tmp_path / "junk.mbox")
    assert {row["name"] for row in rows} == {f"{tmp_path / 'junk.mbox'}#{number}" for number in (1, 2, 3)}


def test_no_mail_can_write_to_a_terminal_or_break_a_line(model: Path, tmp_path: Path) -> None:
    hostile = "evil \x1b[2J\x07\x9b31m =?utf-8?b?bGluZTEKbGluZTIbWzMxbQ==?= \u202ereversed"
    folder = make_maildir(tmp_path / "J", message(hostile + "x" * 9_000, sender="\x1b]0;t\x07 <a@b.example>"))
    out = program("filed", folder).stdout.decode()
    assert out.count("\n") == 1
    assert out.removesuffix("\n").isprintable()
    assert "\\x1b[2J" in out
    assert len(out) < 250
    assert run("filed", folder, "--json").isascii()


def test_nothing_there_says_so_and_a_missing_folder_is_an_error(model: Path, tmp_path: Path) -> None:
    empty = make_maildir(tmp_path / "Junk")
    done = program("filed", empty)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"no mail" in done.stderr
    assert program("filed", empty, "-q").stderr == b""
    (tmp_path / "junk.mbox").touch()  # as mutt leaves it
    assert b"no mail" in program("filed", tmp_path / "junk.mbox").stderr
    for name in ("missing", tmp_path / "missing"):
        assert "[no-input]" in error("filed", name, status=66)
    assert "[model-missing]" in error("filed", empty, "-m", tmp_path / "none", status=66)
    (tmp_path / "config" / "nbspam").mkdir(parents=True)
    (tmp_path / "config" / "nbspam" / "imap.toml").write_text('[home]\nhost = "h"\nuser = "u"\n')
    pytest.importorskip("imapclient")
    assert "use one of: home" in error("filed", "missing", status=64)


def test_mail_that_cannot_be_read_is_named_and_the_rest_is_listed(model: Path, tmp_path: Path) -> None:
    folder = make_maildir(tmp_path / "Junk", message("one"))
    (folder / "cur" / "2.a.here:2,S").symlink_to("nowhere")
    done = program("filed", folder)
    assert done.returncode == 66
    assert b"one" in done.stdout
    assert b"2.a.here" in done.stderr


def test_mail_of_an_allowed_sender_comes_first(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    run("train", "-q", data, "-m", model)
    spam = sorted((data / "spam").glob("*.eml"))[:3]
    folder = make_maildir(
        tmp_path / "Junk", *[path.read_bytes() for path in spam], message("x", sender="k@c.example")
    )
    run("allow", "--unverified", "k@c.example", "-m", model, "-q")
    lines = run("filed", folder, "-m", model).splitlines()
    assert "sender allowed" in lines[0]
    assert all("spam, " in line for line in lines[1:])


def test_a_model_without_spam_is_an_error(tmp_path: Path) -> None:
    classes = [f"--class={name}={tmp_path / name}" for name in ("work", "news")]
    for name in ("work", "news"):
        make_maildir(tmp_path / name, message(name))
    run("train", "-q", *classes, "-m", tmp_path / "m")
    assert "[no-such-class]" in error("filed", tmp_path / "work", "-m", tmp_path / "m", status=64)
