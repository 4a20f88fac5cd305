"""Labelled mail -> an evaluation as a user would live it: each message judged, then learned.

Hides where time comes from.  When the filter is told the truth is for evaluation.replay to say.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from nbspam.decision import Loss, cutoffs, zero_one_loss
from nbspam.errors import UsageError
from nbspam.evaluation.outcomes import Evaluation, worst_mistakes
from nbspam.evaluation.replay import Feedback, replay
from nbspam.workflow.corpus import Corpus, check_classes, in_time
from nbspam.workflow.evaluating import Plan, Step
from nbspam.workflow.judging import MOST_CLUED
from nbspam.workflow.replay_filter import replay_filter


def evaluate_replay(
    corpus: Corpus, plan: Plan, feedback: Feedback, progress: Step | None = None
) -> Evaluation:
    """Every message judged in order of time by what was told of those before it."""
    check_classes(corpus)
    if plan.settings.features != "words":
        why = "a replay learns words message by message; bins need all numbers at once"
        raise UsageError(
            f"--features {plan.settings.features}", why, "use --folds, or words", "replay-features"
        )
    if plan.automatic:
        why = "a replay starts without mail to choose it on"
        raise UsageError("--alpha auto", why, "give a number, or use --folds", "alpha-auto-replay")
    order, right = in_time(corpus)
    loss = plan.loss or zero_one_loss(len(corpus.classes))
    block, classes = corpus.block, corpus.classes
    subject = replay_filter(block, order, classes, plan.settings, loss, plan.vocabulary)
    truth = corpus.truth()[order].tolist()
    run = replay(truth, subject, feedback, plan.seed, centre_nats(loss), progress)
    settings = plan.described() | {"feedback": str(feedback), "order": right}
    undated = int(np.isnan(corpus.block.dates).sum())
    if undated:
        settings["undated"] = undated
    evaluation = Evaluation(
        corpus.classes, run.outcomes, "replay", corpus.digest(), settings, trained=run.trained
    )
    worst = [outcome.name for outcome in worst_mistakes(evaluation, MOST_CLUED)]
    clues = {name: subject.clues[name] for name in worst}
    return Evaluation(
        corpus.classes, run.outcomes, "replay", evaluation.digest, settings, (), run.trained, clues
    )


def centre_nats(loss: Loss) -> float:
    """Where the thick threshold lies: at the cut-off of spam, or at even odds where there is none."""
    if len(loss.matrix) != 2:
        return 0.0
    centre = cutoffs(loss).spam_above
    return centre if isfinite(centre) else 0.0
