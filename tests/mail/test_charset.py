"""Charsets: which names are known, and which charset a text is read in; golden/charset-* show each script."""

import codecs
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.charset import decode, look_up_codec
from nbspam.mail.guess import guess_codec
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


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("iso-8859-1*en", "cp1252"),
        ("x-gbk", "gb18030"),
        ("'win-1251'", "cp1251"),
        ('"utf-8"; format=flowed', "utf-8"),
    ],
)
def test_odd_names_that_mail_uses_are_known(label, codec):
    assert look_up_codec(label) == codec


@pytest.mark.parametrize("mark", [b"\x1b$B", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff"])
def test_false_mark_does_not_hide_ascii(mark):
    for label in ("", "us-ascii", "iso-8859-1", "koi8-r", "iso-2022-jp"):
        assert read(mark + PILLS.encode(), label).endswith(PILLS)


def test_utf_8_declared_as_a_charset_of_any_bytes_is_utf_8():
    for label in ("iso-8859-1", "windows-1251", "iso-8859-8-i", "macintosh", "cp437"):
        allowance = Allowance()
        assert decode("Grüße".encode(), label, allowance) == ("Grüße", "utf-8")
        assert allowance.defects == ["bad-charset"]


def test_declared_charset_goes_before_utf_8_and_utf_8_before_a_guess():
    both = "Grüße".encode()
    assert read(both + b"\xfc", "iso-8859-1") == "GrÃ¼ÃŸeü"
    assert read(both, "gb18030") == "Gr眉脽e"
    assert read(both, "euc-jp") == "Grüße"
    assert read(both) == "Grüße"
    assert read(b"a\x81\x80\xff", "iso-8859-1") == "a\x81€ÿ"


def test_few_broken_characters_keep_the_declaration_and_many_do_not():
    assert read(RUSSIAN.encode("cp1251"), "utf-8") == RUSSIAN
    assert read(CHINESE.encode() + b"\xe4\xbd", "utf-8") == CHINESE + "\ufffd"
    assert read(CHINESE.encode("gb18030") + b"\xff", "gb2312") == CHINESE + "\ufffd"


@pytest.mark.parametrize("label", ["", "us-ascii", "utf-8"])
def test_utf_8_with_a_bad_byte_is_utf_8(label):
    assert read("Grüße aus Köln ".encode() + b"\x96 jetzt", label) == "Grüße aus Köln \ufffd jetzt"
    assert read(RUSSIAN.encode()[:41], label)[:20] == RUSSIAN[:20]


def test_utf_8_with_quotes_of_windows_is_utf_8_if_it_is_declared():
    assert read(b"\x93Sale\x94 f\xc3\xbcr M\xc3\xa4nner", "utf-8") == "\ufffdSale\ufffd für Männer"


@pytest.mark.parametrize("label", ["", "us-ascii", "utf-8", "iso-2022-jp", "iso-8859-1"])
def test_escapes_for_two_byte_characters_are_no_ascii(label):
    assert read(b"\x1b$B-j;3ED>&;v\x1b(B", label) == "㈱山田商事"
    assert read(b"\x1b(I6@6E\x1b(B ok", label) == "ｶﾀｶﾅ ok"


@pytest.mark.parametrize(
    ("payload", "label", "right"),
    [
        (b"\x1b$By!-!;3ED0!0!$\x1b(Bend", "iso-2022-jp", "纊①山田亜亜\ufffdend"),
        (b"\x0e6@\x0f ok", "iso-2022-jp", "ｶﾀ ok"),
        (b"\x1b$B0!\n0!\x1b(B", "iso-2022-jp", "亜\n亜"),
        (b"\x1b&@\x1b$B0!\x1b(J~\\", "iso-2022-jp", "亜~\\"),  # the mark of JIS X 0208 of 1990 is no text
        (b"\x1b$)C\x0eF/:0\x0f", "iso-2022-kr", "특별"),
        (b"\x1b$)A\x0eDc:C\x0f", "iso-2022-cn", "你好"),
        (b"\xad\xea\xbb\xb3\xc5\xc4\x8e\xb6\xf9\xa1", "euc-jp", "㈱山田ｶ纊"),
        (b"\xbb\xb3\xfe\xfe" + b"\xc5\xc4" * 10, "euc-jp", "山\ufffd" + "田" * 10),
        ("本日は晴天です".encode(), "iso-2022-jp", "本日は晴天です"),
        (("本日は晴天です、" * 3).encode("euc_jp"), "iso-2022-jp", "本日は晴天です、" * 3),
        (b"\x1b$B0!\x1b(B\n" + "山田".encode(), "", "亜\n山田"),
    ],
)
def test_east_asian_mail_is_read_as_windows_writes_it(payload, label, right):
    assert read(payload, label) == right


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


def test_half_a_character_of_utf_7_is_a_question_mark():
    assert read(b"a+2AA-b +2D3eAA-", "utf-7") == "a?b \U0001f600"


@given(
    st.text(st.characters(max_codepoint=127, blacklist_characters="\0\x1b~"), max_size=80),
    st.sampled_from(["", "utf-8", "big5", "cp037"]),
)
def test_ascii_is_ascii_in_every_charset(text, label):
    assert read(text.encode(), label) == text


UNDECLARED = {
    "cp1253": "αγαπητέ πελάτη, παρακαλώ κάντε κλικ εδώ",
    "cp1255": "לקוח יקר, החשבון שלך הושעה. אנא לחץ כאן",
    "cp1256": "عزيزي العميل، تم تعليق حسابك. الرجاء الضغط هنا للتحقق من بياناتك",
    "cp874": "เรียนลูกค้า บัญชีของคุณถูกระงับ กรุณาคลิกที่นี่เพื่อยืนยันข้อมูล",
    "cp1251": "Уважаемый клиент, НАЖМИТЕ здесь",
    "koi8_u": "Уважаемый клиент, нажмите здесь",
    "iso8859_5": "Уважаемый клиент, ваш заказ отправлен. Нажмите здесь",
    "cp866": "Уважаемый клиент, ваш заказ отправлен. Нажмите здесь",
    "iso8859_6": "عزيزي العميل، تم تعليق حسابك. الرجاء الضغط هنا للتحقق من بياناتك",
    "cp1254": "Değerli müşterimiz, hesabınız askıya alınmıştır. Lütfen buraya tıklayın.",
    "cp1250": "Twoje konto zostało zawieszone. Proszę kliknąć tutaj, aby zweryfikować dane w ciągu doby.",
    "iso8859_2": "Vážený zákazníku, váš účet byl pozastaven. Klikněte prosím zde a ověřte své údaje.",
    "cp1257": "Gerbiamas kliente, jūsų sąskaita buvo sustabdyta. Prašome spustelėti čia.",
    "cp1252": "Sehr geehrter Kunde, überprüfen Sie die Größe. Ça va être supprimé. ¿Mañana? £5 ® ©",
    "gb18030": CHINESE,
    "cp949": "고객님의 계정이 정지되었습니다. 여기를 클릭하세요",
    "euc_jp": "お客様のアカウントは停止されました。こちらをクリックしてください",
    "big5hkscs": "您好！我公司可以為您開具各類發票，歡迎來電諮詢，價格優惠。",
}


@pytest.mark.parametrize("codec", UNDECLARED)
def test_a_line_without_a_declaration_is_read_in_the_charset_of_its_language(codec):
    assert read(UNDECLARED[codec].encode(codec)) == UNDECLARED[codec]


@pytest.mark.parametrize(
    ("codec", "words"),
    [
        ("cp1253", ["Δωρεάν προσφορά", "νέα τιμή"]),
        ("cp932", ["請求書", "写真"]),
        ("cp1250", ["Twoja przesyłka", "żółta piłka"]),
        ("iso8859_2", ["Poštovani, vaša narudžba", "je ještě čas"]),
        ("gb18030", ["发票", "代开"]),
    ],
)
def test_few_words_without_a_declaration_are_read(codec, words):
    assert [guess_codec(word.encode(codec)) for word in words] == [codec] * 2


def test_few_western_letters_are_not_taken_for_another_script():
    for text in ("", "ä", "Größe", "£5 off", "naïve café", "5 m³ à 9 €", "don´t", "Él dijo¿qué?", "1¼in"):
        assert guess_codec(text.encode("cp1252")) == "cp1252"


def test_part_says_what_was_declared_and_what_was_used():
    mail = parse(b"Content-Type: text/plain; charset=X-Nonsense\n\nabc")
    assert (mail.parts[0].declared_charset, mail.parts[0].charset) == ("x-nonsense", "ascii")
    assert mail.defects == ["unknown-charset"]
