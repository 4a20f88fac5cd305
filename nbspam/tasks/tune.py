"""Choose a way of scoring on one's own mail: each candidate is judged alike and paired with the default.

Each message is judged by what came before it (if dates are known) or by other campaigns (if not).  The log
loss decides, because the decisions are made on the probabilities.
"""

from typing import NamedTuple

import numpy as np

from nbspam.corpus.corpus import Corpus
from nbspam.corpus.near_duplicates import group_duplicates
from nbspam.corpus.reading import Progress
from nbspam.decision import default_loss, describe_loss, read_loss
from nbspam.evaluation.comparison import Difference, pair_log_losses
from nbspam.evaluation.figures import error_percents, ranking_percent
from nbspam.evaluation.samples import take_all
from nbspam.settings import Settings
from nbspam.tasks.evaluate import judge_splits, split_apart
from nbspam.tasks.plan import Plan

SUBSETS = (
    "header,body,structure,bigrams,measures,signature",
    "header,body,structure,bigrams,raw,signature",
    "header,body,structure,raw,measures,signature",
    "header,body,bigrams,raw,measures,signature",
    "header,structure,measures",
    "body,structure,bigrams,measures",
    "header,measures",
    "body,bigrams,measures",
)
ALPHAS = (0.0003, 0.001, 0.003, 0.01, 0.1, 0.3, 1.0)
THRESHOLDS = (0.5, 1.0, 1.5, 2.5, 3.0)
TEXTBOOK = "`textbook`"
OTHER_ALPHAS = (0.01, 0.1, 1.0)
OTHER_MODELS = ("multinomial", "bernoulli", "complement")
# The arguments of a training, in backticks, and the way of scoring that they ask for: the default, one thing
# changed at a time, and the other event models.
PLANS: dict[str, Plan] = {
    "": Plan(Settings()),
    **{f"`alpha={alpha:g}`": Plan(Settings(alpha=alpha)) for alpha in ALPHAS},
    **{f"`threshold={nats:g}`": Plan(Settings(threshold=nats)) for nats in THRESHOLDS},
    **{f"`views={views}`": Plan(Settings(views=views)) for views in SUBSETS},
    TEXTBOOK: Plan(Settings(averaged=False)),
    **{
        f"`event_model={name}` `alpha={alpha:g}`": Plan(Settings(name, alpha=alpha))
        for name in OTHER_MODELS
        for alpha in OTHER_ALPHAS
    },
}
SPLITS = 5
STEPS = len(PLANS) * SPLITS  # splits that `tune` will judge at most, for a progress bar
ROWS = len(PLANS) - 1  # each is compared with the default
LEVEL = 0.05 / ROWS  # the best of many looks better than it is (Bonferroni)


class Candidate(NamedTuple):
    """A way of scoring as it was judged.

    options  : see PLANS; empty for the default
    log_loss : mean, nats a message, of the default (a) and its own (b)
    """

    options: str
    hm_percent: float
    sm_percent: float
    one_minus_roca_percent: float
    log_loss: Difference

    @property
    def verdict(self) -> str:
        """Better or worse than the default, if that is hardly chance."""
        if self.log_loss.p >= LEVEL:
            return "no better"
        return "better" if self.log_loss.difference < 0 else "worse"


class Tuning(NamedTuple):
    """The result of tuning.

    messages   : how many were judged
    kept_apart : how training and judged messages were kept apart
    costs      : of the decisions of all candidates, in words
    candidates : the default first, the others by log loss
    """

    messages: int
    kept_apart: str
    costs: str
    candidates: list[Candidate]

    @property
    def chosen(self) -> Candidate:
        """The best of those that are better than the default, else the default."""
        better = [candidate for candidate in self.candidates if candidate.verdict == "better"]
        return (better or self.candidates)[0]


def plan_training(options: str, classes: tuple[str, ...]) -> Plan:
    """What a training with the options of a candidate does; all candidates were judged at the same costs."""
    return PLANS[options]._replace(loss=read_loss(None, classes, options == TEXTBOOK))


def tune(corpus: Corpus, seed: int = 0, jobs: int = 1, progress: Progress | None = None) -> Tuning:
    """Judge the candidates on a corpus.  progress is called with 1 after each split judged."""
    campaigns = group_duplicates(corpus)
    splits, kept_apart = split_apart(corpus, campaigns, SPLITS, seed)
    judged = judge_splits(corpus, [*PLANS.values()], splits, jobs, progress, with_clues=False)
    rows = np.sort(np.concatenate([rows for _, rows in splits]))
    candidates = []
    for options, evaluation in zip(PLANS, judged, strict=True):
        sample = take_all(evaluation)
        log_loss = pair_log_losses(judged[0], evaluation, campaigns[rows])
        candidates.append(Candidate(options, *error_percents(sample), ranking_percent(sample), log_loss))
    candidates[1:] = sorted(candidates[1:], key=lambda candidate: candidate.log_loss.b)
    costs = describe_loss(default_loss(corpus.classes), corpus.classes)
    return Tuning(len(rows), kept_apart, costs, candidates)
