"""`nbspam serve`."""

import contextlib
import json
import logging
import os
import pwd
from collections.abc import Mapping
from socket import AF_UNIX
from socket import socket as Socket
from typing import Any

from nbspam.cli import Options, command, plain
from nbspam.errors import UsageError
from nbspam.places import find_weakness
from nbspam.serve import daemon
from nbspam.serve.gauges import Gauges
from nbspam.serve.users import USER, UserFilters
from nbspam.serve.worker import LOG, Worker

STDERR = 2


@command(
    *("model", "start", "socket", "socket_mode", "listen", "trusted_user", "jobs", "timeout", "allow_tell"),
    *("autolearn", "spam_flag", "loss", "metrics", "log_format", "verbose", "quiet"),
)
def serve_command(options: Options) -> None:
    """Serve mail servers over the SPAMD protocol, as SpamAssassin's spamd does.

    Clients such as spamc and Exim work unchanged.  The score is the log-odds of spam, in nats; the threshold
    is the cut-off of the costs; unsure is not spam.  A message comes back byte for byte, with the header
    field of classify -p.  The server follows the model when it learns or is replaced, and still serves when
    the file is removed; while the model is busy or damaged, clients are asked to try again.  Writes one line
    for each message to stderr.  SIGTERM ends the server after the current answers.

    With %u in MODEL each user has a model.  It begins as an overlay of --start with the first message that
    the user teaches; until then --start judges.  On a unix socket the user is the one who connects.  Root,
    the user of the server and each --trusted-user may name another (spamc -u NAME); on TCP each client may.
    NAME has letters, digits and any of . _ @ + = -; users with other names are judged by --start and cannot
    teach.  A model of a user is opened only where no other user can write.

    \b
    Example:
        nbspam serve --socket ~/.nbspam.socket &
        spamc -U ~/.nbspam.socket < message.eml

    Exit status: 0 ended by a signal; 64 usage; 65 no sound model; 66 no model; 73 cannot listen there;
    75 try again later.
    """
    LOG.addHandler(Log(options.log_format == "json"))
    LOG.setLevel(logging.ERROR if options.quiet else logging.INFO)
    LOG.propagate = False
    also = "spamassassin" if options.spam_flag else ""
    model = options.model
    filters = UserFilters(model, options.start, options.loss, also, options.allow_tell, options.autolearn)
    spam_filter = filters.check()
    trusted = [_find_user(name) for name in options.trusted_user]
    metrics = [] if options.metrics is None else _listen_for_metrics(options.metrics)
    gauges = Gauges(spam_filter.model.path, spam_filter.classes, options.jobs)
    sockets = _listen(options)
    names = [daemon.name_socket(listener) for listener in sockets]
    for name, is_open in names + [daemon.name_socket(listener) for listener in metrics]:
        if is_open:
            LOG.error("%s: other machines may reach it, and it asks for no password", name)
    places = ", ".join([name for name, _ in names])
    if filters.has_users and any(listener.family != AF_UNIX for listener in sockets):
        LOG.error("%s: each client is trusted, and may name any user", places)
    for listener in metrics:
        LOG.info("metrics: http://%s/metrics", daemon.name_socket(listener)[0])
    if filters.has_users and (weakness := find_weakness(model.partition(USER)[0] + USER)):
        LOG.error("no model of a user is opened, because %s", weakness)
    LOG.info("%s on %s, processes: %d", model, places, options.jobs)
    LOG.info("decisions: %s", spam_filter.costs)
    filters.close()  # a connection to a model is for one process
    worker = Worker(filters, trusted, options.timeout, gauges)
    daemon.Daemon(worker, sockets, metrics, options.socket or "").run(options.jobs, options.timeout)


def _find_user(name: str) -> int:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        remedy = "name the user that a mail server runs as"
        raise UsageError(name, "there is no such user", remedy, "no-user", option="trusted_user") from None


def _listen(options: Options) -> list[Socket]:
    passed, socket, listen = daemon.take_inherited(), options.socket, options.listen
    asked = {"LISTEN_FDS": passed or None, "--socket": socket, "--listen": listen}
    places = [name for name, place in asked.items() if place is not None]
    if len(places) > 1:
        raise UsageError(" and ".join(places), "are two places to listen", "leave one out", "listen-twice")
    if socket is None:
        why, remedy = "has no effect without --socket", "add --socket PATH, or leave it out"
        options.refuse(["socket_mode"], why, remedy, "no-effect")
    if passed:
        return passed
    if socket is not None:
        return daemon.listen_on_path(socket, options.socket_mode)
    return daemon.listen_on_address(daemon.DEFAULT_ADDRESS if listen is None else listen)


def _listen_for_metrics(place: str) -> list[Socket]:
    return daemon.listen_on_address(place if ":" in place else f":{place}", "metrics")


def _describe(fields: Mapping[str, Any]) -> str:
    """The text of a line, of the fields of an answer."""
    if "refused" in fields:
        return "refused: {refused} {why} {ms:.1f} ms".format_map(fields)
    result = "{verdict} {score:.3f} / {threshold:.3f}" if "verdict" in fields else "{class} {result}"
    mail = "{bytes} bytes {command} user={user} id={id} {ms:.1f} ms"
    return f"{result} {mail}".format_map({"class": "", **fields}).lstrip()


class Log(logging.Handler):
    """The log on stderr: each line in one piece, whichever process writes it.

    is_json : an object a line, with the fields of the text
    """

    def __init__(self, is_json: bool) -> None:
        super().__init__()
        self._is_json = is_json

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, or those of a traceback."""
        fields = record.args if isinstance(record.args, dict) else None
        text = _describe(fields) if fields else self.format(record)
        lines = [f"nbspam: {plain(line)}\n" for line in text.split("\n")]
        if self._is_json:
            fields = fields or {"message": text}
            lines = [json.dumps({"level": record.levelname.lower(), **fields}) + "\n"]
        with contextlib.suppress(OSError):  # a full log must not stop mail
            os.write(STDERR, "".join(lines).encode("utf-8", "backslashreplace"))
