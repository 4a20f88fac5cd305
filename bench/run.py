"""`make bench`: speed, memory and size of nbspam, bogofilter and SpamProbe, in turn, on two sources of mail.

`python -m bench.run [RUNS]` prints a table of the medians; with `--write` it also replaces the table of
docs/benchmarks.md.  Times are of whole processes, as users meet them: nbspam as installed in a virtual
environment, the others as Debian packs them.  The first round of a command is not timed: it fills the caches,
and there memory is measured.  Memory is the PSS of all processes together: what they share counts once.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import islice
from pathlib import Path
from statistics import median

from bench.stream import list_processes, measure_memory, write_stream
from tests.conftest import ROOT, unpacked

PAGE = ROOT / "docs" / "benchmarks.md"
BULK_ROUNDS, FRESH_ROUNDS = 2, 30
GROWTH = (4_000, 16_000, 48_000)  # messages: 1x, 4x, 12x
SAMPLE_SECONDS = 0.02
OURS, BOGOFILTER, SPAMPROBE, BARE = "nbspam", "bogofilter", "SpamProbe", "bare Python"

Command = tuple[Sequence[str | Path], Path | None]  # a command and its stdin
Figures = dict[str, dict[str, list[float]]]  # row -> program -> values


def run(command: Command, sampled: bool = False) -> tuple[float, float, float]:
    """Run a command: seconds of the clock, seconds of CPU, and peak megabytes if they are sampled."""
    with open(command[1] or os.devnull, "rb") as source:
        start, peak = time.perf_counter(), 0
        process = subprocess.Popen(
            command[0], stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while sampled and not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            peak = max(peak, sum(map(measure_memory, list_processes(process.pid))))
            time.sleep(SAMPLE_SECONDS)
        _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) > 2:  # the others say ham, spam and unsure by their status
        raise SystemExit(f"failed: {' '.join(map(str, command[0]))[:200]}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, peak / 1024


def run_all(commands: Sequence[Command], sampled: bool = False) -> tuple[float, float, float]:
    """Commands one after the other: times added up, and the highest memory."""
    wall, cpu, peak = zip(*(run(command, sampled) for command in commands), strict=True)
    return sum(wall), sum(cpu), max(peak)


class Programs:
    """The commands of each filter; its model is in `folder`."""

    def __init__(self, nbspam: Path, folder: Path) -> None:
        self.folder, self.nbspam, self.model = folder, nbspam, folder / "model.nbspam"
        self.names = [OURS]
        self.names += [name for name in (BOGOFILTER, SPAMPROBE) if shutil.which(name.lower())]

    def train(self, name: str, ham: Path, spam: Path, is_mbox: bool = False) -> list[Command]:
        """Make a model of lists of paths, or of an mbox a class."""
        if name == OURS:
            source = ["--ham", ham, "--spam", spam] if is_mbox else [ham.parent / "train.index"]
            return [([self.nbspam, "train", "-q", "--replace", *source, "-m", self.model], None)]
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if name == BOGOFILTER:
            form = "-M" if is_mbox else "-b"
            return [
                (["bogofilter", "-d", place, flag, form], mail) for flag, mail in (("-n", ham), ("-s", spam))
            ]
        first: Sequence[str | Path] = ["spamprobe", "-c", "-d", place]
        files = {"good": ham, "spam": spam}
        return [
            ([*first, word, *([mail] if is_mbox else mail.read_text().split("\n")[:-1])], None)
            for word, mail in files.items()
        ]

    def classify(self, name: str, paths: Path) -> Command:
        """Judge the messages of a list of paths."""
        if name == OURS:
            return [self.nbspam, "classify", "-m", self.model, "--files-from", paths], None
        if name == BOGOFILTER:
            return ["bogofilter", "-d", self.folder / name, "-b", "-v"], paths
        return ["spamprobe", "-d", self.folder / name, "score", *paths.read_text().split("\n")[:-1]], None

    def fresh(self, name: str, message: Path, learns: bool = False) -> Command:
        """Judge one message, or learn it as spam."""
        if name == OURS:
            return [self.nbspam, *(["learn", "spam"] if learns else ["classify"]), "-m", self.model], message
        if name == BOGOFILTER:
            return ["bogofilter", "-d", self.folder / name, *(["-s"] if learns else [])], message
        return ["spamprobe", "-d", self.folder / name, "spam" if learns else "score"], message

    def size(self, name: str) -> float:
        """Megabytes of the model."""
        place = self.model if name == OURS else self.folder / name
        files = [place] if place.is_file() else [*place.glob("*.db"), *place.glob("sp_words")]
        return sum(file.stat().st_size for file in files) / 1e6


def bench_bulk(
    title: str, programs: Programs, lists: dict[str, Path], counts: tuple[int, int], to: Figures
) -> None:
    """Train and classify many messages.  counts : messages that train, messages that are judged"""
    for number in range(1 + BULK_ROUNDS):
        for name in programs.names:
            trained = run_all(programs.train(name, lists["ham"], lists["spam"]), sampled=not number)
            judged = run(programs.classify(name, lists["test"]), sampled=not number)
            for verb, n, (wall, cpu, peak) in (
                ("train", counts[0], trained),
                ("classify", counts[1], judged),
            ):
                if number:
                    to[f"{title}: {verb}, messages a second"][name].append(n / wall)
                    to[f"{title}: {verb}, CPU ms a message"][name].append(1000 * cpu / n)
                else:
                    to[f"{title}: {verb}, peak MB"][name].append(peak)
            if not number:
                to[f"{title}: model, MB"][name].append(programs.size(name))


def bench_fresh(title: str, programs: Programs, paths: Sequence[Path], to: Figures) -> None:
    """A process for one message.  paths : of messages that the models do not know"""
    bare: Command = ([programs.nbspam.parent / "python3", "-I", "-c", "pass"], None)
    for number, path in enumerate(islice(paths, 1 + FRESH_ROUNDS)):
        commands = {("classify", BARE): bare} if "SpamAssassin" in title else {}
        for name in programs.names:
            commands["classify", name] = programs.fresh(name, path)
            commands["learn", name] = programs.fresh(name, path, learns=True)
        for (verb, name), command in commands.items():
            wall, cpu, _ = run(command)
            if number:
                to[f"{title}: {verb} one, ms"][name].append(1000 * wall)
                to[f"{title}: {verb} one, CPU ms"][name].append(1000 * cpu)


@contextmanager
def start_server(programs: Programs) -> Iterator[tuple[Path, int]]:
    """The socket and the process of a server."""
    path = programs.folder / "socket"
    command: list[str | Path] = [
        programs.nbspam,
        "serve",
        "-q",
        "-m",
        programs.model,
        "--socket",
        path,
        "-j",
        "2",
    ]
    process = subprocess.Popen(command)
    try:
        while not path.exists():
            time.sleep(0.05)
        yield path, process.pid
    finally:
        process.terminate()
        process.wait()


def bench_server(programs: Programs, paths: Sequence[Path], to: Figures) -> None:
    """One message through spamc, one by a fresh bogofilter, and the memory of the server after them."""
    with start_server(programs) as (path, pid):
        for message in paths:
            wall, _, _ = run((["spamc", "-F", "/dev/null", "-U", path, "-c"], message))
            to["SpamAssassin: spamc -c of one, ms"][OURS].append(1000 * wall)
        to[f"Server after {len(paths):,} messages, all processes, MB"][OURS].append(
            sum(map(measure_memory, list_processes(pid))) / 1024
        )


def bench_growth(programs: Programs, folder: Path, to: Figures) -> None:
    """Training while the mail grows."""
    for n in GROWTH:
        write_stream(folder, n)
        for name in programs.names[:2]:
            wall, cpu, peak = run_all(
                programs.train(name, folder / "ham", folder / "spam", True), sampled=True
            )
            title = f"Made-up stream of {n:,}: train"
            to[f"{title}, messages a second"][name].append(n / wall)
            to[f"{title}, CPU ms a message"][name].append(1000 * cpu / n)
            to[f"{title}, peak MB"][name].append(peak)
            to[f"{title}, model MB"][name].append(programs.size(name))


def write_lists(folder: Path, train: list[str], test: list[str], corpus: Path) -> dict[str, Path]:
    """Lists of paths: ham, spam, test; and an index of what trains.  train, test : lines `label path`"""
    split = [line.split(" ", 1) for line in train]
    (folder / "train.index").write_text("".join(f"{label} {corpus / path}\n" for label, path in split))
    lists = {label: [path for its, path in split if its == label] for label in ("ham", "spam")}
    lists["test"] = [line.split(" ", 1)[1] for line in test]
    for name, paths in lists.items():
        (folder / name).write_text("".join(f"{corpus / path}\n" for path in paths))
    return {name: folder / name for name in lists}


def install(folder: Path) -> Path:
    """The bin folder of a virtual environment with nbspam installed as a user installs it."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = f"{folder}/bin/python -m pip install --quiet --disable-pip-version-check".split()
    subprocess.run([*pip, ROOT], check=True)
    return folder / "bin"


def measure(nbspam: Path, to: Figures) -> None:
    """All figures once."""
    for title, archive, top, halves in (
        ("SpamAssassin", "spamassassin", "sa", ("train.index", "test.index")),
        ("trec06p_late", "trec06p_late", "trec06p_late", ("index",)),
    ):
        corpus = unpacked(archive, top)
        if corpus is None:
            raise SystemExit(f"{archive}.tar.xz is missing: set NBSPAM_CORPORA (docs/corpora.md)")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            found = [(corpus / half).read_text().splitlines() for half in halves]
            train, test = found if len(found) == 2 else (found[0][:5000], found[0][5000:])
            lists, programs = write_lists(folder, train, test, corpus), Programs(nbspam, folder)
            paths = list(map(Path, lists["test"].read_text().splitlines()))
            bench_bulk(title, programs, lists, (len(train), len(test)), to)
            bench_fresh(title, programs, paths, to)
            if title == "SpamAssassin" and shutil.which("spamc"):
                bench_server(programs, paths[:1000], to)
    with tempfile.TemporaryDirectory() as name:
        bench_growth(Programs(nbspam, Path(name)), Path(name), to)


def format_table(figures: Figures) -> str:
    """A row a figure: the median of each program, and the ratio of ours to bogofilter's."""
    columns = (OURS, BOGOFILTER, SPAMPROBE, BARE)
    lines = [f"| | {' | '.join(columns)} | nbspam / bogofilter |", "|---" + "|---:" * 5 + "|"]
    for row, values in figures.items():
        middle = {name: median(found) for name, found in values.items()}
        cells = [
            f"{middle[name]:,.{1 if middle[name] < 100 else 0}f}" if name in middle else ""
            for name in columns
        ]
        both = OURS in middle and BOGOFILTER in middle
        ratio = f"{middle[OURS] / middle[BOGOFILTER]:.2f}" if both else ""
        lines.append(f"| {row} | {' | '.join(cells)} | {ratio} |")
    return "\n".join(lines) + "\n"


def describe_versions(runs: int) -> str:
    """What was measured where."""
    asked = (["bogofilter", "-V"], ["spamprobe", "-V"], ["spamc", "-V"])
    said = [
        subprocess.run(one, capture_output=True, text=True).stdout for one in asked if shutil.which(one[0])
    ]
    database = re.findall(r"Berkeley DB [\d.]+", said[0]) if said else []
    names = ", ".join([one.splitlines()[0].strip() for one in said if one] + database)
    python = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    when = f"{date.today()}, load {os.getloadavg()[0]:.1f} at the end"
    return f"{when}: {python}; {names}. Medians of {runs} runs.\n"


def main() -> None:
    """Runs the bench."""
    runs = next((int(word) for word in sys.argv[1:] if word.isdecimal()), 1)
    figures: Figures = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as name:
        nbspam = install(Path(name)) / "nbspam"
        for _ in range(runs):
            measure(nbspam, figures)
    text = f"{describe_versions(runs)}\n{format_table(figures)}"
    print(text)
    if "--write" in sys.argv:
        page = PAGE.read_text()
        PAGE.write_text(
            re.sub(r"(<!-- bench -->\n).*(<!-- /bench -->)", lambda m: m[1] + text + m[2], page, flags=re.S)
        )


if __name__ == "__main__":
    main()
