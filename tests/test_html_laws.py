"""Laws on HTML: the standard library as oracle where it is well formed, bounds and purity where it is not."""

import os
import string
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import nbspam
from nbspam.mail.html import reader as html_module
from nbspam.mail.html import state as html_state
from nbspam.mail.html.reader import MAX_TAGS, read_html

# The standard library as oracle, on HTML that is well formed and hides nothing.

TEXT = st.text(string.ascii_letters + string.digits + " .,!éж&<>\"'", max_size=12)
ELEMENTS = "b i u font span a div p li td center h1 em code"
NAMES = st.sampled_from(ELEMENTS.split())
ATTRIBUTE = st.tuples(st.sampled_from(["href", "src", "title", "alt", "width", "class"]), TEXT)
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
        self.tags: list[str] = []
        self.targets: list[str] = []
        self.feed(text)
        self.close()

    def handle_data(self, data: str) -> None:
        self.seen.append(data)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            if tag == "a" and name == "href":
                self.targets.append((value or "").strip())


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
    '<p|class=a> style="color:#fff hidden white 0 1 a b \u00e9 \u200b \u4e2d'
)
PIECES = st.sampled_from([piece.replace("|", " ") for piece in MARKUP.split(" ")] + list(" \n\t\x0b\x85\xa0"))
BROKEN = st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=60)


@given(BROKEN)
@example("<a b=\"'>'\"<b><!--><textarea></")
def test_nothing_broken_raises_and_no_text_is_invented(source: str) -> None:
    html = read_html(source)
    assert len(html.visible) + len(html.hidden) + len(html.title) <= 2 * len(source) + 2
    assert html.joined + html.comments + len(html.tags) + len(html.links) <= 2 * len(source)
    assert all(tag == tag.lower() and tag for tag in html.tags)


PROPERTIES = (
    "color background opacity font-size font display visibility position left width height overflow filter "
    "clip clip-path transform mask rotate scale translate inset text-shadow letter-spacing zoom --a contain"
)
FUNCTIONS = (
    "calc min clamp var rgb hsl hwb lab lch oklab color color-mix light-dark linear-gradient inset polygon "
    "rect blur opacity translate matrix scale url"
)
ATOMS = "0 1 -1px 1e6 50% 9e999 none red #fff srgb --a nan + / \\ ' at"
VALUES = st.recursive(
    st.sampled_from(ATOMS.split()),
    lambda inner: st.builds(
        lambda name, values, sign: f"{name}({sign.join(values)})",
        st.sampled_from(FUNCTIONS.split()),
        st.lists(inner, max_size=6),
        st.sampled_from([" ", ",", "/", "*", " in "]),
    ),
    max_leaves=12,
)
STYLES = st.lists(st.builds("{}:{}".format, st.sampled_from(PROPERTIES.split()), VALUES), max_size=6).map(
    ";".join
)


@given(STYLES, STYLES)
@example("opacity:calc()", "color:color(srgb 1 1 1 1 1)")
def test_no_style_raises(first: str, second: str) -> None:
    html = read_html(f'<style>p{{{first}}}</style><p>one<b style="{second}">two')
    assert len(html.visible.split()) + len(html.hidden.split()) <= 2


@given(BROKEN, BROKEN)
def test_what_was_read_before_changes_nothing(first: str, second: str) -> None:
    html_module._remembered.clear()
    cold = read_html(second)
    html_module._remembered.clear()
    read_html(first)
    read_html(second)
    warm = read_html(second)
    for name in cold.__slots__:
        assert getattr(warm, name) == getattr(cold, name)


WHITE_ON_BLACK = "<div style='color:white;background:black'><table bgcolor=white><td>x"
AFTERWARDS = [
    ("a page with a doctype", WHITE_ON_BLACK, "<!doctype html>" + WHITE_ON_BLACK),
    ("a class", "<p class=a>x", "<style>.a{display:none}</style>y<p class=a>x"),
    ("two classes", "<p class='a b'>x", "<style>.a.b{display:none}</style>y<p class='a b'>x"),
    ("an id", "<p id=a>x", "<style>#a{display:none}</style>y<p id=a>x"),
    ("an attribute", "<p title=a>x", "<style>[title]{display:none}</style>y<p title=a>x"),
    ("a link", "<a href=a>x", "<style>:link{display:none}</style>y<a href=a>x"),
    (
        "a variable",
        "<p style='display:var(--a)'>x",
        "<style>:root{--a:none}</style>y<p style='display:var(--a)'>x",
    ),
    ("a class around", "<p class=a><b>x", "<style>.a b{display:none}</style>y<p class=a><b>x"),
]


@pytest.mark.parametrize(("why", "first", "second"), AFTERWARDS, ids=[row[0] for row in AFTERWARDS])
def test_a_page_without_a_sheet_does_not_show_what_another_hides(why: str, first: str, second: str) -> None:
    assert "x" in read_html(first).visible
    html = read_html(second)
    assert ("x" in html.visible, "x" in html.hidden) == (False, True)


def test_states_are_kept_within_bounds() -> None:
    html_state._states.clear()
    colours = [f"{number:06x}" for number in range(0, 1 << 24, 1 << 13)]
    read_html("".join([f"<b style='color:#{colour}'>x" for colour in colours]))
    assert len(colours) > html_state.MAX_STATES >= len(html_state._states) > 1


def test_a_state_remembers_so_many_that_follow_and_no_more() -> None:
    state = html_state.State()
    for colour in range(2 * html_state.MAX_AFTER):
        effect = html_state.Effect()
        effect.colour = colour
        assert state.then(effect).colour == colour
    assert 1 <= len(state.after) <= html_state.MAX_AFTER


@given(
    st.lists(st.sampled_from(["<b>", "</b>", "<p>", "</p>", "<TD>", "<br>", "<!-- -->", "</xyz>", "x", " "]))
)
def test_no_markup_is_left_in_the_text(pieces: list[str]) -> None:
    html = read_html("".join(pieces))
    assert "<" not in html.visible + html.hidden
    assert "".join(html.visible.split()) == "x" * pieces.count("x")


UNITS = (
    '< <!-- & &# &amp " </ <a> <p> <td> </b> <b></i> <xyz> <table> <p><b> <title> <style> <textarea> '
    "<a\" <a/x=' <b><div> </b></div> <? </p></td>"
)
HOSTILE = {
    **{unit: unit for unit in UNITS.split()},
    "unclosed quotes": '<a href="',
    "a > in each quote": '<a b=">"',
    "changing quotes": "<a b='>\"' c=\">'\"",
    "hidden spans": '<span style="display:none">',
    "white fonts": "<font color=white><div></font>",
    "sheets": "<style>.a{display:none}</style><p class=a>",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_read_to_its_end(unit: str) -> None:
    source = unit * (200_000 // len(unit))
    html = read_html(source)
    assert len(html.tags) <= MAX_TAGS
    assert len(html.visible) + len(html.hidden) <= len(source)


def test_a_hundred_thousand_nested_hidden_spans_are_closed_again() -> None:
    html = read_html("<span style=display:none>" * 40_000 + "X" + "</span>" * 40_000 + "Y")
    assert (html.visible, html.hidden) == ("Y", "X")


def test_what_follows_too_many_tags_is_taken_for_text() -> None:
    html = read_html("<b>" * MAX_TAGS + "text <i>and more</i>")
    assert len(html.tags) == MAX_TAGS - 1
    assert html.visible == "<b>text <i>and more</i>"


def test_what_a_comment_holds_is_no_tag_and_does_not_use_them_up() -> None:
    html = read_html("<!--" + "<" * MAX_TAGS + "--><p>seen")
    assert html.visible == "\nseen"


def test_common_html_imports_nothing_heavy() -> None:
    source = '<style>.a{color:red}</style><p class=a style="color:tan">&eacute;&#65;&mdash;<!-- x --> AT&T'
    heavy = {"re", "html", "html.parser", "html.entities", "typing", "collections"}
    room = os.path.dirname(os.path.dirname(nbspam.__file__))
    program = (
        f"import sys; sys.path.insert(0, {room!r}); from nbspam.mail.html.reader import read_html; "
        f"read_html({source!r}); print(sorted({heavy!r} & set(sys.modules)))"
    )
    command = [sys.executable, "-I", "-S", "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
