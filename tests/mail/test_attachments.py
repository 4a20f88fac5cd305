"""Archives and office documents: names, marks, text and links; hostile files cost little."""

from __future__ import annotations

import io
import time
import zipfile
import zlib
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.mail.attachments import read_document
from nbspam.mail.limits import Allowance
from nbspam.mail.message import MAX_NAMES, MAX_TEXT, Document
from nbspam.tokens import Tokens, tokenize

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


def mailed(payload: bytes, name: str = "scan.bin", kind: str = "octet-stream") -> Tokens:
    message = EmailMessage()
    message["Subject"] = "scan"
    message.set_content("See the file.")
    message.add_attachment(payload, "application", kind, filename=name)
    return tokenize(parse(message.as_bytes()))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_names_of_an_archive(method: int) -> None:
    found = read(archive({"Invoice.pdf.exe": b"MZ", "a/b.js": "x" * 500}, method))
    assert (found.names, found.marks, found.text) == (["Invoice.pdf.exe", "a/b.js"], [], "")
    assert {"inside=.exe", "inside=invoice"} <= set(mailed(archive({"Invoice.exe": "x"})).structure)


def test_names_are_read_without_the_directory_and_are_bounded() -> None:
    payload = archive({f"{number}.txt": "x" for number in range(2 * MAX_NAMES)})
    assert read(payload[: len(payload) // 4]).names[:2] == ["0.txt", "1.txt"]
    assert len(read(payload).names) == MAX_NAMES


def test_encrypted_archive() -> None:
    payload = bytearray(docx_of("<w:p><w:t>secret</w:t></w:p>"))
    place = payload.rindex(b"PK\x03\x04")
    payload[place + 6] |= 1
    found = read(bytes(payload))
    assert (found.marks, found.text) == (["encrypted"], "")


@pytest.mark.parametrize(
    ("payload", "marks"),
    [
        (archive({**TYPES, "word/vbaProject.bin": b"x"}), ["macros"]),
        (archive({"mimetype": "application/vnd.oasis", "Basic/Standard/Module1.xml": "x"}), ["macros"]),
        (OLE + "_VBA_PROJECT".encode("utf-16-le"), ["macros"]),
        (OLE + "EncryptedPackage".encode("utf-16-le"), ["encrypted"]),
        (OLE, []),
    ],
)
def test_marks(payload: bytes, marks: list[str]) -> None:
    assert read(payload).marks == marks


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            "<w:p><w:r><w:t>pay</w:t></w:r><w:r><w:t>ment</w:t></w:r></w:p><w:p><w:t>now</w:t></w:p>",
            "payment now",
        ),
        ('<w:t xml:space="preserve">a </w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t>', "a b c"),
        ("<w:t>a &lt;b&gt; &amp; &#65;&#x42; &nbsp; &</w:t>", "a <b> & AB &nbsp; &"),
        ("<w:instrText>PAGE</w:instrText><w:delText>gone</w:delText>\n<w:t>a</w:t>\n", "a"),
        ("<w:t>&#xd800;&#99999999;&#x;&#-1;x</w:t>", "x"),
        ("<w:t>" + "x" * 2 * MAX_TEXT + "</w:t>", "x" * MAX_TEXT),
    ],
)
def test_text_of_docx(body: str, shown: str) -> None:
    assert " ".join(read(docx_of(body)).text.split()) == shown


def test_links_of_docx() -> None:
    relations = (
        '<Relationship Id="1" Type="http://schemas.example/x" Target="styles.xml"/>'
        '<Relationship Target="https://a.example/?x=1&amp;y=2" TargetMode="External"/>'
    )
    field = '<w:fldSimple w:instr=" HYPERLINK &quot;http://b.example/&quot; "><w:t>here</w:t></w:fldSimple>'
    found = read(docx_of(field, **{"word/_rels/document.xml.rels": relations}))
    assert found.addresses == ["http://b.example/", "https://a.example/?x=1&y=2"]
    assert found.names == []


def test_text_and_links_of_odt() -> None:
    content = (
        "<office:text><text:h>Dear</text:h><text:p>pay<text:s/>now <text:span>or</text:span>"
        '<text:tab/>at <text:a xlink:href="https://a.example/">this page</text:a>.</text:p></office:text>'
    )
    found = read(
        archive({"mimetype": "application/vnd.oasis", "content.xml": content, "Pictures/a.png": "x"})
    )
    assert " ".join(found.text.split()) == "Dear pay now or at this page."
    assert (found.addresses, found.names) == (["https://a.example/"], [])


def test_archive_that_poses_as_a_document_shows_its_names() -> None:
    assert read(archive({**TYPES, "invoice.exe": "x"})).names == ["invoice.exe"]


def test_words_of_a_document_count_as_those_of_the_text() -> None:
    bag = mailed(docx_of("<w:p><w:t>lottery https://a.example/x</w:t></w:p>"))
    assert "lottery" in bag.body
    assert "url=a.example" in bag.structure


def test_pdf_begins_behind_other_bytes() -> None:
    assert "document=#launch" in mailed(b"\n\njunk %PDF-1.4 1 0 obj << /S /Launch >>").structure


@pytest.mark.parametrize(
    "payload", [b"{\\rtf1 word}", b"Rar!\x1a\x07\x00", b"\x89PNG\r\n", b"word https://a.example"]
)
def test_other_files_are_known_by_their_first_bytes_only(payload: bytes) -> None:
    (_, part) = parse(_mail_of(payload)).parts
    assert (part.document, part.text) == (None, "")


def _mail_of(payload: bytes) -> bytes:
    message = EmailMessage()
    message.set_content("See the file.")
    message.add_attachment(payload, "application", "octet-stream", filename="a.bin")
    return message.as_bytes()


def test_rtf_is_no_text_whatever_it_is_declared_as() -> None:
    (part,) = parse(b"Content-Type: text/rtf\n\n{\\rtf1\\ansi word}").parts
    assert (part.text, part.document) == ("", None)


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


@given(st.text("<>/wtp:&;#x19 \"'="))
def test_odd_xml_never_raises(body: str) -> None:
    read(docx_of(body))


@given(st.sampled_from([b"PK\x03\x04", b"%PDF", OLE]), st.binary())
def test_any_bytes_never_raise(begin: bytes, rest: bytes) -> None:
    read(begin + rest)
    read(begin + zlib.compress(rest))
