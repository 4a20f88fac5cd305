"""Two evaluations of the same mail, paired by message: which filter is better, and could it be chance.

Pairs of decisions about the same message show far smaller differences than two separate intervals do.
"""

from math import isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, stdtr, stdtrit  # scipy.stats takes 0.8 s to import

from nbspam.decision import describe_loss
from nbspam.errors import BadDataError
from nbspam.evaluation.figures import NO_INTERVAL, TAIL_SHARE, Bounds, find_middle, ranking_percent
from nbspam.evaluation.outcomes import Evaluation, Floats, Ints
from nbspam.evaluation.samples import Judgement, Sample, can_vary, draw_weights, take_all

# There are two tests (ranking and decisions), so each needs half the level (Bonferroni).
SIGNIFICANCE = 0.05 / 2


class McNemar(NamedTuple):
    """Messages that only one of both decided rightly (unsure is not right); p: how likely by chance."""

    only_a_right: int
    only_b_right: int
    p: float


class Difference(NamedTuple):
    """A figure of A and of B; difference is B - A with its 95 % interval; p is two-sided."""

    a: float
    b: float
    difference: float
    interval: Bounds
    p: float


class Comparison(NamedTuple):
    """The result of a paired comparison.

    one_minus_roca_percent : lower is better; without a class spam the mean over the classes
    log_loss               : nats a message, lower is better; None if a filter gives no probabilities
    verdict                : one line in plain words
    rightly                : how many messages each decides rightly, by the same costs
    costs                  : of a decision, in words; empty if they are not known
    """

    messages: int
    rightly: tuple[int, int]
    costs: str
    mcnemar: McNemar
    one_minus_roca_percent: Difference
    log_loss: Difference | None
    replicates: int
    verdict: str


def compare(first: Evaluation, second: Evaluation, names: tuple[str, str] = ("A", "B")) -> Comparison:
    """Compare two evaluations of the same mail, paired by message name.

    names : of the two in the verdict
    Both decide by the costs of the first, if those of both are known.
    BadDataError if classes, messages, digests or true classes differ.
    """
    b = _pair_messages(first, second, names)
    if first.loss and b.loss and b.loss != first.loss and b.has_probabilities:
        b = b.decided_by(first.loss)
    right_a, right_b = first.decided == first.truth, b.decided == b.truth
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    # Exact: if both are equally good, each is right alone equally often.  Source: McNemar 1947.
    p = min(1.0, 2 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))
    mcnemar = McNemar(only_a, only_b, p)
    ranking, log_loss, replicates = _resample_figures(first, b)
    return Comparison(
        messages=len(b),
        rightly=(int(right_a.sum()), int(right_b.sum())),
        costs=describe_loss(first.loss, first.classes) if first.loss else "",
        mcnemar=mcnemar,
        one_minus_roca_percent=ranking,
        log_loss=log_loss,
        replicates=replicates,
        verdict=_say_verdict(ranking, mcnemar, names),
    )


def _pair_messages(first: Evaluation, second: Evaluation, names: tuple[str, str]) -> Evaluation:
    """The second evaluation with rows about the same messages as those of the first."""
    slug = "other-mail"
    # Stable, because an index may repeat a name.
    by_name, others = (np.argsort(each.names, kind="stable") for each in (first, second))
    if first.classes != second.classes:
        one, other = (", ".join(each.classes[:10]) for each in (first, second))
        slug, why = "classes", f"their classes differ: {one}; {other}"
    elif not np.array_equal(first.names[by_name], second.names[others]):
        why = f"they judge different mail: {len(first):,} and {len(second):,} messages, not of the same names"
    elif first.digest and second.digest and first.digest != second.digest:
        why = "the messages have the same names but not the same content"
    else:
        second = second.take(others[np.argsort(by_name)])
        differ = np.flatnonzero(first.truth != second.truth)
        if not len(differ):
            return second
        count, name = len(differ), first.names[differ[0]]
        slug = "other-labels"
        why = f"they disagree on the true class of {count:,} of the messages, the first is {name}"
    remedy = "evaluate both filters on the same SOURCE with the same labels"
    raise BadDataError(" and ".join(names), why, remedy, f"compare-{slug}")


def _resample_figures(a: Evaluation, b: Evaluation) -> tuple[Difference, Difference | None, int]:
    """(1-ROCA)% and log loss of both on the same samples, and how many these are.

    With one ham or one spam resampling cannot vary the ranking: no interval, no p.
    """
    judgements, has_losses = (Judgement(a), Judgement(b)), a.has_probabilities and b.has_probabilities
    losses_a, losses_b = (each.log_losses if has_losses else np.zeros(len(a)) for each in judgements)
    rankings, losses = [], []
    for weights in draw_weights(a):
        of_a, of_b = (ranking_percent(Sample(each, weights)) for each in judgements)
        rankings.append(of_b - of_a if can_vary(a) else nan)
        losses.append(weights @ (losses_b - losses_a) / len(weights))
    percents = ranking_percent(take_all(a)), ranking_percent(take_all(b))
    ranking = _make_difference(*percents, np.array(rankings))
    log_loss = _make_difference(float(losses_a.mean()), float(losses_b.mean()), np.array(losses))
    return ranking, log_loss if has_losses else None, len(losses)


def _make_difference(a: float, b: float, drawn: Floats) -> Difference:
    """The difference with its bootstrap p: twice the share of resamples on the other side of 0.

    One is added, so it is never 0; nan for undefined differences.
    Source: Davison and Hinkley 1997, section 4.2.
    """
    side = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = nan if np.isnan(drawn).any() else min(1.0, 2 * (side + 1) / (len(drawn) + 1))
    return Difference(a, b, b - a, find_middle(b - a, drawn), p)


def pair_log_losses(first: Evaluation, second: Evaluation, groups: Ints) -> Difference:
    """The log loss of two evaluations of the same messages in the same order, nats a message.

    groups : int64 (n,); the differences of messages of one group add up to one trial
    No interval, and p = 1, if nothing says what chance does: one group, or all groups are alike.
    Source: the cluster-robust standard error of a mean (Liang and Zeger 1986), Student's t of one degree of
    freedom less than there are groups.
    """
    terms_a, terms_b = Judgement(first).log_losses, Judgement(second).log_losses
    differences = terms_b - terms_a
    mean = float(differences.mean())
    _, place = np.unique(groups, return_inverse=True)
    sums = np.bincount(place, weights=differences - mean)
    n = len(sums)
    error = sqrt(n / max(1, n - 1) * float(sums @ sums)) / len(differences)
    means = float(terms_a.mean()), float(terms_b.mean())
    if n == 1 or not error:
        return Difference(*means, mean, NO_INTERVAL, 1.0)
    margin = -float(stdtrit(n - 1, TAIL_SHARE)) * error
    p = 2 * float(stdtr(n - 1, -abs(mean) / error))
    return Difference(*means, mean, (mean - margin, mean + margin), p)


def _say_verdict(ranking: Difference, mcnemar: McNemar, names: tuple[str, str]) -> str:
    """One line: which filter ranks better; if that could be chance, which decides better, if any."""
    if ranking.p < SIGNIFICANCE:
        figures = zip((ranking.a, ranking.b), names, strict=True)
        (value, better), (other, _) = sorted(figures, key=lambda figure: figure[0])
        chance = f"probably not chance ({_format_p(ranking.p)})"
        return f"{better} is better: (1-ROCA)% {value:.4f} against {other:.4f}, {chance}"
    if mcnemar.p < SIGNIFICANCE:
        counts = zip((mcnemar.only_a_right, mcnemar.only_b_right), names, strict=True)
        (more, better), (less, _) = sorted(counts, key=lambda count: -count[0])
        return (
            f"{better} decides better: it alone is right on {more:,} messages against {less:,}, "
            f"probably not chance ({_format_p(mcnemar.p)}); in ranking, the difference may be chance"
        )
    found = [_format_p(ranking.p)] if isfinite(ranking.p) else []
    found.append(f"decisions {_format_p(mcnemar.p)}")
    return f"the difference may be chance ({', '.join(found)})"


def _format_p(value: float) -> str:
    """`p=0.012`, `p<0.001`."""
    return "p<0.001" if value < 0.001 else f"p={value:.3f}"
