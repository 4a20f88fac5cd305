"""The names mail gives to charsets, each with the Python codec that reads it.

Hides that readers take one charset for a larger one (ISO-8859-1 for windows-1252, GB2312 for
GB18030, EUC-KR for CP949).  Apart from charset.py because most mail uses a few names only and a
fresh process should not pay for the others.
"""

from __future__ import annotations

from _codecs import charmap_decode

from nbspam.mail.charset import WINDOWS_C1

__all__ = ["CODECS", "CP1252", "charmap_decode"]

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
    ("cp866", "cp866 ibm866 866 csibm866 dos-866"),
    ("mac-roman", "macintosh mac x-mac-roman macroman mac-roman"),
    ("mac-cyrillic", "x-mac-cyrillic maccyrillic mac-cyrillic x-mac-ukrainian"),
    ("mac-greek", "x-mac-greek mac-greek"),
    ("mac-turkish", "x-mac-turkish mac-turkish"),
    ("mac-latin2", "x-mac-ce x-mac-centraleurroman mac-latin2 x-mac-latin2"),
    (
        "gb18030",
        "gb18030 gb2312 gbk gb-2312 gb-2312-80 x-gbk cp936 ms936 936 windows-936 chinese csgb2312 gb"
        " gb2312-80 iso-ir-58 euc-cn euccn x-euc-cn gb18030-2000 gb18030-2005 gb2312-charset cn-gb gb-18030"
        " csiso58gb231280",
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
        "iso-2022-jp iso2022-jp csiso2022jp iso-2022-jp-1 iso-2022-jp-ext jis x-iso-2022-jp cp50220 cp50221"
        " cp50222 iso-2022-jp-ms",
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
CODECS = {label: codec for codec, labels in _GROUPS for label in labels.split(" ")}
CP1252 = "".join([*map(chr, range(128)), WINDOWS_C1, *map(chr, range(160, 256))])
