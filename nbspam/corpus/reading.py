"""Items of a source -> counted blocks: read, parse, tokenise, number.

Hides how the work is cut into shards.  A shard is some messages; an unreadable one is
skipped and named, never fatal.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from nbspam.corpus import Item
from nbspam.corpus.executor import run_shards
from nbspam.corpus.item import Skipped
from nbspam.errors import log_faults
from nbspam.mail.limits import MAX_READ_BYTES
from nbspam.model.block import Block, BlockBuilder
from nbspam.tokens import DATE, read

SHARD_MESSAGES = 150  # fewer make blocks of few repeats; more leave a core idle at the end
MAX_COLUMNS = 120_000  # distinct tokens after which a block is closed, which bounds a worker's memory

BlocksRead = tuple[list[Block], Skipped]  # of one shard
Progress = Callable[[int, int], None]  # is told so many more messages, and their bytes


WORDS: frozenset[str] = frozenset()  # nothing but words is wanted


class ShardReader:
    """Counts one shard; the callable of the worker processes."""

    def __init__(self, classes: tuple[str, ...], wanted: frozenset[str] = WORDS) -> None:
        self._numbers = {name: number for number, name in enumerate(classes)}
        self._wanted = wanted | {DATE}

    def __call__(self, items: list[Item]) -> BlocksRead:
        with _no_collection():
            return self._read(items)

    def _read(self, items: list[Item]) -> BlocksRead:
        blocks: list[Block] = []
        skipped: Skipped = []
        builder = BlockBuilder()
        for item, data in readable(items, skipped):
            tokens = read(data, self._wanted)
            log_faults(item.name, tokens.failures)
            builder.add(item.name, self._numbers.get(item.label, -1), tokens, len(data))
            if builder.n_columns() > MAX_COLUMNS:
                blocks.append(builder.build())
                builder = BlockBuilder()
        if len(builder):
            blocks.append(builder.build())
        return blocks, skipped


def readable(items: Iterable[Item], skipped: Skipped) -> Iterator[tuple[Item, bytes]]:
    """The messages with their bytes; those that cannot be read go to `skipped` with the reason."""
    for item in items:
        try:
            data = item.read(MAX_READ_BYTES)
        except OSError as error:
            skipped.append((item.name, error.strerror or "cannot be read"))
        else:
            yield item, data


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Without the search for cycles, a fifth of the time: tokens are many, and none is part of a cycle."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def read_blocks(
    items: Iterable[Item], classes: tuple[str, ...], jobs: int, wanted: frozenset[str] = WORDS
) -> Iterator[BlocksRead]:
    """Blocks in the order of the items, a shard at a time."""
    return run_shards(ShardReader(classes, wanted), shards(items), jobs)


def shards(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items cut into pieces of work."""
    stream = iter(items)
    while shard := list(islice(stream, SHARD_MESSAGES)):
        yield shard
