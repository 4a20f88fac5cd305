"""`nbspam explain`: contributions add up to the log-odds under every model; intervals; what flips."""

from __future__ import annotations

import copy
import io
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

from nbspam.cli.render_clues import MIN_CLUE, _counts, clue_table, nats_text
from nbspam.corpus import open_labelled
from nbspam.decision import cutoffs, parse_loss
from nbspam.filter import CLUES, Filter, open_filter
from nbspam.model.credible_intervals import JEFFREYS
from nbspam.model.explain import MAX_REMOVED, Clue, Explanation
from nbspam.model.scorer import Counted
from nbspam.tokens.keys import NOTAWORD, token_key
from tests.tiny_mail import error, mail, run, write_folders

WAYS = {
    "views": {},
    "views-uniform": {"prior": "uniform"},
    "presence": {"textbook": "1"},
    "multinomial": {"event_model": "multinomial"},
    "multinomial-0": {"event_model": "multinomial", "alpha": "0"},
    "bernoulli": {"event_model": "bernoulli"},
    "bernoulli-0": {"event_model": "bernoulli", "alpha": "0"},
    "complement": {"event_model": "complement"},
    "complement-0": {"event_model": "complement", "alpha": "0"},
}
NUMERIC_WAYS = {
    "gaussian": {"event_model": "gaussian", "features": "numeric"},
    "categorical": {"event_model": "categorical", "features": "numeric"},
    "aode": {"event_model": "aode", "features": "numeric"},
    "bernoulli+aode": {"event_model": "bernoulli", "features": "both"},
}
ODD = [b"", b"\n\n\n", b"\0" * 300, b"x" * 100_000, mail("never met qqqq zzzz")]


@pytest.fixture(scope="module")
def words(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ham and spam of data/, words."""
    path = tmp_path_factory.mktemp("words") / "m"
    run("train", data, "-m", path, "-q")
    return path


@pytest.fixture(scope="module")
def numeric(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ham and spam of data/, words and numeric features with their pairs."""
    path = tmp_path_factory.mktemp("numeric") / "m"
    run("train", data, "-m", path, "-q", "--features", "both", "--numeric-model", "aode", "--bins", "4")
    return path


@pytest.fixture(scope="module")
def classes(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four classes: ham by its language, and spam."""
    folder = tmp_path_factory.mktemp("classes")
    letters: dict[str, list[bytes]] = {"chinese": [], "english": [], "lists": [], "spam": []}
    for item in open_labelled([str(data)]).items():
        content = item.read()
        kind = "lists" if b"List-Id" in content else "english" if content.isascii() else "chinese"
        letters["spam" if item.label == "spam" else kind].append(content)
    write_folders(folder / "mail", letters)
    run("train", folder / "mail", "-m", folder / "m", "-q")
    return folder / "m"


@pytest.fixture(scope="module")
def topics(classes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three classes, none of them spam."""
    path = tmp_path_factory.mktemp("topics") / "m"
    mail = classes.parent / "mail"
    named = [f"--class={name}={mail / name}" for name in ("chinese", "english", "lists")]
    run("train", *named, "-m", path, "-q")
    return path


@pytest.fixture(scope="module")
def letters(data: Path) -> list[bytes]:
    """Some of the mail of data/, and odd messages."""
    return [item.read() for item in list(open_labelled([str(data)]).items())[::80]] + ODD


def explained(model: Path, way: dict[str, str], letters: list[bytes]) -> Iterator[tuple[Filter, Explanation]]:
    classifier = open_filter(str(model), way)
    for content in letters:
        yield classifier, classifier.explain(content, "message")


def check_sum(classifier: Filter, found: Explanation) -> None:
    """Contributions, by kind and one by one, add up to what the classifier says."""
    total = found.verdict.scored.log_odds(found.verdict.number)
    values = [one.log_odds for one in found.sums]
    if total is None:
        assert None in values or {math.inf, -math.inf} <= set(values)
        return
    known = [value for value in values if value is not None]
    if math.isinf(total):
        assert total in known
        return
    assert math.fsum(known) == pytest.approx(total, rel=1e-12, abs=1e-9)
    assert abs(found.residual or 0.0) < 1e-9
    clues = math.fsum(clue.log_odds or 0.0 for clue in found.clues)
    rest = math.fsum(one.log_odds or 0.0 for one in found.sums if one.kind not in ("view", "features"))
    assert clues + rest == pytest.approx(total, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_contributions_add_up_to_the_log_odds(words: Path, letters: list[bytes], way: str) -> None:
    for classifier, found in explained(words, WAYS[way], letters):
        check_sum(classifier, found)


@pytest.mark.parametrize("way", WAYS)
def test_contributions_add_up_for_many_classes(classes: Path, letters: list[bytes], way: str) -> None:
    for classifier, found in explained(classes, WAYS[way], letters):
        check_sum(classifier, found)


@pytest.mark.parametrize("way", NUMERIC_WAYS)
def test_contributions_add_up_for_numeric_features(numeric: Path, letters: list[bytes], way: str) -> None:
    for classifier, found in explained(numeric, NUMERIC_WAYS[way], letters):
        check_sum(classifier, found)


def test_the_clues_of_a_verdict_are_those_that_explain_gives(
    words: Path, topics: Path, letters: list[bytes]
) -> None:
    for model in (words, topics):
        shown = set()
        for _, found in explained(model, {}, letters):
            shown.add(found.verdict.number)
            loudest = [(clue.token, clue.log_odds) for clue in found.clues if clue.log_odds is not None]
            assert found.verdict.clues == loudest[:CLUES]
        assert shown == {1} if model == words else len(shown) > 1


@pytest.mark.parametrize("way", ["views", "presence", "multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize("many", [False, True], ids=["ham-spam", "four-classes"])
def test_what_is_said_to_flip_the_verdict_flips_it(
    words: Path, classes: Path, letters: list[bytes], way: str, many: bool
) -> None:
    flipped = 0
    for content in letters[::2]:
        classifier = open_filter(str(classes if many else words), WAYS[way])
        found = classifier.explain(content, "message")
        if found.flip is None:
            continue
        flipped += 1
        removed, label = found.flip
        assert classifier.judge(without(classifier, content, removed), "x").label == label
        assert label != found.verdict.label
        all_but_last = without(classifier, content, removed[:-1])
        assert classifier.judge(all_but_last, "x").label == found.verdict.label
    assert flipped > 0


def without(classifier: Filter, content: bytes, removed: list[str]) -> Counted:
    """A message without some of its tokens."""
    counted = copy.copy(classifier.count(content))
    keys = {token_key(text) for text in removed}
    if NOTAWORD in removed:
        keys |= set(counted.keys()) - set(classifier.model.counts(counted.keys()))
    counted.tokens = [
        {key: value for key, value in tokens.items() if key not in keys} for tokens in counted.tokens
    ]
    return counted


def test_in_a_textbook_sum_no_smaller_set_of_clues_flips(words: Path, letters: list[bytes]) -> None:
    classifier = open_filter(str(words), {"event_model": "bernoulli"})
    flipped = 0
    for content in letters:
        found = classifier.explain(content, "message")
        if found.flip is None or found.verdict.log_odds is None:
            continue
        flipped += 1
        sign = 1 if found.verdict.log_odds > 0 else -1
        helpful = sorted((sign * (clue.log_odds or 0.0) for clue in found.clues), reverse=True)
        needed = next(n for n in range(len(helpful)) if sum(helpful[:n]) >= abs(found.verdict.log_odds))
        assert len(found.flip[0]) in (needed, needed + 1)  # one more where the sum ties at the cut-off
    assert flipped > 0


@pytest.mark.parametrize(
    "costs", ["FP=1e20,FN=1e20,unsure=1", "FP=2,FN=1e40,unsure=1", "FP=1e40,FN=2,unsure=1"]
)
def test_an_unsure_verdict_is_flipped_by_no_smaller_set_of_clues(
    words: Path, letters: list[bytes], costs: str
) -> None:
    at, flipped = cutoffs(parse_loss(costs)), 0
    classifier = open_filter(str(words), WAYS["presence"], costs)
    for content in letters:
        found = classifier.explain(content, "message")
        if found.verdict.label != "unsure" or found.verdict.log_odds is None:
            continue
        to_ham = fewest(found, found.verdict.log_odds - at.ham_below, 1)
        to_spam = fewest(found, at.spam_above - found.verdict.log_odds, -1)
        if found.flip is None:
            assert min(to_ham, to_spam) > MAX_REMOVED
            continue
        removed, label = found.flip
        assert len(removed) == min(to_ham, to_spam)
        assert label in (["ham"] if to_ham < to_spam else ["spam"] if to_spam < to_ham else ["ham", "spam"])
        flipped += 1
    assert flipped > 0


def fewest(found: Explanation, distance: float, sign: int) -> int:
    """How many clues must go until those of one sign have moved the log-odds so far."""
    helpful = sorted((sign * (clue.log_odds or 0.0) for clue in found.clues), reverse=True)
    return next((n for n in range(len(helpful)) if sum(helpful[:n]) > distance), 10**6)


def test_a_clue_has_the_counts_of_the_model_and_an_interval_around_its_share(words: Path) -> None:
    classifier = open_filter(str(words))
    found = classifier.explain(mail("please confirm your account"), "message")
    for clue in found.clues:
        stored = classifier.model.counts([token_key(clue.token)])[token_key(clue.token)]
        assert (clue.counts, clue.occurrences) == (stored[::2], stored[1::2])
        assert clue.share_interval is not None
        mean = (clue.counts[1] + JEFFREYS) / (sum(clue.counts) + 2 * JEFFREYS)
        assert clue.share_interval[0] < mean < clue.share_interval[1]


def test_a_rare_word_has_a_wide_interval_and_a_frequent_one_a_narrow(
    words: Path, letters: list[bytes]
) -> None:
    widths: dict[bool, list[float]] = {False: [], True: []}
    for _, found in explained(words, {}, letters):
        for clue in found.clues:
            if clue.share_interval and sum(clue.counts) in (1, *range(30, 200)):
                widths[sum(clue.counts) > 1].append(clue.share_interval[1] - clue.share_interval[0])
    assert min(widths[False]) > 0.5
    assert max(widths[True]) < 0.4


def drawn_text(name: str, seed: int) -> str:
    """Nine words, each twice as likely in its class as in the other."""
    ham, spam = ["meeting", "lunch", "report"], ["offer", "winner", "credit"]
    return " ".join(Random(f"{name} {seed}").choices([*ham, *spam, *(ham if name == "ham" else spam)], k=9))


@pytest.mark.parametrize("way", ["views", "presence", "multinomial", "bernoulli", "complement"])
def test_the_interval_of_the_log_odds_narrows_with_more_mail(tmp_path: Path, way: str) -> None:
    widths = []
    for number in (2, 200):
        folder = tmp_path / f"{number}"
        texts = {name: [mail(drawn_text(name, n)) for n in range(number)] for name in ("ham", "spam")}
        write_folders(folder / "mail", texts)
        run("train", folder / "mail", "-m", folder / "m", "-q")
        classifier = open_filter(str(folder / "m"), WAYS[way])
        found = classifier.explain(mail(drawn_text("ham", -1)), "message")
        assert found.interval is not None
        assert found.interval[0] < found.verdict.log_odds < found.interval[1]  # type: ignore[operator]
        widths.append(found.interval[1] - found.interval[0])
    assert widths[1] < widths[0] / 2


def test_classify_json_has_the_same_interval_as_explain(words: Path) -> None:
    content = mail("please confirm your account")
    classified = json.loads(run("classify", "--json", "-m", words, stdin=content))
    found = json.loads(run("explain", "--json", "-m", words, stdin=content))
    assert classified["log_odds_interval"] == found["log_odds_interval"]
    assert classified["log_odds"] == found["log_odds"]
    shares = {clue["token"]: clue["share_interval"] for clue in found["clues"]}
    for clue in classified["clues"]:
        assert clue["share_interval"] == shares[clue["token"]]


def test_without_smoothing_the_json_has_null_and_no_infinity(words: Path, letters: list[bytes]) -> None:
    for content in letters:
        text = run(
            "explain", "--json", "--event-model", "bernoulli", "--alpha", "0", "-m", words, stdin=content
        )
        assert "Infinity" not in text
        assert "NaN" not in text
        json.loads(text)


def test_top_bounds_the_clues_and_0_shows_all(words: Path) -> None:
    content = mail("please confirm your account now or access will be limited")
    few = json.loads(run("explain", "--json", "--top", "2", "-m", words, stdin=content))["clues"]
    everything = json.loads(run("explain", "--json", "--top", "0", "-m", words, stdin=content))["clues"]
    assert len(few) == 2
    assert len(everything) > 2
    nats = [abs(clue["nats"]) for clue in everything]
    assert nats == sorted(nats, reverse=True)


def test_the_text_shows_verdict_sum_clues_and_flip(words: Path, data: Path) -> None:
    text = run("explain", "-m", words, data / "spam" / "0002.eml")
    assert text.startswith("spam  P(spam) ")
    for part in ("log-odds", "header", "body", "structure", "residual 0", "share of spam"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 100


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


@pytest.mark.parametrize("width", [100, 60])
@pytest.mark.parametrize("n", [3, 9, 240])
def test_however_many_classes_there_are_the_clues_can_be_read(
    crowds: dict[int, Path], n: int, width: int
) -> None:
    classifier = open_filter(str(crowds[n]))
    found = classifier.explain(mail("topic1 daily word2"), "-")
    table = clue_table(found.clues, found, classifier, width)
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    for clue in found.clues:
        if len(clue.token) <= MIN_CLUE - 2:
            assert any(clue.token in line and nats_text(clue.log_odds).plain in line for line in lines)
    named = [str(column.header) for column in table.columns]
    assert "class-001" in named
    assert (f"{n - 2} others" in named or f"{n - 1} others" in named) == (n > 3 or width < 80)


def test_the_counts_of_classes_that_share_a_column_add_up(crowds: dict[int, Path]) -> None:
    clue = Clue("daily", "body", 0.5, (1, 2, 0.5), (1, 2, 0.5), 1, (0.1, 0.9), "token")
    assert _counts(clue, [[1], [0, 2]]) == ["2", "1.5"]
    assert _counts(clue._replace(counts=()), [[1], [0, 2]]) == ["", ""]
    found = json.loads(run("explain", "-m", crowds[240], "--json", stdin=mail("topic1 daily")))
    assert all(len(one["documents"]) == 240 for one in found["clues"])


def test_many_classes_are_counted_and_not_named(crowds: dict[int, Path]) -> None:
    assert "; from 720 messages of 240 classes\n" in run("explain", "-m", crowds[240], stdin=b"\n\ndaily")
    assert "; from 3 class-000, 3 class-001" in run("explain", "-m", crowds[3], stdin=b"\n\ndaily")
    said = run("doctor", "-m", crowds[240], status=0)
    assert "720 messages (240 classes); last changed" in " ".join(said.split())
    assert "720: 240 classes; 720 different" in run("model", "info", "-m", crowds[240])


def test_a_model_without_mail_says_that_there_is_none(tmp_path: Path) -> None:
    letters = {"ham": [mail("lunch at noon")], "spam": [mail("cheap pills now")]}
    write_folders(tmp_path / "mail", letters)
    run("train", tmp_path / "mail", "--event-model", "multinomial", "-m", tmp_path / "m", "-q")
    run("unlearn", "-m", tmp_path / "m", tmp_path / "mail", "-q")
    text = run("explain", "-m", tmp_path / "m", stdin=letters["ham"][0])
    assert "undefined: no mail is in the model, and the prior is of it" in text
    text = run("explain", "--alpha", "0", "--prior", "uniform", "-m", tmp_path / "m", stdin=letters["ham"][0])
    assert "undefined: every class is ruled out (lambda = 0)" in text


def test_control_characters_and_markup_of_a_mail_do_nothing(words: Path) -> None:
    content = b"Subject: [red]\x1b[31m[/red] \x07\nFrom: \x1b]0;x\x07 <a@b>\n\n\x1b[2J [bold]offer[/bold]\n"
    text = run("explain", "--top", "0", "-m", words, stdin=content)
    assert all(character.isprintable() or character == "\n" for character in text)


def test_words_of_other_scripts_survive_a_terminal_without_them(words: Path, data: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "nbspam", "explain", "-m", str(words)]
    done = subprocess.run(
        command, input=mail("发票 конкурс"), capture_output=True, env=environment, check=False
    )
    assert done.returncode == 0
    assert done.stdout.isascii()


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--alpha", "-1"], 64),
        (["--alpha", "x"], 64),
        (["--prior", "spam=0.4"], 64),
        (["--event-model", "gaussian"], 64),
        (["--event-model", "no"], 64),
        (["--top", "-1"], 64),
        (["--loss", "FP=-1"], 64),
        (["/nowhere"], 66),
    ],
)
def test_bad_options_end_with_the_documented_status(words: Path, options: list[str], status: int) -> None:
    error("explain", "-m", words, *options, status=status, stdin=mail("x"))


def test_every_broken_message_can_be_explained(words: Path, torture_files: list[Path]) -> None:
    classifier = open_filter(str(words), {"event_model": "multinomial"})
    for path in torture_files:
        check_sum(classifier, classifier.explain(path.read_bytes(), path.name))


def test_the_share_of_a_prior_model_is_rounded_for_people() -> None:
    shares = (0.0, 1234.0, 6.475935829, 1023.25, 0.06684491979)
    clue = Clue("word", "body", 1.0, shares, shares, 1, None, "token")
    assert clue.count_texts() == ["0", "1,234", "6.5", "1,023.2", "0.067"]


@pytest.mark.parametrize("command", ["classify", "explain"])
def test_class_names_are_written_in_the_charset_of_stdout(tmp_path: Path, command: str) -> None:
    letters = {"büro": [mail("termin akten")], "spam": [mail("cheap pills")]}
    run("train", write_folders(tmp_path / "mail", letters), "-m", tmp_path / "m", "-q", "--textbook")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    asked = [sys.executable, "-m", "nbspam", command, "-m", tmp_path / "m"]
    done = subprocess.run(asked, input=mail("termin"), capture_output=True, env=environment, check=False)
    assert "büro".encode("latin-1") in done.stdout
