"""Mail without labels, as `classify` takes it -> a Source: files, mboxes, folders, in the order given.

Hides what each path is.  A path that cannot be read does not stop the others: it is noted as
skipped, and only if none can be read is there nothing to do.
"""

from __future__ import annotations

import os
import stat

from nbspam.corpus.files import salvaged, stream_items
from nbspam.corpus.labelled import mode_of
from nbspam.corpus.source import PassedBy, PathPart, Source, SourcePart
from nbspam.errors import NbspamError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nbspam.corpus.item import Item
    from nbspam.corpus.notes import Notes

# A pipe in the place of a file is waited for only where the user's shell put it there: <(command).
_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
_CHUNK_BYTES = 1 << 16


class PipePart(SourcePart):
    """What another program writes, read once."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.labels = ()
        self.path = path

    def files(self, notes: Notes) -> Iterator[tuple[str, str, bool]]:
        return iter(())

    def items(self, notes: Notes) -> Iterator[Item]:
        try:
            yield from stream_items(salvaged(_chunks(self.path), self.path, notes), self.path, "")
        except OSError as error:
            notes.skip(self.path, error)


def open_unlabelled(paths: Iterable[str]) -> Source:
    """The messages of these paths; NoInputError if no path of them exists."""
    parts: list[SourcePart] = []
    failure: NbspamError | None = None
    readable = False
    for path in paths:
        try:
            parts.append(_part(path, mode_of(path)))
            readable = True
        except NbspamError as error:
            failure = failure or error
            parts.append(PassedBy(error.why, path=path))
    if failure and not readable:
        raise failure
    return Source(parts)


def _part(path: str, mode: int) -> SourcePart:
    if is_pipe_of_shell(path, mode):
        return PipePart(path)
    return PathPart("", path)


def is_pipe_of_shell(path: str, mode: int) -> bool:
    """Whether another program writes here and surely ends: a FIFO in a folder may wait for ever."""
    return stat.S_ISFIFO(mode) and path.startswith(_PIPES)


def _chunks(path: str) -> Iterator[bytes]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while chunk := os.read(descriptor, _CHUNK_BYTES):
            yield chunk
    finally:
        os.close(descriptor)
