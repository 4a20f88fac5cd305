"""Message -> tokens of each view.  The specification is docs/tokens.md.

Hides which part of a message gives which tokens.  What is remembered between messages (`words.Memory`) saves
time and changes no result.
Reading order: bag (the views), words, headers, structure, urls, measures, origin.  Imported only where a mail
or a model needs them: unicode_words, lookalikes, trace, odd_urls, foreign_hosts, spelled, scripts, numeric.
"""

from __future__ import annotations

from nbspam.mail import parse
from nbspam.mail.limits import MAX_TOKENS, add_failure
from nbspam.tokens.bag import BIGRAMS, DATE, MEASURES, NUMERIC, VIEWS, Tokens, bigram_tokens
from nbspam.tokens.headers import field_order, header_tokens, size_in_bytes
from nbspam.tokens.structure import document_tokens, edge_tokens, message_tokens, part_tokens
from nbspam.tokens.urls import cut_urls, url_tokens
from nbspam.tokens.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import TypeVar, TypeVarTuple

    from nbspam.mail.message import Message, Part
    from nbspam.tokens.measures import Reading

    Given = TypeVarTuple("Given")
    Result = TypeVar("Result")

__all__ = ["BIGRAMS", "DATE", "MEASURES", "NUMERIC", "VIEWS", "Tokens", "read", "tokenize"]


def read(data: bytes, wanted: Collection[str] = ()) -> Tokens:
    """The tokens of a mail: the one way from bytes to tokens.  Pure; never raises.

    wanted : what is read in addition to the words, some of BIGRAMS, MEASURES, NUMERIC, DATE
    """
    return tokenize(parse(data), wanted)


def tokenize(message: Message, wanted: Collection[str] = ()) -> Tokens:
    """The tokens of a message, at most MAX_TOKENS a view; an empty message gives few, never none.

    A fault of this program in a stage is kept in `failures` and as a defect; the other stages count.
    """
    tokens, texts = Tokens(), _Texts()
    tokens.failures = message.failures
    _attempt(message, "header-tokens", _read_header, message, tokens)
    for part in message.parts:
        _attempt(message, "text", _read_part, part, texts)
    _attempt(message, "text", _read_rest, message, texts)
    if MEASURES in wanted:
        _attempt(message, "measures", _measure, message, texts, tokens)
    if DATE in wanted or NUMERIC in wanted:
        _attempt(message, "date", _read_date, message, tokens)
    structure = _attempt(message, "structure", _structure, message, texts)
    if structure is None:
        structure = ["defect=" + defect for defect in message.defects]
    tokens.body = texts.body[:MAX_TOKENS]
    tokens.structure = structure[:MAX_TOKENS]
    if BIGRAMS in wanted:
        tokens.bigrams = bigram_tokens(tokens.body)
    if NUMERIC in wanted:
        _attempt(message, "numeric", _read_numbers, message, texts, tokens)
    return tokens


class _Texts:
    """What the texts of a message gave.

    edges   : words of the body that are text of the mail itself, not of a document
    """

    __slots__ = ("body", "edges", "readings", "structure")

    def __init__(self) -> None:
        self.body: list[str] = []
        self.edges: list[str] = []
        self.structure: list[str] = []
        self.readings: list[Reading] = []


def _attempt(message: Message, stage: str, work: Callable[[*Given], Result], *given: *Given) -> Result | None:
    """work(*given); None where it meets a fault of this program, which the message keeps."""
    try:
        return work(*given)
    except Exception as error:
        add_failure(message, stage, error)
        return None


def _read_header(message: Message, tokens: Tokens) -> None:
    tokens.header = header_tokens(message.headers)[:MAX_TOKENS]


def _read_part(part: Part, texts: _Texts) -> None:
    texts.structure.extend(part_tokens(part))
    if part.text and not part.is_replaced and len(texts.body) < MAX_TOKENS:
        _read_text(part, texts.body, texts.structure, texts.readings)
    for name, text in part.embedded_headers:
        if name in ("subject", "from"):
            texts.body.extend(words(text, MAX_TOKENS))


def _read_rest(message: Message, texts: _Texts) -> None:
    """The texts that readers do not show, and those of documents."""
    replaced = [part for part in message.parts if part.is_replaced]
    if replaced:
        _read_replaced(replaced, texts.body, texts.structure, texts.readings)
    texts.structure.extend(_codes_shown(texts.readings))
    texts.edges = texts.body[:MAX_TOKENS]
    for part in message.parts:
        if part.document is not None and not part.is_replaced:
            _read_shown(part.document.text, texts.body, texts.structure)


def _structure(message: Message, texts: _Texts) -> list[str]:
    """The edges come first, so that no flood of other tokens leaves them out."""
    of_message = message_tokens(message, size_in_bytes(message))
    return [*edge_tokens(texts.edges), *of_message, *field_order(message.headers), *texts.structure]


def _measure(message: Message, texts: _Texts, tokens: Tokens) -> None:
    from nbspam.tokens.measures import measures  # the textbook does not pay for it

    tokens.measures = measures(message, texts.readings, size_in_bytes(message))


def _read_date(message: Message, tokens: Tokens) -> None:
    from nbspam.mail.dates import received_date  # for mail in order of time

    tokens.date = received_date(message)


def _read_numbers(message: Message, texts: _Texts, tokens: Tokens) -> None:
    from nbspam.tokens.numeric import numeric_features  # few models have them

    tokens.numeric = numeric_features(message, tokens, texts.readings, tokens.date)


def _codes_shown(readings: list[Reading]) -> list[str]:
    """The tokens of QR codes that texts draw with blocks, or in addresses that hold a picture."""
    drawings = [text for text, *_ in readings if "\u2588" in text]
    pages = [html for *_, html in readings if html is not None]
    pictures = [source for html in pages for source in html.images if source.startswith("data:image/png")]
    if not drawings and not pictures:
        return []
    from nbspam.mail.codes.shown import shown_codes  # rare

    return document_tokens(shown_codes(drawings, pictures))


def _read_shown(text: str, body: list[str], structure: list[str]) -> tuple[str, list[str]]:
    """Adds the tokens of a text that is shown; (what is left of it without its URLs, these)."""
    text, urls = cut_urls(text)
    for url in urls:
        structure.extend(url_tokens(url))
    body.extend(words(text, MAX_TOKENS - len(body)))
    return text, urls


def _read_replaced(parts: list[Part], body: list[str], structure: list[str], readings: list[Reading]) -> None:
    """Texts for which a reader shows HTML: read where that shows no word, else only compared with it.

    Words that nobody sees would cost a spammer nothing (docs/experiments/body.md); nor would they beside a
    picture, or a link, that is all there is to see.  Only plain text is compared; a calendar or a card is
    shown beside the text.
    """
    if not body and not any(html.images or html.links for _, _, _, html in readings if html is not None):
        for part in parts:
            _read_text(part, body, structure, readings)
        return
    plain = [part.text for part in parts if part.content_type == "text/plain"]
    found = words(cut_urls("\n".join(plain))[0], MAX_TOKENS)
    shown = set(body)
    if _says_other(found, shown):
        structure.append("alternative=#differs")
    for part in parts:
        if part.content_type != "text/plain":
            _read_card(part.text, body, shown, structure)


def _read_card(text: str, body: list[str], shown: set[str], structure: list[str]) -> None:
    """Adds where a calendar or card leads to, and its words if they are others than those of the text.

    shown : the words of the body, which are added to with it
    An honest invitation says the same twice, and is not to count twice.
    """
    from nbspam.mail.cards import shown_of_card  # few mails have an alternative of a third kind

    text, urls = cut_urls(shown_of_card(text))
    for url in urls:
        structure.extend(url_tokens(url))
    found = words(text, MAX_TOKENS - len(body))
    if _says_other(found, shown):
        body.extend(found)
        shown.update(found)


def _says_other(found: list[str], shown: set[str]) -> bool:
    """Whether more than half of the words are none of those that are shown."""
    return 2 * sum(word not in shown for word in found) > len(found)


def _read_text(part: Part, body: list[str], structure: list[str], readings: list[Reading]) -> None:
    text = part.text
    html = None
    if part.is_html:
        from nbspam.mail.html import read_html  # plain mail does not pay for it
        from nbspam.tokens.structure import html_tokens

        html = read_html(text)
        structure.extend(html_tokens(html))
        text = html.visible
        if html.title:
            structure.extend(["title=" + word for word in words(html.title, 100)])
    if "\u202e" in text:
        from nbspam.tokens.unicode_words import turned  # rare

        text = turned(text)
    text, urls = _read_shown(text, body, structure)
    readings.append((text, urls, len(part.text), html))
    if not text.isascii():
        from nbspam.tokens.unicode_words import has_zero_width

        if has_zero_width(text):
            structure.append("zero-width=#")
