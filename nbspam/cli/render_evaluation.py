"""What people see of an evaluation, a comparison and a choice of settings: rich tables.

Hides the terminal.  Figures come ready from the rooms below; text out of mail and file names goes
through `plain` first.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nbspam.cli.texts import amount, plain
from nbspam.decision import UNDECIDED
from nbspam.evaluate.comparison import Comparison, Difference
from nbspam.evaluate.metrics import loses_none
from nbspam.evaluate.outcomes import Evaluation, Outcome, worst_mistakes
from nbspam.evaluate.sketch import roc_sketch
from nbspam.labels import UNSURE
from nbspam.tasks.tune import Tried, Tuned
from nbspam.tokens.bag import READ_VIEWS

SHOWN_MISTAKES = 10  # shared among the classes, at least one each; all with -v
SHOWN_CLUES = 6  # of a mistake, with -v
CLUE_INDENT, CLUE_GAP = "      ", "  "
WIDEST_CONFUSION = 10  # classes
PIPE_WIDTH = 100  # columns where no terminal says how many it has
Summary = dict[str, Any]


@contextmanager
def waiting(title: str, shown: bool) -> Iterator[None]:
    """A sign of life on stderr for work that cannot tell how far it is."""
    if not shown:
        yield
        return
    out = Console(stderr=True)
    with out.status(title):
        yield


def console() -> Console:
    """Standard output; wide enough for a table where it is no terminal; an escape for what it cannot show."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH, soft_wrap=False)


def show_evaluation(evaluation: Evaluation, found: Summary, notes: list[str], verbose: bool) -> None:
    """The evaluation as a table of figures, the confusion of classes, a small ROC and the mistakes."""
    out = console()
    out.print(_headline(evaluation, found), soft_wrap=True)
    for note in notes:
        out.print(escape(note), style="yellow", soft_wrap=True)
    out.print()
    out.print(_figures(found))
    if found["ham"] is None or len(evaluation.classes) > 2:
        out.print()
        out.print(_confusion(evaluation, found))
    lines = roc_sketch(evaluation, width=44, height=7, unicode=_is_unicode())
    if lines:
        out.print()
        for line in lines:
            out.print("  " + escape(line), soft_wrap=True)
    _show_mistakes(out, evaluation, verbose)


def _is_unicode() -> bool:
    return "utf" in (sys.stdout.encoding or "").lower()


def _headline(evaluation: Evaluation, found: Summary) -> str:
    sizes = [sum(row) for row in found["confusion"]]
    counts = ", ".join(
        f"{size:,} {escape(plain(name))}" for name, size in zip(evaluation.classes, sizes, strict=True)
    )
    return f"[bold]{amount(found['messages'], 'message')}[/] ({counts}). {escape(_method(evaluation))}."


def _method(evaluation: Evaluation) -> str:
    """How the evaluation was made, in words."""
    settings = evaluation.settings
    scored = _scoring(settings)
    if evaluation.method == "folds":
        grouped = ", near-duplicates kept together" if settings.get("grouped") else ""
        return f"{settings.get('folds', '?')} folds{grouped}; {scored}"
    if evaluation.method == "holdout":
        which = "newest" if settings.get("by_time") else "drawn"
        share = f"A share of {settings.get('holdout', 0):.0%}, {which}"
        return f"{share}, judged by what {evaluation.trained or 0:,} others taught; {scored}"
    if evaluation.method == "replay":
        told = f"feedback {settings.get('feedback', '?')}, learned {evaluation.trained or 0:,}"
        if "autolearned" in settings:
            own, wrong = settings["autolearned"], settings.get("autolearned_wrongly", 0)
            told += f" and on its own word {own:,}, {wrong:,} wrongly"
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


def _narrow_table() -> Table:
    """A table whose longest row fits on a terminal of 80 columns."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")


def _figures(found: Summary) -> Table:
    table = _narrow_table()
    table.add_column("")
    for name in ("messages", "of", "figure", "95 % interval"):
        table.add_column(name, justify="right")
    many = len(found["classes"]) > 2
    if found["ham"] is not None:
        _rate(table, found, "other mail lost" if many else "ham lost", "hm_percent", found["ham"], "red")
        _rate(table, found, "spam missed", "sm_percent", found["spam"], "yellow")
    if many or found["ham"] is None:
        _rate(table, found, "right", "accuracy_percent", found["messages"], "green")
    if found["unsure_percent"]:
        _rate(table, found, "unsure", "unsure_percent", found["messages"], "")
    for name, key, digits, unit in (
        ("lam%", "lam_percent", 2, " %"),
        ("(1-ROCA)%", "one_minus_roca_percent", 4, " %"),
        ("macro (1-ROCA)%", "macro_one_minus_roca_percent", 4, " %"),
        ("macro F1", "macro_f1", 4, ""),
        ("expected loss", "expected_loss", 4, ""),
        ("calibration error", "ece_percent", 2, " %"),
        ("Brier", "brier", 5, ""),
        ("log loss", "log_loss", 5, " nats"),
    ):
        if found.get(key) is None or (
            key.startswith("macro") and found["ham"] is not None and len(found["classes"]) == 2
        ):
            continue
        table.add_row(
            name, "", "", f"{found[key]:.{digits}f}{unit}", _interval(found[f"{key}_interval"], digits)
        )
        if key == "one_minus_roca_percent" and found["sm_percent_at_hm"]:
            _missed_at(table, found)
    return table


def _missed_at(table: Table, found: Summary) -> None:
    """Levels that are all less than one ham are one row: their threshold is the same, and loses none."""
    names = {
        "with no ham lost" if loses_none(found["ham"], level) else f"at {level} % ham lost": level
        for level in found["sm_percent_at_hm"]
    }
    for name, level in names.items():
        interval = _interval(found["sm_percent_at_hm_interval"][level], 2)
        table.add_row(f"missed {name}", "", "", f"{found['sm_percent_at_hm'][level]:.2f} %", interval)


def _rate(table: Table, found: Summary, name: str, key: str, whole: int, style: str) -> None:
    if found[key] is None:
        return
    part = round(found[key] * whole / 100)
    table.add_row(
        name,
        f"{part:,}",
        f"{whole:,}",
        f"{found[key]:.2f} %",
        _interval(found[f"{key}_interval"], 2),
        style=style,
    )


def _interval(pair: list[float] | None, digits: int) -> str:
    return "" if pair is None else f"{pair[0]:.{digits}f} to {pair[1]:.{digits}f}"


def _confusion(evaluation: Evaluation, found: Summary) -> Table:
    """Counts of true class against decided class; the classes with most mistakes where there are too many."""
    counts, names = found["confusion"], [*evaluation.classes, UNSURE]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    if len(evaluation.classes) > WIDEST_CONFUSION:
        for name in ("true", "decided", "messages"):
            table.add_column(name, justify="right" if name == "messages" else "left")
        cells = [
            (count, truth, decided)
            for truth, row in enumerate(counts)
            for decided, count in enumerate(row)
            if count and truth != decided
        ]
        for count, truth, decided in sorted(cells, key=lambda cell: (-cell[0], cell[1], cell[2]))[
            :WIDEST_CONFUSION
        ]:
            table.add_row(escape(plain(names[truth])), escape(plain(names[decided])), f"{count:,}")
        return table
    width = len(names) if any(row[-1] for row in counts) else len(names) - 1
    table.add_column("true \\ decided", style="dim")
    for name in names[:width]:
        table.add_column(escape(plain(name)), justify="right")
    for truth, row in enumerate(counts):
        cells_shown = [
            f"[bold]{count:,}[/]" if place == truth else f"{count:,}"
            for place, count in enumerate(row[:width])
        ]
        table.add_row(escape(plain(names[truth])), *cells_shown)
    return table


def mistakes(evaluation: Evaluation) -> list[Outcome]:
    """The misclassified messages, the worst first within a class."""
    return worst_mistakes(evaluation, len(evaluation.outcomes))


def _show_mistakes(out: Console, evaluation: Evaluation, verbose: bool) -> None:
    every = mistakes(evaluation)
    unsure = [outcome for outcome in evaluation.outcomes if outcome.decided == UNDECIDED]
    out.print()
    if not every:
        out.print("No message was misclassified." if not unsure else "No message was decided wrongly.")
        return
    out.print(f"Misclassified: [bold]{len(every):,}[/]")
    for number, name in enumerate(evaluation.classes):
        of_class = [outcome for outcome in every if outcome.truth == number]
        shown = of_class if verbose else of_class[: max(1, SHOWN_MISTAKES // len(evaluation.classes))]
        for outcome in shown:
            out.print(f"  {escape(mistake_line(evaluation.classes, outcome))}", soft_wrap=True)
            if verbose and outcome.name in evaluation.clues:
                found = evaluation.clues[outcome.name][:SHOWN_CLUES]
                show_clues(out, [f"{plain(token)} {nats:+.1f}" for token, nats in found])
        if len(of_class) > len(shown):
            out.print(
                f"  … and {len(of_class) - len(shown):,} more {escape(plain(name))} (all with -v)",
                style="dim",
            )


def show_clues(out: Console, clues: list[str]) -> None:
    """The clues of a message below it, in one line; on a terminal in lines that part no clue."""
    width = out.width if sys.stdout.isatty() else sys.maxsize
    lines: list[str] = []
    for clue in clues:
        if lines and cell_len(lines[-1]) + len(CLUE_GAP) + cell_len(clue) <= width:
            lines[-1] += CLUE_GAP + clue
        else:
            lines.append(CLUE_INDENT + clue)
    for line in lines:
        out.print(escape(line), style="dim", soft_wrap=True)


def mistake_line(classes: tuple[str, ...], outcome: Outcome) -> str:
    """`ham taken for spam  +3.2  path`."""
    odds = "" if outcome.log_odds is None else f"{outcome.log_odds:+7.2f}  "
    truth, decided = plain(classes[outcome.truth]), plain(classes[outcome.decided])
    return f"{truth} taken for {decided}  {odds}{plain(outcome.name)}"


def show_comparison(found: Comparison, first: Evaluation, second: Evaluation, names: tuple[str, str]) -> None:
    """Both evaluations side by side, and the verdict."""
    out = console()
    a, b = (escape(plain(name)) for name in names)
    messages = amount(found.messages, "message")
    out.print(f"[bold]{messages}[/], judged by A = {a} and by B = {b}.", soft_wrap=True)
    out.print()
    table = _narrow_table()
    table.add_column("")
    for name in ("A", "B", "B - A", "95 % interval", "p"):
        table.add_column(name, justify="right")
    _difference_row(table, "(1-ROCA)%", found.one_minus_roca_percent, 4)
    if found.log_loss is not None:
        _difference_row(table, "log loss", found.log_loss, 5)
    right = [sum(one.decided == one.truth for one in part.outcomes) for part in (first, second)]
    p = f"{found.mcnemar.p:.3f}" if found.mcnemar.p >= 0.001 else "< 0.001"
    table.add_row("decided rightly", f"{right[0]:,}", f"{right[1]:,}", f"{right[1] - right[0]:+,}", "", p)
    out.print(table)
    only = f"right alone: A {found.mcnemar.only_a_right:,}, B {found.mcnemar.only_b_right:,}"
    if found.won or found.tied or found.lost:
        only += (
            f"; of the {found.parts}, by (1-ROCA)%, B won {found.won}, tied {found.tied}, lost {found.lost}"
        )
    out.print(f"{only}.", soft_wrap=True)
    out.print(f"[bold]{escape(plain(found.verdict))}[/]", soft_wrap=True)


def _difference_row(table: Table, name: str, found: Difference, digits: int) -> None:
    """Left out where neither evaluation has the figure, as of scores of classes without spam."""
    if isnan(found.a) and isnan(found.b):
        return
    low, high = found.interval
    interval = "" if isnan(low) else f"{low:+.{digits}f} to {high:+.{digits}f}"
    p = "" if isnan(found.p) else "< 0.001" if found.p < 0.001 else f"{found.p:.3f}"
    signs = ((found.a, ""), (found.b, ""), (found.difference, "+"))
    shown = ["" if isnan(value) else f"{value:{sign}.{digits}f}" for value, sign in signs]
    table.add_row(name, *shown, interval, p)


def show_tuning(tuned: Tuned, notes: list[str]) -> None:
    """The table that was chosen from, and the options to give to train."""
    out = console()
    judged = len(tuned.chosen.evaluation.outcomes)
    out.print(f"[bold]{judged:,} messages judged[/], {escape(tuned.how)}.", soft_wrap=True)
    for note in notes:
        out.print(escape(note), style="yellow", soft_wrap=True)
    out.print()
    table = _narrow_table()
    table.add_column("")
    has_spam = tuned.chosen.evaluation.columns.positive is not None
    figures = ("ham\nlost", "spam\nmissed", "(1-ROCA)%") if has_spam else ("wrong", "macro\n(1-ROCA)%")
    for name in (*figures, "log loss", "against", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in tuned.tried:
        style = "bold green" if one is tuned.chosen else ""
        table.add_row(*_tuning_cells(one, one is tuned.tried[0]), style=style)
    out.print(table)
    if tuned.comparison is not None:
        out.print(escape(f"Paired: {tuned.comparison.verdict}."), soft_wrap=True)
    if tuned.chosen is tuned.tried[0]:
        out.print(
            "[bold]The default stays[/]: no other choice is better by more than chance.", soft_wrap=True
        )
    else:
        out.print(f"[bold]Chosen[/]: nbspam train {escape(tuned.chosen.candidate.options)} …", soft_wrap=True)


def _tuning_cells(one: Tried, is_default: bool) -> list[str]:
    cells = [escape(_candidate_name(one.candidate.options))]
    columns = one.evaluation.columns
    shares = [one.hm_percent, one.sm_percent]
    if columns.positive is None:
        shares = [100 * float((columns.decided != columns.truth).mean())]
    cells += ["" if isnan(value) else f"{value:.2f} %" for value in shares]
    ranking = one.one_minus_roca_percent
    cells += ["" if isnan(ranking) else f"{ranking:.4f}", f"{one.log_loss:.5f}"]
    if is_default:
        return [*cells, "", ""]
    return [*cells, f"{one.difference:+.5f}", "< 0.001" if one.p < 0.001 else f"{one.p:.3f}"]


def _candidate_name(options: str) -> str:
    """The options of train in fewer words: a table has little room."""
    option, _, views = options.partition(" ")
    missing = [name for name in READ_VIEWS if name not in views.split(",")]
    if option == "--views" and len(missing) == 1:
        return f"without {missing[0]}"
    for option, name in (("--event-model ", ""), ("--alpha ", "λ "), ("--views ", "only "), ("--", "")):
        options = options.replace(option, name)
    return options or "the default"
