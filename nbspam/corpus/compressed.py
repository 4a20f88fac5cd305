"""Compressed files (.gz, .xz, .bz2) as chunks of what is in them.

Hides the three libraries and their ways to fail.  What can be decompressed is used; then comes one
OSError, and at once for what is packed otherwise.  Nothing is held but a chunk, so a small file that
unpacks to a huge one costs time, not memory.
"""

from __future__ import annotations

import os

from nbspam.corpus.item import MAGIC, MAX_HELD_BYTES, UNREAD_MAGIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    import bz2
    import gzip
    import io
    import lzma
    from collections.abc import Iterator

CHUNK_BYTES = 1 << 18


def chunks(descriptor: int, head: bytes) -> Iterator[bytes]:
    """The contents of an open compressed file from its start; OSError where it is damaged or not read.

    head : its first bytes, which say how it is compressed; its name does not
    The descriptor stays open and belongs to the caller.
    """
    import errno
    import zlib

    for magic, name in UNREAD_MAGIC.items():
        if head.startswith(magic):
            raise OSError(errno.EINVAL, f"packed with {name}, which nbspam does not read")
    kind = next(kind for magic, kind in MAGIC.items() if head.startswith(magic))
    failures: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error)
    if kind == "xz":
        import lzma

        failures = (*failures, lzma.LZMAError)
    os.lseek(descriptor, 0, os.SEEK_SET)
    rest = ""
    try:
        with os.fdopen(descriptor, "rb", closefd=False) as raw, _opened(raw, kind) as stream:
            # read1, not read: it hands over what came before the damage.
            while chunk := stream.read1(CHUNK_BYTES):
                rest = "; what came before is used"
                yield chunk
    except failures as error:
        why = "cut short" if isinstance(error, EOFError) else "damaged"
        raise OSError(errno.EIO, f"{kind} data {why}{rest}") from error


def _opened(raw: io.BufferedReader, kind: str) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    """A decompressing file; the libraries are imported only where such a file turns up."""
    if kind == "gz":
        import gzip

        return gzip.GzipFile(fileobj=raw)
    if kind == "bz2":
        import bz2

        return bz2.BZ2File(raw)
    import lzma

    return lzma.LZMAFile(raw)


def read_whole(descriptor: int, head: bytes, limit: int) -> bytes:
    """Contents of a compressed file, at most `limit` bytes (MAX_HELD_BYTES if negative).

    OSError only if nothing of it can be read.
    """
    wanted = MAX_HELD_BYTES if limit < 0 else min(limit, MAX_HELD_BYTES)
    pieces: list[bytes] = []
    have = 0
    try:
        for chunk in chunks(descriptor, head):
            pieces.append(chunk)
            have += len(chunk)
            if have >= wanted:
                break
    except OSError:
        if not pieces:
            raise
    return b"".join(pieces)[:wanted]
