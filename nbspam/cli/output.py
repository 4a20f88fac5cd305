"""What commands write: text for people, and files, where `-` is stdout.

Hides the encoding: what the terminal's charset lacks is written as an escape, so that a Greek letter
or a word in Chinese never ends a command with an error.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

from nbspam.cli.texts import plain
from nbspam.errors import CannotCreateError, UsageError
from nbspam.files import names_no_file, nearest_folder, whole_file
from nbspam.store.connection import is_foreign

STDOUT = "-"


def write_text(text: str) -> None:
    """Writes text for people in the charset of stdout."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
    sys.stdout.buffer.flush()


def begun_line(model: str, start: str) -> str:
    """What is said when a model begins."""
    return f"{plain(model)} begins as a copy of {plain(start)}.\n"


@contextlib.contextmanager
def output_file(path: str) -> Iterator[BinaryIO]:
    """The binary file that an option names, written whole or not at all; `-` is stdout."""
    if path == STDOUT:
        yield sys.stdout.buffer
        return
    with whole_file(path) as file:
        yield file


def check_writable(path: str | None, *others: str | None) -> None:
    """Raises if a file could not be made there: told before the work, not after it.

    others : what the command reads or writes, too; a file of these would be lost
    """
    if path is None or path == STDOUT:
        return
    if names_no_file(path):
        raise CannotCreateError(path, "names no file", "name a file", "output-folder")
    if os.path.exists(path) and not os.path.isfile(path):
        return  # /dev/null or a FIFO, whatever its folder allows
    if os.path.realpath(path) in {os.path.realpath(other) for other in others if other}:
        why = "is named twice, and one of the two would be lost"
        raise UsageError(path, why, "choose another place for what is written", "output-twice")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        remedy = "make the folder, or choose another place"
        raise CannotCreateError(path, "there is no such folder", remedy, "output-folder")
    if not os.access(folder, os.W_OK):
        raise CannotCreateError(
            path, "the folder cannot be written to", "choose another place", "output-denied"
        )


def check_model_place(path: str, option: str = "--model") -> None:
    """As check_writable for a model, whose folder is made where it is missing.  option : what names it"""
    folder = nearest_folder(path)
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        why = "cannot be written to" if os.path.isdir(folder) else "is no folder"
        remedy = f"choose another place: {option} PATH"
        raise CannotCreateError(path, f"cannot be created: {folder} {why}", remedy, "model-create")


def check_new_model(
    path: str, replace: bool, remedy: str = "--replace writes over it", option: str = "--model"
) -> None:
    """As check_model_place, for a model that is written over another only if `replace` says so."""
    target = os.path.realpath(path)  # of a link to nothing where the model will be; of a loop of links a link
    if names_no_file(path) or os.path.islink(target) or (os.path.exists(path) and not os.path.isfile(path)):
        raise CannotCreateError(path, "names no regular file", f"name a file: {option} PATH", "model-create")
    if os.path.isfile(path) and is_foreign(path):
        why = "there is a file that is no model, and it stays as it is"
        raise CannotCreateError(path, why, "choose another place, or take it away", "model-foreign")
    if os.path.exists(path) and not replace:
        why = "there is a model already, and it stays as it is"
        raise CannotCreateError(path, why, remedy, "model-exists")
    check_model_place(path, option)
