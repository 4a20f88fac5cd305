"""`nbspam classify` as click reads it: its help, and what the lane does not plainly understand.

The options are those of the table in `options`, so the lane and click cannot differ in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from nbspam.cli.classify import classify
from nbspam.cli.options import CLASSIFY

# What people see for a value; all others are shown by their type.
METAVARS = {
    "model": "MODEL",
    "start": "MODEL",
    "files_from": "LIST",
    "loss": "COSTS|FILE",
    "alpha": "X",
    "event_model": "NAME",
}


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, flags, takes_value, text in reversed(CLASSIFY):
        if takes_value:
            option = click.option(*flags, name, metavar=METAVARS.get(name, "TEXT"), help=text)
        else:
            option = click.option(*flags, name, is_flag=True, help=text)
        command = option(command)
    return command


@click.command("classify")
@_options
@click.argument("files", nargs=-1, metavar="[FILE|-]...")
def classify_command(files: tuple[str, ...], **given: Any) -> int:
    """Say of messages whether they are spam.

    FILE is a message, a folder or a mailbox; without one, the message on stdin.  A line a message on stdout:
    the verdict (a class, or unsure), the probability of spam and the name, separated by tabs.  With -p the
    message itself, byte for byte, with the verdict as its first header field; whatever fails, the message
    comes out whole and the status is 75.

    \b
    Example:
        nbspam classify message.eml
        nbspam classify ~/Maildir/.Junk --json
        nbspam classify -p < message.eml

    Exit status: 0 done; with --exit-code 0 spam, 1 ham, 2 unsure; 64 usage; 65 no sound model; 66 no such
    message or no model; 74 I/O; 75 passed through unchanged.
    """
    options = {
        name: value if isinstance(value, str) else "1"
        for name, value in given.items()
        if value not in (None, False)
    }
    return classify(options, list(files))
