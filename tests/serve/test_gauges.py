"""What a server shows to Prometheus, and its log as JSON."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("prometheus_client")

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from nbspam.serve.worker import MAX_SCRAPERS
from tests.programs import needs
from tests.server import HAM, OK, SPAM, Server, answer, eventually, free_port, model_of_many
from tests.tiny_mail import error, mail

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
LEARN_HAM = ("Message-class: ham", "Set: local")


class Measured(Server):
    """A server with metrics."""

    def __init__(self, folder: Path, *options: str, model: Path) -> None:
        self.port = free_port()
        super().__init__(folder, "--metrics", str(self.port), *options, model=model)

    def scrape(self, accept: str = "") -> str:
        """What Prometheus reads."""
        asked = urllib.request.Request(f"http://localhost:{self.port}/metrics", headers={"Accept": accept})
        with urllib.request.urlopen(asked, timeout=20) as page:
            text: str = page.read().decode()
            return text

    def samples(self) -> dict[str, float]:
        """The value of each sample; the labels are in its name."""
        families = text_string_to_metric_families(self.scrape(OPEN_METRICS))
        return {
            "/".join([sample.name, *sample.labels.values()]): sample.value
            for family in families
            for sample in family.samples
        }


@pytest.fixture
def server(tmp_path: Path, model: Path) -> Iterator[Measured]:
    with Measured(tmp_path, "--allow-tell", "--log-format", "json", model=model) as server:
        yield server


def use(server: Measured) -> None:
    """Verdicts, lessons and a refusal."""
    for message in (SPAM, SPAM, HAM):
        assert server.ask("CHECK", message).startswith(OK)
    for message in (SPAM, SPAM, b"Subject: new\n\nwords\n"):
        assert server.ask("TELL", message, *LEARN_HAM).startswith(OK)
    with server.connect() as one:
        one.sendall(b"no request\r\n")
        assert b"EX_PROTOCOL" in answer(one)


def test_figures_are_of_all_processes_and_survive_each(server: Measured, model: Path) -> None:
    expected = {
        "nbspam_verdicts_total/spam": 2,
        "nbspam_verdicts_total/ham": 1,
        "nbspam_latency_seconds_count": 3,
        "nbspam_message_bytes_sum": 2 * len(SPAM) + len(HAM),
        "nbspam_lessons_total/client": 2,
        "nbspam_corrections_total": 1,  # the spam was learned as ham; the second time it was so already
        "nbspam_refused_connections_total/76": 1,
    }
    use(server)
    eventually(lambda: expected.items() <= server.samples().items())
    for process in server.workers():
        os.kill(process, signal.SIGKILL)
    eventually(lambda: server.log.count("ended with -9") == 2)

    def shows(figures: dict[str, int]) -> bool:
        with contextlib.suppress(OSError):
            return figures.items() <= server.samples().items()
        return False

    eventually(lambda: shows(expected))
    use(server)
    eventually(lambda: shows({"nbspam_latency_seconds_count": 6, "nbspam_refused_connections_total/76": 2}))
    os.utime(model, 2 * (time.time() - 3600,))
    assert 3600 <= server.samples()["nbspam_model_age_seconds"] < 3700
    model.unlink()
    assert "nbspam_model_age_seconds" not in server.samples()


def test_lessons_of_autolearn_have_their_teacher(tmp_path: Path) -> None:
    with Measured(tmp_path, "--autolearn", model=model_of_many(tmp_path)) as server:
        assert b"True" in server.ask("CHECK", mail("cheap pills and a cheap zebra"))
        eventually(lambda: server.samples().get("nbspam_lessons_total/autolearn") == 1)


@needs("promtool")
def test_promtool_finds_no_fault(server: Measured) -> None:
    use(server)
    eventually(lambda: server.samples()["nbspam_refused_connections_total/76"] == 1)
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=server.scrape(), capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_json_log_has_the_fields_of_the_text(server: Measured) -> None:
    use(server)
    eventually(lambda: "refused" in server.log)
    lines = [json.loads(line) for line in server.log.splitlines()]
    assert {line["level"] for line in lines} == {"info", "error"}
    assert all("message" in line for line in lines[:3])
    judged = next(line for line in lines if line.get("command") == "CHECK")
    score = judged.pop("score")
    assert score > 2.197 and 0 < judged.pop("ms") < 20_000
    fixed = {"level": "info", "verdict": "spam", "threshold": 2.197, "bytes": len(SPAM), "command": "CHECK"}
    assert judged == fixed | {"user": "-", "id": "-"}
    told = next(line for line in lines if line.get("command") == "TELL")
    assert (told["class"], told["result"]) == ("ham", "moved")
    refused = next(line for line in lines if "refused" in line)
    assert refused["refused"] == 76 and "not a request" in refused["why"]


def test_scrapers_that_say_nothing_have_few_places_and_delay_nobody(server: Measured) -> None:
    shower = server.workers()[0]

    def sockets() -> int:
        links = [os.readlink(link) for link in Path(f"/proc/{shower}/fd").iterdir()]
        return sum(link.startswith("socket:") for link in links)

    before = sockets()
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(socket.create_connection(("localhost", server.port)))
        assert server.ask("CHECK", SPAM).startswith(OK)
        eventually(lambda: server.samples().get("nbspam_verdicts_total/spam") == 1)
        assert sockets() <= before + MAX_SCRAPERS + 2
        assert len(list(Path(f"/proc/{shower}/task").iterdir())) == 1


def test_nothing_but_metrics_is_shown(server: Measured) -> None:
    for target in ("/", "/metrics/", "/metricsx", "//metrics"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://localhost:{server.port}{target}", timeout=20)


def test_place_that_is_taken_is_an_error(server: Measured, tmp_path: Path, model: Path) -> None:
    other = ["serve", "-m", model, "--socket", tmp_path / "other", "--metrics"]
    assert "[listen-in-use]" in error(*other, server.port, status=73)
    assert "--metrics" in error(*other, "localhost", status=64)
    assert not (tmp_path / "other").exists()
