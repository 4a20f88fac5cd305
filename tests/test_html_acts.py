"""Claims about what a page does in a browser, and from where it takes what it shows."""

from __future__ import annotations

import base64

import pytest

from nbspam.mail.html.acts import MAX_KEPT
from nbspam.mail.html.reader import read_html

ACTS = [
    ("a picture that is there", "<img src=a.png onload='go(1)'>", ["go(1)"]),
    ("a picture that is not", '<img src="x" onerror="go(&quot;1&quot;)">', ['go("1")']),
    ("an SVG", "<svg xmlns='http://www.w3.org/2000/svg' onload='go()'>", ["go()"]),
    ("a page", '<BODY ONLOAD="go()">', ["go()"]),
    ("a page that is shown again", "<body onpageshow=go()>", ["go()"]),
    ("a click", "<p onclick=go()>", ["go()"]),
    ("a form", '<form action="https://lake.example/" onsubmit="go()">', ["go()"]),
    ("what moves", "<svg><animate onbegin='go()'/>", ["go()"]),
    ("what unfolds", "<details open ontoggle=go()>", ["go()"]),
    ("two", "<img onload=a() onerror=b()>", ["a()\nb()"]),
    ("a page in a frame", "<iframe srcdoc='&lt;b&gt;red&lt;/b&gt;'>", ["<b>red</b>"]),
    ("a link", "<a href='JavaScript:go(%221%22)'>", ['go("1")']),
    ("a link to a page in itself", "<a href='data:text/html,%3Cb%3Ered'>", ["<b>red"]),
    ("a page in base64", "<iframe src='data:text/html;base64,PGI+'>", ["PGI+"]),
    ("a script in itself", "<script src='data:,go()'></script>", ["go()", ""]),
    ("a script in itself, of a drawing", "<svg><script href='data:,go()'/></svg>", ["go()"]),
    ("the same, the older way", "<svg><script xlink:href='data:;base64,Z28o'></script></svg>", ["", "Z28o"]),
    ("a link that is set", "<svg><a><set attributeName=href to='javascript:go()'/></a></svg>", ["go()"]),
    ("a picture in itself", "<img src='data:image/png;base64,iVBO'>", []),
    ("a picture in itself, in capitals", "<img src='DATA: IMAGE/PNG;base64,iVBO'>", []),
    ("a link behind controls", "<a href='&#1;&#31; java\nscript:go()&#2;'>", ["go()"]),
    ("a page with commas", "<a href='data:text/html,red,green,blue'>", ["red,green,blue"]),
    ("an address in a script", "<p onclick='go(\"?a=1&copy=2\")'>", ['go("?a=1&copy=2")']),
    ("an SVG in itself", "<object data='data:image/svg+xml,%3Csvg%3E'>", ["<svg>"]),
    ("what is no handler", "<p once=1 on=2 onwards=3>", []),
]


@pytest.mark.parametrize(("what", "page", "scripts"), ACTS, ids=[row[0] for row in ACTS])
def test_what_a_tag_does_is_a_script_of_the_page(what: str, page: str, scripts: list[str]) -> None:
    assert sorted(read_html(page).scripts) == sorted(scripts)
    sheet = f"<style>p, img:hover, b p {{color: red}}</style>{page}"
    assert sorted(read_html(sheet).scripts) == sorted(scripts)


LETTERS = "aHR0cHM6Ly9sYWtlLmV4YW1wbGUv"  # https://lake.example/
KEPT = [
    ("data", f'<p data-u="{LETTERS}">'),
    ("data of a tag on two lines", f"<P id=p\nDATA-U='{LETTERS}'\n>"),
    ("a hidden field", f'<input type="hidden" value="{LETTERS}">'),
    ("a hidden field without quotes", f"<input type=hidden VALUE={LETTERS}>"),
]


@pytest.mark.parametrize(("what", "tag"), KEPT, ids=[row[0] for row in KEPT])
def test_what_a_page_keeps_for_its_scripts_is_read_with_them(what: str, tag: str) -> None:
    assert read_html(f"{tag}<script>go(p.u)</script>").scripts == ["go(p.u)", LETTERS]
    assert read_html(tag).scripts == []


@pytest.mark.parametrize(
    "tag",
    [
        f"<p data-u={LETTERS[:23]}>",
        f"<p class={LETTERS}>",
        f"<p>data-u={LETTERS}",
        f"<input value={LETTERS}>",
        "<p data-page=https://lake.example/of-many-words>",
        "<p data-u=" + "\u0430" * 24 + ">",
    ],
)
def test_what_is_no_base64_or_not_kept_for_scripts_is_none_of_them(tag: str) -> None:
    assert read_html(f"{tag}<script>go()</script>").scripts == ["go()"]


def test_a_script_finds_so_many_values_and_no_more() -> None:
    page = "<script>go()</script>" + f"<p data-u={LETTERS}>" * (MAX_KEPT + 1)
    assert len(read_html(page).scripts) == 1 + MAX_KEPT


SOURCES = [
    ('<object data="https://lake.example/a"></object>', ["https://lake.example/a"]),
    ("<img srcset='https://lake.example/a 1x, https://hill.example/b 2x'>", ["https://lake.example/a"]),
    ("<picture><source srcset='https://lake.example/a'></picture>", ["https://lake.example/a"]),
    ("<img src=b srcset='https://lake.example/a 1x'>", ["b"]),
    ("<img srcset=''>", []),
    ("<svg><image xlink:href='https://lake.example/a'/></svg>", ["https://lake.example/a"]),
    ("<svg><image href='https://lake.example/a'/></svg>", ["https://lake.example/a"]),
    ("<svg><script href='https://lake.example/a'/></svg>", ["https://lake.example/a"]),
    ("<svg><script xlink:href='https://lake.example/a'/></svg>", ["https://lake.example/a"]),
    ("<video poster='https://lake.example/a'></video>", ["https://lake.example/a"]),
    (
        "<video src='https://lake.example/a' poster='https://hill.example/b'></video>",
        ["https://lake.example/a", "https://hill.example/b"],
    ),
    ("<link rel='stylesheet' href='https://lake.example/a'>", ["https://lake.example/a"]),
    ("<LINK REL='Alternate StyleSheet' HREF='https://lake.example/a'>", ["https://lake.example/a"]),
    ("<link rel=icon href='https://lake.example/a'>", []),
    ("<link rel=stylesheet>", []),
    ("<image src='https://lake.example/a'>", ["https://lake.example/a"]),
]


@pytest.mark.parametrize(("page", "images"), SOURCES)
def test_pictures_are_taken_from_every_place_that_browsers_know(page: str, images: list[str]) -> None:
    assert read_html(page).images == images


@pytest.mark.parametrize("tag", ["button", "input type=submit"])
def test_a_button_may_send_a_form_elsewhere(tag: str) -> None:
    page = f"<form action='https://lake.example/'><{tag} formaction='https://hill.example/'></form>"
    assert [target for target, _ in read_html(page).links] == [
        "https://lake.example/",
        "https://hill.example/",
    ]


def test_the_page_of_a_frame_that_is_cut_off_is_kept_as_far_as_it_goes() -> None:
    content = base64.b64encode(b"<p>red</p>" * 1_000).decode()
    (kept,) = read_html(f"<iframe src='data:text/html;base64,{content}'></iframe>").scripts
    assert len(kept) > 4_000
    assert content.startswith(kept)


@pytest.mark.parametrize(
    ("tag", "links"),
    [
        ("set attributeName=href to='https://lake.example/'", ["https://lake.example/"]),
        ("set attributeName='xlink:href' to='https://lake.example/'", ["https://lake.example/"]),
        (
            "animate attributeName=href values=' ;https://lake.example/?a=1&amp;b=2;#'",
            ["https://lake.example/?a=1&b=2"],
        ),
        ("animate attributeName=href to='#' values='https://lake.example/'", ["https://lake.example/"]),
        ("animate attributeName=x to='400'", []),
        ("set attributeName=href", []),
    ],
)
def test_a_drawing_may_lead_where_it_sets_the_link_around(tag: str, links: list[str]) -> None:
    html = read_html(f"<svg><a><{tag}/><text>see</text></a></svg>")
    assert [target for target, _ in html.links] == links
