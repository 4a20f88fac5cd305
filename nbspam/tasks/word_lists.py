"""The word list of another filter becomes a model.

bogofilter (`bogoutil -d wordlist.db`): lines WORD SPAM HAM DATE.  The line of .MSG_COUNT holds the number of
messages; other words that begin with a full stop are notes.  A word of a header begins with a mark of its
field: `to:` for To and Cc, `head:` for all fields without a mark, names of fields included.
Thunderbird (`training.dat`): numbers of 32 bits, big-endian.  After the first, FEEDFACE, the messages of ham
and of spam; then for each class the number of words, and of each its count, its length and its bytes.  A
colon in a word comes after the place where it was found.
Both count the messages that hold a word, each spelling apart: `Free` and `free` are two words.  How many
messages hold both is not known; the sum, at most all messages, is nearer to the truth than the maximum
(docs/decisions.md, "Import").

A word is imported if our own tokenizer, given the word as text of the same place, makes exactly that token
of it.  So `free!!!`, which others count apart, is not mixed with `free`.

No mail comes with the counts, so the calibration starts at fixed weights, and learns from the first mail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from nbspam.errors import BadDataError
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.calibration import feature_names, first_weights
from nbspam.settings import Settings
from nbspam.store.text import parse_natural
from nbspam.store.writer import new_model
from nbspam.tokens.bag import INNER, TEXTBOOK_VIEWS, hash_token
from nbspam.tokens.headers import tokenize_header
from nbspam.tokens.structure import shorten
from nbspam.tokens.unicode_words import fold
from nbspam.tokens.words import split_words

if TYPE_CHECKING:
    from nbspam.model.calibration import Weights

AUTO = "auto"
BOGOFILTER, THUNDERBIRD, SPAMASSASSIN = "bogofilter", "thunderbird", "spamassassin"
THUNDERBIRD_MAGIC = b"\xfe\xed\xfa\xce"
ALL_MESSAGES = ".MSG_COUNT"
# The marks of bogofilter for the words of these fields.
MARKS = {"subj": "subject", "rtrn": "return-path", "rcvd": "received", "from": "from", "to": "to"}
# Where the calibration starts, other weights as in any model.  The counts of others cover half of what we
# read, so the evidence is smaller: about twice the weights were best on mail of three corpora
# (docs/decisions.md, "Import").
FIRST_WEIGHTS = {"evidence:header": 2.0, "evidence:body": 1.4, "cautious:header": 0.5, "cautious:body": 1.0}
MAX_COUNT = 1_000_000_000  # messages; sums over a word list stay far below 64 bits
MAX_LIST_LINE = 1 << 16  # the words of others have some dozens
MAX_WORDS = 16  # of ours in one word of others
MAX_TYPE, MAX_CHARSET = 60, 30  # characters of our tokens of structure
HEADER, BODY, STRUCTURE = range(len(TEXTBOOK_VIEWS))

Token = tuple[int, str]  # view and text of a token of ours


class HamSpam(NamedTuple):
    """How many messages of ham and of spam."""

    ham: int
    spam: int


NOTHING = HamSpam(0, 0)


class Form(NamedTuple):
    """How a filter writes its counts.

    read    : words with their counts, of the lines of a list; ValueError if it is damaged
    convert : our token of a word, or None
    unit    : what a word takes: a line or a word
    remedy  : how to get a sound list
    """

    read: Callable[[Iterable[bytes]], Iterator[tuple[str, HamSpam]]]
    convert: Callable[[str], Token | None]
    unit: str
    remedy: str


class WordList(NamedTuple):
    """The counts of another filter under our tokens.

    form     : the filter
    messages : that it has counted
    words    : how many words the list has (training.dat: of each class)
    taken    : how many of them are tokens of ours; several spellings may be one token
    tokens   : each number is at most the messages of its class
    """

    form: str
    messages: HamSpam
    words: int
    taken: int
    tokens: dict[Token, HamSpam]


def import_words(
    lines: Iterable[bytes], where: str, path: str, form: str = AUTO, replaces: bool = True
) -> WordList:
    """Write the model of a word list to `path`, whole or not at all.

    lines    : of the text form, bytes with their ends; of training.dat any pieces
    where    : the name of the list, for errors
    form     : the name of the filter, or AUTO
    replaces : write over a model at `path`; if False, a model there is an error
    """
    stream = iter(lines)
    first = next(stream, b"")
    word_list = read_words(chain([first], stream), where, detect_form(first, where) if form == AUTO else form)
    _write(word_list, path, replaces)
    return word_list


def detect_form(line: bytes, where: str) -> str:
    """The filter that wrote a text with this first line."""
    if line.startswith(THUNDERBIRD_MAGIC):
        return THUNDERBIRD
    if line.startswith((b"v\t", b"t\t", b"s\t")):
        return SPAMASSASSIN
    if re.fullmatch(rb"\S+ \d+ \d+( \d+)?\s*", line):
        return BOGOFILTER
    remedy = "name the output of bogoutil -d, or training.dat, and the filter: `from`"
    raise BadDataError(where, "this is not the text of a word list", remedy, "import-foreign")


def read_words(lines: Iterable[bytes], where: str, form: str) -> WordList:
    """Count the words under our tokens; BadDataError names the line that is wrong."""
    if form == SPAMASSASSIN:
        why = "SpamAssassin keeps hashes of the words, and a hash does not tell the word"
        remedy = "nothing can be imported; train on sorted mail: nbspam train SOURCE"
        raise BadDataError(where, why, remedy, "import-hashed")
    read, convert, unit, remedy = FORMS[form]
    messages, tokens = NOTHING, dict[Token, HamSpam]()
    n_read = n_words = n_taken = 0
    try:
        for word, count in read(lines):
            n_read += 1
            if word == ALL_MESSAGES:
                messages = count
            elif any(count):  # else it is a note, or was forgotten
                n_words += 1
                # Bytes that are not UTF-8 come as surrogates: their charset is not known.
                token = convert(word) if word.isascii() or word.isprintable() else None
                if token:
                    n_taken += 1
                    known = tokens.get(token, NOTHING)
                    tokens[token] = HamSpam(known.ham + count.ham, known.spam + count.spam)
    except ValueError:
        why = f"this cannot be in a word list of {form}, or it is cut short"
        raise BadDataError(f"{where}: {unit} {n_read + 1}", why, remedy, "import-damaged") from None
    capped = {token: HamSpam(*map(min, count, messages)) for token, count in tokens.items()}
    word_list = WordList(form, messages, n_words, n_taken, capped)
    _check(word_list, where)
    return word_list


def _check(word_list: WordList, where: str) -> None:
    """Raise unless mail of both classes was counted, and words that we count, too."""
    for name, counted in zip(HAM_AND_SPAM, word_list.messages, strict=True):
        if not counted:
            why, remedy = f"no message of class {name} was counted", "a filter needs mail of each class"
            raise BadDataError(where, why, remedy, "class-empty")
    if not word_list.tokens:
        why = f"nbspam counts none of its {word_list.words:,} words"
        raise BadDataError(where, why, FORMS[word_list.form].remedy, "import-empty")


def _split_line(line: bytes) -> tuple[str, HamSpam]:
    """A line of bogofilter, a note without its numbers; ValueError if it is damaged."""
    if len(line) > MAX_LIST_LINE or not line.endswith(b"\n"):
        raise ValueError(line)
    word, spam, ham, *_ = line.decode("utf-8", "surrogateescape").rstrip("\r\n").split(" ")
    if word.startswith(".") and word != ALL_MESSAGES:
        return word, NOTHING
    return word, HamSpam(parse_natural(ham, MAX_COUNT + 1), parse_natural(spam, MAX_COUNT + 1))


def _read_thunderbird(pieces: Iterable[bytes]) -> Iterator[tuple[str, HamSpam]]:
    data = b"".join(pieces)
    yield ALL_MESSAGES, HamSpam(_unpack(data, 4), _unpack(data, 8))
    at = 12
    for is_spam in (False, True):
        n_words = _unpack(data, at)
        at += 4
        for _ in range(n_words):
            times, length = _unpack(data, at), _unpack(data, at + 4)
            word = data[at + 8 : at + 8 + length].decode("utf-8", "surrogateescape")
            at += 8 + length
            yield word, HamSpam(0, times) if is_spam else HamSpam(times, 0)
    if at != len(data):
        raise ValueError(at)


def _unpack(data: bytes, at: int) -> int:
    """The number of 32 bits at a place; ValueError if the data ends before, or for one above MAX_COUNT."""
    four = data[at : at + 4]
    number = int.from_bytes(four, "big")
    if len(four) < 4 or number > MAX_COUNT:
        raise ValueError(at)
    return number


def _convert_bogofilter(word: str) -> Token | None:
    """Our token of a word, if we count it."""
    mark, colon, text = word.partition(":")
    if not colon:
        return _body_word(word)
    if mark == "head":  # names of fields are written X-Mailer; other words of a header hardly ever are
        parts = text.split("-")
        return _field(text) if len(parts) > 1 and all(part[:1].isupper() for part in parts) else None
    return _header_word(MARKS[mark], text) if mark in MARKS else None


def _convert_thunderbird(word: str) -> Token | None:
    """Our token of a word of the text or the subject, or of the type of a part; other fields are one word."""
    mark, colon, text = word.partition(":")
    if not colon:
        return _body_word(word)
    match mark:
        case "email addr":  # the host of an address in the text
            return _body_word(text)
        case "subject":
            return _header_word(mark, text)
        case "content-type/type":
            return _structure("type", text, MAX_TYPE)
        case "charset":
            return _structure("charset", text, MAX_CHARSET)
    return None


FORMS = {
    BOGOFILTER: Form(
        partial(map, _split_line), _convert_bogofilter, "line", "write it again: bogoutil -d wordlist.db"
    ),
    THUNDERBIRD: Form(
        _read_thunderbird,
        _convert_thunderbird,
        "word",
        "train Thunderbird on more mail, or nbspam: nbspam train",
    ),
}


def _body_word(text: str) -> Token | None:
    wanted = _normalise(text)
    return (BODY, wanted) if wanted in split_words(text, MAX_WORDS) else None


def _header_word(field: str, text: str) -> Token | None:
    wanted = f"{field}:{_normalise(text)}"
    return (HEADER, wanted) if wanted in tokenize_header([(field, text)])[0] else None


def _field(name: str) -> Token | None:
    wanted = "field:" + name.lower()
    return (HEADER, wanted) if wanted in tokenize_header([(name.lower(), "")])[0] else None


def _structure(kind: str, text: str, limit: int) -> Token | None:
    return (STRUCTURE, f"{kind}={text}") if text and shorten(text, limit) == text.lower() else None


def _normalise(text: str) -> str:
    """A word in the letters of our tokens: `Über` is `uber`."""
    return fold(text).replace(INNER, "").strip().lower()


def _write(word_list: WordList, path: str, replaces: bool) -> None:
    # No word list has bigrams, raw bytes or signatures.  Those of later mail would be all that the model
    # knows of them, and do harm (docs/decisions.md, "Import").
    settings = Settings(bigrams=False, raw=False, signature=False)
    weights, covariance = weights_at_start(len(HAM_AND_SPAM), settings.kinds, is_imported=True)
    with new_model(path, HAM_AND_SPAM, list(word_list.messages), "model import", replaces) as file:
        file.settings(settings.as_text() | {"vocabulary": "open", "imported": word_list.form})
        keyed = sorted((hash_token(text), view, text, *n) for (view, text), n in word_list.tokens.items())
        # A word occurs once a message.
        file.insert("token", ((*token, ham, ham, spam, spam) for *token, ham, spam in keyed))
        file.calibration(settings.kinds, weights, covariance)


def weights_at_start(n_classes: int, kinds: Sequence[str], is_imported: bool) -> Weights:
    """Weights and covariance of a calibration before its first message."""
    weights, covariance = first_weights(n_classes, kinds)
    if is_imported:
        names = feature_names(n_classes, kinds)
        weights = [FIRST_WEIGHTS.get(name, weight) for (name, _), weight in zip(names, weights, strict=True)]
    return weights, covariance
