"""Credible intervals: how sure a model is of its parameters, and of the log-odds of a message.

Smoothing is a conjugate prior, so every parameter has a posterior: Beta for the share of a word, Dirichlet
for the words of a view, normal-inverse-gamma for a mean and variance.  The log-odds of averaged views are a
sum of logarithms of parameters, whose posterior variance is known exactly.  It tells "mixed evidence"
(log-odds near 0, narrow interval) from "too little data" (wide).  Formulas: docs/models.md.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, gammaincinv, polygamma, stdtrit

from nbspam.model.calibration import design
from nbspam.model.counts import Floats
from nbspam.model.numeric import NormalInverseGamma
from nbspam.model.posterior import Scored, ScorePart, rest_weights
from nbspam.model.scorer import Scorer
from nbspam.settings import BERNOULLI_OUTCOMES, MEASURE_ALPHA, Settings
from nbspam.tokens.bag import MEASURES_VIEW, N_BINS, RAW_VIEW, count_measured, find_measure

CredibleInterval = tuple[float, float]

INTERVAL_TAIL = 0.025  # on either side of an interval: they hold 95 %
DEVIATIONS = 1.959963984540054  # of a normal distribution, either way, hold 95 %
# Averaged views smooth with a small lambda because that classifies best, not because a word never met in ham
# has a rate of nearly 0 there: their intervals take Jeffreys' prior, Beta(1/2, 1/2).
JEFFREYS = 0.5
trigamma = partial(polygamma, 1)


def beta_interval(a: float, b: float) -> CredibleInterval:
    """Equal-tailed interval of Beta(a, b); a point where a or b is 0 (lambda = 0), (0, 1) where both are."""
    if a <= 0 or b <= 0:
        return float(b <= 0 < a), float(a > 0 or b <= 0)
    return float(betaincinv(a, b, INTERVAL_TAIL)), float(betaincinv(a, b, 1 - INTERVAL_TAIL))


def word_share_interval(documents: Sequence[float], positive: int, settings: Settings) -> CredibleInterval:
    """Interval of the share of class `positive` among the messages that contain a word.

    Beta(n_positive + lambda, n_rest + (K - 1) lambda), n the `documents` by class.  It is the share in the
    mail trained on, with that mail's class balance.
    """
    alpha = max(settings.alpha, JEFFREYS) if settings.averaged else settings.alpha
    rest = sum(documents) - documents[positive]
    return beta_interval(documents[positive] + alpha, rest + alpha * (len(documents) - 1))


def mean_interval(posterior: NormalInverseGamma) -> tuple[Any, Any]:
    """Interval of mu: a Student t distribution of 2 shape degrees of freedom."""
    mean, kappa, shape, scale = posterior
    half = stdtrit(2 * shape, 1 - INTERVAL_TAIL) * np.sqrt(scale / (shape * kappa))
    return mean - half, mean + half


def variance_interval(posterior: NormalInverseGamma) -> tuple[Any, Any]:
    """Equal-tailed interval of sigma^2."""
    low, high = (gammaincinv(posterior.shape, tail) for tail in (INTERVAL_TAIL, 1 - INTERVAL_TAIL))
    return posterior.scale / high, posterior.scale / low


class Drawn(NamedTuple):
    """Tokens of a message that share a Dirichlet: those of a view, one of raw, or the bin of one measure.

    sums   : counts by class over the vocabulary of the view or the bins of the measure; of raw, messages
    pseudo : pseudo-count of each word or bin;  size : how many of them there are
    """

    tokens: list[ScorePart]
    sums: Sequence[float]
    pseudo: float
    size: int


def dirichlet_variances(parameters: ArrayLike, coefficients: ArrayLike, totals: ArrayLike) -> Floats:
    """Posterior variance of sum_j c_j log phi_j, float64 (n_classes,), nats squared.

    sum_j c_j^2 trigamma(a_j) - (sum_j c_j)^2 trigamma(sum of a), correlations included.
    Source: Minka 2000, section 1.

    parameters : a_j > 0, (n_tokens, n_classes);  totals : (n_classes,), their sums over the vocabulary
    """
    totals = np.asarray(totals, float)
    c = np.asarray(coefficients, float)
    a = np.asarray(parameters, float).reshape(len(c), len(totals))
    used = c != 0
    if not used.any():
        return np.zeros(len(totals))
    variances = c[used] ** 2 @ trigamma(a[used]) - c.sum() ** 2 * trigamma(totals)
    return np.asarray(np.maximum(variances, 0.0))


def log_odds_interval(scorer: Scorer, scored: Scored, positive: int) -> CredibleInterval | None:
    """95 % credible interval of the log-odds of class `positive`, by the normal approximation, nats.

    None unless views are averaged, and where the log-odds are undefined.
    Exact for two classes; for more by the delta method, each other class by its share of the rest.
    """
    value = scored.log_odds(positive)
    if value is None or not scorer.settings.averaged:
        return None
    rest = rest_weights(scored.scores, positive)
    gradient = [1.0 if k == positive else -share for k, share in enumerate(rest)]  # of the log-odds
    pairs = zip(gradient, word_variances(scorer, scored.parts).tolist(), strict=True)
    total = sqrt(sum(slope * slope * variance for slope, variance in pairs if slope))
    if covariance := scorer.model.covariance():
        x = np.array(design(scored.evidence, scored.common, positive))
        for k, share in enumerate(rest):
            x = x - share * np.array(design(scored.evidence, scored.common, k))
        of_weights = float(x @ np.array(covariance) @ x)
        total = sqrt(total * total + max(0.0, of_weights))
    return value - DEVIATIONS * total, value + DEVIATIONS * total


def word_variances(scorer: Scorer, parts: Sequence[ScorePart]) -> Floats:
    """Posterior variance of what the tokens add to the score of each class, float64 (n_classes,)."""
    total = np.zeros(len(scorer.model.classes))
    for drawn in _list_dirichlets(scorer, [part for part in parts if part.kind == "token"]):
        parameters = [[n + drawn.pseudo for n in part.counts[::2]] for part in drawn.tokens]
        scales = [part.scale for part in drawn.tokens]
        totals = [n + drawn.pseudo * drawn.size for n in drawn.sums]
        total += dirichlet_variances(parameters, scales, totals)
    return total


def _list_dirichlets(scorer: Scorer, tokens: Sequence[ScorePart]) -> Iterator[Drawn]:
    model, alpha = scorer.model, max(scorer.settings.alpha, JEFFREYS)
    for view in range(RAW_VIEW):  # those whose words are drawn from one distribution
        of_view = [part for part in tokens if part.view == view]
        yield Drawn(of_view, model.documents[view], alpha, model.words[view] + 1)
    measured = count_measured(model.documents[MEASURES_VIEW])
    for part in tokens:
        if part.view == RAW_VIEW:
            yield Drawn([part], model.messages, alpha, BERNOULLI_OUTCOMES)
        if part.view == MEASURES_VIEW and any(part.counts):
            yield Drawn([part], measured, MEASURE_ALPHA, N_BINS[find_measure(part.text)])
