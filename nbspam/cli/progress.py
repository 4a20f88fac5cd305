"""What commands on many messages say of their work: a bar, what was not read, the summary of a training."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from nbspam.cli import Command, messages_text, plain, say
from nbspam.corpus.source import BARE, Source, unread_error
from nbspam.labels import HAM_AND_SPAM, amount

if TYPE_CHECKING:
    from nbspam.corpus.item import Skipped
    from nbspam.corpus.reading import Progress
    from nbspam.tasks.train import Contradictions, Trained

SHOWN_SKIPPED = 5  # unreadable files named in a summary; the rest are counted


@contextmanager
def steps(title: str, total: int | None) -> Iterator[Progress]:
    """A bar on stderr, if that is a terminal.

    total : None for work of unknown length
    """
    if Command.is_quiet or not sys.stderr.isatty():
        yield lambda _steps: None
        return
    from rich import progress  # rich takes a tenth of the time of a short training
    from rich.console import Console

    columns = (progress.TextColumn("[bold]{task.description}"), progress.BarColumn())
    counts = (progress.MofNCompleteColumn(), progress.TimeRemainingColumn())
    with progress.Progress(*columns, *counts, console=Console(stderr=True), transient=True) as bar:
        yield partial(bar.advance, bar.add_task(title, total=total))


@contextmanager
def message_steps(title: str, source: Source) -> Iterator[Progress]:
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
    messages = messages_text(trained.classes, trained.messages)
    lines = [
        f"{verb} {messages}; {amount(trained.tokens, 'token')}.",
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
