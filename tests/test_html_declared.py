"""Claims about entities that a page of XML declares: drawings hide their links behind them."""

from __future__ import annotations

import pytest

from nbspam.mail.html.declared import MAX_ADDED, MAX_ENTITIES, MAX_VALUE
from nbspam.mail.html.reader import read_html

DRAWING = '<?xml version="1.0"?>\n<!DOCTYPE svg [{}]>\n<svg><a xlink:href="{}"><text>{}</text></a></svg>'
LAKE = '<!ENTITY u "https://lake.example/">'

DECLARED = [
    ("one", LAKE, "&u;"),
    ("in other quotes and on two lines", "<!ENTITY\nu\n'https://lake.example/'\n>", "&u;"),
    ("a part", '<!ENTITY host "lake.example">', "https://&host;/"),
    ("two", '<!ENTITY a "https:/"><!ENTITY b "/lake.">', "&a;&b;example/"),
    ("one in another", '<!ENTITY u "https://&h;/"><!ENTITY h "&l;.example"><!ENTITY l "lake">', "&u;"),
    ("with a number", '<!ENTITY u "https&#58;//lake.example/">', "&u;"),
    ("the first of two", LAKE + '<!ENTITY u "https://hill.example/">', "&u;"),
    ("behind others", f"<!ELEMENT a ANY><!ENTITY % p 'a'><!ENTITY f SYSTEM 'b'>{LAKE}", "&u;"),
    ("beside a bracket", f"<!ENTITY a ']>'>{LAKE}", "&u;"),
    ("not one that all know", "<!ENTITY amp 'x'>", "https://lake.example/&amp;"),
]


@pytest.mark.parametrize(("what", "declared", "target"), DECLARED, ids=[row[0] for row in DECLARED])
def test_an_entity_of_a_drawing_is_read_as_its_value(what: str, declared: str, target: str) -> None:
    html = read_html(DRAWING.format(declared, target, "see"))
    assert [link.rstrip("&") for link, _ in html.links] == ["https://lake.example/"]
    assert html.visible.split() == ["see"]


def test_markup_and_quotes_in_entities_are_read_where_they_stand() -> None:
    declared = "<!ENTITY t '<tspan>see</tspan>'><!ENTITY q 'a\"b'>"
    html = read_html(DRAWING.format(declared, "/&q;c", "&t; &q;"))
    assert html.links == [('/a"bc', 'see a"b')]


@pytest.mark.parametrize("begin", ["<!DOCTYPE svg", "\ufeff\n<?xml?><!DOCTYPE svg", "<?xml?><!DOCTYPE html"])
def test_pages_of_xml_declare_entities(begin: str) -> None:
    assert "https://lake.example/" in str(read_html(f"{begin} [{LAKE}]><a href='&u;'>see</a>").links)


@pytest.mark.parametrize("begin", ["<!DOCTYPE html", "<p>see</p><!DOCTYPE svg"])
def test_other_pages_declare_none(begin: str) -> None:
    assert "https://lake.example/" not in str(read_html(f"{begin} [{LAKE}]><a href='&u;'>see</a>").links)


def test_entities_in_one_another_do_not_grow_without_bound() -> None:
    laughs = "".join([f"<!ENTITY e{n + 1} '{f'&e{n};' * 300}'>" for n in range(MAX_ENTITIES - 1)])
    page = DRAWING.format(f"<!ENTITY e0 'ha '>{laughs}", "", f"&e{MAX_ENTITIES - 1};" * 1_000)
    assert len(read_html(page).visible) < 2 * MAX_ADDED
    ring = DRAWING.format("<!ENTITY a '&b;'><!ENTITY b '&a;&a;'>", "", "&a;see")
    assert "see" in read_html(ring).visible


def test_so_many_entities_of_such_a_length_are_read() -> None:
    declared = "".join([f"<!ENTITY e{number} 'x{number}'>" for number in range(MAX_ENTITIES + 1)])
    page = DRAWING.format(declared, "", f"&e{MAX_ENTITIES - 1}; &e{MAX_ENTITIES};")
    assert read_html(page).visible.split() == [f"x{MAX_ENTITIES - 1}", f"&e{MAX_ENTITIES};"]
    long = DRAWING.format(f"<!ENTITY e '{'x' * (MAX_VALUE + 1)}'>", "", "&e;")
    assert read_html(long).visible.strip() == "x" * MAX_VALUE


@pytest.mark.parametrize("page", ["<?xml?><!ENTITY", "<?xml?><!DOCTYPE svg [<!ENTITY", "<?xml?>[<!ENTITY a"])
def test_a_declaration_that_is_cut_off_harms_nothing(page: str) -> None:
    assert read_html(page + " a").links == []
