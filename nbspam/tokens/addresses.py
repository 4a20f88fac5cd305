"""Addresses of hosts in numbers, read alike everywhere: C libraries differ, and `ipaddress` loads slowly."""

from __future__ import annotations

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
    if not (
        text.isascii() and text.isalnum() and len(text) <= _MAX_DIGITS
    ):  # int() takes blanks, signs and _
        raise ValueError(text)
    if text[:2].lower() == "0x":
        return int(text[2:] or "0", 16)
    return int(text, 8 if text[0] == "0" else 10)


def pack_ipv6(text: str) -> bytes:
    """The sixteen bytes of an IPv6 address; b"" if it is not one.  Source: RFC 4291, 2.2."""
    before, gap, after = text.partition("::")
    try:
        first, last = _pack_groups(before, may_end_dotted=not gap), _pack_groups(after, may_end_dotted=True)
    except ValueError:
        return b""
    missing = 16 - len(first) - len(last)
    return first + bytes(missing) + last if (missing >= 2 if gap else missing == 0) else b""


def _pack_groups(text: str, may_end_dotted: bool) -> bytes:
    """Two bytes a hexadecimal group, four of an IPv4 address at the end; ValueError for other text."""
    groups = text.split(":") if text else []
    dotted = groups.pop() if may_end_dotted and groups and groups[-1].count(".") == 3 else ""
    if not all(group.isascii() and group.isalnum() and len(group) <= 4 for group in groups):
        raise ValueError(text)
    if dotted != normalise_ipv4(dotted):
        raise ValueError(text)
    numbers = [int(group, 16).to_bytes(2, "big") for group in groups]
    return b"".join(numbers) + bytes(map(int, dotted.split(".") if dotted else ()))
