"""An evaluation for people, as tables of rich, and for programs, as one line of JSON.

Text of mail and file names goes through `plain` first.
"""

from __future__ import annotations

import json
import sys
from math import isfinite
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbspam.cli import amount, plain
from nbspam.cli.tables import console, show_clues, table
from nbspam.decision import UNDECIDED
from nbspam.evaluation.figures import Summary, rows
from nbspam.evaluation.formats import finite
from nbspam.evaluation.metrics import largest_confusions, learning_curve
from nbspam.evaluation.outcomes import Evaluation, worst_mistakes
from nbspam.evaluation.sketch import roc_sketch
from nbspam.labels import UNSURE

SHOWN_MISTAKES = 10  # shared among the classes, at least one each; all with -v
SHOWN_CLUES = 6  # of a mistake, with -v
WIDEST_CONFUSION = 10  # classes
STYLES = {"hm_percent": "red", "sm_percent": "yellow", "accuracy_percent": "green"}


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
    """The evaluation as a table of figures, the confusion of classes, a small ROC and the mistakes."""
    out = console()
    sizes = zip(found["confusion"], evaluation.classes, strict=True)
    counts = ", ".join(f"{sum(row):,} {plain(name)}" for row, name in sizes)
    messages = amount(len(evaluation), "message")
    out.print(f"{messages} ({counts}). {_method_text(evaluation)}.\n", soft_wrap=True)
    out.print(figures_table(found))
    if found["ham"] is None or evaluation.n_classes > 2:
        out.print()
        out.print(_confusion(evaluation, found["confusion"]))
    is_unicode = "utf" in (sys.stdout.encoding or "").lower()
    sketch = roc_sketch(evaluation) if is_unicode else []
    for line in ["", *sketch] if sketch else []:
        out.print(f"  {line}".rstrip(), soft_wrap=True)
    _show_mistakes(out, evaluation, verbose)


def _method_text(evaluation: Evaluation) -> str:
    """How the evaluation was made, in words."""
    settings: dict[str, Any] = {"folds": "?", "feedback": "?", "order": "", "holdout": 0, "model": "?"}
    settings |= evaluation.settings
    if evaluation.method == "folds":
        grouped = ", near-duplicates kept together" if settings.get("grouped") else ""
        how = f"{settings['folds']} folds{grouped}"
    elif evaluation.method == "holdout":
        which = "newest" if settings.get("by_time") else "drawn"
        how = f"A share of {settings['holdout']:.0%}, {which}"
        how += f", judged by a filter trained on {evaluation.trained or 0:,} others"
    elif evaluation.method == "replay":
        how = f"Replayed {settings['order']}; feedback {settings['feedback']}"
        how += f", learned {evaluation.trained or 0:,}"
        if "autolearned" in settings:
            own, wrong = settings["autolearned"], settings.get("autolearned_wrongly", 0)
            how += f" and on its own verdict {own:,}, {wrong:,} wrongly"
    else:
        how = f"Model {plain(str(settings['model']))}"
    return f"{how}; {_scoring(settings)}"


def _scoring(settings: dict[str, Any]) -> str:
    if "event_model" not in settings:
        return plain(str(settings.get("filter", settings.get("results", "another filter"))))
    how = "views averaged" if str(settings.get("averaged")) in ("True", "1") else "one sum"
    alpha = settings.get("alpha")
    shown = alpha if alpha == "auto" else f"{float(alpha):g}"  # type: ignore[arg-type]
    words = settings["event_model"]
    if settings.get("features") == "both":
        words = f"{words} and {settings.get('numeric_model')}"
    codes = f", {settings['vocabulary_size']:,} codes" if "vocabulary_size" in settings else ""
    return f"{words}, {how}, λ = {shown}{codes}"


def figures_table(found: Summary) -> Table:
    """The figures; for ham and spam alone without those of more classes."""
    shown = table("", ">messages", ">of", ">figure", ">95 % interval")
    is_plain = found["ham"] is not None and len(found["classes"]) == 2
    for row in rows(found):
        if is_plain and (row.key.startswith("macro") or row.key == "accuracy_percent"):
            continue
        if row.key == "unsure_percent" and not found[row.key]:
            continue
        shown.add_row(row.label, row.part, row.whole, row.value, row.interval, style=STYLES.get(row.key))
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
    shown = table("true \\ decided", *(f">{name}" for name in names[:width]))
    for truth, row in enumerate(counts):
        styles = ["bold" if place == truth else "" for place in range(width)]
        shown.add_row(names[truth], *(Text(f"{n:,}", style) for n, style in zip(row, styles, strict=False)))
    return shown


def _show_mistakes(out: Console, evaluation: Evaluation, verbose: bool) -> None:
    """`ham taken for spam  +3.2  path` of the worst of each class; with -v of all, with clues."""
    every = worst_mistakes(evaluation, len(evaluation)).tolist()
    out.print()
    if not every:
        is_unsure = (evaluation.decided == UNDECIDED).any()
        out.print(f"No message was {'decided wrongly' if is_unsure else 'misclassified'}.")
        return
    out.print(f"Misclassified: {len(every):,}")
    classes = [plain(name) for name in evaluation.classes]
    for number, truth in enumerate(classes):
        of_class = [row for row in every if evaluation.truth[row] == number]
        shown = of_class if verbose else of_class[: max(1, SHOWN_MISTAKES // evaluation.n_classes)]
        for row in shown:
            name, odds = evaluation.names[row], evaluation.log_odds[row]
            score = f"{odds:+7.2f}  " if isfinite(odds) else ""
            line = f"  {truth} taken for {classes[evaluation.decided[row]]}  {score}{plain(name)}"
            out.print(line, soft_wrap=True)
            if verbose:
                clues = evaluation.clues.get(name, ())[:SHOWN_CLUES]
                show_clues(out, [f"{plain(token)} {nats:+.1f}" for token, nats in clues])
        if len(of_class) > len(shown):
            more = f"  … and {len(of_class) - len(shown):,} more {truth} (all with -v)"
            out.print(more, style="dim")
