"""The strongest word of each class as evidence beside the averages: under which λ, and how many."""

from functools import partial

import numpy as np

from nbspam.engine.accumulator import select_rows
from nbspam.engine.block import Block
from tests.experiments.lab import (
    CORPORA,
    Way,
    check_law,
    counted,
    heading,
    later_row,
    learn,
    mail,
    means,
    row,
    ways,
)

SMALL, JUDGED, DRAWS = 500, 1_500, 6
WAYS = {
    "kept: one of each class, λ = 1": Way(),
    "none": Way(strongest=None),
    "λ = 0.3": Way(strongest=0.3),
    "λ = 3": Way(strongest=3.0),
    "λ = 10": Way(strongest=10.0),
    "the mean of two": Way(first_ones=2),
    "the mean of three": Way(first_ones=3),
    "the mean of five": Way(first_ones=5),
    "unknown tokens do not dilute it": Way(diluted=False),
    "no word taken for stronger than 4 nats": Way(most=4.0),
    "instead of the average under λ = 10": Way(second=None),
}


def small_row(name: str, block: Block, way: Way) -> str:
    """Trained on some messages drawn at random, others judged: means over the draws."""
    rows = []
    for seed in range(DRAWS):
        drawn = np.random.default_rng(seed).permutation(len(block))
        few = select_rows(block, np.sort(drawn[:SMALL]))
        others = select_rows(block, drawn[SMALL : SMALL + JUDGED])
        rows.append(row("", learn(few, others, way), others.labels))
    return means(name, rows)


if __name__ == "__main__":
    check_law(counted(mail("spamassassin")[::10]))
    ways(CORPORA, WAYS)
    block = counted(mail("spamassassin"))
    heading("spamassassin, judged is later mail: the next 30 % after 30, 40 ... 80 %", len(block))
    for name, way in WAYS.items():
        print(later_row(name, block, partial(learn, way=way)), flush=True)
    for corpus in CORPORA:
        block = counted(mail(corpus))
        heading(f"{corpus}, {SMALL} messages train, {JUDGED:,} are judged", len(block))
        for name in ("kept: one of each class, λ = 1", "none"):
            print(small_row(name, block, WAYS[name]), flush=True)
