"""The MIME tree: the stdlib as the oracle for well-formed mail, then broken mail, and bounds."""

from email.message import EmailMessage
from email.policy import SMTP, default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam import limits
from nbspam.limits import Allowance
from nbspam.mail import find_header_fields, parse

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


MULTIPART = b"From: a\nContent-Type: multipart/mixed; boundary=b0\n\n"


def nested(levels):
    return MULTIPART + b"".join(
        b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (level, level + 1)
        for level in range(levels)
    )


def test_nesting_ends_at_its_bound_and_the_rest_is_text():
    mail = parse(nested(100) + b"--b100\n\nhidden deep\n")
    assert mail.structure.count("multipart/mixed") == limits.MAX_NESTING + 1
    assert "nested-too-deep" in mail.defects
    assert "hidden deep" in mail.parts[0].text


def test_long_line_is_read_up_to_the_bound():
    mail = parse(b"a" * (4 << 20))
    assert mail.parts[0].text == "a" * limits.MAX_SCORED_BYTES
    assert mail.body_bytes == limits.MAX_SCORED_BYTES
    assert "long-body" in mail.defects


def test_long_header_does_not_hide_the_body():
    data = b"Subject: s\nX: " + b"a" * (4 << 20) + b"\n\nbody"
    mail = parse(data)
    assert mail.get("subject") == "s"
    assert mail.parts[0].text == "body"
    assert "long-header" in mail.defects
    assert find_header_fields(data)[-1][1] == len(data) - 5  # before the empty line


def test_lines_that_look_like_delimiters_are_searched_up_to_a_bound():
    mail = parse(MULTIPART + b"--x\n" * (limits.Allowance.delimiter_lines + 1) + b"--b0\n\ntext\n--b0--\n")
    assert "many-delimiters" in mail.defects
