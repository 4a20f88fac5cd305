"""One message to be read, files as they are opened, and index files.

An Item says where the bytes of a message are.  It is small and picklable, so worker processes open the
files themselves.  The first bytes of a file say how it is packed, never its name.  Reading never waits: a
FIFO, device or socket is an OSError.

A file may also be at a URL, such as s3://bucket/folder: fsspec lists and fetches it.  Each library that
fsspec uses has errors of its own, so every error of it becomes an OSError.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from nbspam.corpus.mbox import unquote
from nbspam.errors import BadDataError, MissingExtraError, NoInputError, UsageError
from nbspam.labels import parse_class_name
from nbspam.limits import MAX_READ_BYTES

if TYPE_CHECKING:
    from email.message import Message as EmailMessage

    from fsspec import AbstractFileSystem

    Given = bytes | EmailMessage | os.PathLike[str]  # a message, as the Python API takes it

# What a compressed file begins with.  No mail begins so: each has a byte that no header may have, or
# (bzip2) ten fixed ones.
PACKED_STARTS = {
    b"\x1f\x8b\x08": "gz",
    b"\xfd7zXZ\x00": "xz",
    b"BZh91AY&SY": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"\x1f\x9d": "compress",
    b"Dovecot-LZ4\r*\x9b\xc5": "lz4",
}
SMALL_BYTES = 1 << 16
EMLX_SLACK = 128  # bytes; the count of a file of Apple Mail may be as wrong
_OPEN_FLAGS = os.O_NONBLOCK | os.O_NOCTTY
_SHELL_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")

Skipped = list[tuple[str, str]]  # path or name of what could not be read, and the reason


class Span(NamedTuple):
    """The bytes of a message of an mbox, as places in the file."""

    start: int
    stop: int


class Item(NamedTuple):
    """One message of a source.

    name  : for people: the path, or `path#3` for the third message of an mbox
    label : canonical class name, '' where unlabelled
    path  : the file it is in
    span  : its place in an mbox; None if it is the whole file
    data  : its bytes if it comes from a stream that cannot be read twice, else None
    small : its bytes if they are few and were read by the walk; leave them out of an item that is kept
    """

    name: str
    label: str
    path: str
    span: Span | None = None
    data: bytes | None = None
    small: bytes | None = None

    def read(self, limit: int = MAX_READ_BYTES) -> bytes:
        """The first bytes of the message, by default all that can matter; OSError if it cannot be read."""
        known = self.data if self.small is None else self.small
        if known is not None:
            return known[:limit]
        with open_message(self.path) as file:
            if self.span:
                file.seek(self.span.start)
                size_bytes = self.span.stop - self.span.start
                return unquote(file.read(min(size_bytes, limit)))
            data = file.read(limit)
            if data[:1].isdigit() and (span := find_emlx(data)):
                return data[slice(*span)]
            if not (kind := detect_packing(data)):
                return data
            file.seek(0)  # mail stores may compress the files of a Maildir
            with unpack(file, kind) as stream:
                return stream.read(limit)


def take_bytes(message: Given) -> bytes:
    """The bytes of a message; TypeError for another type, NoInputError for a file that cannot be read."""
    if isinstance(message, (bytes, bytearray, memoryview)):
        return bytes(message)
    if isinstance(message, os.PathLike):
        path = os.path.expanduser(message)
        try:
            return Item(path, "", path).read()
        except (OSError, ValueError) as error:  # ValueError: a NUL
            raise NoInputError(path, describe_error(error), "check the path", "no-input") from None
    if hasattr(message, "as_bytes"):  # importing email.message takes 30 ms
        return _write_message(message)
    raise TypeError(
        f"a message is bytes, a path object or an email.message.Message, not {type(message).__name__}; "
        "for a file use pathlib.Path(name), for text use text.encode()"
    )


def _write_message(message: EmailMessage) -> bytes:
    """The bytes of a message of the standard library, which cannot write back all that it reads."""
    from email.policy import compat32

    ways: tuple[Callable[[], bytes], ...] = (
        message.as_bytes,
        lambda: message.as_bytes(policy=compat32),  # header fields that its own policy cannot write
        lambda: message.as_string().encode("utf-8", "surrogateescape"),  # made of text that is not ASCII
    )
    for write in ways:
        try:
            return write()
        except Exception as error:  # of many kinds, for what is in the message
            why = f"{type(error).__name__}: {error}"
    raise NoInputError("message", f"it has no bytes ({why})", "give the bytes that it came from", "no-input")


def is_url(path: str) -> bool:
    """True for s3://bucket/name and the like, which fsspec reads."""
    return "://" in path


def describe_error(error: OSError | ValueError) -> str:
    """Why a file could not be read, for people."""
    return getattr(error, "strerror", "") or str(error) or "cannot be read"


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
    if not head.startswith(tuple(PACKED_STARTS)):  # nearly all files
        return ""
    return next((kind for magic, kind in PACKED_STARTS.items() if head.startswith(magic)), "")


def find_emlx(data: bytes) -> tuple[int, int] | None:
    """Where the message in a file of Apple Mail begins and ends; None if `data` does not begin such a file.

    A line with the number of bytes, the message, a property list.  The list is looked for near the end that
    the line names, which may be a few bytes off.
    """
    line, line_end, _ = data[:24].partition(b"\n")
    if not line_end or not line.strip().isdigit():
        return None
    start = len(line) + 1
    stop = start + int(line)
    name, colon, _ = data[start : start + 80].partition(b":")
    if not colon or name.split() != [name]:
        return None
    list_start = data.find(b"<?xml", max(start, stop - EMLX_SLACK), stop + EMLX_SLACK)
    if list_start < 0 and stop + EMLX_SLACK < len(data):
        return None
    return start, list_start if list_start >= 0 else stop


def open_regular(path: str) -> BinaryIO:
    """A regular file, or a pipe that the user's shell made, <(command), open for reading; else an OSError.

    Another FIFO may wait for ever.  What a URL names is fetched first.
    """
    if is_url(path):
        with _convert_errors():
            return BytesIO(_open_file_system(path).cat_file(path))
    if (data := _read_small(path)) is not None:
        return BytesIO(data)
    file = open(path, "rb", opener=lambda path, mode: os.open(path, mode | _OPEN_FLAGS))  # noqa: SIM115 - the caller closes it
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        if not (stat.S_ISFIFO(mode) and path.startswith(_SHELL_PIPES)):
            file.close()
            raise not_regular(path)
        os.set_blocking(file.fileno(), True)
    return file


def _read_small(path: str) -> bytes | None:
    """All bytes of a small regular file, else None: the objects of an open file cost more than its bytes."""
    handle = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > SMALL_BYTES:
            return None
        data = os.read(handle, SMALL_BYTES + 1)
        return data if len(data) <= SMALL_BYTES else None  # it has grown
    finally:
        os.close(handle)


def not_regular(path: str) -> OSError:
    """The error for a path that is no regular file."""
    return OSError(errno.EINVAL, "not a regular file", path)


def strip_flags(name: str) -> str:
    """The part of a file name in a Maildir that does not change when the message is read or answered.

    mbsync writes `;2,S` on Windows, Evolution and OfflineIMAP may write `!2,S`.
    """
    for mark in (":", ";2,", "!2,"):
        name = name.partition(mark)[0]
    return name


def read_flags(name: str) -> str:
    """The flags in the file name of a Maildir: S is seen, T trashed, D draft, small letters are keywords."""
    return name[len(strip_flags(name)) :][3:].partition(",")[0]


def open_message(path: str) -> BinaryIO:
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


@contextmanager
def unpack(file: BinaryIO, kind: str) -> Iterator[BinaryIO]:
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
                if "/" in label and os.path.isfile(os.path.join(base, label)):  # `spam spam` names an mbox
                    why = f"the first column names a file, {label[:40]!r}"
                    raise BadDataError(where, why, "write the class first: `LABEL PATH`", "index-line")
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


def unreadable(path: str, why: str) -> NoInputError:
    """The error that a path given by the user cannot be read."""
    return NoInputError(path, why, "check the path and its permissions", "source-unreadable")


def list_files(url: str) -> list[str]:
    """The URL of each file below a URL, or of the file there, sorted; NoInputError without files."""
    try:
        with _convert_errors():
            system = _open_file_system(url)
            paths = system.find(url)
    except OSError as error:
        why = f"cannot be listed: {error.strerror or error}"
        raise NoInputError(url, why, "check the URL and who may read it", "url-unreadable") from None
    if not paths:
        raise NoInputError(url, "nothing is there", "check the URL", "url-empty")
    return sorted(map(system.unstrip_protocol, paths))


def class_folders(url: str) -> list[str]:
    """The URLs of the folders right below a URL that have files in them, sorted."""
    top = url.rstrip("/") + "/"
    inner = (file.removeprefix(top).partition("/") for file in list_files(url) if file.startswith(top))
    return [top + name for name in sorted({name for name, slash, _ in inner if slash})]


def _open_file_system(url: str) -> AbstractFileSystem:
    try:
        from fsspec.core import url_to_fs

        return url_to_fs(url)[0]
    except ImportError as error:  # fsspec, or what it needs for such a URL
        raise MissingExtraError("dask", error, url, "url-extra") from None


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
