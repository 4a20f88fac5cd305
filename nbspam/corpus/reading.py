"""Items to blocks: read, tokenise and number many messages, in parallel.

The compiled core reads in threads, because it needs no interpreter's lock; Python reads in processes.  A
shard is some messages.  One that cannot be read is skipped and named; it never ends a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import islice
from threading import get_native_id
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus import split_report, unwrap
from nbspam.corpus.executor import Workers, run_in_threads, run_shards
from nbspam.corpus.item import Item, Skipped, read_items
from nbspam.errors import log_faults
from nbspam.limits import MAX_READ_BYTES
from nbspam.model.block import Block, BlockBuilder, Lexicon
from nbspam.model.counts import Counts
from nbspam.tokens import KeyedTokens, choose_core, count_tokens, read, read_in_python
from nbspam.tokens.bag import DATE, Tokens, identify_message

SHARD_MESSAGES = 150  # fewer make blocks of few repeats; more leave a core idle at the end
BATCH_BYTES = 1 << 18  # of messages that a builder reads at once
MAX_OCCURRENCES = 500_000  # of tokens in a block, 12 MB
MAX_DISTINCT = 100_000  # tokens that a process has numbered when it begins anew, 15 MB
MAX_TABLE_BYTES = 8_000_000  # of as many tokens in the core
WORDS: frozenset[str] = frozenset()  # nothing in addition to the words is wanted
IDENTITIES = "identities"  # wanted of read_blocks, see make_identity
REPORTS = "reports"  # wanted of a ShardReader whose mail a saved model judges

MailT = TypeVar("MailT")
Progress = Callable[[int], object]  # called with a number of messages, or of other steps, that are done


class ReadShard(NamedTuple):
    """The messages of a shard.

    skipped    : what could not be read
    identities : of the messages, if they are wanted
    reports    : the reports of SpamAssassin that messages were in, by name, if they are wanted
    """

    blocks: list[Block]
    skipped: Skipped
    identities: list[bytes]
    reports: dict[str, KeyedTokens]


def make_identity(data: bytes, label: str) -> bytes:
    """Identifies a labelled message by its bytes (of a long one, those that are scored) and its class.

    It does not change with the tokenizer, so evaluations by different versions can be compared.
    """
    return blake2b(data[:MAX_READ_BYTES], digest_size=16, person=b"nbspam").digest() + label.encode()


def read_messages(
    items: Iterable[Item], skipped: Skipped, wanted: frozenset[str] = WORDS
) -> Iterator[tuple[Item, Tokens]]:
    """The messages with their tokens; those that cannot be read go to `skipped` with the reason."""
    for item, data in read_items(items, skipped):
        tokens = read(unwrap(data), wanted, item.name)
        log_faults(item.name, tokens.failures)
        yield item, tokens


class Mail(NamedTuple):
    """A message to be read.  label : the number of its class"""

    name: str
    label: int
    data: bytes


class PythonBuilder(BlockBuilder):
    """Builds blocks of mail that Python reads."""

    def __init__(self, wanted: frozenset[str]) -> None:
        super().__init__()
        self._wanted = wanted

    def read(self, messages: Sequence[Mail]) -> int:
        """Add messages until the block is full: how many."""
        for number, (name, label, data) in enumerate(messages, 1):
            tokens = read(data, self._wanted, name)
            log_faults(name, tokens.failures)
            self.add(name, label, tokens)
            if self.occurrences() > MAX_OCCURRENCES:
                return number
        return len(messages)

    def is_full(self) -> bool:
        """True if another builder goes on."""
        return self.distinct() > MAX_DISTINCT


@dataclass(slots=True, eq=False)
class OpenLexicon(Lexicon):
    """The columns of a builder of the core that counts: nobody knows them before it is closed."""

    core: Any = None
    builder: Any = None


class CoreBuilder:
    """The same of mail that the compiled core reads and numbers: equal arrays, without strings of Python."""

    def __init__(
        self, core: Any, wanted: frozenset[str], n_classes: int = 0, most_bytes: int = MAX_TABLE_BYTES
    ) -> None:
        """n_classes : count the messages by class, see close_lexicons; 0: only their blocks are wanted

        most_bytes : of the tokens when the builder is full, so that another one goes on
        """
        self._builder = core.Builder(list(wanted), n_classes, most_bytes)
        lexicon = OpenLexicon(reader=get_native_id(), core=core, builder=self._builder)
        self._open = lexicon if n_classes else None
        self._wanted = wanted
        self._rows: list[tuple[str, int, float]] = []
        self.is_full, self.occurrences = self._builder.is_full, self._builder.occurrences

    def __len__(self) -> int:
        return len(self._rows)

    def read(self, messages: Sequence[Mail]) -> int:
        """Add messages until the block is full, or one was left to Python: how many."""
        labels = [mail.label for mail in messages]
        dates = self._builder.read([mail.data for mail in messages], labels, MAX_OCCURRENCES)
        for (name, label, data), date in zip(messages, dates, strict=False):
            date = self._read_in_python(name, label, data) if date is None else date
            self._rows.append((name, label, date))
        return len(dates)

    def _read_in_python(self, name: str, label: int, data: bytes) -> float:
        """Add one message that the core has left: its date."""
        tokens = read_in_python(data, self._wanted, name)
        log_faults(name, tokens.failures)
        views = ["\n".join(view).encode("utf-8", "replace") for view in tokens.views()]
        self._builder.add(views, identify_message(tokens), label)
        return float("nan") if tokens.date is None else tokens.date

    def build(self) -> Block:
        """The block of the messages added since the last one, see BlockBuilder.build."""
        arrays = self._builder.build()
        names, labels, dates = zip(*self._rows, strict=True)
        self._rows = []
        return Block(
            lexicon=self._open or _read_lexicon(arrays, get_native_id(), arrays["first"]),
            starts=np.frombuffer(arrays["starts"], np.int64),
            columns=np.frombuffer(arrays["columns"], np.int32),
            counts=np.frombuffer(arrays["counts"], np.int32),
            labels=np.array(labels, np.int16),
            dates=np.array(dates, np.float64),
            names=list(names),
            has_words=np.frombuffer(arrays["has_words"], np.bool_),
            identities=np.frombuffer(arrays["identities"], np.int64),
            forms=np.frombuffer(arrays["forms"], np.int64),
            features=np.zeros((len(names), 0)),
        )


def _read_lexicon(arrays: dict[str, Any], *place: int) -> Lexicon:
    """place : reader and first of the Lexicon"""
    keys, views = np.frombuffer(arrays["keys"], np.int64), np.frombuffer(arrays["views"], np.uint8)
    return Lexicon(keys, views, arrays["texts"], *place)


def close_lexicons(
    lexicons: Sequence[OpenLexicon], n_classes: int
) -> tuple[Counts, dict[Lexicon, NDArray[np.int32]]]:
    """What the builders of some lexicons have counted, added up, and where each of their columns is there.

    The builders are empty then.
    """
    arrays = lexicons[0].core.add_up_builders([lexicon.builder for lexicon in lexicons])
    whole = _read_lexicon(arrays)
    rows = np.frombuffer(arrays["counts"], np.int64).reshape(-1, n_classes, 2)
    documents, occurrences = np.ascontiguousarray(rows.T)
    messages = np.zeros(n_classes, np.int64)
    counts = Counts(whole.keys, whole.views, whole.texts, documents, occurrences, messages)
    places = [np.frombuffer(places, np.int32) for places in arrays["places"]]
    return counts, dict(zip(lexicons, places, strict=True))


class ShardReader:
    """Blocks of the messages of one shard after another, with the numbers of their classes.

    The first block after a restart has the whole lexicon of its tokens; the next ones only what is new.
    """

    def __init__(self, classes: tuple[str, ...], wanted: frozenset[str], counted_bytes: int = 0) -> None:
        """counted_bytes : of the tables of a core that counts, see close_lexicons; 0: it does not"""
        self._labels = {name: number for number, name in enumerate(classes)}
        self._wanted = wanted
        self._counting = (len(classes), counted_bytes) if counted_bytes else ()
        self._builder = self._begin()

    def _begin(self) -> PythonBuilder | CoreBuilder:
        core = choose_core(self._wanted)
        return CoreBuilder(core, self._wanted, *self._counting) if core else PythonBuilder(self._wanted)

    def __call__(self, items: Iterable[Item]) -> ReadShard:
        shard = ReadShard([], [], [], {})
        waiting: list[Mail] = []
        size_bytes = 0
        for item, data in read_items(items, shard.skipped):
            if IDENTITIES in self._wanted:
                shard.identities.append(make_identity(data, item.label))
            data, report = split_report(data)
            if report and REPORTS in self._wanted:
                shard.reports[item.name] = count_tokens(report, self._wanted, item.name)
            waiting.append(Mail(item.name, self._labels.get(item.label, -1), data))
            size_bytes += len(data)
            if size_bytes > BATCH_BYTES:
                self._read(waiting, shard)
                waiting, size_bytes = [], 0
        self._read(waiting, shard)
        if len(self._builder):
            self._build(shard)
        return shard

    def _read(self, messages: list[Mail], shard: ReadShard) -> None:
        """Add messages to the block, and blocks that become full to the shard."""
        while messages:
            messages = messages[self._builder.read(messages) :]
            if self._builder.occurrences() > MAX_OCCURRENCES:
                self._build(shard)

    def _build(self, shard: ReadShard) -> None:
        shard.blocks.append(self._builder.build())
        if self._builder.is_full():
            self._builder = self._begin()


def read_blocks(
    units: Iterable[Any],
    classes: tuple[str, ...],
    jobs: int | Workers,
    wanted: frozenset[str] = WORDS,
    counted_bytes: int = 0,
) -> Iterator[ReadShard]:
    """Blocks in the order of the mail, a shard at a time; those of one reader share a lexicon.

    units : a cluster reads MailFiles
    counted_bytes : see ShardReader
    """
    lexicons: dict[int, Lexicon] = {}  # by reader
    wanted |= {DATE}
    make_reader = partial(ShardReader, classes, wanted, counted_bytes)
    if not isinstance(jobs, int):
        parts = jobs.read(units, classes, wanted)
    elif choose_core(wanted):
        parts = run_in_threads(make_reader, cut_shards(units), jobs)
    else:
        parts = run_shards(make_reader(), cut_shards(units), jobs)
    for shard in parts:
        join_lexicons(shard.blocks, lexicons)
        yield shard


def join_lexicons(blocks: list[Block], lexicons: dict[int, Lexicon]) -> None:
    """Give each block all tokens that its reader has numbered.  lexicons : by reader, brought up to date"""
    for block in blocks:
        new = block.lexicon
        if new.first:
            block.lexicon = lexicons[new.reader]
            block.lexicon.extend(new)
        lexicons[new.reader] = block.lexicon


def cut_shards(items: Iterable[MailT]) -> Iterator[list[MailT]]:
    """Mail cut into pieces of work."""
    stream = iter(items)
    while shard := list(islice(stream, SHARD_MESSAGES)):
        yield shard
