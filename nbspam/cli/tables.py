"""What commands show as tables of rich, and lines about messages.

Text of mail and file names goes through `plain` first.  Nothing is read as markup.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from nbspam.cli import plain
from nbspam.corpus.source import Source

PIPE_WIDTH = 100  # columns if the output is no terminal
CLUE_INDENT = "      "
MAX_CLUE = 32  # characters
SHOWN_FOLDERS = 30


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
    folders = [
        (label, part.name or part.path, count)
        for part, counts in source.counts
        for label, count in counts.items()
    ]
    shown = table("folder", "class", ">messages")
    for label, name, count in folders[:SHOWN_FOLDERS]:
        shown.add_row(plain(name), plain(label), f"{count:,}")
    if rest := [count for _, _, count in folders[SHOWN_FOLDERS:]]:
        shown.add_row(f"{len(rest):,} more", "", f"{sum(rest):,}")
    for reason, count in source.left_out.items():
        shown.add_row(plain(reason), "left out", f"{count:,}", style="yellow")
    console(is_error=True).print(shown, "", sep="\n")


def show_message(out: Console, line: str, head: str, clues: Sequence[tuple[str, float]] = ()) -> None:
    """A line about a message; below it date, sender and subject, and its clues with their nats."""
    out.print(f"  {line}", soft_wrap=True)
    if head:
        out.print(CLUE_INDENT + plain(head), no_wrap=True, overflow="ellipsis")
    if clues:
        texts = [f"{plain(token)[:MAX_CLUE]} {nats:+.1f}" for token, nats in clues]
        out.print(CLUE_INDENT + "  ".join(texts), style="dim", soft_wrap=True)
