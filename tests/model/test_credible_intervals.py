"""Credible intervals of parameters and of log-odds: against scipy, by simulation, and at the extremes."""

import numpy as np
import pytest
from scipy import stats

from nbspam.model.credible_intervals import (
    beta_interval,
    dirichlet_variances,
    mean_interval,
    variance_interval,
    word_share_interval,
)
from nbspam.model.numeric import FeatureStatistics, normal_posterior
from nbspam.settings import Settings

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
    for (low, high), draws in (
        (mean_interval(posterior), means),
        (variance_interval(posterior), variances),
    ):
        assert np.mean(draws < low[0, 0]) == pytest.approx(0.025, abs=0.002)
        assert np.mean(draws > high[0, 0]) == pytest.approx(0.025, abs=0.002)
