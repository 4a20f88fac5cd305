"""Text files of tests: \\n, \\r, \\t, \\\\, \\u200b for a character and \\xff for a byte.

A [section] ends at an empty line; its words end at white space, and ␣ in them is a blank.
"""

import re
from pathlib import Path

_NAMES = {"\n": "n", "\r": "r", "\t": "t", "\\": "\\"}
_CHARACTERS = {name: character for character, name in _NAMES.items()}


def unescape(text: str) -> bytes:
    return re.sub(rb"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.))", _read, text.encode())


def _read(found: re.Match[bytes]) -> bytes:
    byte, character, name = found.groups()
    if byte:
        return bytes([int(byte, 16)])
    return (chr(int(character, 16)) if character else _CHARACTERS[name.decode()]).encode()


def escape(text: str) -> str:
    """The text on one line, with what cannot be seen as escapes."""
    shown = (f"\\{_NAMES[c]}" if c in _NAMES else c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return re.sub("^ | $", r"\\x20", "".join(shown))


def read_lines(path: Path) -> dict[str, list[str]]:
    """The lines of each section, as they are; what precedes the first is a remark."""
    _, *pieces = re.split(r"^\[(.*)\]\n", path.read_text("utf-8"), flags=re.MULTILINE)
    return {name: text.strip("\n").split("\n") for name, text in zip(pieces[::2], pieces[1::2], strict=True)}


def read_words(path: Path) -> dict[str, list[bytes]]:
    """The words of each section."""
    sections = read_lines(path).items()
    return {
        name: [unescape(word.replace("␣", " ")) for word in " ".join(lines).split()]
        for name, lines in sections
    }
