"""60 labels that `nbspam label` asks for, and 60 at random: errors on the second half of trec06p_late.

    make experiment-label

The folder is FOLDER messages at random of the first half, other ones with each seed.  Both models learn
message by message with the default settings.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.corpora import corpus_folder
from nbspam.corpus.corpus import read_corpus
from nbspam.corpus.item import Item
from nbspam.corpus.labelled import open_labelled
from nbspam.filter import open_filter
from nbspam.labels import HAM_AND_SPAM
from nbspam.learning.learn import learn_message
from nbspam.model.block import Block
from nbspam.settings import Settings
from nbspam.tasks.classify import ModelJudge
from nbspam.tasks.label import Labelling, make_empty_model

JOBS = 2
LABELS = 60
FOLDER = 2_000
SEEDS = 10


class Errors(NamedTuple):
    """Percent of the judged messages, of the ham, of the spam, and thousandths of a nat a message."""

    all: float
    ham: float
    spam: float
    log_loss: float


def chosen(path: str, folder: list[Item]) -> None:
    """A model of the messages that are asked for."""
    label_of = {item.name: item.label for item in folder}
    labelling = Labelling(path, folder, JOBS)
    while labelling.asked and labelling.labelled.total() < LABELS:
        labelling.label(label_of[labelling.asked.item.name])


def at_random(path: str, folder: list[Item]) -> None:
    """A model of the first messages of the folder, whose order is at random."""
    make_empty_model(path)
    for item in folder[:LABELS]:
        learn_message(path, item.label, item.read())


def errors(path: str, later: Block) -> Errors:
    """What the model makes of the later messages."""
    scores = np.array(ModelJudge(open_filter(path)).joints(later))
    is_spam, odds = later.labels == 1, scores[:, 1] - scores[:, 0]
    is_wrong = is_spam != (odds > 0)
    losses = np.logaddexp(0, np.where(is_spam, -odds, odds))
    shares = (100 * is_wrong[rows].mean() for rows in (slice(None), ~is_spam, is_spam))
    return Errors(*shares, 1000 * losses.mean())


def main() -> None:
    """Prints the table: the means over the seeds, and the least and the most errors."""
    source = open_labelled([str(corpus_folder("trec06p_late", "trec06p_late") / "index")])
    items = [*source.items()]
    half = len(items) // 2
    later = read_corpus(items[half:], HAM_AND_SPAM, JOBS, wanted=Settings().wanted).block
    print(
        f"| {LABELS} labels | % wrong: mean (least to most) | % of ham lost | % of spam missed | log loss |"
    )
    print("|---|---:|---:|---:|---:|", flush=True)
    found = []
    for name, make in (("at random", at_random), ("chosen by nbspam label", chosen)):
        each = []
        for seed in range(SEEDS):
            folder = random.Random(seed).sample(items[:half], FOLDER)
            with tempfile.TemporaryDirectory() as place:
                path = str(Path(place) / "model")
                make(path, folder)
                each.append(errors(path, later))
        found.append(np.array([one.all for one in each]))
        mean, *others = np.mean(each, axis=0)
        cells = f"{mean:.1f} ({found[-1].min():.1f} to {found[-1].max():.1f})", *(f"{n:.1f}" for n in others)
        print(f"| {name} |", *(f"{cell} |" for cell in cells), flush=True)
    gained = found[0] - found[1]
    half_width = 1.96 * gained.std(ddof=1) / SEEDS**0.5
    times = f"{(gained > 0).sum()} of {SEEDS} seeds"
    print(f"fewer errors: {gained.mean():.1f} ± {half_width:.1f} points; with {times}")


if __name__ == "__main__":
    main()
