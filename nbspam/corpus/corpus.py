"""A source read once: all its messages in one block, with what identifies them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from nbspam.corpus.executor import Workers
from nbspam.corpus.item import Item, Skipped
from nbspam.corpus.reading import IDENTITIES, WORDS, Progress, read_blocks
from nbspam.corpus.walk import MailFile
from nbspam.errors import NoInputError
from nbspam.model.block import Block, is_dated, keep_views, merge_blocks, sort_by_time
from nbspam.model.counts import Ints
from nbspam.settings import Settings
from nbspam.tokens import KeyedTokens
from nbspam.tokens.bag import VIEW_NAMES, number_views

BY_INDEX = "in the order of the index"
BY_DATE = "by date"
INTERLEAVED = "with classes interleaved, without usable dates"


class Corpus(NamedTuple):
    """Labelled messages.

    block      : a row a message, in the order read; every row is labelled
    classes    : class names in class order
    identities : a hash of each message's bytes and class name, see make_identity
    skipped    : (name, reason) of what could not be read
    by_index   : the order read is that of an index file, which is time
    reports    : see ReadShard
    """

    block: Block
    classes: tuple[str, ...]
    identities: list[bytes]
    skipped: Skipped
    by_index: bool
    reports: Mapping[str, KeyedTokens] = {}

    def digest(self, rows: Ints | None = None) -> str:
        """Identifies the set of these messages, or those of some rows.

        It does not depend on their order; the same message twice counts twice.
        64 hexadecimal digits: SHA-256 over the sorted SHA-256 of each identity.
        """
        chosen = self.identities if rows is None else [self.identities[row] for row in rows]
        return sha256(b"".join(sorted(sha256(identity).digest() for identity in chosen))).hexdigest()

    def restrict_to(self, settings: Settings) -> Corpus:
        """The same messages with the tokens that a way of scoring reads."""
        return self._replace(block=keep_views(self.block, list_views(settings)))

    def truth(self) -> Ints:
        """int64 (n,), class numbers."""
        return self.block.labels.astype(np.int64)


def list_views(settings: Settings) -> tuple[int, ...]:
    """The numbers of the views that a way of scoring reads."""
    numbers = number_views(settings.views)
    return tuple(number for number in numbers if getattr(settings, VIEW_NAMES[number], True))


def read_corpus(
    items: Iterable[Item | MailFile],
    classes: tuple[str, ...],
    jobs: int | Workers = 1,
    by_index: bool = False,
    progress: Progress | None = None,
    wanted: frozenset[str] = WORDS,
) -> Corpus:
    """Reads, parses and tokenises each message once.  NoInputError without any message.

    items, jobs : as of read_blocks
    """
    blocks: list[Block] = []
    skipped: Skipped = []
    identities: list[bytes] = []
    reports: dict[str, KeyedTokens] = {}
    for shard in read_blocks(items, classes, jobs, wanted | {IDENTITIES}):
        blocks.extend(shard.blocks)
        skipped.extend(shard.skipped)
        identities.extend(shard.identities)
        reports |= shard.reports
        if progress:
            progress(len(shard.identities))
    if not identities:
        raise NoInputError("evaluation", "no readable message was found", "check SOURCE", "no-mail")
    return Corpus(merge_blocks(blocks), classes, identities, skipped, by_index, reports)


def sort_in_time(corpus: Corpus) -> tuple[Ints, str]:
    """Rows from the oldest to the newest, and how they were ordered: BY_INDEX, BY_DATE, INTERLEAVED.

    A few undated messages among dated ones keep their place after the one read before them.  If most are
    undated, or all have one date, the order read is taken for time.  Classes are read one after the other,
    which is the order of no mailbox, so then each class is spread evenly over the whole.
    """
    if corpus.by_index:
        return np.arange(len(corpus.block)), BY_INDEX
    if is_dated(corpus.block.dates):
        return sort_by_time(corpus.block.dates), BY_DATE
    truth = corpus.truth()
    place = np.empty(len(truth))
    for number in np.unique(truth):
        rows = np.flatnonzero(truth == number)
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    return np.argsort(place, kind="stable"), INTERLEAVED
