"""Where a mail came from: does the first host on its way that others can reach have a name?

A mail server writes into Received who handed the message over, with the name that the DNS has for the
address.  People who keep a mail server give its address a name; most machines that send spam of their own
have none.  The fields below the sender's own server may be forged, those above it are not.
Source: RFC 5321, 4.4, and what Sendmail, Postfix, qmail, Exim and Exchange write.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Message

MAX_HOPS = 50  # of the earliest
MAX_WORDS = 60  # of a field; the host comes first
_PUNCTUATION = dict.fromkeys(map(ord, "()[],;@"), " ")
_PRIVATE = ("0.", "10.", "127.", "169.254.", "192.168.", *(f"172.{n}." for n in range(16, 32)))
_PRIVATE_BYTES = (b"\xfc", b"\xfd", b"\xfe\x80", bytes(15))  # unique local, link local, loopback
_MAPPED = bytes(10) + b"\xff\xff"  # ::ffff:192.0.2.7 is 192.0.2.7


def unnamed_origin(message: Message) -> float | None:
    """1 if the earliest host with a public address in Received has no name by that address, else 0.

    None if all addresses are private; 0 for mail without Received, which says nothing of its way.
    """
    fields = [value for name, value in message.headers if name == "received"]
    for text in fields[: -MAX_HOPS - 1 : -1]:
        name = _name_of_public(text)
        if name is not None:
            return float(not name)
    return None if fields else 0.0


def _name_of_public(field: str) -> str | None:
    """The name of the host that handed the message over, "" if it has none; None if it is not public."""
    words = field.lower().split(None, MAX_WORDS)[:MAX_WORDS]
    if words[:1] != ["from"]:
        return None
    said = words[1 : words.index("by") if "by" in words else MAX_WORDS]
    clause = " ".join(said).replace("helo=[", "helo=")
    addresses = [word for word in clause.translate(_PUNCTUATION).split() if _is_address(word)]
    if not addresses or _is_private(addresses[-1]):
        return None
    name = said[0]
    is_by_address = "(exim" in words or "(helo" in clause or "(ehlo" in clause or "helo=" in clause
    if not is_by_address and "[" in clause:  # from what it calls itself (its name by address [address])
        name = clause.rpartition("[")[0].rpartition("(")[2]
    name = name.rpartition("@")[2].strip(" .")
    return "" if name == "unknown" or name[:1] == "[" or _is_address(name) else name


def _is_address(word: str) -> bool:
    if word.count(".") == 3 and word.replace(".", "").isdigit():
        return all(len(part) <= 3 for part in word.split("."))
    return word.count(":") > 1 and bool(_packed(word))


def _is_private(address: str) -> bool:
    if ":" not in address:
        return address.startswith(_PRIVATE)
    packed = _packed(address)
    if packed.startswith(_MAPPED):
        return ".".join(map(str, packed[len(_MAPPED) :])).startswith(_PRIVATE)
    return packed.startswith(_PRIVATE_BYTES)


def _packed(address: str) -> bytes:
    """The sixteen bytes of an IPv6 address; b"" if it is not one."""
    from _socket import AF_INET6, inet_pton  # `ipaddress` and `socket` cost a fresh process milliseconds

    try:
        return inet_pton(AF_INET6, address.removeprefix("ipv6:"))
    except (OSError, ValueError):
        return b""
