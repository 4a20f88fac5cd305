"""The Bayes decision: losses, conditional risks, the action of least risk, and the reject action.

Hides every cut-off.  Nothing else compares a score with a threshold; what must be cautious or bold says so
in its losses.  A loss matrix has a row for each action (deciding class i) and a column for each truth j,
and may have a row `unsure`, the reject action.

Ties go to the safer side: class 0 (ham, where there is ham) before unsure, unsure before the other
classes, and those in class order (spam last).  An undefined posterior is unsure.
"""

from __future__ import annotations

from math import fsum, inf, isfinite, log

from nbspam.errors import BadDataError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LEARNABLE = 0.82  # probability, log-odds of 1.5: docs/decisions.md
UNDECIDED = -1  # the number of the reject action, beside the class numbers 0 .. K-1
MATRIX_REMEDY = (
    "a header line of class names, then a line NAME COST COST ... for each class; see docs/models.md"
)


class Loss:
    """A loss matrix.

    matrix : K tuples of K costs >= 0; matrix[i][j] is the cost of deciding class i when class j is true
    unsure : K costs of not deciding, by truth; None if not deciding is not allowed
    In each column the right decision is the cheapest, or as cheap as another; else BadDataError.
    """

    __slots__ = ("matrix", "unsure")

    def __init__(
        self,
        matrix: Sequence[Sequence[float]],
        unsure: Sequence[float] | float | None = None,
        where: str = "loss matrix",
    ) -> None:
        self.matrix = tuple(tuple(float(cost) for cost in row) for row in matrix)
        size = len(self.matrix)
        self.unsure: tuple[float, ...] | None = None
        if unsure is not None:
            costs = [unsure] * size if isinstance(unsure, (int, float)) else unsure
            self.unsure = tuple(float(cost) for cost in costs)
        _check(self, where)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loss) and (self.matrix, self.unsure) == (other.matrix, other.unsure)

    def __hash__(self) -> int:
        return hash((self.matrix, self.unsure))


class Cutoffs:
    """The same decision on the log-odds of spam, nats: ham at or below ham_below, spam above spam_above."""

    __slots__ = ("ham_below", "spam_above")

    def __init__(self, ham_below: float, spam_above: float) -> None:
        self.ham_below = ham_below
        self.spam_above = spam_above


def zero_one_loss(n_classes: int, unsure: float | None = None) -> Loss:
    """Every error costs 1, so the most probable class is decided; `unsure` adds the reject action."""
    return Loss([[float(i != j) for j in range(n_classes)] for i in range(n_classes)], unsure)


def risks(probabilities: Sequence[float], loss: Loss) -> list[float]:
    """Conditional risk R(i | x) = sum_j loss_ij P(j | x) of each class, then of unsure if allowed.

    Source: Duda, Hart and Stork 2001, eq. 2.11 (section 2.2).
    """
    rows = loss.matrix if loss.unsure is None else (*loss.matrix, loss.unsure)
    if len(probabilities) != len(loss.matrix):
        raise UsageError(
            "loss matrix",
            f"it is for {len(loss.matrix)} classes and the model has {len(probabilities)}",
            MATRIX_REMEDY,
            "loss-classes",
        )
    return [fsum(cost * p for cost, p in zip(row, probabilities, strict=True)) for row in rows]


def decide(probabilities: Sequence[float] | None, loss: Loss) -> int:
    """The class number of least conditional risk, or UNDECIDED (also for an undefined posterior)."""
    if probabilities is None:
        return UNDECIDED
    by_action = risks(probabilities, loss)
    least = min(by_action)
    if by_action[0] == least:
        return 0
    if loss.unsure is not None and by_action[-1] == least:
        return UNDECIDED
    return by_action.index(least)


def learnable(probabilities: Sequence[float] | None) -> int:
    """The class that a filter may count a message in on its own word, or UNDECIDED.

    What decisions cost has no say.  Costs move the cut-off, and a filter that learned less of one class for
    it would take the words of both for the other's.
    """
    if probabilities is None:
        return UNDECIDED
    best = max(probabilities)
    return probabilities.index(best) if best >= LEARNABLE else UNDECIDED


def cutoffs(loss: Loss) -> Cutoffs:
    """The two cut-offs on the log-odds that decide as a 2-class loss matrix does (class 1 is spam).

    With odds o = P(spam) / P(ham): spam beats ham where o (l01 - l11) > l10 - l00, spam beats unsure where
    o (u1 - l11) > l10 - u0, and ham is at least as good as unsure where o (l01 - u1) <= u0 - l00.
    """
    (l00, l01), (l10, l11) = loss.matrix
    even = _log_ratio(l10 - l00, l01 - l11)
    if loss.unsure is None:
        return Cutoffs(even, even)
    u0, u1 = loss.unsure
    return Cutoffs(min(even, _log_ratio(u0 - l00, l01 - u1)), max(even, _log_ratio(l10 - u0, u1 - l11)))


def _log_ratio(numerator: float, denominator: float) -> float:
    """log of the odds above which o * denominator > numerator; +-inf where all or no odds are."""
    if numerator < 0:
        return -inf
    if denominator <= 0:
        return inf
    if numerator == 0:
        return -inf
    ratio = numerator / denominator
    return log(ratio) if 0 < ratio < inf else log(numerator) - log(denominator)


def _check(loss: Loss, where: str) -> None:
    """Square, finite, not negative, and right never dearer than wrong."""
    size = len(loss.matrix)
    rows = loss.matrix if loss.unsure is None else (*loss.matrix, loss.unsure)
    if size == 0 or any(len(row) != size for row in rows):
        raise bad_matrix(where, f"not square: {size} rows, and a row of another length")
    for row in rows:
        for truth, cost in enumerate(row):
            if not (isfinite(cost) and cost >= 0):
                raise bad_matrix(where, f"a cost is a finite number >= 0, not {cost:g}")
            if cost < loss.matrix[truth][truth]:
                raise bad_matrix(where, "a wrong decision costs less than the right one")


def bad_matrix(where: str, why: str) -> BadDataError:
    """What is wrong with a loss matrix."""
    return BadDataError(where, why, MATRIX_REMEDY, "loss-matrix")
