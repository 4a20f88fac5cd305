"""`make bench-serve`: a message through spamc to a server, beside fresh processes; messages a second.

Times are of whole processes, as a mail server starts them.  Needs spamc.
"""

from __future__ import annotations

import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.run import bogofilter_training, installation, lists, run
from tests.conftest import unpacked

ROUNDS = 200
MESSAGES = 1_000
CLIENTS = 8


@contextmanager
def server(bin_folder: Path, model: Path, path: Path, jobs: int) -> Iterator[None]:
    """A server on a unix socket."""
    command = [bin_folder / "nbspam", "serve", "-q", "-m", model, "--socket", path, "-j", str(jobs)]
    process = subprocess.Popen(command)
    while not path.exists():
        time.sleep(0.05)
    yield
    process.terminate()
    process.wait()


def beside(commands: dict[str, list[str | Path]], message: Path) -> None:
    """Prints the median time of each command, run in turn."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name].append(1000 * run(command, message).wall)
    for name, found in times.items():
        print(f"  {name:19} {statistics.median(found):5.1f} ms")


def asked(path: Path, messages: Sequence[bytes], times: list[float]) -> None:
    """Sends the messages one after the other."""
    for message in messages:
        begun = time.perf_counter()
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(path))
            one.sendall(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(message) + message)
            while one.recv(65536):
                pass
        times.append(time.perf_counter() - begun)


def throughput(path: Path, messages: Sequence[bytes], clients: int) -> str:
    """Messages a second, and how long one waits."""
    times: list[float] = []
    threads = [
        threading.Thread(target=asked, args=(path, messages[n::clients], times)) for n in range(clients)
    ]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = len(messages) / (time.perf_counter() - begun)
    return f"{rate:4.0f} messages/s, median {1000 * statistics.median(times):.1f} ms"


def main() -> None:
    """Runs the bench."""
    corpus = unpacked("spamassassin", "sa")
    if corpus is None or shutil.which("spamc") is None:
        raise SystemExit("needs spamassassin.tar.xz (docs/corpora.md) and spamc")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bin_folder, model, path = installation(folder / "venv"), folder / "model.nbspam", folder / "socket"
        run([bin_folder / "nbspam", "train", "-q", corpus / "train.index", "-m", model])
        paths = [line.partition(" ")[2] for line in (corpus / "train.index").read_text().splitlines()]
        commands: dict[str, list[str | Path]] = {
            "spamc -c": ["spamc", "-F", "/dev/null", "-U", path, "-c"],
            "spamc": ["spamc", "-F", "/dev/null", "-U", path],
            "nbspam classify": [bin_folder / "nbspam", "classify", "-m", model],
        }
        if shutil.which("bogofilter"):
            ham, spam, _ = lists(corpus, folder)
            bogofilter_training(folder / "bogofilter", ham, spam)
            commands["bogofilter"] = ["bogofilter", "-d", folder / "bogofilter"]
        with server(bin_folder, model, path, 2):
            print(f"One message, median of {ROUNDS}:")
            beside(commands, corpus / paths[0])
        messages = [(corpus / one).read_bytes() for one in paths[:MESSAGES]]
        for jobs in (1, 2):
            with server(bin_folder, model, path, jobs):
                for clients in (1, CLIENTS):
                    print(f"  --jobs {jobs}, {clients} clients: {throughput(path, messages, clients)}")


if __name__ == "__main__":
    main()
