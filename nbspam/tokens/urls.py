"""Addresses of the web -> tokens of the structure view.

Hides how a URL is taken apart: scheme, user part, host with parents, port, path words.
"""

from __future__ import annotations

from nbspam.tokens.words import MAX_WORD, Memory, parents, skip_token

MAX_URLS = 500  # a message; later ones repeat what the first said
MAX_HOSTS = 5_000  # hosts whose tokens are remembered
MAX_HOST = 80  # characters of one that is remembered
MAX_SCHEME = 20  # letters of a scheme that are read
MAX_URL = 2_000  # characters of one URL that are read
_END = "<>\"'`{}|\\^[] \t\r\n\x0b\x0c\x00"
_PATH = bytes(ord(chr(c).lower()) if chr(c).isalnum() else 32 for c in range(128)) + b" " * 128
_STOP = bytes(32 if chr(c) in _END or c < 33 else c for c in range(128)) + b" " * 128


def cut_urls(text: str) -> tuple[str, list[str]]:
    """Running text without its URLs, and the URLs.  A URL is a word, ://, and what follows up to a space."""
    pieces = text.split("://", MAX_URLS)
    if len(pieces) == 1:
        return text, []
    rest: list[str] = []
    urls: list[str] = []
    before = pieces[0]
    for after in pieces[1:]:
        scheme = _trailing_word(before)
        rest.append(before[: len(before) - len(scheme)])
        end = _url_end(after)
        urls.append(scheme + "://" + after[:end].rstrip(".,;:!?)'"))
        before = " " + after[end:]
    rest.append(before)
    return "".join(rest), urls


def _trailing_word(text: str) -> str:
    tail = text[-12:]
    size = 0
    for character in reversed(tail):
        if not (character.isascii() and character.isalpha()):
            break
        size += 1
    return tail[len(tail) - size :]


def _url_end(text: str) -> int:
    head = text[:MAX_URL].encode("ascii", "replace").translate(_STOP)
    end = head.find(b" ")
    return len(head) if end < 0 else end


def url_tokens(url: str) -> list[str]:
    """Tokens of one URL, each with the prefix `url=`; a relative address gives its path words."""
    url = url[:MAX_URL].strip()
    scheme, colon, rest = url.partition(":")
    scheme = scheme.lower()
    if not colon or not scheme.isalpha():
        return ["url=" + word for word in _path_words(url)]
    if scheme == "mailto":
        address = "".join(rest.partition("?")[0].lower().split())
        return ["url=mailto", *("url=" + host for host in parents(address.rpartition("@")[2]))]
    if scheme in ("cid", "data", "javascript", "tel"):
        return ["url=" + scheme]
    rest = "".join(rest.split())  # readers drop white space inside an address; a token never holds any
    authority, _, path = rest.lstrip("/\\").partition("/")
    host = authority.lower()
    for mark in "?#":
        host, cut, query = host.partition(mark)
        if cut:
            path = query + "/" + path
    return ["url=" + scheme[:MAX_SCHEME], *_hosts[host], *("url=" + word for word in _path_words(path))]


def _authority_tokens(authority: str) -> list[str]:
    """Of what stands between // and the path: host with its parents, port; and what is odd about them."""
    found: list[str] = []
    _, at, host = authority.rpartition("@")
    if at:
        found.append("url=#user")
    host, _, port = host.partition(":")
    if port:
        found.append("url=port:" + port[:6])
    if "%" in host or "&" in host:
        found.append("url=#escaped-host")
    found.extend(["url=" + name for name in parents(host.strip("."))])
    if host.replace(".", "").isdigit():
        found.append("url=#ip")
    if not host.isascii() or "xn--" in host:
        found.append("url=#idn")
    return found


_hosts = Memory(_authority_tokens, MAX_HOSTS, MAX_HOST)


def _path_words(path: str) -> list[str]:
    """Words of path and query; numbers are dropped, long runs become skip tokens; at most 30."""
    spaced = path.encode("ascii", "replace").translate(_PATH).decode("ascii")
    found: list[str] = []
    for word in spaced.split(None, 30)[:30]:
        if len(word) > MAX_WORD:
            found.append(skip_token(word))
        elif len(word) > 1 and not word.isdigit():
            found.append("/" + word)
    return found
