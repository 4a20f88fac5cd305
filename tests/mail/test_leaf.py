"""Leaves: what a part is taken for, and its text; calendars and cards."""

from base64 import b64encode

import pytest

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.cards import read_card
from nbspam.tokens import read


@pytest.mark.parametrize(
    ("kind", "name", "body", "html"),
    [
        ("application/octet-stream", "a.html", "good words " * 100 + "<p>pay here", True),
        ("application/octet-stream", "a.html", "\0" + "a " * 600 + "<p>pay here", False),
    ],
)
def test_an_attachment_that_a_browser_opens_is_a_page(kind, name, body, html):
    mail = f'Content-Type: {kind}\nContent-Disposition: attachment; filename="{name}"\n\n{body}'
    (part,) = parse(mail.encode()).parts
    assert part.is_html is html
    assert ("pay here" in part.text) is (html or kind == "text/plain")


ZIP = b"PK\3\4\x14" + bytes(21) + b"\x09\0\0\0photo.scr junk words"


@pytest.mark.parametrize(
    "kind", [b"text/plain", b"text/html; charset=koi8-r", b"text/calendar", b"text/x-foo"]
)
@pytest.mark.parametrize(
    ("payload", "magic"),
    [
        (ZIP, "zip"),
        (b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj junk", "pdf"),
        (b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\nstream junk endstream", "pdf"),
        (b"\x89PNG\r\n\x1a\n junk words", "png"),
        (b"GIF89a\x10\0\x10\0 junk words", "gif"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF junk", "jpeg"),
        (b"MZ\x90\0\3\0\0\0 junk words", "exe"),
        (b"Rar!\x1a\7\0 junk words", "rar"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\3 junk words", "gzip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 junk words", "ole"),
    ],
)
def test_text_whose_bytes_are_a_file_is_a_file(kind: bytes, payload: bytes, magic: str):
    encoded = b64encode(payload)
    found = read(b"Content-Type: %s\nContent-Transfer-Encoding: base64\n\n%s" % (kind, encoded))
    assert found.body == []
    assert "magic=" + magic in found.structure
    assert ("inside=photo" in found.structure) is (magic == "zip")


@pytest.mark.parametrize("head", [b"\x7fELF\2\1\1", b"RIFF\x24\0\0\0WAVEfmt ", b"II*\0", b"\xca\xfe\xba\xbe"])
def test_text_with_many_control_characters_is_a_file(head: bytes):
    found = read(b"Content-Transfer-Encoding: base64\n\n" + b64encode(head + bytes(range(256))))
    assert (found.body, found.structure[-1]) == ([], "attached=text/plain:9")


@pytest.mark.parametrize("label", ["", "; charset=utf-16", "; charset=utf-16-le"])
def test_second_bytes_of_utf_16_are_no_control_characters(label: str):
    text = "Zażółć gęślą jaźń. Łódź, Kraków, Gdańsk, Częstochowa, Świętochłowice"
    head = f"Content-Type: text/plain{label}\nContent-Transfer-Encoding: base64\n\n".encode()
    assert parse(head + b64encode(text.encode("utf-16-le"))).parts[0].text == text


FILE_HEADS = [
    b"MZ\1",
    b"PK\3\4",
    b"GIF89a\1",
    ZIP[:30],
    b"%PDF-1.4 obj\r\n",
    b"%PDF-1.4\n1 0 obj<<>>endobj\n",
]


@pytest.mark.parametrize("head", [*FILE_HEADS, b"<!-- " + bytes(range(1, 9)) * 3 + b" -->"])
@pytest.mark.parametrize(
    "text",
    [
        b"<p>Pay <b>your last</b> bill <a href=http://pond.example>here</a></p>",
        "先生您好公司发票优惠".encode() * 3,
        b"Pay your last bill here. " * 100 + bytes(range(256)) * 100,
    ],
)
@pytest.mark.parametrize("kind", [b"text/html; charset=utf-8", b"text/plain; charset=utf-8"])
def test_text_that_begins_as_a_file_is_shown_and_read(head: bytes, text: bytes, kind: bytes):
    found = read(
        b"Content-Type: %s\nContent-Transfer-Encoding: base64\n\n%s" % (kind, b64encode(head + text))
    )
    assert {"pay", "your", "last"} <= set(found.body) or "发票" in "".join(found.body)


def test_program_with_some_sentences_in_it_is_a_file():
    program = b"MZ\x90\0\3\0\0\0" + b"This program cannot be run in DOS mode. " * 20 + bytes(range(256)) * 40
    assert read(b"Content-Transfer-Encoding: base64\n\n" + b64encode(program)).body == []


def shown(card: str) -> str:
    return read_card(card, Allowance())[0]


@pytest.mark.parametrize("kind", ["text/calendar", "application/ics", "text/x-vcard"])
def test_lines_of_a_calendar_or_a_card_are_joined_and_their_escapes_shown(kind: str) -> None:
    card = "BEGIN:VCARD\r\nNOTE:Dear Ann\\, your acc\r\n ount\\nhttps://la\r\n\tke.example/\r\nEND:VCARD"
    (part,) = parse(f"Content-Type: {kind}\n\n{card}".encode()).parts
    assert part.text == "Dear Ann, your account\nhttps://lake.example/"


def test_line_that_is_folded_inside_a_character_is_joined() -> None:
    card = "BEGIN:VCARD\r\nNOTE:Grüße\r\nEND:VCARD".encode().replace(b"\xbc", b"\r\n \xbc")
    assert read(b"Content-Type: text/vcard; charset=utf-8\n\n" + card).body == ["grusse"]


def test_card_that_is_cut_off_is_read_and_other_text_stays() -> None:
    assert shown("NOTE:win\nEND:VCARD") == "win"
    assert shown("no card\n FN:a") == "no card\n FN:a"
