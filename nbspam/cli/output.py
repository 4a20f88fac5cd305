"""What commands write: text for people, and files, where `-` is stdout.

Hides the encoding: what the terminal's charset lacks is written as an escape, so that a Greek letter
or a word in Chinese never ends a command with an error.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import BinaryIO

from nbspam.whole_file import whole_file

STDOUT = "-"


def write_text(text: str) -> None:
    """Writes text for people in the charset of stdout."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def output_file(path: str) -> Iterator[BinaryIO]:
    """The binary file that an option names, written whole or not at all; `-` is stdout."""
    if path == STDOUT:
        yield sys.stdout.buffer
        return
    with whole_file(path) as file:
        yield file
