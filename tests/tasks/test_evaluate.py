"""Laws of `nbspam eval`: what is judged was not learned, and the scores are those of train and classify."""

from pathlib import Path

import numpy as np
import pytest

from nbspam.corpus.corpus import BY_DATE, BY_INDEX, INTERLEAVED, Corpus, read_corpus, sort_in_time
from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.reading import WORDS
from nbspam.evaluation.formats import encode_evaluation
from nbspam.filter import open_filter
from nbspam.model.block import select_rows
from nbspam.model.calibration import Learner, first_weights
from nbspam.model.views import as_counted, compute_evidence
from nbspam.settings import Settings
from nbspam.tasks.classify import RowTokens, list_texts
from nbspam.tasks.evaluate import evaluate_folds, evaluate_model, judge_splits
from nbspam.tasks.judges import CorpusJudge
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model
from tests.mail_samples import make_corpus, make_index


def read(path: Path | str, jobs: int = 1, wanted: frozenset[str] = WORDS) -> Corpus:
    source = open_labelled([str(path)])
    return read_corpus(source.items(), source.classes, jobs, source.ordered_by_index, wanted=wanted)


@pytest.fixture(scope="module")
def demonstration(data: Path) -> Corpus:
    return read(data / "index", wanted=Settings().wanted | {"numeric"})


def test_a_saved_model_judges_as_classify_does(data: Path, tmp_path: Path) -> None:
    source = open_labelled([str(data / "index")])
    items = list(source.items())
    model = str(tmp_path / "model.nbspam")
    train_model(items[:150], source.classes, model, Plan(Settings()))
    evaluation, skipped = evaluate_model(items[150:], source.classes, model, jobs=2)
    classifier = open_filter(model)
    assert skipped == []
    assert evaluation.names.tolist() == [item.name for item in items[150:]]
    assert [evaluation.classes[truth] for truth in evaluation.truth] == [item.label for item in items[150:]]
    expected = [classifier.classify(item.read(), item.name).log_odds for item in items[150:]]
    assert evaluation.log_odds.tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("grouped", [False, True])
def test_folds_judge_every_message_once_by_others(demonstration: Corpus, grouped: bool) -> None:
    plan = Plan(Settings(averaged=False), grouped=grouped)
    evaluation = evaluate_folds(demonstration, plan, 7)
    assert evaluation.names.tolist() == demonstration.block.names
    assert evaluation.truth.tolist() == demonstration.truth().tolist()
    assert sorted(set(evaluation.folds.tolist())) == list(range(7))
    row = 0
    others = np.flatnonzero(evaluation.folds != evaluation.folds[row])
    alone = CorpusJudge(demonstration, plan, others)
    joint = alone.joints(np.array([row]))[0]
    assert evaluation.log_odds[row] == pytest.approx(joint[1] - joint[0], abs=1e-9)


def test_number_of_processes_changes_no_figure(demonstration: Corpus) -> None:
    serial, parallel = (evaluate_folds(demonstration, Plan(Settings()), 4, jobs=jobs) for jobs in (1, 2))
    assert encode_evaluation(serial) == encode_evaluation(parallel)


def test_the_vocabulary_is_that_of_the_fold(tmp_path: Path) -> None:
    # A word that only the judged message has must not make the vocabulary of its training larger.
    folder = tmp_path / "mail"
    for label in ("ham", "spam"):
        (folder / label).mkdir(parents=True)
        for number in range(3):
            (folder / label / str(number)).write_text(f"Subject: x\n\n{label} common\n")
    (folder / "ham" / "9").write_text("Subject: x\n\nham common " + " ".join(f"rare{i}" for i in range(500)))
    corpus = read(folder)
    row = corpus.block.names.index(str(folder / "ham" / "9"))
    others = np.setdiff1d(np.arange(len(corpus.block)), [row])
    part = judge_splits(corpus, [Plan(Settings("multinomial"))], [(others, np.array([row]))])[0]
    model = str(tmp_path / "model.nbspam")
    items = [item for item in open_labelled([str(folder)]).items() if not item.name.endswith("/9")]
    train_model(items, corpus.classes, model, Plan(Settings("multinomial")))
    verdict = open_filter(model).classify((folder / "ham" / "9").read_bytes(), "9")
    assert part.log_odds[0] == pytest.approx(verdict.log_odds, abs=1e-9)


@pytest.mark.parametrize(
    ("dated", "indexed", "right"),
    [(True, False, BY_DATE), (True, True, BY_INDEX), (False, True, BY_INDEX), (False, False, INTERLEAVED)],
)
def test_order_in_time_is_of_the_index_else_of_dates_else_interleaved(
    tmp_path: Path, dated: bool, indexed: bool, right: str
) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 20, "spam": 10}, dated=dated)
    index = make_index(folder, [("ham", "ham"), ("spam", "spam")]) if indexed else folder
    corpus = read(index)
    order, found = sort_in_time(corpus)
    assert found == right
    assert sorted(order.tolist()) == list(range(30))
    if right == INTERLEAVED:
        spam = np.flatnonzero(corpus.truth()[order] == 1)
        assert spam.max() - spam.min() > 20
        for label in (0, 1):
            rows = order[corpus.truth()[order] == label]
            assert rows.tolist() == sorted(rows.tolist())


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
