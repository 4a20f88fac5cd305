"""Training regimes: `nbspam train --regime` counts fewer messages, and the model still filters."""

from pathlib import Path

import pytest

from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.errors import UsageError
from nbspam.settings import Settings
from nbspam.store.reader import open_model
from nbspam.tasks.evaluate import parse_regime, select_learned
from nbspam.tasks.judges import Plan, ReplayJudge
from tests.tiny_mail import counts, error, run


@pytest.fixture(scope="module")
def corpus(data: Path) -> Corpus:
    source = open_labelled([str(data / "index")])
    return read_corpus(source.items(), source.classes, by_index=True)


def test_a_regime_counts_fewer_messages_into_a_smaller_model(
    data_model: Path, data: Path, tmp_path: Path
) -> None:
    sizes = []
    for regime in ("on-error", "thick:1"):
        run("train", "-q", data, "-m", tmp_path / "m", "--replace", "--regime", regime)
        sizes.append((sum(open_model(str(tmp_path / "m")).messages), (tmp_path / "m").stat().st_size))
    sizes.append((sum(open_model(str(data_model)).messages), data_model.stat().st_size))
    assert sizes == sorted(sizes)
    assert len({*sizes}) == 3


def test_on_error_counts_the_first_of_each_class_and_what_was_judged_wrongly(corpus: Corpus) -> None:
    rows, _ = select_learned(corpus, Plan(Settings()), parse_regime("on-error"))
    chosen, messages = set(rows.tolist()), corpus.block
    subject = ReplayJudge(corpus, Plan(Settings()))
    met = set()
    for row, label in enumerate(messages.labels.tolist()):
        wrong = subject.score(row).decided != label
        assert (row in chosen) == (wrong or label not in met)
        if row in chosen:
            subject.learn(row, label)
            met.add(label)


def test_a_regime_that_chooses_all_gives_the_counts_of_plain_training(
    data_model: Path, data: Path, tmp_path: Path
) -> None:
    """Only the calibration differs: it learns from the messages as the replay saw them."""
    run("train", "-q", data, "-m", tmp_path / "wide", "--regime", "thick:1e6")
    assert counts(tmp_path / "wide") == counts(data_model)


@pytest.mark.parametrize("text", ["sometimes", "", "thick", "thick:", "thick:-1", "thick:nan", "on-error:1"])
def test_an_unknown_regime_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_regime(text)
    assert (raised.value.slug, raised.value.option) == ("regime", "regime")


def test_options_that_a_regime_cannot_go_with_are_refused(trained: Path, data: Path, tmp_path: Path) -> None:
    run("vocab", "build", "-q", data, "--size", 9, "-o", tmp_path / "words")
    for others in (
        ["--features", "both"],
        ["--event-model", "gaussian"],
        ["--alpha", "auto"],
        ["--vocab", tmp_path / "words"],
    ):
        said = error("train", data, "-m", tmp_path / "m", "--regime", "on-error", *others, status=64)
        assert "[regime]" in said
    assert not (tmp_path / "m").exists()
    before = trained.read_bytes()
    assert "[regime]" in error("train", data, "-m", trained, "--update", "--regime", "on-error", status=64)
    assert trained.read_bytes() == before
