"""Labelled mail -> a vocabulary: which words are numbered, and how often each was met.

Hides that choosing needs all counts, and NOTAWORD a second look at each message (whether it holds
a word that was not chosen).  The mail is read once: the tokens of each message wait as numbers in a
temporary file, a few bytes a token, so that mail of any size streams through.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple

import numpy as np

from nbspam.corpus import Item
from nbspam.corpus.accumulator import Accumulator
from nbspam.corpus.item import Skipped
from nbspam.corpus.reading import Progress, read_blocks
from nbspam.corpus.vocabulary import Vocabulary, Word
from nbspam.errors import BadDataError, InputOutputError, NoInputError, UsageError
from nbspam.model.block import Block
from nbspam.model.counts import Counts, Ints, split_texts
from nbspam.tokens.bag import VIEWS, view_numbers
from nbspam.tokens.keys import NOTAWORD, NOTAWORD_KEY, token_key
from nbspam.tokens.words import words as split_words

BODY = VIEWS.index("body")
MAX_LIST_BYTES = 256 << 20  # the largest dictionaries have some ten million words


class Choice(NamedTuple):
    """Which words get a number.

    size      : the so many most frequent; None for no bound
    min_count : those in at least so many messages
    words     : these and no others (of the body); None to choose from the mail
    views     : name of the one view that is read, or `all`
    """

    size: int | None = None
    min_count: int = 1
    words: list[str] | None = None
    views: str = "all"


class Built(NamedTuple):
    """A vocabulary and what was left out on the way to it."""

    vocabulary: Vocabulary
    skipped: Skipped


def build_vocabulary(
    items: Iterable[Item],
    classes: tuple[str, ...],
    choice: Choice,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Built:
    """Reads the items once and numbers their words: by falling number of messages that hold them."""
    check_choice(choice)
    views = view_numbers(choice.views)
    listed = (
        None if choice.words is None else np.unique(np.array([token_key(w) for w in choice.words], np.int64))
    )
    counts = Accumulator(len(classes), listed, views)
    skipped: Skipped = []
    with _Spool(len(classes), views) as spool:
        for blocks, unread in read_blocks(items, classes, jobs):
            skipped.extend(unread)
            for block in blocks:
                counts.add(block)
                if listed is None:
                    spool.add(block)
                if progress:
                    progress(len(block), int(block.sizes.sum()))
        if not counts.messages.any():
            raise NoInputError("SOURCE", "no readable message was found", "check SOURCE", "no-mail")
        table = counts.counts()
        if choice.words is not None:
            words = _listed_words(table, choice.words)
        else:
            words = _chosen_words(table, choice, spool)
    messages = tuple(counts.messages.tolist())
    return Built(Vocabulary(classes, messages, choice.views, words), skipped)


def check_choice(choice: Choice) -> None:
    """Raises if no word could be chosen so."""
    if choice.size is not None and choice.size < 1:
        raise UsageError(
            f"--size {choice.size}", "a vocabulary has one word at least", "for example --size 5000", "size"
        )
    if choice.min_count < 1:
        raise UsageError(
            f"--min-count {choice.min_count}", "must be 1 or more", "for example --min-count 2", "min-count"
        )
    if choice.words is not None and (choice.size is not None or choice.min_count > 1):
        option = "--size" if choice.size is not None else "--min-count"
        why = "the list says which words have a number"
        raise UsageError(f"--word-list {option}", why, "leave out one of them", "usage")
    if choice.words is not None and not choice.words:
        raise BadDataError("--word-list", "it holds no word", "one word a line, in UTF-8", "word-list-empty")


def read_word_list(path: str) -> tuple[list[str], int]:
    """The words of a dictionary as the tokenizer writes them, and how many lines are not one word.

    One word a line.  Blank lines and lines that begin with # are passed over.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_LIST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise NoInputError(path, error.strerror or "cannot be read", "check the path", "no-input") from None
    except UnicodeDecodeError:
        raise BadDataError(
            path, "the word list is not UTF-8 text", "one word a line, in UTF-8", "word-list"
        ) from None
    if len(data) > MAX_LIST_BYTES or "\0" in text:
        raise BadDataError(path, "this is not a word list", "one word a line, in UTF-8", "word-list")
    found: dict[str, None] = {}
    odd = 0
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        tokens = set(split_words(line, 100))
        if len(tokens) == 1:
            found[tokens.pop()] = None
        else:
            odd += 1
    if not found:
        raise BadDataError(
            path, "the word list holds no word", "one word a line, in UTF-8", "word-list-empty"
        )
    return list(found), odd


class _Spool:
    """The tokens of each message of some blocks, in a temporary file."""

    def __init__(self, n_classes: int, views: tuple[int, ...]) -> None:
        self._n_classes = n_classes
        self._views = views
        self._file: BinaryIO | None = None

    def __enter__(self) -> _Spool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def add(self, block: Block) -> None:
        """Keeps the block's keys by message."""
        read = np.isin(block.views, self._views)[block.columns]
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by __exit__
            for array in (block.keys[block.columns[read]], block.rows()[read], block.labels):
                np.save(self._file, array)
        except OSError as error:
            where, remedy = tempfile.gettempdir(), "free some space, or set TMPDIR to another folder"
            raise InputOutputError(
                where, f"cannot be written: {error.strerror}", remedy, "no-space"
            ) from None

    def documents_outside(self, keys: Ints) -> list[int]:
        """By class, how many messages hold a token that is not among `keys` (ascending)."""
        found = np.zeros(self._n_classes, np.int64)
        if self._file is None:
            return found.tolist()
        end = self._file.tell()
        self._file.seek(0)
        while self._file.tell() < end:
            tokens, rows, labels = (np.load(self._file) for _ in range(3))
            place = np.minimum(np.searchsorted(keys, tokens), max(len(keys) - 1, 0))
            outside = keys[place] != tokens if len(keys) else np.ones(len(tokens), bool)
            found += np.bincount(labels[np.unique(rows[outside])], minlength=self._n_classes)
        return found.tolist()


def _chosen_words(table: Counts, choice: Choice, spool: _Spool) -> list[Word]:
    documents = table.documents.sum(axis=0)
    occurrences = table.occurrences.sum(axis=0)
    texts = split_texts(table.texts, len(table.keys))
    candidates = np.flatnonzero(documents >= max(1, choice.min_count))
    order = sorted(candidates.tolist(), key=lambda j: (-documents[j], -occurrences[j], texts[j]))[
        : choice.size
    ]
    chosen = np.array(order, np.int64)
    inside = table.occurrences[:, chosen].sum(axis=1)
    outside = (table.occurrences.sum(axis=1) - inside).tolist()
    notaword = Word(
        NOTAWORD, len(VIEWS), tuple(spool.documents_outside(np.sort(table.keys[chosen]))), tuple(outside)
    )
    return [notaword, *_words(table, order)]


def _words(table: Counts, columns: Iterable[int]) -> list[Word]:
    texts = split_texts(table.texts, len(table.keys))
    documents, occurrences = table.documents.T.tolist(), table.occurrences.T.tolist()
    return [
        Word(
            texts[j].decode("utf-8", "replace"),
            int(table.views[j]),
            tuple(documents[j]),
            tuple(occurrences[j]),
        )
        for j in columns
    ]


def _listed_words(table: Counts, words: list[str]) -> list[Word]:
    """The words in the order of the list, also those that the mail does not hold."""
    place = {key: column for column, key in enumerate(table.keys.tolist())}
    nothing = (0,) * len(table.documents)
    keys = [token_key(word) for word in words]
    counted = iter(_words(table, [place[NOTAWORD_KEY], *(place[key] for key in keys if key in place)]))
    found = [next(counted)]
    for key, word in zip(keys, words, strict=True):
        found.append(next(counted) if key in place else Word(word, BODY, nothing, nothing))
    return found
