"""Which out-of-sample scores the calibration is learned from: leave-one-out, prequential, or both."""

import numpy as np

from nbspam.engine.accumulator import select_rows, time_order
from nbspam.engine.block import Block
from nbspam.evaluation.folds import fold_splits, stratified_folds
from nbspam.models.calibrate import bulk_scores, fit
from nbspam.models.views import Evidence, fixed_background, leave_one_out, prequential, view_evidence
from nbspam.settings import Settings
from tests.experiments.lab import FOLDS, counted, heading, mail, row

SETTINGS = Settings()
SOURCES = {
    "leave-one-out": (True, None),
    "prequential, the first 10 % left out": (False, 0.1),
    "prequential, the first 40 % left out": (False, 0.4),
    "kept: both, the first 40 % left out": (True, 0.4),
}


def learned(  # type: ignore[type-arg]
    train: Block,
    test: Block,
    alone: bool,
    warm_up: float | None,
    shares: bool = True,
    settings: Settings = SETTINGS,
) -> np.ndarray:
    """Log-odds of the rows of test; without shares the NOTAWORD shares are all 0."""
    documents, _ = train.totals(2)
    parts = []
    if alone:
        parts.append((leave_one_out(train, documents), np.arange(len(train))))
    if warm_up is not None:
        order = time_order(train)
        parts.append((prequential(train, documents, order), order[int(len(order) * warm_up) :]))
    found = [(view_evidence(train, seen, settings), used) for seen, used in parts]
    sample = Evidence(
        np.concatenate([one.evidence[used] for one, used in found]),
        np.concatenate([one.unknown[used] for one, used in found]) * shares,
    )
    labels = np.concatenate([train.labels[used] for _, used in found]).astype(np.int64)
    weights, _ = fit(sample, labels)
    judged = view_evidence(test, fixed_background(test, documents), settings)
    return bulk_scores(weights, Evidence(judged.evidence, judged.unknown * shares))[:, 1]


if __name__ == "__main__":
    block = counted(mail("spamassassin"))
    heading("spamassassin, random folds", len(block))
    splits = fold_splits(stratified_folds(block.labels, FOLDS, 0))
    for name, (alone, warm_up) in SOURCES.items():
        scores = np.zeros(len(block))
        for train, test in splits:
            scores[test] = learned(select_rows(block, train), select_rows(block, test), alone, warm_up)
        print(row(name, scores, block.labels), flush=True)
    order = time_order(block)
    half = len(order) // 2
    past, future = select_rows(block, order[:half]), select_rows(block, order[half:])
    heading("spamassassin, the older half trains, the newer is judged", len(future))
    for name, (alone, warm_up) in SOURCES.items():
        print(row(name, learned(past, future, alone, warm_up), future.labels), flush=True)
