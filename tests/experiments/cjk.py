"""The unit of Chinese text: pairs of characters, single ones, or both; and characters that stand apart."""

from unicodedata import category
from unittest import mock

from nbspam.mail import Message
from nbspam.tokens import Bag, headers, tokenize
from tests.experiments.lab import variants


def _is_pair(token: str) -> bool:
    return len(token) == 2 and not token.isascii() and ord(token[0]) >= 0x2E80


def _without_pictures(message: Message, bag: Bag) -> Bag:
    def words(tokens: list[str]) -> list[str]:
        return [token for token in tokens if not any(category(c) == "So" and c > "\xff" for c in token)]

    return Bag(words(bag.header), words(bag.body), bag.structure)


def _changed(keep_pairs: bool):  # type: ignore[no-untyped-def]
    def singles(tokens: list[str], mark: str) -> list[str]:
        found: list[str] = []
        for token in tokens:
            text = token.removeprefix(mark)
            if _is_pair(text):
                found.extend(mark + character for character in text)
            if keep_pairs or not _is_pair(text):
                found.append(token)
        return found

    def change(message: Message, bag: Bag) -> Bag:
        return Bag(singles(bag.header, "subject:"), singles(bag.body, ""), bag.structure)

    return change


def _apart(message: Message, bag: Bag) -> Bag:
    headers._fields.clear()
    with mock.patch("nbspam.tokens.spelled.joined", list):
        found = tokenize(message, measured=True)
    headers._fields.clear()
    return found


if __name__ == "__main__":
    named = {
        "kept: pairs, pictures": None,
        "single characters": _changed(False),
        "both": _changed(True),
        "without pictures": _without_pictures,
        "characters that stand apart stay so": _apart,
    }
    variants(("ccert_zh",), named)
