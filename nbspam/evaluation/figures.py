"""All figures of an evaluation, each declared once, with their 95 % intervals; the rows of its tables.

A figure is a function of a Sample.  Its name is the key in JSON, and the first line of its docstring is what
tables say of it.  A share of messages has the exact interval of Clopper and Pearson 1934, every other figure
the interval of its values on resamples, unless its function gives one.
"""

from collections.abc import Callable
from functools import partial
from math import exp, isfinite, log, nan
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv  # scipy.stats takes 0.8 s to import

from nbspam.decision import UNDECIDED
from nbspam.evaluation.outcomes import Evaluation, Floats
from nbspam.evaluation.samples import (
    Sample,
    can_vary,
    choose_replicates,
    draw_weights,
    one_minus_roca,
    spam_missed_at,
    take_all,
)
from nbspam.labels import UNSURE

Summary = dict[str, Any]
Bounds = tuple[float, float]  # the low and the high end of an interval

TAIL_SHARE = 0.025  # beyond each end
ERRORS = 1.959964  # standard errors from the middle to an end
NO_INTERVAL = (nan, nan)
CURVE_POINTS = 50
ROUNDING = 1e-12  # of a figure; resamples that differ by less are equal except for rounding

AT_HM = "sm_percent_at_hm"
HAM_LOST_PERMILLE = {"0.1": 1, "0.5": 5, "1": 10}  # hm% as written in JSON, and per mille


def clopper_pearson(hits: float, trials: float) -> Bounds:
    """Exact interval of a proportion, 0 to 1; (nan, nan) for no trials.  Source: Clopper and Pearson 1934.

    Its ends are quantiles of Beta(hits, trials - hits + 1) and Beta(hits + 1, trials - hits).
    """
    if not trials:
        return NO_INTERVAL
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, TAIL_SHARE))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - TAIL_SHARE))
    return low, high


def find_middle(_value: float, drawn: Floats) -> Bounds:
    """The middle 95 % of the resampled values; (nan, nan) if one is nan."""
    low, high = np.quantile(drawn, [TAIL_SHARE, 1 - TAIL_SHARE]).tolist()
    return low, high


def add_errors(value: float, drawn: Floats) -> Bounds:
    """value -/+ 1.96 standard errors, those of the resampled values; not below 0.

    For the calibration error: the middle of its resampled values would not hold it.
    """
    error = ERRORS * float(np.std(drawn, ddof=1))
    return max(0.0, value - error), value + error


def multiply_errors(value: float, drawn: Floats) -> Bounds:
    """value times or divided by e to the power of 1.96 standard errors of its logarithm.

    For a loss, value > 0, which few messages make.  Such a figure is skewed: a sample that happens to lack
    the rare mistakes has a narrow spread, and the middle of its resamples ends too low.
    """
    factor = exp(ERRORS * float(np.std(drawn, ddof=1)) / value)
    return value / factor, value * factor


class Share(NamedTuple):
    """How many messages have something, and of how many."""

    hits: float
    trials: float

    def times(self, factor: int) -> float:
        """The share times a factor; nan without trials."""
        return float(factor * self.hits / self.trials) if self.trials else nan


class Estimate(NamedTuple):
    """A figure and its 95 % interval; nan if undefined."""

    value: float
    interval: Bounds = NO_INTERVAL


class Figure(NamedTuple):
    """A figure in JSON and, with a label, in tables.

    key      : in JSON; `name:part` is a part of the object `name`
    meaning  : what it says
    needs    : `spam`, `probabilities`, `costs` or nothing
    interval : makes it of the value and its resampled values
    """

    key: str
    compute: Callable[[Sample], float | Share | Estimate]
    meaning: str
    label: str = ""
    needs: str = ""
    digits: int = 2
    unit: str = " %"
    interval: Callable[[float, Floats], Bounds] = find_middle

    @property
    def factor(self) -> int:
        """Of a share from 0 to 1 in JSON."""
        return 100 if "percent" in self.key else 1

    def format(self, value: float) -> str:
        """The JSON value as tables show it, without its unit."""
        scale = 100 // self.factor if self.unit == " %" else 1
        return f"{scale * value:,.{self.digits}f}"


Compute = TypeVar("Compute", bound=Callable[[Sample], Any])
FIGURES: dict[str, Figure] = {}


def _figure(label: str = "", needs: str = "", **more: Any) -> Callable[[Compute], Compute]:
    """Declare a function as a figure; more : the other fields of Figure"""

    def declare(compute: Compute) -> Compute:
        meaning = (compute.__doc__ or "").split("\n")[0]
        FIGURES[compute.__name__] = Figure(compute.__name__, compute, meaning, label, needs, **more)
        return compute

    return declare


@_figure("accuracy")
def accuracy(sample: Sample) -> Share:
    """decided rightly, of all messages"""
    return Share(np.trace(sample.counts), sample.counts.sum())


@_figure("precision", "spam")
def precision(sample: Sample) -> Share:
    """spam, of all decided as spam"""
    return Share(sample.spam[sample.k], sample.spam[sample.k] + sample.ham[sample.k])


@_figure("recall", "spam")
def recall(sample: Sample) -> Share:
    """decided as spam, of all spam"""
    return Share(sample.spam[sample.k], sample.spam.sum())


@_figure("F1", "spam")
def f1(sample: Sample) -> float:
    """harmonic mean of precision and recall"""
    caught, decided = sample.spam[sample.k], sample.spam[sample.k] + sample.ham[sample.k]
    return float(2 * caught / (sample.spam.sum() + decided)) if sample.spam.any() else nan


@_figure("ham lost", "spam")
def hm_percent(sample: Sample) -> Share:
    """hm%: decided as spam, of all ham"""
    return Share(sample.ham[sample.k], sample.ham.sum())


@_figure("spam missed", "spam")
def sm_percent(sample: Sample) -> Share:
    """sm%: decided as ham, of all spam"""
    total = sample.spam.sum()
    return Share(total - sample.spam[sample.k] - sample.spam[UNDECIDED], total)


@_figure("unsure")
def unsure_percent(sample: Sample) -> Share:
    """left undecided; neither lost nor missed"""
    return Share(sample.counts[:, UNDECIDED].sum(), sample.counts.sum())


@_figure("lam%", "spam")
def lam_percent(sample: Sample) -> Estimate:
    """logistic average of these two

    logit(lam) = (logit(hm) + logit(sm)) / 2.  A rate of 0 or 1 has no logit: there half a message counts as
    wrong, or right (0.5 / n, 1 - 0.5 / n), as in TREC's toolkit for curves; other rates are not smoothed, so
    that the figure agrees with published ones.
    The interval is normal in logits: with one lost ham that of the bootstrap is too narrow.  The variance of
    a logit is 1 / wrong + 1 / right, that of their mean a quarter of the sum of both (Woolf 1955).
    Source: Cormack and Lynam, TREC 2005 spam track overview, section 3.
    """
    logits, variance = 0.0, 0.0
    for errors, messages in (hm_percent(sample), sm_percent(sample)):
        if not messages:
            return Estimate(nan)
        wrong = min(max(errors, 0.5), max(messages - 0.5, 0.5))
        right = max(messages - wrong, 0.5)
        logits += log(wrong / right) / 2
        variance += (1 / wrong + 1 / right) / 4
    low, value, high = (100 / (1 + exp(-logits - step * variance**0.5)) for step in (-ERRORS, 0, ERRORS))
    return Estimate(value, (low, high))


@_figure("(1-ROCA)%", "spam", digits=4, interval=multiply_errors)
def one_minus_roca_percent(sample: Sample) -> float:
    """pairs of ham, spam in the wrong order"""
    return 100 * one_minus_roca(sample.tally)


def missed_percent_at(sample: Sample, permille: int) -> float:
    """Spam missed by the lowest threshold that loses at most `permille` / 1000 of the ham, percent."""
    return 100 * spam_missed_at(sample.tally, permille)


for _level, _permille in HAM_LOST_PERMILLE.items():
    _key, _label = f"{AT_HM}:{_level}", f"missed at {_level} % ham lost"
    _compute = partial(missed_percent_at, permille=_permille)
    FIGURES[_key] = Figure(_key, _compute, "at a threshold that loses no more ham", _label, "spam")


@_figure("macro (1-ROCA)%", digits=4, interval=multiply_errors)
def macro_one_minus_roca_percent(sample: Sample) -> float:
    """each class against the rest, mean"""
    if sample.k >= 0 and sample.evaluation.n_classes == 2:
        return one_minus_roca_percent(sample)  # both classes have the same ranking
    values = [one_minus_roca(ranking.tally(sample.weights)) for ranking in sample.judgement.rankings]
    return 100 * (sum(values) / len(values)) if values else nan


@_figure("macro F1", digits=4, unit="")
def macro_f1(sample: Sample) -> float:
    """harmonic mean of precision and recall, mean of classes"""
    is_present = sample.counts.any(axis=1)
    return float((compute_class_rates(sample.counts)["f1"] * is_present).sum() / is_present.sum())


@_figure("expected cost", "costs", digits=4, unit="", interval=multiply_errors)
def expected_loss(sample: Sample) -> float:
    """mean cost of a decision"""
    return float((sample.counts * lay_out_costs(sample.evaluation.loss)).sum() / sample.counts.sum())


@_figure("calibration error", "probabilities", interval=add_errors)
def ece_percent(sample: Sample) -> float:
    """how far probabilities are off (ECE)

    The mean over messages of a bin's distance from the diagonal.  Resamples keep the bins; they add noise to
    each, so all resampled values lie above the figure itself.
    """
    bin_of, confidence, came_true = sample.judgement.reliability
    surplus = sample.weights * (came_true - confidence)
    return 100 * (float(np.abs(np.bincount(bin_of, surplus)).sum()) / len(surplus))


@_figure("Brier score", "probabilities", digits=5, unit="", interval=multiply_errors)
def brier(sample: Sample) -> float:
    """mean squared error of probabilities"""
    return sample.mean_errors[0]


@_figure("log loss", "probabilities", digits=5, unit=" nats", interval=multiply_errors)
def log_loss(sample: Sample) -> float:
    """mean -ln of the true class's probability"""
    return sample.mean_errors[1]


def compute_class_rates(counts: Floats) -> dict[str, Floats]:
    """Precision, recall and F1 of each class, 0 to 1, float64 (n_classes,).

    counts : see Sample.counts
    Unsure lowers recall and leaves precision alone.  A class never decided has precision 0, one without
    messages recall 0.
    """
    right, actual, decided = np.diagonal(counts), counts.sum(axis=1), counts[:, :-1].sum(axis=0)
    parts = {"precision": (right, decided), "recall": (right, actual), "f1": (2 * right, actual + decided)}
    return {name: part / np.where(whole > 0, whole, 1) for name, (part, whole) in parts.items()}


def lay_out_costs(loss: Any) -> Floats:
    """The loss in the layout of a confusion matrix, float64 (n_classes, n_classes + 1).

    An unsure message is delivered: without a price of its own it costs as one decided as the first class.
    """
    n_classes = len(loss.rows[0])
    return np.array([*loss.rows, loss.rows[0]][: n_classes + 1]).T


def error_percents(sample: Sample) -> tuple[float, float]:
    """hm% and sm%; nan for a class without messages, and for both without a class spam."""
    if sample.evaluation.positive is None:
        return nan, nan
    return hm_percent(sample).times(100), sm_percent(sample).times(100)


def ranking_percent(sample: Sample) -> float:
    """(1-ROCA)%; without a class spam the mean over the classes."""
    has_spam = sample.evaluation.positive is not None
    return one_minus_roca_percent(sample) if has_spam else macro_one_minus_roca_percent(sample)


def summarise(evaluation: Evaluation) -> Summary:
    """Every figure of an evaluation, JSON values only; None if a figure is undefined.

    Keys ending in `_percent` are 0 to 100.  `X_interval` is the 95 % interval [low, high] of X.  Of a share
    it is exact; of other figures it comes from `replicates` stratified resamples with a fixed seed, and is
    None if resampling cannot vary the figure: without any mistake, with one ham or one spam, and for scores
    that are all the same.  The intervals of sm% at hm 0.1, 0.5, 1 % end too low if the cut-off depends on the
    one or two worst ham.
    """
    once, has_spam = take_all(evaluation), evaluation.positive is not None
    has = {"": True, "spam": has_spam, "costs": evaluation.loss is not None}
    has["probabilities"] = evaluation.has_probabilities
    values = {key: figure.compute(once) for key, figure in FIGURES.items() if has[figure.needs]}
    drawn = _resample(once, [key for key, value in values.items() if isinstance(value, float)])
    found: Summary = {
        "messages": len(evaluation),
        "ham": int(once.ham.sum()) if has_spam else None,
        "spam": int(once.spam.sum()) if has_spam else None,
        "method": evaluation.method,
        "digest": evaluation.digest,
        "classes": list(evaluation.classes),
        "confusion": once.counts.astype(int).tolist(),
        "trained": evaluation.trained,
        "by_class": {name: rates.tolist() for name, rates in compute_class_rates(once.counts).items()},
        "replicates": choose_replicates(evaluation),
    }
    for key, figure in FIGURES.items():
        name, _, part = key.partition(":")
        value, interval = _estimate(figure, values.get(key, nan), drawn.get(key))
        is_defined, has_interval = isfinite(value), all(map(isfinite, interval))
        pair = value if is_defined else None, [*interval] if has_interval else None
        for field, one in zip((name, f"{name}_interval"), pair, strict=True):
            if not part:
                found[field] = one
            elif is_defined:
                found.setdefault(field, {})[part] = one
            else:
                found.setdefault(field, None)
    return found


def _resample(once: Sample, keys: list[str]) -> dict[str, Floats]:
    """The values of some figures on the resamples; none if these would all have the same one ham or spam."""
    if not can_vary(once.evaluation):
        return {}
    samples = (Sample(once.judgement, weights) for weights in draw_weights(once.evaluation))
    drawn = np.array([[FIGURES[key].compute(sample) for key in keys] for sample in samples])
    return dict(zip(keys, drawn.T, strict=True))


def _estimate(figure: Figure, value: float | Share | Estimate, drawn: Floats | None) -> Estimate:
    """The figure with its interval, none if resampling cannot vary it."""
    if isinstance(value, Share):
        low, high = clopper_pearson(*value)
        return Estimate(value.times(figure.factor), (figure.factor * low, figure.factor * high))
    if isinstance(value, Estimate):
        return value
    if drawn is None or not np.ptp(drawn) > ROUNDING * value:
        return Estimate(value)
    return Estimate(value, figure.interval(value, drawn))


class ShownFigure(NamedTuple):
    """A figure ready to print."""

    key: str
    label: str
    value: str
    interval: str
    meaning: str


def list_figures(found: Summary) -> list[ShownFigure]:
    """The figures of a summary that say something, in the order of the table.

    Means over the classes are of more classes than ham and spam; unsure decisions are named if there are any.
    """
    is_plain = found["ham"] is not None and len(found["classes"]) == 2
    shown = {}
    for figure in FIGURES.values():
        key, _, level = figure.key.partition(":")
        value, interval = found[key], found[f"{key}_interval"]
        if value is None or not figure.label:
            continue
        if (is_plain and key.startswith("macro")) or (key == "unsure_percent" and not value):
            continue
        label, meaning = figure.label, figure.meaning
        if key == "hm_percent" and not is_plain:
            label = "other mail lost"
        if level:
            value, interval = value[level], interval[level]
            if found["ham"] * HAM_LOST_PERMILLE[level] < 1000:  # levels of less than one ham are one row
                label = "missed with no ham lost"
                meaning = f"at a threshold that loses none of {found['ham']:,} ham"
        ends = " to ".join(map(figure.format, interval or ()))
        shown[label] = ShownFigure(key, label, figure.format(value) + figure.unit, ends, meaning)
    return list(shown.values())


def list_decisions(found: Summary) -> list[str]:
    """The columns of a confusion matrix that are shown: the classes, and unsure if a decision is."""
    some_unsure = any(row[-1] for row in found["confusion"])
    return [*found["classes"], UNSURE] if some_unsure else found["classes"]


def trace_learning(evaluation: Evaluation) -> dict[str, NDArray[Any]]:
    """Figures at CURVE_POINTS places in the order judged, at most.

    Returns columns: `messages`; hm%, sm% and (1-ROCA)% of all messages so far, and of the latest tenth as
    `window_...`; nan while ham or spam is missing, and throughout without a class spam.
    """
    total = len(evaluation)
    window = max(1, total // 10)
    ends = np.unique(np.linspace(0, total, min(CURVE_POINTS, total) + 1).astype(np.int64)[1:])
    curve: dict[str, Any] = {"messages": ends}
    for prefix, length in (("", total), ("window_", window)):
        samples = [take_all(evaluation.take(np.arange(max(0, end - length), end))) for end in ends]
        errors = np.array([error_percents(one) for one in samples])
        curve |= {f"{prefix}hm_percent": errors[:, 0], f"{prefix}sm_percent": errors[:, 1]}
        curve[f"{prefix}one_minus_roca_percent"] = np.array([one_minus_roca_percent(one) for one in samples])
    return curve
