"""Character references of HTML (`&eacute;`, `&#233;`, `&#xe9`) decoded as browsers do.

The names of Latin-1 and of common typography are listed here.  The other two thousand are looked up in the
standard library, and only when a text has one: that import takes longer than reading a mail.
"""

from __future__ import annotations

from nbspam.mail.charset import WINDOWS_C1
from nbspam.mail.limits import Memory

# Names that count without a semicolon too (HTML, 13.5): Latin-1 from U+00A0 on, in order.
_LATIN_1 = (
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 "
    "acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde "
    "Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute "
    "Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde "
    "auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute "
    "ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml"
)
_BARE = {name: chr(160 + index) for index, name in enumerate(_LATIN_1.split())}
_BARE.update(amp="&", AMP="&", lt="<", LT="<", gt=">", GT=">", quot='"', QUOT='"', COPY="©", REG="®")
_BARE["nbsp"] = " "  # it looks like a space, and as a space it keeps an ASCII text ASCII
_NAMES = "apos bull hellip ndash mdash trade euro lsquo rsquo ldquo rdquo zwnj zwj ensp emsp"
_COMMON = _BARE | dict(zip(_NAMES.split(), "'•…–—™€‘’“”\u200c\u200d  ", strict=True))


def _find_rare(name: str) -> str:
    """What a name with a semicolon after it means, "" if nothing."""
    if not _rare:
        from html.entities import html5  # its package imports `re`

        _rare.update(html5)
    return _rare.get(name + ";", "")


def _find_bare(text: str) -> str:
    """The longest name that a text begins with and that counts without a semicolon, "" if none."""
    for length in range(len(text), 1, -1):
        if text[:length] in _BARE:
            return text[:length]
    return ""


_rare: dict[str, str] = {}
_bare = Memory(_find_bare, 1_000, 6)


def decode_references(text: str, in_attribute: bool = False) -> str:
    """The text with its character references replaced.

    In an attribute a name without semicolon is kept before `=`, a letter or a digit, as in `?a=1&copy=2`
    (HTML, 13.2.5.73).
    """
    first, *pieces = text.replace("&nbsp;", " ").split("&")
    found = [first]
    for piece in pieces:
        name, semicolon, tail = piece.partition(";")
        if semicolon and name in _COMMON:
            found.append(_COMMON[name] + tail)
        elif piece[:1] == "#":
            found.append(_decode_numbered(piece))
        elif not piece:
            found.append("&")
        else:
            found.append(_decode_named(piece, name if semicolon else "", tail, in_attribute))
    return "".join(found)


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


def _decode_named(piece: str, name: str, tail: str, in_attribute: bool) -> str:
    if name.isalnum() and (letters := _find_rare(name)):
        return letters + tail
    bare = _bare[piece[:6]]
    follower = piece[len(bare) : len(bare) + 1]
    is_letter = follower.isascii() and follower.isalnum()
    if not bare or (in_attribute and (follower == "=" or is_letter)):
        return "&" + piece
    return _BARE[bare] + piece[len(bare) :].removeprefix(";")
