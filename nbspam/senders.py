"""Senders whom a user allows or denies, and what proves who sent a message.

An allowed name counts only where the user's own mail server has verified it: anybody can write any From.
A denied name needs no proof.  All is read from the raw header, so no encoded word can pass for an address.
Source: RFC 5322, 3.2 and 3.4 (comments, quoted strings, addresses); RFC 8601, 2.2 (Authentication-Results).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nbspam.labels import ALLOWED, DENIED
from nbspam.tokens import find_fields

Find = Callable[[Sequence[str]], Mapping[str, tuple[str, int]]]

MAX_VALUE_BYTES = 10_000  # of a field that is read; a longer one is read as if it were damaged
MAX_DOMAIN_LENGTH = 253  # RFC 1035, 2.3.4, without the last dot
_FROM, _RESULTS = "from", "authentication-results"
# method -> the property that names what the method verified
_VERIFIES = {"dmarc": "header.from", "dkim": "header.d", "spf": "smtp.mailfrom"}


def judge_sender(data: bytes, find: Find, servers: Iterable[str]) -> tuple[str, str]:
    """(ALLOWED, DENIED or "", the name that decides) for a message, by its header.

    find    : of some addresses and domains, which the user has named: name -> (decision, needs it proof)
    servers : names of the user's own mail servers, lower-case (authserv-id)
    """
    fields = read_fields(data, (_FROM, _RESULTS))
    values = [value for name, value in fields if name == _FROM]
    addresses = [*dict.fromkeys(fold_address(text) for value in values for text in split_mailboxes(value))]
    entries = [find_entry(address, find) for address in addresses]
    denied = [name for name, decision, _ in entries if decision == DENIED]
    if denied:
        return DENIED, denied[0]
    if len(values) == len(entries) == 1:
        name, decision, needs_proof = entries[0]
        domain = addresses[0].rpartition("@")[2]
        if decision == ALLOWED and (not needs_proof or is_verified(domain, fields, servers)):
            return ALLOWED, name
    return "", ""


def find_entry(address: str, find: Find) -> tuple[str, str, int]:
    """(name, decision, needs it proof) of an address, else of its domain, else of the next domain above."""
    names = [address, *list_domains(address.rpartition("@")[2])] if address else []
    entries = find(names)
    return next(((name, *entries[name]) for name in names if name in entries), ("", "", 0))


def is_verified(domain: str, fields: Iterable[tuple[str, str]], servers: Iterable[str]) -> bool:
    """True if the topmost results of an own server prove that mail is of this domain."""
    for name, value in fields:
        if name == _RESULTS:
            server, *results = split_results(value)
            if server and server[0].lower() in servers:
                return any(proves(words, domain) for words in results)
    return False


def read_fields(data: bytes, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """(lower-case name, plain text) of the fields of these names, see read_plain."""
    fields = []
    for start, stop, name in find_fields(data)[1]:
        if name in names:
            value = data[start:stop].partition(b":")[2]
            text = value.decode("utf-8", "replace")
            plain = read_plain(text) if len(value) <= MAX_VALUE_BYTES else ""
            fields.append((name, plain if plain or name != _FROM else _read_damaged(text)))
    return fields


def _read_damaged(value: str) -> str:
    """All that can be an address in a From that breaks the rules: it may be denied, and is never allowed.

    The first in the list is no address, so none is the only one.
    """
    words = "".join(" " if character in '<>(),:;"' else character for character in value).split()
    return ",".join(["?@", *words])


def read_plain(value: str) -> str:
    """A raw value without its comments, line ends and quotes; "" if it breaks these rules.

    A character of a quoted string that has a meaning outside is replaced, so that it has none here.
    """
    kept: list[str] = []
    unfolded = value.replace("\r", "").replace("\n", "").replace("\t", " ")
    depth, is_quoted, characters = 0, False, iter(unfolded)
    for character in characters:
        if character == "\\" and (depth or is_quoted):
            character = next(characters, "")
            kept += [] if depth else [_without_meaning(character)]
        elif character == '"' and not depth:
            is_quoted = not is_quoted
        elif is_quoted:
            kept.append(_without_meaning(character))
        elif character in "()":
            depth += 1 if character == "(" else -1
            kept.append(" ")
            if depth < 0:
                break
        elif not depth:
            kept.append(character)
    text = "".join(kept)
    return "" if is_quoted or depth or "\0" in text else text


def _without_meaning(character: str) -> str:
    return "?" if character in ' <>(),:;@=\\"' else character


def split_mailboxes(text: str) -> list[str]:
    """All that can be an address in a list of mailboxes: in a name or a route, and after an address, too."""
    for mark in "<>:;":
        text = text.replace(mark, ",")
    return [part.strip() for part in text.split(",") if "@" in part]


def split_results(text: str) -> list[list[str]]:
    """The words of each part of Authentication-Results: the server's name and version, then each result."""
    for mark in "=/":
        text = mark.join(piece.strip() for piece in text.split(mark))
    return [part.split() for part in text.split(";")]


def proves(words: list[str], domain: str) -> bool:
    """True if a result, such as `dkim=pass header.d=example.org`, proves that mail is of this domain."""
    method, _, result = (words or [""])[0].lower().partition("=")
    method = method.partition("/")[0]  # its version
    if result != "pass" or method not in _VERIFIES:
        return False
    pairs = [word.partition("=") for word in words[1:]]
    values = [value.strip("<>") for name, _, value in pairs if name.lower() == _VERIFIES[method]]
    verified = [value.rpartition("@")[2] for value in values]
    if method == "dmarc" and not verified:
        return True  # it is about From, whether it names that or not
    return len(verified) == 1 and fold_domain(verified[0]) in list_domains(domain)


def list_domains(domain: str) -> list[str]:
    """A domain and those above it of at least two labels: `a.b.example` and `b.example`."""
    labels = domain.split(".")
    return [".".join(labels[first:]) for first in range(len(labels) - 1)]


def fold_address(text: str) -> str:
    """An address in lower case, its domain as fold_domain gives it; "" for other text."""
    local, _, domain = text.rpartition("@")
    local, domain = local.rstrip(), fold_domain(domain.lstrip())
    is_sound = local and domain and local.isprintable() and not set(local) & set(' @<>"')
    return f"{local.lower()}@{domain}" if is_sound else ""


def fold_domain(text: str) -> str:
    """A domain of at least two labels in lower case and ASCII (IDNA 2003); "" for other text."""
    text = text.lower().removesuffix(".")
    if len(text) > MAX_DOMAIN_LENGTH:
        return ""
    if not text.isascii():
        try:
            text = text.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    labels = text.split(".")
    is_sound = len(labels) > 1 and all(
        0 < len(label) < 64 and label.replace("-", "").replace("_", "").isalnum() for label in labels
    )
    return text if is_sound else ""
