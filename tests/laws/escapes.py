"""Text files of tests: \\n, \\r, \\t, \\\\, \\u200b for a character and \\xff for a byte."""

import re

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
