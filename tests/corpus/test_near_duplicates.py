"""Groups of near-duplicates, and grouped folds of every way of scoring."""

from pathlib import Path

import pytest

from nbspam.corpus.corpus import Corpus
from nbspam.corpus.near_duplicates import group_duplicates
from nbspam.model.block import BlockBuilder, merge_blocks
from nbspam.tasks.api import evaluate
from nbspam.tokens.bag import MEASURE_NAMES, Tokens, list_bins, sign_text
from tests.tiny_mail import mail, write_folders


def group(*texts: str, signatures: tuple[tuple[str, ...], ...] = ()) -> list[int]:
    """The groups of messages with these texts, each with a subject of its own and the same measures.

    signatures : in place of those of the texts
    """
    builder = BlockBuilder()
    for number, text in enumerate(texts):
        body = text.split()
        tokens = Tokens(
            [f"subject:{number}"], body, ["part=text"], [list_bins(name)[0] for name in MEASURE_NAMES]
        )
        tokens.signature = signatures[number] if signatures else sign_text(body, ())
        tokens.sent = tokens.header
        builder.add(str(number), number % 2, tokens)
    return group_duplicates(Corpus(merge_blocks([builder.build()]), ("ham", "spam"), [], [], False)).tolist()


def words(first: int, last: int) -> str:
    return " ".join(
        "".join(chr(97 + int(digit)) for digit in f"{number:04}") for number in range(first, last)
    )


def test_variants_of_a_text_are_one_group_and_others_are_alone() -> None:
    variants = [f"{words(0, 200)} number{number} only" for number in range(6)]
    strangers = [words(1000 * number, 1000 * number + 200) for number in range(1, 7)]
    mixed = [text for pair in zip(variants, strangers, strict=True) for text in pair]
    assert group(*mixed) == [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]


@pytest.mark.parametrize(
    ("signatures", "groups"),
    [
        (("abcd", "abef", "ghij"), [0, 0, 1]),
        (("abcd", "aefg", "bhij"), [0, 1, 2]),  # one is not enough
        (("abcd", "cdef", "efgh"), [0, 0, 0]),  # a chain
        (("abcd", "efgh", "abef"), [0, 0, 0]),  # joined by a later message
    ],
)
def test_two_shared_tokens_of_signatures_link(signatures: tuple[str, ...], groups: list[int]) -> None:
    assert group("x", "y", "z", signatures=tuple(map(tuple, signatures))) == groups


def test_short_texts_are_linked_if_they_are_the_same() -> None:
    assert group("see you soon", "call me", "see you soon", "one two three four five") == [0, 1, 0, 2]
    assert group("one two three four five", "five four", "one two three four five") == [0, 1, 0]


def test_messages_without_a_word_are_alone_and_measures_link_nobody() -> None:
    assert group("", "", "yes", "no") == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("textbook", [False, True])
def test_a_campaign_is_in_one_fold_whatever_reads_the_words(tmp_path: Path, textbook: bool) -> None:
    long = [mail(f"{words(0, 60)} {name}", f"to {name}") for name in ("ann", "bob", "carol", "dave")]
    short = [mail("see you soon", f"hello {number}") for number in range(4)]
    others = [mail(words(100 * number, 100 * number + 30)) for number in range(1, 17)]
    write_folders(tmp_path / "mail", {"ham": [*short, *others[:8]], "spam": [*long, *others[8:]]})
    report = evaluate(tmp_path / "mail", folds=3, grouped=True, textbook=textbook)
    folds = dict(zip(report.evaluation.names.tolist(), report.evaluation.folds.tolist(), strict=True))
    for kind in ("ham", "spam"):
        assert len({folds[name] for name in folds if f"/{kind}/00" in name and int(Path(name).stem) < 4}) == 1
