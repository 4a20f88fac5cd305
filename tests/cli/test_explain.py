"""`nbspam explain`: its text, its JSON and its options."""

import io
import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from rich.console import Console

from nbspam.cli.explain import clue_table
from nbspam.cli.reasons import percent
from nbspam.filter import open_filter
from tests.tiny_mail import PROGRAM, mail, run, write_folders


def test_without_smoothing_the_json_has_null_and_no_infinity(data_model: Path, data: Path) -> None:
    way = ["--event-model", "bernoulli", "--alpha", "0", "-m", data_model]
    text = run("explain", "--json", *way, data / "spam" / "0002.eml", data / "ham" / "0001.eml")
    assert "Infinity" not in text
    assert "NaN" not in text
    assert any(json.loads(line)["log_odds"] is None for line in text.splitlines())


def test_extreme_smoothing_is_explained(data_model: Path) -> None:
    for alpha in ("0", "1e-100", "1e12"):
        for options in ([], ["--textbook"]):
            assert run("explain", "--alpha", alpha, *options, "-m", data_model, stdin=mail("your account"))


@pytest.mark.parametrize("number", [3, 9, 240])
def test_the_clues_can_be_read_with_any_number_of_classes(number: int, tmp_path: Path) -> None:
    letters = {f"class-{k:03}": [mail(f"topic{k} daily word{i}") for i in range(3)] for k in range(number)}
    run("train", write_folders(tmp_path / "mail", letters), "-m", tmp_path / "m", "-q", "-j", "1")
    judge = open_filter(str(tmp_path / "m"))
    found, shown = judge.explain(mail("topic1 daily word2"), "-"), io.StringIO()
    since = [int(1000 * time.time())] * len(found.clues)
    Console(file=shown, width=80).print(clue_table(found, [*judge.classes], since))
    lines, named = shown.getvalue().splitlines(), shown.getvalue().partition("━")[0]
    assert max(map(len, lines)) <= 80
    assert "…" not in shown.getvalue()
    assert "class-001" in named
    assert ("others" in named) == (number > 2)
    assert all(any(clue.token in line for line in lines) for clue in found.clues if len(clue.token) <= 12)


def test_nothing_is_certain() -> None:
    assert [percent(share) for share in (0.5, 0.9949, 1.0)] == ["50 %", "99.49 %", "99.99 %"]


def test_an_undefined_probability_has_a_reason(tmp_path: Path) -> None:
    letters = {"ham": [mail("lunch at noon")], "spam": [mail("cheap pills now")]}
    folder, model = write_folders(tmp_path / "mail", letters), tmp_path / "m"
    run("train", folder, "--event-model", "multinomial", "-m", model, "-q")
    run("unlearn", "-m", model, folder, "-q")
    text = run("explain", "-m", model, stdin=letters["ham"][0])
    assert "undefined: fewer than two classes have mail in the model" in text
    run("learn", "ham", "-m", model, "-q", folder / "ham")
    run("learn", "spam", "-m", model, "-q", folder / "spam")
    text = run("explain", "--alpha", "0", "-m", model, stdin=mail("lunch pills"))
    assert "undefined: every class is ruled out (lambda = 0)" in text


@pytest.mark.parametrize("command", ["classify", "explain"])
def test_text_is_written_in_the_charset_of_stdout(tmp_path: Path, command: str) -> None:
    letters = {"büro": [mail("termin akten")], "spam": [mail("发票 конкурс")]}
    run("train", write_folders(tmp_path / "mail", letters), "-m", tmp_path / "m", "-q", "--textbook")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    asked = [*PROGRAM, command, "-m", tmp_path / "m"]
    done = subprocess.run(asked, input=mail("termin 发票"), capture_output=True, env=environment, check=True)
    assert "büro".encode("latin-1") in done.stdout
