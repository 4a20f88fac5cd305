"""Two evaluations of the same mail: who is better, and what is refused."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from nbspam.errors import BadDataError
from nbspam.evaluate.comparison import compare
from nbspam.evaluate.outcomes import Evaluation, Outcome
from nbspam.evaluate.trec import read_results, result_lines


def evaluation(noise, n_messages=300, seed=0, folds=0, **changes):
    """A filter whose log-odds are the truth plus common and own noise."""
    common = np.random.default_rng(99).normal(0, 1, n_messages)
    own = np.random.default_rng(seed).normal(0, 1, n_messages) * noise
    outcomes = []
    for place in range(n_messages):
        truth = place % 3 == 0
        odds = float((3 if truth else -3) + common[place] + own[place])
        p = 1 / (1 + math.exp(-odds))
        outcomes.append(Outcome(f"m{place}", int(truth), int(odds > 0), odds, (1 - p, p), None, place))
    numbers = tuple(place % folds for place in range(n_messages)) if folds else ()
    settings = {"classes": ("ham", "spam"), "outcomes": tuple(outcomes), "method": "replay", "folds": numbers}
    return Evaluation(**(settings | changes))


def listed(rows, **changes):
    outcomes = tuple(
        Outcome(f"m{n}", truth, decided, odds, (), None, n) for n, (truth, decided, odds) in enumerate(rows)
    )
    return Evaluation(**({"classes": ("ham", "spam"), "outcomes": outcomes, "method": "model"} | changes))


def test_a_clearly_better_filter_is_called_better_in_words():
    found = compare(evaluation(3.0), evaluation(0.2))
    assert found.verdict.startswith("B is better: (1-ROCA)% ")
    assert "unlikely chance (p" in found.verdict
    low, high = found.one_minus_roca_percent.interval
    assert low <= found.one_minus_roca_percent.difference <= high < 0
    assert found.log_loss.difference < 0
    assert found.won > found.lost


def test_swapping_the_evaluations_turns_everything_over():
    there, back = compare(evaluation(3.0), evaluation(0.2)), compare(evaluation(0.2), evaluation(3.0))
    assert there.one_minus_roca_percent.difference == -back.one_minus_roca_percent.difference
    assert there.one_minus_roca_percent.p == back.one_minus_roca_percent.p
    assert there.one_minus_roca_percent.interval == pytest.approx(
        [-x for x in back.one_minus_roca_percent.interval[::-1]]
    )
    assert (there.won, there.tied, there.lost) == (back.lost, back.tied, back.won)
    assert there.mcnemar.p == back.mcnemar.p
    assert back.verdict.startswith("A is better")


def test_the_same_evaluation_twice_is_no_difference():
    found = compare(evaluation(1.0), evaluation(1.0))
    assert found.one_minus_roca_percent.difference == 0
    assert (found.one_minus_roca_percent.p, found.mcnemar.p) == (1, 1)
    assert (found.won, found.tied, found.lost) == (0, 10, 0)
    assert found.verdict == "no difference that could not be chance (p=1.000, decisions p=1.000)"


def test_two_draws_of_the_same_filter_are_seldom_told_apart():
    verdicts = [
        compare(evaluation(1.0, seed=2 * n), evaluation(1.0, seed=2 * n + 1)).verdict for n in range(8)
    ]
    assert sum("better" in verdict for verdict in verdicts) <= 1


def test_mcnemar_counts_messages_that_one_alone_decided_rightly():
    truth = [0] * 12 + [1] * 8
    a = [0] * 12 + [1] * 8
    b = [1, 1, 1, 1, -1, 0, 0, 0, 0, 0, 0, 0] + [0, 0] + [1] * 6
    odds = [-1.0] * 12 + [1.0] * 8
    found = compare(listed(zip(truth, a, odds, strict=True)), listed(zip(truth, b, odds, strict=True)))
    assert (found.mcnemar.only_a_right, found.mcnemar.only_b_right) == (7, 0)
    assert found.mcnemar.p == pytest.approx(binomtest(0, 7).pvalue) == 2 / 2**7
    assert found.verdict.startswith("A decides better: right alone on 7 messages against 0")


def test_shared_folds_are_counted_and_else_ten_blocks():
    shared = compare(evaluation(2.0, folds=5), evaluation(0.5, folds=5))
    assert (shared.parts, shared.won + shared.tied + shared.lost) == ("folds", 5)
    unlike = compare(evaluation(2.0, folds=5), evaluation(0.5, folds=4))
    assert (unlike.parts, unlike.won + unlike.tied + unlike.lost) == ("blocks", 10)


def test_blocks_hold_mail_of_each_class_where_classes_come_one_after_the_other():
    rows = [(truth, truth, (8.0 if truth else -8.0) + n % 7) for n, truth in enumerate([0] * 60 + [1] * 20)]
    worse = [(truth, decided, 0.0) for truth, decided, _ in rows]
    found = compare(listed(rows), listed(worse))
    assert (found.parts, found.won, found.tied, found.lost) == ("blocks", 0, 0, 10)


def test_a_ranking_that_hangs_on_one_message_makes_nobody_better():
    rows = [(0, 0, 0.0)] + [(1, 1, 1.0 + n) for n in range(40)]
    worse = [(0, 0, 100.0), *rows[1:]]
    found = compare(listed(rows), listed(worse))
    assert found.one_minus_roca_percent.difference == 100
    assert found.summary()["one_minus_roca_percent"]["interval"] == [None, None]
    assert found.summary()["one_minus_roca_percent"]["p"] is None
    assert found.verdict == "no difference that could not be chance (decisions p=1.000)"


def test_the_order_of_the_second_evaluation_does_not_matter():
    b = evaluation(0.5)
    shuffled = evaluation(
        0.5, outcomes=tuple(np.random.default_rng(5).permutation(np.array(b.outcomes, object)))
    )
    assert compare(evaluation(1.0), shuffled) == compare(evaluation(1.0), b)


def test_scores_without_probabilities_are_compared_by_ranking_alone():
    a = evaluation(1.0)
    bare = tuple(Outcome(o.name, o.truth, o.decided, o.log_odds, (), None, o.index) for o in a.outcomes)
    found = compare(a, evaluation(1.0, outcomes=bare))
    assert found.log_loss is None
    assert found.one_minus_roca_percent.difference == 0


def test_another_filters_result_lines_are_compared_with_our_evaluation(tmp_path):
    ours, theirs = evaluation(0.2, digest="d" * 64), evaluation(3.0)
    (tmp_path / "peer.txt").write_text("".join(f"{line}\n" for line in result_lines(theirs)))
    found = compare(read_results(tmp_path / "peer.txt"), ours, ("peer", "nbspam"))
    assert found.verdict.startswith("nbspam is better")


def test_the_summary_is_json():
    found = json.loads(json.dumps(compare(evaluation(1.0), evaluation(2.0)).summary(), allow_nan=False))
    assert {"verdict", "mcnemar", "one_minus_roca_percent", "log_loss", "won", "lost", "messages"} <= set(
        found
    )
    assert len(found["log_loss"]["interval"]) == 2


def test_ham_alone_leaves_the_ranking_undefined_and_still_compares_decisions():
    found = compare(listed([(0, 0, -1.0)] * 1 + [(0, 1, 1.0)]), listed([(0, 0, -1.0), (0, 0, -1.0)]))
    assert found.summary()["one_minus_roca_percent"]["p"] is None
    assert (found.won, found.tied, found.lost) == (0, 0, 0)
    assert found.verdict == "no difference that could not be chance (decisions p=1.000)"


def test_a_message_that_the_index_names_twice_is_paired_twice():
    twice = [Outcome("m0", 0, 0, -1.0, (), None, 0), Outcome("m0", 0, 1, 2.0, (), None, 1)]
    others = [Outcome("m1", 1, 1, 3.0, (), None, 2)]
    first = listed([], outcomes=(*twice, *others))
    second = listed([], outcomes=(*others, twice[1], twice[0]))  # in another order
    found = compare(first, second)
    assert (found.messages, found.mcnemar.only_a_right, found.mcnemar.only_b_right) == (3, 0, 0)
    better = Outcome("m0", 0, 0, -1.0, (), None, 1)
    assert compare(first, listed([], outcomes=(twice[0], better, *others))).mcnemar.only_b_right == 1


ROWS = [(0, 0, -1.0), (1, 1, 2.0)]


@pytest.mark.parametrize(
    ("other", "slug"),
    [
        (listed(ROWS, classes=("ham", "work")), "compare-classes"),
        (listed([*ROWS, (1, 1, 1.0)]), "compare-other-mail"),
        (listed(ROWS, digest="b"), "compare-other-mail"),
        (listed([(1, 1, 2.0), (1, 1, 2.0)]), "compare-other-labels"),
        (listed(ROWS, outcomes=(Outcome("m0", 0, 0, 1.0, ()),) * 2), "compare-other-mail"),
    ],
)
def test_evaluations_of_different_mail_are_refused(other, slug):
    with pytest.raises(BadDataError) as caught:
        compare(listed(ROWS, digest="a"), other, ("one.json", "two.json"))
    assert caught.value.slug == slug
    assert caught.value.where == "one.json and two.json"
    assert caught.value.remedy
