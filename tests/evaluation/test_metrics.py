"""Rates, losses and calibration, by hand and against scikit-learn; the curve over time."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from nbspam.decision import Loss
from nbspam.evaluation import metrics
from nbspam.evaluation.ranking import rank_messages, roca_percent
from tests.judged_mail import judged


def two(truth, decided, spam):
    return judged([(t, d, None, (1 - p, p)) for t, d, p in zip(truth, decided, spam, strict=True)])


two_class = st.lists(
    st.tuples(st.integers(0, 1), st.integers(-1, 1), st.sampled_from([0.0, 0.01, 0.2, 0.5, 0.7, 0.99, 1.0])),
    min_size=2,
    max_size=60,
).filter(lambda rows: len({row[0] for row in rows}) == 2)


@st.composite
def three_class(draw):
    rows = []
    for _ in range(draw(st.integers(3, 40))):
        parts = np.array([draw(st.integers(1, 50)) for _ in range(3)], float)
        rows.append((draw(st.integers(0, 2)), draw(st.integers(-1, 2)), None, tuple(parts / parts.sum())))
    assume({row[0] for row in rows} == {0, 1, 2})
    return rows


def test_confusion_has_a_row_a_true_class_and_unsure_in_the_last_column():
    evaluation = two([0, 0, 0, 1, 1, 1, 1], [0, 1, -1, 1, 1, 0, -1], [0.5] * 7)
    assert metrics.count_confusion(evaluation).tolist() == [[1, 1, 1], [1, 2, 1]]


@pytest.mark.parametrize(
    ("counts", "positive", "expected"),
    [
        ([[5, 2, 3], [1, 6, 4]], 1, [(2, 10), (3, 10), (1, 11), (4, 11)]),
        ([[5, 1, 2, 0], [3, 7, 1, 1], [2, 4, 9, 5]], 2, [(3, 20), (1, 20), (6, 20), (5, 20)]),
    ],
)
def test_every_class_but_spam_is_ham_and_unsure_is_neither_lost_nor_missed(counts, positive, expected):
    found = metrics.count_spam_shares(np.array(counts), positive)
    keys = ("hm_percent", "ham_unsure_percent", "sm_percent", "spam_unsure_percent")
    assert [found[key] for key in keys] == expected


def lam_percent(ham_lost, ham, spam_missed, spam):
    return metrics.lam_with_interval(ham_lost, ham, spam_missed, spam)[0]


def test_logistic_average_of_one_in_ten_and_one_in_two_is_one_in_four():
    # logits: ln(1/9) and 0, their mean -ln 3, so lam = 1 / (1 + 3).  Variances 1/1 + 1/9 and 1/5 + 1/5.
    error = math.sqrt((1 + 1 / 9 + 2 / 5) / 4)
    ends = [100 / (1 + math.exp(math.log(3) - step * error)) for step in (-1.959964, 1.959964)]
    value, interval = metrics.lam_with_interval(1, 10, 5, 10)
    assert (value, *interval) == pytest.approx((25, *ends))


@given(st.integers(1, 10**5) | st.integers(1, 3), st.integers(1, 10**5) | st.integers(1, 3), st.data())
def test_the_logistic_average_lies_between_the_rates_and_in_its_interval(ham, spam, data):
    lost, missed = data.draw(st.integers(0, ham)), data.draw(st.integers(0, spam))
    lam, (low, high) = metrics.lam_with_interval(lost, ham, missed, spam)
    assert 0 < low < lam < high < 100
    assert lam == pytest.approx(lam_percent(missed, spam, lost, ham))
    rates = sorted([lam_percent(lost, ham, lost, ham), lam_percent(missed, spam, missed, spam)])
    assert rates[0] - 1e-9 <= lam <= rates[1] + 1e-9


LOSS = Loss([[0, 1], [10, 0]], unsure=0.2)  # row decided, column true: ham called spam costs 10


def test_expected_loss_weighs_each_cell():
    counts = np.array([[6, 1, 1], [2, 9, 1]])
    costs = metrics.lay_out_costs(LOSS)
    assert costs.tolist() == [[0, 10, 0.2], [1, 0, 0.2]]
    assert metrics.expected_loss(counts, costs) == pytest.approx((1 * 10 + 1 * 0.2 + 2 * 1 + 1 * 0.2) / 20)


def test_an_unsure_message_without_a_price_costs_as_one_that_is_delivered():
    assert metrics.lay_out_costs(Loss([[0, 1], [10, 0]])).tolist() == [[0, 10, 0], [1, 0, 1]]


@given(two_class)
def test_brier_and_log_loss_are_those_of_scikit_learn(rows):
    truth, _, spam = zip(*rows, strict=True)
    found = two(*zip(*rows, strict=True))
    assert metrics.brier_terms(found).mean() == pytest.approx(sklearn_metrics.brier_score_loss(truth, spam))
    expected = sklearn_metrics.log_loss(truth, found.probabilities, labels=[0, 1])
    assert metrics.log_loss_terms(found).mean() == pytest.approx(expected)


@given(three_class())
def test_three_classes_agree_with_scikit_learn(rows):
    truth, decided, _, probabilities = zip(*rows, strict=True)
    found, table = judged(rows, ("ham", "work", "other")), np.array(probabilities)
    rates = metrics.class_rates(metrics.count_confusion(found))
    expected = sklearn_metrics.precision_recall_fscore_support(
        truth, decided, labels=[0, 1, 2], average="macro", zero_division=0
    )[:3]
    names = ("macro_precision", "macro_recall", "macro_f1")
    assert [float(rates[name]) for name in names] == pytest.approx(list(expected))
    log_loss = sklearn_metrics.log_loss(truth, table, labels=[0, 1, 2])
    assert metrics.log_loss_terms(found).mean() == pytest.approx(log_loss)
    brier = ((table - np.eye(3)[list(truth)]) ** 2).sum(1).mean()
    assert metrics.brier_terms(found).mean() == pytest.approx(brier)
    area = sklearn_metrics.roc_auc_score(truth, table, multi_class="ovr", labels=[0, 1, 2])
    assert 1 - roca_percent(rank_messages(found)) / 100 == pytest.approx(area)


def test_calibration_error_of_two_bins_is_that_by_hand():
    # Four messages at 0.2, one of them spam; four at 0.9, all spam: (|1/4 - 1/5| + |1 - 9/10|) / 2.
    bins = metrics.bin_by_confidence(two([1, 0, 0, 0, 1, 1, 1, 1], [0] * 4 + [1] * 4, [0.2] * 4 + [0.9] * 4))
    assert bins.ece() == pytest.approx((0.05 + 0.1) / 2)
    assert bins.messages.tolist() == [4, 4]
    assert bins.came_true.tolist() == [0.25, 1.0]


def late_learner():
    # 100 messages, ham and spam in turn, the first 20 decided wrongly.
    rows = [(n % 2, n % 2 if n >= 20 else 1 - n % 2) for n in range(100)]
    return judged([(truth, decided, 3.0 if decided else -3.0) for truth, decided in rows], method="replay")


def test_the_learning_curve_is_cumulative_and_windowed():
    curve = {name: column.tolist() for name, column in metrics.trace_learning(late_learner()).items()}
    assert curve["messages"] == list(range(2, 101, 2))
    assert curve["hm_percent"][9::10] == pytest.approx([100, 50, 100 / 3, 25, 20])
    assert curve["window_sm_percent"] == pytest.approx([100] * 10 + [80, 60, 40, 20] + [0] * 36)
    assert curve["window_one_minus_roca_percent"][9::5] == [100, 0, 0, 0, 0, 0, 0, 0, 0]
