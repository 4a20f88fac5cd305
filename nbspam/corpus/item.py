"""One message to be read, and one file to its messages.

An Item says where the bytes of a message are.  It is small and picklable, so worker processes open the
files themselves.  A file may be one message, an mbox of many, or either of them compressed: its first
bytes decide, never its name.  Reading never waits: a FIFO, device or socket is an OSError.

A file may also be at a URL, such as s3://bucket/folder: fsspec lists and fetches it.  Each library that
fsspec uses has errors of its own, so every error of it becomes an OSError.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from nbspam.corpus.mbox import begins_mbox, split_messages, unquote
from nbspam.errors import NoInputError, UsageError
from nbspam.mail import find_header_fields
from nbspam.mail.headers import is_known
from nbspam.mail.limits import MAX_READ_BYTES

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

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
HEAD_BYTES = 1024
NO_MAIL = "no mail, but a program, an image or another document"
_CHUNK_BYTES = 1 << 16
_SHELL_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")

Skipped = list[tuple[str, str]]  # path or name of what could not be read, and the reason


class Notes:
    """What a walk through mail passed over.

    skipped : path and reason of what could not be read, in the order met
    left_out : how many messages were left out on purpose, by reason
    named : the files that index files name
    """

    def __init__(self) -> None:
        self.skipped: Skipped = []
        self.left_out: Counter[str] = Counter()
        self.named: set[tuple[int, int] | str] = set()

    def skip(self, path: str, error: OSError) -> None:
        """Note that `path` could not be read."""
        self.skipped.append((path, describe_error(error)))


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

    def read(self, limit: int = MAX_READ_BYTES) -> bytes:
        """The first bytes of the message, by default all that can matter; OSError if it cannot be read."""
        if self.data is not None:
            return self.data[:limit]
        with _open_message(self.path) as file:
            if self.stop >= 0:
                file.seek(self.start)
                return unquote(file.read(min(self.stop - self.start, limit)))
            data = file.read(limit)
            if not (kind := detect_packing(data)):
                return data
            file.seek(0)  # mail stores may compress the files of a Maildir
            with _unpack(file, kind) as stream:
                return stream.read(limit)


class MailFile(NamedTuple):
    """A file of one message or, if it may be an mbox, of several.

    label : canonical class name, '' where unlabelled
    force : take what is no mail, too, which is otherwise left out
    """

    label: str
    path: str
    may_be_mbox: bool
    force: bool = True

    def items(self, notes: Notes) -> Iterator[Item]:
        """Its messages, streaming; what cannot be read is noted.

        A single message is called by its path, others path#1, path#2, ...
        """
        if not self.may_be_mbox:
            yield Item(self.path, self.label, self.path)
            return
        try:
            with open_regular(self.path) as file:
                head = file.read(_CHUNK_BYTES)
                kind = detect_packing(head) if file.seekable() else ""
                if kind:
                    file.seek(0)
                    with _unpack(file, kind) as stream:
                        yield from self._split(stream.read(_CHUNK_BYTES), stream, held=True)
                elif not self.force and is_no_mail(head[:HEAD_BYTES]):
                    notes.left_out[NO_MAIL] += 1
                else:
                    yield from self._split(head, file, held=is_url(self.path) or not file.seekable())
        except OSError as error:
            notes.skip(self.path, error)

    def _split(self, head: bytes, stream: BinaryIO, held: bool) -> Iterator[Item]:
        """The messages of a stream of which `head` has been read.

        held : the stream cannot be read twice, so the items carry their bytes
        """
        if not begins_mbox(head):
            data = head + stream.read(MAX_READ_BYTES - len(head)) if held else None
            yield Item(self.path, self.label, self.path, data=data)
            return
        items = self._mbox_items(chain((head,), iter(lambda: stream.read(_CHUNK_BYTES), b"")), held)
        first = [*islice(items, 2)]
        if len(first) == 1:
            yield first[0]
            return
        for number, item in enumerate(chain(first, items), 1):
            yield item._replace(name=f"{self.path}#{number}")

    def _mbox_items(self, chunks: Iterable[bytes], held: bool) -> Iterator[Item]:
        start, data = -1, bytearray()
        for offset, piece, ended in split_messages(chunks):
            start = offset if start < 0 else start
            if held:
                data += piece[: MAX_READ_BYTES - len(data)]
            if ended:
                content = unquote(bytes(data)) if held else None
                yield Item(self.path, self.label, self.path, start, offset + len(piece), content)
                start = -1
                data.clear()


def is_url(path: str) -> bool:
    """True for s3://bucket/name and the like, which fsspec reads."""
    return "://" in path


def describe_error(error: OSError) -> str:
    """Why a file could not be read, for people."""
    return error.strerror or str(error) or "cannot be read"


def read_items(items: Iterable[Item], skipped: Skipped) -> Iterator[tuple[Item, bytes]]:
    """The messages with their bytes; those that cannot be read go to `skipped` with the reason."""
    for item in items:
        try:
            data = item.read()
        except OSError as error:
            skipped.append((item.name, describe_error(error)))
        else:
            yield item, data


def detect_packing(head: bytes) -> str:
    """How a file that begins with `head` is compressed: gz, zip, ...; '' if it is not."""
    return next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), "")


def open_regular(path: str) -> BinaryIO:
    """A regular file, or a pipe that the user's shell made, <(command), open for reading; else an OSError.

    Another FIFO may wait for ever.  What a URL names is fetched first.
    """
    if is_url(path):
        with _convert_errors():
            return BytesIO(_open_file_system(path).cat_file(path))
    flags = os.O_NONBLOCK | os.O_NOCTTY
    file = open(path, "rb", opener=lambda path, mode: os.open(path, mode | flags))  # noqa: SIM115 - the caller closes it
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        if not (stat.S_ISFIFO(mode) and path.startswith(_SHELL_PIPES)):
            file.close()
            raise not_regular(path)
        os.set_blocking(file.fileno(), True)
    return file


def not_regular(path: str) -> OSError:
    """The error for a path that is no regular file."""
    return OSError(errno.EINVAL, "not a regular file", path)


def strip_flags(name: str) -> str:
    """The part of a file name in a Maildir that does not change when the message is read or answered."""
    return name.partition(":")[0]


def _open_message(path: str) -> BinaryIO:
    """The file of a message, under its new name if a mail program has renamed it."""
    try:
        return open_regular(path)
    except FileNotFoundError:
        folder, name = os.path.split(path)
        top, part = os.path.split(folder)
        for place in (f"{top}/cur", f"{top}/new") if part in ("cur", "new") else ():
            for now in os.listdir(place) if os.path.isdir(place) else ():
                if strip_flags(now) == strip_flags(name):
                    return open_regular(f"{place}/{now}")
        raise


def is_no_mail(head: bytes) -> bool:
    """True for the beginning of a program, an image or a document; text without a header may be a message."""
    if not head.startswith((b"#!", b"%PDF-", b"\xff\xd8\xff")) and b"\0" not in head:
        return False
    return not any(is_known(name) for _, _, name in find_header_fields(head))


@contextmanager
def _unpack(file: BinaryIO, kind: str) -> Iterator[BinaryIO]:
    """The contents of a compressed file; OSError where they are damaged."""
    import bz2  # 2 ms, which `nbspam learn` of a plain file does not need
    import gzip
    import lzma
    import zlib

    unpackers: dict[str, Any] = {"gz": gzip.open, "xz": lzma.open, "bz2": bz2.open}
    if kind not in unpackers:
        raise OSError(errno.EINVAL, f"packed with {kind}, which nbspam does not read")
    try:
        with unpackers[kind](file) as stream:
            yield stream
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise OSError(errno.EIO, f"damaged {kind} data") from error


def list_files(url: str) -> list[str]:
    """The URL of each file below a URL, or of the file there, sorted; NoInputError without files."""
    try:
        with _convert_errors():
            system = _open_file_system(url)
            found = system.find(url)
    except OSError as error:
        why = f"cannot be listed: {error.strerror or error}"
        raise NoInputError(url, why, "check the URL and who may read it", "url-unreadable") from None
    if not found:
        raise NoInputError(url, "nothing is there", "check the URL", "url-empty")
    return sorted(map(system.unstrip_protocol, found))


def class_folders(url: str) -> list[str]:
    """The URLs of the folders right below a URL that have files in them, sorted."""
    top = url.rstrip("/") + "/"
    inner = (found.removeprefix(top).partition("/") for found in list_files(url) if found.startswith(top))
    return [top + name for name in sorted({name for name, slash, _ in inner if slash})]


def _open_file_system(url: str) -> AbstractFileSystem:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        why = f"a URL needs a library that cannot be imported here ({error})"
        raise UsageError(url, why, "install the extra: pip install 'nbspam[dask]'", "url-extra") from None
    return url_to_fs(url)[0]


@contextmanager
def _convert_errors() -> Iterator[None]:
    """Any error of fsspec, its libraries or the server as an OSError with a text."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise OSError(errno.EIO, reason or f"{type(error).__name__}: {error}") from error
