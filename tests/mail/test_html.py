"""What a person sees of a page, what is hidden, where it leads: small pages, each with its reason."""

import pytest

from nbspam.mail.html import read_html
from nbspam.mail.html.entities import decode


def words(text: str) -> str:
    return " ".join(text.split())


VISIBLE = [
    ("plain text", "no markup at all", "no markup at all"),
    ("inline tags join", "<b>Hel</b>lo <i>w<u>or</u></i>ld", "Hello world"),
    ("an empty element joins", "V<b></b>iagra", "Viagra"),
    ("a comment joins", "Vi<!-- x -->agra", "Viagra"),
    ("a tag nobody knows joins", "Viag<xyz>ra", "Viagra"),
    ("an end tag nobody knows joins", "Viag</xyz>ra", "Viagra"),
    ("wbr joins", "Via<wbr>gra", "Viagra"),
    ("a picture joins", "Via<img src=x width=1>gra", "Viagra"),
    ("a block that is not there joins", "V<div style='display:none'>x</div>iagra", "Viagra"),
    ("a block in the line joins", "V<div style='display:inline'>ia</div>gra", "Viagra"),
    ("br separates", "one<br>two<BR/>three</br>four", "one two three four"),
    ("paragraphs separate", "<p>one<p>two</p>three", "one two three"),
    ("divisions separate", "one<div>two</div>three", "one two three"),
    ("a link that is a block separates", "<a style='display:block'>one</a><a>two</a>", "one two"),
    ("cells separate", "<table><tr><td>one<td>two</tr><tr><td>three</table>four", "one two three four"),
    ("items separate", "<ul><li>one<li>two</ul>three", "one two three"),
    ("headings and rules separate", "one<h1>two</h1>three<hr>four", "one two three four"),
    ("options separate", "one<select><option>two<option>three</select>", "one two three"),
    ("a lone < is text", "3 < 4 and a <3 b", "3 < 4 and a <3 b"),
    ("a lone > is text", "4 > 3", "4 > 3"),
    ("< at the end is text", "end <", "end <"),
    ("a tag without end at the end is lost", "end <b", "end"),
    ("an attribute without end is lost with all after it", 'end <a href="x>not <p>seen', "end"),
    ("an empty end tag is nothing", "a</>b", "ab"),
    ("an end tag of no block is nothing", "a</div>b</td>c</h1>d</form>e", "abcde"),
    ("an end tag of no paragraph makes one", "a</p>b", "a b"),
    ("an end tag of no letter is a comment", "a</3 x>b", "ab"),
    ("doctype", "<!DOCTYPE html PUBLIC '-//W3C'>text", "text"),
    ("processing instruction", "<?xml version='1.0'?>text", "text"),
    ("comment with tags in it", "a<!-- <b>x</b> > -- > <p> -->b", "ab"),
    ("shortest comments", "a<!-->b<!--->c<!---->d", "abcd"),
    ("comment that ends wrongly", "a<!-- b <p> --!>c --!> d --> e", "ac --!> d --> e"),
    ("comment that begins like a wrong end", "a<!--!>b<p>c-->d", "ad"),
    ("a comment without end hides the rest", "a<!-- b <p> c", "a"),
    ("conditional comment", "a<!--[if mso]><p>no</p><![endif]-->b", "ab"),
    ("downlevel-revealed comment", "a <!--[if !mso]><!-->yes<!--<![endif]--> b", "a yes b"),
    ("script", "a<script>if (a<b) x('</p>');</script>b", "ab"),
    ("a script without end hides the rest", "a<script>b<p>c", "a"),
    ("style", "a<style>p{x:y}</style>b", "ab"),
    ("noscript is shown, mail runs no scripts", "a <noscript>b</noscript> c", "a b c"),
    ("frames that are not loaded", "a<iframe>no</iframe><noframes>no</noframes>b", "ab"),
    ("textarea shows markup as it is", "<textarea><b>x</b></textarea>", "<b>x</b>"),
    ("buttons and fields", "<input type=submit value='see it'><input placeholder=too>", "see it too"),
    ("no hidden field", "<input type=hidden value=X><input type=checkbox value=X>see", "see"),
    ("> in a quoted attribute", '<img alt="a > b" src=x>text', "text"),
    ("> in a single-quoted attribute", "<img alt='a > b'>text", "text"),
    ("< in a quoted attribute", '<img alt="<b>" title="<">text', "text"),
    ("odd quotes outside of values", '<img alt=5" >text', "text"),
    ("a quote in a name", '<p a"b">text', "text"),
    ("newlines between attributes", '<img\nalt\n=\n"x>y"\n>text', "text"),
    ("< inside a tag belongs to it", "a<b <i>c", "ac"),
    ("slashes as spaces", "<br/><img/src='x>'/>text", "text"),
    ("NUL is nothing", "Via\0gra<\0b>x", "Viagrax"),
    ("upper case", "<P>One<TABLE><TR><TD>two", "One two"),
    ("no-break space is a space", "one&nbsp;two&#160;three&#xA0;four", "one two three four"),
    ("details", "<details><summary>see</summary>X</details>it", "see it"),
    ("open details", "<details open><summary>see</summary>it</details>", "see it"),
    ("details in details", "<details><summary>see</summary><details><summary>X</summary></details>", "see"),
]


@pytest.mark.parametrize(("why", "source", "seen"), VISIBLE, ids=[row[0] for row in VISIBLE])
def test_visible_text_is_what_a_person_sees(why: str, source: str, seen: str) -> None:
    assert words(read_html(source).visible) == seen


HIDING = [
    ("display", '<span style="display:none">X</span>'),
    ("display with noise", '<span style=" color:red; DISPLAY : None !important ">X</span>'),
    ("display behind a comment", '<span style="/* a */display:/**/none">X</span>'),
    ("display in references", '<span style="displ&#97;y:none">X</span>'),
    ("important before another", '<p style="display:none!important;display:block">X</p>'),
    ("visibility", '<div style="visibility:hidden">X</div>'),
    ("visibility collapsed", '<div style="visibility:collapse">X</div>'),
    ("size 0", '<font style="font-size:0">X</font>'),
    ("size 1px", '<span style="font-size:1px">X</span>'),
    ("size 0.1em", '<span style="font-size:.1em">X</span>'),
    ("size 0, and so many times that", '<p style="font-size:0"><b style="font-size:2em">X</b></p>'),
    ("a small part of a small part", '<p style="font-size:30%"><b style="font-size:30%">X</b></p>'),
    ("opacity", '<div style="opacity:0.0">X</div>'),
    ("no height", '<div style="max-height:0px;overflow:hidden">X</div>'),
    ("no height of a box in the line", '<b style="display:inline-block;height:0;overflow:hidden">X</b>'),
    ("no width", '<p style="width:0;overflow:hidden">X</p>'),
    ("indent", '<p style="text-indent:-9999px">X</p>'),
    ("off the screen", '<div style="position:absolute;left:-5000px">X</div>'),
    ("above the screen", '<div style="top:-100em;position:fixed">X</div>'),
    ("margin", '<div style="margin-left:-5000px">X</div>'),
    ("select", "<select style=display:none><option>X<option>X</select>"),
    ("a textarea", "<textarea style=display:none>X</textarea>"),
    *[
        (f"content of {name}", f"<{name} class=b>X</{name}>")
        for name in ("video", "meter", "template", "dialog")
    ],
    ("hidden attribute", "<p hidden>X</p>"),
    ("behind a slash", '<p class="a"/style="display:none">X</p>'),
    ("white on the default ground", "<font color=white>X</font>"),
    ("white by number", '<font color="#FFFFFF">X</font>'),
    ("white without #", "<font color=ffffff>X</font>"),
    ("white in three digits", '<span style="color:#fff">X</span>'),
    ("white as rgb()", '<span style="color: rgb(255, 255, 255)">X</span>'),
    ("nearly white", "<font color=#fffffe>X</font>"),
    ("a named near white", "<font color=ivory>X</font>"),
    ("transparent", '<span style="color:transparent">X</span>'),
    ("alpha 0", '<span style="color:rgba(0,0,0,0)">X</span>'),
    ("alpha 0 in digits", '<span style="color:#00000000">X</span>'),
    ("ground of a cell", "<table><tr><td bgcolor=red><font color=#ff0000>X</font></td></tr></table>"),
    ("ground of a table", "<table bgcolor=red><tr><td><font color=#ff0000>X</font></td></tr></table>"),
    ("ground of a style", '<div style="background-color:blue"><font color=blue>X</font></div>'),
    ("ground in short", '<div style="background:#00f url(x.gif)"><font color=blue>X</font></div>'),
    ("ground taken away", "<table><td bgcolor=black style='color:#fff;background:none'>X</table>"),
    ("black ground", '<div style="background:black">X</div>'),
    ("link in the colour of its ground", "<a href=x style='color:#ffffff'>X</a>"),
    ("inside something hidden", '<div style="display:none"><p style="display:block">a</p><b>X</b></div>'),
    ("table in a hidden division", "<div style=display:none><table><tr><td>X</td></tr></table></div>"),
    ("table in a hidden span", "<p><span style=display:none><table><tr><td>X</td></tr></table></span>"),
    ("closed details", "<details>X</details>"),
]
SHEETS = [
    ("class", "<style>.h{display:none}</style><p class='a H'>X</p>"),
    ("id", "<style><!-- #h { font-size: 0 } --></style><p id=h>X</p>"),
    ("list", "<style>i, u {display:none}</style><u>X</u>"),
    ("element and class", "<style>p.h{color:#fff}</style><p class=h>X</p>"),
    ("any element", "<style>*.h{display:none}</style><p class=h>X</p>"),
    ("two classes", "<style>.h.i{display:none}</style><p class='i j h'>X</p>"),
    ("ancestors", "<style>.a .b{display:none}</style><div class=a><i><p class=b>X</p></i></div>"),
    ("a child", "<style>div.a>.b{display:none}</style><div class=a><p class=b>X</p></div>"),
    ("any inside", "<style>.a *{display:none}</style><div class=a><p>X</p></div>"),
    ("for the screen", "<style>@media screen{.h{display:none}}</style><p class=h>X</p>"),
    ("for wide screens", "<style>@media (min-width:1px){.h{display:none}}</style><p class=h>X</p>"),
    ("behind an import", "<style>@import url(x.css); .h{display:none}</style><p class=h>X</p>"),
    ("behind a block that is left out", "<style>@page{a:b} .h{display:none}</style><p class=h>X</p>"),
    ("behind one for print", "<style>@media print{b{c:d}} .h{display:none}</style><p class=h>X</p>"),
    ("with comments", "<style>/*{*/.h/*}*/{display:none}</style><p class=h>X</p>"),
    ("important", "<style>.h{display:none!important}</style><p class=h style='display:block'>X</p>"),
    ("class in references", "<style>.h{display:none}</style><p class='&#104;'>X</p>"),
    ("id above class", "<style>#a{display:none}.b{display:block}</style><p class=b id=a>X</p>"),
    ("two declarations", "<style>.a{overflow:hidden}.b{height:0}</style><p class='a b'>X</p>"),
    ("a late sheet", "seen<style>.h{display:none}</style><p class=h>X</p>"),
]
TABLE = HIDING + [(f"sheet, {why}", source) for why, source in SHEETS]


@pytest.mark.parametrize(("why", "source"), TABLE, ids=[row[0] for row in TABLE])
def test_text_is_hidden_by(why: str, source: str) -> None:
    html = read_html("before " + source + " after")
    assert words(html.visible.replace("seen", "")) == "before after"
    assert "X" in html.hidden


SHOWN = [
    ("black", "<font color=black>X</font>"),
    ("light grey that can be read", "<font color=#cccccc>X</font>"),
    ("white on a dark cell", "<table><tr><td bgcolor=navy><font color=white>X</font></td></tr></table>"),
    ("white on a dark page", "<body bgcolor=black text=white>X"),
    ("white on a colour of another name", "<p style='background:tomato;color:white'>X</p>"),
    ("white on a picture", "<table><tr><td background=x.gif><font color=white>X</font></td></tr></table>"),
    ("white on a picture of a style", "<p style='background-image:url(x.gif);color:white'>X</p>"),
    ("white on a gradient", '<p style="background:linear-gradient(red,blue);color:white">X</p>'),
    ("a link has its own colour", "<font color=white><a href=x>X</a></font>"),
    ("a button has its own colour", "<font color=white><button>X</button></font>"),
    ("visibility undone", '<p style="visibility:hidden"><b style="visibility:visible">X</b></p>'),
    ("size undone", '<td style="font-size:0"><span style="font-size:12px">X</span></td>'),
    ("size undone by a font", "<p style=font-size:0><font size=7>X</font></p>"),
    ("colour undone", "<font color=white><font color=red>X</font></font>"),
    ("size of no meaning", "<p style='font-size:0foo'>X</p>"),
    ("display of no meaning", '<p style="display:none!x">X</p>'),
    ("cut off, with room", '<p style="overflow:hidden;height:100px">X</p>'),
    ("height of a line", "<span style='height:0;overflow:hidden'>X</span>"),
    ("height of a cell", "<table><td style='height:0;overflow:hidden'>X</table>"),
    (
        "height undone",
        "<style>.h{max-height:0;overflow:hidden}</style><p class=h style='max-height:none'>X</p>",
    ),
    ("a little opacity", "<p style='opacity:50%'>X</p>"),
    ("display of another kind", '<span style="display:inline-block">X</span>'),
    ("background of another colour later", '<p style="background:black;background:white">X</p>'),
    ("the second of two attributes", '<p style="color:red" style="display:none">X</p>'),
    ("bgcolor where it means nothing", "<span bgcolor=black>X</span>"),
    ("an open dialog", "<dialog open>X</dialog>"),
    ("mso-hide alone", '<a href=x style="mso-hide:all">X</a>'),
    *[
        (f"in mail, {style}", f"<p style='{style}'>X</p>")
        for style in (
            "font-size:calc(1px*0)",
            "scale:0",
            "transform:scale(0)",
            "display:var(--v)",
            "clip-path:inset(50%)",
        )
    ],
    *[
        (f"sheet, {why}", f"<style>{sheet}</style><p class=h>X</p>")
        for why, sheet in [
            ("narrow screens", "@media screen and (max-width:600px){.h{display:none}}"),
            ("print", "@media print{.h{display:none}}"),
            ("print, around one for all", "@media print{@media all{.h{display:none}}}"),
            ("dark screens", "@media (prefers-color-scheme:dark){.h{display:none}}"),
            ("supports", "@supports(display:grid){.h{display:none}}"),
            ("another class", ".g{display:none}"),
            ("two classes", ".h.i{display:none}"),
            ("inside of another", ".i .h{display:none}"),
            ("what is inside", ".h b{display:none}"),
            ("a state", ".h:hover{display:none}"),
            ("no selector", "{display:none} ,{display:none}"),
        ]
    ],
    ("a sheet for print", "<style media=print>.h{display:none}</style><p class=h>X</p>"),
    ("a sheet in a comment", "<!--[if mso]><style>.h{display:none}</style><![endif]--><p class=h>X</p>"),
    ("a sheet below a style", "<style>.h{display:none}</style><p class=h style='display:block'>X</p>"),
    ("an element behind the one around", "<style>.i .h{display:none}</style><p class=i></p><p class=h>X</p>"),
]


@pytest.mark.parametrize(("why", "source"), SHOWN, ids=[row[0] for row in SHOWN])
def test_text_is_not_hidden_by(why: str, source: str) -> None:
    html = read_html("before " + source)
    assert words(html.visible) == "before X"
    assert html.hidden.strip() == ""


ENDS = [
    ("its end tag", "<span style=display:none>X</span>Y"),
    ("the end of the paragraph", "<p><span style=display:none>X</p>Y"),
    ("the next paragraph", "<p style=display:none>X<p>Y"),
    ("a block in the paragraph", "<p style=display:none>X<div>Y</div>"),
    ("the end of the division", "<div><span style=display:none>X</div>Y"),
    ("the end of the cell", "<table><tr><td><font color=white>X</td><td>Y</td></tr></table>"),
    ("the next cell", "<table><tr><td><font color=white>X<td>Y</table>"),
    ("the next row", "<table><tr><td style=display:none>X<tr><td>Y</table>"),
    ("the end of the table", "<table><tr><td style=display:none>X</table>Y"),
    ("the next item", "<ul><li style=display:none>X<li>Y</ul>"),
    ("its end inside a block", "<font color=white><p>X</font>Y</p>"),
    ("its end before inner formatting", "<font color=white><b>X</font>Y</b>"),
    ("the end of the one inside, not before", "<div style=display:none><div></div>X</div>Y"),
]


@pytest.mark.parametrize(("why", "source"), ENDS, ids=[row[0] for row in ENDS])
def test_hiding_ends_with(why: str, source: str) -> None:
    html = read_html(source)
    assert (words(html.visible), words(html.hidden)) == ("Y", "X")


LASTS = [
    ("an end tag of another", "<span style=display:none>X</b>Y"),
    ("an end tag of no element open", "<div style=display:none>X</p>Y</li></td>"),
    ("an end tag that does not leave its cell", "<div style=display:none><table><td>X</div>Y"),
    ("the end of the page", "<body style=display:none>X</body></html>Y"),
]


@pytest.mark.parametrize(("why", "source"), LASTS, ids=[row[0] for row in LASTS])
def test_hiding_lasts_over(why: str, source: str) -> None:
    html = read_html(source)
    assert (words(html.visible), words(html.hidden).replace(" ", "")) == ("", "XY")


JOINED = [
    ("a comment", "Vi<!-- x -->agra", 1),
    ("two comments in one place", "Vi<!-- x --><!-- y -->agra", 1),
    ("two places", "Vi<!-- x -->ag<xyz>ra", 2),
    ("an empty element", "V<b></b>iagra", 1),
    ("nested empty elements", "V<b><i></i></b>iagra", 1),
    ("a hidden element", "V<span style='display:none'>x</span>iagra", 1),
    ("a hidden block", "V<div style='display:none'>x</div>iagra", 1),
    ("wbr", "V<wbr>iagra", 1),
    ("ordinary markup", "<b>V</b>iagra", 0),
    ("a comment between words", "Via <!-- x -->gra", 0),
    ("a comment at a block", "Via<!-- x --><p>gra", 0),
]


@pytest.mark.parametrize(("why", "source", "count"), JOINED, ids=[row[0] for row in JOINED])
def test_words_split_by_markup_that_shows_nothing_are_counted(why: str, source: str, count: int) -> None:
    assert read_html(source).joined == count


LINKS = [
    ("a link", "<a href=http://a.example/b>se<b>e</b></a>it", [("http://a.example/b", "see")]),
    ("a link without end", "<a href=x>one<p><a href=y>two", [("x", "one"), ("y", "two")]),
    ("an anchor ends a link", "<a href=x>one<a name=y>two", [("x", "one")]),
    ("references, blanks", "<a href=' a?b=1&amp;c=2&copy=3\n'>x</a>", [("a?b=1&c=2&copy=3", "x")]),
    ("upper case, no quotes", "<A HREF=a/b/>x</A>", [("a/b/", "x")]),
    ("a hidden link", "<p style=display:none><a href=x>X</a></p>", [("x", "")]),
    ("an area", "<map><area href=x></map>", [("x", "")]),
    ("a form", "<form action=x><button formaction=y>z</button></form>", [("x", ""), ("y", "")]),
    (
        "a refresh",
        "<meta http-equiv=refresh content='0; URL=\"http://a.example\"'>",
        [("http://a.example", "")],
    ),
    ("a drawing of Outlook", "<v:rect href=x>", [("x", "")]),
    ("neither sheet nor base", "<link href=x><base href=y>", []),
    ("a refresh of the same page", "<meta http-equiv=refresh content=5>", []),
]


@pytest.mark.parametrize(("why", "source", "links"), LINKS, ids=[row[0] for row in LINKS])
def test_links_lead_to(why: str, source: str, links: list[tuple[str, str]]) -> None:
    assert read_html(source).links == links


IMAGES = [
    ("img", "<img src=a><input type=image src=b><v:fill src=c>", ["a", "b", "c"]),
    ("grounds", "<body background=a><td background='b'>", ["a", "b"]),
    ("styles", "<p style=\"background:#fff url('http://a.example/B.png')\">", ["http://a.example/B.png"]),
    (
        "in the mail",
        "<img src=cid:a@b><img src='data:image/png;base64,AA=='>",
        ["cid:a@b", "data:image/png;base64,AA=="],
    ),
    ("each time", "<img src=a><img src=a>", ["a", "a"]),
]


@pytest.mark.parametrize(("why", "source", "images"), IMAGES, ids=[row[0] for row in IMAGES])
def test_images_are_found(why: str, source: str, images: list[str]) -> None:
    assert read_html(source).images == images


def test_what_else_is_found() -> None:
    html = read_html(
        "<title>A &amp; B</title><!-- c --><p bgcolor=red><img src=x alt='caf&eacute;'><img src=y alt=''>"
        "<font color=#FF0000>a<font color=red>b</font><b style='background:rgb(0,0,255)'>c</b>"
        "<script>go()</script>"
    )
    assert (html.title, html.comments, html.tags) == ("A & B", 1, 8)
    assert (html.alts, len(html.colours)) == (["café"], 2)


def test_lines_of_a_quotation_are_counted() -> None:
    page = "<p>new</p>{}<p>one</p><p>two</p></blockquote><p>new</p>"
    assert read_html(page.format("<blockquote>")).quoted == 0
    assert read_html(page.format("<blockquote type=cite>")).quoted >= 4
    assert read_html(page.format("<blockquote class=gmail_quote>")).quoted >= 4


REFERENCES = [
    ("&lt;&GT;&quot;&apos;", "<>\"'"),
    ("caf&eacute; &eacute &mdash; &rarr;", "café é — →"),
    ("&#65;&#x42;&#X43;&#68 &#69", "ABCD E"),
    ("&#128;&#147;&#x99;", "€“™"),
    ("&#0;&#xD800;&#x110000;&#99999999999;", "\ufffd" * 4),
    ("AT&T &; &# &#x &nosuch; &", "AT&T &; &# &#x &nosuch; &"),
    ("&ampamp; &notit; &copyx", "&amp; ¬it; ©x"),
    ("&zwnj;&ZeroWidthSpace;", "\u200c\u200b"),
]


@pytest.mark.parametrize(("source", "text"), REFERENCES)
def test_references_are_decoded_as_by_browsers(source: str, text: str) -> None:
    assert decode(source) == text


def test_a_name_without_semicolon_in_an_address_is_kept() -> None:
    assert decode("?a=1&copy=2&lt3&reg", True) == "?a=1&copy=2&lt3®"


@pytest.mark.parametrize(
    "selector", ["u+#body a", "u~#body a", "html+body a", "u:not(", "a[", "..", "#", ". .", ">"]
)
def test_a_selector_that_is_not_understood_hides_nothing(selector: str) -> None:
    page = f"<style>{selector}{{display:none}}</style><body id=body><p><a href=x>link</a>"
    assert words(read_html(page).visible) == "link"
