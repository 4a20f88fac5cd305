"""`nbspam eval` as people run it: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mail_samples import make_corpus, run_here
from rich.console import Console
from tiny_mail import write_folders

from nbspam.cli import render_evaluation, tables
from nbspam.cli.render_evaluation import figures_table
from nbspam.corpus.heads import heads
from nbspam.evaluation.figures import summary
from tests.judged_mail import noisy


@pytest.fixture(scope="module")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("mail") / "mail", {"ham": 30, "spam": 30})


def evaluated(*arguments: str) -> dict[str, Any]:
    """The JSON of an evaluation that must work."""
    status, output, complaint = run_here("eval", *arguments, "--json")
    assert status == 0, complaint
    assert output.count("\n") == 1
    found: dict[str, Any] = json.loads(output)
    return found


def test_the_widest_figures_fit_on_80_columns() -> None:
    found = summary(noisy(99))
    for key in ("hm_percent", "sm_percent", "lam_percent", "one_minus_roca_percent", "ece_percent"):
        found |= {key: 100.0, f"{key}_interval": [10.0, 100.0]}
    found |= {"messages": 99_999, "ham": 49_999, "spam": 50_000}
    assert Console(width=200).measure(figures_table(found, 80)).maximum <= 80


@pytest.mark.parametrize("width", [80, 120])
def test_the_screen_says_in_words_first_what_was_lost(
    mail: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "PIPE_WIDTH", width)
    monkeypatch.setattr(render_evaluation, "PIPE_WIDTH", 100)
    _, output, _ = run_here("eval", str(mail), "--folds", "3", "--threshold", "0.5")
    found = evaluated(str(mail), "--folds", "3", "--threshold", "0.5")
    (right, lost), (missed, caught) = ([*row[:2]] for row in found["confusion"])
    lines = output.splitlines()
    assert max(map(len, lines[4 : lines.index(f"Misclassified: {lost + missed}")])) <= width
    assert re.match(rf"Of 30 wanted messages ({lost}|one|none) (was|were) lost to the spam folder", lines[0])
    assert re.match(rf"Of 30 spam messages ({missed}|one|none) (was|were) let through: ", lines[1])
    cells = [line.split() for line in lines]
    assert ["ham", str(right), str(lost)] in cells
    assert ["spam", str(missed), str(caught)] in cells
    expected = {
        "accuracy": (right + caught) / found["messages"],
        "precision": caught / (caught + lost),
        "recall": caught / (caught + missed),
        "f1": 2 * caught / (2 * caught + lost + missed),
    }
    for key, value in expected.items():
        low, high = found[f"{key}_interval"]
        assert found[key] == pytest.approx(value)
        assert low < value < high
        shown = next(row for row in cells if row[:1] == [key.replace("f1", "F1")])
        assert shown[1:6] == [f"{100 * value:.2f}", "%", f"{100 * low:.2f}", "to", f"{100 * high:.2f}"]


def test_mistakes_are_shown_with_date_sender_and_subject(tmp_path: Path) -> None:
    mail = make_corpus(tmp_path / "mail", {"ham": 30, "spam": 30})
    head = b"Date: Fri, 02 Mar 2001 10:00:00 +0000\nFrom: Ann <ann@example.org>\n"
    head += b"Subject: =?utf-8?q?Caf=C3=A9_at_six?=\n"
    texts = [path.read_bytes() for path in sorted((mail / "spam").iterdir())]
    body = max(texts, key=lambda text: text.count(b" spam")).partition(b"\n\n")[2]
    (mail / "ham" / "lost").write_bytes(head + b"\n" + body)
    page = tmp_path / "page.html"
    _, output, _ = run_here("eval", str(mail), "-v", "--report", str(page))
    shown = "2001-03-02  Ann <ann@example.org>  Café at six"
    lines = output.splitlines()
    place = next(number for number, line in enumerate(lines) if line.endswith(f"{mail}/ham/lost"))
    assert lines[place + 1].strip() == shown
    assert shown.replace("<", "&lt;").replace(">", "&gt;") in page.read_text("utf-8")
    box = tmp_path / "box"
    start = b"\nFrom a@b Fri Mar  2 10:00:00 2001\n"
    box.write_bytes((start + head + b"\n" + body + start + head + b"\n").lstrip())
    assert heads([f"{box}#2", f"{box}#9", str(tmp_path / "gone")]) == {f"{box}#2": shown}


def test_a_seed_gives_the_same_evaluation_again(mail: Path) -> None:
    first, second = (evaluated(str(mail), "--folds", "3", "--seed", "5") for _ in range(2))
    assert first == second
    assert evaluated(str(mail), "--folds", "3", "--seed", "6") != first


def test_names_of_messages_cannot_control_the_terminal(tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 12, "spam": 12}, noise=0.5)
    for path in list((folder / "ham").iterdir()):
        path.rename(path.with_name(path.name + "\x1b[31m[bold]red"))
    status, output, complaint = run_here("eval", str(folder), "--folds", "3", "-v")
    assert status == 0, complaint
    assert "\x1b" not in output
    assert "\\x1b[31m[bold]red" in output


KEPT = "--threshold=1 --views=body --normalise --numeric-model=aode --bins=4 --binning=width"


@pytest.mark.parametrize("option", KEPT.split())
def test_options_that_a_saved_model_keeps_are_refused(mail: Path, option: str) -> None:
    status, output, complaint = run_here("eval", str(mail), "-m", "any.nbspam", option)
    assert (status, output) == (64, "")
    assert complaint.startswith(f"nbspam: --model {option.partition('=')[0]}: ")


def test_other_options_change_how_a_saved_model_scores(mail: Path, tmp_path: Path) -> None:
    model = str(tmp_path / "m")
    assert run_here("train", str(mail), "-m", model, "-q", "-j1")[0] == 0
    one_class = evaluated("--ham", str(mail / "ham"), "-m", model)
    assert (one_class["ham"], one_class["spam"], one_class["sm_percent"]) == (30, 0, None)
    losses = [
        evaluated(str(mail), "-m", model, *option)["log_loss"]
        for option in ([], ["--alpha", "2"], ["--textbook"], ["--textbook", "--alpha", "0.5"])
    ]
    assert len(set(losses)) == 4


def test_figures_are_shown_where_stdout_is_ascii(mail: Path) -> None:
    command = [sys.executable, "-m", "nbspam", "eval", str(mail), "--folds", "2", "-q"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u03bb = 0.03" in done.stdout


def test_a_missing_library_of_the_report_is_an_error_before_mail_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "nbspam.evaluation.report", raising=False)
    status, _, complaint = run_here("eval", "no-such-mail", "--report", str(tmp_path / "x.html"))
    assert status == 64
    assert "[report-extra]" in complaint


def test_figures_are_shown_even_if_a_file_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, mail: Path, tmp_path: Path
) -> None:
    def full(path: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nbspam.files.flush", full)
    status, output, complaint = run_here("eval", str(mail), "--folds", "2", "--save", str(tmp_path / "a"))
    assert status == 74, complaint
    assert "ham lost" in output
    assert list(tmp_path.iterdir()) == []


def test_files_are_written_even_if_nobody_reads_the_figures(mail: Path, tmp_path: Path) -> None:
    """`| head` ended the program before it had kept what took it an hour."""
    options = ["--folds", "2", "--save", str(tmp_path / "a.json"), "--results", str(tmp_path / "lines")]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        command = [sys.executable, "-m", "nbspam", "eval", str(mail), *options]
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert len((tmp_path / "lines").read_text().splitlines()) == 60
    assert json.loads((tmp_path / "a.json").read_text())["format"] == "nbspam-evaluation"


@pytest.mark.parametrize(
    "command", [["eval", "--folds", "2"], ["eval", "--replay"], ["train", "--regime", "on-error"]]
)
def test_mail_without_a_token_of_the_views_that_are_read_says_nothing(
    tmp_path: Path, command: list[str]
) -> None:
    texts = {"ham": ["hello there", "lunch today"], "spam": ["buy pills", "cheap pills"]}
    folder = write_folders(
        tmp_path / "mail", {name: [b"\n" + text.encode() for text in some] for name, some in texts.items()}
    )
    model = ["-m", str(tmp_path / "m")] if command[0] == "train" else []
    status, _, complaint = run_here(*command, str(folder), "--views", "header", *model)
    assert status == 0, complaint


@pytest.mark.parametrize("how", [["--folds", "3"], ["--replay"]])
def test_clues_of_infinite_weight_are_left_out_of_files(tmp_path: Path, how: list[str]) -> None:
    """At lambda 0 a word of spam alone says infinitely much; one ham is written in such words."""
    texts = {"ham": "lunch at noon with the team", "spam": "cheap pills no prescription"}
    letters = {name: [f"\n{text} {n}".encode() for n in range(12)] for name, text in texts.items()}
    letters["ham"][5] = b"\nlunch cheap pills"
    folder = write_folders(tmp_path / "mail", letters)
    kept, page = tmp_path / "kept", tmp_path / "page.html"
    options = [*how, "--textbook", "--alpha", "0", "--save", str(kept), "--report", str(page)]
    assert evaluated(str(folder), *options)["messages"] == 24
    for mistake in json.loads(kept.read_text())["clues"].values():
        assert all(isinstance(nats, float) for _, nats in mistake)
    assert page.stat().st_size > 10_000
