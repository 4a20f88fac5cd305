"""The MIME tree: the stdlib as the oracle for well-formed mail, then broken and hostile mail."""

import base64
from email.message import EmailMessage
from email.policy import SMTP, default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.tokens import tokenize

TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufeff"), max_size=60)
LEAVES = st.tuples(
    TEXTS,
    st.sampled_from(["plain", "html"]),
    st.sampled_from(["quoted-printable", "base64"]),
    st.sampled_from(["utf-8", "koi8-r", "gb18030"]),
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


@pytest.mark.parametrize("part", ["--b\n\nx\n", "--b\nContent-Type: message/rfc822\n\n"])
def test_the_rest_after_a_thousand_parts_is_one_text(part):
    mail = split(part * 1001 + "--b\n\nhidden text\n--b\n\nmore of it\n--b--\n")
    assert "hidden text\n--b\n\nmore of it" in mail.parts[-1].text
    assert "too-many-parts" in mail.defects
    assert len(mail.structure) <= Allowance.parts + 1


def test_an_embedded_message_is_read_in_every_encoding():
    inner = b"Subject: in\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nbuy =3D now\n--x--\n"
    for encoding, body in (
        (b"7bit", b"From a@b Mon Sep  9\n" + inner),
        (b"base64", base64.encodebytes(inner)),
    ):
        mail = parse(b"Content-Type: message/rfc822\nContent-Transfer-Encoding: " + encoding + b"\n\n" + body)
        assert mail.structure == ["message/rfc822", "multipart/mixed", "text/plain"]
        assert mail.parts[0].text == "buy =3D now"
        assert ("subject", "in") in mail.parts[0].embedded_headers


def tree(kind, *parts):
    """A multipart without a header of its own, its boundary its kind."""
    lines = "".join(f"--{kind}\nContent-Type: {part}\n" for part in parts)
    return f'multipart/{kind}; boundary="{kind}"\n\n{lines}--{kind}--\n'


def attached(part):
    """The part as a file."""
    return part.replace("\n", "\nContent-Disposition: attachment\n", 1)


PLAIN, HTML = "text/plain\n\nplain\n", "text/html\n\n<p>html\n"
MESSAGE = "message/rfc822\n\nContent-Type: "


@pytest.mark.parametrize(
    "fields",
    [
        'message/rfc822; name="my note.eml"\n\n',
        "application/octet-stream\nContent-Disposition: attachment; filename=my note.eml\n\n",
        "message/rfc822; name=my note.eml\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogaW4KCmJ1eQo=\n",
    ],
)
def test_attached_messages_have_names(fields):
    mail = split(f"--b\nContent-Type: {fields}Subject: in\n\nbuy\n--b--")
    assert [part.embedded_names for part in mail.parts] == [["my note.eml"]]
    assert {"ending=eml", "file=note"} <= set(tokenize(mail).structure)


def related(start, *identifiers):
    """Related parts of these Content-IDs; the parameter `start`."""
    kind, *parts = tree(
        "related", *[f"text/html\nContent-ID: {each}\n\n{each}\n" for each in identifiers]
    ).split("\n")
    return "\n".join([f"{kind}; start={start}", *parts])


@pytest.mark.parametrize(
    ("start", "shown"), [('"<b@x>"', "<b@x>"), ("b@x", "<b@x>"), ('"<c@x>"', "<a@x>"), ('""', "<a@x>")]
)
def test_the_root_of_related_parts_is_shown(start, shown):
    message = parse(f"Subject: s\nContent-Type: {related(start, '<a@x>', '<b@x>')}".encode())
    assert [part.text.strip() for part in message.parts if not part.is_replaced] == [shown]


def test_first_of_two_related_parts_of_one_content_id_is_shown():
    first, second, third = parse(f"Content-Type: {related('b@x', '<a@x>', '<b@x>', '<b@x>')}".encode()).parts
    assert (first.is_replaced, second.is_replaced, third.is_replaced) == (True, False, True)


@pytest.mark.parametrize(
    ("mail", "expected"),
    [
        (tree("alternative", HTML, HTML, PLAIN), [True, False, True]),
        (tree("alternative", PLAIN, tree("related", HTML, "image/png\n\nx\n")), [True, False, False]),
        (tree("alternative", tree("mixed", PLAIN, PLAIN), HTML), [True, True, False]),
        (tree("related", tree("alternative", PLAIN, HTML), HTML), [True, False, True]),
        (tree("alternative", PLAIN, attached(PLAIN), HTML), [True, False, False]),
        (tree("related", attached(PLAIN), HTML, HTML), [False, False, True]),
        (tree("alternative", HTML, MESSAGE + HTML), [False, False]),
        (tree("mixed", MESSAGE + tree("alternative", PLAIN, HTML), PLAIN), [True, False, False]),
    ],
)
def test_a_part_that_readers_choose_replaces_the_others(mail, expected):
    message = parse(f"Subject: s\nContent-Type: {mail}".encode())
    assert [part.is_replaced for part in message.parts] == expected
