"""An evaluation in plain words, and what each figure means: the text of the report.

Hides the wording.  Numbers come from summary(); nothing is computed here but a share as words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nbspam.evaluate.metrics import loses_none
from nbspam.labels import HAM_AND_SPAM

Summary = dict[str, Any]

_INTERVAL_METHODS = {
    "clopper-pearson": "Clopper-Pearson",
    "bootstrap": "bootstrap",
    "bootstrap-standard-error": "bootstrap, ±1.96 standard errors",
    "bootstrap-log": "bootstrap, on the log scale",
    "bootstrap-logit": "bootstrap, on the logit scale",
    "logit-normal": "normal in logits",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the table of figures, ready to print."""

    name: str
    value: str
    interval: str
    method: str
    meaning: str


# key, shown name, digits, unit, meaning
_FIGURES = (
    ("hm_percent", "hm%", 2, " %", "ham decided as spam, of all ham"),
    ("sm_percent", "sm%", 2, " %", "spam decided as anything else, of all spam; unsure is not counted here"),
    ("lam_percent", "lam%", 2, " %", "logistic average of the two; half a message stands for none"),
    (
        "one_minus_roca_percent",
        "(1-ROCA)%",
        4,
        " %",
        "pairs of a ham and a spam that the score puts in the wrong order, ties half",
    ),
    ("unsure_percent", "unsure", 2, " %", "left undecided; neither lost nor missed"),
    ("expected_loss", "expected loss", 4, "", "mean price of a decision under the loss matrix"),
    ("accuracy_percent", "accuracy", 2, " %", "decided rightly; unsure is not right"),
    ("ece_percent", "ECE", 2, " %", "how far probabilities are off on average, 15 bins of equal mass"),
    ("brier", "Brier score", 5, "", "mean squared error of the probabilities"),
    ("log_loss", "log loss", 5, " nats", "mean surprise at the true class"),
    ("macro_precision", "precision", 4, "", "right among decided, mean over classes"),
    ("macro_recall", "recall", 4, "", "found among all, mean over classes"),
    ("macro_f1", "F1", 4, "", "harmonic mean of both, mean over classes"),
    ("macro_one_minus_roca_percent", "macro (1-ROCA)%", 4, " %", "each class against the rest, mean"),
)


def figures(found: Summary) -> list[Figure]:
    """The table of figures: all that are defined, sm% at given hm% after (1-ROCA)%."""
    rows = []
    for key, name, digits, unit, meaning in _FIGURES:
        if key == "macro_one_minus_roca_percent" and len(found["classes"]) == 2 and found["ham"] is not None:
            continue  # the same as (1-ROCA)%
        if found[key] is not None:
            method = _INTERVAL_METHODS[found["interval_methods"][key]]
            shown = _number(found[key], digits, unit)
            rows.append(Figure(name, shown, _interval(found[f"{key}_interval"], digits), method, meaning))
        if key == "one_minus_roca_percent" and found["sm_percent_at_hm"] is not None:
            rows += [_at_hm(found, level) for level in found["sm_percent_at_hm"]]
    return rows


def _at_hm(found: Summary, level: str) -> Figure:
    key, ham = "sm_percent_at_hm", found["ham"]
    none_of = f": none of {ham:,}" if loses_none(ham, level) else ""
    return Figure(
        f"sm% at hm {level} %",
        _number(found[key][level], 2, " %"),
        _interval(found[f"{key}_interval"][level], 2),
        _INTERVAL_METHODS[found["interval_methods"][key][level]],
        f"spam missed when the threshold loses at most {level} % of ham{none_of}",
    )


def _number(value: float, digits: int, unit: str = "") -> str:
    return f"{value:,.{digits}f}{unit}"


def _interval(pair: list[float] | None, digits: int) -> str:
    return "" if pair is None else f"{pair[0]:,.{digits}f} to {pair[1]:,.{digits}f}"


def counted(number: int, noun: str) -> str:
    """`1 message`, `2,000 messages`."""
    return f"{number:,} {noun}{'' if number == 1 or noun in HAM_AND_SPAM else 's'}"


def sentences(found: Summary, trained: int | None, folds: int, judged_in_time: bool) -> list[str]:
    """What the evaluation found, in words, most important first."""
    said = [*_error_sentences(found), *_ranking_sentences(found), *_calibration_sentences(found)]
    return [*said, _method_sentence(found, trained, folds, judged_in_time)]


def _error_sentences(found: Summary) -> list[str]:
    if found["hm_percent"] is None and found["sm_percent"] is None:
        right = _number(found["accuracy_percent"], 2)
        return [f"Of {counted(found['messages'], 'message')} {right} % were put into the right class."]
    said = []
    if found["hm_percent"] is not None:
        lost = round(found["hm_percent"] * found["ham"] / 100)
        rate, between = _number(found["hm_percent"], 2), _between(found["hm_percent_interval"], 2)
        said.append(
            f"Of {counted(found['ham'], 'wanted message')} {_some(lost)} lost to the spam folder: "
            f"{rate} % (true rate between {between} %)."
        )
    if found["sm_percent"] is not None:
        missed = round(found["sm_percent"] * found["spam"] / 100)
        rate, between = _number(found["sm_percent"], 2), _between(found["sm_percent_interval"], 2)
        said.append(
            f"Of {counted(found['spam'], 'spam message')} {_some(missed)} let through: "
            f"{rate} % (true rate between {between} %)."
        )
    if found["unsure_percent"]:
        unsure = sum(row[-1] for row in found["confusion"])
        share = _number(found["unsure_percent"], 2)
        said.append(f"On {counted(unsure, 'message')} the filter did not decide ({share} %).")
    return said


def _some(number: int) -> str:
    return {0: "none was", 1: "one was"}.get(number, f"{number:,} were")


def _between(pair: list[float], digits: int) -> str:
    return f"{pair[0]:.{digits}f} and {pair[1]:.{digits}f}"


def _ranking_sentences(found: Summary) -> list[str]:
    wrong = found["one_minus_roca_percent"]
    if wrong is None:
        return []
    if wrong == 0:
        said = ["Every spam message scored higher than every wanted one."]
    else:
        said = [
            "Pick a wanted and a spam message at random: the spam scores higher in all but "
            f"one of {_rounded(100 / wrong)} such pairs."
        ]
    at, ham = found["sm_percent_at_hm"]["0.1"], found["ham"]
    lost = "at most one wanted message in a thousand"
    if ham < 1000:  # these cannot say what one in a thousand is
        lost = f"none of these {counted(ham, 'wanted message')}" if ham > 1 else "not the wanted message"
    return [*said, f"A threshold that loses {lost} would catch {100 - at:.2f} % of the spam."]


def _rounded(number: float) -> str:
    """Two digits that count: 13,000 rather than 12,987."""
    digits = len(str(int(number))) - 2
    return f"{round(number, -digits) if digits > 0 else round(number):,.0f}"


def _calibration_sentences(found: Summary) -> list[str]:
    if found["ece_percent"] is None:
        return []
    return [f"The probabilities are off by {_number(found['ece_percent'], 2)} percentage points on average."]


def _method_sentence(found: Summary, trained: int | None, folds: int, judged_in_time: bool) -> str:
    method, messages = found["method"], found["messages"]
    if method == "folds":
        number = f"{folds} folds" if folds else "folds"
        return f"Each message was judged by a filter that learned from other messages only ({number})."
    if method == "replay":
        order = "in the order of their dates" if judged_in_time else "in the order given"
        learned = "" if trained is None else f"; the filter was told the class of {trained:,} of {messages:,}"
        return f"The messages were judged one after another {order}, as a user would receive them{learned}."
    if method == "holdout":
        return "The messages judged here were held back: the filter learned from others."
    return (
        "A filter made beforehand judged these messages. "
        "Where it had learned some of them, the figures are better than it deserves."
    )
