"""The area under the ROC curve, spam missed at a given ham loss, and the curve itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.metrics import roc_auc_score, roc_curve

from nbspam.evaluation.ranking import one_minus_roca, rank, rank_messages, spam_missed_at, trace_curve
from tests.judged_mail import judged

HAM, SPAM = False, True


def area(scores, is_spam, weights=None):
    return one_minus_roca(rank(np.array(scores, float), np.array(is_spam, bool)).tally(weights))


def missed(scores, is_spam, permille):
    return spam_missed_at(rank(np.array(scores, float), np.array(is_spam, bool)).tally(), permille)


# Few distinct scores, so that ties are common.
samples = st.integers(2, 40).flatmap(
    lambda size: st.tuples(
        npst.arrays(np.float64, size, elements=st.sampled_from([-9.0, -1.5, -1.0, 0.0, 0.25, 3.0, 70.0])),
        npst.arrays(np.bool_, size).filter(lambda labels: labels.any() and not labels.all()),
    )
)


def test_with_pencil_and_paper_two_of_six_pairs_are_wrong_and_one_is_a_tie():
    # ham 1 4, spam 5 3 1: pairs (1,5) (1,3) right, (1,1) tie, (4,5) right, (4,3) (4,1) wrong.
    assert area([1, 4, 5, 3, 1], [HAM, HAM, SPAM, SPAM, SPAM]) == (2 + 0.5) / 6


def test_one_class_alone_has_no_area():
    assert math.isnan(area([1, 2], [HAM, HAM]))
    assert math.isnan(missed([1, 2], [SPAM, SPAM], 10))


@given(samples)
def test_the_area_is_that_of_scikit_learn(sample):
    scores, is_spam = sample
    assert area(scores, is_spam) == pytest.approx(1 - roc_auc_score(is_spam, scores), abs=1e-12)


@given(samples, st.integers(0, 1000))
def test_spam_missed_is_the_best_threshold_by_trying_all(sample, permille):
    scores, is_spam = sample
    ham, spam = scores[~is_spam], scores[is_spam]
    allowed = len(ham) * permille // 1000
    thresholds = [t for t in [*np.unique(scores), math.inf] if (ham >= t).sum() <= allowed]
    assert missed(scores, is_spam, permille) == pytest.approx((spam < min(thresholds)).mean(), abs=1e-12)


@given(samples)
def test_the_corners_lie_on_the_curve_of_scikit_learn(sample):
    scores, is_spam = sample
    lost, spam_missed = trace_curve(rank(scores, is_spam).tally())
    false_rate, true_rate, _ = roc_curve(is_spam, scores, drop_intermediate=False)
    known = {(round(x, 9), round(1 - y, 9)) for x, y in zip(false_rate, true_rate, strict=True)}
    assert {(round(x, 9), round(y, 9)) for x, y in zip(lost, spam_missed, strict=True)} <= known
    assert (lost[0], spam_missed[0], lost[-1], spam_missed[-1]) == (0, 1, 1, 0)


def test_undefined_log_odds_are_ranked_by_the_probability():
    rows = [(None, (1.0, 0.0)), (-1.0, (0.7, 0.3)), (None, (0.5, 0.5)), (None, (0.0, 1.0))]
    assert judged([(0, 0, *row) for row in rows]).score.tolist() == [-math.inf, -1.0, 0.0, math.inf]


def test_two_classes_without_spam_are_each_ranked_against_the_other():
    shares = [(0, 0, (0.9, 0.1)), (1, 1, (0.2, 0.8)), (0, 1, (0.1, 0.9)), (1, 1, (0.3, 0.7))]
    tasks = rank_messages(judged([(t, d, None, p) for t, d, p in shares], ("private", "work")))
    assert [one_minus_roca(task.tally()) for task in tasks] == [2 / 4, 2 / 4]
