"""An evaluation for people, as tables of rich, and for programs, as one line of JSON.

Text of mail and file names goes through `plain` first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from math import isfinite
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbspam.cli import plain
from nbspam.cli.tables import console, show_message, table
from nbspam.corpus.heads import heads
from nbspam.evaluation.figures import Summary, rows
from nbspam.evaluation.formats import finite
from nbspam.evaluation.metrics import largest_confusions, learning_curve
from nbspam.evaluation.outcomes import Evaluation, worst_mistakes
from nbspam.evaluation.sentences import said_of_decisions, said_of_method
from nbspam.evaluation.sketch import roc_sketch
from nbspam.labels import UNSURE

SHOWN_MISTAKES = 10  # shared among the classes, at least one each; all with -v
SHOWN_CLUES = 6  # of a mistake, with -v
WIDEST_CONFUSION = 10  # classes
STYLES = {"hm_percent": "red", "sm_percent": "yellow", "accuracy": "green"}


def evaluation_json(evaluation: Evaluation, found: Summary) -> str:
    """The summary, the settings and the misclassified messages; of a replay, the curve over time too.

    The keys are the field's names and do not change (cli.md).
    """
    odds = finite(evaluation.log_odds)
    mistakes = []
    for row in evaluation.is_mistake.nonzero()[0].tolist():
        name, clues = evaluation.names[row], evaluation.clues.get(evaluation.names[row], ())
        truth, decided = (evaluation.classes[one[row]] for one in (evaluation.truth, evaluation.decided))
        shown = [{"token": token, "nats": nats} for token, nats in clues]
        mistake = {"name": name, "label": truth, "decided": decided, "log_odds": odds[row], "clues": shown}
        mistakes.append(mistake)
    content = found | {"settings": dict(evaluation.settings), "misclassified": mistakes}
    if evaluation.method == "replay":
        curve = learning_curve(evaluation)
        points = zip(*(finite(column) for column in curve.values()), strict=True)
        content["learning_curve"] = [dict(zip(curve, point, strict=True)) for point in points]
    return json.dumps(content, ensure_ascii=True, allow_nan=False)


def show_evaluation(evaluation: Evaluation, found: Summary, verbose: bool) -> None:
    """The evaluation in words, what was decided, the figures, a small ROC and the mistakes."""
    out = console()
    is_whole = not sys.stdout.isatty()  # a terminal breaks lines inside words
    for sentence in said_of_decisions(found):
        out.print(sentence, style="bold", soft_wrap=is_whole)
    out.print(plain(said_of_method(evaluation)), soft_wrap=is_whole)
    out.print(f"Scoring: {_scoring(evaluation.settings)}.\n", soft_wrap=is_whole)
    out.print(_confusion(evaluation, found["confusion"]), "", figures_table(found), sep="\n")
    is_unicode = "utf" in (sys.stdout.encoding or "").lower()
    for line in ["", *roc_sketch(evaluation)] if is_unicode else []:
        out.print(f"  {line}".rstrip(), soft_wrap=True)
    _show_mistakes(out, evaluation, verbose)


def _scoring(settings: Mapping[str, Any]) -> str:
    """How the filter scores."""
    if "event_model" not in settings:
        return plain(str(settings.get("filter", settings.get("results", "another filter"))))
    how = "views averaged" if str(settings.get("averaged")) in ("True", "1") else "one sum"
    kind = settings["event_model"]
    if settings.get("features") == "both":
        kind = f"{kind} and {settings['numeric_model']}"
    return f"{kind}, {how}, λ = {settings['alpha']}"


def figures_table(found: Summary) -> Table:
    """The figures and what they say; no means of two classes."""
    shown = table("figure", ">value", ">95 % interval", "what it says")
    is_plain = found["ham"] is not None and len(found["classes"]) == 2
    for row in rows(found):
        if (is_plain and row.key.startswith("macro")) or (row.key == "unsure_percent" and not found[row.key]):
            continue
        value = Text(row.value, STYLES.get(row.key, ""))
        shown.add_row(row.label, value, row.interval, Text(row.meaning, "dim"))
    return shown


def _confusion(evaluation: Evaluation, counts: list[list[int]]) -> Table:
    """Messages by true and decided class; the largest confusions if there are too many classes."""
    names = [plain(name) for name in (*evaluation.classes, UNSURE)]
    if len(evaluation.classes) > WIDEST_CONFUSION:
        shown = table("true", "decided", ">messages")
        for truth, decided, count in largest_confusions(counts, WIDEST_CONFUSION):
            shown.add_row(names[truth], names[decided], f"{count:,}")
        return shown
    width = len(names) if any(row[-1] for row in counts) else len(names) - 1
    heads = [f">decided {name}" if evaluation.n_classes == 2 else f">{name}" for name in names[:width]]
    shown = table("true class", *heads)
    for truth, row in enumerate(counts):
        styles = ["bold" if place == truth else "" for place in range(width)]
        shown.add_row(names[truth], *(Text(f"{n:,}", style) for n, style in zip(row, styles, strict=False)))
    return shown


def _show_mistakes(out: Console, evaluation: Evaluation, verbose: bool) -> None:
    """`ham taken for spam  +3.2  path` of the worst of each class; with -v of all, with clues."""
    classes = [plain(name) for name in evaluation.classes]
    most = len(evaluation) if verbose else max(1, SHOWN_MISTAKES // len(classes))
    shown, mistakes = worst_mistakes(evaluation, most).tolist(), int(evaluation.is_mistake.sum())
    out.print(f"\nMisclassified: {mistakes:,}")
    known = heads(evaluation.names[row] for row in shown)
    for row in shown:
        name, odds = evaluation.names[row], evaluation.log_odds[row]
        score = f"{odds:+7.2f}  " if isfinite(odds) else ""
        truth, decided = classes[evaluation.truth[row]], classes[evaluation.decided[row]]
        clues = evaluation.clues.get(name, ())[:SHOWN_CLUES] if verbose else ()
        line = f"{truth} taken for {decided}  {score}{plain(name)}"
        show_message(out, line, known.get(name, ""), clues)
    if len(shown) < mistakes:
        out.print(f"  … and {mistakes - len(shown):,} more (all with -v)", style="dim")
