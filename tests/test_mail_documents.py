"""Archives, PDF and office documents: what is in them, where they lead to, and that no file takes long."""

from __future__ import annotations

import binascii
import io
import shutil
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import packed, parse
from nbspam.mail.documents.reader import MAX_NAME, read_document
from nbspam.mail.limits import MAX_DOCUMENT_STRINGS, MAX_UNPACKED_PIECES, Allowance
from nbspam.mail.message import MAX_NAMES
from nbspam.mail.pdf import reader as pdf_file
from nbspam.tokens import tokenize
from tests.documents_made import archive, check_bounded, mailed, read

RELATIONS = (
    b'<Relationships><Relationship Target="styles.xml"/>'
    b'<Relationship Target="%s" TargetMode="External"/></Relationships>'
)
LINK = b"https://pay.example.net/a?b=1&amp;c=2"


def pdf(content: bytes) -> bytes:
    return b"%PDF-1.7\n1 0 obj\n<< " + content + b" >>\nendobj\n%%EOF\n"


def packed_pdf(content: bytes) -> bytes:
    stream = zlib.compress(content)
    head = b"%%PDF-1.7\n1 0 obj\n<< /Type /ObjStm /Filter /FlateDecode /Length %d >>\nstream\r\n" % len(
        stream
    )
    return head + stream + b"\nendstream\nendobj\n"


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archive_says_what_is_in_it(packed: int) -> None:
    found = read(archive({"invoice.pdf      .exe": b"MZ", "täglich/a.js": b"x" * 5000}, packed))
    assert found.names == ["invoice.pdf      .exe", "täglich/a.js"]
    assert not found.marks
    assert not found.addresses


@pytest.mark.parametrize("mark", ["[Content_Types].xml", "mimetype"])
def test_archive_that_seems_a_document_says_what_else_is_in_it(mark: str) -> None:
    page = b"<p>Your account</p><a href=//a.example/>now</a>"
    document = read(archive({mark: b"", "word/document.xml": b"", "Invoice.HTML": page, "b/x.exe": b"MZ"}))
    assert document.names == ["Invoice.HTML", "b/x.exe"]
    assert document.addresses == ["http://a.example/"]
    assert "Your account" in document.text


def test_archive_that_is_cut_off() -> None:
    whole = archive({"a.scr": b"x" * 100, "b.scr": b"y"}, zipfile.ZIP_STORED)
    assert read(whole[: whole.index(b"b.scr") + 5]).names == ["a.scr", "b.scr"]
    assert read(whole[: whole.index(b"b.scr") + 3]).names == ["a.scr", "b.s"]


def test_archive_names_are_bounded() -> None:
    assert len(read(archive({f"{n}.js": b"" for n in range(MAX_NAMES + 1)})).names) == MAX_NAMES


def test_archive_in_an_archive() -> None:
    inner = archive({"inner.vbs": b""})
    assert "inner.vbs" in read(archive({"outer.zip": inner}, zipfile.ZIP_STORED)).names


def test_encrypted_archive() -> None:
    made = bytearray(archive({"read.txt": b"the code is 7", "secret.exe": b"MZ"}))
    made[6] |= 8  # sizes stand behind the first file
    assert not read(bytes(made)).marks
    made[made.index(b"PK\x03\x04", 1) + 6] |= 1  # the flag of the second file
    found = read(bytes(made))
    assert (found.names, found.marks) == (["read.txt", "secret.exe"], ["encrypted"])


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_office_document_leads_out(packed: int) -> None:
    files = {"[Content_Types].xml": b"", "word/document.xml": b"", "word/vbaProject.bin": b""}
    found = read(archive({**files, "word/_rels/document.xml.rels": RELATIONS % LINK}, packed))
    assert found.addresses == ["https://pay.example.net/a?b=1&c=2"]
    assert found.marks == ["macros"]
    assert not found.names  # these are in every document


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_file_behind_a_long_extra_field(packed: int) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packed) as target:
        entry = zipfile.ZipInfo("a.rels")
        entry.compress_type = packed
        entry.extra = b"\xfe\xca" + (300).to_bytes(2, "little") + bytes(300)
        target.writestr(entry, RELATIONS % LINK)
        target.writestr("b.txt", RELATIONS % b"https://other.example/")  # that is no list of targets
    found = read(made.getvalue())
    assert found.names == ["a.rels", "b.txt"]
    assert found.addresses == ["https://pay.example.net/a?b=1&c=2"]


def test_files_packed_each_in_its_own_way() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        target.writestr("mimetype", b"application/vnd.oasis.opendocument.text")
        target.writestr("a.rels", RELATIONS % LINK, zipfile.ZIP_DEFLATED)
    assert read(made.getvalue()).addresses == ["https://pay.example.net/a?b=1&c=2"]


def test_long_names_and_addresses_are_cut_off() -> None:
    assert read(archive({"a" * (MAX_NAME + 1): b""})).names == ["a" * MAX_NAME]
    (address,) = read(archive({"a.rels": RELATIONS % (LINK + b"d" * MAX_NAME)})).addresses
    assert len(address) < MAX_NAME


def test_open_document_has_no_names() -> None:
    assert not read(
        archive({"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": b""})
    ).names


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_lists_of_targets_are_bounded(packed: int) -> None:
    lists = {f"{n}.rels": RELATIONS % b"https://%d.example/" % n for n in range(MAX_UNPACKED_PIECES + 1)}
    assert len(read(archive(lists, packed)).addresses) == MAX_UNPACKED_PIECES


def test_list_of_targets_packed_in_another_way() -> None:
    made = bytearray(archive({"a.rels": RELATIONS % LINK}, zipfile.ZIP_STORED))
    made[8] = 99
    assert not read(bytes(made)).addresses


def test_target_in_single_quotes() -> None:
    relations = RELATIONS.replace(b'"', b"'") % LINK
    assert read(archive({"a.RELS": relations})).addresses == ["https://pay.example.net/a?b=1&c=2"]
    assert not read(archive({"a.rels": b"<Relationship Target="})).addresses


def test_target_of_broken_characters() -> None:
    found = read(archive({"a.rels": RELATIONS % b"https://lake.example/\xff"}))
    assert found.addresses == ["https://lake.example/\ufffd"]


def test_older_office_document() -> None:
    begin = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    assert read(begin + "_VBA_PROJECT".encode("utf-16-le") + bytes(100)).marks == ["macros"]
    assert not read(begin).marks


@pytest.mark.parametrize(
    ("written", "address"),
    [
        (b"(https://lake.example/a)", "https://lake.example/a"),
        (b" \n(https://lake.example/\\(b\\)\\134)", "https://lake.example/(b)\\"),
        (b"(https://lake.example/(c)/(d))", "https://lake.example/(c)/(d)"),
        (b"(https://lake\\056example/\\\ne)", "https://lake.example/e"),
        (b"(https://lake.example/\\\r\nf\\g)", "https://lake.example/fg"),
        (b"(https://lake.example/\\151\\551)", "https://lake.example/ii"),
        (b"(https://lake.example/\\1511)", "https://lake.example/i1"),
        (b"(https://lake.example/\\n\\r\\t\\b\\f.)", "https://lake.example/\n\r\t\b\f."),
        (b"<68747470733a2f2f6c616b652e 6578616d706c652f7>", "https://lake.example/p"),
        (b"(\xfe\xff" + "https://lake.example/ü".encode("utf-16-be") + b")", "https://lake.example/ü"),
        (b"(\xfe\xff" + "https://lake.example/".encode("utf-16-be") + b"\0)", "https://lake.example/\ufffd"),
        (b"(\xef\xbb\xbfhttps://lake.example/\xff)", "https://lake.example/\ufffd"),
        (b"(https://lake.example/never closed", "https://lake.example/never closed >>\nendobj\n%%EOF\n"),
    ],
)
def test_address_of_a_pdf(written: bytes, address: str) -> None:
    assert read(pdf(b"/S /URI /URI " + written)).addresses == [address]


@pytest.mark.parametrize(
    "written", [b"", b"<zz>", b"<< >>", b"(mailto:ida@lake.example)", b"/Next", b"(", b"(\\"]
)
def test_no_address_of_a_pdf(written: bytes) -> None:
    assert read(pdf(b"/URI " + written)).addresses == []


def test_pdf_that_ends_in_a_backslash() -> None:
    assert read(b"%PDF-1.7 /URI (https://lake.example/\\").addresses == ["https://lake.example/"]


def test_packed_objects_with_a_wrong_checksum() -> None:
    """Viewers show them, and who hides an address need not get it right."""
    whole = packed_pdf(b"/URI (https://lake.example/)")
    end = whole.index(b"\nendstream")
    assert read(whole[: end - 4] + b"#sum" + whole[end:]).addresses == ["https://lake.example/"]


def test_packed_objects_that_are_not_there_take_no_ones_place() -> None:
    empty = b"%PDF" + b"/ObjStm" * (MAX_UNPACKED_PIECES + 1) + bytes(pdf_file.MAX_STRING)
    assert read(empty + packed_pdf(b"/URI (https://lake.example/)")).addresses == ["https://lake.example/"]


def test_packed_objects_of_a_pdf() -> None:
    found = read(
        packed_pdf(b"<< /S /URI /URI (https://lake.example/) >> << /Title (An Invoice) /JS /JavaScript >>")
    )
    assert found.addresses == ["https://lake.example/"]
    assert found.says == ["An Invoice"]
    assert found.marks == ["javascript"]


def test_strings_in_objects_of_their_own() -> None:
    link, title = b"<< /URI 2 0 R /Title 3 0 R/Author 4 0 R /Subject 7 >>", b"\n<FEFF00C4>"
    made = [b"%d 0 obj\n%s\nendobj\n" % (n, each) for n, each in ((1, link), (2, b"(%s)" % LINK), (3, title))]
    found = read(b"%PDF-1.7\n" + b"".join(made))
    assert (found.addresses, found.says) == ([LINK.decode()], ["Ä"])


def test_pdf_says_what_it_is() -> None:
    found = read(
        pdf(b"/OpenAction 3 0 R /Title <FEFF00C4> /Author (\xef\xbb\xbf\xc3\xa4) /Producer (Maker 1.2)")
    )
    assert found.marks == ["openaction"]
    assert found.says == ["Ä", "ä", "Maker 1.2"]


@pytest.mark.parametrize("key", ["Title", "Author", "Subject", "Keywords", "Creator", "Producer"])
def test_each_thing_that_a_pdf_says_of_itself(key: str) -> None:
    assert read(pdf(f"/{key} (Lake)".encode())).says == ["Lake"]


@pytest.mark.parametrize("name", ["JavaScript", "OpenAction", "Launch", "SubmitForm", "EmbeddedFile", "XFA"])
def test_each_thing_that_a_pdf_can_do(name: str) -> None:
    assert read(pdf(f"/{name} 3 0 R".encode())).marks == [name.lower()]


def test_strings_of_a_pdf_are_bounded() -> None:
    assert len(read(pdf(b"/Title (a) " * (MAX_DOCUMENT_STRINGS + 1))).says) == MAX_DOCUMENT_STRINGS


def test_many_titles_hide_no_address() -> None:
    titles = b"/Title (Chapter) " * MAX_DOCUMENT_STRINGS
    assert read(pdf(titles) + packed_pdf(b"/URI (https://lake.example/)")).addresses == [
        "https://lake.example/"
    ]


def test_encrypted_pdf_says_little_more() -> None:
    found = read(pdf(b"/Title (a) /URI (\xd0\x9f\x13) ") + b"trailer << /Encrypt 4 0 R >>")
    assert (found.marks, found.says, found.addresses) == (["encrypted"], [], [])


def test_what_only_pretends_to_be_an_encrypted_pdf_leads_somewhere() -> None:
    found = read(pdf(b"/URI (http://a.example/) ") + b"% /Encrypt")
    assert (found.marks, found.addresses) == (["encrypted"], ["http://a.example/"])


@pytest.mark.parametrize("name", [b"/#55RI", b"/U#52#49", b"/UR#49"])
def test_names_whose_letters_are_written_by_numbers(name: bytes) -> None:
    assert read(pdf(name + b" (http://a.example/#55) ")).addresses == ["http://a.example/#55"]
    assert read(pdf(name + b" (http://a.example/(b)/#55) ")).addresses == ["http://a.example/(b)/#55"]
    assert read(pdf(b"/J#61vaScript 7 0 R")).marks == ["javascript"]
    packed = zlib.compress(b"7 0 << " + name + b" (http://b.example/) >>")
    says = b"/Type /#4fbjStm /First 4 /Filter /Fl#61teDecode >>\nstream\n" + packed + b"\nendstream"
    assert read(b"%PDF-1.4\n1 0 obj << " + says + b" endobj").addresses == ["http://b.example/"]


def test_tokens_of_documents() -> None:
    found = mailed(archive({"scan/Invoice 7.PDF.exe": b"MZ"}), "scan.zip", "zip").structure
    assert [token for token in found if token.startswith("inside=")] == [
        *("inside=.exe", "inside=scan", "inside=invoice", "inside=7.pdf", "inside=pdf")
    ]
    found = mailed(
        pdf(b"/Launch /URI (https://www.lake.example/x) /Creator (Maker)"), "a.pdf", "pdf"
    ).structure
    assert {"document=#launch", "document=maker", "url=www.lake.example", "url=lake.example"} <= set(found)


def test_document_under_another_name_and_uuencoded() -> None:
    payload = pdf(b"/URI (https://lake.example/)")
    assert "url=lake.example" in mailed(payload, "a.jpg", "jpeg").structure
    lines = [binascii.b2a_uu(payload[at : at + 45]).decode() for at in range(0, len(payload), 45)]
    mail = "Subject: a\n\nSee:\nbegin 644 a.pdf\n" + "".join(lines) + "`\nend\n"
    assert "url=lake.example" in tokenize(parse(mail.encode())).structure


JUNK = {
    "a line end": b"\n",
    "a byte order mark": b"\xef\xbb\xbf",
    "a page": b"<html><p>",
    "an archive": b"PK\x03\x04",
    "as much as viewers skip": b"x" * 1_024,
}


@pytest.mark.parametrize("junk", JUNK)
def test_pdf_behind_what_viewers_skip(junk: str) -> None:
    payload = JUNK[junk] + pdf(b"/Launch /URI (https://lake.example/)")
    for name, kind in (("a.pdf", "pdf"), ("A.PDF", "octet-stream"), ("scan", "pdf")):
        assert {"document=#launch", "url=lake.example"} <= set(mailed(payload, name, kind).structure)


def test_pdf_behind_what_viewers_skip_under_another_name() -> None:
    payload = b"\n" + pdf(b"/URI (https://lake.example/)")
    assert "url=lake.example" in mailed(payload, "a.jpg", "jpeg").structure
    assert "url=lake.example" not in mailed(b"x" * 1_024 + payload, "a.pdf", "pdf").structure
    page = b"<html>pay<!-- %PDF -->"
    assert "pay" in mailed(page, "a.html", "pdf").body
    assert "inside=.exe" in mailed(archive({"%PDF.exe": b"MZ"}), "a.zip", "zip").structure


@pytest.mark.parametrize("gap", [b"%x\n", b" %(\r", b"\n%\r\n%\n"])
def test_address_behind_a_remark(gap: bytes) -> None:
    found = read(pdf(b"/URI" + gap + b"(https://lake.example/) /URI 2 0 R"))
    assert found.addresses == ["https://lake.example/"]
    second = b"2 0 obj" + gap + b"(https://lake.example/)"
    assert read(pdf(b"/URI 2 0 R") + second).addresses == ["https://lake.example/"]


def test_pdf_that_a_browser_prints(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    page = tmp_path / "page.html"
    page.write_text("<title>Unpaid invoice</title><a href='https://pay.lake.example/?x=(1)'>Pay</a>")
    target = tmp_path / "page.pdf"
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [chromium, *options, f"--print-to-pdf={target}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    found = read(target.read_bytes())
    assert found.addresses == ["https://pay.lake.example/?x=(1)"]
    assert "Unpaid invoice" in found.says


@given(st.binary(max_size=300), st.sampled_from([b"%PDF", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"]))
def test_no_file_raises(content: bytes, begin: bytes) -> None:
    read(begin + content)
    read(begin + b" /URI (" + content + b"/ObjStm stream\n" + content)


HOSTILE = {
    "bombs": packed_pdf(bytes(20_000_000)) * 40,
    "bombs in archives": archive({f"{n}.rels": bytes(2_000_000) for n in range(60)}),
    "keys": pdf(b"/URI (\\" * 170_000),
    "remarks": pdf(b"%>>" * 60_000 + b"stream\n" + b">>%stream\n" * 90_000),
    "names": pdf(b"/ObjStm" + b"/Filter" * 20_000 + b">>stream\n") * 7,
    "references of filters": pdf(b"/Filter 2 0 R>>stream\n") * 9_000 + b"2 0 obj [" + b"2 0 R " * 60_000,
    "strings in strings": pdf(b"stream%" + b"(" * 90_000 + b"\n" + b"(()" * 60_000) * 3,
    "packed objects": b"%PDF" + b"/ObjStm" * 140_000,
    "packed objects, streams": b"%PDF" + b"/ObjStm stream\n" * 70_000,
    "files": (b"PK\x03\x04" + bytes(26)) * 35_000,
    "files with long names": (b"PK\x03\x04" + b"\xff" * 26) * 35_000,
    "targets": archive({f"{n}.rels": b'Target="a' * 20_000 for n in range(90)}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_takes_long(name: str) -> None:
    check_bounded(HOSTILE[name])


def test_pieces_are_bounded() -> None:
    padded = packed_pdf(b" " * packed.MAX_PIECE + b"/URI (https://late.example/)")
    assert read(padded).addresses == []
    allowance = Allowance()
    for _ in range(MAX_UNPACKED_PIECES):
        assert read_document(packed_pdf(b"/URI (https://lake.example/)"), allowance).addresses
    assert not read_document(packed_pdf(b"/URI (https://lake.example/)"), allowance).addresses
