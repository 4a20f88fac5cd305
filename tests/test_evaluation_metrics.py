"""Rates, losses and calibration, by hand and against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from nbspam.decision import Loss
from nbspam.errors import BadDataError, UsageError
from nbspam.evaluate import metrics
from nbspam.evaluate.outcomes import Evaluation, Outcome, log_odds_of

LAW = settings(deadline=None, max_examples=50)  # a busy machine is no failure


def judged(rows, classes=("ham", "spam"), **more):
    """An Evaluation of (truth, decided, probabilities) rows; log-odds follow from the last probability."""
    outcomes = []
    for place, (truth, decided, probabilities) in enumerate(rows):
        p = probabilities[-1]
        log_odds = math.log(p / (1 - p)) if 0 < p < 1 else None
        outcomes.append(Outcome(f"m{place}", truth, decided, log_odds, tuple(probabilities), None, place))
    return Evaluation(classes, tuple(outcomes), "model", **more)


def two(truth, decided, spam_probability):
    return judged([(t, d, (1 - p, p)) for t, d, p in zip(truth, decided, spam_probability, strict=True)])


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
        rows.append((draw(st.integers(0, 2)), draw(st.integers(-1, 2)), tuple(parts / parts.sum())))
    assume({row[0] for row in rows} == {0, 1, 2})
    return rows


def test_confusion_has_a_row_a_true_class_and_unsure_in_the_last_column():
    columns = two([0, 0, 0, 1, 1, 1, 1], [0, 1, -1, 1, 1, 0, -1], [0.5] * 7).columns
    assert metrics.confusion(columns).tolist() == [[1, 1, 1], [1, 2, 1]]


def test_unsure_is_neither_a_ham_lost_nor_a_spam_missed():
    counts = np.array([[5, 2, 3], [1, 6, 4]])
    assert metrics.ham_spam(counts, 1) == metrics.HamSpam(10, 2, 3, 11, 1, 4)


def test_with_more_classes_all_that_is_not_spam_plays_ham():
    counts = np.array([[5, 1, 2, 0], [3, 7, 1, 1], [2, 4, 9, 5]])  # ham, work, spam; unsure last
    assert metrics.ham_spam(counts, 2) == metrics.HamSpam(20, 3, 1, 20, 6, 5)


def lam_percent(ham_lost, ham, spam_missed, spam):
    return metrics.lam_with_interval(ham_lost, ham, spam_missed, spam)[0]


def test_the_logistic_average_of_one_in_ten_and_one_in_two():
    # logits: ln(1/9) and 0, their mean -ln 3, so lam = 1 / (1 + 3).
    assert lam_percent(1, 10, 5, 10) == pytest.approx(100 / 4)


def test_the_logistic_average_of_equal_rates_is_that_rate():
    assert lam_percent(3, 100, 6, 200) == pytest.approx(3)


def test_no_error_counts_as_half_an_error_in_the_logistic_average():
    assert lam_percent(0, 100, 0, 50) == lam_percent(0.5, 100, 0.5, 50)
    assert lam_percent(0, 100, 0, 100) == pytest.approx(0.5)
    assert lam_percent(100, 100, 100, 100) == pytest.approx(99.5)


def test_a_class_without_messages_leaves_the_rates_undefined():
    assert math.isnan(lam_percent(0, 0, 1, 5))
    assert math.isnan(metrics.percent(0, 0))


@LAW
@given(st.integers(1, 10**5), st.integers(1, 10**5), st.data())
def test_the_logistic_average_lies_between_the_rates_and_does_not_care_which_is_which(ham, spam, data):
    lost, missed = data.draw(st.integers(0, ham)), data.draw(st.integers(0, spam))
    lam = lam_percent(lost, ham, missed, spam)
    assert lam == pytest.approx(lam_percent(missed, spam, lost, ham))
    rates = sorted([lam_percent(lost, ham, lost, ham), lam_percent(missed, spam, missed, spam)])
    assert rates[0] - 1e-9 <= lam <= rates[1] + 1e-9


LOSS = Loss([[0, 1], [10, 0]], unsure=0.2)  # row decided, column true: ham called spam costs 10


def test_expected_loss_weighs_each_cell():
    counts = np.array([[6, 1, 1], [2, 9, 1]])
    costs = metrics.loss_table(LOSS, counts)
    assert costs.tolist() == [[0, 10, 0.2], [1, 0, 0.2]]
    assert metrics.expected_loss(counts, costs) == pytest.approx((1 * 10 + 1 * 0.2 + 2 * 1 + 1 * 0.2) / 20)


def test_a_loss_without_a_price_for_unsure_serves_only_where_nothing_is_unsure():
    loss = Loss([[0, 1], [10, 0]])
    assert metrics.loss_table(loss, np.array([[6, 1, 0], [2, 9, 0]])).tolist() == [[0, 10, 0], [1, 0, 0]]
    with pytest.raises(UsageError, match="unsure"):
        metrics.loss_table(loss, np.array([[6, 1, 0], [2, 9, 3]]))


def test_a_loss_of_another_number_of_classes_is_refused():
    with pytest.raises(UsageError, match="2 classes"):
        metrics.loss_table(LOSS, np.zeros((3, 4), int))


@LAW
@given(two_class)
def test_brier_and_log_loss_are_those_of_scikit_learn(rows):
    truth, decided, spam = zip(*rows, strict=True)
    columns = two(truth, decided, spam).columns
    assert metrics.brier_terms(columns).mean() == pytest.approx(sklearn_metrics.brier_score_loss(truth, spam))
    expected = sklearn_metrics.log_loss(truth, columns.probabilities, labels=[0, 1])
    assert metrics.log_loss_terms(columns).mean() == pytest.approx(expected)


@LAW
@given(three_class())
def test_three_classes_agree_with_scikit_learn(rows):
    truth, decided, probabilities = zip(*rows, strict=True)
    columns = judged(rows, ("ham", "work", "other")).columns
    rates = metrics.class_rates(metrics.confusion(columns))
    for average, names in (("macro", ("macro_precision", "macro_recall", "macro_f1")), ("micro", ())):
        expected = sklearn_metrics.precision_recall_fscore_support(
            truth, decided, labels=[0, 1, 2], average=average, zero_division=0
        )[:3]
        names = names or ("micro_precision", "micro_recall", "micro_f1")
        assert [float(getattr(rates, name)) for name in names] == pytest.approx(list(expected))
    table = np.array(probabilities)
    assert metrics.log_loss_terms(columns).mean() == pytest.approx(
        sklearn_metrics.log_loss(truth, table, labels=[0, 1, 2])
    )
    assert metrics.brier_terms(columns).mean() == pytest.approx(
        ((table - np.eye(3)[list(truth)]) ** 2).sum(1).mean()
    )
    assert 1 - metrics.mean_one_minus_roca(metrics.rankings(columns)) == pytest.approx(
        sklearn_metrics.roc_auc_score(truth, table, multi_class="ovr", labels=[0, 1, 2])
    )


def test_the_rates_of_a_matrix_by_hand():
    counts = np.array([[3, 1, 0], [1, 4, 1]])
    rates = metrics.class_rates(counts)
    assert rates.precision.tolist() == [3 / 4, 4 / 5]
    assert rates.recall.tolist() == [3 / 4, 4 / 6]
    assert rates.f1.tolist() == pytest.approx([6 / 8, 8 / 11])
    assert float(rates.micro_recall) == 7 / 10
    assert float(rates.micro_precision) == 7 / 9


def test_many_matrices_are_rated_at_once():
    counts = np.array([[[3, 1, 0], [1, 4, 1]], [[0, 0, 0], [2, 2, 2]]])
    rates = metrics.class_rates(counts)
    assert rates.macro_recall.tolist() == pytest.approx([(3 / 4 + 4 / 6) / 2, 2 / 6])


def test_calibration_error_of_two_bins_by_hand():
    # Four messages at 0.2, one of them spam; four at 0.9, all spam: (|1/4 - 1/5| + |1 - 9/10|) / 2.
    columns = two([1, 0, 0, 0, 1, 1, 1, 1], [0] * 4 + [1] * 4, [0.2] * 4 + [0.9] * 4).columns
    bins = metrics.reliability(columns)
    assert bins.ece() == pytest.approx((0.05 + 0.1) / 2)
    assert bins.messages.tolist() == [4, 4]
    assert bins.came_true.tolist() == [0.25, 1.0]


def test_bins_hold_equally_many_messages():
    spam = np.linspace(0.001, 0.999, 150)
    bins = metrics.reliability(two([0, 1] * 75, [0] * 150, spam).columns)
    assert bins.messages.tolist() == [10] * 15


def test_equal_probabilities_share_the_bin_of_their_middle_rank():
    # Ranks 0.5, then 1 to 3 (middle 2), then 3.5, of 4: the upper half begins at 2.
    bins = metrics.reliability(two([0, 0, 1, 1], [0, 0, 1, 1], [0.1, 0.5, 0.5, 0.9]).columns, bins=2)
    assert bins.messages.tolist() == [1, 3]


def test_without_a_spam_class_calibration_is_of_the_class_thought_likeliest():
    rows = [(0, 0, (0.6, 0.3, 0.1)), (1, 0, (0.6, 0.3, 0.1)), (2, 2, (0.1, 0.1, 0.8))]
    bins = metrics.reliability(judged(rows, ("a", "b", "c")).columns)
    assert bins.ece() == pytest.approx((2 * abs(0.5 - 0.6) + abs(1 - 0.8)) / 3)


@LAW
@given(two_class, st.randoms())
def test_calibration_error_is_bounded_and_blind_to_order(rows, random):
    error = metrics.reliability(two(*zip(*rows, strict=True)).columns).ece()
    assert 0 <= error <= 1
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert metrics.reliability(two(*zip(*shuffled, strict=True)).columns).ece() == pytest.approx(error)


def test_a_score_without_probabilities_still_ranks():
    outcomes = tuple(Outcome(str(place), place % 2, 0, float(place), ()) for place in range(4))
    columns = Evaluation(("ham", "spam"), outcomes, "model").columns
    assert columns.probabilities.shape == (4, 0)
    assert metrics.mean_one_minus_roca(metrics.rankings(columns)) == 1 / 4


def test_undefined_log_odds_are_ranked_by_the_probability():
    rows = [(None, (1.0, 0.0)), (-1.0, (0.7, 0.3)), (None, (0.5, 0.5)), (None, (0.0, 1.0))]
    outcomes = tuple(Outcome(str(place), 0, 0, odds, p) for place, (odds, p) in enumerate(rows))
    columns = Evaluation(("ham", "spam"), outcomes, "model").columns
    assert columns.score.tolist() == [-math.inf, -1.0, 0.0, math.inf]


def test_neither_log_odds_nor_probabilities_is_an_error():
    outcomes = (Outcome("odd", 0, 0, None, ()), Outcome("even", 1, 1, 1.0, ()))
    with pytest.raises(BadDataError, match="odd"):
        _ = Evaluation(("ham", "spam"), outcomes, "model").columns


def test_two_classes_without_spam_are_each_ranked_against_the_other():
    rows = [(0, 0, (0.9, 0.1)), (1, 1, (0.2, 0.8)), (0, 1, (0.1, 0.9)), (1, 1, (0.3, 0.7))]
    columns = judged(rows, ("private", "work")).columns
    assert columns.positive is None
    assert [task.one_minus_roca() for task in metrics.rankings(columns)] == [2 / 4, 2 / 4]


def test_probabilities_beside_a_sure_one_keep_their_order():
    table = np.array([[1.0, 1e-300, 0.0], [1.0, 1e-200, 1e-250], [0.0, 1.0, 0.0]])
    odds = log_odds_of(table)
    assert odds[:, 1].tolist() == pytest.approx([math.log(1e-300), math.log(1e-200), math.inf])
    assert odds[:, 0].tolist() == pytest.approx([-math.log(1e-300), -math.log(1e-200), -math.inf])
    assert odds[0, 2] == odds[2, 0] == -math.inf


def test_the_interval_of_lam_is_a_quarter_of_both_variances_in_logits():
    # 1 of 10 and 5 of 10: variances 1/1 + 1/9 and 1/5 + 1/5, lam's logit -ln 3.
    error = math.sqrt((1 + 1 / 9 + 2 / 5) / 4)
    ends = [100 / (1 + math.exp(math.log(3) - step * error)) for step in (-1.959964, 1.959964)]
    value, interval = metrics.lam_with_interval(1, 10, 5, 10)
    assert (value, *interval) == pytest.approx((25, *ends))


def test_no_error_still_leaves_lam_uncertain():
    _, (low, high) = metrics.lam_with_interval(0, 100, 0, 100)
    assert low < 0.5 < 1.5 < high


@LAW
@given(st.integers(1, 3), st.integers(1, 3), st.data())
def test_lam_is_defined_for_the_smallest_classes(ham, spam, data):
    lost, missed = data.draw(st.integers(0, ham)), data.draw(st.integers(0, spam))
    value, (low, high) = metrics.lam_with_interval(lost, ham, missed, spam)
    assert 0 < low < value < high < 100
