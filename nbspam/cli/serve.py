"""`nbspam serve`."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import click

from nbspam.cli.shared import asked_options, options
from nbspam.cli.texts import plain
from nbspam.errors import UsageError
from nbspam.serve.listening import DEFAULT_ADDRESS, Listening, inherited, on_address, on_path

STDERR = 2


@click.command("serve")
@options("model", "start", "socket", "socket_mode", "listen", "jobs", "timeout", "allow_tell", "autolearn")
@options("spam_flag", "loss", "verbose", "quiet")
def serve_command(
    model: str, start: str, path: str | None, mode: int, listen: str | None, **given: Any
) -> int:
    """Serve mail servers over the SPAMD protocol, as SpamAssassin's spamd does.

    Clients such as spamc and Exim work unchanged.  The score is the log-odds of spam, in nats; the threshold
    is the cut-off of the costs; unsure is not spam.  A message comes back byte for byte, with the header
    field of classify -p.  The server follows the model when it learns or is replaced, and still serves when
    the file is removed; while the model is busy or damaged, clients are asked to try again.  Writes one line
    for each message to stderr.  SIGTERM ends the server after the current answers.

    With %u in MODEL each user has a model (spamc -u NAME).  It begins as a copy of --start with the first
    message that the user teaches; until then --start judges.  NAME has letters, digits and any of . _ @ + =
    -; users with other names are judged by --start and cannot teach.

    \b
    Example:
        nbspam serve --socket ~/.nbspam.socket &
        spamc -U ~/.nbspam.socket < message.eml

    Exit status: 0 ended by a signal; 64 usage; 65 no sound model; 66 no model; 73 cannot listen there;
    75 try again later.
    """
    from nbspam.serve.daemon import Daemon  # asyncio, only to serve
    from nbspam.serve.filter import ServedModels
    from nbspam.serve.users import Models

    jobs, quiet = given["jobs"], given["quiet"]
    judge = ServedModels(
        Models(model, start), given["loss"], given["spam_flag"], given["allow_tell"], given["autolearn"]
    )
    judge.check()
    listening = _listening(path, mode, listen)
    for name in listening.open_to_others():
        _say(f"{name}: other machines may reach it, and SPAMD has no password")
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
        raise UsageError("--socket-mode", "has no effect without --socket", remedy, "no-effect")
    if passed is not None:
        return passed
    if path is not None:
        return on_path(path, mode)
    return on_address(DEFAULT_ADDRESS if listen is None else listen)


def _say(text: str) -> None:
    """Write one line to stderr in one piece, from any process."""
    line = f"nbspam: {plain(text)}\n".encode("utf-8", "backslashreplace")
    with contextlib.suppress(OSError):  # a full log must not stop mail
        os.write(STDERR, line)


def _silent(text: str) -> None:
    pass
