"""Which fields are evidence, and the first host on the way; golden/header-* show what each field gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.tables import read_table
from nbspam.tokens import read
from nbspam.tokens.measures import MAX_HOPS, has_unnamed_origin

FIELDS = read_table("fields")
MAIL = b"From: ida@lake.example\nTo: otto@orchard.example\nSubject: pears\n"


@pytest.mark.parametrize("kind", ["notes", "verdicts"])
def test_verdicts_and_notes_of_the_mail_store_are_no_evidence(kind: str) -> None:
    names = [pattern.replace("*", "any") for pattern in FIELDS[kind]]
    fields = "".join(f"{name}: spam junk 99\n" for name in names).encode()
    plain = read(MAIL + b"\npears\n", ("measures", "numeric"))
    noted = read(fields + MAIL + fields + b"\npears\n", ("measures", "numeric"))
    assert noted.views() == plain.views()
    assert noted.numeric == plain.numeric


def test_no_name_begins_with_a_beginning_that_is_no_evidence() -> None:
    # A search for the last one before a name finds the one that begins it.
    names = [name for name in FIELDS["notes"] + FIELDS["verdicts"] if "x-*" not in name]
    beginnings = [name[:-1] for name in names if name.endswith("*")]
    found = {name: [start for start in beginnings if name.startswith(start)] for name in names}
    assert [name for name, starts in found.items() if starts not in ([], [name[:-1]])] == []


@pytest.mark.parametrize("name", ["X-Kmail-Message", "X-Kmail-Account", "X-Mailer", "X-Gm-Gg", "X-SG-EID"])
def test_fields_of_senders_that_look_like_notes_are_evidence(name: str) -> None:
    assert f"field:{name.lower()}" in read(f"{name}: pears\n".encode() + MAIL).header


@pytest.mark.parametrize("size", [100, 127, 128, 250])
def test_storing_a_mail_or_passing_it_on_changes_no_token(size: int) -> None:
    mail = MAIL + b"\n> pears\n" + b"x" * (size - 9 - len(MAIL)) + b"\n"
    before = read(mail, ("measures",))
    for other in (
        b"X-Nbspam: ham; probability=0.01\n" + mail,
        b"From ida@lake.example Mon Sep  2 14:00:00 2002\n" + mail + b"\n",
        mail.replace(b"\n\n", b"\nStatus: RO\nX-UID: 5\nContent-Length: 99\n\n", 1),
        mail.replace(b"\n", b"\r\n"),
    ):
        after = read(other, ("measures",))
        assert after.views() == before.views()


AT_HOME = "from [192.168.1.5] (unknown [192.168.1.5]) by mail.a.example with ESMTPSA id 1"


def origin(*fields: str) -> float | None:
    return has_unnamed_origin(
        parse("".join(f"Received: {field}\n" for field in fields).encode() + b"\nHello\n")
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        # Sendmail
        ("from mail.a.example ([203.0.113.7]) by mx.b.example (8.15.2/8.15.2) with ESMTP id 1", 1.0),
        ("from forged (pool-7.a.example [203.0.113.7] (may be forged)) by mx.b.example with SMTP", 0.0),
        # Postfix
        ("from mail.a.example (unknown [203.0.113.7])\n\tby mx.b.example (Postfix) with ESMTP id 1", 1.0),
        ("from x (mail.a.example [IPv6:2001:db8::7]) by mx.b.example (Postfix) with ESMTPS id 1", 0.0),
        # qmail
        ("from unknown (HELO mail.a.example) (203.0.113.7)\n by 0 with SMTP; 1 Sep 2002 1:02:03 -0000", 1.0),
        ("from mail.a.example (HELO x) (root@203.0.113.7) by 0 with SMTP; 1 Sep 2002 1:02:03 -0000", 0.0),
        # Exim
        ("from [203.0.113.7] (helo=[10.0.0.1]) by mx.b.example with esmtp (Exim 4.96) id 1", 1.0),
        ("from mail.a.example ([203.0.113.7] helo=x) by mx.b.example with esmtp (Exim 4.96) id 1", 0.0),
        # Exchange and others
        ("from A.b.example (2001:db8::7) by C.d.example (2001:db8::8) with HTTPS", 0.0),
        ("from x (203.0.113.7 [203.0.113.7]) by y with SMTP (Microsoft Exchange Mail Service)", 1.0),
        ("from [10.1.2.3] (host-7.a.example. [203.0.113.7]) by smtp.b.example with ESMTPSA id 1", 0.0),
        ("FROM MAIL.A.EXAMPLE (UNKNOWN [203.0.113.7]) BY MX.B.EXAMPLE", 1.0),
    ],
)
def test_name_by_address_is_found_as_servers_write_it(field: str, value: float) -> None:
    assert origin(field) == value
    assert origin(field, AT_HOME) == value, "what is private is passed over"


@pytest.mark.parametrize(
    "field",
    [
        "by mx.b.example (Postfix, from userid 0) id 1; Mon, 2 Sep 2002 13:00:00 +0000",
        "(qmail 123 invoked by uid 7); 1 Sep 2002 1:02:03 -0000",
        *[f"from x (x [{address}]) by b.example" for address in ("127.0.0.1", "10.200.3.4", "172.31.3.4")],
        *[f"from x (unknown [IPv6:{address}]) by b.example" for address in ("::1", "fe80::7", "fd00::7")],
        "from x (unknown [::ffff:192.168.1.7]) by b.example with ESMTP",
        "from x (x [1.2.3]) by b.example with ESMTP; 12:30:11",
        "from",
        "",
    ],
)
def test_hop_without_a_public_address_is_no_origin(field: str) -> None:
    assert origin(field) is None
    assert origin("from x (unknown [203.0.113.7]) by b.example", field) == 1.0


def test_lowest_field_is_the_first_hop() -> None:
    named, unnamed = "from a (a.example [203.0.113.7]) by b", "from a (unknown [172.32.0.1]) by b"
    assert origin(named, unnamed) == 1.0
    assert origin(unnamed, named) == 0.0
    assert origin() == 0.0
    assert origin(unnamed, *[AT_HOME] * (MAX_HOPS - 1)) == 1.0
    assert origin(unnamed, *[AT_HOME] * MAX_HOPS) is None


@given(st.lists(st.text(alphabet=" ()[]@=.:;,abfromhel0123456789\t", max_size=80), max_size=5))
def test_any_received_fields_have_an_origin_or_none(fields: list[str]) -> None:
    assert origin(*fields, *("from " + field for field in fields)) in (0.0, 1.0, None)
