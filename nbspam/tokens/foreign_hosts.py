"""Hosts with letters beyond ASCII: where one ends in running text, and what it is in letters.

Hides how such a host is told from text that goes on behind a plain one without a space, as Chinese does, and
punycode, in which the net carries these names (RFC 3492).
"""

from __future__ import annotations

import unicodedata

from nbspam.tokens.unicode_words import is_unspaced

MAX_HOST = 200  # characters, with user and port
MAX_LABEL = 63  # characters, in punycode
MAX_UNSPACED = 4  # characters of a last label in a script without spaces; 中国 has two
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._@:")
_PUNYCODE = "xn--"


def end_of_host(text: str, plain: int) -> int:
    """Where the host ends that text begins with, if it goes on beyond ASCII; else `plain`.

    plain : so many characters at the beginning are ASCII, and an address with a plain host would end there
    """
    if not _PLAIN.issuperset(text[:plain].lower()):
        return plain  # that is in the path
    size = plain
    before = text[plain - 1 : plain]
    for character in text[plain:MAX_HOST]:
        if not _goes_on(before, character):
            break
        before = character
        size += 1
    host = text[:size].rpartition("@")[2].partition(":")[0]
    return size if _is_host(host.rstrip(".-_").split(".")) else plain


def _goes_on(before: str, character: str) -> bool:
    """Whether a host goes on with a character; text in a script without spaces may follow ASCII."""
    if character.isascii():
        return character.lower() in _PLAIN
    if is_unspaced(character) and before.isascii() and before.isalnum():
        return False
    return unicodedata.category(unicodedata.normalize("NFKC", character)[0])[0] in "LMN"


def _is_host(labels: list[str]) -> bool:
    """Whether they could be those of a host: the last is of one alphabet, and not alone beyond ASCII."""
    last = labels[-1]
    if min(len(labels), len(last)) == 1:
        return False
    if last.isascii():
        return last.isalpha() or last.startswith(_PUNYCODE)
    if any(letter.isascii() for letter in last) or labels[-2].isascii():
        return False
    return len(last) <= MAX_UNSPACED or not is_unspaced(last[0])


def in_letters(host: str) -> str:
    """The host with its labels in punycode as a browser shows them; those that are broken as they are."""
    return ".".join([_label(label) if label.startswith(_PUNYCODE) else label for label in host.split(".")])


def _label(label: str) -> str:
    if len(label) > MAX_LABEL:
        return label
    try:
        letters = label.removeprefix(_PUNYCODE).encode("ascii").decode("punycode")
    except UnicodeError:
        return label
    sound = letters.isprintable() and not letters.isascii() and " " not in letters
    return letters if sound else label
