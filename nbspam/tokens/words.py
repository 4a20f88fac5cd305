"""Running text -> words: the one definition of a word.

Text beyond ASCII is folded into a small alphabet first (nbspam.tokens.unicode_words).  Then all text goes
through one table of 256 bytes, in which the bytes of UTF-8 beyond ASCII stay as they are.
The specification is docs/tokens.md.
"""

from itertools import groupby, pairwise

from nbspam.tokens.bag import INNER

MAX_WORD = 40  # longer runs are machine-made (keys, encodings): they become a `skip` token
MIN_SPACED = 3  # this many single letters in a row are read as one word: v i a g r a
MAX_LEVELS = 6  # of a host name
JOINERS = "'-.,_@"  # part of a word only between two of its characters
WORD_MARKS = "$%" + JOINERS
CURRENCIES = "€£¥￥₽₩₹₺₴₸₪₫₱₦₡฿৳"  # in addition to $
NUMBER_CHARACTERS = "0123456789$.,%-" + CURRENCIES
_SPACED = bytes([1]) * MIN_SPACED  # a run of single characters, in the lengths of the words


# Byte -> lower-case letter, digit, one of WORD_MARKS, byte of UTF-8 beyond ASCII, or else a space.
ALPHABET = bytes(
    ord(one.lower()) if one.isalnum() or one in WORD_MARKS else 32 for one in map(chr, range(128))
) + bytes(range(128, 256))


def split_words(text: str, limit: int) -> list[str]:
    """The first `limit` words of `text` in order; repeats stay.

    Returns lower-case strings without white space.  Source: docs/tokens.md, "Words".
    """
    if not text.isascii():
        from nbspam.tokens.unicode_words import fold  # not needed for ASCII mail

        text = fold(text)
    # The two commonest ends of a word go in C; _split_irregular() does the rest.
    spaced = text.encode().translate(ALPHABET).replace(b". ", b" ").replace(b", ", b" ")
    words: list[str] = []
    for chunk in spaced.decode().split(None, limit)[:limit]:
        if chunk.isalnum():
            words.append(chunk)
        else:
            words.extend(_split_irregular(chunk))
    words = [word if len(word) <= MAX_WORD or not word.isalnum() else make_skip_token(word) for word in words]
    lengths = list(map(len, words))
    if 1 in lengths and _SPACED in bytes(lengths):  # no word is longer than 2 * MAX_WORD
        words = _spell_out(words)
    elif 1 in lengths:  # pictures and single letters of other alphabets than the Latin one stay
        words = [word for word in words if len(word) > 1 or not word.isascii()]
    return words[:limit]


def has_zero_width(text: str) -> bool:
    """True if invisible characters split a word, or one turns the text round; see unicode_words."""
    if text.isascii():
        return False
    from nbspam.tokens.unicode_words import splits_words  # not needed for ASCII mail

    return splits_words(text)


def _spell_out(pieces: list[str]) -> list[str]:
    """The words, with a run of single letters as the word that it spells and without other single letters."""
    kept: list[str] = []
    for is_single, run in groupby(pieces, lambda word: len(word) == 1):
        words = list(run)
        kept += _spell(words) if is_single else words
    return kept


def _spell(run: list[str]) -> list[str]:
    """The pictures in a run of single characters, and the word that its letters spell."""
    letters = [letter for letter in run if letter.isalnum()]
    pictures = [letter for letter in run if not letter.isalnum() and not letter.isascii()]
    word = "".join(letters)
    if len(letters) < MIN_SPACED or word.isdigit():  # no word
        return pictures + [letter for letter in letters if not letter.isascii()]
    return [*pictures, "spaced=" + word if len(word) <= MAX_WORD else make_skip_token(word)]


def make_skip_token(chunk: str) -> str:
    """The token of a run too long to be a word: its first character and its length in tens."""
    return f"skip={chunk[0]}:{min(len(chunk), 990) // 10 * 10}"


def _split_irregular(chunk: str) -> list[str]:
    """The words of a chunk that has another character in it than letters and digits."""
    if INNER in chunk:
        return [first + second for first, second in pairwise(chunk.split(INNER))]
    chunk = chunk.strip(JOINERS)
    if not chunk:
        return []
    if is_numeric(chunk):
        return _split_number(chunk)
    if "@" in chunk:
        return _split_address(chunk)
    if "." in chunk or "," in chunk or "--" in chunk:
        return _split_compound(chunk)
    if len(chunk) <= MAX_WORD or chunk.isalnum():
        return [chunk]  # don't, e-mail, snake_case; split_words() cuts a long run of letters
    return _split_pieces(chunk.replace("-", " ").replace("_", " ").replace("'", " "))


def is_numeric(chunk: str) -> bool:
    """True for a number, price, share or version: only digits, `$ . , % -` and currency signs."""
    return not chunk.strip(NUMBER_CHARACTERS)


def _split_number(chunk: str) -> list[str]:
    """$29.95, 1,000,000 and 50% as they are; 192.0.2.7 with its parents."""
    if len(chunk) > MAX_WORD:
        return [make_skip_token(chunk)]
    return list_parents(chunk) if chunk.count(".") == 3 and chunk.replace(".", "").isdigit() else [chunk]


def _split_address(chunk: str) -> list[str]:
    """someone@host.example: the whole, then the host with its parents."""
    local, _, host = chunk.rpartition("@")
    whole = chunk if len(chunk) <= 2 * MAX_WORD and "@" not in local else make_skip_token(chunk)
    return [whole, *list_parents(host.strip(JOINERS))]


def _split_compound(chunk: str) -> list[str]:
    """Words run together by full stops or commas; a dotted name is also kept whole, with its parents."""
    whole: list[str] = []
    if "," not in chunk and "--" not in chunk and len(chunk) <= MAX_WORD:
        whole = [chunk] if ".." in chunk else list_parents(chunk)[:-1]
    return whole + _split_pieces(chunk.replace(",", " ").replace(".", " ").replace("--", " "))


def _split_pieces(spaced: str) -> list[str]:
    """Words between spaces, of two characters or more."""
    pieces = [piece.strip(JOINERS) for piece in spaced.split()]
    return [piece if len(piece) <= MAX_WORD else make_skip_token(piece) for piece in pieces if len(piece) > 1]


def list_parents(host: str) -> list[str]:
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
