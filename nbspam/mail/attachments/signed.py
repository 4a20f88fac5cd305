"""Opaque S/MIME: the message in signed data.  Source: RFC 8551, 3.5.2; RFC 5652, 5.2; X.690, 8.1.3, 8.7."""

_SIGNED_DATA, _DATA = bytes.fromhex("06092a864886f70d010702"), bytes.fromhex("06092a864886f70d010701")
_STRING, _STRINGS, _EXPLICIT = 0x04, 0x24, 0xA0
_LONG = 0x80  # this bit: how many bytes of length follow; none if the end is marked


def read_signed(payload: bytes) -> bytes:
    """The bytes that are signed; b"" if it is something else, as encrypted data."""
    before, _, content = payload.partition(_DATA)
    pieces: list[bytes] = []
    at = 0 if _SIGNED_DATA in before else len(content)
    while at + 1 < len(content) and content[at] in (_STRING, _STRINGS, _EXPLICIT):
        tag, size = content[at], content[at + 1]
        begin = at + 2 + (size & ~_LONG if size & _LONG else 0)
        size = int.from_bytes(content[at + 2 : begin], "big") if size & _LONG else size
        at = begin + size if tag == _STRING else begin  # the others are entered
        if tag == _STRING:
            pieces.append(content[begin:at])
    return b"".join(pieces)
