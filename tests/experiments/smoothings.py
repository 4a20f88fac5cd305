"""One smoothing constant or two: by folds, and message by message with a calibration that learns."""

import numpy as np

from nbspam.engine.accumulator import time_order
from nbspam.engine.block import Block, Ints
from nbspam.models.views import prequential, view_evidence
from nbspam.scoring import calibration
from nbspam.settings import ALPHA, LAPLACE, THRESHOLD
from tests.experiments.lab import Way, counted, heading, mail, row, ways

CORPORA = ("spamassassin", "sms", "ccert_zh", "enron")
FIRST = 500  # messages after which the second line of the replays begins to count
PAIRS = (
    (ALPHA, LAPLACE),
    (ALPHA, None),
    (0.1, None),
    (1.0, None),
    (ALPHA, 0.3),
    (ALPHA, 3.0),
    (0.01, 1.0),
    (0.1, 1.0),
)


def name_of(pair: tuple[float, float | None]) -> str:
    """How the table names a pair."""
    text = f"{pair[0]:g}" if pair[1] is None else f"{pair[0]:g} and {pair[1]:g}"
    return ("kept: " if pair == PAIRS[0] else "") + text


def replayed(block: Block, order: Ints, alphas: tuple[float, ...]) -> np.ndarray:  # type: ignore[type-arg]
    """Log-odds of every row by what was learned before it came."""
    documents, _ = block.totals(2)
    found = view_evidence(block, prequential(block, documents, order), alphas, THRESHOLD)
    weights, covariance = calibration.first_weights(2, len(alphas))
    scores = np.zeros(len(block))
    for number in order.tolist():
        evidence, unknown = found.evidence[number].tolist(), found.unknown[number].tolist()
        scores[number] = calibration.scores(weights, evidence, unknown)[1]
        calibration.learn(weights, covariance, evidence, unknown, int(block.labels[number]))
    return scores


def in_time_order() -> None:
    """Dated mail in the order of its dates, other mail shuffled: its classes do not come mixed."""
    for corpus in CORPORA:
        block = counted(mail(corpus))
        dated = corpus in ("spamassassin", "ccert_zh")
        order = time_order(block) if dated else np.random.default_rng(0).permutation(len(block))
        heading(f"{corpus}, replay " + ("by date" if dated else "in random order"), len(block))
        for alphas in ((ALPHA, LAPLACE), (ALPHA,)):
            scores = replayed(block, order, alphas)
            late = order[FIRST:]
            name = name_of((alphas[0], alphas[1] if len(alphas) > 1 else None))
            print(row(name, scores, block.labels), flush=True)
            print(row(f"{name}, after the first {FIRST}", scores[late], block.labels[late]), flush=True)


if __name__ == "__main__":
    ways(CORPORA, {name_of(pair): Way(alpha=pair[0], second=pair[1]) for pair in PAIRS})
    in_time_order()
