"""Choose a way of scoring on one's own mail: candidates judged alike, and a test against chance.

Each message is judged by what came before it (if dates are known) or by other campaigns (if not).  The log
loss decides, because the decisions are made on the probabilities; a candidate must beat the default by more
than chance, with as many chances as there are candidates (Bonferroni), and the messages of one campaign are
one trial.
"""

from __future__ import annotations

from contextlib import suppress
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from nbspam.corpus.corpus import AS_READ, INTERLEAVED, Corpus, check_classes, in_time
from nbspam.corpus.executor import run_shards
from nbspam.decision import zero_one_loss
from nbspam.errors import BadDataError
from nbspam.evaluate import folds as splitting
from nbspam.evaluate import metrics
from nbspam.evaluate.comparison import Comparison, compare
from nbspam.evaluate.evaluation import Evaluation, Floats
from nbspam.evaluate.folds import Split
from nbspam.evaluate.ranking import rankings, roca_percent
from nbspam.model.counts import Ints
from nbspam.settings import ALL_VIEWS, ALPHA, THRESHOLD, Settings
from nbspam.tasks.evaluate import Step, duplicate_groups, judged_rows
from nbspam.tasks.judges import BatchJudge, count_whole

ALPHAS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SUBSETS = (
    "header,body,structure,bigrams",
    "header,body,structure,measures",
    "header,body,bigrams,measures",
    "header,structure,measures",
    "body,structure,bigrams,measures",
    "header,measures",
    "body,bigrams,measures",
)
THRESHOLDS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
SPLITS = 5
LEVEL = 0.05


class Candidate(NamedTuple):
    """One way of scoring, and the arguments of a training that ask for it, in backticks."""

    options: str
    settings: Settings
    automatic: bool = False


class Tried(NamedTuple):
    """A candidate judged.

    difference, p : mean log loss less that of the default, nats a message, and how likely by chance
    """

    candidate: Candidate
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
    comparison : the chosen one (B) against the default (A); the best other one if the default is chosen
    how        : how training and judged messages were kept apart
    """

    tried: list[Tried]
    chosen: Tried
    comparison: Comparison | None
    how: str


def default_candidate() -> Candidate:
    """The settings of `nbspam train` without options."""
    return Candidate("", Settings())


def first_candidates() -> list[Candidate]:
    """The default, one thing changed at a time, and the other event models."""
    averaged = [Candidate(f"`alpha={alpha:g}`", Settings(alpha=alpha)) for alpha in ALPHAS if alpha != ALPHA]
    averaged += [
        Candidate(f"`threshold={threshold:g}`", Settings(threshold=threshold))
        for threshold in THRESHOLDS
        if threshold != THRESHOLD
    ]
    averaged += [Candidate(f"`views={views}`", Settings(views=views)) for views in SUBSETS]
    words = [Candidate("`textbook`", Settings(averaged=False))]
    words += [
        Candidate(f"`event_model={name}` `alpha=auto`", Settings(name), True)
        for name in ("multinomial", "bernoulli", "complement")
    ]
    return [default_candidate(), *averaged, *words]


def crossed(tried: list[Tried]) -> list[Candidate]:
    """The best alpha and the best threshold together, if both differ from the default."""
    averaged = [one for one in tried if one.candidate.settings.averaged]
    averaged = [one for one in averaged if one.candidate.settings.views == ALL_VIEWS]
    alphas = [one for one in averaged if one.candidate.settings.threshold == THRESHOLD]
    thresholds = [one for one in averaged if one.candidate.settings.alpha == ALPHA]
    alpha = min(alphas, key=lambda one: one.log_loss).candidate.settings.alpha
    threshold = min(thresholds, key=lambda one: one.log_loss).candidate.settings.threshold
    if alpha == ALPHA or threshold == THRESHOLD:
        return []
    options = f"`alpha={alpha:g}` `threshold={threshold:g}`"
    return [Candidate(options, Settings(alpha=alpha, threshold=threshold))]


def tune(corpus: Corpus, seed: int = 0, jobs: int = 1, progress: Step | None = None) -> Tuned:
    """Try the candidates on a corpus and choose.  progress is called with 1 after each split judged."""
    check_classes(corpus)
    splits, how, groups = split_apart(corpus, seed)
    bench = _Bench(corpus, splits, groups, jobs, progress)
    tried = bench.judge(first_candidates())
    tried += bench.judge(crossed(tried))
    chosen = choose(tried)
    best = min(tried[1:], key=lambda one: one.log_loss) if chosen is tried[0] else chosen
    names = ("the default", best.candidate.options)
    found = compare(tried[0].evaluation, best.evaluation, names)
    return Tuned([tried[0], *sorted(tried[1:], key=lambda one: one.log_loss)], chosen, found, how)


def steps() -> int:
    """About how many splits `tune` will judge, for a progress bar."""
    return (len(first_candidates()) + 1) * SPLITS


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
    groups = duplicate_groups(corpus)
    order, right = in_time(corpus)
    truth = corpus.truth()
    if right not in (AS_READ, INTERLEAVED):
        with suppress(BadDataError):  # if the oldest mail lacks a class
            splits = splitting.time_splits(truth, order, SPLITS)
            return splits, f"each block in time by what came before it, {right}", groups
    fewest = min(len(np.unique(groups[truth == number])) for number in np.unique(truth))
    folds = splitting.grouped_folds(truth, groups, min(SPLITS, max(2, fewest)), seed)
    return splitting.fold_splits(folds), "each fold by the others, near-duplicates kept together", groups


class _Work:
    """Judges one split with one candidate; the callable of the worker processes."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._whole = count_whole(corpus.block, len(corpus.classes))

    def __call__(self, task: tuple[Candidate, Split]) -> Floats:
        candidate, (train, rows) = task
        corpus, whole = self._corpus.seen_by(candidate.settings), self._whole
        if corpus.block is not self._corpus.block:
            whole = count_whole(corpus.block, len(corpus.classes))
        judge = BatchJudge(whole, candidate.settings, corpus.classes, candidate.automatic)
        judge.learn(train)
        return judge.score(rows)


class _Bench:
    """Judges candidates on the same splits, the default first."""

    def __init__(
        self, corpus: Corpus, splits: list[Split], groups: Ints, jobs: int, progress: Step | None
    ) -> None:
        self._corpus = corpus
        self._splits = splits
        rows = np.concatenate([rows for _, rows in splits])
        self._order = np.argsort(rows)
        self._rows = rows[self._order]
        self._groups = groups[self._rows]
        self._jobs = jobs
        self._progress = progress
        self._default: Floats | None = None

    def judge(self, candidates: list[Candidate]) -> list[Tried]:
        """Each candidate on all splits, in as many processes as there are jobs."""
        tasks = [(candidate, split) for candidate in candidates for split in self._splits]
        joints = []
        for joint in run_shards(_Work(self._corpus), tasks, self._jobs):
            joints.append(joint)
            if self._progress:
                self._progress(1)
        n = len(self._splits)
        return [
            self._tried(candidate, np.concatenate(joints[place * n : (place + 1) * n])[self._order])
            for place, candidate in enumerate(candidates)
        ]

    def _tried(self, candidate: Candidate, joint: Floats) -> Tried:
        loss = zero_one_loss(len(self._corpus.classes))
        evaluation = judged_rows(self._corpus, self._rows, joint, loss)
        losses = metrics.log_loss_terms(evaluation)
        if self._default is None:
            self._default = losses
        difference, p = clustered_difference(losses - self._default, self._groups)
        hm_percent = sm_percent = nan
        if evaluation.positive is not None:
            two = metrics.ham_spam(metrics.confusion(evaluation), evaluation.positive)
            hm_percent = metrics.percent(two.ham_lost, two.ham)
            sm_percent = metrics.percent(two.spam_missed, two.spam)
        ranking, log_loss = roca_percent(rankings(evaluation)), float(losses.mean())
        return Tried(candidate, evaluation, hm_percent, sm_percent, ranking, log_loss, difference, p)


def clustered_difference(differences: Floats, groups: Ints) -> tuple[float, float]:
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
