"""All figures of an evaluation: one table says how each is computed, its JSON key, its label and its meaning.

`summary` makes the JSON values from the table, `rows` the lines that the terminal and the report show, and
`sentences` the same in plain words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from nbspam.decision import Loss
from nbspam.evaluate import metrics
from nbspam.evaluate.evaluation import Evaluation, Floats
from nbspam.evaluate.intervals import (
    NO_INTERVAL,
    Interval,
    clopper_pearson,
    normal_interval,
    percentile_interval,
    replicates,
    resampled_confusions,
    resamples,
    unseen_limit,
)
from nbspam.evaluate.ranking import (
    Ranking,
    depends_on_one,
    one_against_rest,
    one_minus_roca,
    rankings,
    roca_percent,
    spam_missed_at,
)
from nbspam.labels import HAM_AND_SPAM

Summary = dict[str, Any]

CLOPPER_PEARSON, BOOTSTRAP, LOGIT_NORMAL = "clopper-pearson", "bootstrap", "logit-normal"
METHOD_NAMES = {
    CLOPPER_PEARSON: "Clopper-Pearson",
    BOOTSTRAP: "bootstrap",
    "bootstrap-standard-error": "bootstrap, ±1.96 standard errors",
    "bootstrap-log": "bootstrap, on the log scale",
    "bootstrap-logit": "bootstrap, on the logit scale",
    LOGIT_NORMAL: "normal in logits",
}
HAM_LOST_PERMILLE = {"0.1": 1, "0.5": 5, "1": 10}  # hm% as written in JSON, and per mille
AT_HM = "sm_percent_at_hm"
SAME = 1e-12  # of a figure; resamples that differ by less are equal except for rounding


class Estimate(NamedTuple):
    """A figure, its 95 % interval and how that was made; nan if undefined."""

    value: float
    interval: Interval = NO_INTERVAL
    method: str = ""


UNDEFINED = Estimate(nan)


class Sample:
    """The evaluation as a sample of mail: what all figures are computed from, each part computed once."""

    def __init__(self, evaluation: Evaluation, loss: Loss | None = None) -> None:
        self.evaluation = evaluation
        self.loss = loss
        self.counts = metrics.confusion(evaluation)
        self.sizes = self.counts.sum(axis=1)
        self.right = int(np.trace(self.counts))
        positive = evaluation.positive
        self.ham_spam = None if positive is None else metrics.ham_spam(self.counts, positive)

    @cached_property
    def _redrawn(self) -> Any:
        return resampled_confusions(self.counts)

    @cached_property
    def _redrawn_rates(self) -> dict[str, Floats]:
        return metrics.class_rates(self._redrawn)

    @cached_property
    def class_rates(self) -> dict[str, Floats]:
        """Precision, recall and F1, see metrics.class_rates."""
        return metrics.class_rates(self.counts)

    def share(self, hits: int, trials: int, scale: float = 100) -> Estimate:
        """A share of independent messages, in percent unless `scale` is 1."""
        low, high = clopper_pearson(hits, trials)
        value = scale * hits / trials if trials else nan
        return Estimate(value, (scale * low, scale * high), CLOPPER_PEARSON)

    def rate(self, part: str, whole: str) -> Estimate:
        """A count of HamSpam as a share of another, in percent."""
        if self.ham_spam is None:
            return UNDEFINED
        return self.share(getattr(self.ham_spam, part), getattr(self.ham_spam, whole))

    def lam(self) -> Estimate:
        """The logistic average misclassification percentage."""
        if self.ham_spam is None:
            return UNDEFINED
        ham, lost, _, spam, missed, _ = self.ham_spam
        return Estimate(*metrics.lam_with_interval(lost, ham, missed, spam), LOGIT_NORMAL)

    def class_rate(self, name: str) -> Estimate:
        """A mean rate of the classes.  If all (or no) decisions are right, resampling would be certain."""
        value = float(self.class_rates[name])
        limit = unseen_limit(self.sizes)
        if self.right == self.sizes.sum():
            return Estimate(value, (1 - limit, 1.0), CLOPPER_PEARSON)
        if not self.right:
            return Estimate(value, (0.0, limit), CLOPPER_PEARSON)
        is_fixed = name.startswith("macro") and bool((self.sizes == 1).any())
        return Estimate(
            value, NO_INTERVAL if is_fixed else self._middle(self._redrawn_rates[name]), BOOTSTRAP
        )

    def expected_loss(self) -> Estimate:
        """The mean loss; if no loss was seen, the limit is that of the costliest mistake."""
        if self.loss is None:
            return UNDEFINED
        costs = metrics.loss_table(self.loss, self.counts)
        value = float(metrics.expected_loss(self.counts, costs))
        if value == 0:
            _, most = clopper_pearson(0, int(self.sizes.sum()))
            return Estimate(value, (0.0, most * float(costs.max())), CLOPPER_PEARSON)
        return Estimate(value, self._middle(metrics.expected_loss(self._redrawn, costs)), BOOTSTRAP)

    def _middle(self, values: Floats) -> Interval:
        """The interval of a figure of redrawn confusion matrices; none if each class has one message."""
        return NO_INTERVAL if self.sizes.max() == 1 else percentile_interval(values)

    @cached_property
    def _ranking(self) -> Ranking | None:
        """The ranking by the score of spam."""
        is_ranked = self.evaluation.positive is not None and rankings(self.evaluation)
        return is_ranked[0] if is_ranked else None

    @cached_property
    def _class_rankings(self) -> list[Ranking]:
        """Each class against the rest; of two classes with spam it is the same ranking twice."""
        evaluation = self.evaluation
        if evaluation.positive is not None and evaluation.n_classes == 2:
            return [self._ranking] if self._ranking else []
        return [task for task in one_against_rest(evaluation) if task.is_defined]

    @cached_property
    def _loss_terms(self) -> Floats:
        return np.stack(
            [metrics.brier_terms(self.evaluation), metrics.log_loss_terms(self.evaluation)], axis=1
        )

    @cached_property
    def _bins(self) -> metrics.Reliability:
        return metrics.reliability(self.evaluation)

    def _weighted(self, weights: Floats) -> dict[str, float]:
        """The figures of ranking and of probabilities, each message counted as often as its weight."""
        found = {}
        if self._ranking:
            tally = self._ranking.tally(weights)
            found["one_minus_roca_percent"] = 100 * one_minus_roca(tally)
            found |= {level: 100 * spam_missed_at(tally, n) for level, n in HAM_LOST_PERMILLE.items()}
        if self._class_rankings:
            found["macro_one_minus_roca_percent"] = roca_percent(self._class_rankings, weights)
        if self.evaluation.has_probabilities:
            # The bins stay those of the whole sample: what is resampled is how far each is off.
            found["ece_percent"] = 100 * self._bins.ece(weights)
            found["brier"], found["log_loss"] = weights @ self._loss_terms / len(weights)
        return found

    @cached_property
    def resampled(self) -> dict[str, tuple[float, Floats]]:
        """The same: each figure and its resampled values, all from the same resamples."""
        evaluation = self.evaluation
        exact = self._weighted(np.ones(len(evaluation)))
        count = replicates(len(evaluation), max(1, evaluation.n_classes - 1)) if exact else 0
        drawn = np.empty((count, len(exact)))
        for row, weights in zip(drawn, resamples(evaluation.truth, count), strict=True):
            row[:] = list(self._weighted(weights).values())
        return {name: (value, drawn[:, k]) for k, (name, value) in enumerate(exact.items())}

    @property
    def n_replicates(self) -> int:
        """Number of resamples."""
        return len(next(iter(self.resampled.values()))[1]) if self.resampled else 0

    def ranking(self, name: str) -> Estimate:
        """A figure of ranking, in percent; with the limit of none, or all, if no resample shows another."""
        if name not in self.resampled:
            return UNDEFINED
        value, drawn = self.resampled[name]
        limit = 100 * unseen_limit(self.sizes)
        is_mean = name.startswith("macro") and self.evaluation.n_classes > 2
        if self.sizes.max() == 1:
            return Estimate(value, NO_INTERVAL, BOOTSTRAP)
        if value == 0:
            return Estimate(value, (0.0, limit), CLOPPER_PEARSON)
        if (drawn == 100).all():
            return Estimate(value, (100 - limit, 100.0), CLOPPER_PEARSON)
        if depends_on_one(self.evaluation, is_mean) or np.ptp(drawn) <= SAME * value:
            return Estimate(value, NO_INTERVAL, BOOTSTRAP)
        if name in HAM_LOST_PERMILLE:
            return Estimate(value, percentile_interval(drawn), BOOTSTRAP)
        low, high = normal_interval(value / 100, drawn / 100, "logit")
        return Estimate(value, (100 * low, 100 * high), "bootstrap-logit")

    def probability(self, name: str, scale: str) -> Estimate:
        """A figure of the probabilities.  scale : of normal_interval"""
        if name not in self.resampled:
            return UNDEFINED
        value, drawn = self.resampled[name]
        if self.sizes.max() == 1 or np.ptp(drawn) <= SAME * value:
            return Estimate(value, NO_INTERVAL, BOOTSTRAP)
        method = "bootstrap-log" if scale == "log" else "bootstrap-standard-error"
        return Estimate(value, normal_interval(value, drawn, scale), method)


class Figure(NamedTuple):
    """A line of the table.

    key     : in JSON
    compute : from the sample
    label   : for people; empty if only JSON has it
    digits, unit
    whole   : key of the number that the figure is a share of
    meaning : what it says, for the report
    """

    key: str
    compute: Callable[[Sample], Estimate]
    label: str = ""
    digits: int = 2
    unit: str = " %"
    whole: str = ""
    meaning: str = ""


def _class_rate(name: str, label: str = "", meaning: str = "") -> Figure:
    return Figure(name, lambda sample: sample.class_rate(name), label, 4, "", "", meaning)


def _ranking(name: str, label: str, meaning: str) -> Figure:
    return Figure(name, lambda sample: sample.ranking(name), label, 4, " %", "", meaning)


FIGURES = (
    Figure(
        "hm_percent",
        lambda sample: sample.rate("ham_lost", "ham"),
        "ham lost",
        whole="ham",
        meaning="hm%: ham decided as spam, of all ham",
    ),
    Figure(
        "sm_percent",
        lambda sample: sample.rate("spam_missed", "spam"),
        "spam missed",
        whole="spam",
        meaning="sm%: spam decided as another class, of all spam; unsure is not counted here",
    ),
    Figure("ham_unsure_percent", lambda sample: sample.rate("ham_unsure", "ham")),
    Figure("spam_unsure_percent", lambda sample: sample.rate("spam_unsure", "spam")),
    Figure(
        "accuracy_percent",
        lambda sample: sample.share(sample.right, int(sample.sizes.sum())),
        "right",
        whole="messages",
        meaning="accuracy: decided rightly; unsure is not right",
    ),
    Figure(
        "unsure_percent",
        lambda sample: sample.share(int(sample.counts[:, -1].sum()), int(sample.sizes.sum())),
        "unsure",
        whole="messages",
        meaning="left undecided; neither lost nor missed",
    ),
    Figure(
        "lam_percent",
        Sample.lam,
        "lam%",
        meaning="logistic average of ham lost and spam missed; none counts half",
    ),
    _ranking(
        "one_minus_roca_percent",
        "(1-ROCA)%",
        "pairs of a ham and a spam that the score puts in the wrong order, ties half",
    ),
    _ranking("macro_one_minus_roca_percent", "macro (1-ROCA)%", "each class against the rest, mean"),
    _class_rate("macro_precision", "macro precision", "right among decided, mean over classes"),
    _class_rate("macro_recall", "macro recall", "found among all, mean over classes"),
    _class_rate("macro_f1", "macro F1", "harmonic mean of precision and recall, mean over classes"),
    _class_rate("micro_f1"),
    Figure(
        "micro_precision",
        lambda sample: sample.share(sample.right, int(sample.counts[:, :-1].sum()), 1),
    ),
    Figure("micro_recall", lambda sample: sample.share(sample.right, int(sample.sizes.sum()), 1)),
    Figure(
        "expected_loss",
        Sample.expected_loss,
        "expected loss",
        4,
        "",
        meaning="mean cost of a decision under the loss matrix",
    ),
    Figure(
        "ece_percent",
        lambda sample: sample.probability("ece_percent", "linear"),
        "calibration error",
        meaning="ECE: how far probabilities are off on average, 15 bins of equal mass",
    ),
    Figure(
        "brier",
        lambda sample: sample.probability("brier", "log"),
        "Brier score",
        5,
        "",
        meaning="mean squared error of the probabilities",
    ),
    Figure(
        "log_loss",
        lambda sample: sample.probability("log_loss", "log"),
        "log loss",
        5,
        " nats",
        meaning="mean surprise at the true class",
    ),
)


def summary(evaluation: Evaluation, loss: Loss | None = None) -> Summary:
    """Every figure of an evaluation, JSON values only; None if a figure is undefined.

    loss : what each decision costs; None = no expected loss

    Keys ending in `_percent` are 0 to 100.  `X_interval` is the 95 % interval [low, high] of X, and
    `interval_methods` says for each X how it was made: `clopper-pearson` (exact, for a proportion),
    `bootstrap` (middle 95 % of `replicates` stratified resamples with a fixed seed),
    `bootstrap-standard-error` (the figure -/+ 1.96 standard errors of the same resamples),
    `bootstrap-log` and `bootstrap-logit` (the same on the scale of the logarithm or the logit),
    `logit-normal` (lam%).  If no wrong pair, missed message or wrong decision was seen, a figure of ranking,
    class rates or loss has Clopper-Pearson's interval for none in the smallest class; if no pair or no
    decision was right, or all spam is missed in all resamples, that for all.  The interval is None if
    resampling cannot vary the figure: with one message a class, if a ranking or a macro rate depends on a
    class of one message, and for scores that are all the same.  The intervals of sm% at hm 0.1, 0.5, 1 % end
    too low if the cut-off depends on the one or two worst ham.
    """
    sample = Sample(evaluation, loss)
    two = sample.ham_spam
    found: Summary = {
        "messages": len(evaluation),
        "ham": two.ham if two else None,
        "spam": two.spam if two else None,
        "method": evaluation.method,
        "digest": evaluation.digest,
        "classes": list(evaluation.classes),
        "confusion": sample.counts.tolist(),
        "trained": evaluation.trained,
        "by_class": {name: sample.class_rates[name].tolist() for name in ("precision", "recall", "f1")},
    }
    estimates = {figure.key: figure.compute(sample) for figure in FIGURES}
    for key, estimate in estimates.items():
        found[key], found[f"{key}_interval"] = _json_values(estimate)
    methods: Summary = {key: one.method for key, one in estimates.items() if isfinite(one.value)}
    levels = {level: sample.ranking(level) for level in HAM_LOST_PERMILLE if level in sample.resampled}
    found[AT_HM] = {level: one.value for level, one in levels.items()} or None
    found[f"{AT_HM}_interval"] = {level: _json_values(one)[1] for level, one in levels.items()} or None
    if levels:
        methods[AT_HM] = {level: one.method for level, one in levels.items()}
    return found | {"replicates": sample.n_replicates, "interval_methods": methods}


def _json_values(estimate: Estimate) -> tuple[float | None, list[float] | None]:
    """The figure and its interval, None if undefined."""
    value, (low, high), _ = estimate
    return (
        float(value) if isfinite(value) else None,
        [low, high] if isfinite(low) and isfinite(high) else None,
    )


class Row(NamedTuple):
    """A figure ready to print.  part, whole : number of messages and of how many, or empty"""

    key: str
    label: str
    part: str
    whole: str
    value: str
    interval: str
    method: str
    meaning: str


def rows(found: Summary) -> list[Row]:
    """The figures of a summary that are defined, in the order of the table."""
    shown = []
    is_plain = found["ham"] is not None and len(found["classes"]) == 2
    for figure in FIGURES:
        key, value = figure.key, found[figure.key]
        # For ham and spam alone the mean over the classes is the same ranking.
        if value is None or not figure.label or (is_plain and key == "macro_one_minus_roca_percent"):
            continue
        label = "other mail lost" if key == "hm_percent" and not is_plain else figure.label
        counts = ("", "")
        if figure.whole:
            whole = found[figure.whole]
            counts = f"{round(value * whole / 100):,}", f"{whole:,}"
        interval = interval_text(found[f"{key}_interval"], figure.digits)
        method = METHOD_NAMES[found["interval_methods"][key]]
        text = f"{value:,.{figure.digits}f}{figure.unit}"
        shown.append(Row(key, label, *counts, text, interval, method, figure.meaning))
        if key == "one_minus_roca_percent":
            shown.extend(_rows_at_hm(found))
    return shown


def _rows_at_hm(found: Summary) -> list[Row]:
    """Spam missed at each level of ham lost; levels of less than one ham lose none, and are one row."""
    ham, by_label = found["ham"], {}
    for level, permille in HAM_LOST_PERMILLE.items():
        if ham * permille < 1000:
            label, meaning = "missed with no ham lost", f"threshold that loses none of {ham:,} ham"
        else:
            label, meaning = f"missed at {level} % ham lost", f"threshold that loses at most {level} % of ham"
        interval = interval_text(found[f"{AT_HM}_interval"][level], 2)
        method = METHOD_NAMES[found["interval_methods"][AT_HM][level]]
        value = f"{found[AT_HM][level]:.2f} %"
        by_label[label] = Row(AT_HM, label, "", "", value, interval, method, f"spam missed at the {meaning}")
    return list(by_label.values())


def interval_text(pair: list[float] | None, digits: int) -> str:
    """`1.25 to 3.50`; empty without an interval."""
    return "" if pair is None else f"{pair[0]:,.{digits}f} to {pair[1]:,.{digits}f}"


def sentences(found: Summary, n_folds: int, is_in_time: bool) -> list[str]:
    """What the evaluation found, in words, most important first.

    n_folds    : number of folds, 0 if unknown
    is_in_time : True if the messages were judged in the order of their dates
    """
    said = []
    if found["hm_percent"] is None and found["sm_percent"] is None:
        messages = counted(found["messages"], "message")
        said.append(f"Of {messages} {found['accuracy_percent']:.2f} % were put into the right class.")
    said += _error_sentence(found, "hm_percent", "ham", "wanted message", "lost to the spam folder")
    said += _error_sentence(found, "sm_percent", "spam", "spam message", "let through")
    if found["unsure_percent"]:
        unsure = counted(sum(row[-1] for row in found["confusion"]), "message")
        said.append(f"On {unsure} the filter did not decide ({found['unsure_percent']:.2f} %).")
    if found["one_minus_roca_percent"] is not None:
        said += _ranking_sentences(found["one_minus_roca_percent"], found[AT_HM]["0.1"], found["ham"])
    if found["ece_percent"] is not None:
        said.append(f"The probabilities are off by {found['ece_percent']:.2f} percentage points on average.")
    return [*said, _method_sentence(found, n_folds, is_in_time)]


def counted(number: int, noun: str) -> str:
    """`1 message`, `2,000 messages`."""
    return f"{number:,} {noun}{'' if number == 1 or noun in HAM_AND_SPAM else 's'}"


def _error_sentence(found: Summary, key: str, whole: str, noun: str, fate: str) -> list[str]:
    if found[key] is None:
        return []
    number = round(found[key] * found[whole] / 100)
    some = {0: "none was", 1: "one was"}.get(number, f"{number:,} were")
    low, high = found[f"{key}_interval"]
    between = f"true rate between {low:.2f} and {high:.2f} %"
    return [f"Of {counted(found[whole], noun)} {some} {fate}: {found[key]:.2f} % ({between})."]


def _ranking_sentences(wrong: float, missed: float, ham: int) -> list[str]:
    first = "Every spam message scored higher than every wanted one."
    if wrong:
        pairs = 100 / wrong
        digits = max(0, len(str(int(pairs))) - 2)  # 13,000 rather than 12,987
        all_but_one = f"in all but one of {round(pairs, -digits):,.0f} such pairs"
        first = f"Pick a wanted and a spam message at random: the spam scores higher {all_but_one}."
    lost = "at most one wanted message in a thousand"
    if ham < 1000:  # these cannot say what one in a thousand is
        lost = f"none of these {counted(ham, 'wanted message')}" if ham > 1 else "not the wanted message"
    return [first, f"A threshold that loses {lost} would catch {100 - missed:.2f} % of the spam."]


def _method_sentence(found: Summary, n_folds: int, is_in_time: bool) -> str:
    if found["method"] == "folds":
        number = f"{n_folds} folds" if n_folds else "folds"
        return f"Each message was judged by a filter that learned from other messages only ({number})."
    if found["method"] == "replay":
        order = "in the order of their dates" if is_in_time else "in the order given"
        learned = ""
        if found["trained"] is not None:
            learned = f"; the filter learned the class of {found['trained']:,} of {found['messages']:,}"
        return f"The messages were judged one after another {order}, as a user would receive them{learned}."
    if found["method"] == "holdout":
        return "The messages judged here were held back: the filter learned from others."
    return (
        "A filter made beforehand judged these messages. "
        "If it had learned some of them, the figures are better than it deserves."
    )
