"""A replay of an experiment: each message is judged by what came before it, then learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nbspam.engine.accumulator import time_order
from nbspam.engine.block import Block, Ints
from nbspam.models import views as kept
from nbspam.scoring import calibration
from nbspam.settings import Settings
from nbspam.tokens import VIEWS
from nbspam.workflow.calibrating import calibrate_on, fresh_sample, joined, ways_to_see
from tests.experiments.lab import (
    Mail,
    Way,
    as_kept,
    evidence,
    first_weights_of,
    folds_row,
    heading,
    mail,
    row,
)

REPLAY = "spamassassin, replay in order of time"
WHOLE = ("enron", "ccert_zh")  # of which other tables have a sample

Maker = Callable[[list[Mail]], Block]


def replayed(block: Block, way: Way) -> Any:
    """float64 (n_rows,), log-odds of every row; the calibration learns as `nbspam learn` does."""
    n_views = len(VIEWS) + bool((block.views == len(VIEWS)).any())
    documents, _ = block.totals(2)
    order = time_order(block)
    seen = evidence(block, kept.prequential(block, documents, order), way, n_views)
    first = first_weights_of(n_views, seen.shape[1] - n_views * way.unknown, way)
    learner = calibration.Learner(first)
    return learned_in_order(as_kept(seen, way, n_views), learner, block, order)


def learned_in_order(
    sample: kept.Evidence, learner: calibration.Learner, block: Block, order: Ints, counted: int = 0
) -> Any:
    """float64 (n_rows,), log-odds of the rows in order by a calibration that has learned those before them.

    sample  : of every row, by the counts that it met
    counted : messages that were counted before the first of the order
    """
    scores = np.zeros(len(block))
    for before, number in enumerate(order.tolist(), counted):
        own, common = sample.evidence[number].tolist(), sample.common[number].tolist()
        scores[number] = calibration.scores(learner.weights, own, common)[1]
        learner.learn(own, common, int(block.labels[number]), before)
    return scores


def learned_at_once(past: Block, settings: Settings) -> tuple[list[float], list[list[float]]]:
    """Weights and covariance of the calibration of a model that training makes of the messages."""
    documents, _ = past.totals(2)
    samples = [fresh_sample(way(past, documents, None), settings, past) for way in ways_to_see(past)]
    fitted = calibrate_on(joined(samples))
    return fitted.weights.tolist(), fitted.covariance.tolist()


def replay_row(name: str, block: Block, way: Way) -> str:
    """A line of the table."""
    return row(name, replayed(block, way), block.labels)


def whole(rows: dict[str, tuple[Maker, Way]]) -> None:
    """Prints folds and replays of whole corpora by each way of making a block and of scoring."""
    for corpus in WHOLE:
        messages = mail(corpus, whole=True)
        blocks = {maker: maker(messages) for maker, _ in rows.values()}
        for title, a_row in (("all", folds_row), ("all, replay in order of time", replay_row)):
            heading(f"{corpus}, {title}", len(messages))
            for name, (maker, way) in rows.items():
                print(a_row(name, blocks[maker], way), flush=True)
