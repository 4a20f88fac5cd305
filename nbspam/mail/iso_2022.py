"""ISO-2022 and EUC-JP as Japanese, Korean and Chinese mail programs write them, with errors replaced.

Windows programs write characters of cp932 that Python's codecs lack: row 13 (① ㈱ Ⅲ) and the rows 89 to 92
of NEC, and half-width kana by ESC ( I or by SO.  One broken pair costs one character, not the line.
Source: RFC 1468, RFC 1557, RFC 1922; WHATWG Encoding, 12.2; cp50221 and cp50222 of Windows.
"""

import codecs
from functools import cache

_ERRORS = "nbspam-jis"
_HIGH = bytes(code | 0x80 if 0x21 <= code <= 0x7E else code for code in range(256))
_MAX_ESCAPES = 50_000
_MAX_BROKEN = 50_000  # bytes of EUC-JP that are looked at one by one
_PLAIN = "cp932"  # of what is not escaped: ASCII, and perhaps bytes of half-width kana
# What follows ESC -> the codec of the bytes after it, each with its high bit set; "" if it is plain.
_SETS = {
    b"(B": "",
    b"(J": "",
    b"(I": "cp932",  # half-width kana are single bytes of it
    b"$@": "euc_jp",
    b"$B": "euc_jp",
    b"$A": "gb18030",
    b"$(C": "cp949",
}
_SHIFTED_SETS = {b"$)C": "cp949", b"$)A": "gb18030"}  # for the bytes between SO and SI


def decode_iso_2022(payload: bytes, codec: str) -> str:
    """The text of bytes in any ISO-2022 charset; `codec` says what SO means before an escape does."""
    try:  # most mail has only kanji and ASCII, and no errors
        text = payload.replace(b"\x1b(J", b"\x1b(B").decode("iso2022_jp")
    except UnicodeDecodeError:
        return _decode_pieces(payload, codec)
    is_plain = "\x1b" not in text and "\x0e" not in text and "\x0f" not in text
    return text if is_plain else _decode_pieces(payload, codec)


def _decode_pieces(payload: bytes, codec: str) -> str:
    """The same, each piece between two escapes in its own codec."""
    pieces = payload.replace(b"\x0e", b"\x1b\x0e").replace(b"\x0f", b"\x1b\x0f").split(b"\x1b", _MAX_ESCAPES)
    out = [_decode_set(pieces[0], "")]
    current = unshifted = ""
    shifted = "cp949" if codec == "iso2022_kr" else "cp932"
    for piece in pieces[1:]:
        mark = next((piece[:size] for size in (2, 3) if piece[:size] in _SETS), b"")
        if mark:
            current = unshifted = _SETS[mark]
        elif piece[:3] in _SHIFTED_SETS:
            mark = piece[:3]
            shifted = _SHIFTED_SETS[mark]
        elif piece[:1] in (b"\x0e", b"\x0f"):
            mark = piece[:1]
            current = shifted if mark == b"\x0e" else unshifted
        out.append(_decode_set(piece[len(mark) :], current))
    return "".join(out)


def decode_euc_jp(payload: bytes) -> str:
    """The text of EUC-JP bytes, with the rows of NEC and IBM."""
    text = payload.decode("euc_jp", "replace")
    return payload.decode("euc_jp", _ERRORS) if 0 < text.count("\ufffd") <= _MAX_BROKEN else text


def _decode_set(text: bytes, codec: str) -> str:
    if codec == "euc_jp":
        return decode_euc_jp(text.translate(_HIGH))
    if codec:
        return text.translate(_HIGH).decode(codec, "replace")
    try:
        return text.decode("utf-8")  # a footer that a list added
    except UnicodeDecodeError:
        return text.decode(_PLAIN, "replace")


@cache  # of at most 65,792 pairs
def _read_pair(pair: bytes) -> tuple[str, int]:
    """(text, bytes it takes) of a pair of EUC-JP that Python's codec lacks, as cp932 has it."""
    if len(pair) < 2 or min(pair) < 0xA1:
        return "\ufffd", 1
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + 0x9F if row % 2 else cell + 0x40 + (cell > 62)
    return bytes((lead, trail)).decode("cp932", "ignore") or "\ufffd", 2


def _mend_pair(error: UnicodeError) -> tuple[str, int]:
    """What the codec calls for bytes that it cannot read: (text, where to go on)."""
    assert isinstance(error, UnicodeDecodeError)
    start = error.start
    text, size = _read_pair(error.object[start : start + 2])
    return text, start + size


codecs.register_error(_ERRORS, _mend_pair)
