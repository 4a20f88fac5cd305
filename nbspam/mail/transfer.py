"""Content-Transfer-Encoding: bytes on the wire to the bytes that were meant.

Hides how broken quoted-printable, base64 and uuencode may be.  Nothing raises; what cannot be
decoded is left out (base64, uuencode) or left as it stands (quoted-printable), as readers do.
"""

from __future__ import annotations

import binascii

from nbspam.mail.limits import MAX_BASE64_RUNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

_UUENCODE = frozenset(("x-uuencode", "uuencode", "x-uue", "uue", "x-uu"))
BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NOT_BASE64 = bytes(byte for byte in range(256) if byte not in BASE64)
_HEX = b"0123456789abcdefABCDEF"
_NOT_BASE64_TEXT = bytes(byte for byte in _NOT_BASE64 if byte not in b"\t\n\r =")


def encoding_name(value: str) -> str:
    """The canonical name of a Content-Transfer-Encoding field: lower-case, without comment or junk."""
    name = value.lower().partition(";")[0].partition("(")[0].strip(" \t\"'")
    if name.startswith("quoted"):
        return "quoted-printable"
    if name.startswith("base64") or name == "base-64":
        return "base64"
    return {"7-bit": "7bit", "8-bit": "8bit", "7bits": "7bit", "8bits": "8bit"}.get(name, name)


def decode_transfer(payload: bytes, encoding: str, allowance: Allowance) -> bytes:
    """The payload decoded, of an encoding that changes bytes; one that is unknown leaves it as it is."""
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
    """Quoted-printable, bad escapes kept as they stand, white space behind a soft break forgiven."""
    if b"= " in payload or b"=\t" in payload:
        payload = b"\n".join([line.rstrip(b" \t") for line in payload.split(b"\n")])
    return binascii.a2b_qp(payload)


def decode_base64(payload: bytes, allowance: Allowance) -> bytes:
    """Base64 with foreign characters, wrong padding, and further base64 behind the padding."""
    gap = payload.find(b"\n\n", 1)
    if gap > 0 and _is_mostly_text(payload[gap:]):  # the footer of a mailing list
        allowance.note("text-after-base64")
        payload = payload[:gap]
    pad = payload.find(b"=")
    if pad >= 0 and len(payload.rstrip()) - pad > 2:
        return _decode_base64_runs(payload, allowance)
    try:
        return binascii.a2b_base64(payload)
    except binascii.Error:
        allowance.note("bad-base64")
        return base64_run(payload)


def percent_decoded(data: bytes) -> bytes:
    """Bytes written as %2F; a percent sign that begins none stays."""
    first, *pieces = data.split(b"%")
    found = [first]
    for piece in pieces:
        digits = piece[:2]
        if len(digits) == 2 and not digits.strip(_HEX):  # fromhex() passes over blanks
            found.append(bytes.fromhex(digits.decode("ascii")) + piece[2:])
        else:
            found.append(b"%" + piece)
    return b"".join(found)


def _is_text(payload: bytes) -> bool:
    """Whether there are characters that base64 does not have."""
    return len(payload.translate(None, _NOT_BASE64_TEXT)) != len(payload)


def _is_mostly_text(payload: bytes) -> bool:
    """Whether it is text, and less than half of it stands in lines that can be base64."""
    if not _is_text(payload):
        return False
    lines = [line.strip() for line in payload.split(b"\n")]
    encoded = [len(line) for line in lines if b" " not in line and not _is_text(line)]
    return sum(encoded) * 2 < sum(map(len, lines))


def base64_run(payload: bytes) -> bytes:
    """Base64 without padding, its last incomplete group dropped or filled up."""
    letters = payload.translate(None, _NOT_BASE64)
    whole = len(letters) & ~3
    rest = letters[whole:]
    if len(rest) > 1:
        return binascii.a2b_base64(letters + b"==")
    return binascii.a2b_base64(letters[:whole])


def _decode_base64_runs(payload: bytes, allowance: Allowance) -> bytes:
    """Base64 texts one behind the other, each with its padding; text that is none is left out."""
    allowance.note("bad-base64")
    runs = [run for run in payload.split(b"=", MAX_BASE64_RUNS * 2) if run.strip()][:MAX_BASE64_RUNS]
    chunks = [base64_run(runs[0])] if runs else []
    for run in runs[1:]:
        if not _is_mostly_text(run):
            chunks.append(base64_run(run))
    return b"".join(chunks)
