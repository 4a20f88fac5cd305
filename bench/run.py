"""`make bench`: speed and memory beside bogofilter, alternately, on the SpamAssassin training list.

Times are of whole processes, as a user meets them: nbspam from a real installation in a virtual
environment, bogofilter from Debian's package.  Each figure is the median of several runs.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT, unpacked

TRAININGS = 15
CLASSIFICATIONS = 60


class Run(NamedTuple):
    """One finished process: seconds of the wall clock and of CPU, and peak memory of its largest process."""

    wall: float
    cpu: float
    memory_mb: float


def run(command: Sequence[str | Path], stdin: Path | None = None) -> Run:
    """Runs a command to its end; its output is thrown away."""
    with open(stdin or os.devnull, "rb") as source:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, _, usage = os.wait4(process.pid, 0)
    return Run(time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def installation(folder: Path) -> Path:
    """The bin folder of a virtual environment with nbspam installed as a user installs it."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", *quiet, ROOT], check=True)
    return folder / "bin"


def lists(corpus: Path, folder: Path) -> tuple[Path, Path, int]:
    """Files with the paths of the training ham and spam, as bogofilter -b reads them, and their number."""
    by_class: dict[str, list[str]] = {"ham": [], "spam": []}
    for line in (corpus / "train.index").read_text().splitlines():
        label, _, path = line.partition(" ")
        by_class[label].append(str(corpus / path))
    for label, paths in by_class.items():
        (folder / label).write_text("\n".join(paths) + "\n")
    return folder / "ham", folder / "spam", sum(map(len, by_class.values()))


def bogofilter_training(folder: Path, ham: Path, spam: Path) -> Run:
    """Both classes, one process each, as its users train it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    first = run(["bogofilter", "-d", folder, "-n", "-b"], ham)
    second = run(["bogofilter", "-d", folder, "-s", "-b"], spam)
    return Run(first.wall + second.wall, first.cpu + second.cpu, max(first.memory_mb, second.memory_mb))


def training(bin_folder: Path, corpus: Path, folder: Path) -> Path:
    """Prints the training figures; returns the model."""
    ham, spam, messages = lists(corpus, folder)
    model = folder / "model.nbspam"
    command = [bin_folder / "nbspam", "train", "-q", corpus / "train.index", "-m", model, "--replace"]
    ours, theirs = [], []
    for _ in range(TRAININGS):
        ours.append(run(command))
        if shutil.which("bogofilter"):
            theirs.append(bogofilter_training(folder / "bogofilter", ham, spam))
    _report("nbspam train", ours, messages)
    if theirs:
        _report("bogofilter", theirs, messages)
        ratios = [other.wall / own.wall for own, other in zip(ours, theirs, strict=True)]
        print(f"  nbspam trains at {statistics.median(ratios):.2f} x bogofilter's messages a second")
    output = subprocess.run(
        [bin_folder / "nbspam", "model", "info", "--json", "-m", model], capture_output=True, check=True
    )
    import json

    tokens = sum(view["words"] for view in json.loads(output.stdout)["views"].values())
    print(f"  model {model.stat().st_size / 1e6:.1f} MB, {model.stat().st_size / tokens:.0f} bytes a token")
    return model


def _report(name: str, runs: list[Run], messages: int) -> None:
    wall = statistics.median(one.wall for one in runs)
    cpu = statistics.median(one.cpu for one in runs)
    memory = max(one.memory_mb for one in runs)
    print(
        f"  {name:13} {messages / wall:6.0f} messages/s  {wall:.2f} s wall  {cpu:.2f} s CPU  {memory:.0f} MB"
    )


def classification(bin_folder: Path, corpus: Path, model: Path, folder: Path) -> None:
    """Prints what a fresh process costs, each command in turn."""
    message = corpus / (corpus / "test.index").read_text().splitlines()[0].partition(" ")[2]
    commands: dict[str, list[str | Path]] = {
        "python3 -I -c pass": [bin_folder / "python3", "-I", "-c", "pass"],
        "nbspam classify": [bin_folder / "nbspam", "classify", "-m", model],
        "nbspam classify -p": [bin_folder / "nbspam", "classify", "-p", "-m", model],
    }
    if shutil.which("bogofilter"):
        commands["bogofilter"] = ["bogofilter", "-d", folder / "bogofilter"]
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(CLASSIFICATIONS):
        for name, command in commands.items():
            times[name].append(1000 * run(command, message).wall)
    bare = statistics.median(times["python3 -I -c pass"])
    for name, found in times.items():
        middle = statistics.median(found)
        print(f"  {name:19} {middle:5.1f} ms  ({middle - bare:+.1f} ms to the bare interpreter)")


def main() -> None:
    """Runs the bench."""
    corpus = unpacked("spamassassin", "sa")
    if corpus is None:
        raise SystemExit("spamassassin.tar.xz is not to be had: set NBSPAM_CORPORA (docs/corpora.md)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bin_folder = installation(folder / "venv")
        print(f"Training, {os.cpu_count()} cores, median of {TRAININGS}:")
        model = training(bin_folder, corpus, folder)
        print(f"A fresh process for one message, median of {CLASSIFICATIONS}:")
        classification(bin_folder, corpus, model, folder)


if __name__ == "__main__":
    main()
