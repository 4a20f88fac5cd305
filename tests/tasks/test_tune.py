"""`nbspam tune`: candidates on the same mail, and a choice that chance cannot make."""

import json
import shlex
from pathlib import Path

import pytest

from nbspam.cli import with_flags
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.near_duplicates import group_duplicates
from nbspam.evaluation.comparison import Difference
from nbspam.settings import Settings
from nbspam.store.text import dump_model
from nbspam.tasks.evaluate import split_apart
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model
from nbspam.tasks.tune import PLANS, SPLITS, Candidate, Tuning, plan_training
from tests.mail_samples import make_corpus
from tests.tiny_mail import run

pytestmark = pytest.mark.slow


def read(path: Path) -> Corpus:
    source = open_labelled([str(path)])
    asked = Settings().wanted
    return read_corpus(source.items(), source.classes, 1, source.ordered_by_index, wanted=asked)


def candidate(options: str, difference: float, p: float) -> Candidate:
    interval = (difference - 0.1, difference + 0.1)
    return Candidate(options, 0.0, 0.0, 0.0, Difference(0.5, 0.5 + difference, difference, interval, p))


@pytest.fixture(scope="module")
def mailbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty ham and forty spam, of which some talk like the other class."""
    return make_corpus(tmp_path_factory.mktemp("mail") / "mail", {"ham": 40, "spam": 40}, noise=0.2)


@pytest.mark.parametrize(
    ("difference", "p", "verdict"),
    [
        (-0.1, 1e-6, "better"),
        (-0.1, 0.04, "no better"),  # one of 30 rows: 0.05 / 30 is asked for
        (+0.1, 0.04, "no better"),
        (+0.1, 1e-6, "worse"),
    ],
)
def test_only_a_row_better_by_more_than_chance_is_chosen(difference: float, p: float, verdict: str) -> None:
    default, other, dull = candidate("", 0.0, 1.0), candidate("a", difference, p), candidate("b", 0.6, 0.5)
    assert other.verdict == verdict
    chosen = Tuning(9, "by date", "", [default, other, dull]).chosen
    assert chosen is (other if verdict == "better" else default)


def test_dated_mail_is_judged_by_its_past(tmp_path: Path) -> None:
    corpus = read(make_corpus(tmp_path / "mail", {"ham": 40, "spam": 40}))
    splits, how = split_apart(corpus, group_duplicates(corpus), SPLITS)
    assert "older mail" in how
    for before, rows in splits:
        assert corpus.block.dates[before].max() < corpus.block.dates[rows].min()


def test_undated_mail_is_judged_by_other_campaigns(tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 30, "spam": 30}, dated=False)
    original = sorted((folder / "spam").iterdir())[0]
    for number in range(8):
        (folder / "spam" / f"copy{number}").write_bytes(original.read_bytes())
    corpus = read(folder)
    groups = group_duplicates(corpus)
    splits, how = split_apart(corpus, groups, SPLITS)
    assert "near-duplicates" in how
    copies = {row for row, name in enumerate(corpus.block.names) if "copy" in name or name == str(original)}
    assert len({int(groups[row]) for row in copies}) == 1
    for _, rows in splits:
        assert copies <= set(rows.tolist()) or not copies & set(rows.tolist())
    assert sorted(row for _, rows in splits for row in rows.tolist()) == list(range(len(corpus.block)))


EACH = list(PLANS.items())
BOTH = ("`alpha=0.1` `threshold=1`", Plan(Settings(alpha=0.1, threshold=1.0)))


@pytest.mark.parametrize(("options", "plan"), [EACH[0], EACH[1], EACH[-4], EACH[-1], BOTH])
def test_what_is_written_is_what_train_makes_by_the_options_printed(
    options: str, plan: Plan, mailbox: Path, tmp_path: Path
) -> None:
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    source = open_labelled([str(mailbox)])
    plan = plan_training(options, source.classes) if options in PLANS else plan
    train_model(source.items(), source.classes, ours, plan)
    run("train", mailbox, "-m", theirs, "-q", "-j1", *with_flags(options).split())
    assert list(dump_model(ours)) == list(dump_model(theirs))


def test_tune_writes_the_model_that_it_chose(mailbox: Path, tmp_path: Path) -> None:
    ours, theirs = str(tmp_path / "new" / "ours"), str(tmp_path / "theirs")
    found = json.loads(run("tune", mailbox, "--write", "-m", ours, "--json"))
    assert found["default_stays"] == (found["chosen"] == "")
    run("train", mailbox, "-m", theirs, *found["chosen"].split())
    assert list(dump_model(ours)) == list(dump_model(theirs))


def test_the_command_that_is_printed_can_be_pasted(tmp_path: Path) -> None:
    mail = make_corpus(tmp_path / "my mail", {"ham": 20, "spam": 20})
    words = shlex.split(run("tune", f"--ham={mail}/ham", f"--spam={mail}/spam").splitlines()[-1])
    assert words[:2] == ["nbspam", "train"]
    run(*words[1:], "-m", tmp_path / "model")
