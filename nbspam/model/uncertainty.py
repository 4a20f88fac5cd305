"""How far more training could move the log-odds of one message.

Hides how the posterior variances of the words' parameters, of the calibration weights and of the
class prior become one standard deviation.  It tells "mixed evidence" (log-odds near 0, narrow) from
"too little data" (wide).  Not on the lane: `classify --json` and `explain` ask.
"""

from __future__ import annotations

from math import isfinite, sqrt

from nbspam.model import calibration
from nbspam.model.credibility import log_odds_standard_deviation, score_variances
from nbspam.model.posterior import Scored, rest_weights
from nbspam.model.priors import OF_MAIL
from nbspam.model.scorer import COUNTS_REPEATS, Scorer
from nbspam.model.words import MultinomialLaw, WordTotals
from nbspam.settings import MEASURE_ALPHA
from nbspam.tokens.bag import MEASURES_VIEW, VIEWS
from nbspam.tokens.measures import N_BINS, measure_of, messages_measured

# Averaged scoring smooths with a small lambda because that classifies best, not because anyone believes
# that a word never met in ham has a rate of nearly 0: intervals take Jeffreys' prior, Beta(1/2, 1/2), there.
JEFFREYS = 0.5


def belief(alpha: float, averaged: bool) -> float:
    """The pseudo-count of the intervals: lambda itself in the textbook's sum, else 1/2 at least."""
    return max(alpha, JEFFREYS) if averaged else alpha


def log_odds_deviation(
    scorer: Scorer, scored: Scored, positive: int, covariance: list[list[float]]
) -> float | None:
    """Posterior standard deviation of the log-odds of class `positive`, nats.

    covariance : of the calibration weights; empty where none is kept
    None where no posterior tells it: numeric features, normalised complement, lambda = 0 without data.
    """
    settings = scorer.settings
    if settings.features != "words" or (settings.event_model == "complement" and settings.normalise):
        return None
    if settings.averaged:
        variances = _view_variances(scorer, scored)
        own = log_odds_standard_deviation(variances, scored.scores, positive)
        total = sqrt(own * own + _calibration_variance(scored, positive, covariance))
    else:
        repeats = settings.event_model in COUNTS_REPEATS
        tokens = [
            (part.counts[::2], part.counts[1::2], float(part.times) if repeats else 1.0)
            for part in scored.parts
            if part.kind == "token"
        ]
        variances = score_variances(scorer.words, tokens)
        total = log_odds_standard_deviation(variances, scored.scores, positive, _prior_counts(scorer))
    return total if isfinite(total) else None


def _prior_counts(scorer: Scorer) -> list[float]:
    """m_k + lambda where the class prior is estimated from the mail; nothing where it is given."""
    settings, messages = scorer.settings, scorer.model.messages
    if not scorer.words.uses_prior or settings.prior not in OF_MAIL:
        return []
    return [m + (settings.alpha if settings.prior == "smoothed" else 0.0) for m in messages]


def _view_variances(scorer: Scorer, scored: Scored) -> list[float]:
    """Per class, of the averaged evidence: each view's words are a Dirichlet of their own.

    What words add by way of other classes (R_j of nbspam.model.calibration) is left out.
    """
    model, settings = scorer.model, scorer.settings
    variances = [0.0] * len(model.classes)
    a = belief(settings.alpha, True)
    for view in range(len(VIEWS)):
        parts = [part for part in scored.parts if part.kind == "token" and part.view == view]
        words = model.words[view] + 1
        totals = WordTotals(model.messages, model.documents[view], model.occurrences[view], words)
        tokens = [(part.counts[::2], part.counts[1::2], part.scale) for part in parts]
        found = score_variances(MultinomialLaw(totals, a), tokens)
        variances = [sum(pair) for pair in zip(variances, found, strict=True)]
    if not settings.measures:
        return variances
    return [sum(pair) for pair in zip(variances, _measure_variances(scorer, scored), strict=True)]


def _measure_variances(scorer: Scorer, scored: Scored) -> list[float]:
    """Per class, of the measures: the bins of each are a Dirichlet of their own."""
    model = scorer.model
    variances = [0.0] * len(model.classes)
    measured = messages_measured(model.documents[MEASURES_VIEW])
    for part in scored.parts:
        if part.kind == "token" and part.view == MEASURES_VIEW and any(part.counts):
            totals = WordTotals(model.messages, measured, measured, N_BINS[measure_of(part.text)])
            tokens = [(part.counts[::2], part.counts[1::2], part.scale)]
            found = score_variances(MultinomialLaw(totals, MEASURE_ALPHA), tokens)
            variances = [sum(pair) for pair in zip(variances, found, strict=True)]
    return variances


def _calibration_variance(scored: Scored, positive: int, covariance: list[list[float]]) -> float:
    """x' S x with x the features of the positive class against the others, each by its share of the rest."""
    if not covariance:
        return 0.0
    x = calibration.design(scored.evidence, scored.common, positive)
    for k, weight in enumerate(rest_weights(scored.scores, positive)):
        other = calibration.design(scored.evidence, scored.common, k)
        x = [a - weight * b for a, b in zip(x, other, strict=True)]
    return max(0.0, sum(x[i] * x[j] * covariance[i][j] for i in range(len(x)) for j in range(len(x))))
