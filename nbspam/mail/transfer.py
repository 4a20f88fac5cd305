"""Content-Transfer-Encoding: the bytes that were sent to the bytes that were meant.

Nothing raises.  As in mail programs, broken quoted-printable stays as it is, and broken base64 is left out.
"""

import binascii

from nbspam.limits import MAX_BASE64_RUNS, Allowance
from nbspam.tables import read_table

_UUENCODE = frozenset(read_table("kinds")["uuencode"])
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NOT_BASE64 = bytes(byte for byte in range(256) if byte not in _BASE64)
_NOT_BASE64_TEXT = bytes(byte for byte in _NOT_BASE64 if byte not in b"\t\n\r =")
_HEX = b"0123456789abcdefABCDEF"


def normalise_encoding(value: str) -> str:
    """The usual name of a Content-Transfer-Encoding: lower-case, without comment or junk."""
    name = value.lower().partition(";")[0].partition("(")[0].strip(" \t\"'")
    if name.startswith("quoted"):
        return "quoted-printable"
    if name.startswith(("base64", "base-64")):
        return "base64"
    return {"7-bit": "7bit", "8-bit": "8bit", "7bits": "7bit", "8bits": "8bit"}.get(name, name)


def decode_transfer(payload: bytes, encoding: str, allowance: Allowance) -> bytes:
    """The decoded payload; the same bytes if the encoding is unknown.

    encoding : one that changes bytes, see leaf.IDENTITY
    """
    if encoding == "quoted-printable":
        return decode_quoted_printable(payload)
    if encoding == "base64":
        return decode_base64(payload, allowance)
    if encoding in _UUENCODE:
        from nbspam.mail.uuencode import decode_uuencode  # rare

        return decode_uuencode(payload, allowance)
    allowance.note("unknown-encoding")
    return payload


def decode_quoted_printable(payload: bytes) -> bytes:
    """Quoted-printable; bad escapes stay, blanks after a soft line break are ignored."""
    if b"= " in payload or b"=\t" in payload:
        payload = b"\n".join([line.rstrip(b" \t") for line in payload.split(b"\n")])
    return binascii.a2b_qp(payload)


def decode_base64(payload: bytes, allowance: Allowance) -> bytes:
    """Base64, also with foreign characters, wrong padding, a footer, or more base64 after the padding.

    Words stay as they are: one in twelve of their bytes is a blank or foreign.
    """
    start = payload.lstrip().partition(b"\n")[0].rstrip()
    foreign = len(payload) - len(payload.translate(None, _NOT_BASE64_TEXT)) + payload.count(b" ")
    if foreign > max(3, len(payload) // 12) and (len(start) % 4 or b" " in start or _is_text(start)):
        allowance.note("bad-base64")
        return payload
    gap = payload.find(b"\n\n", 1)
    if gap > 0 and _is_mostly_text(payload[gap:]):  # the footer of a mailing list
        allowance.note("text-after-base64")
        payload = payload[:gap]
    pad = payload.find(b"=")
    if pad < 0 or len(payload.rstrip()) - pad <= 2:
        try:
            return binascii.a2b_base64(payload)
        except binascii.Error:
            allowance.note("bad-base64")
            return decode_base64_run(payload)
    allowance.note("bad-base64")
    runs = [run for run in payload.split(b"=", MAX_BASE64_RUNS) if run.strip()]
    kept = runs[:1] + [run for run in runs[1:] if not _is_mostly_text(run)]
    return b"".join(map(decode_base64_run, kept))


def decode_base64_run(payload: bytes) -> bytes:
    """Base64 without padding; foreign characters and a single last letter are ignored."""
    letters = payload.translate(None, _NOT_BASE64)
    if len(letters) % 4 == 1:
        letters = letters[:-1]
    return binascii.a2b_base64(letters + b"==")


def decode_percent(data: bytes) -> bytes:
    """Bytes written as %2F; any other percent sign stays."""
    first, *pieces = data.split(b"%")
    decoded = [first]
    for piece in pieces:
        digits = piece[:2]
        if len(digits) == 2 and not digits.strip(_HEX):  # fromhex() would skip blanks
            decoded.append(bytes.fromhex(digits.decode("ascii")) + piece[2:])
        else:
            decoded.append(b"%" + piece)
    return b"".join(decoded)


def _is_text(payload: bytes) -> bool:
    """True if there are characters that base64 does not have."""
    return len(payload.translate(None, _NOT_BASE64_TEXT)) != len(payload)


def _is_mostly_text(payload: bytes) -> bool:
    """True if it is text, and less than half of it is in lines that can be base64."""
    if not _is_text(payload):
        return False
    lines = [line.strip() for line in payload.split(b"\n")]
    encoded = [len(line) for line in lines if b" " not in line and not _is_text(line)]
    return sum(encoded) * 2 < sum(map(len, lines))
