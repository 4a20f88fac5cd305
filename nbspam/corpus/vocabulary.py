"""Vocabularies: numbered words with their counts in each class, their file, and how one is built.

The file is UTF-8 text, fields with tabs between.  Lines of `#name<TAB>values` say what it is and how many
codes must follow, so that a file cut short is noticed; then come a line of column names and a line a code.
After the views comes the pattern of the words, if they are those of a pattern of the user.
Code 0 is NOTAWORD, the code of every token without another.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from nbspam.corpus.corpus import read_corpus
from nbspam.corpus.item import Item, Skipped, describe_error
from nbspam.corpus.reading import Progress
from nbspam.errors import BadDataError, NoInputError, UsageError
from nbspam.labels import parse_class_name, sort_classes
from nbspam.model.block import keep_views, limit_to_words
from nbspam.model.chosen_settings import check_own_words
from nbspam.model.counts import Counts, join_texts, split_texts, take_columns, take_texts
from nbspam.settings import ALL_VIEWS, EXTRA_VIEWS, Settings, want_words
from nbspam.store.check import TokenRow
from nbspam.tokens.bag import NOTAWORD, NOTAWORD_KEY, NOTAWORD_VIEW, VIEWS, hash_token, number_views

Split = Callable[[str], list[str]]
VOCABULARY_FORMAT = 1
NO_VIEW = "-"  # the view of NOTAWORD
VIEW_COLUMN = (*VIEWS, NO_VIEW)  # view names in the file, by number
_HEADER_ROWS = 6
_KINDS = ("documents", "occurrences")
_MAGIC = "#nbspam-vocabulary"
_REMEDY = "make one: nbspam vocab build SOURCE -o vocab.tsv"
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_MEANINGS = {escape: character for character, escape in _ESCAPES.items()}
_ESCAPE_TABLE = str.maketrans(_ESCAPES)


class Vocabulary(NamedTuple):
    """Numbered words.

    classes  : the classes that the words were counted in, in class order
    messages : m_k
    views    : name of the one view that is read, or `all`; tokens of the others are no words at all
    words    : the place of each is its code; code 0 is NOTAWORD
    token_pattern : what it matches is a word; empty for our own tokens
    """

    classes: tuple[str, ...]
    messages: tuple[int, ...]
    views: str
    words: Sequence[TokenRow]
    token_pattern: str = ""

    def keys(self) -> list[int]:
        """The keys of the words, without NOTAWORD, in the order of their codes."""
        return [hash_token(word.text) for word in self.words[1:]]


def format_lines(vocabulary: Vocabulary) -> Iterator[str]:
    """The file of a vocabulary, line by line."""
    return ("\t".join(row) + "\n" for row in _rows(vocabulary))


def _rows(vocabulary: Vocabulary) -> Iterator[list[str]]:
    classes = [escape_text(name) for name in vocabulary.classes]
    yield [_MAGIC, str(VOCABULARY_FORMAT)]
    yield ["#views", vocabulary.views, *filter(None, [escape_text(vocabulary.token_pattern)])]
    yield ["#codes", str(len(vocabulary.words))]
    yield ["#classes", *classes]
    yield ["#messages", *map(str, vocabulary.messages)]
    yield ["code", "view", "word", *(f"{kind}:{name}" for name in classes for kind in _KINDS)]
    for code, word in enumerate(vocabulary.words):
        counts = chain.from_iterable(zip(word.documents, word.occurrences, strict=True))
        yield [str(code), VIEW_COLUMN[word.view], escape_text(word.text), *map(str, counts)]


def read_vocabulary(path: str) -> Vocabulary:
    """The vocabulary in a file; a child of NbspamError says what is wrong with it, and where."""
    text = _read_text(path)
    if not text.startswith(_MAGIC):
        raise BadDataError(path, "this is not a vocabulary of nbspam", _REMEDY, "vocabulary-foreign")
    *rows, rest = (row.removesuffix("\r").split("\t") for row in text.split("\n"))  # an editor may add CRs
    place = f"lines 1-{_HEADER_ROWS}"
    try:
        header = [row[1:] for row in rows[:_HEADER_ROWS]]
        (version,), (views, *pattern), (n_codes,), names, messages, _ = header
        if _parse_natural(version) > VOCABULARY_FORMAT:
            why = f"format {version} is newer than this program reads (1-{VOCABULARY_FORMAT})"
            raise BadDataError(path, why, "upgrade nbspam", "vocabulary-format-newer")
        if rest != [""] or len(rows) - _HEADER_ROWS < max(1, _parse_natural(n_codes)):
            raise BadDataError(path, "the vocabulary is cut short", _REMEDY, "vocabulary-truncated")
        classes = sort_classes({parse_class_name(unescape_text(name), f"{path}: line 4") for name in names})
        words: list[TokenRow] = []
        token_pattern = unescape_text("".join(pattern))
        vocabulary = Vocabulary(classes, tuple(map(_parse_natural, messages)), views, words, token_pattern)
        if len(messages) != len(classes) or views not in (ALL_VIEWS, *VIEWS):
            raise ValueError(views)
        for code, row in enumerate(rows[_HEADER_ROWS:]):
            place = f"line {_HEADER_ROWS + 1 + code}"
            words.append(_parse_word(code, row, len(classes)))
        # Whatever else is wrong, what would be written is not the same.
        for number, row in enumerate(_rows(vocabulary)):
            place = f"line {number + 1}"
            if row != rows[number] or (number == 2 and len({word.text for word in words}) < len(words)):
                raise ValueError(row)
    except ValueError:
        why = "is not what nbspam writes there"
        raise BadDataError(f"{path}: {place}", why, _REMEDY, "vocabulary-damaged") from None
    return vocabulary


def _parse_word(code: int, row: list[str], n_classes: int) -> TokenRow:
    """The word in a row of the file; ValueError for a wrong one."""
    _, view, word, *counts = row
    is_outside = code == 0
    if is_outside != (view == NO_VIEW) or is_outside != (word == NOTAWORD) or len(counts) != 2 * n_classes:
        raise ValueError(word)
    numbers = tuple(map(_parse_natural, counts))
    return TokenRow(unescape_text(word), VIEW_COLUMN.index(view), numbers[::2], numbers[1::2])


def escape_text(text: str) -> str:
    """The text without tabs and line ends; `unescape_text` gives it back."""
    return text.translate(_ESCAPE_TABLE)


def unescape_text(text: str) -> str:
    """What `escape_text` was given; a backslash that means nothing stays."""
    return re.sub(r"(?s)\\.?", lambda escape: _MEANINGS.get(escape[0], escape[0]), text)


def _parse_natural(text: str) -> int:
    """A whole number from 0 to below 2^63; ValueError otherwise (also for signs, spaces, 1_000)."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) < 1 << 63):
        raise ValueError("not a whole number")
    return int(text)


def _read_text(path: str) -> str:
    """The text of a file; what is not UTF-8 is replaced."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8-sig", "replace")
    except OSError as error:
        raise NoInputError(path, describe_error(error), "check the path", "no-input") from None


def read_word_list(path: str, split: Split) -> tuple[list[str], int]:
    """The words of a dictionary, and how many lines are not one word.

    split : a line to its words
    One word a line.  Empty lines and lines that begin with # are ignored.
    """
    text, remedy = _read_text(path), "one word a line, in UTF-8"
    if "\0" in text or "\ufffd" in text:
        raise BadDataError(path, "this is not a word list", remedy, "word-list")
    token_sets = [set(split(line)) for line in text.splitlines() if line.strip() and line[0] != "#"]
    words = list(dict.fromkeys(next(iter(tokens)) for tokens in token_sets if len(tokens) == 1))
    if not words:
        raise BadDataError(path, "the word list holds no word", remedy, "word-list-empty")
    return words, sum(len(tokens) != 1 for tokens in token_sets)


def build_vocabulary(
    items: Iterable[Item],
    classes: tuple[str, ...],
    size: int | None = None,
    min_count: int = 1,
    listed: list[str] | None = None,
    views: str = ALL_VIEWS,
    jobs: int = 1,
    progress: Progress | None = None,
    token_pattern: str = "",
) -> tuple[Vocabulary, Skipped]:
    """Number the words of some mail, those in most messages first; and what could not be read.

    size      : the most frequent, so many; None for no limit
    min_count : those in at least so many messages
    listed    : these and no others (of the body); None to choose from the mail
    views     : name of the one view that is read, or `all`
    Only when all words are counted and some chosen is it known which messages hold a NOTAWORD, so the tokens
    of all messages are in memory, as numbers.
    """
    _check_choice("size", size, None, listed)
    _check_choice("min_count", min_count, 1, listed)
    corpus = read_corpus(items, classes, jobs, progress=progress, wanted=want_words(token_pattern))
    block = keep_views(corpus.block, number_views(views))
    texts = listed or []
    keys = [*map(hash_token, texts)] or _choose_frequent(block.count(len(classes)), size, min_count)
    counts = limit_to_words(block, np.array(keys, np.int64)).count(len(classes))
    words = [*_words(counts, [NOTAWORD_KEY, *keys], [NOTAWORD, *texts])]
    messages = tuple(counts.messages.tolist())
    return Vocabulary(classes, messages, views, words, token_pattern), corpus.skipped


def _check_choice(option: str, number: int | None, default: int | None, listed: list[str] | None) -> None:
    """Raise if an option that chooses words is below 1, or is given together with a list of words."""
    if number is not None and number < 1:
        slug, remedy = option.replace("_", "-"), f"for example `{option}=2`"
        raise UsageError(str(number), "must be 1 or more", remedy, slug, option=option)
    if listed is not None and number != default:
        why = "no other option chooses words when a list of them is given"
        raise UsageError("`word_list`", why, "leave out one of them", "usage", option=option)


def _choose_frequent(counts: Counts, size: int | None, min_count: int) -> list[int]:
    """The keys of the words that are chosen, in the order of their codes."""
    documents, occurrences = counts.documents.sum(axis=0), counts.occurrences.sum(axis=0)
    texts = split_texts(counts.texts, len(counts.keys))
    chosen = np.flatnonzero(documents >= min_count).tolist()
    chosen.sort(key=lambda j: (-documents[j], -occurrences[j], texts[j]))
    return [*counts.keys[chosen[:size]].tolist()]


def _words(counts: Counts, keys: list[int], listed: list[str]) -> Iterator[TokenRow]:
    """NOTAWORD and the words of these keys; one of the list that the mail does not hold is of the body."""
    places, texts = counts.places(np.array(keys)), split_texts(counts.texts, len(counts.keys))
    columns = [take_columns(numbers, places).T.tolist() for numbers in (counts.documents, counts.occurrences)]
    for at, (j, *pair) in enumerate(zip(places.tolist(), *columns, strict=True)):
        text = texts[j].decode("utf-8", "replace") if j >= 0 else listed[at]
        yield TokenRow(text, int(counts.views[j]) if j >= 0 else VIEWS.index("body"), *map(tuple, pair))


def new_counts(vocabulary: Vocabulary, n_classes: int) -> Counts:
    """The words of a fixed vocabulary and NOTAWORD, with counts of no message."""
    keys = np.array([NOTAWORD_KEY, *vocabulary.keys()], np.int64)
    views = np.array([NOTAWORD_VIEW, *(word.view for word in vocabulary.words[1:])], np.uint8)
    texts = [NOTAWORD.encode(), *(word.text.encode("utf-8", "replace") for word in vocabulary.words[1:])]
    keys, order = np.unique(keys, return_index=True)
    documents, occurrences = np.zeros((2, n_classes, len(keys)), np.int64)
    messages = np.zeros(n_classes, np.int64)
    joined = take_texts(join_texts(texts), order)
    return Counts(keys, views[order], joined, documents, occurrences, messages, is_fixed=True)


def limit_settings(settings: Settings, vocabulary: Vocabulary | None) -> Settings:
    """A way of scoring by a vocabulary: it has only words, and says which views are read.

    A word outside it may be in every message, so an unknown word tells nothing.
    """
    if vocabulary is None:
        return settings
    pattern = vocabulary.token_pattern
    check_same_pattern(settings.token_pattern or pattern, vocabulary)
    others = dict.fromkeys(EXTRA_VIEWS, False)
    limited = settings.replaced(diluted=False, views=vocabulary.views, token_pattern=pattern, **others)
    check_own_words(limited)
    return limited


def check_same_pattern(token_pattern: str, vocabulary: Vocabulary) -> None:
    """Raise if another pattern is asked for than that of the vocabulary."""
    if token_pattern != vocabulary.token_pattern:
        why = "the vocabulary was built with another pattern, or without"
        remedy = "leave it out: a vocabulary keeps its pattern"
        raise UsageError(token_pattern, why, remedy, "token-pattern", option="token_pattern")
