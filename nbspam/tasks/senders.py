"""Names of senders: as people type them, from files, and of those to whom the user wrote."""

import re
from collections import Counter

from nbspam.corpus.item import Skipped, open_message, read_items
from nbspam.corpus.walk import Notes, SourcePart
from nbspam.errors import BadDataError, NoInputError, UsageError
from nbspam.senders import fold_address, fold_domain, read_fields, split_mailboxes

MAX_FILE_BYTES = 16 << 20
EXAMPLE = "for example: ann@example.org, or example.org with its subdomains"
# Why an address to which the user wrote is left out -> what tells it.
LEFT_OUT = {
    "addresses that nobody reads": re.compile(
        r"^(?:reply\+|.*(?:no[-_.]?reply|do[-_.]?not[-_.]?reply|mailer-daemon|bounce|postmaster)).*@"
    ),
    "mailing lists": re.compile(
        r"-(?:request|(?:un)?subscribe|owner|list|users|devel|dev|announce|discuss)@|@(?:lists?|groups?|googlegroups)\."
    ),
}
_MAIL_OF_CARD = re.compile(r'(?im)^(?:[\w-]+\.)?EMAIL(?:;(?:"[^"\n]*"|[^":\n])*)?:(?:mailto:)?(.*)')


def parse_who(text: str) -> str:
    """An address or a domain of at least two labels, folded; UsageError for other text."""
    name = fold_address(text) or fold_domain(text.removeprefix("@"))
    if not name or "*" in name:
        why = "is no address and no domain of two labels; there are no patterns"
        raise UsageError(text[:80], why, EXAMPLE, "who")
    return name


def parse_server(text: str) -> str:
    """A name of a mail server (authserv-id) in lower case; UsageError for other text."""
    if not text or set(text) & set(' ;="'):
        why = "is no name that a server gives itself in Authentication-Results"
        raise UsageError(text[:80], why, "for example: mx.example.org", "server")
    return text.lower()


def read_names(path: str) -> list[str]:
    """The names in a list, one a line (# begins a comment), or in vCards; BadDataError for a wrong line."""
    try:
        with open_message(path) as file:
            text = file.read(MAX_FILE_BYTES).decode("utf-8-sig", "replace")
    except OSError as error:
        raise NoInputError(path, error.strerror or "cannot be read", "check the path", "no-input") from None
    lines = text.splitlines()
    if "BEGIN:VCARD" in text.upper():
        unfolded = re.sub(r"\n[ \t]", "", "\n".join(lines))
        mailboxes = [box for value in _MAIL_OF_CARD.findall(unfolded) for box in split_mailboxes(value)]
        return [*filter(None, map(fold_address, mailboxes))]
    names = []
    for number, line in enumerate(lines, 1):
        if word := line.partition("#")[0].strip():
            try:
                names.append(parse_who(word))
            except UsageError as error:
                raise BadDataError(f"{path}: line {number}", error.why, EXAMPLE, "who") from None
    return names


def list_recipients(folder: str) -> tuple[list[str], Counter[str], Skipped]:
    """(addresses in To and Cc of sent mail, why others are left out and how many, what could not be read)."""
    notes, left_out = Notes(), Counter[str]()
    written, own = dict[str, None](), set[str]()
    for _, data in read_items(SourcePart(folder).items(notes), notes.skipped):
        for field, value in read_fields(data, ("from", "to", "cc")):
            addresses = [*filter(None, map(fold_address, split_mailboxes(value)))]
            own.update(addresses if field == "from" else ())
            written |= dict.fromkeys(addresses if field != "from" else ())
    names = []
    for address in written:
        reasons = [reason for reason, pattern in LEFT_OUT.items() if pattern.search(address)]
        if address in own:
            left_out["own addresses"] += 1
        elif reasons:
            left_out[reasons[0]] += 1
        else:
            names.append(address)
    return names, left_out, notes.skipped
