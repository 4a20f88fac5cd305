"""`nbspam serve`."""

import contextlib
import json
import logging
import os

from nbspam.cli import Options, command, plain
from nbspam.errors import UsageError
from nbspam.serve import daemon, users, worker
from nbspam.serve.daemon import Listening
from nbspam.serve.gauges import Gauges

STDERR = 2


@command(
    *("model", "start", "socket", "socket_mode", "listen", "jobs", "timeout", "allow_tell", "autolearn"),
    *("spam_flag", "loss", "metrics", "log_format", "verbose", "quiet"),
)
def serve_command(options: Options) -> None:
    """Serve mail servers over the SPAMD protocol, as SpamAssassin's spamd does.

    Clients such as spamc and Exim work unchanged.  The score is the log-odds of spam, in nats; the threshold
    is the cut-off of the costs; unsure is not spam.  A message comes back byte for byte, with the header
    field of classify -p.  The server follows the model when it learns or is replaced, and still serves when
    the file is removed; while the model is busy or damaged, clients are asked to try again.  Writes one line
    for each message to stderr.  SIGTERM ends the server after the current answers.

    With %u in MODEL each user has a model (spamc -u NAME).  It begins as an overlay of --start with the first
    message that the user teaches; until then --start judges.  NAME has letters, digits and any of . _ @ + =
    -; users with other names are judged by --start and cannot teach.

    \b
    Example:
        nbspam serve --socket ~/.nbspam.socket &
        spamc -U ~/.nbspam.socket < message.eml

    Exit status: 0 ended by a signal; 64 usage; 65 no sound model; 66 no model; 73 cannot listen there;
    75 try again later.
    """
    worker.LOG.addHandler(Log(options.log_format == "json"))
    worker.LOG.setLevel(logging.ERROR if options.quiet else logging.INFO)
    worker.LOG.propagate = False
    model, start = options.model, options.start
    filters = users.UserFilters(
        model,
        start,
        loss=options.loss,
        also="spamassassin" if options.spam_flag else "",
        allow_tell=options.allow_tell,
        autolearn=options.autolearn,
    )
    costs = filters.check()
    shown = _listen_for_metrics(options.metrics)
    gauges = Gauges(start if users.USER in model else model, shown.sockets) if shown.sockets else None
    with contextlib.closing(gauges) if gauges else contextlib.nullcontext():
        listening = _listening(options)
        for name, is_open in (listening.names() | shown.names()).items():
            if is_open:
                worker.LOG.error("%s: other machines may reach it, and it asks for no password", name)
        for name in shown.names():
            worker.LOG.info("metrics: http://%s/metrics", name)
        worker.LOG.info("%s on %s, processes: %d", model, ", ".join(listening.names()), options.jobs)
        worker.LOG.info("decisions: %s", costs)
        daemon.Daemon(listening, filters, options.timeout, gauges).run(options.jobs)


def _listening(options: Options) -> Listening:
    passed, socket, listen = daemon.take_inherited(), options.socket, options.listen
    given = {"LISTEN_FDS": passed, "--socket": socket, "--listen": listen}
    places = [name for name, place in given.items() if place is not None]
    if len(places) > 1:
        raise UsageError(" and ".join(places), "are two places to listen", "leave one out", "listen-twice")
    if socket is None and "socket_mode" in options.named:
        remedy = "add --socket PATH, or leave it out"
        raise UsageError("--socket-mode", "has no effect without --socket", remedy, "no-effect")
    if passed is not None:
        return passed
    if socket is not None:
        return daemon.listen_on_path(socket, options.socket_mode)
    return daemon.listen_on_address(daemon.DEFAULT_ADDRESS if listen is None else listen)


def _listen_for_metrics(place: str | None) -> Listening:
    if place is None:
        return Listening([])
    return daemon.listen_on_address(place if ":" in place else f":{place}", "metrics")


class Log(logging.Handler):
    """The log on stderr: each line in one piece, whichever process writes it.

    is_json : an object a line, with the fields of the text
    """

    def __init__(self, is_json: bool) -> None:
        super().__init__()
        self._is_json = is_json

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, or those of a traceback."""
        lines = [f"nbspam: {plain(line)}\n" for line in self.format(record).split("\n")]
        if self._is_json:
            fields = record.args if isinstance(record.args, dict) else {"message": self.format(record)}
            lines = [json.dumps({"level": record.levelname.lower(), **fields}) + "\n"]
        with contextlib.suppress(OSError):  # a full log must not stop mail
            os.write(STDERR, "".join(lines).encode("utf-8", "backslashreplace"))
