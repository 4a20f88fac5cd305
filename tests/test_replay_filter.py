"""Laws of the filter that a replay drives: after any number of messages it is what training on them gives."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from mail_samples import make_corpus

from nbspam.corpus import open_labelled
from nbspam.corpus.accumulator import select_rows
from nbspam.corpus.corpus import BY_DATE, BY_INDEX, Corpus, read_corpus
from nbspam.decision import Loss, zero_one_loss
from nbspam.errors import UsageError
from nbspam.evaluate.replay import parse_feedback
from nbspam.model.calibration import Learner, first_weights
from nbspam.model.scorer import Counted
from nbspam.model.views import fixed_background, view_evidence
from nbspam.settings import Settings
from nbspam.tasks.evaluate import MOST_CLUED, Plan, centre_nats, evaluate_replay
from nbspam.tasks.judges.bulk import BulkFilter, count_rows
from nbspam.tasks.judges.memory_model import MemoryModel, bag_of, sums_of, texts_of
from nbspam.tasks.judges.replay import AveragedReplay, GrowingCounts, WordReplay, replay_filter

WORD_WAYS = {
    "presence": Settings(averaged=False),
    "multinomial": Settings("multinomial", prior="smoothed"),
    "bernoulli": Settings("bernoulli"),
    "complement": Settings("complement"),
    "normalised complement": Settings("complement", normalise=True, alpha=0.3),
    "maximum likelihood": Settings("bernoulli", alpha=0.0),
}


@pytest.fixture(scope="module")
def corpus(data: Path) -> Corpus:
    source = open_labelled([str(data / "index")])
    asked = frozenset(("bigrams", "measures"))
    return read_corpus(source.items(), source.classes, 1, source.ordered_by_index, wanted=asked)


@pytest.fixture(scope="module")
def four_classes(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = make_corpus(tmp_path_factory.mktemp("four"), {"ham": 20, "news": 20, "spam": 20, "work": 20})
    source = open_labelled([str(folder)])
    return read_corpus(source.items(), source.classes, wanted=frozenset(("bigrams", "measures")))


def fed(corpus: Corpus, settings: Settings, n: int) -> AveragedReplay | WordReplay:
    """A filter that learned the first n messages."""
    order = np.arange(len(corpus.block))
    subject = replay_filter(corpus.block, order, corpus.classes, settings, zero_one_loss(len(corpus.classes)))
    for message in range(n):
        subject.learn(message, int(corpus.block.labels[message]))
    assert isinstance(subject, AveragedReplay | WordReplay)
    return subject


@pytest.mark.parametrize("way", WORD_WAYS)
@pytest.mark.parametrize("n", [5, 60, 200])
def test_learning_one_by_one_is_training_on_the_prefix(way: str, n: int, corpus: Corpus) -> None:
    settings = WORD_WAYS[way]
    subject = fed(corpus, settings, n)
    train = np.arange(n)
    counts = count_rows(select_rows(corpus.block, train), len(corpus.classes))
    assert counts.messages.all()
    rows = np.arange(n, len(corpus.block))[:20]
    expected = BulkFilter(corpus.block, train, counts, settings, corpus.classes).scores(rows)
    for row, joint in zip(rows.tolist(), expected.tolist(), strict=True):
        assert list(subject.joint(row)) == pytest.approx(joint, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("n", [0, 1, 60, 200])
def test_the_evidence_is_that_of_the_counts_of_the_prefix(n: int, corpus: Corpus) -> None:
    settings = Settings()
    subject = fed(corpus, settings, n)
    assert isinstance(subject, AveragedReplay)
    counts = count_rows(select_rows(corpus.block, np.arange(n)), 2)
    rows = np.arange(n, len(corpus.block))[:30]
    judged = select_rows(corpus.block, rows)
    background = fixed_background(judged, counts.documents)
    expected = view_evidence(judged, background, settings)
    for place, row in enumerate(rows.tolist()):
        evidence, unknown = subject.evidence(row)
        assert np.array(evidence) == pytest.approx(expected.evidence[place], abs=1e-9)
        assert unknown == pytest.approx(expected.common[place].tolist(), abs=1e-9)


def test_the_score_is_that_of_one_message_at_a_time(corpus: Corpus) -> None:
    # The scalar law of classify, on the same counts and weights.
    subject = fed(corpus, Settings(), 150)
    texts = texts_of(corpus.block)
    for row in range(150, 180):
        scored = subject.scorer().score(Counted(bag_of(corpus.block, row, texts)))
        joint = subject.joint(row)
        assert scored.scores[1] - scored.scores[0] == pytest.approx(joint[1] - joint[0], abs=1e-9)


def test_the_calibration_learns_from_messages_that_do_not_count_yet(corpus: Corpus) -> None:
    subject = fed(corpus, Settings(), 0)
    assert isinstance(subject, AveragedReplay)
    learner = Learner(first_weights(2, Settings().kinds))
    for row in range(80):
        evidence, unknown = subject.evidence(row)
        learner.learn(evidence, unknown, int(corpus.block.labels[row]), row)
        subject.learn(row, int(corpus.block.labels[row]))
    assert list(subject.weights()) == pytest.approx(learner.weights, abs=1e-12)


def test_late_feedback_learns_from_the_filter_as_it_then_stands(corpus: Corpus) -> None:
    subject = fed(corpus, Settings(), 100)
    assert isinstance(subject, AveragedReplay)
    learner = copy.deepcopy(subject._learner)
    subject.joint(120)
    subject.joint(121)
    evidence, unknown = subject.evidence(120)
    learner.learn(evidence, unknown, 1, 100)
    subject.learn(120, 1)
    assert list(subject.weights()) == pytest.approx(learner.weights, abs=1e-12)


def test_growing_counts_sum_up_as_counting_at_once_does(corpus: Corpus) -> None:
    block = corpus.block
    growing = GrowingCounts(2, len(block.keys))
    for row in range(len(block)):
        pairs = slice(block.starts[row], block.starts[row + 1])
        columns = block.columns[pairs]
        growing.add(columns, block.counts[pairs], block.views[columns], int(block.labels[row]))
    counts = count_rows(block, 2)
    assert np.array_equal(growing.documents, counts.documents)
    assert np.array_equal(growing.occurrences, counts.occurrences)
    for mine, theirs in zip(growing.sums, sums_of(block, *counts), strict=True):
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("kind", ["documents", "complement"])
def test_kept_histograms_are_those_of_the_counts(kind: str, four_classes: Corpus) -> None:
    model = "bernoulli" if kind == "documents" else "complement"
    subject = fed(four_classes, Settings(model, normalise=True), 70)
    assert subject._histograms is not None
    counts, block = subject._counts, four_classes.block
    made = MemoryModel(
        four_classes.classes, block.keys, counts.documents, counts.occurrences, counts.sums, []
    ).histogram(kind)
    kept = subject._histograms.by_class
    assert [dict(sorted(one.items())) for one in kept] == [
        {count: words for count, words in one.items() if count} for one in made
    ]


def test_every_message_is_judged_once_in_order_of_time(corpus: Corpus) -> None:
    evaluation = evaluate_replay(corpus, Plan(Settings()), parse_feedback("immediate"))
    assert evaluation.names.tolist() == corpus.block.names
    assert evaluation.settings["order"] == BY_INDEX
    assert evaluation.trained == len(corpus.block)


def test_dates_order_a_folder(four_classes: Corpus) -> None:
    evaluation = evaluate_replay(four_classes, Plan(Settings()), parse_feedback("immediate"))
    assert (np.diff(evaluation.times) >= 0).all()
    assert evaluation.settings["order"] == BY_DATE
    assert len(set(evaluation.decided.tolist())) == 4


@pytest.mark.parametrize("feedback", ["delayed:30", "partial:0.4", "on-error", "thick:2"])
def test_a_filter_learns_as_much_as_the_feedback_says(feedback: str, corpus: Corpus) -> None:
    evaluation = evaluate_replay(corpus, Plan(Settings(), seed=3), parse_feedback(feedback))
    assert evaluation.trained is not None
    wrong = evaluation.decided != evaluation.truth
    near = wrong | (np.abs(evaluation.log_odds) <= 2)
    expected = {"delayed:30": len(corpus.block) - 30, "on-error": wrong.sum(), "thick:2": near.sum()}
    if feedback in expected:
        assert evaluation.trained == expected[feedback]
    else:
        assert 0.25 * len(corpus.block) < evaluation.trained < 0.55 * len(corpus.block)


def test_a_filter_that_learned_nothing_calls_no_spam(corpus: Corpus) -> None:
    for settings in (Settings(averaged=False), Settings("bernoulli")):
        evaluation = evaluate_replay(corpus, Plan(settings), parse_feedback("immediate"))
        assert evaluation.decided[0] == 0


def test_mistakes_have_the_clues_of_their_time(corpus: Corpus) -> None:
    evaluation = evaluate_replay(corpus, Plan(Settings()), parse_feedback("immediate"))
    assert 0 < len(evaluation.clues) <= 2 * MOST_CLUED
    assert set(evaluation.clues) <= set(evaluation.names[evaluation.is_mistake])
    assert json.dumps(dict(evaluation.clues))


def test_the_thick_threshold_lies_around_the_cut_off() -> None:
    assert centre_nats(zero_one_loss(2)) == pytest.approx(0.0)
    assert centre_nats(Loss(((0.0, 1.0), (9.0, 0.0)))) == pytest.approx(np.log(9))
    assert centre_nats(zero_one_loss(3)) == 0.0


@pytest.mark.parametrize(
    ("plan", "slug"),
    [
        (Plan(Settings(), automatic=True), "alpha-auto-replay"),
        (Plan(Settings(features="both")), "replay-features"),
    ],
)
def test_what_a_replay_cannot_do_is_refused(plan: Plan, slug: str, corpus: Corpus) -> None:
    with pytest.raises(UsageError) as caught:
        evaluate_replay(corpus, plan, parse_feedback("immediate"))
    assert caught.value.slug == slug
