"""What a person sees of a page, what is hidden and where it leads, beyond what golden/html-* show."""

import pytest

from nbspam.mail.html.entities import decode_references
from nbspam.mail.html.reader import read_html
from nbspam.tokens.words import split_words


def words(text: str) -> str:
    return " ".join(text.split())


VISIBLE = [
    ("br in any form separates", "one<br>two<BR/>three</br>four", "one two three four"),
    ("a lone < is text", "3 < 4 and a <3 b", "3 < 4 and a <3 b"),
    ("a tag without end at the end is lost", "end <b", "end"),
    ("an attribute without end is lost with all after it", 'end <a href="x>not <p>seen', "end"),
    ("an end tag of no block is nothing", "a</div>b</td>c</h1>d</form>e", "abcde"),
    ("an end tag of no paragraph makes one", "a</p>b", "a b"),
    ("comment with tags in it", "a<!-- <b>x</b> > -- > <p> -->b", "ab"),
    ("comment that ends wrongly", "a<!-- b <p> --!>c --!> d --> e", "ac --!> d --> e"),
    ("a comment without end hides the rest", "a<!-- b <p> c", "a"),
    ("downlevel-revealed comment", "a <!--[if !mso]><!-->yes<!--<![endif]--> b", "a yes b"),
    ("a sheet ends at its own tag", "<style>p{</styles><p>not seen</style>see", "see"),
    ("textarea shows markup as it is", "<textarea><b>x</b></textarea>", "<b>x</b>"),
    ("> in a quoted attribute", "<img alt='a > b' title=\"<\">text", "text"),
    ("newlines between attributes", '<img\nalt\n=\n"x>y"\n>text', "text"),
    ("NUL is nothing", "Via\0gra<\0b>x", "Viagrax"),
    (
        "details are text to Gmail",
        "<details><summary>one</summary><details>two</details></details>",
        "one two",
    ),
    *[
        (f"{name} in {outer}", f"<{outer}><{name}>see</{name}></{outer}>", "see")
        for outer in ("math", "svg", "select")
        for name in ("noframes", "noembed", "iframe")
    ],
    ("noframes and math", "<noframes>X</noframes><math></math><iframe>X</iframe>see", "see"),
    ("implied body", "<style>body{background:#000}</style><p style=color:white>see", "see"),
    (
        "implied body after a head",
        "<head><style>body{color:#fff}</style></head>X<p style=color:red>see",
        "see",
    ),
]


@pytest.mark.parametrize(("why", "source", "seen"), VISIBLE, ids=[row[0] for row in VISIBLE])
def test_visible_text_is_what_a_person_sees(why: str, source: str, seen: str) -> None:
    assert words(read_html(source).visible) == seen


HIDING = [
    ("display after a comment", '<span style="/* a */display:/**/none">X</span>'),
    ("important before another", '<p style="display:none!important;display:block">X</p>'),
    ("size 0.1em", '<span style="font-size:.1em">X</span>'),
    ("size 10%", '<span style="font-size:10%">X</span>'),
    ("select", "<select style=display:none><option>X<option>X</select>"),
    ("a textarea", "<textarea style=display:none>X</textarea>"),
    ("a template", "<template class=b>X</template>"),
    ("a font without a size", '<p style="font:0/0 a">X</p>'),
    ("a named near white", "<font color=ivory>X</font>"),
    *[
        (f"white as {colour}", f"<p style='color:{colour}'>X</p>")
        for colour in (
            "hsl(0,0%,100%)",
            "hsla(200, 10%, 98%, 1)",
            "hsl(0.5turn 100 100)",
            "rgb(100%,100%,100%)",
            "rgb(255 255 255 / 80%)",
            "#fffe",
            "hsl(120deg 100% 25% / 5%)",
            "rgba(0,0,0,0)",
        )
    ],
    ("white on hsl", "<p style='background:hsl(0 0% 97%);color:white'>X</p>"),
    ("texts of a drawing", "<svg><text style=display:none>X</text><g opacity=0>X</g></svg>"),
    ("what a drawing defines", "<svg><defs><text>X</text></defs></svg>"),
    ("what a drawing says of itself", "<svg><title>X</title><desc>X</desc><metadata>X</metadata></svg>"),
    ("alpha 0 in digits", '<span style="color:#00000000">X</span>'),
    ("background of a cell", "<table><tr><td bgcolor=red><font color=#ff0000>X</font></td></tr></table>"),
    ("background taken away", "<table><td bgcolor=black style='color:#fff;background:none'>X</table>"),
    ("link in the colour of its background", "<a href=x style='color:#ffffff'>X</a>"),
    ("table in a hidden span", "<p><span style=display:none><table><tr><td>X</td></tr></table></span>"),
    ("a list of selectors", "<style>i, u {display:none}</style><u>X</u>"),
    ("a sheet in a comment", "<style><!-- #h { font-size: 0 } --></style><p id=h>X</p>"),
    ("element and class", "<style>p.h{color:#fff}</style><p class=h>X</p>"),
    ("two classes", "<style>.h.i{display:none}</style><p class='i j h'>X</p>"),
    ("ancestors", "<style>.a .b{display:none}</style><div class=a><i><p class=b>X</p></i></div>"),
    ("a child", "<style>.a>p{display:none}</style><div class=a><p>X</p></div>"),
    ("a child of a child", "<style>div > .a > p{display:none}</style><div><i class=a><p>X</p></i></div>"),
    ("a child of two marks", "<style>div.a>p{display:none}</style><div class=a><p>X</p></div>"),
    ("a child of anything", "<style>*>b{display:none}</style><div><b>X</b></div>"),
    ("a child between two others", "<style>.a>b{display:none}</style><i class=a><u></u><b>X</b></i>"),
    ("display before one that is none", '<p style="display:none;display:foo">X</p>'),
    ("display before an empty one", '<p style="display:none;display:">X</p>'),
    ("visibility before one that is none", '<p style="visibility:hidden;visibility:foo">X</p>'),
    ("overflow before one that is none", '<p style="overflow:hidden;height:0;overflow:foo">X</p>'),
    ("after an import", "<style>@import url(x.css); .h{display:none}</style><p class=h>X</p>"),
    ("with comments", "<style>/*{*/.h/*}*/{display:none}</style><p class=h>X</p>"),
    ("important", "<style>.h{display:none!important}</style><p class=h style='display:block'>X</p>"),
    ("id above class", "<style>#a{display:none}.b{display:block}</style><p class=b id=a>X</p>"),
]


@pytest.mark.parametrize(("why", "source"), HIDING, ids=[row[0] for row in HIDING])
def test_style_hides_text(why: str, source: str) -> None:
    html = read_html("before " + source + " after")
    assert words(html.visible) == "before after"
    assert "X" in html.hidden


SHOWN = [
    ("light grey that can be read", "<font color=#cccccc>X</font>"),
    ("white on a dark page", "<body bgcolor=black text=white>X"),
    ("white on a colour of another name", "<p style='background:tomato;color:white'>X</p>"),
    ("white on a picture", "<table><tr><td background=x.gif><font color=white>X</font></td></tr></table>"),
    ("white on a picture of a style", "<p style='background-image:url(x.gif);color:white'>X</p>"),
    ("white on a gradient", '<p style="background:linear-gradient(red,blue);color:white">X</p>'),
    ("a link has its own colour", "<font color=white><a href=x>X</a></font>"),
    ("size undone by a font", "<p style=font-size:0><font size=7>X</font></p>"),
    ("display of no meaning", '<p style="display:none!x">X</p>'),
    ("a comment in a word", "<p style='dis/**/play:none;display:no/**/ne'>X</p>"),
    ("cut off, with room", '<p style="overflow:hidden;height:100px">X</p>'),
    ("height of a line", "<span style='height:0;overflow:hidden'>X</span>"),
    ("the second of two attributes", '<p style="color:red" style="display:none">X</p>'),
    ("size undone by a shorthand", "<p style=font-size:0><b style='font:700 12px/1.5 Arial'>X</b></p>"),
    ("size undone by a share of the window", "<p style=font-size:0><b style=font-size:5vw>X</b></p>"),
    *[(f"content of {name}", f"<{name} class=b>X</{name}>") for name in ("video", "meter", "dialog")],
    ("a scale", "<p style='transform:scale(0)'>X</p>"),
    ("an attribute that Gmail and Outlook ignore", "<p hidden>X</p>"),
    ("a place off the screen", "<p style='position:absolute;left:-9999px;top:-9999px'>X</p>"),
    ("a margin off the screen", "<p style='margin-left:-9999px'>X</p>"),
    ("a colour of a hue", "<p style='color:hsl(120 100% 25%)'>X</p>"),
    ("an element of no drawing", "<metadata>X</metadata>"),
    ("a child of a child", "<style>.a>b{display:none}</style><div class=a><p><b>X</b></p></div>"),
    ("a child of a child without a look", "<style>p>b{display:none}</style><p><i><b>X</b></i></p>"),
    ("displays that end a hiding", '<p style="display:none;display:table-cell">X</p>'),
    ("words of display", '<p style="display:none;display:inline flow-root">X</p>'),
    ("a page after a drawing without end", "<svg><p><desc>X</desc>"),
    *[
        (f"sheet, {why}", f"<style>{sheet}</style><p class=h>X</p>")
        for why, sheet in [
            ("dark screens", "@media (prefers-color-scheme:dark){.h{display:none}}"),
            ("inside of another", ".i .h{display:none}"),
            ("what is inside", ".h b{display:none}"),
            ("children of another", ".i>.h{display:none}"),
            ("nothing's child", ">.h{display:none}"),
            ("a parent of nothing", ".h>{display:none}"),
            ("a state", ".h:hover{display:none}"),
        ]
    ],
    ("a sheet for print", "<style media=print>.h{display:none}</style><p class=h>X</p>"),
    ("a sheet for Outlook", "<!--[if mso]><style>.h{display:none}</style><![endif]--><p class=h>X</p>"),
]


@pytest.mark.parametrize(("why", "source"), SHOWN, ids=[row[0] for row in SHOWN])
def test_readable_text_is_visible(why: str, source: str) -> None:
    html = read_html("before " + source)
    assert words(html.visible) == "before X"
    assert html.hidden.strip() == ""


ENDS = [
    ("its end tag", "<span style=display:none>X</span>Y"),
    ("the end of the paragraph", "<p><span style=display:none>X</p>Y"),
    ("the next paragraph", "<p style=display:none>X<p>Y"),
    ("a block in the paragraph", "<p style=display:none>X<div>Y</div>"),
    ("the end of the cell", "<table><tr><td><font color=white>X</td><td>Y</td></tr></table>"),
    ("the next row", "<table><tr><td style=display:none>X<tr><td>Y</table>"),
    ("the next item", "<ul><li style=display:none>X<li>Y</ul>"),
    ("its end inside a block", "<font color=white><p>X</font>Y</p>"),
    ("the end of the one inside, not before", "<div style=display:none><div></div>X</div>Y"),
]

LASTS = [
    ("an end tag of another", "<span style=display:none>X</b>Y"),
    ("an end tag that does not leave its cell", "<div style=display:none><table><td>X</div>Y"),
    ("the end of the page", "<body style=display:none>X</body></html>Y"),
]


@pytest.mark.parametrize(("why", "source"), ENDS + LASTS, ids=[row[0] for row in ENDS + LASTS])
def test_hiding_ends_where_a_browser_ends_it(why: str, source: str) -> None:
    html = read_html(source)
    expected = ("", "XY") if (why, source) in LASTS else ("Y", "X")
    assert (words(html.visible), words(html.hidden).replace(" ", "")) == expected


def test_words_split_by_markup_that_shows_nothing_are_counted() -> None:
    for source in (
        "Vi<!-- x --><!-- y -->agra",
        "V<b><i></i></b>iagra",
        "V<p style='display:none'>x</p>iagra",
    ):
        assert read_html(source).joined == 1
    for source in ("<b>V</b>iagra", "Via <!-- x -->gra", "Via<!-- x --><p>gra"):
        assert read_html(source).joined == 0


LINKS = [
    ("a link without end", "<a href=x>one<p><a href=y>two", [("x", "one"), ("y", "two")]),
    ("an anchor ends a link", "<a href=x>one<a name=y>two", [("x", "one")]),
    ("a hidden link", "<p style=display:none><a href=x>X</a></p>", [("x", "")]),
    ("a drawing of Outlook", "<v:rect href=x>", [("x", "")]),
    ("a link in a drawing", "<svg><a xlink:href=x><text>one</text></a></svg>", [("x", "one")]),
    ("a refresh of the same page", "<meta http-equiv=refresh content=5>", []),
]


@pytest.mark.parametrize(("why", "source", "links"), LINKS, ids=[row[0] for row in LINKS])
def test_links_are_found_with_their_texts(why: str, source: str, links: list[tuple[str, str]]) -> None:
    assert read_html(source).links == links


DRAWN = [
    ("<text>Invoice</text><text>overdue</text>", "Invoice overdue"),
    ("<text><tspan x=1>Invoice</tspan><tspan x=1 dy=9>overdue</tspan></text>", "Invoice overdue"),
    ("<text>over<tspan fill=red>due</tspan></text>", "overdue"),
    ("<g><text>Invoice</text></g>overdue", "Invoice overdue"),
]


@pytest.mark.parametrize(("drawing", "seen"), DRAWN)
def test_each_text_of_a_drawing_stands_by_itself(drawing: str, seen: str) -> None:
    assert words(read_html(f"<svg>{drawing}</svg>").visible) == seen
    assert words(read_html("over<text>due</text>").visible) == "overdue"


TURNED = [
    "<bdo dir=rtl>eerf</bdo>",
    "<bdo dir=RTL>ee<b>rf</b></bdo>",
    "<p style='unicode-bidi:bidi-override;direction:rtl'>eerf</p>",
    "<style>.a{unicode-bidi:isolate-override}</style><div dir=rtl><b class=a>eerf</b></div>",
    "\u202eeerf\u202c",
    "\u202eee\u202c\u202erf",
    "\u2067\u202eeerf\u2069",
    "\u2068\u202ee\u202ee\u202crf\u2069",
    "\u202ee\u202ee\u202cr\u2069\u202bf\u202c\u202c",
]


@pytest.mark.parametrize("source", TURNED)
def test_text_that_is_turned_round_is_read_as_it_is_seen(source: str) -> None:
    found = split_words(read_html(f"swan {source} <p>heron").visible, 9)
    assert found == ["swan", "free", "heron"]


def test_turned_text_goes_on_over_the_lines_of_its_source() -> None:
    assert split_words(read_html("<bdo dir=rtl>sllip\neerf</bdo>").visible, 9) == ["free", "pills"]


@pytest.mark.parametrize(
    "source", ["<bdo dir=ltr>X</bdo>", "<p dir=rtl>X</p>", "<p style=direction:rtl>X</p>", "\u200fX \u202aX"]
)
def test_text_with_a_direction_alone_keeps_its_order(source: str) -> None:
    assert split_words(read_html(source.replace("X", "swan \u05e9\u05dc\u05d5\u05dd")).visible, 2) == [
        "swan",
        "\u05e9\u05dc\u05d5\u05dd",
    ]


def test_hebrew_and_arabic_are_read_from_right_to_left_anyway() -> None:
    for word in ("\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627"):
        for source in (f"<bdo dir=rtl>{word}</bdo>", f"\u202e{word}"):
            assert split_words(read_html(source).visible, 9) == [word]


BASE = "https://login.bad.example/a/b?c"
BASED = [
    ("/signin", "https://login.bad.example/signin"),
    ("signin", "https://login.bad.example/a/signin"),
    ("?x=1", "https://login.bad.example/a/b?x=1"),
    ("", "https://login.bad.example/a/b"),
    ("//lake.example/x", "https://lake.example/x"),
    ("\\\\lake.example", "https://lake.example"),
    ("http://lake.example/", "http://lake.example/"),
    ("mailto:ida@lake.example", "mailto:ida@lake.example"),
]


@pytest.mark.parametrize(("address", "resolved"), BASED)
def test_addresses_are_resolved_by_the_base(address: str, resolved: str) -> None:
    html = read_html(
        f"<a href='{address}'>x</a><img src='{address}'><base href={BASE}><base href=http://no/>"
    )
    assert (html.links, html.images) == ([(resolved, "x")], [resolved])


def test_forms_and_refreshes_are_resolved_by_the_base() -> None:
    page = (
        "<base href=//bad.example><form action=x><meta http-equiv=refresh content='0;url=y'><p background=z>"
    )
    html = read_html(page)
    assert html.links == [("//bad.example/x", ""), ("//bad.example/y", "")]
    assert html.images == ["//bad.example/z"]


@pytest.mark.parametrize(
    "base", ["", "a/", "/a/", "data:text/html,//b.example/", "javascript://b.example/", "#"]
)
def test_a_base_without_a_host_resolves_nothing(base: str) -> None:
    assert read_html(f"<base href='{base}'><base href=http://no/><a href=x>y").links == [("x", "y")]


def test_references_are_decoded_as_by_browsers() -> None:
    assert decode_references("caf&eacute; &eacute &mdash; &#65;&#x42;&#X43;&#68 &#147;") == "café é — ABCD “"
    assert decode_references("&#0;&#xD800;&#x110000;&#99999999999;") == "\ufffd" * 4
    assert (
        decode_references("AT&T &; &# &#x &nosuch; &ampamp; &notit;") == "AT&T &; &# &#x &nosuch; &amp; ¬it;"
    )
    assert decode_references("?a=1&copy=2&lt3&reg", True) == "?a=1&copy=2&lt3®"


def test_a_selector_that_is_not_understood_hides_nothing() -> None:
    for selector in ("u+#body a", "u~#body a", "u:not(", "a[", "..", "#", ". .", ">"):
        page = f"<style>{selector}{{display:none}}</style><body id=body><p><a href=x>link</a>"
        assert words(read_html(page).visible) == "link"
