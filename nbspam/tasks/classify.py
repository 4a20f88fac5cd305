"""Many messages judged by a saved model: all cores read shards, which are scored in blocks.

Where threads of the compiled core read, one judge scores what they have read.  Else each process reads and
judges: where Python reads, and where messages are judged one by one, for their clues or by one sum.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from nbspam.corpus.corpus import list_views
from nbspam.corpus.executor import run_in_threads, run_shards
from nbspam.corpus.item import Item, Skipped, read_items
from nbspam.corpus.reading import REPORTS, ReadShard, ShardReader, cut_shards, join_lexicons
from nbspam.decision import Verdict
from nbspam.errors import DamagedModelError
from nbspam.filter import Filter
from nbspam.model.block import Block, Lexicon, drop_columns
from nbspam.model.calibrate import score_new_rows, trust_rows
from nbspam.model.counts import Counts, Floats, Ints, ViewSums, find_places, split_texts, take_columns
from nbspam.model.posterior import Scored, can_judge
from nbspam.model.protocols import ReadableModel
from nbspam.model.views import as_counted, compute_evidence
from nbspam.store.reader import MAX_COUNT, ODD_COUNT
from nbspam.tokens import KeyedTokens, choose_core, key_tokens
from nbspam.tokens.bag import HEADER_VIEW, N_VIEWS, RAW_VIEW, Tokens

NO_WORDS = key_tokens(Tokens())
# Of a model's tokens: to look up one takes four times as long as to read one of all.
ASKED_SHARE = 0.1
Write = Callable[[Filter, Verdict], str]
Current = Callable[[Filter | None], Filter]


class RowTokens(KeyedTokens):
    """The tokens of one message of a block, as a Scorer takes them."""

    __slots__ = ()

    def __init__(self, block: Block, row: int, texts: Sequence[bytes]) -> None:
        """texts : of all columns, see list_texts"""
        self.features: Sequence[float | None] = block.features[row].tolist()
        self._digest = 0  # it is scored, never learned
        self.report = None
        self.tokens = [{} for _ in range(N_VIEWS)]
        pairs = slice(block.starts[row], block.starts[row + 1])
        columns = block.columns[pairs]
        arrays = (columns, block.keys[columns], block.views[columns], block.counts[pairs])
        for column, key, view, times in zip(*[array.tolist() for array in arrays], strict=True):
            self.tokens[view][key] = (texts[column].decode("utf-8", "replace"), times)


def list_texts(block: Block) -> list[bytes]:
    """The texts of all columns."""
    return split_texts(block.texts, len(block.keys))


class TokenDocuments:
    """The documents of tokens in the model of a filter as it is now: n_jk, 0 of those that it does not know.

    Tokens are looked up until so many were asked for that it is faster to read all; of an overlay always.
    """

    def __init__(self, spam_filter: Filter) -> None:
        self.scorer = spam_filter.scorer  # another one after a change of the model
        self._model = spam_filter.model
        self._asked = 0
        self._keys: Ints | None = None  # of all tokens, ascending
        self._documents = np.zeros((0, 0), np.int64)

    def find(self, keys: Ints) -> Ints:
        """int64 (n_classes, n)."""
        self._asked += len(keys)
        if self._keys is None and not self._model.base and self._asked > ASKED_SHARE * sum(self._model.words):
            slices = [_parse_slice(self._model.path, some) for some in self._model.stream_documents()]
            columns = np.concatenate(slices, axis=1)
            self._keys, self._documents = columns[0], columns[1:]
        if self._keys is None:
            return look_up_documents(self._model, keys)
        order = np.argsort(keys)  # places of keys in order are found in a third of the time
        documents = np.empty((len(self._documents), len(keys)), np.int64)
        documents[:, order] = take_columns(self._documents, find_places(self._keys, keys[order]))
        return documents


def _parse_slice(path: str, columns: Sequence[str]) -> Ints:
    """int64 (1 + n_classes, n), ascending by key: what Model.stream_documents has of some tokens."""
    odd = "".join(columns[1:]).encode().translate(None, b",0123456789")
    with contextlib.suppress(ValueError):  # of columns of different lengths
        numbers = np.array([np.fromstring(column, np.int64, sep=",") for column in columns])
        if not odd and numbers[1:].max(initial=0) <= MAX_COUNT:
            return numbers[:, np.argsort(numbers[0], kind="stable")]
    raise DamagedModelError(path, ODD_COUNT)


class ModelJudge:
    """Reads shards of mail and scores them by a saved model, as its filter scores one message after another.

    Each distinct token is looked up once, as long as the model does not change.
    """

    def __init__(self, spam_filter: Filter) -> None:
        self.filter = spam_filter
        self.wanted = spam_filter.settings.wanted | {REPORTS}
        self._reader: ShardReader | None = None
        self._lexicons: dict[int, Lexicon] = {}
        self._documents: TokenDocuments | None = None
        self._looked_up: dict[int, tuple[Lexicon, Ints]] = {}  # by reader of mail, with the documents

    @property
    def is_of_blocks(self) -> bool:
        """True if messages are scored in blocks: views are averaged, and there are counts to judge by."""
        scorer = self.filter.scorer
        return scorer.settings.averaged and can_judge(True, scorer.model.messages)

    def read(self, mail: Iterable[Item]) -> ReadShard:
        """The messages of a shard."""
        self._reader = self._reader or ShardReader(self.filter.classes, self.wanted)
        shard = self._reader(mail)
        join_lexicons(shard.blocks, self._lexicons)
        return shard

    def verdicts(self, block: Block, reports: Mapping[str, KeyedTokens]) -> Iterator[Verdict]:
        """The verdict on each message, by the model as it is now; of averaged views without clues.

        reports : of ReadShard, which decide as in Filter.judge
        """
        with self.filter.model.one_state():
            self.filter.refresh()
            for verdict in self._judge_rows(block):
                report = reports.get(verdict.name)
                other = self.filter.judge(report, verdict.name) if report else verdict
                yield other if other.is_spammier(verdict) else verdict

    def _judge_rows(self, block: Block) -> Iterator[Verdict]:
        """The verdicts on the rows; one sum (the textbook) is scored message by message."""
        spam_filter, scorer = self.filter, self.filter.scorer
        if not self.is_of_blocks:
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

    def joints(self, block: Block, reports: Mapping[str, KeyedTokens] = {}) -> Floats:
        """The log joints of the verdicts, float64 (n, n_classes), nats, up to a constant a message."""
        return np.array([verdict.scored.scores for verdict in self.verdicts(block, reports)])

    def count_strange(self, block: Block) -> int:
        """How many of the messages are unlike the mail of training: those whose trust is below a half."""
        scorer = self.filter.scorer
        if not (scorer.settings.damped and can_judge(True, scorer.model.messages)):
            return 0
        block, counts = self._look_up(block)
        asked = drop_columns(block, np.isin(block.views, (HEADER_VIEW, RAW_VIEW)))
        evidence = compute_evidence(as_counted(asked, counts), scorer.settings)
        return int((trust_rows(asked, counts, evidence) < 0.5).sum())

    def _look_up(self, block: Block) -> tuple[Block, Counts]:
        """A block with the views that are scored, and the counts of the tokens of the whole block."""
        scorer, lexicon = self.filter.scorer, block.lexicon
        if self._documents is None or self._documents.scorer is not scorer:  # the model has changed
            self._documents = TokenDocuments(self.filter)
            self._looked_up.clear()
        before, looked_up = self._looked_up.get(lexicon.reader, (None, None))
        if looked_up is None or before is not lexicon:
            looked_up = self._documents.find(block.keys[:0])
        documents = np.hstack([looked_up, self._documents.find(block.keys[looked_up.shape[1] :])])
        self._looked_up[lexicon.reader] = lexicon, documents
        counts = counts_of(scorer.model, block, documents)
        return drop_columns(block, np.isin(block.views, list_views(scorer.settings))), counts


def look_up_documents(model: ReadableModel, keys: Ints) -> Ints:
    """n_jk of some tokens, int64 (n_classes, n); 0 of those that the model does not know."""
    order = np.argsort(keys)
    ordered = keys[order]
    rows = model.counts(ordered.tolist())
    n_classes = len(model.classes)
    counts = np.fromiter(chain.from_iterable(rows.values()), np.int64, 2 * n_classes * len(rows))
    places = np.searchsorted(ordered, np.fromiter(rows, np.int64, len(rows)))
    documents = np.zeros((n_classes, len(keys)), np.int64)
    documents[:, order[places]] = counts.reshape(len(rows), n_classes, 2)[:, :, 0].T
    return documents


def counts_of(model: ReadableModel, block: Block, documents: Ints) -> Counts:
    """The documents that a model has for the tokens of a block, and its totals; without occurrences."""
    is_fixed = model.settings.get("vocabulary") == "fixed"
    arrays = (documents, np.broadcast_to(np.int64(0), documents.shape), np.array(model.messages))
    counts = Counts(block.keys, block.views, b"", *arrays, is_fixed)
    counts.totals = ViewSums(np.array(model.words), np.array(model.documents), np.array(model.occurrences))
    return counts


def classify_many(
    mail: Iterable[Item], current: Current, write: Write, jobs: int, with_clues: bool = False
) -> Generator[tuple[str, Skipped], None, None]:
    """(the texts of some verdicts, what could not be read), in the order of the mail.

    current : the filter to judge with next, from the one that judged last; None in a new process
    write   : the text of a verdict
    """
    judge: ModelJudge | None = None  # of this process

    def find_judge() -> ModelJudge:
        nonlocal judge
        spam_filter = current(judge.filter if judge else None)
        if judge is None or judge.filter is not spam_filter:
            judge = ModelJudge(spam_filter)
        return judge

    def work(shard: list[Item]) -> tuple[str, Skipped]:
        now = find_judge()
        skipped: Skipped = []
        verdicts = (_classify_each if with_clues else _classify_blocks)(now, shard, skipped)
        return _write_all(now, verdicts, write), skipped

    first = find_judge()
    if first.is_of_blocks and choose_core(first.wanted) and not with_clues:
        for items, shard in _read_in_threads(mail, first, jobs):
            now = find_judge()
            if now.wanted != first.wanted:  # another model has taken the place of the first
                shard = now.read(items)
            verdicts = _judge_shard(now, items, shard)
            yield _write_all(now, verdicts, write), shard.skipped
    else:
        first.filter.close()  # a connection to the model belongs to one process
        judge = None
        yield from run_shards(work, cut_shards(mail), jobs)


def _read_in_threads(
    mail: Iterable[Item], judge: ModelJudge, jobs: int
) -> Iterator[tuple[list[Item], ReadShard]]:
    """The messages of each shard, before and after they are read as a judge wants them."""

    def make_work() -> Callable[[list[Item]], tuple[list[Item], ReadShard]]:
        reader = ShardReader(judge.filter.classes, judge.wanted)
        return lambda shard: (shard, reader(shard))

    lexicons: dict[int, Lexicon] = {}
    for items, shard in run_in_threads(make_work, cut_shards(mail), jobs):
        join_lexicons(shard.blocks, lexicons)
        yield items, shard


def _write_all(judge: ModelJudge, verdicts: Iterable[Verdict], write: Write) -> str:
    return "".join([write(judge.filter, verdict) for verdict in verdicts])


def _classify_blocks(judge: ModelJudge, mail: Sequence[Item], skipped: Skipped) -> Iterator[Verdict]:
    shard = judge.read(mail)
    yield from _judge_shard(judge, mail, shard)
    skipped += shard.skipped


def _judge_shard(judge: ModelJudge, mail: Sequence[Item], shard: ReadShard) -> Iterator[Verdict]:
    """The verdicts on a shard; for the user's list of senders, if there is one, it is read again."""
    verdicts = (verdict for block in shard.blocks for verdict in judge.verdicts(block, shard.reports))
    if not judge.filter.model.has_senders:
        yield from verdicts
        return
    items = {item.name: item for item in mail}
    for verdict in verdicts:
        for _, data in read_items([items[verdict.name]], shard.skipped):
            yield judge.filter.follow_senders(verdict, data)


def _classify_each(judge: ModelJudge, mail: Iterable[Item], skipped: Skipped) -> Iterator[Verdict]:
    for item, data in read_items(mail, skipped):
        yield judge.filter.classify(data, item.name)
