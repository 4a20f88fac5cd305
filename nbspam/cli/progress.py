"""What commands on many messages say of their work: a bar, what was not read, the summary of a training."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from nbspam.cli import Command, plain, say
from nbspam.corpus.source import BARE, Source, unread_error
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


@contextmanager
def message_steps(title: str, source: Source) -> Iterator[Callable[..., None]]:
    """The folders of the mail, a bar whose steps are messages, and at the end the reports without one."""
    total = None
    if not Command.is_quiet:
        from nbspam.cli.tables import show_folders  # of rich

        show_folders(source)
        total = sum(count.total() for _, count in source.counts)
    with steps(title, total) as advance:
        yield advance
    if bare := source.left_out[BARE]:
        say(f"Left out: {bare:,} ({BARE})")


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
    for label, number in trained.reports.items():
        what = f"{amount(number, 'message')} of {plain(label)} carry another one, as Exchange's journal does"
        lines.append(f"{what}; train --attached learns that one.")
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
