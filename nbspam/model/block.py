"""Blocks: the tokens of many messages as arrays of integers.

Token texts are one byte string and rows are compressed sparse rows over the columns of a lexicon, so a block
of 500 messages pickles in a millisecond.  A reader of mail numbers, hashes and sends each distinct token
once: its blocks share one lexicon.  Merging keeps every integer, so the result does not depend on how the
mail was cut into blocks.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice, pairwise
from threading import get_native_id

import numpy as np
from numpy.typing import NDArray

from nbspam.model.counts import Counts, Floats, Ints, join_texts, merge_columns, split_texts, take_texts
from nbspam.tokens import bag

SLICE_PAIRS = 60_000  # tokens of messages worked on at a time: bounds the memory of temporary arrays
# One value a message.
ROW_ARRAYS = ("labels", "dates", "has_words", "identities", "forms", "features")
DATED_SHARE = 0.9  # of the messages, for time order to mean anything


@dataclass(slots=True, eq=False)
class Lexicon:
    """Distinct tokens, a column each.

    keys  : int64 (n_columns,), token keys, distinct; ascending after merge_blocks
    views : uint8 (n_columns,), number of the token's view, see VIEW_NAMES
    texts : the tokens' texts in UTF-8, joined by line feeds (no token holds one)
    reader, first : these are the columns from `first` on in the lexicon of this reader of mail
    """

    keys: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    views: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    texts: bytes = b""
    reader: int = 0
    first: int = 0

    def extend(self, later: Lexicon) -> None:
        """Add the columns of another one at the end."""
        self.keys = np.concatenate([self.keys, later.keys])
        self.views = np.concatenate([self.views, later.views])
        self.texts = join_texts([self.texts, later.texts])


@dataclass(slots=True, eq=False)
class Block:
    """Messages (rows) over tokens (columns).

    lexicon : the columns; blocks may share it, and some may be in no row
    starts  : int64 (n_messages + 1,), where each row begins in columns and counts
    columns : int32 (n_pairs,), distinct tokens of each message
    counts  : int32 (n_pairs,), how often each occurs in it, >= 1
    labels  : int16 (n_messages,), class number, -1 unlabelled
    dates   : float64 (n_messages,), unix time of arrival, NaN unknown
    names   : display names of the messages
    has_words : bool (n_messages,), False for a message with neither header nor text
    identities : int64 (n_messages,), equal for all forms of a message, see identify_message
    forms  : int64 (n_messages,), the other bits of their digests, -1 where they are not known
    features : float64 (n_messages, n_features), NaN missing; no columns if they were not wanted
    """

    lexicon: Lexicon = field(default_factory=Lexicon)
    starts: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    columns: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    counts: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    labels: NDArray[np.int16] = field(default_factory=lambda: np.zeros(0, np.int16))
    dates: Floats = field(default_factory=lambda: np.zeros(0, np.float64))
    names: list[str] = field(default_factory=list)
    has_words: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    identities: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    forms: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    features: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def keys(self) -> Ints:
        """Token keys of the columns."""
        return self.lexicon.keys

    @property
    def views(self) -> NDArray[np.uint8]:
        """View numbers of the columns."""
        return self.lexicon.views

    @property
    def texts(self) -> bytes:
        """Texts of the columns, joined by line feeds."""
        return self.lexicon.texts

    def rows(self) -> Ints:
        """int64 (n_pairs,): the row of each pair."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.starts))

    def find_pairs(self, rows: Ints) -> Ints:
        """int64: where the pairs of some rows are, row after row."""
        lengths = np.diff(self.starts)[rows]
        places = np.repeat(self.starts[rows] - (np.cumsum(lengths) - lengths), lengths)
        places += np.arange(len(places))
        return np.asarray(places)

    def slices(self) -> list[slice]:
        """The rows, some after another: of SLICE_PAIRS, or a longer one alone; no rows are one slice."""
        places = np.arange(SLICE_PAIRS, len(self.columns), SLICE_PAIRS)
        cuts = {*np.searchsorted(self.starts, places).tolist(), len(self)} - {0}  # np.unique costs an import
        return [slice(*pair) for pair in pairwise([0, *sorted(cuts)])] or [slice(0, 0)]

    def digests(self) -> Ints:
        """int64 (n_messages,): equal for equal messages, see digest_message."""
        if (self.forms >= 0).all():
            return self.identities | self.forms
        totals = np.zeros(len(self), np.int64)
        for rows in self.slices():
            starts = self.starts[rows.start : rows.stop + 1]
            pairs = slice(starts[0], starts[-1])
            odd_counts = 2 * self.counts[pairs] + 1
            terms = self.keys[self.columns[pairs]] * odd_counts  # wraps at 64 bits, as meant
            sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(terms)])
            totals[rows] = np.diff(sums[starts - starts[0]])
        if self.features.shape[1]:
            totals += np.array(list(map(bag.digest_features, self.features.tolist())), np.int64)
        return np.asarray(self.identities | bag.find_form(totals))

    def count(self, n_classes: int) -> Counts:
        """The counts of the labelled rows, over the columns of the block, which have ascending keys."""
        documents = np.zeros((n_classes, len(self.keys)), np.int64)
        occurrences = np.zeros_like(documents)
        labels = np.repeat(self.labels, np.diff(self.starts))
        for k in range(n_classes):
            of_class = labels == k
            columns, counts = self.columns[of_class], self.counts[of_class]
            documents[k] = np.bincount(columns, minlength=len(self.keys))
            occurrences[k] = np.bincount(columns, weights=counts, minlength=len(self.keys))
        messages = np.bincount(self.labels[self.labels >= 0], minlength=n_classes)
        return Counts(self.keys, self.views, self.texts, documents, occurrences, messages)


class BlockBuilder:
    """Collects the tokens of messages into blocks, one after the other; each token is numbered once."""

    def __init__(self) -> None:
        # A new token gets the next number in C: 0.1 us a token, a loop takes 0.3.
        self._numbers: dict[str, int] = defaultdict(count().__next__)  # no token is in two views
        self._first = 0  # the number of the first token that no block before had
        self._begin()

    def _begin(self) -> None:
        self._tokens = array("I")  # view after view, message after message
        self._lengths: list[int] = []  # tokens of each view of each message
        self._rows: list[tuple[str, int, float, int, Sequence[float | None]]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def distinct(self) -> int:
        """Distinct tokens of all blocks so far: what the memory of the builder grows with."""
        return len(self._numbers)

    def occurrences(self) -> int:
        """Tokens of the messages of this block, repeats counted."""
        return len(self._tokens)

    def add(self, name: str, label: int, read: bag.Tokens) -> None:
        """One more message."""
        views = read.views()
        self._tokens.fromlist([*map(self._numbers.__getitem__, chain.from_iterable(views))])
        self._lengths += map(len, views)
        date = float("nan") if read.date is None else read.date
        self._rows.append((name, label, date, bag.identify_message(read), read.numeric))

    def build(self) -> Block:
        """The block of the messages added since the last one; its lexicon has only the tokens new in it.

        In a row the tokens are view by view in the order in which the block met them, whatever was read
        before it.
        """
        tokens = np.frombuffer(self._tokens, np.uint32)
        n_views = len(bag.READ_NUMBERS)
        lengths = np.array(self._lengths, np.int64).reshape(len(self), n_views)
        cells = np.repeat(np.arange(lengths.size), lengths.ravel())  # a view of a message each
        first_place = np.empty(self.distinct(), np.int64)
        first_place[tokens[::-1]] = np.arange(len(tokens))[::-1]
        ordered = np.sort((cells << 32) | first_place[tokens])  # sorting beats the hashing of np.unique
        begins = np.flatnonzero(np.diff(ordered, prepend=-1))
        distinct = ordered[begins]
        columns = tokens[distinct & 0xFFFFFFFF].astype(np.int32)
        views = np.array(bag.READ_NUMBERS, np.uint8)[(distinct >> 32) % n_views]
        names, labels, dates, identities, features = zip(*self._rows, strict=True)
        block = Block(
            lexicon=self._new_tokens(columns, views),
            starts=np.searchsorted(distinct >> 32, np.arange(len(self) + 1) * n_views),
            columns=columns,
            counts=np.diff(np.append(begins, len(ordered))).astype(np.int32),
            labels=np.array(labels, np.int16),
            dates=np.array(dates, np.float64),
            names=list(names),
            has_words=lengths[:, 0] + lengths[:, 1] > 0,  # header, body
            identities=np.array(identities, np.int64),
            forms=np.full(len(self), -1),
            features=np.array(features, np.float64).reshape(len(self), -1),  # None: NaN
        )
        self._begin()
        return block

    def _new_tokens(self, columns: NDArray[np.int32], views: NDArray[np.uint8]) -> Lexicon:
        """columns, views : of the tokens of the block"""
        first, n = self._first, self.distinct() - self._first
        new_views = np.zeros(n, np.uint8)
        is_new = columns >= first
        new_views[columns[is_new] - first] = views[is_new]
        texts = "\n".join([*islice(reversed(self._numbers), n)][::-1]).encode("utf-8", "replace")
        keys = np.frombuffer(bag.digest_tokens(split_texts(texts, n)), "<i8")[::2].astype(np.int64)
        keys[keys == bag.NOTAWORD_KEY] = 1
        self._first = self.distinct()
        return Lexicon(keys, new_views, texts, get_native_id(), first)


def merge_blocks(blocks: list[Block]) -> Block:
    """One block with the rows of all, in the order given, and ascending keys; every column is in a row."""
    if not blocks:
        return Block()
    used = {block.lexicon: np.zeros(len(block.lexicon.keys), bool) for block in blocks}
    for block in blocks:
        used[block.lexicon][block.columns] = True
    lexicon = blocks[0].lexicon
    if len(used) == 1 and used[lexicon].all() and (np.diff(lexicon.keys) > 0).all():
        columns = [block.columns for block in blocks]
        return blocks[0] if len(blocks) == 1 else _join_blocks(blocks, lexicon, columns)
    keys, places, origins = merge_columns([lexicon.keys[mask] for lexicon, mask in used.items()], "quicksort")
    origins = np.flatnonzero(np.concatenate([*used.values()]))[origins]
    place_of = {}
    for (lexicon, mask), place in zip(used.items(), places, strict=True):
        place_of[lexicon] = np.zeros(len(mask), np.int32)
        place_of[lexicon][mask] = place

    views = np.concatenate([lexicon.views for lexicon in used])[origins]
    texts = take_texts(join_texts([lexicon.texts for lexicon in used]), origins)
    columns = [place_of[block.lexicon][block.columns] for block in blocks]
    return _join_blocks(blocks, Lexicon(keys, views, texts), columns)


def _join_blocks(blocks: list[Block], lexicon: Lexicon, columns: list[NDArray[np.int32]]) -> Block:
    """One block with the rows of all.  columns : of each in the lexicon"""
    return Block(
        lexicon=lexicon,
        starts=_sum_lengths(np.concatenate([np.diff(block.starts) for block in blocks])),
        columns=np.concatenate(columns),
        counts=np.concatenate([block.counts for block in blocks]),
        names=[name for block in blocks for name in block.names],
        **{name: np.concatenate([getattr(block, name) for block in blocks]) for name in ROW_ARRAYS},
    )


def _sum_lengths(lengths: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def select_rows(block: Block, rows: Ints) -> Block:
    """The given rows in the given order, over the same columns."""
    if len(rows) == len(block) and np.array_equal(rows, np.arange(len(block))):
        return block  # a copy of all would take as much memory again
    pairs = block.find_pairs(rows)
    return replace(
        block,
        starts=_sum_lengths(np.diff(block.starts)[rows]),
        columns=block.columns[pairs],
        counts=block.counts[pairs],
        names=[block.names[row] for row in rows],
        **{name: getattr(block, name)[rows] for name in ROW_ARRAYS},
    )


def drop_columns(block: Block, kept: NDArray[np.bool_]) -> Block:
    """The messages without the tokens where `kept` is false; the columns keep their places.

    Their digests are those of messages that never had these tokens.
    """
    if kept.all():
        return block
    pairs = kept[block.columns]
    lengths = np.bincount(block.rows()[pairs], minlength=len(block))
    return replace(
        block,
        starts=_sum_lengths(lengths),
        columns=block.columns[pairs],
        counts=block.counts[pairs],
        forms=np.full(len(block), -1),
    )


def keep_views(block: Block, views: Sequence[int]) -> Block:
    """The messages with the tokens of some views, by number, as if there were no others."""
    wanted = np.isin(block.views, views)
    return block if wanted.all() else merge_blocks([drop_columns(block, wanted)])


def limit_to_words(block: Block, words: Ints) -> Block:
    """The messages over those of their tokens that are words, and NOTAWORD, which is every other token.

    words : int64, keys of a fixed vocabulary
    """
    kept = np.isin(block.keys, words) & (block.keys != bag.NOTAWORD_KEY)
    every = np.append(block.keys[kept], bag.NOTAWORD_KEY)
    order = np.argsort(every)
    keys = every[order]
    n = len(every)
    texts = join_texts([take_texts(block.texts, np.flatnonzero(kept)), bag.NOTAWORD.encode()])
    columns = np.searchsorted(keys, np.where(kept, block.keys, bag.NOTAWORD_KEY))
    distinct, where = np.unique(block.rows() * n + columns[block.columns], return_inverse=True)
    return replace(
        block,
        lexicon=Lexicon(
            keys, np.append(block.views[kept], np.uint8(bag.NOTAWORD_VIEW))[order], take_texts(texts, order)
        ),
        starts=np.searchsorted(distinct, np.arange(len(block) + 1) * n),
        columns=(distinct % n).astype(np.int32),
        counts=np.bincount(where, block.counts, len(distinct)).astype(np.int32),
        forms=np.full(len(block), -1),
    )


def sort_by_time(dates: Floats) -> Ints:
    """Rows by date; an undated message keeps its place after the one read before it."""
    dated = ~np.isnan(dates)
    if not dated.any():
        return np.arange(len(dates))
    filled = dates[np.maximum.accumulate(np.where(dated, np.arange(len(dates)), 0))]
    filled[np.isnan(filled)] = -np.inf
    return np.argsort(filled, kind="stable")


def is_dated(dates: Floats) -> bool:
    """True if enough dates are known, and not all the same, for time order to mean something."""
    datings = dates[~np.isnan(dates)]
    return bool((datings[1:] != datings[:1]).any()) and bool(np.isnan(dates).mean() <= 1 - DATED_SHARE)


def choose_rows(blocks: Sequence[Block], n: int, messages: Ints) -> list[Ints]:
    """About n of the labelled rows of some blocks, by block, in order: of each class its share, the latest.

    messages : int64 (n_classes,), for the shares
    The latest of all would be of one class where a folder of ham is older than that of spam.  Without dates
    the last read are not the latest, so they are chosen by their digests, which is at random.
    """
    ends = np.cumsum([0, *map(len, blocks)])
    if ends[-1] <= n:
        return [np.arange(len(block)) for block in blocks]
    dates = np.concatenate([block.dates for block in blocks])
    labels = np.concatenate([block.labels for block in blocks])
    digests = [] if is_dated(dates) else [block.digests() for block in blocks]
    order = np.argsort(np.concatenate(digests)) if digests else sort_by_time(dates)
    labels = labels[order]
    quotas = np.ceil(n * messages / max(int(messages.sum()), 1)).astype(np.int64)
    parts = [order[labels == k][-quota:] for k, quota in enumerate(quotas.tolist()) if quota]
    chosen = np.sort(np.concatenate(parts))
    parts = np.split(chosen, np.searchsorted(chosen, ends[1:-1]))
    return [part - begin for part, begin in zip(parts, ends[:-1], strict=True)]
