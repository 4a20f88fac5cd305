"""RFC 2047: encoded words of header fields.

Hides the tolerance readers have: words inside quotes or glued to text, spaces inside a word,
broken base64, characters and even base64 quanta cut between two words.  Neighbours of one charset
are joined as bytes before the charset is decoded.
"""

from __future__ import annotations

import binascii

from nbspam.mail.charset import decode, decode_raw
from nbspam.mail.transfer import decode_base64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance


def decode_words(value: str, allowance: Allowance) -> str:
    """The value with its encoded words decoded; 8-bit text outside of them as `decode_raw` has it.

    value : str of Latin-1 code points (the bytes as they came)
    Source: RFC 2047, section 6.2; RFC 2231, section 5 (language suffix).
    """
    out: list[str] = []
    run: list[tuple[str, str]] = []  # (encoding, encoded text) of joined words
    run_charset = ""
    position = 0
    while allowance.encoded_words:
        word = _next_word(value, position)
        if word is None:
            break
        start, stop, charset, encoding, text = word
        allowance.encoded_words -= 1
        gap = value[position:start]
        if run and (charset != run_charset or gap.strip(" \t")):
            out.append(_decode_run(run, run_charset, allowance))
            run = []
            out.append(_plain(gap, allowance) if gap.strip(" \t") else "")
        elif not run:
            out.append(_plain(gap, allowance))
        run.append((encoding, text))
        run_charset = charset
        position = stop
    if run:
        out.append(_decode_run(run, run_charset, allowance))
    out.append(_plain(value[position:], allowance))
    return "".join(out)


def _next_word(value: str, position: int) -> tuple[int, int, str, str, str] | None:
    """(start, stop, charset, encoding, encoded text) of the next encoded word."""
    start = value.find("=?", position)
    while start >= 0:
        mark = value.find("?", start + 2)
        if mark < 0:
            return None
        encoding = value[mark + 1 : mark + 2].lower()
        if encoding in ("q", "b") and value[mark + 2 : mark + 3] == "?" and mark - start < 80:
            stop = value.find("?=", mark + 3)
            if stop < 0:
                return None
            charset = value[start + 2 : mark].partition("*")[0].strip().lower()
            return start, stop + 2, charset, encoding, value[mark + 3 : stop]
        start = value.find("=?", start + 2)
    return None


def _decode_run(run: list[tuple[str, str]], charset: str, allowance: Allowance) -> str:
    chunks: list[bytes] = []
    pending: list[str] = []
    for encoding, text in run:
        if encoding == "b":
            pending.append(text)
            if len(text) % 4 and not text.endswith("="):
                continue
        chunks.extend(_decode_base64(pending, allowance))
        pending.clear()
        if encoding != "b":
            chunks.append(binascii.a2b_qp(text.encode("latin-1"), header=True))
    chunks.extend(_decode_base64(pending, allowance))
    text = decode(b"".join(chunks), charset, allowance)[0]
    return text.replace("\r", " ").replace("\n", " ")


def _decode_base64(words: list[str], allowance: Allowance) -> list[bytes]:
    """Words joined, where that makes whole quanta; else their padding was left out, and each stands alone."""
    whole = "".join(words)
    pieces = words if len(whole) % 4 and len(words) > 1 else [whole]
    return [decode_base64(piece.encode("latin-1"), allowance) for piece in pieces if piece]


def _plain(text: str, allowance: Allowance) -> str:
    return text if text.isascii() else decode_raw(text.encode("latin-1"), allowance)
