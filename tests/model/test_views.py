"""The evidence of averaged views: by hand, one message as many at once, and messages that are counted."""

from collections.abc import Callable
from math import log

import numpy as np
import pytest

from nbspam.labels import HAM_AND_SPAM
from nbspam.model.block import Block, BlockBuilder, limit_to_words, merge_blocks, select_rows, sort_by_time
from nbspam.model.calibrate import (
    choose_ways,
    score_new_rows,
    see_as_they_came,
    see_left_alone,
    see_left_out,
    trust_rows,
)
from nbspam.model.calibration import feature_names
from nbspam.model.counts import Counts, Ints, MemoryModel
from nbspam.model.scorer import Scorer, Usual, measure_evidence
from nbspam.model.views import ScoredRows, as_counted, before_each, compute_evidence, leave_groups_out
from nbspam.settings import HAM_CAP, SHRINKAGE, Settings
from nbspam.tasks.classify import RowTokens, list_texts
from nbspam.tokens import key_tokens
from nbspam.tokens.bag import MEASURE_NAMES, N_BINS, VIEWS, Tokens, list_bins

WAYS = {
    "default": Settings(),
    "not diluted": Settings(diluted=False),
    "no measures": Settings(measures=False),
    "no bigrams": Settings(bigrams=False),
    "no raw bytes": Settings(raw=False),
    "not capped": Settings().replaced(capped=False),
}


@pytest.mark.parametrize("times, counts", [(1, 1.0), (2, 1 + log(2)), (4, 1 + log(4)), (40, 1 + log(4))])
def test_repeated_word_counts_more_in_the_mean(times: int, counts: float) -> None:
    builder = BlockBuilder()
    for number in range(18):
        label = number // 9
        builder.add(str(number), label, Tokens([], [("report", "offer")[label], "today"], []))
    model = MemoryModel(HAM_AND_SPAM, merge_blocks([builder.build()]).count(2))
    message = key_tokens(Tokens([], ["offer"] * times + ["report", "today"], []))
    # N = 18 and 18, lambda 1: w is log 10 of "offer", -log 10 of "report", 0 of "today", which says nothing.
    evidence = Scorer(model, Settings(alpha=1.0)).score(message).evidence
    mean = (counts - 1) * log(10) / (counts + 1 + SHRINKAGE)
    assert evidence[VIEWS.index("body")] == pytest.approx([0.0, mean])


def test_evidence_of_a_bin_is_the_ratio_of_smoothed_shares() -> None:
    # Laplace over 4 bins: (3 + 1) / (10 + 4) against (1 + 1) / (6 + 4).
    assert measure_evidence((1, 3), (6, 10), 4) == pytest.approx([0.0, log(4 * 10 / (14 * 2))])
    assert measure_evidence((1, 0, 2), (6, 2, 3), 3) == pytest.approx(
        [0.0, log(1 / 5) - log(2 / 9), log(3 / 6) - log(2 / 9)]
    )


@pytest.mark.parametrize(
    ("number", "share", "raw_share", "expected"),
    [
        (8, 0.8, 0.9, 1.0),  # as usual
        (0, 0.0, 0.0, 0.0),
        (3.36, 0.168, 0.9, 0.0),  # of what is usual 0.42
        (3.76, 0.188, 0.9, 0.5),  # 0.47
        (4.16, 0.208, 0.9, 1.0),  # 0.52
        (2, 1.0, 0.2, 1.0),  # few tokens, but all are known
        (8, 0.008, 0.6, 1.0),  # as many known as usual, whatever was stuffed in
        (8, 0.2, 0.3, 0.0),  # many known of a very long header, and strange bytes
    ],
)
def test_mail_is_trusted_that_is_known_as_usual(
    number: float, share: float, raw_share: float, expected: float
) -> None:
    # 1,000 messages: of all tokens of the header a fifth was new, of all runs of bytes a tenth.
    documents, words = [10_000, 0, 0, 0, 10_000, 0, 0, 0], [2_000, 0, 0, 0, 1_000, 0, 0, 0]
    assert Usual(documents, words, 1_000).trust(number, share, raw_share) == pytest.approx(expected)


def test_bytes_are_strange_to_large_models_alone() -> None:
    documents, words = [1_000, 0, 0, 0, 1_000, 0, 0, 0], [200, 0, 0, 0, 100, 0, 0, 0]
    assert Usual(documents, words, 100).trust(8, 0.2, 0.0) == 1.0


def test_a_model_without_mail_trusts_all() -> None:
    assert Usual([0] * 8, [0] * 8, 0).trust(0, 0.0, 0.0) == 1.0


def random_block(n_classes: int) -> Block:
    """Dated messages whose words lean to their class, some of which no other one has; each sixth twice.

    Three of four have a Message-ID, of nine hosts.
    """
    rng = np.random.default_rng(n_classes)
    builder = BlockBuilder()
    for number in range(60):
        label = number % n_classes
        views = []
        for view in range(len(VIEWS)):
            common = [f"{view}:{w % n_classes}:{w}" for w in rng.integers(0, 40, 12)]
            own = [f"{view}:{label}:{w}" for w in rng.integers(40, 80, 8)]
            views.append([*common, *own, f"{view}:only {number}"])
        if number % 5 == 4:
            views[0] = [*views[0][:2], *(f"0:strange {number} {w}" for w in range(40))]
        views[1] += [f"1:{label}:{number % 40}"] * 9
        if number % 4:
            views[0] += [f"message-id:host{number % 9}.example", "message-id:example", "message-id:~a.9"]
        measured = [list_bins(name)[int(rng.integers(0, N_BINS[name]))] for name in MEASURE_NAMES]
        for copy in range(1 + (number % 6 == 0)):
            read = Tokens(*views[:3], measured, views[3], date=float(rng.integers(0, 1000)))
            read.raw = views[4]
            read.signature = [f"signature={place * number % 40}" for place in range(1, 5)]
            builder.add(f"{number}.{copy}", label, read)
    return merge_blocks([builder.build()])  # columns by ascending key


def scaled(counts: Counts, factor: int) -> Counts:
    """Each message counted several times."""
    arrays = (counts.documents * factor, counts.occurrences * factor, counts.messages * factor)
    return Counts(counts.keys, counts.views, counts.texts, *arrays)


def classes_of(n_classes: int) -> tuple[str, ...]:
    return HAM_AND_SPAM if n_classes == 2 else tuple(f"class {k}" for k in range(n_classes))


def scorer_of_some(block: Block, n_classes: int, settings: Settings, times: int = 1) -> tuple[Scorer, Counts]:
    """A model of two thirds of the messages: what scores one, and its counts.

    times : how often each of them was counted
    """
    counts = scaled(select_rows(block, np.flatnonzero(np.arange(len(block)) % 3)).count(n_classes), times)
    weights = [0.1 * (1 + i % 7) for i in range(len(feature_names(n_classes, settings.kinds)))]
    return Scorer(MemoryModel(classes_of(n_classes), counts, weights), settings), counts


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_one_message_has_the_evidence_that_it_has_among_many(way: str, n_classes: int) -> None:
    settings, block = WAYS[way].of(classes_of(n_classes)), random_block(n_classes)
    scorer, counts = scorer_of_some(block, n_classes, settings)
    many = compute_evidence(as_counted(block, counts), settings)
    weights = np.array(scorer.model.calibration())
    scores = score_new_rows(weights, block, counts, settings, classes_of(n_classes))
    texts = list_texts(block)
    for row in range(len(block)):
        scored = scorer.score(RowTokens(block, row, texts))
        np.testing.assert_allclose(scored.evidence, many.evidence[row], atol=1e-12)
        np.testing.assert_allclose(scored.common, many.common[row], atol=1e-12)
        np.testing.assert_allclose(scored.scores, scores[row], atol=1e-12)
        assert scored.scores == pytest.approx(
            [sum(p.values[k] for p in scored.parts) for k in range(n_classes)]
        )
    trusted = trust_rows(block, counts, many)
    assert trusted.min() < 0.3 and trusted.max() == 1.0  # strange and familiar mail was compared


def others_than_of_host(block: Block, row: int) -> Ints:
    numbers = np.array([int(name.partition(".")[0]) for name in block.names])
    if numbers[row] % 4:
        return np.flatnonzero((numbers % 4 == 0) | (numbers % 9 != numbers[row] % 9))
    return np.flatnonzero(numbers != numbers[row])  # it names no host: its copies are left out


def older(block: Block, row: int) -> Ints:
    return np.arange(row)


def other_groups(block: Block, row: int) -> Ints:
    return np.flatnonzero(np.arange(len(block)) % 7 != row % 7)


Way = Callable[[Block, Counts], ScoredRows]
# How rows are seen as new, and by which others each is to be scored.
WAYS_TO_SEE: dict[str, tuple[Way, Callable[[Block, int], Ints]]] = {
    "host left out": (see_left_out, others_than_of_host),
    "campaign left out": (
        lambda block, counts: leave_groups_out(block, counts, np.arange(len(block)) % 7),
        other_groups,
    ),
    "as they came": (before_each, older),
}


@pytest.mark.parametrize("vocabulary", ["open", "fixed"])
@pytest.mark.parametrize("way", WAYS_TO_SEE)
def test_row_seen_as_new_is_scored_by_counting_the_others_anew(way: str, vocabulary: str) -> None:
    block, settings = random_block(3), Settings(diluted=vocabulary == "open")
    block = select_rows(block, sort_by_time(block.dates))
    see, others_of = WAYS_TO_SEE[way]
    words = block.keys[::2]

    def count(rows: Ints) -> Counts:
        some = select_rows(block, rows)
        counts = (some if vocabulary == "open" else limit_to_words(some, words)).count(3)
        counts.is_fixed = vocabulary == "fixed"
        return counts

    seen = see(block, count(np.arange(len(block))))
    found = compute_evidence(seen, settings)
    for row in range(0, len(block), 4):
        judged = select_rows(block, np.array([row]))
        expected = compute_evidence(as_counted(judged, count(others_of(block, row))), settings)
        np.testing.assert_allclose(found.evidence[row], expected.evidence[0], atol=1e-9)
        np.testing.assert_allclose(found.common[row], expected.common[0], atol=1e-9)


def test_mail_left_alone_is_scored_by_two_thirds_of_what_came_before_its_part() -> None:
    block, settings = random_block(3), Settings()
    block = select_rows(block, sort_by_time(block.dates))
    n = len(block)
    found = compute_evidence(see_left_alone(block, block.count(3)), settings)
    first = int(0.4 * n)
    assert len(found.labels) == n - first
    for row in range(first, n, 4):
        bound = max(int(n * share) for share in (0.4, 0.6, 0.8) if int(n * share) <= row)
        learned = select_rows(block, np.arange(int(bound * 2 / 3))).count(3)
        expected = compute_evidence(as_counted(select_rows(block, np.array([row])), learned), settings)
        np.testing.assert_allclose(found.evidence[row - first], expected.evidence[0], atol=1e-9)
        np.testing.assert_allclose(found.common[row - first], expected.common[0], atol=1e-9)


def test_mail_left_alone_is_a_sample_of_large_mailboxes_with_dates() -> None:
    nothing = Block().count(2)
    labels, dates = np.arange(4_000, dtype=np.int16) % 2, np.arange(4_000.0)
    ways = {
        (n, is_dated): choose_ways(
            Block(starts=np.zeros(n + 1, np.int64), labels=labels[:n], dates=dates[:n] * is_dated), nothing
        )
        for n in (3_998, 4_000)
        for is_dated in (True, False)
    }
    assert [see_left_alone in found for found in ways.values()] == [False, False, True, False]
    assert all(found[-1] is see_as_they_came for (_, is_dated), found in ways.items() if is_dated)


def test_evidence_of_a_view_is_capped_for_ham_and_free_for_spam() -> None:
    block, n_words = random_block(2), (len(Settings().kinds) - 1) * len(VIEWS)
    scorer, counts = scorer_of_some(block, 2, Settings(), times=50_000)
    seen = as_counted(block, counts)
    free = compute_evidence(seen, Settings().replaced(capped=False)).evidence[..., 1]
    found = compute_evidence(seen, Settings()).evidence[..., 1]
    assert (free[:, :n_words] < -HAM_CAP).any(axis=0).all(), "messages that say too little to be capped"
    assert found[:, :n_words] == pytest.approx(np.maximum(free[:, :n_words], -HAM_CAP))
    assert (found[:, n_words:] == free[:, n_words:]).all(), "measures are not capped"
    for row in range(len(block)):
        scored = scorer.score(RowTokens(block, row, list_texts(block)))
        assert [values[1] for values in scored.evidence] == pytest.approx(found[row].tolist())
