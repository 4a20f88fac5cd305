"""Parts of a source -> one stream of Items.

Hides the walk: parts one after another, files in order, messages of a file in order; nothing is read
ahead, and what was passed by is in the notes.  The order is the same every time.
"""

from __future__ import annotations

import os

from nbspam.corpus.files import file_items
from nbspam.corpus.folders import walk
from nbspam.corpus.item import Item, open_regular
from nbspam.corpus.notes import Notes
from nbspam.labels import ordered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class SourcePart:
    """Files that come one after another; `labels` are the classes they can have."""

    __slots__ = ("labels",)
    labels: tuple[str, ...]

    def files(self, notes: Notes) -> Iterator[tuple[str, str, bool]]:
        """(class name, path, whether the file may be an mbox), in order."""
        raise NotImplementedError

    def items(self, notes: Notes) -> Iterator[Item]:
        for label, path, may_be_mbox in self.files(notes):
            if may_be_mbox:
                yield from file_items(path, label, notes)
            elif os.access(path, os.R_OK):
                yield Item(path, label, path)
            else:
                yield from _elsewhere(label, path, notes)


def _elsewhere(label: str, path: str, notes: Notes) -> Iterator[Item]:
    """The message that cannot be read under its name: under the one it has by now, or a note of why not."""
    from nbspam.corpus.moved import where_now

    now = where_now(path)
    try:
        os.close(open_regular(now)[0])
    except OSError as error:
        notes.skip(path, error)
    else:
        yield Item(now, label, now)


class PathPart(SourcePart):
    """What one path holds: a file, or a folder of mail; `deep` goes into the folders in it."""

    __slots__ = ("deep", "path")

    def __init__(self, label: str, path: str, deep: bool = True) -> None:
        self.labels = (label,) if label else ()
        self.path = path
        self.deep = deep

    def files(self, notes: Notes) -> Iterator[tuple[str, str, bool]]:
        label = self.labels[0] if self.labels else ""
        if not os.path.isdir(self.path):
            yield label, self.path, True
            return
        for path, may_be_mbox in walk(self.path, notes, self.deep):
            yield label, path, may_be_mbox


class PassedBy(SourcePart):
    """No mail, but a note: so many messages left out, or a path that cannot be read."""

    __slots__ = ("count", "path", "reason")

    def __init__(self, reason: str, count: int = 0, path: str = "") -> None:
        self.labels = ()
        self.reason = reason
        self.count = count
        self.path = path

    def files(self, notes: Notes) -> Iterator[tuple[str, str, bool]]:
        if self.path:
            notes.skip(self.path, self.reason)
        elif self.count:
            notes.leave_out(self.reason, self.count)
        return iter(())


class Source:
    """Mail, labelled or not.

    classes : class names in class order; empty if unlabelled
    ordered_by_index : the order is that of an index file, which is time
    skipped, left_out : of the latest walk, filled while it goes on
    """

    __slots__ = ("classes", "notes", "ordered_by_index", "parts")

    def __init__(self, parts: Sequence[SourcePart], ordered_by_index: bool = False) -> None:
        self.parts = tuple(parts)
        self.classes = ordered({label for part in parts for label in part.labels})
        self.ordered_by_index = ordered_by_index
        self.notes = Notes()

    @property
    def skipped(self) -> list[tuple[str, str]]:
        """(path, reason) of what could not be read."""
        return self.notes.skipped

    @property
    def left_out(self) -> dict[str, int]:
        """How many messages were left out on purpose, by reason."""
        return self.notes.left_out

    def skip(self, item: Item, error: OSError) -> None:
        """Note that an item vanished or failed between the walk and its reading."""
        self.notes.skip(item.name, error)

    def items(self) -> Iterator[Item]:
        """The messages, from the first, in the same order each time; the notes start afresh."""
        self.notes.clear()
        for part in self.parts:
            yield from part.items(self.notes)

    def size_hint(self) -> tuple[int, int | None]:
        """(bytes of the files, number of messages or None), for a progress bar.

        Costs a walk and one stat a file.  The number is that of the files, unless the largest turns
        out to be an mbox of several messages; then it is None.
        """
        total = count = largest = 0
        suspect = ""
        for part in self.parts:
            for _, path, may_be_mbox in part.files(Notes()):
                try:
                    size = os.stat(path).st_size
                except OSError:
                    continue
                total, count = total + size, count + 1
                if may_be_mbox and size > largest:
                    largest, suspect = size, path
        return total, None if suspect and _has_several(suspect) else count


def _has_several(path: str) -> bool:
    found = file_items(path, "", Notes())
    return next(found, None) is not None and next(found, None) is not None
