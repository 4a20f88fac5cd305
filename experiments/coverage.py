"""How often the interval of (1-ROCA)% holds the truth: python -m experiments.coverage

Scores of ham and spam are drawn from laws whose area is known.  Samples without any pair in the wrong order
have no interval, and are left out.  A 95 % interval should hold the truth in 95 of 100.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from nbspam.evaluation.figures import FIGURES, find_middle
from nbspam.evaluation.outcomes import Evaluation, Outcome, make_evaluation
from nbspam.evaluation.samples import Sample, draw_weights, take_all

FIGURE = FIGURES["one_minus_roca_percent"]
RESAMPLES = 400  # of each sample


class Law(NamedTuple):
    """Normal scores of deviation 1, those of spam `shift` higher; some messages look like the other class."""

    title: str
    ham: int
    spam: int
    shift: float
    odd_ham: float = 0.0
    odd_spam: float = 0.0

    def draw(self, random: np.random.Generator) -> Evaluation:
        """An evaluation of one sample."""
        truth = np.repeat([0, 1], [self.ham, self.spam])
        is_odd = random.random(len(truth)) < np.where(truth, self.odd_spam, self.odd_ham)
        score = random.normal(self.shift * (truth ^ is_odd), 1.0)
        outcomes = [Outcome(int(one > self.shift / 2), one, ()) for one in score.tolist()]
        return make_evaluation(("ham", "spam"), "model", [*map(str, range(len(truth)))], truth, outcomes)

    def truth(self) -> float:
        """The figure of ever more messages."""
        ham, spam = np.array([1 - self.odd_ham, self.odd_ham]), np.array([self.odd_spam, 1 - self.odd_spam])
        above = ndtr(self.shift / 2**0.5 * np.array([[0, -1], [1, 0]]))  # of ham and spam at 0 and at shift
        return 100 * float(ham @ above @ spam)


LAWS = (
    Law("100 ham, 100 spam, hard to tell", 100, 100, 2.0),
    Law("100 ham, 100 spam", 100, 100, 3.0),
    Law("100 ham, 100 spam, easy to tell", 100, 100, 4.0),
    Law("1,000 ham, 500 spam, easy to tell", 1000, 500, 4.0),
    Law("500 ham, 500 spam, 1 % look like the other class", 500, 500, 6.0, 0.01, 0.01),
    Law("2,000 ham, 1,000 spam, 0.5 % and 2 % do", 2000, 1000, 6.0, 0.005, 0.02),
    Law("300 ham, 100 spam, 0.5 % and 2 % do: about three messages", 300, 100, 6.0, 0.005, 0.02),
)


def measure_coverage(law: Law, samples: int, seed: int = 1) -> tuple[float, float]:
    """Shares of the samples whose interval holds the truth: as declared, and the middle 95 % of resamples."""
    random, truth = np.random.default_rng(seed), law.truth()
    held = []
    for _ in range(samples):
        once = take_all(law.draw(random))
        value = FIGURE.compute(once)
        if value > 0:
            resamples = islice(draw_weights(once.evaluation), RESAMPLES)
            drawn = np.array([FIGURE.compute(Sample(once.judgement, weights)) for weights in resamples])
            intervals = [make(value, drawn) for make in (FIGURE.interval, find_middle)]
            held.append([low <= truth <= high for low, high in intervals])
    declared, middle = np.mean(held, axis=0).tolist()
    return declared, middle


def main() -> None:
    """The table of docs/evaluate.md."""
    print("| mail | holds the truth | the middle of the resamples does |")
    print("|---|---|---|")
    for law in LAWS:
        declared, middle = measure_coverage(law, 600)
        print(f"| {law.title} | {100 * declared:.1f} % | {100 * middle:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
