"""RFC 2047: encoded words of header fields.

As tolerant as mail programs: words may be inside quotes, glued to text or contain blanks, base64 may be
broken, and a character may be cut between two words: the bytes of neighbours in one charset are joined
before they are decoded.
"""

from __future__ import annotations

import binascii

from nbspam.mail.charset import decode
from nbspam.mail.transfer import decode_base64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

_MAX_CHARSET_CHARACTERS = 77


def decode_words(value: str, allowance: Allowance) -> str:
    """The value with its encoded words decoded; the charset of other 8-bit text is guessed.

    value : Latin-1 code points, one for each byte
    Source: RFC 2047, section 6.2; RFC 2231, section 5 (language suffix).
    """
    out: list[str] = []
    run: list[bytes] = []  # payloads of neighbouring words
    run_charset = ""
    position = 0
    while allowance.encoded_words:
        word = _find_word(value, position, allowance)
        if word is None:
            break
        start, stop, charset, payload = word
        allowance.encoded_words -= 1
        gap = value[position:start]
        if run and (charset != run_charset or gap.strip(" \t")):
            out.append(_decode_run(run, run_charset, allowance))
            run = []
            gap = gap if gap.strip(" \t") else ""
        if not run:
            out.append(_decode_plain(gap, allowance))
        run.append(payload)
        run_charset = charset
        position = stop
    if run:
        out.append(_decode_run(run, run_charset, allowance))
    out.append(_decode_plain(value[position:], allowance))
    return "".join(out)


def _find_word(value: str, position: int, allowance: Allowance) -> tuple[int, int, str, bytes] | None:
    """(start, stop, charset, decoded bytes) of the next encoded word."""
    start = value.find("=?", position)
    while start >= 0:
        mark = value.find("?", start + 2)
        if mark < 0:
            return None
        encoding = value[mark + 1 : mark + 3].lower()
        if encoding in ("q?", "b?") and mark - start - 2 <= _MAX_CHARSET_CHARACTERS:
            stop = value.find("?=", mark + 3)
            if stop < 0:
                return None
            charset = value[start + 2 : mark].partition("*")[0].strip().lower()
            payload = value[mark + 3 : stop].encode("latin-1")
            if encoding == "b?":
                return start, stop + 2, charset, decode_base64(payload, allowance)
            return start, stop + 2, charset, binascii.a2b_qp(payload, header=True)
        start = value.find("=?", start + 2)
    return None


def _decode_run(run: list[bytes], charset: str, allowance: Allowance) -> str:
    return decode(b"".join(run), charset, allowance)[0].replace("\r", " ").replace("\n", " ")


def _decode_plain(text: str, allowance: Allowance) -> str:
    return text if text.isascii() else decode(text.encode("latin-1"), "", allowance)[0]
