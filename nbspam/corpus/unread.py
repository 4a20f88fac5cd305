"""Leaves out mail that its reader has not opened.

Hides where mail stores note it: the flag S in a file's name in a Maildir (nothing in `new` was opened), the
sequence `unseen` of an MH folder, the field Status of an mbox.  A message without that field came after a
mail program last marked the mbox.  An mbox without any says nothing, nor does a folder of files; of these
nothing is left out.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right

from nbspam.corpus.files import file_items
from nbspam.corpus.folders import UNREAD, flags_of, is_maildir, is_number
from nbspam.corpus.notes import Notes
from nbspam.corpus.source import PathPart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nbspam.corpus.item import Item

    IsUnread = Callable[[Item], bool]

_HEADER_BYTES = 1 << 16
_HEADER_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"^Status:(.*)", re.IGNORECASE | re.MULTILINE)
_UNSEEN = "unseen:"
_MAX_DIGITS = 100  # int() of thousands is an error


class OpenedPart(PathPart):
    """What one path holds, without the messages that nobody has opened."""

    __slots__ = ()

    def items(self, notes: Notes) -> Iterator[Item]:
        known: dict[str, IsUnread] = {}
        for item in super().items(notes):
            if _is_unread(item, known):
                notes.leave_out(UNREAD)
            else:
                yield item


def _is_unread(item: Item, known: dict[str, IsUnread]) -> bool:
    """Whether it is known that nobody has opened a message.  known : by mbox and folder, what to ask"""
    in_mbox = item.stop >= 0 or item.data is not None
    store = item.path if in_mbox else os.path.dirname(item.path)
    try:
        if store not in known:
            known[store] = _by_status(store) if in_mbox else _by_folder(store)
        return known[store](item)
    except OSError:  # who reads the message will say so
        return False


def _never(item: Item) -> bool:
    return False


def _by_status(mbox: str) -> IsUnread:
    marked = any(_status(item) is not None for item in file_items(mbox, "", Notes()))
    return (lambda item: b"R" not in (_status(item) or b"")) if marked else _never


def _status(item: Item) -> bytes | None:
    """The field Status of a message; R stands for read."""
    header = _HEADER_END.split(b"\n" + item.read(_HEADER_BYTES), 1)[0]
    found = _STATUS.search(header)
    return found[1] if found else None


def _by_folder(folder: str) -> IsUnread:
    top, name = os.path.split(folder)
    if name in ("cur", "new") and is_maildir(os.listdir(top or ".")):
        return lambda item: name == "new" or "S" not in flags_of(os.path.basename(item.path))
    unseen = _unseen(folder)
    return (lambda item: os.path.basename(item.path) in unseen) if unseen else _never


def _unseen(folder: str) -> set[str]:
    """The names of the messages in the sequence `unseen`, if this is an MH folder."""
    try:
        with open(os.path.join(folder, ".mh_sequences"), encoding="latin-1") as lines:
            found = [line.removeprefix(_UNSEEN) for line in lines if line.startswith(_UNSEEN)]
    except FileNotFoundError:
        return set()
    names = sorted(filter(is_number, os.listdir(folder or ".")), key=int)
    unseen: set[str] = set()
    for word in " ".join(found).split():
        ends = word.split("-")
        if len(ends) <= 2 and all(is_number(end) and len(end) <= _MAX_DIGITS for end in ends):
            first = bisect_left(names, int(ends[0]), key=int)
            unseen.update(names[first : bisect_right(names, int(ends[-1]), key=int)])
    return unseen
