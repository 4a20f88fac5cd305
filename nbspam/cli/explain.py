"""`nbspam explain`: the command, and an explanation as text or JSON.

Text from a mail goes through `plain` and then `Text`, so that neither a terminal nor rich acts on it.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from itertools import product
from math import isfinite
from typing import Any

import click
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbspam.cli import amount, counted_text, plain
from nbspam.cli.classify import SETTINGS, ReadableMessages
from nbspam.cli.options import EXPLAIN
from nbspam.cli.output import write_text
from nbspam.cli.shared import files_argument, options
from nbspam.corpus.heads import head_of
from nbspam.filter import Filter, Verdict, open_filter
from nbspam.model.explain import Explanation, Sum, count_text
from nbspam.model.features import bin_text
from nbspam.model.posterior import OF_MAIL
from nbspam.tasks.start import own_or_shared

WIDTH = 100  # where stdout is no terminal
BAR_CELLS = 16
MAX_CLUE, MIN_CLUE = 40, 18  # cells of a clue in the table
MAX_COLUMNS = 6  # classes with a column each
FOLDED = 10  # cells of a heading where there is little room
MAX_FLIP = 8  # clues named
SYMBOLS = {"mean": "μ", "variance": "σ²", "phi": "φ"}  # of docs/models.md


@click.command("explain")
@options("model", "start", "top", *EXPLAIN, "loss", "verbose", "json")
@files_argument
def explain_command(
    files: tuple[str, ...], model: str, start: str, top: int, loss: str | None, as_json: bool, **given: Any
) -> int:
    """Explain the verdict on a message.

    Shows what each view of the message, its unknown words, the constant and the prior add to the log-odds;
    the clues, with their counts in each class and a 95 % interval of the share of spam among the messages
    that hold them; and clues whose removal would change the verdict.  With --textbook there is no smaller
    set of such clues; with averaged views they are found one by one.

    \b
    Example:
        nbspam explain message.eml
        nbspam explain --textbook --event-model bernoulli --json < message.eml

    Exit status: 0 explained; 64 usage; 65 no sound model; 66 no such message or no model; 74 I/O;
    75 try again later.
    """
    asked = {name: value for name, value in given.items() if name in SETTINGS and value not in (None, False)}
    change = {name: "1" if value is True else value for name, value in asked.items()}
    judge = open_filter(own_or_shared(model, start), change, loss)
    messages = ReadableMessages({}, list(files))
    for name, data in messages:
        judge = judge.current()
        found = judge.explain(data, name)
        shown = found._replace(clues=found.clues[: top or None], features=found.features[: top or None])
        left_out = len(found.clues) - len(shown.clues)
        if as_json:
            write_text(explanation_json(shown, judge.classes))
        else:
            write_text(_text(shown, judge, left_out, head_of(data)))
    return messages.status


def explanation_json(found: Explanation, classes: tuple[str, ...]) -> str:
    """One object, one line; what is not finite is null."""
    verdict = found.verdict
    content = {
        "name": verdict.name,
        "label": verdict.label,
        "class": classes[verdict.number],
        "probability": verdict.probability,
        "log_odds": verdict.log_odds,
        "log_odds_interval": found.interval,
        "residual": found.residual,
        "contributions": [
            {"kind": one.kind, "name": one.name, "nats": _finite(one.log_odds), "clues": one.clues}
            for one in found.sums
        ],
        "clues": [
            {
                "token": clue.token,
                "kind": clue.kind,
                "view": clue.view,
                "nats": _finite(clue.log_odds),
                "times": clue.times,
                "documents": dict(zip(classes, clue.counts, strict=False)),
                "occurrences": dict(zip(classes, clue.occurrences, strict=False)),
                "share_interval": clue.share_interval,
            }
            for clue in found.clues
        ],
        "features": [
            {"feature": name, "value": value, "nats": _finite(nats), "bin": edges or None}
            | {key: dict(zip(classes, values, strict=True)) for key, values in parameters.items()}
            for (name, value, edges, parameters), nats in found.features
        ],
        "flip": None if found.flip is None else {"without": found.flip[0], "label": found.flip[1]},
    }
    return json.dumps(content, ensure_ascii=True) + "\n"


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _text(found: Explanation, judge: Filter, left_out: int, head: str) -> str:
    """The explanation for people: verdict, sum with its bars, clues, and clues that decide."""
    is_terminal = sys.stdout.isatty()
    console = Console(
        file=io.StringIO(),
        force_terminal=is_terminal,
        width=None if is_terminal else WIDTH,
        highlight=False,
        no_color="NO_COLOR" in os.environ,
    )
    console.print(_headline(found, judge))
    if head:
        console.print(Text(plain(head)), no_wrap=True, overflow="ellipsis")
    console.print(_setting_line(judge), style="dim")
    console.print(_sum_table(found, judge))
    if found.clues:
        console.print(clue_table(found, judge.classes, console.width))
    if left_out:
        console.print(Text(f"  and {left_out:,} more clues: --top 0 shows all", style="dim"))
    if found.features:
        console.print(_feature_table(found, judge.classes))
    console.print(_flip_line(found))
    written: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in written.split("\n"))


def _headline(found: Explanation, judge: Filter) -> Text:
    verdict = found.verdict
    line = f"  the probability is undefined: {_why_undefined(verdict, judge)}"
    if verdict.probability is not None:
        line = f"  P({plain(judge.classes[verdict.number])}) {verdict.probability:.4f}"
    if verdict.log_odds is not None:
        line += f"   log-odds {verdict.log_odds:+.2f}"
    if found.interval:
        line += "  (95 %: {:+.2f} to {:+.2f})".format(*found.interval)
    return Text.assemble((plain(verdict.label), "bold"), line, (f"   {plain(verdict.name)}", "dim"))


def _why_undefined(verdict: Verdict, judge: Filter) -> str:
    if verdict.is_prior_alone:
        return "fewer than two classes have mail in the model"
    if not any(judge.scorer.model.messages) and judge.settings.prior in OF_MAIL:
        return "no mail is in the model, and the prior is of it"
    return "every class is ruled out (lambda = 0)"


def _setting_line(judge: Filter) -> Text:
    settings, model = judge.settings, judge.model
    how = "views averaged and calibrated" if settings.averaged else "one sum"
    kind = settings.event_model + (f" and {settings.numeric_model}" if settings.features == "both" else "")
    counts = counted_text(model.classes, model.messages)
    return Text(f"{kind}, {how}, lambda {settings.alpha:g}; from {counts}")


def _sum_table(found: Explanation, judge: Filter) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    largest = max((abs(nats) for one in found.sums if (nats := _finite(one.log_odds))), default=0.0)
    for one in found.sums:
        nats = one.log_odds
        if nats or nats is None or one.kind == "view":
            size = abs(_finite(nats) or 0.0)
            cells = max(1, round(BAR_CELLS * size / largest)) if size else 0
            bar = Text("■" * cells, style=_colour(nats or 0.0))
            table.add_row(Text(_sum_name(one)), nats_text(nats), bar)
    total = found.verdict.scored.log_odds(found.verdict.number)
    rest = "" if found.residual is None else f"residual {abs(round(found.residual, 9)):g}"
    name = f"= log-odds of {plain(judge.classes[found.verdict.number])}"
    table.add_row(Text(name, style="bold"), nats_text(total, "bold"), Text(rest, style="dim"))
    return table


def _sum_name(one: Sum) -> str:
    if one.kind == "view":
        return f"{one.name}, {amount(one.clues, 'clue')}"
    if one.kind == "features":
        return f"numeric features, {one.clues:,}"
    if one.kind == "base" and one.name == "bernoulli":
        return "absent words"
    return {"unknown": "unknown in ", "prior": "prior "}.get(one.kind, "") + plain(one.name)


def nats_text(value: float | None, style: str = "") -> Text:
    """A contribution to the log-odds, red or green unless a style is given."""
    if value is None:
        return Text("undefined", style=style)
    text = f"{value:+.2f}" if abs(value) >= 0.005 else "0.00"
    return Text(text, style=style or _colour(value))


def _colour(value: float) -> str:
    """Red for the class of the verdict, green against it."""
    return "" if not value else "red" if value > 0 else "green"


def clue_table(found: Explanation, classes: tuple[str, ...], width: int) -> Table:
    """The clues: nats, messages of each class that hold them, share of the verdict's class, view, token.

    As many classes have a column as the width allows; the others share one.  Headings are folded before
    classes share a column, and numbers are never cut.
    """
    texts = [plain(clue.token) for clue in found.clues]
    texts = [text if len(text) <= MAX_CLUE else text[: MAX_CLUE - 1] + "…" for text in texts]
    widest = max(map(cell_len, ["clue", *texts]))
    for groups, most in product(_column_groups(found.verdict), (WIDTH, FOLDED)):
        columns, gap = _columns(found, classes, groups), 3 if most == WIDTH else 2
        widths = [
            max(min(cell_len(heading), most), *(cell.cell_len for cell in cells))
            for heading, cells in columns
        ]
        room = width - sum(widths) - gap * len(widths) - 2
        if room >= min(MIN_CLUE, widest):
            break
    table = Table(box=box.SIMPLE_HEAD, padding=(0, gap - 2, 0, 1), pad_edge=False)
    for (heading, _), cells in zip(columns, widths, strict=True):
        justify: Any = "left" if heading == "where" else "right"
        table.add_column(Text(heading), justify=justify, width=cells, overflow="fold")
    table.add_column("clue", width=max(4, min(room, widest)), overflow="fold")
    for row in zip(*(cells for _, cells in columns), map(Text, texts), strict=True):
        table.add_row(*row)
    return table


def _column_groups(verdict: Verdict) -> list[list[Sequence[int]]]:
    """The classes that share a column, the best layout first."""
    number, scores = verdict.number, verdict.scored.scores
    others = sorted((k for k in range(len(scores)) if k != number), key=lambda k: -scores[k])
    layouts: list[list[Sequence[int]]] = []
    if len(scores) <= MAX_COLUMNS:
        layouts.append([[k] for k in range(len(scores))])
    if len(scores) > 2:
        layouts += [[[number], others[:1], others[1:]], [[number], others]]
    return layouts


def _columns(
    found: Explanation, classes: tuple[str, ...], groups: list[Sequence[int]]
) -> list[tuple[str, list[Text]]]:
    """Headings and cells.  A numeric feature has no counts."""
    names = [plain(name) for name in classes]
    columns = [("nats", [nats_text(clue.log_odds) for clue in found.clues])]
    for group in groups:
        heading = names[group[0]] if len(group) == 1 else f"{len(group)} others"
        sums = [sum(clue.counts[k] for k in group) if clue.counts else None for clue in found.clues]
        columns.append((heading, [Text("" if n is None else count_text(n)) for n in sums]))
    shares = [clue.share_interval for clue in found.clues]
    percents = [Text(f"{100 * share[0]:.0f}-{100 * share[1]:.0f} %" if share else "") for share in shares]
    places = [Text(clue.view or clue.kind) for clue in found.clues]
    return [*columns, (f"share of {names[found.verdict.number]}", percents), ("where", places)]


def _feature_table(found: Explanation, classes: Sequence[str]) -> Table:
    """The numeric features, and the parameters that they are scored by."""
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    for head in ("nats", "value"):
        table.add_column(head, justify="right")
    table.add_column("feature")
    table.add_column("parameters")
    for facts, nats in found.features:
        texts = [bin_text(*facts.bin)] if facts.bin else []
        for k, name in enumerate(classes):
            numbers = [f"{SYMBOLS[key]} {values[k]:,.4g}" for key, values in facts.parameters.items()]
            texts.append(f"{plain(name)} {' '.join(numbers)}")
        shown = Text("") if nats is None else nats_text(nats)
        table.add_row(shown, f"{facts.value:,.6g}", facts.name, Text(", ".join(texts)))
    return table


def _flip_line(found: Explanation) -> Text:
    if found.flip is None:
        return Text("Removing the strongest clues does not change the verdict.")
    removed, label = found.flip
    names = ", ".join(plain(text)[:MAX_CLUE] for text in removed[:MAX_FLIP])
    more = f" and {len(removed) - MAX_FLIP} more" if len(removed) > MAX_FLIP else ""
    unit = "this clue" if len(removed) == 1 else f"these {len(removed)} clues"
    return Text(f"Without {unit} it would be {plain(label)}: {names}{more}")
