"""How a message is made, its texts, and the addresses of the web in it -> tokens of body, structure and raw.

Texts are read one after another, each page and URL once: what is noted on the way is all that measures and
numeric features need.  Structure are content types, encodings, character sets, attachments and documents; of
a page what its form is; of an address its scheme, host with parents, port and path words.  Raw are runs of
the first bytes as they came: case, blanks, order and layout tell programs apart, and no other view has them
(docs/decisions.md, "Raw bytes").
"""

from itertools import compress

from nbspam.limits import MAX_TOKENS
from nbspam.mail.headers import find_header, find_header_fields, unify_line_ends
from nbspam.mail.leaf import MAGIC
from nbspam.mail.message import Html, Message, Part, normalise_filename, pin
from nbspam.tokens.bag import INNER
from nbspam.tokens.headers import counts_as_evidence
from nbspam.tokens.words import (
    ALPHABET,
    MAX_WORD,
    WORD_MARKS,
    has_zero_width,
    list_parents,
    make_skip_token,
    split_words,
)

MAX_ALT_WORDS = 100
MAX_TITLE_WORDS = 100
MAX_NAME_WORDS = 20
MAX_URLS = 500  # of a text; later ones repeat what the first said
MAX_LINKS = 300  # of a page, and pictures of it, that are looked at
MAX_HOST = 80  # characters of one of IPv6
MAX_SCHEME = 20  # letters of a scheme that are read
MAX_FOUND_SCHEME = 12  # in running text
MAX_URL = 2_000  # characters of one URL that are read
MAX_INNER = 5  # addresses inside of one
MAX_PATH_WORDS = 30
MAX_RAW_BYTES = 3_000  # of a message, without fields that are no evidence, each line end a LF
_MAX_LINE_END = 3  # bytes: CR CR LF
RUN_BYTES = 5  # bytes of a token
ONE_IN = 16  # runs that the hash chooses
RAW_MARK = "raw="
ENCODING_MARK = "encoding="
_BASE64 = bytes(120 if chr(code).isalnum() or code in b"+/" else 32 for code in range(128)) + bytes(128)
LONG_LINE = b"x" * 60  # of base64, after _BASE64: programs wrap it at 60 to 76 characters
_END = bytes(range(33)) + b"<>\"'`{}|\\^[]" + bytes(range(128, 256))
_STOP = bytes.maketrans(_END, b" " * len(_END))
_PATH = ALPHABET.translate(bytes.maketrans(WORD_MARKS.encode(), b" " * len(WORD_MARKS)))
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_AFTER = ".,;:!?)'*_~"  # no part of an address at its end; stars and bars are how plain text says bold
_BREAKS = dict.fromkeys(range(32))
_WEB = frozenset(("http", "https", "ftp"))  # a browser finds their hosts without slashes, too
_STOPS = dict.fromkeys((0x3002, 0xFF61), ".")  # full stops of Chinese and Japanese
_MAX_DIGITS = 40  # of a number; browsers and C libraries allow leading zeros
_SLASHES = frozenset(("//", "/\\", "\\/", "\\\\"))


def shorten(text: str, limit: int) -> str:
    """What a mail declares, as one short token: no white space, for a token never holds any."""
    return "".join(text[: 4 * limit].split())[:limit]


def tokenize_form(message: Message, size_bytes: int) -> list[str]:
    """Content types in order, defects, the size of the message as a power of two, and the number of parts.

    size_bytes : headers.measure_size of the message
    """
    tokens = ["type=" + shorten(kind, 60) for kind in message.structure]
    tokens.extend(["defect=" + defect for defect in message.defects])
    tokens.append(f"size={size_bytes.bit_length()}")
    tokens.append(f"parts={min(len(message.parts), 9)}")
    return tokens


def tokenize_part(part: Part) -> list[str]:
    """Encoding, character set, disposition, and for an attachment its name, ending and true kind."""
    tokens: list[str] = []
    if part.encoding:
        tokens.append(ENCODING_MARK + shorten(part.encoding, 20))
    if part.declared_charset:
        tokens.append("charset=" + shorten(part.declared_charset, 30))
    if part.disposition:
        tokens.append("disposition=" + shorten(part.disposition, 20))
    for filename in (*part.embedded_names, part.filename):
        if filename:
            tokens.extend(_tokenize_filename(filename))
    if not part.text and part.size_bytes:
        tokens.append(f"attached={shorten(part.content_type, 60)}:{part.size_bytes.bit_length()}")
        tokens += ["magic=" + kind for kind, start in MAGIC.items() if part.payload_magic.startswith(start)]
    if part.document is not None:
        document = part.document
        tokens.extend(tokenize_document(document.marks, document.names, document.says))
    return tokens


def _tokenize_filename(filename: str) -> list[str]:
    """The ending of a file's name, a double one as well (pdf.exe), and the words of the rest."""
    tokens: list[str] = []
    name = normalise_filename(" ".join(pin(filename).split()))[-200:]
    stem, dot, ending = name.rpartition(".")
    if dot:
        tokens.append("ending=" + shorten(ending, 10))
        _, second_dot, second = stem.rstrip().rpartition(".")
        if second_dot and 1 < len(second) <= 4:
            tokens.append("ending=" + shorten(second + "." + ending, 14))
    opened = (stem or name).replace("\u202e", "")  # the name that counts, not the one that is seen
    tokens.extend(["file=" + word for word in split_words(opened, MAX_NAME_WORDS)])
    if not name.isascii() and has_zero_width(filename):
        tokens.append("file=#zero-width")
    return tokens


def tokenize_document(marks: list[str], names: list[str], says: list[str]) -> list[str]:
    """What a document says of itself and does, and what an archive holds; see Document."""
    tokens = ["document=#" + mark for mark in marks]
    for name in names:
        stem, dot, ending = pin(name[-200:]).lower().rpartition(".")
        if dot:
            tokens.append("inside=." + shorten(ending, 10))
        tokens.extend(["inside=" + word for word in split_words(stem or ending, MAX_NAME_WORDS)])
    for text in says:
        tokens.extend(["document=" + word for word in split_words(text, MAX_NAME_WORDS)])
    return tokens


def tokenize_page(html: Html) -> list[str]:
    """Words of the title and of what is shown for images; how much is split or in comments."""
    tokens = ["title=" + word for word in split_words(html.title, MAX_TITLE_WORDS)]
    tokens.extend(["alt=" + word for word in split_words(" ".join(html.alts), MAX_ALT_WORDS)])
    if html.comments:
        tokens.append(f"comments={html.comments.bit_length()}")
    if html.joined:
        tokens.append(f"joined={html.joined.bit_length()}")
    return tokens


def cut_urls(text: str) -> tuple[str, list[str]]:
    """Running text without its URLs, and the URLs.  A URL is letters, ://, and what follows up to a space."""
    rest: list[str] = []
    urls: list[str] = []
    start = 0
    at = text.find("://")
    while at >= 0 and len(urls) < MAX_URLS:
        before = text[max(start, at - MAX_FOUND_SCHEME) : at]
        begin = at - len(before) + len(before.rstrip(_LETTERS))
        after = at + len("://")
        end = after + _find_url_end(text[after : after + MAX_URL])
        rest.append(text[start:begin])
        urls.append(text[begin:end].rstrip(_AFTER))
        start = end
        at = text.find("://", start)
    rest.append(text[start:])
    return " ".join(rest), urls


def _find_url_end(text: str) -> int:
    """Where the first character is that no address has; brackets may be around a host of IPv6."""
    head = text.encode("utf-8", "surrogatepass")  # each byte beyond ASCII ends it: Chinese has no spaces
    bracket = head.find(b"]", 0, MAX_HOST) if head[:1] == b"[" else 0
    is_ipv6 = bracket > 0 and head.count(b":", 0, bracket) > 1 and head[:bracket].isascii()
    end = head.translate(_STOP).find(b" ", bracket + 1 if is_ipv6 else 0)
    return len(head) if end < 0 else end


def _read_host(authority: str, tokens: list[str]) -> str:
    """The name of a host, without user, port and last dot; add its tokens and its parents', and what is odd.

    authority : user@host:port in lower case
    """
    _, at, host = authority.rpartition("@")
    is_bracketed = host[:1] == "["  # IPv6
    host, _, port = host[1:].partition("]") if is_bracketed else host.partition(":")
    name = normalise_host(host)
    if at:
        tokens.append("url=#user")
    if port.strip(":"):
        tokens.append("url=port:" + port.strip(":")[:6])
    if "%" in host or "&" in host:
        tokens.append("url=#escaped-host")
    tokens.extend(["url=" + parent for parent in list_parents(name)])
    if ":" in name or name.replace(".", "").isdigit():
        tokens.append("url=#ip")
    if not host.isascii() or "xn--" in host:
        tokens.append("url=#idn")
    return name


def read_url(url: str) -> tuple[list[str], str]:
    """The tokens of a URL, each after `url=`, and the name of its host, "" for a relative address."""
    scheme, rest = _split_scheme(url)
    if scheme == "mailto":
        mail_host = rest.partition("?")[0].rpartition("@")[2].lower()
        bare_host = "".join(mail_host.split()).strip(".")
        return ["url=mailto", *["url=" + name for name in list_parents(bare_host)]], ""
    begins_with_host = rest[:2] in _SLASHES or rest[:4].lower() == "www."
    if not scheme and not begins_with_host:
        return _tokenize_path(rest), ""
    if scheme and not begins_with_host and scheme not in _WEB:  # cid: data: javascript: tel:
        return ["url=" + scheme[:MAX_SCHEME]], ""
    authority, path = _split_authority("".join(rest.split()))  # a token never holds white space
    tokens = ["url=" + scheme[:MAX_SCHEME]] if scheme else []
    host = _read_host(authority, tokens)
    if "%" in path:
        path = _unescape(path)
    if len(path) > 1:
        tokens.extend(_tokenize_path(path))
    if "://" in path:  # the address sends the reader on to another one
        for inner in path.split("://", MAX_INNER)[1:]:
            inner_authority, _ = _split_authority("".join(inner.split()))
            _read_host(inner_authority, tokens)
    return tokens, host


def find_host(url: str) -> str:
    """The name of the host of an address with or without a scheme."""
    authority, _ = _split_authority(_split_scheme(url)[1])
    return _read_host(authority, [])


def _split_scheme(url: str) -> tuple[str, str]:
    """Scheme in lower case, perhaps "", and the rest; browsers ignore tabs and line ends."""
    url = pin(url[:MAX_URL]).translate(_BREAKS).strip()
    scheme, colon, rest = url.partition(":")
    return (scheme.lower(), rest) if colon and scheme.isalpha() else ("", url)


def _split_authority(rest: str) -> tuple[str, str]:
    """What follows the scheme, as (user@host:port in lower case, path and query); \\ is / for a browser.

    A comma ends the host, too: people write http://lake.example,http://hill.example
    """
    rest = rest.lstrip("/\\")
    size = len(rest)
    for mark in "/\\?#,;":
        place = rest.find(mark, 0, size)
        size = place if place >= 0 else size
    return rest[:size].lower(), rest[size:]


def normalise_host(host: str) -> str:
    """The host that a browser looks for: escapes decoded, letters folded, a number as four."""
    if "%" in host:
        host = "".join(_unescape(host).lower().split())
    if not host.isascii():
        from nbspam.tokens.unicode_words import fold  # rare

        host = "".join(fold(host.translate(_STOPS)).replace(INNER, "").split())
    host = host.strip(".")
    if host[host.rfind(".") + 1 :][:1].isdigit():
        return normalise_ipv4(host)
    return host


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


def _unescape(text: str) -> str:
    """The text with its escapes (%2F) decoded, as UTF-8."""
    from nbspam.mail.transfer import decode_percent  # rare

    return decode_percent(text.encode("utf-8", "replace")).decode("utf-8", "replace")


def _tokenize_path(path: str) -> list[str]:
    """Words of path and query; numbers are dropped, long runs become skip tokens."""
    spaced = path.encode("ascii", "replace").translate(_PATH).decode("ascii")
    tokens: list[str] = []
    for word in spaced.split(None, MAX_PATH_WORDS)[:MAX_PATH_WORDS]:
        if len(word) > MAX_WORD:
            tokens.append("url=" + make_skip_token(word))
        elif len(word) > 1 and not word.isdigit():
            tokens.append("url=/" + word)
    return tokens


def _show(byte: int) -> int:
    """The Latin-1 character that stands for a byte in a token; none is white space or a control character."""
    if 0x80 <= byte <= 0xA0:
        return byte + 0x40
    return byte if 0x20 < byte != 0x7F else ord(_BLANKS.get(byte, "¤"))


_BLANKS = {0x20: "·", 0x0A: "¶", 0x09: "»"}
_SHOWN = bytes(map(_show, range(256)))
# The hash of a run is the sum of its bytes, each times a factor: one product of long integers with 32 bits
# for each byte, because a loop takes ten times as long.  Byte 2 of a sum depends on all of the run.
_FACTORS = (1_097_303, 196_797, 1_664_525, 69_069, 1_566_083)  # odd, below 2^32 / (5 * 255)
_PRODUCT = sum(factor << 32 * place for place, factor in enumerate(_FACTORS))
_HASH_BYTE = 4 * (RUN_BYTES - 1) + 2  # in the first sum that is whole
_CHOSEN = bytes(byte % ONE_IN == 0 for byte in range(256))


def tokenize_raw(data: bytes) -> list[str]:
    """The chosen runs of the first MAX_RAW_BYTES of a message, in order, repeats kept."""
    text = _cut_out_notes(data).translate(_SHOWN).decode("latin-1")
    number = int.from_bytes(text.encode("utf-32-le"), "little") * _PRODUCT
    sums = number.to_bytes(4 * (len(text) + RUN_BYTES), "little")
    chosen = sums[_HASH_BYTE : 4 * len(text) : 4].translate(_CHOSEN)
    return [RAW_MARK + text[start : start + RUN_BYTES] for start in compress(range(len(text)), chosen)]


def _cut_out_notes(data: bytes) -> bytes:
    """The first MAX_RAW_BYTES without `From ` lines, fields that are no evidence, empty lines at the end."""
    pieces: list[bytes] = []
    stop, most = find_header(data), _MAX_LINE_END * MAX_RAW_BYTES
    for start, stop, name in find_header_fields(data):
        if counts_as_evidence(name):
            pieces.append(data[start : min(stop, start + most)])
    pieces.append(data[stop : stop + most])
    return unify_line_ends(b"".join(pieces)[:most])[:MAX_RAW_BYTES].rstrip(b"\n")


class Texts:
    """What the texts of a message gave.

    body       : words of what a reader sees
    structure  : tokens of the parts, pages and URLs
    visible    : each text as a reader sees it, without its URLs; not those of documents
    pages      : the HTML texts
    page_characters : length of the source of these
    hosts      : of the web addresses in texts and links, in order; "" where an address has none
    disagreeing_links : links whose text names another host than they lead to
    """

    def __init__(self) -> None:
        self.body: list[str] = []
        self.structure: list[str] = []
        self.visible: list[str] = []
        self.pages: list[Html] = []
        self.page_characters = 0
        self.hosts: list[str] = []
        self.disagreeing_links = 0

    def read_part(self, part: Part) -> None:
        """Read a part as far as a mail program shows it; a document comes last, see read_rest()."""
        self.structure.extend(tokenize_part(part))
        if part.text and not part.is_replaced and len(self.body) < MAX_TOKENS:
            self._read_text(part)
        for name, text in part.embedded_headers:
            if name in ("subject", "from"):
                self.body.extend(split_words(text, MAX_TOKENS))

    def read_rest(self, parts: list[Part]) -> None:
        """Read what mail programs do not show, and after it what attached documents say."""
        replaced = [part for part in parts if part.is_replaced]
        if replaced:
            self._read_replaced(replaced)
        for part in parts:
            if part.document is not None and not part.is_replaced:
                for address in part.document.addresses:
                    self._read_url(address)
                self._read_shown(part.document.text)

    def _read_replaced(self, parts: list[Part]) -> None:
        """Read texts that a mail program shows another text for: only if that has no word, image or link."""
        if not self.body and not any(page.images or page.links for page in self.pages):
            for part in parts:
                self._read_text(part)
            return
        plain = "\n".join([part.text for part in parts if part.content_type == "text/plain"])
        words = split_words(cut_urls(plain)[0], MAX_TOKENS)
        shown = set(self.body)
        if 2 * sum(word not in shown for word in words) > len(words):
            self.structure.append("alternative=#differs")

    def _read_text(self, part: Part) -> None:
        text = part.text
        if part.is_html:
            from nbspam.mail.html.reader import read_html  # not needed for plain mail

            html = read_html(text)
            self.pages.append(html)
            self.page_characters += len(text)
            self._read_page(html)
            text = html.visible
        text, hosts = self._read_shown(text)
        self.hosts.extend(hosts)
        self.visible.append(text)
        if has_zero_width(text):
            self.structure.append("zero-width=#")

    def _read_shown(self, text: str) -> tuple[str, list[str]]:
        """Add the tokens of a text that is shown; the text without its URLs, and their hosts."""
        text, urls = cut_urls(text)
        hosts = [self._read_url(url) for url in urls]
        words = text
        if LONG_LINE in text.encode("ascii", "ignore").translate(_BASE64):
            from nbspam.tokens.armour import remove_armour  # rare

            words = remove_armour(text)
        self.body.extend(split_words(words, MAX_TOKENS - len(self.body)))
        return text, hosts

    def _read_url(self, url: str) -> str:
        tokens, host = read_url(url)
        self.structure.extend(tokens)
        return host

    def _read_page(self, html: Html) -> None:
        """Where links and images lead to, and what tokenize_page() finds."""
        for target, text in html.links[:MAX_LINKS]:
            host = self._read_url(target)
            if "://" in target:
                self.hosts.append(host)
                if "." in text and disagrees(host, text):
                    self.disagreeing_links += 1
                    self.structure.append("link=#disagrees")
        for source in html.images[:MAX_LINKS]:
            scheme = "//" if source.startswith("//") else source.partition(":")[0]  # //: that of the page
            self.structure.append("image=" + shorten(scheme.lower(), 6))
            self._read_url(source)
        self.structure.extend(tokenize_page(html))


def disagrees(host: str, text: str) -> bool:
    """True if a link's text is the name of a host with other last two labels than the host it leads to."""
    shown = find_host(text)
    if "@" in text or " " in shown or "." not in shown.strip("."):
        return False
    return host.split(".")[-2:] != shown.split(".")[-2:]
