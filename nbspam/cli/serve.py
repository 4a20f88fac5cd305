"""`nbspam serve`."""

from __future__ import annotations

import contextlib
import os
from math import isnan
from typing import Any

import click

from nbspam.cli.shared import (
    asked_options,
    jobs_option,
    model_option,
    quiet_option,
    start_option,
    verbose_option,
)
from nbspam.cli.texts import plain
from nbspam.errors import UsageError
from nbspam.serve.listening import DEFAULT_ADDRESS, Listening, inherited, on_address, on_path

STDERR = 2


class Permissions(click.ParamType[int]):
    """Octal, as chmod has them."""

    name = "octal"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """600 -> 0o600."""
        try:
            number = int(value, 8)
        except ValueError:
            number = -1
        if not 0 <= number <= 0o777:
            self.fail(f"{value!r} is not of the form 660", param, ctx)
        return number


class Seconds(click.FloatRange):
    """As FloatRange, which takes nan: that is neither below nor above."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """A number in the range."""
        number: float = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"{value!r} is no time", param, ctx)
        return number


@click.command("serve")
@model_option
@start_option
@click.option("--socket", "path", metavar="PATH", help="Listen on a unix socket (spamc -U PATH).")
@click.option(
    "--socket-mode",
    "mode",
    type=Permissions(),
    metavar="OCTAL",
    default="600",
    show_default=True,
    help="Permissions of the socket: who may connect.",
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    show_default=DEFAULT_ADDRESS,
    help="Listen on TCP (spamc -d HOST -p PORT).",
)
@jobs_option
@click.option(
    "--timeout",
    "seconds",
    type=Seconds(0.1, 3600),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="How long a client may take to send a message, and again to take the answer.",
)
@click.option("--allow-tell", is_flag=True, help="Let clients correct the model (spamc -L).")
@click.option("--autolearn", is_flag=True, help="Learn each message as what it most likely is.")
@click.option("--spam-flag", is_flag=True, help="Insert X-Spam-Flag and X-Spam-Status, too, beside X-Nbspam.")
@click.option("--loss", metavar="COSTS|FILE", help="Costs: FP=10,FN=1,unsure=0.2, or a loss matrix file.")
@verbose_option
@quiet_option
def serve_command(
    model: str, start: str, path: str | None, mode: int, listen: str | None, **given: Any
) -> int:
    """Answer mail servers by the SPAMD protocol, as SpamAssassin's spamd does.

    Clients such as spamc and Exim work unchanged.  The score is the log-odds of spam, in nats, the threshold
    the cut-off of the costs; unsure is not spam.  A message comes back byte for byte, with the header field
    of classify -p.  The model is followed when it learns or is replaced, and serves on when it is taken away;
    while it is busy or damaged, clients are asked to try again.  A line a message on stderr.  SIGTERM ends
    the server when what is begun is answered.

    With %u in MODEL each user has a model of his own (spamc -u NAME), which begins as a copy of --start with
    the first message that it learns; until then that one judges.  NAME has letters, digits and any of
    . _ @ + = -; who has another is judged by --start, and teaches nobody.

    \b
    Example:
        nbspam serve --socket ~/.nbspam.socket &
        spamc -U ~/.nbspam.socket < message.eml

    Exit status: 0 ended by a signal; 64 usage; 65 no sound model; 66 no model; 73 cannot listen there;
    75 try again later.
    """
    from nbspam.serve.daemon import Daemon  # asyncio is for those who serve
    from nbspam.serve.filter import ServedModels
    from nbspam.serve.users import Models

    jobs, quiet = given["jobs"], given["quiet"]
    judge = ServedModels(
        Models(model, start), given["loss"], given["spam_flag"], given["allow_tell"], given["autolearn"]
    )
    judge.check()
    listening = _listening(path, mode, listen)
    for name in listening.open_to_others():
        _say(f"{name} may be reached by other machines, and SPAMD asks nobody for a password")
    if not quiet:
        _say(f"{model} on {', '.join(listening.names())}, {jobs} {'process' if jobs == 1 else 'processes'}")
    Daemon(listening, judge, given["seconds"], _say, _silent if quiet else _say).run(jobs)
    return 0


def _listening(path: str | None, mode: int, listen: str | None) -> Listening:
    passed = inherited()
    given = {"LISTEN_FDS": passed, "--socket": path, "--listen": listen}
    ways = [way for way, place in given.items() if place is not None]
    if len(ways) > 1:
        raise UsageError(" and ".join(ways), "are two places to listen", "leave one out", "listen-twice")
    if path is None and asked_options(["mode"]):
        remedy = "add --socket PATH, or leave it out"
        raise UsageError("--socket-mode", "is for a socket that is made here", remedy, "no-effect")
    if passed is not None:
        return passed
    if path is not None:
        return on_path(path, mode)
    return on_address(DEFAULT_ADDRESS if listen is None else listen)


def _say(text: str) -> None:
    """One line in one piece, whichever process says it."""
    line = f"nbspam: {plain(text)}\n".encode("utf-8", "backslashreplace")
    with contextlib.suppress(OSError):  # mail goes on where the log cannot
        os.write(STDERR, line)


def _silent(text: str) -> None:
    pass
