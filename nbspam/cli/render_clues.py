"""The clues of an explanation as a table.

Hides how it fits the width that there is: which classes have a column of their own, where names are folded,
what is left out.  Numbers and shares are never cut, and the clue keeps room to be read in.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from nbspam.cli.texts import plain
from nbspam.filter import Filter
from nbspam.model.explain import Clue, Explanation

MAX_CLUE = 40
MIN_CLUE = 18
MAX_CLASSES = 6  # with a column each
FOLDED = 10  # cells of the name of a class where room is scarce
EDGES = 2


class _Column(NamedTuple):
    name: str
    cells: list[Text]
    is_right: bool = True

    def width(self, is_folded: bool) -> int:
        """Room for all cells, and for the name, or its beginning."""
        name = cell_len(self.name)
        return max([min(name, FOLDED) if is_folded else name, *(cell.cell_len for cell in self.cells)])


class _Layout(NamedTuple):
    """A way to draw the table.  groups : the classes that share a column"""

    groups: list[Sequence[int]]
    is_folded: bool
    has_view: bool = True

    @property
    def gap(self) -> int:
        """Cells between two columns; the divider is one of them."""
        return 2 if self.is_folded else 3


def clue_table(clues: list[Clue], found: Explanation, classifier: Filter, width: int) -> Table:
    """What each clue adds, how many messages of which class hold it, the share of the class shown."""
    names = [plain(name) for name in classifier.model.classes]
    texts = [_cut(plain(clue.token)) for clue in clues]
    wanted = max(cell_len("clue"), *map(cell_len, texts))
    for layout in _layouts(found):
        columns = _columns(clues, names, found.verdict.number, layout)
        fixed = sum(column.width(layout.is_folded) + layout.gap for column in columns)
        room = width - EDGES - fixed
        if room >= min(wanted, MIN_CLUE):
            break
    padding = (0, layout.gap - 1, 0, 0) if layout.is_folded else (0, 1)
    table = Table(box=box.SIMPLE_HEAD, padding=padding, pad_edge=False)
    for column in columns:
        table.add_column(
            Text(column.name),
            justify="right" if column.is_right else "left",
            width=column.width(layout.is_folded),
            overflow="fold",
        )
    table.add_column("clue", width=max(4, min(wanted, room)), overflow="fold")
    for row, text in enumerate(texts):
        table.add_row(*(column.cells[row] for column in columns), Text(text))
    return table


def _layouts(found: Explanation) -> list[_Layout]:
    """The fullest first; the last is taken where none fits."""
    shown, scores = found.verdict.number, found.verdict.scored.scores
    others = sorted((k for k in range(len(scores)) if k != shown), key=lambda k: -scores[k])
    alone: list[list[Sequence[int]]] = [[[k] for k in range(len(scores))]]
    if len(scores) > MAX_CLASSES:
        alone = []
    if len(scores) > 2:
        alone += [[[shown], others[:1], others[1:]], [[shown], others]]
    layouts = [_Layout(groups, is_folded) for groups in alone for is_folded in (False, True)]
    return [*layouts, _Layout(alone[-1], is_folded=True, has_view=False)]


def _columns(clues: list[Clue], names: list[str], shown: int, layout: _Layout) -> list[_Column]:
    counts = [_counts(clue, layout.groups) for clue in clues]
    shares = [
        f"{100 * clue.share_interval[0]:.0f}-{100 * clue.share_interval[1]:.0f} %"
        if clue.share_interval
        else ""
        for clue in clues
    ]
    heads = [names[group[0]] if len(group) == 1 else f"{len(group)} others" for group in layout.groups]
    columns = [
        _Column("nats", [nats_text(clue.log_odds) for clue in clues]),
        *(_Column(head, [Text(row[place]) for row in counts]) for place, head in enumerate(heads)),
        _Column(f"share of {names[shown]}", list(map(Text, shares))),
    ]
    if layout.has_view:
        columns.append(_Column("where", [Text(clue.view or clue.kind) for clue in clues], is_right=False))
    return columns


def _counts(clue: Clue, groups: list[Sequence[int]]) -> list[str]:
    """The messages that hold a clue, by group of classes; of a numeric feature there are none."""
    if not clue.counts:
        return [""] * len(groups)
    sums = tuple(sum(clue.counts[k] for k in group) for group in groups)
    return clue._replace(counts=sums).count_texts()


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CLUE else text[: MAX_CLUE - 1] + "…"


def nats_text(value: float | None, style: str = "") -> Text:
    """A contribution to the log-odds, coloured by its side unless a style is given."""
    if value is None:
        return Text("undefined", style=style)
    shown = f"{value:+.2f}" if abs(value) >= 0.005 else "0.00"
    return Text("+inf" if value == inf else "-inf" if value == -inf else shown, style=style or colour(value))


def colour(value: float | None) -> str:
    """Red for the class shown, green against it."""
    return "" if not value else "red" if value > 0 else "green"
