"""Lessons that wait next to a model: messages to learn whose program found another writer at work.

Each is a file in the folder MODEL-lessons; its first two lines are the class and the source.  Every writer
first learns those that wait, the oldest first, in its own transaction, so many programs that learn at once
share a commit.  After the commit it writes the result into the file and removes it; the program that waits
reads it from the open file.

A writer that is killed after its commit leaves lessons that are learned already.  The next writer learns them
again before anything else, and that changes nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

from nbspam.files import flush
from nbspam.store.connection import LESSONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_WAITING_BYTES = 64 << 20  # of all lessons of a model; with more, a program waits and may give up
FILE_BYTES = 4_096  # a file takes so much of the disk, even if it is short
MAX_RESULT_BYTES = 100
UNFINISHED_NS = 3_600 * 10**9  # a hidden file that is older was left by a killed program


class Lesson:
    """A lesson that waits; its file is open.

    label  : the class; empty if a writer that has learned it could not remove the file
    source : where the message comes from, for the ledger
    data   : the message
    """

    __slots__ = ("_handle", "_path", "data", "label", "source")

    def __init__(self, path: str, handle: int) -> None:
        content = os.pread(handle, os.fstat(handle).st_size, 0)
        label, end, content = content.partition(b"\n")
        source, _, self.data = content.partition(b"\n")
        self.source = source.decode("utf-8", "replace")
        self.label = label.decode("utf-8", "replace") if end else ""
        self._path, self._handle = path, handle

    def finish(self, result: str) -> None:
        """Tell the result to the program that waits; call it after the commit, which no error may hide."""
        with contextlib.suppress(OSError):
            os.pwrite(self._handle, f"\n{result}\n".encode(), 0)  # one sector: whole after a power loss
            os.unlink(self._path)

    def result(self) -> str | None:
        """What `finish` was told; None while the lesson waits."""
        if os.path.exists(self._path):
            return None
        return os.pread(self._handle, MAX_RESULT_BYTES, 0).split(b"\n")[1].decode()

    def keep(self) -> None:
        """Make sure that it is on the disk, for a writer after a power loss."""
        os.fsync(self._handle)
        flush(os.path.dirname(self._path))

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


def list_waiting(path: str) -> list[str]:
    """The names of the files of the lessons that wait for the model at `path`, the oldest first."""
    try:
        return sorted(name for name in os.listdir(_folder(path)) if name[0] != ".")
    except OSError:  # nearly always: there is no folder
        return []


def open_waiting(path: str) -> Iterator[Lesson]:
    """Each lesson that waits, the oldest first, except those of other users; the caller closes them."""
    for name in list_waiting(path):
        place = os.path.join(_folder(path), name)
        try:
            handle = os.open(place, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        yield Lesson(place, handle)


def add_lessons(path: str, label: str, messages: Sequence[tuple[str, bytes]]) -> list[Lesson]:
    """Put lessons next to the model; OSError if they cannot be written, or too many wait.

    messages : the source of each, and the message
    """
    folder = _folder(path)
    while True:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        try:
            with os.scandir(folder) as files:
                size_bytes = sum(file.stat(follow_symlinks=False).st_size + FILE_BYTES for file in files)
            if size_bytes + sum([len(data) for _, data in messages]) > MAX_WAITING_BYTES:
                raise OSError("too many lessons wait")
            return [_write_lesson(folder, (label, source), data) for source, data in messages]
        except FileNotFoundError:
            pass  # the last lesson was taken in just now, and the folder removed


def _write_lesson(folder: str, lines: Sequence[str], data: bytes) -> Lesson:
    name = f"{time.time_ns():020}-{os.urandom(8).hex()}"
    unfinished, place = os.path.join(folder, "." + name), os.path.join(folder, name)
    handle = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with os.fdopen(os.dup(handle), "wb") as file:
        for line in lines:
            file.write(line.replace("\n", " ").encode("utf-8", "backslashreplace") + b"\n")
        file.write(data)
    os.rename(unfinished, place)
    return Lesson(place, handle)


@contextlib.contextmanager
def take_turn(path: str) -> Iterator[bool]:
    """True if this program is now the one that takes the lessons in, for as long as the context lasts.

    This saves the others from asking for the model all the time.  It protects nothing: SQLite's lock does.
    """
    with contextlib.ExitStack() as stack:
        is_ours = True  # also on a file system without such locks
        try:
            handle = os.open(_folder(path), os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            is_ours = not isinstance(error, (BlockingIOError, FileNotFoundError))
        yield is_ours


def remove_empty_folder(path: str) -> None:
    """Remove the folder of the lessons, unless some wait in it; before, what killed programs left in it."""
    folder, oldest = _folder(path), f".{time.time_ns() - UNFINISHED_NS:020}"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name[0] == "." and name < oldest:
                os.unlink(os.path.join(folder, name))
        os.rmdir(folder)


def _folder(path: str) -> str:
    return os.path.realpath(path) + LESSONS
