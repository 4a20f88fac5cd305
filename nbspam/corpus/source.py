"""A source of mail: parts, one after another, each a stream of Items.

Files come in a fixed order and messages in the order of their file, the same each time; nothing is read
ahead.  What is passed over is in the notes of the latest walk.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from typing import NamedTuple

from nbspam.corpus.folders import walk
from nbspam.corpus.item import Item, MailFile, Notes, Skipped, describe_error, is_url, list_files
from nbspam.errors import BadDataError, NoInputError
from nbspam.labels import parse_class_name, sort_classes
from nbspam.store.connection import file_identity


class SourcePart(NamedTuple):
    """The mail of one file or folder, or of an index file.

    labels : the classes that it has: one, none if unlabelled, or those of the index file
    deep : go into the folders in a folder
    skip_unread : leave out the messages of Maildirs that nobody has opened
    name : of a folder of a tree, for people
    without : paths in it that are named themselves, each with its links resolved and a slash at its end
    force : take what is no mail, too
    """

    path: str
    labels: tuple[str, ...] = ()
    deep: bool = True
    skip_unread: bool = False
    is_index: bool = False
    name: str = ""
    without: tuple[str, ...] = ()
    force: bool = True

    def files(self, notes: Notes) -> Iterator[MailFile]:
        """The files, in order."""
        label = self.labels[0] if self.labels else ""
        entries = read_index(self.path) if self.is_index else [(label, self.path)]
        for label, path in entries:
            for file, may_be_mbox in self._found(path, notes):
                if self._is_named_twice(file, notes):
                    notes.left_out["named twice"] += 1
                else:
                    yield MailFile(label, file, may_be_mbox, self.force)

    def _is_named_twice(self, file: str, notes: Notes) -> bool:
        """True for a file in a path of `without`, and for one that an index file has named before."""
        if self.without and f"{os.path.realpath(file)}/".startswith(self.without):
            return True
        if not self.is_index and not notes.named:
            return False
        identity = file_identity(file) or file
        if identity in notes.named:
            return True
        if self.is_index:
            notes.named.add(identity)
        return False

    def _found(self, path: str, notes: Notes) -> Iterator[tuple[str, bool]]:
        """(path, True if it may be an mbox) of each file at a path."""
        if is_url(path):
            return ((url, True) for url in list_files(path))
        if os.path.isdir(path):
            return walk(path, notes, self.deep, self.skip_unread, self.force, set())
        return iter([(path, True)])

    def count_messages(self, notes: Notes) -> Counter[str]:
        """How many messages there are, by class name; a file at a URL counts as one."""
        found: Counter[str] = Counter()
        for file in self.files(notes):
            found[file.label] += 1 if is_url(file.path) else sum(1 for _ in file.items(notes))
        return found


class Source:
    """Mail, labelled or not.

    classes : class names in class order; empty if unlabelled
    ordered_by_index : True if the order is that of an index file, which is time
    notes : of the latest walk
    """

    def __init__(
        self, parts: Sequence[SourcePart], first_notes: Notes | None = None, ordered_by_index: bool = False
    ) -> None:
        """first_notes : what was passed over when the source was opened"""
        self.parts = tuple(parts)
        self.classes = sort_classes({label for part in parts for label in part.labels})
        self.ordered_by_index = ordered_by_index
        self.notes = self._first_notes = first_notes or Notes()

    @property
    def skipped(self) -> Skipped:
        """What the latest walk could not read."""
        return self.notes.skipped

    @property
    def left_out(self) -> Counter[str]:
        """What the latest walk left out on purpose."""
        return self.notes.left_out

    def items(self) -> Iterator[Item]:
        """The messages, from the first, in the same order each time; the notes start afresh."""
        for file in self.files():
            yield from file.items(self.notes)

    def files(self) -> Iterator[MailFile]:
        """The files of the messages, likewise; a cluster takes them apart."""
        self.notes = deepcopy(self._first_notes)
        for part in self.parts:
            yield from part.files(self.notes)

    @cached_property
    def counts(self) -> list[tuple[SourcePart, Counter[str]]]:
        """How many messages each part has, by class name, in a walk of its own."""
        self.notes = deepcopy(self._first_notes)
        return [(part, part.count_messages(self.notes)) for part in self.parts]


def open_unlabelled(paths: Iterable[str]) -> Source:
    """The mail of these files, folders and pipes, in the order given; NoInputError if none of them exists."""
    parts = [SourcePart(path) for path in paths]
    if not any(os.path.exists(part.path) for part in parts):
        for part in parts:
            stat_mode(part.path)
    return Source(parts)


def read_index(index: str) -> Iterator[tuple[str, str]]:
    """(class name, path) of each line `LABEL PATH` of an index file, as those of TREC.

    PATH is relative to the index file's folder, may contain spaces, and names a message, an mbox or a folder.
    Empty lines and those that begin with `#` are ignored.  Millions of lines cost no memory.
    """
    base = os.path.dirname(index)
    names: dict[str, str] = {}
    try:
        for where, text in read_lines(index):
            fields = text.split(None, 1)
            if len(fields) != 2 or "\0" in text:
                why = f"{text[:40]!r} is not `LABEL PATH`"
                raise BadDataError(where, why, "write for example: spam mail/0001", "index-line")
            label, path = fields
            if label not in names:
                names[label] = parse_class_name(label, where)
            yield names[label], os.path.join(base, path)
    except OSError as error:
        raise unreadable(index, describe_error(error)) from error


def read_lines(path: str) -> Iterator[tuple[str, str]]:
    """(PATH:NUMBER, text) of each line of a file that people write, except empty lines and comments."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip(" \t\r\n")
            if text.strip() and not text.startswith("#"):
                yield f"{path}:{number}", text


def stat_mode(path: str) -> int:
    """The st_mode of `path`; NoInputError if it cannot be had."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        raise NoInputError(path, "no such file or folder", "check the path", "no-such-source") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise unreadable(path, getattr(error, "strerror", None) or str(error)) from None


def unreadable(path: str, why: str) -> NoInputError:
    """The error that a path given by the user cannot be read."""
    return NoInputError(path, why, "check the path and its permissions", "source-unreadable")


def unread_error(skipped: Skipped) -> NoInputError:
    """The error that some mail could not be read.  skipped : not empty"""
    what = "1 file or folder" if len(skipped) == 1 else f"{len(skipped):,} files or folders"
    remedy = "check that all is there and whole, and the permissions"
    return NoInputError("SOURCE", f"{what} could not be read; all other mail is done", remedy, "no-input")
