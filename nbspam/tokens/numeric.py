"""Real-valued features of a message, for the Gaussian, categorical and AODE models.

Hides how they are measured fast: characters are counted by what is left of a byte string when a kind
is deleted, words come from the bag, and the HTML is the one the tokenizer has read already.  Text
beyond MAX_CHARACTERS is not measured, so a hostile mail costs no more than a long one.  Imported only
where a model asks for it.  The table of docs/numeric-features.md is made from FEATURES.
"""

from __future__ import annotations

from nbspam.mail.dates import parse_date
from nbspam.tokens.headers import counts_as_evidence, size_in_bytes
from nbspam.tokens.measures import (
    MAX_CHARACTERS,
    Characters,
    address_host,
    foreign_message_id,
    hosts,
    html_comments,
    linked,
    quoted_lines,
    telephone_numbers,
    visible_text,
)
from nbspam.tokens.origin import unnamed_origin
from nbspam.tokens.structure import disagrees
from nbspam.tokens.urls import MAX_LINKS, MAX_URLS, host_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Message
    from nbspam.tokens.bag import Bag
    from nbspam.tokens.measures import Reading

MAX_RECIPIENT_CHARACTERS = 100_000  # of one field
MAX_DELAY_HOURS = 24.0 * 366  # a clock that is wrong by more is wrong, however much

_ALWAYS = "never"
_NO_TEXT = "no visible text"
_NO_HTML = "no HTML part"
_NO_LETTERS = "no letters in it"

# name, unit, what is measured, when it is missing
FEATURES = (
    ("size", "bytes", "message, without fields that are no evidence", _ALWAYS),
    ("header_fields", "fields", "fields of the header that are evidence", _ALWAYS),
    ("parts", "parts", "leaf parts of the MIME tree", _ALWAYS),
    ("defects", "defects", "kinds of breach of the mail formats", _ALWAYS),
    ("attachments", "parts", "parts that are attached or are no text", _ALWAYS),
    ("attachment_bytes", "bytes", "decoded size of these parts", _ALWAYS),
    ("text_characters", "characters", "visible text without URLs", _ALWAYS),
    ("capital_share", "share of letters", "capitals in the visible text", "no letters in the visible text"),
    (
        "digit_share",
        "share of characters",
        "ASCII digits in the visible text, white space not counted",
        _NO_TEXT,
    ),
    ("punctuation_share", "share of characters", "ASCII punctuation in the same", _NO_TEXT),
    ("non_ascii_share", "share of characters", "characters beyond ASCII in the same", _NO_TEXT),
    ("exclamation_marks", "marks", "`!` in the visible text", _ALWAYS),
    (
        "currency_marks",
        "marks",
        "`$`, `€`, `£`, `¥` and signs of other currencies in the visible text",
        _ALWAYS,
    ),
    ("line_length", "characters", "mean line of the visible text", _NO_TEXT),
    ("quoted_share", "share of lines", "lines that begin with `>`, or that a page marks as quoted", _NO_TEXT),
    ("words", "words", "body tokens", _ALWAYS),
    (
        "longest_word",
        "characters",
        "longest body token (a run too long for a word is a short token)",
        "no words",
    ),
    ("distinct_word_share", "share of words", "different words among the body tokens", "no words"),
    ("urls", "URLs", "web addresses in text and links", _ALWAYS),
    ("distinct_hosts", "hosts", "different hosts among them", _ALWAYS),
    ("address_urls", "URLs", "URLs with an IP address for a host", _ALWAYS),
    ("disagreeing_links", "links", "links whose text names another host than they lead to", _ALWAYS),
    ("images", "images", "images, frames, scripts and sheets in other places", _ALWAYS),
    ("html_tags", "tags", "start tags", _ALWAYS),
    ("html_colours", "colours", "different colours of the HTML", _NO_HTML),
    ("html_comments", "comments", "comments of the HTML", _NO_HTML),
    ("split_words", "words", "words split by tags or comments that show nothing", _NO_HTML),
    ("visible_html_share", "share of characters", "visible text in the source of the HTML", _NO_HTML),
    (
        "hidden_text_share",
        "share of characters",
        "text that no reader sees, among all text of the HTML",
        _NO_HTML,
    ),
    ("hops", "fields", "Received fields", _ALWAYS),
    (
        "delay",
        "hours",
        "from Date to arrival (topmost dated Received), at most a year either way",
        "no Received, or no date",
    ),
    ("recipients", "addresses", "addresses in To and Cc", _ALWAYS),
    ("subject_length", "characters", "Subject", "no Subject"),
    ("subject_capital_share", "share of letters", "capitals in the Subject", _NO_LETTERS),
    ("reply_elsewhere", "0 or 1", "Reply-To leads to another host than From", "no host in one of them"),
    (
        "foreign_message_id",
        "0 or 1",
        "Message-ID was made on a host unrelated to that of From",
        "no host in one of them",
    ),
    (
        "unnamed_origin",
        "0 or 1",
        "the first host of a public address in Received has no name by that address",
        "all addresses in Received are private",
    ),
    (
        "telephone_numbers",
        "numbers",
        "runs of 10 to 12 digits with `-.()+` among them, and numbers behind an area code in brackets",
        _ALWAYS,
    ),
)
NAMES = tuple(name for name, _, _, _ in FEATURES)

_ASCII = bytes(range(128))
_CAPITALS = bytes(range(65, 91))


def numeric_features(
    message: Message, bag: Bag, readings: list[Reading], arrived: float | None
) -> list[float | None]:
    """The values of FEATURES in order, None where one is missing; all others finite; never raises.

    bag, readings : what `tokenize` gave for this message, and noted on the way
    arrived       : mail.dates.received_date of the message
    """
    attached = [
        p.size_bytes for p in message.parts if p.disposition == "attachment" or (p.size_bytes and not p.text)
    ]
    text = visible_text(readings)
    return [
        float(size_in_bytes(message)),
        float(sum(1 for name, _ in message.headers if counts_as_evidence(name))),
        float(len(message.parts)),
        float(len(message.defects)),
        float(len(attached)),
        float(sum(attached)),
        float(sum(len(reading[0]) for reading in readings)),
        *_character_shares(text, quoted_lines(readings)),
        *_word_measures(bag.body),
        *_link_measures(readings),
        *_html_measures(readings),
        *_header_measures(message, arrived),
        float(telephone_numbers(text)),
    ]


def _read_headers(message: Message) -> tuple[dict[str, str], int, int]:
    """The first value of each field, how many Received there are, and addresses in To and Cc."""
    first: dict[str, str] = {}
    hops = addressed = 0
    for name, value in message.headers:
        if name not in first:
            first[name] = value
        if name == "received":
            hops += 1
        elif name in ("to", "cc"):
            addressed += value.count("@", 0, MAX_RECIPIENT_CHARACTERS)
    return first, hops, addressed


def _character_shares(text: str, quoted: int) -> list[float | None]:
    """capital_share to quoted_share."""
    made_of = Characters(text, quoted)
    marks = [float(made_of.exclamation_marks), float(made_of.currency_marks)]
    if not made_of.ink:
        return [None, None, None, None, *marks, None, None]
    return [
        _capital_share(text, made_of),
        made_of.share(made_of.digits),
        made_of.share(made_of.punctuation),
        made_of.share(made_of.foreign),
        *marks,
        len(text) / made_of.lines,
        made_of.quoted_share,
    ]


def _capital_share(text: str, made_of: Characters) -> float | None:
    letters = made_of.letters
    capitals = len(made_of.printed) - len(made_of.printed.translate(None, _CAPITALS))
    if not text.isascii():
        foreign = text.encode("utf-8", "ignore").translate(None, _ASCII).decode("utf-8", "ignore")
        for character in set(foreign):  # counted by kind: a text has few different letters
            if character.isalpha():
                times = foreign.count(character)
                letters += times
                if character.isupper():
                    capitals += times
    return capitals / letters if letters else None


def _word_measures(body: list[str]) -> list[float | None]:
    """words, longest_word, distinct_word_share."""
    if not body:
        return [0.0, None, None]
    distinct = set(body)
    return [float(len(body)), float(max(map(len, distinct))), len(distinct) / len(body)]


def _link_measures(readings: list[Reading]) -> list[float | None]:
    """urls to disagreeing_links."""
    urls = linked(readings)
    lying = sum(
        1
        for _, _, _, html in readings
        if html is not None
        for target, shown in html.links[:MAX_LINKS]
        if "://" in target and "." in shown and disagrees(target, shown)
    )
    by_address = sum(1 for url in urls[:MAX_URLS] if host_of(url).replace(".", "").isdigit())
    return [float(len(urls)), float(len(hosts(urls))), float(by_address), float(lying)]


def _html_measures(readings: list[Reading]) -> list[float | None]:
    """images to hidden_text_share."""
    pages = [(html, size) for _, _, size, html in readings if html is not None]
    images = float(sum(len(html.images) for html, _ in pages))
    tags = float(sum(html.tags for html, _ in pages))
    if not pages:
        return [images, tags, None, None, None, None, None]
    visible = sum(len(html.visible) for html, _ in pages)
    hidden = sum(len(html.hidden) for html, _ in pages)
    colours = {colour for html, _ in pages for colour in html.colours}
    return [
        images,
        tags,
        float(len(colours)),
        html_comments(readings),
        float(sum(html.joined for html, _ in pages)),
        visible / max(1, sum(size for _, size in pages)),
        hidden / max(1, visible + hidden),
    ]


def _header_measures(message: Message, arrived: float | None) -> list[float | None]:
    """hops to unnamed_origin."""
    first, hops, addressed = _read_headers(message)
    subject = first.get("subject")
    start = (subject or "")[:MAX_CHARACTERS]
    sender, reply_to = address_host(first.get("from", "")), address_host(first.get("reply-to", ""))
    return [
        float(hops),
        _delay_hours(first.get("date", ""), arrived) if hops else None,
        float(addressed),
        None if subject is None else float(len(subject)),
        _capital_share(start, Characters(start)),
        float(reply_to != sender) if reply_to and sender else None,
        foreign_message_id(first),
        unnamed_origin(message),
    ]


def _delay_hours(date: str, arrived: float | None) -> float | None:
    sent = parse_date(date) if date and arrived is not None else None
    if sent is None or arrived is None:
        return None
    return min(max((arrived - sent) / 3600.0, -MAX_DELAY_HOURS), MAX_DELAY_HOURS)
