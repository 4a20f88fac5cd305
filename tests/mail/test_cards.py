"""Calendars and cards: the values that people see, as `icalendar` and `vobject` read them."""

import pytest

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.cards import read_card
from nbspam.tokens import read


def read_body(kind: str, card: str) -> str:
    return " ".join(read(f"Content-Type: {kind}\n\n{card}".encode()).body)


def shown(card: str) -> str:
    return read_card(card, Allowance())[0]


@pytest.mark.parametrize("kind", ["text/calendar", "application/ics", "text/x-vcard"])
def test_lines_of_a_calendar_or_a_card_are_joined_and_their_escapes_shown(kind: str) -> None:
    card = "BEGIN:VCARD\r\nNOTE:Dear Ann\\, your acc\r\n ount\\nhttps://la\r\n\tke.example/\r\nEND:VCARD"
    (part,) = parse(f"Content-Type: {kind}\n\n{card}".encode()).parts
    assert part.text == "Dear Ann, your account\nhttps://lake.example/"


def test_line_that_is_folded_inside_a_character_is_joined() -> None:
    card = "BEGIN:VCARD\r\nNOTE:Grüße\r\nEND:VCARD".encode().replace(b"\xbc", b"\r\n \xbc")
    assert read(b"Content-Type: text/vcard; charset=utf-8\n\n" + card).body == ["grusse"]


def test_card_that_is_cut_off_is_read_and_other_text_stays() -> None:
    assert shown("NOTE:win\nEND:VCARD") == "win"
    assert shown("no card\n FN:a") == "no card\n FN:a"


@pytest.mark.parametrize(
    "line",
    [
        "DESCRIPTION:Win <b>big</b>&nbsp\\;prizes<br>here",
        "DESCRIPTION:Win big&nbsp\\;prizes here",
        "DESCRIPTION:<pre>Win big</pre>prizes here",
        'X-ALT-DESC;FMTTYPE=text/html:<html><body>Win big <p style="display:none">x</p>prizes here</body>',
        "NOTE;ENCODING=QUOTED-PRINTABLE:=3Cp=3EWin big prizes here",
    ],
)
def test_html_in_a_value_is_read_as_html_and_hides_no_other_value(line: str) -> None:
    event = f"BEGIN:VCALENDAR\n{line}<style>\nSUMMARY:Apple <day\nURL:http://lake.example/\nEND:VCALENDAR"
    assert read_body("text/calendar", event) == "apple day win big prizes here"


EVENT = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:1
summary;LANGUAGE=en:Apple day\\, free
LOCATION;ALTREP="http://lake.example:80/;x":The la
 ke
DESCRIPTION:One\\nTwo\\; three \\\\ four
COMMENT:Bring pears
END:VEVENT
END:VCALENDAR
"""
CARD = """\
BEGIN:VCARD
VERSION:%s
FN:Bo Lake
item1.NOTE:Win\\, or not\\nnow
N:Lake;Bo;;;
item1.X-ABLABEL:no
END:VCARD
"""


def test_calendar_is_read_as_by_icalendar() -> None:
    icalendar = pytest.importorskip("icalendar", reason="icalendar is missing")
    (event,) = icalendar.Calendar.from_ical(EVENT.replace("\n", "\r\n")).walk("VEVENT")
    names = ("SUMMARY", "LOCATION", "DESCRIPTION", "COMMENT")
    assert shown(EVENT).split("\n") == "\n".join([str(event[name]) for name in names]).split("\n")


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_card_is_read_as_by_vobject(version: str) -> None:
    vobject = pytest.importorskip("vobject", reason="vobject is missing")
    card = vobject.readOne(CARD % version)
    assert shown(CARD % version) == f"{card.fn.value}\n{card.note.value}"


def test_quoted_printable_card_is_read_as_by_vobject() -> None:
    vobject = pytest.importorskip("vobject", reason="vobject is missing")
    text = "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:B=C3=B6 =\nLake\nEND:VCARD\n"
    assert shown(text) == vobject.readOne(text, allowQP=True).fn.value
