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
from nbspam.evaluate import metrics, ranking
from nbspam.evaluate.evaluation import Evaluation, Floats, Ints
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
AT_HM, MACRO_ROCA = "sm_percent_at_hm", "macro_one_minus_roca_percent"
SAME = 1e-12  # of a figure; resamples that differ by less are equal except for rounding


class Estimate(NamedTuple):
    """A figure, its 95 % interval and how that was made; nan if undefined."""

    value: float
    interval: Interval = NO_INTERVAL
    method: str = BOOTSTRAP


UNDEFINED = Estimate(nan)


class Sample:
    """The evaluation as a sample of mail: what all figures are computed from, each part computed once."""

    def __init__(self, evaluation: Evaluation, loss: Loss | None = None) -> None:
        self.evaluation = evaluation
        self.loss = loss
        self.counts = metrics.confusion(evaluation)
        self.sizes = self.counts.sum(axis=1)
        self.messages = len(evaluation)
        self.right = int(np.trace(self.counts))
        self.unsure = int(self.counts[:, -1].sum())
        self.class_rates = metrics.class_rates(self.counts)
        spam = evaluation.positive
        self.ham_spam = None if spam is None else metrics.ham_spam(self.counts, spam)

    def share(self, hits: int, trials: int, scale: float = 100) -> Estimate:
        """A share of independent messages, in percent unless `scale` is 1."""
        low, high = clopper_pearson(hits, trials)
        return Estimate(
            scale * hits / trials if trials else nan, (scale * low, scale * high), CLOPPER_PEARSON
        )

    def rate(self, part: str, whole: str) -> Estimate:
        """A count of HamSpam as a share of another, in percent."""
        two = self.ham_spam
        return self.share(getattr(two, part), getattr(two, whole)) if two else UNDEFINED

    def lam(self) -> Estimate:
        """The logistic average misclassification percentage."""
        if self.ham_spam is None:
            return UNDEFINED
        ham, lost, _, spam, missed, _ = self.ham_spam
        return Estimate(*metrics.lam_with_interval(lost, ham, missed, spam), LOGIT_NORMAL)

    @cached_property
    def _redrawn(self) -> Ints:
        return resampled_confusions(self.counts)

    @cached_property
    def _redrawn_rates(self) -> dict[str, Floats]:
        return metrics.class_rates(self._redrawn)

    def class_rate(self, name: str) -> Estimate:
        """A mean rate of the classes.  If all (or no) decisions are right, resampling would be certain."""
        value, limit = float(self.class_rates[name]), unseen_limit(self.sizes)
        if self.right == self.messages:
            return Estimate(value, (1 - limit, 1.0), CLOPPER_PEARSON)
        if not self.right:
            return Estimate(value, (0.0, limit), CLOPPER_PEARSON)
        if self.sizes.max() == 1 or (name.startswith("macro") and (self.sizes == 1).any()):
            return Estimate(value)
        return Estimate(value, percentile_interval(self._redrawn_rates[name]))

    def micro_precision(self) -> Estimate:
        """The share of decisions that are right; 0 without any."""
        found = self.share(self.right, self.messages - self.unsure, 1)
        return found._replace(value=float(self.class_rates["micro_precision"]))

    def expected_loss(self) -> Estimate:
        """The mean loss; if no loss was seen, the limit is that of the costliest mistake."""
        if self.loss is None:
            return UNDEFINED
        costs = metrics.loss_table(self.loss, self.counts)
        value = float(metrics.expected_loss(self.counts, costs))
        if value == 0:
            _, most = clopper_pearson(0, self.messages)
            return Estimate(value, (0.0, most * float(costs.max())), CLOPPER_PEARSON)
        if self.sizes.max() == 1:
            return Estimate(value)
        return Estimate(value, percentile_interval(metrics.expected_loss(self._redrawn, costs)))

    def _computers(self) -> list[Callable[[Floats], dict[str, float]]]:
        """Functions of message weights that give the figures of ranking and of probabilities by key."""
        evaluation = self.evaluation
        computers: list[Callable[[Floats], dict[str, float]]] = []
        is_plain = evaluation.positive is not None and evaluation.n_classes == 2
        tasks = ranking.rankings(evaluation)
        if evaluation.positive is not None and tasks:

            def of_spam(weights: Floats) -> dict[str, float]:
                tally = tasks[0].tally(weights)
                found = {"one_minus_roca_percent": 100 * ranking.one_minus_roca(tally)}
                return found | {
                    level: 100 * ranking.spam_missed_at(tally, permille)
                    for level, permille in HAM_LOST_PERMILLE.items()
                }

            computers.append(of_spam)
        by_class = (
            tasks if is_plain else [one for one in ranking.one_against_rest(evaluation) if one.is_defined]
        )
        if by_class:
            computers.append(lambda weights: {MACRO_ROCA: ranking.roca_percent(by_class, weights)})
        if evaluation.has_probabilities:
            terms = np.stack([metrics.brier_terms(evaluation), metrics.log_loss_terms(evaluation)], axis=1)
            bins = metrics.reliability(evaluation)  # stay: what is resampled is how far each is off

            def of_probabilities(weights: Floats) -> dict[str, float]:
                brier, log_loss = (weights @ terms / len(weights)).tolist()
                return {"brier": brier, "log_loss": log_loss, "ece_percent": 100 * bins.ece(weights)}

            computers.append(of_probabilities)
        return computers

    @cached_property
    def resampled(self) -> dict[str, tuple[float, Floats]]:
        """These figures and their resampled values, all from the same resamples."""
        computers, evaluation = self._computers(), self.evaluation

        def compute(weights: Floats) -> dict[str, float]:
            return {key: value for one in computers for key, value in one(weights).items()}

        exact = compute(np.ones(self.messages))
        count = replicates(self.messages, max(1, evaluation.n_classes - 1)) if exact else 0
        drawn = np.empty((count, len(exact)))
        for row, weights in zip(drawn, resamples(evaluation.truth, count), strict=True):
            row[:] = list(compute(weights).values())
        return {key: (value, drawn[:, k]) for k, (key, value) in enumerate(exact.items())}

    def ranking(self, key: str) -> Estimate:
        """A figure of ranking, in percent; with the limit of none, or all, if no resample shows another."""
        value, drawn = self.resampled.get(key, (nan, np.zeros(0)))
        limit = 100 * unseen_limit(self.sizes)
        is_mean = key == MACRO_ROCA and self.evaluation.n_classes > 2
        if not isfinite(value) or self.sizes.max() == 1:
            return Estimate(value)
        if value == 0:
            return Estimate(value, (0.0, limit), CLOPPER_PEARSON)
        if (drawn == 100).all():
            return Estimate(value, (100 - limit, 100.0), CLOPPER_PEARSON)
        if ranking.depends_on_one(self.evaluation, is_mean) or np.ptp(drawn) <= SAME * value:
            return Estimate(value)
        if key in HAM_LOST_PERMILLE:
            return Estimate(value, percentile_interval(drawn))
        low, high = normal_interval(value / 100, drawn / 100, "logit")
        return Estimate(value, (100 * low, 100 * high), "bootstrap-logit")

    def probability(self, key: str) -> Estimate:
        """A figure of the probabilities."""
        value, drawn = self.resampled.get(key, (nan, np.zeros(0)))
        if not isfinite(value) or self.sizes.max() == 1 or np.ptp(drawn) <= SAME * value:
            return Estimate(value)
        scale, method = ("linear", "standard-error") if key == "ece_percent" else ("log", "log")
        return Estimate(value, normal_interval(value, drawn, scale), f"bootstrap-{method}")


class Figure(NamedTuple):
    """A line of the table.

    key     : in JSON
    compute : from the sample and the key
    label   : for people; empty if only JSON has it
    digits, unit
    meaning : what it says, for the report
    whole   : key of the number that the figure is a share of
    """

    key: str
    compute: Callable[[Sample, str], Estimate]
    label: str = ""
    digits: int = 4
    unit: str = ""
    meaning: str = ""
    whole: str = ""


WRONG_PAIRS = "pairs of a ham and a spam that the score puts in the wrong order, ties half"
LOST, MISSED = "hm%: ham decided as spam, of all ham", "sm%: spam decided as another class, of all spam"
FIGURES = (
    Figure("hm_percent", lambda s, _: s.rate("ham_lost", "ham"), "ham lost", 2, " %", LOST, "ham"),
    Figure("sm_percent", lambda s, _: s.rate("spam_missed", "spam"), "spam missed", 2, " %", MISSED, "spam"),
    Figure("ham_unsure_percent", lambda s, _: s.rate("ham_unsure", "ham")),
    Figure("spam_unsure_percent", lambda s, _: s.rate("spam_unsure", "spam")),
    Figure(
        *("accuracy_percent", lambda s, _: s.share(s.right, s.messages), "right", 2, " %"),
        *("decided rightly; unsure is not right", "messages"),
    ),
    Figure(
        *("unsure_percent", lambda s, _: s.share(s.unsure, s.messages), "unsure", 2, " %"),
        *("left undecided; neither lost nor missed", "messages"),
    ),
    Figure(
        "lam_percent", lambda s, _: s.lam(), "lam%", 2, " %", "logistic average of ham lost and spam missed"
    ),
    Figure("one_minus_roca_percent", Sample.ranking, "(1-ROCA)%", 4, " %", WRONG_PAIRS),
    Figure(MACRO_ROCA, Sample.ranking, "macro (1-ROCA)%", 4, " %", "each class against the rest, mean"),
    Figure("macro_precision", Sample.class_rate, "macro precision", 4, "", "right among decided, mean"),
    Figure("macro_recall", Sample.class_rate, "macro recall", 4, "", "found among all, mean over classes"),
    Figure("macro_f1", Sample.class_rate, "macro F1", 4, "", "harmonic mean of both, mean over classes"),
    Figure("micro_f1", Sample.class_rate),
    Figure("micro_precision", lambda s, _: s.micro_precision()),
    Figure("micro_recall", lambda s, _: s.share(s.right, s.messages, 1)),
    Figure(
        "expected_loss", lambda s, _: s.expected_loss(), "expected loss", 4, "", "mean cost of a decision"
    ),
    Figure(
        *("ece_percent", Sample.probability, "calibration error", 2, " %"),
        "how far probabilities are off on average (ECE), 15 bins of equal mass",
    ),
    Figure("brier", Sample.probability, "Brier score", 5, "", "mean squared error of the probabilities"),
    Figure("log_loss", Sample.probability, "log loss", 5, " nats", "mean surprise at the true class"),
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
    two, resampled = sample.ham_spam, sample.resampled
    found: Summary = {
        "messages": sample.messages,
        "ham": two.ham if two else None,
        "spam": two.spam if two else None,
        "method": evaluation.method,
        "digest": evaluation.digest,
        "classes": list(evaluation.classes),
        "confusion": sample.counts.tolist(),
        "trained": evaluation.trained,
        "by_class": {name: sample.class_rates[name].tolist() for name in ("precision", "recall", "f1")},
        "replicates": len(next(iter(resampled.values()))[1]) if resampled else 0,
    }
    methods: Summary = {}
    for figure in FIGURES:
        estimate = figure.compute(sample, figure.key)
        found[figure.key], found[f"{figure.key}_interval"] = _json_values(estimate)
        if isfinite(estimate.value):
            methods[figure.key] = estimate.method
    levels = {level: sample.ranking(level) for level in HAM_LOST_PERMILLE if level in resampled}
    found[AT_HM] = {level: one.value for level, one in levels.items()} or None
    found[f"{AT_HM}_interval"] = {level: _json_values(one)[1] for level, one in levels.items()} or None
    if levels:
        methods[AT_HM] = {level: one.method for level, one in levels.items()}
    return found | {"interval_methods": methods}


def _json_values(estimate: Estimate) -> tuple[float | None, list[float] | None]:
    """The figure and its interval, None if undefined."""
    interval = [*estimate.interval] if all(map(isfinite, estimate.interval)) else None
    return float(estimate.value) if isfinite(estimate.value) else None, interval


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
    for key, _, label, digits, unit, meaning, whole in FIGURES:
        value = found[key]
        # For ham and spam alone the mean over the classes is the same ranking.
        if value is None or not label or (is_plain and key == MACRO_ROCA):
            continue
        if key == "hm_percent" and not is_plain:
            label = "other mail lost"
        counts = (f"{round(value * found[whole] / 100):,}", f"{found[whole]:,}") if whole else ("", "")
        interval = _interval_text(found[f"{key}_interval"], digits)
        method = METHOD_NAMES[found["interval_methods"][key]]
        shown.append(Row(key, label, *counts, f"{value:,.{digits}f}{unit}", interval, method, meaning))
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
        interval = _interval_text(found[f"{AT_HM}_interval"][level], 2)
        method = METHOD_NAMES[found["interval_methods"][AT_HM][level]]
        value = f"{found[AT_HM][level]:.2f} %"
        by_label[label] = Row(AT_HM, label, "", "", value, interval, method, f"spam missed at the {meaning}")
    return list(by_label.values())


def _interval_text(pair: list[float] | None, digits: int) -> str:
    """`1.25 to 3.50`; empty without an interval."""
    return "" if pair is None else f"{pair[0]:,.{digits}f} to {pair[1]:,.{digits}f}"


def sentences(found: Summary, n_folds: int, is_in_time: bool) -> list[str]:
    """What the evaluation found, in words, most important first.

    n_folds    : number of folds, 0 if unknown
    is_in_time : True if the messages were judged in the order of their dates
    """
    said = []
    if found["hm_percent"] is None and found["sm_percent"] is None:
        messages = _counted(found["messages"], "message")
        said.append(f"Of {messages} {found['accuracy_percent']:.2f} % were put into the right class.")
    said += _error_sentence(found, "hm_percent", "ham", "wanted message", "lost to the spam folder")
    said += _error_sentence(found, "sm_percent", "spam", "spam message", "let through")
    if found["unsure_percent"]:
        unsure = _counted(sum(row[-1] for row in found["confusion"]), "message")
        said.append(f"On {unsure} the filter did not decide ({found['unsure_percent']:.2f} %).")
    if found["one_minus_roca_percent"] is not None:
        said += _ranking_sentences(found["one_minus_roca_percent"], found[AT_HM]["0.1"], found["ham"])
    if found["ece_percent"] is not None:
        said.append(f"The probabilities are off by {found['ece_percent']:.2f} percentage points on average.")
    return [*said, _method_sentence(found, n_folds, is_in_time)]


def _error_sentence(found: Summary, key: str, whole: str, noun: str, fate: str) -> list[str]:
    if found[key] is None:
        return []
    number = round(found[key] * found[whole] / 100)
    some = {0: "none was", 1: "one was"}.get(number, f"{number:,} were")
    low, high = found[f"{key}_interval"]
    between = f"true rate between {low:.2f} and {high:.2f} %"
    return [f"Of {_counted(found[whole], noun)} {some} {fate}: {found[key]:.2f} % ({between})."]


def _ranking_sentences(wrong: float, missed: float, ham: int) -> list[str]:
    first = "Every spam message scored higher than every wanted one."
    if wrong:
        pairs = 100 / wrong
        digits = max(0, len(str(int(pairs))) - 2)  # 13,000 rather than 12,987
        all_but_one = f"in all but one of {round(pairs, -digits):,.0f} such pairs"
        first = f"Pick a wanted and a spam message at random: the spam scores higher {all_but_one}."
    lost = "at most one wanted message in a thousand"
    if ham < 1000:  # these cannot say what one in a thousand is
        lost = f"none of these {_counted(ham, 'wanted message')}" if ham > 1 else "not the wanted message"
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


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
