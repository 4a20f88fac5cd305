"""HTML as a person sees it: tables of small examples, each with its reason."""

import time

import pytest

from nbspam.mail.html.entities import decode
from nbspam.mail.html.reader import read_html
from tests.work import calls_of


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
    ("a field that is hidden joins", "Via<input type=hidden value=x>gra", "Viagra"),
    ("a break that is not there joins", "Via<br style='display:none'>gra", "Viagra"),
    ("br separates", "one<br>two<BR/>three</br>four", "one two three four"),
    ("paragraphs separate", "<p>one<p>two</p>three", "one two three"),
    ("divisions separate", "one<div>two</div>three", "one two three"),
    ("cells separate", "<table><tr><td>one<td>two</tr><tr><td>three</table>four", "one two three four"),
    ("items separate", "<ul><li>one<li>two</ul>three", "one two three"),
    ("headings separate", "one<h1>two</h1>three<hr>four", "one two three four"),
    ("options and fields separate", "one<select><option>two<option>three</select>", "one two three"),
    ("a lone < is text", "3 < 4 and a <3 b", "3 < 4 and a <3 b"),
    ("a lone > is text", "4 > 3", "4 > 3"),
    ("< at the end is text", "end <", "end <"),
    ("a tag without end at the end is lost", "end <b", "end"),
    ("an attribute without end at the end is lost", 'end <a href="x', "end"),
    ("an empty end tag is nothing", "a</>b", "ab"),
    ("an end tag of no block is nothing", "a</div>b</td>c</h1>d</form>e", "abcde"),
    ("the second end of a block", "<div>one</div>two</div>a", "one twoa"),
    ("an end tag of no paragraph makes one", "a</p>b", "a b"),
    ("the end of a row that is not written", "<table><td>a</tr>b", "a b"),
    ("an end tag of no letter is a comment", "a</3 x>b", "ab"),
    ("doctype", "<!DOCTYPE html PUBLIC '-//W3C'>text", "text"),
    ("processing instruction", "<?xml version='1.0'?>text", "text"),
    ("CDATA is a comment up to >", "a<![CDATA[ b > c ]]>", "a c ]]>"),
    ("comment with tags in it", "a<!-- <b>x</b> > -- > <p> -->b", "ab"),
    ("shortest comments", "a<!-->b<!--->c<!---->d", "abcd"),
    ("a comment that ends wrongly", "a<!-- x --!>b<!-- x --!> y -->c<!----!>d<!--!>x-->e", "ab y -->cde"),
    ("a comment with the wrong end behind the right one", "a<!-- x -->b --!>c", "ab --!>c"),
    ("a comment without end hides the rest", "a<!-- b <p> c", "a"),
    ("conditional comment", "a<!--[if mso]><p>no</p><![endif]-->b", "ab"),
    ("downlevel-revealed comment", "a <!--[if !mso]><!-->yes<!--<![endif]--> b", "a yes b"),
    ("script", "a<script>if (a<b) x('</p>');</script>b", "ab"),
    ("script with an end tag look-alike", "a<script>x</scripty>y</SCRIPT >b", "ab"),
    ("a script in the comment of a script", "a<script><!--<script></script>x</script>b", "ab"),
    ("a script behind the comment of a script", "a<script><!-- --><script></script>b", "ab"),
    ("a script in a script without comment", "a<script><script></script>b", "ab"),
    ("style", "a<style>p{x:y}</style>b", "ab"),
    ("a script without end hides the rest", "a<script>b<p>c", "a"),
    ("noscript is shown, mail runs no scripts", "a <noscript>b</noscript> c", "a b c"),
    ("canvas is shown, it is drawn by scripts", "a <canvas>b</canvas> c", "a b c"),
    ("frames that are not loaded", "a<iframe>no</iframe><noframes>no</noframes>b", "ab"),
    ("template", "a<template>no</template>b", "ab"),
    ("textarea shows markup as it is", "<textarea><b>x</b></textarea>", "<b>x</b>"),
    ("xmp shows entities as they are", "<xmp>&lt;<i></xmp>", "&lt;<i>"),
    ("> in a quoted attribute", '<img alt="a > b" src=x>text', "text"),
    ("> in a single-quoted attribute", "<img alt='a > b'>text", "text"),
    ("< in a quoted attribute", '<img alt="<b>" title="<">text', "text"),
    ("odd quotes outside of values", '<img alt=5" >text', "text"),
    ("even quotes that do not quote", '<img a=5" b=">">text', "text"),
    ("a quote in a name", '<p a"b">text', "text"),
    ("newlines between attributes", '<img\nalt\n=\n"x>y"\n>text', "text"),
    ("< inside a tag belongs to it", "a<b <i>c", "ac"),
    ("slashes as spaces", "<br/><img/src='x>'/>text", "text"),
    ("NUL is nothing", "Via\0gra<\0b>x", "Viagrax"),
    ("upper case", "<P>One<TABLE><TR><TD>two", "One two"),
    ("a name with colon", "one<o:p></o:p> two", "one two"),
    ("no break space is a space", "one&nbsp;two&#160;three&#xA0;four", "one two three four"),
]


@pytest.mark.parametrize(("why", "source", "seen"), VISIBLE, ids=[row[0] for row in VISIBLE])
def test_visible_text_is_what_a_person_sees(why: str, source: str, seen: str) -> None:
    assert words(read_html(source).visible) == seen


HIDING = [
    ("display", '<span style="display:none">X</span>'),
    ("display with noise", '<span style=" color:red; DISPLAY : None !important ">X</span>'),
    ("display behind a comment", '<span style="/* a */display:/**/none">X</span>'),
    ("display in entities", '<span style="displ&#97;y:none">X</span>'),
    ("visibility", '<div style="visibility:hidden">X</div>'),
    ("size 0", '<font style="font-size:0">X</font>'),
    ("size 1px", '<span style="font-size:1px">X</span>'),
    ("size 0.1em", '<span style="font-size:.1em">X</span>'),
    ("size in font", '<span style="font:bold 0px/1 arial">X</span>'),
    ("opacity", '<div style="opacity:0.0">X</div>'),
    ("no height", '<div style="max-height:0px;overflow:hidden">X</div>'),
    ("no height of lines", '<p style="line-height:0;overflow:hidden">X</p>'),
    ("size 0 in font, behind a weight", '<span style="font:400 0/0 arial">X</span>'),
    ("size 0, and so many times that", '<p style="font-size:0"><b style="font-size:2em">X</b></p>'),
    ("size 0, and so much of that", '<p style="font-size:0"><b style="font-size:100%">X</b></p>'),
    ("size 0, inherited", '<p style="font-size:0"><b style="font-size:inherit">X</b></p>'),
    ("a small part of a small part", '<p style="font-size:.3em"><b style="font-size:.3em">X</b></p>'),
    ("visibility inherited", '<p style="visibility:hidden"><b style="visibility:inherit">X</b></p>'),
    ("display before one that is none", '<span style="display:none;display:x">X</span>'),
    ("display, important", '<span style="display:none!important;display:block">X</span>'),
    ("display with an escape", r'<span style="d\69splay:none">X</span>'),
    ("colour before one that is none", '<span style="color:#fff;color:x">X</span>'),
    ("white as hsl()", '<span style="color:hsl(0,0%,100%)">X</span>'),
    ("white by -webkit-", '<span style="-webkit-text-fill-color:#fff">X</span>'),
    ("ground of the letters' colour", '<p style="background:currentcolor">X</p>'),
    ("off the screen, relative", '<p style="position:relative;left:-9999px">X</p>'),
    ("off the screen to the right", '<p style="position:absolute;left:9999px">X</p>'),
    ("translated off the screen", '<p style="transform:translateX(-9999px)">X</p>'),
    ("scaled to nothing", '<p style="transform:rotate(3deg) scale(0,0)">X</p>'),
    ("clip-path", '<p style="clip-path:inset(100%)">X</p>'),
    ("clip-path, a circle of nothing", '<p style="clip-path:circle(0)">X</p>'),
    ("no height, two words", '<p style="overflow:hidden hidden;height:0">X</p>'),
    ("no width", '<p style="overflow-x:hidden;width:0">X</p>'),
    ("zoom", '<p style="zoom:.01">X</p>'),
    ("filter", '<p style="filter:opacity(0)">X</p>'),
    ("content-visibility", '<p style="content-visibility:hidden">X</p>'),
    ("indent", '<p style="text-indent:-9999px">X</p>'),
    ("off the screen", '<div style="position:absolute;left:-5000px">X</div>'),
    ("margin", '<div style="margin-left:-5000px">X</div>'),
    ("clipped", '<div style="position:absolute;clip:rect(0,0,0,0)">X</div>'),
    ("select", "<select style=display:none><option>X<option>X</select>"),
    ("option", "<select><option style=display:none>X</select>"),
    *[(f"content of {name}", f"<{name} id=a class=b>X</{name}>") for name in ["video", "audio", "meter"]],
    ("content of progress", "<progress>X</progress>"),
    ("a dialog that is not open", "<dialog>X</dialog>"),
    ("the description of a drawing", "<svg><desc>X</desc></svg>"),
    ("the annotation of a formula", "<math><semantics><annotation>X</annotation></semantics></math>"),
    ("a division that is left open in a form", "<form style=display:none><div></form>X</div>"),
    ("a division that a form's end does not end", "<form><div style=display:none></form>X</div>"),
    ("hidden attribute", "<p hidden>X</p>"),
    ("behind a slash", '<p class="a"/style="display:none">X</p>'),
    ("a size of nothing", "<marquee width=0 height=0>X</marquee>"),
    ("a size of nothing, by a reference", "<marquee width=&#48; height=0>X</marquee>"),
    ("a sheet for a medium by a reference", "<style media='&#115;creen'>p{display:none}</style><p>X</p>"),
    ("a sheet of a type by a reference", "<style type='text/&#99;ss'>p{display:none}</style><p>X</p>"),
    ("white on the default ground", "<font color=white>X</font>"),
    ("white by number", '<font color="#FFFFFF">X</font>'),
    ("white without #", "<font color=ffffff>X</font>"),
    ("white in three digits", '<span style="color:#fff">X</span>'),
    ("white as rgb()", '<span style="color: rgb(255, 255, 255)">X</span>'),
    ("white in percent", '<span style="color:rgb(100%,100%,100%)">X</span>'),
    ("nearly white", "<font color=#f8f8f0>X</font>"),
    ("a named near white", "<font color=ivory>X</font>"),
    ("transparent", '<span style="color:transparent">X</span>'),
    ("alpha 0", '<span style="color:rgba(0,0,0,0)">X</span>'),
    ("alpha 0 in digits", '<span style="color:#00000000">X</span>'),
    ("ground of a cell", "<table><tr><td bgcolor=red><font color=#ff0000>X</font></td></tr></table>"),
    ("ground of a table", "<table bgcolor=red><tr><td><font color=#ff0000>X</font></td></tr></table>"),
    ("ground of a row", "<table><tr bgcolor=red><td><font color=#ff0000>X</font></td></tr></table>"),
    ("ground of a style", '<div style="background-color:blue"><font color=blue>X</font></div>'),
    ("ground in short", '<div style="background:#00f url(x.gif)"><font color=blue>X</font></div>'),
    (
        "a colour of a cell that its style takes away",
        "<table><td bgcolor=black style='color:#fff;background:none'>X</table>",
    ),
    (
        "a colour of a table that its style takes away",
        "<table bgcolor=red style='background:transparent'><td style='color:#fff'>X</table>",
    ),
    (
        "a colour that another rule takes away",
        "<style>p{background:#000;color:#fff}.x{background-color:transparent}</style><p class=x>X</p>",
    ),
    ("black ground", '<div style="background:black">X</div>'),
    ("link in the colour of its ground", "<font color=red><a href=x style='color:#ffffff'>X</a></font>"),
    ("inside something hidden", '<div style="display:none"><p style="display:block">a</p><b>X</b></div>'),
    ("table in a hidden division", "<div style=display:none><table><tr><td>X</td></tr></table></div>"),
    ("sheet, class", "<style>.h{display:none}</style><p class='a H'>X</p>"),
    ("sheet, id", "<style><!-- #h { font-size: 0 } --></style><p id=h>X</p>"),
    ("sheet, element", "<style>i, u {display:none}</style><u>X</u>"),
    ("sheet, element and class", "<style>p.h{color:#fff}</style><p class=h>X</p>"),
    ("sheet, for the screen", "<style>@media screen{.h{display:none}}</style><p class=h>X</p>"),
    ("sheet, behind an import", "<style>@import url(x.css); .h{display:none}</style><p class=h>X</p>"),
    ("sheet, behind a charset", '<style>@charset "utf-8"; .h{display:none}</style><p class=h>X</p>'),
    ("sheet, a brace in a string", '<style>a:after{content:"{"} .h{display:none}</style><p class=h>X</p>'),
    ("sheet, inside of any division", "<style>body div>.h{display:none}</style><div><p class=h>X</p></div>"),
    ("sheet, two classes", "<style>.h.i{display:none}</style><p class='i j h'>X</p>"),
    ("sheet, class as an attribute", "<style>[class=h]{display:none}</style><p class=h>X</p>"),
    ("sheet, if supported", "<style>@supports(display:grid){.h{display:none}}</style><p class=h>X</p>"),
    ("sheet, for all widths", "<style>@media (min-width:1px){.h{display:none}}</style><p class=h>X</p>"),
    (
        "sheet, blocks in blocks",
        "<style>@media all{@media screen{a{b:c}.h{display:none}}}</style><p class=h>X</p>",
    ),
    ("sheet, behind the text", "<p class=h>X</p><style>.h{display:none}</style>"),
    ("sheet, important", "<style>.h{display:none!important}</style><p class=h style='display:block'>X</p>"),
    ("sheet, class in entities", "<style>.h{display:none}</style><p class='&#104;'>X</p>"),
    ("sheet, last of many classes", f"<style>.h{{display:none}}</style><p class='{'a ' * 30}h'>X</p>"),
    ("sheet, element with a class", "<style>p.h b, p{display:none}</style><p class=h>X</p>"),
    ("sheet, after a rule of no meaning", "<style>@page{a:b} .h{display:none}</style><p class=h>X</p>"),
    ("a field that is not shown", "<input value=X style='opacity:0'>"),
    ("unknown element", "<xyz style=display:none>X</xyz>"),
]


@pytest.mark.parametrize(("why", "source"), HIDING, ids=[row[0] for row in HIDING])
def test_text_is_hidden_by(why: str, source: str) -> None:
    html = read_html("before " + source + " after")
    assert words(html.visible) == "before after"
    assert "X" in html.hidden


SHOWN = [
    ("black", "<font color=black>X</font>"),
    ("light grey that can be read", "<font color=#cccccc>X</font>"),
    ("white on a dark cell", "<table><tr><td bgcolor=navy><font color=white>X</font></td></tr></table>"),
    ("white on a dark page", "<body bgcolor=black text=white>X"),
    ("white on a picture", "<table><tr><td background=x.gif><font color=white>X</font></td></tr></table>"),
    ("white on a picture on nothing", '<p style="background:transparent url(x.gif);color:white">X</p>'),
    (
        "a row without ground on a dark table",
        "<table bgcolor=#000><tr style='background:none'><td style='color:#fff;background:0'>X</table>",
    ),
    ("white on a gradient", '<p style="background:linear-gradient(red,blue);color:white">X</p>'),
    (
        "the ground of a block of a link, behind a link in it",
        "<a href=x><div style=background:#000><a href=y></a><b style=color:#fff>X</b></div>",
    ),
    ("a mark has its own colours", "<font color=white><mark>X</mark></font>"),
    ("a mark has its own ground", "<mark id=a style=color:white>X</mark>"),
    ("a link has its own colour", "<font color=white><a href=x>X</a></font>"),
    ("visibility undone", '<p style="visibility:hidden"><b style="visibility:visible">X</b></p>'),
    ("size undone", '<td style="font-size:0"><span style="font-size:12px">X</span></td>'),
    ("colour undone", "<font color=white><font color=red>X</font></font>"),
    ("size undone by a word", '<p style="font-size:0;font-size:small">X</p>'),
    ("size undone by a font", "<p style=font-size:0><font size=7>X</font></p>"),
    ("size undone by a font of a colour", "<p style=font-size:0><font size=7 color=red>X</font></p>"),
    ("many times a small size", '<p style="font-size:1px"><b style="font-size:20em">X</b></p>'),
    ("a line without height", '<p style="line-height:0">X</p>'),
    ("indent undone", '<p style="text-indent:-400px;padding-left:400px">X</p>'),
    ("place undone", '<p style="position:relative;left:-9999px;margin-left:9999px">X</p>'),
    ("a comment in a name", '<p style="dis/**/play:none">X</p>'),
    ("display in a string", "<p style=\"x:'; display:none; '\">X</p>"),
    ("display in a string without end", '<p style="x:\'; display:none; ">X</p>'),
    ("display in brackets", '<p style="x:{;display:none;}">X</p>'),
    ("display in other brackets", '<p style="x:(;display:none;)">X</p>'),
    ("display of no meaning", '<p style="display:none!x">X</p>'),
    ("a shadow", '<p style="color:transparent;text-shadow:0 0 0 #000">X</p>'),
    (
        "letters cut out of the ground",
        '<p style="background:red;-webkit-background-clip:text;color:transparent">X</p>',
    ),
    ("cut off by nothing", '<p style="clip-path:inset(0)">X</p>'),
    ("clipped to a circle", '<p style="clip-path:circle(50%)">X</p>'),
    ("cut off, with room", '<p style="overflow:hidden;height:100px">X</p>'),
    ("zoom 0 is none", '<p style="zoom:0">X</p>'),
    ("an old filter", '<p style="filter:alpha(opacity=0)">X</p>'),
    ("height with a unit", '<p style="line-height:1.2;font-size:10pt">X</p>'),
    ("width of a cell", "<table><tr><td width=0 height=0>X</td></tr></table>"),
    ("display of another kind", '<span style="display:inline-block">X</span>'),
    ("background of another colour later", '<p style="background:black;background:white">X</p>'),
    (
        "a table does not inherit without doctype",
        "<font color=white><table><tr><td>X</td></tr></table></font>",
    ),
    ("text of a table outside its cells", "<table bgcolor=black><tr><font color=black>X</font></tr></table>"),
    ("a sheet for small screens", "<style>@media (max-width:9px){.h{display:none}}</style><p class=h>X</p>"),
    ("an open dialog", "<dialog open>X</dialog>"),
    ("a description without drawing", "<desc>X</desc>"),
    *[
        (f"{name} without table", f"<div><{name} style=display:none>X</div>")
        for name in ["td", "th", "caption", "tr", "tbody", "thead", "tfoot"]
    ],
    ("a form between cells", "<table><form style=display:none><tr><form style=color:#fff><td>X</table>"),
    ("a form in a form", "<form><form style=display:none>X"),
    ("a sheet for print", "<style media=print>.h{display:none}</style><p class=h>X</p>"),
    ("a sheet of another language", "<style type=text/x>.h{display:none}</style><p class=h>X</p>"),
    ("a sheet not for the screen", "<style>@media not screen{.h{display:none}}</style><p class=h>X</p>"),
    ("a sheet for nothing", "<style>@media not all{.h{display:none}}</style><p class=h>X</p>"),
    (
        "a block for nothing in one for all",
        "<style>@media all{@media print{.h{display:none}}}</style><p class=h>X</p>",
    ),
    ("one of two classes", "<style>.h.i{display:none}</style><p class=h>X</p>"),
    ("an element inside of another", "<style>div p{display:none}</style><p>X</p>"),
    ("a class inside of another", "<style>.i .h{display:none}</style><p class=h>X</p>"),
    (
        "important in the style too",
        "<style>.h{display:none!important}</style><p class=h style='display:block!important'>X</p>",
    ),
    ("a sheet with another class", "<style>.h{display:none}</style><p class=g>X</p>"),
    ("a sheet for children", "<style>.h b{display:none}</style><p class=h>X</p>"),
    ("a sheet below a style", "<style>.h{display:none}</style><p class=h style='display:block'>X</p>"),
    ("mso-hide alone", '<a href=x style="mso-hide:all">X</a>'),
    (
        "a table takes the colour of the page",
        "<body bgcolor=black text=white><font color=black><table><tr><td>X</td></tr></table>",
    ),
    ("the second of two attributes", '<p style="color:red" style="display:none">X</p>'),
    ("bgcolor where it means nothing", "<span bgcolor=black>X</span>"),
]


@pytest.mark.parametrize(("why", "source"), SHOWN, ids=[row[0] for row in SHOWN])
def test_text_is_not_hidden_by(why: str, source: str) -> None:
    html = read_html("before " + source)
    assert words(html.visible) == "before X"
    assert html.hidden.strip() == ""


ENDS = [
    ("the end of the form around its paragraph", "<form style=display:none><p>X</form>Y"),
    ("its end tag", "<span style=display:none>X</span>Y"),
    ("the end of the paragraph", "<p><span style=display:none>X</p>Y"),
    ("the next paragraph", "<p style=display:none>X<p>Y"),
    ("a block in the paragraph", "<p style=display:none>X<div>Y</div>"),
    ("the end of the division", "<div><span style=display:none>X</div>Y"),
    ("the end of the cell", "<table><tr><td><font color=white>X</td><td>Y</td></tr></table>"),
    ("the next cell", "<table><tr><td><font color=white>X<td>Y</table>"),
    ("the next row", "<table><tr><td style=display:none>X<tr><td>Y</table>"),
    ("the end of another heading", "<h1 style=display:none>X</h2>Y"),
    ("the next heading", "<h1 style=display:none>X<h2>Y"),
    ("a table in the paragraph", "<!doctype html><p style=display:none>X<table><td>Y</table>"),
    ("a rule in the paragraph", "<p style=display:none>X<hr>Y"),
    ("the next link", "<a href=x style=display:none>X<a>Y"),
    ("the next link, of two without address", "<a style=display:none>X<a>Y"),
    ("the next link, in a block in the link", "<a style=display:none>X<div><a>Y"),
    ("the next nobr", "<nobr style=display:none>X<nobr>Y"),
    ("the next button", "<button style=display:none>X<button>Y"),
    ("the end of the button around a block", "<button style=display:none><div>X</button>Y"),
    ("the next option", "<select><option style=display:none>X<option>Y</select>"),
    ("the end of the table", "<table><tr><td style=display:none>X</table>Y"),
    ("the next item", "<ul><li style=display:none>X<li>Y</ul>"),
    ("the next term", "<dl><dt style=display:none>X<dd>Y</dl>"),
    ("crossed formatting", "<b><span style=display:none>X</b>Y"),
    ("its end inside a block", "<font color=white><p>X</font>Y</p>"),
    ("its end before inner formatting", "<font color=white><b>X</font>Y</b>"),
]


@pytest.mark.parametrize(("why", "source"), ENDS, ids=[row[0] for row in ENDS])
def test_hiding_ends_with(why: str, source: str) -> None:
    html = read_html(source)
    assert (words(html.visible), words(html.hidden)) == ("Y", "X")


DOCTYPES = [
    ("html", "X"),
    ("HTML PUBLIC '-//W3C//DTD HTML 4.0 Transitional//EN'", ""),
    ('HTML PUBLIC "-//W3C//DTD HTML 4.0//EN"', "X"),
    ('HTML PUBLIC "-//IETF//DTD HTML//EN"', ""),
    ('HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"', ""),
    ('HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd"', "X"),
    ('html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1"', "X"),
    ("x", ""),
]


@pytest.mark.parametrize(("doctype", "hidden"), DOCTYPES, ids=[row[0] for row in DOCTYPES])
def test_letters_of_a_table_are_what_its_doctype_makes_of_them(doctype: str, hidden: str) -> None:
    page = "<font color=white><table><td>X</table>"
    assert read_html(f" <!-- a --><!DOCTYPE {doctype}>{page}").hidden.strip() == hidden
    assert read_html(f"<p><!DOCTYPE {doctype}>{page}").hidden.strip() == ""


LASTS = [
    ("an end tag of another", "<span style=display:none>X</b>Y"),
    ("an end tag of no element open", "<div style=display:none>X</p>Y</li></td>"),
    ("formatting over a paragraph's end", "<p><font color=white>X</p>Y"),
    ("formatting under crossed formatting", "<b><font color=white>X</b>Y"),
    ("formatting over two paragraphs", "<p><font color=white>X<p>Y<p>Y"),
    ("an end tag that does not leave its cell", "<div style=display:none><table><td>X</div>Y"),
    ("a table in a paragraph without doctype", "<p style=display:none>X<table><td>Y</table>Y"),
    ("a legend in a paragraph", "<p style=display:none>X<legend>Y</legend>Y"),
    ("an item in a quotation of an item", "<li><blockquote style=display:none>X<li>Y"),
    ("an inline end tag that does not leave its block", "<span style=display:none><div>X</span>Y</div>"),
    ("the end of formatting around its block", "<b><div style=display:none>X</b>Y</div>"),
    ("a link in a block of a link", "<a href=x><div style=display:none>X<a href=y>Y</a>Y</div>"),
    ("inheritance into a table with doctype", "<!doctype html><font color=white><table><td>X<td>Y</table>"),
]


@pytest.mark.parametrize(("why", "source"), LASTS, ids=[row[0] for row in LASTS])
def test_hiding_lasts_over(why: str, source: str) -> None:
    html = read_html(source)
    assert words(html.visible) == ""
    assert set("".join(html.hidden.split())) == {"X", "Y"}


def test_after_a_tag_that_never_ends_the_rest_is_hidden() -> None:
    html = read_html("seen <a title='x> not <p>seen</p>")
    assert (words(html.visible), words(html.hidden)) == ("seen", "not seen")


def test_a_sheet_may_concern_all_elements() -> None:
    assert words(read_html("<style>p *{display:none}</style>a<p>b<b>X</b></p>").visible) == "a b"
    assert words(read_html("<style>*{display:none}</style>X<p>X<b>X</b></p>").visible) == ""


def test_a_text_read_again_for_its_late_sheet_counts_once() -> None:
    html = read_html(
        "<p class=h>X<!-- --><img src=i><style>.h{color:#fff}</style><style>a{color:red}</style>"
    )
    assert (html.colours, html.images, html.comments, html.tags.count("style")) == (
        ["#ffffff", "#ff0000"],
        ["i"],
        1,
        2,
    )


JOINED = [
    ("a comment", "Vi<!-- x -->agra", 1),
    ("two comments in one place", "Vi<!-- x --><!-- y -->agra", 1),
    ("two places", "Vi<!-- x -->ag<xyz>ra", 2),
    ("an empty element", "V<b></b>iagra", 1),
    ("an empty element with attributes", "V<font color=red></font>iagra", 1),
    ("nested empty elements", "V<b><i></i></b>iagra", 1),
    ("a hidden element", "V<span style='display:none'>x</span>iagra", 1),
    ("wbr", "V<wbr>iagra", 1),
    ("an unknown end tag", "V</zz>iagra", 1),
    ("digits", "0<!-- -->9", 1),
    ("plain formatting", "<b>V</b>iagra", 0),
    ("nested formatting", "Hel<i><b>lo</b></i>", 0),
    ("crossing formatting", "<b><i>V</b></i>iagra", 0),
    ("a comment between words", "one <!-- x --> two<!-- y --> three", 0),
    ("a break", "one<br>two", 0),
    ("a comment beside a block", "one<!-- x --><p>two", 0),
    ("an empty element with space in it", "one<b> </b>two", 0),
]


@pytest.mark.parametrize(("why", "source", "count"), JOINED, ids=[row[0] for row in JOINED])
def test_words_split_by_nothing_are_counted(why: str, source: str, count: int) -> None:
    assert read_html(source).joined == count


ENTITIES = [
    ("&amp;&lt;&gt;&quot;&apos;", "&<>\"'"),
    ("&eacute;&Eacute;&euro;&mdash;", "éÉ€—"),
    ("&eacute &copy2 &ampx", "é ©2 &x"),
    ("&#65;&#x42;&#X43;", "ABC"),
    ("&#65&#x42 &#67x", "AB Cx"),
    ("&#0065;&#x000041;", "AA"),
    ("&#150;&#x80;&#146;", "–€’"),
    ("&#0;&#xD800;&#1114112;", "\ufffd\ufffd\ufffd"),
    ("&#99999999999999999999;", "\ufffd"),
    ("&#" + "9" * 10_000 + ";", "\ufffd"),
    ("&#;&#x;&#xg;&# 65;", "&#;&#x;&#xg;&# 65;"),
    ("&;& &unknownname; &unknown", "&;& &unknownname; &unknown"),
    ("&CounterClockwiseContourIntegral;&nGt;", "∳≫\u20d2"),
    ("AT&T & co", "AT&T & co"),
    ("Via&shy;gra&zwnj;&#8203;", "Via\u00adgra\u200c\u200b"),
]


@pytest.mark.parametrize(("source", "text"), ENTITIES)
def test_entities_are_decoded_as_browsers_do(source: str, text: str) -> None:
    assert decode(source) == text
    assert read_html(source).visible == text


def test_an_entity_is_not_made_of_two_texts() -> None:
    assert read_html("&#118<b></b>1st &l<!-- -->t;").visible == "v1st &lt;"


def test_entities_in_attributes_keep_queries_whole() -> None:
    html = read_html('<a href="&#104;ttp://x.example/?a=1&copy=2&lt=3&amp;b&eacute">x</a>')
    assert html.links == [("http://x.example/?a=1&copy=2&lt=3&bé", "x")]


LINKS = [
    ("quoted", '<a href="http://a.example/">one <b>two</b></a> x', [("http://a.example/", "one two")]),
    ("single quotes", "<a href='http://a.example/'>t</a>", [("http://a.example/", "t")]),
    ("bare", "<a target=x href=http://a.example/b>t</a>", [("http://a.example/b", "t")]),
    ("the first of two", "<a href=one href=two>t</a>", [("one", "t")]),
    ("spaces around =", '<A HREF = "one">t</A>', [("one", "t")]),
    ("in a drawing", "<svg><a xlink:href=one><text>t</text></a></svg>", [("one", "t")]),
    ("newline in the value", '<a href="\n one\n">t</a>', [("one", "t")]),
    (
        "line breaks and tabs in the value",
        '<a href="ht\ntp://e\tvil.e&#10;xa\r\nmple/">t</a>',
        [("http://evil.example/", "t")],
    ),
    ("no space between attributes", '<a class="x"href="one">t</a>', [("one", "t")]),
    ("never closed", "<a href=one>t<a href=two>u", [("one", "t"), ("two", "u")]),
    ("hidden text", "<div style=display:none><a href=one>t</a></div>", [("one", "t")]),
    ("a picture as text", "<a href=one><img src=x></a>", [("one", "")]),
    ("a name is no link", "<a name=x>t</a>", []),
    ("area and form", "<area href=one><form action=two>", [("one", ""), ("two", "")]),
    ("no value", "<a href>t</a>", [("", "t")]),
]


@pytest.mark.parametrize(("why", "source", "links"), LINKS, ids=[row[0] for row in LINKS])
def test_links_are_found_with_their_text(why: str, source: str, links: list[tuple[str, str]]) -> None:
    assert read_html(source).links == links


def test_what_stands_for_an_image_is_not_its_address() -> None:
    page = read_html(
        '<img src=a.png alt="Buy &amp; win"><img src=b.png><input type=image src=c alt=Go><img alt=x>'
    )
    assert [alt for alt in page.alts if alt] == ["Buy & win", "Go"]
    assert page.visible.strip() == ""


def test_images_are_every_source_that_is_loaded() -> None:
    html = read_html(
        '<body background="b.gif"><img src=i.gif><table background=t.gif><bgsound src=s.wav>'
        "<iframe src=f.html></iframe><embed src=e.swf><script src=j.js></script><input type=image src=n.gif>"
        "<p src=no>"
    )
    assert html.images == ["b.gif", "i.gif", "t.gif", "s.wav", "f.html", "e.swf", "j.js", "n.gif"]


PICTURES = [
    (
        "in a style",
        "<a style='background: URL(\"//x.example/A.png\") no-repeat'> </a>",
        ["//x.example/A.png"],
    ),
    ("with references", "<p style='background:url(&quot;a.png&quot;)'>", ["a.png"]),
    (
        "in a sheet",
        "<style>div {background-image:url( 'http://x.example/t' ) !important}</style>",
        ["http://x.example/t"],
    ),
    ("two of one ground", "<style>b{background:url(a.png),url(b.png)}</style>", ["a.png", "b.png"]),
    (
        "with its data",
        "<p style='background:url(data:image/gif;base64,AAAA)'>",
        ["data:image/gif;base64,AAAA"],
    ),
    (
        "behind the base",
        "<base href=http://x.example/><p style='list-style:url(a.png)'>",
        ["http://x.example/a.png"],
    ),
    ("without end", "<p style='background:url(a.png'>", ["a.png"]),
    (
        "beside that of an attribute",
        "<td background=a.png style='background:url(b.png)'>",
        ["a.png", "b.png"],
    ),
    ("fonts", "<style>@font-face{font-family:x;src:url(a.ttf),url(b.ttf)}</style>", []),
    ("other sheets", "<style>@import url(a.css); b{color:red}</style>", []),
    (
        "places in the page",
        "<style>v\\:* {behavior:url(#default#VML)}</style><p style='background:url()'>",
        [],
    ),
]


@pytest.mark.parametrize(("why", "page", "pictures"), PICTURES, ids=[row[0] for row in PICTURES])
def test_pictures_of_styles_are_images(why: str, page: str, pictures: list[str]) -> None:
    assert read_html(page).images == pictures


def test_pictures_of_a_style_take_linear_time() -> None:
    page = "<style>" + "b{background:url('" * 50_000 + "</style>" + "<p style=background:url(>" * 20_000
    start = time.process_time()
    read_html(page)
    assert time.process_time() - start < 5


def test_tags_are_every_start_tag_in_lower_case() -> None:
    html = read_html("<HTML><Body><p>a<P>b</p><br/><xyz><img></foo><!-- <i> --><script><u></script>")
    assert html.tags == ["html", "body", "p", "p", "br", "xyz", "img", "script"]


def test_colours_are_in_six_digits() -> None:
    html = read_html(
        '<body bgcolor=White text="#00F" link=navy><font color=ff8000>'
        '<td style="color:RGB(1,2,3);background:#abc">'
        "<font color=chucknorris><hr color=rebeccapurple><hr color=-00002><hr color=#1_2345>"
    )
    expected = ["#ffffff", "#0000ff", "#000080", "#ff8000", "#010203", "#aabbcc", "#c00000", "#663399"]
    expected += ["#000002", "#102345"]
    assert sorted(html.colours) == sorted(expected)


IN_A_DRAWING = [  # what Chromium shows of it
    ("a sheet is markup", "<svg><style><p>see</p></style></svg>", "see"),
    ("a sheet in a formula", "<math><style><p>see</p></style></math>", "see"),
    *[
        (f"{name} is markup", f"<svg><{name}>X<p>see</p></{name}></svg>", "see")
        for name in ("script", "iframe", "noembed", "noframes", "xmp", "textarea", "plaintext")
    ],
    ("what a formula holds", "<math><style>X<mtext>see</mtext></style></math>", "see"),
    ("a title of a drawing is one", "<svg><title><p>X</p></title></svg>", ""),
    ("a title of a formula is none", "<math><title><p>see</p></title></math>", "see"),
    ("a title of a drawing that it ends", "<svg><title>X</svg>see", "see"),
    ("its end ends all in it", "<svg style=display:none><section>X<form></svg>see", "see"),
    ("no tag at all", "<svg><>see", "<>see"),
    ("but nothing of HTML in it", "<svg style=display:none><desc><div></svg>X", ""),
    ("a description in HTML", "<math><mtext><annotation-xml>see", "see"),
    ("a mask in HTML", "<svg><foreignObject><mask>see", "see"),
    ("HTML in a drawing", "<svg><foreignObject><div><style><p>X</p></style>see</div>", "see"),
    ("HTML in a formula", "<math><mi><style><p>X</p></style>", ""),
    ("HTML of a drawing in a formula", "<math><foreignObject><style><p>see", "see"),
    ("HTML of a formula in a drawing", "<svg><mi><style><p>see", "see"),
    ("a drawing in HTML in a formula", "<math><mi><svg><style><p>see", "see"),
    ("a paragraph ends a hidden one", "<svg style=display:none><g>X<p>see", "see"),
    ("and the link in it", "<svg><a style=display:none><g>X<p>see", "see"),
    ("and two of them", "<svg style=display:none><svg><b>see", "see"),
    ("so does its end", "<svg style=display:none></p>see", "see"),
    ("a font", "<svg style=display:none><font>X<font size=2>see", "see"),
    ("no link", "<svg style=display:none><a>X</a><section>X", ""),
    ("not where it holds HTML", "<svg style=display:none><foreignObject><p>X", ""),
    ("an annotation in HTML", "<math><annotation-xml encoding=text/HTML><p>X", ""),
    ("an annotation", "<math><annotation-xml encoding=x><p>see", "see"),
    ("behind the end of it", "<svg></svg><style><p>X</p></style>see", "see"),
    ("behind one that ends itself", "<svg/><style><p>X</p></style>see", "see"),
    ("behind one that does not", "<svg width=0/><style><p>see", "see"),
    ("a hidden part that ends itself", "<svg><g style='display:none'/><text>see", "see"),
    ("text without markup", "<svg><text><![CDATA[<i> &lt; see]]>", "<i> &lt; see"),
    ("a comment in a sheet", "<svg><style>X<!-- <p>X</p> --></style><p>see", "see"),
]


@pytest.mark.parametrize(("why", "page", "seen"), IN_A_DRAWING, ids=[row[0] for row in IN_A_DRAWING])
def test_a_drawing_has_markup_of_its_own(why: str, page: str, seen: str) -> None:
    assert words(read_html("<!doctype html>" + page).visible) == seen


SHEETS_IN_A_DRAWING = [
    ("one", ".h{display:none}", True),
    ("with a reference", ".h{display&#58;none}", True),
    ("without markup", "<![CDATA[ .h{display:none} ]]>", True),
    ("up to a tag", ".h{display:none}<g>", True),
    ("in HTML, with a reference", "<desc><style>.h{display&#58;none}</style></desc>", False),
]


@pytest.mark.parametrize(
    ("why", "sheet", "hides"), SHEETS_IN_A_DRAWING, ids=[row[0] for row in SHEETS_IN_A_DRAWING]
)
def test_a_sheet_in_a_drawing_is_one_of_the_page(why: str, sheet: str, hides: bool) -> None:
    page = read_html(f"<!doctype html><svg><style>{sheet}</style></svg><p class=h>X</p>")
    assert ("X" in page.hidden) is hides
    assert "X" in read_html(f"<math><style>{sheet}</style></math><p class=h>X</p>").visible


@pytest.mark.parametrize("part", ["<svg>", "<svg><p>", "<svg><desc>", "<style>", "<svg><![CDATA[", "<svg/>"])
def test_drawings_take_linear_time(part: str) -> None:
    few, many = [f"<svg>{'<desc>' * times}{part * times}" for times in (500, 5_000)]
    assert calls_of(lambda: read_html(many)) < 25 * calls_of(lambda: read_html(few))


def test_title_is_kept_apart() -> None:
    html = read_html("<title>A &amp; <b>B</title>text")
    assert (html.title, html.visible) == ("A & <b>B", "text")


def test_comments_are_counted_and_not_kept() -> None:
    html = read_html("a<!-- one --><!two><!doctype html><![if x]>b")
    assert html.comments == 3
    assert "one" not in html.visible + html.hidden


def test_end_tags_of_nothing_do_not_keep_a_paragraph_open() -> None:
    html = read_html("<span>" * 520 + "</u>" * 520 + "<p style=display:none>X<p>Y")
    assert (words(html.visible), words(html.hidden)) == ("Y", "X")


def test_a_hidden_element_within_hidden_ones_does_not_end_them() -> None:
    html = read_html("<span style=display:none>" * 1_000 + "X" + "</span>" * 999 + "X</span>Y")
    assert (html.visible, html.hidden) == ("Y", "XX")


QUOTING = (
    ("Gmail", '<div class="gmail_quote">Ada wrote:<br><blockquote class="gmail_quote" style="margin:0">', 3),
    ("Apple Mail", '<blockquote type="cite"><div>', 4),
    ("Thunderbird", '<blockquote type="cite"\n cite="mid:7@lake.example">', 3),
    ("Zoho", '<BLOCKQUOTE id="blockquote_zmail">', 3),
    ("Outlook for the web", '<hr><div id="x_divRplyFwdMsg" dir="ltr">', 3),
    ("Outlook", "<div style='border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm'><p>", 4),
    ("Yahoo", '<div id="yahoo_quoted_7" class="yahoo_quoted">', 3),
    ("nobody: it is set apart", "<blockquote style='margin-left:9px'>", 0),
    ("nobody: a class of a shop", '<div class="quote">', 0),
)


@pytest.mark.parametrize(("program", "begin", "lines"), QUOTING, ids=[program for program, *_ in QUOTING])
def test_lines_that_mail_programs_mark_as_quoted_are_counted(program: str, begin: str, lines: int) -> None:
    """A line of its own for the block, one for each `br`; that with a `>` is known without."""
    assert read_html(f"<p>Yes.</p>{begin}Shall we?<br>\n&gt; no<br>Ida").quoted == lines, program


def test_a_quotation_ends_with_the_outermost_blockquote() -> None:
    page = "<blockquote type=cite>a<br>\n<blockquote>b<br>\n</blockquote>c<br>\n</blockquote>d<br>\ne<br>\n"
    whole = read_html(page * 2)
    assert whole.quoted == 2 * read_html(page).quoted
    assert read_html(page.replace("type=cite", "")).quoted == 0
    assert 0 < read_html(page).quoted < whole.visible.count("\n") / 2


def test_end_tags_of_no_quotation_are_nothing() -> None:
    assert read_html("a<br></blockquote></blockquote><blockquote type=cite>b<br>\nc").quoted > 0
