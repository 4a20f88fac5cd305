"""Rare names of charsets to Python's codecs.

The names are those of `encodings.aliases` and a few that Python lacks.  Only text codecs can be reached: no
name in a mail gets to zlib, unicode_escape, idna and the like, and none makes Python search for a module.
"""

from encodings.aliases import aliases

# Beginnings of the names of the codecs that mail may use; those of EBCDIC are not among them.
_FAMILY_NAMES = """
    ascii utf iso latin_1 cp125 cp437 cp7 cp8 cp9 koi8 mac_ kz1048 ptcp154 tis_620 big5 gb hz euc shift_jis
    johab
    """
_FAMILIES = tuple(_FAMILY_NAMES.split())
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
# Codec -> names that Python lacks, without punctuation.
_LACKING = {
    "cp1252": ("ansi", "western", "isolatin1", "iso8859"),
    "cp874": ("cp874",),
    "iso8859_6": ("iso88596i", "iso88596e"),
    "iso8859_8": ("iso88598i", "iso88598e", "visual", "logical"),
    "koi8_r": ("koi8",),
    "koi8_u": ("koi8u", "koi8ru"),
    "mac_roman": ("mac",),
    "utf_16": ("unicode", "ucs2"),
    "gb18030": ("gb", "cngb", "gb2312charset"),
    "big5hkscs": ("cnbig5", "chinesebig5"),
    "cp932": ("windows31j",),
    "euc_jp": ("euc",),
    "iso2022_jp_ext": ("jis", "iso2022jpms", "cp50220", "cp50221"),
    "iso2022_cn": ("iso2022cn", "iso2022cnext"),
    "cp949": ("ksc5601",),
}
# Name without punctuation -> codec, so that big-5, koi8r and utf16le are known, too.
_CODECS = {
    name.replace("_", ""): _READ_AS.get(codec, codec)
    for alias, codec in aliases.items()
    if codec.startswith(_FAMILIES)
    for name in (alias, codec)
}
_CODECS.update({name: codec for codec, names in _LACKING.items() for name in names})


def find_codec(label: str) -> str:
    """The Python codec for a charset name (lower-case), "" if it is unknown.

    Quotes, a language (RFC 2231: iso-8859-1*en), a year (iso_8859-5:1988) and "charset=" are dropped.
    """
    words = label.replace('"', " ").replace("'", " ").replace(";", " ").split()
    name = words[0].removeprefix("charset=") if words else ""
    name = name.partition("*")[0].partition(":")[0].removeprefix("x-")
    name = name.replace("-", "").replace("_", "")
    page = name.removeprefix("windows").removeprefix("win").removeprefix("dos")
    return _CODECS.get(name) or _CODECS.get("cp" + page, "")
