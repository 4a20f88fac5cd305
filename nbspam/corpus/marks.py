"""Marks of junk: the words that mail programs and nbspam put at a message, and where stores keep them.

A mark of nbspam has one more word at it, so it is told from that of the reader.
Sources: RFC 9051, section 2.3.2; dovecot/core src/lib-storage/index/maildir/maildir-keywords.c; Courier's
maildir/maildirkeywords2.c; mozilla/releases-comm-central mailnews/local/src/nsPop3Sink.cpp.
"""

import os
import re
from collections.abc import Set
from string import ascii_lowercase

from nbspam.corpus.item import open_regular, read_flags, strip_flags
from nbspam.labels import HAM, SPAM

JUNK, NOT_JUNK, BY_NBSPAM = "$junk", "$notjunk", "$nbspam"
JUNK_WORDS, HAM_WORDS = {JUNK, "junk"}, {NOT_JUNK, "notjunk", "nonjunk"}
OWN_JUNK, OWN_HAM = "marked as junk by nbspam itself", "marked as ham by nbspam itself"
# What Thunderbird puts before the header of a message.  A field further down may be of its sender.
_MOZILLA = re.compile(rb"(From [^\n]*\n)?((X-Account-Key|X-UIDL|X-Mozilla-[\w-]+):[^\n]*\n)+")
_MOZILLA_KEYS = re.compile(rb"(?m)^X-Mozilla-Keys:([^\n]*)")
_CHANGED = re.compile(r"(?:\.(\d+)\.)?([^.:].*)")
_LETTERS = {str(number): letter for number, letter in enumerate(ascii_lowercase)}  # of dovecot-keywords
_EMLX_BITS = {1 << 24: "junk", 1 << 25: "nonjunk"}


def find_mark(words: Set[str]) -> str:
    """What the words of a message say: HAM, SPAM, OWN_HAM, OWN_JUNK or ''.  words : in small letters"""
    of_reader = words - {JUNK, NOT_JUNK} if BY_NBSPAM in words else words
    if of_reader & HAM_WORDS:
        return HAM
    if of_reader & JUNK_WORDS:
        return SPAM
    if NOT_JUNK in words:
        return OWN_HAM
    return OWN_JUNK if JUNK in words else ""


def choose_class(label: str, words: Set[str]) -> str:
    """The class of a message in a folder of class `label`; '' for ham that only nbspam has marked as junk.

    The order of time is not known: a mark of ham wins, then a folder of junk, then a mark of junk.
    """
    mark = find_mark(words)
    if mark == OWN_JUNK and label != SPAM:
        return ""
    return mark if mark in (HAM, SPAM) else label


def read_mozilla_words(head: bytes) -> set[str]:
    """The words that Thunderbird has put before a message that begins with `head`."""
    block = _MOZILLA.match(head)
    keys = _MOZILLA_KEYS.search(block[0]) if block else None
    return {*keys[1].decode("latin-1").lower().split()} if keys else set()


def read_emlx_words(flags: int) -> set[str]:
    """The words for the flags of a file of Apple Mail."""
    return {word for bit, word in _EMLX_BITS.items() if flags & bit}


class Keywords:
    """The words at the messages of a Maildir, as Dovecot and Courier keep them."""

    def __init__(self, maildir: str) -> None:
        """maildir : may have none"""
        lines = (line.split(None, 1) for line in _read_lines(f"{maildir}/dovecot-keywords"))
        pairs = (pair for pair in lines if len(pair) == 2 and pair[0] in _LETTERS)
        self._letters = {_LETTERS[number]: word.strip().lower() for number, word in pairs}
        self._files = _read_courier(f"{maildir}/courierimapkeywords")

    def find(self, name: str) -> set[str]:
        """The words at the message in a file of this name, in small letters."""
        words = {self._letters[flag] for flag in read_flags(name) if flag in self._letters}
        return words | self._files.get(strip_flags(name), set())


def _read_courier(folder: str) -> dict[str, set[str]]:
    """The words of each file.

    The file :list has words, an empty line, and lines `NAME:NUMBER NUMBER`.  What has changed since is in
    files .NUMBER.NAME, the largest number last, and then in NAME.
    """
    lines = _read_lines(f"{folder}/:list")
    end = lines.index("") if "" in lines else len(lines)
    words = {str(number): word.lower() for number, word in enumerate(lines[:end])}
    entries = (line.partition(":") for line in lines[end + 1 :])
    files = {name: {words[at] for at in numbers.split() if at in words} for name, _, numbers in entries}
    is_open = os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)
    places = map(_CHANGED.fullmatch, os.listdir(folder) if is_open else [])
    for place in sorted(filter(None, places), key=lambda place: float(place[1] or "inf")):
        files[place[2]] = {word.lower() for word in _read_lines(f"{folder}/{place[0]}") if word}
    return files


def _read_lines(path: str) -> list[str]:
    """The lines of a small file; none if it cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(1 << 24).decode("utf-8", "replace").split("\n")
    except OSError:
        return []
