"""The summary: its keys, its intervals, and what it says when a figure is undefined."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from nbspam.decision import Loss, zero_one_loss
from nbspam.evaluate import intervals
from nbspam.evaluate.outcomes import Evaluation, Outcome
from nbspam.evaluate.ranking import ranked
from nbspam.evaluate.summary import summary

RATES = (
    "hm_percent",
    "sm_percent",
    "lam_percent",
    "one_minus_roca_percent",
    "unsure_percent",
    "ece_percent",
    "brier",
    "log_loss",
    "expected_loss",
    "accuracy_percent",
    "macro_f1",
    "macro_one_minus_roca_percent",
)
LOSS = Loss([[0, 1], [10, 0]], unsure=0.2)


def noisy(n_messages=2000, seed=1, overlap=2.0, classes=("ham", "spam")):
    """An evaluation with errors, unsure decisions and calibrated-looking probabilities."""
    random = np.random.default_rng(seed)
    outcomes = []
    for place in range(n_messages):
        truth = int(random.random() < 0.4)
        odds = float(random.normal((-4, 4)[truth], overlap))
        p = 1 / (1 + math.exp(-odds))
        decided = -1 if abs(odds) < 0.3 else int(odds > 0)
        outcomes.append(Outcome(f"m{place}", truth, decided, odds, (1 - p, p), float(place), place))
    return Evaluation(classes, tuple(outcomes), "replay", "d" * 64)


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (7, 7), (3, 41), (19, 25567), (1, 1)])
def test_clopper_pearson_is_that_of_scipy(hits, trials):
    expected = binomtest(hits, trials).proportion_ci(0.95, "exact")
    assert intervals.clopper_pearson(hits, trials) == pytest.approx((expected.low, expected.high))


def test_no_error_in_a_hundred_still_allows_three_and_a_half_percent():
    assert intervals.clopper_pearson(0, 100) == pytest.approx((0, 1 - 0.025 ** (1 / 100)))


def test_the_summary_has_the_documented_keys_and_is_json():
    found = json.loads(json.dumps(summary(noisy(), LOSS), allow_nan=False))
    assert {"messages", "ham", "spam", "sm_percent_at_hm", "confusion", "classes", "interval_methods"} <= set(
        found
    )
    assert {key for rate in RATES for key in (rate, f"{rate}_interval")} <= set(found)
    assert set(found["sm_percent_at_hm"]) == set(found["sm_percent_at_hm_interval"]) == {"0.1", "0.5", "1"}
    assert found["ham"] + found["spam"] == found["messages"] == 2000
    assert np.sum(found["confusion"]) == 2000


def test_every_figure_lies_in_its_interval_and_says_how_that_was_made():
    found = summary(noisy(), LOSS)
    for rate in RATES:
        low, high = found[f"{rate}_interval"]
        assert low <= found[rate] <= high, rate
        assert low < high, rate
        assert found["interval_methods"][rate] in {
            "clopper-pearson",
            "bootstrap",
            "bootstrap-standard-error",
            "bootstrap-log",
            "bootstrap-logit",
            "logit-normal",
        }


def test_the_figures_are_those_of_the_confusion_matrix():
    evaluation = noisy()
    found = summary(evaluation)
    (_, lost, _), (missed, _, _) = found["confusion"]
    assert found["hm_percent"] == 100 * lost / found["ham"]
    assert found["sm_percent"] == 100 * missed / found["spam"]
    assert found["hm_percent_interval"] == pytest.approx(
        [100 * end for end in intervals.clopper_pearson(lost, found["ham"])]
    )


def test_the_same_evaluation_gives_the_same_intervals():
    assert summary(noisy(500)) == summary(noisy(500))


def test_a_bootstrap_interval_is_about_two_standard_errors_wide():
    found = summary(noisy(4000))
    p = [outcome.probabilities[1] for outcome in noisy(4000).outcomes]
    truth = [outcome.truth for outcome in noisy(4000).outcomes]
    squares = (np.array(p) - np.array(truth)) ** 2
    # Nearly the same figure from theory: the mean of independent terms.
    width = 2 * 1.96 * squares.std() / math.sqrt(4000)
    low, high = found["brier_interval"]
    assert high - low == pytest.approx(width, rel=0.15)


def test_the_calibration_error_of_resamples_varies():
    found = summary(noisy(4000))
    low, high = found["ece_percent_interval"]
    assert high - low > found["ece_percent"] / 20
    assert (low + high) / 2 == pytest.approx(found["ece_percent"])


def test_the_interval_of_the_area_agrees_with_delongs_variance():
    evaluation = noisy(3000, overlap=3.5)
    columns = evaluation.columns
    ham, spam = columns.score[~columns.is_positive], columns.score[columns.is_positive]
    above_ham = np.array([(spam < one).mean() for one in ham])
    above_spam = np.array([(ham > one).mean() for one in spam])
    error = math.sqrt(above_ham.var(ddof=1) / len(ham) + above_spam.var(ddof=1) / len(spam))
    low, high = summary(evaluation)["one_minus_roca_percent_interval"]
    assert (high - low) / 100 == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_the_interval_of_the_area_holds_the_truth_as_often_as_it_says():
    """Where a few mistakes make the figure; the middle of the resampled values held it in 82 of 100."""
    random = np.random.default_rng(3)
    truth = np.repeat([0, 1], 100)
    shift = 4.0
    true_share = 0.5 * math.erfc(shift / 2)  # of pairs in the wrong order, both classes normal
    held = []
    for _ in range(150):
        ranking = ranked(random.normal(truth * shift, 1.0), truth == 1)
        share = ranking.one_minus_roca()
        if share > 0:
            drawn = np.array([ranking.one_minus_roca(one) for one in intervals.resamples(truth, 200)])
            low, high = intervals.logit_interval(share, drawn)
            held.append(low <= true_share <= high)
    assert len(held) > 140
    assert np.mean(held) > 0.9


def test_resamples_draw_each_class_as_often_as_it_is_there():
    truth = np.array([0] * 30 + [1] * 10 + [2] * 5)
    for weights in intervals.resamples(truth, 20):
        assert np.bincount(truth, weights=weights).tolist() == [30, 10, 5]


def test_resampled_confusions_keep_the_size_of_each_class():
    counts = np.array([[90, 7, 3], [0, 0, 0]])
    redrawn = intervals.resampled_confusions(counts, 50)
    assert redrawn.sum(axis=2).tolist() == [[100, 0]] * 50
    assert redrawn[:, 0].mean(axis=0) == pytest.approx([90, 7, 3], abs=1.5)


def test_perfect_scores_do_not_claim_certainty():
    outcomes = tuple(
        Outcome(str(place), place % 2, place % 2, 5.0 if place % 2 else -5.0, (0.5, 0.5))
        for place in range(80)
    )
    found = summary(Evaluation(("ham", "spam"), outcomes, "model"))
    assert found["one_minus_roca_percent"] == 0
    # 40 independent pairs, none wrong.
    assert found["one_minus_roca_percent_interval"] == pytest.approx([0, 100 * (1 - 0.025 ** (1 / 40))])
    assert found["interval_methods"]["one_minus_roca_percent"] == "clopper-pearson"
    assert found["interval_methods"]["sm_percent_at_hm"]["0.1"] == "clopper-pearson"
    for rate in ("macro_recall", "macro_f1", "micro_f1"):
        assert found[f"{rate}_interval"] == pytest.approx([0.025 ** (1 / 40), 1])
    low, high = found["lam_percent_interval"]
    assert low < found["lam_percent"] < high


def judged(odds, truth):
    """An evaluation of these log-odds."""
    shares = [1 / (1 + math.exp(-one)) for one in odds]
    outcomes = [
        Outcome(f"m{place}", label, int(one > 0), one, (1 - p, p), None, place)
        for place, (one, p, label) in enumerate(zip(odds, shares, truth, strict=True))
    ]
    return Evaluation(("ham", "spam"), tuple(outcomes), "model")


def test_scores_the_wrong_way_around_do_not_claim_certainty():
    found = summary(judged([3.0] * 20 + [-3.0] * 30, [0] * 20 + [1] * 30))
    assert found["one_minus_roca_percent"] == 100
    at_least = 100 * binomtest(20, 20).proportion_ci(method="exact").low
    assert found["one_minus_roca_percent_interval"] == pytest.approx([at_least, 100])
    assert found["sm_percent_at_hm_interval"]["1"] == pytest.approx([at_least, 100])
    assert found["interval_methods"]["one_minus_roca_percent"] == "clopper-pearson"


def test_a_ranking_that_hangs_on_one_message_does_not_claim_certainty():
    found = summary(judged([2.0] + [3.0] * 30 + [-3.0] * 10, [0] + [1] * 40))
    assert found["one_minus_roca_percent"] == 25
    assert found["one_minus_roca_percent_interval"] is None
    assert set(found["sm_percent_at_hm_interval"].values()) == {None}
    assert found["macro_recall_interval"] is None
    assert found["hm_percent_interval"] == pytest.approx([2.5, 100])
    assert found["log_loss_interval"] is not None


def test_a_class_of_one_message_takes_the_interval_of_the_means_over_classes_alone():
    shares = [(0.5, 0.3, 0.2), (0.3, 0.4, 0.3), (0.2, 0.3, 0.5), (0.3, 0.3, 0.4)]
    truth = [0, 0, 2, 2, 1, 0, 2, 0, 2]
    given = [
        Outcome(
            f"m{n}", label, int(np.argmax(shares[n % 4])), math.log(shares[n % 4][2]), shares[n % 4], None, n
        )
        for n, label in enumerate(truth)
    ]
    found = summary(Evaluation(("ham", "lists", "spam"), tuple(given), "model"))
    assert found["macro_one_minus_roca_percent_interval"] is None
    assert found["macro_f1_interval"] is None
    assert found["one_minus_roca_percent_interval"] is not None
    assert found["micro_f1_interval"] is not None


def test_scores_that_are_all_the_same_do_not_claim_certainty():
    found = summary(judged([0.7] * 30, [0] * 20 + [1] * 10))
    assert found["one_minus_roca_percent"] == 50
    for name in ("one_minus_roca_percent", "brier", "log_loss", "ece_percent"):
        assert found[f"{name}_interval"] is None


def test_no_right_decision_does_not_claim_certainty():
    """As where lambda is 0, and all mail is unsure."""
    given = [Outcome(f"m{n}", n % 2, -1, 0.0, (0.5, 0.5), None, n) for n in range(40)]
    found = summary(Evaluation(("ham", "spam"), tuple(given), "folds"))
    _, most = intervals.clopper_pearson(0, 20)
    for name in ("macro_precision", "macro_recall", "macro_f1", "micro_f1"):
        assert found[name] == 0
        assert found[f"{name}_interval"] == [0, most]
        assert found["interval_methods"][name] == "clopper-pearson"


def test_one_message_of_each_class_says_nothing_of_how_others_vary():
    """Drawn within its class it is drawn every time: an interval without width would claim certainty."""
    found = summary(judged([2.0, 1.0], [0, 1]), LOSS)
    for name in ("one_minus_roca_percent", "ece_percent", "brier", "log_loss", "expected_loss", "macro_f1"):
        assert found[name] is not None
        assert found[f"{name}_interval"] is None
    assert found["hm_percent_interval"] == pytest.approx([2.5, 100])
    assert summary(judged([2.0, 1.0, 0.5], [0, 1, 1]))["log_loss_interval"] is not None


def test_no_loss_seen_is_not_no_loss():
    outcomes = tuple(Outcome(str(n), n % 2, n % 2, float(n % 2), ()) for n in range(50))
    found = summary(Evaluation(("ham", "spam"), outcomes, "model"), LOSS)
    assert found["expected_loss"] == 0
    assert found["expected_loss_interval"] == pytest.approx([0, 10 * (1 - 0.025 ** (1 / 50))])


def test_ham_alone_leaves_what_needs_spam_undefined():
    outcomes = tuple(Outcome(str(place), 0, 0, -1.0 - place, (0.9, 0.1)) for place in range(9))
    found = summary(Evaluation(("ham", "spam"), outcomes, "model"))
    assert (found["ham"], found["spam"], found["hm_percent"]) == (9, 0, 0)
    for key in ("sm_percent", "lam_percent", "one_minus_roca_percent", "sm_percent_at_hm"):
        assert found[key] is None
        assert found[f"{key}_interval"] is None
    assert found["brier"] == pytest.approx(0.01)


def test_a_filter_that_gives_only_scores_is_not_judged_on_calibration():
    scored = tuple(Outcome(one.name, one.truth, one.decided, one.log_odds, ()) for one in noisy(300).outcomes)
    found = summary(Evaluation(("ham", "spam"), scored, "model"))
    assert found["ece_percent"] is found["brier"] is found["log_loss"] is None
    assert found["one_minus_roca_percent"] == summary(noisy(300))["one_minus_roca_percent"]


def test_three_classes_without_spam_have_class_rates_and_no_ham_or_spam_rates():
    random = np.random.default_rng(3)
    outcomes = []
    for place in range(400):
        truth = place % 3
        weight = random.random(3) + 1.2 * np.eye(3)[truth]
        p = tuple(weight / weight.sum())
        outcomes.append(Outcome(str(place), truth, int(np.argmax(p)), None, p))
    evaluation = Evaluation(("home", "lists", "work"), tuple(outcomes), "folds")
    found = summary(evaluation, zero_one_loss(3))
    assert found["ham"] is found["hm_percent"] is found["one_minus_roca_percent"] is None
    assert found["macro_one_minus_roca_percent_interval"][0] <= found["macro_one_minus_roca_percent"]
    assert found["expected_loss"] == pytest.approx(1 - found["accuracy_percent"] / 100)
    assert len(found["by_class"]["f1"]) == 3


def test_three_classes_with_spam_have_both():
    random = np.random.default_rng(4)
    outcomes = []
    for place in range(600):
        truth = place % 3
        weight = random.random(3) + 0.6 * np.eye(3)[truth]
        p = tuple(weight / weight.sum())
        outcomes.append(Outcome(str(place), truth, int(np.argmax(p)), math.log(p[2] / (1 - p[2])), p))
    found = summary(Evaluation(("ham", "work", "spam"), tuple(outcomes), "folds"))
    columns = Evaluation(("ham", "work", "spam"), tuple(outcomes), "folds").columns
    assert (found["ham"], found["spam"]) == (400, 200)
    area = ranked(columns.score, columns.truth == 2).one_minus_roca()
    assert found["one_minus_roca_percent"] == pytest.approx(100 * area)
    assert found["macro_one_minus_roca_percent"] != found["one_minus_roca_percent"]


def test_replicates_shrink_with_the_corpus_and_never_below_two_hundred():
    assert intervals.replicates(100) == 2000
    assert intervals.replicates(75_000) == 600
    assert intervals.replicates(10**7) == 200
