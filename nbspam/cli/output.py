"""Files that commands write; `-` is stdout."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

from nbspam.errors import CannotCreateError, UsageError
from nbspam.files import names_no_file, nearest_folder, whole_file
from nbspam.store.connection import is_foreign

STDOUT = "-"


@contextlib.contextmanager
def output_file(path: str) -> Iterator[BinaryIO]:
    """A binary file, written whole or not at all; `-` is stdout."""
    if path == STDOUT:
        yield sys.stdout.buffer
        return
    with whole_file(path) as file:
        yield file


def check_writable(path: str | None, *others: str | None) -> None:
    """Raise before the work if the file cannot be made.

    others : other files of the command; none of them may be the same file
    """
    if path is None or path == STDOUT:
        return
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        return  # /dev/null or a FIFO, whatever its folder allows
    if os.path.realpath(path) in {os.path.realpath(other) for other in others if other}:
        why = "is named twice, and one of the two would be lost"
        raise UsageError(path, why, "choose another place for what is written", "output-twice")
    folder = os.path.dirname(os.path.realpath(path))
    if names_no_file(path) or not os.path.isdir(folder):
        why, remedy = "is not the name of a file in a folder", "make the folder, or choose another place"
        raise CannotCreateError(path, why, remedy, "output-folder")
    if not os.access(folder, os.W_OK):
        raise CannotCreateError(
            path, "the folder cannot be written to", "choose another place", "output-denied"
        )


def check_new_model(
    path: str, replace: bool, remedy: str = "--replace writes over it", option: str = "--model"
) -> None:
    """Raise if no model can be made there, in a folder that will be made, or if there is one.

    replace : write over it;  option : the one that names the model
    """
    if os.path.isfile(path) and is_foreign(path):
        why = "there is a file that is not a model, and it is not overwritten"
        raise CannotCreateError(path, why, "choose another place, or remove the file", "model-foreign")
    if os.path.isfile(path) and not replace:
        why = "the model exists, and it is not overwritten"
        raise CannotCreateError(path, why, remedy, "model-exists")
    target, folder = os.path.realpath(path), nearest_folder(path)  # target: a link if links form a loop
    is_other = os.path.islink(target) or (os.path.exists(path) and not os.path.isfile(path))
    if names_no_file(path) or is_other or not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        why = f"is not a regular file, or {folder} cannot be written to"
        raise CannotCreateError(path, why, f"choose another place: {option} PATH", "model-create")
