"""What of text and HTML is evidence."""

from nbspam.mail import Message
from nbspam.tokens import Bag
from nbspam.tokens.words import words
from tests.experiments.lab import variants


def capitals(message: Message, bag: Bag) -> Bag:
    """Words in capitals once more, as words of their own."""
    texts = [part.text for part in message.parts if part.text and not part.is_html]
    shouted = ["#" + word for text in texts for word in text.split() if len(word) > 2 and word.isupper()]
    return Bag(bag.header, bag.body + shouted, bag.structure)


def exclamations(message: Message, bag: Bag) -> Bag:
    """How many exclamation marks, as a power of two."""
    marks = sum(part.text.count("!") for part in message.parts)
    return Bag(bag.header, bag.body, bag.structure + [f"bang={min(marks, 64).bit_length()}"])


def without(*marks: str):  # type: ignore[no-untyped-def]
    """The bag without the structure tokens that begin so."""

    def change(message: Message, bag: Bag) -> Bag:
        return Bag(bag.header, bag.body, [token for token in bag.structure if not token.startswith(marks)])

    return change


def hidden_is_visible(message: Message, bag: Bag) -> Bag:
    hidden = [token[7:] for token in bag.structure if token.startswith("hidden=")]
    return Bag(bag.header, bag.body + hidden, bag.structure)


def replaced(message: Message) -> list[str]:
    """The words of texts for which a reader shows HTML."""
    return [word for part in message.parts if part.is_replaced for word in words(part.text, 20_000)]


def alternatives(message: Message, bag: Bag) -> Bag:
    return Bag(bag.header, bag.body + replaced(message), bag.structure)


def what_html_lacks(message: Message, bag: Bag) -> Bag:
    shown = set(bag.body)
    lacking = ["alternative=" + word for word in replaced(message) if word not in shown]
    return Bag(bag.header, bag.body, bag.structure + lacking)


def first(words: int):  # type: ignore[no-untyped-def]
    return lambda message, bag: Bag(bag.header, bag.body[:words], bag.structure)


if __name__ == "__main__":
    variants(
        ("spamassassin",),
        {
            "kept": None,
            "words in capitals too": capitals,
            "exclamation marks too": exclamations,
            "without tags": without("tag="),
            "without colours": without("colour="),
            "without URLs, links and images": without("url=", "link=", "image="),
            "without hidden words": without("hidden="),
            "hidden words in the body too": hidden_is_visible,
            "texts for which HTML is shown are read, too": alternatives,
            "their words that the HTML lacks are tokens of the structure": what_html_lacks,
            "without type, encoding, charset": without("type=", "encoding=", "charset="),
            "the first 100 words only": first(100),
            "the first 500 words only (some 3 kB)": first(500),
            "the first 2,000 words only": first(2000),
        },
    )
