"""Measures: numeric features of a message as tokens, one each, by the bin that the value falls into.

Hides how they are measured in a few passes over the text: characters are counted by what is left of a byte
string when a kind is deleted, and the HTML is the one that the tokenizer has read already.  The bins are the
same for all mail and all models, so that counts can be added, taken away and merged.  Text beyond
MAX_CHARACTERS is not measured, so a hostile mail costs no more than a long one.
Which features and which bins: docs/experiments/measures.md.
"""

from __future__ import annotations

from nbspam.tokens.origin import unnamed_origin
from nbspam.tokens.urls import MAX_LINKS, MAX_URLS, host_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbspam.mail.message import Html, Message

# What the tokenizer read of a text: without its URLs, the URLs, the size of its source, its HTML.
Reading = tuple[str, list[str], int, "Html | None"]

MAX_BRACKETS = 1_000  # that may hold an area code
MAX_CHARACTERS = 50_000  # of visible text that are measured; later text repeats what the first said

_SHARE = (0.001, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
_NUMBER = (1, 2, 3, 5, 8, 16, 32)
# name -> inner edges of its bins, ascending; a value on an edge belongs to the bin above it.
# What each measures is told by nbspam.tokens.numeric.FEATURES.
BINS: dict[str, tuple[float, ...]] = {
    "size": tuple(2**n for n in range(6, 20)),
    "defects": _NUMBER,
    "digit_share": _SHARE,
    "punctuation_share": _SHARE,
    "exclamation_marks": _NUMBER,
    "currency_marks": _NUMBER,
    "quoted_share": _SHARE,
    "distinct_hosts": _NUMBER,
    "html_comments": _NUMBER,
    "subject_length": (1, 10, 20, 30, 40, 50, 60, 80),
    "foreign_message_id": (0.5,),
    "unnamed_origin": (0.5,),
    "telephone_numbers": _NUMBER,
}
MEASURES = tuple(BINS)
N_BINS = {name: len(edges) + 2 for name, edges in BINS.items()}  # the last: no value

_CURRENCIES = "€£¥￥₽₩₹₺₴₸₪₫₱₦₡฿৳"  # beside $; few mails have others
_LETTERS = bytes(range(65, 91)) + bytes(range(97, 123))
_DIGITS = bytes(range(48, 58))
_NO_DIGITS = bytes(set(range(256)) - set(_DIGITS))
_NUMBERS = bytes(code if code in _DIGITS + b"-.()+/" else 32 for code in range(256))
_SPACE = bytes(range(33)) + b"\x7f"  # and the control characters


def bins_of(name: str) -> list[str]:
    """The tokens of a measure, the lowest bin first, that of a missing value last."""
    edges = [f"{edge:g}" for edge in BINS[name]]
    return [f"{name}<{edges[0]}", *(f"{name}>={edge}" for edge in edges), f"{name}=none"]


_TOKENS: list[tuple[tuple[float, ...], list[str]]] = []  # edges and tokens of each measure


def measure_of(token: str) -> str:
    """The name of the measure that a token is of."""
    return token.partition("<")[0].partition(">")[0].partition("=")[0]


def messages_measured(documents: Sequence[float]) -> list[float]:
    """m_k from the sums of n_jk over the tokens of all measures: each message is in one bin of each."""
    return [total / len(MEASURES) for total in documents]


def measures(message: Message, readings: list[Reading], size_bytes: int) -> list[str]:
    """The tokens of a message, in the order of BINS.

    readings   : what `tokenize` noted of the texts of this message
    size_bytes : headers.size_in_bytes of the message
    """
    if not _TOKENS:
        _TOKENS.extend((edges, bins_of(name)) for name, edges in BINS.items())
    found: list[str] = []
    for value, (edges, tokens) in zip(_values(message, readings, size_bytes), _TOKENS, strict=True):
        place = len(edges) + 1
        if value is not None:
            place = 0
            for edge in edges:
                if value < edge:
                    break
                place += 1
        found.append(tokens[place])
    return found


def _values(message: Message, readings: list[Reading], size_bytes: int) -> tuple[float | None, ...]:
    text = visible_text(readings)
    made_of = Characters(text, quoted_lines(readings))
    first = first_values(message, ("subject", "from", "message-id"))
    subject = first.get("subject")
    return (
        float(size_bytes),
        float(len(message.defects)),
        made_of.share(made_of.digits),
        made_of.share(made_of.punctuation),
        float(made_of.exclamation_marks),
        float(made_of.currency_marks),
        made_of.quoted_share,
        float(len(hosts(linked(readings)))),
        html_comments(readings),
        None if subject is None else float(len(subject)),
        foreign_message_id(first),
        unnamed_origin(message),
        float(telephone_numbers(text)),
    )


def visible_text(readings: list[Reading]) -> str:
    """The first MAX_CHARACTERS of what a reader sees."""
    texts: list[str] = []
    room = MAX_CHARACTERS
    for reading in readings:
        if room > 0:
            texts.append(reading[0][:room])
            room -= len(reading[0])
    return "\n".join(texts)


def quoted_lines(readings: list[Reading]) -> int:
    """Lines that pages mark as quoted, beside those that begin with >."""
    return sum([html.quoted for _, _, _, html in readings if html is not None])


class Characters:
    """What a text is made of.

    printed, letters : the ASCII in it but white space, and how many of that are letters
    foreign          : characters beyond ASCII
    ink              : all characters but white space
    """

    __slots__ = (
        "currency_marks",
        "digits",
        "exclamation_marks",
        "foreign",
        "ink",
        "letters",
        "lines",
        "printed",
        "punctuation",
        "quoted_share",
    )

    def __init__(self, text: str, quoted: int = 0) -> None:
        """quoted : lines of it that are quoted but do not begin with >"""
        raw = text.encode("ascii", "ignore")
        self.foreign = len(text) - len(raw)
        self.printed = raw.translate(None, _SPACE)
        marks = self.printed.translate(None, _LETTERS)  # a sixth of the text: what follows is cheap
        self.letters = len(self.printed) - len(marks)
        self.ink = len(self.printed) + self.foreign
        self.digits = len(marks) - len(marks.translate(None, _DIGITS))
        self.punctuation = len(marks) - self.digits
        self.exclamation_marks = marks.count(b"!")
        self.currency_marks = marks.count(b"$")
        if self.foreign:
            self.currency_marks += sum(map(text.count, _CURRENCIES))
        self.lines = text.rstrip("\n").count("\n") + 1  # some store a mail with an empty line more
        quoted += text.count("\n>") + text.startswith(">")
        self.quoted_share = min(1.0, quoted / self.lines) if self.ink else None

    def share(self, number: int) -> float | None:
        """A number of characters as a share of all but white space; None if there are none."""
        return number / self.ink if self.ink else None


def telephone_numbers(text: str) -> int:
    """How many runs of digits and -.()+ have ten to twelve digits, and numbers behind (713) and a blank.

    No run with / is one, which are dates and the like, nor one with three full stops, which are addresses.
    """
    raw = text.encode("ascii", "replace")
    found = 0
    for run in raw.translate(_NUMBERS).split():
        if len(run) >= 10 and 10 <= len(run.translate(None, _NO_DIGITS)) <= 12:
            found += b"/" not in run and run.strip(b".").count(b".") != 3
    for behind in raw.split(b"(", MAX_BRACKETS)[1:]:
        area, closing, local = behind[:17].partition(b") ")
        if closing and area.isdigit() and 2 <= len(area) <= 5:
            local = local[: len(local) - len(local.lstrip(_DIGITS + b"-. "))]
            found += 6 <= len(local.translate(None, _NO_DIGITS)) <= 8
    return found


def linked(readings: list[Reading]) -> list[str]:
    """The web addresses in texts, and those that links lead to."""
    urls: list[str] = []
    for _, found, _, html in readings:
        urls.extend(found)
        if html is not None:
            urls.extend([target for target, _ in html.links[:MAX_LINKS] if "://" in target])
    return urls


def hosts(urls: list[str]) -> set[str]:
    """The different hosts of some URLs."""
    return {host_of(url) for url in set(urls[:MAX_URLS])}


def html_comments(readings: list[Reading]) -> float | None:
    """How many comments there are in HTML; None if nothing is HTML."""
    comments = [html.comments for _, _, _, html in readings if html is not None]
    return float(sum(comments)) if comments else None


def first_values(message: Message, names: tuple[str, ...]) -> dict[str, str]:
    """The first value of each of some header fields, where there is one."""
    first: dict[str, str] = {}
    for name, value in message.headers:
        if name in names and name not in first:
            first[name] = value
    return first


def foreign_message_id(first: dict[str, str]) -> float | None:
    """Whether Message-ID was made on a host unrelated to that of From; None if a host is not named."""
    sender, made_by = address_host(first.get("from", "")), address_host(first.get("message-id", ""))
    return float(not _related(made_by, sender)) if made_by and sender else None


def address_host(text: str) -> str:
    """What stands behind the last @, up to a space or bracket; lower case; may be empty."""
    tail = text.rpartition("@")[2] if "@" in text else ""
    if not tail.isalnum():
        for mark in '> \t"),;':
            tail = tail.partition(mark)[0]
    return tail.strip(".").lower()


def _related(one: str, other: str) -> bool:
    """Whether two hosts end in the same two names."""
    return one.split(".")[-2:] == other.split(".")[-2:]
