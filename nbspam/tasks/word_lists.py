"""The word list of another filter becomes a model, and a model becomes a word list of bogofilter.

bogofilter (`bogoutil -d wordlist.db`): lines WORD SPAM HAM DATE.  The line of .MSG_COUNT holds the number of
messages; other words that begin with a full stop are notes.  A word of a header begins with a mark of its
field: `to:` for To and Cc, `head:` for all fields without a mark, names of fields included.
SpamBayes (`sb_dbexpimp -e`): CSV.  The first row is HAM,SPAM, the number of messages; the others are
WORD,HAM,SPAM.  A colon in a word comes after the place where it was found.
Thunderbird (`training.dat`): numbers of 32 bits, big-endian.  After the first, FEEDFACE, the messages of ham
and of spam; then for each class the number of words, and of each its count, its length and its bytes.
All count the messages that hold a word, each spelling apart: `Free` and `free` are two words.  How many
messages hold both is not known; the sum, at most all messages, is nearer to the truth than the maximum
(docs/decisions.md, "Import").

A word is imported if our own tokenizer, given the word as text of the same place, makes exactly that token
of it.  So `free!!!`, which others count apart, is not mixed with `free`.  The same
tokens are exported, in small letters alone, because we count all spellings as one.

No mail comes with the counts, so the calibration starts at fixed weights, and learns from the first mail.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from struct import error as StructError
from struct import unpack_from
from typing import TYPE_CHECKING

from nbspam.errors import BadDataError, UsageError
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.calibration import feature_names, first_weights
from nbspam.settings import Settings
from nbspam.store.reader import open_model
from nbspam.store.text import parse_natural, read_documents
from nbspam.store.writer import new_model
from nbspam.tokens.bag import INNER, TEXTBOOK_VIEWS, hash_token
from nbspam.tokens.headers import tokenize_header
from nbspam.tokens.structure import shorten
from nbspam.tokens.unicode_words import fold
from nbspam.tokens.words import split_words

if TYPE_CHECKING:
    from nbspam.model.calibration import Weights

AUTO = "auto"
BOGOFILTER, SPAMBAYES, THUNDERBIRD, SPAMASSASSIN = "bogofilter", "spambayes", "thunderbird", "spamassassin"
THUNDERBIRD_MAGIC = b"\xfe\xed\xfa\xce"
# The marks of bogofilter for the words of these fields.
MARKS = {"subj": "subject", "rtrn": "return-path", "rcvd": "received", "from": "from", "to": "to"}
# Where the calibration starts, other weights as in any model.  The counts of others cover half of what we
# read, so the evidence is smaller: about twice the weights were best on mail of three corpora
# (docs/decisions.md, "Import").
FIRST_WEIGHTS = {"evidence:header": 2.0, "evidence:body": 1.4, "cautious:header": 0.5, "cautious:body": 1.0}
MAX_COUNT = 1_000_000_000  # messages; sums over a word list stay far below 64 bits
MAX_LINE_BYTES = 1 << 16  # the words of others have some dozens
MAX_WORDS = 16  # of ours in one word of others
HEADER, BODY, STRUCTURE = range(len(TEXTBOOK_VIEWS))

Token = tuple[int, str]  # view and text of a token of ours
Row = tuple[str | None, list[int]]  # word, messages by class; None for the number of all messages


def import_words(
    lines: Iterable[bytes], where: str, path: str, form: str = AUTO, replaces: bool = True
) -> WordList:
    """Write the model of a word list to `path`, whole or not at all.

    lines    : of the text form, bytes with their ends; of training.dat any pieces
    form     : the name of the filter, or AUTO
    replaces : write over a model at `path`; if False, a model there is an error
    """
    stream = iter(lines)
    first = next(stream, b"")
    word_list = WordList(where, detect_form(first, where) if form == AUTO else form)
    word_list.read(chain([first], stream))
    _write(word_list, path, replaces)
    return word_list


def detect_form(line: bytes, where: str) -> str:
    """The filter that wrote a text with this first line."""
    if line.startswith(THUNDERBIRD_MAGIC):
        return THUNDERBIRD
    if line.startswith((b"v\t", b"t\t", b"s\t")):
        return SPAMASSASSIN
    if re.fullmatch(rb"\d+,\d+\s*", line):
        return SPAMBAYES
    if re.fullmatch(rb"\S+ \d+ \d+( \d+)?\s*", line):
        return BOGOFILTER
    remedy = "name the output of bogoutil -d or sb_dbexpimp -e, or training.dat, and the filter: `from`"
    raise BadDataError(where, "this is not the text of a word list", remedy, "import-foreign")


class WordList:
    """The counts of another filter under our tokens.

    messages : ham, spam
    tokens   : (view, text) -> [ham, spam], each at most the messages of its class
    words    : how many words the list has (training.dat: of each class)
    taken    : those that are tokens of ours; several spellings may be one token
    """

    def __init__(self, where: str, form: str) -> None:
        if form == SPAMASSASSIN:
            why = "SpamAssassin keeps hashes of the words, and a hash does not tell the word"
            remedy = "nothing can be imported; train on sorted mail: nbspam train SOURCE"
            raise BadDataError(where, why, remedy, "import-hashed")
        self.where = where
        self.form = form
        self.messages = [0, 0]
        self.tokens: dict[Token, list[int]] = {}
        self.words = self.taken = self._line = 0
        self._rows, self._token, self._remedy = _READERS[form]

    def read(self, lines: Iterable[bytes]) -> None:
        """Count all words; BadDataError with the line that is wrong."""
        try:
            for word, counts in self._rows(self, lines):
                if max(counts) > MAX_COUNT:
                    raise ValueError(counts)
                if word is None:
                    self.messages = counts
                elif any(counts):  # else it was forgotten
                    self._add(word, counts)
        except (ValueError, csv.Error, StructError):
            why = f"this cannot be in a word list of {self.form}, or it is cut short"
            raise BadDataError(
                f"{self.where}: line {self._line}", why, self._remedy, "import-damaged"
            ) from None
        for name, messages in zip(HAM_AND_SPAM, self.messages, strict=True):
            if not messages:
                why, remedy = f"no message of class {name} was counted", "a filter needs mail of each class"
                raise BadDataError(self.where, why, remedy, "class-empty")
        if not self.taken:
            why = f"nbspam counts none of its {self.words:,} words"
            raise BadDataError(self.where, why, self._remedy, "import-empty")
        for counts in self.tokens.values():
            counts[:] = map(min, counts, self.messages)

    def _add(self, word: str, counts: list[int]) -> None:
        self.words += 1
        # Bytes that are not UTF-8 come as surrogates: their charset is not known.
        token = self._token(word) if word.isascii() or word.isprintable() else None
        if token:
            self.taken += 1
            known = self.tokens.setdefault(token, [0, 0])
            known[:] = [known[0] + counts[0], known[1] + counts[1]]

    def texts(self, lines: Iterable[bytes]) -> Iterator[str]:
        """The lines as text, without their ends."""
        for self._line, line in enumerate(lines, 1):
            if len(line) > MAX_LINE_BYTES or not line.endswith(b"\n"):
                raise ValueError(line)
            yield line.decode("utf-8", "surrogateescape").rstrip("\r\n")


def _read_bogofilter(word_list: WordList, lines: Iterable[bytes]) -> Iterator[Row]:
    for text in word_list.texts(lines):
        word, spam, ham, *_ = text.split(" ")
        if word == ".MSG_COUNT" or not word.startswith("."):
            yield None if word == ".MSG_COUNT" else word, [parse_natural(ham), parse_natural(spam)]


def _read_spambayes(word_list: WordList, lines: Iterable[bytes]) -> Iterator[Row]:
    rows = csv.reader((text + "\n" for text in word_list.texts(lines)), strict=True)
    for number, (*word, ham, spam) in enumerate(rows):
        if len(word) != min(number, 1):
            raise ValueError(word)
        yield word[0] if word else None, [parse_natural(ham), parse_natural(spam)]


def _read_thunderbird(word_list: WordList, lines: Iterable[bytes]) -> Iterator[Row]:
    data, at = b"".join(lines), 12
    yield None, [*unpack_from(">2I", data, 4)]
    for number in range(len(HAM_AND_SPAM)):
        (n_words,) = unpack_from(">I", data, at)
        at += 4
        for _ in range(n_words):
            count, length = unpack_from(">2I", data, at)
            word, at = data[at + 8 : at + 8 + length], at + 8 + length
            counts = [0, 0]
            counts[number] = count
            yield word.decode("utf-8", "surrogateescape"), counts
    if at != len(data):
        raise ValueError(at)


def body_word(text: str) -> Token | None:
    """The token of a word of the body."""
    wanted = _normalise(text)
    return (BODY, wanted) if wanted in split_words(text, MAX_WORDS) else None


def _normalise(text: str) -> str:
    """A word in the letters of our tokens: `Über` is `uber`."""
    return fold(text).replace(INNER, "").strip().lower()


def _header_word(field: str, text: str) -> Token | None:
    wanted = f"{field}:{_normalise(text)}"
    return (HEADER, wanted) if wanted in tokenize_header([(field, text)]) else None


def _field(name: str) -> Token | None:
    wanted = "field:" + name.lower()
    return (HEADER, wanted) if wanted in tokenize_header([(name.lower(), "")]) else None


def _structure(kind: str, text: str, limit: int) -> Token | None:
    return (STRUCTURE, f"{kind}={text}") if text and shorten(text, limit) == text.lower() else None


def _convert_bogofilter(word: str) -> Token | None:
    mark, colon, text = word.partition(":")
    if not colon:
        return body_word(word)
    if mark == "head":  # names of fields are written X-Mailer; other words of a header hardly ever are
        parts = text.split("-")
        return _field(text) if len(parts) > 1 and all(part[:1].isupper() for part in parts) else None
    return _header_word(MARKS[mark], text) if mark in MARKS else None


def _convert_spambayes(word: str) -> Token | None:
    mark, colon, text = word.partition(":")
    if not colon or mark == "email addr":  # the host of an address in the text
        return body_word(text if colon else word)
    if mark == "subject":
        return _header_word(mark, text)
    if mark in ("from", "to", "cc"):
        kind, _, rest = text.partition(":")
        return _header_word(mark, rest) if kind == "name" or "." in rest else None  # a host has a full stop
    limits = {"content-type": ("type", 60), "charset": ("charset", 30)}
    return _structure(limits[mark][0], text, limits[mark][1]) if mark in limits else None


def _convert_thunderbird(word: str) -> Token | None:
    """The words of the text and the subject, and the type of a part; other fields are one word each."""
    return _convert_spambayes(word.replace("content-type/type:", "content-type:", 1))


# Reader of rows, our token of a word, and how to write the list again.
_READERS: dict[str, tuple[Callable[..., Iterator[Row]], Callable[[str], Token | None], str]] = {
    BOGOFILTER: (_read_bogofilter, _convert_bogofilter, "write it again: bogoutil -d wordlist.db"),
    SPAMBAYES: (_read_spambayes, _convert_spambayes, "write it again: sb_dbexpimp -e -d hammie.db -f x.csv"),
    THUNDERBIRD: (
        _read_thunderbird,
        _convert_thunderbird,
        "train Thunderbird on more mail, or nbspam: nbspam train",
    ),
}


def _write(word_list: WordList, path: str, replaces: bool) -> None:
    # No word list has bigrams.  Those of later mail would be all that the model knows of them, and do harm
    # (docs/decisions.md, "Import").
    settings = Settings(bigrams=False)
    weights, covariance = weights_at_start(len(HAM_AND_SPAM), settings.kinds, is_imported=True)
    with new_model(path, HAM_AND_SPAM, list(word_list.messages), "model import", replaces) as file:
        file.settings(settings.as_text() | {"vocabulary": "open", "imported": word_list.form})
        file.insert("token", _make_token_rows(word_list))
        file.calibration(settings.kinds, weights, covariance)


def _make_token_rows(word_list: WordList) -> Iterator[tuple[object, ...]]:
    """(key, view, text, documents_0, occurrences_0, ...) ascending by key; a word occurs once a message."""
    items = word_list.tokens.items()
    keyed = sorted((hash_token(text), view, text, ham, spam) for (view, text), (ham, spam) in items)
    return ((key, view, text, ham, ham, spam, spam) for key, view, text, ham, spam in keyed)


def weights_at_start(n_classes: int, kinds: Sequence[str], is_imported: bool) -> Weights:
    """Weights and covariance of a calibration before its first message."""
    weights, covariance = first_weights(n_classes, kinds)
    if is_imported:
        names = feature_names(n_classes, kinds)
        weights = [FIRST_WEIGHTS.get(name, weight) for (name, _), weight in zip(names, weights, strict=True)]
    return weights, covariance


def export_bogofilter(path: str) -> Iterator[str]:
    """The counts of the model at `path` as lines for `bogoutil -l`: WORD SPAM HAM.

    The words are those that import_words takes back as the same tokens.  UsageError for other classes.
    """
    marks = {field: mark for mark, field in MARKS.items()}
    with open_model(path, snapshot=True) as model:
        if model.classes != HAM_AND_SPAM:
            why = "bogofilter knows no classes but ham and spam"
            raise UsageError(path, why, "name another model, or use model dump", "export-classes")
        ham, spam = model.messages
        yield f".ENCODING 2 0\n.MSG_COUNT {spam} {ham}\n"  # 2: UTF-8
        for view, text, ham, spam in read_documents(model):
            field, _, word = text.partition(":")
            if view == BODY:
                word = text
            else:
                word = f"head:{word.title()}" if field == "field" else f"{marks.get(field)}:{word}"
            if word.split() == [word] and _convert_bogofilter(word) == (view, text):
                yield f"{word} {spam} {ham}\n"
