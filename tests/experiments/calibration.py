"""Which out-of-sample scores the calibration is learned from: leave-one-out, prequential, or both."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

from nbspam.engine.accumulator import select_rows, time_order
from nbspam.engine.block import Block
from nbspam.evaluation.folds import fold_splits, stratified_folds
from nbspam.models.calibrate import bulk_scores, fit
from nbspam.models.views import Evidence, fixed_background, leave_one_out, prequential, view_evidence
from nbspam.scoring import calibration
from nbspam.settings import Settings
from tests.experiments.lab import FOLDS, LATER, counted, heading, later_row, mail, row

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
    step: int = 1,
) -> np.ndarray:
    """Log-odds of the rows of test; without shares the NOTAWORD shares are all 0.

    step : every how many-th message is left out in turn
    """
    documents, _ = train.totals(2)
    parts = []
    if alone:
        parts.append((leave_one_out(train, documents), np.arange(0, len(train), step)))
    if warm_up is not None:
        order = time_order(train)
        parts.append((prequential(train, documents, order), order[int(len(order) * warm_up) :]))
    found = [(view_evidence(train, seen, settings), used) for seen, used in parts]
    sample = Evidence(
        np.concatenate([one.evidence[used] for one, used in found]),
        np.concatenate([one.common[used] for one, used in found]) * shares,
        settings.kinds,
    )
    labels = np.concatenate([train.labels[used] for _, used in found]).astype(np.int64)
    weights, _ = fit(sample, labels)
    judged = view_evidence(test, fixed_background(test, documents), settings)
    return bulk_scores(weights, judged._replace(common=judged.common * shares))[:, 1]


def by_folds(  # type: ignore[type-arg]
    block: Block, alone: bool, warm_up: float | None, settings: Settings = SETTINGS, step: int = 1
) -> np.ndarray:
    """Log-odds of every row, by the random folds that did not have it."""
    scores = np.zeros(len(block))
    for train, test in fold_splits(stratified_folds(block.labels, FOLDS, 0)):
        past, future = select_rows(block, train), select_rows(block, test)
        scores[test] = learned(past, future, alone, warm_up, True, settings, step)
    return scores


def judge_with(settings: Settings, warm_up: float = 0.4, step: int = 1) -> Callable[[Block, Block], Any]:
    """(past, future) -> log-odds of the future, both samples calibrating."""
    return lambda past, future: learned(past, future, True, warm_up, True, settings, step)


SHARES = {  # of both samples, where dates are known
    "kept: the first 40 % left out, every message": (0.4, 1),
    "the first 40 % left out, every second message": (0.4, 2),
    "the first 60 % left out, every message": (0.6, 1),
    "the first 60 % left out, every second message": (0.6, 2),
}


def amounts() -> None:
    """How many messages are left out in turn, and how many are seen as they came."""
    for corpus in ("sms", "enron"):
        block = counted(mail(corpus))
        heading(corpus, len(block))
        for name, step in {"kept: all": 1, "every second": 2, "every fourth": 4}.items():
            print(row(name, by_folds(block, True, None, SETTINGS, step), block.labels), flush=True)
    block = counted(mail("spamassassin"))
    heading("spamassassin", len(block))
    for name, (warm_up, step) in SHARES.items():
        print(row(name, by_folds(block, True, warm_up, SETTINGS, step), block.labels), flush=True)
    heading(LATER, len(block))
    for name, (warm_up, step) in SHARES.items():
        print(later_row(name, block, judge_with(SETTINGS, warm_up, step)), flush=True)


FREEDOMS = {  # how far the weights may go from where they start: variances
    "kept": {},
    "constant 4": {"constant": 4.0},
    "constant 0.01": {"constant": 0.01},
    "cautious evidence 0.25": {"cautious": 0.25},
    "constant 4, cautious evidence 0.25": {"constant": 4.0, "cautious": 0.25},
    "cautious evidence 3": {"cautious": 3.0},
    "evidence 0.5, cautious evidence 2": {"evidence": 0.5, "cautious": 2.0},
    "unknown shares 2": {"unknown": 2.0},
}


def freedoms() -> None:
    """The prior of the weights: random folds of three corpora, and later mail."""
    blocks = {corpus: counted(mail(corpus)) for corpus in ("spamassassin", "ccert_zh", "sms")}
    for corpus, block in blocks.items():
        heading(corpus, len(block))
        warm_up = 0.4 if corpus == "spamassassin" else None
        for name, changed in FREEDOMS.items():
            with mock.patch.dict(calibration._FIRST_VARIANCE, changed):
                print(row(name, by_folds(block, True, warm_up), block.labels), flush=True)
    block = blocks["spamassassin"]
    heading(LATER, len(block))
    for name, changed in FREEDOMS.items():
        with mock.patch.dict(calibration._FIRST_VARIANCE, changed):
            print(later_row(name, block, judge_with(SETTINGS)), flush=True)


if __name__ == "__main__":
    block = counted(mail("spamassassin"))
    heading("spamassassin, random folds", len(block))
    for name, (alone, warm_up) in SOURCES.items():
        print(row(name, by_folds(block, alone, warm_up), block.labels), flush=True)
    order = time_order(block)
    half = len(order) // 2
    past, future = select_rows(block, order[:half]), select_rows(block, order[half:])
    heading("spamassassin, the older half trains, the newer is judged", len(future))
    for name, (alone, warm_up) in SOURCES.items():
        print(row(name, learned(past, future, alone, warm_up), future.labels), flush=True)
    amounts()
    freedoms()
