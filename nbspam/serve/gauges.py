"""What a server counts, for Prometheus; each metric is declared with its help.

Each worker counts in a row of memory that all processes share, and whoever is asked adds the rows up.  A
worker that takes the place of a dead one goes on with its row.
"""

import contextlib
import mmap
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

from nbspam.labels import UNSURE
from nbspam.learning.learn import FORGOTTEN, LEARNED, MOVED

PREFIX = "nbspam_"
HELP = {
    "verdicts_total": "Messages that were judged.",
    "latency_seconds": "Time from the connection to the answer, of messages that were judged.",
    "message_bytes": "Size of messages that were judged, in bytes.",
    "lessons_total": "Messages that were learned, by a client or by the verdict (autolearn).",
    "corrections_total": "Lessons of clients that move a message to another class, or forget it.",
    "refused_connections_total": "Clients that got a refusal, by its exit status.",
    "model_age_seconds": "Seconds since the model changed; of the common one if each user has one.",
}
EDGES = {  # of histograms
    "latency_seconds": (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
    "message_bytes": (1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7),
}
STATUSES = range(64, 80)


class Gauges:
    """The metrics of a server.

    model   : the file whose age is shown
    classes : of that; other verdicts are not counted
    jobs    : processes that count; each has set `slot` to its own number
    """

    def __init__(self, model: str, classes: Iterable[str], jobs: int) -> None:
        self._model, self.slot = model, 0
        samples = [_name("verdicts_total", verdict=label) for label in (*classes, UNSURE)]
        for metric, edges in EDGES.items():
            samples += [_name(f"{metric}_bucket", le=edge) for edge in (*edges, "+Inf")]
            samples += [f"{metric}_sum", f"{metric}_count"]
        samples += [_name("lessons_total", teacher=teacher) for teacher in ("client", "autolearn")]
        samples += ["corrections_total"]
        samples += [_name("refused_connections_total", status=status) for status in STATUSES]
        self._columns = {sample: column for column, sample in enumerate(samples)}
        self._table = memoryview(mmap.mmap(-1, 8 * jobs * len(samples))).cast("d")

    def count(self, fields: Mapping[str, Any], seconds: float = 0.0) -> None:
        """Count an answer.  fields : of its line in the log"""
        result = fields.get("result")
        if "refused" in fields:
            self._add(_name("refused_connections_total", status=fields["refused"]))
        elif "verdict" in fields:
            self._add(_name("verdicts_total", verdict=fields["verdict"]))
            self._observe("latency_seconds", seconds)
            self._observe("message_bytes", fields["bytes"])
        if result in (LEARNED, MOVED):
            self._add(_name("lessons_total", teacher=fields.get("teacher", "client")))
        if result in (MOVED, FORGOTTEN):
            self._add("corrections_total")

    def _add(self, sample: str, change: float = 1) -> None:
        if sample in self._columns:
            self._table[self.slot * len(self._columns) + self._columns[sample]] += change

    def _observe(self, metric: str, value: float) -> None:
        for edge in (*[edge for edge in EDGES[metric] if value <= edge], "+Inf"):
            self._add(_name(f"{metric}_bucket", le=edge))
        self._add(f"{metric}_sum", value)
        self._add(f"{metric}_count")

    def show(self, is_open: bool) -> str:
        """The sums of all processes, in the text format of Prometheus.  is_open : as OpenMetrics has it"""
        values = {sample: sum(self._table[at :: len(self._columns)]) for sample, at in self._columns.items()}
        with contextlib.suppress(OSError):
            values["model_age_seconds"] = time.time() - os.stat(self._model).st_mtime
        lines = []
        for metric, about in HELP.items():
            kind = "histogram" if metric in EDGES else "counter" if metric.endswith("_total") else "gauge"
            family = PREFIX + (metric.removesuffix("_total") if is_open else metric)
            lines += [f"# HELP {family} {about}", f"# TYPE {family} {kind}"]
            rows = [(sample, value) for sample, value in values.items() if sample.startswith(metric)]
            lines += [f"{PREFIX}{sample} {value!r}" for sample, value in rows]
        return "\n".join([*lines, *(["# EOF"] if is_open else []), ""])


def _name(metric: str, **label: object) -> str:
    """The name of a sample with a label: `verdicts_total{verdict="spam"}`."""
    [(name, value)] = label.items()
    return f'{metric}{{{name}="{value}"}}'.replace("\\", r"\\")


def answer_scraper(gauges: Gauges, head: bytes) -> bytes:
    """The answer to a request by HTTP: the figures at /metrics, and nothing else.  head : of the request"""
    is_open = b"application/openmetrics-text" in head
    status, text = "404 Not Found", "see /metrics\n"
    if head.startswith((b"GET /metrics ", b"GET /metrics?")):
        status, text = "200 OK", gauges.show(is_open)
    kind = "application/openmetrics-text; version=1.0.0" if is_open else "text/plain; version=0.0.4"
    about = f"Content-Type: {kind}; charset=utf-8\r\nContent-Length: {len(text.encode())}\r\n"
    return f"HTTP/1.1 {status}\r\n{about}Connection: close\r\n\r\n{text}".encode()
