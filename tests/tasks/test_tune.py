"""`nbspam tune`: candidates on the same mail, and a choice that chance cannot make."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from nbspam.cli import with_flags
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.settings import Settings
from nbspam.store.text import dump_model
from nbspam.tasks.judges import Plan
from nbspam.tasks.train import Choices, train
from nbspam.tasks.tune import (
    CANDIDATES,
    Tried,
    choose,
    estimate_difference,
    settle,
    split_apart,
)
from tests.judged_mail import judged
from tests.mail_samples import make_corpus
from tests.tiny_mail import run

pytestmark = pytest.mark.slow


def read(path: Path) -> Corpus:
    source = open_labelled([str(path)])
    asked = frozenset(("bigrams", "measures"))
    return read_corpus(source.items(), source.classes, 1, source.ordered_by_index, wanted=asked)


def tried(options: str, log_loss: float, difference: float, p: float, odds: list[float]) -> Tried:
    """A candidate as judged, on messages that are ham and spam by turns."""
    rows = [(number % 2, int(value > 0), value, (0.5, 0.5)) for number, value in enumerate(odds)]
    evaluation = judged(rows, method="holdout")
    return Tried(options, evaluation, 0.0, 0.0, 0.0, log_loss, difference, p)


@pytest.fixture(scope="module")
def mailbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty ham and forty spam, of which some talk like the other class."""
    return make_corpus(tmp_path_factory.mktemp("mail") / "mail", {"ham": 40, "spam": 40}, noise=0.2)


RIGHT = [-1.0, 1.0] * 200
WRONG = [1.0, -1.0] * 40 + [-1.0, 1.0] * 160


@pytest.mark.parametrize(
    ("difference", "p", "odds", "wins"),
    [
        (-0.1, 1e-6, RIGHT, True),
        (-0.1, 0.04, RIGHT, False),  # one of two candidates: 0.025 is asked for
        (+0.1, 1e-6, RIGHT, False),
        (-0.1, 1e-6, WRONG, False),  # surer of itself, but it ranks worse
    ],
)
def test_only_what_is_better_by_more_than_chance_is_chosen(
    difference: float, p: float, odds: list[float], wins: bool
) -> None:
    default = tried("", 0.3, 0.0, 1.0, RIGHT)
    other = tried("--alpha 1", 0.3 + difference, difference, p, odds)
    dull = tried("--alpha 2", 0.9, 0.6, 1e-9, RIGHT)
    assert (choose([default, other, dull]) is other) == wins


def test_differences_of_one_campaign_are_one_trial() -> None:
    differences = np.array([-1.0, -1.0, -1.0, -1.0, 0.2, -0.2, 0.1, -0.1])
    mean, alone = estimate_difference(differences, np.arange(8))
    same, together = estimate_difference(differences, np.array([0, 0, 0, 0, 1, 2, 3, 4]))
    assert mean == same == pytest.approx(-0.5)
    assert alone < 0.05 < together


def test_dated_mail_is_judged_by_its_past(tmp_path: Path) -> None:
    corpus = read(make_corpus(tmp_path / "mail", {"ham": 40, "spam": 40}))
    splits, how, _ = split_apart(corpus)
    assert "older mail" in how
    for before, rows in splits:
        assert corpus.block.dates[before].max() < corpus.block.dates[rows].min()


def test_undated_mail_is_judged_by_other_campaigns(tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 30, "spam": 30}, dated=False)
    original = sorted((folder / "spam").iterdir())[0]
    for number in range(8):
        (folder / "spam" / f"copy{number}").write_bytes(original.read_bytes())
    corpus = read(folder)
    splits, how, groups = split_apart(corpus)
    assert "near-duplicates" in how
    copies = {row for row, name in enumerate(corpus.block.names) if "copy" in name or name == str(original)}
    assert len({int(groups[row]) for row in copies}) == 1
    for _, rows in splits:
        assert copies <= set(rows.tolist()) or not copies & set(rows.tolist())
    assert sorted(row for _, rows in splits for row in rows.tolist()) == list(range(len(corpus.block)))


EACH = list(CANDIDATES.items())
BOTH = ("`alpha=0.1` `threshold=1`", Plan(Settings(alpha=0.1, threshold=1.0)))


@pytest.mark.parametrize(("options", "plan"), [EACH[0], EACH[1], EACH[-4], EACH[-1], BOTH])
def test_what_is_written_is_what_train_makes_by_the_options_printed(
    options: str, plan: Plan, mailbox: Path, tmp_path: Path
) -> None:
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    source, choices = open_labelled([str(mailbox)]), Choices(automatic=plan.automatic)
    train(source.items(), source.classes, ours, plan.settings, choices=choices)
    run("train", mailbox, "-m", theirs, "-q", "-j1", *with_flags(options).split())
    assert list(dump_model(ours)) == list(dump_model(theirs))


def test_tune_writes_the_model_that_it_chose(mailbox: Path, tmp_path: Path) -> None:
    ours, theirs = str(tmp_path / "new" / "ours"), str(tmp_path / "theirs")
    found = json.loads(run("tune", mailbox, "--write", "-m", ours, "--json"))
    assert found["default_stays"] == (found["chosen"] == "")
    run("train", mailbox, "-m", theirs, *found["chosen"].split())
    assert list(dump_model(ours)) == list(dump_model(theirs))


@pytest.mark.parametrize(("gain_of_second_part", "wins"), [(0.39, True), (-0.05, False)])
def test_a_choice_that_gains_nothing_on_other_mail_is_not_made(
    gain_of_second_part: float, wins: bool
) -> None:
    """The better candidate gains much in the first part; it counts only what it gains in the other one."""
    random, n = np.random.default_rng(1), 400
    part, truth = np.arange(n) // 200, np.arange(n) % 2
    gains = np.where(part == 0, 0.39, gain_of_second_part)
    evaluations = []
    for right in (np.full(n, 0.6), 0.6 + gains - random.random(n) / 100):
        spam = np.where(truth == 1, right, 1 - right)
        rows = [
            (t, int(p > 0.5), float(np.log(p / (1 - p))), (1 - p, p))
            for t, p in zip(truth, spam, strict=True)
        ]
        evaluations.append(judged(rows, method="holdout"))
    tuned = settle(dict(zip(("", "`alpha=1`"), evaluations, strict=True)), part, np.arange(n), "by parts")
    assert (tuned.chosen.options == "`alpha=1`") == wins
    assert (tuned.unseen.difference < 0) == wins


def test_the_command_that_is_printed_can_be_pasted(tmp_path: Path) -> None:
    mail = make_corpus(tmp_path / "my mail", {"ham": 20, "spam": 20})
    words = shlex.split(run("tune", f"--ham={mail}/ham", f"--spam={mail}/spam").splitlines()[-1])
    assert words[:2] == ["nbspam", "train"]
    run(*words[1:], "-m", tmp_path / "model")
