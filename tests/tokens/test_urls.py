"""Where a URL begins and ends, and what it says."""

from __future__ import annotations

import time

import pytest

from nbspam.tokens.structure import cut_urls, host_of, read_url


def url_tokens(url: str) -> list[str]:
    return [token.removeprefix("url=") for token in read_url(url)[0]]


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see *http://a.example* now", ["http://a.example"]),
        ("_http://a.example/b_ (http://a.example).", ["http://a.example/b", "http://a.example"]),
        ("http://a.example/x http://b.example/y", ["http://a.example/x", "http://b.example/y"]),
        ("http://a.example/?u=http://b.example", ["http://a.example/?u=http://b.example"]),
        ("http://a.example/?u=http://", ["http://a.example/?u=http://"]),
        ("look (http://[2001:db8::7]/x) there", ["http://[2001:db8::7]/x"]),
        ("http://[removed]/page", ["http://"]),
        ("no address: //x", []),
    ],
)
def test_addresses_are_cut_out_of_a_text(text: str, urls: list[str]) -> None:
    assert cut_urls(text)[1] == urls


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("请访问http://lake.example立即购买", "请访问 立即购买"),
        ("http://lake.example\xa0buy", " \xa0buy"),
        ("http://lake.example\u201d\u2014special", " \u201d\u2014special"),
    ],
)
def test_an_address_ends_before_what_is_not_ascii(text: str, rest: str) -> None:
    assert cut_urls(text) == (rest, ["http://lake.example"])


def test_urls_give_scheme_hosts_port_and_path_words() -> None:
    assert url_tokens("http://me@shop.lake.example:8080/pay/now.php?id=77&x=yes") == [
        *("http", "#user", "port:8080", "shop.lake.example", "lake.example", "example"),
        *("/pay", "/now", "/php", "/id", "/yes"),
    ]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://lake.example/x", "lake.example"),
        ("HTTP://Me@Lake.example:80?x", "lake.example"),
        ("http://lake.example\\@bank.example/", "lake.example"),
        ("http://lake.example?@bank.example", "lake.example"),
        ("http://lake.example#@bank.example", "lake.example"),
        ("ht\ntp://la\tke.example/", "lake.example"),
        ("http://lake.example./", "lake.example"),
        ("https://%6cake%2eexample/x", "lake.example"),
        ("https://\uff4cake\u3002example/x", "lake.example"),
        ("https://la\xadke.example/x", "lake.example"),
        ("https://湖水.example/x", "湖水.example"),
        ("https://lake.example,https://hill.example", "lake.example"),
        ("https://0xc0.0x0.2.7/x", "192.0.2.7"),
        ("https://3221225991/x", "192.0.2.7"),
        ("http://256.1.1.1/", "256.1.1.1"),
        ("http://[2001:DB8::7]:80/", "2001:db8::7"),
    ],
)
def test_the_host_is_the_one_that_a_browser_goes_to(url: str, host: str) -> None:
    tokens, found = read_url(url)
    assert found.name == host_of(url) == host
    assert "url=" + host in tokens
    assert ("url=#ip" in tokens) is host.endswith(("7", "1"))
    assert not any("bank" in token for token in tokens if "/" not in token)


@pytest.mark.parametrize(
    ("url", "tokens"),
    [
        ("mailto:joe@lake.example.?subject=x", ["mailto", "lake.example", "example"]),
        ("cid:part1@lake.example", ["cid"]),
        ("javascript:go()", ["javascript"]),
        ("https:lake.example/", ["https", "lake.example", "example"]),
        ("//www.lake.example/x", ["www.lake.example", "lake.example", "example"]),
        ("www.lake.example", ["www.lake.example", "lake.example", "example"]),
        ("shop/pears.html", ["/shop", "/pears", "/html"]),
        ("http://xn--fn-lka.example/", ["http", "xn--fn-lka.example", "example", "#idn"]),
        ("http://lake.example/%70ear%20soup/7", ["http", "lake.example", "example", "/pear", "/soup"]),
        ("http://a%20b%00.example", ["http", "#escaped-host", "ab\0.example", "example"]),
        ("http://lake.example/" + "x" * 41, ["http", "lake.example", "example", "skip=x:40"]),
        ("", []),
    ],
)
def test_addresses_of_other_kinds(url: str, tokens: list[str]) -> None:
    assert url_tokens(url) == tokens


@pytest.mark.parametrize(
    "url",
    [
        "https://hill.example/l.php?u=https://www.lake.example/x",
        "https://hill.example/url?q=https%3A%2F%2Fwww.lake.example%2Fx&sa=D",
        "https://hill.example/a/*http://www.lake.example",
    ],
)
def test_an_address_that_sends_on_to_another_has_the_host_of_both(url: str) -> None:
    assert {"hill.example", "www.lake.example", "lake.example"} <= set(url_tokens(url))
    assert cut_urls(f"See {url}, or <{url}>.")[1] == [url, url]


@pytest.mark.parametrize("piece", ["%25", "%", "://", "://%3a%2f%2f", "@", ":", "["])
def test_addresses_full_of_marks_take_linear_time(piece: str) -> None:
    url = "https://lake.example/" + piece * (1_900 // len(piece))
    text = f"{url} x " * (1_000_000 // len(url))
    start = time.process_time()
    found = [url_tokens(url) for url in cut_urls(text)[1]]
    assert "lake.example" in found[0]
    assert time.process_time() - start < 5
