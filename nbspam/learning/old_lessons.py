"""Lessons that nbspam 0.1.0 has left on the disk, because the model was busy: they are learned once.

Each is a file in the folder MODEL-lessons: the class, the source and the message, the first two a line each.
The class is empty if the lesson was learned already.
"""

import os
import stat

from nbspam.store.connection import LESSONS


def read_old_lessons(path: str) -> dict[str, list[bytes]]:
    """File -> class, source and message of the lessons that wait for the model at `path`, the oldest first.

    Files of other users are left alone.
    """
    folder = os.path.realpath(path) + LESSONS
    found = {}
    try:
        for name in sorted(os.listdir(folder)):
            file = os.path.join(folder, name)
            status = os.lstat(file)
            is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
            if is_own and not name.startswith("."):  # a hidden one was not finished
                with open(file, "rb") as opened:
                    found[file] = opened.read().split(b"\n", 2)
    except OSError:  # nearly always: there is no such folder
        pass
    return found


def remove_old_lesson(file: str) -> None:
    """Remove a lesson, and the folder after the last one."""
    try:
        os.unlink(file)
        os.rmdir(os.path.dirname(file))
    except OSError:
        pass  # not the last one
