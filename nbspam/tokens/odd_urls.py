"""What stands in the addresses that few mails have: escapes, hosts in disguise, addresses inside of others.

Hides how often something is escaped, in which ways a number of a host may be written (URL Standard, 3.5), and
how one address carries another one, to which it sends the reader on.
"""

from __future__ import annotations

from nbspam.mail.transfer import base64_run, percent_decoded

MAX_ESCAPES = 2  # one in another: %252F
MAX_VALUES = 30  # of a query in which a host is looked for
MAX_INNER = 5  # addresses in one address that are read, and
MAX_ADDRESS = 2_000  # so many characters of each
MAX_HOST = 200  # characters in which the end of one is looked for
_HTTP_IN_BASE64 = "aHR0c"  # http and https
_JSON_IN_BASE64 = "eyJ"  # an object, {"
_COLON_IN_HYPHENS = "-3A__"  # of :// where % is written as - and / as _ (Proofpoint's first links)
_BEFORE_HOSTS = ("/amp/s/", "/amp/", "/c/s/", "/v/s/")  # in the path of one who shows pages of others
_HOST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._")
_PROGRAMS = frozenset(("php", "htm", "html", "shtml", "asp", "aspx", "jsp", "cgi", "dll", "exe", "pl"))
_ENDS = dict.fromkeys(map(ord, "&\"'<>;,#"), " ")  # of an address inside of another one


def unescaped(text: str) -> str:
    """The text with its escapes (%2F) decoded, as UTF-8."""
    for _ in range(MAX_ESCAPES):
        if "%" not in text:
            break
        text = percent_decoded(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    return text


def plain_host(host: str) -> str:
    """A host in lower case as a browser looks for it: its letters and dots made plain, its number as four."""
    name = unescaped(host) if "%" in host else host
    if "xn--" in name:
        from nbspam.tokens.foreign_hosts import in_letters  # rare

        name = in_letters(name)
    if not name.isascii():
        from nbspam.tokens.unicode_words import as_printed

        name = as_printed(name).replace("\u3002", ".")
    if name.isascii():
        name = name.lower().strip(".")
        if not _HOST.issuperset(name):
            return host
        return _address(name) if name[name.rfind(".") + 1 :][:1].isdigit() else name
    return "".join(name.split())  # NFKC may have made spaces


def copied_host(host: str) -> str:
    """The host whose pages another one shows: its first label, with `-` for a full stop and `--` for `-`."""
    return ".".join(
        [label.replace("\0", "-") for label in host.partition(".")[0].replace("--", "\0").split("-")]
    )


def _address(name: str) -> str:
    """127.0.0.1 for 0x7f.1, 0177.0.0.01 and 2130706433; anything else as it is."""
    parts = name.split(".")
    numbers = [_number(part) for part in parts]
    if len(parts) > 4 or None in numbers:
        return name
    values = [number for number in numbers if number is not None]
    if max(values[:-1], default=0) > 255 or values[-1] >= 256 ** (5 - len(values)):
        return name
    whole = sum(value << 8 * (3 - place) for place, value in enumerate(values[:-1])) + values[-1]
    return ".".join([str(whole >> shift & 255) for shift in (24, 16, 8, 0)])


def _number(part: str) -> int | None:
    base = 16 if part.startswith("0x") else 8 if part[:1] == "0" and part != "0" else 10
    digits = part[2:] if base == 16 else part
    if not digits.isalnum() or len(digits) > 40:  # int() would take an underscore
        return None
    try:
        return int(digits, base)
    except ValueError:
        return None


def inner_addresses(text: str, in_values: bool) -> list[str]:
    """What follows :// in a path or query, or in base64 in it; without the schemes.

    in_values : the values of a query, too, that begin with a host, and what a path says it is a copy of
    """
    found = text.split("://", MAX_INNER)[1:]
    if in_values:
        values = text.split("=", MAX_VALUES)[1:]
        found.extend([value for value in values if "." in value and _begins_with_host(value)][:MAX_INNER])
        copied = [text.partition(mark)[2] for mark in _BEFORE_HOSTS]
        found.extend([place for place in copied if _begins_with_host(place)][:1])
        for piece in text.split(_COLON_IN_HYPHENS, MAX_INNER)[1:]:
            found.append(unescaped(piece[:MAX_ADDRESS].replace("_", "/").replace("-", "%")))
    for piece in text.split(_JSON_IN_BASE64, MAX_INNER)[1:]:
        told = _from_base64(_JSON_IN_BASE64 + piece[:MAX_ADDRESS]).replace("\\", "")
        found.extend(told.split("://", MAX_INNER)[1:])
    for piece in text.split(_HTTP_IN_BASE64, MAX_INNER)[1:]:
        found.extend(_from_base64(_HTTP_IN_BASE64 + piece[:MAX_ADDRESS]).split("://", 1)[1:])
    return [address[:MAX_ADDRESS].translate(_ENDS).partition(" ")[0] for address in found]


def _begins_with_host(value: str) -> bool:
    """Whether a value of a query is an address without scheme: a host and a slash, or www and a host."""
    head, slash, _ = value[:MAX_HOST].removeprefix("//").partition("/")
    host = head.partition("&")[0].lower()
    if not _HOST.issuperset(host) or not (host[:4] == "www." or (slash and host == head.lower())):
        return False
    name, dot, last = host.rpartition(".")
    return dot != "" and name[:1].isalnum() and len(last) > 1 and last.isalpha() and last not in _PROGRAMS


def _from_base64(text: str) -> str:
    run = text.replace("-", "+").replace("_", "/")
    size = len(run)
    for place, character in enumerate(run):
        if not (character.isascii() and (character.isalnum() or character in "+/")):
            size = place
            break
    return base64_run(run[:size].encode("ascii")).decode("utf-8", "replace")
