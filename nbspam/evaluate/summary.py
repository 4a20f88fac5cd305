"""All figures of one evaluation as a dict with stable keys: what `nbspam eval --json` prints.

Hides which interval belongs to which figure, and what is left out (None) because the
outcomes do not say it: a class without messages, a filter without probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbspam.decision import Loss
from nbspam.evaluate import metrics
from nbspam.evaluate.intervals import (
    BOOTSTRAP,
    BOOTSTRAP_ERROR,
    BOOTSTRAP_LOG,
    BOOTSTRAP_LOGIT,
    CLOPPER_PEARSON,
    LOGIT_NORMAL,
    NOTHING_RESAMPLED,
    Interval,
    clopper_pearson,
    is_one_each,
    log_interval,
    logit_interval,
    not_seen_interval,
    percentile_interval,
    replicates,
    resampled_confusions,
    resamples,
    standard_error_interval,
)
from nbspam.evaluate.outcomes import Columns, Evaluation
from nbspam.evaluate.ranking import one_minus_roca, spam_missed_at

Floats = NDArray[np.float64]

SAME = 1e-12  # of a figure; resamples no further apart are alike, whatever rounded them


@dataclass(slots=True)
class _Sheet:
    """The summary while it is filled in: figures, their intervals, and how each interval was made."""

    figures: dict[str, Any] = field(default_factory=dict)
    methods: dict[str, str | dict[str, str]] = field(default_factory=dict)

    def put(self, name: str, value: float, interval: Interval, method: str, scale: float = 1.0) -> None:
        self.figures[name] = _known(value)
        self.figures[f"{name}_interval"] = _pair(interval, scale)
        if self.figures[name] is not None:
            self.methods[name] = method

    def proportion(self, name: str, hits: int, trials: int) -> None:
        self.put(name, metrics.percent(hits, trials), clopper_pearson(hits, trials), CLOPPER_PEARSON, 100.0)

    def absent(self, *names: str) -> None:
        for name in names:
            self.put(name, math.nan, (math.nan, math.nan), "")


def summary(evaluation: Evaluation, loss: Loss | None = None) -> dict[str, Any]:
    """Every figure of an evaluation, JSON values only; None where a figure is undefined.

    loss : what each decision costs; None = no expected loss

    Keys ending in `_percent` are 0 to 100.  `X_interval` is the 95 % interval [low, high] of X, and
    `interval_methods` says for each X how it was made: `clopper-pearson` (exact, for a proportion),
    `bootstrap` (middle 95 % of `replicates` stratified resamples with a fixed seed),
    `bootstrap-standard-error` (the figure -/+ 1.96 standard errors of the same resamples),
    `bootstrap-log` and `bootstrap-logit` (the same on the scale of the logarithm or the logit),
    `logit-normal` (lam%).  Where not one wrong pair, missed message or wrong decision was seen, a figure
    of ranking, class rates or loss has Clopper-Pearson's interval for none in the smallest class; where no
    pair or no decision was right, or all spam is missed in all resamples, that for all.  Of one message a
    class nothing can be drawn anew: None; so where a ranking or a macro rate hangs on a class of one message,
    and where all resamples are alike, as of scores that are all the same.  The intervals of sm% at hm 0.1,
    0.5, 1 % end too low where so few ham are at stake that the cut-off hangs on the one or two worst of them.
    """
    columns = evaluation.columns
    counts = metrics.confusion(columns)
    sheet = _Sheet()
    sheet.figures |= {
        "messages": len(columns.truth),
        "method": evaluation.method,
        "digest": evaluation.digest,
        "classes": list(evaluation.classes),
        "confusion": counts.tolist(),
        "trained": evaluation.trained,
    }
    redrawn = resampled_confusions(counts)
    _two_class_rates(sheet, columns, counts)
    _resampled_figures(sheet, columns)
    _class_rates(sheet, counts, redrawn)
    _expected_loss(sheet, loss, counts, redrawn)
    return sheet.figures | {"interval_methods": sheet.methods}


def _two_class_rates(sheet: _Sheet, columns: Columns, counts: metrics.Whole) -> None:
    sheet.proportion("unsure_percent", int(counts[:, -1].sum()), int(counts.sum()))
    if columns.positive is None:
        sheet.figures |= {"ham": None, "spam": None}
        sheet.absent("hm_percent", "sm_percent", "lam_percent", "ham_unsure_percent", "spam_unsure_percent")
        return
    two = metrics.ham_spam(counts, columns.positive)
    sheet.figures |= {"ham": two.ham, "spam": two.spam}
    sheet.proportion("hm_percent", two.ham_lost, two.ham)
    sheet.proportion("sm_percent", two.spam_missed, two.spam)
    sheet.proportion("ham_unsure_percent", two.ham_unsure, two.ham)
    sheet.proportion("spam_unsure_percent", two.spam_unsure, two.spam)
    lam, interval = metrics.lam_with_interval(two.ham_lost, two.ham, two.spam_missed, two.spam)
    sheet.put("lam_percent", lam, interval, LOGIT_NORMAL)


def _resampled_figures(sheet: _Sheet, columns: Columns) -> None:
    """Ranking and probability figures: all from the same resamples, in one walk over them."""
    groups = [*_ranking_figures(columns), *_probability_figures(columns)]
    names = [name for group in groups for name in group.names]
    count = replicates(len(columns.truth), max(1, columns.n_classes - 1)) if groups else 0
    drawn = np.empty((count, len(names)))
    for row, weights in zip(drawn, resamples(columns.truth, count), strict=True):
        row[:] = [value for group in groups for value in group.compute(weights)]
    once = np.ones(len(columns.truth))
    exact = dict(zip(names, (value for group in groups for value in group.compute(once)), strict=True))
    spread = dict(zip(names, drawn.T, strict=True))
    sheet.figures["replicates"] = count
    for name in (
        "one_minus_roca_percent",
        "macro_one_minus_roca_percent",
        "brier",
        "log_loss",
        "ece_percent",
    ):
        if name not in exact:
            sheet.absent(name)
            continue
        interval, method = _interval(columns, name, exact[name], spread[name])
        sheet.put(name, exact[name], interval, method)
    _spam_missed_at(sheet, columns, exact, spread)


@dataclass(frozen=True, slots=True)
class _Group:
    """Figures computed together from weights: their names, and one value a name."""

    names: tuple[str, ...]
    compute: Callable[[Floats], list[float]]


def _ranking_figures(columns: Columns) -> list[_Group]:
    groups = []
    if columns.positive is not None and (tasks := metrics.rankings(columns)):
        ranking, levels = tasks[0], metrics.HAM_LOST_PERMILLE
        # Of two classes the mean over them is the same.
        macro = () if columns.n_classes > 2 else ("macro_one_minus_roca_percent",)

        def for_spam(weights: Floats) -> list[float]:
            tally = ranking.tally(weights)
            missed = [100 * spam_missed_at(tally, permille) for permille in levels.values()]
            wrong = 100 * one_minus_roca(tally)
            return [wrong, *missed, *[wrong] * len(macro)]

        names = ("one_minus_roca_percent", *levels, *macro)
        groups.append(_Group(names, for_spam))
    if (columns.n_classes > 2 or columns.positive is None) and columns.probabilities.shape[1]:
        every = [task for task in metrics.one_against_rest(columns) if task.is_defined]

        def for_classes(weights: Floats) -> list[float]:
            return [100 * metrics.mean_one_minus_roca(every, weights)]

        groups += [_Group(("macro_one_minus_roca_percent",), for_classes)] if every else []
    return groups


def _probability_figures(columns: Columns) -> list[_Group]:
    if not columns.probabilities.shape[1]:
        return []
    terms = np.stack([metrics.brier_terms(columns), metrics.log_loss_terms(columns)], axis=1)
    bins = metrics.reliability(columns)
    n_messages = len(columns.truth)

    def compute(weights: Floats) -> list[float]:
        # The bins stay those of the whole sample: what is resampled is how far each is off.
        return [*(weights @ terms / n_messages), 100 * bins.ece(weights)]

    return [_Group(("brier", "log_loss", "ece_percent"), compute)]


def _interval(columns: Columns, name: str, value: float, spread: Floats) -> tuple[Interval, str]:
    sizes = np.bincount(columns.truth)
    if is_one_each(sizes):
        return NOTHING_RESAMPLED, BOOTSTRAP
    of_probabilities = name in ("ece_percent", "brier", "log_loss")
    if not of_probabilities:
        low, high = not_seen_interval(sizes)
        if value == 0:
            return (100 * low, 100 * high), CLOPPER_PEARSON
        if (spread == 100).all():
            return (100 - 100 * high, 100 - 100 * low), CLOPPER_PEARSON
        if metrics.hangs_on_one(columns, name == "macro_one_minus_roca_percent"):
            return NOTHING_RESAMPLED, BOOTSTRAP
    if np.ptp(spread) <= SAME * value:
        return NOTHING_RESAMPLED, BOOTSTRAP
    return _resampled_interval(name, value, spread)


def _resampled_interval(name: str, value: float, spread: Floats) -> tuple[Interval, str]:
    if name == "ece_percent":
        return standard_error_interval(value, spread), BOOTSTRAP_ERROR
    if name in ("brier", "log_loss"):
        return log_interval(value, spread), BOOTSTRAP_LOG
    if name in metrics.HAM_LOST_PERMILLE:
        return percentile_interval(spread), BOOTSTRAP
    low, high = logit_interval(value / 100, spread / 100)
    return (100 * low, 100 * high), BOOTSTRAP_LOGIT


def _spam_missed_at(
    sheet: _Sheet, columns: Columns, exact: dict[str, float], spread: dict[str, Floats]
) -> None:
    """sm_percent_at_hm, its interval and its interval's method, all objects by hm%; None where undefined."""
    name, levels = "sm_percent_at_hm", metrics.HAM_LOST_PERMILLE
    if not exact.keys() >= levels.keys():
        sheet.figures |= {name: None, f"{name}_interval": None}
        return
    found = {level: _interval(columns, level, exact[level], spread[level]) for level in levels}
    sheet.figures[name] = {level: exact[level] for level in levels}
    sheet.figures[f"{name}_interval"] = {level: _pair(interval) for level, (interval, _) in found.items()}
    sheet.methods[name] = {level: method for level, (_, method) in found.items()}


def _expected_loss(sheet: _Sheet, loss: Loss | None, counts: metrics.Whole, redrawn: metrics.Whole) -> None:
    if loss is None:
        sheet.absent("expected_loss")
        return
    costs = metrics.loss_table(loss, counts)
    value = float(metrics.expected_loss(counts, costs))
    if value == 0:  # nothing that costs was seen: it may be as frequent as none in all allows
        _, most = clopper_pearson(0, int(counts.sum()))
        sheet.put("expected_loss", value, (0.0, most * float(costs.max())), CLOPPER_PEARSON)
    else:
        sheet.put("expected_loss", value, _redrawn(counts, metrics.expected_loss(redrawn, costs)), BOOTSTRAP)


def _class_rates(sheet: _Sheet, counts: metrics.Whole, redrawn: metrics.Whole) -> None:
    rates, again = metrics.class_rates(counts), metrics.class_rates(redrawn)
    total, right = int(counts.sum()), int(np.trace(counts))
    sheet.proportion("accuracy_percent", right, total)
    sizes = counts.sum(axis=1)
    _, not_seen = not_seen_interval(sizes)
    for name in ("macro_precision", "macro_recall", "macro_f1", "micro_f1"):
        value = float(getattr(rates, name))
        if right == total:  # as for ranking figures: resampling would claim certainty
            sheet.put(name, value, (1 - not_seen, 1.0), CLOPPER_PEARSON)
        elif not right:
            sheet.put(name, value, (0.0, not_seen), CLOPPER_PEARSON)
        else:
            hidden = name.startswith("macro") and (sizes == 1).any()
            interval = NOTHING_RESAMPLED if hidden else _redrawn(counts, getattr(again, name))
            sheet.put(name, value, interval, BOOTSTRAP)
    decided = total - int(counts[:, -1].sum())
    sheet.put(
        "micro_precision", float(rates.micro_precision), clopper_pearson(right, decided), CLOPPER_PEARSON
    )
    sheet.put("micro_recall", float(rates.micro_recall), clopper_pearson(right, total), CLOPPER_PEARSON)
    by_class = {"precision": rates.precision, "recall": rates.recall, "f1": rates.f1}
    sheet.figures["by_class"] = {name: values.tolist() for name, values in by_class.items()}


def _redrawn(counts: metrics.Whole, values: Floats) -> Interval:
    """The interval of a figure of the confusion matrix, from its values in redrawn ones."""
    return NOTHING_RESAMPLED if is_one_each(counts.sum(axis=1)) else percentile_interval(values)


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _pair(interval: Interval, scale: float = 1.0) -> list[float] | None:
    low, high = interval
    return [scale * low, scale * high] if math.isfinite(low) and math.isfinite(high) else None
