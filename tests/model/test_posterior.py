"""Posteriors, log-odds and priors: against scipy, and at the extremes."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special

from nbspam.errors import UsageError
from nbspam.model.posterior import log_odds, log_posteriors, log_priors, parse_prior

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
