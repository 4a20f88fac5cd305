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
from nbspam.store import evolution

JUNK, NOT_JUNK, BY_NBSPAM = "$junk", "$notjunk", "$nbspam"
JUNK_WORDS, HAM_WORDS = {JUNK, "junk"}, {NOT_JUNK, "notjunk", "nonjunk"}
OWN_JUNK, OWN_HAM = "marked as junk by nbspam itself", "marked as ham by nbspam itself"
# What Thunderbird puts before the header of a message.  A field further down may be of its sender.
_MOZILLA = re.compile(rb"(From [^\n]*\n)?((X-Account-Key|X-UIDL|X-Mozilla-[\w-]+):[^\n]*\n)+")
_MOZILLA_KEYS = re.compile(rb"(?m)^X-Mozilla-Keys:([^\n]*)")
_CHANGED = re.compile(r"(?:\.(\d+)\.)?([^.:].*)")
_LETTERS = {str(number): letter for number, letter in enumerate(ascii_lowercase)}  # of dovecot-keywords
EMLX_BITS = {1 << 24: "junk", 1 << 25: "nonjunk"}
_EVOLUTION_BITS = {evolution.JUNK: "junk", evolution.NOT_JUNK: "nonjunk"}
DOVECOT_LIST, COURIER_LISTS, EVOLUTION_INDEX = "dovecot-keywords", "courierimapkeywords", "folders.db"
LISTS = {DOVECOT_LIST, COURIER_LISTS, EVOLUTION_INDEX}  # next to the messages of a Maildir
MARKS_UNREAD = "marks of junk that are not read"  # why there may be spam among ham


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


def read_bits(flags: int, words: dict[int, str]) -> set[str]:
    """The words for the bits that are set.  words : by bit"""
    return {word for bit, word in words.items() if flags & bit}


class Keywords:
    """The words at the messages of a Maildir, as Dovecot, Courier and Evolution keep them.

    unread : the files of words that cannot be read, or do not hold a word that a message has
    """

    def __init__(self, maildir: str) -> None:
        """maildir : may have none"""
        self.unread: list[str] = []
        self._list = f"{maildir}/{DOVECOT_LIST}"
        lines = (line.split(None, 1) for line in self._read_lines(self._list))
        pairs = (pair for pair in lines if len(pair) == 2 and pair[0] in _LETTERS)
        self._letters = {_LETTERS[number]: word.strip().lower() for number, word in pairs}
        self._files = self._read_courier(f"{maildir}/{COURIER_LISTS}")
        self._files |= self._read_evolution(maildir)

    def find(self, name: str) -> set[str]:
        """The words at the message in a file of this name, in small letters."""
        flags = read_flags(name)
        if not self.unread and any(flag.islower() and flag not in self._letters for flag in flags):
            self.unread.append(self._list)
        words = {self._letters[flag] for flag in flags if flag in self._letters}
        return words | self._files.get(strip_flags(name), set())

    def _read_courier(self, folder: str) -> dict[str, set[str]]:
        """The words of each file.

        The file :list has words, an empty line, and lines `NAME:NUMBER NUMBER`.  What has changed since is in
        files .NUMBER.NAME, the largest number last, and then in NAME.
        """
        lines = self._read_lines(f"{folder}/:list")
        end = lines.index("") if "" in lines else len(lines)
        words = {str(number): word.lower() for number, word in enumerate(lines[:end])}
        entries = (line.partition(":") for line in lines[end + 1 :])
        files = {name: {words[at] for at in numbers.split() if at in words} for name, _, numbers in entries}
        try:
            names = os.listdir(folder)
        except OSError as error:
            self._note(folder, error)
            return files
        places = filter(None, map(_CHANGED.fullmatch, names))
        for place in sorted(places, key=lambda place: float(place[1] or "inf")):
            files[place[2]] = {word.lower() for word in self._read_lines(f"{folder}/{place[0]}") if word}
        return files

    def _read_evolution(self, maildir: str) -> dict[str, set[str]]:
        """The words of each file; `.Work.2024_2E1` is the folder Work/2024.1, `..Work` Inbox/Work."""
        path, folder = f"{maildir}/{EVOLUTION_INDEX}", "Inbox"
        if not os.path.isfile(path):
            top, name = os.path.split(maildir)
            path, folder = f"{top}/{EVOLUTION_INDEX}", re.sub("^/", "Inbox/", name[1:].replace(".", "/"))
            folder = re.sub("_([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), folder)
        try:
            flags = evolution.find_flags(path, folder)
        except OSError as error:
            self._note(path, error)
            return {}
        return {name: read_bits(number, _EVOLUTION_BITS) for name, number in flags.items()}

    def _read_lines(self, path: str) -> list[str]:
        """The lines of a small file; none if it cannot be read."""
        try:
            with open_regular(path) as file:
                return file.read(1 << 24).decode("utf-8", "replace").split("\n")
        except OSError as error:
            self._note(path, error)
            return []

    def _note(self, path: str, error: OSError) -> None:
        """Note that a file of words cannot be read, if there is one."""
        if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            self.unread.append(path)
