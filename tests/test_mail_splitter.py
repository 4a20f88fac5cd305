"""The MIME tree: stdlib email as the oracle for well-formed mail, then what hostile mail does."""

import base64
from email.message import EmailMessage
from email.policy import SMTP, default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.mail.limits import MAX_PARTS

TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufeff"), max_size=60)
CTES = st.sampled_from(["quoted-printable", "base64"])
LEAVES = st.tuples(
    TEXTS, st.sampled_from(["plain", "html"]), CTES, st.sampled_from(["utf-8", "koi8-r", "gb18030"])
)
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=8)


def built(tree):
    message = EmailMessage(policy=default)
    if isinstance(tree, list):
        message.make_mixed()
        for branch in tree:
            message.attach(built(branch))
        return message
    text, subtype, cte, charset = tree
    text = text.encode(charset, "ignore").decode(charset)
    message.set_content(text, subtype=subtype, charset=charset, cte=cte)
    return message


@given(TREES, st.sampled_from([default, SMTP]))
def test_well_formed_mail_reads_as_the_stdlib_reads_it(tree, policy):
    message = built(tree)
    message["Subject"] = "s"
    mail = parse(message.as_bytes(policy=policy))
    leaves = [part for part in message.walk() if not part.is_multipart()]
    assert mail.structure == [part.get_content_type() for part in message.walk()]
    assert [part.content_type for part in mail.parts] == [leaf.get_content_type() for leaf in leaves]
    expected = ["\n".join(leaf.get_content().splitlines()) for leaf in leaves]
    assert ["\n".join(part.text.splitlines()) for part in mail.parts] == expected
    assert mail.defects == []


@given(TREES)
def test_embedded_messages_are_read_and_their_fields_kept(tree):
    inner = built(tree)
    inner["X-Inner"] = "yes"
    outer = EmailMessage(policy=default)
    outer.set_content("outer")
    outer.add_attachment(inner)
    mail = parse(outer.as_bytes())
    assert mail.structure[:3] == ["multipart/mixed", "text/plain", "message/rfc822"]
    assert ("x-inner", "yes") in mail.parts[1].embedded_headers
    assert [part.embedded_headers for part in mail.parts[2:]] == [[]] * (len(mail.parts) - 2)


@given(st.binary(max_size=300))
def test_no_bytes_raise_and_reading_twice_is_the_same(data):
    for prefix in (
        b"",
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\n",
        b"Content-Type: message/rfc822\n\n",
    ):
        first, second = parse(prefix + data), parse(prefix + data)
        assert [part.text for part in first.parts] == [part.text for part in second.parts]
        assert first.defects == second.defects
        assert first.body_bytes + sum(first.header_sizes) <= len(prefix + data) + 1
        assert len(first.header_sizes) == len(first.headers)


LINES = st.lists(
    st.sampled_from(
        ["--a", "--a--", "--b", "--b--", "--ab", "", "text", "begin 644 x", "#0V%T", "end", "=?a?q?b?="]
        + ["Content-Type: multipart/mixed; boundary=a", "Content-Type: multipart/digest; boundary=b"]
        + ["Content-Type: message/rfc822", "Content-Type: multipart/mixed"]
        + ["Content-Transfer-Encoding: base64", "Content-Type: multipart/mixed; boundary=ab"]
    ),
    max_size=40,
)


@given(LINES)
def test_no_order_of_delimiters_raises_or_shows_text_twice(lines):
    numbered = [f"text{number}" if line == "text" else line for number, line in enumerate(lines)]
    mail = parse(("Subject: s\n" + "\n".join(numbered)).encode())
    shown = "\n".join(part.text for part in mail.parts).split("\n")
    for number, line in enumerate(lines):
        if line == "text":
            assert shown.count(f"text{number}") <= 1


def split(body, boundary="b", kind="mixed"):
    return parse(f"Content-Type: multipart/{kind}; boundary={boundary}\n\n{body}".encode())


def texts(mail):
    return [part.text for part in mail.parts]


def test_preamble_and_epilogue_are_not_shown():
    assert texts(split("preamble\n--b\n\none\n--b--\nepilogue\n")) == ["one"]


def test_a_missing_close_delimiter_keeps_the_last_part():
    mail = split("--b\n\none\n--b\n\ntwo\n")
    assert texts(mail) == ["one", "two\n"]
    assert mail.defects == ["no-close-delimiter"]


def test_a_boundary_may_begin_another():
    body = "--b\nContent-Type: multipart/mixed; boundary=bb\n\n--bb\n\ninner\n--bb--\n--b\n\nouter\n--b--\n"
    assert texts(split(body)) == ["inner", "outer"]


def test_an_outer_delimiter_closes_inner_multiparts():
    inner = "Content-Type: multipart/mixed; boundary=c\n\n--c\n\ninner"
    body = f"--b\n{inner}\n--b\n\nouter\n--c\nstill outer\n--b--\n"
    assert texts(split(body)) == ["inner", "outer\n--c\nstill outer"]


def test_an_inner_multipart_may_use_the_boundary_of_the_outer():
    body = "--b\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ninner\n--b--\n--b\n\nouter\n--b--\n"
    mail = split(body)
    assert texts(mail) == ["inner", "outer"]
    assert mail.defects == ["duplicate-boundary"]


def test_the_boundary_of_the_outer_may_stand_two_multiparts_inside():
    inmost = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b--\n"
    inner = f"Content-Type: multipart/mixed; boundary=c\n\n--c\n{inmost}--c\n\ntwo\n--c--\n"
    assert texts(split(f"--b\n{inner}--b\n\nthree\n--b--\n")) == ["one", "two", "three"]


def test_any_number_of_multiparts_with_the_boundary_of_the_outer_is_no_nesting():
    body = "--b\nContent-Type: multipart/mixed; boundary=b\n\n" * 99 + "--b\n\nlast\n--b--\n"
    mail = split(body)
    assert texts(mail)[-1] == "last"
    assert mail.defects == ["duplicate-boundary", "no-close-delimiter"]


def test_alternatives_with_the_boundary_of_the_outer_replace_nothing():
    inner = (
        "Content-Type: multipart/alternative; boundary=b\n\n--b\n\none\n--b\nContent-Type: text/html\n\ntwo\n"
    )
    mail = split(f"--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n{inner}--b--\n--c--\n--b--\n")
    assert [part.is_replaced for part in mail.parts] == [False, False]


def test_a_missing_boundary_is_taken_from_the_first_delimiter():
    mail = parse(
        b"Content-Type: multipart/mixed\n\n-- \nx\n--q\nContent-Type: text/html\n\n<b>one</b>\n--q--\n"
    )
    assert texts(mail) == ["<b>one</b>"]
    assert mail.defects == ["no-boundary"]


def test_a_wrong_boundary_is_corrected_from_the_body():
    mail = split("--q\nContent-Type: text/plain\n\none\n--q\n\ntwo\n--q--\n", boundary="other")
    assert texts(mail) == ["one", "two"]
    assert "no-parts" in mail.defects


def test_a_multipart_without_any_delimiter_is_text():
    mail = split("just text\n")
    assert texts(mail) == ["just text\n"]
    assert mail.parts[0].content_type == "text/plain"


def test_a_closed_multipart_stays_closed_for_what_follows():
    assert texts(split("--b\n\none\n--b--\n--b\n\nhidden\n")) == ["one"]


def test_doubled_delimiters_make_no_empty_part():
    assert texts(split("--b\n--b\n\none\n--b--\n")) == ["one"]


@pytest.mark.parametrize(
    "part", ["--b\n\n", "--b\n\nx\n", "--b\nX: y\n\n", "--b\nContent-Type: message/rfc822\n\n"]
)
def test_what_is_behind_a_thousand_parts_is_one_text(part):
    mail = split(part * 1001 + "--b\n\nhidden text\n--b\n\nmore of it\n--b--\n")
    assert "hidden text\n--b\n\nmore of it" in mail.parts[-1].text
    assert "too-many-parts" in mail.defects
    assert len(mail.structure) <= MAX_PARTS + 1


def test_parts_without_an_empty_line_are_text():
    assert texts(split("--b\nhello there\n--b\nContent-Type: text/html\n<p>x\n--b--\n")) == [
        "hello there",
        "<p>x",
    ]


def test_parts_of_a_digest_are_messages():
    mail = split("--b\n\nSubject: one\n\nfirst\n--b\n\nSubject: two\n\nsecond\n--b--\n", kind="digest")
    assert mail.structure == ["multipart/digest"] + ["message/rfc822", "text/plain"] * 2
    assert [part.embedded_headers for part in mail.parts] == [[("subject", "one")], [("subject", "two")]]
    assert texts(mail) == ["first", "second"]


INNER = b"Subject: in\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nbuy =3D now\n--x--\n"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        (b"7bit", INNER),
        (b"base64", base64.encodebytes(INNER)),
        (b"quoted-printable", INNER.replace(b"=", b"=3D")),
    ],
)
def test_an_embedded_message_is_read_in_every_encoding(encoding, body):
    data = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: " + encoding + b"\n\n" + body
    mail = parse(data)
    assert mail.structure == ["message/rfc822", "multipart/mixed", "text/plain"]
    assert mail.parts[0].text == "buy =3D now"
    assert ("subject", "in") in mail.parts[0].embedded_headers


def test_parts_keep_their_order_around_an_encoded_message():
    inner = base64.encodebytes(b"Subject: in\n\nsecond").decode()
    embedded = f"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{inner}"
    body = f"--b\n\nfirst\n--b\n{embedded}\n--b\n\nthird\n--b--\n"
    assert texts(split(body)) == ["first", "second", "third"]


def test_headers_of_a_bounced_mail_are_fields_not_text():
    mail = split("--b\nContent-Type: text/rfc822-headers\n\nSubject: in\nContent-Type: multipart/x\n--b--\n")
    assert mail.parts[0].embedded_headers[0] == ("subject", "in")
    assert texts(mail) == [""]


def test_a_delivery_status_is_text():
    mail = split(
        "--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n--b--\n", kind="report"
    )
    assert texts(mail) == ["Reporting-MTA: dns; x"]


@pytest.mark.parametrize(
    "value", ["", "text", "/", "text/", "html", "a/b/c", "=?utf-8?q?x?=", ";;;", "\xff\xfe"]
)
def test_a_content_type_that_is_none_means_plain_text(value):
    mail = parse(f"Content-Type: {value}\n\nhello".encode("latin-1"))
    assert mail.parts[0].content_type == "text/plain"
    assert mail.parts[0].text == "hello"


def test_html_is_recognised_under_other_names():
    octets = parse(b"Content-Type: application/octet-stream; name=a.htm\n\n\n<HTML><p>pay here")
    assert (octets.parts[0].is_html, octets.parts[0].text.strip()) == (True, "<HTML><p>pay here")
    plain = parse(b"Content-Type: text/plain\n\n<!DOCTYPE html>\n<p>x")
    assert plain.parts[0].is_html
    assert not parse(b"Subject: s\n\nI like <html>").parts[0].is_html


DRAWING = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><text>pay here</text></svg>'


@pytest.mark.parametrize(
    ("kind", "name", "body", "html"),
    [
        ("image/svg+xml", "a.svg", DRAWING, True),
        ("image/svg+xml", "", "<svg><text>pay here</text></svg>", True),
        ("application/octet-stream", "a.bin", DRAWING, True),
        ("application/octet-stream", "a.SHTML", "<!-- 7 --><p>pay here", True),
        ("application/octet-stream", "a.bin", "<script>x()</script>pay here", True),
        ("text/plain", "a.html", "<p>pay here", True),
        ("application/octet-stream", "a.bin", "\n" * 1_100 + "<html><p>pay here", True),
        ("application/octet-stream", "a.html", "\n" * 1_100 + "<p>pay here", True),
        ("application/octet-stream", "a.html", "good words " * 100 + "<p>pay here", True),
        ("application/octet-stream", "a.html ", "<p>pay here", True),
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
        ["BEGIN:X", "DESCRIPTION:Dear Ann\\, your acc", " ount\\nhttps://la", "\tke.example/", "END:X"]
    )
    body = base64.encodebytes(card.encode()).decode()
    (part,) = parse(f"Content-Type: {kind}\nContent-Transfer-Encoding: base64\n\n{body}".encode()).parts
    assert part.text == "BEGIN:X\nDESCRIPTION:Dear Ann, your account\nhttps://lake.example/\nEND:X"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("FN;ENCODING=QUOTED-PRINTABLE:p=61y here", "pay here"),
        ("FN;charset=utf-8;encoding=quoted-printable:z=C3=A4hl\\, jetzt", "zähl, jetzt"),
        ("FN;QUOTED-PRINTABLE;CHARSET=koi8-r:=D3=DE=A3=D4", "счёт"),
        ("FN;ENCODING=QUOTED-PRINTABLE:pa=\ny=\n here", "pay here"),
        ("FN;ENCODING=QUOTED-PRINTABLE:pay=\n\there", "pay\there"),
        ("FN;ENCODING=QUO\n TED-PRINTABLE:p=61y", "pay"),
        ("FN;ENCODING=QUOTED-PRINTABLE:p=61y=", "pay"),
        ("FN;ENCODING=QUOTED-PRINTABLE:p=0Ay", "p\ny"),
        ("FN;ENCODING=QUOTED-PRINTABLE:€=61", "€a"),
        ("FN:QUOTED-PRINTABLE=61", "QUOTED-PRINTABLE=61"),
    ],
)
def test_quoted_values_of_a_card_are_decoded(written: str, text: str) -> None:
    mail = f"Content-Type: text/x-vcard; charset=utf-8\n\nBEGIN:VCARD\n{written}\n\nEND:VCARD"
    (part,) = parse(mail.encode()).parts
    begin, _, shown = part.text.removesuffix("\nEND:VCARD").partition(":VCARD\n")
    assert (begin, shown.partition(":")[2].rstrip("\n")) == ("BEGIN", text)


@pytest.mark.parametrize(
    ("kind", "name", "read_as"),
    [
        ("octet-stream", "Invite.ICS", "text/calendar"),
        ("octet-stream", "a.vcs", "text/calendar"),
        ("octet-stream", "a.vcf", "text/vcard"),
        ("octet-stream", "a.txt. ", "text/plain"),
        ("octet-stream", "a.mhtml", "message/rfc822"),
        ("x-mimearchive", "a.mht", "message/rfc822"),
        ("x-eml", "a.eml", "message/rfc822"),
        ("ics", "a.ics", "text/calendar"),
        ("pdf", "a.txt", "application/pdf"),
        ("zip", "a.ics", "application/zip"),
        ("octet-stream", "a.ics.exe", "application/octet-stream"),
        ("x-foo", "a.eml", "message/rfc822"),
        ("x-foo", "A.Mht.", "message/rfc822"),
        ("x-foo", "a.ics", "text/calendar"),
        ("x-foo", "a.vcf", "text/vcard"),
        ("x-foo", "a.txt", "application/x-foo"),
        ("foo", "a.vcf", "application/foo"),
    ],
)
def test_a_file_whose_type_says_nothing_is_what_its_name_says(kind: str, name: str, read_as: str) -> None:
    mail = parse(f'Content-Type: application/{kind}; name="{name}"\n\nSubject: s\n\npay here\n'.encode())
    assert mail.structure[0] == read_as
    assert ("pay here" in mail.parts[0].text) is not read_as.startswith("application/")


@pytest.mark.parametrize(
    ("name", "read_as"),
    [
        ("a.eml", "message/rfc822"),
        ("a.mht", "message/rfc822"),
        ("a.ics", "text/calendar"),
        ("a.vcf", "text/vcard"),
        ("a.p7m", "text/plain"),
    ],
)
def test_a_text_that_is_attached_is_what_its_name_says(name: str, read_as: str) -> None:
    field = f"Content-Type: text/plain; name={name}\nContent-Disposition: %s\n\nSubject: s\n\npay here\n"
    assert parse((field % "attachment").encode()).structure[0] == read_as
    assert parse((field % "inline").encode()).structure == ["text/plain"]


@pytest.mark.parametrize("field", ["Content-Type: application/octet-stream; name=Note.EML", ""])
@pytest.mark.parametrize("encoding", ["7bit", "base64"])
def test_a_file_that_mail_programs_open_as_a_message_is_one(field, encoding):
    inner = b"Subject: pears\nContent-Type: text/html\n\n<p>for sale"
    body = base64.encodebytes(inner) if encoding == "base64" else inner
    field = field or "Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=a.eml"
    mail = parse(f"{field}\nContent-Transfer-Encoding: {encoding}\n\n".encode() + body)
    assert mail.structure == ["message/rfc822", "text/html"]
    assert mail.parts[0].embedded_headers[0] == ("subject", "pears")


@pytest.mark.parametrize(
    ("kind", "name", "is_message"),
    [
        ("msword", "", True),
        ("vnd.ms-word; charset=utf-8", "a.doc", True),
        ("octet-stream", "A.XLS. ", True),
        ("rtf", "a.rtf", True),
        ("octet-stream", "a.bin", False),
        ("pdf", "a.pdf", False),
    ],
)
@pytest.mark.parametrize("encoding", ["7bit", "base64"])
def test_a_page_that_was_saved_as_a_document_is_one(kind, name, is_message, encoding):
    """Word and Excel show it; so wikis export their pages."""
    inner = b"\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=c\r\n\r\n"
    inner += b"--c\r\nContent-Type: text/html\r\n\r\n<p>pay here\r\n--c--\r\n"
    body = base64.encodebytes(inner) if encoding == "base64" else inner
    top = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nsee\n--b\n"
    field = f'Content-Disposition: attachment; filename="{name}"\nContent-Transfer-Encoding: {encoding}\n'
    mail = parse(f"{top}Content-Type: application/{kind}\n{field}\n".encode() + body + b"\n--b--\n")
    assert any(part.is_html and "pay here" in part.text for part in mail.parts) is is_message
    assert mail.structure[2] == "application/" + kind.partition(";")[0]


def test_text_that_is_no_attachment_is_no_page_for_its_name():
    assert not parse(b"Content-Type: text/plain; name=a.html\n\na < b").parts[0].is_html


@pytest.mark.parametrize(
    ("body", "html"),
    [
        ("<html><b>shown</b> text", True),
        ("<html><!-- a note --><style><!-- p {} --></style>this is shown, as most of it is</html>", True),
        ("<html>no end tag", True),
        ("<html></b><!--\nshown by who believes the declaration", False),
        ("<html></b><!--\nshown by who believes the declaration --></html>", False),
        ("<div></b><style>shown by who believes the declaration", False),
        ("<div><STYLE>shown by who believes the declaration</STYLE></div>", False),
        ("<div><script>shown by who believes the declaration</script></div>", False),
    ],
)
def test_text_that_begins_as_html_is_html_if_it_shows_most_of_itself(body, html):
    (part,) = parse(f"Content-Type: text/plain\n\n{body}".encode()).parts
    assert part.is_html is html


def test_attachments_have_a_name_a_size_and_magic_but_no_text():
    body = base64.encodebytes(b"MZ" + bytes(100)).decode()
    part = split(
        "--b\nContent-Type: application/x-msdownload\nContent-Transfer-Encoding: BASE64\n"
        f"Content-Disposition: Attachment; filename=a.exe\n\n{body}\n--b--\n"
    ).parts[0]
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


def test_fields_of_a_message_inside_without_any_part_are_kept():
    inner = b"Subject: inner\nContent-Type: multipart/mixed; boundary=c\n\n--c\n--c--\n"
    (part,) = parse(b"Content-Type: message/rfc822\n\n" + inner).parts
    assert ("subject", "inner") in part.embedded_headers


def test_a_multipart_that_is_itself_encoded_is_split():
    inner = base64.encodebytes(b"--b\n\none\n--b\nContent-Type: text/html\n\n<p>two\n--b--\n")
    mail = parse(b"Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: base64\n\n" + inner)
    assert [(part.content_type, part.text) for part in mail.parts] == [
        ("text/plain", "one"),
        ("text/html", "<p>two"),
    ]


def test_a_boundary_is_guessed_where_the_parts_have_no_fields():
    mail = parse(b"Content-Type: multipart/mixed\n\n--x\n\none\n--x\n\ntwo\n--x--\n")
    assert texts(mail) == ["one", "two"]


def test_an_empty_mail_is_one_empty_text():
    for data in (b"", b"\n", b"\r\n\r\n", b"From x\n"):
        mail = parse(data)
        assert [part.content_type for part in mail.parts] == ["text/plain"]
        assert mail.parts[0].text.strip() == ""


def test_the_broken_messages_of_other_projects_are_all_read(torture_files):
    assert len(torture_files) > 700
    for path in torture_files:
        data = path.read_bytes()
        mail = parse(data)
        assert mail.parts, path.name
        assert all(part.content_type for part in mail.parts), path.name
        assert [part.text for part in parse(data).parts] == [part.text for part in mail.parts], path.name


def test_a_delimiter_is_never_junk_in_a_header():
    mail = parse(
        b"Content-Type: multipart/mixed; boundary=b\n \n--b\nContent-Type: text/html\n\n<p>\n--b--\n"
    )
    assert mail.structure == ["multipart/mixed", "text/html"]
    assert texts(mail) == ["<p>"]


def tree(kind, *parts):
    """A multipart without a header of its own, its boundary its kind."""
    lines = "".join(f"--{kind}\nContent-Type: {part}\n" for part in parts)
    return f'multipart/{kind}; boundary="{kind}"\n\n{lines}--{kind}--\n'


def starting(root, related):
    """The multipart with the Content-ID of the part that readers are to begin with."""
    return related.replace('"\n', f'"; start="<{root}>"\n', 1)


def attached(part):
    """The part as a file."""
    return part.replace("\n", "\nContent-Disposition: attachment\n", 1)


PLAIN, HTML = "text/plain\n\nplain\n", "text/html\n\n<p>html\n"
AMP = "text/x-amp-html\n\n<!doctype html><html amp4email><p>page that lives\n"


@pytest.mark.parametrize(
    ("mail", "expected"),
    [
        (tree("alternative", PLAIN, HTML), [True, False]),
        (tree("alternative", HTML, PLAIN), [False, True]),
        (tree("alternative", PLAIN, tree("related", HTML, "image/png\n\nx\n")), [True, False, False]),
        (tree("alternative", tree("mixed", PLAIN, PLAIN), HTML), [True, True, False]),
        (tree("mixed", PLAIN, tree("alternative", PLAIN, HTML), PLAIN), [False, True, False, False]),
        (tree("mixed", tree("alternative", PLAIN, PLAIN), HTML), [True, False, False]),
        (tree("mixed", PLAIN, HTML), [False, False]),
        (tree("alternative", HTML, HTML), [True, False]),
        (tree("alternative", HTML, HTML, PLAIN), [True, False, True]),
        (tree("alternative", PLAIN, "text/enriched\n\nx\n"), [False, True]),
        (tree("alternative", PLAIN, tree("mixed", HTML, PLAIN)), [True, False, False]),
        (tree("alternative", PLAIN, HTML, AMP), [True, False, True]),
        (tree("alternative", PLAIN, AMP, HTML), [True, True, False]),
        (tree("alternative", PLAIN, AMP), [False, True]),
        (tree("alternative", AMP), [False]),
        (tree("alternative", PLAIN, "text/watch-html\n\n<html>small\n"), [False, True]),
        (tree("alternative", HTML, "text/calendar\n\nBEGIN:VCALENDAR\n"), [False, True]),
        (tree("related", HTML, PLAIN), [False, True]),
        (tree("related", HTML, HTML, "text/css\n\nx\n"), [False, True, True]),
        (tree("related", tree("alternative", PLAIN, HTML), HTML), [True, False, True]),
        (starting("x", tree("related", HTML, PLAIN)), [False, True]),
        (starting("x", tree("related", HTML.replace("\n", "\nContent-ID: <x>\n", 1), PLAIN)), [False, True]),
        (starting("x", tree("related", PLAIN, HTML.replace("\n", "\nContent-ID: <x>\n", 1))), [False, False]),
        (starting("", tree("related", PLAIN, HTML)), [False, True]),
        (PLAIN, [False]),
        (tree("alternative", HTML, attached(HTML)), [False, False]),
        (tree("alternative", HTML, attached(PLAIN)), [False, False]),
        (tree("alternative", PLAIN, attached(PLAIN), HTML), [True, False, False]),
        (tree("related", attached(PLAIN), HTML, HTML), [False, False, True]),
        (tree("related", HTML, attached(HTML)), [False, False]),
        (tree("alternative", PLAIN, tree("related", HTML, attached(HTML))), [True, False, False]),
        (tree("alternative", HTML, "message/rfc822\n\nContent-Type: " + HTML), [False, False]),
        (
            tree("alternative", PLAIN, HTML, "message/rfc822\n\nContent-Type: " + tree("mixed", HTML, PLAIN)),
            [True, False, False, False],
        ),
        (
            tree("mixed", "message/rfc822\n\nContent-Type: " + tree("alternative", PLAIN, HTML), PLAIN),
            [True, False, False],
        ),
    ],
)
def test_a_part_that_readers_choose_replaces_the_others(mail, expected):
    message = parse(f"Subject: s\nContent-Type: {mail}".encode())
    assert [part.is_replaced for part in message.parts] == expected


def test_lines_that_a_deleted_blank_joins_are_joined():
    mail = b"Content-Type: text/plain; format=flowed; delsp=yes\n\npea \nrs for  \nsale\n-- \nme\n"
    assert parse(mail).parts[0].text == "pears for sale\n--\nme\n"
    assert parse(mail.replace(b"delsp=yes", b"delsp=no")).parts[0].text.startswith("pea \nrs")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (b"pea \r\nrs", "pears"),
        (b"pea \n rs", "pears"),  # the blank before it only says that it is no quotation
        (b" > 5 for \n  sale", "> 5 for sale"),
        (b"> pea \n> rs\nI see \n> it", "> pears\nI see\n> it"),
        (b">> pea \n> rs", ">> pea\n> rs"),
        (b">> pea \n>> rs", ">> pears"),
        (b"pea \n\nrs ", "pea\nrs"),
        (b"-- \nme", "--\nme"),
        (b"", ""),
    ],
)
def test_lines_that_flow_into_each_other_are_joined_as_they_are_shown(lines, expected):
    head = b"Content-Type: text/plain; format=flowed; delsp=yes\nContent-Transfer-Encoding: base64\n\n"
    assert parse(head + base64.b64encode(lines)).parts[0].text == expected
