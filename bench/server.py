"""`python -m bench.server MODEL MAIL [MESSAGES [OTHER MODEL]]`: the server beside slow and many clients.

MAIL is a folder with messages.  OTHER is the nbspam of another version: `spamc -c` asks both in turn.
Printed: how long mail waits beside idle, half and dripping clients; the memory of the workers after many
messages and beside long ones; lessons of many clients at once; failures beside SIGHUP, and at SIGTERM.
"""

from __future__ import annotations

import contextlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles

from bench.stream import measure_memory
from tests.server import OK, Server, answer

HOLDERS, DRIPPERS, DRIP_SECONDS = 1_400, 700, 0.1
LONG_BYTES, TOO_LONG_BYTES, MANY = 30 << 20, 300 << 20, 12
LEARNERS, LESSONS = 16, 50
PAIRS = 200


def describe(seconds: list[float]) -> str:
    """Median, 99 of 100 and longest of some times."""
    late = quantiles(seconds, n=100)[-1]
    return f"median {median(seconds):.3f} s, 99 of 100 {late:.3f} s, longest {max(seconds):.3f} s"


def ask(server: Server, message: bytes, command: str = "CHECK", *fields: str) -> float:
    """How long the answer to a request takes."""
    start, said = time.monotonic(), b""
    while not said:
        with contextlib.suppress(BlockingIOError):  # the queue of the socket is full
            said = server.ask(command, message, *fields)
    if not said.startswith(OK):
        raise SystemExit(said[:200].decode())
    return time.monotonic() - start


@contextlib.contextmanager
def clients(server: Server, number: int, data: bytes, drips: bool = False) -> Iterator[None]:
    """So many connections that send the beginning of a request, and then nothing or a byte now and then.

    One that has lost its place connects again.
    """
    stop, held = threading.Event(), dict.fromkeys(range(number))

    def connect(place: int) -> socket.socket:
        while not stop.is_set():
            with contextlib.suppress(BlockingIOError):
                connection = server.connect()
                connection.sendall(data)
                connection.setblocking(False)
                return connection
            time.sleep(0.01)
        return socket.socket()

    def hold() -> None:
        connections = {place: connect(place) for place in held}
        started.set()
        while not stop.wait(DRIP_SECONDS):
            for place, connection in connections.items():
                try:
                    with contextlib.suppress(BlockingIOError):
                        if connection.recv(1):
                            raise ConnectionResetError
                    if drips:
                        connection.send(b"x")
                except OSError:
                    connection.close()
                    connections[place] = connect(place)
        for connection in connections.values():
            connection.close()

    started, thread = threading.Event(), threading.Thread(target=hold)
    thread.start()
    started.wait()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def measure_waits(server: Server, mail: list[bytes]) -> None:
    """How long mail waits beside clients that hold places."""
    head = b"CHECK SPAMC/1.5\r\nContent-length: 100000\r\n\r\n"
    for name, number, data in (
        ("idle clients", HOLDERS, b""),
        ("clients with half of a request", HOLDERS, head[:30]),
        ("clients that drip", DRIPPERS, head),
    ):
        with clients(server, number, data, drips="drip" in name):
            seconds = []
            for message in islice(cycle(mail), 200):
                seconds.append(ask(server, message))
                time.sleep(0.02)
        print(f"beside {number:,} {name}: {describe(seconds)}", flush=True)


def memory_mb(server: Server, field: str) -> list[int]:
    """A field of the status of each worker."""
    texts = [Path(f"/proc/{worker}/status").read_text() for worker in server.workers()]
    return [int(text.partition(field)[2].split()[0]) // 1024 for text in texts]


def measure_memory_of_many(server: Server, mail: list[bytes], messages: int) -> None:
    """The memory of the workers while they judge many messages."""
    steps = [messages // 50, messages // 5, messages // 2, messages]
    done, source = 0, cycle(mail)
    with ThreadPoolExecutor(4) as pool:
        for step in steps:
            for _ in pool.map(lambda message: ask(server, message), islice(source, step - done)):
                pass
            done = step
            megabytes = sum(map(measure_memory, server.workers())) / 1024
            print(f"after {done:,} messages: {megabytes:.0f} MB (PSS of the workers together)", flush=True)


def measure_long(server: Server, mail: list[bytes]) -> None:
    """Long messages at once, and much too long ones."""
    long = mail[0] + b"a line of the body\n" * (LONG_BYTES // 19)
    with ThreadPoolExecutor(16) as pool:
        seconds = list(pool.map(lambda _: ask(server, long, "PROCESS"), range(16)))
    print(
        f"16 messages of 30 MB: {describe(seconds)}; largest workers {memory_mb(server, 'VmHWM:')} MB",
        flush=True,
    )

    def send_too_long(_: int) -> bytes:
        with server.connect() as connection:
            with contextlib.suppress(OSError):
                connection.sendall(b"PROCESS SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % TOO_LONG_BYTES)
                for _ in range(TOO_LONG_BYTES >> 20):
                    connection.sendall(bytes(1 << 20))
            return answer(connection)

    with ThreadPoolExecutor(MANY) as pool:
        said = Counter(pool.map(send_too_long, range(MANY)))
    print(
        f"{MANY} messages of 300 MB: {dict(said)}; largest workers {memory_mb(server, 'VmHWM:')} MB",
        flush=True,
    )


def measure_signals(start: Callable[[], Server], mail: list[bytes]) -> None:
    """Answers beside SIGHUP, and at SIGTERM in the middle of a load."""
    answers: Counter[str] = Counter()
    for _ in range(10):
        with start() as server, ThreadPoolExecutor(8) as pool:

            def load(message: bytes, server: Server = server) -> None:
                try:
                    answers[server.ask("CHECK", message)[:18].decode()] += 1
                except (FileNotFoundError, ConnectionRefusedError):
                    answers["not connected"] += 1
                except OSError as error:
                    answers[type(error).__name__] += 1

            done = [pool.submit(load, message) for message in islice(cycle(mail), 1_500)]
            for _ in range(20):
                server.process.send_signal(signal.SIGHUP)
                time.sleep(0.02)
            while sum(one.done() for one in done) < 1_000:
                time.sleep(0.01)
            server.process.terminate()
    print(f"SIGHUP and SIGTERM under load, 10 servers: {dict(answers)}", flush=True)


def measure_lessons(server: Server, mail: list[bytes]) -> None:
    """Many clients teach at once."""
    fields = ("Message-class: spam", "Set: local")

    def learner(number: int) -> list[float]:
        lessons = [
            message + b"\n%d %d\n" % (number, n) for n, message in enumerate(islice(cycle(mail), LESSONS))
        ]
        return [ask(server, message, "TELL", *fields) for message in lessons]

    with ThreadPoolExecutor(LEARNERS) as pool:
        seconds = [one for some in pool.map(learner, range(LEARNERS)) for one in some]
    print(f"{LEARNERS} clients, {LESSONS} lessons each: {describe(seconds)}", flush=True)


def measure_spamc(servers: dict[str, Path], mail: list[Path]) -> None:
    """`spamc -c`, of each server in turn."""
    times: dict[str, list[float]] = {name: [] for name in servers}
    for path in islice(cycle(mail), PAIRS):
        for name, place in servers.items():
            start = time.perf_counter()
            with path.open("rb") as source:
                subprocess.run(
                    ["spamc", "-F", "/dev/null", "-U", place, "-c"], stdin=source, stdout=subprocess.DEVNULL
                )
            times[name].append(1000 * (time.perf_counter() - start))
    for name, values in times.items():
        print(
            f"spamc -c, {name}: {median(values):.2f} ms (median), {quantiles(values, n=10)[-1]:.2f} ms (90 %)"
        )
    if len(times) == 2:
        more = [new - old for new, old in zip(*times.values(), strict=True)]
        print(f"difference, median of {PAIRS} pairs: {median(more):+.2f} ms", flush=True)


def main() -> None:
    """Runs the bench."""
    model, folder, *rest = sys.argv[1:]
    messages = int(rest[0]) if rest else 50_000
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())[:500]
    mail = [path.read_bytes() for path in paths]
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        copy = Path(name) / "model"
        copy.write_bytes(Path(model).read_bytes())
        (Path(name) / "other").mkdir()

        def start() -> Server:
            return Server(Path(name), "-q", "--allow-tell", model=copy)

        with start() as server:
            servers = {"this version": server.path}
            if len(rest) > 2:
                place = Path(name) / "other" / "socket"
                command: list[str | Path] = [
                    rest[1],
                    "serve",
                    "-q",
                    "-j",
                    "2",
                    "-m",
                    rest[2],
                    "--socket",
                    place,
                ]
                other = stack.enter_context(subprocess.Popen(command))
                stack.callback(other.terminate)
                while not place.exists():
                    time.sleep(0.1)
                servers["the other"] = place
            measure_spamc(servers, paths)
            measure_waits(server, mail)
            measure_memory_of_many(server, mail, messages)
            measure_long(server, mail)
            measure_lessons(server, mail)
        measure_signals(start, mail)


if __name__ == "__main__":
    main()
