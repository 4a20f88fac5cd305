"""Guess the legacy charset of 8-bit text without a usable declaration.

Looks at SAMPLE_BYTES from the first 8-bit byte on.  In a short text the shape of the bytes tells more than
the letters do, so it goes first:

1. Lone high bytes, or a few between ASCII letters: Latin letters.  The charset in which they are common
   letters of a language (tables/letters.txt); windows-1252 unless another one fits far better, as it does
   where signs as `³` are inside words.
2. An alphabet of one byte a letter (Greek, Cyrillic, Hebrew, Arabic, Thai), likewise, if the letters are
   common ones, or if four in five high bytes are one half of 0xC0-0xFF, as lower-case letters are.
3. Runs of even length in which each second byte is over 0xA0: two-byte EUC.  A fifth of kana is EUC-JP;
   first bytes all in the Hangul rows are EUC-KR; the rest is GB 2312 (as GB18030).
4. Otherwise the charset (Big5, Shift-JIS, GB18030 or CP949) in which the share of frequent characters, less
   three times the broken ones, is nearest to that of ordinary text; windows-1252 if that is under a sixth.

It needs a line of text to be right, and costs 0.1 to 0.4 ms.
"""

import re

from nbspam.tables import read_table

SAMPLE_BYTES = 2_048
_FEW = 12
_MOST_COST = 17  # thirds of a bit a letter; ordinary text has 13 to 16
_MOST_LATIN_COST = 14
_RARE = ("cp866", "iso8859_5", "iso8859_6")  # mail hardly ever has them
_RARE_COST = 15  # thirds of a bit by which another charset is likelier before anything is read
_LEAST_EAST_ASIAN = 0.3  # share of frequent characters, of that of ordinary text
_LEAST_GAIN = 15  # thirds of a bit by which another Latin charset must be cheaper than windows-1252
# Signs of windows-1252 that are letters of another charset if ASCII letters are on both sides.
_SIGNS_IN_WORDS = re.compile(rb"(?<=[A-Za-z])[\xb1\xb3\xb6\xb9\xbc\xbe\xbf](?=[A-Za-z])")
_SIGN_COST = 24  # what each of them costs in windows-1252
_SHAPE = bytes(120 if byte > 127 else 97 if chr(byte).isalpha() else 32 for byte in range(256))
_HIGH_ONLY = bytes(32 if byte < 128 else byte for byte in range(256))
_UPPER_ROW = bytes(range(0xC0, 0xE0))
_LOWER_ROW = bytes(range(0xDC, 0x100))  # with accented letters of Greek
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"  # bytes that windows-1252 lacks
_EUC = bytes(range(0xA1, 0xFF))
_KANA_ROWS = b"\xa4\xa5"
_HANGUL_ROWS = bytes(range(0xB0, 0xC9))
_SYMBOL_ROWS = b"\xa1\xa2\xa3"
_LETTERS = read_table("letters")
_JAPANESE, _KOREAN, _SIMPLIFIED, _TRADITIONAL = [
    _LETTERS[part][0] for part in ("japanese", "korean", "simplified", "traditional")
]
# Codec, frequent characters, and their share of ordinary text.
_CANDIDATES = (
    ("big5hkscs", _TRADITIONAL, 0.3),
    ("cp932", _JAPANESE, 0.5),
    ("gb18030", _SIMPLIFIED, 0.3),
    ("cp949", _KOREAN, 0.4),
    ("euc_jp", _JAPANESE, 0.5),
)


def _parse_rows(words: list[str]) -> list[tuple[str, bytes]]:
    """(codec, cost of each byte in thirds of a bit, 0 for ASCII) of each row of the table."""
    rows = zip(words[::4], words[2::4], words[3::4], strict=True)
    return [(codec, bytes(128) + bytes(int(digit, 36) for digit in low + high)) for codec, low, high in rows]


_SCRIPTS, _LATIN = _parse_rows(_LETTERS["scripts"]), _parse_rows(_LETTERS["latin"])


def guess_codec(payload: bytes) -> str:
    """The codec of legacy text; "cp1252" if nothing else fits."""
    high = payload.translate(_HIGH_ONLY)
    start = max(len(high) - len(high.lstrip(b" ")) - 64, 0)
    sample = payload[start : start + SAMPLE_BYTES]
    runs = high[start : start + SAMPLE_BYTES].split()
    letters = b"".join(runs)
    if len(letters) < 1.7 * len(runs) or _is_western(sample, len(letters), len(runs)):
        return _guess_latin(letters, sample)
    cost, script = min(
        (sum(letters.translate(costs)) + _RARE_COST * (codec in _RARE), codec) for codec, costs in _SCRIPTS
    )
    one_case = max(_count(letters, _UPPER_ROW), _count(letters, _LOWER_ROW))
    if one_case * 5 >= len(letters) * 4:
        return script
    even = b"".join([run for run in runs if not len(run) % 2])
    is_euc = len(even) * 5 >= len(letters) * 4 and _count(even[1::2], _EUC) * 50 >= len(even[1::2]) * 49
    by_letters, share = _guess_by_letters(sample)
    # A short word of Chinese has any letters; Japanese is more often undeclared than these.
    is_short = is_euc and (len(letters) < 2 * _FEW or script in _RARE)
    if cost <= _MOST_COST * len(letters) and share < _LEAST_EAST_ASIAN and not is_short:
        return script
    return _guess_euc(even) if is_euc else by_letters


def _is_western(sample: bytes, letters: int, runs: int) -> bool:
    """True if a text with few high bytes has them inside words of ASCII letters."""
    if letters >= _FEW or letters > 2 * runs:
        return letters < 2
    shape = sample.translate(_SHAPE)
    return shape.count(b"ax") + shape.count(b"xa") >= runs


def _count(text: bytes, wanted: bytes) -> int:
    """The number of bytes that are among the wanted ones."""
    return len(text) - len(text.translate(None, wanted))


def _guess_latin(letters: bytes, sample: bytes) -> str:
    """windows-1252, unless letters fit another Latin charset far better.

    There must be four, not all the same, or a sign of windows-1252 inside a word.
    """
    costs = [(sum(letters.translate(costs)), codec) for codec, costs in _LATIN]
    inner = len(_SIGNS_IN_WORDS.findall(sample))
    western = min(cost for cost, codec in costs if codec == "cp1252") + _SIGN_COST * inner
    cost, codec = min([each for each in costs if each[1] != "cp1252"])
    fits = cost <= min(western - _LEAST_GAIN, _MOST_LATIN_COST * len(letters))
    is_enough = inner >= 1 or (len(letters) >= 4 and len(set(letters)) > 1)
    return codec if fits and is_enough else "cp1252"


def _guess_euc(text: bytes) -> str:
    """The codec of whole characters in a two-byte EUC."""
    rows = text[::2]
    if _count(rows, _KANA_ROWS) * 5 >= len(rows):
        return "euc_jp"
    hangul = _count(rows, _HANGUL_ROWS)
    if hangul * 2 >= len(rows) and (hangul + _count(rows, _SYMBOL_ROWS)) * 20 >= len(rows) * 19:
        korean, chinese = _measure_share(text, "cp949", _KOREAN), _measure_share(text, "gb18030", _SIMPLIFIED)
        return "cp949" if len(rows) >= 12 or korean > chinese else "gb18030"
    return "gb18030"


def _guess_by_letters(sample: bytes) -> tuple[str, float]:
    """(codec, share of the frequent characters compared with ordinary text) of the best candidate."""
    best, best_score = "cp1252", 1 / 6
    for codec, frequent, expected in _CANDIDATES:
        score = _measure_share(sample, codec, frequent) / expected
        if score > best_score:
            best, best_score = codec, score
    if best == "cp1252" and _count(sample, _UNDEFINED) and "\ufffd" not in sample.decode("cp932", "replace"):
        best = "cp932"  # a file name or two words
    return best, best_score


def _measure_share(sample: bytes, codec: str, frequent: str) -> float:
    """Share of the frequent characters among those not ASCII, less three times that of the broken ones."""
    text = sample.decode(codec, "replace")
    letters = len(text) - len(text.encode("ascii", "ignore"))
    if not letters:
        return 0.0
    return (sum(map(text.count, frequent)) - 3 * text.count("\ufffd")) / letters
