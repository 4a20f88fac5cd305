"""The Bayes decision: losses, conditional risks, the action of least risk, and the reject action.

Hides every cut-off.  Nothing else compares a score with a threshold; what must be cautious or bold says so
in its losses.  A loss matrix has a row for each action (deciding class i) and a column for each truth j,
and may have a row `unsure`, the reject action.

Ties go to the safer side: class 0 (ham, where there is ham) before unsure, unsure before the other
classes, and those in class order (spam last).  An undefined posterior is unsure.
"""

from __future__ import annotations

from math import fsum, inf, isfinite, log

from nbspam.errors import BadDataError, NoInputError, UsageError
from nbspam.labels import HAM_AND_SPAM, UNSURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

UNDECIDED = -1  # the number of the reject action, beside the class numbers 0 .. K-1
_LOSS_REMEDY = "use for example --loss FP=10,FN=1,unsure=0.2 (FP: ham called spam; FN: spam called ham)"
_MATRIX_REMEDY = (
    "a header line of class names, then a line `name cost cost ...` for each class; see docs/models.md"
)
MAX_LOSS_BYTES = 1 << 20


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


def zero_one_loss(class_count: int, unsure: float | None = None) -> Loss:
    """Every error costs 1, so the most probable class is decided; `unsure` adds the reject action."""
    return Loss([[float(i != j) for j in range(class_count)] for i in range(class_count)], unsure)


def risks(probabilities: Sequence[float], loss: Loss) -> list[float]:
    """Conditional risk R(i | x) = sum_j loss_ij P(j | x) of each class, then of unsure if allowed.

    Source: Duda, Hart and Stork 2001, eq. 2.11 (section 2.2).
    """
    rows = loss.matrix if loss.unsure is None else (*loss.matrix, loss.unsure)
    if len(probabilities) != len(loss.matrix):
        raise UsageError(
            "loss matrix",
            f"it is for {len(loss.matrix)} classes and the model has {len(probabilities)}",
            _MATRIX_REMEDY,
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


def decide_by_cutoffs(log_odds: float | None, at: Cutoffs) -> int:
    """0 (ham), 1 (spam) or UNDECIDED; both edges belong to the safer side, as in `decide`."""
    if log_odds is None:
        return UNDECIDED
    if log_odds <= at.ham_below:
        return 0
    return 1 if log_odds > at.spam_above else UNDECIDED


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


def parse_loss(text: str, names: Sequence[str] = HAM_AND_SPAM) -> Loss:
    """The value of `--loss` for ham and spam: FP and FN (1 if left out), unsure (left out: always decide)."""
    if tuple(names) != HAM_AND_SPAM:
        raise UsageError(
            f"loss {text}",
            f"FP and FN speak of ham and spam; the classes of this model are: {', '.join(names)}",
            "give a loss matrix file: --loss FILE; " + _MATRIX_REMEDY,
            "loss-classes",
        )
    given: dict[str, float] = {}
    for item in text.split(","):
        key, separator, number = item.partition("=")
        key = _loss_key(key.strip())
        if not separator or not key or key in given:
            raise UsageError(f"loss {text}", f"{item.strip()!r} is not a cost", _LOSS_REMEDY, "loss")
        given[key] = _cost(number, f"loss {text}")
    matrix = ((0.0, given.get("FN", 1.0)), (given.get("FP", 1.0), 0.0))
    return Loss(matrix, given.get(UNSURE), f"loss {text}")


def _loss_key(key: str) -> str:
    if key.upper() in ("FP", "FN"):
        return key.upper()
    return UNSURE if key.lower() == UNSURE else ""


def _cost(number: str, where: str) -> float:
    try:
        value = float(number)
    except ValueError:
        raise UsageError(where, f"{number.strip()!r} is not a number", _LOSS_REMEDY, "loss") from None
    if not (isfinite(value) and value >= 0):
        raise UsageError(where, f"a cost is a finite number >= 0, not {number.strip()}", _LOSS_REMEDY, "loss")
    return value


def read_loss_matrix(path: str, names: Sequence[str]) -> Loss:
    """A loss matrix file for the classes `names`, in class order whatever the order in the file.

    Format: blank lines and lines that begin with # are skipped; a header line of class names; then one line
    for each action: the name of the class decided (or unsure), and its cost for each class of the header
    being true.  Columns are separated by tabs if there is a tab in the file, else by white space.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_LOSS_BYTES + 1)
    except OSError as error:
        raise NoInputError(path, error.strerror or "cannot be read", "check the path", "no-input") from None
    if len(data) > MAX_LOSS_BYTES:
        raise _bad_matrix(path, "it is too large for a loss matrix")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _bad_matrix(path, "it is not UTF-8 text") from None
    return matrix_from_text(text, names, path)


def matrix_from_text(text: str, names: Sequence[str], where: str = "loss matrix") -> Loss:
    """What `read_loss_matrix` reads, from text."""
    separator = "\t" if "\t" in text else None
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    rows = [[cell.strip() for cell in line.split(separator)] for line in lines]
    if not rows:
        raise _bad_matrix(where, "it is empty")
    header = [cell for cell in rows[0] if cell]
    _check_header(header, names, where)
    costs: dict[str, dict[str, float]] = {}
    for action, *cells in rows[1:]:
        if action not in names and action != UNSURE:
            raise _bad_matrix(where, f"the row {action!r} is no class; the classes are: {', '.join(names)}")
        if action in costs:
            raise _bad_matrix(where, f"the row {action!r} comes twice")
        if len(cells) != len(header):
            raise _bad_matrix(
                where, f"not square: row {action!r} has {len(cells)} costs for {len(header)} classes"
            )
        costs[action] = {name: _cell(cell, where) for name, cell in zip(header, cells, strict=True)}
    missing = [name for name in names if name not in costs]
    if missing:
        raise _bad_matrix(where, f"not square: there is no row for class {missing[0]!r}")
    matrix = [[costs[action][truth] for truth in names] for action in names]
    return Loss(matrix, [costs[UNSURE][truth] for truth in names] if UNSURE in costs else None, where)


def _check_header(header: list[str], names: Sequence[str], where: str) -> None:
    for name in header:
        if name not in names:
            raise _bad_matrix(where, f"the column {name!r} is no class; the classes are: {', '.join(names)}")
        if header.count(name) > 1:
            raise _bad_matrix(where, f"the column {name!r} comes twice")
    for name in names:
        if name not in header:
            raise _bad_matrix(where, f"there is no column for class {name!r}")


def _cell(cell: str, where: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise _bad_matrix(where, f"{cell!r} is not a number") from None


def _check(loss: Loss, where: str) -> None:
    """Square, finite, not negative, and right never dearer than wrong."""
    size = len(loss.matrix)
    rows = loss.matrix if loss.unsure is None else (*loss.matrix, loss.unsure)
    if size == 0 or any(len(row) != size for row in rows):
        raise _bad_matrix(where, f"not square: {size} rows, and a row of another length")
    for row in rows:
        for truth, cost in enumerate(row):
            if not (isfinite(cost) and cost >= 0):
                raise _bad_matrix(where, f"a cost is a finite number >= 0, not {cost:g}")
            if cost < loss.matrix[truth][truth]:
                raise _bad_matrix(where, "a wrong decision costs less than the right one")


def _bad_matrix(where: str, why: str) -> BadDataError:
    return BadDataError(where, why, _MATRIX_REMEDY, "loss-matrix")
