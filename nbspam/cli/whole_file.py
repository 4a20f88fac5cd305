"""Files that are written whole or not at all.

Hides the file beside it that takes the name at the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from nbspam.errors import CannotCreateError


def check_writable(path: str | None) -> None:
    """Raises if a file could not be made there: told before the work, not after it."""
    if path is None:
        return
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise CannotCreateError(path, "is a folder", "name a file", "output-folder")
    if not os.path.isdir(folder):
        raise CannotCreateError(
            path, "there is no such folder", "make the folder, or choose another place", "output-folder"
        )
    if not os.access(folder, os.W_OK):
        raise CannotCreateError(
            path, "the folder cannot be written to", "choose another place", "output-denied"
        )


def write_whole(path: str, write: Callable[[str], None]) -> None:
    """Lets `write` fill a file beside `path`, which then takes its place; nothing stays if that fails.

    What is no regular file (a pipe, /dev/stdout) is written to as it is.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        write(path)
        return
    part = f"{path}.{os.getpid()}.part"
    try:
        write(part)
        os.replace(part, path)
    except CannotCreateError as error:
        raise CannotCreateError(path, error.why, error.remedy, error.slug) from error
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
        raise CannotCreateError(path, why, "choose another place", "output-denied") from error
    finally:
        if os.path.lexists(part):
            os.unlink(part)
