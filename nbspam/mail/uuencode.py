"""Uuencoded files: as a transfer encoding, and inside the text of a mail, where yEnc may be, too.

Imported only for such mail.
"""

import binascii
import re

from nbspam.limits import MAX_UU_BLOCKS, Allowance

_BEGIN = re.compile(rb"^begin [ \t\r\v\f]{0,280}[0-9]{3,4}(?!\S)", re.MULTILINE)
_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x0e\x0f\x1b"))  # ISO-2022 has the last three


def decode_uuencode(payload: bytes, allowance: Allowance) -> bytes:
    """The first uuencoded file of a payload, or else the payload."""
    begin = _find_begin(payload, 0)
    if begin < 0:
        allowance.note("bad-uuencode")
        return payload
    return _decode_lines(payload, _find_line_end(payload, begin), allowance)[0]


def take_out_files(payload: bytes, allowance: Allowance) -> tuple[bytes, list[tuple[str, bytes]]]:
    """(text without its encoded files, [(file name, perhaps "", and contents)]); files of yEnc are not read.

    Lines that are mostly capital letters can be uuencoded data as well as words, so they stay in the text.
    """
    kept: list[bytes] = []
    files: list[tuple[str, bytes]] = []
    position = 0
    begin = _find_begin(payload, 0)
    while begin >= 0 and len(files) < MAX_UU_BLOCKS and allowance.uu_lines > 0:
        head_end = _find_line_end(payload, begin)
        contents, stop = _decode_lines(payload, head_end, allowance)
        if contents:
            name = b"".join(payload[begin:head_end].split(None, 2)[2:])
            files.append((name.strip().decode("latin-1"), contents))
            lines = payload[head_end:stop]
            capitals = len(lines) - len(lines.translate(None, _CAPITALS))
            if capitals * 5 < len(lines) * 3:  # of encoded data, two in five characters are capitals
                kept.append(payload[position:begin])
                position = stop
        begin = _find_begin(payload, stop)
    kept.append(payload[position:])
    text = b"".join(kept)
    return _remove_yenc(text) if b"=ybegin " in text else text, files


def _remove_yenc(text: bytes) -> bytes:
    """The text without data in yEnc.  Lines without control characters are words, so they stay.

    Source: yenc.org, draft 1.3.
    """
    first, *pieces = (b"\n" + text).split(b"\n=ybegin ", MAX_UU_BLOCKS)
    kept = [first]
    for piece in pieces:
        encoded, _, rest = piece.partition(b"\n=yend ")
        words = encoded.translate(None, _CONTROLS)
        is_data = len(words) * 20 < len(encoded) * 19  # one in ten is a control character
        kept.append(b"\n" + rest.partition(b"\n")[2] if is_data else b"\n=ybegin " + piece)
    return b"".join(kept)[1:]


def _find_line_end(payload: bytes, start: int) -> int:
    stop = payload.find(b"\n", start)
    return stop + 1 if stop >= 0 else len(payload)


def _find_begin(payload: bytes, position: int) -> int:
    """Offset of the next line "begin MODE NAME", perhaps without a name, or -1."""
    begin = _BEGIN.search(payload, position)
    return begin.start() if begin else -1


def _decode_lines(payload: bytes, position: int, allowance: Allowance) -> tuple[bytes, int]:
    """(decoded bytes, offset after the `end` line) of the lines from `position` on."""
    chunks: list[bytes] = []
    while position < len(payload) and allowance.uu_lines > 0:
        stop = _find_line_end(payload, position)
        line = payload[position:stop].rstrip(b"\r\n")
        allowance.uu_lines -= 1
        if line == b"end":
            return b"".join(chunks), stop
        if line:
            # Some encoders write more characters than the first one says.
            needed = ((line[0] - 32 & 63) * 4 + 5) // 3
            try:
                chunks.append(binascii.a2b_uu(line[:needed] if len(line) <= needed + 4 else line))
            except binascii.Error:
                allowance.note("bad-uuencode")  # text, without an `end` before it
                break
        position = stop
    return b"".join(chunks), position
