"""Posteriors, log-odds, priors, credible intervals: against scipy, by simulation, and at the extremes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats

from nbspam.errors import UsageError
from nbspam.model import words as events
from nbspam.model.credibility import (
    beta_cdf,
    beta_interval,
    beta_quantile,
    log_odds_interval,
    log_odds_standard_deviation,
    normal_quantile,
    score_variances,
    trigamma,
    word_share_interval,
)
from nbspam.model.posterior import log_odds, log_posteriors, rest_weights
from nbspam.model.priors import log_priors, parse_prior

INF = math.inf


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=6))
@example([-1e17, -1e17])
@example([-140_000_000_000.0, -140_000_000_001.0, -140_000_000_002.0])
def test_posteriors_sum_to_one_for_any_finite_joint(joint: list[float]) -> None:
    posteriors = log_posteriors(joint)
    assert posteriors is not None
    assert math.fsum(map(math.exp, posteriors)) == pytest.approx(1.0, abs=1e-12)
    assert max(posteriors) <= 0.0


@given(st.lists(st.floats(-800, 0), min_size=2, max_size=6))
def test_posteriors_are_scipys_log_softmax(joint: list[float]) -> None:
    assert log_posteriors(joint) == pytest.approx(special.log_softmax(joint).tolist(), abs=1e-12)


def test_the_posterior_is_undefined_where_every_class_is_ruled_out() -> None:
    assert log_posteriors([-INF, -INF]) is None
    assert log_odds([-INF, -INF], 1) is None
    assert log_posteriors([-INF, -3.0]) == [-INF, 0.0]
    assert log_odds([-INF, -3.0], 1) == INF
    assert log_odds([-INF, -3.0], 0) == -INF


def test_log_odds_stay_finite_and_unrounded_where_the_probability_prints_as_one() -> None:
    assert log_odds([-1e6, -1e6 + 50.25], 1) == 50.25
    assert log_odds([-1e300, 1e300], 1) == 2e300
    assert log_odds([-1e17, -1e17, -1e17], 1) == pytest.approx(-math.log(2))
    assert log_odds([-5.0, -7.0, -8.0], 2) == pytest.approx(-3.0 - math.log1p(math.exp(-2.0)))


@given(st.lists(st.floats(-300, 300), min_size=2, max_size=5), st.integers(0, 4))
def test_log_odds_are_the_logit_of_the_posterior(joint: list[float], positive: int) -> None:
    positive %= len(joint)
    posteriors = log_posteriors(joint)
    assert posteriors is not None
    rest = [value for k, value in enumerate(posteriors) if k != positive]
    expected = posteriors[positive] - float(special.logsumexp(rest))
    assert log_odds(joint, positive) == pytest.approx(expected, abs=1e-9)


def test_the_other_classes_weigh_their_shares_of_what_is_left() -> None:
    assert rest_weights([math.log(6), -1.0, math.log(2)], 1) == pytest.approx([0.75, 0.0, 0.25])
    assert rest_weights([-5.0, 3.0], 0) == [0.0, 1.0]
    assert rest_weights([-INF, 0.0, -2.0], 2) == [0.0, 1.0, 0.0]


def test_where_all_other_classes_are_ruled_out_each_weighs_one() -> None:
    assert rest_weights([-INF, 0.0, -INF], 1) == [1.0, 0.0, 1.0]


SHAPES = [(0.5, 0.5), (1e-3, 100), (3, 2), (1e5, 1e6), (1, 1e6), (200, 1e-3), (1e7, 1e7), (1, 1), (2.5, 1e4)]


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("probability", [1e-6, 0.025, 0.5, 0.975, 1 - 1e-6])
def test_the_beta_quantile_is_scipys(a: float, b: float, probability: float) -> None:
    expected = float(special.betaincinv(a, b, probability))
    assert beta_quantile(probability, a, b) == pytest.approx(expected, rel=1e-7, abs=1e-300)


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("x", [0.0, 1e-12, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9, 1.0])
def test_the_incomplete_beta_is_scipys(a: float, b: float, x: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(float(special.betainc(a, b, x)), rel=1e-7, abs=1e-12)


@given(st.floats(1e-4, 1e7))
def test_trigamma_is_scipys(x: float) -> None:
    assert trigamma(x) == pytest.approx(float(special.polygamma(1, x)), rel=1e-12)


def test_trigamma_of_zero_is_infinite() -> None:
    assert trigamma(0.0) == INF


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_normal_quantile_is_scipys(level: float) -> None:
    assert normal_quantile((1 + level) / 2) == pytest.approx(
        float(stats.norm.ppf((1 + level) / 2)), rel=1e-12
    )


def test_a_spam_share_interval_is_wide_after_one_message_and_narrow_after_many() -> None:
    once = word_share_interval([0, 1], 1, 1.0)
    often = word_share_interval([0, 1000], 1, 1.0)
    assert once == pytest.approx(stats.beta(2, 1).interval(0.95))
    assert once[1] - once[0] > 0.8
    assert often[0] > 0.99
    assert word_share_interval([0, 1], 1, 0.5) == pytest.approx((0.15, 1.0), abs=0.005)
    assert word_share_interval([0, 1000], 1, 0.5) == pytest.approx((0.997, 1.0), abs=0.0005)
    three = word_share_interval([2, 5, 3], 1, 1.0)
    assert three == pytest.approx(stats.beta(6, 7).interval(0.95))


def test_intervals_without_smoothing_shrink_to_points_or_tell_nothing() -> None:
    assert beta_interval(0.0, 5.0) == (0.0, 0.0)
    assert beta_interval(5.0, 0.0) == (1.0, 1.0)
    assert beta_interval(0.0, 0.0) == (0.0, 1.0)


@given(st.floats(0.001, 1e5), st.floats(0.001, 1e5))
def test_an_interval_holds_its_level(a: float, b: float) -> None:
    low, high = beta_interval(a, b, 0.9)
    assert 0.0 <= low <= high <= 1.0
    if low > 1e-300 and high < 1 - 1e-12:
        assert float(special.betainc(a, b, high) - special.betainc(a, b, low)) == pytest.approx(0.9, abs=1e-6)


# Three words of a vocabulary of five; (ham, spam) counts.
DOCUMENTS = [[3, 1], [0, 4], [2, 2], [0, 0], [6, 1]]
MESSAGES = [9, 7]


def totals() -> events.WordTotals:
    columns = list(zip(*DOCUMENTS, strict=True))
    histograms = [{c: column.count(c) for c in column} for column in columns]
    sums = [sum(column) for column in columns]
    outside = [{c: column.count(c) for c in column} for column in columns[::-1]]
    return events.WordTotals(MESSAGES, sums, sums, 5, histograms, outside)


def test_the_variance_of_a_score_is_that_of_simulated_dirichlets() -> None:
    coefficients = [1.0, 2.0, 0.5, 0.0, 0.0]
    scorer = events.make_word_law("multinomial", totals(), 0.5)
    tokens = [(counts, counts, c) for counts, c in zip(DOCUMENTS, coefficients, strict=True)]
    rng = np.random.default_rng(0)
    for k, variance in enumerate(score_variances(scorer, tokens)):
        draws = rng.dirichlet([counts[k] + 0.5 for counts in DOCUMENTS], 400_000)
        with np.errstate(divide="ignore", invalid="ignore"):
            simulated = np.var((np.log(draws) * coefficients)[:, :3].sum(axis=1))
        assert variance == pytest.approx(float(simulated), rel=0.02)


@pytest.mark.parametrize("present", [[0, 2], [], [0, 1, 2, 3, 4]])
def test_the_variance_under_bernoulli_is_that_of_simulated_betas(present: list[int]) -> None:
    scorer = events.make_word_law("bernoulli", totals(), 0.5)
    tokens = [(DOCUMENTS[j], DOCUMENTS[j], 1.0) for j in present]
    rng = np.random.default_rng(1)
    for k, variance in enumerate(score_variances(scorer, tokens)):
        simulated = 0.0
        for j, counts in enumerate(DOCUMENTS):
            draws = rng.beta(counts[k] + 0.5, MESSAGES[k] - counts[k] + 0.5, 400_000)
            simulated += float(np.var(np.log(draws if j in present else 1 - draws)))
        assert variance == pytest.approx(simulated, rel=0.02)


def test_too_little_data_and_mixed_evidence_are_told_apart() -> None:
    """Both log-odds are about 0; only the deviation knows why."""
    little, mixed = (
        events.WordTotals([1, 1], [5, 5], [5, 5], 100),
        events.WordTotals([900] * 2, [9e4] * 2, [9e4] * 2, 100),
    )
    deviations = []
    for model, counts in ((little, [[1, 0], [0, 1]]), (mixed, [[500, 50], [50, 500]])):
        scorer = events.make_word_law("presence", model, 1.0)
        tokens = [(pair, pair, 1) for pair in counts]
        joint = events.log_joint(scorer, [0.0, 0.0], tokens)
        assert log_odds(joint, 1) == pytest.approx(0.0, abs=1e-12)
        deviations.append(log_odds_standard_deviation(score_variances(scorer, tokens), joint, 1))
    assert deviations[0] > 1.5
    assert deviations[1] < 0.25


def test_the_deviation_adds_the_prior_and_is_symmetric_for_two_classes() -> None:
    joint, variances = [-3.0, -4.0], [0.5, 1.5]
    assert log_odds_standard_deviation(variances, joint, 1) == pytest.approx(math.sqrt(2.0))
    assert log_odds_standard_deviation(variances, joint, 0) == pytest.approx(math.sqrt(2.0))
    with_prior = log_odds_standard_deviation(variances, joint, 1, [4.0, 9.0])
    assert with_prior == pytest.approx(math.sqrt(2.0 + trigamma(4.0) + trigamma(9.0)))


def test_the_deviation_for_three_classes_weighs_the_others_by_their_share() -> None:
    joint = [0.0, math.log(3.0), 5.0]
    deviation = log_odds_standard_deviation([1.0, 2.0, 4.0], joint, 2)
    assert deviation == pytest.approx(math.sqrt(4.0 + 2.0 * 0.75**2 + 1.0 * 0.25**2))


def test_the_deviation_is_infinite_where_nothing_is_known() -> None:
    for event_model in ("presence", "multinomial", "complement", "bernoulli"):
        scorer = events.make_word_law(event_model, totals(), 0.0)
        assert score_variances(scorer, [([0, 0], [0, 0], 1)]) == [INF, INF]
    assert log_odds_standard_deviation([INF, 1.0], [-INF, 0.0], 1) == INF


def test_a_log_odds_interval_is_two_deviations_wide_either_way() -> None:
    low, high = log_odds_interval(3.0, 2.0)
    assert (low, high) == pytest.approx((3.0 - 3.919927969, 3.0 + 3.919927969))


def test_priors_by_hand() -> None:
    assert [math.exp(v) for v in log_priors("empirical", [30, 10])] == pytest.approx([0.75, 0.25])
    assert [math.exp(v) for v in log_priors("smoothed", [30, 10], alpha=5)] == pytest.approx(
        [35 / 50, 15 / 50]
    )
    assert [math.exp(v) for v in log_priors("uniform", [30, 10, 5, 0])] == pytest.approx([0.25] * 4)
    given_prior = log_priors({"spam": 0.4, "ham": 0.6}, [1, 1], ("ham", "spam"))
    assert [math.exp(v) for v in given_prior] == pytest.approx([0.6, 0.4])


def test_priors_of_classes_without_mail() -> None:
    assert log_priors("empirical", [3, 0]) == [0.0, -INF]
    assert log_priors("empirical", [0, 0]) == [-INF, -INF]
    assert [math.exp(v) for v in log_priors("smoothed", [0, 0])] == pytest.approx([0.5, 0.5])
    assert [math.exp(v) for v in log_priors("smoothed", [3, 1], alpha=1e308)] == pytest.approx([0.5, 0.5])
    assert log_priors({"ham": 1.0, "spam": 0.0}, [1, 1], ("ham", "spam")) == [0.0, -INF]


def test_parse_prior_reads_names_and_lists() -> None:
    assert parse_prior("Empirical") == "empirical"
    assert parse_prior("spam=0.4, ham=0.6") == {"spam": 0.4, "ham": 0.6}
    assert parse_prior("a=b=0.5,c=.5") == {"a=b": 0.5, "c": 0.5}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("flat", "neither a named prior"),
        ("", "neither a named prior"),
        ("spam=0.4", "sum to 0.4"),
        ("spam=0.4,ham=0.61", "sum to 1.01"),
        ("spam=-0.5,ham=1.5", "not a probability"),
        ("spam=nan,ham=1", "not a probability"),
        ("spam=x,ham=1", "not a number"),
        ("spam=0.5,spam=0.5", "given twice"),
        ("spam=1,0.5", "not class=probability"),
        ("=1", "not class=probability"),
    ],
)
def test_a_prior_that_makes_no_sense_is_refused_with_a_remedy(text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_prior(text)
    assert why in caught.value.why
    assert "spam=0.4,ham=0.6" in caught.value.remedy


@pytest.mark.parametrize(
    ("prior", "why"),
    [
        ({"spam": 0.4, "junk": 0.6}, "no class junk; its classes are: ham, spam"),
        ({"spam": 1.0}, "class ham has no probability"),
        ({"spam": 0.4, "ham": 0.4}, "sum to 0.8"),
        ({"spam": 1.5, "ham": -0.5}, "not a probability"),
        ("flat", "no such prior"),
    ],
)
def test_a_given_prior_must_fit_the_classes(prior: dict[str, float] | str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        log_priors(prior, [1, 1], ("ham", "spam"))
    assert why in caught.value.why


def test_three_thirds_written_with_seven_digits_are_a_prior() -> None:
    prior = parse_prior("a=0.3333333,b=0.3333333,c=0.3333333")
    assert [math.exp(v) for v in log_priors(prior, [1, 1, 1], ("a", "b", "c"))] == pytest.approx([1 / 3] * 3)
