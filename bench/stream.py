"""`python -m bench.stream [MESSAGES ...]`: memory and time of training while the mail grows.

The mail is made up: headers, and words of data/ of which common ones are drawn more often, with some words in
each message that no other has.  So the vocabulary grows with the mail, as that of real mail does.  Memory is
the PSS of all processes together: what they share counts once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from email.utils import formatdate
from itertools import accumulate
from pathlib import Path
from random import Random

from tests.conftest import ROOT

MESSAGES = (6_046, 25_000, 100_000)
FRESH_WORDS = 30  # in each message
WORDS = (50, 350)  # the fewest and the most from data/
LINE_WORDS = 12
BEGIN = 1_600_000_000  # time of the first message
SPAM_SHARE = 0.4


def read_words(label: str) -> tuple[list[str], list[int]]:
    """The words of one class of data/ and how often they occur."""
    paths = (ROOT / "data" / label).iterdir()
    found = Counter(word for path in paths for word in path.read_text("latin-1").split() if word.isalpha())
    return list(found), list(found.values())


def write_stream(folder: Path, n: int) -> None:
    """An mbox of each class, `n` messages together; the same ones each time."""
    random = Random(n)
    for label, share in (("ham", 1 - SPAM_SHARE), ("spam", SPAM_SHARE)):
        words, weights = read_words(label)
        total = [*accumulate(weights)]
        with open(folder / label, "w") as file:
            for number in range(round(n * share)):
                body = random.choices(words, cum_weights=total, k=random.randint(*WORDS))
                body += [f"{random.getrandbits(48):x}" for _ in range(FRESH_WORDS)]
                random.shuffle(body)
                date = formatdate(BEGIN + number / share)
                host = f"{random.choice(words[:200]).lower()}.example"
                file.write(
                    f"From {label}@{host} Sun Sep 13 12:26:40 2020\n"
                    f"Received: from {host} (mail.{host} [192.0.2.{number % 250}]); {date}\n"
                    f"From: {random.choice(words)} <{label}@{host}>\nTo: you@here.example\nDate: {date}\n"
                    f"Subject: {' '.join(body[:5])}\nMessage-ID: <{number}@{host}>\n\n"
                )
                for first in range(0, len(body), LINE_WORDS):
                    file.write(" ".join(body[first : first + LINE_WORDS]) + "\n")
                file.write("\n")


def list_processes(pid: int) -> list[int]:
    """A process and all its descendants."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in list_processes(int(child)))]


def measure_memory(pid: int) -> int:
    """Kilobytes of memory of one process: shared pages by the share of each process."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def train(command: Sequence[str | Path]) -> tuple[float, float, float]:
    """(seconds of the clock, seconds of CPU, peak megabytes of all processes together)."""
    start, peak = time.perf_counter(), 0
    process = subprocess.Popen(command)
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        peak = max(peak, sum(map(measure_memory, list_processes(process.pid))))
        time.sleep(0.05)
    if ended[1]:
        raise SystemExit(f"{command[0]} failed")
    usage = ended[2]
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, peak / 1024


def main() -> None:
    """Runs the bench."""
    print("  messages   us a message   us of CPU   peak MB of all processes   model MB")
    for n in map(int, sys.argv[1:]) if sys.argv[1:] else MESSAGES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_stream(folder, n)
            model = folder / "model.nbspam"
            mail = ["--ham", folder / "ham", "--spam", folder / "spam"]
            command = [sys.executable, "-m", "nbspam", "train", "-q", *mail, "-m", model]
            wall, cpu, peak = train([str(one) for one in command])
            size = model.stat().st_size / 1e6
            print(f"  {n:8,} {1e6 * wall / n:14.0f} {1e6 * cpu / n:11.0f} {peak:26.0f} {size:10.1f}")


if __name__ == "__main__":
    main()
