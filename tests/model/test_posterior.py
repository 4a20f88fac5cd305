"""Posteriors, log-odds, priors and credible intervals: against scipy, by simulation, and at the extremes."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats

from nbspam.errors import UsageError
from nbspam.model.credible_intervals import (
    beta_interval,
    dirichlet_variances,
    mean_interval,
    variance_interval,
    word_share_interval,
)
from nbspam.model.numeric import FeatureStatistics, normal_posterior
from nbspam.model.posterior import log_odds, log_posteriors, log_priors, parse_prior
from nbspam.settings import Settings

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


def test_priors_are_those_by_hand() -> None:
    assert [math.exp(v) for v in log_priors("empirical", [30, 10])] == pytest.approx([0.75, 0.25])
    assert [math.exp(v) for v in log_priors("smoothed", [30, 10], alpha=5)] == pytest.approx(
        [35 / 50, 15 / 50]
    )
    assert [math.exp(v) for v in log_priors("uniform", [30, 10, 5, 0])] == pytest.approx([0.25] * 4)
    given_prior = log_priors({"spam": 0.4, "ham": 0.6}, [1, 1], ("ham", "spam"))
    assert [math.exp(v) for v in given_prior] == pytest.approx([0.6, 0.4])


def test_class_without_mail_has_no_prior_unless_smoothed() -> None:
    assert log_priors("empirical", [3, 0]) == [0.0, -INF]
    assert log_priors("empirical", [0, 0]) == [-INF, -INF]
    assert [math.exp(v) for v in log_priors("smoothed", [0, 0])] == pytest.approx([0.5, 0.5])
    assert [math.exp(v) for v in log_priors("smoothed", [3, 1], alpha=1e12)] == pytest.approx([0.5, 0.5])
    assert log_priors({"ham": 1.0, "spam": 0.0}, [1, 1], ("ham", "spam")) == [0.0, -INF]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("flat", "neither a named prior"),
        ("spam=0.4,ham=0.61", "sum to 1.01"),
        ("spam=-0.5,ham=1.5", "neither a named prior"),
        ("spam=nan,ham=1", "neither a named prior"),
        ("spam=x,ham=1", "neither a named prior"),
        ("spam=1,0.5", "neither a named prior"),
    ],
)
def test_a_prior_that_makes_no_sense_is_refused_with_a_remedy(text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_prior(text)
    assert why in caught.value.why
    assert "spam=0.4,ham=0.6" in caught.value.remedy


def test_a_given_prior_must_fit_the_classes() -> None:
    assert parse_prior("spam=0.4, a=b=0.6") == {"spam": 0.4, "a=b": 0.6}
    for other in ({"spam": 0.4, "junk": 0.6}, {"spam": 1.0}):
        with pytest.raises(UsageError, match="other classes than the model: ham, spam"):
            log_priors(other, [1, 1], ("ham", "spam"))


DRAWS = 100_000


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1e-3, 100), (3, 2), (1e5, 1e6), (1e7, 1e7), (2.5, 1e4)])
def test_a_beta_interval_is_scipys(a: float, b: float) -> None:
    assert beta_interval(a, b) == pytest.approx(stats.beta(a, b).interval(0.95), rel=1e-7, abs=1e-300)


def test_a_spam_share_is_uncertain_after_one_message_and_not_after_many() -> None:
    averaged, one_sum = Settings(alpha=0.03), Settings(alpha=0.03, averaged=False)
    assert word_share_interval([0, 1], 1, averaged) == pytest.approx((0.15, 1.0), abs=0.005)
    assert word_share_interval([0, 1000], 1, averaged) == pytest.approx((0.997, 1.0), abs=0.0005)
    assert word_share_interval([0, 1], 1, one_sum) == pytest.approx(stats.beta(1.03, 0.03).interval(0.95))
    three = word_share_interval([2, 5, 3], 1, Settings(alpha=1.0))
    assert three == pytest.approx(stats.beta(6, 7).interval(0.95))


# Five words; (ham, spam) counts.
DOCUMENTS = np.array([[3, 1], [0, 4], [2, 2], [0, 0], [6, 1]], float)


def test_the_variance_of_a_score_is_that_of_simulated_dirichlets() -> None:
    coefficients = np.array([1.0, 2.0, 0.5, 0.0, 0.0])
    parameters = DOCUMENTS + 0.5
    found = dirichlet_variances(parameters, coefficients, parameters.sum(axis=0))
    rng = np.random.default_rng(0)
    for k in range(2):
        draws = rng.dirichlet(parameters[:, k], DRAWS)[:, :3]
        simulated = np.var((np.log(draws) * coefficients[:3]).sum(axis=1))
        assert found[k] == pytest.approx(float(simulated), rel=0.02)


def test_a_message_without_words_has_no_variance() -> None:
    assert dirichlet_variances([], [], [5.0, 0.0]).tolist() == [0.0, 0.0]


# Numeric features: (1, 3, 5) of ham, (10, 14) of spam, and a feature that is the same in all mail.
COUNTS = FeatureStatistics(2, [[4.0], []])
COUNTS.add([[1, 7], [3, 7], [5, 7], [10, 7], [14, 7]], [0, 0, 0, 1, 1])


def test_normal_posterior_is_that_by_hand() -> None:
    """Of ham n = 3, mean 3, sum of squares 8; the prior is a message of mean 33/5, variance 22.64."""
    mean, kappa, shape, scale = (field[0, 0] for field in normal_posterior(COUNTS))
    assert (mean, kappa, shape) == (pytest.approx((33 / 5 + 9) / 4), 4, 2)
    assert scale == pytest.approx(22.64 / 2 + 8 / 2 + (1 * 3 / 4) * (3 - 33 / 5) ** 2 / 2)


def test_intervals_of_mean_and_variance_hold_95_per_cent() -> None:
    posterior = normal_posterior(COUNTS)
    mean, kappa, shape, scale = (float(field[0, 0]) for field in posterior)
    rng = np.random.default_rng(2)
    variances = stats.invgamma(shape, scale=scale).rvs(DRAWS, random_state=rng)
    means = rng.normal(mean, np.sqrt(variances / kappa))
    for (low, high), draws in ((mean_interval(posterior), means), (variance_interval(posterior), variances)):
        assert np.mean(draws < low[0, 0]) == pytest.approx(0.025, abs=0.002)
        assert np.mean(draws > high[0, 0]) == pytest.approx(0.025, abs=0.002)
