"""The summary: its keys, its intervals, and what it says when a figure is undefined."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from nbspam.decision import Loss, zero_one_loss
from nbspam.evaluation import intervals
from nbspam.evaluation.figures import summarise
from nbspam.evaluation.ranking import one_minus_roca, rank
from tests.judged_mail import judged, noisy, scored

RATES = (
    *("hm_percent", "sm_percent", "lam_percent", "one_minus_roca_percent", "unsure_percent", "ece_percent"),
    *("brier", "log_loss", "expected_loss", "accuracy_percent", "macro_f1", "macro_one_minus_roca_percent"),
)
LOSS = Loss([[0, 1], [10, 0]], unsure=0.2)


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (7, 7), (3, 41), (19, 25567), (1, 1)])
def test_clopper_pearson_is_that_of_scipy(hits, trials):
    expected = binomtest(hits, trials).proportion_ci(0.95, "exact")
    assert intervals.clopper_pearson(hits, trials) == pytest.approx((expected.low, expected.high))


def test_every_figure_lies_in_its_interval_and_has_a_method():
    found = summarise(replace(noisy(), loss=LOSS))
    methods = {"clopper-pearson", "logit-normal", "bootstrap", "bootstrap-standard-error", "bootstrap-log"}
    for rate in RATES:
        low, high = found[f"{rate}_interval"]
        assert low <= found[rate] <= high, rate
        assert low < high, rate
        assert found["interval_methods"][rate] in methods | {"bootstrap-logit"}


@pytest.mark.slow
def test_the_interval_of_the_area_holds_the_truth_as_often_as_it_says():
    """With few mistakes; the middle of the resampled values held it in 82 of 100."""
    random = np.random.default_rng(3)
    truth, shift = np.repeat([0, 1], 100), 4.0
    true_share = 0.5 * math.erfc(shift / 2)  # of pairs in the wrong order, both classes normal
    held = []
    for _ in range(150):
        ranking = rank(random.normal(truth * shift, 1.0), truth == 1)
        share = one_minus_roca(ranking.tally())
        if share > 0:
            drawn = [one_minus_roca(ranking.tally(one)) for one in intervals.draw_resamples(truth, 200)]
            low, high = intervals.normal_interval(100 * share, 100 * np.array(drawn), "logit")
            held.append(low <= 100 * true_share <= high)
    assert len(held) > 140
    assert np.mean(held) > 0.9


def test_perfect_scores_do_not_claim_certainty():
    found = summarise(replace(scored([-5.0, 5.0] * 40, [0, 1] * 40), loss=LOSS))
    assert found["one_minus_roca_percent"] == found["expected_loss"] == 0
    assert found["hm_percent_interval"] == pytest.approx([0, 100 * (1 - 0.025 ** (1 / 40))])
    for rate in ("one_minus_roca_percent", "macro_recall", "macro_f1", "expected_loss"):
        assert found[f"{rate}_interval"] is None


def test_a_ranking_that_depends_on_one_message_has_no_interval():
    found = summarise(scored([2.0] + [3.0] * 30 + [-3.0] * 10, [0] + [1] * 40))
    assert found["one_minus_roca_percent"] == 25
    assert found["one_minus_roca_percent_interval"] is None
    assert set(found["sm_percent_at_hm_interval"].values()) == {None}
    assert found["macro_recall_interval"] is None
    assert found["hm_percent_interval"] == pytest.approx([2.5, 100])


RATIOS = ("one_minus_roca_percent", "ece_percent", "brier", "log_loss")


@pytest.mark.parametrize(
    ("evaluation", "names"),
    [
        (scored([0.7] * 30, [0] * 20 + [1] * 10), RATIOS),
        (scored([2.0, 1.0], [0, 1]), (*RATIOS, "expected_loss", "macro_f1")),
    ],
    ids=["one score", "one message a class"],
)
def test_figures_that_resampling_cannot_vary_have_no_interval(evaluation, names):
    found = summarise(replace(evaluation, loss=LOSS))
    for name in names:
        assert found[name] is not None
        assert found[f"{name}_interval"] is None


def test_ham_alone_leaves_what_needs_spam_undefined():
    found = summarise(judged([(0, 0, -1.0 - n, (0.9, 0.1)) for n in range(9)]))
    assert (found["ham"], found["spam"], found["hm_percent"]) == (9, 0, 0)
    for key in ("sm_percent", "lam_percent", "one_minus_roca_percent", "sm_percent_at_hm"):
        assert found[key] is found[f"{key}_interval"] is None
        assert key not in found["interval_methods"]
    assert found["brier"] == pytest.approx(0.01)


def test_a_filter_that_gives_only_scores_is_not_judged_on_calibration():
    found = summarise(replace(noisy(300), probabilities=np.empty((300, 0))))
    assert found["ece_percent"] is found["brier"] is found["log_loss"] is None
    assert found["one_minus_roca_percent"] == summarise(noisy(300))["one_minus_roca_percent"]


def three_classes(names, lead, seed):
    """400 messages of three classes, probabilities in favour of the true one."""
    random, rows = np.random.default_rng(seed), []
    for n in range(400):
        weight = random.random(3) + lead * np.eye(3)[n % 3]
        p = tuple(weight / weight.sum())
        rows.append((n % 3, int(np.argmax(p)), math.log(p[2] / (1 - p[2])), p))
    return judged(rows, names)


def test_beside_the_costs_accuracy_and_f1_are_those_of_the_most_probable_class():
    mail = noisy()
    found = summarise(mail.decided_by(Loss([[0, 1], [9, 0]])))
    even = summarise(mail.decided_by(zero_one_loss(2)))
    assert found["accuracy_at_zero_one"] == even["accuracy"] > found["accuracy"]
    assert found["f1_at_zero_one"] == even["f1"]
    assert found["f1_at_zero_one_interval"] == even["f1_interval"]
    assert even["accuracy_at_zero_one"] is None  # it would say the same twice


def test_classes_without_spam_have_class_rates_and_no_rates_of_ham_and_spam():
    found = summarise(replace(three_classes(("home", "lists", "work"), 0.5, 3), loss=zero_one_loss(3)))
    assert found["ham"] is found["hm_percent"] is found["one_minus_roca_percent"] is None
    assert found["macro_one_minus_roca_percent_interval"][0] <= found["macro_one_minus_roca_percent"]
    assert found["expected_loss"] == pytest.approx(1 - found["accuracy_percent"] / 100)
    assert len(found["by_class"]["f1"]) == 3
