"""`nbspam learn` and `nbspam unlearn`, as the shell sees them."""

from __future__ import annotations

import json
import mailbox
import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from nbspam.store import learn as learning
from nbspam.store.check import check_model
from nbspam.store.learn import learn, unlearn
from nbspam.store.reader import open_model
from nbspam.store.updater import Updater, updating
from tests.tiny_mail import counts, error, mail, program, run, write_folders


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of four messages."""
    classes = {
        "ham": [mail("minutes of the meeting"), mail("lunch tomorrow")],
        "spam": [mail("cheap pills"), mail("you won a prize")],
    }
    folder = write_folders(tmp_path / "mail", classes)
    run("train", folder, "-m", tmp_path / "m", "-q")
    return tmp_path / "m"


def test_a_line_a_message_says_what_became_of_it(model: Path, tmp_path: Path) -> None:
    new = mail("more pills")
    assert run("learn", "spam", "-m", model, stdin=new) == "learned\t-\n"
    assert run("learn", "spam", "-m", model, stdin=new) == "already learned\t-\n"
    assert run("learn", "HAM", "-m", model, stdin=new) == "moved\t-\n"
    assert run("unlearn", "-m", model, stdin=new) == "forgotten\t-\n"
    assert run("unlearn", "-m", model, stdin=new) == "was never learned\t-\n"
    path = tmp_path / "mail" / "ham" / "000.eml"
    assert run("learn", "ham", "-m", model, path) == f"already learned\t{path}\n"


def test_the_summary_counts_one_message_and_several(model: Path) -> None:
    for name, summary in (("learn", "1 message: 1 learned.\n"), ("unlearn", "1 message: 1 forgotten.\n")):
        arguments = [name, "spam"] if name == "learn" else [name]
        said = program(*arguments, "-m", model, stdin=mail("words never met before")).stderr
        assert said.decode() == summary
    strangers = [mail("one"), mail("two")]
    folder = write_folders(model.parent / "new", {"spam": strangers}) / "spam"
    assert program("unlearn", "-m", model, folder).stderr == b"2 messages: 2 never learned.\n"


def test_learning_and_unlearning_leave_no_trace(model: Path) -> None:
    before = counts(model)
    run("learn", "spam", "-m", model, stdin=mail("words never met before"))
    assert counts(model) != before
    run("unlearn", "-m", model, stdin=mail("words never met before"))
    assert counts(model) == before


def test_where_fewer_than_two_classes_have_mail_the_prior_alone_judges(model: Path, tmp_path: Path) -> None:
    spam, message = tmp_path / "mail" / "spam", mail("cheap pills offer1 buy now")
    known = run("classify", "-m", model, stdin=message)
    weights = calibrated(model)
    run("unlearn", "-q", "-m", model, spam)
    assert run("classify", "-m", model, stdin=message) == "unsure\tundefined\t-\n"
    assert run("classify", "--exit-code", "-m", model, stdin=message, status=2)
    assert "\t0.700000\t" in run("classify", "--prior", "spam=0.7,ham=0.3", "-m", model, stdin=message)
    verdict = json.loads(run("explain", "--json", "--prior", "uniform", "-m", model, stdin=message))
    assert (verdict["probability"], verdict["log_odds_interval"], verdict["clues"]) == (0.5, None, [])
    assert "fewer than two classes have mail" in run("explain", "-m", model, stdin=message)
    assert "so no message is judged" in run("doctor", "-m", model)
    assert calibrated(model) == weights  # of use again as soon as there is mail to weigh
    run("learn", "-q", "spam", "-m", model, spam)
    assert run("classify", "-m", model, stdin=message).split("\t")[0] == known.split("\t")[0] != "unsure"


def calibrated(model: Path) -> list[float]:
    opened = open_model(str(model))
    weights = opened.calibration()
    opened.close()
    return weights


def test_learning_looks_up_what_it_changes_and_reads_no_table_through(model: Path) -> None:
    message = mail("words never met before")
    for work in (lambda: learn(str(model), "spam", message), lambda: unlearn(str(model), message)):
        statements: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(learning, "updating", partial(traced, statements=statements))
            work()
        assert any("DELETE FROM learned" in statement for statement in statements)
        with closing(sqlite3.connect(model)) as connection:
            plans = {s: connection.execute(f"EXPLAIN QUERY PLAN {s}").fetchall() for s in statements}
        scans = [s for s, plan in plans.items() for *_, step in plan if re.match(GROWING, step)]
        assert scans == []


GROWING = r"SCAN (token|learned|histogram)"


@contextmanager
def traced(path: str, statements: list[str]) -> Iterator[Updater]:
    """An Updater whose statements are noted, but for those that begin and end a transaction.

    SQLite puts `--` before those that it makes itself.
    """
    with updating(path) as updater:
        updater.connection.set_trace_callback(lambda s: s.startswith("--") or statements.append(s))
        yield updater
        updater.connection.set_trace_callback(None)


def test_what_went_through_classify_is_the_same_message(model: Path) -> None:
    new = mail("pills " * 40)  # with our header it is longer than 512 bytes
    run("learn", "spam", "-m", model, stdin=new)
    passed = program("classify", "-p", "-m", model, stdin=new).stdout
    assert passed != new
    assert run("learn", "spam", "-m", model, stdin=passed) == "already learned\t-\n"


def test_the_summary_counts_what_was_done_and_quiet_says_nothing(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mail" / "ham"
    assert program("learn", "ham", "-m", model, folder).stderr == b"2 messages: 2 already learned.\n"
    assert program("learn", "ham", "-q", "-m", model, folder).stderr == b""


def test_mailboxes_folders_and_lists_are_taken_message_by_message(model: Path, tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "box")
    for text in ("one offer", "two offers"):
        box.add(mail(text))
    box.flush()
    assert run("learn", "spam", "-m", model, tmp_path / "box").count("learned\t") == 2
    write_folders(tmp_path / "more", {"any": [mail("three offers"), mail("four offers")]})
    assert run("learn", "spam", "-m", model, tmp_path / "more" / "any").count("learned\t") == 2
    listed = "".join(f"{path}\n" for path in sorted((tmp_path / "more" / "any").iterdir())).encode()
    lines = run("unlearn", "-m", model, "--files-from", "-", stdin=listed).splitlines()
    assert [line.partition("\t")[0] for line in lines] == ["forgotten", "forgotten"]


FROM = b"From a@b.example Mon Jun  3 10:00:00 2024\n"


@pytest.mark.parametrize(
    "content",
    [
        FROM + mail("plain words"),
        FROM + mail("an empty line at the end\n"),
        FROM + mail("quoted\n>From here on\n>>From twice\n\n"),
        FROM + mail("a sentence\n\nFrom Monday on we open at 10:00\n"),
        FROM.replace(b"\n", b"\r\n") + mail("line ends\n").replace(b"\n", b"\r\n"),
        b"From here on this is no mailbox\n" + mail(">From here\n"),
        b">" + FROM + mail("quoted by another program\n>From here\n"),
    ],
)
def test_a_message_with_a_from_line_is_the_one_it_was_in_training(content: bytes, tmp_path: Path) -> None:
    path = write_folders(tmp_path / "mail", {"ham": [content], "spam": [mail("pills")]}) / "ham" / "000.eml"
    run("train", tmp_path / "mail", "-m", tmp_path / "m", "-q")
    assert run("learn", "ham", "-m", tmp_path / "m", path) == f"already learned\t{path}\n"
    assert run("learn", "ham", "-m", tmp_path / "m", stdin=content) == "already learned\t-\n"


def test_an_mbox_of_many_on_stdin_is_one_message(model: Path) -> None:
    two = FROM + mail("one offer") + b"\n" + FROM + mail("two offers")
    assert run("learn", "spam", "-m", model, stdin=two) == "learned\t-\n"


def test_an_unreadable_message_does_not_stop_the_others(model: Path, tmp_path: Path) -> None:
    good = tmp_path / "good.eml"
    good.write_bytes(mail("good pills"))
    done = program("learn", "spam", "-m", model, tmp_path / "missing.eml", good)
    assert done.returncode == 66
    assert done.stdout.decode() == f"learned\t{good}\n"
    assert b"missing.eml" in done.stderr


@pytest.mark.parametrize(
    "content",
    [b"", b"\n" * 5000, b"\0" * 5000, b"x" * 3_000_000, b"From: \xff\xfe\n\n\xff", bytes(range(256)) * 40],
    ids=["empty", "newlines", "nul", "one-line", "no-charset", "all-bytes"],
)
def test_whatever_a_message_holds_it_can_be_learned_and_forgotten(model: Path, content: bytes) -> None:
    before = counts(model)
    assert run("learn", "spam", "-m", model, stdin=content) == "learned\t-\n"
    assert check_model(str(model)) == []
    assert run("unlearn", "-m", model, stdin=content) == "forgotten\t-\n"
    assert counts(model) == before


def test_a_file_name_with_control_characters_is_shown_harmless(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31mb\n.eml"
    path.write_bytes(mail("pills"))
    assert run("learn", "spam", "-m", model, path) == f"learned\t{tmp_path}/a\\x1b[31mb\\n.eml\n"


@pytest.mark.parametrize(
    ("name", "status", "slug"),
    [
        ("junk", 64, "no-such-class"),
        ("a\tb", 64, "class-name"),
        ("", 64, "class-name"),
        ("unsure", 64, "class-name"),
    ],
)
def test_a_class_the_model_does_not_have_is_refused_before_mail_is_read(
    model: Path, name: str, status: int, slug: str
) -> None:
    before = model.read_bytes()
    assert slug in error("learn", name, "-m", model, "/nowhere", status=status)
    assert model.read_bytes() == before


def test_a_model_in_a_read_only_folder_is_not_changed(model: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    before = model.read_bytes()
    model.chmod(stat.S_IRUSR)
    model.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        error("learn", "spam", "-m", model, status=74, stdin=mail("pills"))
    finally:
        model.parent.chmod(stat.S_IRWXU)
    assert model.read_bytes() == before


def test_a_model_that_another_writes_is_waited_for_or_left(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbspam.errors import TryAgainError
    from nbspam.store import updater

    monkeypatch.setattr(updater, "BUSY_SECONDS", 0.05)
    writer = sqlite3.connect(model, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(TryAgainError):
        learn(str(model), "spam", mail("pills"))
    writer.execute("ROLLBACK")
    writer.close()
    assert learn(str(model), "spam", mail("pills")) == "learned"


def test_every_broken_message_can_be_learned(model: Path, torture_files: list[Path]) -> None:
    before = counts(model)
    names = "".join(f"{path}\n" for path in torture_files).encode()
    learned = run("learn", "spam", "-q", "-m", model, "--files-from", "-", stdin=names)
    assert learned.count("\n") >= len(torture_files)
    assert check_model(str(model)) == []
    run("unlearn", "-q", "-m", model, "--files-from", "-", stdin=names)
    assert counts(model) == before
