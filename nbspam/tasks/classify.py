"""Many messages -> the text of each verdict, made by all cores, in the order of the mail."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice

from nbspam.corpus.executor import run_shards
from nbspam.corpus.item import Item, Notes, Skipped, file_items, reason_of
from nbspam.corpus.reading import SHARD_MESSAGES
from nbspam.corpus.source import SourcePart
from nbspam.filter import Filter, Verdict
from nbspam.model.posterior import Scored
from nbspam.tasks.judges import ModelJudge

MAILBOX_BYTES = 1 << 20  # a file of this size may be a mailbox that one process should not have alone

Unit = str | Item  # a message, or the path of a small file
Write = Callable[[Filter, Verdict], str]
Current = Callable[[Filter | None], Filter]


def units(paths: Iterable[str], stdin: Callable[[], Item], notes: Notes) -> Iterator[Unit]:
    """The mail of these files and folders in their order; what cannot be read is noted, or a unit.

    stdin : makes the message of the path `-`
    """
    for path in paths:
        if path == "-":
            yield stdin()
            continue
        for _, found, may_be_mbox in SourcePart(path).files(notes):
            if not may_be_mbox:
                yield Item(found, "", found)
            elif _is_small(found):
                yield found
            else:
                yield from file_items(found, "", notes)


def _is_small(path: str) -> bool:
    """True for a file that one process opens and reads at once, and for one that cannot be read."""
    try:
        status = os.stat(path)
    except OSError:
        return True
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAILBOX_BYTES


def classify_many(
    mail: Iterable[Unit], current: Current, write: Write, jobs: int, with_clues: bool = False
) -> Generator[tuple[str, Skipped], None, None]:
    """(the texts of some verdicts, what could not be read), in the order of the mail.

    current : the filter to judge with next, from the one that judged last; None in a new process
    write   : the text of a verdict
    """
    stream = iter(mail)
    shards = iter(lambda: list(islice(stream, SHARD_MESSAGES)), [])
    yield from run_shards(_Work(current, write, with_clues), shards, jobs)


class _Work:
    """Judges one shard; the callable of the worker processes."""

    def __init__(self, current: Current, write: Write, with_clues: bool) -> None:
        self._current, self._write, self._with_clues = current, write, with_clues
        self._judge: ModelJudge | None = None

    def __call__(self, mail: list[Unit]) -> tuple[str, Skipped]:
        spam_filter = self._current(self._judge.filter if self._judge else None)
        if self._judge is None or self._judge.filter is not spam_filter:
            self._judge = ModelJudge(spam_filter)
        notes = Notes()
        judge = self._one_by_one if self._with_clues else self._in_blocks
        verdicts = judge(self._judge, _items(mail, notes), notes.skipped)
        return "".join([self._write(spam_filter, verdict) for verdict in verdicts]), notes.skipped

    def _in_blocks(self, judge: ModelJudge, items: Iterable[Item], skipped: Skipped) -> Iterator[Verdict]:
        spam_filter = judge.filter
        shard = judge.read([*items])
        skipped += shard.skipped
        for block in shard.blocks:
            for name, joint in zip(block.names, judge.joints(block), strict=True):
                yield Verdict(name, Scored(joint, []), spam_filter.classes, spam_filter.loss)

    def _one_by_one(self, judge: ModelJudge, items: Iterable[Item], skipped: Skipped) -> Iterator[Verdict]:
        for item in items:
            try:
                data = item.read()
            except OSError as error:
                skipped.append((item.name, reason_of(error)))
            else:
                yield judge.filter.classify(data, item.name)


def _items(mail: Iterable[Unit], notes: Notes) -> Iterator[Item]:
    for unit in mail:
        if isinstance(unit, Item):
            yield unit
        else:
            yield from file_items(unit, "", notes, held=True)
