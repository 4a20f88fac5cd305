"""`nbspam allow` and `nbspam deny`: what they keep, and what verdicts and lessons make of it."""

import json
import os
import pty
import subprocess
import termios
from pathlib import Path

import pytest

from tests.tiny_mail import PROGRAM, error, mail, program, run, write_folders

SERVER = "mx.home.example"
PILLS = mail("cheap pills offer1 buy now").replace(b"writer@example.org", b"Ann <ann@example.org>")
SPAM = f"Authentication-Results: {SERVER}; dmarc=pass\n".encode() + PILLS


@pytest.fixture
def listed(model: Path) -> Path:
    """A model that knows the user's server, an allowed and a denied sender."""
    run("allow", "-q", "-m", model, "--server", SERVER.upper())
    assert run("allow", "-m", model, "Ann@Example.ORG", "shop.example") == (
        "allowed\tann@example.org\nallowed\tshop.example\n"
    )
    assert run("deny", "-m", model, "bad.example") == "denied\tbad.example\n"
    return model


def mail_of(sender: str, body: str) -> bytes:
    return mail(body).replace(b"writer@example.org", sender.encode())


def stderr(*arguments: object, stdin: bytes = b"") -> str:
    return program(*arguments, stdin=stdin).stderr.decode()


def names(model: Path, command: str) -> list[str]:
    return [line.split("\t")[-1] for line in run(command, "-q", "-m", model).splitlines()]


def test_allow_then_remove_leaves_the_dump_as_it_was(listed: Path) -> None:
    before = run("model", "dump", "-m", listed)
    run("allow", "-m", listed, "x@y.example")
    run("deny", "-m", listed, "z.example")
    assert run("model", "dump", "-m", listed) != before
    run("allow", "--remove", "-m", listed, "x@y.example")
    run("deny", "--remove", "-m", listed, "z.example")
    assert run("model", "dump", "-m", listed) == before
    assert "sound" in run("model", "check", "-m", listed)


def test_the_list_decides_and_the_probability_stays(listed: Path, tmp_path: Path) -> None:
    label, probability, _ = run("classify", "-m", listed, stdin=SPAM).split("\t")
    assert (label, float(probability) > 0.9) == ("ham", True)
    found = json.loads(run("classify", "--json", "-m", listed, stdin=SPAM))
    assert (found["label"], found["sender"]) == ("ham", "allowed")
    marked = run("classify", "-p", "--spam-flag", "-m", listed, stdin=SPAM)
    assert marked.startswith("X-Nbspam: ham;") and "; sender=allowed\n" in marked
    assert "X-Spam-Status: No" in marked and "X-Spam-Flag" not in marked
    run("classify", "--exit-code", "-m", listed, stdin=SPAM, status=1)
    assert run("explain", "-m", listed, stdin=SPAM).startswith(
        "ham, because you allow ann@example.org; the words"
    )
    denied = mail_of("x@a.bad.example", "the meeting report")
    assert run("classify", "-m", listed, stdin=denied).startswith("spam\t0.")
    for number in range(40):  # many are judged in blocks
        (tmp_path / f"{number}.eml").write_bytes(SPAM if number % 2 else PILLS)
    verdicts = run("classify", "-m", listed, *[tmp_path / f"{number}.eml" for number in range(40)])
    assert [line.split("\t")[0] for line in verdicts.splitlines()] == ["spam", "ham"] * 20


def test_explain_says_what_the_words_say(listed: Path) -> None:
    run("deny", "-m", listed, "writer@example.org")
    said = run("explain", "-m", listed, stdin=mail("the meeting report minutes"))
    assert said.startswith("spam, because you deny writer@example.org; the words say ham, ")


def test_learning_spam_of_an_allowed_sender_says_so(listed: Path) -> None:
    assert "its sender stays allowed" in stderr("learn", "spam", "-m", listed, stdin=SPAM)


def test_a_filter_learns_nothing_that_the_list_decided(listed: Path) -> None:
    before = run("model", "dump", "-m", listed)
    run("classify", "--autolearn", "-m", listed, stdin=SPAM)
    assert run("model", "dump", "-m", listed) == before


def test_the_list_outlives_training_anew_copies_and_prunes(
    listed: Path, source: Path, tmp_path: Path
) -> None:
    run("train", "-q", "--replace", "-m", listed, source)
    run("train", "-q", "--update", "-m", listed, source)
    run("model", "prune", "-q", "-m", listed, "--min-count", "2")
    copy, merged = tmp_path / "copy", tmp_path / "merged"
    run("model", "load", "-m", copy, stdin=run("model", "dump", "-m", listed).encode())
    run("deny", "-m", copy, "ann@example.org")
    said = stderr("model", "merge", copy, listed, "-o", merged)
    assert "ann@example.org" in said
    for model in (listed, copy):
        assert names(model, "deny")[-1] == "bad.example"
        assert "shop.example" in names(model, "allow")
    assert names(merged, "allow") == ["shop.example"]
    assert names(merged, "deny") == ["ann@example.org", "bad.example"]
    assert run("classify", "-m", listed, stdin=SPAM).startswith("ham\t")


def test_an_own_entry_comes_before_that_of_the_shared_model(listed: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    assert "own begins as an overlay of" in stderr("deny", "--start", listed, "-m", own, "x@y.example")
    assert run("classify", "-m", own, stdin=SPAM).startswith("ham\t")
    run("deny", "-m", own, "ann@example.org")
    assert run("classify", "-m", own, stdin=SPAM).startswith("spam\t")
    assert run("classify", "-m", listed, stdin=SPAM).startswith("ham\t")
    run("model", "rebase", "-q", own, "--start", listed)
    assert names(own, "deny") == ["ann@example.org", "x@y.example"]


def test_without_a_server_nothing_is_allowed_unless_it_is_said(model: Path) -> None:
    said = error("allow", "-m", model, "ann@example.org", status=64)
    assert "--server" in said and "--unverified" in said and names(model, "allow") == []
    run("allow", "-m", model, "--unverified", "ann@example.org")
    assert run("classify", "-m", model, stdin=PILLS).startswith("ham\t")


def test_names_come_from_lists_cards_and_sent_mail(listed: Path, tmp_path: Path) -> None:
    (tmp_path / "list").write_text("# friends\nbea@one.example  # sister\n\n@two.example\n")
    (tmp_path / "cards").write_text(
        "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Cy\r\nitem1.EMAIL;TYPE=home:Cy@Three.example\r\nEND:VCARD\r\n"
        'BEGIN:VCARD\rVERSION:4.0\rEMAIL;TYPE="a:b":Cy <two@three.example>\rEND:VCARD\r'
    )
    letter = b"From: me@home.example\nTo: Dee <dee@four.example>, me@home.example\n\nhello\n"
    notice = b"From: me@home.example\nTo: no-reply@shop.example\nCc: talk@lists.five.example\n\nhello\n"
    folder = write_folders(tmp_path / "box", {"sent": [letter, notice]}) / "sent"
    run("allow", "-m", listed, "--file", tmp_path / "list")
    run("allow", "-m", listed, "--file", tmp_path / "cards")
    (tmp_path / "none").write_text("# nobody\n")
    for command in ("allow", "deny"):
        assert "No address was found." in stderr(command, "-m", listed, "--file", tmp_path / "none")
    said = stderr("allow", "-m", listed, "--sent", folder)
    assert "1 own addresses" in said and "1 mailing lists" in said and "1 addresses that nobody reads" in said
    new = {"bea@one.example", "two.example", "cy@three.example", "two@three.example", "dee@four.example"}
    assert {*names(listed, "allow")} == {"ann@example.org", "shop.example", *new}


@pytest.mark.parametrize("who", ["*.example", "org", "ann@", "*@a.example", "ann@example.org,eve@x.example"])
def test_patterns_and_other_words_are_refused(listed: Path, who: str) -> None:
    run("deny", "-m", listed, who, status=64)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(["allow"], "shop.example.of.ann@example.org"), (["model", "words", "cheap"], "cheap")],
)
def test_a_narrow_terminal_shows_the_names(listed: Path, arguments: list[str], name: str) -> None:
    run("allow", "-m", listed, "shop.example.of.ann@example.org")
    screen, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 40))
    subprocess.run([*PROGRAM, *arguments, "-m", listed], stdout=terminal, check=True)
    os.close(terminal)
    with open(screen, "rb") as file:
        shown = os.read(file.fileno(), 100_000).decode()
    assert name in shown.replace("\r\n", "").replace(" ", "")


@pytest.mark.parametrize("name", ["", "mx.one mx.two", "mx.one;", "spf=pass"])
def test_what_is_no_name_of_a_server_is_refused(listed: Path, name: str) -> None:
    before = run("model", "dump", "-m", listed)
    assert "Authentication-Results" in error("allow", "-m", listed, "--server", name, status=64)
    assert run("model", "dump", "-m", listed) == before


def test_eval_says_how_many_decisions_the_list_would_change(listed: Path, tmp_path: Path) -> None:
    mail_folder = write_folders(
        tmp_path / "labelled", {"ham": [mail("the meeting report")], "spam": [SPAM, PILLS]}
    )
    said = run("eval", "-m", listed, mail_folder)
    assert "would change 1 of the decisions" in " ".join(said.split())
