"""Losses as people write them -> Loss: costs on the command line, or a matrix in a file.

Hides both forms.  Few messages are judged by losses of one's own, and the others do not pay for reading them.
"""

from __future__ import annotations

from math import isfinite

from nbspam.decision import MATRIX_REMEDY, Loss, bad_matrix
from nbspam.errors import NoInputError, UsageError
from nbspam.labels import HAM_AND_SPAM, UNSURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LOSS_REMEDY = "use for example --loss FP=10,FN=1,unsure=0.2 (FP: ham called spam; FN: spam called ham)"
MAX_LOSS_BYTES = 1 << 20


def parse_loss(text: str, names: Sequence[str] = HAM_AND_SPAM) -> Loss:
    """The value of `--loss` for ham and spam: FP and FN (1 if left out), unsure (left out: always decide)."""
    if tuple(names) != HAM_AND_SPAM:
        raise UsageError(
            f"loss {text}",
            f"FP and FN speak of ham and spam; the classes of this model are: {', '.join(names)}",
            "give a loss matrix file: --loss FILE; " + MATRIX_REMEDY,
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
        remedy = "check the path, or give costs: FP=10,FN=1,unsure=0.2"
        raise NoInputError(path, error.strerror or "cannot be read", remedy, "no-input") from None
    if len(data) > MAX_LOSS_BYTES:
        raise bad_matrix(path, "it is too large for a loss matrix")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise bad_matrix(path, "it is not UTF-8 text") from None
    return matrix_from_text(text, names, path)


def matrix_from_text(text: str, names: Sequence[str], where: str = "loss matrix") -> Loss:
    """What `read_loss_matrix` reads, from text."""
    separator = "\t" if "\t" in text else None
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    rows = [[cell.strip() for cell in line.split(separator)] for line in lines]
    if not rows:
        raise bad_matrix(where, "it is empty")
    header = [cell for cell in rows[0] if cell]
    _check_header(header, names, where)
    costs: dict[str, dict[str, float]] = {}
    for action, *cells in rows[1:]:
        if action not in names and action != UNSURE:
            raise bad_matrix(where, f"the row {action!r} is no class; the classes are: {', '.join(names)}")
        if action in costs:
            raise bad_matrix(where, f"the row {action!r} comes twice")
        if len(cells) != len(header):
            raise bad_matrix(
                where, f"not square: row {action!r} has {len(cells)} costs for {len(header)} classes"
            )
        costs[action] = {name: _cell(cell, where) for name, cell in zip(header, cells, strict=True)}
    missing = [name for name in names if name not in costs]
    if missing:
        raise bad_matrix(where, f"not square: there is no row for class {missing[0]!r}")
    matrix = [[costs[action][truth] for truth in names] for action in names]
    return Loss(matrix, [costs[UNSURE][truth] for truth in names] if UNSURE in costs else None, where)


def _check_header(header: list[str], names: Sequence[str], where: str) -> None:
    for name in header:
        if name not in names:
            raise bad_matrix(where, f"the column {name!r} is no class; the classes are: {', '.join(names)}")
        if header.count(name) > 1:
            raise bad_matrix(where, f"the column {name!r} comes twice")
    for name in names:
        if name not in header:
            raise bad_matrix(where, f"there is no column for class {name!r}")


def _cell(cell: str, where: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise bad_matrix(where, f"{cell!r} is not a number") from None
