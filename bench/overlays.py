"""`python -m bench.overlays BASE MAIL MAIL [USERS [TAUGHT]]`: many users with overlays of one model.

BASE is a folder with ham and spam, the MAILs are folders with a file `index` of lines LABEL PATH: the lessons
of the users are drawn from both alike.  TAUGHT users learn LESSONS messages each, from WRITERS processes;
several at once write to one overlay.  Then all of them get a renewed base, and the program is killed in the
middle.  The other users get copies of these files.  In the end a server with an overlay for each user and one
with a single model, answer the same requests, some at a time in turn; each asks for another user.

Printed: disk, time of lessons and of rebasing, memory of a worker, and latency.
"""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median, quantiles

from nbspam.filter import begin_model
from nbspam.learning.learn import learn_messages
from nbspam.store.check import check_model, count_learned
from nbspam.store.reader import open_model
from tests.server import Server

USERS, TAUGHT, WRITERS, LESSONS, AT_ONCE = 10_000, 500, 16, 20, 5
REQUESTS, IN_TURN = 3_000, 100
NBSPAM = [sys.executable, "-m", "nbspam"]
Lesson = tuple[str, str]  # class and path
Job = tuple[Path, Path, Sequence[Lesson]]


def read_index(folder: Path) -> list[Lesson]:
    """The messages of a corpus with their classes."""
    lines = (folder / "index").read_text().splitlines()
    return [(label, str(folder / path)) for label, path in (line.split(" ", 1) for line in lines)]


def teach(job: Job) -> float:
    """Some lessons of one user; the seconds of each."""
    path, base, lessons = job
    start = time.perf_counter()
    begin_model(str(path), str(base))
    for label in ("ham", "spam"):
        some = [(name, Path(name).read_bytes()) for one, name in lessons if one == label]
        learn_messages(str(path), label, some)
    return (time.perf_counter() - start) / len(lessons)


def teach_all(users: Sequence[Path], base: Path, mail: Sequence[Sequence[Lesson]]) -> None:
    """Teach the users; several writers meet at each overlay."""
    random, jobs = Random(0), list[Job]()
    for path in users:
        lessons = [random.choice(random.choice(mail)) for _ in range(LESSONS)]
        jobs += [(path, base, lessons[first : first + AT_ONCE]) for first in range(0, LESSONS, AT_ONCE)]
    start = time.perf_counter()
    with multiprocessing.get_context("fork").Pool(WRITERS) as pool:
        times = pool.map(teach, jobs, chunksize=1)
    each = 1000 * (time.perf_counter() - start) / (len(users) * LESSONS)
    print(f"lessons: {each:.1f} ms each, {WRITERS} at once; one waits {1000 * median(times):.0f} ms (median)")


def rebase(users: Sequence[Path], base: Path, new: Path) -> None:
    """Give the users a renewed base, with a kill in the middle; every lesson must be there in the end."""
    before = [count(path) for path in users]
    added = count(new) - count(base)
    command = [*NBSPAM, "model", "rebase", "-q", "--start", new, *users]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while sum(is_on(path, new) for path in users[len(users) // 2 :: 7]) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    killed = sum(is_on(path, new) for path in users)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    each = 1000 * (time.perf_counter() - start) / len(users)
    if not all(is_on(path, new) for path in users):
        raise SystemExit("a user has the old base")
    if [count(path) - added for path in users] != before:
        raise SystemExit("a lesson was lost")
    faults = [fault for path in users[:: max(1, len(users) // 20)] for fault in check_model(str(path))]
    print(f"rebase: killed after {killed} of {len(users)}; {each:.0f} ms each; faults: {faults or 'none'}")


def count(path: Path) -> int:
    """How many different messages a model has learned."""
    with open_model(str(path)) as model:
        return count_learned(model)


def is_on(path: Path, base: Path) -> bool:
    """True if the overlay names this base."""
    with open_model(str(path), find_base=lambda _: None) as model:
        return model.base_path == str(base)


def measure(folder: Path, base: Path, users: int, mail: Sequence[Sequence[Lesson]]) -> None:
    """Latency of both servers, asked in turn, and the memory of a worker."""
    random = Random(1)
    times: dict[str, list[float]] = {"one model": [], "overlays": []}
    for name in ("one", "many"):
        (folder / name).mkdir()
    with (
        Server(folder / "one", "-j", "1", model=base) as one,
        Server(folder / "many", "-j", "1", "--start", str(base), model=folder / "users" / "%u") as many,
    ):
        servers = [(one, "one model"), (many, "overlays")]
        for _ in range(REQUESTS // IN_TURN):
            paths = [random.choice(random.choice(mail))[1] for _ in range(IN_TURN)]
            for server, name in servers:
                for message in [Path(path).read_bytes() for path in paths]:
                    start = time.perf_counter()
                    said = server.ask("CHECK", message, f"User: {random.randrange(users)}")
                    times[name].append(1000 * (time.perf_counter() - start))
                    if b" EX_OK" not in said:
                        raise SystemExit(said.decode())
        memory = {name: max(map(peak_memory, server.workers(1))) for server, name in servers}
    for name, values in times.items():
        ninth = quantiles(values, n=10)[-1]
        print(
            f"{name}: {median(values):.2f} ms (median), {ninth:.2f} ms (90 %), worker {memory[name]:.0f} MB"
        )
    more = [b - a for a, b in zip(*times.values(), strict=True)]
    print(f"an overlay takes {median(more):.2f} ms more (median of {REQUESTS:,} pairs)")


def peak_memory(pid: int) -> float:
    """The largest resident set of a process until now, megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def main() -> None:
    """Runs the bench."""
    source, *sources = map(Path, sys.argv[1:4])
    n_users, n_taught = [*map(int, sys.argv[4:]), *(USERS, TAUGHT)[len(sys.argv) - 4 :]]
    mail = [read_index(folder) for folder in sources]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        base, new, users = folder / "base", folder / "new", folder / "users"
        train = [*NBSPAM, "train", "-q", "--ham", source / "ham", "--spam", source / "spam", "-m", base]
        subprocess.run(train, check=True)
        users.mkdir()
        begin_model(str(users / "empty"), str(base))
        empty_bytes = (users / "empty").stat().st_size
        (users / "empty").unlink()
        paths = [users / str(number) for number in range(n_users)]
        taught = paths[:n_taught]
        teach_all(taught, base, mail)
        sizes = [path.stat().st_size for path in taught]
        lesson = (sum(sizes) / len(sizes) - empty_bytes) / LESSONS
        print(f"disk: base {base.stat().st_size / 1e6:.1f} MB, an overlay {empty_bytes / 1e3:.0f} kB", end="")
        print(f" and {lesson / 1e3:.1f} kB a lesson, of {LESSONS} at most {max(sizes) / 1e3:.0f} kB")
        shutil.copy(base, new)
        learn_messages(str(new), "ham", [("", b"Subject: a lesson of the base\n\nrenewed\n")])
        rebase(taught, base, new)
        for number, path in enumerate(paths[n_taught:]):
            shutil.copy(taught[number % n_taught], path)
        all_bytes = sum(path.stat().st_size for path in paths)
        print(f"{n_users:,} users: {all_bytes / 1e9:.2f} GB")
        measure(folder, new, n_users, mail)


if __name__ == "__main__":
    main()
