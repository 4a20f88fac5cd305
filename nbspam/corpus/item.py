"""One message to be read: where its bytes are, not the bytes themselves.

Hides how they are fetched: a span of an mbox (its `>From ` quoting undone), a whole file (perhaps
compressed by the mail store), or bytes already at hand.  Items are small and picklable, so that
workers open the files themselves.  Nothing here waits: a FIFO, device or socket put in the place
of a message is an OSError.  On the classify lane: imports os alone.
"""

from __future__ import annotations

import os

# What a compressed file begins with.  No mail begins so: each has a byte no header may have, or
# (bzip2) ten fixed ones.
MAGIC = {b"\x1f\x8b\x08": "gz", b"\xfd7zXZ\x00": "xz", b"BZh91AY&SY": "bz2"}
MAGIC_START = tuple(MAGIC)
# What others begin with, which Python does not unpack or which hold files: no mail begins so either.
UNREAD_MAGIC = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
}
PACKED_START = (*MAGIC, *UNREAD_MAGIC)
# A mail out of a compressed file is held in memory up to this size: four times what is scored.
MAX_HELD_BYTES = 4 << 20
_OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_READ_AT_ONCE = 1 << 30  # read(2) gives no more than 2 GiB at a time
_REGULAR = 0o100000
_KINDS = {
    0o010000: "a FIFO",
    0o020000: "a device",
    0o040000: "a folder",
    0o060000: "a device",
    0o140000: "a socket",
}


class Item:
    """One message of a source.

    name  : for people: the path, or `path#3` for the third message of an mbox
    label : canonical class name, '' where unlabelled
    path  : the file it is in
    start, stop : its bytes in the file; stop is -1 for a whole file, else it is a message of an mbox
    data  : its bytes if it comes from a stream that cannot be read twice, else None
    """

    __slots__ = ("data", "label", "name", "path", "start", "stop")

    def __init__(
        self, name: str, label: str, path: str, start: int = 0, stop: int = -1, data: bytes | None = None
    ) -> None:
        self.name = name
        self.label = label
        self.path = path
        self.start = start
        self.stop = stop
        self.data = data

    def __reduce__(self) -> tuple[type[Item], tuple[str, str, str, int, int, bytes | None]]:
        return Item, (self.name, self.label, self.path, self.start, self.stop, self.data)

    def __repr__(self) -> str:
        return f"Item({self.name!r}, {self.label!r})"

    def read(self, limit: int = -1) -> bytes:
        """The message, its first `limit` bytes if limit >= 0; OSError if it cannot be had."""
        if self.data is not None:
            return self.data if limit < 0 else self.data[:limit]
        descriptor, size = self._open()
        in_mbox = self.stop >= 0
        if in_mbox:
            size = self.stop - self.start
        try:
            data = read_span(descriptor, self.start, size if limit < 0 else min(size, limit))
            if data.startswith(PACKED_START) and not in_mbox:
                from nbspam.corpus.compressed import read_whole  # Dovecot may compress a Maildir's files

                return read_whole(descriptor, data, limit)
            return unquoted(data) if in_mbox else data
        finally:
            os.close(descriptor)

    def _open(self) -> tuple[int, int]:
        try:
            return open_regular(self.path)
        except FileNotFoundError:
            from nbspam.corpus.moved import where_now  # a live Maildir, between the walk and the reading

            return open_regular(where_now(self.path))


def open_regular(path: str) -> tuple[int, int]:
    """A descriptor of the regular file `path`, and its size in bytes; OSError for anything else."""
    descriptor = os.open(path, _OPEN_FLAGS)
    status = os.fstat(descriptor)
    if status.st_mode & 0o170000 != _REGULAR:
        os.close(descriptor)
        raise not_regular(path, status.st_mode)
    return descriptor, status.st_size


def not_regular(path: str, mode: int) -> OSError:
    """The error that says what stands where a file should be."""
    import errno  # only when something is wrong

    return OSError(errno.EINVAL, f"{_KINDS.get(mode & 0o170000, 'not a regular file')}, not a message", path)


def read_span(descriptor: int, at: int, size: int) -> bytes:
    """`size` bytes from offset `at`, or what there is of them."""
    data = os.pread(descriptor, min(size, _READ_AT_ONCE), at)
    if len(data) == size or not data:
        return data
    pieces = [data]
    have = len(data)
    while have < size and (data := os.pread(descriptor, min(size - have, _READ_AT_ONCE), at + have)):
        pieces.append(data)
        have += len(data)
    return b"".join(pieces)


def unquoted(data: bytes) -> bytes:
    """A message of an mbox with the quoting of `From ` lines undone (mboxrd: one `>` less)."""
    if b">From " not in data:
        return data
    import re  # 5 ms, and one mail in hundreds has such a line

    return re.sub(rb"\n>(>*From )", rb"\n\1", b"\n" + data)[1:]
