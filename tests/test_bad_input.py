"""Bad input: an error that says what, where, why and what next; the documented status; nothing lost."""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import resource
import shlex
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nbspam.filter import open_filter
from nbspam.store.connection import APPLICATION_ID, FORMAT
from nbspam.tasks.passthrough import marked, own_fields
from tests import tiny_mail
from tests.tiny_mail import PROGRAM, Done, mail, write_folders

CPU_SECONDS = 1.0  # a message, beyond what the program needs for an empty one

HAM = [mail(f"minutes of the meeting number{n} about the garden fence") for n in range(12)]
SPAM = [mail(f"cheap pills offer{n} buy now without prescription") for n in range(12)]


def program(*arguments: object, stdin: bytes = b"", cwd: Path | None = None) -> Done:
    """The program in this process; never a traceback, never a fault of ours."""
    with contextlib.chdir(cwd or Path.cwd()):
        return without_fault(tiny_mail.program(*arguments, stdin=stdin))


def process(*arguments: object, stdin: bytes = b"") -> Done:
    """The program in a process of its own; never a traceback, never a fault of ours."""
    return without_fault(tiny_mail.process(*arguments, stdin=stdin))


def without_fault(done: Done) -> Done:
    assert b"Traceback" not in done.stderr, done.stderr
    assert b"[bug]" not in done.stderr, done.stderr
    return done


def refusal(status: int, slug: str, where: object, *arguments: object, **options: object) -> str:
    """The error of a command that is refused: it names what and where, what to do next, and its slug."""
    done = program(*arguments, **options)
    text = done.stderr.decode()
    assert done.returncode == status, text
    first, second = text.splitlines()[-2:]
    assert first.startswith(f"nbspam: {where}")
    assert second.startswith("  next: ")
    assert second.endswith(f"  [{slug}]")
    return text


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A labelled folder."""
    return write_folders(tmp_path_factory.mktemp("source"), {"ham": HAM, "spam": SPAM})


@pytest.fixture(scope="module")
def trained(source: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a sound model."""
    path = tmp_path_factory.mktemp("trained") / "model"
    assert program("train", "-q", "-j1", source, "-m", path).returncode == 0
    return path.read_bytes()


@pytest.fixture
def model(trained: bytes, tmp_path: Path) -> Path:
    """A model of its own."""
    path = tmp_path / "model.nbspam"
    path.write_bytes(trained)
    return path


# --- SOURCE ---

READERS = (
    ["train", "-m", "new.nbspam"],
    ["eval"],
    ["tune"],
    ["vocab", "build", "-o", "vocab.tsv"],
    ["vectorize", "--vocab", "v.tsv", "--event-model", "bernoulli", "-o", "x.npz"],
)


@pytest.fixture
def place(tmp_path: Path, source: Path) -> Path:
    """A working folder with a vocabulary in it and sources that are none."""
    assert program("vocab", "build", "-q", source, "-o", "v.tsv", cwd=tmp_path).returncode == 0
    write_folders(tmp_path / "one", {"ham": HAM})
    write_folders(tmp_path / "nothing", {"ham": [], "spam": []})
    (tmp_path / "empty").mkdir()
    (tmp_path / "unlabelled").mkdir()
    (tmp_path / "unlabelled" / "a.eml").write_bytes(HAM[0])
    (tmp_path / "empty.index").write_bytes(b"")
    (tmp_path / "odd.index").write_bytes(b"\x00\xff\xfe neither label nor path\n")
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("name", "status", "slug"),
    [
        ("missing", 66, "no-such-source"),
        ("one", 65, "one-class"),
        ("nothing", 66, "source-empty"),
        ("empty", 66, "source-empty"),
        ("unlabelled", 65, "unlabelled"),
        ("fifo", 66, "source-kind"),
    ],
)
def test_a_source_that_is_none_is_refused_and_nothing_is_written(
    place: Path, command: list[str], name: str, status: int, slug: str
) -> None:
    before = sorted(place.iterdir())
    if command[0] == "vectorize" and name == "one":
        pytest.skip("a matrix of one class is a matrix")
    refusal(status, slug, name, *command, name, cwd=place)
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("name", ["empty.index", "odd.index"])
def test_an_index_without_messages_is_refused(place: Path, name: str) -> None:
    done = program("train", name, "-m", "new.nbspam", cwd=place)
    assert done.returncode in (65, 66)
    assert done.stderr.startswith(f"nbspam: {name}".encode())
    assert not (place / "new.nbspam").exists()


@pytest.mark.parametrize("name", ["a\x1b[31mb", "new\nline", "tab\tname", " spaced ", "unsure"])
def test_a_class_that_cannot_be_named_so_is_refused(tmp_path: Path, name: str) -> None:
    write_folders(tmp_path / "source", {"ham": HAM, name: SPAM})
    for arguments, status, remedy in (
        ([tmp_path / "source"], 65, b"rename "),
        (["--ham", tmp_path / "source" / "ham", "--class", f"{name}={tmp_path}"], 64, b"give another name"),
        (["--ham", tmp_path / "source" / "ham", "--class", f"={tmp_path}"], 64, b"give another name"),
    ):
        done = program("train", *arguments, "-m", tmp_path / "new.nbspam")
        assert done.returncode == status
        assert b"next: " + remedy in done.stderr
        assert b"[class-name]" in done.stderr
        assert b"\x1b" not in done.stderr
        assert not (tmp_path / "new.nbspam").exists()


@pytest.mark.parametrize("target", ["gone", "no/such/folder/gone"])
def test_a_link_to_nothing_is_where_a_model_is_made(tmp_path: Path, target: str) -> None:
    source = write_folders(tmp_path / "source", {"ham": HAM, "spam": SPAM})
    (tmp_path / "link").symlink_to(target)
    assert program("train", "-q", source, "-m", tmp_path / "link").returncode == 0
    assert (tmp_path / "link").readlink() == Path(target)
    assert (tmp_path / target).is_file()
    refusal(73, "model-exists", tmp_path / "link", "train", source, "-m", tmp_path / "link")


def test_a_loop_of_links_is_no_place_for_a_model(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    refusal(73, "model-create", loop, "train", "no-such-mail", "-m", loop, "--replace")


@pytest.fixture
def maildir(tmp_path: Path) -> Path:
    """A Maildir with a .Spam folder, and in it what cannot be read as mail."""
    folder = tmp_path / "Maildir"
    for part, messages in ((folder, HAM), (folder / ".Spam", SPAM)):
        for name in ("cur", "new", "tmp"):
            (part / name).mkdir(parents=True)
        for number, message in enumerate(messages):
            (part / "cur" / f"{number}.host:2,S").write_bytes(message)
    os.mkfifo(folder / "cur" / "fifo.host:2,S")
    (folder / "cur" / "dangling.host:2,S").symlink_to("nowhere")
    (folder / "cur" / "loop.host:2,S").symlink_to("loop.host:2,S")
    return folder


def test_unreadable_files_in_a_maildir_are_skipped_and_named(maildir: Path, tmp_path: Path) -> None:
    done = program("train", maildir, "-m", tmp_path / "new.nbspam")
    assert done.returncode == 66
    text = done.stderr.decode()
    assert "24 messages (12 ham, 12 spam)" in text
    for name in ("fifo", "dangling", "loop"):
        assert any(line.startswith("Skipped: ") and name in line for line in text.splitlines()), text


def test_a_file_without_permission_is_skipped_and_named(maildir: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every file")
    (maildir / "cur" / "0.host:2,S").chmod(0)
    done = program("train", maildir, "-m", tmp_path / "new.nbspam")
    assert done.returncode == 66
    assert b"23 messages" in done.stderr
    assert b"Skipped: " in done.stderr


def test_classify_names_what_it_cannot_read_and_goes_on(model: Path, maildir: Path) -> None:
    good = maildir / "cur" / "0.host:2,S"
    fifo = maildir / "cur" / "fifo.host:2,S"
    done = program("classify", "-m", model, fifo, maildir / "missing", good)
    assert done.returncode == 66
    assert done.stdout.endswith(f"\t{good}\n".encode())
    assert done.stdout.count(b"\n") == 1
    assert str(fifo).encode() in done.stderr
    assert done.stderr.count(b"[no-input]") == 2


@pytest.fixture
def spoilt(tmp_path: Path) -> dict[str, Path]:
    """A folder with one message, a dangling link and a FIFO in it; compressed files with less than all."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "good.eml").write_bytes(SPAM[0])
    (folder / "link.eml").symlink_to("nowhere")
    os.mkfifo(folder / "fifo.eml")
    noise = random.Random(1)
    mbox = b"".join(
        b"From a@example.org Sat Jan  3 01:05:34 2026\n" + mail(noise.randbytes(9000).hex()) + b"\n"
        for _ in range(20)
    )
    packed = gzip.compress(mbox)
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) * 3 // 4])
    (tmp_path / "nothing.gz").write_bytes(packed[:10] + b"\xff" * 50)
    return {"folder": folder, "cut": tmp_path / "cut.gz", "nothing": tmp_path / "nothing.gz"}


@pytest.mark.parametrize("command", ["classify", "explain", "learn", "unlearn"])
def test_what_of_a_folder_or_mailbox_cannot_be_read_is_named(
    model: Path, spoilt: dict[str, Path], command: str
) -> None:
    class_name = ["spam"] if command == "learn" else []
    for name, unread in (
        ("folder", [spoilt["folder"] / "fifo.eml", spoilt["folder"] / "link.eml"]),
        ("cut", [spoilt["cut"]]),
    ):
        done = program(command, *class_name, "-m", model, spoilt[name])
        assert done.returncode == 66
        assert done.stdout
        errors = done.stderr.decode().split("nbspam: ")[1:]
        assert sorted(error.partition(": ")[0] for error in errors) == sorted(map(str, unread))


def test_a_compressed_file_without_a_readable_byte_is_no_message(
    model: Path, spoilt: dict[str, Path], source: Path
) -> None:
    before = model.read_bytes()
    for command in (["learn", "spam"], ["classify"], ["classify", "--exit-code"], ["explain"]):
        done = program(*command, "-m", model, spoilt["nothing"])
        assert (done.returncode, done.stdout) == (66, b""), command
        assert b"is used" not in done.stderr
        assert b"next: check that it is whole" in done.stderr
    assert model.read_bytes() == before
    ham = ["--ham", source / "ham", "-m", model.parent / "new"]
    done = program("train", "-j1", *ham, "--spam", spoilt["nothing"])
    assert done.returncode == 66
    assert b"nothing.gz: gz data damaged\n" in done.stderr
    assert not (model.parent / "new").exists()


@pytest.mark.parametrize("command", [["classify"], ["learn", "spam"]])
def test_a_list_of_paths_with_a_nul_is_refused_with_its_line(
    model: Path, tmp_path: Path, command: list[str]
) -> None:
    listed = tmp_path / "list"
    listed.write_bytes(b"one.eml\ntwo.eml\0three.eml\n")
    refusal(65, "list-nul", f"{listed}:2", *command, "-m", model, "--files-from", listed)


def test_a_listed_path_ends_where_its_line_does_and_nowhere_else(model: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a\rb\x0b\x1c\x85c.eml"
    odd.write_bytes(SPAM[0])
    done = program("classify", "-m", model, "--files-from", "-", stdin=os.fsencode(odd) + b"\n")
    assert (done.returncode, done.stdout[:5]) == (0, b"spam\t")


@pytest.mark.parametrize("command", ["classify", "explain", "learn -q spam", "classify --exit-code"])
def test_a_pipe_that_the_shell_puts_in_the_place_of_a_file_is_read(model: Path, command: str) -> None:
    words = shlex.join([*PROGRAM, *command.split(), "-m", str(model)])
    for line in (f"cat | {words} /dev/stdin", f"cat > mail; {words} <(cat mail)"):
        done = subprocess.run(["bash", "-c", line], input=SPAM[0], capture_output=True, cwd=model.parent)
        assert (done.returncode, done.stderr) == (0, b""), line
        assert done.stdout


# --- models ---


def _newer(data: bytes) -> bytes:
    return data[:60] + (FORMAT + 1).to_bytes(4, "big") + data[64:]


def _older(data: bytes) -> bytes:
    return data[:60] + (FORMAT - 1).to_bytes(4, "big") + data[64:]


def _foreign(data: bytes) -> bytes:
    assert int.from_bytes(data[68:72], "big") == APPLICATION_ID
    return data[:68] + bytes(4) + data[72:]


BAD_MODELS: dict[str, tuple[Callable[[bytes], bytes | None], int, str]] = {
    "missing": (lambda data: None, 66, "model-missing"),
    "empty": (lambda data: b"", 65, "model-empty"),
    "cut short": (lambda data: data[: len(data) // 2], 65, "model-truncated"),
    "cut in the header": (lambda data: data[:50], 65, "model-truncated"),
    "text": (lambda data: b"this is a letter\n" * 1000, 65, "model-foreign"),
    "newer": (_newer, 65, "model-format-newer"),
    "older": (_older, 65, "model-format-older"),
    "another program's": (_foreign, 65, "model-foreign"),
    "damaged": (lambda data: data[:100] + bytes(len(data) - 100), 65, "model-damaged"),
}

MODEL_COMMANDS = (
    ["classify"],
    ["classify", "--exit-code"],
    ["explain"],
    ["learn", "spam"],
    ["unlearn"],
    ["model", "info"],
    ["model", "check"],
    ["model", "dump"],
)


@pytest.mark.parametrize("kind", BAD_MODELS)
def test_a_bad_model_is_refused_by_every_command_and_stays_as_it_is(
    trained: bytes, tmp_path: Path, source: Path, kind: str
) -> None:
    change, status, slug = BAD_MODELS[kind]
    path = tmp_path / "model"
    content = change(trained)
    if content is not None:
        path.write_bytes(content)
    for command in MODEL_COMMANDS:
        refusal(status, slug, path, *command, "-m", path, stdin=HAM[0])
    refusal(status, slug, path, "eval", source, "-m", path)
    refusal(status, slug, path, "train", "--update", source, "-m", path)
    assert (path.read_bytes() if path.exists() else None) == content


@pytest.mark.parametrize("kind", BAD_MODELS)
def test_passthrough_with_a_bad_model_gives_the_message_back_and_asks_to_try_again(
    trained: bytes, tmp_path: Path, kind: str
) -> None:
    content = BAD_MODELS[kind][0](trained)
    if content is not None:
        (tmp_path / "model").write_bytes(content)
    message = b"Subject: \0\xff\r\n\r\nno end"
    done = program("classify", "-p", "-m", tmp_path / "model", stdin=message)
    assert (done.returncode, done.stdout) == (75, message)
    assert f"[{BAD_MODELS[kind][2]}]".encode() in done.stderr


def test_a_model_with_any_page_overwritten_never_ends_in_a_traceback(trained: bytes, tmp_path: Path) -> None:
    drawn = random.Random(7)
    path = tmp_path / "model"
    for _ in range(12):
        at = drawn.randrange(100, len(trained) - 600)
        path.write_bytes(trained[:at] + drawn.randbytes(600) + trained[at + 600 :])
        # Damage that is still a database may hold counts that no mail has: 70 is for these.
        command = [*PROGRAM, "classify", "-m", str(path)]
        judged = subprocess.run(command, input=SPAM[0], capture_output=True)
        assert judged.returncode in (0, 65, 70)
        assert b"Traceback" not in judged.stderr
        done = program("classify", "-p", "-m", path, stdin=SPAM[0])
        assert done.returncode in (0, 75)
        assert done.stdout.endswith(SPAM[0])


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE class (number, name)")
    refusal(65, "model-foreign", path, "classify", "-m", path, stdin=HAM[0])


def test_a_folder_in_the_place_of_a_model_is_refused(tmp_path: Path) -> None:
    refusal(66, "model-unreadable", tmp_path, "classify", "-m", tmp_path, stdin=HAM[0])


@pytest.mark.parametrize("name", ["folder/", "folder", "new/", "", "/dev/null"])
def test_what_can_be_no_model_is_refused_before_mail_is_read(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir())
    refusal(73, "model-create", name, "train", "no-such-mail", "-m", name, "--replace")
    refusal(73, "model-create", name, "tune", "no-such-mail", "--write", "--replace", "-m", name)
    refusal(73, "model-create", name, "model", "merge", model, model, "-o", name, "--replace")
    assert sorted(os.listdir()) == before


def test_a_model_that_begins_is_no_folder(model: Path, tmp_path: Path) -> None:
    own = f"{tmp_path}/own/"
    refusal(73, "model-create", own, "learn", "spam", "-m", own, "--start", model, stdin=b"Subject: x\n\ny\n")
    assert not os.path.exists(own[:-1])


def test_a_model_without_a_name_is_not_the_default_one(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBSPAM_MODEL", str(model))
    for command in (["classify"], ["explain"], ["learn", "spam"], ["model", "info"]):
        refusal(66, "model-missing", "", *command, "-m", "", stdin=b"Subject: x\n\ny\n")


def test_a_model_is_not_overwritten_unless_told_so(model: Path, source: Path, trained: bytes) -> None:
    refusal(73, "model-exists", model, "train", source, "-m", model)
    assert model.read_bytes() == trained


@pytest.mark.parametrize("options", [[], ["--replace"]])
@pytest.mark.parametrize(
    "command",
    [
        ["train", "SOURCE", "-m"],
        ["tune", "SOURCE", "--write", "-m"],
        ["model", "load", "-m"],
        ["model", "import", "-m"],
        ["model", "merge", "MODEL", "MODEL", "-o"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_file_that_is_no_model_is_never_written_over(
    source: Path, model: Path, tmp_path: Path, command: list[str], options: list[str]
) -> None:
    mailbox = tmp_path / "inbox"
    mailbox.write_bytes(b"From a@example.org Mon Jan  1 00:00:00 2024\n" + HAM[0])
    named = {"SOURCE": source, "MODEL": model}
    arguments = [named.get(word, word) for word in command]
    refusal(73, "model-foreign", mailbox, *arguments, mailbox, *options)
    assert HAM[0] in mailbox.read_bytes()


def test_a_damaged_or_an_empty_model_is_replaced(source: Path, trained: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model"
    for content in (b"", trained[:5000]):
        path.write_bytes(content)
        assert program("train", "--replace", source, "-m", path).returncode == 0
        assert program("model", "check", "-m", path).returncode == 0


def test_what_is_read_is_not_written_over(source: Path, model: Path, tmp_path: Path) -> None:
    vocabulary, mailbox, words = tmp_path / "v.tsv", tmp_path / "ham.mbox", tmp_path / "words"
    assert program("vocab", "build", source, "-o", vocabulary, "-q").returncode == 0
    mailbox.write_bytes(b"From a@example.org Mon Jan  1 00:00:00 2024\n" + HAM[0])
    words.write_text("viagra\n")
    mail = ("--ham", mailbox, "--spam", source / "spam")
    by = ("--vocab", vocabulary, "--event-model", "bernoulli")
    (tmp_path / "link").symlink_to(model)
    before = {path: path.read_bytes() for path in (vocabulary, mailbox, words, model)}
    for path, command in (
        (vocabulary, ["vectorize", source, *by, "-o"]),
        (mailbox, ["vectorize", *mail, *by, "-o"]),
        (mailbox, ["vocab", "build", *mail, "-o"]),
        (words, ["vocab", "build", *mail, "--word-list", words, "-o"]),
        (model, ["model", "dump", "-m", model, "-o"]),
        (tmp_path / "link", ["model", "dump", "-m", model, "-o"]),
        (model, ["eval", source, "-m", model, "--save"]),
        (vocabulary, ["eval", source, "--folds", "2", "--vocab", vocabulary, "--results"]),
        (mailbox, ["eval", f"--class=ham={mailbox}", *mail[2:], "--report"]),
        (tmp_path / "new", ["eval", source, "--folds", "2", "--save", tmp_path / "new", "--results"]),
    ):
        refusal(64, "output-twice", path, *command, path)
    assert {path: path.read_bytes() for path in before} == before
    assert program("eval", source, "--folds", "2", "--save=/dev/null", "--results=/dev/null").returncode == 0


# --- options ---


@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        (["--alpha", "-1"], "alpha"),
        (["--alpha=-0.5"], "alpha"),
        (["--alpha", "nan"], "alpha"),
        (["--alpha", "inf"], "alpha"),
        (["--alpha", "much"], "alpha"),
        (["--alpha", "1e15"], "alpha"),
        (["--alpha", "1e-300"], "alpha"),
        (["--prior", "spam=2,ham=1"], "prior"),
        (["--prior", "nonsense"], "prior"),
        (["--threshold", "-1"], "threshold"),
        (["--bins", "0", "--event-model", "aode"], "bins"),
        (["--loss", "FP=-1"], "loss"),
        (["--loss", ""], "loss"),
        (["--class", "no-path"], "class-option"),
        (["--no-such-option"], "usage"),
        (["--jobs", "0"], "usage"),
    ],
)
def test_an_option_out_of_range_is_refused_and_the_model_stays(
    model: Path, source: Path, trained: bytes, arguments: list[str], slug: str
) -> None:
    refusal(64, slug, "", "train", "--replace", source, "-m", model, *arguments)
    assert model.read_bytes() == trained


@pytest.mark.parametrize("alpha", ["1e-300", "1e15", "1e308"])
@pytest.mark.parametrize("command", ["classify", "explain"])
def test_a_smoothing_out_of_range_is_refused_where_a_message_is_scored(
    model: Path, command: str, alpha: str
) -> None:
    text = refusal(64, "alpha", f"--alpha {alpha}", command, "--alpha", alpha, "-m", model)
    assert "a number from 1e-100 to 1e+12" in text


@pytest.mark.parametrize("command", ["classify", "explain"])
def test_an_empty_loss_is_refused_as_an_empty_prior_is(model: Path, command: str) -> None:
    for option in ("prior", "loss"):
        refusal(64, option, option, command, f"--{option}=", "-m", model)


@pytest.mark.parametrize("alpha", ["-1", "inf", "auto"])
def test_who_scores_a_message_is_not_told_to_let_lambda_be_chosen(model: Path, alpha: str) -> None:
    text = refusal(64, "alpha", f"--alpha {alpha}: ", "classify", "--alpha", alpha, "-m", model)
    assert "auto" not in text.splitlines()[-1]


def test_who_gives_one_cost_without_its_name_is_told_how_costs_are_written(model: Path) -> None:
    assert "or give costs: FP=10" in refusal(66, "no-input", "10", "classify", "--loss", "10", "-m", model)


def test_the_outermost_smoothings_and_weights_are_explained(
    source: Path, model: Path, tmp_path: Path
) -> None:
    for alpha in ("0", "1e-100", "1e12"):
        for options in ([], ["--textbook"]):
            assert program("explain", "--alpha", alpha, *options, "-m", model, stdin=HAM[0]).returncode == 0
    prior = ("--prior-model", model, "--prior-weight")
    refusal(64, "prior-weight", "prior weight 1e+300", "train", *prior, "1e300", "-m", tmp_path / "x")
    heavy = tmp_path / "heavy"
    assert program("train", source, *prior, "1e9", "-m", heavy).returncode == 0
    assert program("explain", "-m", heavy, stdin=HAM[0]).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "command", "why"),
    [
        (["train", "-m"], "train", "requires an argument"),
        (["classify", "--loss"], "classify", "requires an argument"),
        (["model", "info", "--word"], "model info", "requires an argument"),
        (["vocab", "shown"], "vocab", "No such command"),
        (["vectorize", "mail", "--event-model", "gaussian"], "vectorize", "is not one of"),
        (["--jobs"], "", "No such option"),
    ],
)
def test_a_misused_option_is_told_in_one_line_with_the_help_of_its_command(
    arguments: list[str], command: str, why: str
) -> None:
    named = f"nbspam {command}".strip()
    text = refusal(64, "usage", f"{named}: ", *arguments)
    assert why in text
    assert f"see {named} --help" in text
    assert "\\n" not in text


@pytest.mark.parametrize(
    ("arguments", "slug"),
    [(["--size", "0"], "size"), (["--size", "-3"], "size"), (["--min-count", "0"], "min-count")],
)
def test_a_vocabulary_of_no_words_is_refused(
    source: Path, tmp_path: Path, arguments: list[str], slug: str
) -> None:
    refusal(64, slug, "--", "vocab", "build", source, "-o", tmp_path / "v.tsv", *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"some words\nin a file\n", b"\xff\xfe\x00", b"0\tbody\tNOTAWORD\n"]
)
def test_a_vocabulary_file_that_is_none_is_refused(
    source: Path, model: Path, trained: bytes, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "vocab.tsv"
    path.write_bytes(content)
    for command in (
        ["train", "--replace", source, "-m", model, "--vocab", path],
        ["vectorize", source, "--vocab", path, "--event-model", "bernoulli", "-o", tmp_path / "x.npz"],
        ["vocab", "show", path],
    ):
        done = program(*command)
        assert done.returncode == 65, done.stderr
        assert done.stderr.startswith(f"nbspam: {path}".encode())
        assert b"[vocabulary-" in done.stderr
    assert model.read_bytes() == trained
    assert not (tmp_path / "x.npz").exists()


# --- no space, no permission ---


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", folder]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labelled mail whose model takes some megabytes."""
    drawn = random.Random(3)
    messages = [mail(" ".join(f"w{drawn.randrange(10**9):x}" for _ in range(400))) for _ in range(80)]
    return write_folders(tmp_path_factory.mktemp("wordy"), {"ham": messages[:40], "spam": messages[40:]})


@pytest.fixture(scope="module")
def long_work(wordy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some seconds of training."""
    index = tmp_path_factory.mktemp("long") / "index"
    lines = [f"{path.parent.name} {path}\n" for path in sorted(wordy.glob("*/*"))]
    index.write_text("".join(lines * 60))
    return index


def _fill(folder: Path, left_bytes: int) -> None:
    """Takes the space of a file system but for some."""
    usage = os.statvfs(folder)
    (folder / "filler").write_bytes(bytes(max(0, usage.f_bavail * usage.f_frsize - left_bytes)))


def test_a_full_disk_ends_training_and_leaves_the_old_model(
    small_disk: Path, trained: bytes, wordy: Path
) -> None:
    path = small_disk / "model"
    path.write_bytes(trained)
    done = program("train", "--replace", wordy, "-m", path)
    assert done.returncode in (73, 74)
    assert done.stderr.startswith(f"nbspam: {path}: ".encode())
    assert b"space" in done.stderr
    assert path.read_bytes() == trained
    assert os.listdir(small_disk) == ["model"]


@pytest.mark.parametrize("command", [["learn", "spam"], ["train", "--update"]])
def test_a_full_disk_ends_learning_and_leaves_a_sound_model(
    small_disk: Path, trained: bytes, wordy: Path, command: list[str]
) -> None:
    path = small_disk / "model"
    path.write_bytes(trained)
    _fill(small_disk, 12_288)
    done = program(*command, "-m", path, wordy if command[0] == "train" else wordy / "spam")
    assert done.returncode == 74
    assert b"[no-space]" in done.stderr
    (small_disk / "filler").unlink()
    assert program("model", "check", "-m", path).returncode == 0
    assert program("classify", "-m", path, stdin=SPAM[0]).stdout.startswith(b"spam\t")


@pytest.mark.parametrize("name", ["vocab", "vectorize"])
def test_a_full_disk_leaves_no_half_of_an_output_file(small_disk: Path, wordy: Path, name: str) -> None:
    output = small_disk / "out"
    _fill(small_disk, 8_192)
    command = ["vocab", "build", wordy, "-o", output]
    if name == "vectorize":
        vocabulary = small_disk.parent / "v.tsv"
        assert program("vocab", "build", wordy, "-o", vocabulary).returncode == 0
        command = ["vectorize", wordy, "--vocab", vocabulary, "--event-model", "multinomial", "-o", output]
    done = program(*command)
    assert done.returncode == 74
    assert done.stderr.splitlines()[-2].startswith(f"nbspam: {output}: ".encode())
    assert os.listdir(small_disk) == ["filler"]


def test_a_file_size_limit_ends_training_and_leaves_the_old_model(
    model: Path, trained: bytes, wordy: Path
) -> None:
    limit = (100_000, 100_000)
    done = subprocess.run(
        [*PROGRAM, "train", "--replace", wordy, "-m", model], capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )  # fmt: skip
    without_fault(done)
    assert done.returncode in (73, 74)
    assert done.stderr.startswith(f"nbspam: {model}: ".encode())
    assert model.read_bytes() == trained
    assert os.listdir(model.parent) == [model.name]


def test_a_full_output_ends_with_an_io_error(model: Path) -> None:
    with open("/dev/full", "wb") as full:
        for options in ([], ["-p"], ["--json"]):
            done = subprocess.run(
                [*PROGRAM, "classify", *options, "-m", str(model)],
                input=SPAM[0],
                stdout=full,
                stderr=subprocess.PIPE,
            )
            assert done.returncode == 74, options
            assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [["classify"], ["learn", "spam"], ["explain"], ["model", "dump"]],
)
def test_a_reader_that_went_away_is_an_io_error_and_not_ham(model: Path, command: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, *command, "-m", str(model)], input=SPAM[0], stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert done.returncode == 74
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("closed", "status"),
    [("2>&-", 0), (">&-", 74), ("<&-", 0), (">&- 2>&-", 74), (">&- 2>/dev/full", 74), ("2>/dev/full", 0)],
)
def test_a_closed_stream_makes_no_ham_of_spam(model: Path, tmp_path: Path, closed: str, status: int) -> None:
    (tmp_path / "spam.eml").write_bytes(SPAM[0])
    command = shlex.join([*PROGRAM, "classify", "--exit-code", "-m", str(model), str(tmp_path / "spam.eml")])
    assert subprocess.run(["sh", "-c", f"{command} {closed}"], capture_output=True).returncode == status


@pytest.mark.parametrize("closed", ["<&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_input_is_no_message(model: Path, closed: str) -> None:
    command = shlex.join([*PROGRAM, "classify", "--exit-code", "-m", str(model)])
    done = subprocess.run(["sh", "-c", f"{command} {closed}"], capture_output=True)
    assert (done.returncode, done.stdout) == (74, b"")


def test_an_error_that_nobody_can_be_told_keeps_its_status(model: Path) -> None:
    command = shlex.join([*PROGRAM, "classify", "--exit-code", "-m", str(model), "missing"])
    for closed, status in (("2>&-", 66), ("2>/dev/full", 74)):
        assert subprocess.run(["sh", "-c", f"{command} {closed}"]).returncode == status


def test_a_read_only_folder_refuses_writers_and_serves_readers(
    small_disk: Path, trained: bytes, source: Path
) -> None:
    path = small_disk / "model"
    path.write_bytes(trained)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    refusal(73, "model-create", path, "train", "--replace", source, "-m", path)
    refusal(73, "model-create", small_disk / "new", "train", source, "-m", small_disk / "new")
    refusal(74, "model-readonly", path, "learn", "spam", "-m", path, stdin=HAM[0])
    refusal(74, "model-readonly", path, "train", "--update", source, "-m", path)
    refusal(73, "output-denied", small_disk / "v", "vocab", "build", source, "-o", small_disk / "v")
    assert program("classify", "-m", path, stdin=SPAM[0]).stdout.startswith(b"spam\t")
    assert path.read_bytes() == trained


def test_a_model_cannot_be_written_where_there_is_no_folder(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / "file" / "model"
    refusal(73, "model-create", path, "train", source, "-m", path)


def test_a_place_where_nothing_can_be_written_is_told_before_mail_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / "file" / "new"
    said = refusal(73, "model-create", path, "train", "no-such-mail", "-m", path)
    assert "next: choose another place: --model PATH" in said
    for place in (path, tmp_path):
        said = refusal(73, "model-create", place, "model", "merge", "no-such-model", "another", "-o", place)
        assert ": --output PATH  [" in said
    refusal(73, "output-folder", path, "vocab", "build", "no-such-mail", "-o", path)


# --- signals ---


def _start(*arguments: object) -> subprocess.Popen[bytes]:
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        start_new_session=True, preexec_fn=_as_in_a_terminal,
    )  # fmt: skip


def _as_in_a_terminal() -> None:
    """A shell's background job ignores Ctrl-C, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _temporary(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith(".")]


def test_ctrl_c_during_training_ends_with_130_and_leaves_the_old_model(
    model: Path, trained: bytes, long_work: Path
) -> None:
    drawn = random.Random(5)
    interrupted = 0
    for _ in range(6):
        child = _start("train", "--replace", long_work, "-m", model, "-j", 2)
        time.sleep(0.3 + 0.7 * drawn.random())
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to all processes of the command
        _, errors = child.communicate(timeout=60)
        assert child.returncode in (0, 130), errors
        assert b"Traceback" not in errors
        if child.returncode == 130:
            interrupted += 1
            assert model.read_bytes() == trained
        else:
            model.write_bytes(trained)
        assert _temporary(model.parent) == []
    assert interrupted > 0


def test_kill_during_training_leaves_the_old_model_or_the_new_one(
    model: Path, trained: bytes, long_work: Path
) -> None:
    drawn = random.Random(6)
    killed = 0
    for _ in range(6):
        child = _start("train", "--replace", long_work, "-m", model, "-j", 2)
        time.sleep(0.3 + 1.2 * drawn.random())
        child.kill()
        child.communicate(timeout=60)
        if model.read_bytes() == trained:
            killed += 1
            continue
        assert program("model", "check", "-m", model).returncode == 0
        model.write_bytes(trained)
    assert killed > 0


def test_kill_during_training_leaves_no_model_where_there_was_none(long_work: Path, tmp_path: Path) -> None:
    path = tmp_path / "model"
    child = _start("train", long_work, "-m", path)
    time.sleep(0.4)
    child.kill()
    child.communicate(timeout=60)
    if path.exists():  # it was faster
        assert program("model", "check", "-m", path).returncode == 0


def test_kill_during_training_leaves_no_process_behind(model: Path, long_work: Path) -> None:
    child = _start("train", "--replace", long_work, "-m", model, "-j", 2)
    time.sleep(0.7)
    child.kill()
    child.wait(60)
    for _ in range(100):
        try:
            os.killpg(child.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(child.pid, signal.SIGKILL)
    pytest.fail("worker processes outlived the command by ten seconds")


def test_kill_during_learning_leaves_a_sound_model(model: Path, wordy: Path) -> None:
    drawn = random.Random(8)
    for _ in range(5):
        child = _start("learn", "spam", wordy / "spam", "-m", model)
        time.sleep(0.3 + 0.7 * drawn.random())
        child.kill()
        child.communicate(timeout=60)
        assert program("model", "check", "-m", model).returncode == 0


# --- messages ---

ODD_MESSAGES = {
    "empty": b"",
    "newlines": b"\n" * 5_000_000,
    "carriage returns": b"\r" * 5_000_000,
    "crlf only": b"\r\n" * 1_000_000,
    "one line of 50 MB": b"x" * 50_000_000,
    "a header line of 50 MB": b"Subject: " + b"y " * 25_000_000,
    "a body line of 50 MB": b"Subject: long\n\n" + b"word " * 10_000_000,
    "NUL bytes": bytes(5_000_000),
    "NULs in a message": b"Subject: a\0b\n\n" + b"free \0 pills\n" * 10_000,
    "spaces": b" " * 5_000_000,
    "an indented first line": b" From: a@example.org\nSubject: b\n\nbody\n",
    "colons": b":\n" * 1_000_000,
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
def test_passthrough_leaves_no_forged_field_and_every_other_byte(
    model: Path, before: bytes, after: bytes | None
) -> None:
    verdict = open_filter(str(model)).classify(before, "-")
    own = own_fields(verdict, [], False).encode()
    expected = b"|" + before if after is None else after
    assert marked(before, verdict, [], False) == expected.replace(b"|", own)


def test_a_header_of_ten_megabytes_is_searched_for_forged_fields_in_seconds(model: Path) -> None:
    for line in (b"a: b\n", b" b\r", b"a:\r\r\n"):
        message = b"Subject: b\n" + line * ((10 << 20) // len(line)) + b"X-NBSPAM: b\n\nbody"
        verdict = open_filter(str(model)).classify(message, "-")
        start = time.process_time()
        assert b"X-NBSPAM" not in marked(message, verdict, [], True)
        assert time.process_time() - start < 10


@pytest.mark.parametrize("name", [name for name in ODD_MESSAGES if "50 MB" not in name])
def test_an_odd_message_is_explained_learned_and_forgotten(model: Path, name: str) -> None:
    message = ODD_MESSAGES[name]
    assert program("explain", "-m", model, stdin=message).returncode == 0
    assert program("learn", "spam", "-m", model, stdin=message).stdout == b"learned\t-\n"
    assert program("unlearn", "-m", model, stdin=message).stdout == b"forgotten\t-\n"
    assert program("model", "check", "-m", model).returncode == 0


def test_odd_messages_are_trained_on_and_evaluated(tmp_path: Path) -> None:
    messages = [message[:1_000_000] for message in ODD_MESSAGES.values()]
    folder = write_folders(tmp_path / "source", {"ham": messages + HAM, "spam": messages[::-1] + SPAM})
    path = tmp_path / "model"
    done = program("train", folder, "-m", path)
    assert done.returncode == 0
    assert b"52 messages (26 ham, 26 spam)" in done.stderr
    assert program("eval", folder, "--folds", "2").returncode == 0
    assert program("classify", "-m", path, folder).returncode == 0


def test_passing_through_twice_changes_nothing_the_second_time(model: Path) -> None:
    classifier = open_filter(str(model))
    for message in (HAM[0], b" From: a@example.org\nSubject: b\n\nbody\n", b"", b"\n\nbody", b"Subject: a"):
        verdict = classifier.classify(message, "-")
        once = marked(message, verdict, [], True)
        assert marked(once, verdict, [], True) == once
