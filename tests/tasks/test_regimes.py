"""Training regimes: `nbspam train --regime` counts fewer messages, and the model still filters."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from mail_samples import make_corpus, run_here

from nbspam.corpus import open_labelled
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.decision import zero_one_loss
from nbspam.errors import UsageError
from nbspam.settings import Settings
from nbspam.tasks.evaluate import learned_rows, parse_regime
from nbspam.tasks.judges import ReplayJudge


@pytest.fixture(scope="module")
def corpus(data: Path) -> Corpus:
    source = open_labelled([str(data / "index")])
    return read_corpus(source.items(), source.classes, by_index=True)


def trained(data: Path, model: Path, *regime: str) -> tuple[int, int | None]:
    """(messages counted, of how many, where the summary says) of the real command."""
    status, _, said = run_here("train", str(data), "-m", str(model), *regime)
    assert status == 0, said
    counted, _, of_all = re.findall(r"Trained on ([\d,]+)( of ([\d,]+))? messages", said)[0]
    return int(counted), int(of_all) if of_all else None


def test_a_regime_counts_fewer_messages_into_a_smaller_model(data: Path, tmp_path: Path) -> None:
    everything, on_error, thick = (tmp_path / name for name in ("all", "on-error", "thick"))
    n_all, of_all = trained(data, everything)
    n_error, of_error = trained(data, on_error, "--regime", "on-error")
    n_thick, of_thick = trained(data, thick, "--regime", "thick:1")
    assert of_all is None
    assert of_error == of_thick == n_all
    assert 2 <= n_error < n_thick < n_all
    assert on_error.stat().st_size < thick.stat().st_size < everything.stat().st_size


def test_on_error_counts_the_first_of_each_class_and_what_was_judged_wrongly(corpus: Corpus) -> None:
    rows, _ = learned_rows(corpus, Settings(), parse_regime("on-error"))
    chosen, messages = set(rows.tolist()), corpus.block
    order = np.arange(len(messages))
    subject = ReplayJudge(messages, order, ("ham", "spam"), Settings(), zero_one_loss(2))
    met = set()
    for row, label in enumerate(messages.labels.tolist()):
        wrong = subject.score(row).decided != label
        assert (row in chosen) == (wrong or label not in met)
        if row in chosen:
            subject.learn(row, label)
            met.add(label)


def test_a_regime_that_chooses_all_gives_the_counts_of_plain_training(data: Path, tmp_path: Path) -> None:
    """Only the calibration differs: it learns from the messages as the replay saw them."""
    trained(data, tmp_path / "plain")
    trained(data, tmp_path / "wide", "--regime", "thick:1e6")
    dumps = [run_here("model", "dump", "-m", str(tmp_path / name)) for name in ("plain", "wide")]
    assert dumps[0][0] == 0, dumps[0]
    others_than_counts = ("calibration", "#end")
    counts, others = (
        [line for line in dump[1].splitlines() if not line.startswith(others_than_counts)] for dump in dumps
    )
    assert len(counts) > 10_000
    assert counts == others


@pytest.mark.parametrize("kind", ["on-error", "thick:0.5"])
@pytest.mark.parametrize("classes", [("ham", "news", "spam", "work"), ("news", "play", "work")])
def test_every_class_is_in_the_model_whatever_the_classes(
    tmp_path: Path, kind: str, classes: tuple[str, ...]
) -> None:
    mail = make_corpus(tmp_path / "mail", dict.fromkeys(classes, 25))
    status, _, said = run_here("train", str(mail), "-m", str(tmp_path / "m"), "--regime", kind)
    assert status == 0, said
    counted = [int(count) for count in re.findall(r"(\d+) (?:" + "|".join(classes) + ")", said)]
    assert len(counted) == len(classes)
    assert all(count >= 1 for count in counted)
    assert sum(counted) < 25 * len(classes)


@pytest.mark.parametrize("text", ["sometimes", "", "thick", "thick:", "thick:-1", "thick:nan", "on-error:1"])
def test_an_unknown_regime_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_regime(text)
    assert (raised.value.slug, raised.value.option) == ("regime", "regime")


@pytest.mark.parametrize(
    "others",
    [
        ("--features", "both"),
        ("--features", "numeric"),
        ("--event-model", "gaussian"),
        ("--alpha", "auto"),
        ("--vocab", "vocabulary"),
        ("--update",),
    ],
)
def test_options_that_a_regime_cannot_go_with_are_refused(tmp_path: Path, others: tuple[str, ...]) -> None:
    make_corpus(tmp_path / "mail", {"ham": 5, "spam": 5})
    assert run_here("train", "mail", "-m", "plain", cwd=tmp_path)[0] == 0
    before = (tmp_path / "plain").read_bytes()
    assert run_here("vocab", "build", "mail", "-o", "vocabulary", cwd=tmp_path)[0] == 0
    model = "plain" if others == ("--update",) else "m"
    status, _, said = run_here("train", "mail", "-m", model, "--regime", "on-error", *others, cwd=tmp_path)
    assert (status, "[regime]" in said) == (64, True)
    assert not (tmp_path / "m").exists()
    assert (tmp_path / "plain").read_bytes() == before
