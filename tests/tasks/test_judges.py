"""Laws of the filter that a replay drives: after any number of messages it is what training on them gives."""

from pathlib import Path

import numpy as np
import pytest

from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.evaluation.replay import parse_feedback
from nbspam.model.block import select_rows
from nbspam.model.calibration import Learner, first_weights
from nbspam.model.views import as_counted, compute_evidence
from nbspam.settings import Settings
from nbspam.tasks.classify import RowTokens, list_texts
from nbspam.tasks.evaluate import evaluate_replay
from nbspam.tasks.judges import CorpusJudge
from nbspam.tasks.plan import Plan


@pytest.fixture(scope="module")
def corpus(data: Path) -> Corpus:
    source = open_labelled([str(data / "index")])
    asked = Settings().wanted
    return read_corpus(source.items(), source.classes, 1, source.ordered_by_index, wanted=asked)


def fed(corpus: Corpus, settings: Settings, n: int) -> CorpusJudge:
    """A filter that learned the first n messages."""
    judge = CorpusJudge(corpus, Plan(settings))
    for message in range(n):
        judge.learn(message, int(corpus.block.labels[message]))
    return judge


def test_calibration_learns_from_the_counts_before_a_message_was_learned(corpus: Corpus) -> None:
    block, settings = corpus.block, Settings()
    judge, learner = fed(corpus, settings, 0), Learner(first_weights(2, settings.kinds))
    for row in range(150):
        counts = select_rows(block, np.arange(row)).count(2)
        expected = compute_evidence(as_counted(select_rows(block, np.array([row])), counts), settings)
        found = judge.seen(np.array([row]))
        np.testing.assert_allclose(found.evidence, expected.evidence, atol=1e-12)
        np.testing.assert_allclose(found.common, expected.common, atol=1e-12)
        learner.learn(found.evidence[0].tolist(), found.common[0].tolist(), int(block.labels[row]), row)
        judge.learn(row, int(block.labels[row]))
    texts = list_texts(block)
    assert judge.scorer().model.calibration() == pytest.approx(learner.weights, abs=1e-12)
    for row in range(150, 180):
        scored = judge.scorer().score(RowTokens(block, row, texts))
        assert scored.scores == pytest.approx(judge.joints(np.array([row]))[0].tolist(), abs=1e-12)


def test_late_feedback_learns_from_the_filter_as_it_then_is(corpus: Corpus) -> None:
    judge, now = (fed(corpus, Settings(), 100) for _ in range(2))
    judge.joints(np.array([120]))
    judge.joints(np.array([121]))
    judge.learn(120, 1)
    now.learn(120, 1)
    assert judge.scorer().model.calibration() == now.scorer().model.calibration()


@pytest.mark.parametrize("feedback", ["delayed:30", "partial:0.4", "on-error"])
def test_a_filter_learns_as_much_as_the_feedback_says(feedback: str, corpus: Corpus) -> None:
    evaluation = evaluate_replay(corpus, Plan(Settings(), seed=3), parse_feedback(feedback))
    assert evaluation.trained is not None
    wrong = evaluation.decided != evaluation.truth
    expected = {"delayed:30": len(corpus.block) - 30, "on-error": wrong.sum()}
    if feedback in expected:
        assert evaluation.trained == expected[feedback]
    else:
        assert 0.25 * len(corpus.block) < evaluation.trained < 0.55 * len(corpus.block)
