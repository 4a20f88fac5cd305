"""The evidence of averaged views: by hand, and one message as many at once."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from nbspam.corpus.block import Block, BlockBuilder, Ints
from nbspam.corpus.blocks import merge_blocks
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.calibrate import bulk_scores
from nbspam.model.calibration import feature_names, first_weights
from nbspam.model.evidence import capped_scale
from nbspam.model.posterior import ScorePart
from nbspam.model.scorer import Counted, Scorer
from nbspam.model.views import fixed_background, view_evidence
from nbspam.settings import HAM_CAP, SHRINKAGE, Settings
from nbspam.tasks.judges.memory_model import MemoryModel, bag_of, sums_of, texts_of
from nbspam.tokens.bag import VIEWS, Tokens
from nbspam.tokens.measures import MEASURES, N_BINS, bins_of

WAYS = {
    "default": Settings(),
    "one mean": Settings(second_alpha=0.0),
    "not diluted": Settings(diluted=False),
    "no measures": Settings(measures=False),
    "no bigrams": Settings(bigrams=False),
    "not capped": Settings().replaced(capped=False),
}


@pytest.mark.parametrize("times, counts", [(1, 1.0), (2, 1 + log(2)), (4, 1 + log(4)), (40, 1 + log(4))])
def test_a_word_that_a_message_has_again_counts_more_in_the_mean(times: int, counts: float) -> None:
    builder = BlockBuilder()
    for number in range(18):
        label = number // 9
        builder.add(str(number), label, Tokens([], [("report", "offer")[label], "today"], []), 100)
    block = merge_blocks([builder.build()])
    documents, _ = block.totals(2)
    sums = sums_of(block, documents, documents, np.array([9, 9]))
    model = MemoryModel(HAM_AND_SPAM, block.keys, documents, documents, sums, [])
    message = Counted(Tokens([], ["offer"] * times + ["report", "today"], []))
    # N = 18 and 18, lambda 1: w is log 10 of "offer", -log 10 of "report", 0 of "today", which says nothing.
    evidence = Scorer(model, Settings(alpha=1.0)).score(message).evidence
    mean = (counts - 1) * log(10) / (counts + 1 + SHRINKAGE)
    assert evidence[VIEWS.index("body")] == pytest.approx([0.0, mean])


def random_block(n_classes: int) -> Block:
    """Messages whose words lean to their class, some of which no other message has."""
    rng = np.random.default_rng(n_classes)
    builder = BlockBuilder()
    for number in range(60):
        label = number % n_classes
        views = []
        for view in range(len(VIEWS)):
            common = [f"{view}:{w % n_classes}:{w}" for w in rng.integers(0, 40, 12)]
            own = [f"{view}:{label}:{w}" for w in rng.integers(40, 80, 8)]
            views.append([*common, *own, f"{view}:only {number}"])
        views[1] += [f"1:{label}:{number % 40}"] * 9
        measured = [bins_of(name)[int(rng.integers(0, N_BINS[name]))] for name in MEASURES]
        builder.add(str(number), label, Tokens(*views[:3], measured, views[3]), 100)
    return merge_blocks([builder.build()])  # columns by ascending key


def scorer_of_some(block: Block, n_classes: int, settings: Settings, times: int = 1) -> tuple[Scorer, Ints]:
    """A model of two thirds of the messages: what scores one, and its n_jk, int64 (n_classes, n_columns).

    times : how often each of them was counted
    """
    seen = np.arange(len(block)) % 3 > 0
    documents = np.zeros((n_classes, len(block.keys)), np.int64)
    rows = block.rows()
    counted = seen[rows]
    np.add.at(documents, (block.labels[rows[counted]], block.columns[counted]), times)
    messages = times * np.bincount(block.labels[seen], minlength=n_classes)
    weights = [0.1 * (1 + i % 7) for i in range(len(feature_names(n_classes, settings.kinds)))]
    sums = sums_of(block, documents, documents, messages)
    classes = HAM_AND_SPAM if n_classes == 2 else tuple(f"class {k}" for k in range(n_classes))
    model = MemoryModel(classes, block.keys, documents, documents, sums, weights)
    return Scorer(model, settings), documents


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_classes", [2, 3, 5, 13])
def test_one_message_has_the_evidence_that_it_has_among_many(way: str, n_classes: int) -> None:
    settings, block = WAYS[way], random_block(n_classes)
    scorer, documents = scorer_of_some(block, n_classes, settings)
    bulk = view_evidence(block, fixed_background(block, documents), settings)
    assert bulk.kinds == settings.kinds
    scores = bulk_scores(np.array(scorer.model.calibration()), bulk)
    texts = texts_of(block)
    for row in range(len(block)):
        scored = scorer.score(Counted(bag_of(block, row, texts)))
        assert np.array(scored.evidence) == pytest.approx(bulk.evidence[row], abs=1e-9)
        assert scored.common == pytest.approx(bulk.common[row].tolist())
        assert scored.scores == pytest.approx(scores[row], abs=1e-9)


@pytest.mark.parametrize("says, share", [(-10.0, 0.25), (-5.0, 0.5), (-1.0, 0.5), (0.0, 0.5), (9.0, 0.5)])
def test_scale_shrinks_if_the_evidence_exceeds_the_cap(says: float, share: float) -> None:
    assert capped_scale(0.5, says, 2.5) == share
    assert capped_scale(0.5, says, np.inf) == 0.5


def test_evidence_of_a_view_is_capped_for_ham_and_free_for_spam() -> None:
    block, n_words = random_block(2), (len(Settings().kinds) - 1) * len(VIEWS)
    scorer, documents = scorer_of_some(block, 2, Settings(), times=50_000)
    background = fixed_background(block, documents)
    free = view_evidence(block, background, Settings().replaced(capped=False)).evidence[..., 1]
    found = view_evidence(block, background, Settings()).evidence[..., 1]
    assert (free[:, :n_words] < -HAM_CAP).any(axis=0).all(), "messages that say too little to be capped"
    assert found[:, :n_words] == pytest.approx(np.maximum(free[:, :n_words], -HAM_CAP))
    assert (found[:, n_words:] == free[:, n_words:]).all(), "measures are not capped"
    texts = texts_of(block)
    for row in range(len(block)):
        scored = scorer.score(Counted(bag_of(block, row, texts)))
        assert [values[1] for values in scored.evidence] == pytest.approx(found[row].tolist())


def test_words_of_a_capped_view_share_the_cap() -> None:
    block = random_block(2)
    scorer, _ = scorer_of_some(block, 2, Settings(), times=50_000)
    capped, free = (
        scored_parts(Scorer(scorer.model, settings), block, 0)
        for settings in (Settings(), Settings().replaced(capped=False))
    )
    assert capped.keys() == free.keys()
    less = [text for text in free if capped[text].scale < free[text].scale]
    assert len(less) > len(VIEWS)
    for text, part in capped.items():
        assert abs(part.values[1]) <= abs(free[text].values[1]) + 1e-9
    scored = scorer.score(Counted(bag_of(block, 0, texts_of(block))))
    weights = scorer.model.calibration()
    of_words = sum(weight * values[1] for weight, values in zip(weights, scored.evidence, strict=False))
    fixed = sum(part.values[1] for part in scored.parts if part.kind != "token")
    assert of_words + fixed == pytest.approx(scored.scores[1])


def scored_parts(scorer: Scorer, block: Block, row: int) -> dict[str, ScorePart]:
    """The tokens of a message, and what each adds."""
    parts = scorer.score(Counted(bag_of(block, row, texts_of(block)))).parts
    return {part.text: part for part in parts if part.kind == "token"}


def test_two_other_classes_have_no_cap() -> None:
    assert Settings().of(HAM_AND_SPAM).capped
    for classes in (("home", "work"), ("ham", "work"), ("ham", "other", "spam")):
        assert not Settings().of(classes).capped
    assert Settings().ham_cap(3) == np.inf


@pytest.mark.parametrize("kinds", [settings.kinds for settings in WAYS.values()])
def test_the_weights_begin_with_those_of_each_kind(kinds: tuple[str, ...]) -> None:
    names = [name for name, _ in feature_names(3, kinds)]
    weights, covariance = first_weights(3, kinds)
    assert len(names) == len(weights) == len(covariance)
    of_words = [kind for kind in kinds if kind != "measure"]
    assert [name.partition(":")[0] for name in names[: len(VIEWS) * len(of_words) : len(VIEWS)]] == of_words
    measured = names[len(VIEWS) * len(of_words) : names.index("constant")]
    assert measured == ["measure:" + name for name in MEASURES] * ("measure" in kinds)
    by_name = dict(zip(names, weights, strict=True))
    assert by_name["evidence:header"] == 1.0
