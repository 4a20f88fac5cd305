"""An explanation for people.  One of the places that import rich.

Hides the layout: a line with the verdict, the sum with its bars, the clues, what would flip it.
Text out of the mail goes through `plain`, and through `Text`, so that rich reads no markup in it.
"""

from __future__ import annotations

import io
import os
import sys
from math import inf, isfinite

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbspam.cli.render_clues import MAX_CLUE, clue_table, colour, nats_text
from nbspam.cli.texts import counted_text, plain
from nbspam.filter import Filter
from nbspam.model.explain import Explanation, Sum, has_evidence
from nbspam.model.priors import OF_MAIL

BAR_CELLS = 16
MAX_FLIP = 8
_NAMES = {"unknown": "unknown in {}", "base": "{}", "prior": "prior {}", "rest": "{}"}


def explanation_text(found: Explanation, classifier: Filter, top: int) -> str:
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
        console.print(clue_table(clues, found, classifier, console.width))
    if len(clues) < len(found.clues):
        console.print(
            Text(f"  and {len(found.clues) - len(clues):,} more clues: --top 0 shows all", style="dim")
        )
    console.print(_flip_line(found))
    return "\n".join(line.rstrip() for line in buffer.getvalue().split("\n"))


def _headline(found: Explanation, classifier: Filter) -> Text:
    verdict = found.verdict
    name = plain(classifier.model.classes[found.verdict.number])
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


def _setting_line(classifier: Filter) -> Text:
    settings, model = classifier.settings, classifier.model
    how = "views averaged and calibrated" if settings.averaged else "one sum"
    counts = counted_text(model.classes, model.messages)
    kind = (
        settings.event_model
        if settings.features != "both"
        else f"{settings.event_model} and {settings.numeric_model}"
    )
    return Text(f"{kind}, {how}, lambda {settings.alpha:g}; from {counts}")


def _sum_table(found: Explanation, classifier: Filter) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_column()
    finite = [abs(one.log_odds) for one in found.sums if one.log_odds is not None and isfinite(one.log_odds)]
    largest = max(finite, default=0.0)
    for one in found.sums:
        if one.log_odds or one.log_odds is None or one.kind == "view":
            table.add_row(Text(_sum_name(one)), nats_text(one.log_odds), _bar(one.log_odds, largest))
    total = found.verdict.scored.log_odds(found.verdict.number)
    rest = "" if found.residual is None else f"residual {abs(round(found.residual, 9)):g}"
    name = f"log-odds of {plain(classifier.model.classes[found.verdict.number])}"
    table.add_row(Text(f"= {name}", style="bold"), nats_text(total, "bold"), Text(rest, style="dim"))
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


def _bar(value: float | None, largest: float) -> Text:
    if not value or abs(value) == inf or not largest:
        return Text("")
    return Text("■" * max(1, round(BAR_CELLS * abs(value) / largest)), style=colour(value))


def _flip_line(found: Explanation) -> Text:
    if found.flip is None:
        return Text("No few clues decide: without the strongest it would be the same.")
    removed, label = found.flip
    names = ", ".join(plain(text)[:MAX_CLUE] for text in removed[:MAX_FLIP])
    more = f" and {len(removed) - MAX_FLIP} more" if len(removed) > MAX_FLIP else ""
    unit = "this clue" if len(removed) == 1 else f"these {len(removed)} clues"
    return Text(f"Without {unit} it would be {plain(label)}: {names}{more}")
