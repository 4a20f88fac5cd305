"""The drivers of other filters: they see the same messages in the same order and the same folds."""

from pathlib import Path

import numpy as np
import pytest

from nbspam.evaluation import folds as splitting
from nbspam.evaluation.outcomes import Outcome
from nbspam.evaluation.replay import Feedback
from nbspam.tasks.evaluate import replay_corpus
from peers import bogofilter, common, scikit_learn, subject_and_body
from tests.mail_samples import make_corpus
from tests.programs import needs


def test_a_message_is_cut_down_to_subject_and_body() -> None:
    message = (
        b"Received: from a\n\tby b\nSubject: one\n two\nX-Class: spam\nContent-Type: text/plain;\n"
        b" charset=gb2312\nFrom: x\n\nbody\n\nSubject: stays\n"
    )
    expected = b"Subject: one\n two\nContent-Type: text/plain;\n charset=gb2312\n\nbody\n\nSubject: stays\n"
    assert subject_and_body.cut_down(message) == expected


def test_peers_are_judged_on_the_folds_of_nbspam(tmp_path: Path) -> None:
    messages = common.read_messages(str(make_corpus(tmp_path / "mail", {"ham": 20, "spam": 20}, noise=0.0)))
    seen: list[tuple[list[int], list[int]]] = []
    batch = scikit_learn.Batch("MultinomialNB", messages)

    def judge(train: list[int], rows: list[int]) -> list[Outcome]:
        seen.append((train, rows))
        return batch(train, rows)

    found = common.evaluate_folds(messages, 4, 0, judge, {})
    assert found.folds.tolist() == splitting.draw_folds(messages.corpus.truth(), 4, 0).tolist()
    assert found.names.tolist() == messages.corpus.block.names
    assert (found.decided == found.truth).sum() >= 38
    assert all(not set(train) & set(rows) for train, rows in seen)


@pytest.fixture
def messages(tmp_path: Path) -> common.Messages:
    return common.read_messages(str(make_corpus(tmp_path / "mail", {"ham": 25, "spam": 25}, noise=0.0)))


@pytest.mark.debian
@needs("bogofilter")
def test_bogofilter_learns_from_a_replay(messages: common.Messages, tmp_path: Path) -> None:
    subject = bogofilter.BogofilterReplay(bogofilter.Bogofilter("bogofilter", tmp_path / "words"), messages)
    found = replay_corpus(messages.corpus, subject, Feedback(), {"seed": 0})
    assert found.trained == 50
    assert found.probabilities[0].tolist() == [0.5, 0.5]
    assert not found.is_mistake[25:].any()
    files = tmp_path / "files"
    files.mkdir()
    batch = bogofilter.Batch("bogofilter", files, messages)
    rows = np.arange(50)
    judged = batch(rows[::2].tolist(), rows[1::2].tolist())
    truth = messages.corpus.truth()[1::2]
    scores = np.array([outcome.probabilities[1] for outcome in judged])
    assert scores[truth == 1].min() > scores[truth == 0].max()
