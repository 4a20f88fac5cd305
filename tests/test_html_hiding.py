"""Ways of a style to hide a text that few mails have, and ways that only look like one."""

import pytest

from nbspam.mail.html.reader import read_html

HIDDEN_BY = [
    "opacity:calc(0)",
    "letter-spacing:calc(0px - 20px)",
    "opacity:1%",
    "filter:blur(20px)",
    "filter:contrast(0)",
    "filter:brightness(99)",
    "mask:linear-gradient(transparent,transparent)",
    "-webkit-mask-image:linear-gradient(transparent,transparent)",
    "mix-blend-mode:lighten",
    "clip-path:polygon(0 0,0 0,0 0)",
    "clip-path:ellipse(0 0)",
    "clip-path:inset(0 100% 0 0)",
    "clip-path:inset(60% 50%)",
    "clip-path:inset(9999px)",
    "position:absolute;clip:rect(5px,5px,5px,5px)",
    "transform:scale3d(0,0,0)",
    "transform:rotateX(90deg)",
    "transform:rotate3d(0, 1, 0, 90deg)",
    "transform:rotate3d(1,1,0,-90deg)",
    "transform:matrix(0,0,0,0,0,0)",
    "transform:matrix(1,0,0,1,-9999,0)",
    "transform:translate3d(0,-9999px,0)",
    "scale:0",
    "translate:-9999px",
    "rotate:y 90deg",
    "position:absolute;left:calc(0px - 9999px)",
    "position:absolute;left:-100%",
    "text-indent:-100%",
    "transform:translateX(-100%)",
    "position:absolute;inset:0 0 0 -9999px",
    "position:absolute;inset-inline-start:-9999px",
    "position:fixed;top:9999px",
    "position:fixed;left:-99dvw",
    "margin-inline-start:-9999px",
    "max-height:calc(0px);overflow:hidden",
    "height:0;overflow:auto",
    "height:0;overflow-y:scroll",
    "height:0;padding-top:50px;overflow:hidden",
    "width:0;padding-left:50px;overflow:hidden",
    "block-size:0;overflow:hidden",
    "inline-size:0;overflow:clip",
    "contain:strict",
    "font-size:calc(1px*0)",
    "font-size:clamp(0px,0px,0px)",
    "font-size:min(0px,10px)",
    "font-size:max(calc((1px - 1px)*3),0px)",
    "font-size-adjust:0",
    "letter-spacing:-1em",
    "-webkit-text-security:disc",
    "display:table-column",
    "display:none;display:",
    "opacity:0;opacity:",
    "display:none;display:none none",
    "font-size:12px;font:0/0 a",
    "color:#fff;background-color:#000;background:#fff",
    "color:#fff;background-color:red black",
    "color:#fff;background:red black",
    "color:#fff;background-color:linear-gradient(red,red)",
    "color:#fff;background-color:#000 url(x.png)",
    "color:#fff;background:#fff none no-repeat fixed 0 50%/2px;background:x",
    "font-size:0;font:12px",
    "opacity:0;opacity:x",
    "visibility:hidden;visibility:",
    "position:absolute;left:-9999px;position:5",
    "position:absolute;left:-9999px;left:5foo",
    "max-height:0;max-height:x;overflow:hidden",
    "color:white;background:white;background:",
    "--x:none;display:var(--x)",
    "display:var(--y,none)",
    "--a:var(--b);--b:0;font-size:var(--a)",
    "color:hwb(0 100% 0%)",
    "color:lab(100% 0 0)",
    "color:oklch(100% 0 0)",
    "color:color(srgb 1 1 1)",
    "color:color-mix(in srgb,white,white)",
    "color:light-dark(#fff,#000)",
    "color:canvas",
    "color:rgb(none none none / 0)",
    "background:oklab(0.628 0.225 0.126);color:#f00",
    "background:lab(54.3 80.8 69.9);color:red",
    "background:hwb(120 0% 0%);color:lime",
    "background:linear-gradient(#fff,rgb(250,250,250) 50%);color:#fff",
    "background-image:linear-gradient(#fff,#fafafa);color:#fff",
    "background-color:#fff;background-image:url(x.png);color:#fff",
    "background-image:none;color:#fff",
    "background-image:initial;color:#fff",
]


@pytest.mark.parametrize("style", HIDDEN_BY)
def test_a_style_hides(style: str) -> None:
    assert read_html(f'<p style="{style}">X').visible.strip() == ""
    assert read_html(f"<style>p{{{style}}}</style><p>X").visible.strip() == ""


SEEN_WITH = [
    "display:none;display:var(--x)",
    "display:none;display:block flow",
    "display:'none'",
    "display:none'",
    "color:'#fff'",
    "font:0/0 a;font-size:12px",
    "background-color:#000;background:#fff",
    "background:#fff;background:#000 x",
    "font-size:0;font:12px a",
    "font-size:0;font:bold small a",
    "font-size:12px;font:bold",
    "font:0",
    "height:0;padding-bottom:50px;overflow:hidden",
    "height:calc(100% - 5px);overflow:hidden",
    "height:1%;overflow:hidden",
    "position:absolute;left:50%;transform:translate(-50%,-50%)",
    "margin-left:-5%",
    "width:calc(100% - 100px);overflow:hidden",
    "clip-path:inset(10%)",
    "clip-path:polygon(0 0,100% 0,100% 100%)",
    "opacity:.5",
    "filter:blur(1px)",
    "filter:brightness(1.2)",
    "mask:linear-gradient(black,transparent)",
    "rotate:90deg",
    "transform:rotate(90deg)",
    "transform:rotate3d(0,0,1,90deg)",
    "transform:rotate3d(0,0,0,90deg)",
    "transform:rotate3d(0,1,0,45deg)",
    "transform:matrix(1,0,0,1,10,10)",
    "position:relative;inset:0",
    "letter-spacing:-1px",
    "font-size:calc(8px + 1em)",
    "font-size:calc(",
    "font-size:calc(1px/0px)",
    "color:hwb(0 0% 100%)",
    "color:lab(20% 30 30)",
    "color:-webkit-link()",
    "-webkit-text-fill-color:transparent;-webkit-text-stroke:1px black",
    "background:linear-gradient(#000,#fff);color:#fff",
    "background-image:linear-gradient(90deg,#000 0%,#800 100%);color:#fff",
    "background-color:#fff;background-image:linear-gradient(#000,#800);color:#fff",
    "background-image:url(x.png);color:#fff",
    "position:absolute;left:-9999px;transform:translateX(9999px)",
    "height:50dvh;overflow:hidden",
    "height:0;height:auto;overflow:hidden",
    "height:0;height:calc(1px + env(x));overflow:hidden",
    "visibility:hidden;visibility:var(--x)",
    "height:5foo;overflow:hidden",
    "font-size:12foo",
    "font-size:2lh",
    "font-size:0_0px",
    "font-size:\u0660px",
    "opacity:0foo",
    "color:#-00002",
    "color:#+0000000",
    "color:#\u0661\u0661\u0661\u06610000",
    "color:rgb(infinity,255,255)",
    "color:rgb(255px,255px,255px)",
]


@pytest.mark.parametrize("style", SEEN_WITH)
def test_a_style_does_not_hide(style: str) -> None:
    assert read_html(f'<p style="{style}">see').visible.strip() == "see"


HUGE = f"calc({'*'.join(['1e6'] * 30)})"
BROKEN_VALUES = [
    "opacity:calc()",
    "font-size:min()",
    "font-size:calc(1 + )",
    f"color:lab(20 {HUGE} 0)",
    f"color:oklab(0.2 {HUGE} 0)",
    "color:color(srgb 0 0 0 / 1 1)",
    "color:" + "light-dark(" * 5_000 + "red,red" + ")" * 5_000,
]


@pytest.mark.parametrize("style", BROKEN_VALUES, ids=[style[:24] for style in BROKEN_VALUES])
def test_a_broken_value_raises_nothing_and_hides_nothing(style: str) -> None:
    assert read_html(f'<p style="{style}">see').visible.strip() == "see"


@pytest.mark.parametrize(
    ("string", "is_seen"),
    [
        ("'\\\\'", False),
        ("'\\''", False),
        ("'\\\\\\''", False),
        ("'a\\\nb'", False),
        ("'a\\\nb\\\nc'", False),
        ("'a\\\\\n", False),
        ("'a", True),
        ("'a\\'", True),
    ],
)
def test_a_string_ends_at_its_quote_or_with_its_line(string: str, is_seen: bool) -> None:
    page = f"<style>p{{content:{string};display:none}}</style><p>see"
    assert ("see" in read_html(page).visible) is is_seen


OF_THE_ELEMENT = [
    ("an element in a line has no height", "<span style='height:0;overflow:hidden'>see</span>"),
    ("nor is it scaled", "<b style='transform:scale(0)'>see</b>"),
    ("nor indented", "<b style='text-indent:-9999px'>see</b>"),
    ("nor moved up by its margin", "<b style='margin-top:-9999px'>see</b>"),
    ("nor moved by transform", "<b style='transform:translateX(-9999px)'>see</b>"),
    ("nor left undrawn", "<b style='content-visibility:hidden'>see</b>"),
    ("a block in a line", "<div style='display:inline;height:0;overflow:hidden'>see</div>"),
    ("a cell grows", "<table><td style='max-height:0;overflow:hidden'>see</table>"),
    ("a page grows", "<html style='height:0;overflow:hidden'><body>see"),
    ("a body grows", "<body style='width:0;overflow:hidden'>see"),
    ("a table grows", "<table style='height:0;overflow:hidden'><td>see</table>"),
]


@pytest.mark.parametrize(("why", "page"), OF_THE_ELEMENT, ids=[row[0] for row in OF_THE_ELEMENT])
def test_what_hides_a_box_does_not_hide(why: str, page: str) -> None:
    assert read_html(page).visible.strip() == "see"


@pytest.mark.parametrize("path", ["inset(0 100% 0 0)", "polygon(0 0,0 0,0 0)", "ellipse(0 0)"])
def test_an_element_in_a_line_is_cut_out_like_any_other(path: str) -> None:
    assert read_html(f"<b style='clip-path:{path}'>X</b>").visible == ""


@pytest.mark.parametrize("box", ["display:inline-block", "display:block", "float:left", "position:absolute"])
def test_an_element_in_a_line_is_cut_off_once_it_is_a_box(box: str) -> None:
    assert read_html(f"<b style='{box};width:0;overflow:hidden'>X</b>").visible == ""


def test_opacity_is_multiplied() -> None:
    once, *_ = words = ["<i style='opacity:.4'>"] * 3
    assert read_html(once + "see").visible == "see"
    assert read_html("".join(words) + "X").visible == ""


def test_letters_that_get_smaller_and_smaller_vanish() -> None:
    assert read_html("<b style='font-size:smaller'>" * 4 + "see").visible == "see"
    assert read_html("<b style='font-size:smaller'>" * 20 + "X").visible == ""


def test_a_variable_is_known_wherever_it_is_set() -> None:
    assert read_html("<div style='--c:#fff'><p style='color:var(--c)'>X").visible.strip() == ""
    assert read_html("<style>p{display:var(--x)}:root{--x:none}</style><p>X").visible.strip() == ""
    assert read_html("<style>:root{--x:none}</style><p style='display:var(--x)'>X").visible.strip() == ""
    assert read_html("<p style='color:var(--c)'>see").visible.strip() == "see"


DETAILS = [
    ("only the summary", "<details><summary>see</summary>X</details>", "see"),
    ("open", "<details open><summary>see</summary>it</details>", "see it"),
    ("without summary", "<details>X</details>see", "see"),
    ("the first summary only", "<details><summary>see</summary><summary>X</summary></details>", "see"),
    ("a summary behind text", "<details>X<summary>see</summary>X</details>", "see"),
    ("a summary that is no child", "<details><div><summary>X</summary></div></details>", ""),
    ("a summary in formatting", "<details><b><summary>X</summary></b></details>", ""),
    (
        "details in closed ones",
        "<details><summary>see</summary><details open><summary>X</summary>X</details></details>",
        "see",
    ),
    ("formatting that ends in a summary", "<b><details><summary></b>see</summary>X</details>", "see"),
    ("a summary alone", "<summary>see</summary>", "see"),
    ("with a sheet that asks", "<style>p summary{color:red}</style><details><summary>see</summary>X", "see"),
]


@pytest.mark.parametrize(("why", "page", "seen"), DETAILS, ids=[row[0] for row in DETAILS])
def test_of_details_a_reader_sees(why: str, page: str, seen: str) -> None:
    assert " ".join(read_html(page).visible.split()) == seen


@pytest.mark.parametrize("name", ["symbol", "clipPath", "mask", "pattern"])
def test_what_a_drawing_keeps_for_later_is_hidden(name: str) -> None:
    assert read_html(f"<svg><{name}><text>X</text></{name}></svg>").visible == ""
    assert read_html(f"<{name}>see</{name}>").visible == "see"


def test_a_phantom_of_a_formula_takes_only_room() -> None:
    assert read_html("<math><mphantom><mi>X</mi></mphantom></math>").visible == ""


TOLD = [
    ("a button", "<input type=submit value='see it'>", "see it"),
    ("a field", "<input value=see>it", "see it"),
    ("an empty field", "<input type=text placeholder=see>", "see"),
    ("a group of choices", "<select><optgroup label=see><option>it</select>", "see it"),
    ("nothing of a hidden field", "<input type=hidden value=X>see", "see"),
    ("nothing of a box to tick", "<input type=checkbox value=X>see", "see"),
    ("nothing of a field that is not displayed", "<p style=display:none><input value=X></p>see", "see"),
]


@pytest.mark.parametrize(("why", "page", "seen"), TOLD, ids=[row[0] for row in TOLD])
def test_attributes_show(why: str, page: str, seen: str) -> None:
    assert " ".join(read_html(page).visible.split()) == seen


LINKS = [
    ("a refresh", "<meta http-equiv=refresh content='0;url=http://x.example/a'>", "http://x.example/a"),
    ("in quotes", "<meta http-equiv=Refresh content='0; URL=\"http://x.example/a\"'>", "http://x.example/a"),
    ("without url=", "<meta http-equiv=refresh content='1,http://x.example/a'>", "http://x.example/a"),
    ("in references", "<meta http-equiv=&#114;efresh content='0;url=//x.example'>", "//x.example"),
    ("relative to a base", "<base href=http://x.example/a/b.html><a href=c>", "http://x.example/a/c"),
    ("a base that comes later", "<a href=c?d=1></a><base href=http://x.example>", "http://x.example/c?d=1"),
    ("from the root", "<base href=http://x.example/a/b><a href=/c>", "http://x.example/c"),
    ("another host", "<base href=https://x.example/a/b><a href=//y.example/c>", "https://y.example/c"),
    (
        "the first base",
        "<base href=http://x.example/><base href=http://y.example/><a href=c>",
        "http://x.example/c",
    ),
    (
        "an address that needs no base",
        "<base href=http://x.example/><a href=mailto:a@b.example>",
        "mailto:a@b.example",
    ),
    ("a place on the page", "<base href=http://x.example/><a href=#top>", "#top"),
    ("a relative base", "<base href=/a/><a href=c>", "c"),
]


@pytest.mark.parametrize(("why", "page", "target"), LINKS, ids=[row[0] for row in LINKS])
def test_a_link_leads_to(why: str, page: str, target: str) -> None:
    assert [found for found, _ in read_html(page).links] == [target]


def test_a_picture_stands_at_its_base() -> None:
    assert read_html("<base href=http://x.example/a/><img src=b.png>").images == ["http://x.example/a/b.png"]


def test_a_refresh_to_the_same_page_leads_nowhere() -> None:
    assert read_html("<meta http-equiv=refresh content=5><meta name=refresh content=6>").links == []


def test_a_long_base_is_not_kept_for_every_link() -> None:
    html = read_html(f"<base href=http://x.example/{'a/' * 1_000}>" + "<a href=b>c</a>" * 2_000)
    assert sum(len(target) > 1_000 for target, _ in html.links) == 1_000


def test_a_field_of_a_form_that_is_not_shown_hides_its_text() -> None:
    html = read_html("<p>see<textarea style='display:none'>X</textarea><xmp hidden>Y</xmp>")
    assert html.visible.split() == ["see"]
    assert html.hidden.split() == ["X", "Y"]


TOGETHER = [  # what hides, in two pieces: the weaker, the stronger
    ("overflow:hidden", "max-height:0"),
    ("height:0", "overflow:hidden"),
    ("position:absolute", "left:-9999px"),
    ("left:-9999px", "position:absolute"),
    ("position:fixed", "clip:rect(0,0,0,0)"),
    ("float:left;height:0", "overflow:hidden"),
    ("overflow:hidden;max-height:0", "line-height:2"),
    ("position:absolute;left:-9999px", "display:block"),
    ("filter:opacity(0)", "display:block"),
    ("margin:0 0 0 -9999px", "margin-top:1px"),
    ("margin:5px", "margin-left:-9999px"),
]
UNDONE = [  # what hides, and what makes it visible again
    ("overflow:hidden;max-height:0", "max-height:none"),
    ("overflow:hidden;max-height:0", "overflow:visible"),
    ("overflow-x:hidden;max-height:0", "overflow:visible"),
    ("overflow:hidden;height:0", "height:20px"),
    ("overflow:hidden;height:0", "padding:20px 0"),
    ("overflow:hidden;width:0", "width:auto"),
    ("overflow:hidden;line-height:0", "line-height:1.2"),
    ("position:absolute;left:-9999px", "left:0"),
    ("position:absolute;left:-9999px", "position:static"),
    ("position:absolute;clip:rect(0,0,0,0)", "clip:auto"),
    ("margin:0 0 0 -9999px", "margin-left:0"),
    ("margin-left:-9999px", "margin:0"),
    ("transform:scale(0)", "transform:none"),
    ("clip-path:inset(50%)", "clip-path:none"),
    ("letter-spacing:-20px", "letter-spacing:0"),
    ("text-indent:-9999px", "text-indent:0"),
    ("content-visibility:hidden", "content-visibility:visible"),
]


@pytest.mark.parametrize(("weaker", "stronger"), TOGETHER + UNDONE)
@pytest.mark.parametrize(
    "page",
    [
        "<style>div{{{weaker}}} .b{{{stronger}}}</style>x<div class=b>word</div>",
        "<style>.a{{{weaker}}} .b{{{stronger}}}</style>x<div class='b a'>word</div>",
        "<style>.a{{{weaker}}} .a{{{stronger}}}</style>x<div class=a>word</div>",
        "<style>.a{{{weaker}}}</style>x<div class=a style='{stronger}'>word</div>",
        "<style>.a{{{important}}}</style>x<div class=a style='{weaker}'>word</div>",
        "x<div style='{weaker};{stronger}'>word</div>",
    ],
    ids=["name and class", "two classes", "twice", "class and style", "important", "one style"],
)
def test_the_declarations_of_an_element_hide_it_together(page: str, weaker: str, stronger: str) -> None:
    html = read_html(page.format(weaker=weaker, stronger=stronger, important=stronger + "!important"))
    assert ("word" in html.visible) is ((weaker, stronger) in UNDONE)


def test_a_declaration_that_no_browser_takes_undoes_nothing() -> None:
    sheet = "<style>.a{overflow:hidden;max-height:0} .b{max-height:never;overflow:}</style>"
    assert "word" in read_html(sheet + "<div class='a b'>word</div>").hidden
