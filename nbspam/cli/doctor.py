"""`nbspam doctor`: the check-up, and its screen."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from nbspam.cli import model_in_home, model_places, plain, with_flags
from nbspam.cli.evaluate import read_source
from nbspam.cli.options import SOURCE
from nbspam.cli.shared import asked_options, labelled_source, options, source_argument
from nbspam.cli.tables import console, show_message
from nbspam.corpus.heads import heads
from nbspam.tasks.check_labels import (
    Checked,
    Labelled,
    check_labels,
    label_findings,
    views_to_check,
)
from nbspam.tasks.doctor import FINE, NOTE, WRONG, Finding, examine, is_sound
from nbspam.tasks.start import own_or_shared

COLOURS = {FINE: "green", NOTE: "yellow", WRONG: "bold red"}
SHOWN = 20  # messages of a kind; --json has all
Line = tuple[str, str, tuple[tuple[str, float], ...]]  # what is said of a message, its name, its clues


@click.command("doctor")
@source_argument
@options(*SOURCE, "model", "start", "jobs", "json", "verbose", "doctor.quiet")
def doctor_command(model: str, start: str, as_json: bool, quiet: bool, **given: Any) -> int:
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
    source = labelled_source(given, allow_one_class=True) if has_mail else None
    why = "named by --model" if asked_options(["model"]) else model_places(os.environ)[0][0]
    findings = examine(model, why, _other_places(), has_mail, start)
    checked: Checked | None = None
    if source:
        judge = own_or_shared(model, start) if is_sound(findings) else None
        corpus = read_source(source, given | {"quiet": quiet}, views_to_check(judge))
        checked = check_labels(corpus, judge)
        findings += label_findings(checked, [*source.skipped, *corpus.skipped])
    findings = [one._replace(text=with_flags(one.text), remedy=with_flags(one.remedy)) for one in findings]
    if as_json:
        click.echo(json.dumps(_content(model, findings, checked), ensure_ascii=True))
    else:
        _show(findings, checked, quiet)
    return _status(findings)


def _status(findings: list[Finding]) -> int:
    """The status of the first fault, or 0."""
    return next((one.fault.status for one in findings if one.fault), 0)


def _other_places() -> list[str]:
    """Where training may have gone by mistake: other settings; homes of root and of sudo's user."""
    homes = [os.path.expanduser(f"~{name}") for name in ("root", os.environ.get("SUDO_USER", ""))]
    return [path for _, path in model_places(os.environ)] + [*map(model_in_home, homes)]


def _content(model: str, findings: list[Finding], checked: Checked | None) -> dict[str, Any]:
    """All findings as JSON values."""
    return {
        "model": model,
        "status": _status(findings),
        "findings": [
            {"about": one.about, "state": one.state, "text": one.text, "next": one.remedy} for one in findings
        ],
        "labels": checked
        and {
            "messages": checked.messages,
            "same": [[one._asdict() for one in group] for group in checked.same],
            "near": [[one._asdict() for one in group] for group in checked.near],
            "counted_otherwise": checked.moved and [one._asdict() for one in checked.moved],
            "in_doubt": checked.doubts and [one._asdict() for one in checked.doubts],
        },
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
        moved: list[Line] = [
            (f"{one.label}, counted as {', '.join(one.counted)}", one.name, ()) for one in checked.moved or []
        ]
        doubts: list[Line] = [
            (f"{one.label}  P({one.other}) {one.probability:.3f}", one.name, one.clues)
            for one in checked.doubts or []
        ]
        _listed(out, "The same message under two labels", _groups(checked.same))
        _listed(out, "The model has counted them as another class", moved)
        if not quiet:
            _listed(out, "Nearly the same message under two labels", _groups(checked.near))
            _listed(out, "Likely mislabelled, the surest first", doubts)
    if not quiet:
        faults, notes = (sum(one.state == state for one in findings) for state in (WRONG, NOTE))
        style = COLOURS[WRONG if faults else NOTE if notes else FINE]
        out.print(f"\nWrong: {faults}. Worth knowing: {notes}.", style=style)


def _listed(out: Console, title: str, lines: Sequence[Line]) -> None:
    """A title and the first messages, with their heads and clues."""
    if lines:
        out.print(f"\n{title}: {len(lines):,} (--json names all)", style="bold")
    known = heads(name for _, name, _ in lines[:SHOWN])
    for text, name, clues in lines[:SHOWN]:
        show_message(out, f"{plain(text)}  {plain(name)}", known.get(name, ""), clues)


def _groups(groups: list[tuple[Labelled, ...]]) -> list[Line]:
    return [(one.label, one.name, ()) for group in groups for one in group]
