"""Charsets: bytes of text to str, by an allow-list of text codecs.

Hides the names mail gives to charsets and what to do when a name is missing, unknown or untrue.
Order for bytes that are not ASCII: a byte order mark; UTF-8 where it decodes (no other text is that by
chance) and what is declared takes any bytes, as ISO-8859-1 does; the declared charset, if it decodes without
error (of ISO-2022 nine in ten characters); UTF-8, if it does; the declared charset again, errors
replaced; and where none is usable a legacy charset chosen by letter frequencies (guess.py).  A declared
UTF-8 with more than a tenth of its characters broken counts as not usable.  ASCII with ISO-2022-JP or HZ
escapes is decoded as such whatever else than UTF-8 is declared, if that makes sense of it; ISO-2022-JP
with what Windows adds to it.  ISO-8859-1 is read as windows-1252, GB2312 as GB18030, and so on, as readers
do; every codec here runs in C and is linear, none of Python's transforms (zlib, hex, unicode_escape, idna,
punycode ...) can be reached.  UTF-7 is read: mail programs still show it, so text could be hidden in it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

# The names most mail uses; aliases.py has all of them.
_COMMON = {
    "us-ascii": "ascii",
    "utf-8": "utf-8",
    "iso-8859-1": "cp1252",
    "windows-1252": "cp1252",
    "iso-8859-15": "iso8859-15",
    "gb2312": "gb18030",
    "windows-1251": "cp1251",
    "koi8-r": "koi8-r",
    "big5": "big5hkscs",
}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # marks at the beginning of a text
_C1 = bytes(range(128, 160))
# What these are in windows-1252; to the five that are undefined there browsers give a control character.
WINDOWS_C1 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"
_STATEFUL = frozenset(
    (
        "utf-7",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "utf-32-le",
        "utf-32-be",
        "hz",
        "iso2022_jp_ext",
        "iso2022_jp_2",
        "iso2022_jp_3",
        "iso2022_jp_2004",
        "iso2022_kr",
    )
)
_ESCAPED = frozenset(("hz", "iso2022_jp_ext", "iso2022_kr"))  # ASCII with escapes may be these
_ISO_2022 = "iso2022"
# Begin the codecs that take any bytes, but for Thai, in which a short word may be UTF-8 by chance.
_TAKING_ALL = ("cp125", "cp437", "cp85", "cp86", "iso8859", "koi8", "mac-")
_JAPANESE = "iso2022_jp"
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


def canonical(label: str) -> str:
    """The Python codec for a charset name as mail writes it; "" if there is none.

    label : lower-case
    """
    codec = _COMMON.get(label)
    if codec is None and label:
        from nbspam.mail.aliases import CODECS  # rare names

        words = label.replace("_", "-").replace('"', " ").replace("'", " ").replace(";", " ").split()
        name = words[0].partition("*")[0] if words else ""
        name = name.partition(":")[0]  # of iso_8859-5:1988, as IANA has it
        codec = CODECS.get(name) or CODECS.get(name.removeprefix("charset="))
    return codec or ""


def charset_of_page(payload: bytes) -> str:
    """The charset an HTML page names for itself, "" if none."""
    head = payload[:2048].lower()
    start = head.find(b"charset=")
    if start < 0 or b"<meta" not in head:
        return ""
    words = head[start + 8 : start + 60].replace(b'"', b" ").replace(b"'", b" ").replace(b">", b" ").split()
    return words[0].decode("latin-1") if words else ""


def decode(payload: bytes, label: str, allowance: Allowance) -> tuple[str, str]:
    """(text, codec used) of bytes declared as `label` (lower-case, "" if nothing is declared)."""
    codec = _COMMON.get(label, "")
    if not codec and label:
        codec = canonical(label)
        if not codec and label.replace("_", "-") not in _EMPTY:
            allowance.note("unknown-charset")
    if (
        payload.isascii()
        and codec not in _STATEFUL
        and b"\x1b" not in payload  # one-byte searches: they run as memchr
        and b"\0" not in payload
        and (b"~" not in payload or b"~{" not in payload)
    ):
        return payload.decode("ascii"), codec or "ascii"
    text, codec = _decode_hard(payload, codec, allowance)
    if "\0" in text:
        allowance.note("nul")
        text = text.replace("\0", "")
    return text.removeprefix("\ufeff"), codec


def decode_with(codec: str, payload: bytes) -> str:
    """Decode, errors replaced."""
    if codec == "cp1252":
        return _decode_cp1252(payload)
    if codec.startswith(_JAPANESE):
        from nbspam.mail.japanese import AS_WINDOWS  # rare

        return payload.decode(codec, AS_WINDOWS)
    return payload.decode(codec, "replace")


def with_halves_joined(text: str) -> str:
    """Characters that came as the two halves of UTF-16 as one; a half alone is none."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decode_cp1252(payload: bytes) -> str:
    """windows-1252 as browsers have it, see WINDOWS_C1."""
    text = payload.decode("latin-1")
    if len(payload.translate(None, _C1)) == len(payload):
        return text
    from nbspam.mail.aliases import CP1252, charmap_decode

    return charmap_decode(payload, "strict", CP1252)[0]


def decode_raw(payload: bytes, allowance: Allowance) -> str:
    """Raw 8-bit text of a header: UTF-8, else a guess."""
    return decode(payload, "", allowance)[0]


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
    return _guess(payload, allowance)


def _decode_hard(payload: bytes, codec: str, allowance: Allowance) -> tuple[str, str]:
    seen = _by_signature(payload, codec)
    if seen in _ESCAPED:
        text = _nearly_sound(payload, seen)
        if text is not None:
            return text, seen
    elif seen:
        return decode_with(seen, payload), seen
    if payload.isascii() and codec not in _STATEFUL:
        return payload.decode("ascii"), codec or "ascii"
    if codec in ("utf-16", "utf-32"):
        codec = _byte_order(payload, codec)
    if codec.startswith(_TAKING_ALL):
        text = _strict(payload, "utf-8")
        if text is not None:
            allowance.note("bad-charset")
            return text, "utf-8"
    for candidate in (codec, "utf-8"):
        text = _strict(payload, candidate) if candidate and candidate != "ascii" else None
        if text is not None:
            return text, candidate
        if candidate.startswith(_ISO_2022):  # before UTF-8: it is ASCII
            text = _nearly_sound(payload, candidate)
            if text is not None:
                return text, candidate
    allowance.note("bad-charset" if codec not in ("", "ascii") else "no-charset")
    if codec not in ("", "ascii"):
        text = decode_with(codec, payload)
        broken = text.count("\ufffd")
        high = len(text) - len(text.encode("ascii", "ignore"))
        if codec != "utf-8" or broken * 10 <= high:
            return text, codec
    codec = _guess(payload, allowance)
    return decode_with(codec, payload), codec


def _strict(payload: bytes, codec: str) -> str | None:
    if codec == "cp1252":
        return decode_with(codec, payload)
    try:
        return payload.decode(codec)
    except UnicodeError:
        return None


def _nearly_sound(payload: bytes, codec: str) -> str | None:
    """The text if it decodes, but for one in ten of the characters that are not ASCII."""
    text = decode_with(codec, payload)
    high = len(text) - len(text.encode("ascii", "ignore"))
    if text.count("\ufffd") * 10 > high or (codec == "hz" and _strict(payload, codec) is None):
        return None
    return text


def _by_signature(payload: bytes, codec: str) -> str:
    """The codec that a byte order mark, 7-bit escapes or zero bytes give away; "" if none."""
    if payload.startswith(b"\xef\xbb\xbf"):
        return "utf-8"
    if payload.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    marked = payload.startswith(UTF_16) and codec not in ("utf-32", "utf-32-le")
    if marked and _may_be_utf_16(payload, codec):
        return "utf-16"
    if b"\x1b$" in payload and codec not in _STATEFUL and codec != "utf-8":
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


def _may_be_utf_16(payload: bytes, codec: str) -> bool:
    """Whether bytes behind the mark of UTF-16 have its zeros: one, or one in fifty if declared otherwise.

    ASCII behind a false mark has none; a page of Chinese has one a line.
    """
    sample = payload[:2048]
    return codec.startswith("utf-16") or (
        b"\0" in payload if codec in ("", "ascii") else sample.count(0) * 50 >= len(sample)
    )


def _byte_order(payload: bytes, codec: str) -> str:
    """UTF-16 or UTF-32 without a mark: by the values of its bytes; ASCII is taken as it is."""
    if codec == "utf-32":
        return "utf-32-be" if payload[:1] == b"\0" else "utf-32-le"
    sample = payload[:2048]
    if b"\0" not in sample and sample.isascii():
        return "utf-8"
    # The high bytes of a text have fewer values than its low ones, in any script.
    return "utf-16-le" if len(set(sample[1::2])) < len(set(sample[::2])) else "utf-16-be"


def _guess(payload: bytes, allowance: Allowance) -> str:
    if not allowance.guesses:
        return "cp1252"
    allowance.guesses -= 1
    from nbspam.mail.guess import guess_codec  # most mail declares its charset

    return guess_codec(payload)
