"""An index file: lines `LABEL PATH`, the order of which is time.

Hides the format.  PATH is relative to the index file's folder and may contain spaces; it names a
message, an mbox or a folder of mail.  Empty lines and lines that begin with `#` say nothing.  TREC's
index files (`spam ../data/inmail.1`) are such.  Read line by line, twice: once for the labels, once
for the mail; so an index of millions of lines costs no memory.
"""

from __future__ import annotations

import os

from nbspam.corpus.folders import walk
from nbspam.corpus.item import PACKED_START
from nbspam.corpus.mbox import begins_mbox
from nbspam.corpus.source import SourcePart
from nbspam.errors import BadDataError, NoInputError
from nbspam.labels import checked_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbspam.corpus.notes import Notes

NAME_CLASSES = "name each class: --ham PATH --spam PATH, or --class NAME=PATH"


class IndexPart(SourcePart):
    """The messages an index file names, in its order."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        """Reads the labels; BadDataError for a file that is no index, or a line that is none."""
        self.path = path
        _refuse_mail(path)
        self.labels = tuple({label: None for label, _ in _entries(path)})

    def files(self, notes: Notes) -> Iterator[tuple[str, str, bool]]:
        for label, path in _entries(self.path):
            if os.path.isdir(path):
                for found, may_be_mbox in walk(path, notes):
                    yield label, found, may_be_mbox
            else:
                yield label, path, True


def _entries(index: str) -> Iterator[tuple[str, str]]:
    """(class name, path) of each line that says something."""
    base = os.path.dirname(index)
    names: dict[str, str] = {}
    try:
        with open(index, "rb") as lines:
            for number, line in enumerate(lines, 1):
                text = os.fsdecode(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip(
                    " \t\r\n"
                )
                if not text or text[0] == "#":
                    continue
                fields = text.split(None, 1)
                where = f"{index}:{number}"
                if len(fields) != 2 or "\0" in text:
                    raise BadDataError(
                        where,
                        f"{text[:40]!r} is not `LABEL PATH`",
                        "write for example: spam mail/0001",
                        "index-line",
                    )
                if fields[0] not in names:
                    names[fields[0]] = checked_name(fields[0], where)
                yield names[fields[0]], os.path.join(base, fields[1])
    except OSError as error:
        raise _unreadable(index, error) from error


def _unreadable(path: str, error: OSError) -> NoInputError:
    return NoInputError(path, error.strerror or str(error), "check its permissions", "source-unreadable")


def _refuse_mail(path: str) -> None:
    """Mail where an index should be has no labels: say so, instead of complaining about its lines."""
    try:
        with open(path, "rb") as file:
            head = file.read(1024)
    except OSError as error:
        raise _unreadable(path, error) from error
    first = head.lstrip().split(None, 1)[:1]
    if not first:
        raise NoInputError(path, "an empty file", "name a folder of mail or an index file", "source-empty")
    if head.startswith(PACKED_START):
        raise BadDataError(path, "a compressed file: its messages have no label", NAME_CLASSES, "unlabelled")
    if begins_mbox(head) or first[0] == b"From":
        raise BadDataError(path, "an mbox: its messages have no label", NAME_CLASSES, "unlabelled")
    if first[0].endswith(b":") or b"\0" in head:
        raise BadDataError(
            path, "neither a folder of labelled mail nor an index file", NAME_CLASSES, "unlabelled"
        )
