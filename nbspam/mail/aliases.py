"""Rare names of charsets to Python's codecs.

The names are those of `encodings.aliases` and a few that Python lacks.  Only text codecs can be reached: no
name in a mail gets to zlib, unicode_escape, idna and the like, and none makes Python search for a module.
"""

from __future__ import annotations

from encodings.aliases import aliases

# Begin the names of the text codecs that mail may use.
_FAMILIES: tuple[str, ...] = (
    "ascii",
    "utf",
    "latin_1",
    "iso",
    "cp",
    "koi8",
    "kz1048",
    "ptcp154",
    "mac_",
    "tis_620",
)
_FAMILIES += ("big5", "gb", "hz", "euc", "shift_jis", "johab")
# Mail programs read a charset as a larger one.
_READ_AS = {
    "utf_8": "utf-8",
    "latin_1": "cp1252",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "iso2022_jp": "iso2022_jp_ext",
    "iso2022_jp_1": "iso2022_jp_ext",
}
_LACKING = {
    "ansi": "cp1252",
    "western": "cp1252",
    "isolatin1": "cp1252",
    "iso8859": "cp1252",
    "iso88596i": "iso8859_6",
    "iso88596e": "iso8859_6",
    "iso88598i": "iso8859_8",
    "iso88598e": "iso8859_8",
    "visual": "iso8859_8",
    "logical": "iso8859_8",
    "turkish": "cp1254",
    "viscii": "cp1258",
    "cp874": "cp874",
    "unicode": "utf_16",
    "ucs2": "utf_16",
    "koi8": "koi8_r",
    "koi8u": "koi8_u",
    "koi8ru": "koi8_u",
    "mac": "mac_roman",
    "macce": "mac_latin2",
    "gb": "gb18030",
    "cngb": "gb18030",
    "gb2312charset": "gb18030",
    "cnbig5": "big5hkscs",
    "chinesebig5": "big5hkscs",
    "windows31j": "cp932",
    "euc": "euc_jp",
    "jis": "iso2022_jp_ext",
    "iso2022jpms": "iso2022_jp_ext",
    "cp50220": "iso2022_jp_ext",
    "cp50221": "iso2022_jp_ext",
    "ksc5601": "cp949",
}
# Name without punctuation -> codec, so that big-5, koi8r and utf16le are known, too.
_CODECS = {
    name.replace("_", ""): _READ_AS.get(codec, codec)
    for name, codec in [
        *aliases.items(),
        *zip(aliases.values(), aliases.values(), strict=True),
        *_LACKING.items(),
    ]
    if codec.startswith(_FAMILIES)
}


def codec_named(label: str) -> str:
    """The Python codec for a charset name (lower-case), "" if it is unknown.

    Quotes, a language (RFC 2231: iso-8859-1*en), a year (iso_8859-5:1988) and "charset=" are dropped.
    """
    words = label.replace('"', " ").replace("'", " ").replace(";", " ").split()
    name = words[0].removeprefix("charset=") if words else ""
    name = name.partition("*")[0].partition(":")[0].removeprefix("x-")
    name = name.replace("-", "").replace("_", "")
    page = name.removeprefix("windows").removeprefix("win").removeprefix("dos")
    return _CODECS.get(name) or _CODECS.get("cp" + page, "")
