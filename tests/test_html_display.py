"""Which words of a page stand together: what its styles put into the line, and what they take out of it."""

import pytest

from nbspam.mail import parse
from nbspam.mail.html.reader import read_html
from nbspam.tokens import tokenize

PAGES = [
    (
        "links on lines of their own",
        "<a style='display:block'>one</a><a style='display:block'>two</a>x",
        "one two x",
    ),
    ("text behind such a link", "one<span style='DISPLAY: flex'>two</span>three", "one two three"),
    ("by a sheet", "<style>.b{display:block}</style>one<b class=b>two</b>three", "one two three"),
    ("by a sheet that asks where", "<style>td b{display:block}</style>o<b>n</b>e", "one"),
    (
        "by a sheet that asks where, there",
        "<style>td b{display:block}</style><table><td>one<b>two</b>three",
        "one two three",
    ),
    ("a block in the line", "pay<div style='display:inline'>me</div>now", "paymenow"),
    ("with margins of nothing", "pay<div style='margin:0px 0;display:inline'>me</div>now", "paymenow"),
    ("in a block", "<div>pay<p style='display:contents'>me</p>now</div>later", "paymenow later"),
    ("with a margin", "pay<div style='margin:0 4px;display:inline'>me</div>now", "pay me now"),
    ("it ends a paragraph all the same", "<p>pay<div style='display:inline'>me</div>now", "pay menow"),
    ("a box in the line is a block", "pay<div style='display:inline-block'>me</div>now", "pay me now"),
    ("what is not there parts nothing", "pay<b style='display:none;display:block'></b>me", "pay me"),
    ("none at all", "pay<b style='display:block;display:none'>x</b>me", "payme"),
    ("floats", "<span style='float:left'>Total</span><span style='float:right'>$5</span>x", "Total $5 x"),
    ("no float", "Total<span style='float:none'>$5</span>x", "Total$5x"),
    ("put somewhere", "Total<b style='position:absolute'>$5</b>x", "Total $5 x"),
    (
        "hidden, and put somewhere",
        "pa<b style='position:absolute;visibility:hidden'>x</b>ym<i>e</i>nt",
        "payment",
    ),
    ("too small, and a float", "pa<b style='float:left;font-size:0'>x</b>y", "pay"),
    ("by a sheet, put somewhere", "<style>i{position:fixed;opacity:0}</style>pa<i>x</i>y", "pay"),
    ("white, and put somewhere", "pa<b style='color:#fff;position:absolute'>x</b>y", "pay"),
    ("hidden, but a block", "pay<b style='display:block;visibility:hidden'>x</b>me", "pay me"),
    ("a block that is left open", "<b>one<i style='display:block'>two</b>three", "one twothree"),
]


@pytest.mark.parametrize(("why", "page", "text"), PAGES, ids=[row[0] for row in PAGES])
def test_words_stand_together_as_the_styles_have_it(why: str, page: str, text: str) -> None:
    assert " ".join(read_html(page).visible.split()) == text


TURNED = [
    ("bdo", "<p>see <bdo dir=RTL>laP<b>ya</b>P</bdo> now", "see PayPal now"),
    ("bdo, by a reference", "<p>see <bdo dir='&#114;tl'>laPyaP</bdo> now", "see PayPal now"),
    ("a style", "see <b style='unicode-bidi:bidi-override;direction:rtl'>laPyaP</b>now", "see PayPalnow"),
    ("of a block", "see<p style='unicode-bidi:bidi-override;direction:rtl'>laPyaP</p>now", "see PayPal now"),
    (
        "a sheet",
        "<style>i{direction:rtl;unicode-bidi:isolate-override}</style>see <i>laPyaP</i>",
        "see PayPal",
    ),
    ("the other direction", "see <bdo dir=ltr>PayPal</bdo>", "see PayPal"),
    ("no override", "see <b style='direction:rtl'>PayPal</b>", "see PayPal"),
    ("Hebrew", "see <bdo dir=rtl>שלום</bdo>", "see שלום"),
]


@pytest.mark.parametrize(("why", "page", "text"), TURNED, ids=[row[0] for row in TURNED])
def test_letters_are_read_in_the_order_they_are_seen(why: str, page: str, text: str) -> None:
    found = tokenize(parse(b"Content-Type: text/html; charset=utf-8\n\n" + page.encode())).body
    assert found == text.lower().split()
