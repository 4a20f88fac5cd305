"""RFC 2047: encoded words of header fields.

As tolerant as mail programs: words may be inside quotes, glued to text or contain blanks, base64 may be
broken, and a character may be cut between two words: the bytes of neighbours in one charset are joined
before they are decoded.
"""

import binascii
import re

from nbspam.limits import Allowance
from nbspam.mail.charset import decode, decode_raw
from nbspam.mail.transfer import decode_base64

_BEGIN = re.compile(r"=\?[^?]{0,77}\?[bq]\?", re.IGNORECASE)


def decode_words(value: str, allowance: Allowance) -> str:
    """The value with its encoded words decoded; the charset of other 8-bit text is guessed.

    value : Latin-1 code points, one for each byte
    Source: RFC 2047, section 6.2; RFC 2231, section 5 (language suffix).
    """
    out: list[str] = []
    run: list[bytes] = []  # payloads of neighbouring words
    run_charset = ""
    position = 0
    while allowance.encoded_words and (span := _find_word(value, position)):
        start, stop = span
        charset, payload = _decode_word(value[start:stop], allowance)
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


def _find_word(value: str, position: int) -> tuple[int, int] | None:
    """(start, stop) of the next encoded word."""
    begin = _BEGIN.search(value, position)
    stop = value.find("?=", begin.end()) if begin else -1
    return (begin.start(), stop + 2) if begin and stop >= 0 else None


def _decode_word(word: str, allowance: Allowance) -> tuple[str, bytes]:
    """(lower-case charset, bytes) of `=?charset?q?text?=`."""
    charset, encoding, text = word[2:-2].split("?", 2)
    charset = charset.partition("*")[0].strip().lower()
    payload = text.encode("latin-1")
    is_base64 = encoding in ("b", "B")
    return charset, decode_base64(payload, allowance) if is_base64 else binascii.a2b_qp(payload, header=True)


def _decode_run(run: list[bytes], charset: str, allowance: Allowance) -> str:
    return decode(b"".join(run), charset, allowance)[0].replace("\r", " ").replace("\n", " ")


def _decode_plain(text: str, allowance: Allowance) -> str:
    return decode_raw(text.encode("latin-1"), "", allowance)
