"""Progress bars and summaries that several commands show.

rich is imported only if a bar is shown.  Text of mail and file names goes through `plain` first.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import chain

from nbspam.cli import amount, counts_text, plain
from nbspam.corpus.item import Skipped
from nbspam.corpus.source import Source, unread_error
from nbspam.labels import SPAM
from nbspam.tasks.train import Trained

SHOWN_SKIPPED = 5  # unreadable files named in a summary; the rest are counted
RATE = "{task.fields[megabytes]:.1f} MB  {task.fields[rate]:.0f}/s"


@contextmanager
def steps(title: str, total: int | None, shown: bool, rate: str = "") -> Iterator[Callable[..., None]]:
    """A bar on stderr; gives advance(steps done, their bytes).

    total : None for work of unknown length
    rate : a template of rich for messages, their MB and their number a second
    """
    if not shown:
        yield lambda steps, size_bytes=0: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    begun, done, size = time.monotonic(), 0, 0
    columns = [TextColumn("[bold]{task.description}"), BarColumn(), MofNCompleteColumn()]
    columns += [TextColumn(rate)] if rate else []
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, megabytes=0.0, rate=0.0)

        def advance(steps: int, size_bytes: int = 0) -> None:
            nonlocal done, size
            done, size = done + steps, size + size_bytes
            per_second = done / max(1e-9, time.monotonic() - begun)
            bar.update(task, advance=steps, megabytes=size / 1e6, rate=per_second)

        yield advance


def message_steps(
    title: str, source: Source, quiet: bool, is_known: bool = False
) -> AbstractContextManager[Callable[..., None]]:
    """The folders of the mail, and a bar whose steps are messages.

    is_known : the folders have been shown
    """
    if not quiet and not is_known:
        from nbspam.cli.tables import show_folders

        show_folders(source)
    shown = shows_progress(quiet)
    total = sum(count.total() for _, count in source.counts) if shown else None
    return steps(title, total, shown, RATE)


def shows_progress(quiet: bool) -> bool:
    """True if stderr is a terminal and -q is not given."""
    return not quiet and sys.stderr.isatty()


def say(*lines: str) -> None:
    """Lines for people."""
    for line in lines:
        sys.stderr.write(line if line.endswith("\n") else line + "\n")


def train_summary(trained: Trained, verb: str = "Trained on") -> str:
    """How many messages were counted, and where the model is."""
    counts = counts_text(trained.classes, trained.messages)
    of_all = "" if trained.read is None else f"{sum(trained.messages):,} of "
    messages = amount(sum(trained.messages) if trained.read is None else trained.read, "message")
    lines = [
        f"{verb} {of_all}{messages} ({counts}); {amount(trained.tokens, 'token')}.",
        f"Model: {plain(trained.path)} ({trained.size_bytes / 1e6:.1f} MB).",
    ]
    if trained.again:
        lines.append(f"Counted before: {trained.again:,} of them, which now count once more.")
    if trained.alpha is not None:
        lines.append(f"Chosen by judging messages that were left out: alpha = {trained.alpha:g}.")
    if SPAM not in trained.classes:
        lines.append("No class is spam: a rule for `X-Nbspam: spam` will match no message.")
    return "\n".join(lines)


def check_all_read(*skipped: Skipped) -> None:
    """Raises if mail could not be read, after naming a few files: for the end, when all else is done.

    It is an error, so -q does not silence it.
    """
    found = list(dict.fromkeys(chain(*skipped)))
    if not found:
        return
    for name, reason in found[:SHOWN_SKIPPED]:
        say(f"Skipped: {plain(name)}: {plain(reason)}")
    raise unread_error(found)
