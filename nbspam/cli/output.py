"""Text on stdout.

Hides the encoding: what the terminal's charset lacks is written as an escape, so that a Greek letter
or a word in Chinese never ends a command with an error.
"""

from __future__ import annotations

import sys


def write_text(text: str) -> None:
    """Writes text for people in the charset of stdout."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
    sys.stdout.buffer.flush()
