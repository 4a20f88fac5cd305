"""The raw view: which bytes of a message are read, and what becomes of them."""

from __future__ import annotations

import random

from nbspam.tokens import read
from nbspam.tokens.structure import MAX_RAW_BYTES, RAW_MARK, RUN_BYTES

HEADER = b"From: Ida <ida@lake.example>\nSubject: Free  pears  and  apples  for  everybody  near  the  lake\n"
TEXT = bytes(random.Random(1).choices(range(32, 127), k=1000))


def raw(data: bytes) -> list[str]:
    return [*read(data, ("raw",)).raw]


def test_what_delivery_adds_and_line_ends_change_no_raw_token() -> None:
    plain = HEADER + b"\n" + TEXT.replace(b" ", b"\n")
    added = b"From ida Mon\nX-Spam-Status: No,\n score=1\n" + HEADER + b"Status: RO\n\n"
    assert raw(plain)
    assert raw(added + TEXT.replace(b" ", b"\n")) == raw(plain)
    assert raw(plain.replace(b"\n", b"\r\n")) == raw(plain)


def test_one_run_in_sixteen_is_read_of_the_first_bytes_only() -> None:
    text = b"a" + bytes(random.Random(2).choices(range(256), k=5 * MAX_RAW_BYTES)).replace(b"\r", b"")
    found = raw(HEADER + b"\n" + text)
    assert found == raw(HEADER + b"\n" + text[:MAX_RAW_BYTES])
    assert 0.8 < len(found) / (MAX_RAW_BYTES / 16) < 1.2
    assert {len(token) for token in found} == {len(RAW_MARK) + RUN_BYTES}


def test_a_run_is_read_wherever_it_is() -> None:
    alone = {token for token in raw(TEXT) if token in raw(b"\n" + TEXT)}
    assert len(alone) > 50
    assert alone <= {*raw(HEADER + b"\n" + TEXT)}


def test_case_blanks_and_order_are_evidence() -> None:
    mail = HEADER + b"\n" + TEXT
    turned = b"".join(reversed(HEADER.splitlines(keepends=True))) + b"\n" + TEXT
    for other in (mail.lower(), mail.replace(b"  ", b" "), turned):
        assert raw(other) != raw(mail)
