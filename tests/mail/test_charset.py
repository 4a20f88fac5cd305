"""Charsets (golden/charset-* show each script), and transfer encodings as mail programs take them."""

import base64
import binascii
import codecs
import quopri
from encodings.aliases import aliases
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.charset import decode, look_up_codec
from nbspam.mail.transfer import decode_base64, decode_percent, decode_quoted_printable, decode_transfer
from nbspam.tables import read_table

RUSSIAN = "Уважаемые господа! Предлагаем вам новые квартиры в Москве по низким ценам."
CHINESE = "您好！我公司可以为您开具各类发票，欢迎来电咨询，价格优惠。"
PILLS = "Buy cheap pills now at our store, http://evil.example/ click here"
TABLE = [name for names in read_table("charsets").values() for name in names]
LABELS = [*sorted(aliases), *TABLE, "iso-8859-1", "utf-8", "koi8-u", "x-nonsense"]


def read(payload, label=""):
    return decode(payload, label, Allowance())[0]


def test_text_codecs_alone_can_be_reached_from_a_mail():
    for label in ("zlib", "rot13", "idna", "unicode_escape", "undefined", "cp037", "../x", "utf-8\x00", "x-"):
        assert look_up_codec(label) == ""
    found = {*map(look_up_codec, LABELS)} - {"", "iso2022_cn"}  # which Python lacks, see iso_2022.py
    assert all(codecs.lookup(codec)._is_text_encoding for codec in found)


@pytest.mark.parametrize("mark", [b"\x1b$B", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff"])
def test_false_mark_does_not_hide_ascii(mark):
    for label in ("", "us-ascii", "iso-8859-1", "koi8-r", "iso-2022-jp"):
        assert read(mark + PILLS.encode(), label).endswith(PILLS)


def test_utf_8_declared_as_a_charset_of_any_bytes_is_utf_8():
    for label in ("iso-8859-1", "windows-1251", "iso-8859-8-i", "macintosh", "cp437"):
        allowance = Allowance()
        assert decode("Grüße".encode(), label, allowance) == ("Grüße", "utf-8")
        assert allowance.defects == ["bad-charset"]


def test_few_broken_characters_keep_the_declaration_and_many_do_not():
    assert read(RUSSIAN.encode("cp1251"), "utf-8") == RUSSIAN
    assert read(CHINESE.encode() + b"\xe4\xbd", "utf-8") == CHINESE + "\ufffd"
    assert read(CHINESE.encode("gb18030") + b"\xff", "gb2312") == CHINESE + "\ufffd"


@pytest.mark.parametrize("label", ["", "us-ascii", "utf-8"])
def test_utf_8_with_a_bad_byte_is_utf_8(label):
    assert read("Grüße aus Köln ".encode() + b"\x96 jetzt", label) == "Grüße aus Köln \ufffd jetzt"
    assert read(RUSSIAN.encode()[:41], label)[:20] == RUSSIAN[:20]


@pytest.mark.parametrize("text", ["Gratis für alle", "Большая скидка на всё"])
@pytest.mark.parametrize("order", ["utf-16-be", "utf-16-le"])
def test_zero_bytes_tell_the_order_of_utf_16_without_a_mark(text, order):
    assert read(text.encode(order), "utf-16") == text
    assert read("Привет".encode(order) + b"\n", order) == "Привет"  # a server added the line end
    assert read("<p>Gratis</p>".encode(order), "us-ascii") == "<p>Gratis</p>"


@pytest.mark.parametrize(
    "text", ["Новая квартира\n", "Καλημέρα σας", "您好，我公司可以开具发票", "ニュースです"]
)
@pytest.mark.parametrize("label", ["", "utf-16", "utf-8"])
@pytest.mark.parametrize("order", ["utf-16-be", "utf-16-le"])
def test_mark_of_utf_16_is_believed_without_zero_bytes(text, label, order):
    assert read(("\ufeff" + text).encode(order), label) == text


@pytest.mark.parametrize("label", ["utf-16", "utf-16-le", "utf-16-be"])
def test_ascii_is_no_utf_16_whatever_is_declared(label):
    assert read(PILLS.encode(), label) == PILLS
    assert read((PILLS + "é").encode(), label) == PILLS + "é"
    codec = "utf-16-be" if label == "utf-16" else label
    for text in ("您好", "Привет", "Hi", "Новая квартира в Москве", ""):
        assert read(text.encode(codec), label) == text
    assert read(b"\xff\xfea" + PILLS.encode(), label)[3:] == PILLS


@given(st.binary(max_size=120), st.sampled_from(LABELS))
def test_no_bytes_raise_in_any_charset(payload, label):
    text, codec = decode(payload, label, Allowance())
    assert codec == "iso2022_cn" or codecs.lookup(codec)  # which Python lacks
    assert "\0" not in text
    assert text.encode().decode() == text


@given(
    st.text(st.characters(max_codepoint=127, blacklist_characters="\0\x1b~"), max_size=80),
    st.sampled_from(["", "utf-8", "big5", "cp037"]),
)
def test_ascii_is_ascii_in_every_charset(text, label):
    assert read(text.encode(), label) == text


def test_part_says_what_was_declared_and_what_was_used():
    mail = parse(b"Content-Type: text/plain; charset=X-Nonsense\n\nabc")
    assert (mail.parts[0].declared_charset, mail.parts[0].charset) == ("x-nonsense", "ascii")
    assert mail.defects == ["unknown-charset"]


@given(st.binary(max_size=400))
def test_what_the_stdlib_encodes_comes_back(data):
    allowance = Allowance()
    assert decode_base64(base64.encodebytes(data), allowance) == data
    line_feeds = data.replace(b"\r", b"")
    assert decode_quoted_printable(quopri.encodestring(line_feeds)) == line_feeds
    lines = b"".join(binascii.b2a_uu(data[start : start + 45]) for start in range(0, len(data), 45))
    payload = b"text before\nbegin 644 a.bin\n" + lines + b"`\nend\n"
    assert decode_transfer(payload, "x-uuencode", allowance) == data
    assert allowance.defects == []


@given(st.binary(max_size=200), st.sampled_from(["base64", "quoted-printable", "uuencode", "8bit", "x-odd"]))
def test_any_payload_is_decoded(payload, encoding):
    for text in (payload, b"begin 644 x\n" + payload):
        assert isinstance(decode_transfer(text, encoding, Allowance()), bytes)


@given(st.text("%0aF4 \t+_x").map(str.encode) | st.binary())
@example(b"100%")
@example(b"100%  sure")
def test_percent_signs_are_decoded_as_the_stdlib_decodes_them(data):
    assert decode_percent(data) == unquote_to_bytes(data)


@pytest.mark.parametrize("first", [b"minutes of the meeting 1...", b"minutes of the meeting 1...."])
def test_base64_after_a_foreign_line_is_read(first):
    rest = b"buy cheap pills now http://evil.example/ " * 6
    for gap in (b"\n-\n", b"\n\n-\n", b"\n\n"):
        data = base64.b64encode(first) + gap + base64.b64encode(rest)
        assert decode_transfer(data, "base64", Allowance()).endswith(rest)


DATA = bytes(range(256))


@pytest.mark.parametrize(
    "encoded",
    [
        b"begin 644\n" + binascii.b2a_uu(DATA[:45]) + b"`\nend\n",
        b"=ybegin line=128 size=256 name=a b.gif\n%s\n=yend size=256\n" % DATA.replace(b"\r", b"=M"),
    ],
)
def test_lines_of_encoded_files_are_no_words(encoded):
    text, *files = parse(b"Subject: s\n\nsee\n" + encoded + b"after").parts
    assert text.text.split() == ["see", "after"]
    assert [(file.filename, file.size_bytes) for file in files] == [("", 45)] * (encoded[:1] == b"b")


def test_data_in_yenc_that_is_cut_off_is_no_words():
    (text,) = parse(b"Subject: s\n\nsee\n=ybegin line=128 size=256 name=b.gif\n" + DATA).parts
    assert text.text.split() == ["see"]
