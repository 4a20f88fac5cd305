"""`nbspam doctor`: the check-up, and its screen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from nbspam.cli import model_in_home, model_places, plain, with_flags
from nbspam.cli.options import SOURCE, list_given, options
from nbspam.cli.shared import open_source, read_source
from nbspam.cli.tables import console, show_message, write_json
from nbspam.corpus.heads import heads
from nbspam.tasks.check_labels import (
    Checked,
    CountedOtherwise,
    Doubt,
    Labelled,
    check_labels,
    choose_views,
    list_findings,
)
from nbspam.tasks.doctor import FINE, NOTE, WRONG, Finding, examine, is_sound
from nbspam.tasks.start import choose_model

COLOURS = {FINE: "green", NOTE: "yellow", WRONG: "bold red"}
SHOWN = 20  # messages of a kind; --json has all


@click.command("doctor")
@options(*SOURCE, "model", "start", "jobs", "json", "verbose", "doctor.quiet")
def doctor_command(model: str, start: str, json: bool, **given: Any) -> int:
    """Check a model, and the labels of the mail in SOURCE.

    Without SOURCE: which model is used and why, its owner, who may write to it, whether it is sound, has
    enough mail of each class, and is calibrated; models at other places; the lines of ~/.procmailrc,
    ~/.mailfilter and ~/.forward that call nbspam.

    With SOURCE (as for nbspam train) also: messages with two labels, messages that the model has counted as
    another class, and labels that are likely wrong: a filter of the other mail, without near-duplicates,
    gives another class more than 98 %.  The strongest clues for that class follow each message.

    \b
    Example:
        nbspam doctor
        nbspam doctor ~/Maildir
        nbspam doctor -q || echo "nbspam needs help"

    Exit status: 0 nothing is wrong; a note, such as a label in doubt, is not a fault.  Else the status of the
    first fault: 65 the model is not sound, or labels contradict each other or the model; 66 no model (with
    SOURCE a note), or the model or mail cannot be read; 73 no model can be made; 74 the model cannot be
    written to.  64 usage; 75 the model is in use, try again later.
    """
    has_mail = any(given[name] for name in ("source", "ham", "spam", "classes", "rules", "skip_unread"))
    source = open_source(given, allow_one_class=True) if has_mail else None
    why = "named by --model" if list_given(["model"]) else model_places()[0][0]
    findings = examine(model, why, _other_places(), has_mail, start)
    checked: Checked | None = None
    if source:
        judge = choose_model(model, start) if is_sound(findings) else None
        corpus = read_source(source, given, choose_views(judge))
        checked = check_labels(corpus, judge)
        findings += list_findings(checked, [*source.skipped, *corpus.skipped])
    findings = [one._replace(text=with_flags(one.text), remedy=with_flags(one.remedy)) for one in findings]
    if json:
        write_json(_content(model, findings, checked))
    else:
        _show(findings, checked, given["quiet"])
    return _status(findings)


def _status(findings: list[Finding]) -> int:
    """The status of the first fault, or 0."""
    return next((one.status for one in findings if one.status), 0)


def _other_places() -> list[str]:
    """Where training may have gone by mistake: other settings; homes of root and of sudo's user."""
    homes = [os.path.expanduser(f"~{name}") for name in ("root", os.environ.get("SUDO_USER", ""))]
    return [path for _, path in model_places()] + [*map(model_in_home, homes)]


def _content(model: str, findings: list[Finding], checked: Checked | None) -> dict[str, Any]:
    """All findings as JSON values."""
    return {
        "model": model,
        "status": _status(findings),
        "findings": [
            {"about": one.about, "state": one.state, "text": one.text, "next": one.remedy} for one in findings
        ],
        "labels": checked,
    }


def _show(findings: list[Finding], checked: Checked | None, quiet: bool) -> None:
    """The findings, then the messages that they are about; with `quiet` only what is wrong."""
    out = console()
    for one in findings:
        if one.state == WRONG or not quiet:
            state = (f"{one.state:<5}", COLOURS[one.state])
            line = Text.assemble(state, "  ", (f"{one.about:<10}", "bold"), "  ", plain(one.text))
            out.print(line, soft_wrap=True)
            if one.remedy:
                out.print(f"{'':<19}next: {plain(one.remedy)}", style="dim", soft_wrap=True)
    if checked:
        _show_list(out, "The same message under two labels", [*chain.from_iterable(checked.same)])
        _show_list(out, "The model has counted them as another class", checked.counted_otherwise)
        if not quiet:
            _show_list(out, "Nearly the same message under two labels", [*chain.from_iterable(checked.near)])
            _show_list(out, "Likely mislabelled, the surest first", checked.in_doubt)
    if not quiet:
        faults, notes = (sum(one.state == state for one in findings) for state in (WRONG, NOTE))
        style = COLOURS[WRONG if faults else NOTE if notes else FINE]
        out.print(f"\nWrong: {faults}. Worth knowing: {notes}.", style=style)


def _show_list(out: Console, title: str, found: Sequence[Labelled | CountedOtherwise | Doubt] | None) -> None:
    """A title and the first messages, with their heads and clues."""
    if not found:
        return
    out.print(f"\n{title}: {len(found):,} (--json names all)", style="bold")
    known = heads(one.name for one in found[:SHOWN])
    for one in found[:SHOWN]:
        clues = one.clues if isinstance(one, Doubt) else ()
        show_message(out, f"{plain(_label(one))}  {plain(one.name)}", known.get(one.name, ""), clues)


def _label(one: Labelled | CountedOtherwise | Doubt) -> str:
    """The label of a message, and what contradicts it."""
    if isinstance(one, CountedOtherwise):
        return f"{one.label}, counted as {', '.join(one.counted)}"
    if isinstance(one, Doubt):
        return f"{one.label}  P({one.other}) {one.probability:.3f}"
    return one.label
