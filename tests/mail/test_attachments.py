"""Archives and office documents: names, marks, text and links; hostile files cost little."""

import io
import struct
import time
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail.leaf import read_document
from nbspam.mail.limits import Allowance
from nbspam.mail.message import MAX_DOCUMENT_TEXT, MAX_NAMES, Document

TYPES = {"[Content_Types].xml": "<Types/>"}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def archive(files: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return made.getvalue()


def docx_of(body: str, **more: str) -> bytes:
    return archive(
        {**TYPES, "word/document.xml": f"<w:document><w:body>{body}</w:body></w:document>", **more}
    )


def read(payload: bytes) -> Document:
    return read_document(payload, Allowance())


def test_names_are_read_without_the_directory_and_are_bounded() -> None:
    payload = archive({f"{number}.txt": "x" for number in range(2 * MAX_NAMES)})
    assert read(payload[: len(payload) // 4]).names[:2] == ["0.txt", "1.txt"]
    assert len(read(payload).names) == MAX_NAMES


def member(name: bytes, flags: int = 0, extra: bytes = b"") -> bytes:
    """An empty file of an archive: its local header."""
    sizes = struct.pack("<HH", len(name), len(extra))
    return b"PK\3\4" + struct.pack("<HH", 20, flags) + bytes(18) + sizes + name + extra


@pytest.mark.parametrize(
    ("codec", "names"),
    [
        ("cp866", ["счет на оплату.exe", "Счёт-фактура №5.pdf"]),
        ("cp866", ["ДОГОВОР.doc"]),
        ("cp437", ["größe.pdf", "pain à la carte.doc"]),
        ("cp437", ["Müßig.doc"]),
        ("gb18030", ["付款通知单.zip"]),
        ("cp932", ["ご請求のお知らせ.pdf"]),
        ("cp932", ["写真.scr"]),
        ("utf-8", ["größe.pdf", "счет.exe"]),
    ],
)
def test_names_without_a_mark_are_in_the_charset_of_the_sender(codec: str, names: list[str]) -> None:
    assert read(b"".join([member(name.encode(codec)) for name in names])).names == names


def test_names_are_utf_8_where_the_header_says_so() -> None:
    marked, unmarked = member("счет.exe".encode(), 0x800), member("größe.pdf".encode("cp437"))
    assert read(marked + unmarked).names == ["счет.exe", "größe.pdf"]
    shown = "счет.exe".encode()
    for crc, name in ((zlib.crc32(b"????.exe"), "счет.exe"), (0, "????.exe")):  # 0: of a name since changed
        field = struct.pack("<HBI", 5 + len(shown), 1, crc) + shown
        extra = b"UT\5\0\1\0\0\0\0up" + field + b"ux\0\0"
        assert read(member(b"????.exe", 0, extra)).names == [name]


def test_macros_and_encryption_are_marked() -> None:
    assert read(archive({**TYPES, "word/vbaProject.bin": b"x"})).marks == ["macros"]
    assert read(archive({"mimetype": "a/vnd.oasis", "Basic/Standard/Module1.xml": "x"})).marks == ["macros"]
    assert read(OLE + "EncryptedPackage".encode("utf-16-le")).marks == ["encrypted"]
    assert read(OLE).marks == []


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<w:p><w:t>pay</w:t><w:t>ment</w:t></w:p><w:p><w:t>now</w:t></w:p>", "payment now"),
        ('<w:t xml:space="preserve">a </w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t>', "a b c"),
        ("<w:t>a &lt;b&gt; &amp; &#65;&#x42; &nbsp; &</w:t>", "a <b> & AB &"),
        ("<w:instrText>PAGE</w:instrText><w:delText>gone</w:delText>\n<w:t>a</w:t>\n", "a"),
        ("<w:t>&#xd800;&#99999999;x</w:t>", "\ufffd\ufffdx"),
        ("<w:t>" + "x" * 2 * MAX_DOCUMENT_TEXT + "</w:t>", "x" * MAX_DOCUMENT_TEXT),
    ],
)
def test_text_of_a_docx_is_read(body: str, shown: str) -> None:
    assert " ".join(read(docx_of(body)).text.split()) == shown


def test_field_of_docx_has_a_link() -> None:
    field = '<w:fldSimple w:instr=" HYPERLINK &quot;http://b.example/&quot; "><w:t>here</w:t></w:fldSimple>'
    assert read(docx_of(field)).addresses == ["http://b.example/"]


def test_many_bombs_in_one_message_are_bounded() -> None:
    bomb = docx_of("<w:t>" + "x" * 10**6)
    allowance = Allowance()
    begin = time.process_time()
    for _ in range(500):
        read_document(bomb, allowance)
    assert time.process_time() - begin < 1.0
    assert allowance.document_bytes <= 0


WHOLE = docx_of(
    "<w:p><w:t>pay &amp; &#65;</w:t></w:p>",
    **{"word/_rels/document.xml.rels": '<R Target="http://a.example/"/>'},
)


@given(st.integers(0, len(WHOLE)), st.integers(0, len(WHOLE)), st.binary(max_size=30))
def test_changed_bytes_never_raise(begin: int, end: int, other: bytes) -> None:
    read(WHOLE[:begin] + other + WHOLE[end:])


@given(st.sampled_from([b"PK\x03\x04", b"%PDF", OLE]), st.binary(), st.text("<>/wtp:&;#x19 \"'="))
def test_any_bytes_and_any_xml_are_read(begin: bytes, rest: bytes, body: str) -> None:
    read(begin + rest)
    read(begin + zlib.compress(rest))
    read(docx_of(body))
