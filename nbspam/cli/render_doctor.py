"""A check-up for people: what is fine in few words, what is not with what to do next.

Hides the layout.  Names and words out of mail and files go through `plain`, and through `Text`, so that rich
reads no markup in them.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbspam.cli.render import console
from nbspam.cli.render_evaluation import show_clues
from nbspam.cli.texts import plain
from nbspam.tasks.doctor.finding import FINE, NOTE, WRONG, Finding
from nbspam.tasks.doctor.labels_in_doubt import Checked, Doubt, Labelled, Moved

COLOURS = {FINE: "green", NOTE: "yellow", WRONG: "bold red"}
SHOWN = 10  # messages of a kind; --json has all
MAX_CLUE = 32
GAPS = 4  # blanks between the three columns


def show_doctor(findings: list[Finding], checked: Checked | None, notes: list[str], quiet: bool) -> None:
    """The findings, then the messages that they are about.  quiet : what is wrong, alone"""
    out = console()
    shown = [one for one in findings if one.state == WRONG] if quiet else findings
    if shown:
        _rows(out, shown)
    for line in notes:
        out.print(Text(plain(line), style="yellow"), soft_wrap=True)
    if checked:
        _groups(out, "The same message under two labels", checked.same)
        _moved(out, checked.moved or [])
    if quiet:
        return
    if checked:
        _groups(out, "Nearly the same message under two labels", checked.near)
        _doubts(out, checked.doubts or [])
    out.print()
    out.print(_verdict(findings))


def _rows(out: Console, findings: list[Finding]) -> None:
    """A row each; a path that is longer than the line stays whole, to be copied."""
    line = out.width
    widths = [max(len(plain(getattr(one, name))) for one in findings) for name in ("state", "about")]
    for one in findings:
        table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
        for width in widths:
            table.add_column(width=width, no_wrap=True)
        table.add_column()
        text = Text(plain(one.text))
        if one.remedy:
            text.append(f"\nnext: {plain(one.remedy)}", style="dim")
        table.add_row(Text(one.state, style=COLOURS[one.state]), Text(plain(one.about), style="bold"), text)
        longest = max(map(len, text.plain.split()))
        out.width = max(line, sum(widths) + GAPS + longest)
        out.print(table, crop=False)
    out.width = line


def _verdict(findings: list[Finding]) -> Text:
    faults, notes = (sum(one.state == state for one in findings) for state in (WRONG, NOTE))
    worth = f"{notes} {'thing is' if notes == 1 else 'things are'} worth knowing"
    if faults:
        text = f"{faults} {'thing is' if faults == 1 else 'things are'} wrong"
        return Text(text + (f", {worth}." if notes else "."), style=COLOURS[WRONG])
    return Text(
        f"Nothing is wrong; {worth}." if notes else "All is well.", style=COLOURS[NOTE if notes else FINE]
    )


def _heading(out: Console, title: str, number: int) -> None:
    out.print()
    out.print(Text(f"{title}: {number:,}", style="bold"))


def _more(out: Console, left: int) -> None:
    if left > 0:
        out.print(Text(f"  and {left:,} more: --json names all", style="dim"))


def _groups(out: Console, title: str, groups: list[tuple[Labelled, ...]]) -> None:
    if not groups:
        return
    _heading(out, title, len(groups))
    for group in groups[:SHOWN]:
        for place, one in enumerate(group[:SHOWN]):
            out.print(
                Text(f"{'-' if place == 0 else ' ':>3} {plain(one.label):<8} {plain(one.name)}"),
                soft_wrap=True,
            )
        _more(out, len(group) - SHOWN)
    _more(out, len(groups) - SHOWN)


def _moved(out: Console, moved: list[Moved]) -> None:
    if not moved:
        return
    _heading(out, "Labelled otherwise than the model has counted them", len(moved))
    for one in moved[:SHOWN]:
        counted = ", ".join(map(plain, one.counted))
        out.print(Text(f"  {plain(one.label)}, counted as {counted}  {plain(one.name)}"), soft_wrap=True)
    _more(out, len(moved) - SHOWN)


def _doubts(out: Console, doubts: list[Doubt]) -> None:
    if not doubts:
        return
    _heading(out, "Likely mislabelled, the surest first", len(doubts))
    for one in doubts[:SHOWN]:
        line = Text("  ")
        line.append(f"{plain(one.label)}", style="bold")
        line.append(f"  P({plain(one.other)}) {one.probability:.3f}", style="yellow")
        line.append(f"  {plain(one.name)}")
        out.print(line, soft_wrap=True)
        show_clues(out, [f"{_short(text)} {nats:+.1f}" for text, nats in one.clues])
    _more(out, len(doubts) - SHOWN)


def _short(text: str) -> str:
    shown = plain(text)
    return shown if len(shown) <= MAX_CLUE else shown[: MAX_CLUE - 1] + "…"
