"""A verdict in words: how sure, and the strongest reasons.

A token tells by its beginning what it is of (docs/tokens.md).  Here is what people call that.
"""

from collections.abc import Sequence

from nbspam.cli import plain
from nbspam.decision import UNDECIDED
from nbspam.explain import Clue, Explanation, SameText
from nbspam.labels import amount

MAX_REASONS = 3
MAX_NAMED = 3  # things of one reason, such as words
MAX_CLUES = 30  # that reasons come from; later ones say little
MAX_THING = 40  # characters of a thing
MOST_PERCENT = 99.99  # nothing is certain
MOST_TEXT = 0.5  # of a signature: less is not called the same text
# What a kind of token is called, once and several times.
PHRASES = {  # by the field of a token of the header
    "subject": ("the subject word", "the subject words"),
    "from": ("the sender", "the sender"),
    "reply-to": ("the reply address", "the reply address"),
    "return-path": ("the return address", "the return address"),
    "to": ("the recipient", "the recipients"),
    "cc": ("the recipient", "the recipients"),
    "delivered-to": ("the recipient", "the recipients"),
    "received": ("the way through", "the way through"),
    "message-id": ("the message ID of", "the message ID of"),
    "list-id": ("the mailing list", "the mailing list"),
    "user-agent": ("the mail program", "the mail program"),
    "x-mailer": ("the mail program", "the mail program"),
    "content-type": ("the content type", "the content type"),
    "field": ("the header field", "the header fields"),
    # of other tokens
    "word": ("the word", "the words"),
    "words": ("the words", "the words"),  # two that follow one another
    "path": ("the word in a link", "the words in links"),
    "authentication": ("the authentication result", "the authentication results"),
    "failed": ("the failed authentication",) * 2,
    "passed": ("the passed authentication",) * 2,
    "raw": ("the bytes", "the bytes"),
    "measure": ("", ""),
    "NOTAWORD": ("words that were never met",) * 2,
}
# By the mark of a token of the structure, before `=`.
STRUCTURE_MARKS = {
    "url": ("the link to", "the links to"),
    "link": ("a link that shows", "a link that shows"),
    "image": ("an image from", "images from"),
    "title": ("the word in the page title", "the words in the page title"),
    "alt": ("the word for an image", "the words for images"),
    "file": ("a file named", "files named"),
    "ending": ("a file that ends in", "files that end in"),
    "attached": ("an attachment of type", "attachments of type"),
    "magic": ("an attachment that is", "attachments that are"),
    "inside": ("an archive with", "an archive with"),
    "document": ("a document with", "a document with"),
    "type": ("a part of type", "parts of type"),
    "charset": ("the charset", "the charsets"),
    "encoding": ("the encoding", "the encodings"),
    "order": ("the order of fields", "the order of fields"),
    "defect": ("the broken format", "the broken format"),
    "spaced": ("the spaced-out word", "the spaced-out words"),
}
PHRASES |= STRUCTURE_MARKS
AUTHENTICATION = ("authentication-results", "received-spf")
FAILED = ("fail", "softfail", "permerror", "invalid")


def describe_verdict(found: Explanation) -> str:
    """`spam, 99.99 %: above all the link to login.example, the failed authentication, the words a and b`."""
    verdict = found.verdict
    if verdict.shares is None:
        return verdict.label
    name = verdict.classes[verdict.number]
    nats = [clue.log_odds or 0.0 for clue in found.clues]
    reasons = list_reasons([clue for clue, value in zip(found.clues, nats, strict=True) if value > 0])
    others = list_reasons([clue for clue, value in zip(found.clues, nats, strict=True) if value < 0])
    if verdict.decided == UNDECIDED:
        sides = [f"for it {reasons}"] * bool(reasons) + [f"against it {others}"] * bool(others)
        how_sure = f"{verdict.label}, {name} {percent(verdict.shares[verdict.number])}"
        return f"{how_sure}: {'; '.join(sides)}" if sides else how_sure
    own = reasons if verdict.decided == verdict.number else others
    how_sure = f"{verdict.label}, {percent(verdict.shares[verdict.decided])}"
    likelier = max(verdict.shares)
    if verdict.shares[verdict.decided] < likelier:  # its costs decide
        best = verdict.classes[verdict.shares.index(likelier)]
        how_sure = f"{verdict.label}, although {best} is likelier, {percent(likelier)}"
    return f"{how_sure}: above all {own}" if own else how_sure


def describe_same_text(found: SameText, first_day: str) -> str:
    """`The same text as 3 spam messages, first learned 2026-11-27.`"""
    how_much = "The same text as" if found.share > MOST_TEXT else "Parts of the text of"
    count = amount(found.messages, f"{plain(found.label)} message")
    return f"{how_much} {count}, first learned {first_day}."


def percent(share: float) -> str:
    """A probability for people; none is printed as 100 %."""
    value = min(100 * share, MOST_PERCENT)
    return f"{value:.2f} %" if value > 99 else f"{value:.0f} %"


def list_reasons(clues: Sequence[Clue]) -> str:
    """The strongest reasons of some clues in words, strongest first; clues of one kind are one reason."""
    found: dict[str, list[str]] = {}
    for clue in clues[:MAX_CLUES]:
        kind, thing = find_reason(clue)
        if kind not in found and len(found) == MAX_REASONS:
            continue
        things = found.setdefault(kind, [])
        if any(thing in other for other in things):  # a.example in login.a.example
            continue
        found[kind] = [other for other in things if other not in thing]
        found[kind].append(thing)
    return ", ".join([_phrase(kind, things[:MAX_NAMED]) for kind, things in found.items()])


def find_reason(clue: Clue) -> tuple[str, str]:
    """What a clue is about, from its view and the beginning of its token: a kind, and the name of a thing.

    The kind is a key of PHRASES, or a field or mark that is not there.
    """
    token = clue.token
    if clue.kind == "feature" or clue.view == "measures":
        return "measure", _describe_measure(token)
    if clue.view == "bigrams":
        return "words", token.replace("+", " ")
    if clue.view == "header":
        field, _, value = token.partition(":")
        if field not in AUTHENTICATION:
            return field, value.strip("@#").replace("+", " ")
        if value in FAILED or value == "pass":
            return ("passed" if value == "pass" else "failed"), ""
        return "authentication", value
    mark, _, value = token.partition("=")
    if clue.view == "raw":
        return "raw", value
    if mark == "url" and value.startswith("/"):
        return "path", value[1:]
    if mark in STRUCTURE_MARKS and value:
        return mark, value.strip("#").replace(">", " before ")
    return ("word", token) if clue.view == "body" else (token, "")


def _describe_measure(token: str) -> str:
    """`digit_share<0.001` is `digit share below 0.001`; `unnamed_origin>=0.5`, a yes, is `unnamed origin`."""
    for mark, words in ((">=", "at least"), ("<", "below"), ("=", "")):
        name, found, value = token.partition(mark)
        if found:
            name = name.replace("_", " ")
            if value in ("0.5", "1") and mark != "=":
                return name if mark == ">=" else f"no {name}"
            return f"{name} {words} {value}".replace("  ", " ")
    return token


def _phrase(kind: str, things: Sequence[str]) -> str:
    """A reason in words; a kind that is not in PHRASES is named as it is in the table of clues."""
    names = [plain(thing)[:MAX_THING] for thing in things if thing]
    if kind not in PHRASES:
        return f"{plain(kind)[:MAX_THING]} {', '.join(names)}".rstrip()
    one, several = PHRASES[kind]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    return f"{several if len(names) > 1 else one} {listed}".strip()
