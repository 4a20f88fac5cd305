"""What a calibration should learn from where a person tells a filter of its mistakes alone.

make experiment-mistakes
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np

from nbspam.engine.accumulator import time_order
from nbspam.engine.block import Block
from nbspam.scoring.calibration import Learner
from tests.experiments import autolearn
from tests.experiments.autolearn import Rule, Stream, never
from tests.experiments.lab import CORPORA, counted, heading, mail, row

TRAINED = (200, 1_000)  # messages, before mistakes are told


class Believes(Learner):
    """Every mistake teaches."""

    def learn(
        self, evidence: Sequence[Sequence[float]], common: Sequence[float], label: int, counted: float
    ) -> None:
        self.credit = 1
        super().learn(evidence, common, label, counted)


class Stands(Learner):
    """Nothing teaches; the counts learn all the same."""

    def learn(
        self, evidence: Sequence[Sequence[float]], common: Sequence[float], label: int, counted: float
    ) -> None:
        pass


MISTAKES = Rule(never, told="mistakes")
WAYS: dict[str, tuple[type[Learner], Rule]] = {
    "kept: of mistakes five teach, and as many as were judged rightly": (Learner, MISTAKES),
    "every mistake teaches": (Believes, MISTAKES),
    "no mistake teaches": (Stands, MISTAKES),
    "nothing is told": (Learner, Rule(never)),
    "every message is told": (Learner, Rule(never, told="all")),
    "every message is told, every mistake teaches": (Believes, Rule(never, told="all")),
}


def judged(block: Block, order: Any, n_first: int, kind: type[Learner], rule: Rule) -> Any:
    """Log-odds of the messages behind the first."""
    with mock.patch.object(autolearn, "Learner", kind):
        return Stream(block, order, n_first).judge(rule)


def main() -> None:
    """Prints the tables."""
    for corpus in CORPORA:
        block = counted(mail(corpus))
        in_time = corpus == "spamassassin"
        order = time_order(block) if in_time else np.random.default_rng(0).permutation(len(block))
        for n_first in TRAINED:
            which = "oldest" if in_time else "drawn"
            heading(f"{corpus}, {n_first:,} {which} messages train, the others are judged", len(block))
            for name, (kind, rule) in WAYS.items():
                scores = judged(block, order, n_first, kind, rule)
                print(row(name, scores, block.labels[order[n_first:]]), flush=True)


if __name__ == "__main__":
    main()
