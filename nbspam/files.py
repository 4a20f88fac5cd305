"""Files that are written whole or not at all.

A temporary file next to the target takes its name when all is on the disk; after an error it is gone, and the
old file stays.  A replaced file keeps its mode and, where that is allowed, its owner; a link stays a link.
A new file, and a new folder of it, is for its owner alone, whatever the umask: it may hold words of mail.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import struct
import sys
import time

from nbspam.errors import CannotCreateError, InputOutputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

PRIVATE = 0o600
LEFT_OVER_SECONDS = 86_400  # unchanged, on a file system without locks; no program writes so slowly
_KINDS = {fcntl.LOCK_EX: fcntl.F_WRLCK, fcntl.LOCK_SH: fcntl.F_RDLCK, fcntl.LOCK_UN: fcntl.F_UNLCK}


class NewFile:
    """A file in the making; a context that removes it at its end, unless it was kept.

    path : where it is written until it is kept; it exists, and is empty
    """

    __slots__ = ("_handle", "_old", "_target", "path")

    def __init__(self, path: str) -> None:
        """OSError if it cannot be created, or if something else than a file is at `path`."""
        if names_no_file(path):
            raise OSError(errno.EISDIR, "it is not the name of a file", path)
        self._target = os.path.realpath(path)
        folder, name = os.path.split(self._target)
        _remove_left_over(folder, name)
        self._old: os.stat_result | None = None
        with contextlib.suppress(FileNotFoundError):
            self._old = os.stat(self._target)
        if self._old and not stat.S_ISREG(self._old.st_mode):
            raise OSError(errno.EEXIST, "it is not a regular file", path)
        # Also a random number: in containers the same process number comes again soon.
        while True:
            self.path = os.path.join(folder, f".{name}.{os.getpid()}-{os.urandom(4).hex()}.new")
            self._handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, PRIVATE)
            set_lock(self._handle, fcntl.LOCK_EX, 0, 1)
            if os.fstat(self._handle).st_nlink:
                return
            os.close(self._handle)  # another program has removed it before it had its lock

    def __enter__(self) -> NewFile:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        os.close(self._handle)

    def keep(self, replaces: bool = True) -> bool:
        """Give it the target's name, once it is on the disk.

        replaces : replace a file of this name; without it, return False if there is one by now, which stays
        """
        flush(self.path)
        if self._old:
            with contextlib.suppress(OSError):  # only root may
                os.chown(self.path, self._old.st_uid, self._old.st_gid)
            os.chmod(self.path, stat.S_IMODE(self._old.st_mode))
        if replaces:
            os.replace(self.path, self._target)
        else:
            try:
                os.link(self.path, self._target)
            except OSError:
                if os.path.lexists(self._target):
                    return False
                # A file system without links: a file that comes just now is lost.
                os.replace(self.path, self._target)
        flush(os.path.dirname(self._target))
        return True


def _remove_left_over(folder: str, name: str) -> None:
    """Remove what killed programs have written of this file: nobody has a lock on it."""
    import re  # 1 ms, and `nbspam learn` looks for none

    # A copied model has a journal.
    ours = re.compile(rf"\.{re.escape(name)}\.\d+(-[0-9a-f]{{8}})?\.new(-journal)?")
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) and _is_left_over(entry.path.removesuffix("-journal")):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _is_left_over(path: str) -> bool:
    """True if no program writes this temporary file; its process may have been of another machine."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return error.errno == errno.ENOENT  # a journal alone
    try:
        is_free = set_lock(handle, fcntl.LOCK_EX, 0, 1)
        is_old = time.time() - os.fstat(handle).st_mtime > LEFT_OVER_SECONDS
        return is_old if is_free is None else is_free
    finally:
        os.close(handle)


def set_lock(handle: int, kind: int, first: int, length: int) -> bool | None:
    """Lock bytes of a file, or unlock them; False if another lock is in the way, None without locks there.

    kind   : LOCK_EX, LOCK_SH or LOCK_UN
    length : in bytes; 0 for all from `first` on
    """
    try:
        if sys.platform == "linux":
            # A lock of the open file: threads exclude each other, and closing another descriptor keeps it.
            lock = struct.pack("hhqqi0q", _KINDS[kind], os.SEEK_SET, first, length, 0)
            fcntl.fcntl(handle, fcntl.F_OFD_SETLK, lock)
        else:
            fcntl.lockf(handle, kind | fcntl.LOCK_NB, length, first)  # SQLite's lock keeps threads apart
    except OSError as error:
        return False if isinstance(error, BlockingIOError | PermissionError) else None
    return True


def names_no_file(path: str) -> bool:
    """True for a path that is empty, ends in a slash, or is a folder."""
    return not os.path.basename(path) or os.path.isdir(path)


def make_folders(path: str) -> None:
    """Make a folder and those above it that are missing, for their owner alone; OSError if that fails."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    make_folders(above)
    with contextlib.suppress(FileExistsError):  # another program was faster
        os.mkdir(path, 0o700)
    flush(above)  # else a power loss could take the folder away with the files in it


def find_nearest_folder(path: str) -> str:
    """The folder of `path`, or the nearest one above it that exists."""
    folder = os.path.dirname(os.path.realpath(path))
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return folder


@contextlib.contextmanager
def open_whole_file(path: str) -> Iterator[BinaryIO]:
    """A binary file that becomes `path` when the context ends; a device or FIFO is written in place."""
    is_special = os.path.exists(path) and not os.path.isfile(path)
    with contextlib.ExitStack() as stack:
        try:
            new = None if is_special else stack.enter_context(NewFile(path))
            file = stack.enter_context(open(new.path if new else path, "wb"))
        except OSError as error:
            why = f"cannot be created: {error.strerror}"
            raise CannotCreateError(path, why, "choose another place", "output-create") from None
        try:
            yield file
            file.close()
            if new:
                new.keep()
        except OSError as error:
            if is_special:
                raise
            why, remedy = f"cannot be written: {error.strerror}", "free some space or choose another place"
            raise InputOutputError(path, why, remedy, "output-write") from None


def flush(path: str) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
