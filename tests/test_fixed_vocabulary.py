"""Laws of a fixed vocabulary: |V| is that of the file, and tokens outside it are counted as one NOTAWORD."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbspam.corpus import open_labelled
from nbspam.corpus.vocabulary import Choice, Word, build_vocabulary
from nbspam.settings import Settings
from nbspam.store.check import check_model
from nbspam.tasks import calibrate as calibrating
from nbspam.tasks.prior_model import PriorModel
from nbspam.tasks.train import Choices, train
from tests.forgotten import check_evidence
from tests.mail_samples import make_corpus

NEVER_MET = tuple(Word(f"nevermet{n}", 1, (0, 0), (0, 0)) for n in range(700))


@pytest.mark.parametrize("on_prior", [False, True])
@pytest.mark.parametrize("dated", [False, True])
def test_the_calibration_learns_from_the_evidence_that_one_message_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dated: bool, on_prior: bool
) -> None:
    """Words of the vocabulary that were not met, and tokens outside it, count as in scoring."""
    mail = open_labelled([str(make_corpus(tmp_path / "mail", {"ham": 12, "spam": 9}, seed=2, dated=dated))])
    vocabulary = build_vocabulary(mail.items(), mail.classes, Choice(size=40)).vocabulary
    vocabulary = vocabulary._replace(words=[*vocabulary.words, *NEVER_MET])
    path, prior = str(tmp_path / "model"), str(tmp_path / "prior")
    seen: list[tuple[calibrating.Seen, calibrating.Sample]] = []
    own = calibrating.fresh_sample

    def noted(rows: Any, *others: Any) -> Any:
        seen.append((rows, own(rows, *others)))
        return seen[-1][1]

    if on_prior:
        more = open_labelled([str(make_corpus(tmp_path / "more", {"ham": 24, "spam": 16}, seed=1))])
        train(more.items(), more.classes, prior, Settings(), choices=Choices(vocabulary))
    monkeypatch.setattr(calibrating, "fresh_sample", noted)
    if on_prior:
        with PriorModel(prior, 7.3, mail.classes) as model:
            train(mail.items(), mail.classes, path, Settings(), choices=Choices(vocabulary, prior=model))
    else:
        train(mail.items(), mail.classes, path, Settings(), choices=Choices(vocabulary))
    assert check_model(path) == []
    rows, sample = seen[-1]
    n = len(rows.block)  # of dated mail only the latest is without itself alone
    check_evidence(path, sample, rows.block.names, range(n - 1 if dated else 0, n), tmp_path)


def test_lambda_is_chosen_on_evidence_that_is_defined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens outside the vocabulary were taken from counts that did not hold them: logarithms below 0."""
    mail = open_labelled([str(make_corpus(tmp_path / "mail", {"ham": 30, "spam": 30}, seed=4))])
    vocabulary = build_vocabulary(mail.items(), mail.classes, Choice(size=40)).vocabulary
    with np.errstate(all="raise"):
        chosen = train(
            mail.items(), mail.classes, str(tmp_path / "m"), Settings(), choices=Choices(vocabulary, True)
        )
    assert chosen.alpha is not None
