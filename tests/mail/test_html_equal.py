"""The compiled core reads any page as Python does."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nbspam import tokens
from nbspam.mail.html.reader import MAX_REACH, MAX_RESOLVED, MAX_SHEETS, MAX_TAGS, read_html
from nbspam.mail.html.styles import MAX_ASKED, MAX_LOOKS, MAX_RULES, MAX_SELECTORS
from nbspam.mail.message import Html
from tests.mail.test_html_laws import BROKEN, SELECTORS, STYLES, TREES

compiled = tokens.find_core()
pytestmark = pytest.mark.skipif(compiled is None, reason=f"{tokens.describe_reader()}: make core builds one")

RULES = st.lists(st.tuples(SELECTORS.map("".join), STYLES), max_size=4)
# One more than a bound allows, and what is not read because of it.
BOUNDS = {
    "tags": "<b>" * MAX_TAGS + "<i>&amp;</i>",
    "open elements": "<p style=display:none>" + "<b>" * MAX_REACH + "</p>text",
    "sheets": "<style>.a{}</style>" * MAX_SHEETS + "<style>p{color:#fff}</style><p>text",
    "rules": "<style>" + "b{color:#fff}" * MAX_RULES + "p{color:#fff}</style><p>text",
    "selectors": "<style>" + "b:a," * MAX_SELECTORS + "p{color:#fff}</style><p>text",
    "marks": f"<style>{''.join(f'.a{n} p{{color:#fff}}' for n in range(MAX_ASKED))}</style>"
    "<div class=a98>one<p>two</div><div class=a99>one<p>two",
    "looks": f"<style>{'p{color:#fff}' * MAX_RULES}</style>"
    + "".join(f"<p id={n}>text" for n in range(MAX_LOOKS // MAX_RULES + 1)),
    "addresses": "<base href=http://a/>" + "<a href=b>c</a><img src=d>" * (MAX_RESOLVED + 1),
    "an address": f"<a href={'é' * 5_000}>",
}


def dump(page: Html) -> dict[str, Any]:
    """All fields, as the core gives them."""
    names = ("visible", "hidden", "title", "tags", "comments", "joined", "quoted", "links", "images", "alts")
    return {**{name: getattr(page, name) for name in names}, "colours": sorted(page.colours)}


def check(source: str) -> None:
    assert compiled.read_html_for_test(source) == dump(read_html(source))


@settings(max_examples=300)
@given(st.lists(BROKEN | TREES, max_size=4).map("".join))
@example("a<!-- b --> c --!> d<?e> f --!> g<!--!> h-->i")
@example("<a b='>'>c<p d=\"\n&copy=1\u212a\">e&NotEqualTilde;&ampx<svg><text>f<tspan y=1>g<title>h")
def test_any_page_is_read_alike(source: str) -> None:
    check(source)


@settings(max_examples=300)
@given(RULES, STYLES, STYLES)
@example([("p", "color:hsl(0,0%,99%)")], "font-size:nan px", "color:rgb(0.5 1_0 2.5)")
def test_any_style_is_read_alike(rules: list[tuple[str, str]], first: str, second: str) -> None:
    sheet = "".join(f"{selector}{{{style}}}" for selector, style in rules)
    check(f'<style>{sheet}</style><p class=a style="{first}">one<td id=a style="{second}">two<b>three')


@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_are_the_same(bound: str) -> None:
    check(BOUNDS[bound])
