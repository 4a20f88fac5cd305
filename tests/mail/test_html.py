"""What a person sees of a page, what is hidden and where it leads, beyond what golden/html-* show."""

import pytest

from nbspam.mail.html import read_html
from nbspam.mail.html.entities import decode


def words(text: str) -> str:
    return " ".join(text.split())


VISIBLE = [
    ("an end tag nobody knows joins", "Viag</xyz>ra", "Viagra"),
    ("a picture joins", "Via<img src=x width=1>gra", "Viagra"),
    ("br in any form separates", "one<br>two<BR/>three</br>four", "one two three four"),
    ("a lone < is text", "3 < 4 and a <3 b", "3 < 4 and a <3 b"),
    ("< at the end is text", "end <", "end <"),
    ("a tag without end at the end is lost", "end <b", "end"),
    ("an attribute without end is lost with all after it", 'end <a href="x>not <p>seen', "end"),
    ("an empty end tag is nothing", "a</>b", "ab"),
    ("an end tag of no block is nothing", "a</div>b</td>c</h1>d</form>e", "abcde"),
    ("an end tag of no paragraph makes one", "a</p>b", "a b"),
    ("comment with tags in it", "a<!-- <b>x</b> > -- > <p> -->b", "ab"),
    ("shortest comments", "a<!-->b<!--->c<!---->d", "abcd"),
    ("comment that ends wrongly", "a<!-- b <p> --!>c --!> d --> e", "ac --!> d --> e"),
    ("comment that begins like a wrong end", "a<!--!>b<p>c-->d", "ad"),
    ("a comment without end hides the rest", "a<!-- b <p> c", "a"),
    ("downlevel-revealed comment", "a <!--[if !mso]><!-->yes<!--<![endif]--> b", "a yes b"),
    ("a script without end hides the rest", "a<script>b<p>c", "a"),
    ("frames that are not loaded", "a<iframe>no</iframe><noframes>no</noframes>b", "ab"),
    ("textarea shows markup as it is", "<textarea><b>x</b></textarea>", "<b>x</b>"),
    ("> in a quoted attribute", "<img alt='a > b' title=\"<\">text", "text"),
    ("odd quotes outside of values", '<img alt=5" ><p a"b">text', "text"),
    ("newlines between attributes", '<img\nalt\n=\n"x>y"\n>text', "text"),
    ("slashes as spaces", "<br/><img/src='x>'/>text", "text"),
    ("NUL is nothing", "Via\0gra<\0b>x", "Viagrax"),
    ("details in details", "<details><summary>see</summary><details><summary>X</summary></details>", "see"),
]


@pytest.mark.parametrize(("why", "source", "seen"), VISIBLE, ids=[row[0] for row in VISIBLE])
def test_visible_text_is_what_a_person_sees(why: str, source: str, seen: str) -> None:
    assert words(read_html(source).visible) == seen


HIDING = [
    ("display after a comment", '<span style="/* a */display:/**/none">X</span>'),
    ("display in references", '<span style="displ&#97;y:none">X</span>'),
    ("important before another", '<p style="display:none!important;display:block">X</p>'),
    ("size 0.1em", '<span style="font-size:.1em">X</span>'),
    ("size 0, and so many times that", '<p style="font-size:0"><b style="font-size:2em">X</b></p>'),
    ("a small part of a small part", '<p style="font-size:30%"><b style="font-size:30%">X</b></p>'),
    ("no height of a box in the line", '<b style="display:inline-block;height:0;overflow:hidden">X</b>'),
    ("select", "<select style=display:none><option>X<option>X</select>"),
    ("a textarea", "<textarea style=display:none>X</textarea>"),
    *[(f"content of {name}", f"<{name} class=b>X</{name}>") for name in ("video", "meter", "dialog")],
    ("after a slash", '<p class="a"/style="display:none">X</p>'),
    ("white without #", "<font color=ffffff>X</font>"),
    ("a named near white", "<font color=ivory>X</font>"),
    ("alpha 0 in digits", '<span style="color:#00000000">X</span>'),
    ("background of a cell", "<table><tr><td bgcolor=red><font color=#ff0000>X</font></td></tr></table>"),
    ("background in short", '<div style="background:#00f url(x.gif)"><font color=blue>X</font></div>'),
    ("background taken away", "<table><td bgcolor=black style='color:#fff;background:none'>X</table>"),
    ("black background", '<div style="background:black">X</div>'),
    ("link in the colour of its background", "<a href=x style='color:#ffffff'>X</a>"),
    ("table in a hidden span", "<p><span style=display:none><table><tr><td>X</td></tr></table></span>"),
    ("a list of selectors", "<style>i, u {display:none}</style><u>X</u>"),
    ("a sheet in a comment", "<style><!-- #h { font-size: 0 } --></style><p id=h>X</p>"),
    ("element and class", "<style>p.h{color:#fff}</style><p class=h>X</p>"),
    ("two classes", "<style>.h.i{display:none}</style><p class='i j h'>X</p>"),
    ("ancestors", "<style>.a .b{display:none}</style><div class=a><i><p class=b>X</p></i></div>"),
    ("any inside", "<style>.a *{display:none}</style><div class=a><p>X</p></div>"),
    ("after an import", "<style>@import url(x.css); .h{display:none}</style><p class=h>X</p>"),
    ("after a block that is left out", "<style>@page{a:b} .h{display:none}</style><p class=h>X</p>"),
    ("after one for print", "<style>@media print{b{c:d}} .h{display:none}</style><p class=h>X</p>"),
    ("with comments", "<style>/*{*/.h/*}*/{display:none}</style><p class=h>X</p>"),
    ("important", "<style>.h{display:none!important}</style><p class=h style='display:block'>X</p>"),
    ("class in references", "<style>.h{display:none}</style><p class='&#104;'>X</p>"),
    ("id above class", "<style>#a{display:none}.b{display:block}</style><p class=b id=a>X</p>"),
    ("two declarations", "<style>.a{overflow:hidden}.b{height:0}</style><p class='a b'>X</p>"),
]


@pytest.mark.parametrize(("why", "source"), HIDING, ids=[row[0] for row in HIDING])
def test_text_is_hidden_by(why: str, source: str) -> None:
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
    ("a button has its own colour", "<font color=white><button>X</button></font>"),
    ("size undone by a font", "<p style=font-size:0><font size=7>X</font></p>"),
    ("size of no meaning", "<p style='font-size:0foo'>X</p>"),
    ("display of no meaning", '<p style="display:none!x">X</p>'),
    ("cut off, with room", '<p style="overflow:hidden;height:100px">X</p>'),
    ("height of a line", "<span style='height:0;overflow:hidden'>X</span>"),
    ("height of a cell", "<table><td style='height:0;overflow:hidden'>X</table>"),
    ("height undone", "<style>p{max-height:0;overflow:hidden}</style><p style='max-height:none'>X</p>"),
    ("a little opacity", "<p style='opacity:50%'>X</p>"),
    ("background of another colour later", '<p style="background:black;background:white">X</p>'),
    ("the second of two attributes", '<p style="color:red" style="display:none">X</p>'),
    ("bgcolor where it means nothing", "<span bgcolor=black>X</span>"),
    ("an open dialog", "<dialog open>X</dialog>"),
    ("a scale", "<p style='transform:scale(0)'>X</p>"),
    ("a clip path", "<p style='clip-path:inset(50%)'>X</p>"),
    *[
        (f"sheet, {why}", f"<style>{sheet}</style><p class=h>X</p>")
        for why, sheet in [
            ("print, around one for all", "@media print{@media all{.h{display:none}}}"),
            ("dark screens", "@media (prefers-color-scheme:dark){.h{display:none}}"),
            ("supports", "@supports(display:grid){.h{display:none}}"),
            ("two classes", ".h.i{display:none}"),
            ("inside of another", ".i .h{display:none}"),
            ("what is inside", ".h b{display:none}"),
            ("a state", ".h:hover{display:none}"),
            ("no selector", "{display:none} ,{display:none}"),
        ]
    ],
    ("a sheet for print", "<style media=print>.h{display:none}</style><p class=h>X</p>"),
    ("a sheet for Outlook", "<!--[if mso]><style>.h{display:none}</style><![endif]--><p class=h>X</p>"),
    ("an element after the one around", "<style>.i .h{display:none}</style><p class=i></p><p class=h>X</p>"),
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

LASTS = [
    ("an end tag of another", "<span style=display:none>X</b>Y"),
    ("an end tag of no element open", "<div style=display:none>X</p>Y</li></td>"),
    ("an end tag that does not leave its cell", "<div style=display:none><table><td>X</div>Y"),
    ("the end of the page", "<body style=display:none>X</body></html>Y"),
]


@pytest.mark.parametrize(("why", "source"), ENDS + LASTS, ids=[row[0] for row in ENDS + LASTS])
def test_hiding_ends_with_or_lasts_over(why: str, source: str) -> None:
    html = read_html(source)
    expected = ("", "XY") if (why, source) in LASTS else ("Y", "X")
    assert (words(html.visible), words(html.hidden).replace(" ", "")) == expected


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("Vi<!-- x --><!-- y -->agra", 1),
        ("V<b><i></i></b>iagra", 1),
        ("V<p style='display:none'>x</p>iagra", 1),
    ]
    + [("<b>V</b>iagra", 0), ("Via <!-- x -->gra", 0), ("Via<!-- x --><p>gra", 0)],
)
def test_words_split_by_markup_that_shows_nothing_are_counted(source: str, count: int) -> None:
    assert read_html(source).joined == count


LINKS = [
    ("a link without end", "<a href=x>one<p><a href=y>two", [("x", "one"), ("y", "two")]),
    ("an anchor ends a link", "<a href=x>one<a name=y>two", [("x", "one")]),
    ("upper case, no quotes", "<A HREF=a/b/>x</A>", [("a/b/", "x")]),
    ("a hidden link", "<p style=display:none><a href=x>X</a></p>", [("x", "")]),
    ("a drawing of Outlook", "<v:rect href=x>", [("x", "")]),
    ("neither sheet nor base", "<link href=x><base href=y>", []),
    ("a refresh of the same page", "<meta http-equiv=refresh content=5>", []),
]


@pytest.mark.parametrize(("why", "source", "links"), LINKS, ids=[row[0] for row in LINKS])
def test_links_lead_to(why: str, source: str, links: list[tuple[str, str]]) -> None:
    assert read_html(source).links == links


def test_images_are_found_each_time() -> None:
    source = "<img src=a><img src=a><input type=image src=b><v:fill src=c><body background=d>"
    assert sorted(read_html(source).images) == ["a", "a", "b", "c", "d"]


REFERENCES = [
    ("caf&eacute; &eacute &mdash; &rarr;", "café é — →"),
    ("&#65;&#x42;&#X43;&#68 &#69", "ABCD E"),
    ("&#128;&#147;&#x99;", "€“™"),
    ("&#0;&#xD800;&#x110000;&#99999999999;", "\ufffd" * 4),
    ("AT&T &; &# &#x &nosuch; &", "AT&T &; &# &#x &nosuch; &"),
    ("&ampamp; &notit; &copyx", "&amp; ¬it; ©x"),
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
