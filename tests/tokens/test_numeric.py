"""The numeric features of a message: what they measure, and that nothing makes them fail."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbspam.tokens import read
from nbspam.tokens.numeric import NAMES


def features(data: bytes) -> dict[str, float | None]:
    values = read(data, ("numeric",)).numeric
    assert len(values) == len(NAMES)
    return dict(zip(NAMES, values, strict=True))


PLAIN = b"""Received: from b.example by c.example; Mon, 2 Sep 2002 14:00:00 +0000
Received: from a.example by b.example; Mon, 2 Sep 2002 13:00:00 +0000
Date: Mon, 2 Sep 2002 12:30:00 +0000
From: Ann <ann@mail.shop.example>
Reply-To: other@elsewhere.example
To: one@x.example, two@x.example
Cc: three@x.example
Message-ID: <1@gateway.shop.example>
Subject: GOOD day

> Hello there
I pay $20 NOW!! See http://192.0.2.7/a and http://www.shop.example/b
"""

HTML = b"""From: a@b.example
Content-Type: text/html

<html><body bgcolor="#ffffff"><!-- one --><p>Click <a href="http://bad.example/">www.bank.example</a></p>
<img src="http://pix.example/1.gif"><font style="display:none">unseen words here</font></body></html>
"""


def test_the_manual_has_every_feature_in_order() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "numeric-features.md"
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(str(number), name) for number, name in enumerate(NAMES, 1)]
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("size", float(len(PLAIN) - 2)),
        ("header_fields", 9.0),
        ("parts", 1.0),
        ("hops", 2.0),
        ("delay", 1.5),
        ("recipients", 3.0),
        ("subject_length", 8.0),
        ("subject_capital_share", 4 / 7),
        ("reply_elsewhere", 1.0),
        ("foreign_message_id", 0.0),
        ("urls", 2.0),
        ("distinct_hosts", 2.0),
        ("address_urls", 1.0),
        ("exclamation_marks", 2.0),
        ("currency_marks", 1.0),
        ("quoted_share", 1 / 2),
        ("html_tags", 0.0),
        ("html_comments", None),
        ("visible_html_share", None),
    ],
)
def test_a_plain_message_is_measured(name: str, value: float | None) -> None:
    assert features(PLAIN)[name] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("images", 1.0),
        ("html_comments", 1.0),
        ("disagreeing_links", 1.0),
        ("delay", None),
        ("subject_length", None),
        ("recipients", 0.0),
        ("foreign_message_id", None),
    ],
)
def test_an_html_message_is_measured(name: str, value: float | None) -> None:
    assert features(HTML)[name] == value


def test_text_that_nobody_sees_is_a_share_of_all_text() -> None:
    share = features(HTML)["hidden_text_share"]
    assert share is not None
    assert 0.2 < share < 0.8
    assert features(HTML.replace(b"display:none", b"color:#000001"))["hidden_text_share"] == 0.0


def test_capitals_of_every_script_count() -> None:
    mail = "Subject: x\nContent-Type: text/plain; charset=utf-8\n\nПРИвет ABcd 中文\n".encode()
    assert features(mail)["capital_share"] == 5 / 12


def test_an_attachment_is_counted_with_its_decoded_size() -> None:
    mail = (
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nhi there\n"
        b"--b\nContent-Type: application/zip\nContent-Disposition: attachment; filename=a.zip\n"
        b"Content-Transfer-Encoding: base64\n\nAAECAwQF\n--b--\n"
    )
    found = features(mail)
    assert (found["attachments"], found["attachment_bytes"], found["parts"]) == (1.0, 6.0, 2.0)


def check(data: bytes) -> None:
    for name, value in features(data).items():
        assert value is None or math.isfinite(value), name
        if "share" in name and value is not None and name != "visible_html_share":
            assert 0 <= value <= 1, name


@settings(deadline=None, max_examples=200)
@given(
    st.binary(max_size=400),
    st.sampled_from([b"", b"Content-Type: text/html\n\n<a href=", b"Date: ", b"From: @\n\n"]),
)
def test_no_bytes_make_a_feature_fail_or_infinite(tail: bytes, head: bytes) -> None:
    check(head + tail)


def test_the_empty_message_has_features() -> None:
    check(b"")
