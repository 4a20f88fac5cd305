"""Labelled mail -> an evaluation: folds, a holdout, a replay in time, or a model made beforehand.

Hides the order of the steps and their spreading over processes.  Each message is read and tokenised
once, whatever the number of folds; the vocabulary is that of the messages trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from nbspam.corpus.corpus import Corpus, check_classes, in_time
from nbspam.corpus.executor import run_shards
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.decision import Loss, zero_one_loss
from nbspam.evaluate import folds as splitting
from nbspam.evaluate.folds import Split
from nbspam.evaluate.near_duplicates import SIMILARITY, near_duplicate_groups
from nbspam.evaluate.outcomes import Evaluation, Outcome, ShortClue, worst_mistakes
from nbspam.model.block import without_columns
from nbspam.model.counts import Ints
from nbspam.settings import Settings
from nbspam.tasks.judge_mail import MOST_CLUED, Judge, clues_of
from nbspam.tasks.judges import BatchJudge, RowTokens, Whole, count_whole, texts_of
from nbspam.tokens.bag import NO_TEXTBOOK_VIEWS

Step = Callable[[int], None]  # so many more steps are done


class Plan(NamedTuple):
    """How to judge.

    settings   : the way of scoring; by a vocabulary, those of `settings_under`
    automatic  : choose lambda on the messages trained on
    loss       : what decisions cost; None for 0-1
    seed       : of everything drawn
    jobs       : processes
    vocabulary : all other words are NOTAWORD; None: every word has its own count
    """

    settings: Settings
    automatic: bool = False
    loss: Loss | None = None
    seed: int = 0
    jobs: int = 1
    vocabulary: Vocabulary | None = None

    def described(self) -> dict[str, Any]:
        """The settings as an evaluation keeps them."""
        settings = self.settings
        found: dict[str, Any] = {name: getattr(settings, name) for name in Settings.__slots__}
        found["alpha"] = "auto" if self.automatic else settings.alpha
        if self.vocabulary:
            found["vocabulary_size"] = len(self.vocabulary.words)
        return found | {"seed": self.seed}


class Judged(NamedTuple):
    """Outcomes of some rows, and the clues of their worst mistakes by name."""

    outcomes: list[Outcome]
    clues: dict[str, tuple[ShortClue, ...]]


class _SplitWork:
    """Trains and judges one split; the callable of the worker processes."""

    def __init__(self, corpus: Corpus, whole: Whole, plan: Plan) -> None:
        self._corpus = corpus
        self._whole = whole
        self._plan = plan

    def __call__(self, split: Split) -> Judged:
        corpus, plan = self._corpus, self._plan
        train, rows = split
        judge = BatchJudge(self._whole, plan.settings, corpus.classes, plan.automatic)
        judge.learn(train)
        loss = plan.loss or zero_one_loss(len(corpus.classes))
        outcomes = row_outcomes(corpus, rows, judge.score(rows).tolist(), loss)
        return Judged(outcomes, _clues(corpus, judge, outcomes, loss))


def row_outcomes(corpus: Corpus, rows: Ints, joints: Sequence[Sequence[float]], loss: Loss) -> list[Outcome]:
    """The outcome of each row from its log joints."""
    block, judge = corpus.block, Judge(corpus.classes, loss)
    dates = [None if isnan(date) else date for date in block.dates[rows].tolist()]
    return [
        judge.outcome(block.names[row], truth, joint, date, row)
        for row, truth, joint, date in zip(
            rows.tolist(), corpus.truth()[rows].tolist(), joints, dates, strict=True
        )
    ]


def _clues(
    corpus: Corpus, judge: BatchJudge, outcomes: list[Outcome], loss: Loss
) -> dict[str, tuple[ShortClue, ...]]:
    worst = (
        worst_mistakes(Evaluation(corpus.classes, tuple(outcomes), "folds"), MOST_CLUED) if outcomes else []
    )
    scorer, texts = judge.scorer(), texts_of(corpus.block)
    if not worst or scorer is None:
        return {}
    found = ((outcome.name, RowTokens(corpus.block, outcome.index, texts)) for outcome in worst)
    return {name: clues_of(scorer, tokens, name, corpus.classes, loss) for name, tokens in found}


def evaluate_folds(
    corpus: Corpus, plan: Plan, n_folds: int, grouped: bool = False, progress: Step | None = None
) -> Evaluation:
    """Each message judged by a filter that learned from the messages of the other folds."""
    check_classes(corpus)
    truth = corpus.truth()
    if grouped:
        fold = splitting.grouped_folds(truth, duplicate_groups(corpus), n_folds, plan.seed)
    else:
        fold = splitting.stratified_folds(truth, n_folds, plan.seed)
    judged = judge_splits(corpus, plan, splitting.fold_splits(fold), progress)
    outcomes = sorted(
        (outcome for part in judged for outcome in part.outcomes), key=lambda outcome: outcome.index
    )
    settings = plan.described() | {"folds": n_folds, "grouped": grouped}
    return finished(corpus, outcomes, judged, "folds", settings, tuple(fold.tolist()))


def evaluate_holdout(
    corpus: Corpus, plan: Plan, share: float, by_time: bool = False, progress: Step | None = None
) -> Evaluation:
    """A share of the messages judged by a filter that learned from the rest."""
    check_classes(corpus)
    order, right = in_time(corpus)
    split = splitting.holdout(corpus.truth(), share, plan.seed, order if by_time else None)
    judged = judge_splits(corpus, plan, [split], progress)
    settings = plan.described() | {"holdout": share, "by_time": by_time}
    if by_time:
        settings["order"] = right
    return finished(corpus, judged[0].outcomes, judged, "holdout", settings, trained=len(split[0]))


def judge_splits(
    corpus: Corpus, plan: Plan, splits: list[Split], progress: Step | None = None
) -> list[Judged]:
    """Each split trained and judged, in order, in as many processes as the plan allows."""
    counts = count_whole(corpus.block, len(corpus.classes), plan.vocabulary)
    judged = []
    for one in run_shards(_SplitWork(corpus, counts, plan), splits, plan.jobs):
        judged.append(one)
        if progress:
            progress(1)
    return judged


def finished(
    corpus: Corpus,
    outcomes: list[Outcome],
    judged: list[Judged],
    method: str,
    settings: dict[str, Any],
    fold: tuple[int, ...] = (),
    trained: int | None = None,
) -> Evaluation:
    """The evaluation, with the clues of the worst mistakes of all parts."""
    rows = np.array([outcome.index for outcome in outcomes], dtype=np.int64)
    evaluation = Evaluation(
        corpus.classes, tuple(outcomes), method, corpus.digest(rows), settings, fold, trained
    )
    clues = {name: found for part in judged for name, found in part.clues.items()}
    worst = [outcome.name for outcome in worst_mistakes(evaluation, MOST_CLUED)]
    kept = {name: clues[name] for name in worst if name in clues}
    return replace(evaluation, clues=kept)


def duplicate_groups(corpus: Corpus, similarity: float = SIMILARITY) -> Ints:
    """int64 (n,): near-duplicates, such as the messages of one campaign, share a number."""
    # Many short texts share measures; bigrams are the words once more.
    block = without_columns(corpus.block, ~np.isin(corpus.block.views, NO_TEXTBOOK_VIEWS))
    keys = block.keys[block.columns].view(np.uint64)
    return near_duplicate_groups(np.split(keys, block.starts[1:-1]), similarity)
