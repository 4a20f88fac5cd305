"""Training regimes: what they do to size and accuracy; the table of docs/experiments/regimes.md.

    make experiment-regimes

SpamAssassin's train.index by date of arrival: the real command trains on the first 70 %, and its model judges
the rest.  Nothing here looks at a message of test.index.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nbspam.engine.accumulator import time_order
from nbspam.engine.executor import default_jobs
from nbspam.sources import open_labelled
from nbspam.workflow.corpus import read_corpus
from tests.experiments.lab import corpus_folder

SHARE = 0.7
REGIMES = ("all", "on-error", "thick:1", "thick:3")


def by_date(index: Path, folder: Path) -> tuple[Path, Path]:
    """Two index files in order of date: the older messages and the newer."""
    source = open_labelled([str(index)])
    corpus = read_corpus(source.items(), source.classes, default_jobs())
    labels, names = corpus.truth(), corpus.block.names
    lines = [
        f"{corpus.classes[labels[row]]} {os.path.abspath(names[row])}" for row in time_order(corpus.block)
    ]
    cut = int(len(lines) * SHARE)
    older, newer = folder / "older.index", folder / "newer.index"
    older.write_text("\n".join(lines[:cut]) + "\n")
    newer.write_text("\n".join(lines[cut:]) + "\n")
    return older, newer


def nbspam(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The real program."""
    return subprocess.run(
        [sys.executable, "-m", "nbspam", *arguments], check=True, capture_output=True, text=True
    )


def row(regime: str, older: Path, newer: Path, model: Path) -> str:
    """A line of the table."""
    begun = time.perf_counter()
    said = nbspam("train", str(older), "-m", str(model), "--replace", "--regime", regime).stderr
    seconds = time.perf_counter() - begun
    messages, tokens = re.findall(r"Trained on ([\d,]+).*; ([\d,]+) tokens", said)[0]
    found = json.loads(nbspam("eval", str(newer), "-m", str(model), "--json").stdout)
    figures = [f"{found[name]:.2f}" for name in ("hm_percent", "sm_percent", "ece_percent")]
    area = f"{found['one_minus_roca_percent']:.4f}"
    cells = [regime, messages, tokens, f"{model.stat().st_size:,}", f"{seconds:.1f}", area, *figures]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Prints the table."""
    folder = corpus_folder("spamassassin", "sa")
    with tempfile.TemporaryDirectory() as made:
        older, newer = by_date(folder / "train.index", Path(made))
        sizes = [len(path.read_text().splitlines()) for path in (older, newer)]
        print(f"SpamAssassin train.index by date: {sizes[0]:,} messages to train on, {sizes[1]:,} judged\n")
        print("| regime | messages | tokens | bytes | seconds | (1-ROCA)% | hm% | sm% | ECE% |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
        for regime in REGIMES:
            print(row(regime, older, newer, Path(made) / "model"), flush=True)


if __name__ == "__main__":
    main()
