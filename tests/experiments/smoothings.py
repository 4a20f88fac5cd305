"""One smoothing constant or two: by folds, and message by message with a calibration that learns."""

import numpy as np

from nbspam.engine.accumulator import is_dated, time_order
from nbspam.engine.block import Block, Ints
from nbspam.models.views import prequential, view_evidence
from nbspam.scoring import calibration
from nbspam.settings import ALPHA, SECOND_ALPHA, Settings
from nbspam.workflow.calibrating import WARM_UP_SHARE
from tests.experiments.calibration import by_folds, judge_with
from tests.experiments.lab import LATER, counted, heading, later_row, mail, row
from tests.experiments.replayed import learned_in_order

CORPORA = ("spamassassin", "sms", "ccert_zh", "enron")
FIRST = 500  # messages after which the second line of the replays begins to count
PAIRS = (
    (ALPHA, SECOND_ALPHA),
    (ALPHA, None),
    (0.1, None),
    (1.0, None),
    (ALPHA, 0.3),
    (ALPHA, 1.0),
    (ALPHA, 3.0),
    (ALPHA, 30.0),
    (0.05, 10.0),
    (0.1, 10.0),
)


def name_of(pair: tuple[float, float | None]) -> str:
    """How the table names a pair."""
    text = f"{pair[0]:g}" if pair[1] is None else f"{pair[0]:g} and {pair[1]:g}"
    return ("kept: " if pair == PAIRS[0] else "") + text


def settings_of(pair: tuple[float, float | None]) -> Settings:
    """The default way of scoring with the constants of a pair."""
    return Settings(alpha=pair[0], second_alpha=pair[1] or 0.0)


def replayed(block: Block, order: Ints, settings: Settings) -> np.ndarray:  # type: ignore[type-arg]
    """Log-odds of every row by what was learned before it came."""
    documents, _ = block.totals(2)
    found = view_evidence(block, prequential(block, documents, order), settings)
    learner = calibration.Learner(calibration.first_weights(2, settings.kinds))
    return learned_in_order(found, learner, block, order)


def in_folds() -> None:
    """Random folds, calibrated as nbspam does."""
    for corpus in CORPORA:
        block = counted(mail(corpus))
        heading(corpus, len(block))
        warm_up = WARM_UP_SHARE if is_dated(block.dates) else None
        for pair in PAIRS:
            scores = by_folds(block, True, warm_up, settings_of(pair))
            print(row(name_of(pair), scores, block.labels), flush=True)


def in_time_order() -> None:
    """Dated mail in the order of its dates; of the others one class comes before the other: shuffled."""
    for corpus in CORPORA:
        block = counted(mail(corpus))
        dated = corpus == "spamassassin"
        order = time_order(block) if dated else np.random.default_rng(0).permutation(len(block))
        heading(f"{corpus}, replay " + ("by date" if dated else "in random order"), len(block))
        for pair in ((ALPHA, SECOND_ALPHA), (ALPHA, None), (ALPHA, 3.0)):
            scores = replayed(block, order, settings_of(pair))
            late, name = order[FIRST:], name_of(pair)
            print(row(name, scores, block.labels), flush=True)
            print(row(f"{name}, after the first {FIRST}", scores[late], block.labels[late]), flush=True)


def later_mail() -> None:
    """Trained on the older part of the mail."""
    block = counted(mail("spamassassin"))
    heading(LATER, len(block))
    for pair in PAIRS:
        print(later_row(name_of(pair), block, judge_with(settings_of(pair))), flush=True)
    print(
        later_row("0.03 and 10, unknown tokens dilute nothing", block, judge_with(Settings(novelty=0.0))),
        flush=True,
    )


if __name__ == "__main__":
    in_folds()
    in_time_order()
    later_mail()
