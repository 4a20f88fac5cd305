"""What several commands show: tables of rich, and lines about messages.

Text of mail and file names goes through `plain` first.  Nothing is read as markup.
"""

from __future__ import annotations

import codecs
import io
import json
import sys
import time
from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

from nbspam.cli import plain, write_text
from nbspam.corpus.source import Source

PIPE_WIDTH = 100  # columns if the output is no terminal
GAP = 2  # between columns
HAM_COLOUR, SPAM_COLOUR = "#0087d7", "#d75f00"  # blue and orange, readable on black and on white
SHOWN_FOLDERS = 30
_READABLE = "nbspam.readable"  # an error handler, see _spell
_IN_ASCII = {"■": "#", "…": "~", "─": "-"}  # each as wide as it was


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Our own marks in ASCII, an escape for every other character: an error handler of codecs."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    first = error.object[error.start]
    spelled = _IN_ASCII.get(first) or first.encode("ascii", "backslashreplace").decode()
    return spelled, error.start + 1


codecs.register_error(_READABLE, _spell)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let the program end with its own status; rich would end it with 1."""
        raise  # noqa: PLE0704 - the error that rich handles


def console(is_error: bool = False) -> Console:
    """Stdout, or stderr; wide enough for a table in a pipe; an escape for what its charset lacks."""
    stream = sys.stderr if is_error else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=_READABLE)
    width = None if stream.isatty() else PIPE_WIDTH
    return _Console(file=stream, highlight=False, markup=False, width=width, soft_wrap=False)


def table(*heads: str) -> Table:
    """A table that fits on 80 columns; a head that begins with > is of numbers, which are never broken."""
    shown = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim"
    )
    for head in heads:
        if head.startswith(">"):
            shown.add_column(head[1:], justify="right", no_wrap=True)
        else:
            shown.add_column(head, overflow="fold")
    return shown


def print_sentence(out: Console, text: str, style: str = "") -> None:
    """Print a sentence: on a terminal broken between words, elsewhere one line."""
    out.print(text, style=style, soft_wrap=not out.is_terminal)


def fit_table(shown: Table, out: Console, rare: Sequence[str] = ()) -> Table:
    """The table without some columns if the terminal is too narrow: columns go, figures and words stay whole.

    rare : heads of columns that go first, in this order; after them the last column goes.  Two columns stay
    """
    going = [column for head in rare for column in shown.columns if column.header == head]
    widths = [_measure(column, out.width) for column in shown.columns]
    room = out.width + 2 * bool(shown.box)  # no space at the end
    while len(widths) > 2 and sum(least for least, _ in widths) > room:
        place = shown.columns.index(going.pop(0)) if going else -1
        del shown.columns[place], widths[place]
        shown.pad_edge = True  # else rich takes the space from the column that was last
        room = out.width + bool(shown.box)
    spare = room - sum(least for least, _ in widths)
    if spare < sum(most - least for least, most in widths):  # else rich takes from all columns alike
        wants = sorted(range(len(widths)), key=lambda n: widths[n][1] - widths[n][0])
        for (least, most), column in [(widths[n], shown.columns[n]) for n in wants]:  # short texts first
            more = max(0, min(most - least, spare))
            column.width, spare = least + more - GAP, spare - more
    return shown


def _measure(column: Column, width: int) -> tuple[int, int]:
    """Widths of a column, with the space after it: of its longest word, and of its longest line.

    Numbers are one word.  A word that takes most of the terminal, such as a path, may be broken.
    """
    lines = [line for cell in (column.header, *column.cells) for line in str(cell).splitlines()]
    longest = max(map(cell_len, lines), default=0)
    if column.no_wrap:
        return longest + GAP, longest + GAP
    word = max(map(cell_len, " ".join(lines).split()), default=0)
    return min(word, width * 3 // 4) + GAP, longest + GAP


def print_rows(
    heads: Sequence[str], rows: Sequence[Sequence[str]], rare: Sequence[str] = (), is_headed: bool = False
) -> None:
    """Rows on a terminal as a table that fits, see fit_table; elsewhere as lines with tabs.

    is_headed : the first of these lines are the heads
    """
    out = console()
    if not out.is_terminal:
        write_text("".join("\t".join(row) + "\n" for row in ([heads] * is_headed + [*rows])))
        return
    shown = table(*heads)
    for row in rows:
        shown.add_row(*row)
    out.print(fit_table(shown, out, rare))


def number(value: float, form: str, before: str = "") -> str:
    """A number, with a text before it; empty if it is not defined."""
    return "" if isnan(value) else f"{before}{value:{form}}"


def utc(time_ms: int | None) -> str | None:
    """A time of the ledger for other programs."""
    return None if time_ms is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_ms / 1000))


def day(time_ms: int | None, form: str = "%Y-%m-%d") -> str:
    """A time of the ledger for people."""
    return "" if time_ms is None else time.strftime(form, time.localtime(time_ms / 1000))


def show_folders(source: Source) -> None:
    """On stderr: which folder has which class and how many messages, and what is left out."""
    folders = [
        (label, part.by_marks and label != part.labels[0], part.name or part.path, count)
        for part, counts in source.counts
        for label, count in counts.items()
        if count or not part.by_labels
    ]
    shown = table("folder", "class", ">messages")
    for label, is_marked, name, count in folders[:SHOWN_FOLDERS]:
        shown.add_row(plain(name), plain(label) + is_marked * " (marked)", f"{count:,}")
    if rest := [count for *_, count in folders[SHOWN_FOLDERS:]]:
        shown.add_row(f"{len(rest):,} more", "", f"{sum(rest):,}")
    for reason, count in source.left_out.items():
        shown.add_row(plain(reason), "left out", f"{count:,}", style="yellow")
    out = console(is_error=True)
    out.print(fit_table(shown, out), "", sep="\n")


def write_json(content: object) -> None:
    """Write an object to stdout, as one line of ASCII."""
    write_text(json.dumps(_json_values(content)) + "\n")


def _json_values(value: Any) -> Any:
    """Named tuples as objects, other tuples as lists, and None for a number that is not finite."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _json_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [*map(_json_values, value)]
    return None if isinstance(value, float) and not isfinite(value) else value
