"""Claims about mail inside of an S/MIME signature: readers show what was signed, so that is read."""

from __future__ import annotations

import base64

import pytest

from nbspam.mail import parse
from nbspam.mail.signed import signed_content

SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
ENVELOPED_DATA = bytes.fromhex("06092a864886f70d010703")
DATA = bytes.fromhex("06092a864886f70d010701")
ALGORITHMS = bytes.fromhex("310d300b0609608648016503040201")
PART = b"Content-Type: text/html\r\n\r\n<p>Sign in <a href=https://lake.example/>here</a></p>\r\n"
PART += b"<p>It ends soon.</p>\r\n" * 9
END = b"\0\0"


def element(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = bytes([size]) if size < 128 else b"\x83" + size.to_bytes(3, "big")
    return bytes([tag]) + length + content


def open_element(tag: int, content: bytes) -> bytes:
    """One without a length: its end is marked."""
    return bytes([tag, 0x80]) + content + END


def signed(content: bytes, wrap=element, kind: bytes = SIGNED_DATA) -> bytes:
    """CMS around an element that holds the content; what would follow it is left out but for some bytes."""
    inside = wrap(0x30, DATA + wrap(0xA0, content))
    return wrap(0x30, kind + wrap(0xA0, wrap(0x30, b"\x02\x01\x01" + ALGORITHMS + inside + b"\xa0\x03abc")))


def mail(payload: bytes, kind: str = "application/pkcs7-mime") -> bytes:
    text = base64.encodebytes(payload)
    head = f"Subject: s\nContent-Type: {kind}; smime-type=signed-data; name=smime.p7m\n"
    return head.encode() + b"Content-Transfer-Encoding: base64\n\n" + text


PIECES = element(4, PART[:30]) + element(4, PART[30:200]) + element(4, PART[200:])
WRITTEN = [
    ("whole", signed(element(4, PART))),
    ("with ends", signed(element(4, PART), open_element)),
    ("in pieces", signed(element(0x24, PIECES))),
    ("in pieces, with ends", signed(open_element(0x24, PIECES), open_element)),
    ("whole, and more behind", signed(element(4, PART) + element(4, b"more"))),
    ("in pieces, and more behind", signed(element(0x24, PIECES) + element(4, b"more"))),
]


@pytest.mark.parametrize(("how", "payload"), WRITTEN, ids=[row[0] for row in WRITTEN])
@pytest.mark.parametrize("kind", ["application/pkcs7-mime", "application/x-pkcs7-mime"])
def test_what_is_signed_is_the_mail(how: str, payload: bytes, kind: str) -> None:
    assert signed_content(payload) == PART
    message = parse(mail(payload, kind))
    assert message.structure == [kind, "text/html"]
    (part,) = message.parts
    assert part.is_html
    assert "Sign in" in part.text


@pytest.mark.parametrize("kind", ["application/octet-stream", "application/x-octet-stream"])
def test_a_signature_is_known_by_its_name(kind: str) -> None:
    message = parse(mail(signed(element(4, PART)), kind))
    assert message.structure == ["application/pkcs7-mime", "text/html"]
    message = parse(mail(signed(element(4, PART)), kind).replace(b"p7m", b"bin"))
    assert message.structure == [kind]


@pytest.mark.parametrize("encoding", ["binary", "7bit"])
def test_a_signature_that_is_not_encoded_is_no_defect(encoding: str) -> None:
    head = f"Content-Type: application/pkcs7-mime\nContent-Transfer-Encoding: {encoding}\n\n"
    assert parse(head.encode() + b"x").defects == []


def test_a_signed_part_is_read_inside_of_others_and_of_itself() -> None:
    inner = mail(signed(element(4, PART)))
    whole = signed(element(4, b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + inner + b"\n--b--\n"))
    (part,) = parse(mail(whole)).parts
    assert "Sign in" in part.text


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        signed(element(4, PART), kind=ENVELOPED_DATA),
        signed(element(4, PART)).replace(DATA, b""),
        signed(element(4, b"")),
        signed(b""),
        signed(element(4, PART)).replace(DATA + b"\xa0", DATA + b"\xa1"),
        signed(element(5, PART)),
        signed(element(5, element(4, PART))),
        signed(element(0x24, element(5, PART))),
        signed(element(4, PART))[:45],
    ],
)
def test_what_is_not_signed_or_has_nothing_in_it_stays_a_file(payload: bytes) -> None:
    assert signed_content(payload) == b""
    message = parse(mail(payload))
    assert message.structure == ["application/pkcs7-mime"]
    assert message.parts[0].filename == "smime.p7m"


@pytest.mark.parametrize(("how", "payload"), WRITTEN, ids=[row[0] for row in WRITTEN])
def test_a_signature_may_be_cut_off_anywhere(how: str, payload: bytes) -> None:
    found = [signed_content(payload[:end]) for end in range(len(payload))]
    assert all(PART.startswith(part) for part in found)
    assert found[-1] == PART


def test_what_is_cut_off_is_read_as_far_as_it_goes() -> None:
    assert signed_content(signed(element(4, PART))[:100]).startswith(b"Content-Type: text/html")


def test_signatures_around_each_other_are_all_opened() -> None:
    payload = PART
    for _ in range(20):
        payload = mail(signed(element(4, payload)))
    message = parse(payload)
    assert message.structure[-2:] == ["application/pkcs7-mime", "text/html"]
    assert len(message.structure) == 21
