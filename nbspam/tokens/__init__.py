"""Message -> tokens of each view.  The specification is docs/tokens.md.

Hides which part of a message gives which tokens.  What is remembered between messages (`words.Memory`) saves
time and changes no result.
Reading order: bag (the views), words, headers, structure, urls, measures, origin.  Imported only where a mail
or a model needs them: unicode_words, lookalikes, trace, odd_urls, foreign_hosts, spelled, scripts, numeric.
"""

from __future__ import annotations

from nbspam.mail.limits import MAX_TOKENS
from nbspam.tokens.bag import VIEWS, Bag, bigram_tokens
from nbspam.tokens.headers import field_order, header_tokens, size_in_bytes
from nbspam.tokens.structure import edge_tokens, message_tokens, part_tokens
from nbspam.tokens.urls import cut_urls, url_tokens
from nbspam.tokens.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Message, Part
    from nbspam.tokens.measures import Reading

__all__ = ["VIEWS", "Bag", "tokenize"]


def tokenize(
    message: Message, readings: list[Reading] | None = None, measured: bool = False, paired: bool = False
) -> Bag:
    """The tokens of a message, at most MAX_TOKENS a view; an empty message gives few, never none.

    readings : gets what was read of each text, for nbspam.tokens.numeric
    measured : with the measures, too;  paired : with the bigrams
    """
    readings = [] if readings is None else readings
    body: list[str] = []
    size_bytes = size_in_bytes(message)
    structure = message_tokens(message, size_bytes)
    structure.extend(field_order(message.headers))
    for part in message.parts:
        structure.extend(part_tokens(part))
        if part.text and not part.is_replaced and len(body) < MAX_TOKENS:
            _read_text(part, body, structure, readings)
        for name, text in part.embedded_headers:
            if name in ("subject", "from"):
                body.extend(words(text, MAX_TOKENS))
    replaced = [part for part in message.parts if part.is_replaced]
    if replaced:
        _read_replaced(replaced, body, structure, readings)
    # The edges first, so that no flood of tags leaves them out; they are those of the text of the mail alone.
    structure = [*edge_tokens(body[:MAX_TOKENS]), *structure]
    for part in message.parts:
        if part.document is not None and not part.is_replaced:
            _read_shown(part.document.text, body, structure)  # as text: docs/experiments/attached.md
    bag = Bag(header_tokens(message.headers)[:MAX_TOKENS], body[:MAX_TOKENS], structure[:MAX_TOKENS])
    if paired:
        bag.bigrams = bigram_tokens(bag.body)
    if measured:
        from nbspam.tokens.measures import measures  # the textbook does not pay for it

        bag.measures = measures(message, readings, size_bytes)
    return bag


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
        from nbspam.mail.html.reader import read_html  # plain mail does not pay for it
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
