"""Character references of HTML (`&eacute;`, `&#233;`, `&#xe9`) turned into characters.

Hides how much a browser forgives: the missing semicolon, the windows-1252 range, numbers no character
has.  The names of Latin-1 and common typography stand here; the other two thousand are looked up in
the standard library only when a text has one, because that import costs more than reading a mail.
"""

from __future__ import annotations

from nbspam.mail.charset import WINDOWS_C1

# Names that count without a semicolon too (HTML, 13.5): Latin-1 from U+00A0 on, in order.
_LATIN_1 = (
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 "
    "acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde "
    "Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute "
    "Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde "
    "auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute "
    "ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml"
)

LEGACY = {name: chr(160 + index) for index, name in enumerate(_LATIN_1.split())}
# A no-break space looks like a space; as a space it keeps an ASCII text ASCII.
LEGACY["nbsp"] = " "
LEGACY.update(
    {"amp": "&", "AMP": "&", "lt": "<", "LT": "<", "gt": ">", "GT": ">", "quot": '"', "QUOT": '"'},
    copy="©",
    COPY="©",
    reg="®",
    REG="®",
)

# Names that need their semicolon, each with its character.
_TYPOGRAPHY = (
    "apos ' bull • hellip … ndash – mdash — trade ™ euro € lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ "
    "lsaquo ‹ rsaquo › dagger † Dagger ‡ permil ‰ fnof ƒ OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ circ ˆ "
    "tilde ˜ larr ← rarr → uarr ↑ darr ↓ harr ↔ check ✓ star ☆ starf ★ hearts ♥ minus − infin ∞ commat @ "
    "period . comma , colon : sol / num # dollar $ lpar ( rpar ) lowbar _ excl ! percnt % equals = plus +"
)
_PAIRS = _TYPOGRAPHY.split()
_COMMON = {
    **LEGACY,
    **dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)),
    **dict.fromkeys(("ensp", "emsp", "thinsp"), " "),
    "zwnj": "\u200c",
    "zwj": "\u200d",
    "lrm": "\u200e",
    "rlm": "\u200f",
    "Tab": "\t",
    "NewLine": "\n",
}
_LONGEST_LEGACY = 6
_LONGEST_NAME = 31  # CounterClockwiseContourIntegral

_NO_CHARACTER = "\ufffd"
_DIGITS = "0123456789"
_HEX_DIGITS = "0123456789abcdefABCDEF"
_MOST_DIGITS = 7  # 0x10FFFF is 1114111


def decode(text: str, in_attribute: bool = False) -> str:
    """The text with its character references replaced.

    In an attribute a name without semicolon stays as it is before `=`, a letter or a digit, as in
    `?a=1&copy=2` (HTML, 13.2.5.73).
    """
    if "&nbsp;" in text:
        text = text.replace("&nbsp;", " ")
    pieces = text.split("&")
    for index in range(1, len(pieces)):
        piece = pieces[index]
        name, semicolon, tail = piece.partition(";")
        if semicolon and name in _COMMON:
            pieces[index] = _COMMON[name] + tail
        elif piece.startswith("#"):
            pieces[index] = _numeric(piece)
        elif not piece or piece[0] in " \t\r\n=":
            pieces[index] = "&" + piece
        else:
            pieces[index] = _named(piece, name if semicolon else "", tail, in_attribute)
    return "".join(pieces)


def _numeric(piece: str) -> str:
    hexadecimal = piece[1:2] in ("x", "X")
    start = 2 if hexadecimal else 1
    tail = piece[start:].lstrip(_HEX_DIGITS if hexadecimal else _DIGITS)
    stop = len(piece) - len(tail)
    if stop == start:
        return "&" + piece
    if tail.startswith(";"):
        tail = tail[1:]
    return _character(piece[start:stop].lstrip("0"), 16 if hexadecimal else 10) + tail


def _character(digits: str, base: int) -> str:
    if not digits or len(digits) > _MOST_DIGITS:
        return _NO_CHARACTER
    code = int(digits, base)
    if code == 0xA0:
        return " "
    if 0x80 <= code <= 0x9F:  # windows-1252 to every browser
        return WINDOWS_C1[code - 0x80]
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return _NO_CHARACTER
    return chr(code)


def _named(piece: str, name: str, tail: str, in_attribute: bool) -> str:
    if 1 < len(name) <= _LONGEST_NAME and name.isascii() and name.isalnum():
        # Imports `re` by way of its package; only for a name that is rare or none at all.
        from html.entities import html5

        found = html5.get(name + ";")
        if found is not None:
            return found + tail
    for length in range(min(len(piece), _LONGEST_LEGACY), 1, -1):
        if piece[:length] in LEGACY:
            follower = piece[length : length + 1]
            if in_attribute and follower != ";" and (follower == "=" or follower.isalnum()):
                break
            return LEGACY[piece[:length]] + piece[length + (follower == ";") :]
    return "&" + piece
