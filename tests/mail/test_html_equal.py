"""The compiled core reads any page as Python does."""

from html.entities import html5
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

# The words that readers know, and some more; `|` is a space.  Each is read in all places where it may count.
ELEMENTS = (
    "a abbr audio b big button cite code datalist del dfn em font i ins label map mark meter nobr noscript "
    "object progress q rp s small span strike strong sub sup svg template time tt u video bdo address "
    "article aside blockquote body caption center dd details dialog dir div dl dt fieldset figure footer "
    "form h1 h2 h3 h4 h5 h6 header html legend li main menu nav ol optgroup option p pre section select "
    "summary table tbody td tfoot th thead tr ul br frame hr input iframe noembed noframes plaintext script "
    "style textarea title xmp base desc metadata defs symbol text tspan g wbr img area meta link head ruby "
    "canvas o:p"
)
ATTRIBUTES = (
    "action=f alt=a background=b bgcolor=#fff cite=x class=quote class=h color=#fff dir=rtl dy=1 "
    "formaction=f href=h id=h open placeholder=p size=+1 size=x src=s text=#fff value=v value x=1 "
    "xlink:href=h y=1 content=url=r http-equiv=refresh|content=1;url=r display=none visibility=hidden "
    "opacity=0 font-size=1px xy\u212a=1 bac\u212aground=b"
)
DECLARATIONS = (
    "{0}:{1}",
    "overflow:hidden;{0}:{1}",
    "height:0;{0}:{1}",
    "direction:rtl;unicode-bidi:x-override;{0}:{1}",
)
PROPERTIES = (
    "color background background-color background-image font-size font overflow overflow-y text-indent "
    "opacity unicode-bidi direction display visibility height max-height width max-width line-height"
)
VALUES = (
    "none block inline table flex grid hidden visible collapse scroll auto small medium large initial "
    "inherit rtl ltr bidi-override embed 0 1 2 2.1 -1 -399 -400 .1 .11 10% 11% 1_0% 1__0 _1 1e0 1e999 +1 "
    "\u0661 0px 1|px 1px|a 0/0|a 1|2|2px 1|2|3|4|5|6|0px 400|1px/2|a nan inf nan|px -inf|px url(x) "
    "url(x)|white white|url(x) gradient(#fff) gradient(rgb(1,2,3)) #fff #ffff #fff1 #fff2 #ffffff #ffffff19 "
    "#ffffff1a #ff #fffff #ggg fff ffffff black silver gray grey white maroon red purple fuchsia green lime "
    "olive yellow navy blue teal aqua azure floralwhite ghostwhite ivory snow whitesmoke transparent tomato "
    "rgb(1,2,3) rgb(0.5|1.5|2.5) rgba(1,2,3,.1) rgb(1|2|3/11%) rgb(9%,99%,999%) rgb(1,2) rgb|a(1,2,3) "
    "rgb(1,2,none) rgb(1,2,3,none) hsl(9,9%,9%) hsla(.1turn|9|99|/|1) lab(1,2,3)"
)
INPUTS = "hidden checkbox radio password image file text TEXT"
UNITS = "px pt em rem % in cm pc mm ex ch vw vh q"
MEDIA = "print max-width max-device-width dark not| supports keyframes layer screen print,screen"
ONLY_NUMERIC = ("hidden", "tags", "colours")  # what only numeric features are made of; the core leaves it out
BASES = "http://h/p/q https://h HTTP://h/p/?q/ ftp:///h/p#/q //h/ x://h/ http:h /p javascript://h"
ADDRESSES = "x /x //x ?x #x a:x \u00e9:x 1:x \\x \\\\x"


def dump(page: Html) -> dict[str, Any]:
    """All fields that tokens are made of, as the core gives them."""
    fields = {name: getattr(page, name) for name in vars(Html) if not name.startswith("_")} | vars(page)
    return {name: value for name, value in fields.items() if name not in ONLY_NUMERIC}


def check(source: str) -> None:
    assert compiled.read_html_for_test(source) == dump(read_html(source))


@settings(max_examples=300)
@given(st.lists(BROKEN | TREES, max_size=4).map("".join))
@example("a<!-- b --> c --!> d<?e> f --!> g<!--!> h-->i")
@example("<img alt='a\f\tb\x1cc'\falt=d>")
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


@pytest.mark.parametrize("element", ELEMENTS.split())
def test_any_element_is_read_alike(element: str) -> None:
    for other in ELEMENTS.split():
        check(f"<{other} style=color:#fff>a<{element}>b</{other}>c</{element}>d<p>e</p>f")
    for attribute in ATTRIBUTES.split():
        tag = f"<{element} {attribute.replace('|', ' ')}>"
        check(f"a{tag}b\nc</{element}>d{tag.upper()}<p>e")
        check(f"<u style=color:#fff>{tag}a")
        check(f"<svg>a{tag}b</{element}>c<g>d</svg>e")
    for kind in INPUTS.split():
        check(f"a<{element} type={kind} value=b placeholder=c>d")


@pytest.mark.parametrize("name", PROPERTIES.split())
def test_any_declaration_is_read_alike(name: str) -> None:
    for value in VALUES.split():
        for declaration in DECLARATIONS:
            style = declaration.format(name, value.replace("|", " "))
            for element in ("p", "b", "td", "a href=x"):
                check(f"<td bgcolor=#010101>a<{element} style='{style}'>b\nc</{element[:2]}>d")
            check(f"<style>p{{{style}}} .h b{{{style}!important}}</style><p class=h>a<b style={style}>b</p>c")


def test_any_value_of_an_attribute_is_read_alike() -> None:
    for value in VALUES.split():
        value = value.replace("|", " ")
        check(f"<td bgcolor='{value}'>a<font color='{value}'>b<font size='{value}'>c<body text='{value}'>d")


@pytest.mark.parametrize("unit", ["", *UNITS.split()])
def test_numbers_are_too_small_alike(unit: str) -> None:
    for style in ("font-size:", "opacity:", "text-indent:-", "overflow:hidden;width:"):
        check("".join(f"<p style='{style}{0.02 * 1.02**n:.4f}{unit}'>{n}</p>" for n in range(520)))


def test_near_colours_are_told_apart_alike() -> None:
    for colour in ("#{:02x}8080", "#80{:02x}80", "#8080{:02x}"):
        cells = (f"<td bgcolor=#808080><font color={colour.format(n)}>{n}</td>" for n in range(256))
        check("<table>" + "".join(cells))


def test_all_references_are_read_alike() -> None:
    numbers = [f"#{n}" for n in [*range(400), 0xD800, 0xDFFF, 0xFFFD, 0x10FFFF, 0x110000, 10**7, 10**8]]
    for name in [*html5, *numbers, *[number.replace("#", "#x0") for number in numbers], "nosuch;", "#x", ""]:
        check(
            f"&{name} &{name[:-1]}x<img alt='&{name}' src='&{name}=' href=&{name}><p a=&{name};>&{name};</p>"
        )


def test_media_and_bases_are_read_alike() -> None:
    for medium in MEDIA.split():
        rule = "p{color:#fff}"
        medium = medium.replace("|", " ")
        check(f"<style media='{medium}'>{rule}</style><p>a<style>@media {medium}{{{rule}}}</style><p>b")
    for base in BASES.split():
        check(f"<base href={base}>" + "".join(f"<a href='{address}'>a</a>" for address in ADDRESSES.split()))
