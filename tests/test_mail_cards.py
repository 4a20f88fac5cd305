"""Calendars and cards beside a text: what mail programs show of them is read, and not twice."""

from __future__ import annotations

import pytest

from nbspam.mail import parse
from nbspam.mail.cards import shown_of_card
from nbspam.tokens import tokenize
from nbspam.tokens.bag import Tokens

INVITATION = (
    "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:1@a.example\n"
    "SUMMARY;LANGUAGE=en:Your payout is waiting\nLOCATION:https://claim.example/now\n"
    "DESCRIPTION:Bring this code\\nJoin: https://meet.example\nBEGIN:VALARM\nACTION:DISPLAY\nEND:VALARM\n"
    "END:VEVENT\nEND:VCALENDAR\n"
)


def with_text(text: str, card: str = INVITATION, kind: str = "text/calendar") -> Tokens:
    """A mail with a text, the same as HTML, and a card."""
    parts = [("text/plain", text), ("text/html", f"<p>{text}</p>"), (kind, card)]
    body = "".join(f"--b\nContent-Type: {kind}\n\n{content}\n" for kind, content in parts)
    head = "From: a@b.example\nContent-Type: multipart/alternative; boundary=b\n\n"
    return tokenize(parse(f"{head}{body}--b--\n".encode()))


def test_an_invitation_beside_another_text_is_read() -> None:
    bag = with_text("Hello team")
    assert bag.body == ["hello", "team", "your", "payout", "is", "waiting", "bring", "this", "code", "join"]
    assert {"url=claim.example", "url=meet.example"} <= set(bag.structure)


def test_an_invitation_that_says_what_the_text_says_is_not_read_twice() -> None:
    text = "Your payout is waiting. Bring this code and join us"
    bag = with_text(text)
    assert bag.body == text.lower().replace(".", "").split()
    assert {"url=claim.example", "url=meet.example"} <= set(bag.structure)


def test_a_card_beside_another_text_is_read() -> None:
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Cheap Pills\nURL:http://pills.example\nEND:VCARD\n"
    bag = with_text("Hello", card, "text/vcard")
    assert bag.body == ["hello", "cheap", "pills"]
    assert "url=pills.example" in bag.structure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("SUMMARY:no calendar", ""),
        ("begin:vcard\nFN:a\nNOTE:b: c\nd: e\nPHOTO:f\ng", "a\nb: c\nd: e"),
        ("BEGIN:VCALENDAR\nX-ALT-DESC;FMTTYPE=text/html:<p>a\nX-OTHER:b", "<p>a"),
    ],
)
def test_what_is_shown_of_a_card(text: str, expected: str) -> None:
    assert shown_of_card(text) == expected
