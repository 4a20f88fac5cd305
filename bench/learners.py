"""`python -m bench.learners`: many programs learn into one model at once, with nbspam and with bogofilter.

Each of LEARNERS loops starts a fresh process for each of its messages, as a mail server does when people move
mail.  Printed: how long one learning takes, how long all, and how many were not learned at once.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.filters import Bogofilter, Nbspam
from bench.run import begin_training, install, run_all, write_lists
from tests.conftest import unpacked

LEARNERS = 16
MESSAGES_EACH = 50


def learn_at_once(command: Sequence[str | Path], messages: Sequence[Path]) -> str:
    """Run the command on each message; the time of all, and of one."""
    times: list[float] = []
    statuses: Counter[int] = Counter()

    def learner(some: Sequence[Path]) -> None:
        for message in some:
            start = time.perf_counter()
            with message.open("rb") as source:
                process = subprocess.run(command, stdin=source, capture_output=True)
            times.append(time.perf_counter() - start)
            statuses[process.returncode] += 1

    threads = [threading.Thread(target=learner, args=(messages[n::LEARNERS],)) for n in range(LEARNERS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = time.perf_counter() - start
    times.sort()
    median, last = times[len(times) // 2], times[len(times) * 99 // 100]
    return (
        f"{total:6.1f} s in all, one {median:.2f} s (median), {last:.2f} s (99 of 100), "
        f"{times[-1]:.2f} s (longest); exit statuses {dict(statuses)}"
    )


def main(programs: Sequence[str]) -> None:
    """Run the bench with these programs, or with a fresh installation."""
    corpus = unpacked("spamassassin", "sa")
    if corpus is None:
        raise SystemExit("spamassassin.tar.xz is missing: set NBSPAM_CORPORA (docs/corpora.md)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = [Path(program) for program in programs] or [install(folder / "venv") / "nbspam"]
        lines = (corpus / "test.index").read_text().splitlines()
        paths = [corpus / line.partition(" ")[2] for line in lines[: LEARNERS * MESSAGES_EACH]]
        lists = write_lists(folder, (corpus / "train.index").read_text().splitlines(), [], corpus)
        print(f"{LEARNERS} x {MESSAGES_EACH} processes, each learns one message:")
        if shutil.which("bogofilter"):
            bogofilter = Bogofilter(folder)
            run_all(begin_training(bogofilter, lists["ham"], lists["spam"]))
            print("bogofilter", learn_at_once(["bogofilter", "-d", bogofilter.folder, "-s"], paths))
        for program in ours:
            one = Nbspam(folder, program)
            run_all(begin_training(one, lists["ham"], lists["spam"]))
            command: list[str | Path] = [program, "learn", "-q", "spam", "-m", one.model]
            print(program.name, learn_at_once(command, paths), flush=True)
            print(
                subprocess.run(
                    [program, "model", "check", "-m", one.model], capture_output=True, text=True
                ).stdout
            )


if __name__ == "__main__":
    main(sys.argv[1:])
