"""Which fields are evidence, and what each kind gives."""

from __future__ import annotations

import time

import pytest

from nbspam.tokens import read
from nbspam.tokens.headers import IGNORED, VERDICTS

MAIL = b"From: ida@lake.example\nTo: otto@orchard.example\nSubject: pears\n"
# How programs write the names of their verdicts.
WRITTEN = (
    *("X-Bogosity", "X-Spam-Status", "X-Spambayes-Classification", "X-CRM114-Status", "X-DSPAM-Result"),
    *("X-Text-Classification", "X-Rspamd-Score", "X-Spamd-Result", "X-Nbspam", "X-Gm-Phishy"),
    *("X-Microsoft-Antispam-Mailbox-Delivery", "X-MS-Exchange-Organization-SCL", "X-Spam_score_int"),
    *("X-Apple-MoveToFolder", "X-ME-CMScore", "X-Xfinity-VMeta", "SpamDiagnosticOutput"),
    *("X-Mozilla-Status2", "X-KLMS-Message-Action", "X-Junkmail-Status", "X-purgate-type"),
)
SIGNATURE = "aZ3+/q" * 12


def header(field: str) -> list[str]:
    """The tokens of one field."""
    found = list(read(f"Date: \n{field}\n\n".encode()).header)
    return found[2:]


def test_words_of_a_field_carry_its_name() -> None:
    found = read(MAIL + b"\n").header
    assert {"subject:pears", "from:ida@lake.example", "from:ida@", "from:lake.example"} <= set(found)
    assert "to:orchard.example" in found


@pytest.mark.parametrize("name", [*WRITTEN, *sorted(VERDICTS), *sorted(IGNORED)])
def test_verdicts_and_notes_of_the_mail_store_are_no_evidence(name: str) -> None:
    field = f"{name}: spam junk 99\n".encode()
    plain = read(MAIL + b"\npears\n", ("measures",))
    noted = read(field + MAIL + field + b"\npears\n", ("measures",))
    assert (noted.views(), noted.measures) == (plain.views(), plain.measures)


@pytest.mark.parametrize("name", ["X-Mailer", "Spam-Note", "X-Report-Abuse", "Organization"])
def test_other_fields_are_evidence(name: str) -> None:
    assert {f"field:{name.lower()}", f"{name.lower()}:pears"} <= set(header(f"{name}: pears"))


@pytest.mark.parametrize("size", [100, 127, 128, 250])
def test_who_stores_a_mail_or_passes_it_on_changes_no_token(size: int) -> None:
    mail = MAIL + b"\n> pears\n" + b"x" * (size - 9 - len(MAIL)) + b"\n"
    before = read(mail, ("measures",))
    for other in (
        b"X-Nbspam: ham; probability=0.01\n" + mail,
        b"From ida@lake.example Mon Sep  2 14:00:00 2002\n" + mail + b"\n",
        mail.replace(b"\n\n", b"\nStatus: RO\nX-UID: 5\nContent-Length: 99\n\n", 1),
        mail.replace(b"\n", b"\r\n"),
    ):
        after = read(other, ("measures",))
        assert (after.views(), after.measures) == (before.views(), before.measures)


def test_the_order_of_fields_is_evidence_without_those_of_the_way() -> None:
    found = read(b"Received: by x\nFrom: a\nReceived: by y\nTo: b\nStatus: RO\n\n").structure
    assert [token for token in found if token.startswith("order=")] == ["order=from>to"]


@pytest.mark.parametrize("name", ["a/b", "x" * 61, "a=b+c"])
def test_an_odd_name_brings_no_mark_of_another_view(name: str) -> None:
    assert header(f"{name}: pears") == ["field:#odd"]


@pytest.mark.parametrize(
    ("subject", "tokens"),
    [
        ("Free pears", ["free", "pears", "free+pears"]),
        ("WIN NOW!", ["win", "now", "win+now", "#capitals", "!"]),
        ("So?   What", ["so", "what", "so+what", "?", "#gap"]),
        ("=?utf-8?Q?fr=E2=80=8Bee?=", ["free", "#zero-width"]),
    ],
)
def test_the_subject_gives_words_pairs_and_marks(subject: str, tokens: list[str]) -> None:
    assert header(f"Subject: {subject}") == ["field:subject", *("subject:" + token for token in tokens)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("=?utf-8?B?0JjQstCw0L0=?=", ["иван"]),
        ("\U0001d40f\U0001d41a\U0001d432\U0001d40f\U0001d41a\U0001d425", ["paypal"]),
        ("Pay\u200bPal", ["paypal"]),
        ("José", ["jose"]),
    ],
)
def test_names_beyond_ascii_in_an_address_are_words_as_they_are_seen(name: str, expected: list[str]) -> None:
    found = header(f"From: {name} <ann@river.example>")
    assert {f"from:{word}" for word in expected} <= set(found)
    assert found.count("from:ann@river.example") == 1


@pytest.mark.parametrize(
    ("field", "tokens"),
    [
        (
            "Received: from a.example (b [192.0.2.7]) by mx1 with SMTP id 8Q9; Mon, 2 Sep 2002 14:00",
            ["from", "a.example", "example", "192.0.2.7", "192.0.2", "192.0", "by", "with", "smtp", "id"],
        ),
        ("Received: from hill.example by mx.lake.example", ["from", "hill.example", "example", "by"]),
        ("Message-ID: <2002.a1b@mx.lake.example>", ["~9.a9a", "mx.lake.example", "lake.example", "example"]),
        ("Date: Mon, 2 Sep 2002 14:00:00 +0200", ["+0200", "~a,_9_a_9_9:9:9_+9"]),
        ("List-Help: <mailto:help@lake.example>", []),
        ("Authentication-Results: mx.example; spf=fail", ["mx.example", "example", "spf", "fail"]),
        ("To: " + "x" * 90 + "@lake.example", ["skip=x:100", "lake.example", "example"]),
    ],
)
def test_a_field_is_read_by_its_kind(field: str, tokens: list[str]) -> None:
    name = field.partition(":")[0].lower()
    found = [token.removeprefix(name + ":") for token in header(field)]
    assert found[0] == "field:" + name
    assert found[1 : 1 + len(tokens)] == tokens
    assert not tokens or len(set(found[1:]) - set(tokens)) <= 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"v=1; a=rsa; d=lake.example; b={SIGNATURE}", ["lake.example", "rsa"]),
        (f"{SIGNATURE} and pears {SIGNATURE}", ["and", "pears"]),
        ("a note that is longer than sixty characters and has nothing in it to skip", ["note", "sixty"]),
        ("longwordofletterswithoutdigits and so on and on and on", ["longwordofletterswithoutdigits"]),
    ],
)  # fmt: skip
def test_signatures_and_other_codes_in_a_field_are_no_words(value: str, expected: list[str]) -> None:
    found = header(f"X-Note: {value}")
    assert {f"x-note:{word}" for word in expected} <= set(found)
    assert not [token for token in found if "az3" in token or "skip=" in token]


def test_a_field_full_of_codes_takes_linear_time() -> None:
    field = "X-Note: " + "\n ".join(f"{SIGNATURE[:40]}{number}" for number in range(4_000))
    start = time.process_time()
    assert header(field)
    assert time.process_time() - start < 2
