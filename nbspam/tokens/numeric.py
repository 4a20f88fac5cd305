"""Real-valued features of a message, for the Gaussian, categorical and AODE models.

Text beyond MAX_MEASURED characters is not measured, so a hostile mail costs no more than a long one.
Imported only if a model asks for it.
"""

from collections.abc import Sequence

from nbspam.mail.dates import parse_date
from nbspam.mail.message import Message, pin
from nbspam.tables import read_table
from nbspam.tokens.bag import Tokens
from nbspam.tokens.headers import counts_as_evidence
from nbspam.tokens.measures import MAX_MEASURED, Characters, find_address_host, join_visible, measure_message
from nbspam.tokens.structure import Texts

Measured = dict[str, float | None]  # by name of the feature
MAX_RECIPIENT_CHARACTERS = 100_000  # of one field
MAX_DELAY_HOURS = 24.0 * 366  # a clock that is wrong by more is wrong, however much

NAMES = tuple(read_table("features")["numeric"])  # in the order of a model file

_ASCII = bytes(range(128))
_CAPITALS = bytes(range(65, 91))


def measure_features(message: Message, tokens: Tokens, texts: Texts) -> list[float | None]:
    """The values of NAMES in order, None where one is missing; all others finite; never raises.

    tokens : with the body and the date of this message
    texts  : what was noted while these were read
    """
    values = {
        **measure_message(message, texts),
        **_measure_texts(texts, tokens.body),
        **_measure_pages(texts),
        **_measure_whole(message, tokens.date),
    }
    return [None if (value := values[name]) is None else float(value) for name in NAMES]


def _measure_texts(texts: Texts, words: Sequence[str]) -> Measured:
    text = join_visible(texts)
    made_of = Characters(text)
    distinct = set(words)
    return {
        "text_characters": sum(map(len, texts.visible)),
        "capital_share": _measure_capitals(text, made_of),
        "non_ascii_share": made_of.share(made_of.foreign),
        "line_length": len(text) / made_of.lines if made_of.ink else None,
        "words": len(words),
        "longest_word": max(map(len, distinct), default=None),
        "distinct_word_share": len(distinct) / len(words) if words else None,
        "urls": len(texts.hosts),
        "address_urls": sum([host.replace(".", "").isdigit() for host in texts.hosts]),
        "disagreeing_links": texts.disagreeing_links,
    }


def _measure_capitals(text: str, made_of: Characters) -> float | None:
    letters = made_of.letters
    capitals = len(made_of.printed) - len(made_of.printed.translate(None, _CAPITALS))
    if not text.isascii():
        foreign = text.encode("utf-8", "ignore").translate(None, _ASCII).decode("utf-8", "ignore")
        alphabetic = list(filter(str.isalpha, pin(foreign)))
        letters += len(alphabetic)
        capitals += sum(map(str.isupper, alphabetic))
    return capitals / letters if letters else None


def _measure_pages(texts: Texts) -> Measured:
    pages = texts.pages
    visible = sum([len(page.visible) for page in pages])
    hidden = sum([len(page.hidden) for page in pages])
    of_pages: Measured = {
        "html_colours": len({colour for page in pages for colour in page.colours}),
        "split_words": sum([page.joined for page in pages]),
        "visible_html_share": visible / max(1, texts.page_characters),
        "hidden_text_share": hidden / max(1, visible + hidden),
    }
    return {
        "images": sum([len(page.images) for page in pages]),
        "html_tags": sum([page.tags for page in pages]),
        **(of_pages if pages else dict.fromkeys(of_pages)),
    }


def _measure_whole(message: Message, arrived: float | None) -> Measured:
    attached = [
        part.size_bytes
        for part in message.parts
        if part.disposition == "attachment" or (part.size_bytes and not part.text)
    ]
    names = [name for name, _ in message.headers]
    recipients = [value for name, value in message.headers if name in ("to", "cc")]
    hops = names.count("received")
    subject = (message.get("subject") or "")[:MAX_MEASURED]
    sender = find_address_host(message.get("from") or "")
    reply_to = find_address_host(message.get("reply-to") or "")
    return {
        "parts": len(message.parts),
        "attachments": len(attached),
        "attachment_bytes": sum(attached),
        "header_fields": sum(map(counts_as_evidence, names)),
        "hops": hops,
        "delay": _measure_delay(message.get("date"), arrived) if hops else None,
        "recipients": sum(value.count("@", 0, MAX_RECIPIENT_CHARACTERS) for value in recipients),
        "subject_capital_share": _measure_capitals(subject, Characters(subject)),
        "reply_elsewhere": reply_to != sender if reply_to and sender else None,
    }


def _measure_delay(date: str | None, arrived: float | None) -> float | None:
    sent = parse_date(date) if date and arrived is not None else None
    if sent is None or arrived is None:
        return None
    return min(max((arrived - sent) / 3600.0, -MAX_DELAY_HOURS), MAX_DELAY_HOURS)
