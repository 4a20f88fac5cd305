"""What a word is, in ASCII text and beyond."""

from hypothesis import given, settings
from hypothesis import strategies as st

from nbspam.tokens.characters import convert
from nbspam.tokens.unicode_words import COMMON
from nbspam.tokens.words import MAX_WORD, split_words

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


def test_common_characters_become_what_all_others_do() -> None:
    assert {code: convert(chr(code)) for code in COMMON} == COMMON
