"""`nbspam explain`: its text, its JSON and its options."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from nbspam.cli.explain import clue_table, nats_text
from nbspam.filter import open_filter
from tests.tiny_mail import mail, run, write_folders


@pytest.fixture(scope="module")
def model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explain") / "m"
    run("train", data, "-m", path, "-q")
    return path


@pytest.fixture(scope="module")
def crowds(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Models of that many classes, each with three messages of its own words."""
    models = {}
    for n in (3, 9, 240):
        folder = tmp_path_factory.mktemp(f"crowd{n}")
        letters = {f"class-{k:03}": [mail(f"topic{k} daily word{i}") for i in range(3)] for k in range(n)}
        write_folders(folder / "mail", letters)
        run("train", folder / "mail", "-m", folder / "m", "-q", "-j", "1")
        models[n] = folder / "m"
    return models


def test_classify_json_has_the_intervals_of_explain(model: Path) -> None:
    content = mail("please confirm your account")
    classified = json.loads(run("classify", "--json", "-m", model, stdin=content))
    found = json.loads(run("explain", "--json", "-m", model, stdin=content))
    for key in ("log_odds", "log_odds_interval"):
        assert classified[key] == found[key]
    shares = {clue["token"]: clue["share_interval"] for clue in found["clues"]}
    assert all(clue["share_interval"] == shares[clue["token"]] for clue in classified["clues"])


def test_without_smoothing_the_json_has_null_and_no_infinity(model: Path, data: Path) -> None:
    way = ["--event-model", "bernoulli", "--alpha", "0"]
    text = run("explain", "--json", *way, "-m", model, data / "spam" / "0002.eml", data / "ham" / "0001.eml")
    assert "Infinity" not in text
    assert "NaN" not in text
    assert any(json.loads(line)["log_odds"] is None for line in text.splitlines())


@pytest.mark.parametrize("width", [100, 80])
@pytest.mark.parametrize("n", [3, 9, 240])
def test_the_clues_can_be_read_with_any_number_of_classes(
    crowds: dict[int, Path], n: int, width: int
) -> None:
    judge = open_filter(str(crowds[n]))
    found = judge.explain(mail("topic1 daily word2"), "-")
    table = clue_table(found, [*judge.classes])
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    for clue in found.clues:
        if len(clue.token) <= 12:
            assert any(clue.token in line and nats_text(clue.log_odds).plain in line for line in lines)
    named = [str(column.header) for column in table.columns]
    assert "class-001" in named
    assert any(name.endswith(" others") for name in named) == (n > 3)


def test_an_undefined_probability_has_a_reason(tmp_path: Path) -> None:
    letters = {"ham": [mail("lunch at noon")], "spam": [mail("cheap pills now")]}
    write_folders(tmp_path / "mail", letters)
    run("train", tmp_path / "mail", "--event-model", "multinomial", "-m", tmp_path / "m", "-q")
    run("unlearn", "-m", tmp_path / "m", tmp_path / "mail", "-q")
    text = run("explain", "-m", tmp_path / "m", stdin=letters["ham"][0])
    assert "undefined: the model has no mail, and the prior comes from its mail" in text
    text = run("explain", "--alpha", "0", "--prior", "uniform", "-m", tmp_path / "m", stdin=letters["ham"][0])
    assert "undefined: every class is ruled out (lambda = 0)" in text


def test_control_characters_and_markup_of_a_mail_do_nothing(model: Path) -> None:
    content = b"Subject: [red]\x1b[31m[/red] \x07\nFrom: \x1b]0;x\x07 <a@b>\n\n\x1b[2J [bold]offer[/bold]\n"
    text = run("explain", "--top", "0", "-m", model, stdin=content)
    assert all(character.isprintable() or character == "\n" for character in text)


@pytest.mark.parametrize("command", ["classify", "explain"])
def test_text_is_written_in_the_charset_of_stdout(tmp_path: Path, command: str) -> None:
    letters = {"büro": [mail("termin akten")], "spam": [mail("发票 конкурс")]}
    run("train", write_folders(tmp_path / "mail", letters), "-m", tmp_path / "m", "-q", "--textbook")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    asked = [sys.executable, "-m", "nbspam", command, "-m", tmp_path / "m"]
    done = subprocess.run(asked, input=mail("termin 发票"), capture_output=True, env=environment, check=True)
    assert "büro".encode("latin-1") in done.stdout
