"""Real-valued features of a message, for the Gaussian, categorical and AODE models.

Text beyond MAX_CHARACTERS is not measured, so a hostile mail costs no more than a long one.  Imported only if
a model asks for it.  The table of docs/numeric-features.md is made from FEATURES.
"""

from __future__ import annotations

from nbspam.mail.dates import parse_date
from nbspam.tokens.headers import counts_as_evidence
from nbspam.tokens.measures import (
    MAX_CHARACTERS,
    Characters,
    address_host,
    measure_values,
    visible_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbspam.mail.message import Message
    from nbspam.tokens.bag import Tokens
    from nbspam.tokens.texts import Texts

    Values = dict[str, float | None]

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


def numeric_features(message: Message, tokens: Tokens, texts: Texts) -> list[float | None]:
    """The values of FEATURES in order, None where one is missing; all others finite; never raises.

    tokens : with the body and the date of this message
    texts  : what was noted while these were read
    """
    values = {
        **measure_values(message, texts),
        **_part_values(message),
        **_text_values(texts),
        **_word_values(tokens.body),
        **_link_values(texts),
        **_html_values(texts),
        **_header_values(message, tokens.date),
    }
    return [values[name] for name in NAMES]


def _part_values(message: Message) -> Values:
    attached = [
        p.size_bytes for p in message.parts if p.disposition == "attachment" or (p.size_bytes and not p.text)
    ]
    return {
        "parts": float(len(message.parts)),
        "attachments": float(len(attached)),
        "attachment_bytes": float(sum(attached)),
    }


def _text_values(texts: Texts) -> Values:
    text = visible_text(texts)
    made_of = Characters(text)
    return {
        "text_characters": float(sum(map(len, texts.visible))),
        "capital_share": _capital_share(text, made_of),
        "non_ascii_share": made_of.share(made_of.foreign),
        "line_length": len(text) / made_of.lines if made_of.ink else None,
    }


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


def _word_values(body: Sequence[str]) -> Values:
    distinct = set(body)
    return {
        "words": float(len(body)),
        "longest_word": float(max(map(len, distinct))) if body else None,
        "distinct_word_share": len(distinct) / len(body) if body else None,
    }


def _link_values(texts: Texts) -> Values:
    by_address = [host for host in texts.hosts if host.replace(".", "").isdigit()]
    return {
        "urls": float(len(texts.hosts)),
        "address_urls": float(len(by_address)),
        "disagreeing_links": float(texts.disagreeing_links),
    }


def _html_values(texts: Texts) -> Values:
    pages = texts.pages
    always: Values = {
        "images": float(sum(len(page.images) for page in pages)),
        "html_tags": float(sum(page.tags for page in pages)),
    }
    if not pages:
        return always | dict.fromkeys(
            ("html_colours", "split_words", "visible_html_share", "hidden_text_share")
        )
    visible = sum(len(page.visible) for page in pages)
    hidden = sum(len(page.hidden) for page in pages)
    return always | {
        "html_colours": float(len({colour for page in pages for colour in page.colours})),
        "split_words": float(sum(page.joined for page in pages)),
        "visible_html_share": visible / max(1, texts.page_characters),
        "hidden_text_share": hidden / max(1, visible + hidden),
    }


def _header_values(message: Message, arrived: float | None) -> Values:
    first: dict[str, str] = {}
    hops = recipients = 0
    for name, value in message.headers:
        first.setdefault(name, value)
        if name == "received":
            hops += 1
        elif name in ("to", "cc"):
            recipients += value.count("@", 0, MAX_RECIPIENT_CHARACTERS)
    subject = first.get("subject", "")[:MAX_CHARACTERS]
    sender, reply_to = address_host(first.get("from", "")), address_host(first.get("reply-to", ""))
    return {
        "header_fields": float(sum(1 for name, _ in message.headers if counts_as_evidence(name))),
        "hops": float(hops),
        "delay": _delay_hours(first.get("date", ""), arrived) if hops else None,
        "recipients": float(recipients),
        "subject_capital_share": _capital_share(subject, Characters(subject)),
        "reply_elsewhere": float(reply_to != sender) if reply_to and sender else None,
    }


def _delay_hours(date: str, arrived: float | None) -> float | None:
    sent = parse_date(date) if date and arrived is not None else None
    if sent is None or arrived is None:
        return None
    return min(max((arrived - sent) / 3600.0, -MAX_DELAY_HOURS), MAX_DELAY_HOURS)
