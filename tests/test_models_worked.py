"""Examples small enough for pencil and paper, in exact fractions; and AODE against its definition."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from nbspam.model import bulk_numeric as bulk
from nbspam.model import bulk_words as word_models
from nbspam.model import numeric_models as numeric
from nbspam.model import word_models as events
from nbspam.model.posterior import log_posteriors
from nbspam.model.priors import log_priors

# 1. Five rows A1 A2 A3 | Y.  Binary features are bins with one edge at 1.
FIVE_ROWS = [([1, 1, 0], 1), ([0, 1, 1], 1), ([1, 0, 1], 0), ([0, 1, 0], 0), ([0, 0, 1], 0)]
FIVE_QUERY = [1, 0, 0]


def five_rows() -> numeric.BinTotals:
    totals = numeric.BinTotals(2, [[1.0], [1.0], [1.0]])
    for row, label in FIVE_ROWS:
        totals.add(label, row)
    return totals


def categorical_score(alpha: float) -> list[float]:
    scorer = numeric.CategoricalScorer(five_rows(), alpha)
    return numeric.add_parts(log_priors("empirical", [3, 2]), scorer.contributions(FIVE_QUERY))


def test_five_rows_without_smoothing_class_0_is_two_in_forty_five() -> None:
    by_hand = F(3, 5) * F(1, 3) * F(2, 3) * F(1, 3)
    assert by_hand == F(2, 45)
    assert math.exp(categorical_score(0.0)[0]) == pytest.approx(float(by_hand), rel=1e-12)


def test_five_rows_without_smoothing_class_1_is_ruled_out_by_one_factor() -> None:
    assert categorical_score(0.0)[1] == -math.inf
    assert log_posteriors(categorical_score(0.0)) == [0.0, -math.inf]


def test_five_rows_with_laplace_on_the_zero_factor_alone() -> None:
    plain = numeric.CategoricalScorer(five_rows(), 0.0).contributions(FIVE_QUERY)
    laplace = numeric.CategoricalScorer(five_rows(), 1.0).contributions(FIVE_QUERY)
    assert math.exp(laplace[1][1]) == pytest.approx(float(F(1, 4)), rel=1e-12)
    score = F(2, 5) * F(1, 2) * F(1, 4) * F(1, 2)
    assert score == F(1, 40)
    mixed = [plain[0], laplace[1], plain[2]]
    joint = numeric.add_parts(log_priors("empirical", [3, 2]), mixed)
    assert math.exp(joint[1]) == pytest.approx(float(score), rel=1e-12)


def test_five_rows_with_laplace_everywhere() -> None:
    class_0 = F(3, 5) * F(1 + 1, 3 + 2) * F(2 + 1, 3 + 2) * F(1 + 1, 3 + 2)
    class_1 = F(2, 5) * F(1 + 1, 2 + 2) * F(0 + 1, 2 + 2) * F(1 + 1, 2 + 2)
    assert (class_0, class_1) == (F(36, 625), F(1, 40))
    assert [math.exp(v) for v in categorical_score(1.0)] == pytest.approx([float(class_0), float(class_1)])
    posterior = [math.exp(v) for v in log_posteriors(categorical_score(1.0)) or []]
    assert posterior == pytest.approx([float(F(288, 413)), float(F(125, 413))], rel=1e-12)


def test_five_rows_are_the_same_under_bernoulli() -> None:
    counts = word_models.WordCounts(2, 3)
    rows = sparse.csr_matrix(np.array([row for row, _ in FIVE_ROWS]))
    counts.add(rows, np.array([label for _, label in FIVE_ROWS]))
    scorer = events.make_word_scorer("bernoulli", counts.totals(), 1.0)
    token = (counts.documents[:, 0].tolist(), counts.occurrences[:, 0].tolist(), 1)
    joint = events.log_joint(scorer, log_priors("empirical", [3, 2]), [token])
    assert joint == pytest.approx(categorical_score(1.0), abs=1e-12)


# 2. Manning, Raghavan and Schuetze 2008, example 13.1.  Vocabulary without a NOTAWORD, as in the book.
CHINESE = ["Chinese", "Beijing", "Shanghai", "Macao", "Tokyo", "Japan"]
BOOK = [
    ("Chinese Beijing Chinese", 1),
    ("Chinese Chinese Shanghai", 1),
    ("Chinese Macao", 1),
    ("Tokyo Japan Chinese", 0),
]
D5 = "Chinese Chinese Chinese Tokyo Japan"


def matrix_of(*texts: str) -> sparse.csr_matrix:
    return sparse.csr_matrix(np.array([[text.split().count(word) for word in CHINESE] for text in texts]))


def book_counts() -> word_models.WordCounts:
    counts = word_models.WordCounts(2, len(CHINESE))
    counts.add(matrix_of(*[text for text, _ in BOOK]), np.array([label for _, label in BOOK]))
    return counts


def scores_of(event_model: str, alpha: float, text: str = D5) -> list[float]:
    counts = book_counts()
    scorer = events.make_word_scorer(event_model, counts.totals(), alpha)
    tokens = [
        (counts.documents[:, j].tolist(), counts.occurrences[:, j].tolist(), text.split().count(word))
        for j, word in enumerate(CHINESE)
        if word in text.split()
    ]
    return events.log_joint(scorer, log_priors("empirical", counts.messages.tolist()), tokens)


def test_manning_parameters_are_the_fractions_of_the_book() -> None:
    table = np.exp(word_models.smooth("multinomial", book_counts(), 1.0).table)
    chinese, tokyo = CHINESE.index("Chinese"), CHINESE.index("Tokyo")
    assert table[1, chinese] == pytest.approx((5 + 1) / (8 + 6))
    assert table[1, tokyo] == pytest.approx((0 + 1) / (8 + 6))
    assert table[0, chinese] == pytest.approx((1 + 1) / (3 + 6))
    assert table[0, tokyo] == pytest.approx((1 + 1) / (3 + 6))


def test_manning_d5_is_chinese_under_multinomial() -> None:
    chinese = F(3, 4) * F(3, 7) ** 3 * F(1, 14) * F(1, 14)
    other = F(1, 4) * F(2, 9) ** 3 * F(2, 9) * F(2, 9)
    assert [math.exp(v) for v in scores_of("multinomial", 1.0)] == pytest.approx(
        [float(other), float(chinese)]
    )
    assert chinese > other


def test_manning_d5_is_not_chinese_under_bernoulli() -> None:
    """Example 13.2 of the book: the absent words Beijing, Shanghai and Macao decide."""
    chinese = F(3, 4) * F(4, 5) * F(1, 5) * F(1, 5) * (1 - F(2, 5)) ** 3
    other = F(1, 4) * F(2, 3) * F(2, 3) * F(2, 3) * (1 - F(1, 3)) ** 3
    assert [math.exp(v) for v in scores_of("bernoulli", 1.0)] == pytest.approx([float(other), float(chinese)])
    assert other > chinese


def test_manning_d5_on_presence_counts_chinese_once() -> None:
    chinese = F(3, 4) * F(3 + 1, 6 + 6) * F(1, 12) * F(1, 12)
    other = F(1, 4) * F(1 + 1, 3 + 6) * F(2, 9) * F(2, 9)
    assert [math.exp(v) for v in scores_of("presence", 1.0)] == pytest.approx([float(other), float(chinese)])


def test_manning_d5_under_complement_takes_the_counts_of_the_other_class() -> None:
    # The complement of class c is "not c" and the other way round; no prior (Rennie et al. 2003, WCNB).
    of_chinese = -(3 * math.log(F(2, 9)) + 2 * math.log(F(2, 9)))
    of_other = -(3 * math.log(F(6, 14)) + 2 * math.log(F(1, 14)))
    assert scores_of("complement", 1.0) == pytest.approx([of_other, of_chinese])


def test_manning_without_smoothing_tokyo_rules_chinese_out() -> None:
    assert scores_of("multinomial", 0.0)[1] == -math.inf
    assert math.exp(scores_of("multinomial", 0.0)[0]) == pytest.approx(float(F(1, 4) * F(1, 3) ** 5))


def test_without_smoothing_a_word_of_one_class_rules_the_others_out_of_complement() -> None:
    assert scores_of("complement", 0.0, "Macao Chinese")[0] == -math.inf
    assert scores_of("complement", 0.0, "Macao Chinese")[1] > -math.inf
    assert scores_of("complement", 0.0, "Macao Tokyo") == [-math.inf, -math.inf]


# 3. The same word twice.
@pytest.mark.parametrize(("event_model", "times"), [("bernoulli", 1), ("presence", 1), ("multinomial", 2)])
def test_invoice_twice_counts(event_model: str, times: int) -> None:
    counts = word_models.WordCounts(2, 2)
    counts.add(sparse.csr_matrix(np.array([[0, 2], [1, 0]])), np.array([1, 0]))  # NOTAWORD, invoice
    scorer = events.make_word_scorer(event_model, counts.totals(), 1.0)
    stored = (counts.documents[:, 1].tolist(), counts.occurrences[:, 1].tolist())
    once, twice = scorer.token(*stored, 1), scorer.token(*stored, 2)
    assert twice == pytest.approx([times * value for value in once])
    assert counts.documents[1, 1] == 1
    assert counts.occurrences[1, 1] == 2


def test_gaussian_of_three_values_is_the_density_by_hand() -> None:
    totals = numeric.GaussianTotals(2, 1)
    for label, value in [(0, 1.0), (0, 3.0), (0, 5.0), (1, 10.0), (1, 14.0)]:
        totals.add(label, [value])
    scorer = numeric.GaussianScorer(totals)
    assert scorer.means == [[3.0], [12.0]]
    assert scorer.variances == [[pytest.approx(8 / 3)], [4.0]]
    by_hand = -0.5 * (math.log(2 * math.pi * 8 / 3) + (6 - 3) ** 2 / (8 / 3))
    assert scorer.log_likelihood([6.0])[0] == pytest.approx(by_hand, abs=1e-12)


def test_a_feature_constant_in_a_class_gets_the_floor_and_says_so() -> None:
    totals = numeric.GaussianTotals(2, 1)
    for label, value in [(0, 0.0), (0, 0.0), (1, 10.0), (1, 30.0)]:
        totals.add(label, [value])
    scorer = numeric.GaussianScorer(totals, floor=0.01)
    assert scorer.variances[0] == [pytest.approx(0.01 * 150)]  # variance of 0, 0, 10, 30
    assert scorer.floored == [(0, 0)]


def test_a_feature_that_is_the_same_in_all_mail_does_not_drown_the_others() -> None:
    totals = numeric.GaussianTotals(2, 3)
    for label, value in [(0, 1.0), (0, 3.0), (1, 10.0), (1, 14.0)]:
        totals.add(label, [value, 0.0, None])  # the second is the same in all, the third never there
    message = [3.0, 200_000.0, 5.0]
    scorer = numeric.GaussianScorer(totals)
    without = scorer.log_likelihood([3.0, None, None])
    assert scorer.constant == [False, True, True]
    assert scorer.log_likelihood(message) == without
    assert bulk.log_likelihood(scorer, np.array([message]))[0] == pytest.approx(without, abs=1e-12)


def test_a_class_that_never_had_a_feature_takes_the_mean_and_variance_of_all() -> None:
    totals = numeric.GaussianTotals(3, 1)
    for label, value in [(0, 10.0), (0, 12.0), (1, 18.0), (1, 20.0), (2, None)]:
        totals.add(label, [value])
    scorer = numeric.GaussianScorer(totals)
    assert scorer.means == [[11.0], [19.0], [15.0]]
    assert scorer.variances == [[1.0], [1.0], [17.0]]  # (25 + 9 + 9 + 25) / 4


def test_variance_is_exact_where_a_sum_of_floats_would_cancel() -> None:
    totals = numeric.GaussianTotals(1, 1)
    for value in (2e9, 2e9 + 1, 2e9 + 2):
        totals.add(0, [value])
    assert numeric.mean_and_variance(totals.counts[0][0], totals.sums[0][0], totals.squares[0][0]) == (
        2e9 + 1,
        pytest.approx(2 / 3, rel=1e-15),
    )


def test_a_missing_feature_is_left_out_of_the_product() -> None:
    scorer = numeric.CategoricalScorer(five_rows(), 1.0)
    whole = scorer.contributions([1, 0, 1])
    assert scorer.contributions([1, None, 1]) == [whole[0], [0.0, 0.0], whole[2]]
    assert scorer.contributions([1, math.nan, 1]) == [whole[0], [0.0, 0.0], whole[2]]


def test_equal_width_bins_cut_the_range_and_equal_frequency_bins_the_ranks() -> None:
    column = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [3.0], [4.0], [8.0]])
    assert bulk.learn_edges(column, 4, "width") == [[2.0, 4.0, 6.0]]
    assert bulk.learn_edges(column, 4, "frequency") == [[2.0, 4.0]]  # ranks 2, 4, 6; 0 is no edge
    assert bulk.learn_edges(np.array([[5.0], [5.0], [np.nan]]), 4) == [[]]
    assert bulk.bins_of(column, [[2.0, 4.0]]).ravel().tolist() == [0, 0, 0, 0, 1, 1, 2, 2]


def brute_force_aode(
    rows: list[tuple[list[int | None], int]], query: list[int | None], sizes: list[int], minimum: int = 1
) -> list[float]:
    """sum over i with F(x_i) >= m of P(y, x_i) prod_j P(x_j | y, x_i), straight from the definition.

    Webb, Boughton and Wang 2005: P(y, x_i) = (F(y, x_i) + 1) / (cases with x_i known + K v_i) and
    P(x_j | y, x_i) = (F(y, x_i, x_j) + 1) / (F(y, x_i) with x_j known + v_j).
    """

    def frequency(label: int | None, wanted: dict[int, int], known: tuple[int, ...] = ()) -> int:
        return sum(
            (label is None or label == own)
            and all(row[j] == value for j, value in wanted.items())
            and all(row[j] is not None for j in known)
            for row, own in rows
        )

    scores = []
    for y in range(2):
        terms = []
        for i, x_i in enumerate(query):
            if x_i is None or frequency(None, {i: x_i}) < minimum:
                continue
            term = F(frequency(y, {i: x_i}) + 1, frequency(None, {}, (i,)) + 2 * sizes[i])
            for j, x_j in enumerate(query):
                if j != i and x_j is not None:
                    term *= F(
                        frequency(y, {i: x_i, j: x_j}) + 1,
                        frequency(y, {i: x_i}, (j,)) + sizes[j],
                    )
            terms.append(term)
        scores.append(float(sum(terms) / len(terms)))
    return scores


AODE_EDGES = [[1.0], [1.0, 2.0], [1.0, 2.0], [1.0]]
AODE_ROWS: list[tuple[list[int | None], int]] = [
    ([0, 2, 1, 0], 0), ([0, 1, 1, 1], 0), ([1, 2, 0, 0], 1), ([1, 0, 0, 1], 1), ([0, 0, 2, 0], 0),
    ([1, 2, 2, None], 1), ([None, 1, 0, 1], 0), ([1, 1, None, 0], 1), ([0, 2, 1, 1], 1), ([1, 0, 1, None], 0),
]  # fmt: skip


@pytest.mark.parametrize("minimum", [1, 3])
def test_aode_is_its_definition_for_every_possible_message(minimum: int) -> None:
    totals = numeric.PairTotals(2, AODE_EDGES)
    for row, label in AODE_ROWS:
        totals.add(label, row)
    scorer = numeric.AodeScorer(totals, 1.0, minimum)
    sizes = [len(edges) + 1 for edges in AODE_EDGES]
    queries = [list(q) for q in product(*[[None, *range(size)] for size in sizes])][1:]
    features = np.array([[np.nan if v is None else v for v in q] for q in queries], dtype=float)
    batch = np.exp(bulk.aode_joint(scorer, features, None))
    for query, row in zip(queries, batch.tolist(), strict=True):
        if not any(scorer._seen(f, cell) >= minimum for f, cell in totals.present(query)):
            continue
        expected = brute_force_aode(AODE_ROWS, query, sizes, minimum)
        assert [math.exp(v) for v in scorer.joint(query, None)] == pytest.approx(expected, rel=1e-12)
        assert row == pytest.approx(expected, rel=1e-12)


def test_aode_with_no_parent_seen_often_enough_is_the_categorical_model() -> None:
    totals = numeric.PairTotals(2, AODE_EDGES)
    for row, label in AODE_ROWS:
        totals.add(label, row)
    query = [0, 1, 2, 1]
    aode = numeric.AodeScorer(totals, 1.0, minimum=100).log_likelihood(query)
    assert aode == pytest.approx(numeric.CategoricalScorer(totals, 1.0).log_likelihood(query))
    assert aode != pytest.approx(numeric.AodeScorer(totals, 1.0).log_likelihood(query))


def test_aode_of_one_feature_is_the_categorical_model() -> None:
    totals = numeric.PairTotals(2, [[1.0, 2.0]])
    for label, value in [(0, 0), (0, 1), (1, 2), (1, 2), (1, 0)]:
        totals.add(label, [value])
    for value in range(3):
        aode = numeric.AodeScorer(totals, 0.5).log_likelihood([value])
        assert aode == pytest.approx(numeric.CategoricalScorer(totals, 0.5).log_likelihood([value]))


def test_aode_sees_an_interaction_that_naive_bayes_cannot() -> None:
    """Class 1 where two features differ (exclusive or): each alone tells nothing."""
    rows = [([0, 0], 0), ([1, 1], 0), ([0, 1], 1), ([1, 0], 1)] * 5
    totals = numeric.PairTotals(2, [[1.0], [1.0]])
    for row, label in rows:
        totals.add(label, row)
    naive = numeric.CategoricalScorer(totals, 1.0).log_likelihood([0, 1])
    assert naive[0] == pytest.approx(naive[1])
    aode = numeric.AodeScorer(totals, 1.0).log_likelihood([0, 1])
    assert aode[1] - aode[0] == pytest.approx(math.log(F(5 + 1, 5 + 2) / F(0 + 1, 5 + 2)))
