"""Leaves: what a part is taken for, and its text."""

import pytest

from nbspam.mail import parse
from nbspam.mail.leaf import read_card

DRAWING = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><text>pay here</text></svg>'


def test_broken_content_type_means_plain_text():
    for value in ("/", "text/", "a/b/c", "=?utf-8?q?x?=", ";;;", "\xff\xfe"):
        (part,) = parse(f"Content-Type: {value}\n\nhello".encode("latin-1")).parts
        assert (part.content_type, part.text) == ("text/plain", "hello")


@pytest.mark.parametrize(
    ("kind", "name", "body", "html"),
    [
        ("image/svg+xml", "a.svg", DRAWING, True),
        ("application/octet-stream", "a.SHTML", "<!-- 7 --><p>pay here", True),
        ("application/octet-stream", "a.bin", "<script>x()</script>pay here", True),
        ("application/octet-stream", "a.html", "good words " * 100 + "<p>pay here", True),
        ("text/plain", "a.htm. .", "<p>pay here", True),
        ("application/octet-stream", "a.html", "\0" + "a " * 600 + "<p>pay here", False),
        ("application/octet-stream", "a.bin", "<!-- 7 --><p>pay here", False),
        ("application/pdf", "a.html.pdf", "%PDF <p>pay here", False),
    ],
)
def test_an_attachment_that_a_browser_opens_is_a_page(kind, name, body, html):
    mail = f'Content-Type: {kind}\nContent-Disposition: attachment; filename="{name}"\n\n{body}'
    (part,) = parse(mail.encode()).parts
    assert part.is_html is html
    assert ("pay here" in part.text) is (html or kind == "text/plain")


@pytest.mark.parametrize("kind", ["text/calendar", "application/ics", "text/x-vcard"])
def test_lines_of_a_calendar_or_a_card_are_joined_and_their_escapes_shown(kind):
    card = "BEGIN:VCARD\r\nNOTE:Dear Ann\\, your acc\r\n ount\\nhttps://la\r\n\tke.example/\r\nEND:VCARD"
    (part,) = parse(f"Content-Type: {kind}\n\n{card}".encode()).parts
    assert part.text == "Dear Ann, your account\nhttps://lake.example/"


@pytest.mark.parametrize(
    ("kind", "name", "read_as"),
    [
        ("octet-stream", "Invite.ICS", "text/calendar"),
        ("octet-stream", "a.mhtml", "message/rfc822"),
        ("pdf", "a.txt", "application/pdf"),
        ("zip", "a.ics", "application/zip"),
        ("octet-stream", "a.ics.exe", "application/octet-stream"),
        ("x-foo", "A.Mht.", "message/rfc822"),
    ],
)
def test_a_file_whose_type_says_nothing_is_what_its_name_says(kind, name, read_as):
    mail = parse(f'Content-Type: application/{kind}; name="{name}"\n\nSubject: s\n\npay here\n'.encode())
    assert mail.structure[0] == read_as
    assert ("pay here" in mail.parts[0].text) is not read_as.startswith("application/")


@pytest.mark.parametrize(
    ("body", "html"),
    [
        ("<html><b>shown</b> text", True),
        ("<html><!-- a note --><style><!-- p {} --></style>this is shown, as most of it is</html>", True),
        ("<html></b><!--\nshown if the declaration is believed --></html>", False),
        ("<div><STYLE>shown if the declaration is believed</STYLE></div>", False),
        ("<div><script>shown if the declaration is believed</script></div>", False),
    ],
)
def test_text_that_begins_as_html_is_html_if_it_shows_most_of_itself(body, html):
    (part,) = parse(f"Content-Type: text/plain; name=a.html\n\n{body}".encode()).parts
    assert part.is_html is html


@pytest.mark.parametrize("kind", ["text/html", "text/plain"])
def test_text_that_begins_as_rtf_is_shown_unless_it_is_a_file(kind):
    texts = [
        parse(f"Content-Type: {declared}\n\n{{\\rtf<p>pay here".encode()).parts[0].text
        for declared in (kind, "text/rtf", "application/rtf", "text/plain\nContent-Disposition: attachment")
    ]
    assert texts == ["{\\rtf<p>pay here", "", "", ""]


def test_values_of_a_card_are_its_text():
    assert read_card("no card\n FN:a") == "no card\n FN:a"
    assert read_card("begin:vcard\nFN:a\nNOTE:b: c\nd: e\nPHOTO:f\ng") == "a\nb: c\nd: e"
    assert read_card("BEGIN:VCALENDAR\nX-ALT-DESC;FMTTYPE=text/html:<p>a\nX-OTHER:b") == "<p>a"
