"""Archives and office documents: names, marks, text and links; hostile files cost little."""

import io
import struct
import time
import zipfile
import zlib
from base64 import encodebytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.attachments.signed import read_signed
from nbspam.mail.attachments.tnef import read_tnef
from nbspam.mail.leaf import read_document
from nbspam.mail.message import MAX_DOCUMENT_TEXT, MAX_NAMES, Document
from nbspam.tokens import read as read_tokens

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


def test_charset_of_a_name_after_long_ones_is_found() -> None:
    names = ["a" * 200] * (MAX_NAMES - 1) + ["größe.pdf"]
    assert read(b"".join([member(name.encode("cp437")) for name in names])).names == names


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


def test_text_of_a_docx_is_cut() -> None:
    assert read(docx_of(f"<w:t>{'x' * 2 * MAX_DOCUMENT_TEXT}</w:t>")).text.strip() == "x" * MAX_DOCUMENT_TEXT


@pytest.mark.parametrize("name", ["header1", "footer2", "footnotes", "endnotes"])
def test_text_around_the_pages_of_a_docx_is_read(name: str) -> None:
    document = docx_of("<w:t>pages</w:t>", **{f"word/{name}.xml": "<w:hdr><w:t>around</w:t></w:hdr>"})
    assert read(document).text.split() == ["pages", "around"]


def test_text_and_links_in_the_cells_of_a_sheet_are_read() -> None:
    cells = "<c><is><t>pay</t></is></c><c><is><t>now</t></is></c><c><f>HYPERLINK(&quot;http://b.example/&quot;)</f></c>"
    document = read(docx_of("", **{"xl/worksheets/sheet1.xml": f"<sheetData>{cells}</sheetData>"}))
    assert (document.text.split(), document.addresses) == (["pay", "now"], ["http://b.example/"])


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_xml_of_a_document_may_be_utf_16(codec: str) -> None:
    xml = "<w:document><w:t>pears</w:t></w:document>".encode(codec)
    assert read(archive({**TYPES, "word/document.xml": xml})).text.strip() == "pears"


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


def attribute(number: int, value: bytes) -> bytes:
    return b"\1" + struct.pack("<II", number, len(value)) + value + b"\0\0"


def text_property(kind: int, number: int, value: bytes) -> bytes:
    return struct.pack("<HHII", kind, number, 1, len(value)) + value + bytes(-len(value) % 4)


def enclose(kind: str, payload: bytes) -> bytes:
    head = f"Content-Type: {kind}\nContent-Transfer-Encoding: base64\n\n"
    return head.encode() + encodebytes(payload)


LONG_NAME = text_property(0x1F, 0x3707, "bill für Ida.exe\0".encode("utf-16-le"))
PAGE = text_property(0x102, 0x1013, b"<p>win <b>big</b>")
FILE = attribute(0x69002, bytes(14)) + attribute(0x18010, b"BILL~1.EXE\0") + attribute(0x6800F, b"MZ\x90\0")
TNEF = b"\x78\x9f\x3e\x22\1\0"


def test_winmail_dat_has_its_text_and_files() -> None:
    found = read_tokens(enclose("application/ms-tnef", TNEF + attribute(0x2800C, b"watches\0") + FILE))
    assert found.body == ["watches"]
    assert {"ending=exe", "file=bill", "magic=exe"} <= set(found.structure)
    properties = attribute(0x69003, struct.pack("<I", 1) + PAGE), attribute(0x69005, bytes(4) + LONG_NAME)
    kind, text, files = read_tnef(TNEF + properties[0] + FILE + properties[1])
    assert (kind, text) == ("text/html", b"<p>win <b>big</b>")
    assert files == [("bill für Ida.exe".encode(), b"MZ\x90\0")]


def test_winmail_dat_says_the_code_page_of_its_text() -> None:
    text, name = attribute(0x2800C, "请查收".encode("gbk")), attribute(0x18010, "发票.exe".encode("gbk"))
    page = attribute(0x69007, struct.pack("<II", 936, 0))
    found = read_tnef(TNEF + page + text + attribute(0x69002, b"") + name)
    assert found == ("text/plain", "请查收".encode(), [("发票.exe".encode(), b"")])


def sign(*pieces: bytes, is_whole: bool = False) -> bytes:
    """Signed data without signers: its content in pieces whose end is marked, or in one of known length."""
    strings = [b"\4" + (b"\x82" + struct.pack(">H", len(piece))) + piece for piece in pieces]
    content = b"\xa0\x82" + struct.pack(">H", len(strings[0])) + strings[0] + b"\xa0\3junk"
    if not is_whole:
        content = b"\xa0\x80\x24\x80" + b"".join(strings) + bytes(4) + b"\4\4junk"
    signed_data, data = (bytes.fromhex("06092a864886f70d01070" + end) for end in "21")
    return b"\x30\x80" + signed_data + b"\xa0\x80\x30\x80\2\1\1\x31\0\x30\x80" + data + content


@pytest.mark.parametrize("kind", ["application/pkcs7-mime", "application/octet-stream; name=smime.p7m"])
def test_message_in_signed_data_is_read(kind: str) -> None:
    page = b"Content-Type: text/html\r\n\r\n<p>win <b>big</b>"
    for signed in (sign(page, is_whole=True), sign(page[:30], page[30:]), sign(enclose(kind, sign(page)))):
        assert read_tokens(enclose(kind, signed)).body == ["win", "big"]
    (part,) = parse(enclose(kind, b"\x30\x80encrypted")).parts
    assert (part.text, part.size_bytes) == ("", 11)


def test_signed_data_in_itself_is_bounded() -> None:
    mail = b"Content-Type: text/plain\n\nwin"
    for _ in range(30):
        mail = enclose(
            "application/pkcs7-mime", sign(*[mail[at : at + 9_000] for at in range(0, len(mail), 9_000)])
        )
    begin = time.process_time()
    assert parse(mail).failures == []
    assert time.process_time() - begin < 1.0


@given(st.integers(0, 200), st.binary(max_size=40))
def test_changed_containers_never_raise(at: int, other: bytes) -> None:
    for payload in (TNEF + FILE + attribute(0x69005, LONG_NAME), sign(b"win", b"big")):
        changed = payload[:at] + other + payload[at + 4 :]
        read_tnef(changed)
        read_signed(changed)
