"""Running text -> words: the one definition of a word, in two speeds.

Hides the alphabet: which characters make a word, which join two halves, which are dropped; and how much is
remembered of what was worked out before.
ASCII text (seven texts of eight) goes through one 256-byte table; all other text through
nbspam.tokens.unicode_words, whose result on ASCII text is the same (a test says so).
The specification is docs/tokens.md.
"""

from __future__ import annotations

from itertools import compress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Key = TypeVar("Key", bound=str | tuple[str, str])
    Value = TypeVar("Value")

MAX_WORD = 40  # longer runs are machine-made (keys, encodings): they become a `skip` token
MIN_SPACED = 3  # this many single letters in a row read as one word: v i a g r a
MAX_LEVELS = 6  # of a host name
MAX_KNOWN = 40_000  # chunks whose words are remembered, some 8 MB
MAX_KNOWN_CHUNK = 80  # characters; a longer one will hardly come again, and could be a whole mail
MAX_CHARACTERS = 60_000  # whose meaning is remembered, some 8 MB
SPACED = bytes([1]) * MIN_SPACED  # of the length of each word
SPACED_WORDS = bytes([1]) * 6  # and this many may be two
_NOT_LONE = bytes(2) + bytes([1]) * 254  # of the length of a word, whether it is kept
JOINERS = "'-.,_@"  # part of a word only between two of its characters
NUMERIC = "0123456789$.,%-"
KEPT = "$%" + JOINERS
PAIR = 2  # the length of a pair


class Memory(dict["Key", "Value"]):
    """Text, or a pair of texts -> what `work` makes of it, worked out once.

    Bulk training meets the same words, hosts and fields over and over; but no mail, however hostile,
    may fill the memory: long texts are not kept, and a full memory starts anew.  It stands here, where
    all who tokenise find it, because one more module on the classify lane costs each mail 0.2 ms.

    most    : how many are remembered
    longest : len() of the longest text that is; a pair has 2, and who asks keeps the long ones away
    """

    __slots__ = ("_longest", "_most", "_work")

    def __init__(self, work: Callable[[Key], Value], most: int, longest: int = PAIR) -> None:
        super().__init__()
        self._work = work
        self._most = most
        self._longest = longest

    def __missing__(self, text: Key) -> Value:
        value = self._work(text)
        if len(text) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[text] = value
        return value


class CharacterTable(dict[int, "str | None"]):
    """Code point -> what `become` makes of it: a table for str.translate, filled as characters come.

    A full one starts anew, as a Memory does: a mail may have a million characters, honest mail has some
    thousand different ones.
    """

    __slots__ = ("_become",)

    def __init__(self, become: Callable[[int], str | None]) -> None:
        super().__init__()
        self._become = become

    def __missing__(self, code: int) -> str | None:
        if len(self) >= MAX_CHARACTERS:
            self.clear()
        self[code] = become = self._become(code)
        return become


def _ascii_table() -> bytes:
    table = bytearray(b" " * 256)
    for code in range(128):
        character = chr(code)
        if character.isalnum() or character in KEPT:
            table[code] = ord(character.lower())
    return bytes(table)


ASCII_TABLE = _ascii_table()


def words(text: str, limit: int) -> list[str]:
    """The words of `text` in order, at most about `limit`; repeats stay.

    Returns lower-case strings without white space.  Source: docs/tokens.md, "Words".
    """
    if not text.isascii():
        from nbspam.tokens.unicode_words import unicode_words  # not paid for by ASCII mail

        return unicode_words(text, limit)
    return from_chunks(_ascii_chunks(text, limit), text)


def _ascii_chunks(text: str, limit: int) -> list[str]:
    spaced = text.encode("ascii").translate(ASCII_TABLE)
    # The two commonest ends of a word go in C; what is left takes the slower irregular().
    spaced = spaced.replace(b". ", b" ").replace(b", ", b" ")
    return spaced.decode("ascii").split(None, limit)[:limit]


def _irregular_words(chunk: str) -> tuple[str, ...]:
    found: list[str] = []
    irregular(chunk, found)
    return tuple(found)


_known = Memory(_irregular_words, MAX_KNOWN, MAX_KNOWN_CHUNK)


def from_chunks(chunks: list[str], text: str = "") -> list[str]:
    """Words of chunks that hold only lower-case letters, digits and KEPT characters.

    text : whose chunks these are, if its gaps are to tell where one word of single letters ends
    """
    found: list[str] = []
    append, extend, known = found.append, found.extend, _known
    for chunk in chunks:
        if chunk.isalnum():
            append(chunk)
        else:
            extend(known[chunk])
    sizes = list(map(len, found))
    if max(sizes, default=0) > MAX_WORD:
        found = [word if len(word) <= MAX_WORD or not word.isalnum() else skip_token(word) for word in found]
        sizes = list(map(len, found))
    lengths = bytes(sizes)  # no word is longer than 2 * MAX_WORD
    if SPACED_WORDS in lengths and text:
        from nbspam.tokens.spelled import parted  # rare

        pieces, rest = parted(text)
        if len(pieces) > 1:
            kept = [word for piece in pieces for word in from_chunks(_ascii_chunks(piece, len(chunks)))]
            return (kept + from_chunks(_ascii_chunks(rest, len(chunks))))[: len(chunks)]
    if SPACED in lengths:
        return _spelled_out(found)
    return list(compress(found, lengths.translate(_NOT_LONE))) if 1 in lengths else found


def _spelled_out(found: list[str]) -> list[str]:
    """Reads a run of lone letters as the word it spells, and drops other lone characters."""
    kept: list[str] = []
    run: list[str] = []
    for word in found:
        if len(word) == 1:
            run.append(word)
            continue
        if run:
            _close_run(run, kept)
        kept.append(word)
    _close_run(run, kept)
    return kept


def _close_run(run: list[str], kept: list[str]) -> None:
    word = "".join(run)
    if len(run) >= MIN_SPACED and not word.isdigit():
        kept.append("spaced=" + word if len(word) <= MAX_WORD else skip_token(word))
    run.clear()


def skip_token(chunk: str) -> str:
    """What stands for a run too long to be a word: its first character and its length in tens."""
    return f"skip={chunk[0]}:{min(len(chunk), 990) // 10 * 10}"


def irregular(chunk: str, found: list[str]) -> None:
    """Adds the words of a chunk that has a joiner, a currency or a per cent sign in it."""
    chunk = chunk.strip(JOINERS)
    if len(chunk) < 2:
        if chunk:
            found.append(chunk)
    elif chunk.isalnum():
        found.append(chunk if len(chunk) <= MAX_WORD else skip_token(chunk))
    elif is_numeric(chunk):
        _number(chunk, found)
    elif "@" in chunk:
        _address(chunk, found)
    elif "." in chunk or "," in chunk or "--" in chunk:
        _compound(chunk, found)
    elif len(chunk) <= MAX_WORD:
        found.append(chunk)  # don't, e-mail, snake_case
    else:
        for piece in chunk.replace("-", " ").replace("_", " ").replace("'", " ").split():
            found.append(piece if len(piece) <= MAX_WORD else skip_token(piece))


def is_numeric(chunk: str) -> bool:
    """Whether the chunk is a number, price, share or version: digits and $ . , % - only."""
    return not chunk.strip(NUMERIC)


def _number(chunk: str, found: list[str]) -> None:
    """$29.95, 1,000,000 and 50% as they are; 192.0.2.7 with its parents."""
    if len(chunk) > MAX_WORD:
        found.append(skip_token(chunk))
    elif chunk.count(".") == 3 and chunk.replace(".", "").isdigit():
        found.extend(parents(chunk))
    else:
        found.append(chunk)


def _address(chunk: str, found: list[str]) -> None:
    """someone@host.example: the whole, then the host with its parents."""
    local, _, host = chunk.rpartition("@")
    if len(chunk) <= 2 * MAX_WORD and "@" not in local:
        found.append(chunk)
    else:
        found.append(skip_token(chunk))
    found.extend(parents(host.strip(JOINERS)))


def _compound(chunk: str, found: list[str]) -> None:
    """Words run together by full stops or commas; a dotted name is also kept whole, with its parents."""
    if "," not in chunk and "--" not in chunk and len(chunk) <= MAX_WORD:
        found.extend([chunk] if ".." in chunk else parents(chunk)[:-1])
    for piece in chunk.replace(",", " ").replace(".", " ").replace("--", " ").split():
        piece = piece.strip(JOINERS)
        if len(piece) > 1:
            found.append(piece if len(piece) <= MAX_WORD else skip_token(piece))


def parents(host: str) -> list[str]:
    """A host name or IPv4 address with its parents: a.b.example -> itself, b.example, example.

    192.0.2.7 -> itself, 192.0.2, 192.0.  A name without a dot gives itself; at most MAX_LEVELS.
    """
    if "." not in host:
        return [host] if 0 < len(host) <= MAX_WORD else []
    if is_numeric(host):
        parts = host.split(".")
        if len(host) > MAX_WORD:
            return []
        return [host, ".".join(parts[:3]), ".".join(parts[:2])] if len(parts) == 4 else [host]
    names: list[str] = []
    at = len(host)
    while at >= 0 and len(names) < MAX_LEVELS:
        at = host.rfind(".", 0, at)
        names.append(host[at + 1 :])
    names.reverse()
    return names if len(names[0]) <= 2 * MAX_WORD else [name for name in names if len(name) <= 2 * MAX_WORD]
