"""Header fields -> tokens of the header view.

Every token carries its field's name (`subject:free`, `received:example.com`), so the same word in two fields
is two tokens.  Verdicts of other filters and notes of the mail store are left out: they tell what somebody
thought of the message or where it lies, not what it is (docs/tokens.md).
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import compress, groupby, pairwise

from nbspam.mail.message import Message, pin
from nbspam.tables import read_table
from nbspam.tokens.bag import join_neighbours
from nbspam.tokens.words import ALPHABET, MAX_WORD, has_zero_width, list_parents, make_skip_token, split_words

_FIELDS = read_table("fields")
# `name*` is every name that begins so, `x-*word*` every name with `x-` first and the word in it.
_NO_EVIDENCE = _FIELDS["notes"] + _FIELDS["verdicts"]
_NAMES = frozenset([name for name in _NO_EVIDENCE if "*" not in name])
_WORDS = [name[3:-1] for name in _NO_EVIDENCE if name.startswith("x-*")]
_BEGINNINGS = tuple([name[:-1] for name in _NO_EVIDENCE if name.find("*") == len(name) - 1])

MAX_FIELD_WORDS = 400  # a hostile field is cut here; real ones have some ten words
MAX_TOKEN_NAME = 60
MIN_CODE = 24  # characters of base64 in a row, of more kinds than one, that are no word
MIN_CODED = 60  # characters of a field in which they are looked for
MAX_ZONE = 6  # characters of a time zone
ODD = "#odd"  # stands for a name that programs do not write
MAX_ORDER = 200  # fields whose order is read
MAX_REMEMBERED_NAMES = 1_000

# Letters, digits and . - _ @ stay; all else ends a chunk.
_SPLIT = ALPHABET.translate(bytes.maketrans(b"$%',", b" " * 4))
_NOT_BASE64 = bytes(range(43)) + b",-.:;<>?@[\\]^_`{|}~\x7f"
_BASE64 = bytes.maketrans(_NOT_BASE64, b" " * len(_NOT_BASE64))
# Digits as 9, letters as a.
_SHAPE = bytes(57 if chr(code).isdigit() else 97 if chr(code).isalpha() else code for code in range(128)) * 2
_NAME_CHARACTERS = dict.fromkeys(map(ord, "abcdefghijklmnopqrstuvwxyz0123456789-_."))
_KINDS = ("dated", "trace", "addresses", "identifiers", "lists")
_KIND_OF = {name: kind for kind in _KINDS for name in _FIELDS[kind]}
# Days and months tell when, not who; they would teach the filter the calendar of its training mail.
_CALENDAR = frozenset(_FIELDS["days"] + _FIELDS["months"])
_DIGITS = frozenset("0123456789")
_SENT = frozenset(_FIELDS["sent"])
# Added on the way, so their place says nothing of the sender's program.
_UNORDERED = frozenset(_FIELDS["dated"] + _FIELDS["lists"] + _FIELDS["added"])


def counts_as_evidence(name: str) -> bool:
    """True unless a field is no evidence."""
    if name in _NAMES or name.startswith(_BEGINNINGS):
        return False
    return not (name.startswith("x-") and any(word in name for word in _WORDS))


def measure_size(message: Message) -> int:
    """Size of a message without the fields that do not count: a store or relay does not change it."""
    names = [name for name, _ in message.headers]
    return message.body_bytes + sum(compress(message.header_sizes, map(_find_token_name, names)))


def tokenize_order(headers: list[tuple[str, str]]) -> list[str]:
    """Which field follows which: a program that sends mail writes them in an order of its own.

    Fields that are added on the way are left out.  Tokens of the structure view.
    """
    names = [_find_token_name(name) for name, _ in headers if name not in _UNORDERED]
    places = [name for name in names if name][:MAX_ORDER]
    return [f"order={first}>{second}" for first, second in pairwise(places)]


@lru_cache(MAX_REMEMBERED_NAMES)
def _find_token_name(name: str) -> str:
    """The name of a field as tokens have it; "" if the field does not count."""
    if not counts_as_evidence(name):
        return ""
    # An odd name could bring the marks of the other views into a token.
    return ODD if name.translate(_NAME_CHARACTERS) or len(name) > MAX_TOKEN_NAME else name


def tokenize_header(headers: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Tokens of all fields that count, in order, repeats kept; and those of fields that the sender writes.

    Tokens have the shape of a Message-ID alone; what was sent has it whole, so the same text sent twice is
    two messages.
    """
    all_tokens: list[str] = []
    sent: list[str] = []
    for name, text in headers:
        shown = _find_token_name(name)
        tokens = ["field:" + shown] if shown else []
        if shown not in ("", ODD):
            tokens += _tokenize_value(name, text)
        all_tokens.extend(tokens)
        if name in _SENT:
            sent.extend(tokens)
        if name == "message-id":
            sent.append(text)
    return all_tokens, sent


def _tokenize_value(name: str, text: str) -> list[str]:
    kind = _KIND_OF.get(name)
    if kind == "dated":  # after the last semicolon is the time: when, not who
        text = text.rpartition(";")[0] or text
    if kind in ("dated", "trace"):
        return _tokenize_chunks(name, text, _tokenize_trace)
    if kind == "addresses":
        return _tokenize_chunks(name, text, _tokenize_address) + _tokenize_beyond_ascii(name, text)
    if kind == "identifiers":
        return _tokenize_chunks(name, text, _tokenize_identifier)
    if kind == "lists":
        return []
    if name.endswith(("date", "time")):
        return _tokenize_date(name, text)
    if name == "subject":
        return _tokenize_subject(text)
    if len(text) >= MIN_CODED:
        text = _remove_codes(text)
    return [name + ":" + word for word in split_words(text, MAX_FIELD_WORDS)]


def _tokenize_beyond_ascii(name: str, text: str) -> list[str]:
    """Words of an address field that are not ASCII as it is written.

    Senders write the name of a bank in mathematical letters, which are ASCII as a word.
    """
    if text.isascii():
        return []
    foreign = " ".join([piece for piece in text.split() if not piece.isascii()])
    return [name + ":" + word for word in split_words(foreign, MAX_FIELD_WORDS)]


def _remove_codes(text: str) -> str:
    """The text without signatures, keys and sealed notes: runs of base64.

    A message that was signed and sealed on its way has a hundred such words, and no other message has them.
    """
    runs = text.encode("ascii", "replace").translate(_BASE64).decode("ascii").split(" ")
    kept: list[str] = []
    start = at = 0
    for run in runs:
        end = at + len(run)
        if len(run) >= MIN_CODE and not (run.islower() or run.isupper() or run.isalpha() or run.isdigit()):
            kept.append(text[start:at])
            start = end
        at = end + 1
    return " ".join([*kept, text[start:]])


def _tokenize_chunks(name: str, text: str, tokenize: Callable[[str], list[str]]) -> list[str]:
    spaced = text.encode("ascii", "replace").translate(_SPLIT).decode("ascii")
    chunks = spaced.split(None, MAX_FIELD_WORDS)[:MAX_FIELD_WORDS]
    return [f"{name}:{token}" for chunk in chunks for token in tokenize(chunk.strip(".-_"))]


def _tokenize_trace(chunk: str) -> list[str]:
    """Received and its kin: names and addresses with parents; queue numbers and times are dropped."""
    if "@" in chunk:
        return _tokenize_address(chunk)
    if "." in chunk:
        return list_parents(chunk)
    if chunk.isdigit() or chunk in _CALENDAR or not 1 < len(chunk) <= MAX_WORD:
        return []
    return [chunk] if _DIGITS.isdisjoint(chunk) or chunk.startswith("smtp") else []


def _tokenize_address(chunk: str) -> list[str]:
    """An address as a whole, its local part and its host with parents; or a word of a display name."""
    local, at, host = chunk.rpartition("@")
    if not at:
        if "." in chunk:
            return list_parents(chunk)
        return [chunk] if 1 < len(chunk) <= MAX_WORD else []
    if len(chunk) > 2 * MAX_WORD:
        return [make_skip_token(chunk), *list_parents(host)]
    return [chunk, *([local + "@"] if local else []), *list_parents(host)]


def _tokenize_identifier(chunk: str) -> list[str]:
    """Message identifiers: the host that made it, and the shape of the part that it made."""
    local, at, host = chunk.rpartition("@")
    shape = _find_shape(local if at else chunk)
    return [shape, *list_parents(host)] if at else [shape]


def _find_shape(text: str) -> str:
    """Runs of digits as 9, of letters as a, other characters as they are: 2002.a1b -> 9.a9a."""
    kinds = text[:60].encode("ascii", "replace").translate(_SHAPE).decode("ascii")
    return "~" + "".join([kind for kind, _ in groupby(kinds)])[:24]


def _tokenize_date(name: str, text: str) -> list[str]:
    """The time zone and the form of a date or time; day and hour say nothing of the sender."""
    pieces = text.split(None, 10)
    zone = [piece for piece in pieces if piece[:1] in "+-" and piece[1:].isdigit()]
    shape = _find_shape("_".join(text.lower().split(None, 30)))  # a token never holds white space
    return [name + ":" + piece[:MAX_ZONE] for piece in zone[:1]] + [name + ":" + shape]


def _tokenize_subject(text: str) -> list[str]:
    """Words, pairs of words, and the marks of shouting: capitals, exclamation marks, long gaps."""
    read = split_words(text, MAX_FIELD_WORDS)
    tokens = ["subject:" + word for word in read] + join_neighbours(read, "subject:")
    if pin(text).isupper():
        tokens.append("subject:#capitals")
    if "!" in text:
        tokens.append("subject:!")
    if "?" in text:
        tokens.append("subject:?")
    if "   " in text:
        tokens.append("subject:#gap")
    if has_zero_width(text):
        tokens.append("subject:#zero-width")
    return tokens
