"""Two evaluations of the same mail, paired message by message: which filter is better, and is it chance.

Hides the pairing and the tests.  What is compared is what both did to each single
message, which tells far smaller differences from chance than two separate intervals do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from nbspam.errors import BadDataError
from nbspam.evaluate import metrics
from nbspam.evaluate.intervals import Interval, percentile_interval, replicates, resamples
from nbspam.evaluate.outcomes import Columns, Evaluation
from nbspam.evaluate.ranking import Ranking

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

BLOCKS = 10  # parts that play folds where there are none
# Two tests are made (ranking and decisions), so each must be twice as sure (Bonferroni).
SIGNIFICANCE = 0.05 / 2


@dataclass(frozen=True, slots=True)
class McNemar:
    """Messages that only one of both decided rightly (unsure is not right); p: how likely by chance."""

    only_a_right: int
    only_b_right: int
    p: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of A and of B; difference is B - A with its 95 % interval; p two-sided by bootstrap."""

    a: float
    b: float
    difference: float
    interval: Interval
    p: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a paired comparison found.

    one_minus_roca_percent : lower is better; macro over the classes where none plays spam
    log_loss               : nats a message, lower is better; None where a filter gives no probabilities
    won, tied, lost        : parts in which B ranks better than, like, or worse than A, by (1-ROCA)%
    parts                  : "folds", or "blocks" where the evaluations do not share folds: a tenth of each
                             class in each, in the order judged
    verdict                : one line in plain words
    """

    messages: int
    mcnemar: McNemar
    one_minus_roca_percent: Difference
    log_loss: Difference | None
    won: int
    tied: int
    lost: int
    parts: str
    replicates: int
    verdict: str

    def summary(self) -> dict[str, Any]:
        """The comparison as JSON values; undefined figures are None."""
        found: dict[str, Any] = _json_values(asdict(self))
        return found


def compare(first: Evaluation, second: Evaluation, names: tuple[str, str] = ("A", "B")) -> Comparison:
    """Compare two evaluations of the same mail, paired by message name.

    names : what the verdict calls them
    BadDataError if classes, messages, digests or true classes differ.
    """
    rows_a, rows_b = _paired(first, second, names)
    a, b = _rows(first.columns, rows_a), _rows(second.columns, rows_b)
    mcnemar = _mcnemar(a, b)
    count = replicates(len(a.truth), 2 if a.positive is not None else 2 * a.n_classes)
    ranking, log_loss = _resampled(a, b, count)
    parts, part_of = _parts(first, second, rows_a, rows_b)
    won, tied, lost = _won_tied_lost(a, b, part_of)
    return Comparison(
        messages=len(a.truth),
        mcnemar=mcnemar,
        one_minus_roca_percent=ranking,
        log_loss=log_loss,
        won=won,
        tied=tied,
        lost=lost,
        parts=parts,
        replicates=count,
        verdict=verdict(ranking, mcnemar, names),
    )


def _paired(first: Evaluation, second: Evaluation, names: tuple[str, str]) -> tuple[Whole, Whole]:
    """Rows of both evaluations that are about the same message, in the order A judged them."""
    where = " and ".join(names)
    if first.classes != second.classes:
        raise _refused(
            where, f"their classes differ: {_listed(first.classes)}; {_listed(second.classes)}", "classes"
        )
    rows, others = _rows_by_name(first), _rows_by_name(second)
    unpaired = len(rows.keys() ^ others.keys())
    if unpaired:
        why = f"they judge different mail: {unpaired:,} of the messages in one of them only"
        raise _refused(where, why, "other-mail")
    if first.digest and second.digest and first.digest != second.digest:
        raise _refused(where, "the messages have the same names but not the same content", "other-mail")
    rows_a = np.array(list(rows.values()), dtype=np.int64)
    rows_b = np.array([others[name] for name in rows], dtype=np.int64)
    differ = first.columns.truth[rows_a] != second.columns.truth[rows_b]
    if differ.any():
        name = first.outcomes[rows_a[int(np.argmax(differ))]].name
        why = f"they disagree on the true class of {int(differ.sum()):,} of the messages, the first is {name}"
        raise _refused(where, why, "other-labels")
    return rows_a, rows_b


def _rows_by_name(evaluation: Evaluation) -> dict[tuple[str, int], int]:
    """Row of each message by its name and how many of that name were judged before, in the order judged.

    An index may name a message twice.
    """
    rows: dict[tuple[str, int], int] = {}
    met: Counter[str] = Counter()
    for row in np.argsort([outcome.index for outcome in evaluation.outcomes], kind="stable").tolist():
        name = evaluation.outcomes[row].name
        rows[name, met[name]] = row
        met[name] += 1
    return rows


def _refused(where: str, why: str, slug: str) -> BadDataError:
    remedy = "evaluate both filters on the same SOURCE with the same labels"
    return BadDataError(where, why, remedy, f"compare-{slug}")


def _listed(classes: tuple[str, ...]) -> str:
    return ", ".join(classes[:10]) + (", ..." if len(classes) > 10 else "")


def _rows(columns: Columns, rows: Whole) -> Columns:
    return Columns(
        columns.truth[rows],
        columns.decided[rows],
        columns.score[rows],
        columns.probabilities[rows],
        columns.positive,
        columns.n_classes,
    )


def _mcnemar(a: Columns, b: Columns) -> McNemar:
    """Exact test: were both equally good, either would be right alone as often.  Source: McNemar 1947."""
    right_a, right_b = a.decided == a.truth, b.decided == b.truth
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    p = float(binomtest(only_b, only_a + only_b).pvalue) if only_a + only_b else 1.0
    return McNemar(only_a, only_b, p)


def _resampled(a: Columns, b: Columns, count: int) -> tuple[Difference, Difference | None]:
    """(1-ROCA)% and log loss of both on the same stratified resamples.

    Where a ranking hangs on one message no resample says how chance would have it: no interval, no p.
    """
    tasks_a, tasks_b = metrics.rankings(a), metrics.rankings(b)
    has_both = bool(a.probabilities.shape[1] and b.probabilities.shape[1])
    losses = (metrics.log_loss_terms(a), metrics.log_loss_terms(b)) if has_both else None
    drawn = np.full((count, 2), nan)
    for row, weights in zip(drawn, resamples(a.truth, count), strict=True):
        row[0] = _area_percent(tasks_b, weights) - _area_percent(tasks_a, weights)
        if losses is not None:
            row[1] = weights @ (losses[1] - losses[0]) / len(weights)
    if metrics.hangs_on_one(a):
        drawn[:, 0] = nan
    ranking = _difference(_area_percent(tasks_a), _area_percent(tasks_b), drawn[:, 0])
    if losses is None:
        return ranking, None
    return ranking, _difference(float(losses[0].mean()), float(losses[1].mean()), drawn[:, 1])


def _area_percent(tasks: list[Ranking], weights: Floats | None = None) -> float:
    return 100 * metrics.mean_one_minus_roca(tasks, weights)


def _difference(a: float, b: float, drawn: Floats) -> Difference:
    return Difference(a, b, b - a, percentile_interval(drawn), _bootstrap_p(drawn))


def _bootstrap_p(drawn: Floats) -> float:
    """Twice the share of resamples on the other side of no difference; one is added, so it is never 0.

    Source: Davison and Hinkley 1997, section 4.2.  nan for undefined differences.
    """
    if np.isnan(drawn).any():
        return nan
    side = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(1.0, 2 * (side + 1) / (len(drawn) + 1))


def _parts(first: Evaluation, second: Evaluation, rows_a: Whole, rows_b: Whole) -> tuple[str, Whole]:
    """The fold of each message where both evaluations used the same folds, else its block."""
    if first.folds and second.folds:
        fold_a, fold_b = np.array(first.folds)[rows_a], np.array(second.folds)[rows_b]
        if np.array_equal(fold_a, fold_b):
            return "folds", fold_a
    return "blocks", _blocks(first.columns.truth[rows_a])


def _blocks(truth: Whole) -> Whole:
    """The block of each message, int64 (n,): within each class BLOCKS consecutive parts of one size.

    truth : int64 (n,), class numbers in the order judged.  Mail of folders comes one class after the other,
            and in a block of one class no message ranks above another wrongly.
    """
    block = np.empty(len(truth), dtype=np.int64)
    for number in np.unique(truth):
        rows = np.flatnonzero(truth == number)
        block[rows] = np.arange(len(rows)) * BLOCKS // len(rows)
    return block


def _won_tied_lost(a: Columns, b: Columns, part_of: Whole) -> tuple[int, int, int]:
    """Parts in which B's (1-ROCA)% is lower, equal, higher; parts where it is undefined are not counted."""
    won = tied = lost = 0
    for part in np.unique(part_of):
        rows = np.flatnonzero(part_of == part)
        wrong_a, wrong_b = (_area_percent(metrics.rankings(_rows(columns, rows))) for columns in (a, b))
        won += wrong_b < wrong_a
        lost += wrong_b > wrong_a
        tied += wrong_b == wrong_a
    return int(won), int(tied), int(lost)


def verdict(ranking: Difference, mcnemar: McNemar, names: tuple[str, str]) -> str:
    """One line: who ranks better; if that could be chance, who decides better; else that it may be chance."""
    a, b = names
    if ranking.p < SIGNIFICANCE:
        better, value, other = (
            (b, ranking.b, ranking.a) if ranking.difference < 0 else (a, ranking.a, ranking.b)
        )
        chance = f"unlikely chance ({_p(ranking.p)})"
        return f"{better} is better: (1-ROCA)% {value:.4f} against {other:.4f}, {chance}"
    if mcnemar.p < SIGNIFICANCE:
        b_wins = mcnemar.only_b_right > mcnemar.only_a_right
        counts = sorted((mcnemar.only_a_right, mcnemar.only_b_right), reverse=True)
        alone = f"right alone on {counts[0]:,} messages against {counts[1]:,}"
        return (
            f"{b if b_wins else a} decides better: {alone}, "
            f"unlikely chance ({_p(mcnemar.p)}); in ranking, no difference that could not be chance"
        )
    found = [_p(ranking.p)] if isfinite(ranking.p) else []
    return f"no difference that could not be chance ({', '.join([*found, f'decisions {_p(mcnemar.p)}'])})"


def _p(value: float) -> str:
    return "p<0.001" if value < 0.001 else f"p={value:.3f}"


def _json_values(value: Any) -> Any:
    """The same with tuples as lists and nan as None."""
    if isinstance(value, dict):
        return {key: _json_values(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_values(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
