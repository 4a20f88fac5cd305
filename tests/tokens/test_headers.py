"""Which fields are evidence, and the first host on the way; golden/header-* show what each field gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.tables import read_table
from nbspam.tokens import read
from nbspam.tokens.measures import MAX_HOPS, has_unnamed_origin

FIELDS = read_table("fields")
MAIL = b"From: ida@lake.example\nTo: otto@orchard.example\nSubject: pears\n"


@pytest.mark.parametrize("kind", ["notes", "verdicts"])
def test_verdicts_and_notes_of_the_mail_store_are_no_evidence(kind: str) -> None:
    names = [pattern.replace("*", "any") for pattern in FIELDS[kind]]
    fields = "".join(f"{name}: spam junk 99\n" for name in names).encode()
    plain = read(MAIL + b"\npears\n", ("measures", "numeric"))
    noted = read(fields + MAIL + fields + b"\npears\n", ("measures", "numeric"))
    assert noted.views() == plain.views()
    assert noted.numeric == plain.numeric


def test_no_name_begins_with_a_beginning_that_is_no_evidence() -> None:
    # A search for the last one before a name finds the one that begins it.
    names = [name for name in FIELDS["notes"] + FIELDS["verdicts"] if "x-*" not in name]
    beginnings = [name[:-1] for name in names if name.endswith("*")]
    found = {name: [start for start in beginnings if name.startswith(start)] for name in names}
    assert [name for name, starts in found.items() if starts not in ([], [name[:-1]])] == []


@pytest.mark.parametrize("name", ["X-Kmail-Message", "X-Kmail-Account", "X-Mailer", "X-Gm-Gg", "X-SG-EID"])
def test_fields_of_senders_that_look_like_notes_are_evidence(name: str) -> None:
    assert f"field:{name.lower()}" in read(f"{name}: pears\n".encode() + MAIL).header


@pytest.mark.parametrize("size", [100, 127, 128, 250])
def test_storing_a_mail_or_passing_it_on_changes_no_token(size: int) -> None:
    mail = MAIL + b"\n> pears\n" + b"x" * (size - 9 - len(MAIL)) + b"\n"
    before = read(mail, ("measures",))
    for other in (
        b"X-Nbspam: ham; probability=0.01\n" + mail,
        b"From ida@lake.example Mon Sep  2 14:00:00 2002\n" + mail + b"\n",
        mail.replace(b"\n\n", b"\nStatus: RO\nX-UID: 5\nContent-Length: 99\n\n", 1),
        mail.replace(b"\n", b"\r\n"),
    ):
        after = read(other, ("measures",))
        assert after.views() == before.views()


AT_HOME = "from [192.168.1.5] (unknown [192.168.1.5]) by mail.a.example with ESMTPSA id 1"


def origin(*fields: str) -> float | None:
    return has_unnamed_origin(
        parse("".join(f"Received: {field}\n" for field in fields).encode() + b"\nHello\n")
    )


def test_lowest_field_is_the_first_hop() -> None:
    named, unnamed = "from a (a.example [203.0.113.7]) by b", "from a (unknown [172.32.0.1]) by b"
    assert origin(named, unnamed) == 1.0
    assert origin(unnamed, named) == 0.0
    assert origin() == 0.0
    assert origin(unnamed, *[AT_HOME] * (MAX_HOPS - 1)) == 1.0
    assert origin(unnamed, *[AT_HOME] * MAX_HOPS) is None


@given(st.lists(st.text(alphabet=" ()[]@=.:;,abfromhel0123456789\t", max_size=80), max_size=5))
def test_any_received_fields_have_an_origin_or_none(fields: list[str]) -> None:
    assert origin(*fields, *("from " + field for field in fields)) in (0.0, 1.0, None)
