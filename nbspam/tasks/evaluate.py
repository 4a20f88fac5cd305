"""Labelled mail -> an evaluation: folds, a holdout, a replay in time, or a saved model.

Each message is read and tokenised once, whatever the number of folds; the vocabulary is that of the messages
trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from nbspam.corpus.cluster import Cluster
from nbspam.corpus.corpus import INTERLEAVED, Corpus, read_corpus, sort_in_time
from nbspam.corpus.executor import run_shards
from nbspam.corpus.item import Item, Skipped, read_items
from nbspam.corpus.near_duplicates import group_duplicates
from nbspam.corpus.reading import REPORTS, Progress
from nbspam.decision import Loss
from nbspam.errors import BadDataError, UsageError
from nbspam.evaluation import folds as splitting
from nbspam.evaluation.folds import Split
from nbspam.evaluation.outcomes import Evaluation, Floats, Outcome, find_worst_mistakes, join, make_evaluation
from nbspam.evaluation.replay import Autolearn, Feedback, ReplayFilter, replay
from nbspam.filter import open_filter
from nbspam.labels import CLASS_OF_SENDER
from nbspam.learning.autolearn import MAX_AUTOLEARNED, check_autolearn
from nbspam.model.chosen_settings import Scoring
from nbspam.model.counts import Ints
from nbspam.model.scorer import Scorer
from nbspam.store.check import find_learned
from nbspam.store.connection import replaced_error
from nbspam.store.reader import Model
from nbspam.store.senders import judge_by_list
from nbspam.tasks.classify import ModelJudge, RowTokens, list_texts
from nbspam.tasks.judges import CorpusJudge, find_clues, make_outcome
from nbspam.tasks.plan import Plan


def judge_rows(
    corpus: Corpus, rows: Ints, joints: Floats, loss: Loss, scorer: Scorer | None = None
) -> Evaluation:
    """The evaluation of rows of a corpus.

    joints : float64 (n, n_classes), their log joints, nats
    scorer : tells the clues of the worst mistakes; None for no clues
    """
    block, classes = corpus.block, corpus.classes
    judged = zip(joints.tolist(), block.has_words[rows].tolist(), strict=True)
    outcomes = [make_outcome(joint, classes, loss, has_words) for joint, has_words in judged]
    evaluation = evaluate_rows(corpus, rows, "holdout", outcomes, loss=loss)
    worst = find_worst_mistakes(evaluation)
    if scorer is None or not len(worst):
        return evaluation
    texts, clues = list_texts(block), {}
    for name, row in zip(evaluation.names[worst].tolist(), rows[worst].tolist(), strict=True):
        clues[name] = find_clues(scorer, RowTokens(block, row, texts), name, classes, loss)
    return replace(evaluation, clues=clues)


def evaluate_rows(
    corpus: Corpus, rows: Ints, method: str, outcomes: Sequence[Outcome], **more: Any
) -> Evaluation:
    """The evaluation of outcomes of these rows of a corpus; more: as for make_evaluation."""
    names = [corpus.block.names[row] for row in rows.tolist()]
    dates = corpus.block.dates[rows]
    return make_evaluation(corpus.classes, method, names, corpus.truth()[rows], outcomes, dates, **more)


def judge_splits(
    corpus: Corpus,
    plans: Sequence[Plan],
    splits: Sequence[Split],
    jobs: int | Cluster = 1,
    progress: Progress | None = None,
    with_clues: bool = True,
) -> list[Evaluation]:
    """What each plan says of the messages that the splits judge, in the order of their rows.

    progress   : called with 1 after each plan and split
    with_clues : of the worst mistakes, which take a seventh of the time
    """
    parts = []
    for part in run_shards(partial(_judge_split, corpus, with_clues), product(plans, splits), jobs):
        parts.append(part)
        if progress:
            progress(1)
    order = np.argsort(np.concatenate([rows for _, rows in splits]))
    by_plan = [parts[first : first + len(splits)] for first in range(0, len(parts), len(splits))]
    return [join(evaluations).take(order) for evaluations in by_plan]


def _judge_split(corpus: Corpus, with_clues: bool, task: tuple[Plan, Split]) -> Evaluation:
    plan, (train, rows) = task
    judge = CorpusJudge(corpus, plan, train)
    scorer = judge.scorer() if with_clues and judge.settings.features == "words" else None
    return judge_rows(judge.corpus, rows, judge.joints(rows), judge.loss, scorer)


def keep_worst_clues(evaluation: Evaluation) -> Evaluation:
    """The evaluation with the clues of its worst mistakes alone."""
    worst = evaluation.names[find_worst_mistakes(evaluation)].tolist()
    clues = {name: evaluation.clues[name] for name in worst if name in evaluation.clues}
    return replace(evaluation, clues=clues)


def evaluate_folds(
    corpus: Corpus, plan: Plan, n_folds: int, jobs: int | Cluster = 1, progress: Progress | None = None
) -> Evaluation:
    """Each message judged by a filter that learned from the messages of the other folds."""
    if plan.grouped:
        fold = splitting.draw_grouped_folds(corpus.truth(), group_duplicates(corpus), n_folds, plan.seed)
    else:
        fold = splitting.draw_folds(corpus.truth(), n_folds, plan.seed)
    corpus = corpus.restrict_to(plan.settings)  # once for all folds
    [judged] = judge_splits(corpus, [plan], splitting.split_by_fold(fold), jobs, progress)
    settings = plan.describe(folds=n_folds, grouped=plan.grouped)
    evaluation = replace(judged, method="folds", digest=corpus.digest(), settings=settings, folds=fold)
    return keep_worst_clues(evaluation)


def evaluate_holdout(
    corpus: Corpus, plan: Plan, share: float, by_time: bool = False, progress: Progress | None = None
) -> Evaluation:
    """A share of the messages judged by a filter that learned from the rest."""
    order, right = sort_in_time(corpus)
    split = splitting.hold_out(corpus.truth(), share, plan.seed, order if by_time else None)
    [judged] = judge_splits(corpus, [plan], [split], progress=progress)
    settings = plan.describe(holdout=share, by_time=by_time) | ({"order": right} if by_time else {})
    return replace(judged, digest=corpus.digest(split[1]), settings=settings, trained=len(split[0]))


def split_apart(corpus: Corpus, groups: Ints, parts: int, seed: int = 0) -> tuple[list[Split], str]:
    """The splits, and how they were made: by time if it is known, else by campaign.

    groups : int64 (n,), the campaign of each message, see group_duplicates
    parts  : how many of them are judged at most
    """
    order, right = sort_in_time(corpus)
    truth = corpus.truth()
    if right != INTERLEAVED:
        with suppress(BadDataError):  # if the oldest mail lacks a class
            splits = splitting.split_by_time(truth, order, parts)
            return splits, f"{right}, each block by the older mail"
    fewest = min(len(np.unique(groups[truth == number])) for number in np.unique(truth))
    folds = splitting.draw_grouped_folds(truth, groups, min(parts, max(2, fewest)), seed)
    return splitting.split_by_fold(folds), "each fold by the others, near-duplicates kept together"


def evaluate_replay(
    corpus: Corpus, plan: Plan, feedback: Feedback, progress: Progress | None = None, autolearn: bool = False
) -> Evaluation:
    """Every message judged in order of time by what was learned of those before it.

    autolearn : the filter learns its own verdicts, too
    UsageError for settings that cannot be replayed.
    """
    if plan.settings.features != "words":
        why = "a replay learns words message by message; bins need all numbers at once"
        where, remedy = plan.settings.features, "use `folds`, or words"
        raise UsageError(where, why, remedy, "replay-features", option="features")
    if autolearn:
        check_autolearn(plan.settings)
    subject = CorpusJudge(corpus, plan)
    learner = Autolearn(subject, MAX_AUTOLEARNED) if autolearn else None
    evaluation = replay_corpus(corpus, learner or subject, feedback, plan.describe(), progress)
    settings = dict(evaluation.settings)
    if learner:
        truth = corpus.truth()
        wrong = sum(int(truth[row]) != label for row, label in learner.learned.items())
        settings |= {"autolearned": len(learner.learned), "autolearned_wrongly": wrong}
    if undated := int(np.isnan(corpus.block.dates).sum()):
        settings["undated"] = undated
    return keep_worst_clues(replace(evaluation, settings=settings, clues=subject.clues, loss=subject.loss))


def replay_corpus(
    corpus: Corpus,
    subject: ReplayFilter,
    feedback: Feedback,
    settings: dict[str, Any],
    progress: Progress | None = None,
) -> Evaluation:
    """Every message judged in order of time by any filter.

    settings : of the filter, with the seed
    """
    order, right = sort_in_time(corpus)
    seed, truth = settings["seed"], corpus.truth().tolist()
    run = replay(order.tolist(), truth, subject, feedback, seed, progress)
    settings = settings | {"feedback": str(feedback), "order": right}
    more = {"digest": corpus.digest(), "settings": settings, "trained": len(run.learned)}
    return evaluate_rows(corpus, order, "replay", run.outcomes, **more)


def evaluate_model(
    items: Iterable[Item],
    classes: tuple[str, ...],
    path: str,
    scoring: Scoring | None = None,
    loss: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[Evaluation, Skipped]:
    """Every message of a labelled source as `nbspam classify` judges it, and what could not be read.

    scoring, loss : as for open_filter
    """
    # Opened before any mail is read: an error of it comes at once.  The processes that read inherit the
    # connection and never use it, as SQLite demands.
    with open_filter(path, scoring, loss) as spam_filter:
        all_classes = spam_filter.classes
        if unknown := [name for name in classes if name not in all_classes]:
            why = f"the mail has a class {unknown[0]} that the model does not know"
            raise BadDataError(path, why, "its classes: " + ", ".join(all_classes), "model-classes")
        items = [*items] if spam_filter.model.has_senders else items  # their headers are read again
        wanted = spam_filter.settings.wanted | {REPORTS}
        corpus = read_corpus(items, all_classes, jobs, progress=progress, wanted=wanted)
        if not spam_filter.model.is_at(path):
            raise replaced_error(path)
        judge = ModelJudge(spam_filter)
        joints = judge.joints(corpus.block, corpus.reports)
        strange = judge.count_strange(corpus.block)
        judged = judge_rows(corpus, np.arange(len(joints)), joints, spam_filter.loss, spam_filter.scorer)
        changed = _count_changed(items, judged, spam_filter.model)
        learned = find_learned(spam_filter.model, corpus.block.identities.tolist())
    more = {"model": path, "loss": loss or "", "strange": strange}
    more["learned"] = int(np.isin(corpus.block.identities, [*learned]).sum())
    more |= {} if changed is None else {"changed_by_senders": changed}
    settings = spam_filter.settings.as_text() | more
    return replace(judged, method="model", digest=corpus.digest(), settings=settings), corpus.skipped


def _count_changed(items: Iterable[Item], judged: Evaluation, model: Model) -> int | None:
    """How many decisions the user's list of senders would change; None without a list."""
    if not model.has_senders:
        return None
    decided = dict(zip(judged.names.tolist(), judged.decided.tolist(), strict=True))
    changed = 0
    for item, data in read_items(items, []):
        label = CLASS_OF_SENDER.get(judge_by_list(model, data)[0])
        if label in judged.classes and item.name in decided:
            changed += judged.classes.index(label) != decided[item.name]
    return changed
