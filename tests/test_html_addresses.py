"""Claims about the links and pictures of a page that Outlook alone shows."""

from __future__ import annotations

import time

import pytest

from nbspam.mail.html.reader import read_html

ONLY = '<v:roundrect href="https://lake.example/x"><v:fill src="https://wood.example/y"/>Press</v:roundrect>'
OTHERS = '<a href="https://hill.example/">Press</a>'


@pytest.mark.parametrize("condition", ["mso", "gte mso 9", "(mso)|(IE)", "IE"])
def test_links_and_pictures_for_outlook_are_read_behind_those_of_the_page(condition: str) -> None:
    html = read_html(f"<p>See <!--[if {condition}]>{ONLY}<![endif]--><![if !mso]>{OTHERS}<![endif]>")
    assert html.links == [("https://hill.example/", "Press"), ("https://lake.example/x", "")]
    assert html.images == ["https://wood.example/y"]
    assert html.visible.strip() == "See Press"
    assert html.comments == 3


def test_a_link_that_all_are_shown_is_read_once() -> None:
    html = read_html(f"<!--[if mso]>{OTHERS}<![endif]-->{OTHERS}")
    assert html.links == [("https://hill.example/", "Press")]


def test_what_is_shown_to_all_but_outlook_is_no_comment() -> None:
    html = read_html(f"<!--[if !mso]><!-->{OTHERS}<!--<![endif]-->")
    assert html.links == [("https://hill.example/", "Press")]


def test_a_broken_tag_for_outlook_hides_no_other() -> None:
    html = read_html(f'<!--[if mso]><a href=x title="<![endif]--><p>a</p><!--[if mso]>{ONLY}<![endif]-->')
    assert [target for target, _ in html.links] == ["https://lake.example/x"]


def test_other_comments_are_not_read() -> None:
    assert read_html(f"<!-- {ONLY} --><!--[endif]{ONLY}-->").links == []


def test_a_base_counts_for_what_outlook_shows() -> None:
    html = read_html('<base href="https://lake.example/"><!--[if mso]><a href="x">a</a><![endif]-->')
    assert html.links == [("https://lake.example/x", "a")]


def test_many_conditions_take_linear_time() -> None:
    start = time.process_time()
    html = read_html("<!--[if mso]><a href=x>a</a><![endif]-->" * 25_000)
    assert time.process_time() - start < 5
    assert html.links[:2] == [("x", "a"), ("x", "a")]
