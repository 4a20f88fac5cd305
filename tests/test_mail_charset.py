"""Charsets: the allow-list, the order of fallback, and the guess."""

import base64
import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.mail.aliases import CODECS
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


def read(payload, label=""):
    return decode(payload, label, Allowance())[0]


@pytest.mark.parametrize("codec", sorted(set(CODECS.values())))
def test_every_codec_exists_is_canonical_and_is_a_text_codec(codec):
    info = codecs.lookup(codec)
    assert info.name == codec
    assert info._is_text_encoding


@pytest.mark.parametrize(
    "label",
    [
        "zlib",
        "hex",
        "rot13",
        "rot-13",
        "base64",
        "bz2",
        "uu",
        "quopri",
        "idna",
        "punycode",
        "unicode_escape",
        "undefined",
        "raw-unicode-escape",
        "unicode-escape",
        "mbcs",
        "oem",
        "charmap",
        "string-escape",
        "../x",
        "utf-8\x00",
        "\x00",
    ]
    + ["", " "],
)
def test_transforms_and_nonsense_cannot_be_reached_from_a_mail(label):
    assert canonical(label) == ""


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("iso-8859-1", "cp1252"),
        ("gb2312", "gb18030"),
        ("gbk", "gb18030"),
        ("ks_c_5601-1987", "cp949"),
        ("x-sjis", "cp932"),
        ("shift_jis", "cp932"),
        ("utf8", "utf-8"),
        ("unicode-1-1-utf-7", "utf-7"),
        ("koi8-u", "koi8-u"),
        ("'windows-1251'", "cp1251"),
        ('"utf-8"; format=flowed', "utf-8"),
        ("iso-8859-1*en", "cp1252"),
        ("charset=utf-8", "utf-8"),
        ("iso_8859-1", "cp1252"),
        ("iso_8859-5:1988", "iso8859-5"),
        ("dos-866", "cp866"),
        ("us-ascii", "ascii"),
    ],
)
def test_the_names_mail_uses_are_known(label, codec):
    assert canonical(label) == codec


@pytest.mark.parametrize(
    ("text", "label", "codec"),
    [
        (RUSSIAN, "koi8-r", "koi8-r"),
        (RUSSIAN, "windows-1251", "cp1251"),
        (RUSSIAN, "iso-8859-5", "iso8859-5"),
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
        (CHINESE + "\n", "utf-16", "utf-16-le"),
        (WESTERN, "utf-16", "utf-16-be"),
        (CHINESE, "utf-16le", "utf-16-le"),
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
        (RUSSIAN.upper(), "koi8-r"),
        (UKRAINIAN, "koi8-u"),
        (UKRAINIAN, "cp1251"),
        (RUSSIAN.upper(), "cp1251"),
        (CHINESE, "gb18030"),
        (TAIWANESE, "big5"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (KOREAN, "cp949"),
        (WESTERN, "cp1252"),
        (RUSSIAN, "utf-8"),
        (CHINESE + WESTERN, "utf-16"),
        (WESTERN, "utf-16-le"),
        (CHINESE, "hz"),
    ],
)
@pytest.mark.parametrize("label", ["", "us-ascii", "x-unknown", "no-such-charset"])
def test_text_without_a_usable_charset_is_read(text, codec, label):
    assert read(text.encode(codec), label) == text


@pytest.mark.parametrize(
    ("before", "labels"),
    [
        (b"\x1b$B", ["", "us-ascii", "iso-8859-1", "koi8-r", "utf-8"]),
        (b"\x1b$)C\x0e", ["", "us-ascii", "iso-8859-1", "utf-8"]),
        (b"\xff\xfe", ["", "us-ascii", "iso-8859-1", "koi8-r"]),
        (b"\xfe\xff", ["", "us-ascii", "iso-8859-1", "koi8-r"]),
    ],
)
def test_a_false_signature_does_not_hide_ascii(before, labels):
    text = "Buy cheap pills now at our store, http://evil.example/ click here"
    for label in labels:
        assert read(before + text.encode(), label).endswith(text)


CIRCLED = "会議①の㈱髙﨑Ⅱ№お知らせ、明日の午後です。"
# Where Windows puts what ISO-2022-JP has not: rows 13, 121 and 124.
OF_WINDOWS = {"①": "-!", "㈱": "-j", "髙": "|b", "﨑": "yu", "Ⅱ": "-6", "№": "-b"}
IN_JIS = "".join(OF_WINDOWS.get(sign) or sign.encode("iso2022_jp")[3:5].decode() for sign in CIRCLED)


@pytest.mark.parametrize("label", ["iso-2022-jp", "ISO-2022-JP-MS", "cp50221", "", "us-ascii"])
def test_iso_2022_jp_has_the_characters_of_windows(label):
    text = f"to you \x1b$B{IN_JIS}\x1b(B, twice \x1b$B{IN_JIS}\x1b(B\n".encode()
    assert read(text, label.lower()) == f"to you {CIRCLED}, twice {CIRCLED}\n"


def test_a_pair_that_is_no_character_leaves_those_around_it():
    text = f"\x1b$B{IN_JIS}//~~!~{IN_JIS}\x1b(B \x1b(I123\x1b(B".encode()
    assert read(text, "iso-2022-jp").startswith(CIRCLED)
    assert read(text, "iso-2022-jp").endswith(CIRCLED + " ｱｲｳ")


def test_a_subject_in_iso_2022_jp_has_them_too():
    words = base64.b64encode(f"\x1b$B{IN_JIS}\x1b(B".encode()).decode()
    assert parse(f"Subject: =?ISO-2022-JP?B?{words}?=\n\nx\n".encode()).get("subject") == CIRCLED


@pytest.mark.parametrize("label", ["", "us-ascii", "iso-8859-1", "koi8-r"])
def test_true_signatures_are_seen_whatever_is_declared(label):
    japanese, russian = "日本語のテキスト、こんにちは\n", "Привет, hello мир\n"
    assert read(japanese.encode("iso2022_jp") + b"\x1b$B\x21", label).startswith(japanese)  # cut short
    assert read(russian.encode("utf-16"), label) == russian


@pytest.mark.parametrize("label", ["iso-2022-jp", "iso-2022-jp-2", "us-ascii", ""])
def test_what_windows_adds_to_iso_2022_jp_is_read(label):
    # NEC's row 13, and 89 and 92, where NEC put what IBM chose.
    payload = b"\x1b$B-!-o\x7c\x62\x79\x75-j$NF|K\\\x1b(B end"
    assert read(payload, label) == "①㍼髙﨑㈱の日本 end"


@pytest.mark.parametrize(
    ("text", "codec", "label", "broken"),
    [
        (JAPANESE, "iso2022_jp", "iso-2022-jp", b"\x1b$B)!\x1b(B"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp", b"\x1b$B|"),
        (KOREAN, "iso2022_kr", "iso-2022-kr", b"\x0e~~\x0f"),
    ],
)
def test_one_broken_character_does_not_make_a_declared_text_ascii(text, codec, label, broken):
    assert read(text.encode(codec) + broken, label) == text + "\ufffd"


def test_escapes_that_make_no_sense_do_not_hide_ascii_that_is_declared_japanese():
    text = "Buy cheap pills now at our store, http://evil.example/ click here"
    assert read(b"\x1b$B" + text.encode(), "iso-2022-jp").endswith(text)


@pytest.mark.parametrize(
    "label", ["iso-8859-1", "windows-1251", "iso-8859-8-i", "koi8-u", "macintosh", "cp437", "ibm852", "cp866"]
)
def test_utf_8_that_is_declared_as_a_charset_of_any_bytes_is_utf_8(label):
    allowance = Allowance()
    assert decode("Grüße".encode(), label, allowance) == ("Grüße", "utf-8")
    assert "bad-charset" in allowance.defects
    assert read("รถ".encode("cp874"), "windows-874") == "รถ"


def test_declared_goes_before_utf_8_and_utf_8_before_the_guess():
    both = "Grüße".encode()
    assert read(both + b"\xfc", "iso-8859-1") == "GrÃ¼ÃŸeü"
    assert read(both, "gb18030") == "Gr眉脽e"
    assert read(both, "euc-jp") == "Grüße"
    assert read(both) == "Grüße"


def test_a_wrong_utf_8_declaration_does_not_hide_legacy_text():
    assert read(RUSSIAN.encode("cp1251"), "utf-8") == RUSSIAN


def test_one_broken_character_does_not_undo_the_declaration():
    payload = CHINESE.encode() + b"\xe4\xbd"
    assert read(payload, "utf-8") == CHINESE + "\ufffd"
    assert read(CHINESE.encode("gb18030") + b"\xff", "gb2312") == CHINESE + "\ufffd"


def test_undefined_bytes_of_windows_1252_are_kept():
    assert read(b"a\x81\x80\xff", "iso-8859-1") == "a\x81€ÿ"


@given(st.binary(max_size=120), st.sampled_from(sorted(CODECS)))
def test_no_bytes_raise_in_any_charset(payload, label):
    text, codec = decode(payload, label, Allowance())
    assert codecs.lookup(codec)
    assert "\0" not in text


@given(
    st.text(st.characters(max_codepoint=127, blacklist_characters="\0\x1b~"), max_size=80),
    st.sampled_from(["", "utf-8", "big5"]),
)
def test_ascii_is_ascii_in_every_charset(text, label):
    assert read(text.encode(), label) == text


@pytest.mark.parametrize("text", ["", "ä", "Größe", "£5 off", "naïve café"])
def test_a_few_western_letters_are_not_taken_for_another_script(text):
    assert guess_codec(text.encode("cp1252")) == "cp1252"


@pytest.mark.parametrize("label", ["", "us-ascii", "x-unknown", "no-such-charset"])
def test_html_may_name_its_own_charset(label):
    page = '<meta http-equiv=x content="text/html; charset=windows-1255"><p>' + "שלום"
    declared = f"Content-Type: text/html; charset={label}\n\n".encode()
    message = parse(declared + page.encode("cp1255"))
    part = message.parts[0]
    assert part.text == page
    assert ("no-charset" in message.defects) is bool(label)
    assert (part.charset, part.declared_charset) == ("cp1255", label)


def test_a_page_that_names_no_usable_charset_is_guessed():
    page = '<meta charset="us-ascii"><p>' + RUSSIAN
    assert parse(b"Content-Type: text/html\n\n" + page.encode("cp1251")).parts[0].text == page


def test_a_page_may_name_no_charset_where_it_says_that_it_does():
    page = "naïve <meta charset='"
    part = parse(b"Content-Type: text/html\n\n" + page.encode("cp1252")).parts[0]
    assert (part.text, part.charset) == (page, "cp1252")


def test_a_text_that_speaks_of_a_page_does_not_name_its_charset():
    text = "naïve: write <meta charset=koi8-r> in it"
    part = parse(b"Content-Type: text/plain\n\n" + text.encode("cp1252")).parts[0]
    assert (part.text, part.charset) == (text, "cp1252")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_and_without_a_zero_is_read(codec):
    payload = "便宜中文文字".encode(codec)
    assert b"\0" not in payload
    assert decode(payload, "utf-16", Allowance()) == ("便宜中文文字", codec)


def test_a_part_says_what_was_declared_and_what_was_used():
    mail = parse(b"Content-Type: text/plain; charset=X-Nonsense\n\nabc")
    assert (mail.parts[0].declared_charset, mail.parts[0].charset) == ("x-nonsense", "ascii")
    assert mail.defects == ["unknown-charset"]
