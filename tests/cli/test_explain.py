"""`nbspam explain`: its text, its JSON and its options."""

import io
import json
import os
import subprocess
import time
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

from nbspam.cli.explain import clue_table
from nbspam.cli.reasons import describe_verdict, percent
from nbspam.decision import UNDECIDED
from nbspam.explain import Explanation
from nbspam.filter import open_filter
from nbspam.tokens.bag import hash_token
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
    times = dict.fromkeys([hash_token(clue.token) for clue in found.clues], int(1000 * time.time()))
    Console(file=shown, width=80).print(clue_table(found, [*judge.classes], times))
    lines, named = shown.getvalue().splitlines(), shown.getvalue().partition("━")[0]
    assert max(map(len, lines)) <= 80
    assert "…" not in shown.getvalue()
    assert "class-001" in named
    assert ("others" in named) == (number > 2)
    assert all(any(clue.token in line for line in lines) for clue in found.clues if len(clue.token) <= 12)


def test_nothing_is_certain() -> None:
    assert [percent(share) for share in (0.5, 0.9949, 1.0)] == ["50 %", "99.49 %", "99.99 %"]


@pytest.fixture(scope="module")
def explanations(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Explanation]:
    """Of 100 messages and more, half of them learned, and of the messages of odd forms."""
    model, half = tmp_path_factory.mktemp("half") / "m", [*data.glob("*/*[02468].eml")]
    sides = [f"--{side}={path}" for path in half for side in [path.parent.name]]
    run("train", "-q", *sides, "-m", model)
    judge = open_filter(str(model))
    paths = [*data.glob("*/00*.eml"), *data.glob("../tests/cases/*.eml")]
    return [judge.explain(path.read_bytes(), path.name) for path in paths]


def side(explanation: Explanation) -> int:
    """1 if the verdict is the class that the log-odds are about, else -1."""
    return 1 if explanation.verdict.decided == explanation.verdict.number else -1


@pytest.mark.slow
def test_the_first_sentence_names_what_speaks_for_the_verdict(explanations: list[Explanation]) -> None:
    assert len(explanations) >= 100
    assert not [one for one in explanations if one.verdict.decided == UNDECIDED]
    for one in explanations:
        shares = {each.name: side(one) * each.log_odds for each in one.sums if each.kind == "view"}
        for_it = [clue for clue in one.clues if side(one) * clue.log_odds > 0 and shares[clue.view] > 0]
        assert len(for_it) < len(one.clues)
        assert describe_verdict(one._replace(clues=for_it)) == describe_verdict(one)


@pytest.mark.slow
def test_the_first_sentence_begins_with_the_greatest_share(explanations: list[Explanation]) -> None:
    names = {
        "the header": "header",
        "the body": "body",
        "the structure": "structure",
        "pairs of words": "bigrams",
        "raw bytes": "raw",
        "measures": "measures",
        "how m": "unknown",
        "a text that was learned before": "same-text",
        "the constant": "constant",
    }
    first: dict[str, int] = {}
    for one in explanations:
        said = describe_verdict(one).partition(": above all ")[2]
        [kind] = [kind for name, kind in names.items() if said.startswith(name)]
        best = max(one.sums, key=lambda each: side(one) * each.log_odds)
        decides = one.same_text is not None and one.same_text.decides
        assert kind == "same-text" if decides else kind in (best.name, best.kind), said
        first[kind] = first.get(kind, 0) + 1
    assert len(first) >= 4, first


def test_a_text_that_decides_comes_first(data: Path, data_model: Path, tmp_path: Path) -> None:
    words = [f"word{n}" for n in range(20)]
    texts = [" ".join(Random(n).sample(words, len(words))) for n in range(20)]
    letters = {"ham": [*map(mail, texts[1:])], "spam": [mail("cheap pills")]}
    run("train", write_folders(tmp_path / "mail", letters), "-m", tmp_path / "m", "-q")
    text = mail(texts[0])
    run("learn", "spam", "-m", tmp_path / "m", stdin=text)
    as_spam = open_filter(str(tmp_path / "m")).explain(text, "-")
    as_ham = open_filter(str(data_model)).explain((data / "ham/0003.eml").read_bytes(), "-")
    assert as_spam.same_text is not None and as_spam.same_text.decides
    assert as_ham.same_text is not None and not as_ham.same_text.decides
    assert ": above all the header" in describe_verdict(as_ham)
    for one in (as_spam, as_ham._replace(same_text=as_ham.same_text._replace(decides=True))):
        assert ": above all a text that was learned before, then" in describe_verdict(one)


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
