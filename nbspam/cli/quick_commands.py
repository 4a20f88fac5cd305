"""`classify`, `learn` and `unlearn` as click reads them: their help, and what the short parser leaves."""

from typing import Any

import click

from nbspam.cli.classify import Options, classify
from nbspam.cli.learn import learn
from nbspam.cli.options import OTHER_SCORING, LongCommand, list_given, options

LEARN = ("files", "attached", "files_from", "model", "start", "verbose", "quiet")


@click.command("classify", cls=LongCommand)
@options("model", "start", "files_from", "passthrough", "spam_flag", "header_format", "exit_code")
@options("exit_style", "json", "autolearn", "classify.timeout", "loss", *OTHER_SCORING)
@options("jobs", "verbose", "quiet", "files")
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
    message or no model; 74 I/O; 75 passed through unchanged.  With --exit-style bogofilter 3 for an error.
    """
    return classify(_read_options(given), list(files))


@click.command("learn")
@click.argument("class_name", metavar="CLASS")
@options(*LEARN)
def learn_command(class_name: str, files: tuple[str, ...], **given: Any) -> int:
    """Learn messages as CLASS: correct a verdict, or add new mail.

    FILE is a message, a folder or a mailbox; without FILE, the message on stdin.  Writes one line for each
    message to stdout, with a tab and its name: `learned`, `moved` (it was counted as another class), `already
    learned`, `is in the shared model` (the one that yours began with, see --start; it counts there as CLASS),
    or `learned in another form` (as another class, with another header).  The last three change nothing.
    Messages are learned in batches: if the command is stopped, every written line is done.
    If other programs write to the model, it waits for its turn; after 60 seconds it ends with 75.

    \b
    Example:
        nbspam learn spam < message.eml
        nbspam learn ham ~/Maildir/.NotJunk -m my.nbspam
        nbspam learn spam --attached ~/Maildir/.Reports

    Exit status: 0 done, also if all was learned before; 64 usage, no such class; 65 no sound model, or a
    report without an attached message; 66 no such message or no model; 74 I/O; 75 try again later.
    """
    return learn(_read_options(given), class_name, list(files))


@click.command("unlearn")
@options(*LEARN)
def unlearn_command(files: tuple[str, ...], **given: Any) -> int:
    """Unlearn messages of any class; the calibration keeps what it has learned.

    The counts are then exactly as before.  Writes one line for each message to stdout: `forgotten`,
    `was never learned`, `is in the shared model` or `learned in another form` (see learn; it still counts), a
    tab, and its name.

    \b
    Example:
        nbspam unlearn message.eml

    Exit status: 0 done, also if a message was never learned;
    65 no sound model; 66 no such message or no model; 74 I/O; 75 try again later.
    """
    return learn(_read_options(given), None, list(files))


def _read_options(given: dict[str, Any]) -> Options:
    """The options on the command line, as the short parser has them."""
    return Options({name: given[name] for name in list_given(given)})
