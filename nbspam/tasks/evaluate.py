"""Labelled mail -> an evaluation: folds, a holdout, a replay in time, or a saved model.

Each message is read and tokenised once, whatever the number of folds; the vocabulary is that of the messages
trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from nbspam.corpus.corpus import Corpus, read_corpus, sort_in_time
from nbspam.corpus.executor import run_shards
from nbspam.corpus.item import Item, Skipped
from nbspam.corpus.reading import Progress
from nbspam.decision import Loss, cutoffs
from nbspam.errors import BadDataError, UsageError
from nbspam.evaluation import folds as splitting
from nbspam.evaluation.folds import SIMILARITY, Split, group_near_duplicates
from nbspam.evaluation.outcomes import (
    Evaluation,
    Floats,
    Outcome,
    join,
    make_evaluation,
    worst_mistakes,
)
from nbspam.evaluation.replay import (
    ON_ERROR,
    THICK,
    Autolearn,
    Feedback,
    ReplayFilter,
    parse_feedback,
    replay,
)
from nbspam.filter import open_filter
from nbspam.learning.autolearn import check_autolearn, count_outdated
from nbspam.model.block import drop_columns, select_rows
from nbspam.model.calibrate import WARM_UP_SHARE, join_evidence
from nbspam.model.counts import Ints
from nbspam.model.scorer import Scorer
from nbspam.model.views import Evidence
from nbspam.store.connection import replaced_error
from nbspam.tasks.classify import ModelJudge, RowTokens, list_texts
from nbspam.tasks.judges import (
    BatchJudge,
    Plan,
    ReplayJudge,
    find_clues,
    make_outcome,
)
from nbspam.tasks.train import Choices, Trained, start_accumulator, write_counted
from nbspam.tokens.bag import NO_TEXTBOOK_VIEWS

if TYPE_CHECKING:
    from nbspam.corpus.cluster import Cluster

Step = Callable[[int], object]  # so many more steps are done


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
    found = evaluate_rows(corpus, rows, "holdout", outcomes)
    worst = worst_mistakes(found)
    if scorer is None or not len(worst):
        return found
    texts, clues = list_texts(block), {}
    for name, row in zip(found.names[worst].tolist(), rows[worst].tolist(), strict=True):
        clues[name] = find_clues(scorer, RowTokens(block, row, texts), name, classes, loss)
    return replace(found, clues=clues)


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
    progress: Step | None = None,
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
    return [join(some).take(order) for some in by_plan]


def _judge_split(corpus: Corpus, with_clues: bool, task: tuple[Plan, Split]) -> Evaluation:
    plan, (train, rows) = task
    judge, loss = BatchJudge(corpus, plan, train), plan.costs(corpus.classes)
    scorer = judge.scorer() if with_clues else None
    return judge_rows(judge.corpus, rows, judge.score(rows), loss, scorer)


def keep_worst_clues(evaluation: Evaluation) -> Evaluation:
    """The evaluation with the clues of its worst mistakes alone."""
    worst, clues = evaluation.names[worst_mistakes(evaluation)].tolist(), evaluation.clues
    return replace(evaluation, clues={name: clues[name] for name in worst if name in clues})


def evaluate_folds(
    corpus: Corpus,
    plan: Plan,
    n_folds: int,
    grouped: bool = False,
    jobs: int | Cluster = 1,
    progress: Step | None = None,
) -> Evaluation:
    """Each message judged by a filter that learned from the messages of the other folds."""
    corpus = corpus.restrict_to(plan.settings)  # once for all folds
    if grouped:
        fold = splitting.grouped_folds(corpus.truth(), group_duplicates(corpus), n_folds, plan.seed)
    else:
        fold = splitting.stratified_folds(corpus.truth(), n_folds, plan.seed)
    [judged] = judge_splits(corpus, [plan], splitting.split_by_fold(fold), jobs, progress)
    settings = plan.describe(folds=n_folds, grouped=grouped)
    found = replace(judged, method="folds", digest=corpus.digest(), settings=settings, folds=fold)
    return keep_worst_clues(found)


def evaluate_holdout(
    corpus: Corpus, plan: Plan, share: float, by_time: bool = False, progress: Step | None = None
) -> Evaluation:
    """A share of the messages judged by a filter that learned from the rest."""
    order, right = sort_in_time(corpus)
    split = splitting.holdout(corpus.truth(), share, plan.seed, order if by_time else None)
    [judged] = judge_splits(corpus, [plan], [split], progress=progress)
    settings = plan.describe(holdout=share, by_time=by_time) | ({"order": right} if by_time else {})
    return replace(judged, digest=corpus.digest(split[1]), settings=settings, trained=len(split[0]))


def group_duplicates(corpus: Corpus, similarity: float = SIMILARITY) -> Ints:
    """int64 (n,): near-duplicates, such as the messages of one campaign, share a number."""
    # Many short texts share measures; bigrams are the words once more.
    block = drop_columns(corpus.block, ~np.isin(corpus.block.views, NO_TEXTBOOK_VIEWS))
    keys = block.keys[block.columns].view(np.uint64)
    return group_near_duplicates(np.split(keys, block.starts[1:-1]), similarity)


def evaluate_replay(
    corpus: Corpus, plan: Plan, feedback: Feedback, progress: Step | None = None, autolearn: bool = False
) -> Evaluation:
    """Every message judged in order of time by what was learned of those before it.

    autolearn : the filter learns its own verdicts, too
    UsageError for settings that cannot be replayed.
    """
    if plan.settings.features != "words":
        why = "a replay learns words message by message; bins need all numbers at once"
        where, remedy = plan.settings.features, "use `folds`, or words"
        raise UsageError(where, why, remedy, "replay-features", option="features")
    if plan.automatic:
        why = "a replay begins without mail to choose it on"
        raise UsageError("auto", why, "give a number, or use `folds`", "alpha-auto-replay", option="alpha")
    if autolearn:
        check_autolearn(plan.settings)
    subject = ReplayJudge(corpus, plan)
    own = Autolearn(subject, count_outdated) if autolearn else None
    centre = find_centre(subject.loss)
    found = replay_corpus(corpus, own or subject, feedback, plan.describe(), centre, progress)
    settings, truth = dict(found.settings), corpus.truth()
    if own:
        wrong = sum(int(truth[row]) != label for row, label in own.learned.items())
        settings |= {"autolearned": len(own.learned), "autolearned_wrongly": wrong}
    if undated := int(np.isnan(corpus.block.dates).sum()):
        settings["undated"] = undated
    return keep_worst_clues(replace(found, settings=settings, clues=subject.clues))


def replay_corpus(
    corpus: Corpus,
    subject: ReplayFilter,
    feedback: Feedback,
    settings: dict[str, Any],
    centre: float = 0.0,
    progress: Step | None = None,
) -> Evaluation:
    """Every message judged in order of time by any filter.

    settings : of the filter, with the seed
    centre   : of a thick threshold, nats
    """
    order, right = sort_in_time(corpus)
    seed, truth = settings["seed"], corpus.truth().tolist()
    run = replay(order.tolist(), truth, subject, feedback, seed, centre, progress)
    settings = settings | {"feedback": str(feedback), "order": right}
    more = {"digest": corpus.digest(), "settings": settings, "trained": len(run.learned)}
    return evaluate_rows(corpus, order, "replay", run.outcomes, **more)


def find_centre(loss: Loss) -> float:
    """The centre of a thick threshold: the cut-off of spam, or even odds without one."""
    centre = cutoffs(loss)[1] if len(loss.matrix) == 2 else 0.0
    return centre if isfinite(centre) else 0.0


def evaluate_model(
    items: Iterable[Item],
    classes: tuple[str, ...],
    path: str,
    change: dict[str, str] | None = None,
    loss: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[Evaluation, Skipped]:
    """Every message of a labelled source as `nbspam classify` judges it, and what could not be read.

    change, loss : as for open_filter
    """
    with closing(open_filter(path, change, loss)) as opened:  # an error of it comes before any mail is read
        known = opened.classes
    if unknown := [name for name in classes if name not in known]:
        why = f"the mail has a class {unknown[0]} that the model does not know"
        raise BadDataError(path, why, "its classes: " + ", ".join(known), "model-classes")
    corpus = read_corpus(items, known, jobs, progress=progress, wanted=opened.settings.wanted)
    judge = open_filter(path, change, loss)  # again: an SQLite connection may not cross a fork
    if judge.model.connection.file != opened.model.connection.file:
        raise replaced_error(path)
    joints = ModelJudge(judge).joints(corpus.block)
    judged = judge_rows(corpus, np.arange(len(joints)), joints, judge.loss, judge.scorer)
    settings = judge.settings.as_text() | {"model": path, "loss": loss or ""}
    return replace(judged, method="model", digest=corpus.digest(), settings=settings), corpus.skipped


def parse_regime(text: str) -> Feedback:
    """Read `on-error` or `thick:MARGIN` (nats, >= 0).  UsageError for anything else."""
    if text.partition(":")[0] in (ON_ERROR, THICK):
        with suppress(UsageError):
            return parse_feedback(text)._replace(first_of_class=True)
    allowed = ("all", "on-error", "thick:MARGIN with a margin of nats >= 0, for example thick:1")
    raise UsageError(text[:40], "is not a training regime", slug="regime", option="regime", allowed=allowed)


def check_regime(feedback: Feedback, plan: Plan) -> None:
    """UsageError if a replay cannot choose: it learns words one message after another, from nothing."""
    if plan.settings.features != "words" or plan.automatic or plan.vocabulary:
        why = "does not go with `features`, `alpha=auto` or `vocab`: a replay learns every word, from nothing"
        raise UsageError(str(feedback), why, "leave out one of them", "regime", option="regime")


def train_by_regime(
    corpus: Corpus, path: str, plan: Plan, feedback: Feedback, choices: Choices, progress: Step | None = None
) -> Trained:
    """Write the model of the messages that a replay with this feedback learns; see check_regime.

    feedback : on-error or thick.  What it gains and costs: docs/decisions.md.
    """
    rows, evidence = select_learned(corpus, plan, feedback, progress)
    mail = start_accumulator(corpus.classes, plan.settings, choices)
    mail.add(select_rows(corpus.block, rows))
    trained = write_counted(mail, path, choices._replace(evidence=evidence))
    return trained._replace(read=len(corpus.block), skipped=corpus.skipped)


def select_learned(
    corpus: Corpus, plan: Plan, feedback: Feedback, progress: Step | None = None
) -> tuple[Ints, Evidence | None]:
    """The rows that a replay learns, in the order read, and the evidence of all that it judged.

    A calibration that knows only the messages judged wrongly would learn that the evidence misleads.
    """
    order, _ = sort_in_time(corpus)
    subject = ReplayJudge(corpus, plan)
    subject.keeps_evidence = plan.settings.averaged
    truth, centre = corpus.truth().tolist(), find_centre(subject.loss)
    run = replay(order.tolist(), truth, subject, feedback, plan.seed, centre, progress)
    judged = subject.evidence[int(len(order) * WARM_UP_SHARE) :]
    return np.sort(run.learned), join_evidence(judged) if judged else None
