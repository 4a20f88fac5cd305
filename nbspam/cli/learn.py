"""`nbspam learn` and `nbspam unlearn`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from nbspam.cli.classify import ReadableMessages
from nbspam.cli.output import begun_line, write_text
from nbspam.cli.shared import asked_name, files_argument, options
from nbspam.cli.texts import amount, plain
from nbspam.store.connection import LONGEST_PAUSE
from nbspam.store.learn import check_class, learn_all, unlearn_all
from nbspam.tasks.start import copy_shared, own_or_shared

# One transaction: half a second, and most of what the disk does for one message serves them all.
BATCH_MESSAGES = 32
BATCH_BYTES = 4 << 20

# The messages of a batch and their names -> what became of each.
Work = Callable[[list[bytes], list[str]], list[str]]


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

    \b
    Example:
        nbspam learn spam < message.eml
        nbspam learn ham ~/Maildir/.NotJunk -m my.nbspam

    Exit status: 0 done, also if all was learned before; 64 usage, no such class; 65 no sound model;
    66 no such message or no model; 74 I/O; 75 try again later.
    """
    label = asked_name(class_name, "CLASS")
    check_class(own_or_shared(model, start), label)
    messages = _messages(files, given["files_from"])
    return _each(messages, model, start, quiet, lambda batch, names: learn_all(model, label, batch, names))


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
    messages = _messages(files, given["files_from"])
    return _each(messages, model, start, quiet, lambda batch, names: unlearn_all(model, batch, names))


def _messages(files: tuple[str, ...], files_from: str | None) -> ReadableMessages:
    return ReadableMessages({"files_from": files_from} if files_from else {}, list(files))


def _each(messages: ReadableMessages, model: str, start: str, quiet: bool, work: Work) -> int:
    """One transaction a batch, told when it is done; an unreadable message does not stop the others."""
    done: dict[str, int] = {}
    for number, (names, batch) in enumerate(_batches(messages)):
        if number:
            time.sleep(LONGEST_PAUSE)  # who waits to write looks that often, and has its turn here
        if copy_shared(model, start) and not quiet:
            sys.stderr.write(begun_line(model, start))
        for name, result in zip(names, work(batch, names), strict=True):
            write_text(f"{result}\t{plain(name)}\n")
            done[result] = done.get(result, 0) + 1
    if not quiet:
        counts = ", ".join(f"{count:,} {result.removeprefix('was ')}" for result, count in done.items())
        sys.stderr.write(f"{amount(sum(done.values()), 'message')}{': ' + counts if counts else ''}.\n")
    return messages.status


def _batches(messages: Iterable[tuple[str, bytes]]) -> Iterator[tuple[list[str], list[bytes]]]:
    """Names and bytes of some messages at a time."""
    names: list[str] = []
    batch: list[bytes] = []
    for name, data in messages:
        names.append(name)
        batch.append(data)
        if len(batch) == BATCH_MESSAGES or sum(map(len, batch)) >= BATCH_BYTES:
            yield names, batch
            names.clear()
            batch.clear()  # before the next is read: messages may be large
    if batch:
        yield names, batch
