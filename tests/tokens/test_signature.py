"""The signature of a text, and the raw view: what is read of them, and what changes them."""

from __future__ import annotations

import random
from zlib import crc32

from nbspam.tokens import read
from nbspam.tokens.bag import SIGNATURE_HASHES, sign_text
from nbspam.tokens.structure import MAX_RAW_BYTES, RAW_MARK, RUN_BYTES

WORDS = [f"word{number}" for number in range(400)]
TEXT = random.Random(1).choices(WORDS, k=200)


def share(first: list[str], second: list[str]) -> float:
    return len({*first} & {*second}) / SIGNATURE_HASHES


def test_it_is_the_smallest_hashes_of_the_runs_of_five_words() -> None:
    runs = [b"a b c d e", b"b c d e f", b"c d e f g"]
    assert sign_text([*"abcdefg"], []) == [f"signature={n:08x}" for n in sorted(map(crc32, runs))]


def test_the_same_text_under_another_header_has_the_same() -> None:
    body = ("\n" + " ".join(TEXT)).encode()
    first = read(b"From: a@lake.example\nSubject: pears\n" + body, ("signature",))
    second = read(b"From: b@hill.example\nSubject: apples\nX-Mailer: y\n" + body, ("signature",))
    assert first.signature == second.signature
    assert len(first.signature) == SIGNATURE_HASHES


def test_a_text_with_a_few_other_words_keeps_most_of_it_and_another_text_has_none() -> None:
    draw = random.Random(2)
    shares, others = [], []
    for _ in range(200):
        text = draw.choices(WORDS, k=200)
        changed = [draw.choice(WORDS) if draw.random() < 0.02 else word for word in text]
        shares.append(share(sign_text(text, []), sign_text(changed, [])))
        others.append(share(sign_text(text, []), sign_text(draw.choices(WORDS, k=200), [])))
    assert sum(shares) / len(shares) > 0.75
    assert sum(others) == 0


def test_a_short_text_is_told_by_its_links_and_files_too() -> None:
    structure = ["type=text/plain", "url=http", "url=lake.example", "file=invoice", "size=9"]
    here, there = sign_text(["look", "here"], structure), sign_text(["look", "here"], ["url=hill.example"])
    assert here == [f"signature={crc32(b'look here url=http url=lake.example file=invoice'):08x}"]
    assert here != there


def test_a_message_without_a_run_has_none() -> None:
    assert sign_text([], ["type=text/plain", "size=3"]) == []
    assert sign_text(["sent", "from", "my", "phone"], ["type=text/plain"]) == []


HEADER = b"From: Ida <ida@lake.example>\nSubject: Free  pears  and  apples  for  everybody  near  the  lake\n"
BYTES = bytes(random.Random(1).choices(range(32, 127), k=1000))


def raw(data: bytes) -> list[str]:
    return [*read(data, ("raw",)).raw]


def test_what_delivery_adds_and_line_ends_change_no_raw_token() -> None:
    plain = HEADER + b"\n" + BYTES.replace(b" ", b"\n")
    added = b"From ida Mon\nX-Spam-Status: No,\n score=1\n" + HEADER + b"Status: RO\n\n"
    assert raw(plain)
    assert raw(added + BYTES.replace(b" ", b"\n")) == raw(plain)
    assert raw(plain.replace(b"\n", b"\r\n")) == raw(plain)


def test_one_run_in_sixteen_is_read_of_the_first_bytes_only() -> None:
    text = b"a" + bytes(random.Random(2).choices(range(256), k=5 * MAX_RAW_BYTES)).replace(b"\r", b"")
    found = raw(HEADER + b"\n" + text)
    assert found == raw(HEADER + b"\n" + text[:MAX_RAW_BYTES])
    assert 0.8 < len(found) / (MAX_RAW_BYTES / 16) < 1.2
    assert {len(token) for token in found} == {len(RAW_MARK) + RUN_BYTES}


def test_a_run_is_read_wherever_it_is() -> None:
    alone = {token for token in raw(BYTES) if token in raw(b"\n" + BYTES)}
    assert len(alone) > 50
    assert alone <= {*raw(HEADER + b"\n" + BYTES)}


def test_case_blanks_and_order_are_evidence() -> None:
    mail = HEADER + b"\n" + BYTES
    turned = b"".join(reversed(HEADER.splitlines(keepends=True))) + b"\n" + BYTES
    for other in (mail.lower(), mail.replace(b"  ", b" "), turned):
        assert raw(other) != raw(mail)
