"""Items to blocks: read, tokenise and number many messages, in parallel.

A shard is some messages.  One that cannot be read is skipped and named; it never ends a run.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from nbspam.corpus.executor import run_shards
from nbspam.corpus.item import Item, Skipped, reason_of
from nbspam.errors import log_faults
from nbspam.mail.limits import MAX_READ_BYTES
from nbspam.model.block import Block, BlockBuilder
from nbspam.tokens import DATE, Tokens, read

SHARD_MESSAGES = 150  # fewer make blocks of few repeats; more leave a core idle at the end
MAX_COLUMNS = 120_000  # distinct tokens after which a block is closed, which bounds a worker's memory
WORDS: frozenset[str] = frozenset()  # nothing in addition to the words is wanted

Progress = Callable[[int, int], None]  # called with a number of messages and their bytes


class ReadMessage(NamedTuple):
    """One message that was read.  identity : see identity_of"""

    item: Item
    tokens: Tokens
    size_bytes: int
    identity: bytes


class ReadShard(NamedTuple):
    """The blocks of a shard, what could not be read, and the identities of the messages in the blocks."""

    blocks: list[Block]
    skipped: Skipped
    identities: list[bytes]


def identity_of(data: bytes, label: str) -> bytes:
    """Identifies a labelled message by its bytes (of a long one, those that are scored) and its class.

    It does not change with the tokenizer, so evaluations by different versions can be compared.
    """
    return blake2b(data[:MAX_READ_BYTES], digest_size=16, person=b"nbspam").digest() + label.encode()


def read_messages(
    items: Iterable[Item], skipped: Skipped, wanted: frozenset[str] = WORDS
) -> Iterator[ReadMessage]:
    """The messages with their tokens; those that cannot be read go to `skipped` with the reason."""
    for item in items:
        try:
            data = item.read()
        except OSError as error:
            skipped.append((item.name, reason_of(error)))
            continue
        tokens = read(data, wanted)
        log_faults(item.name, tokens.failures)
        yield ReadMessage(item, tokens, len(data), identity_of(data, item.label))


def read_shard(classes: tuple[str, ...], wanted: frozenset[str], items: list[Item]) -> ReadShard:
    """Blocks of the messages of one shard, with the numbers of their classes."""
    numbers = {name: number for number, name in enumerate(classes)}
    found = ReadShard([], [], [])
    builder = BlockBuilder()
    collects = gc.isenabled()
    gc.disable()  # the search for cycles takes a fifth of the time: tokens are many, and none is part of one
    try:
        for item, tokens, size_bytes, identity in read_messages(items, found.skipped, wanted | {DATE}):
            builder.add(item.name, numbers.get(item.label, -1), tokens, size_bytes)
            found.identities.append(identity)
            if builder.n_columns() > MAX_COLUMNS:
                found.blocks.append(builder.build())
                builder = BlockBuilder()
        if len(builder):
            found.blocks.append(builder.build())
    finally:
        if collects:
            gc.enable()
    return found


def read_blocks(
    items: Iterable[Item], classes: tuple[str, ...], jobs: int, wanted: frozenset[str] = WORDS
) -> Iterator[ReadShard]:
    """Blocks in the order of the items, a shard at a time."""
    return run_shards(partial(read_shard, classes, wanted), shards(items), jobs)


def shards(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items cut into pieces of work."""
    stream = iter(items)
    while shard := list(islice(stream, SHARD_MESSAGES)):
        yield shard
