"""What commands on many messages say of their work: a bar, what was not read, the summary of a training."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from nbspam.cli import Command, plain
from nbspam.corpus.source import Source, unread_error
from nbspam.labels import HAM_AND_SPAM, amount, format_counts

if TYPE_CHECKING:
    from nbspam.corpus.item import Skipped
    from nbspam.tasks.train import Contradictions, Trained

SHOWN_SKIPPED = 5  # unreadable files named in a summary; the rest are counted


@contextmanager
def steps(title: str, total: int | None) -> Iterator[Callable[..., None]]:
    """A bar on stderr, if that is a terminal; gives advance(steps done, their bytes).

    total : None for work of unknown length
    A step that has bytes is a message: then the bar shows MB and messages a second, too.
    """
    if Command.is_quiet or not sys.stderr.isatty():
        yield lambda steps, size_bytes=0: None
        return
    from rich.console import Console  # rich takes a tenth of the time of a short training
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    begun, done, size = time.monotonic(), 0, 0
    columns = (TextColumn("[bold]{task.description}"), BarColumn(), MofNCompleteColumn())
    rate = TextColumn("{task.fields[rate]}")
    console = Console(stderr=True)
    with Progress(*columns, rate, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=total, rate="")

        def advance(steps: int, size_bytes: int = 0) -> None:
            nonlocal done, size
            done, size = done + steps, size + size_bytes
            per_second = done / max(1e-9, time.monotonic() - begun)
            bar.update(task, advance=steps, rate=f"{size / 1e6:.1f} MB  {per_second:.0f}/s" if size else "")

        yield advance


def message_steps(title: str, source: Source) -> AbstractContextManager[Callable[..., None]]:
    """The folders of the mail, and a bar whose steps are messages."""
    if Command.is_quiet:
        return steps(title, None)
    from nbspam.cli.tables import show_folders  # of rich

    show_folders(source)
    return steps(title, sum(count.total() for _, count in source.counts))


def train_summary(trained: Trained, verb: str = "Trained on") -> str:
    """How many messages were counted, and where the model is."""
    counts = format_counts(trained.classes, trained.messages)
    messages = amount(sum(trained.messages), "message")
    lines = [
        f"{verb} {messages} ({counts}); {amount(trained.tokens, 'token')}.",
        f"Model: {plain(trained.path)} ({trained.size_bytes / 1e6:.1f} MB).",
    ]
    if trained.counted_before:
        lines.append(f"Counted before: {trained.counted_before:,} of them, which now count once more.")
    lines.append(f"Decisions: {trained.costs}.")
    lines += _name_contradictions(trained.contradictions)
    if trained.classes != HAM_AND_SPAM:
        lines.append(f"X-Nbspam will be one of {', '.join(map(plain, trained.classes))}.")
    return "\n".join(lines)


def _name_contradictions(contradictions: Contradictions) -> Iterator[str]:
    """A line that counts the messages in more than one class, and a line for each of their copies."""
    if not contradictions.messages:
        return
    ending = "." if contradictions.copies else "; nbspam train -v names them."
    classes = ", ".join(map(plain, contradictions.classes))
    yield f"In more than one class ({classes}): {amount(contradictions.messages, 'message')}{ending}"
    width = max(map(len, contradictions.classes))
    for label, name in contradictions.copies:
        yield f"  {plain(label):<{width}}  {plain(name)}"


def check_all_read(*skipped: Skipped) -> None:
    """Raises if mail could not be read, after naming a few files: for the end, when all else is done.

    It is an error, so -q does not silence it.
    """
    unread = list(dict.fromkeys(chain(*skipped)))
    if not unread:
        return
    for name, reason in unread[:SHOWN_SKIPPED]:
        sys.stderr.write(f"Skipped: {plain(name)}: {plain(reason)}\n")
    raise unread_error(unread)
