"""One file -> its messages.

Hides that a file may be one message, an mbox of many, or either of them compressed: decided by its
first bytes, never by its name.  A file with a single message is called by its path, even if it begins
with an mbox `From ` line (the SpamAssassin corpus is made of such); else by path#1, path#2, …
"""

from __future__ import annotations

import os
from itertools import chain

from nbspam.corpus.item import MAX_HELD_BYTES, PACKED_START, Item, open_regular, read_span, unquoted
from nbspam.corpus.mbox import begins_mbox, fragments, only_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nbspam.corpus.notes import Notes

_HEAD_BYTES = 1024
_CHUNK_BYTES = 1 << 20


def file_items(path: str, label: str, notes: Notes) -> Iterator[Item]:
    """The messages of one file, streaming; what cannot be read is noted."""
    try:
        descriptor, size = open_regular(path)
    except OSError as error:
        notes.skip(path, error)
        return
    try:
        head = os.read(descriptor, _HEAD_BYTES)
        if head.startswith(PACKED_START):
            from nbspam.corpus.compressed import chunks

            yield from stream_items(salvaged(chunks(descriptor, head), path, notes), path, label)
        elif begins_mbox(head):
            yield from _mbox_items(descriptor, size, path, label)
        else:
            yield Item(path, label, path)
    except OSError as error:
        notes.skip(path, error)
    finally:
        os.close(descriptor)


def _mbox_items(descriptor: int, size: int, path: str, label: str) -> Iterator[Item]:
    """A file of one message needs no more than a look; there are folders of thousands of them."""
    if size <= _CHUNK_BYTES and (span := only_message(read_span(descriptor, 0, size))):
        yield Item(path, label, path, *span)
    else:
        yield from numbered(_spans(_raw_chunks(descriptor), path, label))


def stream_items(pieces: Iterable[bytes], path: str, label: str) -> Iterator[Item]:
    """The messages of a stream that cannot be read twice: the items carry their bytes."""
    source = iter(pieces)
    head = b""
    for piece in source:
        head += piece
        if len(head) >= _HEAD_BYTES:
            break
    if begins_mbox(head):
        yield from numbered(_held(chain((head,), source), path, label))
        return
    kept = bytearray(head)
    for piece in source:
        if len(kept) >= MAX_HELD_BYTES:
            break
        kept += piece
    yield Item(path, label, path, data=bytes(kept[:MAX_HELD_BYTES]))


def salvaged(pieces: Iterator[bytes], path: str, notes: Notes) -> Iterator[bytes]:
    """The pieces up to the first one that cannot be read; that is noted, and is the end.

    OSError if that is the very first: then there is no message, not even an empty one.
    """
    something = False
    try:
        for piece in pieces:
            something = True
            yield piece
    except OSError as error:
        if not something:
            raise
        notes.skip(path, error)


def numbered(items: Iterator[Item]) -> Iterator[Item]:
    """Name the messages of an mbox: by the path alone if there is but one."""
    first = next(items, None)
    if first is None:
        return
    number = 1
    for item in items:
        if number == 1:
            first.name = f"{first.path}#1"
            yield first
        number += 1
        item.name = f"{item.path}#{number}"
        yield item
    if number == 1:
        yield first


def _raw_chunks(descriptor: int) -> Iterator[bytes]:
    os.lseek(descriptor, 0, os.SEEK_SET)
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        yield chunk


def _spans(chunks: Iterable[bytes], path: str, label: str) -> Iterator[Item]:
    start = -1
    for offset, piece, ended in fragments(chunks):
        if start < 0:
            start = offset
        if ended:
            yield Item(path, label, path, start, offset + len(piece))
            start = -1


def _held(chunks: Iterable[bytes], path: str, label: str) -> Iterator[Item]:
    kept = bytearray()
    for _, piece, ended in fragments(chunks):
        kept += piece[: MAX_HELD_BYTES - len(kept)]
        if ended:
            yield Item(path, label, path, data=unquoted(bytes(kept)))
            kept.clear()
