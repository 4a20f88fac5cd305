"""What a server counts, for Prometheus; each metric is declared with its help.

Each worker counts in a file, and a process of its own adds them up for those who ask.  A worker that takes
the place of a dead one goes on with its file.  The files go when the server does.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import socket
import socketserver
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nbspam.errors import MissingExtraError
from nbspam.learning.learn import FORGOTTEN, LEARNED, MOVED

if TYPE_CHECKING:
    from prometheus_client import Metric

SCRAPE_SECONDS = 10  # for a client to ask
FILE_BYTES = 64 << 10  # some hundred values
SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
BYTES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000)


class Gauges:
    """The metrics of a server.

    model   : the file whose age is shown
    sockets : where the figures are shown
    """

    def __init__(self, model: str, sockets: list[socket.socket]) -> None:
        """MissingExtraError without the package prometheus_client; OSError if the disk is full."""
        self._slot = -1
        self._model = model
        self._sockets = sockets
        self._folder = tempfile.mkdtemp(prefix="nbspam-metrics-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = self._folder  # the library has no argument for it
        try:
            self.begin(self._slot)
            from prometheus_client import Counter, Histogram, values
        except OSError:
            self.close()
            raise
        except ModuleNotFoundError as error:
            self.close()
            raise MissingExtraError("metrics", error, option="metrics") from None
        values.ValueClass = values.MultiProcessValue(lambda: self._slot)
        self._verdicts = Counter("nbspam_verdicts", "Messages that were judged.", ["verdict"])
        self._latency = Histogram(
            "nbspam_latency_seconds",
            "Time from the connection to the answer, of messages that were judged.",
            buckets=SECONDS,
        )
        self._sizes = Histogram(
            "nbspam_message_bytes", "Size of messages that were judged, in bytes.", buckets=BYTES
        )
        self._lessons = Counter(
            "nbspam_lessons",
            "Messages that were learned, taught by a client or by the verdict (autolearn).",
            ["teacher"],
        )
        self._corrections = Counter(
            "nbspam_corrections", "Lessons of clients that move a message to another class, or forget it."
        )
        self._refusals = Counter(
            "nbspam_refused_connections", "Clients that got a refusal, by its exit status.", ["status"]
        )

    def close(self) -> None:
        """Close the sockets and forget all figures."""
        for one in self._sockets:
            one.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def begin(self, slot: int) -> None:
        """Count as the process of this place, -1 before there are any; no two that run have the same.

        Its files get their disk space now: later, a full disk would kill the process that counts.
        """
        for kind in ("counter", "histogram"):
            with open(os.path.join(self._folder, f"{kind}_{slot}.db"), "ab") as file:
                os.posix_fallocate(file.fileno(), 0, FILE_BYTES)
        self._slot = slot

    def count(self, fields: Mapping[str, Any], seconds: float = 0.0) -> None:
        """Count an answer.  fields : of its line in the log"""
        result = fields.get("result")
        if "refused" in fields:
            self._refusals.labels(fields["refused"]).inc()
        elif "verdict" in fields:
            self._verdicts.labels(fields["verdict"]).inc()
            self._latency.observe(seconds)
            self._sizes.observe(fields["bytes"])
        if result in (LEARNED, MOVED):
            self._lessons.labels(fields.get("teacher", "client")).inc()
        if result in (MOVED, FORGOTTEN):
            self._corrections.inc()

    def collect(self) -> Iterator[Metric]:
        """The age of the model, as a collector of the library; no sample without a model."""
        from prometheus_client.core import GaugeMetricFamily

        age = GaugeMetricFamily(
            "nbspam_model_age_seconds",
            "Seconds since the model changed; of the common one if each user has a model.",
        )
        with contextlib.suppress(OSError):
            age.add_metric([], time.time() - os.stat(self._model).st_mtime)
        yield age

    def answer(self, lifeline: int) -> None:
        """Show the figures to those who ask, until SIGTERM or the end of `lifeline`."""
        from prometheus_client import CollectorRegistry, MetricsHandler
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = CollectorRegistry()
        MultiProcessCollector(registry, self._folder)
        registry.register(self)
        handler = MetricsHandler.factory(registry)
        handler.timeout = SCRAPE_SECONDS
        for one in self._sockets:
            server = _Server(one.getsockname()[:2], handler, bind_and_activate=False)
            server.socket.close()
            server.socket = one
            threading.Thread(target=server.serve_forever, daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        os.read(lifeline, 1)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no fault; a fault costs one answer."""
        logging.getLogger(__package__).error("metrics not answered: %s", type(sys.exception()).__name__)
