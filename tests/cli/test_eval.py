"""`nbspam eval` and `nbspam compare` as people run them: what they print, write and refuse."""

import errno
import io
import json
import os
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from nbspam.cli.tables import fit_table, table
from tests.mail_samples import make_corpus
from tests.tiny_mail import PROGRAM, error, program, run, write_folders

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("mail") / "mail", {"ham": 30, "spam": 30})


def test_mistakes_are_shown_with_date_sender_and_subject(tmp_path: Path) -> None:
    mail = make_corpus(tmp_path / "mail", {"ham": 30, "spam": 30})
    head = b"Date: Fri, 02 Mar 2001 10:00:00 +0000\nFrom: Ann <ann@example.org>\n"
    head += b"Subject: =?utf-8?q?Caf=C3=A9_at_six?=\n"
    texts = [path.read_bytes() for path in sorted((mail / "spam").iterdir())]
    body = max(texts, key=lambda text: text.count(b" spam")).partition(b"\n\n")[2]
    (mail / "ham" / "lost").write_bytes(head + b"\n" + body)
    lines = run("eval", mail, "--loss", "0-1", "-v", "--report", tmp_path / "page.html").splitlines()
    shown = "2001-03-02  Ann <ann@example.org>  Café at six"
    place = next(number for number, line in enumerate(lines) if line.endswith(f"{mail}/ham/lost"))
    assert lines[place + 1].strip() == shown
    assert shown.replace("<", "&lt;").replace(">", "&gt;") in (tmp_path / "page.html").read_text("utf-8")


def test_a_model_of_some_views_is_evaluated_with_its_mistakes(mail: Path, tmp_path: Path) -> None:
    run("train", "-q", "--views", "body,measures", mail, "-m", tmp_path / "model")
    turned = run("eval", f"--ham={mail}/spam", f"--spam={mail}/ham", "-m", tmp_path / "model")
    assert "Misclassified: " in turned and "ham taken for spam" in turned


def test_mail_that_the_model_has_learned_is_counted(mail: Path, tmp_path: Path) -> None:
    spam = [path.read_bytes() for path in (mail / "spam").iterdir()]
    write_folders(tmp_path / "first", {"ham": [b"Subject: lunch\n\nat noon\n"], "spam": spam[:20]})
    run("train", "-q", tmp_path / "first", "-m", tmp_path / "model")
    run("learn", "ham", "-q", mail / "ham", "-m", tmp_path / "model")
    write_folders(tmp_path / "mail", {"spam": [b"Received: by b.example\n" + text for text in spam]})
    command = ("eval", "--ham", mail / "ham", "--spam", tmp_path / "mail", "-m", tmp_path / "model")
    assert "It has learned 50 of them before" in " ".join(run(*command).split())
    assert json.loads(run(*command, "--json"))["settings"]["learned"] == 50
    write_folders(tmp_path / "new", {"ham": [b"Subject: tea\n\nat four\n"], "spam": spam[20:]})
    assert "learned" not in run("eval", tmp_path / "new", "-m", tmp_path / "model")


def test_a_seed_gives_the_same_evaluation_again(mail: Path) -> None:
    first, again, other = (run("eval", mail, "--folds", 3, "--seed", n, "--json") for n in (5, 5, 6))
    assert first == again != other


def test_names_of_messages_cannot_control_the_terminal(tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 12, "spam": 12}, noise=0.5)
    for path in list((folder / "ham").iterdir()):
        path.rename(path.with_name(path.name + "\x1b[31m[bold]red"))
    output = run("eval", folder, "--folds", 3, "--loss", "0-1", "-v")
    assert "\x1b" not in output
    assert "\\x1b[31m[bold]red" in output


@pytest.mark.parametrize(("width", "cells"), [(40, 2), (59, 3), (80, 4)])
def test_narrow_terminal_cuts_no_figure(width: int, cells: int) -> None:
    row = ("calibration error", "0.13315 nats", "0.08818 to 0.20105", "probabilities")
    shown = table("figure", ">value", ">95 % interval", "what it says")
    shown.add_row(*row)
    screen = io.StringIO()
    out = Console(file=screen, width=width)
    out.print(fit_table(shown, out))
    assert screen.getvalue().splitlines()[-1].split() == " ".join(row[:cells]).split()


KEPT = "--threshold=1 --views=body --numeric-model=aode --bins=4 --binning=width"


@pytest.mark.parametrize("option", KEPT.split())
def test_options_that_a_saved_model_keeps_are_refused(mail: Path, option: str) -> None:
    said = error("eval", mail, "-m", "any.nbspam", option, status=64)
    assert said.startswith(f"nbspam: --model {option.partition('=')[0]}: ")


def test_figures_are_shown_where_stdout_is_ascii(mail: Path) -> None:
    command = [*PROGRAM, "eval", mail, "--folds", "2", "-q"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u03bb = 0.03" in done.stdout


def test_figures_are_shown_even_if_a_file_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, mail: Path, tmp_path: Path
) -> None:
    def full(path: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nbspam.files.flush", full)
    done = program("eval", mail, "--folds", 2, "--save", tmp_path / "a")
    assert done.returncode == 74
    assert b"ham lost" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_files_are_written_even_if_nobody_reads_the_figures(mail: Path, tmp_path: Path) -> None:
    """`| head` ended the program before it had kept what took it an hour."""
    options = ["--folds", "2", "--save", tmp_path / "a.json", "--results", tmp_path / "lines"]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run([*PROGRAM, "eval", mail, *options], stdout=pipe, stderr=subprocess.PIPE)
    assert b"Traceback" not in done.stderr
    assert len((tmp_path / "lines").read_text().splitlines()) == 60
    assert json.loads((tmp_path / "a.json").read_text())["format"] == "nbspam-evaluation"


@pytest.mark.parametrize("command", ["eval --folds 2", "eval --replay"])
def test_mail_without_a_token_of_the_views_that_are_read_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    start = b"X-Status: R\n\n"  # a header that says nothing
    texts = {"ham": [b"hello there", b"lunch today"], "spam": [b"buy pills", b"cheap pills"]}
    texts = {name: [start + text for text in found] for name, found in texts.items()}
    run(*command.split(), write_folders(tmp_path / "mail", texts), "--views", "header")


@pytest.mark.parametrize("how", [["--folds", "3"], ["--replay"]])
def test_clues_of_infinite_weight_are_left_out_of_files(tmp_path: Path, how: list[str]) -> None:
    """At lambda 0 a word of spam alone says infinitely much; one ham is written in such words."""
    texts = {"ham": "lunch at noon with the team", "spam": "cheap pills no prescription"}
    letters = {
        name: [f"X-Status: R\n\n{text} {n}".encode() for n in range(12)] for name, text in texts.items()
    }
    letters["ham"][5] = b"X-Status: R\n\nlunch cheap pills"
    folder, kept, page = write_folders(tmp_path / "mail", letters), tmp_path / "kept", tmp_path / "page.html"
    run("eval", folder, *how, "--textbook", "--alpha", 0, "--save", kept, "--report", page)
    for mistake in json.loads(kept.read_text())["clues"].values():
        assert all(isinstance(nats, float) for _, nats in mistake)
    assert page.stat().st_size > 10_000


def test_figures_that_neither_evaluation_has_are_left_out(tmp_path: Path) -> None:
    for name, decided in (("a", "lists"), ("b", "work")):
        lines = [f"file={n} judge={('lists', 'work')[n % 2]} class={decided} score=0\n" for n in range(8)]
        (tmp_path / name).write_text("".join(lines))
    output = run("compare", tmp_path / "a", tmp_path / "b")
    assert "decided rightly" in output
    assert "nan" not in output
    assert "ROCA" not in output
