"""`nbspam classify` as click reads it: its help, and what the short parser does not understand."""

from __future__ import annotations

from typing import Any

import click

from nbspam.cli.classify import classify
from nbspam.cli.options import CLASSIFY
from nbspam.cli.shared import files_argument, options


@click.command("classify")
@options(*CLASSIFY)
@files_argument
def classify_command(files: tuple[str, ...], **given: Any) -> int:
    """Classify messages as ham or spam.

    FILE is a message, a folder or a mailbox; without FILE, the message on stdin.  Writes one line for each
    message to stdout: the verdict (a class, or unsure), the probability of spam and the name, separated by
    tabs.  With -p it writes the message itself, byte for byte, with the verdict as its first header field; if
    anything fails, it writes the unchanged message and exits with 75.  A line end is added to a message that
    is only an mbox From line without one, and before indented text without a header.

    \b
    Example:
        nbspam classify message.eml
        nbspam classify ~/Maildir/.Junk --json
        nbspam classify -p < message.eml

    Exit status: 0 done; with --exit-code 0 spam, 1 ham, 2 unsure; 64 usage; 65 no sound model; 66 no such
    message or no model; 74 I/O; 75 passed through unchanged.
    """
    changes = {
        name: value if isinstance(value, str) else "1"
        for name, value in given.items()
        if value not in (None, False)
    }
    return classify(changes, list(files))
