"""Addresses of hosts in numbers, read alike everywhere: C libraries differ."""

_MAX_DIGITS = 40  # of a number; browsers and C libraries allow leading zeros


def normalise_ipv4(host: str) -> str:
    """The dotted form of an IPv4 address as browsers read it; other text as it is.

    0xc0.0x207 and 3221225991 are 192.0.2.7.  Source: WHATWG URL, 3.5, "IPv4 parser".
    """
    parts = host.split(".")
    if len(parts) > 4:
        return host
    try:
        *first, last = map(_read_number, parts)
    except ValueError:
        return host
    if last >= 256 ** (5 - len(parts)) or max(first, default=0) > 255:
        return host
    packed = bytes(first) + last.to_bytes(4 - len(first), "big")
    return ".".join(map(str, packed))


def _read_number(text: str) -> int:
    """A hexadecimal (0x1f), octal (017) or decimal number; ValueError for other text."""
    is_plain = text.isascii() and text.isalnum()  # int() takes blanks, signs and _
    if not is_plain or len(text) > _MAX_DIGITS:
        raise ValueError(text)
    if text[:2].lower() == "0x":
        return int(text[2:] or "0", 16)
    return int(text, 8 if text[0] == "0" else 10)
