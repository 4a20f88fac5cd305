"""Where a mail came from: whether the first host on its way that others can reach has a name.

Hides how mail servers write the host that handed a mail over (RFC 5321, 4.4 and what is really written).  Who
keeps a mail server gives its address a name in the DNS; most machines that send spam of their own have none,
or one that nobody asked for.  Fields below the sender's own server may be forged, those above are not.
Which hop, and what it is worth: docs/experiments/measures.md.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Message

MAX_HOPS = 50  # of the earliest
MAX_WORDS = 60  # of a field; what it says of the host stands first
_AROUND = dict.fromkeys(map(ord, "()[],;@"), " ")
_PRIVATE = ("0.", "10.", "127.", "169.254.", "192.168.", *(f"172.{n}." for n in range(16, 32)))
_PRIVATE_BYTES = (b"\xfc", b"\xfd", b"\xfe\x80", bytes(15))  # unique local, link local, loopback


def unnamed_origin(message: Message) -> float | None:
    """Whether the earliest host with a public address in Received has no name by that address.

    None if all of them are private; 0 of a mail without Received, which says nothing of its way.
    """
    fields = [value for name, value in message.headers if name == "received"]
    for text in fields[: -MAX_HOPS - 1 : -1]:
        name = _name_of_public(text)
        if name is not None:
            return float(not name)
    return None if fields else 0.0


def _name_of_public(field: str) -> str | None:
    """The name by address of the host that handed over, empty if it has none; None if it is not public."""
    words = field.lower().split(None, MAX_WORDS)[:MAX_WORDS]
    if words[:1] != ["from"]:
        return None
    said = words[1 : words.index("by") if "by" in words else MAX_WORDS]
    clause = " ".join(said).replace("helo=[", "helo=")
    addresses = [word for word in clause.translate(_AROUND).split() if _is_address(word)]
    if not addresses or _is_private(addresses[-1]):
        return None
    first = said[0]
    if "(exim" in words or "(helo" in clause or "(ehlo" in clause or "helo=" in clause:  # by address first
        name = first
    else:  # from what it calls itself (its name by address [address])
        name = clause.rpartition("[")[0].rpartition("(")[2] if "[" in clause else first
    name = name.rpartition("@")[2].strip(" .")
    return "" if name == "unknown" or name[:1] == "[" or _is_address(name) else name


def _is_address(word: str) -> bool:
    if word.count(".") == 3 and word.replace(".", "").isdigit():
        return all(len(part) <= 3 for part in word.split("."))
    return word.count(":") > 1 and _packed(word) is not None


def _is_private(address: str) -> bool:
    if ":" not in address:
        return address.startswith(_PRIVATE)
    from nbspam.tokens.trace import mapped_address

    packed = _packed(address) or b""
    return packed.startswith(_PRIVATE_BYTES) or mapped_address(packed).startswith(_PRIVATE)


def _packed(address: str) -> bytes | None:
    from nbspam.tokens.trace import packed_address  # not paid for by mail without IPv6

    return packed_address(address.removeprefix("ipv6:"))
