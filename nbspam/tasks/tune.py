"""Which way of scoring suits somebody's own mail: candidates, judged alike, and a choice that is no luck.

Hides the search and the test.  Candidates are judged on the same messages, each by what came before it
(where dates are known) or by other campaigns (where not).  What counts is the log loss, because the
decisions are made on the probabilities; anything but the default must beat it by more than chance, with
as many chances as there are candidates (Bonferroni), and messages of one campaign count as one trial.
"""

from __future__ import annotations

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
from nbspam.evaluate.folds import Split
from nbspam.evaluate.outcomes import Evaluation
from nbspam.model.counts import Floats, Ints
from nbspam.settings import ALL_VIEWS, ALPHA, THRESHOLD, Settings
from nbspam.tasks.evaluate import Step, duplicate_groups, row_outcomes
from nbspam.tasks.judges import BatchJudge, Whole, count_whole

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
    """One way of scoring, and the options of `nbspam train` that ask for it."""

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
    """What tuning found.

    tried      : all candidates, the default first, the others by log loss
    chosen     : one of them
    comparison : the chosen one (B) against the default (A), or against the best other where that is chosen
    how        : in what way training and judged messages were kept apart
    """

    tried: list[Tried]
    chosen: Tried
    comparison: Comparison | None
    how: str


def default_candidate() -> Candidate:
    """What `nbspam train` does without options."""
    return Candidate("", Settings())


def first_candidates() -> list[Candidate]:
    """The default, one thing changed at a time, and the other event models."""
    averaged = [Candidate(f"--alpha {alpha:g}", Settings(alpha=alpha)) for alpha in ALPHAS if alpha != ALPHA]
    averaged += [
        Candidate(f"--threshold {threshold:g}", Settings(threshold=threshold))
        for threshold in THRESHOLDS
        if threshold != THRESHOLD
    ]
    averaged += [Candidate(f"--views {views}", Settings(views=views)) for views in SUBSETS]
    words = [Candidate("--textbook", Settings(averaged=False))]
    words += [
        Candidate(f"--event-model {name} --alpha auto", Settings(name), True)
        for name in ("multinomial", "bernoulli", "complement")
    ]
    return [default_candidate(), *averaged, *words]


def crossed(tried: list[Tried]) -> list[Candidate]:
    """The best lambda and the best threshold together, if both are news."""
    averaged = [one for one in tried if one.candidate.settings.averaged]
    averaged = [one for one in averaged if one.candidate.settings.views == ALL_VIEWS]
    alphas = [one for one in averaged if one.candidate.settings.threshold == THRESHOLD]
    thresholds = [one for one in averaged if one.candidate.settings.alpha == ALPHA]
    alpha = min(alphas, key=lambda one: one.log_loss).candidate.settings.alpha
    threshold = min(thresholds, key=lambda one: one.log_loss).candidate.settings.threshold
    if alpha == ALPHA or threshold == THRESHOLD:
        return []
    options = f"--alpha {alpha:g} --threshold {threshold:g}"
    return [Candidate(options, Settings(alpha=alpha, threshold=threshold))]


def tune(corpus: Corpus, seed: int = 0, jobs: int = 1, progress: Step | None = None) -> Tuned:
    """Tries the candidates on a corpus and chooses.  progress is called with 1 after each split judged."""
    check_classes(corpus)
    splits, how, groups = kept_apart(corpus, seed)
    bench = _Bench(corpus, splits, groups, how, jobs, progress)
    candidates = first_candidates()
    tried = bench.judge(candidates)
    more = crossed(tried)
    tried += bench.judge(more)
    chosen = choose(tried)
    best = min(tried[1:], key=lambda one: one.log_loss) if chosen is tried[0] else chosen
    names = ("the default", f"`{best.candidate.options}`")
    found = compare(tried[0].evaluation, best.evaluation, names)
    ordered = [tried[0], *sorted(tried[1:], key=lambda one: one.log_loss)]
    return Tuned(ordered, chosen, found, how)


def steps() -> int:
    """How many splits `tune` will judge, about: what a progress bar needs."""
    return (len(first_candidates()) + 1) * SPLITS


def choose(tried: list[Tried]) -> Tried:
    """The candidate of least log loss that beats the default by more than chance, else the default.

    tried : the default first
    One that ranks worse by more than chance is not taken either: some would move the threshold.
    """
    default, *others = tried
    for one in sorted(others, key=lambda one: one.log_loss):
        if one.difference < 0 and one.p < LEVEL / len(others):
            ranking = compare(default.evaluation, one.evaluation).one_minus_roca_percent
            if not (ranking.difference > 0 and ranking.p < LEVEL):
                return one
    return default


def kept_apart(corpus: Corpus, seed: int = 0) -> tuple[list[Split], str, Ints]:
    """(splits, how they were made, the campaign of each message): by time where known, else by campaign."""
    groups = duplicate_groups(corpus)
    order, right = in_time(corpus)
    truth = corpus.truth()
    if right not in (AS_READ, INTERLEAVED):
        try:
            return (
                splitting.time_splits(truth, order, SPLITS),
                f"each block in time by what came before it, {right}",
                groups,
            )
        except BadDataError:
            pass  # the oldest mail lacks a class: time cannot be asked
    fewest = min(len(np.unique(groups[truth == number])) for number in np.unique(truth))
    folds = splitting.grouped_folds(truth, groups, min(SPLITS, max(2, fewest)), seed)
    return splitting.fold_splits(folds), "each fold by the others, near-duplicates kept together", groups


class _Work:
    """Judges one split with one candidate; the callable of the worker processes."""

    def __init__(self, corpus: Corpus, whole: Whole) -> None:
        self._corpus = corpus
        self._whole = whole

    def __call__(self, task: tuple[Candidate, Split]) -> Floats:
        candidate, (train, rows) = task
        corpus, whole = self._corpus, self._whole
        seen = corpus.seen_by(candidate.settings)
        if seen.block is not corpus.block:
            corpus = seen
            whole = count_whole(corpus.block, len(corpus.classes))
        judge = BatchJudge(whole, candidate.settings, corpus.classes, candidate.automatic)
        judge.learn(train)
        return judge.score(rows)


class _Bench:
    """Judges candidates on the same splits, the default first."""

    def __init__(
        self, corpus: Corpus, splits: list[Split], groups: Ints, how: str, jobs: int, progress: Step | None
    ) -> None:
        self._corpus = corpus
        self._splits = splits
        self._rows = np.concatenate([rows for _, rows in splits])
        self._groups = groups[self._rows]
        self._how = how
        self._jobs = jobs
        self._progress = progress
        self._default: Floats | None = None

    def judge(self, candidates: list[Candidate]) -> list[Tried]:
        """Each candidate on all splits, in as many processes as there are jobs."""
        tasks = [(candidate, split) for candidate in candidates for split in self._splits]
        joints = []
        whole = count_whole(self._corpus.block, len(self._corpus.classes))
        for joint in run_shards(_Work(self._corpus, whole), tasks, self._jobs):
            joints.append(joint)
            if self._progress:
                self._progress(1)
        n = len(self._splits)
        return [
            self._tried(candidate, np.concatenate(joints[place * n : (place + 1) * n]))
            for place, candidate in enumerate(candidates)
        ]

    def _tried(self, candidate: Candidate, joint: Floats) -> Tried:
        corpus = self._corpus
        outcomes = row_outcomes(corpus, self._rows, joint.tolist(), zero_one_loss(len(corpus.classes)))
        method = "holdout"
        evaluation = Evaluation(corpus.classes, tuple(outcomes), method, settings={"kept_apart": self._how})
        columns = evaluation.columns
        losses = metrics.log_loss_terms(columns)
        if self._default is None:
            self._default = losses
        difference, p = clustered_difference(losses - self._default, self._groups)
        hm_percent = sm_percent = nan
        if columns.positive is not None:
            two = metrics.ham_spam(metrics.confusion(columns), columns.positive)
            hm_percent = metrics.percent(two.ham_lost, two.ham)
            sm_percent = metrics.percent(two.spam_missed, two.spam)
        ranking = 100 * metrics.mean_one_minus_roca(metrics.rankings(columns))
        return Tried(
            candidate, evaluation, hm_percent, sm_percent, ranking, float(losses.mean()), difference, p
        )


def clustered_difference(differences: Floats, groups: Ints) -> tuple[float, float]:
    """Mean of differences, and how likely one so far from 0 is by chance, two-sided.

    groups : messages of one number are one trial, their differences add up
    p = 1 where nothing tells chance: all differences are 0, there is one group, or the groups are all alike.
    Source: the cluster-robust standard error of a mean (Liang and Zeger 1986), Student's t of as many
    degrees of freedom as there are groups but one.
    """
    mean = float(differences.mean())
    _, place = np.unique(groups, return_inverse=True)
    sums = np.bincount(place, weights=differences - mean)
    n = len(sums)
    if n == 1 or mean == 0:
        return mean, 1.0
    error = sqrt(n / (n - 1) * float(sums @ sums)) / len(differences)
    return mean, 2 * float(stdtr(n - 1, -abs(mean) / error)) if error else 1.0
