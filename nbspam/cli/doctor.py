"""`nbspam doctor`."""

from __future__ import annotations

import json
import os
import pwd
from typing import Any

import click

from nbspam.cli.evaluate import read_source
from nbspam.cli.render import left_out_lines, say
from nbspam.cli.shared import (
    asked_options,
    jobs_option,
    json_option,
    labelled_source,
    model_option,
    names_mail,
    source_options,
    start_option,
    verbose_option,
)
from nbspam.cli.texts import model_in_home, model_places
from nbspam.tasks.doctor.checkup import examine, is_sound, label_findings, unread_findings
from nbspam.tasks.doctor.finding import Finding
from nbspam.tasks.doctor.labels_in_doubt import Checked, asked_for, check_labels
from nbspam.tasks.doctor.model_place import user
from nbspam.tasks.start import judging


@click.command("doctor")
@source_options
@model_option
@start_option
@jobs_option
@json_option
@verbose_option
@click.option("-q", "--quiet", is_flag=True, help="Show what is wrong, and nothing else.")
def doctor_command(model: str, start: str, as_json: bool, quiet: bool, **given: Any) -> int:
    """Say what is wrong with a model, and with the labels of the mail in SOURCE.

    Without SOURCE: which model is used and why, whose it is, who may write to it, whether it is sound, has
    enough mail of each class, and is calibrated; models at other places; what ~/.procmailrc, ~/.mailfilter
    and ~/.forward do with nbspam, as far as that is certain.

    With SOURCE, which is what nbspam train takes, also: messages under two labels, messages that the model
    has counted as another class, and messages whose label is likely wrong: the other mail, less their own
    campaign, says so with more than 98 %.  The clues that say so loudest stand below each.

    \b
    Example:
        nbspam doctor
        nbspam doctor ~/Maildir
        nbspam doctor -q || echo "nbspam needs help"

    Exit status: 0 nothing wrong; what is only worth knowing (note), such as a label in doubt, is no fault.
    Else that of the first fault: 65 the model is not sound, a recipe loses mail, labels contradict each other
    or the model; 66 no model (with SOURCE a note), or it or mail cannot be read; 73 none can be made;
    74 it cannot be written to, or the disk is full.  64 usage; 75 the model is in use, try again later.
    """
    has_mail = names_mail(given)
    source = labelled_source(given, allow_one_class=True) if has_mail else None
    why, others = _why(), _other_places()
    findings = examine(model, why, others, os.path.expanduser("~"), has_mail, start)
    checked: Checked | None = None
    notes: list[str] = []
    if source:
        judge = judging(model, start) if is_sound(findings) else None
        corpus = read_source(source, given | {"quiet": quiet}, asked_for(judge))
        checked, notes = check_labels(corpus, judge), left_out_lines(source)
        unread = unread_findings([*source.skipped, *corpus.skipped])
        findings = [*findings, *unread, *label_findings(checked)]
    _show(model, findings, checked, [] if quiet else notes, as_json, quiet)
    return _status(findings)


def _status(findings: list[Finding]) -> int:
    """That of the first fault, 0 without one."""
    return next((one.fault.status for one in findings if one.fault), 0)


def _why() -> str:
    """How this model came to be the one."""
    if asked_options(["model"]):
        return "named by --model"
    return model_places(os.environ)[0][0]


def _other_places() -> list[str]:
    """Where training may have gone by mistake: other settings, the user's own home, root's, that of sudo."""
    places = [path for _, path in model_places(os.environ)]
    for name in (user(os.getuid()), "root", os.environ.get("SUDO_USER", "")):
        try:
            places.append(model_in_home(pwd.getpwnam(name).pw_dir))
        except KeyError:
            continue
    return places


def _show(
    model: str, findings: list[Finding], checked: Checked | None, notes: list[str], as_json: bool, quiet: bool
) -> None:
    if as_json:
        for one in notes:
            say(one)
        click.echo(json.dumps(content(model, findings, checked), ensure_ascii=True))
        return
    from nbspam.cli.render_doctor import show_doctor  # rich is for people

    show_doctor(findings, checked, notes, quiet)


def content(model: str, findings: list[Finding], checked: Checked | None) -> dict[str, Any]:
    """What was found as JSON values."""
    return {
        "model": model,
        "status": _status(findings),
        "findings": [
            {"about": one.about, "state": one.state, "text": one.text, "next": one.remedy} for one in findings
        ],
        "labels": None if checked is None else _labels(checked),
    }


def _labels(checked: Checked) -> dict[str, Any]:
    moved, doubts = checked.moved, checked.doubts
    return {
        "messages": checked.messages,
        "same": [[one._asdict() for one in group] for group in checked.same],
        "near": [[one._asdict() for one in group] for group in checked.near],
        "counted_otherwise": None if moved is None else [one._asdict() for one in moved],
        "in_doubt": None if doubts is None else [one._asdict() for one in doubts],
    }
