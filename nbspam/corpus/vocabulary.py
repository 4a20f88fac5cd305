"""A vocabulary: numbered words with their counts a class, and its file.

Hides the file format: UTF-8, lines of fields separated by tabs.  Lines of `#name<TAB>values` say
what the file is and how many codes must follow, so that a file cut short is told from a whole one;
then a line of column names, and a line a code.  Code 0 is NOTAWORD, the code of every other word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nbspam.errors import BadDataError, NbspamError, NoInputError
from nbspam.labels import checked_name, ordered
from nbspam.settings import ALL_VIEWS
from nbspam.store.text import escaped, natural, unescaped
from nbspam.tokens.bag import VIEWS
from nbspam.tokens.keys import NOTAWORD, token_key

FORMAT = 1
NO_VIEW = "-"  # the view of NOTAWORD
_MAGIC = "#nbspam-vocabulary"
_REMEDY = "make one: nbspam vocab build SOURCE -o vocab.tsv"


class Word(NamedTuple):
    """One code; its place in the vocabulary is its number.

    view        : number of the view in VIEWS; len(VIEWS) for NOTAWORD
    documents   : n_jk by class;  occurrences : N_jk by class
    """

    text: str
    view: int
    documents: tuple[int, ...]
    occurrences: tuple[int, ...]


class Vocabulary(NamedTuple):
    """Numbered words.

    classes  : the classes that the words were counted in, in class order
    messages : m_k
    views    : name of the one view that is read, or `all`; tokens of the others are no words at all
    words    : code 0 is NOTAWORD
    """

    classes: tuple[str, ...]
    messages: tuple[int, ...]
    views: str
    words: Sequence[Word]

    def word_views(self) -> tuple[int, ...]:
        """The numbers of the views whose tokens may be words: no measure ever is."""
        return tuple(n for n, name in enumerate(VIEWS) if self.views in (ALL_VIEWS, name))

    def keys(self) -> list[int]:
        """The keys of the words, without NOTAWORD, in the order of their codes."""
        return [token_key(word.text) for word in self.words[1:]]

    def codes(self) -> dict[str, int]:
        """Word -> code, without NOTAWORD."""
        return {word.text: code for code, word in enumerate(self.words) if code}


def lines(vocabulary: Vocabulary) -> Iterator[str]:
    """The file of a vocabulary, line by line."""
    yield f"{_MAGIC}\t{FORMAT}\n"
    yield f"#views\t{vocabulary.views}\n"
    yield f"#codes\t{len(vocabulary.words)}\n"
    yield "\t".join(["#classes", *map(escaped, vocabulary.classes)]) + "\n"
    yield "\t".join(["#messages", *map(str, vocabulary.messages)]) + "\n"
    yield "\t".join(_columns(vocabulary.classes)) + "\n"
    names = [*VIEWS, NO_VIEW]
    for code, word in enumerate(vocabulary.words):
        counts = [str(n) for pair in zip(word.documents, word.occurrences, strict=True) for n in pair]
        yield "\t".join([str(code), names[word.view], escaped(word.text), *counts]) + "\n"


def _columns(classes: Iterable[str]) -> list[str]:
    pairs = [(f"documents:{escaped(name)}", f"occurrences:{escaped(name)}") for name in classes]
    return ["code", "view", "word", *(column for pair in pairs for column in pair)]


def read_vocabulary(path: str) -> Vocabulary:
    """The vocabulary in a file; a child of NbspamError says what is wrong with it, and in which line."""
    try:
        with open(path, "rb") as file:
            if not file.read(len(_MAGIC)).startswith(_MAGIC.encode()):
                raise BadDataError(path, "this is not a vocabulary of nbspam", _REMEDY, "vocabulary-foreign")
            data = _MAGIC.encode() + file.read()
    except OSError as error:
        remedy = "check the path, or " + _REMEDY
        raise NoInputError(path, error.strerror or "cannot be read", remedy, "no-input") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadDataError(path, "the vocabulary is not UTF-8 text", _REMEDY, "vocabulary-damaged") from None
    if not text.endswith("\n"):
        raise _cut_short(path)
    rows = [row.removesuffix("\r") for row in text[:-1].split("\n")]  # an editor may have put CRs there
    return _Reading(path, rows).vocabulary()


def _cut_short(path: str) -> NbspamError:
    return BadDataError(path, "the vocabulary is cut short", _REMEDY, "vocabulary-truncated")


class _Reading:
    """The lines of a file on their way to a vocabulary."""

    def __init__(self, path: str, rows: list[str]) -> None:
        self._path = path
        self._rows = rows

    def _error(self, line: int, why: str) -> BadDataError:
        return BadDataError(f"{self._path}: line {line + 1}", why, _REMEDY, "vocabulary-damaged")

    def _header(self, line: int, name: str) -> list[str]:
        if line >= len(self._rows):
            raise _cut_short(self._path)
        found, *values = self._rows[line].split("\t")
        if found != name or not values:
            raise self._error(line, f"here belongs {name} with its values")
        return values

    def _numbers(self, line: int, texts: list[str]) -> list[int]:
        try:
            return [natural(text) for text in texts]
        except ValueError:
            raise self._error(line, "a count is a whole number >= 0") from None

    def vocabulary(self) -> Vocabulary:
        """All of the file."""
        (version,) = self._numbers(0, self._header(0, _MAGIC)[:1])
        if version > FORMAT:
            why = f"format {version} is newer than this program reads (1-{FORMAT})"
            raise BadDataError(self._path, why, "upgrade nbspam", "vocabulary-format-newer")
        views = self._header(1, "#views")[0]
        if views not in (ALL_VIEWS, *VIEWS):
            raise self._error(1, f"{views!r} is no view; the views are: all, {', '.join(VIEWS)}")
        codes = self._numbers(2, self._header(2, "#codes")[:1])[0]
        classes = self._classes(3)
        messages = self._numbers(4, self._header(4, "#messages"))
        if len(messages) != len(classes):
            raise self._error(4, f"{len(messages)} counts of messages for {len(classes)} classes")
        if self._header(5, "code") != _columns(classes)[1:]:
            raise self._error(5, "the columns do not belong to the classes in line 4")
        words = self._words(classes, messages, codes)
        return Vocabulary(classes, tuple(messages), views, words)

    def _classes(self, line: int) -> tuple[str, ...]:
        try:
            names = [unescaped(name) for name in self._header(line, "#classes")]
        except ValueError:
            raise self._error(line, "a class name with a broken escape") from None
        classes = tuple(checked_name(name, f"{self._path}: line {line + 1}") for name in names)
        if ordered(classes) != classes:
            raise self._error(
                line, "the classes are not in class order (ham first, spam last), or one is twice"
            )
        return classes

    def _words(self, classes: tuple[str, ...], messages: list[int], codes: int) -> list[Word]:
        if len(self._rows) - 6 < codes:
            raise _cut_short(self._path)
        if len(self._rows) - 6 > codes:
            raise self._error(6 + codes, f"more lines than the {codes} codes of line 3")
        numbers = {name: number for number, name in enumerate([*VIEWS, NO_VIEW])}
        words = [self._word(6 + code, code, numbers, messages) for code in range(codes)]
        if not words or words[0].text != NOTAWORD or words[0].view != len(VIEWS):
            raise self._error(6, f"code 0 is {NOTAWORD} in every vocabulary")
        if len({word.text for word in words}) != len(words):
            raise BadDataError(self._path, "a word is there twice", _REMEDY, "vocabulary-damaged")
        return words

    def _word(self, line: int, code: int, numbers: dict[str, int], messages: list[int]) -> Word:
        fields = self._rows[line].split("\t")
        if len(fields) != 3 + 2 * len(messages):
            raise self._error(line, f"{len(fields)} fields instead of {3 + 2 * len(messages)}")
        if fields[0] != str(code) or fields[1] not in numbers or (fields[1] == NO_VIEW) != (code == 0):
            raise self._error(line, f"here belongs code {code} with the name of its view")
        counts = self._numbers(line, fields[3:])
        documents, occurrences = tuple(counts[::2]), tuple(counts[1::2])
        for n, times, m in zip(documents, occurrences, messages, strict=True):
            if not n <= min(times, m) or (times and not n):
                raise self._error(line, "the counts contradict each other or the number of messages")
        try:
            return Word(unescaped(fields[2]), numbers[fields[1]], documents, occurrences)
        except ValueError:
            raise self._error(line, "a word with a broken escape") from None
