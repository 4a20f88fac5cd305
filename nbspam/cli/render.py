"""Progress bars, tables and summaries that several commands show.

rich is imported only if a bar or a table is shown.  Text of mail and file names goes through `plain` first.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

from nbspam.cli import amount, counts_text, plain
from nbspam.corpus import Source
from nbspam.corpus.item import Skipped
from nbspam.corpus.source import unread_error
from nbspam.tasks.train import Trained

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.table import Table

SHOWN_SKIPPED = 5  # unreadable files named in a summary; the rest are counted


PIPE_WIDTH = 100  # columns if stdout is no terminal


def console() -> Console:
    """Standard output; wide enough for a table in a pipe; an escape for what its charset lacks."""
    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH, soft_wrap=False)


def narrow_table(*numbers: str) -> Table:
    """A table that fits on a terminal of 80 columns: a column of names, then columns of numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


@contextmanager
def waiting(title: str, shown: bool) -> Iterator[None]:
    """A spinner on stderr for work of unknown length."""
    if not shown:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(title):
        yield


class Steps:
    """A bar on stderr for a known number of steps.  Silent unless shown."""

    def __init__(self, title: str, total: int | None, shown: bool, *columns: str, **fields: Any) -> None:
        """columns, fields : more text in the bar, as templates of rich, and their first values"""
        self._bar: RichProgress | None = None
        if shown:
            self._bar = _bar(columns)
            self._task = self._bar.add_task(title, total=total, **fields)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar:
            self._bar.stop()

    def advance(self, steps: int) -> None:
        """Some more steps are done."""
        self._update(advance=steps)

    def _update(self, **changes: Any) -> None:
        if self._bar:
            self._bar.update(self._task, **changes)


class MessageSteps(Steps):
    """A bar whose steps are messages: their number, MB, rate, time left."""

    def __init__(self, title: str, source: Source | None, shown: bool) -> None:
        """source: the messages; they are counted beforehand only if the bar is shown"""
        total = source.message_count() if source and shown else None
        rate = "{task.fields[megabytes]:.1f} MB  {task.fields[rate]:.0f}/s"
        super().__init__(title, total, shown, rate, megabytes=0.0, rate=0.0)
        self._bytes = 0
        self._messages = 0
        self._start = time.monotonic()

    def advance(self, steps: int, size_bytes: int = 0) -> None:
        """Some more messages are done."""
        self._messages += steps
        self._bytes += size_bytes
        rate = self._messages / max(1e-9, time.monotonic() - self._start)
        self._update(advance=steps, megabytes=self._bytes / 1e6, rate=rate)


def _bar(columns: tuple[str, ...]) -> RichProgress:
    # 50 ms, only if a bar is shown
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    return RichProgress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *map(TextColumn, columns),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def say(text: str) -> None:
    """A line for people."""
    sys.stderr.write(text if text.endswith("\n") else text + "\n")


def train_summary(trained: Trained, source: Source | None, verb: str = "Trained on") -> str:
    """How many messages were counted and left out, and where the model is."""
    counts = counts_text(trained.classes, trained.messages)
    of_all = "" if trained.read is None else f"{sum(trained.messages):,} of "
    messages = amount(sum(trained.messages) if trained.read is None else trained.read, "message")
    lines = [
        f"{verb} {of_all}{messages} ({counts}); {amount(trained.tokens, 'token')}.",
        f"Model: {plain(trained.path)} ({trained.size_bytes / 1e6:.1f} MB).",
    ]
    if trained.again:
        lines.append(f"Counted before: {trained.again:,} of them, which count once more now.")
        lines.append(
            "  next: to count a message once, nbspam learn CLASS FILE; to undo it, nbspam unlearn FILE"
        )
    if trained.alpha is not None:
        lines.append(f"Chosen by leaving out: alpha = {trained.alpha:g}.")
    if source:
        lines += left_out_lines(source)
    return "\n".join(lines)


def left_out_lines(source: Source) -> list[str]:
    """The messages of a source that were left out on purpose, by reason."""
    left_out = ", ".join(f"{count:,} {plain(reason)}" for reason, count in source.left_out.items())
    return [f"Left out: {left_out}."] if left_out else []


def check_all_read(*skipped: Skipped) -> None:
    """Raises if mail could not be read, after naming a few files: for the end, when all else is done.

    It is an error, so -q does not silence it.
    """
    found = list(dict.fromkeys(chain(*skipped)))
    if not found:
        return
    for name, reason in found[:SHOWN_SKIPPED]:
        say(f"Skipped: {plain(name)}: {plain(reason)}")
    if len(found) > SHOWN_SKIPPED:
        say(f"Skipped: {len(found) - SHOWN_SKIPPED:,} more.")
    raise unread_error(found)
