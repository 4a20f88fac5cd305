"""The texts of a message, read one after another: words of the body, URLs, pages.

What is noted on the way is all that nbspam.tokens.measures and nbspam.tokens.numeric need: each page and URL
is read once.
"""

from nbspam.limits import MAX_TOKENS
from nbspam.mail.message import Html, Part
from nbspam.tokens.structure import (
    MAX_LINKS,
    Host,
    cut_urls,
    find_host,
    read_url,
    shorten,
    tokenize_page,
    tokenize_part,
)
from nbspam.tokens.words import has_zero_width, split_words

_BASE64 = bytes(120 if chr(code).isalnum() or code in b"+/" else 32 for code in range(128)) + bytes(128)
LONG_LINE = b"x" * 60  # of base64, after _BASE64; programs wrap it at 60 to 76 characters


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
        found = split_words(cut_urls(plain)[0], MAX_TOKENS)
        shown = set(self.body)
        if 2 * sum(word not in shown for word in found) > len(found):
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
        text, urls = self._read_shown(text)
        self.hosts.extend([host.name for host in urls])
        self.visible.append(text)
        if has_zero_width(text):
            self.structure.append("zero-width=#")

    def _read_shown(self, text: str) -> tuple[str, list[Host]]:
        """Add the tokens of a text that is shown; the text without its URLs, and their hosts."""
        text, urls = cut_urls(text)
        hosts = [self._read_url(url) for url in urls]
        words = text
        if LONG_LINE in text.encode("ascii", "ignore").translate(_BASE64):
            from nbspam.tokens.armour import remove_armour  # rare

            words = remove_armour(text)
        self.body.extend(split_words(words, MAX_TOKENS - len(self.body)))
        return text, hosts

    def _read_url(self, url: str) -> Host:
        found, host = read_url(url)
        self.structure.extend(found)
        return host

    def _read_page(self, html: Html) -> None:
        """Where links and images lead to, and what tokenize_page() finds."""
        for target, text in html.links[:MAX_LINKS]:
            host = self._read_url(target)
            if "://" in target:
                self.hosts.append(host.name)
                if "." in text and disagrees(host.name, text):
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
