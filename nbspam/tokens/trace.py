"""What mail of today has in its trace fields: addresses of IPv6, and results of authentication.

Hides how an address (RFC 4291, 2.2) and a result (RFC 8601, 2.2) may be written.  Loaded only for a message
that has one of them.
"""

from __future__ import annotations

from nbspam.tokens.words import parents

MAX_NETWORKS = 200  # tokens of a field; real ones have four or eight
MAX_RESULTS = 30
MAX_RESULT = 20  # letters of a method, and of a result
NETWORKS = (4, 3, 2)  # groups: /64 is a line or a machine, /48 a customer, /32 a provider
_MAPPED = bytes(10) + b"\xff\xff"  # ::ffff:192.0.2.7 is 192.0.2.7
_AROUND = dict.fromkeys(map(ord, "[](){}<>=,;\"'/%"), " ")
_COMMENTS = dict.fromkeys(map(ord, "();,"), " ")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz-")


def networks(text: str) -> list[str]:
    """The IPv6 addresses of a text, each with the networks that it is in."""
    found: list[str] = []
    for chunk in text.lower().translate(_AROUND).split():
        if ":" in chunk:
            found.extend(address_tokens(chunk.removeprefix("ipv6:").strip(".")))
        if len(found) >= MAX_NETWORKS:
            break
    return found


def address_tokens(address: str) -> list[str]:
    """2001:db8::7 -> 2001:db8:0:0:0:0:0:7, 2001:db8:0:0, 2001:db8:0, 2001:db8.

    A mapped address as one of IPv4; of what is no address nothing.
    """
    packed = packed_address(address)
    if packed is None:
        return []
    mapped = mapped_address(packed)
    if mapped:
        return parents(mapped)
    names = [
        format(first << 8 | second, "x") for first, second in zip(packed[::2], packed[1::2], strict=True)
    ]
    return [":".join(names), *(":".join(names[:size]) for size in NETWORKS)]


def packed_address(address: str) -> bytes | None:
    """The sixteen bytes of an address; None where it is none."""
    # Not `ipaddress` or `socket`, which cost a fresh process some milliseconds.
    from _socket import AF_INET6, inet_pton

    try:
        return inet_pton(AF_INET6, address)
    except (OSError, ValueError):
        return None


def mapped_address(packed: bytes) -> str:
    """192.0.2.7 of the bytes of ::ffff:192.0.2.7; "" of those that are no mapped address."""
    return ".".join(map(str, packed[len(_MAPPED) :])) if packed.startswith(_MAPPED) else ""


def results(text: str) -> list[str]:
    """spf=fail, dkim=pass and their like: by its words alone nobody knows which of them failed."""
    pieces = text.lower().translate(_COMMENTS).split()
    pairs = [piece.partition("=") for piece in pieces if "=" in piece]
    known = [f"{method}={result}" for method, _, result in pairs if _is_word(method) and _is_word(result)]
    return known[:MAX_RESULTS]


def _is_word(text: str) -> bool:
    return 0 < len(text) <= MAX_RESULT and _LETTERS.issuperset(text)
