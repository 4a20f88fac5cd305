"""Files that are written whole or not at all.

Hides the temporary file beside the target: on leaving it takes the target's name, on an error
it is gone and what was there before stays.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO

from nbspam.errors import CannotCreateError, InputOutputError


@contextlib.contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """A binary file that becomes `path` when the context is left."""
    if os.path.exists(path) and not os.path.isfile(path):
        with _special_file(path) as file:
            yield file
        return
    folder, name = os.path.split(os.path.realpath(path))
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.new")
    try:
        file = open(temporary, "xb")  # noqa: SIM115  # closed below, before the rename
    except OSError as error:
        why = f"cannot be created: {error.strerror}"
        raise CannotCreateError(path, why, "choose another place", "output-create") from None
    try:
        with file:
            yield file
        os.replace(temporary, os.path.join(folder, name))
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
        raise InputOutputError(path, why, "free some space or choose another place", "output-write") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _special_file(path: str) -> BinaryIO:
    """/dev/null or a FIFO, written to as it is: the rename would put a file in its place."""
    try:
        return open(path, "wb")
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
        raise CannotCreateError(path, why, "choose another place", "output-create") from None
