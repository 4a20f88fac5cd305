"""Calendars and cards: the values that people see; examples.txt has more."""

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
