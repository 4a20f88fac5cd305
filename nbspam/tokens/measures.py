"""Measures: numeric features of a message as tokens, one each, by the bin that the value falls into.

Text beyond MAX_MEASURED characters is not measured, so a hostile mail costs no more than a long one.
"""

from bisect import bisect_right

from nbspam.mail.message import Message
from nbspam.tokens.bag import BIN_EDGES, list_bins
from nbspam.tokens.headers import measure_size
from nbspam.tokens.structure import MAX_URLS, Texts
from nbspam.tokens.words import CURRENCIES

MAX_HOPS = 50  # of the earliest
MAX_TRACE_WORDS = 60  # of a field; the host comes first
_PUNCTUATION = dict.fromkeys(map(ord, "()[],;@"), " ")
_PRIVATE = ("0.", "10.", "127.", "169.254.", "192.168.", *(f"172.{n}." for n in range(16, 32)))
_PRIVATE += ("fc", "fd", "fe80:", "::1")  # of IPv6: unique local, link local, loopback
MAX_BRACKETS = 1_000  # that may hold an area code
MAX_MEASURED = 50_000  # of visible text that are measured; later text repeats what the first said

_LETTERS = bytes(range(65, 91)) + bytes(range(97, 123))
_DIGITS = bytes(range(48, 58))
_NO_DIGITS = bytes(set(range(256)) - set(_DIGITS))
_NUMBERS = bytes(code if code in _DIGITS + b"-.()+/" else 32 for code in range(256))
_SPACE = bytes(range(33)) + b"\x7f"  # and the control characters

_TOKENS = {name: list_bins(name) for name in BIN_EDGES}


def tokenize_measures(message: Message, texts: Texts) -> list[str]:
    """The tokens of a message, in the order of BIN_EDGES."""
    values = measure_message(message, texts)
    tokens = []
    for name, edges in BIN_EDGES.items():
        value = values[name]
        # The last token of a measure says that it has no value.
        tokens.append(_TOKENS[name][-1 if value is None else bisect_right(edges, value)])
    return tokens


def measure_message(message: Message, texts: Texts) -> dict[str, float | None]:
    """The value of each measure; None if there is nothing to measure."""
    text = join_visible(texts)
    made_of = Characters(text, sum([page.quoted for page in texts.pages]))
    subject = message.get("subject")
    return {
        "size": measure_size(message),
        "defects": len(message.defects),
        "digit_share": made_of.share(made_of.digits),
        "punctuation_share": made_of.share(made_of.punctuation),
        "exclamation_marks": made_of.exclamation_marks,
        "currency_marks": made_of.currency_marks,
        "quoted_share": made_of.quoted_share,
        "distinct_hosts": len(set(texts.hosts[:MAX_URLS])),
        "html_comments": sum([page.comments for page in texts.pages]) if texts.pages else None,
        "subject_length": None if subject is None else len(subject),
        "foreign_message_id": has_foreign_message_id(message),
        "unnamed_origin": has_unnamed_origin(message),
        # No fewer digits are a number: most texts are not looked at.
        "telephone_numbers": count_telephone_numbers(text) if made_of.digits >= 8 else 0,
    }


def join_visible(texts: Texts) -> str:
    """The first MAX_MEASURED characters of what a reader sees."""
    return "\n".join([text[:MAX_MEASURED] for text in texts.visible])[:MAX_MEASURED]


class Characters:
    """What a text is made of.

    printed, letters : the ASCII in it except white space, and how many of that are letters
    foreign          : characters beyond ASCII
    ink              : all characters except white space
    """

    def __init__(self, text: str, quoted: int = 0) -> None:
        """quoted : lines that are quoted but do not begin with >"""
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
            self.currency_marks += sum(map(text.count, CURRENCIES))
        self.lines = text.rstrip("\n").count("\n") + 1  # some store a mail with an empty line more
        quoted += text.count("\n>") + text.startswith(">")
        self.quoted_share = min(1.0, quoted / self.lines) if self.ink else None

    def share(self, number: int) -> float | None:
        """A number of characters as a share of all except white space; None if there are none."""
        return number / self.ink if self.ink else None


def count_telephone_numbers(text: str) -> int:
    """How many runs of digits and -.()+ have ten to twelve digits, and numbers after (713) and a blank.

    A run with / is a date, and one with three full stops is an address.
    """
    raw = text.encode("ascii", "replace")
    count = 0
    for run in raw.translate(_NUMBERS).split():
        if len(run) >= 10 and 10 <= len(run.translate(None, _NO_DIGITS)) <= 12:
            count += b"/" not in run and run.strip(b".").count(b".") != 3
    for after in raw.split(b"(", MAX_BRACKETS)[1:]:
        area, closing, local = after[:17].partition(b") ")
        if closing and area.isdigit() and 2 <= len(area) <= 5:
            local = local[: len(local) - len(local.lstrip(_DIGITS + b"-. "))]
            count += 6 <= len(local.translate(None, _NO_DIGITS)) <= 8
    return count


def has_foreign_message_id(message: Message) -> float | None:
    """1 if Message-ID was made on a host unrelated to that of From; None if a host is not named."""
    sender = find_address_host(message.get("from") or "")
    made_by = find_address_host(message.get("message-id") or "")
    if not sender or not made_by:
        return None
    return made_by.split(".")[-2:] != sender.split(".")[-2:]


def find_address_host(text: str) -> str:
    """What follows the last @, up to a space or bracket; lower case; may be empty."""
    tail = text.rpartition("@")[2] if "@" in text else ""
    if not tail.isalnum():
        for mark in '> \t"),;':
            tail = tail.partition(mark)[0]
    return tail.strip(".").lower()


def has_unnamed_origin(message: Message) -> float | None:
    """1 if the earliest host with a public address in Received has no name by that address, else 0.

    None if all addresses are private; 0 for mail without Received, which says nothing of its way.  A mail
    server writes into Received who handed the message over, with the name that the DNS has for the address.
    People who keep a mail server give its address a name; most machines that send spam of their own have
    none.  The fields below the sender's own server may be forged, those above it are not.
    Source: RFC 5321, 4.4, and what Sendmail, Postfix, qmail, Exim and Exchange write.
    """
    fields = [value for name, value in message.headers if name == "received"]
    for text in reversed(fields[-MAX_HOPS:]):
        name = _find_public_name(text)
        if name is not None:
            return not name
    return None if fields else 0


def _find_public_name(field: str) -> str | None:
    """The name of the host that handed the message over, "" if it has none; None if it is not public."""
    words = field.lower().split(None, MAX_TRACE_WORDS)[:MAX_TRACE_WORDS]
    if words[:1] != ["from"]:
        return None
    said = words[1 : words.index("by") if "by" in words else MAX_TRACE_WORDS]
    clause = " ".join(said).replace("helo=[", "helo=")
    addresses = [word for word in clause.translate(_PUNCTUATION).split() if _is_address(word)]
    if not addresses or _strip_mark(addresses[-1]).startswith(_PRIVATE):
        return None
    name = said[0]
    is_by_address = "(exim" in words or "(helo" in clause or "(ehlo" in clause or "helo=" in clause
    if not is_by_address and "[" in clause:  # from what it calls itself (its name by address [address])
        name = clause.rpartition("[")[0].rpartition("(")[2]
    name = name.rpartition("@")[2].strip(" .")
    return "" if name == "unknown" or name[:1] == "[" or _is_address(name) else name


def _is_address(word: str) -> bool:
    """True for an address of IPv4 or, as programs write it, of IPv6."""
    word = _strip_mark(word)
    if word.count(".") == 3 and word.replace(".", "").isdigit():
        return all(len(part) <= 3 for part in word.split("."))
    return ("::" in word or word.count(":") == 7) and not word.strip("0123456789abcdef:.")


def _strip_mark(address: str) -> str:
    """An address without what RFC 5321, 4.1.3 has before one of IPv6; ::ffff:192.0.2.7 is 192.0.2.7."""
    return address.removeprefix("ipv6:").removeprefix("::ffff:")
