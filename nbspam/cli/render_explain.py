"""An explanation for people.  One of the places that import rich.

Hides the layout: a line with the verdict, the sum with its bars, the clues as a table, what would flip it.
Text out of the mail goes through `plain`, and through `Text`, so that rich reads no markup in it.
"""

from __future__ import annotations

import io
import os
import sys
from math import inf

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbspam.cli.texts import counts_text, plain
from nbspam.scoring.priors import OF_MAIL
from nbspam.workflow.classifying import Classifier
from nbspam.workflow.explaining import Clue, Explanation, Sum, has_evidence

BAR_CELLS = 16
MAX_CLUE = 40
MAX_FLIP = 8
_NAMES = {"unknown": "unknown in {}", "base": "{}", "prior": "prior {}", "rest": "{}"}


def explanation_text(found: Explanation, classifier: Classifier, top: int) -> str:
    """The explanation as text, coloured where stdout is a terminal."""
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=sys.stdout.isatty(),
        width=None if sys.stdout.isatty() else 100,
        highlight=False,
        no_color="NO_COLOR" in os.environ,
    )
    console.print(_headline(found, classifier))
    console.print(_setting_line(classifier), style="dim")
    console.print(_sum_table(found, classifier))
    clues = found.clues[: top or None]
    if clues:
        console.print(_clue_table(clues, found, classifier))
    if len(clues) < len(found.clues):
        console.print(
            Text(f"  and {len(found.clues) - len(clues):,} more clues: --top 0 shows all", style="dim")
        )
    console.print(_flip_line(found))
    return "\n".join(line.rstrip() for line in buffer.getvalue().split("\n"))


def _headline(found: Explanation, classifier: Classifier) -> Text:
    verdict = found.verdict
    name = plain(classifier.model.classes[found.verdict.shown])
    line = Text(plain(verdict.label), style="bold")
    if verdict.probability is None:
        why = "every class is ruled out (lambda = 0)"
        if not has_evidence(classifier, verdict):
            why = "fewer than two classes have mail in the model"
        elif not any(classifier.scorer.model.messages) and classifier.settings.prior in OF_MAIL:
            why = "no mail is in the model, and the prior is of it"
        line.append(f"  the probability is undefined: {why}", style="not bold")
    else:
        line.append(f"  P({name}) {verdict.probability:.4f}", style="not bold")
    if verdict.log_odds is not None:
        line.append(f"   log-odds {verdict.log_odds:+.2f}", style="not bold")
    if found.interval:
        line.append(f"  (95 %: {found.interval[0]:+.2f} to {found.interval[1]:+.2f})", style="not bold")
    line.append(f"   {plain(verdict.name)}", style="not bold dim")
    return line


def _setting_line(classifier: Classifier) -> Text:
    settings, model = classifier.settings, classifier.model
    how = "views averaged and calibrated" if settings.averaged else "one sum"
    counts = counts_text(model.classes, model.messages)
    kind = (
        settings.event_model
        if settings.features != "both"
        else f"{settings.event_model} and {settings.numeric_model}"
    )
    return Text(f"{kind}, {how}, lambda {settings.alpha:g}; from {counts}")


def _sum_table(found: Explanation, classifier: Classifier) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_column()
    largest = max(
        (abs(one.nats) for one in found.sums if one.nats is not None and abs(one.nats) < inf), default=0.0
    )
    for one in found.sums:
        if one.nats or one.nats is None or one.kind == "view":
            table.add_row(Text(_sum_name(one)), _nats(one.nats), _bar(one.nats, largest))
    total = found.verdict.scored.log_odds(found.verdict.shown)
    rest = "" if found.residual is None else f"residual {abs(round(found.residual, 9)):g}"
    name = f"log-odds of {plain(classifier.model.classes[found.verdict.shown])}"
    table.add_row(Text(f"= {name}", style="bold"), _nats(total, "bold"), Text(rest, style="dim"))
    return table


def _sum_name(one: Sum) -> str:
    if one.kind == "view":
        unit = "clue" if one.clues == 1 else "clues"
        return f"{one.name}, {one.clues:,} {unit}"
    if one.kind == "features":
        return f"numeric features, {one.clues:,}"
    if one.kind == "base" and one.name == "bernoulli":
        return "absent words"
    return _NAMES.get(one.kind, "{}").format(plain(one.name))


def _nats(value: float | None, style: str = "") -> Text:
    if value is None:
        return Text("undefined", style=style)
    shown = f"{value:+.2f}" if abs(value) >= 0.005 else "0.00"
    return Text("+inf" if value == inf else "-inf" if value == -inf else shown, style=style or _colour(value))


def _colour(value: float | None) -> str:
    return "" if not value else "red" if value > 0 else "green"


def _bar(value: float | None, largest: float) -> Text:
    if not value or abs(value) == inf or not largest:
        return Text("")
    return Text("■" * max(1, round(BAR_CELLS * abs(value) / largest)), style=_colour(value))


def _clue_table(clues: list[Clue], found: Explanation, classifier: Classifier) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("nats", justify="right")
    classes = [plain(name) for name in classifier.model.classes]
    for name in classes:
        table.add_column(name, justify="right")
    table.add_column(f"share of {classes[found.verdict.shown]}", justify="right")
    table.add_column("where")
    table.add_column("clue", overflow="fold")
    for clue in clues:
        counts = clue.counts() or [""] * len(classes)
        share = f"{100 * clue.share[0]:.0f}-{100 * clue.share[1]:.0f} %" if clue.share else ""
        text = plain(clue.text)
        shown = text if len(text) <= MAX_CLUE else text[: MAX_CLUE - 1] + "…"
        table.add_row(
            _nats(clue.nats), *map(Text, counts), Text(share), Text(clue.view or clue.kind), Text(shown)
        )
    return table


def _flip_line(found: Explanation) -> Text:
    if found.flip is None:
        return Text("No few clues decide: without the strongest it would be the same.")
    removed, label = found.flip
    names = ", ".join(plain(text)[:MAX_CLUE] for text in removed[:MAX_FLIP])
    more = f" and {len(removed) - MAX_FLIP} more" if len(removed) > MAX_FLIP else ""
    unit = "this clue" if len(removed) == 1 else f"these {len(removed)} clues"
    return Text(f"Without {unit} it would be {plain(label)}: {names}{more}")
