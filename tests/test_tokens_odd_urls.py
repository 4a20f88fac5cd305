"""Claims about addresses in disguise: the host is the one that a reader gets to."""

from __future__ import annotations

import time

import pytest

from nbspam.mail import parse
from nbspam.tokens import tokenize
from nbspam.tokens.foreign_hosts import MAX_LABEL
from nbspam.tokens.structure import disagrees
from nbspam.tokens.urls import cut_urls, host_of, url_tokens

HOSTS = [
    ("an escaped dot", "https://lake%2eexample/x", "lake.example"),
    ("an escaped letter", "https://%6cake.example/x", "lake.example"),
    ("an ideographic full stop", "https://lake\u3002example/x", "lake.example"),
    ("letters of full width", "https://\uff4cake\uff0eexample/x", "lake.example"),
    ("a soft hyphen", "https://la\xadke.example/x", "lake.example"),
    ("a zero-width space", "https://la\u200bke.example/x", "lake.example"),
    ("punycode", "https://xn--fn-lka.example/x", "føn.example"),
    ("punycode of another script", "https://XN--E1ADUCJ.xn--p1ai/x", "озеро.рф"),
    ("mathematical letters", "https://\U0001d425ake.example/x", "lake.example"),
    ("hexadecimal numbers", "https://0xc0.0x0.2.7/x", "192.0.2.7"),
    ("octal numbers", "https://0300.0.02.07/x", "192.0.2.7"),
    ("one decimal number", "https://3221225991/x", "192.0.2.7"),
    ("one hexadecimal number", "https://0xC0000207/x", "192.0.2.7"),
    ("three numbers", "https://192.0.519/x", "192.0.2.7"),
]


@pytest.mark.parametrize(("why", "url", "host"), HOSTS, ids=[row[0] for row in HOSTS])
def test_a_host_in_disguise_is_the_one_that_a_browser_goes_to(why: str, url: str, host: str) -> None:
    assert "url=" + host in url_tokens(url)
    assert host_of(url) == host
    assert ("url=#ip" in url_tokens(url)) is host.endswith("7")
    assert ("url=#escaped-host" in url_tokens(url)) is ("%" in url)


@pytest.mark.parametrize(
    "host", ["256.1.1.1", "1.2.3.4.5", "0x.1_0", "08.1.1.1", "4294967296", "lake.1e", "%00a"]
)
def test_a_host_that_is_no_number_of_four_bytes_stays_as_it_is(host: str) -> None:
    assert host_of(f"http://{host}/") == host


@pytest.mark.parametrize(
    "label", ["xn--zzzzzz99999999", "xn--", "xn--lake-", "xn--" + "a" * 70, "xn--la%20ke-9ua"]
)
def test_punycode_that_says_nothing_stays_as_it_is(label: str) -> None:
    assert host_of(f"http://{label}.example/") == label + ".example"


def test_punycode_is_read_as_far_as_a_label_may_be_long() -> None:
    """What is longer no net carries, and reading it takes quadratic time."""
    longest, longer = ("xn--" + ("ø" * size).encode("punycode").decode() for size in (57, 58))
    assert len(longest) == MAX_LABEL
    assert host_of(f"http://{longest}.example/") == "ø" * 57 + ".example"
    assert host_of(f"http://{longer}.example/") == longer + ".example"


def test_a_link_with_its_host_in_punycode_leads_where_it_says() -> None:
    assert not disagrees("https://xn--e1aducj.xn--p1ai/", "озеро.рф")
    assert disagrees("https://xn--e1aducj.xn--p1ai/", "пруд.рф")


FOREIGN = [
    ("See https://føn.example/a?b=1 now", "https://føn.example/a?b=1"),
    ("на http://озеро.рф/вход сейчас", "http://озеро.рф/"),
    ("http://www.süd.example und", "http://www.süd.example"),
    ("http://me@föhn.example:8080/x", "http://me@föhn.example:8080/x"),
    ("http://l\u0430ke.example/x", "http://l\u0430ke.example/x"),
    ("http://fø\u24d0ke.example/x", "http://fø\u24d0ke.example/x"),
    (
        "http://Bcdfgijklmnopqrstuvwyz-0123456789.ø.example ?",
        "http://Bcdfgijklmnopqrstuvwyz-0123456789.ø.example",
    ),
    ("http://озеро.онлайн/x", "http://озеро.онлайн/x"),
    ("http://озеро.xn--p1ai/x", "http://озеро.xn--p1ai/x"),
    ("http://озеро.рфru", "http://"),
    ("http://озеро.я", "http://"),
    ("http://föhn und", "http://f"),
    ("http://湖.中国，谢谢", "http://湖.中国"),
    ("http://湖.jpをご覧", "http://湖.jp"),
    ("http://호수.kr에서", "http://호수.kr"),
    ("请看http://lake.example查看", "http://lake.example"),
    ("http://lⓐke.example/x”", "http://lⓐke.example/x"),
    ("http://lake.example）", "http://lake.example"),
    ("http://lake.example.谢谢", "http://lake.example"),
    ("http://lake.exampleхорошо.", "http://lake.example"),
    ("http://lake.example.Спасибо", "http://lake.example"),
    ("http://lake.example/путь.рф", "http://lake.example/"),
    ("见http://lake.example查看.谢谢", "http://lake.example"),
    ("见http://lake.x查看.谢谢", "http://lake.x"),
    ("http://湖.组织机构，谢谢", "http://湖.组织机构"),
    ("http://湖.谢谢你们的", "http://"),
    ("http://湖.谢谢你们的光临", "http://"),
]


@pytest.mark.parametrize(("text", "url"), FOREIGN)
def test_a_host_beyond_ascii_is_told_from_text_behind_an_address(text: str, url: str) -> None:
    rest, found = cut_urls(text)
    assert found == [url]
    assert rest.split() == text.replace(url, " ", 1).replace(" .", " ").split()


@pytest.mark.parametrize("behind", [".", "..."])
def test_a_full_stop_behind_a_host_beyond_ascii_goes_with_it(behind: str) -> None:
    rest, found = cut_urls(f"на http://озеро.рф{behind} Потом")
    assert (rest.split(), host_of(found[0])) == (["на", "Потом"], "озеро.рф")


def test_a_host_with_letters_of_two_scripts_is_marked() -> None:
    assert "url=#mixed-script" in url_tokens("http://l\u0430ke.example/")
    assert "url=#mixed-script" in url_tokens("http://xn--lke-6cd.example/")
    assert "url=#mixed-script" not in url_tokens("http://xn--e1aducj.xn--p1ai/")


@pytest.mark.parametrize("address", ["//www.lake.example/x", "\\\\www.lake.example/x", "www.lake.example/x"])
def test_an_address_without_scheme_leads_to_a_host(address: str) -> None:
    assert url_tokens(address) == ["url=www.lake.example", "url=lake.example", "url=example"]
    page = f"Content-Type: text/html\n\n<a href={address}>x</a><img src={address}>"
    assert tokenize(parse(page.encode())).structure.count("url=lake.example") == 2


INNER = [
    ("plain", "https://hill.example/l.php?u=https://www.lake.example/x"),
    ("escaped", "https://hill.example/url?q=https%3A%2F%2Fwww.lake.example%2Fx&sa=D"),
    ("escaped twice", "https://hill.example/url?q=https%253A%252F%252Fwww.lake.example%252Fx"),
    ("behind a star", "https://hill.example/a/*http://www.lake.example"),
    ("with more behind it", "https://hill.example/?url=https%3A%2F%2Fwww.lake.example&data=05"),
    ("without scheme", "https://hill.example/translate?sl=auto&u=www.lake.example/a/b.php?c=1"),
    ("without scheme, at the end", "https://hill.example/go?id=1&to=www.lake.example&x=y"),
    ("without scheme, escaped", "https://hill.example/?u=www.lake.example%2Fa"),
    ("in base64", "https://hill.example/ck/a?u=a1aHR0cHM6Ly93d3cubGFrZS5leGFtcGxlL3g&ntb=1"),
    ("in JSON in base64", "https://hill.example/t/eyJ1IjoiaHR0cHM6XC9cL3d3dy5sYWtlLmV4YW1wbGVcL3gifQ/1"),
    ("without scheme, behind slashes", "https://hill.example/url?q=//www.lake.example/x&sa=D"),
    ("a copy of a page", "https://hill.example/amp/s/www.lake.example/x"),
    ("a copy of a page that is not secure", "https://hill.example/amp/www.lake.example/x"),
    ("with hyphens for escapes", "https://hill.example/v2/url?u=https-3A__www.lake.example_x-3Fa-3Db&d=DwM"),
    ("in two", "https://hill.example/?u=https%3A%2F%2Fwood.example%2F%3Fu%3Dhttps%3A%2F%2Fwww.lake.example"),
]


@pytest.mark.parametrize(("how", "url"), INNER, ids=[row[0] for row in INNER])
def test_an_address_that_sends_on_to_another_has_the_host_of_both(how: str, url: str) -> None:
    found = url_tokens(url)
    assert {"url=hill.example", "url=www.lake.example", "url=lake.example"} <= set(found)


@pytest.mark.parametrize(("how", "url"), INNER, ids=[row[0] for row in INNER])
def test_in_plain_text_too_it_is_one_address_and_has_the_host_of_both(how: str, url: str) -> None:
    assert cut_urls(f"See {url}, or <{url}>.")[1] == [url, url]
    found = tokenize(parse(f"Subject: a\n\nSee {url} now\n".encode()))
    assert {"url=hill.example", "url=www.lake.example", "url=lake.example"} <= set(found.structure)
    assert found.body == ["see", "now"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://red--lake-example.translate.goog/x?_x_tr_sl=auto", "red-lake.example"),
        ("https://red--lake-example.cdn.ampproject.org/c/s/red-lake.example/x", "red-lake.example"),
    ],
)
def test_a_host_that_shows_the_pages_of_another_has_the_name_of_both(url: str, host: str) -> None:
    found = url_tokens(url)
    assert {"url=" + host_of(url), "url=" + host, "url=example"} <= set(found)


@pytest.mark.parametrize(
    ("url", "tokens"),
    [
        ("ms-word:ofe|u|https://lake.example/a.doc", ["ms-word", "lake.example", "example"]),
        ("view-source:https://lake.example/", ["view-source", "lake.example", "example"]),
        ("blob:https://lake.example/", ["blob", "lake.example", "example"]),
        ("skype:lake?chat", ["skype"]),
        ("sms:+15550100&body=Help", ["sms"]),
        ("https:lake.example/", ["https", "lake.example", "example"]),
        ("file:lake.example/", ["file", "lake.example", "example"]),
        ("intent://lake.example/", ["intent", "lake.example", "example"]),
        ("-a:lake.example", []),
    ],
)
def test_what_stands_behind_a_scheme_is_a_host_where_a_program_takes_it_for_one(
    url: str, tokens: list[str]
) -> None:
    found = [token for token in url_tokens(url) if not token.startswith("url=/")]
    assert found == ["url=" + token for token in tokens]


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("http://a.example/x,http://b.example/y", ["http://a.example/x,http://b.example/y"]),
        ("http://a.example/x http://b.example/y", ["http://a.example/x", "http://b.example/y"]),
        ("http://a.example/?u=http://", ["http://a.example/?u=http://"]),
        ("http://://a.example", ["http://", "://a.example"]),
    ],
)
def test_an_address_goes_on_behind_the_scheme_of_another(text: str, urls: list[str]) -> None:
    assert cut_urls(text)[1] == urls


@pytest.mark.parametrize(
    "value", ["index.php/a", "1.2/3", "a.b/c", "logo.png", "x.y", "me@a.example/b", ".example/a", "a=b.c=d/"]
)
def test_a_value_that_is_no_host_is_none(value: str) -> None:
    found = url_tokens("https://hill.example/?u=" + value)
    assert found[:3] == ["url=https", "url=hill.example", "url=example"]
    assert [token for token in found[3:] if not token.startswith("url=/")] == []


def test_words_of_a_path_are_read_without_their_escapes() -> None:
    assert url_tokens("https://lake.example/%70ear%20soup/100%/%zz")[3:] == [
        "url=/pear",
        "url=/soup",
        "url=/zz",
    ]


def test_a_host_in_disguise_that_a_link_names_does_not_disagree() -> None:
    assert not disagrees("https://lake%2eexample/", "lake.example")
    assert disagrees("https://lake%2eexample/", "wood.example")


@pytest.mark.parametrize(
    "piece",
    [
        "%25",
        "%",
        "://",
        "aHR0c",
        "://%3a%2f%2f",
        "aHR0cHM6Ly9h",
        "=a.b/",
        "eyJ",
        "eyJodHRwOi8v",
        "-3A__",
        "/amp/s/",
    ],
)
def test_addresses_full_of_escapes_take_linear_time(piece: str) -> None:
    url = "https://lake.example/" + piece * (1_900 // len(piece))
    text = f'<a href="{url}">x</a>' * (1_000_000 // len(url))
    start = time.process_time()
    found = tokenize(parse(b"Content-Type: text/html\n\n" + text.encode())).structure
    assert time.process_time() - start < 5
    assert "url=lake.example" in found
    assert max(map(len, found)) < 170
