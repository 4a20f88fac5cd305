"""Choose a way of scoring on one's own mail: candidates judged alike, and a test against chance.

Each message is judged by what came before it (if dates are known) or by other campaigns (if not).  The log
loss decides, because the decisions are made on the probabilities; a candidate must beat the default by more
than chance, with as many chances as there are candidates (Bonferroni), and the messages of one campaign are
one trial.  Then it must also gain on mail that it was not chosen on.
"""

from __future__ import annotations

from contextlib import suppress
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from nbspam.corpus.corpus import INTERLEAVED, Corpus, sort_in_time
from nbspam.corpus.near_duplicates import group_duplicates
from nbspam.errors import BadDataError
from nbspam.evaluation import folds as splitting
from nbspam.evaluation import metrics
from nbspam.evaluation.comparison import Comparison, compare
from nbspam.evaluation.folds import Split
from nbspam.evaluation.outcomes import Evaluation, Floats, join
from nbspam.evaluation.ranking import rankings, roca_percent
from nbspam.model.counts import Ints
from nbspam.settings import Settings
from nbspam.tasks.evaluate import Step, judge_splits
from nbspam.tasks.judges import Plan

# The defaults are tried first, and are not among these.
ALPHAS = (0.0003, 0.001, 0.003, 0.01, 0.1, 0.3, 1.0)
SUBSETS = (
    "header,body,structure,bigrams",
    "header,body,structure,measures",
    "header,body,bigrams,measures",
    "header,structure,measures",
    "body,structure,bigrams,measures",
    "header,measures",
    "body,bigrams,measures",
)
THRESHOLDS = (0.5, 1.0, 1.5, 2.5, 3.0)
EVENT_MODELS = ("multinomial", "bernoulli", "complement")
# The arguments of a training, in backticks, and the way of scoring that they ask for: the default, one thing
# changed at a time, and the other event models.
CANDIDATES: dict[str, Plan] = {
    "": Plan(Settings()),
    **{f"`alpha={alpha:g}`": Plan(Settings(alpha=alpha)) for alpha in ALPHAS},
    **{f"`threshold={nats:g}`": Plan(Settings(threshold=nats)) for nats in THRESHOLDS},
    **{f"`views={views}`": Plan(Settings(views=views)) for views in SUBSETS},
    "`textbook`": Plan(Settings(averaged=False)),
    **{f"`event_model={name}` `alpha=auto`": Plan(Settings(name), True) for name in EVENT_MODELS},
}
SPLITS = 5
STEPS = len(CANDIDATES) * SPLITS  # splits that `tune` will judge at most, for a progress bar
LEVEL = 0.05


class Tried(NamedTuple):
    """A candidate judged.

    options       : see CANDIDATES
    difference, p : mean log loss less that of the default, nats a message, and how likely by chance
    """

    options: str
    evaluation: Evaluation
    hm_percent: float
    sm_percent: float
    one_minus_roca_percent: float
    log_loss: float
    difference: float
    p: float


class Tuned(NamedTuple):
    """The result of tuning.

    tried      : all candidates, the default first, the others by log loss
    chosen     : one of them
    unseen     : what choosing gives on mail that the choice was not made on
    comparison : that (B) against the default (A)
    how        : how training and judged messages were kept apart
    """

    tried: list[Tried]
    chosen: Tried
    unseen: Tried
    comparison: Comparison
    how: str


def tune(corpus: Corpus, seed: int = 0, jobs: int = 1, progress: Step | None = None) -> Tuned:
    """Try the candidates on a corpus and choose.  progress is called with 1 after each split judged."""
    splits, how, groups = split_apart(corpus, seed)
    rows = np.concatenate([rows for _, rows in splits])
    part_of = np.repeat(np.arange(len(splits)), [len(rows) for _, rows in splits])[np.argsort(rows)]
    judged = judge_splits(corpus, [*CANDIDATES.values()], splits, jobs, progress, with_clues=False)
    return settle(dict(zip(CANDIDATES, judged, strict=True)), part_of, groups[np.sort(rows)], how)


def settle(judged: dict[str, Evaluation], part_of: Ints, groups: Ints, how: str) -> Tuned:
    """Choose, and judge the choice on mail that it was not made on: each part by the choice of the others.

    judged          : by the options of a candidate, see CANDIDATES
    part_of, groups : int64 (n,), the part and the campaign of each message judged
    The best of many looks better than it is on the mail that it is the best of.  So the default stays unless
    choosing gains there too, by more than chance.
    """
    default, unseen = judged[""], []
    tried = [_try(*pair, default, groups) for pair in judged.items()]
    for number in np.unique(part_of):
        own, others = np.flatnonzero(part_of == number), np.flatnonzero(part_of != number)
        seen = {options: one.take(others) for options, one in judged.items()}
        best = choose([_try(*pair, seen[""], groups[others]) for pair in seen.items()])
        unseen.append(judged[best.options].take(own))
    by_part = np.argsort(part_of, kind="stable")
    evaluation = join(unseen).take(np.argsort(by_part))
    choice = _try("the choice", evaluation, default, groups)
    best_tried, gains = choose(tried), choice.difference < 0 and choice.p < LEVEL
    comparison = compare(default, evaluation, ("the default", "the choice"))
    ranked = [tried[0], *sorted(tried[1:], key=lambda one: one.log_loss)]
    return Tuned(ranked, best_tried if gains else tried[0], choice, comparison, how)


def choose(tried: list[Tried]) -> Tried:
    """The candidate of least log loss that beats the default by more than chance, else the default.

    tried : the default first
    Nor may it rank worse by more than chance: some users move the threshold.
    """
    default, *others = tried
    for one in sorted(others, key=lambda one: one.log_loss):
        if one.difference < 0 and one.p < LEVEL / len(others):
            ranking = compare(default.evaluation, one.evaluation).one_minus_roca_percent
            if not (ranking.difference > 0 and ranking.p < LEVEL):
                return one
    return default


def split_apart(corpus: Corpus, seed: int = 0) -> tuple[list[Split], str, Ints]:
    """(splits, how they were made, the campaign of each message): by time if known, else by campaign."""
    groups = group_duplicates(corpus)
    order, right = sort_in_time(corpus)
    truth = corpus.truth()
    if right != INTERLEAVED:
        with suppress(BadDataError):  # if the oldest mail lacks a class
            splits = splitting.split_by_time(truth, order, SPLITS)
            return splits, f"{right}, each block by the older mail", groups
    fewest = min(len(np.unique(groups[truth == number])) for number in np.unique(truth))
    folds = splitting.grouped_folds(truth, groups, min(SPLITS, max(2, fewest)), seed)
    return splitting.split_by_fold(folds), "each fold by the others, near-duplicates kept together", groups


def _try(options: str, evaluation: Evaluation, default: Evaluation, groups: Ints) -> Tried:
    """The figures of a candidate against the default.  groups : the campaign of each message judged"""
    losses = metrics.log_loss_terms(evaluation)
    difference, p = estimate_difference(losses - metrics.log_loss_terms(default), groups)
    percents, ranking = metrics.error_percents(evaluation), roca_percent(rankings(evaluation))
    return Tried(options, evaluation, *percents, ranking, float(losses.mean()), difference, p)


def estimate_difference(differences: Floats, groups: Ints) -> tuple[float, float]:
    """Mean of differences, and how likely one so far from 0 is by chance, two-sided.

    groups : the differences of messages of one group add up to one trial
    p = 1 if nothing says what chance does: all differences are 0, one group, or all groups are alike.
    Source: the cluster-robust standard error of a mean (Liang and Zeger 1986), Student's t of one degree of
    freedom less than there are groups.
    """
    mean = float(differences.mean())
    _, place = np.unique(groups, return_inverse=True)
    sums = np.bincount(place, weights=differences - mean)
    n = len(sums)
    if n == 1 or mean == 0:
        return mean, 1.0
    error = sqrt(n / (n - 1) * float(sums @ sums)) / len(differences)
    return mean, 2 * float(stdtr(n - 1, -abs(mean) / error)) if error else 1.0
