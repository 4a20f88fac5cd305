"""The MIME tree: the stdlib as the oracle for well-formed mail, then broken and hostile mail."""

from email.message import EmailMessage
from email.policy import SMTP, default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.limits import Allowance
from nbspam.mail import parse

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
