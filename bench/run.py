"""`make bench`: speed, memory and size of nbspam and of other filters, in turn, on two sources of mail.

`python -m bench.run [RUNS]` prints a table of the medians; with `--write` it also replaces the tables of
docs/benchmarks.md and README.md.  Times are of whole processes, as users meet them: nbspam as installed in a
virtual environment, the others as Debian packs them.  The first round of a command is not timed: it fills the
caches, and there memory is measured: the PSS of all processes together, what they share counts once.
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
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from statistics import median

from bench.filters import NAMES, Bogofilter, Command, Filter, Nbspam, SpamAssassin, make_filters, read_list
from bench.stream import list_processes, measure_memory, write_stream
from tests.conftest import ROOT, unpacked

PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
BULK_ROUNDS, FRESH_ROUNDS = 2, 30
GROWTH = (4_000, 48_000)  # messages
SAMPLE_SECONDS = 0.02
CORE, BOGOFILTER = NAMES[1:3]
BARE = "bare Python"
RATE, ONE, SPAMC = "messages a second", "SpamAssassin: classify one, ms", "SpamAssassin: spamc -c of one, ms"

Figures = dict[str, dict[str, list[float]]]  # row -> filter -> values
Medians = dict[str, dict[str, float]]


def run(command: Command, sampled: bool = False) -> tuple[float, float, float]:
    """Run a command: seconds of the clock, seconds of CPU, and peak megabytes if they are sampled."""
    environment = os.environ | {"NBSPAM_CORE": command.core}
    with open(command.stdin or os.devnull, "rb") as source:
        start, peak = time.perf_counter(), 0
        process = subprocess.Popen(
            command.words, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
        while sampled and not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            peak = max(peak, sum(map(measure_memory, list_processes(process.pid))))
            time.sleep(SAMPLE_SECONDS)
        _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) > 2:  # the others say ham, spam and unsure by their status
        raise SystemExit(f"failed: {' '.join(map(str, command.words))[:200]}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, peak / 1024


def run_all(commands: Sequence[Command], sampled: bool = False) -> tuple[float, float, float]:
    """Commands one after the other: times added up, and the highest memory."""
    wall, cpu, peak = zip(*(run(command, sampled) for command in commands), strict=True)
    return sum(wall), sum(cpu), max(peak)


def begin_training(one: Filter, ham: Path, spam: Path, is_mbox: bool = False) -> list[Command]:
    """What makes a model anew of lists of paths, or of an mbox a class."""
    shutil.rmtree(one.folder, ignore_errors=True)
    one.folder.mkdir()
    return one.train(ham, spam, is_mbox)


def bench_bulk(
    title: str, filters: Sequence[Filter], lists: dict[str, Path], counts: tuple[int, int], to: Figures
) -> None:
    """Train and classify many messages.  counts : messages that train, messages that are judged"""
    for number in range(1 + BULK_ROUNDS):
        for one in filters:
            judge = one.classify(lists["test"])
            for verb, n, commands in (
                ("train", counts[0], begin_training(one, lists["ham"], lists["spam"])),
                ("classify", counts[1], [judge] if judge else []),
            ):
                if commands:
                    wall, cpu, peak = run_all(commands, sampled=not number)
                    note(f"{title}: {verb}", one.name, (n, wall, cpu), None if number else peak, to)
            if not number:
                to[f"{title}: model, MB"][one.name].append(one.size())


def note(title: str, name: str, times: tuple[int, float, float], peak: float | None, to: Figures) -> None:
    """Add times, or the memory if it was measured.  times : messages, seconds, CPU seconds"""
    n, wall, cpu = times
    if peak is None:
        to[f"{title}, {RATE}"][name].append(n / wall)
        to[f"{title}, CPU ms a message"][name].append(1000 * cpu / n)
    else:
        to[f"{title}, peak MB"][name].append(peak)


def bench_fresh(
    title: str, nbspam: Path, filters: Sequence[Filter], paths: Sequence[Path], to: Figures
) -> None:
    """A process for one message.  paths : of messages that the models do not know"""
    bare = Command([nbspam.parent / "python3", "-I", "-c", "pass"])
    for number, path in enumerate(islice(paths, 1 + FRESH_ROUNDS)):
        commands = {("classify", BARE): bare} if "SpamAssassin" in title else {}
        for one in filters:
            for verb in ("classify", "learn"):
                command = one.fresh(path, verb == "learn")
                commands |= {(verb, one.name): command} if command else {}
        for (verb, name), command in commands.items():
            wall, cpu, _ = run(command)
            if number:
                to[f"{title}: {verb} one, ms"][name].append(1000 * wall)
                to[f"{title}: {verb} one, CPU ms"][name].append(1000 * cpu)


def bench_server(one: Filter, folder: Path, paths: Sequence[Path], to: Figures) -> None:
    """One message through spamc, and the memory of the server after all of them."""
    socket = folder / f"{one.name}.socket"
    command = one.serve(socket)
    if command is None:
        return
    spamc: list[str | Path] = ["spamc", "-F", "/dev/null", "-x", "-U", socket, "-c"]
    environment = os.environ | {"NBSPAM_CORE": command.core}
    server = subprocess.Popen(command.words, env=environment, stderr=subprocess.DEVNULL)
    try:
        while not socket.exists():
            if server.poll() is not None:
                raise SystemExit(f"the server of {one.name} has ended")
            time.sleep(0.05)
        times = [run(Command(spamc, message))[0] for message in paths]
        memory = sum(map(measure_memory, list_processes(server.pid))) / 1024
    finally:
        server.terminate()
        server.wait()
    to[SPAMC][one.name] += [1000 * wall for wall in times]
    to[f"Server after {len(paths):,} messages, all processes, MB"][one.name].append(memory)
    if isinstance(one, SpamAssassin):  # it has no command for many
        to[f"SpamAssassin: classify, {RATE}"][one.name].append(len(times) / sum(times))


def bench_growth(filters: Sequence[Filter], folder: Path, to: Figures) -> None:
    """Training while the mail grows."""
    for n in GROWTH:
        write_stream(folder, n)
        for one in filters:
            if isinstance(one, Nbspam | Bogofilter):
                wall, cpu, peak = run_all(begin_training(one, folder / "ham", folder / "spam", True), True)
                title = f"Made-up stream of {n:,}: train"
                for measured in (None, peak):
                    note(title, one.name, (n, wall, cpu), measured, to)
                to[f"{title}, model MB"][one.name].append(one.size())


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
    """The bin folder of a virtual environment: nbspam as users install it, and its core if cargo is here."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = f"{folder}/bin/python -m pip install --quiet --disable-pip-version-check".split()
    subprocess.run([*pip, ROOT, *([ROOT / "core"] if shutil.which("cargo") else [])], check=True)
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
            lists, filters = write_lists(folder, train, test, corpus), make_filters(folder, nbspam)
            paths = list(map(Path, read_list(lists["test"])))
            bench_bulk(title, filters, lists, (len(train), len(test)), to)
            bench_fresh(title, nbspam, filters, paths, to)
            if title == "SpamAssassin" and shutil.which("spamc"):
                for one in filters:
                    bench_server(one, folder, paths[:1000], to)
    with tempfile.TemporaryDirectory() as name:
        bench_growth(make_filters(Path(name), nbspam), Path(name), to)


def show(figure: float | None) -> str:
    """A figure as a cell."""
    return "" if figure is None else f"{figure:,.{1 if figure < 100 else 0}f}"


def format_table(medians: Medians) -> str:
    """A row a figure, and the ratio of nbspam with the core to bogofilter."""
    columns = (*NAMES, BARE)
    lines = [f"| | {' | '.join(columns)} | core / bogofilter |", "|---" + "|---:" * (len(columns) + 1) + "|"]
    for row, middle in medians.items():
        both = CORE in middle and BOGOFILTER in middle
        ratio = f"{middle[CORE] / middle[BOGOFILTER]:.2f}" if both else ""
        lines.append(f"| {row} | {' | '.join(show(middle.get(name)) for name in columns)} | {ratio} |")
    return "\n".join(lines) + "\n"


def format_summary(medians: Medians) -> str:
    """The table of README.md: a row a filter, on SpamAssassin's mail."""
    train, classify = (medians[f"SpamAssassin: {verb}, {RATE}"] for verb in ("train", "classify"))
    one = medians.get(SPAMC, {}) | medians[ONE]
    lines = ["| filter | train, messages a second | classify, messages a second | one message, ms |"]
    lines.append("|---|---:|---:|---:|")
    for name in train:
        lines.append(f"| {name} | {show(train[name])} | {show(classify.get(name))} | {show(one.get(name))} |")
    return "\n".join(lines) + "\n"


def describe_versions(runs: int) -> str:
    """What was measured where."""
    asked = (["bogofilter", "-V"], ["spamprobe", "-V"], ["spamc", "-V"])
    said = [
        subprocess.run(one, capture_output=True, text=True).stdout for one in asked if shutil.which(one[0])
    ]
    database = re.findall(r"Berkeley DB [\d.]+", said[0]) if said else []
    found = [*(one.splitlines()[0].strip() for one in said if one), *database]
    names = ", ".join([*found, f"scikit-learn {version('scikit-learn')}"])
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
    medians = {row: {name: median(found) for name, found in one.items()} for row, one in figures.items()}
    text = f"{describe_versions(runs)}\n{format_table(medians)}"
    print(text)
    if "--write" in sys.argv:
        write(PAGE, text)
        write(README, format_summary(medians))


def write(page: Path, text: str) -> None:
    """Put text between the marks of a page."""
    found = re.sub(
        r"(<!-- bench -->\n).*(<!-- /bench -->)", lambda m: m[1] + text + m[2], page.read_text(), flags=re.S
    )
    page.write_text(found)


if __name__ == "__main__":
    main()
