"""Leaves: what a part is taken for, and its text."""

import base64

import pytest

from nbspam.mail import parse
from nbspam.mail.cards import shown_of_card
from nbspam.tokens import tokenize

DRAWING = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><text>pay here</text></svg>'


@pytest.mark.parametrize(
    "value", ["", "text", "/", "text/", "html", "a/b/c", "=?utf-8?q?x?=", ";;;", "\xff\xfe"]
)
def test_a_content_type_that_is_none_means_plain_text(value):
    mail = parse(f"Content-Type: {value}\n\nhello".encode("latin-1"))
    assert mail.parts[0].content_type == "text/plain"
    assert mail.parts[0].text == "hello"


@pytest.mark.parametrize(
    ("kind", "name", "body", "html"),
    [
        ("image/svg+xml", "a.svg", DRAWING, True),
        ("image/svg+xml", "", "<svg><text>pay here</text></svg>", True),
        ("application/octet-stream", "a.bin", DRAWING, True),
        ("application/octet-stream", "a.SHTML", "<!-- 7 --><p>pay here", True),
        ("application/octet-stream", "a.bin", "<script>x()</script>pay here", True),
        ("text/plain", "a.html", "<p>pay here", True),
        ("application/octet-stream", "a.html", "\n" * 1_100 + "<p>pay here", True),
        ("application/octet-stream", "a.html", "good words " * 100 + "<p>pay here", True),
        ("text/plain", "a.htm. .", "<p>pay here", True),
        ("application/octet-stream", "a.html", "\0" + "a " * 600 + "<p>pay here", False),
        ("application/octet-stream", "a.bin", "<!-- 7 --><p>pay here", False),
        ("application/octet-stream", "a.html", "PK\x03\x04 pay here", False),
        ("application/pdf", "a.html.pdf", "%PDF <p>pay here", False),
        ("text/plain", "a.txt", "<p>pay here", False),
    ],
)
def test_an_attachment_that_a_browser_opens_is_a_page(kind, name, body, html):
    mail = f'Content-Type: {kind}\nContent-Disposition: attachment; filename="{name}"\n\n{body}'
    (part,) = parse(mail.encode()).parts
    assert part.is_html is html
    assert ("pay here" in part.text) is (html or kind == "text/plain")


@pytest.mark.parametrize("kind", ["text/calendar", "application/ics", "text/x-vcard"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_a_calendar_or_a_card_are_joined_and_their_escapes_shown(kind, end):
    card = end.join(
        ["BEGIN:VCARD", "NOTE:Dear Ann\\, your acc", " ount\\nhttps://la", "\tke.example/", "END:VCARD"]
    )
    (part,) = parse(f"Content-Type: {kind}\n\n{card}".encode()).parts
    assert part.text == "Dear Ann, your account\nhttps://lake.example/"


@pytest.mark.parametrize(
    ("kind", "name", "read_as"),
    [
        ("octet-stream", "Invite.ICS", "text/calendar"),
        ("octet-stream", "a.vcf", "text/vcard"),
        ("octet-stream", "a.txt. ", "text/plain"),
        ("octet-stream", "a.mhtml", "message/rfc822"),
        ("x-mimearchive", "a.mht", "message/rfc822"),
        ("ics", "a.ics", "text/calendar"),
        ("pdf", "a.txt", "application/pdf"),
        ("zip", "a.ics", "application/zip"),
        ("octet-stream", "a.ics.exe", "application/octet-stream"),
        ("x-foo", "A.Mht.", "message/rfc822"),
        ("foo", "a.vcf", "application/foo"),
    ],
)
def test_a_file_whose_type_says_nothing_is_what_its_name_says(kind, name, read_as):
    mail = parse(f'Content-Type: application/{kind}; name="{name}"\n\nSubject: s\n\npay here\n'.encode())
    assert mail.structure[0] == read_as
    assert ("pay here" in mail.parts[0].text) is not read_as.startswith("application/")


@pytest.mark.parametrize(
    ("name", "read_as"),
    [("a.eml", "message/rfc822"), ("a.ics", "text/calendar"), ("a.p7m", "text/plain")],
)
def test_a_text_that_is_attached_is_what_its_name_says(name, read_as):
    field = f"Content-Type: text/plain; name={name}\nContent-Disposition: %s\n\nSubject: s\n\npay here\n"
    assert parse((field % "attachment").encode()).structure[0] == read_as
    assert parse((field % "inline").encode()).structure == ["text/plain"]


@pytest.mark.parametrize("encoding", ["7bit", "base64"])
def test_a_file_that_mail_programs_open_as_a_message_is_one(encoding):
    inner = b"Subject: pears\nContent-Type: text/html\n\n<p>for sale"
    body = base64.encodebytes(inner) if encoding == "base64" else inner
    field = "Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=Note.EML"
    mail = parse(f"{field}\nContent-Transfer-Encoding: {encoding}\n\n".encode() + body)
    assert mail.structure == ["message/rfc822", "text/html"]
    assert mail.parts[0].embedded_headers[0] == ("subject", "pears")


@pytest.mark.parametrize(
    ("body", "html"),
    [
        ("<html><b>shown</b> text", True),
        ("<html><!-- a note --><style><!-- p {} --></style>this is shown, as most of it is</html>", True),
        ("<!DOCTYPE html>\n<p>no end tag", True),
        ("I like <html>", False),
        ("<html></b><!--\nshown if the declaration is believed --></html>", False),
        ("<div><STYLE>shown if the declaration is believed</STYLE></div>", False),
        ("<div><script>shown if the declaration is believed</script></div>", False),
    ],
)
def test_text_that_begins_as_html_is_html_if_it_shows_most_of_itself(body, html):
    (part,) = parse(f"Content-Type: text/plain; name=a.html\n\n{body}".encode()).parts
    assert part.is_html is html


def test_an_attachment_has_a_name_a_size_and_magic_but_no_text():
    body = base64.encodebytes(b"MZ" + bytes(100))
    head = b"Content-Type: application/x-msdownload\nContent-Transfer-Encoding: BASE64\n"
    (part,) = parse(head + b"Content-Disposition: Attachment; filename=a.exe\n\n" + body).parts
    assert (part.filename, part.size_bytes, part.text, part.charset) == ("a.exe", 102, "", "")
    assert (part.disposition, part.encoding) == ("attachment", "base64")
    assert part.payload_magic == b"MZ" + bytes(14)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("inline", "inline"), ("INLINE; filename=a", "inline"), ("form-data; name=a", "attachment")],
)
def test_a_part_is_shown_inline_only_where_it_says_so(value, expected):
    assert parse(f"Content-Disposition: {value}\n\nx".encode()).parts[0].disposition == expected
    assert parse(b"Subject: s\n\nx").parts[0].disposition == ""


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"pea \nrs for  \nsale\n-- \nme\n", "pears for sale\n--\nme\n"),
        (b"pea \r\nrs\r\n", "pears\n"),
    ],
)
def test_lines_that_a_deleted_blank_joins_are_joined(body, text):
    mail = b"Content-Type: text/plain; format=flowed; delsp=yes\n\n" + body
    assert parse(mail).parts[0].text == text
    assert " \n" in parse(mail.replace(b"delsp=yes", b"delsp=no")).parts[0].text


INVITATION = (
    "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nSUMMARY;LANGUAGE=en:Your payout is waiting\n"
    "LOCATION:https://claim.example/now\nDESCRIPTION:Bring this code\\nJoin: https://meet.example\n"
    "BEGIN:VALARM\nACTION:DISPLAY\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n"
)


def test_an_invitation_among_alternatives_is_read():
    parts = [("plain", "Hello team"), ("html", "<p>Hello team</p>"), ("calendar", INVITATION)]
    body = "".join(f"--b\nContent-Type: text/{kind}\n\n{content}\n" for kind, content in parts)
    head = "From: a@b.example\nContent-Type: multipart/alternative; boundary=b\n\n"
    bag = tokenize(parse(f"{head}{body}--b--\n".encode()))
    added = ["your", "payout", "is", "waiting", "bring", "this", "code", "join"]
    assert bag.body == ["hello", "team", *added]
    assert {"url=claim.example", "url=meet.example"} <= set(bag.structure)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("no card\n FN:a", "no card\n FN:a"),
        ("begin:vcard\nFN:a\nNOTE:b: c\nd: e\nPHOTO:f\ng", "a\nb: c\nd: e"),
        ("BEGIN:VCALENDAR\nX-ALT-DESC;FMTTYPE=text/html:<p>a\nX-OTHER:b", "<p>a"),
    ],
)
def test_what_is_shown_of_a_card(text, expected):
    assert shown_of_card(text) == expected
