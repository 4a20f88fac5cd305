"""Laws on HTML: nothing raises, time is linear, pages are independent; an oracle for honest pages."""

import string
from html.parser import HTMLParser

from hypothesis import example, given
from hypothesis import strategies as st

from nbspam.mail.html.reader import MAX_TAGS, read_html

# The standard library as oracle, on HTML that is well formed and hides nothing.

TEXT = st.text(string.ascii_letters + string.digits + " .,!éж&<>\"'", max_size=12)
NAMES = st.sampled_from(["b", "i", "u", "font", "span", "a", "div", "p", "li", "td", "center", "h1", "em"])
ATTRIBUTE = st.tuples(st.sampled_from(["href", "title", "alt", "width", "class"]), TEXT)
ATTRIBUTES = st.lists(ATTRIBUTE, max_size=3, unique_by=lambda pair: pair[0])


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def element(name: str, attributes: list[tuple[str, str]], inside: list[str]) -> str:
    written = "".join([f' {key}="{escaped(value)}"' for key, value in attributes])
    return f"<{name}{written}>{''.join(inside)}</{name}>"


TREES = st.recursive(
    TEXT.map(escaped) | st.sampled_from(["<br>", "<hr />", "<img src='x'>", "<!-- c -->"]),
    lambda inner: st.builds(element, NAMES, ATTRIBUTES, st.lists(inner, max_size=4)),
    max_leaves=25,
)


class Oracle(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.tags = 0
        self.targets: list[str] = []
        self.feed(text)
        self.close()

    def handle_data(self, data: str) -> None:
        self.seen.append(data)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags += 1
        self.targets += [(value or "").strip() for name, value in attributes if tag == "a" and name == "href"]


@given(TREES)
def test_well_formed_html_reads_as_by_the_standard_library(source: str) -> None:
    oracle = Oracle(source)
    html = read_html(source)
    assert "".join(html.visible.split()) == "".join("".join(oracle.seen).split())
    assert html.tags == oracle.tags
    assert sorted(target for target, _ in html.links) == sorted(oracle.targets)
    assert html.hidden.strip() == ""


@given(TREES, TREES)
def test_a_hidden_division_moves_its_text_and_nothing_else(inside: str, outside: str) -> None:
    html = read_html(f'<div style="display:none"><table><tr><td>{inside}</td></tr></table></div>{outside}')
    assert "".join(html.hidden.split()) == "".join(read_html(inside).visible.split())
    assert "".join(html.visible.split()) == "".join(read_html(outside).visible.split())


# Laws on whatever comes

MARKUP = (
    "< > </ /> <! <!-- --> <!- <? & &# &#x &amp &nbsp; ; \" ' = / \0 - <b </b <p <td <table> </table> <tr> "
    "<a|href= <font|color=white> </font> <span|style='display:none'> </span> <script> </script> <style> "
    "<li> </style> <title> </title> <textarea> </textarea> <body|bgcolor=red> <!doctype|html> <xyz> </xyz> "
    "<details> <summary> <input|value=x> <meta|http-equiv=refresh|content=url= <blockquote|type=cite> "
    '<p|class=a> style="color:#fff hidden white 0 1 a b { } .a * #b > , @media \u00e9 \u200b \u4e2d \u0130'
)
PIECES = st.sampled_from([piece.replace("|", " ") for piece in MARKUP.split(" ")] + list(" \n\t\x0b\x85\xa0"))
BROKEN = st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=60)


@given(BROKEN)
@example("<a b=\"'>'\"<b><!--><textarea></")
def test_broken_html_is_read_and_no_text_is_invented(source: str) -> None:
    html = read_html(source)
    assert len(html.visible) + len(html.hidden) + len(html.title) <= 3 * len(source) + 2
    assert html.joined + html.comments + html.tags + len(html.links) <= 2 * len(source)


PROPERTIES = (
    "color background background-image opacity font-size display visibility position left top width height "
    "overflow text-indent margin-left max-height"
)
VALUES = (
    "0 1 -1px 1e6 50% 9e999 1e9em none red #fff #ff #12345678 #ggg nan inf -0 \u0661 1_0 / \\ ' ! auto "
    "hidden absolute rgb(1,2,3) rgb(9999999999999999,2,3,4) rgb( rgba(\u0661,2,3/0) url(x) url( calc(1px)"
)
STYLES = st.lists(
    st.builds(
        "{}:{}{}".format,
        st.sampled_from(PROPERTIES.split()),
        st.lists(st.sampled_from(VALUES.split()), max_size=3).map(" ".join),
        st.sampled_from(["", "!important", "!", "/*", "/**/"]),
    ),
    max_size=6,
).map(";".join)
SELECTORS = st.lists(st.sampled_from(list("pb*>,.#:[+~&(\\ ") + [".a", "#a", "@media"]), max_size=6)


@given(STYLES, STYLES, SELECTORS.map("".join))
def test_any_style_is_read(first: str, second: str, selector: str) -> None:
    html = read_html(f'<style>{selector}{{{first}}}</style><p class=a>one<b id=a style="{second}">two')
    assert len(html.visible.split()) + len(html.hidden.split()) <= 2


def test_five_thousand_nested_hidden_spans_are_closed_again() -> None:
    html = read_html("<span style=display:none>" * 5_000 + "X" + "</span>" * 5_000 + "Y")
    assert (html.visible, html.hidden) == ("Y", "X")


def test_what_follows_too_many_tags_is_taken_for_text() -> None:
    html = read_html("<b>" * MAX_TAGS + "text <i>and more</i>")
    assert (html.tags, html.visible) == (MAX_TAGS, "text <i>and more</i>")
