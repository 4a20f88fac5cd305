"""What a word is, in ASCII text and beyond."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbspam.tokens.characters import become, is_unspaced
from nbspam.tokens.unicode_words import COMMON, has_zero_width
from nbspam.tokens.words import MAX_WORD, Memory, parents, words

WORDISH = st.text(
    alphabet=st.sampled_from("abcXYZ019 .,-_'@$%!?:/\n\t()\"#&*=+\x00\x1f\x7f~"), max_size=200
) | st.text(alphabet=st.characters(max_codepoint=127), max_size=200)


@settings(deadline=None, max_examples=max(400, settings().max_examples))
@given(WORDISH)
def test_foreign_text_in_another_line_changes_no_ascii_word(text: str) -> None:
    assert words(text + " end\nещё", 1_000) == [*words(text + " end", 1_000), "еще"]


@settings(deadline=None, max_examples=max(300, settings().max_examples))
@given(st.text(st.characters() | st.sampled_from("a1.,@-_'$%/:?#+=< \u0430手é★"), max_size=300))
def test_words_are_bounded(text: str) -> None:
    found = words(text, 100)
    assert len(found) <= 100
    for word in found:
        assert word.split() == [word]
        assert 0 < len(word) <= 2 * MAX_WORD
        assert "+" not in word, "a plus joins the two words of a bigram"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't e-mail under_score", ["don't", "e-mail", "under_score"]),
        ("It costs $29.95, or 1,000.50, 20% off.", ["it", "costs", "$29.95", "or", "1,000.50", "20%", "off"]),
        ("a b", []),
        ("1 b 7", ["spaced=1b7"]),
        ("v i a g r a now", ["spaced=viagra", "now"]),
        ("(f - r - e - e) now", ["spaced=free", "now"]),
        ("x " * 41 + "now", ["skip=x:40", "now"]),
        ("1 " * 41 + "now", ["now"]),
        ("1 2 3 4", []),
        ("end.Start", ["end.start", "end", "start"]),
        ("one,two--three", ["one", "two", "three"]),
        ("mail.lake.example", ["mail.lake.example", "lake.example", "mail", "lake", "example"]),
        ("192.0.2.7", ["192.0.2.7", "192.0.2", "192.0"]),
        ("ida@lake.example", ["ida@lake.example", "lake.example", "example"]),
        ("x" * MAX_WORD, ["x" * MAX_WORD]),
        ("x" * (MAX_WORD + 1), ["skip=x:40"]),
        ("Q" * 5000, ["skip=q:990"]),
        ("'quoted' --dashed-- ...", ["quoted", "dashed"]),
        ("", []),
    ],
)
def test_ascii_words(text: str, expected: list[str]) -> None:
    assert words(text, 100) == expected
    assert words(text + " то же", 100) == [*expected, "то", "же"]


@pytest.mark.parametrize(
    ("why", "text", "expected"),
    [
        ("compatibility forms", "Ｆｒｅｅ 𝐌𝐚𝐭𝐡 ﬁne ①", ["free", "math", "fine"]),
        ("case", "Straße STRASSE İNDİRİM KIRMIZI kırmızı", ["strasse"] * 2 + ["indirim"] + ["kirmizi"] * 2),
        ("accents", "café cafe\u0301 CAFE Tàu ещё ЕЩЕ", ["cafe"] * 3 + ["tau", "еще", "еще"]),
        ("Greek", "Προσοχή ΠΡΟΣΟΧΗ προσοχη", ["προσοχη"] * 3),
        ("Romanian", "și şi ȘI", ["si"] * 3),
        ("Arabic vowels and spellings", "رَبِحْتَ اضـــغط أحمد إلى", ["ربحت", "اضغط", "احمد", "الي"]),
        ("Hebrew points", "שָׁלוֹם שלום", ["שלום", "שלום"]),
        ("vowels of Hindi and Thai stay", "कि की में", ["कि", "की", "में"]),
        ("voiced kana stay", "がか かが", ["がか", "かが"]),
        ("marks that strike through", "s\u0336a\u0336l\u0336e\u0336 a\u20dd", ["sale"]),
        ("quotation marks and dashes", "don’t don´t e‐mail e—mail", ["don't"] * 2 + ["e-mail"] * 2),
        ("invisible characters", "vi\u200bag\u00adra fr\ufe0fee a\u115fb", ["viagra", "free", "ab"]),
        ("digits", "१२३ ۵۰٪ ١٬٢٣٤٫٥٠", ["123", "50%", "1,234.50"]),
        ("prices", "£3.50 100€ ￥900 ₺1.500,00 '£3.50'", ["£3.50", "100€", "¥900", "₺1.500,00", "£3.50"]),
        ("pairs of Chinese characters", "我 是中国 iphone手机", ["我", "是中", "中国", "iphone", "手机"]),
        ("Japanese and Korean", "カタカ ｶﾅ 안녕하", ["カタ", "タカ", "カナ", "안녕", "녕하"]),
        ("Thai", "บาท ฿99", ["บา", "าท", "฿99"]),
        ("compounds", "Привет, мир.Слово раз--два", ["привет", "мир.слово", "мир", "слово", "раз", "два"]),
        ("long words", "д" * 40 + " " + "д" * 41, ["д" * 40, "skip=д:40"]),
        ("letters one by one", "К Р Е Д И Т и в нем", ["spaced=кредитив", "нем"]),
        ("single letters", "мы и я", ["мы", "и", "я"]),
        ("pictures", "20° ok❤️ 👍🏽 f★r★e★e", ["20", "ok", "❤", "👍", "★", "★", "★", "spaced=free"]),
        ("two scripts", "p\u0430yp\u0430l Gmail-аккаунт", ["p\u0430yp\u0430l", "gmail-аккаунт"]),
    ],
)  # fmt: skip
def test_words_beyond_ascii(why: str, text: str, expected: list[str]) -> None:
    assert words(text, 100) == expected, why


def test_scripts_without_spaces_are_known() -> None:
    assert all(map(is_unspaced, "กໝကខ々あカㄅㆠ㐀一가豈𛀀𠀀"))
    assert not any(map(is_unspaced, "aдאعक☃𐍈"))


@pytest.mark.parametrize(
    "run", ["\u0301\u0323", "\u0903", "\u0301\u0301\u0301\uff9e", "\ufdfa", "\u0308\u3099"]
)
def test_a_text_of_marks_takes_linear_time(run: str) -> None:
    """To sort the marks of one letter, as normalisation of a whole text does, takes quadratic time."""
    start = time.process_time()
    words("a" + run * (200_000 // len(run)), 10)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "text", ["fr\u200bee", "f\u200d\u2060ree", "гон\u200bорар", "手\u200b机", "in \u202eelas", "so\u00adft"]
)
def test_invisible_characters_in_words_are_noticed(text: str) -> None:
    assert has_zero_width(text)


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "\ufeffcafé",
        "Ada wrote:\n\n\ufeffHi, café?",
        "\u200bSorry.\u200b",
        "Ida Lake\u200e <ida@lake.example> wrote:",
        "a coder 👩\u200d💻, a flag 🏳\ufe0f\u200d🌈",
        "می\u200cخواهم क्\u200dष שלו\u200fם",
        "news\u00a0\u200c\u00a0\u200c week",
    ],
)
def test_invisible_characters_that_honest_mail_needs_are_not(text: str) -> None:
    assert not has_zero_width(text)


def test_host_names_come_with_their_parents() -> None:
    assert parents("a.b.example") == ["a.b.example", "b.example", "example"]
    assert parents("192.0.2.7") == ["192.0.2.7", "192.0.2", "192.0"]
    assert len(parents("a." * 50 + "example")) == 6
    assert parents("x" * 41) == parents("") == []


def test_a_memory_keeps_short_texts_and_starts_anew_when_it_is_full() -> None:
    asked: list[str] = []

    def work(text: str) -> int:
        asked.append(text)
        return len(text)

    memory = Memory(work, 2, 3)
    assert [memory[text] for text in ("a", "long", "bb", "a", "long", "ccc", "a")] == [1, 4, 2, 1, 4, 3, 1]
    assert asked == ["a", "long", "bb", "long", "ccc", "a"]
    assert set(memory) == {"ccc", "a"}


def test_common_characters_become_what_all_others_do() -> None:
    assert {code: become(chr(code)) for code in COMMON} == COMMON
