"""Many messages judged by a saved model: all cores read shards and score them in blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from nbspam.corpus.corpus import list_views
from nbspam.corpus.executor import run_shards
from nbspam.corpus.item import Item, Skipped, read_items
from nbspam.corpus.reading import ReadShard, ShardReader, cut_shards, join_lexicons
from nbspam.decision import Verdict
from nbspam.filter import Filter
from nbspam.model.block import Block, Lexicon, drop_columns
from nbspam.model.calibrate import score_new_rows, trust_rows
from nbspam.model.counts import Counts, Floats, Ints, Totals, split_texts
from nbspam.model.posterior import Scored, can_judge
from nbspam.model.scorer import Scorer
from nbspam.model.views import as_counted, compute_evidence
from nbspam.store.connection import OneState
from nbspam.tokens import Counted
from nbspam.tokens.bag import HEADER_VIEW, N_VIEWS, RAW_VIEW, Tokens

if TYPE_CHECKING:
    from nbspam.model.protocols import ModelCounts

NO_WORDS = Counted(Tokens())
Write = Callable[[Filter, Verdict], str]
Current = Callable[[Filter | None], Filter]


class RowTokens(Counted):
    """The tokens of one message of a block, as a Scorer takes them."""

    __slots__ = ()

    def __init__(self, block: Block, row: int, texts: Sequence[bytes]) -> None:
        """texts : of all columns, see list_texts"""
        self.features: Sequence[float | None] = block.features[row].tolist()
        self._digest = 0  # it is scored, never learned
        self.tokens = [{} for _ in range(N_VIEWS)]
        pairs = slice(block.starts[row], block.starts[row + 1])
        columns = block.columns[pairs]
        arrays = (columns, block.keys[columns], block.views[columns], block.counts[pairs])
        for column, key, view, times in zip(*[array.tolist() for array in arrays], strict=True):
            self.tokens[view][key] = (texts[column].decode("utf-8", "replace"), times)


def list_texts(block: Block) -> list[bytes]:
    """The texts of all columns."""
    return split_texts(block.texts, len(block.keys))


class ModelJudge:
    """Reads shards of mail and scores them by a saved model, as its filter scores one message after another.

    Each distinct token is looked up once, as long as the model does not change.
    """

    def __init__(self, spam_filter: Filter) -> None:
        self.filter = spam_filter
        self._reader = ShardReader(spam_filter.classes, spam_filter.settings.wanted)
        self._lexicons: dict[int, Lexicon] = {}
        self._looked_up: tuple[Scorer, Lexicon] | None = None
        self._cells = np.zeros((0, 0), np.int64)  # the counts of the lexicon's tokens, see Model.counts

    def read(self, mail: Iterable[Item]) -> ReadShard:
        """The messages of a shard."""
        shard = self._reader(mail)
        join_lexicons(shard.blocks, self._lexicons)
        return shard

    def verdicts(self, block: Block) -> Iterator[Verdict]:
        """The verdict on each message, by the model as it is now; of averaged views without clues.

        One sum (the textbook) is scored message by message.
        """
        spam_filter = self.filter
        with OneState(spam_filter.model.connection):
            spam_filter.refresh()
            scorer = spam_filter.scorer
            if not (scorer.settings.averaged and can_judge(True, scorer.model.messages)):
                texts = list_texts(block)
                for row, name in enumerate(block.names):
                    yield spam_filter.judge(RowTokens(block, row, texts), name)
                return
            block, counts = self._look_up(block)
            weights = np.array(scorer.weights)
            joints = score_new_rows(weights, block, counts, scorer.settings, scorer.model.classes)
            for row, (name, joint) in enumerate(zip(block.names, joints.tolist(), strict=True)):
                if block.has_words[row]:
                    yield Verdict(name, Scored(joint, []), spam_filter.classes, spam_filter.loss)
                else:
                    yield spam_filter.judge(NO_WORDS, name)

    def joints(self, block: Block) -> Floats:
        """The log joints of the verdicts, float64 (n, n_classes), nats, up to a constant a message."""
        return np.array([verdict.scored.scores for verdict in self.verdicts(block)])

    def count_strange(self, block: Block) -> int:
        """How many of the messages are unlike the mail of training: those whose trust is below a half."""
        scorer = self.filter.scorer
        if not (scorer.settings.damped and can_judge(True, scorer.model.messages)):
            return 0
        block, counts = self._look_up(block)
        asked = drop_columns(block, np.isin(block.views, (HEADER_VIEW, RAW_VIEW)))
        found = compute_evidence(as_counted(asked, counts), scorer.settings)
        return int((trust_rows(asked, counts, found) < 0.5).sum())

    def _look_up(self, block: Block) -> tuple[Block, Counts]:
        """A block with the views that are scored, and the counts of the tokens of the whole block."""
        scorer = self.filter.scorer
        if self._looked_up != (scorer, block.lexicon):
            self._looked_up = scorer, block.lexicon
            self._cells = np.zeros((2 * len(scorer.model.classes), 0), np.int64)
        new = look_up_cells(scorer.model, block.keys[self._cells.shape[1] :])
        self._cells = np.hstack([self._cells, new])
        counts = counts_of(scorer.model, block, self._cells)
        return drop_columns(block, np.isin(block.views, list_views(scorer.settings))), counts


def look_up_cells(model: ModelCounts, keys: Ints) -> Ints:
    """The counts of some tokens, see Model.counts; 0 of those that the model does not know.

    Returns int64 (2 n_classes, n): documents_0, occurrences_0, documents_1, ...
    """
    order = np.argsort(keys)
    rows = model.counts(keys[order].tolist())
    found = np.array([*chain.from_iterable(rows.values())])
    cells = np.zeros((2 * len(model.classes), len(keys)), np.int64)
    places = np.searchsorted(keys, np.fromiter(rows, np.int64, len(rows)), sorter=order)
    cells[:, order[places]] = found.reshape(len(rows), len(cells)).T
    return cells


def counts_of(model: ModelCounts, block: Block, cells: Ints) -> Counts:
    """The counts that a model has for the tokens of a block, and its totals.  cells : see look_up_cells"""
    is_fixed = model.settings.get("vocabulary") == "fixed"
    arrays = (cells[::2], cells[1::2], np.array(model.messages))
    counts = Counts(block.keys, block.views, b"", *arrays, is_fixed)
    counts.totals = Totals(np.array(model.words), np.array(model.documents), np.array(model.occurrences))
    return counts


def classify_many(
    mail: Iterable[Item], current: Current, write: Write, jobs: int, with_clues: bool = False
) -> Generator[tuple[str, Skipped], None, None]:
    """(the texts of some verdicts, what could not be read), in the order of the mail.

    current : the filter to judge with next, from the one that judged last; None in a new process
    write   : the text of a verdict
    """
    judge: ModelJudge | None = None  # of this process: each is a copy of the first

    def work(shard: list[Item]) -> tuple[str, Skipped]:
        nonlocal judge
        spam_filter = current(judge.filter if judge else None)
        if judge is None or judge.filter is not spam_filter:
            judge = ModelJudge(spam_filter)
        skipped: Skipped = []
        verdicts = (_classify_each if with_clues else _classify_blocks)(judge, shard, skipped)
        return "".join([write(spam_filter, verdict) for verdict in verdicts]), skipped

    yield from run_shards(work, cut_shards(mail), jobs)


def _classify_blocks(judge: ModelJudge, mail: Iterable[Item], skipped: Skipped) -> Iterator[Verdict]:
    shard = judge.read(mail)
    skipped += shard.skipped
    for block in shard.blocks:
        yield from judge.verdicts(block)


def _classify_each(judge: ModelJudge, mail: Iterable[Item], skipped: Skipped) -> Iterator[Verdict]:
    for item, data in read_items(mail, skipped):
        yield judge.filter.classify(data, item.name)
