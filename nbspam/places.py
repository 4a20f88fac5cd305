"""Strict places, where no other user can change, exchange or lock a file; as StrictModes of sshd."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

OTHERS_WRITE, OTHERS_READ, OTHERS_ENTER = 0o022, 0o044, 0o011


def find_weakness(path: str, is_shared: bool = False) -> str:
    """How others than root and the user of this process could change or lock a file; empty if they cannot.

    is_shared : others may read the file, and so keep writers from it for a while; it may be a link

    What does not exist yet is not weak: nbspam makes files and folders for their owner alone.  A link at the
    path itself is.  The folders above may be links, and a sticky folder of root's (/tmp) may be above.
    """
    folder, name = os.path.split(os.path.join(os.getcwd(), path))
    is_closed = can_lock = False
    with contextlib.suppress(FileNotFoundError):
        os.stat(folder)  # OSError where links go in circles
    try:
        for place, status in _walk(folder):
            if weakness := _find_foreign(place, status):
                return weakness
            can_lock = not is_closed and bool(status.st_mode & OTHERS_READ)
            is_closed = is_closed or not status.st_mode & OTHERS_ENTER
    except FileNotFoundError:
        return ""
    if status.st_mode & OTHERS_WRITE:
        return f"other users can write to {folder}"
    path = os.path.join(folder, name)
    with contextlib.suppress(FileNotFoundError):
        status = os.lstat(path)
        if weakness := _find_foreign(path, status):
            return weakness
        if is_shared and stat.S_ISLNK(status.st_mode):
            return find_weakness(os.path.realpath(path), is_shared)
        if not stat.S_ISREG(status.st_mode):
            return f"{path} is not a file"
        can_lock = can_lock or bool(not is_closed and status.st_mode & OTHERS_READ)
    return f"other users can read {folder} or the file, and so lock it" if can_lock and not is_shared else ""


def _find_foreign(place: str, status: os.stat_result) -> str:
    """Why a file or folder on the way belongs to others, too; links have no permissions of their own."""
    if status.st_uid not in (0, os.geteuid()):
        return f"{place} belongs to another user"
    is_safe = stat.S_ISLNK(status.st_mode) or (status.st_mode & stat.S_ISVTX and status.st_uid == 0)
    return "" if is_safe or not status.st_mode & OTHERS_WRITE else f"other users can write to {place}"


def _walk(place: str) -> Iterator[tuple[str, os.stat_result]]:
    """The folders and links on an absolute path, and what each is; FileNotFoundError at what is missing."""
    above = os.path.dirname(place)
    if above != place:
        yield from _walk(above)
    status = os.lstat(place)
    yield place, status
    if stat.S_ISLNK(status.st_mode):
        yield from _walk(os.path.join(above, os.readlink(place)))
