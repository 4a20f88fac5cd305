"""An evaluation for people, as tables of rich, and for programs, as one line of JSON.

Text of mail and file names goes through `plain` first.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nbspam.cli import amount, plain
from nbspam.cli.render import console, narrow_table
from nbspam.decision import UNDECIDED
from nbspam.evaluate.evaluation import Evaluation, worst_mistakes
from nbspam.evaluate.figures import Summary, rows
from nbspam.evaluate.formats import finite
from nbspam.evaluate.metrics import learning_curve
from nbspam.evaluate.sketch import roc_sketch
from nbspam.labels import UNSURE

SHOWN_MISTAKES = 10  # shared among the classes, at least one each; all with -v
SHOWN_CLUES = 6  # of a mistake, with -v
CLUE_INDENT, CLUE_GAP = "      ", "  "
WIDEST_CONFUSION = 10  # classes
STYLES = {"hm_percent": "red", "sm_percent": "yellow", "accuracy_percent": "green"}


def evaluation_json(evaluation: Evaluation, found: Summary) -> str:
    """The summary, the settings and the misclassified messages; of a replay, the curve over time too.

    The keys are the field's names and do not change (cli.md).
    """
    odds = finite(evaluation.log_odds)
    mistakes = [
        {
            "name": evaluation.names[row],
            "label": evaluation.classes[evaluation.truth[row]],
            "decided": evaluation.classes[evaluation.decided[row]],
            "log_odds": odds[row],
            "clues": [
                {"token": token, "nats": nats}
                for token, nats in evaluation.clues.get(evaluation.names[row], ())
            ],
        }
        for row in evaluation.is_mistake.nonzero()[0].tolist()
    ]
    content = found | {"settings": dict(evaluation.settings), "misclassified": mistakes}
    if evaluation.method == "replay":
        curve = learning_curve(evaluation)
        points = zip(*(finite(column) for column in curve.values()), strict=True)
        content["learning_curve"] = [dict(zip(curve, point, strict=True)) for point in points]
    return json.dumps(content, ensure_ascii=True, allow_nan=False)


def show_evaluation(evaluation: Evaluation, found: Summary, notes: list[str], verbose: bool) -> None:
    """The evaluation as a table of figures, the confusion of classes, a small ROC and the mistakes."""
    out = console()
    sizes = zip(found["confusion"], evaluation.classes, strict=True)
    counts = ", ".join(f"{sum(row):,} {escape(plain(name))}" for row, name in sizes)
    messages = f"[bold]{amount(len(evaluation), 'message')}[/]"
    out.print(f"{messages} ({counts}). {escape(method_text(evaluation))}.", soft_wrap=True)
    for note in notes:
        out.print(escape(note), style="yellow", soft_wrap=True)
    out.print()
    out.print(figures_table(found))
    if found["ham"] is None or evaluation.n_classes > 2:
        out.print()
        out.print(_confusion(evaluation, found["confusion"]))
    is_unicode = "utf" in (sys.stdout.encoding or "").lower()
    sketch = roc_sketch(evaluation) if is_unicode else []
    for line in ["", *sketch] if sketch else []:
        out.print(escape(f"  {line}".rstrip()), soft_wrap=True)
    _show_mistakes(out, evaluation, verbose)


def method_text(evaluation: Evaluation) -> str:
    """How the evaluation was made, in words."""
    settings = evaluation.settings
    scored = _scoring(settings)
    if evaluation.method == "folds":
        grouped = ", near-duplicates kept together" if settings.get("grouped") else ""
        return f"{settings.get('folds', '?')} folds{grouped}; {scored}"
    if evaluation.method == "holdout":
        which = "newest" if settings.get("by_time") else "drawn"
        share = f"A share of {settings.get('holdout', 0):.0%}, {which}"
        return f"{share}, judged by a filter trained on {evaluation.trained or 0:,} others; {scored}"
    if evaluation.method == "replay":
        told = f"feedback {settings.get('feedback', '?')}, learned {evaluation.trained or 0:,}"
        if "autolearned" in settings:
            own, wrong = settings["autolearned"], settings.get("autolearned_wrongly", 0)
            told += f" and on its own verdict {own:,}, {wrong:,} wrongly"
        return f"Replayed {settings.get('order', '')}; {told}; {scored}"
    return f"Model {plain(str(settings.get('model', '?')))}; {scored}"


def _scoring(settings: Any) -> str:
    if "event_model" not in settings:
        return plain(str(settings.get("filter", settings.get("results", "another filter"))))
    how = "views averaged" if str(settings.get("averaged")) in ("True", "1") else "one sum"
    alpha = settings.get("alpha")
    shown = alpha if isinstance(alpha, str) and not alpha[:1].isdigit() else f"{float(alpha):g}"
    words = settings["event_model"]
    if settings.get("features") == "both":
        words = f"{words} and {settings.get('numeric_model')}"
    codes = f", {settings['vocabulary_size']:,} codes" if "vocabulary_size" in settings else ""
    return f"{words}, {how}, λ = {shown}{codes}"


def figures_table(found: Summary) -> Table:
    """The figures; for ham and spam alone without those of more classes."""
    table = narrow_table("messages", "of", "figure", "95 % interval")
    is_plain = found["ham"] is not None and len(found["classes"]) == 2
    for row in rows(found):
        if is_plain and (row.key.startswith("macro") or row.key == "accuracy_percent"):
            continue
        if row.key == "unsure_percent" and not found[row.key]:
            continue
        table.add_row(row.label, row.part, row.whole, row.value, row.interval, style=STYLES.get(row.key))
    return table


def _confusion(evaluation: Evaluation, counts: list[list[int]]) -> Table:
    """Messages by true and decided class; the largest confusions if there are too many classes."""
    names = [escape(plain(name)) for name in (*evaluation.classes, UNSURE)]
    table = Table(box=narrow_table().box, pad_edge=False, header_style="dim")
    if len(evaluation.classes) > WIDEST_CONFUSION:
        for name in ("true", "decided", "messages"):
            table.add_column(name, justify="right" if name == "messages" else "left")
        cells = [
            (-count, truth, decided)
            for truth, row in enumerate(counts)
            for decided, count in enumerate(row)
            if count and truth != decided
        ]
        for count, truth, decided in sorted(cells)[:WIDEST_CONFUSION]:
            table.add_row(names[truth], names[decided], f"{-count:,}")
        return table
    width = len(names) if any(row[-1] for row in counts) else len(names) - 1
    table.add_column("true \\ decided", style="dim")
    for name in names[:width]:
        table.add_column(name, justify="right")
    for truth, row in enumerate(counts):
        shown = [f"[bold]{n:,}[/]" if place == truth else f"{n:,}" for place, n in enumerate(row[:width])]
        table.add_row(names[truth], *shown)
    return table


def _show_mistakes(out: Console, evaluation: Evaluation, verbose: bool) -> None:
    every = worst_mistakes(evaluation, len(evaluation)).tolist()
    out.print()
    if not every:
        is_unsure = (evaluation.decided == UNDECIDED).any()
        out.print(f"No message was {'decided wrongly' if is_unsure else 'misclassified'}.")
        return
    out.print(f"Misclassified: [bold]{len(every):,}[/]")
    for number, name in enumerate(evaluation.classes):
        of_class = [row for row in every if evaluation.truth[row] == number]
        shown = of_class if verbose else of_class[: max(1, SHOWN_MISTAKES // evaluation.n_classes)]
        for row in shown:
            out.print(f"  {escape(_mistake_line(evaluation, row))}", soft_wrap=True)
            if verbose:
                clues = evaluation.clues.get(evaluation.names[row], ())[:SHOWN_CLUES]
                show_clues(out, [f"{plain(token)} {nats:+.1f}" for token, nats in clues])
        if len(of_class) > len(shown):
            more = f"  … and {len(of_class) - len(shown):,} more {escape(plain(name))} (all with -v)"
            out.print(more, style="dim")


def _mistake_line(evaluation: Evaluation, row: int) -> str:
    """`ham taken for spam  +3.2  path`."""
    odds = finite(evaluation.log_odds[[row]])[0]
    shown = "" if odds is None else f"{odds:+7.2f}  "
    truth, decided = (
        plain(evaluation.classes[column[row]]) for column in (evaluation.truth, evaluation.decided)
    )
    return f"{truth} taken for {decided}  {shown}{plain(evaluation.names[row])}"


def show_clues(out: Console, clues: list[str]) -> None:
    """The clues of a message below it: one line, on a terminal lines that break between two clues."""
    width = out.width if sys.stdout.isatty() else sys.maxsize
    lines: list[str] = []
    for clue in clues:
        if lines and cell_len(lines[-1]) + len(CLUE_GAP) + cell_len(clue) <= width:
            lines[-1] += CLUE_GAP + clue
        else:
            lines.append(CLUE_INDENT + clue)
    for line in lines:
        out.print(escape(line), style="dim", soft_wrap=True)
