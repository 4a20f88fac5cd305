"""What of parts, pages and documents is evidence of the body, and what of the structure."""

from __future__ import annotations

from itertools import pairwise

import pytest

from nbspam.mail.limits import MAX_TOKENS
from nbspam.tokens import Tokens, read
from nbspam.tokens.texts import disagrees

ATTACHED = (
    b"Content-Type: multipart/mixed; boundary=z\n\n--z\n\nsee\n--z\nContent-Type: application/octet-stream\n"
    b'Content-Disposition: attachment; filename="Big Invoice.pdf.exe"\n\nMZ\x90\x00\n--z--\n'
)
ALTERNATIVE = (
    b"Content-Type: multipart/alternative; boundary=b\n\n"
    b"--b\n\n%s\n--b\nContent-Type: text/html\n\n%s\n--b--\n"
)


def page(source: str) -> Tokens:
    return read(b"Content-Type: text/html; charset=utf-8\n\n" + source.encode())


def marked(found: Tokens, mark: str) -> list[str]:
    return [token.removeprefix(mark) for token in found.structure if token.startswith(mark)]


def test_a_plain_message() -> None:
    found = read(b"Content-Type: text/plain; charset=utf-8\n\nSee http://lake.example/pay now")
    assert found.body == ["see", "now"]
    assert found.structure == [
        *("type=text/plain", "size=7", "parts=1", "charset=utf-8"),
        *("url=http", "url=lake.example", "url=example", "url=/pay"),
    ]


def test_the_empty_message_has_tokens() -> None:
    assert read(b"").structure


@pytest.mark.parametrize("number", [0, 1, 2, 99, 100, 101, 500])
def test_bigrams_are_the_neighbours_of_the_first_and_last_fifty_words(number: int) -> None:
    text = [f"word{n}" for n in range(number)]
    found = read(b"Subject: a b\n\n" + " ".join(text).encode(), ("bigrams",))
    parts = [text] if number <= 100 else [text[:50], text[-50:]]
    assert found.bigrams == [f"{first}+{second}" for part in parts for first, second in pairwise(part)]
    assert read(b"Subject: a b\n\na b c").bigrams == ()


def test_attachments_give_name_endings_type_and_true_kind() -> None:
    found = set(read(ATTACHED).structure)
    assert {"ending=exe", "ending=pdf.exe", "file=big", "magic=exe", "disposition=attachment"} <= found
    assert "attached=application/octet-stream:3" in found


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("Invoice.pdf" + " " * 300 + ".exe", {"ending=exe", "ending=pdf.exe", "file=invoice"}),
        ("Invoice.exe. .", {"ending=exe", "file=invoice"}),
        ("Invoice.html  ", {"ending=html", "file=invoice"}),
        ("Invoice\u202efdp.exe", {"ending=exe", "file=invoicefdp", "file=#zero-width"}),
        ("In\u200bvoice.exe", {"ending=exe", "file=invoice", "file=#zero-width"}),
    ],
)
def test_a_file_name_is_read_as_it_is_opened(name: str, tokens: set[str]) -> None:
    found = read(ATTACHED.replace(b"Big Invoice.pdf.exe", name.encode())).structure
    names = {token for token in found if token.startswith(("ending=", "file="))}
    assert names - {"file=pdf", "file=invoice.pdf"} == tokens


def test_hidden_text_is_no_evidence_of_the_body() -> None:
    assert page("<p>seen<p style='display:none'>unseen").body == ["seen"]


def test_words_for_a_picture_and_the_title_are_evidence_of_the_structure() -> None:
    found = page("<title>Big sale</title><p>seen<img src=cid:1 alt='Cheap pills'>")
    assert found.body == ["seen"]
    assert (marked(found, "alt="), marked(found, "title=")) == (["cheap", "pills"], ["big", "sale"])


def test_an_image_says_how_it_is_fetched() -> None:
    found = page("<img src=cid:a><img src=//lake.example/b.png><img src=HTTPS://lake.example/c.png>")
    assert marked(found, "image=") == ["cid", "//", "https"]
    assert marked(found, "url=").count("lake.example") == 2


@pytest.mark.parametrize(
    ("text", "html", "body", "differs"),
    [
        (b"pears for sale", b"<p>pears for <b>sale</b>", ["pears", "for", "sale"], False),
        (b"pears for sale http://lake.example", b"<p>pears for sale", ["pears", "for", "sale"], False),
        (b"minutes of our meeting", b"<p>pears for sale", ["pears", "for", "sale"], True),
        (b"pears for sale", b"<img src=http://lake.example/1.png>", [], True),
        (b"pears for sale", b"<p> </p>", ["pears", "for", "sale"], False),
        (b"", b"<p>pears", ["pears"], False),
        (b"minutes " * (MAX_TOKENS + 1), b"<p>pears", ["pears"], True),
    ],
)
def test_of_alternatives_what_a_reader_shows_is_the_text(
    text: bytes, html: bytes, body: list[str], differs: bool
) -> None:
    found = read(ALTERNATIVE % (text, html))
    assert found.body == body
    assert ("alternative=#differs" in found.structure) is differs


def test_an_invitation_makes_no_text_differ() -> None:
    calendar = b"--b\nContent-Type: text/calendar\n\nBEGIN:VCALENDAR\nSUMMARY:Tea\n--b--"
    found = read((ALTERNATIVE % (b"Tea at five", b"<p>Tea at five")).replace(b"--b--", calendar))
    assert found.body == ["tea", "at", "five", "tea"]
    assert "alternative=#differs" not in found.structure


def test_a_link_that_names_another_host_is_marked() -> None:
    lie = '<a href="http://evil.example/">http://www.bank.example</a>'
    assert "link=#disagrees" in page(lie).structure
    assert "link=#disagrees" not in page(lie.replace("evil.example", "www.bank.example")).structure


@pytest.mark.parametrize(
    ("host", "text", "expected"),
    [
        ("evil-bank.example", "www.bank.example", True),
        ("www.bank.example", " Bank.example ", False),
        ("bank.example", "http://bank.example/login", False),
        ("bank.example", "bank.example:8080/#top", False),
        ("evil.example", "click at www.bank.example", False),
        ("evil.example", "ann@bank.example", False),
    ],
)
def test_what_disagrees_is_the_name_not_its_spelling(host: str, text: str, expected: bool) -> None:
    assert disagrees(host, text) is expected


def test_of_a_forwarded_message_subject_and_sender_are_words_of_the_body() -> None:
    inner = b"Subject: inner pears\nFrom: ida@lake.example\nTo: otto@orchard.example\n\nsoup\n"
    found = read(b"Content-Type: message/rfc822\n\n" + inner)
    assert sorted(found.body) == ["example", "ida@lake.example", "inner", "lake.example", "pears", "soup"]


def test_invisible_characters_in_the_text_are_marked() -> None:
    found = page("<p>free mo\u200bney")
    assert found.body == ["free", "money"]
    assert "zero-width=#" in found.structure
    assert "zero-width=#" not in page("<p>\u200bfree money").structure
