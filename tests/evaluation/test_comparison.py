"""Two evaluations of the same mail: which is better, and which pairs are refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from nbspam.errors import BadDataError
from nbspam.evaluation.comparison import compare, pair_log_losses
from nbspam.evaluation.formats import format_result_lines, read_evaluation
from tests.judged_mail import judged, scored


def evaluation(noise, n_messages=300):
    """A filter whose log-odds are the truth plus common and own noise."""
    common = np.random.default_rng(99).normal(0, 1, n_messages)
    own = np.random.default_rng(0).normal(0, 1, n_messages) * noise
    truth = (np.arange(n_messages) % 3 == 0).astype(int)
    return scored(np.where(truth, 3, -3) + common + own, truth.tolist())


def test_a_clearly_better_filter_is_called_better_in_words():
    found = compare(evaluation(3.0), evaluation(0.2))
    assert found.verdict.startswith("B is better: (1-ROCA)% ")
    assert "probably not chance (p" in found.verdict
    low, high = found.one_minus_roca_percent.interval
    assert low <= found.one_minus_roca_percent.difference <= high < 0
    assert found.log_loss.difference < 0


def test_swapping_the_evaluations_swaps_the_result():
    there, back = compare(evaluation(3.0), evaluation(0.2)), compare(evaluation(0.2), evaluation(3.0))
    one, other = there.one_minus_roca_percent, back.one_minus_roca_percent
    assert (one.difference, one.p) == (-other.difference, other.p)
    assert one.interval == pytest.approx([-end for end in other.interval[::-1]])
    assert there.mcnemar.p == back.mcnemar.p
    assert back.verdict.startswith("A is better")


def test_the_same_evaluation_twice_is_no_difference():
    found = compare(evaluation(1.0), evaluation(1.0))
    assert found.one_minus_roca_percent.difference == 0
    assert (found.one_minus_roca_percent.p, found.mcnemar.p) == (1, 1)
    assert found.verdict == "the difference may be chance (p=1.000, decisions p=1.000)"


def test_mcnemar_counts_messages_that_only_one_filter_decided_rightly():
    truth = [0] * 12 + [1] * 8
    b = [1, 1, 1, 1, -1, 0, 0, 0, 0, 0, 0, 0] + [0, 0] + [1] * 6
    odds = [-1.0] * 12 + [1.0] * 8
    first, second = (judged(zip(truth, decided, odds, strict=True)) for decided in (truth, b))
    found = compare(first, second)
    assert (found.mcnemar.only_a_right, found.mcnemar.only_b_right) == (7, 0)
    assert found.mcnemar.p == pytest.approx(binomtest(0, 7).pvalue) == 2 / 2**7
    assert found.verdict.startswith("A decides better: it alone is right on 7 messages against 0")


def test_a_ranking_that_depends_on_one_message_makes_no_filter_better():
    rows = [(0, 0, 0.0)] + [(1, 1, 1.0 + n) for n in range(40)]
    found = compare(judged(rows), judged([(0, 0, 100.0), *rows[1:]]))
    assert found.one_minus_roca_percent.difference == 100
    assert np.isnan([*found.one_minus_roca_percent.interval, found.one_minus_roca_percent.p]).all()
    assert found.verdict == "the difference may be chance (decisions p=1.000)"


def test_differences_of_one_campaign_are_one_trial():
    truth = [0, 1] * 4
    first, second = (
        scored([-2.0, 2.0] * 4, truth),
        scored([-4.0, 4.0, -4.0, 4.0, -2.1, 1.9, -2.1, 1.9], truth),
    )
    alone = pair_log_losses(first, second, np.arange(8))
    together = pair_log_losses(first, second, np.array([0, 0, 0, 0, 1, 2, 3, 4]))
    assert alone.difference == together.difference == pytest.approx(alone.b - alone.a)
    assert alone.p < 0.05 < together.p
    assert alone.interval[1] < 0 < together.interval[1]


def test_one_campaign_alone_says_nothing_of_chance():
    first, second = scored([-2.0, 2.0], [0, 1]), scored([-4.0, 4.0], [0, 1])
    found = pair_log_losses(first, second, np.zeros(2, np.int64))
    assert (found.difference < 0, found.p) == (True, 1)
    assert np.isnan(found.interval).all()


def test_result_lines_of_another_filter_are_compared_with_our_evaluation(tmp_path):
    ours = replace(evaluation(0.2), digest="d" * 64)
    (tmp_path / "peer.txt").write_text("".join(f"{line}\n" for line in format_result_lines(evaluation(3.0))))
    assert compare(read_evaluation(tmp_path / "peer.txt"), ours, ("peer", "nbspam")).verdict.startswith(
        "nbspam is better"
    )


ROWS = [(0, 0, -1.0), (1, 1, 2.0)]


@pytest.mark.parametrize(
    ("other", "slug"),
    [
        (judged([(0, 0, -1.0, (0.5, 0.5))] * 2, ("ham", "work")), "compare-classes"),
        (judged([*ROWS, (1, 1, 1.0)]), "compare-other-mail"),
        (judged(ROWS, digest="b"), "compare-other-mail"),
        (judged([(1, 1, 2.0), (1, 1, 2.0)]), "compare-other-labels"),
        (judged(ROWS, names=["m0", "m0"]), "compare-other-mail"),
    ],
)
def test_evaluations_of_different_mail_are_refused(other, slug):
    with pytest.raises(BadDataError) as caught:
        compare(judged(ROWS, digest="a"), other, ("one.json", "two.json"))
    assert (caught.value.slug, caught.value.where) == (slug, "one.json and two.json")
