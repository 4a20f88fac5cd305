"""Character references of HTML (`&eacute;`, `&#233;`, `&#xe9`) decoded as browsers do.

The commonest names are listed here.  The others are looked up in the standard library, and only when a text
has one, as one page in 25 does: that import takes longer than reading a mail.
"""

from functools import lru_cache

from nbspam.mail.charset import WINDOWS_C1

# A hard space looks like a space, and as a space it keeps an ASCII text ASCII.
_COMMON = {"nbsp": " ", "amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "copy": "©", "reg": "®"}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_MAX_NAME = 32  # characters, as many as the longest name has


@lru_cache(1_000)
def _find_name(text: str) -> tuple[str, int]:
    """What the longest name that a text begins with means, and its length; ("", 0) if it begins with none.

    Some names count without a semicolon, too (HTML, 13.5).
    """
    from html.entities import html5  # its package imports `re`

    for length in range(len(text), 1, -1):
        if text[:length] in html5:
            return html5[text[:length]].replace("\xa0", " "), length
    return "", 0


def decode_references(text: str, in_attribute: bool = False) -> str:
    """The text with its character references replaced.

    In an attribute a name without semicolon is kept before `=`, a letter or a digit, as in `?a=1&copy=2`
    (HTML, 13.2.5.73).
    """
    first, *pieces = text.replace("&nbsp;", " ").split("&")
    texts = [first]
    for piece in pieces:
        name, semicolon, tail = piece.partition(";")
        if semicolon and name in _COMMON:
            texts.append(_COMMON[name] + tail)
        elif piece[:1] == "#":
            texts.append(_decode_numbered(piece))
        elif not piece:
            texts.append("&")
        else:
            texts.append(_decode_named(piece, in_attribute))
    return "".join(texts)


def _decode_numbered(piece: str) -> str:
    base, start = (16, 2) if piece[1:2] in ("x", "X") else (10, 1)
    tail = piece[start:].lstrip("0123456789abcdefABCDEF" if base == 16 else "0123456789")
    digits = piece[start : len(piece) - len(tail)]
    if not digits:
        return "&" + piece
    digits = digits.lstrip("0")
    code = int(digits, base) if 0 < len(digits) < 8 else 0
    is_none = code == 0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF
    letter = WINDOWS_C1[code - 0x80] if 0x80 <= code <= 0x9F else "\ufffd" if is_none else chr(code)
    return letter.replace("\xa0", " ") + tail.removeprefix(";")


def _decode_named(piece: str, in_attribute: bool) -> str:
    tail = piece.lstrip(_LETTERS)
    name = piece[: len(piece) - len(tail) + (tail[:1] == ";")]
    if len(name) < 2 or (in_attribute and tail[:1] == "="):
        return "&" + piece
    letters, length = _find_name(name[:_MAX_NAME])
    if not letters or (in_attribute and length < len(name)):
        return "&" + piece
    return letters + piece[length:]
