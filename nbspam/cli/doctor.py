"""`nbspam doctor`: the check-up, and its screen."""

import os

from rich.text import Text

from nbspam.cli import Options, command, model_in_home, model_places, plain, with_flags
from nbspam.cli.tables import console, print_sentence, write_json
from nbspam.tasks.doctor import FINE, NOTE, WRONG, Finding, examine

COLOURS = {FINE: "green", NOTE: "yellow", WRONG: "bold red"}


@command("mail", "model", "start", "json", "doctor.quiet")
def doctor_command(options: Options) -> int:
    """Check a model, and how mail comes to it.

    Says which model is used and why, its owner, who may write to it, whether it is sound, has enough mail of
    each class, and is calibrated.  Also shows models at other places, the lines of ~/.procmailrc,
    ~/.mailfilter and ~/.forward that call nbspam, and where ~/.procmailrc puts mail.  With MAIL, folders or
    mailboxes, also says whether this mail is like the mail of training, by its first 1,000 messages.

    \b
    Example:
        nbspam doctor
        nbspam doctor ~/Maildir
        nbspam doctor -q || echo "nbspam needs help"

    Exit status: 0 nothing is wrong; a note is not a fault.  Else the status of the first fault: 65 the model
    is not sound; 66 no model or no MAIL, or it cannot be read; 73 no model can be made; 74 the model cannot
    be written to.  64 usage; 75 the model is in use, try again later.
    """
    why = "named by --model" if "model" in options.named else model_places()[0][0]
    findings = [
        finding._replace(text=with_flags(finding.text), remedy=with_flags(finding.remedy))
        for finding in examine(options.model, why, _other_places(), options.start, options.mail)
    ]
    status = next((finding.status for finding in findings if finding.status), 0)
    if options.json:
        rows = [
            {"about": finding.about, "state": finding.state, "text": finding.text, "next": finding.remedy}
            for finding in findings
        ]
        write_json({"model": options.model, "status": status, "findings": rows})
    else:
        _show(findings, options.quiet)
    return status


def _other_places() -> list[str]:
    """Where training may have gone by mistake: other settings; homes of root and of sudo's user."""
    homes = [os.path.expanduser(f"~{name}") for name in ("root", os.environ.get("SUDO_USER", ""))]
    return [path for _, path in model_places()] + [*map(model_in_home, homes)]


def _show(findings: list[Finding], quiet: bool) -> None:
    """The findings; with `quiet` only what is wrong."""
    out = console()
    for finding in findings:
        if finding.state == WRONG or not quiet:
            state = (f"{finding.state:<5}", COLOURS[finding.state])
            line = Text.assemble(state, "  ", (f"{finding.about:<10}", "bold"), "  ", plain(finding.text))
            out.print(line, soft_wrap=not out.is_terminal)
            if finding.remedy:
                print_sentence(out, f"{'':<19}next: {plain(finding.remedy)}", "dim")
    if not quiet:
        n_wrong, n_notes = (sum(finding.state == state for finding in findings) for state in (WRONG, NOTE))
        style = COLOURS[WRONG if n_wrong else NOTE if n_notes else FINE]
        out.print(f"\nWrong: {n_wrong}. Worth knowing: {n_notes}.", style=style)
