"""The page: one HTML file with everything in it, that asks nothing of the network and runs no script.

Hides Jinja2, the order of the sections, and how text out of mail is made harmless:
every value is cleaned of control characters and then escaped.
"""

from __future__ import annotations

import base64
import json
import math
from importlib.resources import files
from typing import Any

from nbspam.decision import Loss
from nbspam.evaluate.outcomes import Evaluation, Outcome, worst_mistakes
from nbspam.evaluate.report import words
from nbspam.evaluate.report.clean import cleaned_value
from nbspam.evaluate.report.extra import library
from nbspam.evaluate.report.plots import plots
from nbspam.evaluate.summary import summary

MOST_MISTAKES = 10  # of each class
MOST_CLASSES = 12  # a wider confusion matrix is shown as a list of its largest cells
MOST_CELLS = 25

# name, heading, what a reader sees in it, the same where there is no class spam
_PLOTS = (
    (
        "roc",
        "Errors at every threshold",
        "Each point is a threshold: to the left fewer wanted messages are lost, further down less spam is "
        "missed. Both axes are logarithmic, and no error is drawn at half a message. Lower left is better.",
        "A line for each large class against all others; each point is a threshold. Both axes are "
        "logarithmic, and no error is drawn at half a message. Lower left is better.",
    ),
    (
        "det",
        "The same on probit axes (DET)",
        "Where the scores of both classes are spread normally, this curve is a straight line; "
        "its slope tells which class is spread wider.",
        "",
    ),
    (
        "reliability",
        "Are the probabilities true?",
        "Messages in up to 15 bins of equal size; the larger the dot, the more messages. "
        "On the dashed line, of messages called 80 % spam, 80 % are.",
        "Messages in up to 15 bins of equal size by the probability of the likeliest class. On the dashed "
        "line, of messages of which the filter is 80 % sure, it is right on 80 %.",
    ),
    (
        "histogram",
        "Scores by true class",
        "Counts on a logarithmic axis, so that single messages on the wrong side can be seen. "
        "Scores far out are counted at the ends.",
        "The probability given to the true class; counts on a logarithmic axis: single messages show.",
    ),
    (
        "learning",
        "Over time",
        "Above, errors among the latest tenth of the messages and so far; below, the ranking so far and "
        "of the latest tenth, logarithmic where it is not zero.",
        "",
    ),
)


def report_html(evaluation: Evaluation, loss: Loss | None = None) -> str:
    """The whole page.  The same evaluation gives the same page.

    UsageError if matplotlib or Jinja2 are missing (they come with the extra `nbspam[report]`).
    """
    jinja2 = library("jinja2")
    found = summary(evaluation, loss)
    environment = jinja2.Environment(
        autoescape=True,
        finalize=cleaned_value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.from_string(files(__package__).joinpath("template.html").read_text("utf-8"))
    page: str = template.render(
        found=found,
        cards=_cards(found),
        sentences=_sentences(evaluation, found),
        figures=words.figures(found),
        plots=_embedded(evaluation),
        confusion=_confusion(evaluation, found),
        mistakes=_mistakes(evaluation),
        settings=_settings(evaluation),
        digest=evaluation.digest,
    )
    return page


def _sentences(evaluation: Evaluation, found: dict[str, Any]) -> list[str]:
    in_order = sorted(evaluation.outcomes, key=lambda outcome: outcome.index)
    times = [outcome.time for outcome in in_order if outcome.time is not None]
    in_time = len(times) == len(in_order) and times == sorted(times) and times[0] < times[-1]
    return words.sentences(found, evaluation.trained, len(set(evaluation.folds)), in_time)


def _cards(found: dict[str, Any]) -> list[words.Figure]:
    """The figures that stand out on top."""
    wanted = ["hm%", "sm%", "(1-ROCA)%", "sm% at hm 0.1 %"]
    by_name = {figure.name: figure for figure in words.figures(found)}
    cards = [by_name[name] for name in wanted if name in by_name]
    return cards or [
        by_name[name] for name in ("accuracy", "F1", "macro (1-ROCA)%", "ECE") if name in by_name
    ]


def _embedded(evaluation: Evaluation) -> list[dict[str, str]]:
    """Drawings as data: addresses.  As images, not inline: their element ids cannot clash."""
    drawn = plots(evaluation)
    has_spam = evaluation.columns.positive is not None
    return [
        {
            "name": name,
            "heading": heading,
            "caption": caption if has_spam else other or caption,
            "source": "data:image/svg+xml;base64," + base64.b64encode(drawn[name].encode()).decode(),
        }
        for name, heading, caption, other in _PLOTS
        if name in drawn
    ]


def _confusion(evaluation: Evaluation, found: dict[str, Any]) -> dict[str, Any]:
    """The matrix if it fits the page, else its largest wrong cells as (true class, decided, messages)."""
    counts = found["confusion"]
    has_unsure = any(row[-1] for row in counts)
    names = [*evaluation.classes, "unsure"]
    cells = [
        (names[truth], names[decided], count)
        for truth, row in enumerate(counts)
        for decided, count in enumerate(row)
        if truth != decided and count
    ]
    largest = sorted(cells, key=lambda cell: -cell[2])[:MOST_CELLS]
    return {
        "columns": names if has_unsure else names[:-1],
        "rows": [
            {"name": name, "cells": row if has_unsure else row[:-1], "right": place, "total": sum(row)}
            for place, (name, row) in enumerate(zip(evaluation.classes, counts, strict=True))
        ],
        "fits": len(evaluation.classes) <= MOST_CLASSES,
        "largest": largest,
    }


def _mistakes(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The worst mistakes of each class with their clues."""
    return [
        {
            "name": outcome.name,
            "truth": evaluation.classes[outcome.truth],
            "decided": evaluation.classes[outcome.decided],
            "score": _score(outcome),
            "clues": [
                (token, f"{weight:+.2f}", weight > 0)
                for token, weight in evaluation.clues.get(outcome.name, ())
            ],
        }
        for outcome in worst_mistakes(evaluation, MOST_MISTAKES)
    ]


def _score(outcome: Outcome) -> str:
    if outcome.log_odds is not None and math.isfinite(outcome.log_odds):
        return f"{outcome.log_odds:+.2f}"
    if outcome.probabilities:
        return f"P = {outcome.probabilities[outcome.decided]:.4f}"
    return ""


def _settings(evaluation: Evaluation) -> list[tuple[str, str]]:
    rows = [("method", evaluation.method), ("classes", ", ".join(evaluation.classes))]
    return rows + [
        (str(name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
        for name, value in evaluation.settings.items()
    ]
