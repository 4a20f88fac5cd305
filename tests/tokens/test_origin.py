"""The first host on the way of a mail, as mail servers write it into Received."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.tokens.measures import MAX_HOPS, unnamed_origin

AT_HOME = "from [192.168.1.5] (unknown [192.168.1.5]) by mail.a.example with ESMTPSA id 1"


def origin(*fields: str) -> float | None:
    return unnamed_origin(parse("".join(f"Received: {field}\n" for field in fields).encode() + b"\nHello\n"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        # Sendmail
        ("from mail.a.example (mail.a.example [203.0.113.7]) by mx.b.example (8.15.2) with ESMTP id 1", 0.0),
        ("from mail.a.example ([203.0.113.7]) by mx.b.example (8.15.2/8.15.2) with ESMTP id 1", 1.0),
        ("from forged (pool-7.a.example [203.0.113.7] (may be forged)) by mx.b.example with SMTP", 0.0),
        ("from mail (IDENT:root@mail.a.example [203.0.113.7]) by mx.b.example with ESMTP", 0.0),
        ("from mail (IDENT:root@[203.0.113.7]) by mx.b.example with ESMTP", 1.0),
        # Postfix
        ("from mail.a.example (unknown [203.0.113.7])\n\tby mx.b.example (Postfix) with ESMTP id 1", 1.0),
        ("from x (mail.a.example [IPv6:2001:db8::7]) by mx.b.example (Postfix) with ESMTPS id 1", 0.0),
        ("from x (unknown [IPv6:2001:db8::7]) by mx.b.example (Postfix) with ESMTPS id 1", 1.0),
        # qmail
        ("from unknown (HELO mail.a.example) (203.0.113.7)\n by 0 with SMTP; 1 Sep 2002 1:02:03 -0000", 1.0),
        ("from mail.a.example (HELO x) (root@203.0.113.7) by 0 with SMTP; 1 Sep 2002 1:02:03 -0000", 0.0),
        ("from unknown (203.0.113.7) by 0 with QMQP; 1 Sep 2002 1:02:03 -0000", 1.0),
        ("from mail.a.example (203.0.113.7) by 0 with SMTP; 1 Sep 2002 1:02:03 -0000", 0.0),
        # Exim
        ("from [203.0.113.7] (helo=mail.a.example) by mx.b.example with esmtp (Exim 4.96) id 1", 1.0),
        ("from [203.0.113.7] (helo=[10.0.0.1]) by mx.b.example with esmtp (Exim 4.96) id 1", 1.0),
        ("from mail.a.example ([203.0.113.7] helo=x) by mx.b.example with esmtp (Exim 4.96) id 1", 0.0),
        ("from mail.a.example ([2001:db8::7]) by mx.b.example with esmtps (Exim 4.96) id 1", 0.0),
        # Exchange and others
        ("from A.b.example (2001:db8::7) by C.d.example (2001:db8::8) with HTTPS", 0.0),
        ("from x (203.0.113.7 [203.0.113.7]) by y with SMTP (Microsoft Exchange Mail Service)", 1.0),
        ("from [10.1.2.3] (host-7.a.example. [203.0.113.7]) by smtp.b.example with ESMTPSA id 1", 0.0),
        ("from 203.0.113.7 by webmail.b.example with HTTP; Mon, 2 Sep 2002 13:00:00 +0000", 1.0),
        ("FROM MAIL.A.EXAMPLE (UNKNOWN [203.0.113.7]) BY MX.B.EXAMPLE", 1.0),
        ("from mail.a.example (mail.a.example [203.0.113.7])", 0.0),
    ],
)
def test_the_name_by_address_is_found_as_servers_write_it(field: str, value: float) -> None:
    assert origin(field) == value
    assert origin(field, AT_HOME) == value, "what is private is passed over"


@pytest.mark.parametrize(
    "field",
    [
        "by mx.b.example (Postfix, from userid 0) id 1; Mon, 2 Sep 2002 13:00:00 +0000",
        "(qmail 123 invoked by uid 7); 1 Sep 2002 1:02:03 -0000",
        "(from root@localhost) by b.example (8.15.2) id 1",
        "from localhost (localhost [127.0.0.1]) by b.example with ESMTP",
        "from x (x [10.200.3.4]) by b.example with ESMTP",
        "from x (x [172.31.3.4]) by b.example with ESMTP",
        "from x (unknown [IPv6:::1]) by b.example with ESMTP",
        "from x (unknown [IPv6:fe80::7]) by b.example with ESMTP",
        "from x (unknown [IPv6:fd00::7]) by b.example with ESMTP",
        "from x (unknown [::ffff:192.168.1.7]) by b.example with ESMTP",
        "from x (x [1.2.3]) by b.example with ESMTP; 12:30:11",
        "from",
        "",
    ],
)
def test_a_hop_without_a_public_address_is_no_origin(field: str) -> None:
    assert origin(field) is None
    assert origin("from x (unknown [203.0.113.7]) by b.example", field) == 1.0


def test_the_lowest_field_is_the_first_hop() -> None:
    named, unnamed = "from a (a.example [203.0.113.7]) by b", "from a (unknown [203.0.113.8]) by b"
    assert origin(named, unnamed) == 1.0
    assert origin(unnamed, named) == 0.0
    assert origin("from a (unknown [172.32.0.1]) by b") == 1.0


def test_mail_without_a_trace_has_the_value_that_says_nothing() -> None:
    assert origin() == 0.0


def test_of_a_long_trace_the_earliest_hops_are_read() -> None:
    unnamed = "from a (unknown [203.0.113.8]) by b"
    assert origin(unnamed, *[AT_HOME] * (MAX_HOPS - 1)) == 1.0
    assert origin(unnamed, *[AT_HOME] * MAX_HOPS) is None


@given(st.lists(st.text(alphabet=" ()[]@=.:;,abfromhel0123456789\t", max_size=80), max_size=5))
def test_no_trace_is_a_fault(fields: list[str]) -> None:
    assert origin(*fields, *("from " + field for field in fields)) in (0.0, 1.0, None)
