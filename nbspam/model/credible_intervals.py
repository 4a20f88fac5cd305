"""Credible intervals: how sure a model is of its parameters, and of the log-odds of a message.

Smoothing is a conjugate prior, so every parameter has a posterior: Beta for the rate of a word, Dirichlet for
the bins of a feature, normal-inverse-gamma for a mean and variance.  The log-odds are a sum of logarithms of
parameters, and their posterior variance is known exactly.  It tells "mixed evidence" (log-odds near 0, narrow
interval) from "too little data" (wide).  Formulas: docs/models.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, gammaincinv, polygamma, stdtrit

from nbspam.model.calibration import design
from nbspam.model.features import arrange
from nbspam.model.numeric import (
    LEAST_VARIANCE,
    FeatureCounts,
    Floats,
    add_zero_row,
    clamp,
    estimate_normal,
)
from nbspam.model.posterior import OF_MAIL, Scored, ScorePart, rest_weights
from nbspam.model.scorer import Scorer
from nbspam.model.words import BernoulliLaw
from nbspam.settings import MEASURE_ALPHA, Settings
from nbspam.tokens.bag import MEASURES_VIEW, VIEWS
from nbspam.tokens.measures import N_BINS, count_measured, find_measure

Interval = tuple[float, float]

TAIL = 0.025  # on either side of an interval: they hold 95 %
DEVIATIONS = 1.959963984540054  # of a normal distribution, either way, hold 95 %
# Averaged views smooth with a small lambda because that classifies best, not because a word never met in ham
# has a rate of nearly 0 there: their intervals take Jeffreys' prior, Beta(1/2, 1/2).
JEFFREYS = 0.5
trigamma = partial(polygamma, 1)


def beta_interval(a: float, b: float) -> Interval:
    """Equal-tailed interval of Beta(a, b); a point where a or b is 0 (lambda = 0), (0, 1) where both are."""
    if a <= 0 or b <= 0:
        return float(b <= 0 < a), float(a > 0 or b <= 0)
    return float(betaincinv(a, b, TAIL)), float(betaincinv(a, b, 1 - TAIL))


def word_share_interval(documents: Sequence[float], positive: int, settings: Settings) -> Interval:
    """Interval of the share of class `positive` among the messages that contain a word.

    Beta(n_positive + lambda, n_rest + (K - 1) lambda), n the `documents` by class.  It is the share in the
    mail trained on, with that mail's class balance.
    """
    alpha = max(settings.alpha, JEFFREYS) if settings.averaged else settings.alpha
    rest = sum(documents) - documents[positive]
    return beta_interval(documents[positive] + alpha, rest + alpha * (len(documents) - 1))


class NormalInverseGamma(NamedTuple):
    """sigma^2 ~ inverse gamma(shape, scale), mu | sigma^2 ~ N(mean, sigma^2 / kappa): numbers or arrays.

    Source: Murphy 2007, section 6 (kappa is his 1 / V, shape a, scale b).
    """

    mean: Any
    kappa: Any
    shape: Any
    scale: Any

    def mean_interval(self) -> tuple[Any, Any]:
        """Interval of mu: a Student t distribution of 2 shape degrees of freedom."""
        half = stdtrit(2 * self.shape, 1 - TAIL) * np.sqrt(self.scale / (self.shape * self.kappa))
        return self.mean - half, self.mean + half

    def variance_interval(self) -> tuple[Any, Any]:
        """Equal-tailed interval of sigma^2."""
        return self.scale / gammaincinv(self.shape, 1 - TAIL), self.scale / gammaincinv(self.shape, TAIL)

    def log_density_variance(self, x: Any) -> Any:
        """Posterior variance of log N(x; mu, sigma^2), nats squared.

        With d = x - mean: (trigamma(a) + a d^4 / b^2 - 2 d^2 / b) / 4 + a d^2 / (b kappa) + 1 / (2 kappa^2).
        """
        square = (x - self.mean) ** 2 / self.scale
        of_sigma = (trigamma(self.shape) + self.shape * square**2 - 2 * square) / 4
        return of_sigma + self.shape * square / self.kappa + 1 / (2 * self.kappa**2)


def normal_posterior(counts: FeatureCounts, prior: NormalInverseGamma | None = None) -> NormalInverseGamma:
    """The posterior of mean and variance, arrays (n_classes, n_features).

    prior : None for one worth a message of each class, with the mean and variance over all classes
    """
    center, spread = estimate_normal(counts.moments.sum(axis=0))
    before = prior or NormalInverseGamma(center, 1.0, 0.5, np.maximum(spread, LEAST_VARIANCE) / 2)
    n, (mean, variance) = counts.moments[:, :, 0].astype(float), estimate_normal(counts.moments)
    kappa = before.kappa + n
    shift = before.kappa * n / kappa * (mean - before.mean) ** 2
    return NormalInverseGamma(
        (before.kappa * before.mean + n * mean) / kappa,
        kappa,
        before.shape + n / 2,
        before.scale + (n * variance + shift) / 2,
    )


def feature_variances(event_model: str, counts: FeatureCounts, alpha: float, features: ArrayLike) -> Floats:
    """Posterior variance of the log-likelihood, float64 (n_messages, n_classes), nats squared.

    event_model : gaussian or categorical; the mean over the parents of aode has no such formula
    """
    if event_model == "gaussian":
        values, posterior = clamp(features)[:, None, :], normal_posterior(counts)
        found = posterior.log_density_variance(np.where(np.isnan(values), 0.0, values))
        varies = estimate_normal(counts.moments.sum(axis=0))[1] > 0
        return np.asarray(np.where(np.isnan(values) | ~varies, 0.0, found).sum(axis=2))
    totals = counts.known(counts.bins) + alpha * counts.sizes[counts.feature_of_cell]
    with np.errstate(invalid="ignore"):
        table = trigamma(counts.bins + alpha) - trigamma(totals)
    table[np.isnan(table)] = np.inf
    return np.asarray(add_zero_row(table.T)[counts.cells(features)].sum(axis=1))


def dirichlet_variances(parameters: ArrayLike, coefficients: ArrayLike, totals: ArrayLike) -> Floats:
    """Posterior variance of sum_j c_j log phi_j, float64 (n_classes,), nats squared.

    sum_j c_j^2 trigamma(a_j) - (sum_j c_j)^2 trigamma(sum of a), correlations included; inf where there is no
    posterior (lambda = 0 and no data).  Source: Minka 2000, section 1.

    parameters : a_j, (n_tokens, n_classes);  totals : (n_classes,), their sums over the vocabulary
    """
    totals, c = np.asarray(totals, float), np.asarray(coefficients, float)
    a = np.asarray(parameters, float).reshape(len(c), len(totals))
    if not c.any():
        return np.zeros(len(totals))
    with np.errstate(invalid="ignore"):
        found = c[c != 0] ** 2 @ trigamma(a[c != 0]) - c.sum() ** 2 * trigamma(totals)
    return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))


def bernoulli_variances(words: BernoulliLaw, documents: ArrayLike) -> Floats:
    """The same under Bernoulli, where each word has a Beta of its own, and absent words count, too.

    documents : n_jk (n_tokens, n_classes) of the words of the message
    """
    present, found = np.asarray(documents, float).reshape(-1, words.n_classes), []
    for n, histogram, m in zip(present.T, words.histogram, words.messages, strict=True):
        counts, times = np.array(histogram, float).reshape(-1, 2).T
        all_absent = times @ trigamma(m - counts + words.alpha) - times.sum() * trigamma(m + 2 * words.alpha)
        found.append(all_absent + trigamma(n + words.alpha).sum() - trigamma(m - n + words.alpha).sum())
    return np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))


def log_odds_standard_deviation(
    variances: Sequence[float], log_joint: Sequence[float], positive: int
) -> float:
    """Posterior standard deviation of the log-odds, nats.

    variances : by class, of the log joint; add those of independent parts
    Exact for two classes; for more by the delta method, each other class by its share of the rest.
    """
    gradient = rest_weights(log_joint, positive)  # of the log-odds; its signs do not matter
    gradient[positive] = 1.0
    pairs = zip(gradient, variances, strict=True)
    return sqrt(sum(weight * weight * variance for weight, variance in pairs if weight))


def log_odds_interval(
    scorer: Scorer, scored: Scored, positive: int, covariance: Sequence[Sequence[float]]
) -> Interval | None:
    """95 % credible interval of the log-odds of class `positive`, by the normal approximation, nats.

    covariance : of the weights of the calibration; empty where none is kept
    None where they or their posterior are undefined: AODE, normalised complement, lambda = 0 without data.
    """
    settings, variances = scorer.settings, np.zeros(len(scored.scores))
    if scorer.features is not None:
        if settings.numeric_model == "aode":
            return None
        features, values = scorer.features, arrange(scorer.features.names, scored.features)
        variances += feature_variances(features.event_model, features.counts, settings.alpha, values)[0]
    if settings.averaged:
        variances += _of_views(scorer, scored.parts)
    else:
        if settings.features != "numeric":
            if settings.event_model == "complement" and settings.normalise:
                return None
            variances += _of_words(scorer, scored.parts)
        if settings.prior in OF_MAIL and (settings.features != "words" or scorer.words.uses_prior):
            pseudo = settings.alpha if settings.prior == "smoothed" else 0.0
            variances += trigamma(np.array(scorer.model.messages) + pseudo)  # of a prior that is estimated
    total = log_odds_standard_deviation(variances.tolist(), scored.scores, positive)
    if settings.averaged and covariance:  # x' S x, x the design less those of the others by their shares
        x = np.array(design(scored.evidence, scored.common, positive))
        for k, weight in enumerate(rest_weights(scored.scores, positive)):
            x = x - weight * np.array(design(scored.evidence, scored.common, k))
        total = sqrt(total * total + max(0.0, float(x @ np.array(covariance) @ x)))
    value = scored.log_odds(positive)
    if value is None or not isfinite(total):
        return None
    return value - DEVIATIONS * total, value + DEVIATIONS * total


def _of_words(scorer: Scorer, parts: Sequence[ScorePart]) -> Floats:
    words, found = scorer.words, [part for part in parts if part.kind == "token"]
    if isinstance(words, BernoulliLaw):
        return bernoulli_variances(words, [part.counts[::2] for part in found])
    rows = [words.pseudo_counts(part.counts[::2], part.counts[1::2]) for part in found]
    times = [1 if words.event_model == "presence" else part.times for part in found]
    return dirichlet_variances(rows, times, words.concentration)


def _of_views(scorer: Scorer, parts: Sequence[ScorePart]) -> Floats:
    """Of averaged evidence: the words of each view are one Dirichlet, and so are the bins of each measure.

    What words add to the scores of classes that are alike is left out.
    """
    model, alpha = scorer.model, max(scorer.settings.alpha, JEFFREYS)
    tokens = [part for part in parts if part.kind == "token"]
    groups: list[tuple[list[ScorePart], Sequence[float], float, int]] = []
    for view in range(len(VIEWS)):
        of_view = [part for part in tokens if part.view == view]
        groups.append((of_view, model.documents[view], alpha, model.words[view] + 1))
    measured = count_measured(model.documents[MEASURES_VIEW])
    for part in tokens:
        if part.view == MEASURES_VIEW and any(part.counts):
            groups.append(([part], measured, MEASURE_ALPHA, N_BINS[find_measure(part.text)]))
    total = np.zeros(len(model.classes))
    for some, sums, pseudo, size in groups:
        rows = [[n + pseudo for n in part.counts[::2]] for part in some]
        scales, totals = [part.scale for part in some], [n + pseudo * size for n in sums]
        total += dirichlet_variances(rows, scales, totals)
    return total
