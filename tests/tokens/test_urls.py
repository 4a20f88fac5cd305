"""Where a URL begins and ends, and what it says."""

import pytest

from nbspam.tokens.structure import cut_urls, find_host, read_url


def url_tokens(url: str) -> list[str]:
    return [token.removeprefix("url=") for token in read_url(url)[0]]


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see *http://a.example* now", ["http://a.example"]),
        ("_http://a.example/b_ (http://a.example).", ["http://a.example/b", "http://a.example"]),
        ("http://a.example/?u=http://b.example", ["http://a.example/?u=http://b.example"]),
        ("http://a.example/?u=http://", ["http://a.example/?u=http://"]),
        ("no address: //x", []),
    ],
)
def test_addresses_are_cut_out_of_a_text(text: str, urls: list[str]) -> None:
    assert cut_urls(text)[1] == urls


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("HTTP://Me@Lake.example:80?x", "lake.example"),
        ("http://lake.example\\@bank.example/", "lake.example"),
        ("http://lake.example?@bank.example", "lake.example"),
        ("http://lake.example#@bank.example", "lake.example"),
        ("ht\ntp://la\tke.example/", "lake.example"),
        ("https://%6cake%2eexample/x", "lake.example"),
        ("https://\uff4cake\u3002example/x", "lake.example"),
        ("https://lake\uff61example/x", "lake.example"),
        ("https://la\xadke.example/x", "lake.example"),
    ],
)
def test_the_host_is_the_one_that_a_browser_goes_to(url: str, host: str) -> None:
    tokens, found = read_url(url)
    assert found.name == find_host(url) == host
    assert "url=" + host in tokens
    assert not any("bank" in token for token in tokens if "/" not in token)


@pytest.mark.parametrize(
    ("url", "tokens"),
    [
        ("https:lake.example/", ["https", "lake.example", "example"]),
        ("//www.lake.example/x", ["www.lake.example", "lake.example", "example"]),
        ("www.lake.example", ["www.lake.example", "lake.example", "example"]),
        ("http://lake.example/%70ear%20soup/7", ["http", "lake.example", "example", "/pear", "/soup"]),
        ("http://a%20b%00.example", ["http", "#escaped-host", "ab\0.example", "example"]),
        ("http://lake.example/" + "x" * 41, ["http", "lake.example", "example", "skip=x:40"]),
    ],
)
def test_odd_addresses_have_the_tokens_of_plain_ones(url: str, tokens: list[str]) -> None:
    assert url_tokens(url) == tokens


def test_an_address_that_sends_on_to_another_has_the_host_of_both() -> None:
    for path in ("l.php?u=https://www.lake.example/x", "url?q=https%3A%2F%2Fwww.lake.example%2Fx&sa=D"):
        url = f"https://hill.example/{path}"
        assert {"hill.example", "www.lake.example", "lake.example"} <= set(url_tokens(url))
        assert cut_urls(f"See {url}, or <{url}>.")[1] == [url, url]
