"""Allowed and denied senders: which names count, what proves them, and what hostile headers cannot do."""

import pytest

from nbspam.labels import ALLOWED, DENIED
from nbspam.senders import fold_address, fold_domain, judge_sender, split_mailboxes

OWN = "mx.home.example"
SENDERS = {
    "ann@example.org": (ALLOWED, 1),
    "shop.example": (ALLOWED, 1),
    "news.shop.example": (DENIED, 0),
    "bob@news.shop.example": (ALLOWED, 1),
    "bad.example": (DENIED, 0),
    "old.example": (ALLOWED, 0),
}
ANN = "From: Ann <ann@example.org>"
DMARC = f"Authentication-Results: {OWN}; dmarc=pass header.from=example.org"


def judge(*lines: str) -> str:
    message = "\r\n".join([*lines, "Subject: x", "", "text"]).encode()
    return judge_sender(
        message, lambda names: {name: SENDERS[name] for name in names if name in SENDERS}, [OWN]
    )[0]


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ("dmarc=pass header.from=example.org", ALLOWED),
        ("dmarc=pass (p=none; dis=none)", ALLOWED),
        ("dkim=pass header.d=example.org header.s=a", ALLOWED),
        (
            "spf=fail smtp.mailfrom=x.example; dkim=fail header.d=x.example; dkim=pass header.d=Example.ORG",
            ALLOWED,
        ),
        ("spf=pass smtp.mailfrom=bounce@example.org", ALLOWED),
        ('dkim=pass reason="good; signature" header.d=example.org', ALLOWED),
        ("dmarc=fail header.from=example.org", ""),
        ("dmarc=pass header.from=other.example", ""),
        ("dkim=pass header.d=org", ""),
        ("dkim=pass header.d=mail.example.org", ""),  # below From's domain, not above it
        ("dkim=pass header.i=@example.org", ""),
        ("dkim=pass header.d=example.org header.d=bad.example", ""),
        ("spf=pass smtp.helo=example.org", ""),
        ("dkim=fail (dmarc=pass) header.d=example.org", ""),
        ('dkim=fail reason="; dmarc=pass"', ""),
        ("dkim=fail (; dmarc=pass", ""),
        ("iprev=pass; auth=pass smtp.auth=ann@example.org", ""),
        ("none", ""),
    ],
)
def test_allowed_sender_counts_if_the_own_server_verified_the_domain(results: str, expected: str) -> None:
    assert judge(f"Authentication-Results: {OWN} 1;\r\n\t{results}", ANN) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([DMARC, "Received: by a", ANN], ALLOWED),
        (["Received: by fetchmail", ANN, DMARC], ALLOWED),
        ([ANN], ""),
        ([DMARC.replace(OWN, "mx.evil.example"), ANN], ""),
        ([DMARC.replace(OWN, "mx.evil.example"), f"Authentication-Results: {OWN}; dmarc=fail", ANN], ""),
        ([f"Authentication-Results: {OWN}; dmarc=fail", DMARC.replace(OWN, "mx.evil.example"), ANN], ""),
        ([f"Authentication-Results: {OWN}; dmarc=fail", DMARC, ANN], ""),
        ([DMARC.replace("dmarc=pass", "\0dmarc=pass"), ANN], ""),
        ([DMARC + " x" * 1_000_000, ANN], ""),
        ([f"X: {DMARC}", ANN], ""),
    ],
)
def test_topmost_results_of_the_own_server_decide(lines: list[str], expected: str) -> None:
    assert judge(*lines) == expected


@pytest.mark.parametrize(
    "value",
    [
        "ann@example.org <eve@evil.example>",
        '"ann@example.org" <eve@evil.example>',
        "eve@evil.example (ann@example.org)",
        "eve@evil.example, ann@example.org",
        "<ann@example.org> eve@evil.example",
        "<ann@example.org> <eve@evil.example>",
        "<eve@evil.example> <ann@example.org>",
        "=?utf-8?q?ann=40example.org?= <eve@evil.example>",
        "=?utf-8?q?=3Cann=40example.org=3E?=",
        "ann@example.org@evil.example",
        "eve@evil.example\0<ann@example.org>",
        "(ann@example.org)",
        '"<ann@example.org>',
        "<ann@example.org> (",
        "ann@example.org" + " " * 1_000_000,
        "",
    ],
)
def test_a_borrowed_name_is_not_allowed(value: str) -> None:
    assert judge(DMARC, f"From: {value}") == ""


def test_two_from_fields_are_not_allowed() -> None:
    assert judge(DMARC, ANN, "From: eve@evil.example") == ""
    assert judge(DMARC, "From: eve@evil.example", "From : ann@example.org") == ""


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("x@shop.example", ALLOWED),
        ("x@mail.shop.example", ALLOWED),
        ("x@news.shop.example", DENIED),
        ("x@a.news.shop.example", DENIED),
        ("bob@news.shop.example", ALLOWED),
        ("x@notshop.example", ""),
        ("x@shop.example.evil.example", ""),
        ("x@old.example", ALLOWED),
    ],
)
def test_address_comes_before_domain_and_longer_before_shorter(address: str, expected: str) -> None:
    results = f"Authentication-Results: {OWN}; dmarc=pass"
    assert judge(results, f"From: {address}") == expected
    assert judge(f"From: {address}") == ("" if expected == ALLOWED and "old" not in address else expected)


@pytest.mark.parametrize(
    "value",
    [
        "x@bad.example",
        "ann@example.org, X <x@BAD.example>",
        "Group: <x@a.bad.example>;",
        "x@bad.example (comment)",
    ],
)
def test_a_message_is_denied_if_one_of_its_senders_is(value: str) -> None:
    assert judge(f"From: {value}") == DENIED


def test_names_are_folded() -> None:
    assert fold_address("Ann@B\u00fccher.Example.") == "ann@xn--bcher-kva.example"
    assert [fold_domain(text) for text in ("org", "a..org", "a b.org", "", "*.org", "a\0.org")] == [""] * 6
    assert split_mailboxes("Friends: Ann <a@b.example>, c@d.example;") == ["a@b.example", "c@d.example"]
