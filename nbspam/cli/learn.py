"""`nbspam learn` and `nbspam unlearn`."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import click

from nbspam.cli import amount, plain
from nbspam.cli.classify import ReadableMessages
from nbspam.cli.output import begun_line, write_text
from nbspam.cli.shared import asked_name, files_argument, options
from nbspam.errors import UsageError
from nbspam.store.connection import LONGEST_PAUSE
from nbspam.store.learn import BATCH_BYTES, BATCH_MESSAGES, check_class, learn_all
from nbspam.tasks.start import copy_shared, own_or_shared

Work = Callable[[Sequence[bytes], Sequence[str]], list[str]]  # the messages of a batch, names -> results


@click.command("learn")
@click.argument("class_name", metavar="CLASS")
@files_argument
@options("files_from", "model", "start", "verbose", "quiet")
def learn_command(
    class_name: str, files: tuple[str, ...], model: str, start: str, quiet: bool, **given: Any
) -> int:
    """Learn messages as CLASS: correct a verdict, or add new mail.

    FILE is a message, a folder or a mailbox; without FILE, the message on stdin.  Writes one line for each
    message to stdout: `learned`, `moved` (it was counted as another class) or `already learned`, a tab, and
    its name.  Messages are learned in batches: if the command is stopped, every written line is done.
    `will be learned` means that other programs wrote for 10 seconds: the message is on the disk next to the
    model, and the next program that learns counts it.

    \b
    Example:
        nbspam learn spam < message.eml
        nbspam learn ham ~/Maildir/.NotJunk -m my.nbspam

    Exit status: 0 done, also if all was learned before; 64 usage, no such class; 65 no sound model;
    66 no such message or no model; 74 I/O; 75 try again later.
    """
    label = asked_name(class_name, "CLASS")
    try:
        check_class(own_or_shared(model, start), label)
    except UsageError as error:
        if not os.path.exists(class_name):
            raise
        remedy = f"nbspam learn spam {class_name}"
        raise UsageError(class_name, "is a file, and the class comes first", remedy, error.slug) from None
    return _each(given, files, model, start, quiet, partial(learn_all, model, label))


@click.command("unlearn")
@files_argument
@options("files_from", "model", "start", "verbose", "quiet")
def unlearn_command(files: tuple[str, ...], model: str, start: str, quiet: bool, **given: Any) -> int:
    """Unlearn messages, whatever class they were learned as.

    The counts are then exactly as before.  Writes one line for each message to stdout: `forgotten` or
    `was never learned`, a tab, and its name.

    \b
    Example:
        nbspam unlearn message.eml

    Exit status: 0 done, also if a message was never learned;
    65 no sound model; 66 no such message or no model; 74 I/O; 75 try again later.
    """
    check_class(own_or_shared(model, start))
    return _each(given, files, model, start, quiet, partial(learn_all, model, None))


def _each(
    given: dict[str, Any], files: tuple[str, ...], model: str, start: str, quiet: bool, work: Work
) -> int:
    """Learn or unlearn in batches of one transaction each; an unreadable message does not stop the others."""
    messages = ReadableMessages({name: value for name, value in given.items() if value}, list(files))
    done: Counter[str] = Counter()
    for number, batch in enumerate(_batches(messages)):
        if number:
            time.sleep(LONGEST_PAUSE)  # another writer that waits has its turn
        if copy_shared(model, start) and not quiet:
            sys.stderr.write(begun_line(model, start))
        names, contents = zip(*batch, strict=True)
        for name, result in zip(names, work(contents, names), strict=True):
            write_text(f"{result}\t{plain(name)}\n")
            done[result] += 1
    if not quiet:
        counts = ", ".join(f"{count:,} {result.removeprefix('was ')}" for result, count in done.items())
        sys.stderr.write(f"{amount(done.total(), 'message')}{': ' + counts if counts else ''}.\n")
    return messages.status


def _batches(messages: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    """(name, bytes) of some messages at a time."""
    batch: list[tuple[str, bytes]] = []
    for message in messages:
        batch.append(message)
        if len(batch) == BATCH_MESSAGES or sum(len(data) for _, data in batch) >= BATCH_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch
