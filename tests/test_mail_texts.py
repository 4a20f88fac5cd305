"""Claims about files of text, attached and in archives: who opens one reads it, is led on, or runs it."""

from __future__ import annotations

import zipfile

import pytest

from nbspam.mail.documents.reader import read_document
from nbspam.mail.documents.texts import BYTES_AN_ITEM, MAX_BYTES, MAX_FILES
from nbspam.mail.limits import MAX_DOCUMENT_ITEMS, MAX_UNPACKED_PIECES, Allowance
from nbspam.mail.message import MAX_TEXT, Document
from tests.documents_made import archive, check_bounded, mailed, read

PAGE = (
    b"<title>Sign in</title><p>Your box is full <a href='https://pay.lake.example/now'>here</a>"
    b"<img src=http://hill.example/logo.png><script>send('https://away.example/')</script>"
    b"<p style='display:none'>ham words"
)


def seen(document: Document) -> str:
    return " ".join(document.text.split())


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("name", ["invoice.html", "a/Invoice.HTM", "a.svg", "a.xhtml. "])
def test_page_in_an_archive_is_opened(name: str, packed: int) -> None:
    found = read(archive({"logo.png": b"\x89PNG", name: PAGE}, packed))
    assert seen(found) == "Your box is full here"
    assert found.addresses == ["https://pay.lake.example/now", "http://hill.example/logo.png"]
    assert found.says == ["Sign in"]
    assert found.scripts == ["send('https://away.example/')"]


def test_tokens_of_a_page_in_an_archive() -> None:
    found = mailed(archive({"invoice.html": PAGE}), "invoice.zip", "zip")
    assert {"box", "full", "here"} <= set(found.body)
    assert {"url=lake.example", "url=hill.example", "url=away.example"} <= set(found.structure)
    assert {"document=sign", "script=send"} <= set(found.structure)
    assert "words" not in found.body


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<meta charset=windows-1251><p>счёт".encode("cp1251"), "счёт"),
        ("<p>счёт".encode(), "счёт"),
        ("\ufeff<p>счёт".encode("utf-16-le"), "счёт"),
        (b"\0\0<p>bill", "bill"),
        (b"no page at all", ""),
    ],
)
def test_letters_of_a_page_in_an_archive(page: bytes, text: str) -> None:
    assert seen(read(archive({"a.html": page}))) == text


@pytest.mark.parametrize("ending", ["csv", "json", "log", "md", "txt"])
def test_text_in_an_archive_is_read(ending: str) -> None:
    payload = "Ваш счёт: http://lake.example/a\n".encode()
    assert seen(read(archive({f"a.{ending}": payload}))) == "Ваш счёт: http://lake.example/a"
    late = b"a " * (MAX_TEXT // 2) + b"see http://late.example/x.)"
    found = read(archive({f"a.{ending}": late}))
    assert (found.addresses, len(found.text)) == (["http://late.example/x"], MAX_TEXT)


@pytest.mark.parametrize("ending", ["bat", "cmd", "js", "jse", "ps1", "vbs", "wsf", "xsl"])
def test_script_in_an_archive_is_read_as_those_of_pages(ending: str) -> None:
    payload = b"shell.open('http://' + 'lake.example'); eval(atob('aHR0cHM6Ly9oaWxsLmV4YW1wbGUvcGF5'))"
    found = mailed(archive({f"a.{ending.upper()}": payload}), "a.zip", "zip")
    assert {"script=eval", "url=lake.example", "url=hill.example"} <= set(found.structure)
    assert "eval" not in found.body


@pytest.mark.parametrize(
    ("name", "payload", "addresses"),
    [
        (
            "a.url",
            b"[InternetShortcut]\r\nURL=file://lake.example@80/x.vbs\r\n",
            ["file://lake.example/x.vbs"],
        ),
        ("a.url", b"URL=http:\r\nIconFile=\\\\lake.example\\a\r\n", ["file://lake.example/a"]),
        ("a.url", "\ufeffURL=http://lake.example/\n".encode("utf-16-le"), ["http://lake.example/"]),
        ("a.iqy", b'WEB\n1\nhttps://lake.example/?a=["b"]\n', ["https://lake.example/?a=["]),
        ("a.slk", b'C;X1;E"HYPERLINK(""ftp://lake.example/a"")"', ["ftp://lake.example/a"]),
        ("a.webloc", b"<string>http://lake.example/</string>", ["http://lake.example/"]),
        ("a.rdp", b"x:i:1\nFull address:s:lake.example:33\n", ["rdp://lake.example:33"]),
        ("a.rdp", b"gatewayhostname:s:lake.example", ["rdp://lake.example"]),
        ("a.url", b"URL=http://lake.example/\0", []),
        ("a.url", b"C:\\\\a \\b :// http:// 1://b", []),
        ("a.exe", b"URL=http://lake.example/", []),
        ("url", b"URL=http://lake.example/", []),
        ("a.url", b"x" * MAX_BYTES + b" http://late.example/", []),
    ],
)
def test_shortcut_in_an_archive_leads_somewhere(name: str, payload: bytes, addresses: list[str]) -> None:
    found = read(archive({name: payload}))
    assert (found.addresses, found.text, found.scripts) == (addresses, "", [])


@pytest.mark.parametrize("kind", ["octet-stream", "vnd.ms-excel"])
def test_attached_file_of_text_is_read_as_in_an_archive(kind: str) -> None:
    payload = "Ваш счёт: http://lake.example/a\n".encode()
    for ending in ("csv", "json", "log", "md", "xml"):
        found = mailed(payload, f"a.{ending}", kind)
        assert ("счет" in found.body, "url=lake.example" in found.structure) == (True, True)
    for ending in ("desktop", "iqy", "rdp", "scf", "slk", "url", "webloc", "js", "vbs", "hta.jse", "JS. "):
        found = mailed(payload, f"a.{ending}", kind)
        assert ("счет" in found.body, "url=lake.example" in found.structure) == (False, True)
    assert "script=http" in mailed(payload, "a.wsf", kind).structure
    assert "url=lake.example" not in mailed(payload, "a.bin", kind).structure
    assert "url=lake.example" not in mailed(payload, "csv", kind).structure


@pytest.mark.parametrize(
    ("payload", "is_read"),
    [
        (b"see http://lake.example/", True),
        ("\ufeffsee http://lake.example/".encode("utf-16-le"), True),
        ("\ufeffsee http://lake.example/".encode("utf-16-be"), True),
        (b"\0see http://lake.example/", False),
        (b"a" * 1_000 + b"\0see http://lake.example/", False),
        (b"a" * (MAX_BYTES - 30) + b" http://lake.example/", True),
        (b"a" * MAX_BYTES + b" http://lake.example/", False),
    ],
)
def test_attached_file_of_text_has_no_zeros_and_ends(payload: bytes, is_read: bool) -> None:
    assert ("url=lake.example" in mailed(payload, "a.url").structure) is is_read
    assert ("url=lake.example" in mailed(payload, "a.md").structure) is is_read


def test_application_of_html_is_a_page() -> None:
    found = mailed(b"<!-- 7 --><p>pay here <a href=http://lake.example/>now</a>", "a.hta")
    assert ({"pay", "here"} <= set(found.body), "url=lake.example" in found.structure) == (True, True)
    assert "pay" in mailed(archive({"a.hta": b"<p>pay here"}), "a.zip", "zip").body


def test_pages_are_read_before_other_texts_and_few_in_all() -> None:
    texts = {f"{n}.txt": b"some text" for n in range(MAX_FILES)}
    found = read(archive({**texts, "a.html": PAGE}))
    assert seen(found) == "Your box is full here" + " some text" * (MAX_FILES - 1)
    assert seen(read(archive(dict.fromkeys(map("{}.html".format, range(9)), b"<p>a")))) == "a a a a a"


def test_what_macs_note_of_a_file_takes_no_ones_place() -> None:
    notes = {f"__MACOSX/._{n}.html": b"\0<" for n in range(MAX_FILES)}
    assert "box is full" in seen(read(archive({**notes, "a.html": PAGE})))


def test_encrypted_page_stays_closed() -> None:
    made = bytearray(archive({"a.html": PAGE}, zipfile.ZIP_STORED))
    made[6] |= 1
    found = read(bytes(made))
    assert (found.marks, found.text, found.addresses) == (["encrypted"], "", [])


def test_files_of_an_office_document_are_no_pages_of_an_archive() -> None:
    assert seen(read(archive({"[Content_Types].xml": b"<Types/>", "word/settings.xml": b"not shown"}))) == ""


def test_what_archives_unpack_leaves_half_to_documents() -> None:
    bomb = archive({f"{n}.html": b"<a>" * MAX_BYTES for n in range(MAX_FILES)})
    allowance = Allowance()
    for _ in range(3):
        read_document(bomb, allowance)
    assert (
        MAX_DOCUMENT_ITEMS // 2 - MAX_BYTES // BYTES_AN_ITEM
        < allowance.document_items
        <= MAX_DOCUMENT_ITEMS // 2
    )
    allowance = Allowance()
    for _ in range(MAX_UNPACKED_PIECES):
        read_document(archive({"a.html": b"<p>a"}), allowance)
    assert allowance.unpacked_pieces == MAX_UNPACKED_PIECES // 2


HOSTILE = {
    "pages": (b"html", b"<a>" * 700_000),
    "pages with sheets": (
        b"html",
        b"<style>" + b"a b>c{x:y}" * 3_000 + b"</style>" + b"<p style=color:red>x" * 9_000,
    ),
    "addresses": (b"url", b"a://b " * 400_000),
    "hosts": (b"url", b"=\\\\b " * 400_000),
    "lines": (b"rdp", b"full address:s:a\n" * 100_000),
    "letters": (b"txt", b"a\xe3\n" * 700_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_archive_of_texts_takes_long(name: str) -> None:
    ending, content = HOSTILE[name]
    check_bounded(archive({f"{n}.{ending.decode()}": content for n in range(30)}))
