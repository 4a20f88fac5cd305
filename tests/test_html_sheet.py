"""Which elements a style sheet hides: selectors, media and the order of rules, on pages of a few words."""

import pytest

from nbspam.mail.html.reader import read_html
from nbspam.mail.html.sheet import MAX_SELECTORS_READ
from tests.work import calls_of

HIDDEN_BY = [
    ("an ancestor", ".a .b", "<div class=a><p class=b>X</div><p class=b>see"),
    ("an ancestor two levels out", ".a .b", "<div class=a><div><p class=b>X</div></div><p>see"),
    ("an ancestor between", ".a i .b", "<div class=a><i><b class=b>X</b></i><b class=b>see</b></div>"),
    ("a cell in a table", "table td.x", "<table><td class=x>X<td>see</table>"),
    ("a name in a class", ".x p", "<div class=x><p>X</div><p>see"),
    ("names only", "div p", "<div><p>X</div><p>see"),
    ("an id", "#x span", "<div id=x>see <span>X</span></div>"),
    ("the body, although it is not written", "body p", "<p>X</p>see"),
    ("the page", "html body p", "<html><body><p>X</p>see"),
    ("the root", ":root p", "<p>X</p>see"),
    ("a class of the body", ".m p", "<body class=m><p>X</p>see"),
    ("a child", ".a>p", "<div class=a><p>X</p><div><p>see</div></div>"),
    ("a child of the body", "body > p", "<p>X</p><div><p>see</div>"),
    ("a child that wants a second look", ".a > i b", "<p class=a><i><i><b>X</b></i></i></p>see"),
    ("the next sibling", ".a+p", "<div class=a>see</div><p>X<p>see"),
    ("later siblings", ".a~p", "<p>see<p class=a>see<p>X<p>X"),
    ("a sibling of an ancestor", "h1+div b", "<h1>see</h1><div><b>X</b></div><div><b>see</b></div>"),
    ("not of a class", "p:not(.s)", "<p>X<p class=s>see"),
    ("not under the mouse", "p:not(:hover)", "<p>X</p>see"),
    ("one of two", ":is(p,div).x", "<p class=x>X<div class=x>X</div><p>see"),
    ("one of one", ":where(.x)", "<p class=x>X<p>see"),
    ("the first child", "p:first-child", "<div><p>X<p>see</div>"),
    ("the second child", "p:nth-child(2)", "<div><p>see<p>X</div>"),
    ("odd children", "td:nth-child(odd)", "<table><tr><td>X<td>see<td>X</table>"),
    ("children from the third on", "p:nth-child(n+3)", "<div><p>see<p>see<p>X<p>X</div>"),
    ("the first two children", "p:nth-child(-n+2)", "<div><p>X<p>X<p>see</div>"),
    ("the second of its name", "b:nth-of-type(2)", "<p><b>see</b><i>see</i><b>X</b></p>"),
    ("any child, from the last on", "p:nth-last-child(n)", "<p>X</p>see"),
    ("an attribute", "[title]", "<p title=x>X<p>see"),
    ("the value of an attribute", "[title=x]", "<p title=x>X<p title=y>see"),
    ("a quoted value", "p[title='x y']", "<p title='x y'>X<p>see"),
    ("the attribute of an element around", "[title] b", "<p title=x><b>X</b><p><b>see</b>"),
    ("a class as an attribute", "p[class=a]", "<p class=a>X<p class='a b'>see<p>see"),
    ("a class as an attribute around", "[class~=a] > b", "<p class='b a'><b>X</b><p class=b><b>see</b>"),
    ("an id as an attribute around", "p[id=A] b", "<p id=A><b>X</b><p id=B><b>see</b>"),
    ("the begin of a class", "[class^=a]", "<p class=abc>X<p>see"),
    ("the end of a class", "[class$=c]", "<p class=abc>X<p>see"),
    ("a part of a class", "[class*=b]", "<p class=abc>X<p>see"),
    ("a part of a style", "[style*=left]", "<p style='margin-left:1px'>X<p>see"),
    ("a word of a value", "[title~=b]", "<p title='a b'>X<p title=ab>see"),
    ("a language", "[lang|=en]", "<p lang=en-GB>X<p lang=eng>see"),
    ("an attribute of a cell", "td[align=center]", "<table><td align=center>X<td>see</table>"),
    ("a link", "a:link", "<a href=http://x.example/>X</a><a name=y>see</a>"),
    ("two classes of one element", ".a.b", "<p class='a b'>X<p class=a>see"),
    ("a class by its escape", r".\61 b", "<p class=ab>X<p>see"),
    ("an open paragraph, which the next one ends", ".a p", "<p class=a>see<p>see<div class=a><p>X</div>"),
]


@pytest.mark.parametrize(("why", "selector", "page"), HIDDEN_BY, ids=[row[0] for row in HIDDEN_BY])
def test_a_selector_hides(why: str, selector: str, page: str) -> None:
    style = f"<!doctype html><style>{selector}{{display:none}}</style>"
    seen = read_html(style + page).visible
    assert "X" not in seen
    assert seen.count("see") == page.count("see")
    behind = f"<!doctype html>{page}</table><style>{selector}{{display:none}}</style>"
    assert "X" not in read_html(behind).visible


NOTHING_HIDDEN_BY = [
    ("what needs a reader's hand", "p:hover"),
    ("a part of an element", "p::first-line"),
    ("a part of an element, as of old", "p:before"),
    ("a selector beside one that is none", "p,:bogus"),
    ("a class that begins with a digit", ".1a"),
    ("a combinator that leads nowhere", "p>"),
    ("an ancestor that is not there", ".z p"),
    ("a parent that is none", "body>b"),
    ("an elder sibling that is not there", "b+p"),
    ("itself in itself", "p p"),
    ("no place", "p:nth-child(0)"),
    ("no number", "p:nth-child(x)"),
]


@pytest.mark.parametrize(("why", "selector"), NOTHING_HIDDEN_BY, ids=[row[0] for row in NOTHING_HIDDEN_BY])
def test_a_selector_hides_nothing(why: str, selector: str) -> None:
    page = "<!doctype html><style>%s{display:none}</style><p class=1a title=t>see <b>see</b>"
    assert read_html(page % selector).visible.count("see") == 2


def test_a_class_of_another_case_is_another_one_with_a_doctype() -> None:
    page = "<style>.h{display:none}</style><p class=H>X"
    assert read_html(page).hidden.strip() == "X"
    assert read_html("<!doctype html>" + page).visible.strip() == "X"


CASCADE = [
    ("the later rule", "p{display:none}p{display:block}", True),
    ("an ancestor counts as a name more", "div p{display:block}p{display:none}", True),
    ("a class above two names", "body div p{display:block}.b{display:none}", False),
    ("an id above classes", "#i{display:block}.a .b{display:none}", True),
    ("an attribute as a class", "[class=b]{display:block}div p{display:none}", True),
    (":where() weighs nothing", ":where(#i){display:block}p{display:none}", False),
    (":is() weighs as the id in it", ":is(#i){display:block}.b{display:none}", True),
    ("important above an id", ".b{display:none!important}#i{display:block}", False),
    ("a rule in a rule", ".a{color:red; .b{display:none}}", False),
    ("a rule in a rule, with &", ".a{color:red; & > .b{display:none}}", False),
    ("a rule in one of another element", ".z{ .b{display:none}}", True),
    ("a rule behind a rule in a rule", ".a{ .z{display:none} color:red} .b{display:none}", False),
    ("what follows a rule in a rule is of the outer one", ".a{ .z{color:red} display:none}", False),
    ("a semicolon behind a block spoils the next rule", ".z{color:red};.b{display:none}", True),
    ("and only the next", "a{};.z{color:red}.b{display:none}", False),
    ("so does what HTML would have decoded", "a{}&amp;#13;\n.b{display:none}", True),
    ("in a medium, too", "@media screen{color:red;.b{display:none}}", True),
    ("and with all rules in it", "x;y{.b{display:none}}", True),
    ("but a statement ends with one", "@import url(x?w=4;7); @layer a;.b{display:none}", False),
    ("and a declaration", ".b{&amp;#13;display:none;&amp;#13;}", False),
    ("a thousand empty rules before", "a{}" * 1_000 + ".b{display:none}", False),
    ("a long comment before", "/*" + "x" * 200_000 + "*/.b{display:none}", False),
    ("the html", "html{display:none}", False),
]


@pytest.mark.parametrize(("why", "sheet", "is_seen"), CASCADE, ids=[row[0] for row in CASCADE])
def test_the_strongest_rule_decides(why: str, sheet: str, is_seen: bool) -> None:
    page = f"<!doctype html><style>{sheet}</style><div class=a><p class=b id=i>see</div>"
    assert ("see" in read_html(page).visible) is is_seen


MEDIA = [
    ("all", True),
    ("screen and (max-width:9999px)", True),
    ("(max-width:480px)", False),
    ("(min-width:300px)", True),
    ("(width>=100px)", True),
    ("(100px < width < 400px)", False),
    ("(100px<=width<=4000px)", True),
    ("(min-height:1px)", True),
    ("(color)", True),
    ("(min-resolution:.1dppx)", True),
    ("(min-resolution:192dpi)", False),
    ("screen and (-webkit-min-device-pixel-ratio:0)", True),
    ("(orientation:portrait),(orientation:landscape)", True),
    ("(prefers-color-scheme:light)", True),
    ("(prefers-color-scheme:dark)", False),
    ("not print", True),
    ("not screen", False),
    ("not all and (max-width:480px)", True),
    ("print", False),
    ("(bogus:1px)", False),
    ("(max-width:480px) or (min-width:1px)", True),
]


@pytest.mark.parametrize(("media", "holds"), MEDIA, ids=[row[0] for row in MEDIA])
def test_a_medium_holds_at_an_ordinary_screen(media: str, holds: bool) -> None:
    page = "<style>@media %s{p{display:none}}</style><p>see"
    assert ("see" not in read_html(page % media).visible) is holds


SUPPORTS = [
    ("(display:grid)", True),
    ("(display:nope)", False),
    ("(nope:1)", False),
    ("not (nope:1)", True),
    ("not(nope:1)", False),
    ("not (display:grid)", False),
    ("(display:grid) and (nope:1)", False),
    ("(display:grid)and (color:red)", True),
    ("(nope:1) or (not (nope:2))", True),
    ("(display:grid) and (color:red) or (color:blue)", False),
    ("((display:grid) and (--x:y))", True),
    ("(margin:nope)", False),
    ("(margin-right:5px !important)", True),
    ("(object-fit:cover)", True),
    ("(object-fit:nope)", False),
    ("(-webkit-appearance:none)", True),
    ("(-moz-appearance:none)", False),
    ("(-webkit-overflow-scrolling:touch)", False),
    ("selector(:focus-visible)", True),
    ("selector(a:nope)", False),
    ("nope(x)", False),
    ("nope", False),
]


@pytest.mark.parametrize(("condition", "holds"), SUPPORTS, ids=[row[0] for row in SUPPORTS])
def test_what_a_browser_supports_holds(condition: str, holds: bool) -> None:
    page = "<style>@supports %s{p{display:none}}</style><p>see"
    assert ("see" not in read_html(page % condition).visible) is holds


SCOPES = [
    ("elsewhere", "@scope (.z){p{display:none}}", True),
    ("in it", "@scope (.a){p{display:none}}", False),
    ("the root itself", "@scope (.b){p{display:none}}", True),
    ("the root itself, by name", "@scope (.b){p:scope{display:none}}", False),
    ("one of two roots", "@scope (.z,div.a){p{display:none}}", False),
    ("a root in an element", "@scope (body .a){p{display:none}}", False),
    ("an ancestor outside of it", "@scope (.b){.a u{display:none}}", True),
    ("an ancestor in it", "@scope (.a){.b u{display:none}}", False),
    ("below a limit", "@scope (.a) to (.b){p{display:none}}", True),
    ("above a limit", "@scope (.b) to (.a){u{display:none}}", False),
    ("beside a limit", "@scope (.a) to (.z){p{display:none}}", False),
    ("its root by name", "@scope (.a){:scope > p{display:none}}", False),
    ("its root by name, which it is not", "@scope (.b){:scope > p{display:none}}", True),
    ("its root by name, which weighs", "@scope (.b){:scope{display:none}}p{display:block}", False),
    ("its root by sign", "@scope (.b){&{display:none}}", False),
    ("a scope in a scope", "@scope (.a){@scope (.z){p{display:none}}}", True),
    ("a scope in a scope that holds", "@scope (.a){@scope (.b){u{display:none}}}", False),
    ("the element around the sheet", "@scope{p{display:none}}", True),
    ("beside a rule of all", "@scope (.z){p{display:block}}p{display:none}", False),
    ("an id above the root", "#i{display:block}@scope (.a){p{display:none}}", True),
]


@pytest.mark.parametrize(("why", "sheet", "is_seen"), SCOPES, ids=[row[0] for row in SCOPES])
def test_a_rule_holds_in_its_scope(why: str, sheet: str, is_seen: bool) -> None:
    page = f"<!doctype html><style>{sheet}</style><div class=a><p class=b id=i><u>see</div>"
    assert ("see" in read_html(page).visible) is is_seen


LAYERS = [
    ("one below none", "@layer a{p.b{display:none}}p{display:block}", True),
    ("one below none, behind it", "p{display:block}@layer a{p.b{display:none}}", True),
    ("alone", "@layer a{p{display:none}}", False),
    ("the later one", "@layer a{#i{display:block}}@layer b{p{display:none}}", False),
    ("as they are named first", "@layer b,a;@layer a{p{display:none}}@layer b{#i{display:block}}", False),
    ("as they are opened first", "@layer a{}@layer b{p{display:none}}@layer a{#i{display:block}}", False),
    ("one in one below it", "@layer a{p{display:none}@layer b{#i{display:block}}}", False),
    ("a path", "@layer a{p{display:none}}@layer a.b{#i{display:block}}", False),
    ("two without name", "@layer{#i{display:block}}@layer{p{display:none}}", False),
    ("important above none", "@layer a{p{display:none!important}}#i{display:block!important}", False),
    (
        "important in the first",
        "@layer a{p{display:none!important}}@layer b{#i{display:block!important}}",
        False,
    ),
    ("important above ordinary ones", "@layer a{p{display:none!important}}#i{display:block}", False),
    ("the same rule in two", "@layer a{p{display:block}}@layer b{p{display:none}}", False),
    ("and in none", "p{display:block}@layer b{p{display:none}}", True),
]


@pytest.mark.parametrize(("why", "sheet", "is_seen"), LAYERS, ids=[row[0] for row in LAYERS])
def test_the_last_layer_decides(why: str, sheet: str, is_seen: bool) -> None:
    page = f"<!doctype html><style>{sheet}</style><div class=a><p class=b id=i>see</div>"
    assert ("see" in read_html(page).visible) is is_seen


CASES = [
    ("a class of another case", '[class="S"]', True),
    ("a class of the same case", '[class="s"]', False),
    ("if case does not count", '[class="S" i]', False),
    ("if case does not count, close by", '[class="S"i]', False),
    ("without quotes", "[class=S i]", False),
    ("if case does count", "[align=Center s]", True),
    ("an attribute without case", "[align=Center]", False),
    ("the name of an attribute", "[CLASS=s]", False),
    ("an attribute with case", "[title*=y]", True),
    ("nothing without quotes", "[class=]", True),
    ("a digit without quotes", "[data-n=1]", True),
    ("a digit", "[data-n='1']", False),
    ("a flag that is none", "[class=s x]", True),
]


@pytest.mark.parametrize(("why", "selector", "is_seen"), CASES, ids=[row[0] for row in CASES])
def test_the_case_of_a_value_counts(why: str, selector: str, is_seen: bool) -> None:
    style = f"<style>{selector}{{display:none}}</style>"
    for doctype in ("", "<!doctype html>"):
        page = read_html(f"{doctype}{style}<p class=s align=center title=Y data-n=1>see")
        assert ("see" in page.visible) is is_seen


PAGES = [
    ("the html's style", "<html style='display:none'><body>X"),
    ("the html's colour", "<html style='color:white'><body>X"),
    ("the html's ground", "<html style='background:#000'><body style='color:#000'>X"),
    ("a class of the html", "<style>.x{display:none}</style><html class=x><body>X"),
    ("a rule for a body that is not written", "<style>body{color:#fff}</style>X"),
    ("a rule for a body that is not written, in an html", "<html><style>body{color:#fff}</style>X"),
    ("a rule for the html that is written", "<html lang=en><style>html{display:none}</style><body>X"),
    ("a second one", "<html><style>html{x:y}</style><style>html{display:none}</style><body>X"),
    ("a sheet in an element that it concerns", "<div class=a><style>.a p{display:none}</style><p>X</div>"),
    ("a fifty-first sheet", "<style></style>" * 50 + "<style>p{display:none}</style><p>X"),
]


@pytest.mark.parametrize(("why", "page"), PAGES, ids=[row[0] for row in PAGES])
def test_a_page_hides_its_text_by(why: str, page: str) -> None:
    html = read_html(page)
    assert (html.visible.strip(), html.hidden.strip()) == ("", "X")


def test_blanks_before_the_body_are_not_hidden() -> None:
    html = read_html("<html><head><style>body{color:#fff}</style></head>\n<body bgcolor=black>X")
    assert (html.visible.strip(), html.hidden) == ("X", "")


def test_words_cut_by_an_asked_element_stay_words() -> None:
    html = read_html("<style>p b{color:red}</style><p>Hel<b>lo</b> world")
    assert (html.visible.split(), html.joined, html.tags) == (["Hello", "world"], 0, ["style", "p", "b"])


def test_a_link_for_which_a_sheet_asks_keeps_target_and_text() -> None:
    html = read_html("<style>p a{color:red}</style><p><a href=http://x.example/>one</a> two")
    assert html.links == [("http://x.example/", "one")]


def test_of_tags_with_one_rule_each_keeps_its_own_colour() -> None:
    for order in (1, -1):
        fonts = ["<font class=a color=white>one</font>", "<font class=a color=black>two</font>"][::order]
        html = read_html("<style>.a{background:white}</style>" + "".join(fonts))
        assert (html.visible.strip(), html.hidden.strip()) == ("two", "one")


def test_what_holds_inside_of_one_element_need_not_hold_inside_of_another() -> None:
    sheet = "<style>.a b{color:white}.c b.d{color:red}.c b.e{display:none}</style>"
    around = {name: f"<p class={name}><b class=d>{name}d </b><b class=e>{name}e </b></p>" for name in "acx"}
    html = read_html(sheet + "".join(around.values()) + "".join(around.values()))
    assert html.visible.split() == ["cd", "xd", "xe"] * 2
    assert html.hidden.split() == ["ad", "ae", "ce"] * 2


COSTLY = [
    ("deep ancestors", "<style>.a .b i{display:none}</style>" + "<i class=a>x" * 30_000),
    ("siblings", "<style>.a~p{display:none}</style>" + "<p>x" * 60_000),
    (
        "more rules than can be asked",
        f"<style>{''.join(f'.x{n} p{{color:red}}' for n in range(9_000))}</style>"
        + "".join(f"<p class=y{n}>x" for n in range(10_000)),
    ),
    ("brackets in brackets", "<style>" + "p:not(" * 50_000 + "{color:red}</style>x"),
    ("a rule of many in many", f"<style>{'a,' * 99}a{{{'b{color:red}' * 20_000}}}</style>x"),
    ("escaped quotes", "<style>" + "\\\\'\n" * 50_000 + "</style>x"),
    ("escaped lines", "<style>'" + "\\\n" * 100_000 + "'</style>x"),
    ("layers", f"<style>{'@layer a.a.a.a.a.a{' * 9}{'@layer b{b{color:red}}' * 9_000}</style>x"),
    ("scopes", f"<style>{'@scope (.a) to (.b){' * 9}{'b{color:red}' * 9_000}</style>" + "<b>x" * 9_000),
    ("conditions", f"<style>@supports {'(' * 50_000}{{b{{color:red}}}}</style>x"),
    ("blocks in blocks", "<style>" + ".a{&&&& " * 50_000 + "{color:red}</style>x"),
]


@pytest.mark.parametrize(("why", "page"), COSTLY, ids=[row[0] for row in COSTLY])
def test_a_costly_sheet_is_read_to_the_end_of_the_page(why: str, page: str) -> None:
    assert read_html(page + "<h1>end").visible.rstrip().endswith("end")


@pytest.mark.parametrize(
    ("rule", "tags"),
    [
        (".a{0} .b{0} > p ~ b", '<div class="a{0} b{0}"><p><b>x</b>'),
        ("*:not(.a{0})", '<div class="a{0}"><b>x</b>'),
    ],
)
def test_a_small_page_with_many_rules_that_ask_takes_little_work(rule: str, tags: str) -> None:
    rules = "".join([rule.format(number) + "{font-size:0}" for number in range(800)])
    page = "".join([tags.format(number) for number in range(800)])
    assert calls_of(lambda: read_html(f"<style>{rules}</style>{page}")) < 1_500_000


def test_the_last_rule_of_a_long_newsletter_holds_at_its_end() -> None:
    """Boxes in boxes, each with an id, and rules that ask for what is around, of each of its boxes."""
    kinds = ".text{0} a", "table[class=t{0}] td", "body #box{0} td p", "h1 + .p{0} a", "[lang~=l{0}] td"
    rules = "".join([kind.format(number) + "{color:#333}" for kind in kinds for number in range(60)])
    box = "<table id=box{0} class=t{0}><tr><td class=c{0}><p class=p{0}>see <a href=/{0}>see</a></table>"
    boxes = "".join([box.format(number) for number in range(600)])
    style = f"<style>{rules}.last p a{{display:none}}h1 ~ p b{{display:none}}</style>"
    end = "<div class=last><h1>see</h1><p><a href=/>X</a><b>X</b></div>"
    html = read_html(style + "<div><table><tr><td>" * 6 + boxes + end)
    assert html.hidden.split() == ["XX"]


@pytest.mark.parametrize(("times", "is_seen"), [(5, False), (20, True)])
def test_the_selectors_of_a_rule_in_pieces_are_read_up_to_a_bound(times: int, is_seen: bool) -> None:
    """Each piece is read with all of them, which would take quadratic time."""
    rule = "a," * (MAX_SELECTORS_READ // 20) + "a{" + "color:red;b{}" * times + "}"
    page = f"<style>{rule}p{{display:none}}</style><p>see"
    assert ("see" in read_html(page).visible) is is_seen


@pytest.mark.parametrize(("length", "is_seen"), [(100, False), (100_000, True)])
def test_rules_look_through_a_long_attribute_less_often(length: int, is_seen: bool) -> None:
    rules = "".join([f"[title~=a{number}]{{color:red}}" for number in range(1_000)])
    page = f"<style>{rules}[title~=b]{{display:none}}</style><p title='{'b ' * (length // 2)}'>see"
    assert ("see" in read_html(page).visible) is is_seen


def test_sheets_among_blank_text_look_at_each_blank_once() -> None:
    blanks = [f"<style>.a{number}{{color:red}}</style>" + "<br>" * 20 for number in range(200)]
    few, many = ["".join(blanks[:count]) for count in (50, 200)]
    assert calls_of(lambda: read_html(many)) < 5 * calls_of(lambda: read_html(few))


@pytest.mark.parametrize(("times", "is_seen"), [(50, False), (500, True)])
def test_many_short_selectors_are_read_up_to_a_bound(times: int, is_seen: bool) -> None:
    page = f"<style>{('a,' * 49 + 'a{color:red}') * times}p{{display:none}}</style><p>see"
    assert ("see" in read_html(page).visible) is is_seen


@pytest.mark.parametrize("block", ["@media print{", "a{b{", "{"])
def test_blocks_in_a_block_that_does_not_hold_are_passed_over(block: str) -> None:
    few, many = [f"<style>{block * depth}</style>x" for depth in (20, 10_000)]
    assert calls_of(lambda: read_html(many)) < 2 * 10_000 + calls_of(lambda: read_html(few))


@pytest.mark.parametrize("style", ["color:var(--a)", "--a:red"])
def test_a_tag_that_changes_no_variable_is_read_once(style: str) -> None:
    few, many = [f"<style>:root{{--a:red}}</style>{f'<p style={style}>x' * times}" for times in (10, 1_010)]
    assert calls_of(lambda: read_html(many)) < 35 * 1_000 + calls_of(lambda: read_html(few))


def test_a_variable_set_again_is_what_was_set_last() -> None:
    none, block = "<b style='--a:none'></b>", "<b style='--a:block'></b>"
    seen = "<p style='display:var(--a)'>{}</p>".format
    html = read_html(none + seen("X") + block + seen("one") + none + seen("X") + block + seen("two"))
    assert (html.visible.split(), html.hidden.split()) == (["one", "two"], ["X", "X"])


@pytest.mark.parametrize("selector", ["u+#body a", "u~#body a", "html+body a", "u+html a"])
def test_siblings_of_the_body_are_asked_without_an_error(selector: str) -> None:
    page = f"<style>{selector}{{display:none}}</style><body id=body><p><a href=x>link</a>"
    assert "link" in read_html(page).visible
