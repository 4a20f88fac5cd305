"""Which fields are evidence, and how they are read."""

from nbspam.mail import Message
from nbspam.tokens import Bag
from nbspam.tokens import headers as kept
from nbspam.tokens.bag import neighbours
from nbspam.tokens.words import words
from tests.experiments.lab import variants

CALENDAR = kept._CALENDAR


def without(*marks: str):  # type: ignore[no-untyped-def]
    """The bag without the header and structure tokens that begin so."""

    def change(message: Message, bag: Bag) -> Bag:
        header = [token for token in bag.header if not token.startswith(marks)]
        structure = [token for token in bag.structure if not token.startswith(marks)]
        return Bag(header, bag.body, structure)

    return change


def plus(found):  # type: ignore[no-untyped-def]
    """The bag with more header tokens."""
    return lambda message, bag: Bag(bag.header + found(message), bag.body, bag.structure)


def no_pairs(message: Message, bag: Bag) -> Bag:
    header = [token for token in bag.header if not (token.startswith("subject:") and "+" in token)]
    return Bag(header, bag.body, bag.structure)


def list_machinery(message: Message) -> list[str]:
    fields = [(n, text) for n, text in message.headers if n in kept._LIST_MACHINERY]
    return [f"{name}:{word}" for name, text in fields for word in words(text, 400)]


def calendar(message: Message) -> list[str]:
    fields = [text.lower() for n, text in message.headers if n in ("received", "date")]
    return [f"when:{word}" for text in fields for word in text.replace(",", " ").split() if word in CALENDAR]


def body_pairs(message: Message, bag: Bag) -> Bag:
    return Bag(bag.header, bag.body + neighbours(bag.body), bag.structure)


def hops(message: Message) -> list[str]:
    return [f"hops:{sum(name == 'received' for name, _ in message.headers)}"]


def origin(message: Message) -> list[str]:
    """The tokens of the Received field that was written first, again, as `origin:`."""
    fields = [text for name, text in message.headers if name == "received"][-1:]
    tokens = kept.header_tokens([("received", text) for text in fields])
    return ["origin:" + token.partition(":")[2] for token in tokens[1:]]


if __name__ == "__main__":
    variants(
        ("spamassassin",),
        {
            "kept": None,
            "without the order of fields": without("order="),
            "without names of fields": without("field:"),
            "without pairs of subject words": no_pairs,
            "pairs of body words too": body_pairs,
            "words of the list machinery too": plus(list_machinery),
            "days and months too": plus(calendar),
            "number of hops too": plus(hops),
            "the first hop once more": plus(origin),
            "without Received": without("received:"),
            "without Message-ID and its kin": without("message-id:", "references:", "in-reply-to:"),
        },
    )
