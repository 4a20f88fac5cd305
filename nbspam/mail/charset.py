"""Charsets: bytes of text to str, by an allow-list of text codecs.

The charset of text that is not ASCII is the first of these that fits:
1. the one that a byte order mark, the zero bytes of UTF-16 or the escapes of ISO-2022 tell;
2. UTF-8, where the declared charset takes any bytes, as ISO-8859-1 does: other text is not UTF-8 by chance;
3. the declared charset, if the text decodes without errors (ISO-2022 and EUC-JP: with few);
4. UTF-8, if at least twice as many of its sequences are well-formed as are broken;
5. the declared charset, errors replaced, unless it is UTF-8 or ISO-2022;
6. a legacy charset, guessed from letter frequencies (guess.py).
As in mail programs, ISO-8859-1 is read as windows-1252, GB2312 as GB18030 and so on (tables/charsets.txt).
Every codec here is linear.  None of Python's transforms (zlib, hex, unicode_escape, idna, punycode ...) can
be reached.  UTF-7 is read because some mail programs show it.
"""

import codecs

from nbspam.limits import Allowance
from nbspam.tables import read_table

# Name without punctuation -> codec, so that big-5, koi8r and utf16le are known, too.
_CODECS = {name: codec for codec, names in read_table("charsets").items() for name in names}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks
_SAMPLE = 2_048  # bytes in which zero bytes are looked for
_SHORT_UTF_16 = 4  # bytes: fewer may all be in ASCII by chance
_FEW = 16  # bytes: in fewer a half of a character may be a blank by chance
_WORD = 12  # bytes: in words of letters there is a blank as often; in UTF-16 it is half of a rare character
_ASCII_TEXT = bytes([*range(9, 14), *range(32, 127)])
_UTF_8 = b"\xef\xbb\xbf"  # its mark; that of UTF-32 means nothing to a browser
_MOST_OF_UTF_8 = 0.34  # of its characters beyond ASCII that may be broken
_MOST_IF_DECLARED = 0.5  # the same of text that is declared as UTF-8: quotes of Windows in it are not
# These bytes in windows-1252; the five undefined ones are control characters, as in browsers.
WINDOWS_C1 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"
_CP1252 = "".join([*map(chr, range(128)), WINDOWS_C1, *map(chr, range(160, 256))])
_ISO_2022 = "iso2022_"
_ESCAPES = (b"\x1b$", b"\x1b(I")  # two-byte characters and half-width kana follow
_STATEFUL = ("utf_7", "utf_16", "utf_32", "hz", _ISO_2022)  # ASCII bytes may be other characters
# Codecs of these names take any bytes.  Thai (cp874) does too, but a short Thai word may be UTF-8 by chance.
_TAKING_ALL = ("cp125", "cp437", "cp85", "cp86", "iso8859", "koi8", "mac_")
# Names from programs that did not know the charset.
_EMPTY = frozenset(["", *read_table("kinds")["charsets"]])


def look_up_codec(label: str) -> str:
    """The Python codec for a charset name as mail writes it (lower-case); "" if it is unknown.

    Quotes, a language (RFC 2231: iso-8859-1*en), a year (iso_8859-5:1988) and "charset=" are dropped.
    """
    words = label.replace('"', " ").replace("'", " ").replace(";", " ").split()
    name = words[0].removeprefix("charset=") if words else ""
    name = name.partition("*")[0].partition(":")[0].removeprefix("x-")
    name = name.replace("-", "").replace("_", "")
    return _CODECS.get(name) or _CODECS.get("cp" + name.lstrip("abcdefghijklmnopqrstuvwxyz0"), "")


def decode(payload: bytes, label: str, allowance: Allowance) -> tuple[str, str]:
    """(text, codec used) of bytes declared as `label` (lower-case, "" if nothing is declared)."""
    codec = look_up_codec(label)
    if not codec and label.replace("_", "-") not in _EMPTY:
        allowance.note("unknown-charset")
    text, codec = _decode_hard(payload, codec, allowance)
    if codec == "utf_7":
        text = text.encode("utf-8", "replace").decode()  # lone surrogates, which no model can hold
    if "\0" in text:
        allowance.note("nul")
        text = text.replace("\0", "")
    return text.removeprefix("\ufeff"), codec


def decode_with(codec: str, payload: bytes) -> str:
    """Decode, errors replaced."""
    if codec.startswith(_ISO_2022) or codec == "euc_jp":
        from nbspam.mail.iso_2022 import decode_euc_jp, decode_iso_2022  # East Asian mail

        return decode_euc_jp(payload) if codec == "euc_jp" else decode_iso_2022(payload, codec)
    if codec.startswith("utf_16"):
        payload = payload[: len(payload) & ~1]  # without a line end of one byte, which a server added
    if codec != "cp1252":
        return payload.decode(codec, "replace")
    return codecs.charmap_decode(payload, "strict", _CP1252)[0]


def decode_raw(payload: bytes, label: str, allowance: Allowance) -> str:
    """The text of a raw header value, which may have the escapes of ISO-2022 and HZ.

    label : lower-case, of the body, or ""
    """
    codec = look_up_codec(label)
    if b"~}" in payload[payload.find(b"~{") :] and payload.isascii():
        return _try_decode(payload, "hz") or payload.decode("ascii")
    return decode(payload, label if codec.startswith(_ISO_2022) else "", allowance)[0]


def choose_header_codec(payload: bytes, label: str, allowance: Allowance) -> str:
    """The codec for raw 8-bit header values: the one that the body declares, if it fits, else a guess.

    label : lower-case, of the body
    """
    codec = look_up_codec(label)
    is_legacy = codec not in ("", "ascii", "utf-8") and not codec.startswith(_STATEFUL)
    if is_legacy and _try_decode(payload, codec) is not None:
        return codec
    return "utf-8" if is_mostly_utf_8(payload, _MOST_OF_UTF_8) else _guess(payload, allowance)


def _decode_hard(payload: bytes, codec: str, allowance: Allowance) -> tuple[str, str]:
    marked = _find_marked_codec(payload, codec)
    if codec.startswith("utf_16") and not marked:
        codec = ""
    if marked:
        text = decode_with(marked, payload)
        if not marked.startswith(_ISO_2022) or _is_sound(text, most=0.2):
            return text, marked
    if payload.isascii() and not codec.startswith(_STATEFUL):
        return payload.decode("ascii"), codec or "ascii"
    for candidate in ("utf-8", codec) if codec.startswith(_TAKING_ALL) else (codec, "utf-8"):
        text_or_none = _try_decode(payload, candidate) if candidate not in ("", "ascii") else None
        if text_or_none is not None:
            if candidate != codec and codec.startswith(_TAKING_ALL):
                allowance.note("bad-charset")
            return text_or_none, candidate
    allowance.note("no-charset" if codec in ("", "ascii") else "bad-charset")
    if is_mostly_utf_8(payload, _MOST_IF_DECLARED if codec == "utf-8" else _MOST_OF_UTF_8):
        codec = "utf-8"
    elif codec in ("", "ascii", "utf-8") or codec.startswith(_ISO_2022):
        codec = _guess(payload, allowance)
    return decode_with(codec, payload), codec


def _find_marked_codec(payload: bytes, codec: str) -> str:
    """The codec that a byte order mark or escapes tell, or the declared one if it needs escapes, or ""."""
    if payload.startswith(_UTF_8):
        return "utf-8"
    if utf_16 := find_utf_16(payload, codec):
        return utf_16
    has_escapes = any(escape in payload for escape in _ESCAPES)
    if has_escapes and not codec.startswith(_STATEFUL) and (codec != "utf-8" or payload.isascii()):
        return "iso2022_jp_ext"
    return codec if codec.startswith(_ISO_2022) and (has_escapes or payload.isascii()) else ""


def _try_decode(payload: bytes, codec: str) -> str | None:
    """The text, None if it is not of this codec; EUC-JP may have a few errors."""
    if codec == "cp1252":
        return decode_with(codec, payload)
    try:
        return payload.decode(codec)
    except (UnicodeError, LookupError):  # Python has no ISO-2022-CN
        text = decode_with(codec, payload) if codec == "euc_jp" else ""
    return text if text and _is_sound(text) else None


def is_utf_8(payload: bytes, is_whole: bool = True) -> bool:
    """True if all bytes are UTF-8;  is_whole: it may not end inside a character."""
    try:
        codecs.utf_8_decode(payload, "strict", is_whole)
    except UnicodeDecodeError:
        return False
    return True


def _is_sound(text: str, most: float = 0.1) -> bool:
    """True if at most this share of the characters that are not ASCII is broken."""
    high = len(text) - len(text.encode("ascii", "ignore"))
    return text.count("\ufffd") <= most * high


def is_mostly_utf_8(payload: bytes, most: float = _MOST_IF_DECLARED) -> bool:
    """True if some bytes may be broken, at most this share, but hardly by chance."""
    return _is_sound(payload.decode("utf-8", "replace"), most)


def find_utf_16(payload: bytes, codec: str) -> str:
    """The codec of text with the zero bytes of UTF-16, "" for other text;  codec: the declared one.

    ASCII after a false mark or declaration has none, and UTF-8 after a false declaration; a page of Chinese
    has one a line, hardly ever two together.
    Without a mark text is big-endian (RFC 2781, 4.3), unless the zero bytes tell otherwise.
    """
    sample = payload[:_SAMPLE]
    is_marked = sample.startswith(_UTF_16)
    if (is_marked or codec.startswith("utf_16")) and not _is_wide(sample, is_marked):
        return ""
    if codec.startswith("utf_16_"):
        return codec
    if is_marked:
        return "utf_16"
    first, second = sample[::2].count(0), sample[1::2].count(0)
    few, many = sorted((first, second))
    if codec == "utf_16" or (many * 4 > len(sample) and few * 20 < many):
        return "utf_16_le" if second > first else "utf_16_be"
    return ""


def _is_wide(sample: bytes, is_marked: bool) -> bool:
    """False if text with a mark or declaration of UTF-16 is ASCII; a few bytes may be broken.

    Without a mark, also False for UTF-8, and for words of another charset, between blanks.
    """
    if not is_marked and b"\0" not in sample:
        has_blanks = len(sample) >= _FEW and sample.count(b" ") * _WORD >= len(sample)
        if has_blanks or (not sample.isascii() and is_utf_8(sample, len(sample) < _SAMPLE)):
            return False
    single = sample.count(0) - 2 * sample.count(b"\0\0")
    if single * 50 >= max(len(sample), 1) or (len(sample) < _SHORT_UTF_16 and not is_marked):
        return True
    after = sample[2:] if is_marked else sample
    ascii_bytes = len(after) - len(after.translate(None, _ASCII_TEXT)) + after.count(0)
    is_ascii = ascii_bytes * 20 > len(after) * 19
    return not is_ascii and not (is_marked and "\ufffd" in decode_with("utf_16", sample))


def _guess(payload: bytes, allowance: Allowance) -> str:
    if not allowance.guesses:
        return "cp1252"
    allowance.guesses -= 1
    from nbspam.mail.guess import guess_codec  # most mail declares its charset

    return guess_codec(payload)
