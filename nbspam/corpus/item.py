"""One message to be read, and one file to its messages.

An Item says where the bytes of a message are.  It is small and picklable, so worker processes open the
files themselves.  A file may be one message, an mbox of many, or either of them compressed: its first
bytes decide, never its name.  Reading never waits: a FIFO, device or socket is an OSError.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from nbspam.corpus.mbox import begins_mbox, fragments, unquoted

# What a compressed file begins with.  No mail begins so: each has a byte that no header may have, or
# (bzip2) ten fixed ones.
MAGIC = {
    b"\x1f\x8b\x08": "gz",
    b"\xfd7zXZ\x00": "xz",
    b"BZh91AY&SY": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
}
PACKED_START = tuple(MAGIC)
UNPACKED = ("gz", "xz", "bz2")  # the others are not read
MAX_HELD_BYTES = 4 << 20  # a message out of a compressed file is held in memory: four times what is scored
HEAD_BYTES = 1024
_CHUNK_BYTES = 1 << 20
_SHELL_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
}

Skipped = list[tuple[str, str]]  # path or name of what could not be read, and the reason


class Notes:
    """What a walk through mail passed over.

    skipped : path and reason of what could not be read, in the order met
    left_out : how many messages were left out on purpose, by reason
    """

    def __init__(self) -> None:
        self.skipped: Skipped = []
        self.left_out: dict[str, int] = {}

    def skip(self, path: str, error: OSError) -> None:
        """Note that `path` could not be read."""
        self.skipped.append((path, reason_of(error)))

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Note that `count` messages were left out on purpose."""
        self.left_out[reason] = self.left_out.get(reason, 0) + count


class Item(NamedTuple):
    """One message of a source.

    name  : for people: the path, or `path#3` for the third message of an mbox
    label : canonical class name, '' where unlabelled
    path  : the file it is in
    start, stop : its bytes in the file; stop is -1 for a whole file, else it is a message of an mbox
    data  : its bytes if it comes from a stream that cannot be read twice, else None
    """

    name: str
    label: str
    path: str
    start: int = 0
    stop: int = -1
    data: bytes | None = None

    def read(self, limit: int = -1) -> bytes:
        """The message, its first `limit` bytes if limit >= 0; OSError if it cannot be read."""
        if self.data is not None:
            return self.data if limit < 0 else self.data[:limit]
        with _open_message(self.path) as file:
            if self.stop >= 0:
                size = self.stop - self.start
                file.seek(self.start)
                return unquoted(file.read(size if limit < 0 else min(size, limit)))
            data = file.read(limit)
            if not (kind := packed_as(data)):
                return data
            file.seek(0)  # mail stores may compress the files of a Maildir
            size = MAX_HELD_BYTES if limit < 0 else min(limit, MAX_HELD_BYTES)
            return _beginning(_unpack(file, kind, self.path, Notes()), size)


def reason_of(error: OSError) -> str:
    """Why a file could not be read, for people."""
    return error.strerror or str(error) or "cannot be read"


def packed_as(head: bytes) -> str:
    """How a file that begins with `head` is compressed: gz, zip, ...; '' if it is not."""
    if not head.startswith(PACKED_START):
        return ""
    return next(kind for magic, kind in MAGIC.items() if head.startswith(magic))


def is_shell_pipe(path: str, mode: int) -> bool:
    """True for a pipe that the user's shell made, <(command): a FIFO in a folder may wait for ever."""
    return stat.S_ISFIFO(mode) and path.startswith(_SHELL_PIPES)


def open_regular(path: str) -> BinaryIO:
    """A regular file, or a pipe of the shell, open for reading; OSError for anything else."""
    file = open(path, "rb", opener=_open_without_waiting)  # noqa: SIM115 - the caller closes it
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode) and not is_shell_pipe(path, mode):
        file.close()
        raise not_regular(path, mode)
    os.set_blocking(file.fileno(), True)
    return file


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def not_regular(path: str, mode: int) -> OSError:
    """The error for a path that is no regular file."""
    kind = _KINDS.get(stat.S_IFMT(mode), "not a regular file")
    return OSError(errno.EINVAL, f"{kind}, not a message", path)


def _open_message(path: str) -> BinaryIO:
    """The file of a message, under its new name if a mail program has renamed it."""
    try:
        return open_regular(path)
    except FileNotFoundError:
        return open_regular(_current_path(path))


# Maildir folder -> its files by the part of the name that does not change.  When a mail program opens a
# mailbox it moves thousands of messages from `new` to `cur`; one listing finds them all.
_listings: dict[str, dict[str, str]] = {}


def _current_path(path: str) -> str:
    """The path that a vanished message of a Maildir has now; `path` itself if it is not found."""
    folder, name = os.path.split(path)
    top, part = os.path.split(folder)
    if part in ("cur", "new"):
        for place in (os.path.join(top, "cur"), os.path.join(top, "new")):
            for known in (_listings.get(place, {}), _list(place)):
                now = os.path.join(place, known.get(unflagged(name), name))
                if os.path.lexists(now):
                    return now
    return path


def _list(folder: str) -> dict[str, str]:
    try:
        _listings[folder] = {unflagged(name): name for name in os.listdir(folder)}
    except OSError:  # gone, or not to be read
        return {}
    return _listings[folder]


def unflagged(name: str) -> str:
    """The part of a file name in a Maildir that does not change when the message is read or answered."""
    return name.partition(":")[0]


def file_items(path: str, label: str, notes: Notes) -> Iterator[Item]:
    """The messages of one file, streaming; what cannot be read is noted.

    A single message is called by its path, others path#1, path#2, ...
    """
    try:
        with open_regular(path) as file:
            if not file.seekable():
                yield from _stream_items(_chunks(file), path, label)
                return
            head = file.read(HEAD_BYTES)
            file.seek(0)
            if kind := packed_as(head):
                yield from _stream_items(_unpack(file, kind, path, notes), path, label)
            elif begins_mbox(head):
                yield from _numbered(_mbox_items(_chunks(file), path, label))
            else:
                yield Item(path, label, path)
    except OSError as error:
        notes.skip(path, error)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(_CHUNK_BYTES), b"")


def _stream_items(pieces: Iterable[bytes], path: str, label: str) -> Iterator[Item]:
    """The messages of a stream that cannot be read twice: the items carry their bytes."""
    source = iter(pieces)
    head = b""
    for piece in source:
        head += piece
        if len(head) >= HEAD_BYTES:
            break
    if begins_mbox(head):
        yield from _numbered(_held_items(chain((head,), source), path, label))
    else:
        yield Item(path, label, path, data=_beginning(chain((head,), source), MAX_HELD_BYTES))


def _beginning(pieces: Iterable[bytes], size: int) -> bytes:
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) >= size:
            break
    return bytes(data[:size])


def _mbox_items(chunks: Iterable[bytes], path: str, label: str) -> Iterator[Item]:
    start = -1
    for offset, piece, ended in fragments(chunks):
        start = offset if start < 0 else start
        if ended:
            yield Item(path, label, path, start, offset + len(piece))
            start = -1


def _held_items(chunks: Iterable[bytes], path: str, label: str) -> Iterator[Item]:
    data = bytearray()
    for _, piece, ended in fragments(chunks):
        data += piece[: MAX_HELD_BYTES - len(data)]
        if ended:
            yield Item(path, label, path, data=unquoted(bytes(data)))
            data.clear()


def _numbered(items: Iterator[Item]) -> Iterator[Item]:
    """The messages of an mbox with their numbers in their names, unless there is only one."""
    first, second = next(items, None), next(items, None)
    if first and not second:
        yield first
    elif first and second:
        for number, item in enumerate(chain((first, second), items), 1):
            yield item._replace(name=f"{item.path}#{number}")


def _unpack(file: BinaryIO, kind: str, path: str, notes: Notes) -> Iterator[bytes]:
    """The contents of a compressed file in chunks, up to where it is damaged, which is noted.

    OSError if nothing can be read.
    """
    if kind not in UNPACKED:
        raise OSError(errno.EINVAL, f"packed with {kind}, which nbspam does not read")
    import bz2  # 2 ms, which `nbspam learn` of a plain file does not need
    import gzip
    import lzma
    import zlib

    unpackers: dict[str, Any] = {"gz": gzip.open, "xz": lzma.open, "bz2": bz2.open}
    is_first = True
    try:
        with unpackers[kind](file) as stream:
            while chunk := stream.read1(_CHUNK_BYTES):  # read() would lose what comes before the damage
                is_first = False
                yield chunk
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        why = f"{kind} data {'cut short' if isinstance(error, EOFError) else 'damaged'}"
        if is_first:
            raise OSError(errno.EIO, why) from error
        notes.skip(path, OSError(errno.EIO, f"{why}; what came before is used"))
