"""PDF: its text, links and marks, whatever the file is made like; hostile files cost little."""

import zlib
from base64 import a85encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.limits import Allowance
from nbspam.mail.leaf import read_document
from nbspam.mail.message import Document

HELVETICA = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
RESOURCES = "/Resources << /Font << /F1 4 0 R >> >>"
PAGE = f"<< /Type /Page /Contents 3 0 R {RESOURCES} >>"
LINK = b"<< /Type /Annot /A << /S /URI /URI (https://pay.example/now) >> >>"


def stream(data: bytes, says: str = "", *, packed: bool = True) -> bytes:
    filters = "/Filter /FlateDecode" if packed else ""
    content = zlib.compress(data) if packed else data
    return f"<< {says} {filters} /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def pdf_of(objects: dict[int, bytes | str], trailer: str = "") -> bytes:
    """A file of these objects, without a table of contents, which nobody reads here."""
    made = [b"%PDF-1.7\n"]
    for number, content in objects.items():
        content = content.encode() if isinstance(content, str) else content
        made.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    return b"".join(made) + f"trailer << /Root 1 0 R {trailer} >>\n%%EOF\n".encode()


def page_of(
    drawn: str | bytes,
    *,
    font: str = HELVETICA,
    page: str = PAGE,
    more: dict[int, bytes | str] | None = None,
    content: bytes | None = None,
) -> bytes:
    drawn = drawn.encode("cp1252") if isinstance(drawn, str) else drawn
    return pdf_of({2: page, 3: content or stream(drawn), 4: font, **(more or {})})


def read(payload: bytes) -> Document:
    return read_document(payload, Allowance())


def words_of(payload: bytes) -> str:
    return " ".join(read(payload).text.split())


def test_widths_of_a_font_tell_words_from_halves_of_words() -> None:
    font = "<< /Type /Font /FirstChar 97 /Widths [1000 1000 200] >>"
    drawn = "BT /F1 10 Tf (ab) Tj 20 0 Td (cc) Tj 7 0 Td (a) Tj ET"
    assert words_of(page_of(drawn, font=font)) == "abcc a"


@pytest.mark.parametrize(("unit", "size"), [(0.01, 10), (1, 1)])  # the second as Ghostscript makes it of dots
def test_widths_of_type_3_fonts_have_a_unit_of_their_own(unit: float, size: int) -> None:
    font = f"<< /Type /Font /FontMatrix [{unit} 0 0 {unit} 0 0] /FirstChar 97 /Widths [50 50] >>"
    wide = 50 * unit * size
    drawn = f"BT /F1 {size} Tf (aa) Tj {2.02 * wide} 0 Td (b) Tj {2 * wide} 0 Td (a) Tj ET"
    assert words_of(page_of(drawn, font=font)) == "aab a"


@pytest.mark.parametrize("ending", [b"\nEI Q ", b"~>EI\n", b" EI", b"\x80EI"])
def test_bytes_of_inline_images_are_no_text(ending: bytes) -> None:
    image = b"BI /W 9 /H 9 ID \x00(junk) Tj EI \x00 (junk) Tj /F9 1 Tf EIN ET (" + ending
    assert words_of(page_of(b"BT (pay) Tj ET " + image + b" BT (BI EI now) Tj ET")) == "pay BI EI now"


def test_names_are_read_with_their_escapes() -> None:
    page = "<< /#54ype /Page /Conten#74s 3 0 R /Resources << /Font << /C2#5F0 4 0 R /A#20b 4 0 R >> >> >>"
    font = "<< /Type /Font /Subtype /Typ#650 /ToUnicode 5 0 R >>"
    drawn = "BT /C#32_0 9 Tf <00010010> Tj /A#20b 9 Tf <0012> Tj ET"
    assert words_of(page_of(drawn, page=page, font=font, more={5: stream(TABLE)})) == "pac"
    found = read(pdf_of({1: "<< /Open#41ction << /S /#55RI /UR#49 (https://a.example/b#63) >> >>"}))
    assert (found.marks, found.addresses) == (["openaction"], ["https://a.example/b#63"])
    assert read(pdf_of({1: "<< >>"}, "/Encr#79pt 2 0 R")).marks == ["encrypted"]


TABLE = b"""begincmap 2 beginbfchar <0001> <0070> <0002> <00660069> endbfchar
2 beginbfrange <0010> <0012> <0061> <0020> <0021> [<d83dde00> <0078>] endbfrange endcmap"""


@pytest.mark.parametrize(
    ("codes", "shown"),
    [("00010010", "pa"), ("0011", "b"), ("0002", "fi"), ("0020 0021", "😀x"), ("0099", ""), ("00", "")],
)
def test_codes_of_two_bytes_are_read_by_the_table_of_the_font(codes: str, shown: str) -> None:
    font = "<< /Type /Font /Subtype /Type0 /ToUnicode 5 0 R /DescendantFonts [6 0 R] >>"
    more = {5: stream(TABLE), 6: "<< /DW 500 /W [1 [600 600] 16 33 400] >>"}
    assert words_of(page_of(f"BT /F1 9 Tf <{codes}> Tj ET", font=font, more=more)) == shown


def test_fonts_may_be_objects_or_inherited() -> None:
    font, table = "<< /Type /Font /ToUnicode 8 0 R >>", stream(b"1 beginbfchar <61> <0062> endbfchar")
    for page, more in (
        ("/Contents [3 0 R] /Resources 5 0 R", {5: "<< /Font 6 0 R >>", 6: "<< /F1 4 0 R >>"}),
        ("/Contents 3 0 R /Parent 6 0 R", {6: f"<< /Kids [] {RESOURCES} >>"}),
    ):
        page = f"<< /Type /Page {page} >>"
        payload = page_of("BT /F1 9 Tf (a) Tj ET", page=page, font=font, more={**more, 8: table})
        assert words_of(payload) == "b"


def test_forms_and_streams_in_several_pieces_are_read() -> None:
    page = f"<< /Type /Page /Contents [3 0 R 5 0 R] {RESOURCES} >>"
    form = stream(b"BT (a form) Tj ET", "/Subtype /Form /BBox [0 0 9 9]")
    more: dict[int, bytes | str] = {5: stream(b"(now) Tj ET"), 6: form}
    assert words_of(page_of("BT /F1 9 Tf (pay ) Tj", page=page, more=more)) == "pay now a form"


def test_streams_are_unpacked() -> None:
    shown = b"BT (pay) Tj ET"
    for filters, packed in (
        ("", shown),
        ("/Filter [/ASCII85Decode /FlateDecode]", a85encode(zlib.compress(shown)) + b"~>"),
        ("/Filter [/ASCIIHexDecode /FlateDecode]", zlib.compress(shown).hex(" ").encode() + b">"),
        ("/Filter[/FlateDecode]", zlib.compress(shown)),
    ):
        content = f"<< {filters} >> stream\r\n".encode() + packed + b"\nendstream"
        assert words_of(page_of("", content=content)) == "pay"


def test_links_are_read_in_every_spelling() -> None:
    for written, addresses in (
        ("(https://a.example/b\\(c\\)d)", ["https://a.example/b(c)d"]),
        ("<68747470733a2f2f612e6578616d706c65>", ["https://a.example"]),
        ("(\\376\\377\\000f\\000:\\000/\\000/\\000a)", ["f://a"]),
        ("(mailto)", []),
    ):
        assert read(pdf_of({1: f"<< /A << /S/URI/URI{written} >> >>"})).addresses == addresses


def test_links_in_packed_objects_are_found() -> None:
    packed = b"8 0 9 %d " % len(LINK)
    objects = stream(packed + LINK + b"<< /Producer (X) >>", f"/Type /ObjStm /N 2 /First {len(packed)}")
    found = read(pdf_of({5: objects}))
    assert (found.addresses, found.says) == (["https://pay.example/now"], ["X"])


def test_title_maker_and_actions_of_a_pdf_are_noted() -> None:
    found = read(
        pdf_of(
            {
                1: "<< /OpenAction << /S /JavaScript /JS (x) >> /AcroForm 2 0 R >>",
                2: "<< /S /Launch >>",
                3: "<< /Title (Invoice) /Author <feff00c4> /Producer (Tool \\(1\\)) >>",
                4: stream(b"x", "/Type /EmbeddedFile"),
            }
        )
    )
    assert found.marks == ["javascript", "openaction", "launch", "acroform", "embeddedfile"]
    assert found.says == ["Invoice", "Ä", "Tool (1)"]


def test_text_of_an_encrypted_file_is_not_read() -> None:
    found = read(pdf_of({1: "<< /Title (junk) >>", 2: PAGE, 3: stream(b"BT (junk) Tj ET")}, "/Encrypt 9 0 R"))
    assert (found.marks, found.says, found.text) == (["encrypted"], [], "")


WHOLE = page_of(
    "BT /F1 9 Tf [(pay) -300 <6e6f77>] TJ ET",
    font="<< /Type /Font /Subtype /Type0 /ToUnicode 5 0 R /DescendantFonts [6 0 R] >>",
    more={5: stream(TABLE, packed=False), 6: "<< /DW 500 /W [1 [600 600] 16 33 400] >>", 7: LINK},
    content=stream(b"BT /F1 9 Tf [<0001> -300 (\\1)] TJ ET", packed=False),
)


@given(st.integers(0, len(WHOLE)), st.integers(0, len(WHOLE)), st.binary(max_size=30))
def test_changed_bytes_never_raise(begin: int, end: int, other: bytes) -> None:
    read(WHOLE[:begin] + other + WHOLE[end:])
