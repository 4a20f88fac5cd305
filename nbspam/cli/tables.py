"""What commands show as tables of rich, and lines about messages.

Text of mail and file names goes through `plain` first.  Nothing is read as markup.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from nbspam.cli import plain
from nbspam.corpus.source import Source

PIPE_WIDTH = 100  # columns if the output is no terminal
CLUE_INDENT, CLUE_GAP = "      ", "  "
MAX_CLUE = 32  # characters
SHOWN_FOLDERS = 8  # of a class
SHOWN_CLASSES = 20


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let the program end with its own status; rich would end it with 1."""
        raise  # noqa: PLE0704 - the error that rich handles


def console(is_error: bool = False) -> Console:
    """Stdout, or stderr; wide enough for a table in a pipe; an escape for what its charset lacks."""
    stream = sys.stderr if is_error else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    width = None if stream.isatty() else PIPE_WIDTH
    return _Console(file=stream, highlight=False, markup=False, width=width, soft_wrap=False)


def table(*heads: str) -> Table:
    """A table that fits on 80 columns; a head that begins with > is of numbers, which are never broken."""
    found = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim"
    )
    for head in heads:
        if head.startswith(">"):
            found.add_column(head[1:], justify="right", no_wrap=True)
        else:
            found.add_column(head, overflow="fold")
    return found


def utc(time_ms: int | None) -> str | None:
    """A time of the ledger for other programs."""
    return None if time_ms is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_ms / 1000))


def day(time_ms: int | None, form: str = "%Y-%m-%d") -> str:
    """A time of the ledger for people; what is forgotten was earlier than all that is known."""
    return "earlier" if time_ms is None else time.strftime(form, time.localtime(time_ms / 1000))


def show_folders(source: Source) -> None:
    """On stderr: which folder has which class and how many messages, and what is left out."""
    by_class: dict[str, list[tuple[str, int]]] = {}
    for part, counts in source.counts:
        for label, count in counts.items():
            by_class.setdefault(label, []).append((part.name or part.path, count))
    shown = table("folder", "class", ">messages")
    for label, folders in list(by_class.items())[:SHOWN_CLASSES]:
        rest = [count for _, count in folders[SHOWN_FOLDERS:]]
        more = [(f"{len(rest):,} more", sum(rest))] if rest else []
        for name, count in folders[:SHOWN_FOLDERS] + more:
            shown.add_row(plain(name), plain(label), f"{count:,}")
    if len(by_class) > SHOWN_CLASSES:
        shown.add_row("", f"{len(by_class) - SHOWN_CLASSES:,} more classes", "")
    for reason, count in source.left_out.items():
        shown.add_row(plain(reason), "left out", f"{count:,}", style="yellow")
    console(is_error=True).print(shown, "", sep="\n")


def show_message(out: Console, line: str, head: str, clues: Sequence[tuple[str, float]] = ()) -> None:
    """A line about a message; below it date, sender and subject, and its clues with their nats."""
    out.print(f"  {line}", soft_wrap=True)
    if head:
        out.print(CLUE_INDENT + plain(head), no_wrap=True, overflow="ellipsis")
    texts = [plain(token) for token, _ in clues]
    texts = [text if len(text) <= MAX_CLUE else text[: MAX_CLUE - 1] + "…" for text in texts]
    show_clues(out, [f"{text} {nats:+.1f}" for text, (_, nats) in zip(texts, clues, strict=True)])


def show_clues(out: Console, clues: list[str]) -> None:
    """The clues of a message below it: one line, on a terminal lines that break between two clues."""
    width = out.width if sys.stdout.isatty() else sys.maxsize
    lines: list[str] = []
    for clue in clues:
        if lines and cell_len(lines[-1]) + len(CLUE_GAP) + cell_len(clue) <= width:
            lines[-1] += CLUE_GAP + clue
        else:
            lines.append(CLUE_INDENT + clue)
    for line in lines:
        out.print(line, style="dim", soft_wrap=True)
