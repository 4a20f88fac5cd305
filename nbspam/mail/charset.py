"""Charsets: bytes of text to str, by an allow-list of text codecs.

Hides the names mail gives to charsets and what to do when a name is missing, unknown or untrue.
Order for bytes that are not ASCII: a byte order mark; the declared charset, if it decodes without
error; UTF-8, if it does; the declared charset again, errors replaced; and where none is usable a
legacy charset chosen by letter frequencies (guess.py).  A declared UTF-8 with more than a tenth
of its characters broken counts as not usable.  ASCII with ISO-2022-JP or HZ escapes is decoded
as such whatever is declared.  ISO-8859-1 is read as windows-1252, GB2312 as GB18030, and so on,
as readers do; every codec here runs in C and is linear, none of Python's transforms
(zlib, hex, unicode_escape, idna, punycode ...) can be reached.  UTF-7 is read: mail programs
still show it, so text could be hidden in it.
"""

from __future__ import annotations

from _codecs import charmap_decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

_GROUPS = (
    ("ascii", "us-ascii ascii ansi-x3.4-1968 iso646-us 646 us iso-ir-6 ansi-x3.110-1983 usascii us-ascii-7"),
    ("utf-8", "utf-8 utf8 unicode-1-1-utf-8 utf-8-sig cp65001 utf-8-mac utf8mb4 x-utf-8 utf-8-strict"),
    ("utf-7", "utf-7 utf7 unicode-1-1-utf-7 csunicode11utf7 x-unicode-2-0-utf-7 unicode-2-0-utf-7"),
    ("utf-16", "utf-16 utf16 unicode ucs-2 iso-10646-ucs-2 csunicode"),
    ("utf-16-le", "utf-16le utf-16-le utf16le x-utf-16le"),
    ("utf-16-be", "utf-16be utf-16-be utf16be x-utf-16be unicodefffe"),
    ("utf-32", "utf-32 utf32 ucs-4 iso-10646-ucs-4"),
    ("utf-32-le", "utf-32le utf-32-le"),
    ("utf-32-be", "utf-32be utf-32-be"),
    (
        "cp1252",
        "iso-8859-1 iso8859-1 iso88591 latin1 latin-1 l1 iso-ir-100 cp819 windows-1252 cp1252 x-cp1252"
        " iso-8859-1-windows-3.1-latin-1 ansi x-ansi cp-1252 win-1252 windows1252 iso-8859-1-1987 western"
        " iso-latin-1 isolatin1 8859-1 iso-8859",
    ),
    ("iso8859-2", "iso-8859-2 iso8859-2 latin2 latin-2 l2 iso-8859-2-windows-latin-2"),
    ("iso8859-3", "iso-8859-3 iso8859-3 latin3 latin-3 l3"),
    ("iso8859-4", "iso-8859-4 iso8859-4 latin4 latin-4 l4"),
    ("iso8859-5", "iso-8859-5 iso8859-5 cyrillic"),
    ("iso8859-6", "iso-8859-6 iso8859-6 iso-8859-6-i iso-8859-6-e arabic asmo-708"),
    ("iso8859-7", "iso-8859-7 iso8859-7 greek greek8 elot-928"),
    ("iso8859-8", "iso-8859-8 iso8859-8 iso-8859-8-i iso-8859-8-e hebrew visual logical"),
    ("cp1254", "iso-8859-9 iso8859-9 latin5 latin-5 l5 windows-1254 cp1254 x-cp1254 win-1254 turkish"),
    ("iso8859-10", "iso-8859-10 iso8859-10 latin6 latin-6 l6"),
    ("cp874", "iso-8859-11 iso8859-11 tis-620 tis620 windows-874 cp874 x-windows-874 dos-874"),
    ("iso8859-13", "iso-8859-13 iso8859-13 latin7"),
    ("iso8859-14", "iso-8859-14 iso8859-14 latin8"),
    ("iso8859-15", "iso-8859-15 iso8859-15 latin9 latin-9 l9"),
    ("iso8859-16", "iso-8859-16 iso8859-16 latin10"),
    ("cp1250", "windows-1250 cp1250 x-cp1250 win-1250"),
    ("cp1251", "windows-1251 cp1251 x-cp1251 win-1251 win1251 windows1251 cp-1251"),
    ("cp1253", "windows-1253 cp1253 x-cp1253 win-1253"),
    ("cp1255", "windows-1255 cp1255 x-cp1255 win-1255"),
    ("cp1256", "windows-1256 cp1256 x-cp1256 win-1256"),
    ("cp1257", "windows-1257 cp1257 x-cp1257 win-1257"),
    ("cp1258", "windows-1258 cp1258 x-cp1258 win-1258 viscii tcvn"),
    ("koi8-r", "koi8-r koi8 koi koi8r koi-8-r cskoi8r"),
    ("koi8-u", "koi8-u koi8-ru koi8u"),
    ("kz1048", "kz-1048 kz1048 strk1048-2002 rk1048"),
    ("ptcp154", "ptcp154 pt154 cp154 csptcp154 cyrillic-asian"),
    ("cp437", "cp437 ibm437 437"),
    ("cp850", "cp850 ibm850 850"),
    ("cp852", "cp852 ibm852 852"),
    ("cp855", "cp855 ibm855 855"),
    ("cp857", "cp857 ibm857"),
    ("cp858", "cp858 ibm00858"),
    ("cp862", "cp862 ibm862 dos-862"),
    ("cp864", "cp864 ibm864"),
    ("cp866", "cp866 ibm866 866 csibm866"),
    ("mac-roman", "macintosh mac x-mac-roman macroman mac-roman"),
    ("mac-cyrillic", "x-mac-cyrillic maccyrillic mac-cyrillic x-mac-ukrainian"),
    ("mac-greek", "x-mac-greek mac-greek"),
    ("mac-turkish", "x-mac-turkish mac-turkish"),
    ("mac-latin2", "x-mac-ce x-mac-centraleurroman mac-latin2 x-mac-latin2"),
    (
        "gb18030",
        "gb18030 gb2312 gbk gb-2312 gb-2312-80 x-gbk cp936 ms936 936 windows-936 chinese csgb2312 gb gb2312-80"
        " iso-ir-58 euc-cn euccn x-euc-cn gb18030-2000 gb18030-2005 gb2312-charset cn-gb gb-18030 csiso58gb231280",
    ),
    ("hz", "hz-gb-2312 hz hz-gb"),
    (
        "big5hkscs",
        "big5 big-5 big5-hkscs big5hkscs big5-eten cn-big5 csbig5 x-x-big5 x-big5 cp950 ms950 950 chinesebig5"
        " windows-950 big5-tw",
    ),
    (
        "cp932",
        "shift-jis shiftjis sjis x-sjis ms-kanji csshiftjis windows-31j cp932 ms932 932 windows-932 s-jis"
        " cswindows31j ms-kanji",
    ),
    (
        "euc_jp",
        "euc-jp eucjp x-euc-jp x-euc ujis cseucpkdfmtjapanese extended-unix-code-packed-format-for-japanese",
    ),
    (
        "iso2022_jp_ext",
        "iso-2022-jp iso2022-jp csiso2022jp iso-2022-jp-1 iso-2022-jp-ext jis x-iso-2022-jp cp50220",
    ),
    ("iso2022_jp_2", "iso-2022-jp-2 csiso2022jp2"),
    ("iso2022_jp_3", "iso-2022-jp-3"),
    ("iso2022_jp_2004", "iso-2022-jp-2004"),
    ("iso2022_kr", "iso-2022-kr csiso2022kr"),
    (
        "cp949",
        "euc-kr euckr ks-c-5601-1987 ks-c-5601 ksc5601 ksc-5601 ks-c-5601-1989 korean cp949 ms949 949 uhc"
        " windows-949 cseuckr csksc56011987 iso-ir-149 ks-x-1001 ksc5601-1987 5601",
    ),
    ("johab", "johab cp1361 ms1361"),
)
_CODECS = {label: codec for codec, labels in _GROUPS for label in labels.split(" ")}
_STATEFUL = frozenset(
    ["utf-7", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "hz", "iso2022_jp_ext", "iso2022_jp_2", "iso2022_jp_3", "iso2022_jp_2004", "iso2022_kr"]
)
# Names that say nothing: written by programs that did not know either.
_EMPTY = frozenset(
    (
        "",
        "x-unknown",
        "unknown",
        "unknown-8bit",
        "default",
        "default-charset",
        "x-user-defined",
        "none",
        "binary",
        "8bit",
    )
)
# windows-1252 with its five undefined bytes as C1 controls, as browsers have it.
_CP1252 = (
    "".join(map(chr, range(128)))
    + "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"
    + "".join(map(chr, range(160, 256)))
)


def canonical(label: str) -> str:
    """The Python codec for a charset name as mail writes it; "" if there is none.

    label : lower-case
    """
    codec = _CODECS.get(label)
    if codec is None:
        words = label.replace("_", "-").replace('"', " ").replace("'", " ").replace(";", " ").split()
        name = words[0].partition("*")[0] if words else ""
        codec = _CODECS.get(name) or _CODECS.get(name.removeprefix("charset=")) or ""
    return codec


def decode(payload: bytes, label: str, allowance: Allowance, header: bool = False) -> tuple[str, str]:
    """(text, codec used) of bytes declared as `label` (lower-case, "" if nothing is declared).

    header : the guess, if one is needed, counts against the allowance for header text
    """
    codec = _CODECS.get(label, "")
    if not codec and label:
        codec = canonical(label)
        if not codec and label.replace("_", "-") not in _EMPTY:
            allowance.note("unknown-charset")
    if payload.isascii() and codec not in _STATEFUL:
        if b"\x1b$" not in payload and b"\0" not in payload and (b"~{" not in payload or codec == "utf-8"):
            return payload.decode("ascii"), codec or "ascii"
    text, codec = _decode_hard(payload, codec, allowance, header)
    if "\0" in text:
        allowance.note("nul")
        text = text.replace("\0", "")
    return text.removeprefix("\ufeff"), codec


def decode_with(codec: str, payload: bytes) -> str:
    """Decode, errors replaced."""
    if codec == "cp1252":
        return charmap_decode(payload, "strict", _CP1252)[0]
    return payload.decode(codec, "replace")


def decode_raw(payload: bytes, allowance: Allowance) -> str:
    """Raw 8-bit text of a header: UTF-8, else a guess."""
    return decode(payload, "", allowance, header=True)[0]


def codec_of_raw_headers(payload: bytes, content_type: str, allowance: Allowance) -> str:
    """The codec for raw 8-bit header values: what the body declares, if it fits, else a guess."""
    from nbspam.mail.parameters import parse_parameters

    codec = canonical(parse_parameters(content_type, allowance)[1].get("charset", "").lower())
    if (
        codec
        and codec not in _STATEFUL
        and codec not in ("ascii", "utf-8")
        and _strict(payload, codec) is not None
    ):
        return codec
    return _guess(payload, allowance, True)


def _decode_hard(payload: bytes, codec: str, allowance: Allowance, header: bool) -> tuple[str, str]:
    seen = _by_signature(payload, codec)
    if seen:
        return decode_with(seen, payload), seen
    if payload.isascii() and codec not in _STATEFUL:
        return payload.decode("ascii"), codec or "ascii"
    if codec in ("utf-16", "utf-32"):
        codec = _byte_order(payload, codec)
    for candidate in (codec, "utf-8"):
        text = _strict(payload, candidate) if candidate and candidate != "ascii" else None
        if text is not None:
            return text, candidate
    allowance.note("bad-charset" if codec not in ("", "ascii") else "no-charset")
    if codec not in ("", "ascii"):
        text = decode_with(codec, payload)
        broken = text.count("\ufffd")
        high = len(text) - len(text.encode("ascii", "ignore"))
        if codec != "utf-8" or broken * 10 <= high:
            return text, codec
    codec = _guess(payload, allowance, header)
    return decode_with(codec, payload), codec


def _strict(payload: bytes, codec: str) -> str | None:
    if codec == "cp1252":
        return decode_with(codec, payload)
    try:
        return payload.decode(codec)
    except UnicodeError:
        return None


def _by_signature(payload: bytes, codec: str) -> str:
    """The codec that a byte order mark, 7-bit escapes or zero bytes give away; "" if none."""
    if payload.startswith(b"\xef\xbb\xbf"):
        return "utf-8"
    if payload.startswith((b"\xff\xfe", b"\xfe\xff")) and codec not in ("utf-32", "utf-32-le"):
        return "utf-16"
    if b"\x1b$" in payload and codec not in _STATEFUL:
        if b"\x1b$)C" in payload:
            return "iso2022_kr"
        if b"\x1b$B" in payload or b"\x1b$@" in payload or b"\x1b$(" in payload:
            return "iso2022_jp_ext"
    if b"~{" in payload and b"~}" in payload and codec in ("", "ascii", "gb18030") and payload.isascii():
        return "hz"
    if b"\0" in payload and codec in ("", "ascii"):
        sample = payload[:2048]
        even, odd = sample[::2].count(0), sample[1::2].count(0)
        if max(even, odd) * 5 > len(sample) and min(even, odd) * 20 < len(sample):
            return "utf-16-be" if even > odd else "utf-16-le"
    return ""


def _byte_order(payload: bytes, codec: str) -> str:
    """UTF-16 or UTF-32 without a mark: by where the zero bytes are; plain text if there are none."""
    if codec == "utf-32":
        if payload.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
            return "utf-32"
        return "utf-32-be" if payload[:1] == b"\0" else "utf-32-le"
    sample = payload[:2048]
    if b"\0" not in sample and sample.isascii():
        return "ascii" if False else "utf-8"
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    return "utf-16-le" if odd > even else "utf-16-be"


def _guess(payload: bytes, allowance: Allowance, header: bool) -> str:
    if header:
        if not allowance.guesses:
            return "cp1252"
        allowance.guesses -= 1
    from nbspam.mail.guess import guess_codec  # most mail declares its charset

    return guess_codec(payload)
