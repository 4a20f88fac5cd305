"""Words, bigrams, armour and alternatives; golden/ shows what else of parts and pages is evidence."""

from base64 import b64encode
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.limits import MAX_TOKENS
from nbspam.tokens import read
from nbspam.tokens.characters import convert
from nbspam.tokens.unicode_words import COMMON
from nbspam.tokens.words import MAX_WORD, split_words

ALTERNATIVE = (
    b"Content-Type: multipart/alternative; boundary=b\n\n"
    b"--b\n\n%s\n--b\nContent-Type: text/html\n\n%s\n--b--\n"
)


@pytest.mark.parametrize("number", [0, 1, 2, 99, 100, 101, 500])
def test_bigrams_are_the_neighbours_of_the_first_and_last_fifty_words(number: int) -> None:
    text = [f"word{n}" for n in range(number)]
    found = read(b"Subject: a b\n\n" + " ".join(text).encode(), ("bigrams",))
    parts = [text] if number <= 100 else [text[:50], text[-50:]]
    assert found.bigrams == [f"{first}+{second}" for part in parts for first, second in pairwise(part)]
    assert not read(b"Subject: a b\n\na b c").bigrams


def test_long_alternative_differs_from_a_short_one() -> None:
    found = read(ALTERNATIVE % (b"minutes " * (MAX_TOKENS + 1), b"<p>pears"))
    assert found.body == ["pears"] and "alternative=#differs" in found.structure


CODES = b64encode(Random(1).randbytes(480)).decode()
LINES = [CODES[at : at + 64] for at in range(0, 640, 64)]


@pytest.mark.parametrize(
    "armour",
    [
        "\n".join(LINES),
        *["\n".join(mark + line for line in LINES) for mark in ("> ", "| ")],
        " ".join(LINES[:2]) + "\n" + LINES[2][:21] + "=",
        CODES,
        f"(data:,{CODES})",
        f"{LINES[0]}\n{LINES[1][:30]}\n=AbCd",
        f"<pre>{LINES[0]}<br>{LINES[1]}",
    ],
)
def test_armour_has_no_words(armour: str) -> None:
    kind = "html" if armour.startswith("<") else "plain"
    found = read(f"Content-Type: text/{kind}\n\nmy key\n{armour}\nbye".encode()).body
    assert [word for word in found if word != "data"] == ["my", "key", "bye"]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(["/Users/Ida/Library/Developer/Xcode/DerivedData/Build/Products/Debug/App2"] * 3),
        "\n".join(["中国人" * 30] * 3),
        "\n".join(["=" * 70] * 3) + " words",
        f"{LINES[0]}",
        f"{LINES[0]}\nwin this now",
    ],
)
def test_words_are_no_armour(text: str) -> None:
    found = read(f"Content-Type: text/plain; charset=utf-8\n\n{text}".encode()).body
    assert found == split_words(text, MAX_TOKENS)


WORDISH = st.text(
    alphabet=st.sampled_from("abcXYZ019 .,-_'@$%!?:/\n\t()\"#&*=+\x00\x1f\x7f~"), max_size=200
) | st.text(alphabet=st.characters(max_codepoint=127), max_size=200)


@given(WORDISH)
def test_foreign_text_in_another_line_changes_no_ascii_word(text: str) -> None:
    assert split_words(text + " end\nещё", 1_000) == [*split_words(text + " end", 1_000), "еще"]


@given(st.text(st.characters() | st.sampled_from("a1.,@-_'$%/:?#+=< \u0430手é★"), max_size=300))
def test_words_are_short_and_without_white_space(text: str) -> None:
    found = split_words(text, 100)
    assert len(found) <= 100
    for word in found:
        assert word.split() == [word]
        assert 0 < len(word) <= 2 * MAX_WORD
        assert "+" not in word, "a plus joins the two words of a bigram"


def test_common_characters_become_what_all_others_do() -> None:
    assert {code: convert(chr(code)) for code in COMMON} == COMMON
