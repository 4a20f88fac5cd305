"""From how few messages a calibration is learned: the tables of docs/experiments/few.md.

make experiment-few
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import numpy as np

from nbspam.engine.corpus import merge_blocks
from nbspam.settings import Settings
from nbspam.workflow import calibrating
from tests.experiments.classes import SETS, Judge, Rows, drawn, ours, read
from tests.experiments.lab import CORPORA, JUDGED, counted, mail

DRAWS = 8
SIZES = (  # ham, spam
    *((3, 3), (5, 5), (7, 7), (10, 10), (15, 15), (20, 5), (40, 8), (60, 10), (200, 5), (200, 15)),
    *((5, 20), (8, 40), (10, 60), (5, 200), (15, 200)),
)
OF_MANY = (30, 60, 100, 400)
Rule = Callable[[Sequence[int]], bool]


def least_of_all(least: int) -> Rule:
    """Every class must have so many messages."""
    return lambda messages: min(messages) >= least


def least_of_two(least: int) -> Rule:
    """Two classes must have so many messages."""
    return lambda messages: sorted(messages)[-2] >= least


RULES: dict[str, Rule] = {
    "kept: 5 of two classes": least_of_two(5),
    "10 of two classes": least_of_two(10),
    "20 of each class": least_of_all(20),
}


def ham_and_spam(labels: Any, ham: int, spam: int) -> list[Rows]:
    """Draws of so many messages that train, and others that are judged, as many of each class at most."""
    found = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        classes = [rng.permutation(np.flatnonzero(labels == k)) for k in (0, 1)]
        train = np.concatenate([rows[:n] for rows, n in zip(classes, (ham, spam), strict=True)])
        others = [rows[n : n + JUDGED // 2] for rows, n in zip(classes, (ham, spam), strict=True)]
        found.append((np.sort(train), np.sort(np.concatenate(others))))
    return found


def cell(judge: Judge, rule: Rule, splits: list[Rows], labels: Any) -> str:
    """Log loss in thousandths of a nat, and the share of right ones in per cent."""
    losses, right = [], []
    with mock.patch.object(calibrating, "can_calibrate", rule):
        for train, rows in splits:
            logs = judge(train, rows)
            losses.append(-logs[np.arange(len(rows)), labels[rows]].mean())
            right.append((logs.argmax(axis=1) == labels[rows]).mean())
    return f"{1000 * np.mean(losses):.0f} ({100 * np.mean(right):.1f})"


def table(title: str, judge: Judge, labels: Any, rows: dict[str, list[Rows]]) -> None:
    """Prints a table: a row a size of training, a column a rule."""
    print(f"\n{title}\n\n| trained on | {' | '.join(RULES)} |\n|---|{'---|' * len(RULES)}", flush=True)
    for name, splits in rows.items():
        cells = [cell(judge, rule, splits, labels) for rule in RULES.values()]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Prints the tables."""
    for corpus in CORPORA:
        block = merge_blocks([counted(mail(corpus))])
        judge = ours(block, ("ham", "spam"), Settings())
        splits = {f"{ham} ham, {spam} spam": ham_and_spam(block.labels, ham, spam) for ham, spam in SIZES}
        table(corpus, judge, block.labels, splits)
    for name in SETS:
        messages = read(name).corpus
        judge = ours(messages.block, messages.classes, Settings())
        labels = np.asarray(messages.truth())
        table(name, judge, labels, {f"{few} messages": drawn(labels, few, DRAWS) for few in OF_MANY})


if __name__ == "__main__":
    main()
