"""Gaussian, categorical and AODE: laws, examples for pencil and paper, and scikit-learn."""

import math
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from nbspam.model.numeric import (
    CategoricalLaw,
    FeatureStatistics,
    GaussianLaw,
    count_features,
    learn_edges,
    make_numeric_law,
)
from nbspam.model.posterior import log_posteriors
from nbspam.settings import BINNINGS, NUMERIC_MODELS

ALPHAS = [0.0, 1e-100, 0.01, 1.0, 7.5, 1e12]
every_model = pytest.mark.parametrize("event_model", NUMERIC_MODELS)


def some_features(n: int, n_classes: int = 3, width: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_classes, size=n)
    features = rng.gamma(1.0 + labels[:, None], 50.0, size=(n, width)).round(3)
    features[:, 1] = rng.poisson(labels * 2.0)
    features[rng.random(features.shape) < 0.15] = np.nan
    return features, labels


EDGES = learn_edges(some_features(200, seed=99)[0], 4)


def counted(features: Any, labels: Any, edges: Any = EDGES, n_classes: int = 3) -> FeatureStatistics:
    return count_features(np.asarray(features), np.asarray(labels), n_classes, edges, with_pairs=True)


def by_hand(rows: list[tuple[Any, int]], edges: Any, n_classes: int = 2) -> FeatureStatistics:
    return counted(np.array([row for row, _ in rows], float), [label for _, label in rows], edges, n_classes)


def scores(event_model: str, counts: FeatureStatistics, features: Any, alpha: float = 1.0) -> Any:
    return make_numeric_law(event_model, counts, alpha).log_likelihood(features)


def state(counts: FeatureStatistics) -> Any:
    return counts.moments.tolist(), counts.bins.tolist(), counts.pairs.tolist()  # type: ignore[union-attr]


# Laws


value = st.one_of(st.floats(), st.sampled_from([0.0, 1.0, -1e300, 2.0**31, 1e-7]))
mail = st.lists(st.tuples(st.lists(value, min_size=4, max_size=4), st.integers(0, 2)), max_size=12)


@given(mail, st.integers(0, 12))
def test_any_messages_are_added_merged_and_removed_exactly(rows: Any, cut: int) -> None:
    features = np.array([row for row, _ in rows], float).reshape(-1, 4)
    labels = np.array([label for _, label in rows], int)
    whole, before = counted(features, labels), state(counted(features[:cut], labels[:cut]))
    one_by_one = FeatureStatistics(3, EDGES, with_pairs=True)
    for row in np.random.default_rng(1).permutation(len(labels)):
        one_by_one.add(features[[row]], labels[[row]])
    assert state(one_by_one) == state(whole)
    one_by_one.add(features[cut:], labels[cut:], -1)
    assert state(one_by_one) == before


@every_model
@given(rows=mail, alpha=st.one_of(st.sampled_from(ALPHAS), st.floats(1e-100, 1e6)))
def test_a_score_is_never_nan_nor_plus_infinite(event_model: str, rows: Any, alpha: float) -> None:
    features, labels = some_features(20)
    query = np.array([row for row, _ in rows], float).reshape(-1, 4)
    found = scores(event_model, counted(features, labels), query, alpha)
    assert found.shape == (len(rows), 3)
    assert not np.isnan(found).any()
    assert not np.isposinf(found).any()
    if alpha:
        assert np.isfinite(found).all()


@every_model
@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_one_message_and_a_batch_get_the_same_scores(event_model: str, n_classes: int) -> None:
    counts = counted(*some_features(60, n_classes), n_classes=n_classes)
    query = some_features(40, n_classes, seed=7)[0]
    model = make_numeric_law(event_model, counts, 0.3)
    one_by_one = np.concatenate([model.log_likelihood(query[[row]]) for row in range(40)])
    np.testing.assert_allclose(model.log_likelihood(query), one_by_one, rtol=1e-12, atol=1e-12)


@every_model
def test_contributions_add_up_and_a_missing_feature_adds_nothing(event_model: str) -> None:
    model = make_numeric_law(event_model, counted(*some_features(60)), 1.0)
    query = some_features(30, seed=8)[0]
    parts = model.contributions(query)
    np.testing.assert_allclose(parts.sum(axis=1), model.log_likelihood(query))
    assert not model.log_likelihood(np.full((1, 4), np.nan)).any()
    if event_model != "aode":
        assert not parts[np.isnan(query)].any()


@every_model
def test_a_model_without_any_mail_scores_all_classes_alike(event_model: str) -> None:
    found = scores(event_model, FeatureStatistics(3, EDGES, with_pairs=True), some_features(10)[0])
    np.testing.assert_allclose(found, np.repeat(found[:, :1], 3, axis=1), atol=1e-12)


# A1 A2 A3 | Y of the lecture notes.  Binary features are bins with one edge at 1.
FIVE_ROWS = [([1, 1, 0], 1), ([0, 1, 1], 1), ([1, 0, 1], 0), ([0, 1, 0], 0), ([0, 0, 1], 0)]
FIVE = by_hand(FIVE_ROWS, [[1.0]] * 3)
PRIOR = np.log([3 / 5, 2 / 5])


def five_joint(alpha: float, query: Any = (1, 0, 0)) -> Any:
    return (scores("categorical", FIVE, [query], alpha)[0] + PRIOR).tolist()


def test_five_rows_have_the_fractions_worked_out_by_hand() -> None:
    class_0 = F(3, 5) * F(1 + 1, 3 + 2) * F(2 + 1, 3 + 2) * F(1 + 1, 3 + 2)
    class_1 = F(2, 5) * F(1 + 1, 2 + 2) * F(0 + 1, 2 + 2) * F(1 + 1, 2 + 2)
    assert (class_0, class_1) == (F(36, 625), F(1, 40))
    assert five_joint(1.0) == pytest.approx([math.log(class_0), math.log(class_1)], abs=1e-12)
    posterior = np.exp(log_posteriors(five_joint(1.0)) or [])
    assert posterior.tolist() == pytest.approx([288 / 413, 125 / 413], rel=1e-12)
    unsmoothed = F(3, 5) * F(1, 3) * F(2, 3) * F(1, 3)
    assert five_joint(0.0) == [pytest.approx(math.log(unsmoothed), abs=1e-12), -math.inf]


# Gaussian


def test_gaussian_of_three_and_two_values_is_students_t_by_hand() -> None:
    """All mail: mean 6.6, variance 22.64.  Each class has one message of it more."""
    model = GaussianLaw(by_hand([([1], 0), ([3], 0), ([5], 0), ([10], 1), ([14], 1)], [[]]))
    assert model.means.ravel().tolist() == pytest.approx([(6.6 + 9) / 4, (6.6 + 24) / 3])
    ham = (22.64 + 8 + 3 / 4 * (6.6 - 3) ** 2) / 4
    spam = (22.64 + 8 + 2 / 3 * (6.6 - 12) ** 2) / 3
    assert model.variances.ravel().tolist() == pytest.approx([ham, spam])
    laws = stats.t(4, 3.9, math.sqrt(ham * 5 / 4)), stats.t(3, 10.2, math.sqrt(spam * 4 / 3))
    assert model.log_likelihood([[6.0]])[0].tolist() == pytest.approx([law.logpdf(6.0) for law in laws])


def test_a_value_that_never_varies_in_a_class_of_much_mail_has_the_variance_floor() -> None:
    model = GaussianLaw(by_hand([([0], 0)] * 4_000 + [([10], 1), ([30], 1)] * 2_000, [[]]))
    assert model.floored.tolist() == [[True], [False]]
    assert model.variances[0] == [pytest.approx(0.001 * 150)]  # variance of 0, 0, 10, 30


@given(learned=st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), query=value)
def test_one_message_of_each_class_says_less_than_a_nat_by_a_feature(learned: Any, query: float) -> None:
    found = GaussianLaw(by_hand([([learned[0]], 0), ([learned[1]], 1)], [[]])).log_likelihood([[query]])
    assert abs(found[0, 1] - found[0, 0]) < 1


@given(rows=mail, query=st.lists(value, min_size=4, max_size=4))
def test_a_gaussian_says_nothing_where_the_classes_have_learned_the_same(rows: Any, query: Any) -> None:
    twice = [(row, k) for row, _ in rows for k in range(2)]
    found = GaussianLaw(by_hand(twice or [([math.nan] * 4, 0)], EDGES)).log_likelihood([query])
    assert found[0, 0] == found[0, 1]


def test_a_feature_that_is_the_same_in_all_mail_does_not_drown_the_others() -> None:
    rows = [([x, 0.0, math.nan], k) for x, k in [(1, 0), (3, 0), (10, 1), (14, 1)]]
    model = GaussianLaw(by_hand(rows, [[]] * 3))
    assert model.constant.tolist() == [False, True, True]
    without = model.log_likelihood([[3.0, math.nan, math.nan]])
    assert model.log_likelihood([[3.0, 200_000.0, 5.0]]).tolist() == without.tolist()


# Bins


def test_equal_width_bins_cut_the_range_and_equal_frequency_bins_the_ranks() -> None:
    column = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [3.0], [4.0], [8.0]])
    assert learn_edges(column, 4, "width") == [[2.0, 4.0, 6.0]]
    assert learn_edges(column, 4, "frequency") == [[2.0, 4.0]]  # ranks 2, 4, 6; 0 is no edge
    assert learn_edges(np.array([[5.0], [5.0], [np.nan]]), 4) == [[]]
    assert FeatureStatistics(1, [[2.0, 4.0]]).cells(column).ravel().tolist() == [0, 0, 0, 0, 1, 1, 2, 2]


# AODE


def aode_by_definition(rows: list[tuple[Any, int]], query: Any, sizes: list[int]) -> list[float]:
    """mean over the parents i of P(x_i | y) prod_j P(x_j | y, x_i), with lambda = 1.  None is missing.

    Webb, Boughton and Wang 2005, with P(x_i | y) = (F(y, x_i) + 1) / (F(y) with x_i known + v_i) and
    P(x_j | y, x_i) = (F(y, x_i, x_j) + 1) / (F(y, x_i) with x_j known + v_j).
    """

    def frequency(y: int | None, wanted: dict[int, int], known: int = 0) -> int:
        return sum(
            y in (None, own) and row[known] is not None and all(row[j] == x for j, x in wanted.items())
            for row, own in rows
        )

    present = [(i, x) for i, x in enumerate(query) if x is not None]
    found = []
    for y in range(2):
        terms = []
        for i, x_i in present:
            if frequency(None, {i: x_i}, i):
                term = F(frequency(y, {i: x_i}, i) + 1, frequency(y, {}, i) + sizes[i])
                for j, x_j in present:
                    if j != i:
                        both, one = frequency(y, {i: x_i, j: x_j}, j), frequency(y, {i: x_i}, j)
                        term *= F(both + 1, one + sizes[j])
                terms.append(term)
        found.append(float(sum(terms) / len(terms)))
    return found


AODE_EDGES = [[1.0], [1.0, 2.0], [1.0, 2.0], [1.0]]
AODE_ROWS: list[tuple[Any, int]] = [
    ([0, 2, 1, 0], 0), ([0, 1, 1, 1], 0), ([1, 2, 0, 0], 1), ([1, 0, 0, 1], 1), ([0, 0, 2, 0], 0),
    ([1, 2, 2, None], 1), ([None, 1, 0, 1], 0), ([1, 1, None, 0], 1), ([0, 2, 1, 1], 1), ([1, 0, 1, None], 0),
]  # fmt: skip


def test_aode_is_its_definition_for_every_possible_message() -> None:
    sizes = [len(edges) + 1 for edges in AODE_EDGES]
    queries = [list(query) for query in product(*[[None, *range(size)] for size in sizes])][1:]
    found = np.exp(scores("aode", by_hand(AODE_ROWS, AODE_EDGES), np.array(queries, float)))
    for query, row in zip(queries, found.tolist(), strict=True):
        assert row == pytest.approx(aode_by_definition(AODE_ROWS, query, sizes), rel=1e-12)


def test_aode_sees_an_interaction_that_naive_bayes_cannot() -> None:
    """Class 1 where two features differ: each alone says nothing."""
    counts = by_hand([([0, 0], 0), ([1, 1], 0), ([0, 1], 1), ([1, 0], 1)] * 5, [[1.0], [1.0]])
    naive, aode = (scores(event_model, counts, [[0, 1]])[0] for event_model in ("categorical", "aode"))
    assert naive[0] == pytest.approx(naive[1])
    assert aode[1] - aode[0] == pytest.approx(math.log(F(5 + 1, 5 + 2) / F(0 + 1, 5 + 2)))


# scikit-learn


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_gaussian_of_much_mail_equals_scikit_learn(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    labels = np.arange(100) % n_classes
    # Multiples of 2^-10 are counted as they are; finer values are rounded to 2^-20.
    features = np.round(rng.normal(labels[:, None], 2.0, size=(100, 6)) * 1024) / 1024
    counts = counted(features, labels, [[]] * 6, n_classes)
    counts.moments *= 10**6  # each message so many times
    expected = GaussianNB(var_smoothing=0).fit(features, labels).predict_joint_log_proba(features)
    found = GaussianLaw(counts).log_likelihood(features) + np.log(np.bincount(labels) / 100)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("binning", BINNINGS)
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_categorical_equals_scikit_learn(n_classes: int, alpha: float, binning: str) -> None:
    labels = np.arange(100) % n_classes
    features = np.random.default_rng(n_classes).gamma(1.0 + labels[:, None], size=(100, 5))
    edges = learn_edges(features, 10, binning)
    counts = counted(features, labels, edges, n_classes)
    bins = counts.cells(features) - counts.starts
    theirs = CategoricalNB(alpha=alpha, min_categories=counts.sizes).fit(bins, labels)
    found = CategoricalLaw(counts, alpha).log_likelihood(features) + np.log(np.bincount(labels) / 100)
    np.testing.assert_allclose(found, theirs.predict_joint_log_proba(bins), rtol=1e-11, atol=1e-9)
