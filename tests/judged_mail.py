"""Evaluations for tests, written as rows of a few messages or drawn by a seed."""

from collections.abc import Iterable, Sequence
from math import exp
from typing import Any

import numpy as np

from nbspam.evaluation.outcomes import Evaluation, Outcome, make_evaluation


def judged(
    rows: Iterable[Sequence[Any]],
    classes: tuple[str, ...] = ("ham", "spam"),
    method: str = "model",
    **more: Any,
) -> Evaluation:
    """rows : (true class, decided class, log-odds or None, probabilities), the last one optional"""
    full = [(*row, ()) if len(row) == 3 else tuple(row) for row in rows]
    names = more.pop("names", [f"m{n}" for n in range(len(full))])
    outcomes = [Outcome(decided, odds, tuple(shares)) for _, decided, odds, shares in full]
    return make_evaluation(classes, method, names, [row[0] for row in full], outcomes, **more)


def scored(odds: Iterable[float], truth: Iterable[int], **more: Any) -> Evaluation:
    """The evaluation of these log-odds of spam and the probabilities that follow."""
    rows = []
    for one, label in zip(odds, truth, strict=True):
        spam = 1 / (1 + exp(-one))
        rows.append((label, int(one > 0), float(one), (1 - spam, spam)))
    return judged(rows, **more)


def noisy(n_messages: int = 2000, seed: int = 1, spread: float = 2.0, **more: Any) -> Evaluation:
    """Ham and spam with errors, unsure decisions and dates that rise."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(n_messages):
        truth = int(random.random() < 0.4)
        odds = float(random.normal((-4, 4)[truth], spread))
        spam = 1 / (1 + exp(-odds))
        rows.append((truth, -1 if abs(odds) < 0.3 else int(odds > 0), odds, (1 - spam, spam)))
    more = {"method": "replay", "digest": "d" * 64, "times": np.arange(float(n_messages))} | more
    return judged(rows, **more)
