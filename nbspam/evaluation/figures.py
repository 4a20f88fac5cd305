"""All figures of an evaluation: `summary` makes JSON values, `rows` what the terminal and the report show."""

from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from nbspam.decision import Loss, zero_one_loss
from nbspam.evaluation import intervals, metrics, ranking
from nbspam.evaluation.outcomes import Evaluation, Floats
from nbspam.labels import UNSURE

Summary = dict[str, Any]

CLOPPER_PEARSON, BOOTSTRAP, LOGIT_NORMAL = "clopper-pearson", "bootstrap", "logit-normal"
HAM_LOST_PERMILLE = {"0.1": 1, "0.5": 5, "1": 10}  # hm% as written in JSON, and per mille
ROCA, MACRO_ROCA, AT_HM = "one_minus_roca_percent", "macro_one_minus_roca_percent", "sm_percent_at_hm"
# The scale of an interval made of standard errors; other resampled figures have percentiles.
INTERVAL_SCALES = {"ece_percent": "linear", "brier": "log", "log_loss": "log"}
INTERVAL_SCALES |= dict.fromkeys((ROCA, MACRO_ROCA), "logit")
MEANS = ("macro_precision", "macro_recall", "macro_f1")
ROUNDING = 1e-12  # of a figure; resamples that differ by less are equal except for rounding


class Figure(NamedTuple):
    """A figure in JSON and, with a label, in tables.

    meaning : what it says
    scale   : the unit divided by that of the JSON value
    """

    key: str
    label: str = ""
    digits: int = 4
    unit: str = ""
    meaning: str = ""
    scale: int = 1


FIGURES = (
    Figure("accuracy", "accuracy", 2, " %", "decided rightly, of all messages", 100),
    Figure("precision", "precision", 2, " %", "spam, of all decided as spam", 100),
    Figure("recall", "recall", 2, " %", "decided as spam, of all spam", 100),
    Figure("f1", "F1", 2, " %", "harmonic mean of precision and recall", 100),
    Figure("hm_percent", "ham lost", 2, " %", "hm%: decided as spam, of all ham"),
    Figure("sm_percent", "spam missed", 2, " %", "sm%: decided as ham, of all spam"),
    Figure("ham_unsure_percent"),
    Figure("spam_unsure_percent"),
    Figure("accuracy_percent"),
    Figure("unsure_percent", "unsure", 2, " %", "left undecided; neither lost nor missed"),
    Figure("lam_percent", "lam%", 2, " %", "logistic average of these two"),
    Figure(ROCA, "(1-ROCA)%", 4, " %", "pairs of ham, spam in the wrong order"),
    Figure(MACRO_ROCA, "macro (1-ROCA)%", 4, " %", "each class against the rest, mean"),
    Figure("macro_precision", "macro precision", 4, "", "right, of all decided so; mean of classes"),
    Figure("macro_recall", "macro recall", 4, "", "right, of all of a class; mean of classes"),
    Figure("macro_f1", "macro F1", 4, "", "harmonic mean of both; mean of classes"),
    Figure("expected_loss", "expected cost", 4, "", "mean cost of a decision"),
    Figure("accuracy_at_zero_one", "accuracy at 0-1", 2, " %", "if every error cost the same", 100),
    Figure("f1_at_zero_one", "F1 at 0-1", 2, " %", "if every error cost the same", 100),
    Figure("ece_percent", "calibration error", 2, " %", "how far probabilities are off (ECE)"),
    Figure("brier", "Brier score", 5, "", "mean squared error of probabilities"),
    Figure("log_loss", "log loss", 5, " nats", "mean -ln of the true class's probability"),
)


class Estimate(NamedTuple):
    """A figure, its 95 % interval and how that was made; nan if undefined."""

    value: float = nan
    interval: intervals.Bounds = intervals.NO_INTERVAL
    method: str = BOOTSTRAP

    @property
    def json_interval(self) -> list[float] | None:
        """The interval, None if undefined."""
        return [*self.interval] if all(map(isfinite, self.interval)) else None


class Resampled(NamedTuple):
    """A figure, and its values on the resamples, float64 (replicates,)."""

    value: float
    drawn: Floats


def _estimate_shares(counts: metrics.Matrix, spam: int | None) -> dict[str, Estimate]:
    """Shares of the messages, and their logistic average."""
    messages = int(counts.sum())
    right = int(np.trace(counts)), messages
    unsure = int(counts[:, -1].sum()), messages
    shares = {"accuracy": right, "accuracy_percent": right, "unsure_percent": unsure}
    found = {}
    if spam is not None:
        shares |= metrics.count_spam_shares(counts, spam)
        lam = metrics.lam_with_interval(*shares["hm_percent"], *shares["sm_percent"])
        found["lam_percent"] = Estimate(*lam, LOGIT_NORMAL)
    for key, (hits, trials) in shares.items():
        scale = 100 if key.endswith("_percent") else 1
        value = scale * hits / trials if trials else nan
        low, high = intervals.clopper_pearson(hits, trials)
        found[key] = Estimate(value, (scale * low, scale * high), CLOPPER_PEARSON)
    return found


def _estimate_at_zero_one(evaluation: Evaluation) -> dict[str, Estimate]:
    """Accuracy and F1 as if every error cost the same; nothing where the costs say so, or are unknown."""
    even = zero_one_loss(evaluation.n_classes)
    if evaluation.loss in (None, even) or not evaluation.has_probabilities:
        return {}
    counts = metrics.count_confusion(evaluation.decided_by(even))
    found = {"accuracy_at_zero_one": _estimate_shares(counts, None)["accuracy"]}
    drawn = _resample_decisions(counts, evaluation.positive, None)
    if "f1" in drawn:
        found["f1_at_zero_one"] = _estimate(evaluation, "f1", drawn["f1"])
    return found


def _resample_decisions(counts: metrics.Matrix, spam: int | None, loss: Loss | None) -> dict[str, Resampled]:
    """Mean rates of the classes, F1 of spam, and the expected loss."""
    redrawn = intervals.resample_confusions(counts)
    rates, drawn = metrics.class_rates(counts), metrics.class_rates(redrawn)
    found = {name: Resampled(float(rates[name]), drawn[name]) for name in MEANS}
    if spam is not None and counts[spam].any():
        found["f1"] = Resampled(float(rates["f1"][spam]), drawn["f1"][:, spam])
    if loss is not None:
        costs = metrics.lay_out_costs(loss)
        value = float(metrics.expected_loss(counts, costs))
        found["expected_loss"] = Resampled(value, metrics.expected_loss(redrawn, costs))
    return found


def _resample_scores(evaluation: Evaluation) -> dict[str, Resampled]:
    """The figures of ranking (`0.1`, `0.5`, `1`: spam missed at that hm%) and of probabilities.

    All are computed on the same resamples.
    """
    by_spam = ranking.rank_messages(evaluation) if evaluation.positive is not None else []
    by_class = by_spam
    if evaluation.positive is None or evaluation.n_classes > 2:
        by_class = ranking.rank_against_rest(evaluation)
    if evaluation.has_probabilities:
        terms = np.stack([metrics.brier_terms(evaluation), metrics.log_loss_terms(evaluation)], axis=1)
        bins = metrics.bin_by_confidence(evaluation)  # the bins stay; the errors in them are resampled

    def compute(weights: Floats) -> dict[str, float]:
        found = {}
        for task in by_spam:
            tally = task.tally(weights)
            found[ROCA] = 100 * ranking.one_minus_roca(tally)
            for level, permille in HAM_LOST_PERMILLE.items():
                found[level] = 100 * ranking.spam_missed_at(tally, permille)
        if by_class:
            found[MACRO_ROCA] = ranking.roca_percent(by_class, weights)
        if evaluation.has_probabilities:
            found["brier"], found["log_loss"] = (weights @ terms / len(weights)).tolist()
            found["ece_percent"] = 100 * bins.ece(weights)
        return found

    exact = compute(np.ones(len(evaluation)))
    count = intervals.choose_replicates(len(evaluation), max(1, evaluation.n_classes - 1)) if exact else 0
    resamples = intervals.draw_resamples(evaluation.truth, count)
    drawn = np.array([[*compute(weights).values()] for weights in resamples])
    return {key: Resampled(value, drawn[:, k]) for k, (key, value) in enumerate(exact.items())}


def _estimate(evaluation: Evaluation, key: str, resampled: Resampled) -> Estimate:
    """A figure with the interval of its resampled values; none if resampling cannot vary it."""
    value, drawn = resampled
    is_one = 1 in np.bincount(evaluation.is_positive)  # one ham, or one spam: every resample has it
    if not isfinite(value) or is_one or np.ptp(drawn) <= ROUNDING * value:
        return Estimate(value)
    if key not in INTERVAL_SCALES:
        return Estimate(value, intervals.percentile_interval(drawn))
    scale = INTERVAL_SCALES[key]
    method = "standard-error" if scale == "linear" else scale
    return Estimate(value, intervals.normal_interval(value, drawn, scale), f"bootstrap-{method}")


def summarise(evaluation: Evaluation) -> Summary:
    """Every figure of an evaluation, JSON values only; None if a figure is undefined.

    Keys ending in `_percent` are 0 to 100.  `X_interval` is the 95 % interval [low, high] of X, and
    `interval_methods` says for each X how it was made: `clopper-pearson` (exact, for a proportion),
    `bootstrap` (middle 95 % of `replicates` stratified resamples with a fixed seed),
    `bootstrap-standard-error` (the figure -/+ 1.96 standard errors of the same resamples),
    `bootstrap-log` and `bootstrap-logit` (the same on the scale of the logarithm or the logit),
    `logit-normal` (lam%).  A bootstrap interval is None if resampling cannot vary the figure: without any
    mistake, with one ham or one spam, and for scores that are all the same.  The intervals of sm% at hm 0.1,
    0.5, 1 % end too low if the cut-off depends on the one or two worst ham.
    """
    counts, spam = metrics.count_confusion(evaluation), evaluation.positive
    rates = metrics.class_rates(counts)
    resampled = _resample_scores(evaluation)
    n_spam = None if spam is None else int(counts[spam].sum())
    found: Summary = {
        "messages": len(evaluation),
        "ham": None if n_spam is None else len(evaluation) - n_spam,
        "spam": n_spam,
        "method": evaluation.method,
        "digest": evaluation.digest,
        "classes": list(evaluation.classes),
        "confusion": counts.tolist(),
        "trained": evaluation.trained,
        "by_class": {name: rates[name].tolist() for name in ("precision", "recall", "f1")},
        "replicates": len(next(iter(resampled.values())).drawn) if resampled else 0,
    }
    estimates = _estimate_shares(counts, spam)
    for key, one in (_resample_decisions(counts, spam, evaluation.loss) | resampled).items():
        estimates[key] = _estimate(evaluation, key, one)
    estimates |= _estimate_at_zero_one(evaluation)
    methods: Summary = {}
    for key in (figure.key for figure in FIGURES):
        estimate = estimates.get(key, Estimate())
        found[key] = estimate.value if isfinite(estimate.value) else None
        found[f"{key}_interval"] = estimate.json_interval
        if isfinite(estimate.value):
            methods[key] = estimate.method
    levels = {level: estimates[level] for level in HAM_LOST_PERMILLE if level in estimates}
    found[AT_HM] = {level: one.value for level, one in levels.items()} or None
    found[f"{AT_HM}_interval"] = {level: one.json_interval for level, one in levels.items()} or None
    if levels:
        methods[AT_HM] = {level: one.method for level, one in levels.items()}
    return found | {"interval_methods": methods}


class ShownFigure(NamedTuple):
    """A figure ready to print."""

    key: str
    label: str
    value: str
    interval: str
    meaning: str


def list_figures(found: Summary, is_short: bool = False) -> list[ShownFigure]:
    """The figures of a summary that are defined, in the order of the table.

    is_short : without the means over ham and spam, and without unsure decisions if there are none
    """
    shown = []
    is_plain = found["ham"] is not None and len(found["classes"]) == 2
    for key, label, digits, unit, meaning, scale in FIGURES:
        value = found[key]
        if value is None or not label:
            continue
        if is_plain and key == MACRO_ROCA:  # the mean over ham and spam is the same ranking
            continue
        if is_short and ((is_plain and key.startswith("macro")) or (key == "unsure_percent" and not value)):
            continue
        if key == "hm_percent" and not is_plain:
            label = "other mail lost"
        interval = _format_interval(found[f"{key}_interval"], digits, scale)
        shown.append(ShownFigure(key, label, f"{value * scale:,.{digits}f}{unit}", interval, meaning))
        if key == ROCA:
            shown.extend(_list_missed_at_hm(found))
    return shown


def list_decisions(found: Summary) -> list[str]:
    """The columns of a confusion matrix that are shown: the classes, and unsure if a decision is."""
    some_unsure = any(row[-1] for row in found["confusion"])
    return [*found["classes"], UNSURE] if some_unsure else found["classes"]


def _list_missed_at_hm(found: Summary) -> list[ShownFigure]:
    """Spam missed at each level of ham lost; levels of less than one ham lose none, and are one row."""
    ham, by_label = found["ham"], {}
    for level, permille in HAM_LOST_PERMILLE.items():
        label, meaning = f"missed at {level} % ham lost", "at a threshold that loses no more ham"
        if ham * permille < 1000:
            label, meaning = "missed with no ham lost", f"at a threshold that loses none of {ham:,} ham"
        interval = _format_interval(found[f"{AT_HM}_interval"][level], 2)
        by_label[label] = ShownFigure(AT_HM, label, f"{found[AT_HM][level]:.2f} %", interval, meaning)
    return list(by_label.values())


def _format_interval(pair: list[float] | None, digits: int, scale: int = 1) -> str:
    """`1.25 to 3.50`; empty without an interval."""
    return "" if pair is None else " to ".join(f"{scale * end:,.{digits}f}" for end in pair)
