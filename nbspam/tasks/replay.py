"""Labelled mail -> an evaluation as a user would live it: each message judged, then learned.

Hides where time comes from.  When the filter is told the truth is for evaluation.replay to say.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import numpy as np

from nbspam.corpus.corpus import Corpus, check_classes, in_time
from nbspam.decision import Loss, cutoffs, zero_one_loss
from nbspam.errors import UsageError
from nbspam.evaluate.outcomes import Evaluation, worst_mistakes
from nbspam.evaluate.replay import Feedback, OwnWord, replay
from nbspam.store.learn import outdated
from nbspam.tasks.autolearn import check_calibrated
from nbspam.tasks.evaluate import Plan, Step
from nbspam.tasks.judge_mail import MOST_CLUED
from nbspam.tasks.judges import ReplayJudge


def evaluate_replay(
    corpus: Corpus, plan: Plan, feedback: Feedback, progress: Step | None = None, autolearn: bool = False
) -> Evaluation:
    """Every message judged in order of time by what was told of those before it.

    autolearn : the filter learns its own verdicts, too
    """
    check_classes(corpus)
    _check_plan(plan, autolearn)
    order, right = in_time(corpus)
    loss = plan.loss or zero_one_loss(len(corpus.classes))
    block, classes = corpus.block, corpus.classes
    subject = ReplayJudge(block, order, classes, plan.settings, loss, plan.vocabulary)
    truth = corpus.truth()[order].tolist()
    own = OwnWord(subject, outdated) if autolearn and subject.settings.averaged else None
    run = replay(truth, own or subject, feedback, plan.seed, centre_nats(loss), progress)
    settings = plan.described() | {"feedback": str(feedback), "order": right}
    if own:
        wrong = sum(truth[message] != label for message, label in own.learned.items())
        settings |= {"autolearned": len(own.learned), "autolearned_wrongly": wrong}
    undated = int(np.isnan(corpus.block.dates).sum())
    if undated:
        settings["undated"] = undated
    evaluation = Evaluation(
        corpus.classes, run.outcomes, "replay", corpus.digest(), settings, trained=run.trained
    )
    worst = [outcome.name for outcome in worst_mistakes(evaluation, MOST_CLUED)]
    clues = {name: subject.clues[name] for name in worst}
    return replace(evaluation, clues=clues)


def _check_plan(plan: Plan, autolearn: bool) -> None:
    """UsageError for what cannot be replayed."""
    if plan.settings.features != "words":
        why = "a replay learns words message by message; bins need all numbers at once"
        raise UsageError(
            f"--features {plan.settings.features}", why, "use --folds, or words", "replay-features"
        )
    if plan.automatic:
        why = "a replay starts without mail to choose it on"
        raise UsageError("--alpha auto", why, "give a number, or use --folds", "alpha-auto-replay")
    if autolearn:
        check_calibrated(plan.settings)


def centre_nats(loss: Loss) -> float:
    """Where the thick threshold lies: at the cut-off of spam, or at even odds where there is none."""
    if len(loss.matrix) != 2:
        return 0.0
    centre = cutoffs(loss).spam_above
    return centre if isfinite(centre) else 0.0
