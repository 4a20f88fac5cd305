"""Charsets: which names are known, which charset a text is read in, and the guess."""

import codecs
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.mail.charset import canonical, decode
from nbspam.mail.guess import guess_codec
from nbspam.mail.limits import Allowance

RUSSIAN = "Уважаемые господа! Предлагаем вам новые квартиры в Москве по низким ценам."
UKRAINIAN = "Шановний клієнте! Ваш рахунок заблоковано, підтвердіть свої дані вже сьогодні."
CHINESE = "您好！我公司可以为您开具各类发票，欢迎来电咨询，价格优惠。"
TAIWANESE = "您好，這是我們的最新優惠消息，歡迎來電洽詢，免費註冊會員，不要錯過機會。"
JAPANESE = "こんにちは。お得な情報をお届けします。無料で登録できますので、ぜひご覧を。"
KOREAN = "안녕하세요. 저희 회사에서 무료 쿠폰을 드립니다. 지금 바로 신청하시기 바랍니다."
WESTERN = "Schöne Grüße aus München, très cher ami: l'été à Paris coûte 5€."
PILLS = "Buy cheap pills now at our store, http://evil.example/ click here"
LABELS = [
    *sorted(aliases),
    "iso-8859-1",
    "utf-8",
    "gb2312",
    "big5",
    "koi8-u",
    "unicode",
    "visual",
    "x-nonsense",
]


def read(payload, label=""):
    return decode(payload, label, Allowance())[0]


@pytest.mark.parametrize("label", LABELS)
def test_every_codec_that_a_name_reaches_is_a_text_codec(label):
    codec = canonical(label)
    assert not codec or codecs.lookup(codec)._is_text_encoding


@pytest.mark.parametrize(
    "label",
    ["zlib", "hex", "rot13", "rot-13", "base64", "bz2", "uu", "quopri", "idna", "punycode", "unicode_escape"]
    + ["raw-unicode-escape", "undefined", "mbcs", "oem", "charmap", "string-escape", "cp037", "aliases"]
    + ["../x", "utf-8\x00", "\x00", "", " ", "x-", "cs"],
)
def test_transforms_and_nonsense_cannot_be_reached_from_a_mail(label):
    assert canonical(label) == ""


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("iso-8859-1", "cp1252"),
        ("iso_8859-1", "cp1252"),
        ("iso-8859-1*en", "cp1252"),
        ("iso_8859-5:1988", "iso8859_5"),
        ("iso-8859-8-i", "iso8859_8"),
        ("iso-8859-9", "cp1254"),
        ("tis-620", "cp874"),
        ("gb2312", "gb18030"),
        ("x-gbk", "gb18030"),
        ("big-5", "big5hkscs"),
        ("ks_c_5601-1987", "cp949"),
        ("euc-kr", "cp949"),
        ("shift_jis", "cp932"),
        ("windows-31j", "cp932"),
        ("iso-2022-jp", "iso2022_jp_ext"),
        ("utf8", "utf-8"),
        ("utf-16le", "utf_16_le"),
        ("koi8-u", "koi8_u"),
        ("'windows-1251'", "cp1251"),
        ("win-1251", "cp1251"),
        ("dos-866", "cp866"),
        ('"utf-8"; format=flowed', "utf-8"),
        ("charset=utf-8", "utf-8"),
    ],
)
def test_the_names_mail_uses_are_known(label, codec):
    assert canonical(label) == codec


@pytest.mark.parametrize(
    ("text", "label", "codec"),
    [
        (RUSSIAN, "koi8-r", "koi8-r"),
        (RUSSIAN, "windows-1251", "cp1251"),
        (RUSSIAN, "utf-7", "utf-7"),
        (CHINESE, "gb2312", "gb18030"),
        (CHINESE, "hz-gb-2312", "hz"),
        (TAIWANESE, "big5", "big5hkscs"),
        (JAPANESE, "iso-2022-jp", "iso2022_jp"),
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc-jp", "euc_jp"),
        (KOREAN, "euc-kr", "cp949"),
        (KOREAN, "iso-2022-kr", "iso2022_kr"),
        (CHINESE, "utf-16", "utf-16"),
        (CHINESE, "utf-32", "utf-32"),
        (WESTERN, "iso-8859-1", "cp1252"),
        (WESTERN, "utf-8", "utf-8-sig"),
    ],
)
def test_declared_text_is_read(text, label, codec):
    assert read(text.encode(codec), label) == text


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN.upper(), "cp1251"),
        (UKRAINIAN, "koi8-u"),
        (CHINESE, "gb18030"),
        (TAIWANESE, "big5"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (KOREAN, "cp949"),
        (WESTERN, "cp1252"),
        (RUSSIAN, "utf-8"),
        (CHINESE + WESTERN, "utf-16"),
    ],
)
@pytest.mark.parametrize("label", ["", "us-ascii", "x-unknown", "no-such-charset"])
def test_text_without_a_usable_charset_is_read(text, codec, label):
    assert read(text.encode(codec), label) == text


@pytest.mark.parametrize("label", ["", "us-ascii", "iso-8859-1", "koi8-r", "iso-2022-jp"])
@pytest.mark.parametrize("mark", [b"\x1b$B", b"\xff\xfe", b"\xfe\xff"])
def test_a_false_mark_does_not_hide_ascii(mark, label):
    assert read(mark + PILLS.encode(), label).endswith(PILLS)


@pytest.mark.parametrize("label", ["", "us-ascii", "iso-8859-1", "koi8-r", "iso-2022-jp"])
def test_true_escapes_and_marks_are_seen_whatever_is_declared(label):
    japanese, russian = "日本語のテキスト、こんにちは\n", "Привет, hello мир\n"
    assert read(japanese.encode("iso2022_jp") + b"\x1b$B\x21", label).startswith(japanese)  # cut short
    assert read(russian.encode("utf-16"), label) == russian


@pytest.mark.parametrize(
    "label", ["iso-8859-1", "windows-1251", "iso-8859-8-i", "koi8-u", "macintosh", "cp437", "ibm852", "cp866"]
)
def test_utf_8_declared_as_a_charset_of_any_bytes_is_utf_8(label):
    allowance = Allowance()
    assert decode("Grüße".encode(), label, allowance) == ("Grüße", "utf-8")
    assert allowance.defects == ["bad-charset"]


def test_the_declared_charset_goes_before_utf_8_and_utf_8_before_a_guess():
    both = "Grüße".encode()
    assert read(both + b"\xfc", "iso-8859-1") == "GrÃ¼ÃŸeü"
    assert read(both, "gb18030") == "Gr眉脽e"
    assert read(both, "euc-jp") == "Grüße"
    assert read(both) == "Grüße"
    assert read(b"a\x81\x80\xff", "iso-8859-1") == "a\x81€ÿ"
    assert read("รถ".encode("cp874"), "windows-874") == "รถ"


def test_a_few_broken_characters_do_not_undo_the_declaration_but_many_do():
    assert read(RUSSIAN.encode("cp1251"), "utf-8") == RUSSIAN
    assert read(CHINESE.encode() + b"\xe4\xbd", "utf-8") == CHINESE + "\ufffd"
    assert read(CHINESE.encode("gb18030") + b"\xff", "gb2312") == CHINESE + "\ufffd"


@given(st.binary(max_size=120), st.sampled_from(LABELS))
def test_no_bytes_raise_in_any_charset(payload, label):
    text, codec = decode(payload, label, Allowance())
    assert codecs.lookup(codec)
    assert "\0" not in text


@given(
    st.text(st.characters(max_codepoint=127, blacklist_characters="\0\x1b~"), max_size=80),
    st.sampled_from(["", "utf-8", "big5", "cp037"]),
)
def test_ascii_is_ascii_in_every_charset(text, label):
    assert read(text.encode(), label) == text


@pytest.mark.parametrize("text", ["", "ä", "Größe", "£5 off", "naïve café"])
def test_a_few_western_letters_are_not_taken_for_another_script(text):
    assert guess_codec(text.encode("cp1252")) == "cp1252"


@pytest.mark.parametrize("label", ["", "us-ascii", "x-unknown", "no-such-charset"])
def test_html_may_name_its_own_charset(label):
    page = '<meta http-equiv=x content="text/html; charset=windows-1255"><p>' + "שלום"
    message = parse(f"Content-Type: text/html; charset={label}\n\n".encode() + page.encode("cp1255"))
    part = message.parts[0]
    assert part.text == page
    assert ("no-charset" in message.defects) is bool(label)
    assert (part.charset, part.declared_charset) == ("cp1255", label)


@pytest.mark.parametrize(
    ("kind", "text", "codec"),
    [
        ("html", '<meta charset="us-ascii"><p>' + RUSSIAN, "cp1251"),
        ("html", "naïve <meta charset='", "cp1252"),
        ("plain", "naïve: write <meta charset=koi8-r> in it", "cp1252"),
    ],
)
def test_a_page_that_names_no_usable_charset_and_a_text_about_one_are_guessed(kind, text, codec):
    part = parse(f"Content-Type: text/{kind}\n\n".encode() + text.encode(codec)).parts[0]
    assert (part.text, part.charset) == (text, codec)


def test_a_part_says_what_was_declared_and_what_was_used():
    mail = parse(b"Content-Type: text/plain; charset=X-Nonsense\n\nabc")
    assert (mail.parts[0].declared_charset, mail.parts[0].charset) == ("x-nonsense", "ascii")
    assert mail.defects == ["unknown-charset"]
