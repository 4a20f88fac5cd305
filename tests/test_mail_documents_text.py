"""The text that documents show: pages of PDF, office documents, RTF; and where its words go."""

from __future__ import annotations

import zlib
from base64 import a85encode
from collections.abc import Callable
from email.message import EmailMessage
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.mail.documents.reader import read_document
from nbspam.mail.limits import MAX_DOCUMENT_ITEMS, MAX_UNPACKED_PIECES, Allowance
from nbspam.mail.message import MAX_TEXT, Document
from nbspam.mail.packed import MAX_PIECE
from nbspam.mail.pdf.lzw import lzw_unpacked
from nbspam.mail.pdf.pages import MAX_FONTS, MAX_PAGES
from nbspam.mail.pdf.reader import MAX_OBJECTS, PdfFile
from nbspam.tokens import tokenize
from tests.documents_made import archive, check_bounded, docx_of, mailed, pdf_of, read, rtf_of

INVOICE = "Your plan was renewed for $499.99.\nCall (888) 555-0142 to cancel: https://pay.example.net/now"


def shown(payload: bytes) -> str:
    return " ".join(read(payload).text.split())


def stream(content: bytes, says: bytes = b"") -> bytes:
    packed = zlib.compress(content)
    return b"<< %s /Filter /FlateDecode >>\nstream\n%s\nendstream" % (says, packed)


def pdf(*objects: bytes) -> bytes:
    """A file of these objects, numbered from 1 on."""
    numbered = [b"%d 0 obj\n%s\nendobj\n" % (number, each) for number, each in enumerate(objects, 1)]
    return b"%PDF-1.7\n" + b"".join(numbered)


PAGE = b"<< /Type /Page /Resources << /Font << /F1 3 0 R >> >> /Contents 2 0 R >>"
HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
# Letters of 0.5 of a size, so that places can be worked out in the head.
FIXED = b"<< /Type /Font /FirstChar 32 /Widths [%s] >>" % (b"500 " * 95)


def page(content: bytes, font: bytes = FIXED, *more: bytes) -> bytes:
    return pdf(PAGE, stream(content), font, *more)


@pytest.mark.parametrize("make", [pdf_of, docx_of, rtf_of])
@pytest.mark.parametrize(
    "text", ["", INVOICE, "a (b) \\ {c} <d> & e", "Prüfung über 20 €\n\nzweitens", "wordbyword " * 400]
)
def test_text_of_a_document(make: Callable[[str], bytes], text: str) -> None:
    assert shown(make(text)) == " ".join(text.split())


@pytest.mark.parametrize("make", [docx_of, rtf_of])
def test_text_in_any_letters(make: Callable[[str], bytes]) -> None:
    assert shown(make("Ваш счёт 您的账户 😀")) == "Ваш счёт 您的账户 😀"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"BT /F1 10 Tf (pay) Tj ET", "pay"),
        (b"BT /F1 10 Tf <7061 79> Tj ET", "pay"),
        (b"BT /F1 10 Tf (p\\141y \\(now\\) (soon)) Tj ET", "pay (now) (soon)"),
        (b"BT /F1 10 Tf (pay) Tj (ment) Tj ET", "payment"),
        (b"BT /F1 10 Tf (pay) Tj (ment) Tj 35 0 Td (s) Tj ET", "payments"),
        (b"BT /F1 10 Tf (pay (now)) Tj ET", "pay (now)"),
        (b"BT /F1 10 Tf [(pay) -20 (ment)] TJ ET", "payment"),
        (b"BT /F1 10 Tf [(pay)-250(now)]TJ ET", "pay now"),
        (b"BT /F1 10 Tf [(pay) -140 (ment)] TJ 37.8 0 Td (s) Tj ET", "payments"),
        (b"BT /F1 10 Tf [(pay) 100 (ment)] TJ 34 0 Td (s) Tj ET", "payments"),
        # three letters of 0.5 at size 10 end at 15
        (b"BT /F1 10 Tf 0 0 Td (pay) Tj 15.9 0 Td (ment) Tj ET", "payment"),
        (b"BT /F1 10 Tf 0 0 Td (pay) Tj 17 0 Td (now) Tj ET", "pay now"),
        (b"BT /F1 10 Tf 9 9 Td (pay) Tj ET BT 24 9 Td (ment) Tj ET", "payment"),
        (b"BT /F1 10 Tf 2 Tc (pay) Tj 21 0 Td (ment) Tj ET", "payment"),
        (b"BT /F1 10 Tf 9 Tw (a b) Tj 24 0 Td (c) Tj ET", "a bc"),
        (b"BT /F1 1 Tf 10 0 0 10 0 0 Tm (pay) Tj 10 0 0 10 15.9 0 Tm (ment) Tj ET", "payment"),
        (b"BT /F1 1 Tf 10 0 0 10 0 0 Tm (pay) Tj 10 0 0 10 17 0 Tm (now) Tj ET", "pay now"),
        (b"q .1 0 0 .1 0 0 cm BT /F1 100 Tf (pay) Tj 150 0 Td (ment) Tj ET Q", "payment"),
        (b"q 1 0 0 1 0 9 cm BT /F1 10 Tf (a) Tj ET Q q 1 0 0 1 0 -9 cm BT (b) Tj ET Q", "a b"),
        (b"q 1 0 0 1 0 9 cm BT /F1 10 Tf (a) Tj ET Q BT 5 9 Td (b) Tj ET Q Q", "ab"),
        (b"BT /F1 10 Tf (pay) Tj 0 -12 Td (now) Tj ET", "pay now"),
        (
            b"BT /F1 10 Tf (a) Tj 0 -12 TD (b) Tj T* (pay) Tj 1 0 0 1 15 -24 Tm (ment) Tj ET",
            "a b payment",
        ),
        (b"BT /F1 10 Tf 12 TL (pay) Tj T* (now) Tj (then) ' 1 2 (last) \" ET", "pay now then last"),
        (b"BT /F1 10 Tf (re-) Tj 0 -12 Td (newed) Tj ET", "renewed"),
        (b"BT /F1 10 Tf 40 0 Td (b) Tj -40 0 Td (a) Tj ET", "b a"),
        (b"BI /W 1 /H 1 ID (not text) Tj EI BT /F1 10 Tf (pay) Tj ET", "pay"),
        (b"BI /W 1 /H 1 ID xEIx(EI\nBT /F1 10 Tf (pay) Tj ET", "pay"),
        (b"BI /W 1 /H 1 ID xEIx(EI", ""),
        (b"BT /F1 10 Tf % (not text) Tj\n(pay) % )\rTj ET", "pay"),
        # from below, from above, upside down, and as a mirror of a mirror
        (
            b"BT /F1 1 Tf 0 10 -10 0 9 0 Tm (pay) Tj 0 10 -10 0 9 15.9 Tm (ment) Tj 4 0 Td (now) Tj ET",
            "payment now",
        ),
        (
            b"0 -1 1 0 0 0 cm BT /F1 10 Tf 9 9 Td (pay) Tj 15 0 Td (ment) Tj 0 -9 Td (now) Tj ET",
            "payment now",
        ),
        (
            b"BT /F1 9 Tf -1 0 0 -1 9 9 Tm (pay) Tj -1 0 0 -1 -4.5 9 Tm (ment) Tj 40 0 Td (now) Tj ET",
            "payment now",
        ),
        (
            b"BT /F1 -10 Tf -.6 -.8 .8 -.6 9 9 Tm (pay) Tj -15 0 Td (ment) Tj -23 0 Td (now) Tj ET",
            "payment now",
        ),
        # up a slope of 3 to 4, forth with a gap of 20 and back by 15
        (
            b"BT /F1 10 Tf .6 .8 -.8 .6 5 5 Tm (pay) Tj .6 .8 -.8 .6 14 17 Tm (ment-) Tj"
            b" .6 .8 -.8 .6 41 53 Tm (now) Tj ET",
            "payment- now",
        ),
        (
            b"BT /F1 10 Tf .6 .8 -.8 .6 14 117 Tm (re-) Tj .6 .8 -.8 .6 5 105 Tm (newed) Tj ET",
            "renewed",
        ),
        # the page goes up it, and the text on it, or another turn of the page, goes back
        (
            b".6 .8 -.8 .6 5 5 cm BT /F1 10 Tf .6 -.8 .8 .6 0 0 Tm (download) Tj"
            b" .6 -.8 .8 .6 24 -32 Tm (able) Tj ET",
            "downloadable",
        ),
        (
            b"q .6 .8 -.8 .6 0 0 cm .6 -.8 .8 .6 0 0 cm BT /F1 10 Tf 9 -40 Td (pay) Tj ET Q"
            b" BT /F1 10 Tf 24 -40 Td (ment) Tj ET",
            "payment",
        ),
        (b"BT /F1 10 Tf 50 Tz (pay) Tj 7.5 0 Td (ment) Tj 12 0 Td (now) Tj ET", "payment now"),
        (
            b"q BT /F1 10 Tf 9 Tc 9 Tw 9 Tz 9 TL ET Q BT /F1 10 Tf (p y) Tj 15 0 Td (m) Tj T* (n) Tj ET",
            "p ymn",
        ),
        (b"BT /F1 10 Tf q /F1 .1 Tf (tiny) Tj Q (pay) Tj ET", "pay"),
        (b"BT /F1 10 Tf (never closed", ""),
        (b"BT /F1 9 Tf /F1 (a) Tj 1 Tf (b) Tj Td Tm TL Tc Tw ' \" cm Q TD (c) Tj ET", "abc"),
    ],
)
def test_what_is_drawn(content: bytes, text: str) -> None:
    assert shown(page(content)) == text


@pytest.mark.parametrize(
    "content",
    [
        b"/F1 .9 Tf (hidden) Tj /F1 1.1 Tf (seen) Tj",
        b"/F1 10 Tf .09 0 0 .09 0 0 Tm (hidden) Tj .2 0 0 .2 0 0 Tm (seen) Tj",
        b".09 0 0 .09 0 0 cm /F1 10 Tf (hidden) Tj /F1 -12 Tf (seen) Tj",
        # flattened to a line, narrowed to a bar, or both letters and their height along one line
        b"/F1 10 Tf 1 0 0 .09 0 0 Tm (hidden) Tj 1 0 0 .2 0 0 Tm (seen) Tj",
        b"/F1 10 Tf 9 Tz (hidden) Tj 20 Tz (seen) Tj",
        b"/F1 .9 Tf 1 0 0 9 0 0 Tm (hidden) Tj 200 Tz (seen) Tj",
        b"/F1 10 Tf 1 2 1 2 0 0 Tm (hidden) Tj 1 0 2 1 0 0 Tm (seen) Tj",
    ],
)
def test_what_nobody_can_read_is_not_text(content: bytes) -> None:
    assert shown(page(b"BT %s ET" % content)) == "seen"


def test_a_word_in_a_font_of_unknown_widths_is_one() -> None:
    """Helvetica's own widths are not in the file; most letters are narrower or wider than is guessed."""
    narrow = b"BT /F1 10 Tf (will) Tj 13.3 0 Td (ing) Tj 25 0 Td (mm) Tj ET"
    assert shown(page(narrow, HELVETICA)) == "willing mm"
    wide = b"BT /F1 1 Tf 10 0 0 10 0 0 Tm (good) Tj 10 0 0 10 22.2 0 Tm (ness) Tj 2.9 0 Td (of) Tj ET"
    assert shown(page(wide, HELVETICA)) == "goodness of"


@pytest.mark.parametrize(
    ("says", "size"),
    [
        (b"/FontMatrix [1 0 0 1 0 0] /FontBBox [0 -20 90 80]", b".1"),  # of dots: a size is 100 of them
        (b"/FontMatrix [.01 0 0 .01 0 0] /FontBBox [0 0 0 0]", b"10"),
        (b"/FontMatrix [.01 0 0 -.01 0 0] /FontBBox [0 80 90 -20]", b"10"),
        (b"/FontMatrix [.01 0 0 .01 0 0]", b"10"),
        (b"", b"100"),
    ],
)
def test_a_font_that_a_document_draws_has_units_of_its_own(says: bytes, size: bytes) -> None:
    font = b"<< /Type /Font /Subtype /Type3 %s /FirstChar 32 /Widths [%s] >>" % (says, b"50 " * 95)
    content = b"BT /F1 %s Tf (pay) Tj 15 0 Td (ment) Tj 22 0 Td (now) Tj ET" % size
    assert shown(page(content, font)) == "payment now"


@pytest.mark.parametrize(
    ("says", "tiny", "seen"),
    [
        (b"/FontBBox [0 -50 90 50]", b"9", b"11"),
        (b"/FontBBox [0 0 90 99000]", b".9", b"1.1"),  # no letter is higher than a font
        (b"/Widths [0 50 50 0]", b"9", b"11"),  # twice as high as letters are wide
        (b"", b".9", b"1.1"),
    ],
)
def test_a_drawn_font_too_small_to_be_seen_is_not_text(says: bytes, tiny: bytes, seen: bytes) -> None:
    font = b"<< /Type /Font /Subtype /Type3 /FontMatrix [.001 0 0 .001 0 0] %s >>" % says
    content = b"BT /F1 %s Tf (tiny) Tj /F1 %s Tf (seen) Tj ET" % (tiny, seen)
    assert shown(page(content, font)) == "seen"


def test_widths_of_many_digits_are_one_each() -> None:
    font = b"<< /Type /Font /FirstChar 97 /Widths [1500.000000000 500 500] >>"
    assert shown(page(b"BT /F1 10 Tf (ab) Tj 20 0 Td (c) Tj ET", font)) == "abc"
    font = font.replace(b"500 500", b"300 500")
    assert shown(page(b"BT /F1 10 Tf (ab) Tj 20 0 Td (c) Tj ET", font)) == "ab c"


def test_widths_in_an_object_of_their_own() -> None:
    font = b"<</Type/Font/Widths 4 0 R/FirstChar 97>>"
    content = b"BT /F1 10 Tf (a) Tj 9 0 Td (b) Tj 7 0 Td (c) Tj ET"
    assert shown(page(content, font, b"[900 500]")) == "ab c"


def test_widths_are_counted() -> None:
    allowance = Allowance()
    read_document(page(b"/F1 9 Tf (a) Tj"), allowance)
    assert allowance.document_items <= MAX_DOCUMENT_ITEMS - 95


def font_of_two_bytes(table: bytes, more: bytes = b"") -> tuple[bytes, bytes]:
    return b"<< /Type /Font /Subtype /Type0 %s /ToUnicode 4 0 R >>" % more, stream(table)


@pytest.mark.parametrize(
    "table",
    [
        b"3 beginbfchar <0001> <0070> <0002> <0061> <0003> <0079> endbfchar",
        b"1 beginbfchar\n<0001>\n<0070>\nendbfchar 1 beginbfchar <0002> <0061> <0003> <0079> endbfchar"
        b" begincodespacerange <0001> <ffff> endcodespacerange",
        b"1 beginbfrange <0001> <0003> [<0070> <0061> <0079>] endbfrange",
        b"1 beginbfrange <0001> <0009> [<0070> <0061> <0079>] endbfrange",
        b"beginbfrange <0002> <0002> <0061> <0001> <0001> <0070> <0003> <0004> <0079> endbfrange",
    ],
)
def test_characters_of_a_table(table: bytes) -> None:
    assert shown(page(b"BT /F1 10 Tf <000100020003> Tj ET", *font_of_two_bytes(table))) == "pay"


def test_a_code_for_more_than_one_character() -> None:
    font = font_of_two_bytes(b"beginbfchar <0001> <00660066> <0002> <D83DDE00> endbfchar")
    assert shown(page(b"BT /F1 10 Tf <0001 0002 0009> Tj ET", *font)) == "ff😀"
    font = font_of_two_bytes(b"beginbfrange <0001> <0002> <00660066> endbfrange")
    assert shown(page(b"BT /F1 10 Tf <0001 0002> Tj ET", *font)) == "fffg"
    font = font_of_two_bytes(b"beginbfchar <0001> <%s> endbfchar" % (b"0061" * 40))
    assert shown(page(b"BT /F1 10 Tf <0001> Tj ET", *font)) == "a" * 32


def test_ranges_of_all_codes() -> None:
    """Many a program writes one that maps each code to itself; it leaves room for others."""
    every = b"beginbfrange <0000> <FFFF> <0000> endbfrange "
    content = b"BT /F1 10 Tf <60A8 597D 0050> Tj ET"
    assert shown(page(content, *font_of_two_bytes(every))) == "您好P"
    single = b"beginbfchar <60A8> <0070> endbfchar"
    assert shown(page(content, *font_of_two_bytes(every * 200 + single))) == "p好P"
    shifted = font_of_two_bytes(b"beginbfrange <5000> <6000> <7000> endbfrange")
    assert shown(page(content, *shifted)) == "\u797d"


def test_spaces_of_codes_of_two_bytes() -> None:
    """Each code has one behind it; that of words is for the single byte 32 alone."""
    font = font_of_two_bytes(b"beginbfrange <2061> <2061> <0061> endbfrange", b"/DescendantFonts [5 0 R]")
    content = b"BT /F1 10 Tf 2 Tc 9 Tw <20612061> Tj %d 0 Td <2061> Tj ET"
    for end, text in ((14, "aaa"), (16, "aa a")):
        assert shown(page(content % end, *font, b"<< /W [8289 [500]] >>")) == text


def test_half_a_character_is_none() -> None:
    for before, last in ((b"D7FF", "\ufffd"), (b"DBFFDFFF", "\U0010ffff")):
        font = font_of_two_bytes(b"beginbfrange <0001> <0002> <%s> endbfrange" % before)
        assert shown(page(b"BT /F1 10 Tf <0002> Tj ET", *font)) == last


def test_a_table_for_codes_of_one_byte() -> None:
    font = b"<< /Type /Font /Subtype /TrueType /ToUnicode 4 0 R >>"
    table = stream(b"beginbfrange <01> <02> <0070> endbfrange")
    assert shown(page(b"BT /F1 10 Tf (\x01\x02x) Tj ET", font, table)) == "pqx"


@pytest.mark.parametrize(
    ("codes", "end"),
    [(b"<0001>", 5), (b"<0002>", 20), (b"<00030004>", 2), (b"<0005>", 3), (b"<0007>", 7), (b"<0008>", 9)],
)
@pytest.mark.parametrize("own", [False, True])
def test_widths_of_codes_of_two_bytes(codes: bytes, end: int, own: bool) -> None:
    table = b"beginbfrange <0001> <0009> <0061> endbfrange"
    font, characters = font_of_two_bytes(table, b"/DescendantFonts [5 0 R]")
    # of a and b, of c and d, of f and g, of h; of all others 300
    listed = b"[1 [500 2000] 3 4 100 6 7 700 8 [900]]"
    widths = b"<< /DW 300 /W%s >>" % (b" 6 0 R" if own else listed)
    content = b"BT /F1 10 Tf %s Tj %d 0 Td <0009> Tj ET"
    near, far = [
        shown(page(content % (codes, at), font, characters, widths, listed)) for at in (end, end + 2)
    ]
    assert [near.count(" "), far.count(" ")] == [0, 1]


def test_codes_of_two_bytes_are_as_wide_as_a_size_where_nothing_is_said() -> None:
    font, characters = font_of_two_bytes(
        b"beginbfrange <0001> <0009> <0061> endbfrange", b"/DescendantFonts [5 0 R]"
    )
    for end, text in ((10, "aa"), (12, "a a")):
        content = b"BT /F1 10 Tf <0001> Tj %d 0 Td <0001> Tj ET" % end
        assert shown(page(content, font, characters, b"<< /W [9 [500]] >>")) == text


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [
        (b"/UniGB-UCS2-H", "utf-16-be"),
        (b"/UniJIS-UTF16-H", "utf-16-be"),
        (b"/GBK-EUC-H", "gbk"),
        (b"/GB-EUC-H", "gbk"),
        (b"/90ms-RKSJ-H", "cp932"),
        (b"/ETen-B5-H", "big5"),
        (b"/ETenms-B5-H", "big5"),
        (b"/KSCms-UHC-H", "cp949"),
    ],
)
def test_fonts_that_the_viewer_has(encoding: bytes, codec: str) -> None:
    font = b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong /Encoding %s >>" % encoding
    codes = "a東京".encode(codec).hex().encode()  # the letter in one byte, where codes have one or two
    assert shown(page(b"BT /F1 10 Tf <%s> Tj ET" % codes, font)) == "a東京"


def test_a_font_that_tells_no_characters() -> None:
    font = b"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H >>"
    assert shown(page(b"BT /F1 10 Tf <00010002> Tj ET", font)) == ""


def test_characters_by_the_names_of_drawings() -> None:
    encoding = b"<< /Differences [1/p/adieresis /fi /uni20AC 165/comma /g17 /one /percent] >>"
    font = b"<< /Type /Font /Encoding %s >>"
    for says, more in ((font % encoding, b""), (font % b"4 0 R", encoding)):
        content = b"BT /F1 10 Tf (\x01\x02\x03\x04\xa5\xa6\xa7\xa8D) Tj ET"
        assert shown(page(content, says, more)) == "pa\u0308fi€,1%D"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (b"/agrave/aacute/acircumflex/atilde/adieresis/aring/ccedilla/aogonek/ccaron", "àáâãäåçąč"),
        (b"/one.oldstyle/P.sc/a.alt.sc/.notdef/g.17", "1Pag"),
        (b"/f_i/one_space_a.alt/uni00660069/underscore", "fi1 afi_"),
        (b"/union/universe/percentunknown/A /B", "AB"),
    ],
)
def test_parts_of_the_names_of_drawings(names: bytes, text: str) -> None:
    font = b"<< /Type /Font /Encoding << /Differences [65 %s] >> >>" % names
    found = shown(page(b"BT /F1 10 Tf (ABCDEFGHI) Tj ET", font))
    assert normalize("NFC", found)[: len(text)] == text


def test_characters_of_windows() -> None:
    assert shown(page(b"BT /F1 10 Tf (20\x80 \xfcber \x81) Tj ET")) == "20€ über \ufffd"


@pytest.mark.parametrize(
    "encoding", [b"/MacRomanEncoding", b"4 0 R", b"<< /BaseEncoding /MacRomanEncoding /Differences [1 /a] >>"]
)
def test_characters_of_macintosh(encoding: bytes) -> None:
    font = b"<< /Type /Font /Subtype /TrueType /Encoding %s >>" % encoding
    content = b"BT /F1 10 Tf (don\xd5t \x8a) Tj ET"
    assert shown(page(content, font, b"<< /BaseEncoding /MacRomanEncoding >>")) == "don’t ä"


@pytest.mark.parametrize(
    "objects",
    [
        (
            b"<< /Type /Page /Resources 4 0 R /Contents [2 0 R 5 0 R] >>",
            b"<< /Font 6 0 R >>",
            b"<< /F1 3 0 R >>",
        ),
        (b"<< /Type /Page /Resources 4 0 R /Contents 7 0 R >>", b"<< /Font << /F1 3 0 R >> >>", b""),
        (b"<</Type/Page/Contents 7 0 R/Resources 4 0 R>>", b"<</Font<</F1 3 0 R>>>>", b""),
        (
            b"<< /Type /Page /Parent 4 0 R /Contents [2 0 R 5 0 R] /B [ 2 0 R ]>>",
            b"<< /Font << /F1 3 0 R >> >>",
            b"",
        ),
        (
            b"<< /Type /Page /Font << /F1 3 0 R >> /XObject << /F1 2 0 R >> /Contents [2 0 R 5 0 R]>>",
            b"",
            b"",
        ),
        (
            b"<< /Type /Page /XObject 4 0 R /Parent 6 0 R /Contents [2 0 R 5 0 R]>>",
            b"<< /F1 2 0 R >>",
            b"<< /Font << /F1 3 0 R >> >>",
        ),
    ],
)
def test_where_contents_and_fonts_stand(objects: tuple[bytes, bytes, bytes]) -> None:
    """In the page, in objects of their own, or in what the page belongs to."""
    first, resources, fonts = objects
    font = b"<< /Encoding << /Differences [97 /z] >> >>"
    contents = stream(b"BT /F1 10 Tf (pay "), stream(b"a) Tj ET")
    made = pdf(first, contents[0], font, resources, contents[1], fonts, b"[2 0 R 5 0 R]")
    assert shown(made) == "pzy z"


def test_pages_have_fonts_of_their_own() -> None:
    other = b"<< /Type /Page /Resources << /Font << /F1 5 0 R >> >> /Contents 2 0 R >>"
    font = b"<< /Encoding << /Differences [97 /z] >> >>"
    assert shown(pdf(PAGE, stream(b"BT /F1 9 Tf (a) Tj ET"), HELVETICA, other, font)) == "a z"


def test_a_page_begins_with_nothing_set_by_another() -> None:
    first = stream(b"99 Tc q .01 0 0 .01 0 0 cm BT /F1 9 Tf (tiny) Tj ET")
    second = stream(b"Q BT /F1 10 Tf (pay) Tj 17 0 Td (now) Tj ET")
    assert shown(pdf(PAGE, first, FIXED, PAGE.replace(b"2 0", b"5 0"), second)) == "pay now"


def test_a_form_is_shown_behind_the_pages() -> None:
    form = stream(b"BT /F1 9 Tf (stamp) Tj ET", b"/Subtype /Form /BBox [0 0 9 9] /Resources << >>")
    assert shown(pdf(form, stream(b"BT /F1 9 Tf (text) Tj ET"), HELVETICA, PAGE)) == "text stamp"


@pytest.mark.parametrize(
    "other",
    [
        b"<< /Type /Page >>",
        b"<< /Type /Annot /Contents (note) >>",
        b"<< /PatternType 1 /BBox [0 0 9 9] >>\nstream\nBT (tile) Tj ET\nendstream",
        b"<< /Subtype /Form >>\nstream\nBT (of no size) Tj ET\nendstream",
    ],
)
def test_what_is_no_page_and_no_form_shows_nothing(other: bytes) -> None:
    """Nor does it take the place of one."""
    form = stream(b"BT (stamp) Tj ET", b"/Subtype /Form /BBox [0 0 9 9]")
    first = b"<< /Type /Page /Contents %d 0 R >>" % (MAX_PAGES + 2)
    made = pdf(*[other] * MAX_PAGES, first, stream(b"BT (text) Tj ET"), form)
    assert shown(made) == "text stamp"


def test_pages_are_bounded() -> None:
    """What they share is unpacked once."""
    twice = b"<< /Type /Page /Contents [2 0 R 2 0 R] /B [ 2 0 R ] >>"
    pages = pdf(twice, stream(b"BT (page) Tj ET"), *[twice] * MAX_PAGES)
    assert shown(pages) == " ".join(["pagepage"] * MAX_PAGES)


def test_operators_are_bounded() -> None:
    assert shown(page(b"q " * MAX_DOCUMENT_ITEMS + b"(late) Tj")) == ""


def test_pages_behind_enough_text_leave_what_may_be_unpacked_to_other_files() -> None:
    allowance = Allowance()
    read_document(pdf_of("word " * 40_000), allowance)
    assert allowance.unpacked_pieces > MAX_UNPACKED_PIECES / 2


def test_a_font_is_read_once() -> None:
    font = font_of_two_bytes(b"beginbfrange <0001> <00ff> <0061> endbfrange")
    assert shown(page(b"/F1 9 Tf <0001> Tj " * 300, *font)) == "a" * 300


@pytest.mark.parametrize("behind", [b"", b"\n% made by hand\n"])
def test_pages_in_packed_objects(behind: bytes) -> None:
    font = b"<< /Encoding << /Differences [97 /z] >> >>"
    packed = b"4 %d 3 0%s %s %s" % (len(font) + 1, behind, font, PAGE)
    first = packed.index(b"<<")
    objects = stream(packed, b"/Type/ObjStm/N 2/First %d/Length 9" % first)
    assert shown(pdf(objects, stream(b"BT /F1 9 Tf (pay) Tj ET"))) == "pzy"


def test_an_object_that_was_replaced() -> None:
    later = b"2 0 obj\n%s\nendobj\n" % stream(b"BT /F1 9 Tf (new) Tj ET")
    assert shown(page(b"BT /F1 9 Tf (old) Tj ET") + later) == "new"


def test_contents_that_are_not_packed_and_as_letters() -> None:
    plain = b"<< /Length 9 >>\nstream\r\nBT (pay) Tj ET\nendstream"
    assert shown(pdf(PAGE, plain, HELVETICA)) == "pay"
    letters = a85encode(zlib.compress(b"BT (pay) Tj ET"))
    says = b"<< /Filter [/ASCII85Decode /FlateDecode] >>\nstream\n"
    assert shown(pdf(PAGE, says + letters + b"~>\nendstream", HELVETICA)) == "pay"
    assert shown(pdf(PAGE, says + b"\xff~>\nendstream", HELVETICA)) == ""
    says = b"<< /Filter /ASCII85Decode >>\nstream\n"
    assert shown(pdf(PAGE, says + a85encode(b"BT (pay) Tj ET") + b"~>\nendstream")) == "pay"
    says = b"<< /Filter /ASCIIHexDecode >>\nstream\n"
    hexadecimal = b"BT (pay) Tj ET".hex().encode() + b">\nendstream"
    assert shown(pdf(PAGE, says + hexadecimal) + b"trailer << /Root 1 0 R >>") == "pay"
    digits = zlib.compress(b"BT (pay) Tj ET").hex().encode()
    says = b"<< /Filter [ /ASCIIHexDecode /FlateDecode ] >>\nstream \r\n"
    assert shown(pdf(PAGE, says + digits + b">\nendstream", HELVETICA)) == "pay"
    packed = stream(b"BT (pay) Tj ET").replace(b"stream\n", b"stream \r\n", 1)
    assert shown(pdf(PAGE, packed, HELVETICA)) == "pay"
    assert shown(pdf(PAGE, b"<< /Filter /DCTDecode >>\nstream\nBT (pay) Tj ET\nendstream")) == ""


DRAWN = b"BT /F1 9 Tf (pay) Tj ET"
FLATE, DIGITS = zlib.compress(DRAWN), DRAWN.hex().encode() + b">"


@pytest.mark.parametrize(
    ("says", "packed"),
    [
        (b"/Filter 3 0 R", FLATE),
        (b"/Filter 4 0 R", FLATE),
        (b"/Filter [3 0 R]", FLATE),
        (b"/Filter/Fl", FLATE),
        (b"/Filter/AHx", DIGITS),
        (b"/Filter/AHx", DIGITS[:-1]),
        (b"/Filter/A85", a85encode(DRAWN) + b"~>"),
        (b"/Filter [/A85/Fl]", a85encode(FLATE) + b"~>"),
        (b"/Filter [/FlateDecode/ASCIIHexDecode]", zlib.compress(DIGITS)),
        (b"/Filter [/Fl/Fl]", zlib.compress(FLATE)),
        (b"/Filter [/Crypt/FlateDecode]", FLATE),
        (b"/Filter []", DRAWN),
        (b"/Filter null", DRAWN),
        (b"/Filter/FlateDecode/X/ASCIIHexDecode", FLATE),
        (b"/Filter/FlateDecode/X[/ASCIIHexDecode]", FLATE),
        (b"/X/ASCIIHexDecode", DRAWN),
        (b"/Filters/AHx/Filter/FlateDecode", FLATE),
        (b"/X/Filter/Filter/FlateDecode", FLATE),
        (b"/Filter/FlateDecode/X/Filter/Y 3", FLATE),
        (b"/Filter/AHx/Filter/FlateDecode", FLATE),
        (b"/X(/Filter/AHx)/Filter/FlateDecode/Y(/Filter/AHx)", FLATE),
        (b"/Filter/FlateDecode/X<</Filter/AHx/Y[/Filter/AHx]>>", FLATE),
        (b"/Filter%/AHx\n/FlateDecode%/Filter/AHx\n", FLATE),
        (b"/#46ilter/#46l", FLATE),
    ],
)
def test_what_a_stream_is_packed_with(says: bytes, packed: bytes) -> None:
    content = b"<< %s >>\nstream\n%s\nendstream" % (says, packed)
    assert shown(pdf(PAGE, content, b"/FlateDecode", b"[/FlateDecode]")) == "pay"


def lzw_of(text: bytes, early: int = 1) -> bytes:
    """As the standard has it; codes grow so many codes early."""
    known: dict[bytes, int] = {bytes([byte]): byte for byte in range(256)}
    written, bits, before = f"{256:09b}", 9, b""
    for byte in text:
        if before + bytes([byte]) in known:
            before += bytes([byte])
            continue
        written += f"{known[before]:0{bits}b}"
        known[before + bytes([byte])] = len(known) + 2
        before = bytes([byte])
        if len(known) + 2 + early > 1 << bits:
            bits += 1
        if len(known) + 2 == 4_095:
            written += f"{known[before]:0{bits}b}{256:0{bits}b}"
            known, bits, before = {bytes([byte]): byte for byte in range(256)}, 9, b""
    written += f"{known[before]:0{bits}b}" if before else ""
    written += f"{257:0{bits}b}"
    return int(written.ljust(-(-len(written) // 8) * 8, "0"), 2).to_bytes(-(-len(written) // 8), "big")


def test_the_example_of_lzw_in_the_standard() -> None:
    packed = bytes.fromhex("800B6050220C0C8501")
    assert lzw_unpacked(packed, True, 99) == b"-----A---B"
    assert lzw_unpacked(packed, True, 3) == b"---"
    assert lzw_of(b"-----A---B") == packed
    assert lzw_unpacked(bytes.fromhex("800B7FFF"), True, 99) == b"-"  # no such code


@pytest.mark.parametrize("early", [0, 1])
@pytest.mark.parametrize("length", [0, 1, 253, 254, 255, 256, 2_000, 9_000])
def test_lzw(early: int, length: int) -> None:
    text = b"".join([b"%d " % (n * n * 7_919 % 10_007) for n in range(length)])[:length]
    assert lzw_unpacked(lzw_of(text, early), bool(early), MAX_PIECE) == text


@pytest.mark.parametrize(
    ("says", "early"),
    [
        (b"/Filter/LZWDecode", 1),
        (b"/Filter [/LZW]", 1),
        (b"/Filter/LZW/DecodeParms<</EarlyChange 1>>", 1),
        (b"/Filter/LZW/X<</EarlyChange 0>>", 1),
        (b"/Filter/LZW/DecodeParms<<>>/X<</EarlyChange 0>>", 1),
        (b"/Filter/LZWDecode/DecodeParms<</EarlyChange 0>>", 0),
        (b"/Filter [/LZW]/DecodeParms [<</Colors 1/EarlyChange 0>>]", 0),
        (b"/Filter/LZW/DecodeParms 3 0 R", 0),
        (b"/Filter/LZW/DecodeParms [3 0 R]", 0),
    ],
)
def test_a_stream_in_lzw(says: bytes, early: int) -> None:
    packed = lzw_of(b"".join([b"%% %d\n" % (n * n) for n in range(300)]) + DRAWN, early)
    content = b"<< %s >>\nstream\n%s\nendstream" % (says, packed)
    assert shown(pdf(PAGE, content, b"<</EarlyChange 0>>")) == "pay"


@pytest.mark.parametrize("end", [b"\x80", b""])
def test_a_stream_in_run_lengths(end: bytes) -> None:
    assert len(DRAWN) <= 128
    packed = bytes([257 - 40]) + b" " + bytes([len(DRAWN) - 1]) + DRAWN + end
    for name in (b"RunLengthDecode", b"RL"):
        content = b"<< /Filter/%s >>\nstream\n%s\nendstream" % (name, packed)
        assert shown(pdf(PAGE, content)) == "pay"


@pytest.mark.parametrize("says", [b"/Filter/Flat", b"/Filter [/Fl/DCT]", b"/Filter [%s]" % (b"/AHx" * 5)])
def test_a_stream_that_is_packed_in_another_way_shows_nothing(says: bytes) -> None:
    content = b"<< %s >>\nstream\n%s\nendstream"
    assert shown(pdf(PAGE, content % (says, DIGITS))) == shown(pdf(PAGE, content % (says, FLATE))) == ""


def test_packed_objects_whose_filter_is_an_object_behind_them() -> None:
    packed = zlib.compress(b"1 0 " + PAGE)
    objects = b"<< /Type/ObjStm /First%%9\n4 /X (%s) /Filter 4 0 R >>stream\n" % (b"x" * 3_000)
    assert shown(pdf(objects + packed, stream(DRAWN), HELVETICA, b"/FlateDecode")) == "pay"


@pytest.mark.parametrize(
    "more",
    [
        b"/X(stream)",
        b"/X(>>stream\n)",
        b"/X(\\)>>stream\n)",
        b"/X(a(b(c(d>>stream\n)e>>stream\n)f)%)",
        b"/Xstream 1",
        b"/X stream",
        b"%stream\n",
        b"%>>stream\n",
        b"%(\n",
        b"/X(%)",
        b"/X#25 1",
        b"/X#28 1",
        b"/X(/Contents 9 0 R)",
        b"/ContentsX 9 0 R",
        b"/X/Contents",
        b"/X<</Contents 9 0 R>>",
        b"/X(stream)/#58 1",
    ],
)
def test_what_stands_in_a_dictionary_hides_no_key_behind_it(more: bytes) -> None:
    said = PAGE.replace(b"/Contents", more + b"/Contents")
    assert shown(pdf(said, stream(DRAWN), HELVETICA)) == "pay"
    assert shown(pdf(PAGE, stream(DRAWN, more), HELVETICA)) == "pay"


@pytest.mark.parametrize("gap", [b"%x\n", b" %x\r", b"\n%(\r\n%)\n"])
def test_remarks_stand_between_any_words(gap: bytes) -> None:
    said = PAGE.replace(b" 2 0 R", gap + b"2" + gap + b"0" + gap + b"R")
    packed = stream(DRAWN).replace(b"/Filter ", b"/Filter" + gap).replace(b">>\n", b">>" + gap)
    assert shown(pdf(said, packed, HELVETICA)) == "pay"


@pytest.mark.parametrize("begin", [b"stream\r", b"stream \n", b"stream %x\r\n"])
def test_a_stream_begins_behind_the_line_that_says_so(begin: bytes) -> None:
    assert shown(pdf(PAGE, b"<< >>" + begin + DRAWN, HELVETICA)) == "pay"


def test_where_objects_begin() -> None:
    """Behind two numbers; pdftotext does not mind what else."""
    content = page(b"BT /F1 9 Tf (pay) Tj ET").replace(b"2 0 obj", b"obj 7 obj x obj\n2\n0obj")
    assert shown(content) == "pay"
    assert shown(b"%PDF obj") == ""


def test_what_comes_of_a_stream_is_bounded() -> None:
    """A letter may stand for four bytes."""
    filled = b"<< /Filter /ASCII85Decode >>\nstream\n" + b"z" * MAX_PIECE + b"~>\nendstream"
    assert len(PdfFile(pdf(filled), Allowance()).stream(1)) == MAX_PIECE


def test_pdf_that_is_cut_off() -> None:
    whole = page(b"BT /F1 9 Tf (pay) Tj ET")
    assert [shown(whole[:end]) for end in (10, whole.index(b"2 0 obj"), len(whole))] == ["", "", "pay"]


def test_encrypted_pdf_shows_nothing_but_what_is_not() -> None:
    encrypted = b"<< /Filter /FlateDecode >>\nstream\n" + bytes(range(7, 99)) + b"\nendstream"
    trailer = b"trailer << /Encrypt 9 0 R >>"
    found = read(pdf(PAGE, encrypted, FIXED) + trailer)
    assert (found.marks, found.text.split()) == (["encrypted"], [])
    found = read(page(b"BT /F1 9 Tf (pay) Tj ET") + trailer)
    assert (found.marks, found.text.split()) == (["encrypted"], ["pay"])


@pytest.mark.parametrize(
    ("name", "xml", "text"),
    [
        (
            "word/document.xml",
            "<w:p><w:t>pay</w:t><w:t>ment</w:t></w:p><w:p><w:t>now</w:t></w:p>",
            "payment now",
        ),
        (
            "word/document.xml",
            "<w:t>a</w:t><w:tab/><w:t>b</w:t><w:br w:type='page'/><w:t>c</w:t><w:cr/><w:t>d</w:t>",
            "a b c d",
        ),
        (
            "word/document.xml",
            "<w:instrText>HYPERLINK</w:instrText><w:delText>old</w:delText><w:t>new</w:t>",
            "new",
        ),
        ("word/document.xml", "<w:t>Pr&#252;fung &amp; &lt;mehr&gt; ä</w:t>", "Prüfung & <mehr> ä"),
        ("xl/sharedStrings.xml", "<sst><si><t>Item</t></si><si><t>Amount</t></si></sst>", "Item Amount"),
        ("ppt/slides/slide1.xml", "<a:p><a:r><a:t>Pay</a:t></a:r></a:p><a:p><a:t>now</a:t></a:p>", "Pay now"),
        (
            "content.xml",
            "<text:h>Pay</text:h><text:p>now<text:s/>or<text:line-break/><text:span>la</text:span>ter</text:p>",
            "Pay now or later",
        ),
        ("word/styles.xml", "<w:t>Normal</w:t>", ""),
        ("word/document2.xml", "<w:t>of a server</w:t>", "of a server"),
        (
            "xl/worksheets/sheet1.xml",
            "<c t='inlineStr'><is><t>Item</t></is></c><c><is><t>Sum</t></is></c><c><f>A1+1</f><v>9</v></c>",
            "Item Sum",
        ),
    ],
)
def test_text_of_an_office_document(name: str, xml: str, text: str) -> None:
    assert shown(archive({"[Content_Types].xml": "", name: xml})) == text


def test_sheets_of_numbers_leave_room_for_the_texts_behind_them() -> None:
    sheets = {f"xl/worksheets/sheet{n}.xml": "<c><v>9</v></c>" * 9_999 for n in range(9)}
    made = archive({"[Content_Types].xml": "", **sheets, "xl/sharedStrings.xml": "<si><t>Item</t></si>"})
    assert shown(made) == "Item"


def test_slides_are_shown_one_behind_the_other() -> None:
    slides = {f"ppt/slides/slide{n}.xml": f"<a:p><a:t>number {n}</a:t></a:p>" for n in (1, 2)}
    assert shown(archive(slides)) == "number 1 number 2"


PARAGRAPH = "<w:document><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:document>"
LINK = "https://pay.example.net/a"


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("<w:t>a<![CDATA[ <b>&amp;]]>c</w:t>", "a <b>&amp;c"),
        ("<w:t>a<!-- <w:t>not</w:t> -->b<?x y?>c</w:t>", "abc"),
        ("<w:t>a</w:t>\n<w:t\nx='y'>b</w:t><w:t/>\n<w:t>c</w:t>", "abc"),
        ("<w:t>a</w:t><wp:posOffset>360</wp:posOffset><m:t>b</m:t>", "ab"),
        ("<w:t>a</w:t><![CDATA[b", "a"),
    ],
)
def test_text_of_an_office_document_is_what_its_elements_of_text_hold(xml: str, text: str) -> None:
    assert shown(archive({"word/document.xml": xml})) == text


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ("<w:rPr><w:b/><w:vanish/></w:rPr>", "a c"),
        ("<w:rPr><w:vanish w:val='true' /></w:rPr>", "a c"),
        ("<w:rPr><w:vanish w:val='0'/></w:rPr>", "a b c"),
        ('<w:rPr><w:vanish w:val="false"/></w:rPr>', "a b c"),
        ("<w:rPr><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr>", "a b c"),
    ],
)
def test_hidden_text_of_an_office_document_is_not_shown(properties: str, text: str) -> None:
    runs = f"<w:r><w:t>a </w:t></w:r><w:r>{properties}<w:t>b </w:t></w:r><w:r><w:t>c</w:t></w:r>"
    mark = "<w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>"  # of the paragraph alone
    assert shown(archive({"word/document.xml": f"<w:p>{mark}{runs}</w:p>"})) == text


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-be", "utf-16-le"])
def test_letters_of_an_office_document(codec: str) -> None:
    mark = b"\xfe\xff" if codec == "utf-16-be" else b""
    document = mark + (PARAGRAPH % "Счёт").encode(codec)
    assert shown(archive({"word/document.xml": document})) == "Счёт"
    relation = f"<Relationships><Relationship Target='{LINK}'/></Relationships>".encode(codec)
    assert read(archive({"word/_rels/document.xml.rels": mark + relation})).addresses == [LINK]


FIELD = "<w:r><w:fldChar w:fldCharType='%s'/></w:r>"


@pytest.mark.parametrize(
    "field",
    [
        f'<w:instrText xml:space="preserve"> HYPERLINK "{LINK}" </w:instrText>',
        f"<w:instrText>PAGE</w:instrText>{FIELD % 'end'}<w:instrText>hyperlink {LINK} \\h</w:instrText>",
        f"<w:instrText>HYPER</w:instrText></w:r><w:r><w:instrText>LINK &quot;{LINK}&quot;</w:instrText>",
        f'<w:fldSimple w:instr=" HYPERLINK &quot;{LINK}&quot; "><w:r><w:t>Pay</w:t></w:r></w:fldSimple>',
        f"<w:fldSimple w:dirty='1' w:instr = 'HYPERLINK \\o \"a>b\" {LINK}'/>",
        f"<w:fldSimple w:instr='HYPERLINK {LINK} \\o \"a>b\"'/>",
        f'<v:shape id="a" href="{LINK}"/>',
    ],
)
def test_fields_of_an_office_document(field: str) -> None:
    found = read(archive({"word/document.xml": f"<w:p>{field}<w:r><w:t>now</w:t></w:r></w:p>"}))
    assert (found.text.replace("Pay", "").strip(), found.addresses) == ("now", [LINK])


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (f'<c t="str"><f>HYPERLINK("{LINK}","Pay")</f><v>Pay</v></c>', "Pay"),
        (f"<c r='A1' t='str'><f>IF(B1,HYPERLINK(&quot;{LINK}&quot;),2)</f><v>Pay</v></c>", "Pay"),
        (f'<c t="str"><f>HYPERLINK("{LINK[:3]}" &amp; "{LINK[3:]}","Pay")</f><v>Pay</v></c>', "Pay"),
        (f'<c><f>HYPERLINK("{LINK}")</f><v>0</v></c>', ""),
    ],
)
def test_formulas_of_sheets(cell: str, text: str) -> None:
    sheet = f"<row><c><v>7</v></c>{cell}<c t='s'><v>8</v></c></row>"
    found = read(archive({"[Content_Types].xml": "", "xl/worksheets/sheet1.xml": sheet}))
    assert (found.text.strip(), found.addresses) == (text, [LINK])


def test_formulas_of_open_document() -> None:
    cell = f'<table:table-cell table:formula="of:=HYPERLINK(&quot;{LINK}&quot;;&quot;Pay&quot;)"/>'
    assert read(archive({"mimetype": "", "content.xml": cell})).addresses == [LINK]


RELATION = "<Relationship Type='http://schemas.example/relationships/%s' Target='%s'/>"
PAGE_IN_IT = f"<html><style>p {{}}</style><p>Pay <a href='{LINK}'>here</a><p style='display:none'>no"


@pytest.mark.parametrize(
    "files",
    [
        {"word/header1.xml": PARAGRAPH % "Pay"},
        {"word/footnotes.xml": PARAGRAPH % "Pay"},
        {"xl/drawings/drawing1.xml": "<xdr:col>3</xdr:col><a:p><a:t>Pay</a:t></a:p>"},
        {"xl/worksheets/a.xml": "<c t='str'><v>Pay</v></c>"},
        {"styles.xml": "<number:text>-</number:text><text:p>Pay</text:p>"},
        {"_rels/.rels": RELATION % ("officeDocument", "/a/Main"), "a/main": PARAGRAPH % "Pay"},
        {
            "word/settings1.xml": PARAGRAPH % "Pay",
            "word/_rels/document.xml.rels": RELATION % ("header", "settings1.xml"),
        },
    ],
)
def test_text_outside_of_the_main_text(files: dict[str, str]) -> None:
    main = {"word/document.xml": PARAGRAPH % "now"}
    assert shown(archive({"[Content_Types].xml": "", **files, **main})) == "now Pay"
    assert shown(archive({**files, "word/document.xml": ""})) in ("", "Pay")  # an archive with such files


@pytest.mark.parametrize("target", ["afchunk.htm", "/word/afchunk.htm", "x/../afchunk.htm"])
def test_a_page_in_an_office_document(target: str) -> None:
    files = {"word/afchunk.htm": PAGE_IN_IT, "other.htm": "<p>other"}
    relations = {"word/_rels/document.xml.rels": RELATION % ("aFChunk", target)}
    found = read(archive({"[Content_Types].xml": "", **files, **relations}))
    assert (found.text.split(), found.addresses) == (["Pay", "here"], [LINK])


def test_samples_and_notes_are_not_shown() -> None:
    names = (
        "word/glossary/document.xml",
        "ppt/slideLayouts/slideLayout1.xml",
        "ppt/notesSlides/notesSlide1.xml",
    )
    files = dict.fromkeys(names, "<a:p><a:t>Click to add text</a:t></a:p>")
    assert shown(archive({"[Content_Types].xml": "", **files})) == ""


def test_the_main_text_comes_first_and_leaves_room_to_other_documents() -> None:
    main = {"_rels/.rels": RELATION % ("officeDocument", "main.xml"), "main.xml": PARAGRAPH % "main"}
    headers = {f"word/header{n}.xml": PARAGRAPH % n for n in range(90)}
    made = archive({"[Content_Types].xml": "", **headers, **main})
    allowance = Allowance()
    assert read_document(made, allowance).text.split()[:2] == ["main", "0"]
    assert allowance.unpacked_pieces == MAX_UNPACKED_PIECES // 2


def test_elements_are_bounded() -> None:
    """What is behind them is no text, for its elements would be words."""
    first = "<>" * (MAX_DOCUMENT_ITEMS - 2) + "<a:t>soon</a:t><a:t>late</a:t>"
    second = "<a:t>late</a:t>"
    assert shown(archive({"ppt/slides/slide1.xml": first, "ppt/slides/slide2.xml": second})) == "soon"


def test_links_of_open_document() -> None:
    link = "<text:a xlink:type='simple' xlink:href=\"https://pay.example.net/a?b=1&amp;c=2\">Pay</text:a>"
    found = read(archive({"mimetype": "", "content.xml": link}))
    assert (found.text, found.addresses) == ("Pay\n", ["https://pay.example.net/a?b=1&c=2"])


@pytest.mark.parametrize(
    ("rtf", "text"),
    [
        (rb"{\rtf1 pay\par now\line then\tab{\b la}ter}", "pay now then later"),
        (rb"{\rtf1 \{a\}\\ b\~c}", "{a}\\ b c"),
        (rb"{\rtf1\ansi Pr\'fcfung 20\'80}", "Prüfung 20€"),
        (rb"{\rtf1\ansicpg1251 \'d1\'f7\'b8\'f2}", "Счёт"),
        (rb"{\rtf1\ansicpg936 \'c4\'fa\'ba\'c3}", "您好"),
        (rb"{\rtf1\ansicpg99999 \'fc}", "ü"),
        (rb"{\rtf1 \u8364?x \u8364 \'80x \uc2\u252 ue y{\uc0\u228 z}\u252 uez}", "€x €x ü yäzüz"),
        (rb"{\rtf1 \u-10179?\u-8704?}", "😀"),
        (rb"{\rtf1 {\u8364}pay\u8364 {now}", "€pay€now"),
        (rb"{\rtf1 non\_break\emspace s\-oft", "non-break soft"),
        (b"{\\rtf1 a{\\*\\x\\bin4 {\\v }b\\bin c\\bin-9 d}", "abcd"),
        (
            rb"{\rtf1\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 A;}}"
            rb"\'fc\f1\'f1{\f0\'fc}\'f1\f0\'fc}",
            "üсüсü",
        ),
        (rb"{\rtf1{\fonttbl{\f0\fcharset134 A;}}\'c4\'fa\'ba\'c3\f9\'fc}", "您好ü"),
        (
            rb"{\rtf1 a{\shp{\*\shpinst{\sp{\sn x}{\sv y}}{\shptxt  box}z}"
            rb"{\shprslt{\*\do{\dptxbxtext box}}}}}",
            "a box",
        ),
        (rb"{\rtf1 \uc0{\u228 z}\uc-1\u228 xyz}", "äzäxyz"),
        (rb"{\rtf1\ansicpg936 \uc2\u24744 \'c4\'fa\u22909 \'ba\'c3}", "您好"),
        (rb"{\rtf1\ansi\fs204\margl1251 \'fc}", "ü"),
        (rb"{\rtf1{\fonttbl{\f1\fcharset204 A;}}\f1{\'f1}}", "с"),
        (rb"{\rtf1 \ldblquote a\rdblquote\emdash b\endash\lquote c\rquote\bullet}", "“a”—b–‘c’•"),
        (rb"{\rtf1 a{\info b\u228 c\emdash d}e}", "ae"),
        (
            rb"{\rtf1{\fonttbl{\f0 Arial;}}{\*\unknown x}{\info{\title y}}{\pict 00ff}a}",
            "a",
        ),
        (rb"{\rtf1 a{\v hidden}b{\v hidden\v0 }c", "abc"),
        (rb"{\rtf1 a\v hidden\v0 b\v hidden{\par}\plain c{\*\x\v0 d}}", "abc"),
        (rb"{\rtf1 a}}} b", "a b"),
        (b"{\\rtf1 two\r\n lines of\nthe fi\r\nle}", "two lines ofthe file"),
        (b"{\\rtf1 a\\\r\nb}", "a b"),
        (rb"{\rtf1 a\*}", "a"),
    ],
)
def test_text_of_rtf(rtf: bytes, text: str) -> None:
    assert shown(rtf) == text


@pytest.mark.parametrize(
    ("number", "codec", "text"),
    [
        (77, "mac_roman", "été"),
        (128, "cp932", "請求書"),
        (129, "cp949", "청구서"),
        (134, "gbk", "您的账户"),
        (136, "big5", "您的帳戶"),
        (161, "cp1253", "λίμνη"),
        (162, "cp1254", "ışık"),
        (163, "cp1258", "đêm ơ"),
        (177, "cp1255", "אגם"),
        (178, "cp1256", "بحيرة"),
        (186, "cp1257", "ežeras į"),
        (204, "cp1251", "озеро"),
        (222, "cp874", "ทะเลสาบ"),
        (238, "cp1250", "łódź"),
    ],
)
def test_alphabets_of_fonts_of_rtf(number: int, codec: str, text: str) -> None:
    written = "".join(f"\\'{byte:02x}" for byte in text.encode(codec))
    made = f"{{\\rtf1{{\\fonttbl{{\\f3\\fcharset{number} A;}}}}\\f3 {written}}}".encode()
    assert shown(made) == text


def test_links_of_rtf() -> None:
    field = rb'{\field{\*\fldinst{HYPERLINK "https://pay.example.net/a?b=1" }}{\fldrslt{Pay}}}'
    found = read(rb"{\rtf1 " + field + rb' {\field{\fldinst HYPERLINK \\l "here"}{\fldrslt there}}}')
    assert (found.text.split(), found.addresses) == (["Pay", "there"], ["https://pay.example.net/a?b=1"])


@pytest.mark.parametrize(
    ("instructions", "addresses"),
    [
        ("HYPERLINK http://a.example/b c", ["http://a.example/b"]),
        ('PAGEhyperlink "http://a.example/b c"', ["http://a.example/b c"]),
        (r'HYPERLINK \o "see" http://a.example/', ["http://a.example/"]),
        (r'HYPERLINK "http://a.example/hyperlink/" \o "http://b.example/"', ["http://a.example/hyperlink/"]),
        (r'HYPERLINK \l "here" HYPERLINK "http://a.example/"', ["http://a.example/"]),
        ('INCLUDEPICTURE "http://a.example/"', []),
    ],
)
def test_instructions_of_fields(instructions: str, addresses: list[str]) -> None:
    document = Document()
    document.follows(instructions)
    assert document.addresses == addresses


def word(*pieces: tuple[str, str], flags: int = 0, mark: bytes = b"\xec\xa5") -> bytes:
    """A document of Word 97 with its text in pieces, each in bytes (cp1252) or in UTF-16."""
    places, descriptors, text = [0], b"", b""
    for shown_text, codec in pieces:
        address = (0x400 + len(text)) * 2 | 1 << 30 if codec == "cp1252" else 0x400 + len(text)
        descriptors += bytes(2) + address.to_bytes(4, "little") + bytes(2)
        text += shown_text.encode(codec)
        places.append(places[-1] + len(shown_text))
    listed = b"".join(place.to_bytes(4, "little") for place in places) + descriptors
    listed = b"\x02" + len(listed).to_bytes(4, "little") + listed
    block = bytearray(0x400)
    block[:2], block[10:12] = mark, flags.to_bytes(2, "little")
    block[24:28], block[28:32] = (0x400).to_bytes(4, "little"), (0x400 + len(text)).to_bytes(4, "little")
    block[0x1A6:0x1AA] = len(listed).to_bytes(4, "little")
    return b"\xd0\xcf\x11\xe0" + bytes(508) + bytes(block) + text + bytes(77) + listed


def test_text_of_a_document_of_word() -> None:
    assert shown(word(("Prüfung\x07über\r20 €", "cp1252"))) == "Prüfung über 20 €"
    assert shown(word(("Pay", "cp1252"), (" счёт 您", "utf-16-le"), (" now", "cp1252"))) == "Pay счёт 您 now"
    assert shown(word(("re\x1fnew\x1eal", "utf-16-le"))) == "renew-al"
    assert shown(word(("Pay", "cp1252"), flags=0x1200)) == "Pay"


def test_a_piece_of_word_that_ends_before_it_begins_is_none() -> None:
    whole = word(("Pay", "cp1252"), (" now", "cp1252"))
    places = bytes((3, 0, 0, 0, 7, 0, 0, 0))
    backward = whole.replace(places, (1_607).to_bytes(4, "little") + places[4:])
    assert shown(backward).count("now") == shown(whole).count("now") == 1


def test_what_is_no_document_of_word() -> None:
    found = read(b"\xd0\xcf\x11\xe0" + b"\xa5" * 600)
    assert (found.marks, found.text) == ([], "")


def test_a_short_document_of_word_begins_between_large_sectors() -> None:
    """What is below 4,096 bytes stands in sectors of 64, as LibreOffice writes it."""
    whole = word(("Pay now", "cp1252"))
    assert shown(whole[:512] + b"\xec\xa5of a picture".ljust(64) + whole[512:]) == "Pay now"


def test_document_of_word_without_a_list_of_pieces() -> None:
    whole = word(("Pay now", "cp1252"), mark=b"\xdc\xa5")
    rest = b" of a picture"
    assert shown(whole[: whole.rindex(bytes(77))] + rest) == "Pay now"
    assert shown(whole[: 512 + 0x1A6] + bytes(4) + whole[512 + 0x1AA :]) == "Pay now"


def test_fields_of_word() -> None:
    link = '\x13 HYPERLINK "https://pay.example.net/a" \x14Pay\x15 now \x13 PAGE \x147\x15'
    found = read(word((link, "cp1252")))
    assert (found.text, found.addresses) == ("Pay now 7", ["https://pay.example.net/a"])
    inside = "\x13 IF \x13 PAGE \x141\x15 > 1 \x14Next\x15 page"
    assert read(word((inside, "cp1252"))).text == "1 > 1 Next page"


def test_encrypted_documents_of_word() -> None:
    found = read(word(("Pay now", "cp1252"), flags=0x0100))
    assert (found.marks, found.text) == (["encrypted"], "")
    found = read(b"\xd0\xcf\x11\xe0" + bytes(508) + "EncryptedPackage".encode("utf-16-le"))
    assert (found.marks, found.text) == (["encrypted"], "")


def test_pieces_of_word_are_bounded() -> None:
    pieces = [("word " * 300, "cp1252")] * 900
    assert MAX_TEXT - 10 < len(read(word(*pieces)).text) <= MAX_TEXT
    assert not shown(word(("a", "cp1252"))[:512])


@pytest.mark.parametrize("make", [pdf_of, docx_of, rtf_of])
def test_words_of_a_document_are_words_of_the_text(make: Callable[[str], bytes]) -> None:
    found = mailed(make(INVOICE))
    assert found.body[:9] == ["see", "the", "file", "your", "plan", "was", "renewed", "for", "$499.99"]
    assert found.body[-2:] == ["to", "cancel"]
    assert "url=pay.example.net" in found.structure
    assert any(token.startswith("attached=") for token in found.structure)


def test_a_document_changes_no_pairs_at_the_edges_and_no_measure_of_the_text() -> None:
    plain, long = mailed(pdf_of("a")), mailed(pdf_of("a!!! $$$ 1 2 3"))
    pairs = [[token for token in bag.structure if token.startswith("edge=")] for bag in (plain, long)]
    assert pairs[0] == pairs[1] == ["edge=see+the", "edge=the+file"]
    assert [token for token in plain.measures if "size" not in token] == [
        token for token in long.measures if "size" not in token
    ]


def test_rich_text_that_another_part_replaces_is_not_read() -> None:
    message = EmailMessage()
    message.set_content("plain")
    message.add_alternative(rtf_of("rich").decode(), "rtf")
    assert "rich" in tokenize(parse(message.as_bytes())).body
    assert "rtf1" not in tokenize(parse(message.as_bytes())).body


@pytest.mark.parametrize(("name", "is_text"), [("LETTER.TXT", True), ("letter.bin", False)])
def test_a_file_that_opens_as_text_is_text(name: str, is_text: bool) -> None:
    message = EmailMessage()
    message.set_content("See the file.")
    message.add_attachment(b"Dear friend", "application", "octet-stream", filename=name)
    assert ("friend" in tokenize(parse(message.as_bytes())).body) is is_text


def test_text_is_bounded() -> None:
    long = "\n".join(f"word{n}" for n in range(3_000))
    for make in (pdf_of, docx_of, rtf_of):
        assert MAX_TEXT <= len(read(make(long)).text) < MAX_TEXT + 200


def test_fonts_are_bounded() -> None:
    names = b" ".join(b"/F%d %d 0 R" % (n, 10 + n) for n in range(MAX_FONTS + 2))
    content = b"BT " + b"".join(b"/F%d 9 Tf (a) Tj " % n for n in range(MAX_FONTS + 2)) + b"ET"
    font = b"<< /Encoding << /Differences [97 /z] >> >>"
    first = b"<< /Type /Page /Contents 2 0 R /Resources << /Font << %s >> >> >>" % names
    fonts = [b""] * 7 + [font] * (MAX_FONTS + 2)
    assert shown(pdf(first, stream(content), *fonts)) == "z" * MAX_FONTS + "aa"


def test_objects_are_bounded() -> None:
    """Those that are packed may all be one place."""
    places = [b" ".join(b"%d 0" % (n + 9_000 * place) for n in range(9_000)) for place in range(9)]
    made = pdf(*[stream(each, b"/ObjStm /First 200000") for each in places])
    assert MAX_OBJECTS < len(PdfFile(made, Allowance()).objects) < 2 * MAX_OBJECTS
    assert len(PdfFile(pdf(*[b""] * (MAX_OBJECTS + 9)), Allowance()).objects) == MAX_OBJECTS


TEMPLATES = (
    b"%PDF-1.4 1 0 obj << /Type /Page /Contents 2 0 R /Resources << /Font << /F1 3 0 R >> >> >> 2 0 obj << >>"
    b" stream\nBT /F1 9 Tf 1 2 Td #\nendstream 3 0 obj << /Type /Font /FirstChar # /Widths [# 1 #] >>",
    b"%PDF-1.4 1 0 obj << /Type /Page /Contents 2 0 R /Resources << /Font << /F1 3 0 R >> >> >> 2 0 obj << >>"
    b" stream\nBT /F1 9 Tf 1 2 Td <0001#> Tj [#] TJ\nendstream 3 0 obj << /Type0 /ToUnicode 4 0 R"
    b" /DescendantFonts [5 0 R] >> 4 0 obj << >> stream\nbeginbfrange #<00><#>[#] endbf beginbfchar <#><#>"
    b"endbf\nendstream 5 0 obj << /DW # /W [# [#] 1 # 4 5 #] >>",
    b"%PDF-1.4 1 0 obj << /ObjStm /First # >> stream\n# 1 0 2 # << /Contents 1 0 R /Page >>",
    b"{\\rtf1 \\u#?\\uc# \\'# {\\*\\# #}{\\fldinst HYPERLINK #}}",
)


@given(st.sampled_from(TEMPLATES), st.lists(st.binary(max_size=12) | st.integers().map(lambda n: b"%d" % n)))
def test_no_document_raises(template: bytes, pieces: list[bytes]) -> None:
    for piece in pieces:
        template = template.replace(b"#", piece, 1)
    assert len(read(template).text) < MAX_TEXT + len(template)


@given(
    st.lists(st.sampled_from([b"(a)", b"<61>", b"1e9", b"-.5", b"9" * 400, b"[", b"]", b"/F1"]), max_size=8)
)
def test_no_operands_raise(operands: list[bytes]) -> None:
    written = b" ".join(operands)
    operators = b"q Q cm BT ET Tm Td TD TL T* Tc Tw Tf Tj TJ ' \" BI ID EI Do".split()
    read(page(b" ".join(written + b" " + operator for operator in operators)))


def many_fonts(font: bytes, shared: bytes) -> bytes:
    """A page with as many fonts as are read, which share an object."""
    names = b" ".join(b"/F%d %d 0 R" % (n, 4 + n) for n in range(MAX_FONTS))
    first = b"/Page /Contents 2 0 R /Font << %s >>" % names
    content = b"".join(b"/F%d 9 Tf (a) Tj " % n for n in range(MAX_FONTS))
    return pdf(first, stream(content), shared, *[font] * MAX_FONTS)


HOSTILE = {
    "strings": page(b"(" * 190_000),
    "strings that are long": page(b"BT /F1 9 Tf " + b"(aaaaaaaaa" * 19_000),
    "hexadecimal": page(b"<61" * 60_000),
    "operators": page(b"BT " + b"1 0 0 1 0 0 cm (a)Tj " * 9_000),
    "saved states": page(b"q " * 95_000),
    "pictures": page(b"ID " * 60_000),
    "fonts": page(b"/F1 1 Tf /F2 1 Tf " * 10_000),
    "tables": pdf(*[PAGE, stream(b"beginbfrange" + b"<0000><ffff><0041>" * 10_000)] * 60),
    "a table of many fonts": many_fonts(b"/Type0 /ToUnicode 3 0 R", stream(b"beginbf" * 28_000)),
    "ranges": many_fonts(b"/Type0 /ToUnicode 3 0 R", stream(b"beginbfrange" + b"<0><ff><a>" * 19_900)),
    "drawings of many fonts": many_fonts(b"/Encoding 3 0 R", b"/Differences [" + b"/a" * 90_000 + b"]"),
    "contents that pages share": pdf(
        stream(b"<" * 199_000), *[b"/Page /Contents [" + b"1 0 R " * 330 + b"]"] * 50
    ),
    "tiny strings that pages share": pdf(
        stream(b"/F1 .1 Tf (" + b"\\1" * 99_000 + b") Tj"), *[b"/Page /Contents 1 0 R"] * 50
    ),
    "tables without an end": page(
        b"BT /F1 9 Tf (a) Tj", *font_of_two_bytes(b"beginbfchar" * 9_000 + b"<a><b>[" * 14_000)
    ),
    "widths": page(b"BT /F1 9 Tf (a) Tj", b"<< /FirstChar 1 /Widths [" + b"1 " * 400_000),
    "objects": b"%PDF" + b"1 0 obj" * 140_000,
    "fonts of no page": pdf(
        *[b"/Page /Contents 1 0 R"] * MAX_PAGES, *[b"/Font " + b"/F 1 0 R " * 2_200] * 50
    ),
    "pages": pdf(*[PAGE] * 9_000) + b"/Contents",
    "pages of one list": pdf(*[b"/Page /Contents 9 0 R"] * 8, b"[" + b"9 0 R " * 100_000),
    "packed objects, one in the other": pdf(
        stream(b" ".join(b"%d %d" % (n, n % 2 * 100_000) for n in range(10_000)), b"/ObjStm /First 100000")
    ),
    "letters for bytes": pdf(
        b"/Page /Contents [" + b"2 0 R " * 300 + b"]",
        b"<< /Filter [/ASCII85Decode /FlateDecode] >> stream\n"
        + a85encode(zlib.compress(bytes(range(256)) * 700, 0)),
    ),
    "lzw": pdf(
        b"/Page /Contents [" + b" 0 R ".join(b"%d" % n for n in range(2, 52)) + b" 0 R]",
        *[b"<< /Filter/LZW >>stream\n\x80" + bytes(20_000)] * 50,
    ),
    "stream": b"%PDF /Contents 1 0 obj /Page" + b"stream" * 170_000,
    "a string without end": page(b"BT /F1 9 Tf (" + b"\\(" * 90_000),
    "strings without end": page(b"BT /F1 9 Tf " + b"(\\(" * 60_000),
    "names by numbers": pdf(b"/#41" * 250_000),
    "pieces of Word": word(*[("a" * 1_000, "cp1252")] * 900),
    "beginnings of Word": b"\xd0\xcf\x11\xe0" + b"\xa5\xec\xa5" * 340_000,
    "groups": b"{\\rtf1" + b"{" * 1_000_000,
    "words": b"{\\rtf1" + b"\\par" * 250_000,
    "hidden": b"{\\rtf1{\\v " + b"\\'fc" * 250_000,
    "instructions": b"{\\rtf1{\\fldinst " + b"HYPERLINK " * 100_000,
    "elements": archive({f"ppt/slides/slide{n}": "<" * 199_000 for n in range(90)}),
    "references": archive({f"ppt/slides/slide{n}": "<t>&#x41;" * 20_000 for n in range(90)}),
    "comments": archive({f"ppt/slides/slide{n}": "<!---->" * 28_000 for n in range(90)}),
    "comments without end": archive({f"ppt/slides/slide{n}": "<!--" * 49_000 for n in range(90)}),
    "raw texts": archive({f"ppt/slides/slide{n}": "<![CDATA[a]]>" * 15_000 for n in range(90)}),
    "lists": archive({f"{n}.rels": "<a Type='/header' Target='a'" * 7_000 for n in range(90)}),
    "attributes": archive({f"ppt/slides/slide{n}": "<c " + " t  " * 49_000 for n in range(90)}),
    "links": archive({f"ppt/slides/slide{n}": " href= " * 28_000 for n in range(90)}),
    "links that are blank": archive({f"ppt/slides/slide{n}": " href" + " " * 199_000 for n in range(90)}),
    "fields": archive({f"word/document{n}": "<instrText>HYPERLINK a" * 9_000 for n in range(90)}),
    "pages in documents": archive(
        {
            "[Content_Types].xml": "",
            "_rels/.rels": "".join(RELATION % ("aFChunk", f"{n}.htm") for n in range(90)),
            **{f"{n}.htm": "<b><i>" * 33_000 for n in range(90)},
        }
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_document_takes_long(name: str) -> None:
    check_bounded(HOSTILE[name])
