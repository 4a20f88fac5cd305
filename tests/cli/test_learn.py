"""`nbspam learn` and `nbspam unlearn`, as the shell sees them."""

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nbspam.learning import learn as learning
from nbspam.store.check import check_model
from tests.mail_samples import make_corpus
from tests.tiny_mail import counts, mail, program, run, write_folders

MANY = [mail(f"an offer of number{n} pills{n % 7}") for n in range(80)]
FROM = b"From a@b.example Mon Jun  3 10:00:00 2024\n"


@pytest.fixture
def calibrated(tmp_path: Path) -> Path:
    """A model with a calibration, which depends on the order of what is learned."""
    folder = make_corpus(tmp_path / "samples", {"ham": 12, "spam": 12})
    run("train", "-q", folder, "-m", tmp_path / "calibrated")
    return tmp_path / "calibrated"


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    found = [tmp_path / f"{number:02}.eml" for number in range(len(MANY))]
    for path, data in zip(found, MANY, strict=True):
        path.write_bytes(data)
    return [str(path) for path in found]


def test_the_prior_alone_judges_if_fewer_than_two_classes_have_mail(model: Path, source: Path) -> None:
    spam, message = source / "spam", mail("cheap pills offer1 buy now")
    known = run("classify", "-m", model, stdin=message)
    run("unlearn", "-q", "-m", model, spam)
    assert run("classify", "-m", model, stdin=message) == "unsure\tundefined\t-\n"
    assert run("classify", "--exit-code", "-m", model, stdin=message, status=2)
    assert "\t0.700000\t" in run("classify", "--prior", "spam=0.7,ham=0.3", "-m", model, stdin=message)
    verdict = json.loads(run("explain", "--json", "--prior", "uniform", "-m", model, stdin=message))
    assert (verdict["probability"], verdict["log_odds_interval"], verdict["clues"]) == (0.5, None, [])
    assert "fewer than two classes have mail" in run("explain", "-m", model, stdin=message)
    run("learn", "-q", "spam", "-m", model, spam)
    assert run("classify", "-m", model, stdin=message).split("\t")[0] == known.split("\t")[0] != "unsure"


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
def test_a_message_with_a_from_line_is_the_one_of_training(content: bytes, tmp_path: Path) -> None:
    path = write_folders(tmp_path / "mail", {"ham": [content], "spam": [mail("pills")]}) / "ham" / "000.eml"
    run("train", tmp_path / "mail", "-m", tmp_path / "m", "-q")
    assert run("learn", "ham", "-m", tmp_path / "m", path) == f"already learned\t{path}\n"
    assert run("learn", "ham", "-m", tmp_path / "m", stdin=content) == "already learned\t-\n"


def test_every_broken_message_can_be_learned_and_unlearned(
    model: Path, torture_files: list[Path], tmp_path: Path
) -> None:
    before = counts(model)
    odd = [b"\0" * 5000, b"x" * 3_000_000, b"From: \xff\xfe\n\n\xff", bytes(range(256)) * 40]
    paths = [*torture_files[::4], *write_folders(tmp_path / "odd", {"any": odd}).rglob("*.eml")]
    names = "".join(f"{path}\n" for path in paths).encode()
    learned = run("learn", "spam", "-q", "-m", model, "--files-from", "-", stdin=names)
    assert learned.count("\n") >= len(paths)
    assert check_model(str(model)) == []
    run("unlearn", "-q", "-m", model, "--files-from", "-", stdin=names)
    assert counts(model) == before


@pytest.mark.slow
def test_a_batch_gives_the_model_of_one_by_one(calibrated: Path, paths: list[str], tmp_path: Path) -> None:
    one_by_one = shutil.copy(calibrated, tmp_path / "one-by-one")
    for data in [*MANY, MANY[3], MANY[70]]:
        learning.learn_message(str(one_by_one), "spam", data)
    run("learn", "spam", "-q", "-m", calibrated, *paths, paths[3], paths[70])
    assert run("model", "dump", "-m", calibrated) == run("model", "dump", "-m", one_by_one)


def test_written_lines_are_done_and_no_others_if_learning_is_stopped(
    calibrated: Path, paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bytes] = []
    count = learning.count_tokens

    def stopped(data: bytes, *more: Any) -> Any:
        seen.append(data)
        if len(seen) == 40:
            raise RuntimeError("stopped")
        return count(data, *more)

    with monkeypatch.context() as patch:
        patch.setattr(learning, "count_tokens", stopped)
        written = program("learn", "spam", "-q", "-m", calibrated, *paths).stdout.decode().splitlines()
    assert written == [f"learned\t{path}" for path in paths[:32]]
    again = run("learn", "spam", "-q", "-m", calibrated, *paths).splitlines()
    assert [line.partition("\t")[0] for line in again] == ["already learned"] * 32 + ["learned"] * 48


def test_learn_says_that_a_folder_has_no_message_to_learn(model: Path, tmp_path: Path) -> None:
    folder = write_folders(tmp_path / "Maildir", {"cur": [], "new": [], "tmp": []})
    (folder / "cur" / "1:2,ST").write_bytes(mail("thrown away"))
    said = program("learn", "spam", "-m", model, folder).stderr.decode()
    assert said.endswith("0 messages.\nThere is no message to learn at these paths.\n")


@pytest.mark.parametrize("encoding", ["8bit", "base64"])
def test_attached_message_teaches_and_its_report_does_not(calibrated: Path, encoding: str) -> None:
    inside = (
        b"Received: from x (x [192.0.2.77])\nSubject: watches\nFrom: w@pear.example\n\ngr\xc3\xa1tis\xff\n"
    )
    attached = inside if encoding == "8bit" else base64.encodebytes(inside)
    report = (
        b"From: Ann <ann@a.example>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\n\nreport number 1\n--b\nContent-Type: message/rfc822\nContent-Transfer-Encoding: "
        + encoding.encode()
        + b"\n\n"
        + attached
        + b"--b--\n"
    )
    before = counts(calibrated)
    assert run("learn", "spam", "--attached", "-m", calibrated, stdin=report) == "learned\t-\n"
    assert run("unlearn", "-m", calibrated, stdin=inside) == "forgotten\t-\n"
    assert counts(calibrated) == before
    done = program("learn", "spam", "--attached", "-m", calibrated, stdin=inside)
    assert done.returncode == 65
    assert b"forward the message as an attachment" in done.stderr
    assert counts(calibrated) == before


def test_what_is_no_mail_is_learned_with_a_notice(model: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("Milk, bread, butter\n")
    done = program("learn", "ham", "-m", model, notes)
    assert (done.returncode, done.stdout) == (0, f"learned\t{notes}\n".encode())
    assert f"nbspam: {notes}: no mail: it has no known header field\n".encode() in done.stderr


NO_LESSONS = [
    (b"", "an empty message"),
    (b"\n\n", "an empty message"),
    (FROM, "an empty message"),
    (FROM + mail("one") + b"\n" + FROM + mail("two"), "several messages, an mbox"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(200)), "a .msg of Outlook"),
    (b"!BDN" + bytes(range(200)), "a store of mail"),
    (b"2 M1e C5f1a2b3c\n\1\2N   00000000000000A1\n" + mail("one"), "a store of mail"),
]


@pytest.mark.parametrize(("content", "why"), NO_LESSONS)
def test_what_is_not_one_message_is_refused_on_stdin(model: Path, content: bytes, why: str) -> None:
    done = program("learn", "spam", "-m", model, stdin=content)
    assert (done.returncode, done.stdout) == (65, b"")
    assert f"nbspam: -: {why}" in done.stderr.decode()


@pytest.mark.parametrize(
    ("box", "n_learned"),
    [
        (FROM + mail("pills garden"), 1),
        (FROM + mail("pills garden") + b"\n", 1),
        (FROM.replace(b"\n", b"\r\n") + mail("pills garden").replace(b"\n", b"\r\n") + b"\r\n", 1),
        (FROM + mail("pills\n>From the garden\n"), 1),
        (FROM + mail("pills") + b"\n" + FROM + mail("garden"), 2),
        (FROM + b"X-Mozilla-Status: 0009\n" + mail("deleted"), 0),
        (FROM + b"Subject: x\nSTATUS: RD\n\ndeleted\n", 0),
        (FROM + b"Subject: mail of the program\nX-IMAP: 1 2\n\ninternal\n", 0),
        (b"From the garden\n" + mail("pills"), 1),
        (b"From ann@example.org\n" + mail("pills"), 1),
    ],
    ids=range(10),
)
def test_file_with_a_from_line_teaches_what_it_teaches_in_a_folder(
    model: Path, tmp_path: Path, box: bytes, n_learned: int
) -> None:
    in_folder, file = shutil.copy(model, tmp_path / "other"), tmp_path / "mail" / "box"
    file.parent.mkdir()
    file.write_bytes(box)
    answers = run("learn", "spam", "-m", model, file)
    assert answers == run("learn", "spam", "-m", in_folder, file.parent)
    assert answers.count("learned\t") == n_learned
    assert run("model", "dump", "-m", model) == run("model", "dump", "-m", in_folder)


@pytest.mark.parametrize(
    ("content", "why"), [(b"CRYPTED\3\7" + bytes(range(200)), "encrypted by Dovecot"), NO_LESSONS[-1]]
)
def test_file_that_teaches_nothing_is_refused_and_the_others_are_learned(
    model: Path, tmp_path: Path, content: bytes, why: str
) -> None:
    folder = write_folders(tmp_path / "mail", {"cur": [content, mail("pills")]})
    paths = sorted((folder / "cur").iterdir())
    done = program("learn", "spam", "-m", model, *paths)
    assert (done.returncode, done.stdout) == (65, f"learned\t{paths[1]}\n".encode())
    assert f"nbspam: {paths[0]}: {why}" in done.stderr.decode()
