"""Files that are written whole or not at all.

Hides the temporary file beside the target: it takes the target's name when all is on the disk, and on an
error it is gone and what was there before stays.  A file written over keeps its mode and, where that is
allowed, its owner; where the path is a link, the file that it leads to is written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from typing import BinaryIO

from nbspam.errors import CannotCreateError, InputOutputError

LEFT_OVER_SECONDS = 86_400  # unchanged; no program writes so slowly


class NewFile:
    """A file in the making.

    path : where it is written until it is kept; it exists, and is empty
    """

    __slots__ = ("_old", "_target", "path")

    def __init__(self, path: str) -> None:
        """OSError if it cannot be created, or would take the place of what is no file."""
        if names_no_file(path):
            raise OSError(errno.EISDIR, "it names no file", path)
        self._target = os.path.realpath(path)
        folder, name = os.path.split(self._target)
        # Also a random number: in containers the same process number soon comes again.
        self.path = os.path.join(folder, f".{name}.{os.getpid()}-{os.urandom(4).hex()}.new")
        _remove_left_over(self._target)
        self._old: os.stat_result | None = None
        with contextlib.suppress(FileNotFoundError):
            self._old = os.stat(self._target)
        if self._old and not stat.S_ISREG(self._old.st_mode):
            raise OSError(errno.EEXIST, "it is not a regular file", path)
        mode = 0o600 if self._old else 0o666  # until it has the mode of the old one, nobody else reads it
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, mode))

    def keep(self) -> None:
        """Gives it the name it is for, once it is on the disk."""
        _flush(self.path)
        if self._old:
            with contextlib.suppress(OSError):  # root alone may
                os.chown(self.path, self._old.st_uid, self._old.st_gid)
            os.chmod(self.path, stat.S_IMODE(self._old.st_mode))
        os.replace(self.path, self._target)
        _flush(os.path.dirname(self._target))

    def keep_if_first(self) -> bool:
        """As `keep`, unless a file has come to its place meanwhile, which then stays; whether it was kept."""
        _flush(self.path)
        try:
            os.link(self.path, self._target)
        except FileExistsError:
            return False
        except OSError:  # a file system without links: between these two another may come, and is lost
            if os.path.lexists(self._target):
                return False
            os.replace(self.path, self._target)
        _flush(os.path.dirname(self._target))
        return True

    def discard(self) -> None:
        """Takes it away, unless it was kept."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)


def left_over(path: str) -> list[tuple[str, bool]]:
    """Unfinished files of `path`, and whether each is so old that a killed program left it.

    A model that is copied has a journal while it is made.
    """
    folder, name = os.path.split(os.path.realpath(path))
    ours = re.compile(rf"\.{re.escape(name)}\.\d+(-[0-9a-f]{{8}})?\.new(-journal)?")
    found: list[tuple[str, bool]] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                    found.append((entry.path, age > LEFT_OVER_SECONDS))
    return found


def _remove_left_over(path: str) -> None:
    """Takes it away; another machine may be writing a younger one."""
    for one, is_old in left_over(path):
        if is_old:
            with contextlib.suppress(OSError):
                os.unlink(one)


def names_no_file(path: str) -> bool:
    """Whether a path can be of no file: it is empty, ends in a slash, or is of a folder that there is."""
    return not os.path.basename(path) or os.path.isdir(path)


def nearest_folder(path: str) -> str:
    """The folder that is to hold `path`, or where it is missing the nearest above that there is."""
    folder = os.path.dirname(os.path.realpath(path))
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return folder


@contextlib.contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """A binary file that becomes `path` when the context is left."""
    if os.path.exists(path) and not os.path.isfile(path):
        with _special_file(path) as file:
            yield file
        return
    try:
        new = NewFile(path)
    except OSError as error:
        why = f"cannot be created: {error.strerror}"
        raise CannotCreateError(path, why, "choose another place", "output-create") from None
    try:
        with open(new.path, "wb") as file:
            yield file
        new.keep()
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
        raise InputOutputError(path, why, "free some space or choose another place", "output-write") from None
    finally:
        new.discard()


def _special_file(path: str) -> BinaryIO:
    """/dev/null or a FIFO, written to as it is: the rename would put a file in its place."""
    try:
        return open(path, "wb")
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
        raise CannotCreateError(path, why, "choose another place", "output-create") from None


def _flush(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
