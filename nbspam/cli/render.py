"""What people see of work that goes on and of its end: progress bars, summaries.

Hides the terminal, and rich, which is imported where somebody watches a bar.  All text that came out
of mail or file names goes through `plain` first.
"""

from __future__ import annotations

import sys
import time
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from nbspam.cli.texts import amount, counts_text, plain
from nbspam.corpus import Source
from nbspam.corpus.item import Skipped
from nbspam.corpus.source import unread_error
from nbspam.tasks.train import Trained

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

SHOWN_SKIPPED = 5  # unreadable files named in a summary; the rest are counted


class Steps:
    """A bar on stderr for work whose steps are counted beforehand.  Silent where nobody watches."""

    def __init__(self, title: str, total: int | None, shown: bool, *columns: str, **fields: Any) -> None:
        """columns, fields : more text in the bar, as templates of rich, and what they begin with"""
        self._bar: RichProgress | None = None
        if shown:
            self._bar = _bar(columns)
            self._task = self._bar.add_task(title, total=total, **fields)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        """source: whose messages they are; it is walked through beforehand only where somebody watches"""
        total = source.message_count() if source and shown else None
        rate = "{task.fields[megabytes]:.1f} MB  {task.fields[rate]:.0f}/s"
        super().__init__(title, total, shown, rate, megabytes=0.0, rate=0.0)
        self._bytes = 0
        self._messages = 0
        self._begun = time.monotonic()

    def advance(self, steps: int, size_bytes: int = 0) -> None:
        """Some more messages are done."""
        self._messages += steps
        self._bytes += size_bytes
        rate = self._messages / max(1e-9, time.monotonic() - self._begun)
        self._update(advance=steps, megabytes=self._bytes / 1e6, rate=rate)


def _bar(columns: tuple[str, ...]) -> RichProgress:
    # 50 ms, which a training that nobody watches need not wait for
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
    """What was trained on, what was left out, and where the model is."""
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
    """What of a source was left out on purpose."""
    left_out = ", ".join(f"{count:,} {plain(reason)}" for reason, count in source.left_out.items())
    return [f"Left out: {left_out}."] if left_out else []


def check_all_read(*skipped: Skipped) -> None:
    """Raises where mail could not be read, a few of which is named: for the end, when all else is done.

    An error, and so told whatever -q says.
    """
    found = list(dict.fromkeys(chain(*skipped)))
    if not found:
        return
    for name, reason in found[:SHOWN_SKIPPED]:
        say(f"Skipped: {plain(name)}: {plain(reason)}")
    if len(found) > SHOWN_SKIPPED:
        say(f"Skipped: {len(found) - SHOWN_SKIPPED:,} more.")
    raise unread_error(found)
