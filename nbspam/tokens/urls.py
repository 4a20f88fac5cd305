"""Addresses of the web -> tokens of the structure view.

Hides how a URL is taken apart: scheme, user part, host with parents, port, path words.
"""

from __future__ import annotations

from nbspam.tokens.words import ASCII_TABLE, KEPT, MAX_WORD, Memory, parents, skip_token

MAX_URLS = 500  # of a text; later ones repeat what the first said
MAX_LINKS = 300  # of a page, and pictures of it, that are looked at
MAX_HOSTS = 5_000  # hosts whose tokens are remembered
MAX_HOST = 80  # characters of one that is remembered
MAX_SCHEME = 20  # letters of a scheme that are read
MAX_URL = 2_000  # characters of one URL that are read
_END = bytes(range(33)) + b"<>\"'`{}|\\^[]" + bytes(range(128, 256))
_STOP = bytes.maketrans(_END, b" " * len(_END))
_PATH = ASCII_TABLE.translate(bytes.maketrans(KEPT.encode(), b" " * len(KEPT)))
_BEHIND = (
    ".,;:!?)'*_~"  # that are no part of an address at its end; stars and bars are how plain text says bold
)
_BEHIND_HOST = frozenset("/?#")
_BREAKS = dict.fromkeys(map(ord, "\t\r\n"))
_WEB = frozenset(("http", "https", "ftp", "file"))  # their hosts need no slashes, for a browser
# Hosts that show what others have; the name of the other one is the first label.
_COPIES = (".translate.goog", ".cdn.ampproject.org")
_WITHOUT_PATH = frozenset(("cid", "data", "javascript", "sms", "tel"))
_SLASHES = frozenset(("//", "/\\", "\\/", "\\\\"))


def cut_urls(text: str) -> tuple[str, list[str]]:
    """Running text without its URLs, and the URLs.  A URL is a word, ://, and what follows up to a space."""
    pieces = text.split("://", MAX_URLS)
    if len(pieces) == 1:
        return text, []
    rest: list[str] = []
    urls: list[str] = []
    before = pieces[0]
    inside = ""  # an address that goes on with another one: https://lake.example/?u=https://hill.example
    for number, after in enumerate(pieces[1:], 2):
        if not inside:
            scheme = _trailing_word(before)
            rest.append(before[: len(before) - len(scheme)])
            inside = scheme + "://"
        end = _url_end(after)
        inside += after[:end]
        if 0 < end == len(after) and number < len(pieces):
            inside = _gone_on(inside, after, urls) + "://"
            continue
        urls.append(inside.rstrip(_BEHIND))
        inside = ""
        before = " " + after[end:]
    rest.append(before)
    return "".join(rest), urls


def _gone_on(address: str, after: str, urls: list[str]) -> str:
    """An address that another one follows without a space, or the scheme of that if it is a new one.

    after : what follows the last `://` of the address
    A host ends before a comma; behind a slash the second may be an argument of the first.
    """
    scheme = _trailing_word(after)
    host = after.removesuffix(scheme)
    if not host.endswith((",", ";")) or not _BEHIND_HOST.isdisjoint(host):
        return address
    urls.append(address.removesuffix(scheme).rstrip(_BEHIND))
    return scheme


def _trailing_word(text: str) -> str:
    tail = text[-12:]
    size = 0
    for character in reversed(tail):
        if not (character.isascii() and character.isalpha()):
            break
        size += 1
    return tail[len(tail) - size :]


def _url_end(text: str) -> int:
    """Where an address ends; brackets end it but around a host of IPv6."""
    inside = text.find("]", 0, MAX_HOST) if text[:1] == "[" else 0
    first = inside + 1 if inside > 0 and text.count(":", 0, inside) > 1 else 0
    end = _plain_end(text, first)
    if end < len(text) and not text[end].isascii():
        from nbspam.tokens.foreign_hosts import end_of_host  # rare

        host = end_of_host(text, end)
        if host > end:
            return host + _plain_end(text[host : host + MAX_URL], 0)
    return end


def _plain_end(text: str, first: int) -> int:
    """Where the first character from `first` on is that is in no address, or is not ASCII."""
    try:
        head = text[:MAX_URL].encode("ascii")
    except UnicodeEncodeError as error:  # Chinese goes on behind an address without a space
        head = text[: error.start].encode("ascii")
    end = head.translate(_STOP).find(b" ", first)
    return len(head) if end < 0 else end


def url_tokens(url: str) -> list[str]:
    """Tokens of one URL, each with the prefix `url=`; a relative address gives its path words."""
    url = _without_breaks(url)
    scheme, colon, rest = url.partition(":")
    scheme = scheme.lower()
    if not colon or not _is_scheme(scheme):
        if url[:2] in _SLASHES or url[:4].lower() == "www.":  # the scheme is what the reader's program takes
            return _beyond_scheme(url)
        return _path_words(url)
    if scheme == "mailto":
        address, _, query = rest.partition("?")
        address = "".join(address.lower().split())
        hosts = ["url=" + host for host in parents(address.rpartition("@")[2].strip("."))]
        return ["url=mailto", *hosts, *(inner_hosts("?" + query, True) if _may_send_on(query) else ())]
    if scheme in _WITHOUT_PATH:
        return ["url=" + scheme]
    if scheme not in _WEB and rest[:2] not in _SLASHES:  # ms-word:ofe|u|https://lake.example
        return ["url=" + scheme[:MAX_SCHEME], *_path_words(rest), *inner_hosts(rest)]
    return ["url=" + scheme[:MAX_SCHEME], *_beyond_scheme(rest)]


def _is_scheme(name: str) -> bool:
    """Whether a name before a colon is one: letters, in which `-` may stand (view-source)."""
    return name.isalpha() or (name[:1].isalpha() and name.replace("-", "").isalpha())


def _beyond_scheme(rest: str) -> list[str]:
    """Tokens of the host, of the path and query, and of the hosts of other addresses in these."""
    authority, path = _split_authority("".join(rest.split()))  # a token never holds white space
    if _may_send_on(path):
        from nbspam.tokens.odd_urls import unescaped  # most mail does without

        path = unescaped(path)
        return [*_hosts[authority], *_path_words(path), *inner_hosts(path, True)]
    return [*_hosts[authority], *_path_words(path)] if len(path) > 1 else _hosts[authority]


def _may_send_on(path: str) -> bool:
    """Whether another address may be in a path or query: most have none, and are not looked at closely."""
    for mark in ("%", ":", "aHR0c", "eyJ", "/s/", "/amp/"):
        if mark in path:
            return True
    return "=" in path and "." in path.partition("=")[2]


def inner_hosts(text: str, in_values: bool = False) -> list[str]:
    """Tokens of the hosts of addresses inside of an address, or of a script; escaped, or in base64, too."""
    from nbspam.tokens.odd_urls import inner_addresses, unescaped

    found: list[str] = []
    for address in inner_addresses(unescaped(text), in_values):
        found.extend(_hosts[_split_authority("".join(address.split()))[0]])
    return found


def host_of(url: str) -> str:
    """The host of an address with or without a scheme, lower case, without user, port and last dot."""
    url = _without_breaks(url)
    scheme, _, rest = url.partition("://")
    authority, _ = _split_authority(rest if scheme.isalpha() else url)
    return _sought(_without_port(authority.rpartition("@")[2])[0])


def _sought(host: str) -> str:
    """The host that a browser looks for, however its name is written; a dot at its ends is nothing."""
    host = host.strip(".")
    if host.isascii() and not ("%" in host or "xn--" in host or host[host.rfind(".") + 1 :][:1].isdigit()):
        return host
    from nbspam.tokens.odd_urls import plain_host  # rare

    return plain_host(host)


def _without_breaks(url: str) -> str:
    """The address as a browser takes it: tabs and line ends in it are nothing."""
    url = url[:MAX_URL].strip()
    return url if url.isprintable() else url.translate(_BREAKS)


def _split_authority(rest: str) -> tuple[str, str]:
    """What follows the scheme, as (user@host:port in lower case, path and query); \\ is / for a browser."""
    rest = rest.lstrip("/\\")
    size = len(rest)
    for mark in "/\\?#":
        found = rest.find(mark, 0, size)
        size = found if found >= 0 else size
    return rest[:size].lower(), rest[size:]


def _authority_tokens(authority: str) -> list[str]:
    """Of what stands between // and the path: host with its parents, port; and what is odd about them."""
    found: list[str] = []
    _, at, host = authority.rpartition("@")
    if at:
        found.append("url=#user")
    host, port = _without_port(host)
    if port:
        found.append("url=port:" + port[:6])
    if "%" in host or "&" in host:
        found.append("url=#escaped-host")
    sought = _sought(host)
    found.extend(["url=" + name for name in _parents(sought)])
    if sought.endswith(_COPIES):
        from nbspam.tokens.odd_urls import copied_host  # rare

        found.extend(["url=" + name for name in _parents(copied_host(sought))])
    if ":" in sought or sought.replace(".", "").isdigit():
        found.append("url=#ip")
    if not host.isascii() or "xn--" in host:
        found.append("url=#idn")
        if not sought.isascii():
            from nbspam.tokens.lookalikes import unmasked  # rare

            if unmasked(sought) != sought:
                found.append("url=#mixed-script")
    return found


def _without_port(host: str) -> tuple[str, str]:
    """Host and port; the colons of an IPv6 address, which stands in brackets, are its own."""
    if host[:1] != "[":
        name, _, port = host.partition(":")
        return name, port
    name, _, port = host[1:].partition("]")
    return name, port[1:]


def _parents(host: str) -> list[str]:
    if ":" not in host:
        return parents(host)
    from nbspam.tokens.trace import address_tokens  # rare

    return address_tokens(host)


_hosts = Memory(_authority_tokens, MAX_HOSTS, MAX_HOST)


def _path_words(path: str) -> list[str]:
    """Words of path and query; numbers are dropped, long runs become skip tokens; at most 30."""
    spaced = path.encode("ascii", "replace").translate(_PATH).decode("ascii")
    found: list[str] = []
    for word in spaced.split(None, 30)[:30]:
        if len(word) > MAX_WORD:
            found.append("url=" + skip_token(word))
        elif len(word) > 1 and not word.isdigit():
            found.append("url=/" + word)
    return found
