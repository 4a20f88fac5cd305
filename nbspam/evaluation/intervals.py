"""How sure a figure is: 95 % intervals, exact for proportions, by resampling for the rest.

Messages are drawn with replacement within each true class (stratified), with a fixed seed, so that the same
evaluation gives the same interval.  A draw is how often each message counts; figures are computed from these
weights.
"""

from collections.abc import Iterator
from math import exp, nan

import numpy as np
from scipy.special import betaincinv

from nbspam.evaluation.outcomes import Floats, Ints

Bounds = tuple[float, float]  # the low and the high end of an interval

TAIL_SHARE = 0.025  # beyond each end
ERRORS = 1.959964  # standard errors from the middle to an end
RESAMPLING_SEED = 20050815
NO_INTERVAL = (nan, nan)
MOST_REPLICATES, FEWEST_REPLICATES = 2000, 200
DRAWS = 45_000_000  # messages drawn in all: 75,000 messages take less than two seconds with 600 replicates


def clopper_pearson(hits: int, trials: int) -> Bounds:
    """Exact interval of a proportion, 0 to 1; (nan, nan) for no trials.  Source: Clopper and Pearson 1934.

    Its ends are quantiles of Beta(hits, trials - hits + 1) and Beta(hits + 1, trials - hits).
    """
    if not trials:
        return NO_INTERVAL
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, TAIL_SHARE))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - TAIL_SHARE))
    return low, high


def choose_replicates(n_messages: int, passes: int = 1) -> int:
    """How many resamples to draw: 2,000, fewer for large corpora (their intervals are narrow), at least 200.

    passes : how many rankings each resample is judged on
    """
    return min(MOST_REPLICATES, max(FEWEST_REPLICATES, DRAWS // max(1, n_messages * passes)))


def draw_resamples(truth: Ints, count: int) -> Iterator[Floats]:
    """`count` times float64 (n,): how often each message is drawn, drawn within each class.

    truth : int64 (n,).  The array is reused: read it before asking for the next.
    """
    random = np.random.default_rng(RESAMPLING_SEED)
    strata = [np.flatnonzero(truth == number) for number in np.unique(truth)]
    weights = np.empty(len(truth))
    for _ in range(count):
        for rows in strata:
            drawn = random.integers(0, len(rows), len(rows))  # 64-bit: narrower ones cost a conversion
            weights[rows] = np.bincount(drawn, minlength=len(rows))
        yield weights


def resample_confusions(counts: Ints) -> Ints:
    """Confusion matrices of stratified resamples, int64 (MOST_REPLICATES, n_classes, n_classes + 1).

    Drawing messages within a class and counting decisions is one multinomial draw a row.
    """
    random = np.random.default_rng(RESAMPLING_SEED)
    classes = zip(counts.sum(axis=1), counts, strict=True)
    rows = [random.multinomial(n, row / max(n, 1), MOST_REPLICATES) for n, row in classes]
    return np.stack(rows, axis=1)


def percentile_interval(drawn: Floats) -> Bounds:
    """The middle 95 % of the resampled values; (nan, nan) if there are none or one is nan."""
    if not len(drawn) or np.isnan(drawn).any():
        return NO_INTERVAL
    low, high = np.quantile(drawn, [TAIL_SHARE, 1 - TAIL_SHARE]).tolist()
    return low, high


def normal_interval(value: float, drawn: Floats, scale: str) -> Bounds:
    """value -/+ 1.96 standard errors of the resampled values, on a scale; the ends are mapped back.

    linear : not below 0.  For the calibration error: resampling adds noise to every bin, so all resampled
             values lie above the figure itself and a percentile interval would not hold it.
    log    : for a loss, value > 0, which few messages make.  Such a figure is skewed: a sample that happens
             to lack the rare mistakes has a narrow spread, and the middle of its resamples ends too low.
    logit  : for a percentage, 0 < value < 100
    """
    error = ERRORS * float(np.std(drawn, ddof=1))
    if scale == "linear":
        return max(0.0, value - error), value + error
    if scale == "log":
        return value * exp(-error / value), value * exp(error / value)
    odds = value / (100 - value)
    step = 100 * error / (value * (100 - value))
    low, high = (odds * exp(direction * step) for direction in (-1, 1))
    return 100 * low / (1 + low), 100 * high / (1 + high)
