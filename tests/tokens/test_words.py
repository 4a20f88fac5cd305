"""What a word is, in ASCII text and beyond."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbspam.tokens.characters import convert
from nbspam.tokens.unicode_words import COMMON
from nbspam.tokens.words import MAX_WORD, has_zero_width, split_words

WORDISH = st.text(
    alphabet=st.sampled_from("abcXYZ019 .,-_'@$%!?:/\n\t()\"#&*=+\x00\x1f\x7f~"), max_size=200
) | st.text(alphabet=st.characters(max_codepoint=127), max_size=200)


@settings(deadline=None, max_examples=max(400, settings().max_examples))
@given(WORDISH)
def test_foreign_text_in_another_line_changes_no_ascii_word(text: str) -> None:
    assert split_words(text + " end\nещё", 1_000) == [*split_words(text + " end", 1_000), "еще"]


@settings(deadline=None, max_examples=max(300, settings().max_examples))
@given(st.text(st.characters() | st.sampled_from("a1.,@-_'$%/:?#+=< \u0430手é★"), max_size=300))
def test_words_are_short_and_without_white_space(text: str) -> None:
    found = split_words(text, 100)
    assert len(found) <= 100
    for word in found:
        assert word.split() == [word]
        assert 0 < len(word) <= 2 * MAX_WORD
        assert "+" not in word, "a plus joins the two words of a bigram"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 b 7", ["spaced=1b7"]),
        ("(f - r - e - e) now", ["spaced=free", "now"]),
        ("x " * 41 + "now", ["skip=x:40", "now"]),
        ("1 " * 41 + "now", ["now"]),
        ("1 2 3 4", []),
        ("x" * MAX_WORD, ["x" * MAX_WORD]),
        ("x" * (MAX_WORD + 1), ["skip=x:40"]),
    ],
)
def test_ascii_text_becomes_these_words(text: str, expected: list[str]) -> None:
    assert split_words(text, 100) == expected
    assert split_words(text + " то же", 100) == [*expected, "то", "же"]


@pytest.mark.parametrize(
    ("why", "text", "expected"),
    [
        ("Arabic vowels and spellings", "رَبِحْتَ اضـــغط أحمد إلى", ["ربحت", "اضغط", "احمد", "الي"]),
        ("vowels of Hindi and Thai stay", "कि की में", ["कि", "की", "में"]),
        ("marks that strike through", "s\u0336a\u0336l\u0336e\u0336 a\u20dd", ["sale"]),
        ("long words", "д" * 40 + " " + "д" * 41, ["д" * 40, "skip=д:40"]),
        ("pictures", "20° \ufffd ok❤️ 👍🏽 f★r★e★e", ["20", "ok", "❤", "👍", "★", "★", "★", "spaced=free"]),
    ],
)  # fmt: skip
def test_text_beyond_ascii_becomes_these_words(why: str, text: str, expected: list[str]) -> None:
    assert split_words(text, 100) == expected, why


def test_invisible_characters_that_split_words_are_noticed() -> None:
    for text in (
        "fr\u200bee",
        "f\u200d\u2060ree",
        "гон\u200bорар",
        "手\u200b机",
        "in \u202eelas",
        "so\u00adft",
    ):
        assert has_zero_width(text)
    for text in (
        "Ada wrote:\n\n\ufeffHi, café?",
        "\u200bSorry.\u200b",
        "Ida Lake\u200e <ida@lake.example> wrote:",
        "a coder 👩\u200d💻, a flag 🏳\ufe0f\u200d🌈",
        "می\u200cخواهم क्\u200dष שלו\u200fם",
        "news\u00a0\u200c\u00a0\u200c week",
    ):
        assert not has_zero_width(text)


def test_common_characters_become_what_all_others_do() -> None:
    assert {code: convert(chr(code)) for code in COMMON} == COMMON
