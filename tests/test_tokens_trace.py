"""Claims about the trace fields of today's mail: networks of IPv6, and which check had which result."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv6Address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.tokens import tokenize
from nbspam.tokens.trace import MAX_NETWORKS, MAX_RESULTS, address_tokens, networks, results
from nbspam.tokens.urls import host_of, url_tokens

ADDRESS = "2001:db8:1c:20:0:0:0:12a"
NETWORKS = [ADDRESS, "2001:db8:1c:20", "2001:db8:1c", "2001:db8"]


def header(*fields: str) -> list[str]:
    return tokenize(parse("\n".join([*fields, "", "text"]).encode())).header


@given(st.integers(0, 2**128 - 1))
@example(0)
@example(1)
def test_an_address_is_the_same_however_it_is_written(number: int) -> None:
    address = IPv6Address(number)
    if address.ipv4_mapped:
        wanted = str(address.ipv4_mapped)
    else:
        wanted = ":".join(group.lstrip("0") or "0" for group in address.exploded.split(":"))
    for written in (address.compressed, address.exploded, address.compressed.upper()):
        assert networks(f"from x ([IPv6:{written}])")[0] == wanted


@given(st.text("0123456789abcdefg:.", max_size=24))
@example("1:2:3:4:5:6:7:8:9")
@example("1::2::3")
@example("::192.0.2.256")
@example("1::2\0")
@example("1::2\ud800")
def test_what_is_no_address_gives_nothing(text: str) -> None:
    try:
        IPv6Address(text)
    except AddressValueError:
        assert address_tokens(text) == []
    else:
        assert address_tokens(text)


@pytest.mark.parametrize(
    "written",
    [
        *("[IPv6:2001:db8:1c:20::12a]", "[2001:DB8:1c:20::12a]", "(2001:db8:1c:20::12a)"),
        *(
            "<2001:db8:1c:20::12a>",
            "{2001:db8:1c:20::12a}",
            "ip=2001:db8:1c:20::12a,",
            "'2001:db8:1c:20::12a'",
        ),
        *(
            '"2001:db8:1c:20::12a"',
            "2001:db8:1c:20::12a/64",
            "2001:db8:1c:20::12a%1.",
            "(2001:db8:1c:20::12a.)",
        ),
    ],
)
def test_a_hop_is_known_by_its_networks(written: str) -> None:
    found = header(
        f"Received: from lake.example (lake.example {written}) by mx; Sat, 21 Nov 2026 10:00:00 +0000"
    )
    assert found[-4:] == ["received:" + network for network in NETWORKS]


def test_two_machines_of_one_customer_share_the_networks_above_them() -> None:
    first, second = (set(header(f"X-Originating-IP: [2001:db8:1c:{n}::1]")) for n in (7, 8))
    assert first & second == {
        "field:x-originating-ip",
        "x-originating-ip:2001:db8:1c",
        "x-originating-ip:2001:db8",
    }


@pytest.mark.parametrize(
    "field",
    [
        "Received: from a.example by b.example with SMTP at 10:20:30, 11:20:30, 12:20:30 and 13:20:30; later",
        "Received: from mail (Mail::Internet 00:11:22:33:44:55, 1:2:3) by b.example; later",
        "Subject: 2001:db8:1c:20::12a",
    ],
)
def test_times_and_names_with_colons_are_no_addresses(field: str) -> None:
    assert not [token for token in header(field) if token.count(":") > 1]


def test_a_mapped_address_is_one_of_ipv4() -> None:
    assert address_tokens("::ffff:192.0.2.7") == ["192.0.2.7", "192.0.2", "192.0"]


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("http://[2001:db8:1c:20::12a]/pay", []),
        ("http://[2001:DB8:1c:20::12A]:8080/pay", ["url=port:8080"]),
    ],
)
def test_a_link_to_an_address_is_known_by_its_networks(url: str, port: list[str]) -> None:
    wanted = [*port, *["url=" + network for network in NETWORKS], "url=#ip", "url=/pay"]
    assert [token for token in url_tokens(url) if token != "url=http"] == wanted
    assert host_of(url) == "2001:db8:1c:20::12a"
    of_text = tokenize(parse(f"\n\nlook ({url}) there".encode()))
    assert of_text.body == ["look", "there"]
    assert of_text.structure[-len(wanted) :] == wanted


def test_brackets_around_anything_else_end_a_link() -> None:
    found = tokenize(parse(b"\n\nhttp://[removed]/page"))
    assert found.body == ["removed", "page"]


RESULTS = (
    "mx.example; spf=fail (not allowed) smtp.mailfrom=a.example; dkim=none header.i=@a; dmarc=fail(p=REJECT)"
)


@pytest.mark.parametrize("name", ["Authentication-Results", "ARC-Authentication-Results"])
def test_a_result_is_told_with_its_check(name: str) -> None:
    found = header("From: ann@lake.example", f"{name}: {RESULTS}")
    wanted = ["spf=fail", "dkim=none", "dmarc=fail", "p=reject"]
    assert found[-4:] == [f"{name.lower()}:{result}" for result in wanted]


def test_a_hostile_field_is_read_within_bounds() -> None:
    assert len(networks(" ".join(f"2001:db8::{n:x}" for n in range(9999)))) == MAX_NETWORKS
    assert len(results("; ".join(["dkim=pass"] * 9999))) == MAX_RESULTS
    assert results(f"{'x' * 99}=pass; spf={'x' * 99}; =; a=; =b; a=1") == []
