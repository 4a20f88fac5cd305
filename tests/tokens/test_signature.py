"""The signature of a text: the same under another header, much the same after small changes."""

from __future__ import annotations

import random
from zlib import crc32

from nbspam.tokens import read
from nbspam.tokens.bag import SIGNATURE_HASHES, sign_text

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
