"""Hostile sizes: each finishes, and every count stays within the bounds of limits.py."""

import subprocess
import sys
from itertools import pairwise

import pytest

from nbspam.mail import header_lines, limits, parse

MULTIPART = b"From: a\nContent-Type: multipart/mixed; boundary=b0\n\n"
MIB = 1 << 20


def nested(levels):
    return MULTIPART + b"".join(
        b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (level, level + 1)
        for level in range(levels)
    )


HOSTILE = {
    "10,000 nested multiparts": nested(10_000),
    "nested digests": b"Content-Type: multipart/digest; boundary=b\n\n" + b"--b\n\n" * 20_000,
    "100,000 parts": MULTIPART + b"--b0\n\nx\n" * 100_000,
    "100,000 parts without an empty line": MULTIPART + b"--b0\nx\n" * 100_000,
    "1 MiB of --x": MULTIPART + b"--x\n" * (MIB // 4),
    "1 MiB of --x after 60 levels": nested(60) + b"--x\n" * (MIB // 4),
    "1 MiB of --x without a boundary": b"Content-Type: multipart/mixed\n\n" + b"--x\n" * (MIB // 4),
    "wrong boundaries": MULTIPART + b"--w\nContent-Type: multipart/mixed; boundary=q\n\n" * 10_000,
    "1 MiB of =? in the body": b"From: a\n\n" + b"=?" * (MIB // 2),
    "encoded words": b"Subject: " + b"=?x?q?=ff?= " * 20_000 + b"\n\n",
    "parameters": b"Content-Type: text/plain" + b"; a=b" * 50_000 + b"\n\n",
    "comments": b"Content-Type: text/plain " + b"(" * 250_000 + b"\n\n",
    "fields": b"X: y\n" * 400_000 + b"\n",
    "folded lines": b"X: y\n" + b" z\n" * 400_000 + b"\n",
    "mbox lines": b"From x\n" * 200_000,
    "zero bytes": bytes(MIB),
    "carriage returns": b"\r" * MIB,
    "carriage returns before line feeds": b"Subject: x\n" + b"\r\r\r\n" * (MIB // 4),
    "padding": b"Content-Transfer-Encoding: base64\n\n" + b"=" * MIB,
    "base64 runs": b"Content-Transfer-Encoding: base64\n\n" + b"AA==" * (MIB // 4),
    "uuencoded files": b"From: a\n\n" + b"begin 644 x\n#0V%T\nend\n" * 50_000,
    "uuencoded lines": b"From: a\n\nbegin 644 x\n" + b"M!\n" * (MIB // 3),
    "8-bit parts": MULTIPART
    + b"--b0\nSubject: \xe3\xe4\xe5\xe6 \xe3\xe4\n\n\xc8\xc9\xca\xcb \xcc\xcd\n" * 30_000,
    "utf-7": b"Content-Type: text/plain; charset=utf-7\n\n" + b"+AA" * (MIB // 3),
    "iso-2022-jp": b"From: a\n\n" + b"\x1b$B!!\x1b(B" * (MIB // 8),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_mail_stays_within_the_bounds(name):
    data = HOSTILE[name]
    mail = parse(data)
    assert len(mail.headers) <= limits.MAX_HEADER_LINES
    assert len(mail.structure) <= limits.MAX_PARTS + limits.MAX_UU_BLOCKS
    assert 1 <= len(mail.parts) <= limits.MAX_PARTS + limits.MAX_UU_BLOCKS
    assert sum(len(part.text) for part in mail.parts) <= 2 * limits.MAX_SCORED_BYTES
    assert sum(len(value) for _, value in mail.headers) <= limits.MAX_HEADER_BYTES
    assert mail.body_bytes + sum(mail.header_sizes) <= len(data) + 1
    assert len(mail.header_sizes) == len(mail.headers)
    spans = header_lines(data)
    assert all(stop == begin for (_, stop, _), (begin, _, _) in pairwise(spans))


def test_nesting_ends_at_its_bound_and_the_rest_is_text():
    mail = parse(nested(100) + b"--b100\n\nhidden deep\n")
    assert mail.structure.count("multipart/mixed") == limits.MAX_NESTING + 1
    assert "nested-too-deep" in mail.defects
    assert "hidden deep" in mail.parts[0].text


def test_fifty_megabytes_of_one_line_are_read_up_to_the_bound():
    mail = parse(b"a" * (50 << 20))
    assert mail.parts[0].text == "a" * limits.MAX_SCORED_BYTES
    assert mail.body_bytes == limits.MAX_SCORED_BYTES
    assert "long-body" in mail.defects


def test_a_header_of_fifty_megabytes_does_not_hide_the_body():
    data = b"Subject: s\nX: " + b"a" * (50 << 20) + b"\n\nbody"
    mail = parse(data)
    assert mail.get("subject") == "s"
    assert mail.parts[0].text == "body"
    assert "long-header" in mail.defects
    assert header_lines(data)[-1][1] == len(data) - 5  # before the empty line


def test_the_mail_room_imports_nothing_heavy():
    program = (
        "import sys; before = set(sys.modules)\n"
        "from nbspam.mail import parse\n"
        "head = b'Subject: =?utf-8?q?a?=\\nContent-Type: multipart/mixed; boundary=b\\n\\n'\n"
        "parse(head + b'--b\\n\\n\\xe3\\xe4\\n--b--')\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    out = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    ).stdout
    allowed = ("nbspam", "__future__", "binascii", "_codecs", "encodings.")
    assert [name for name in out.split() if not name.startswith(allowed)] == []


def test_nested_messages_end_at_the_same_bound():
    mail = parse(b"From: a\nContent-Type: message/rfc822\n\n" * 200 + b"From: a\n\ndeep\n")
    assert mail.structure == ["message/rfc822"] * (limits.MAX_NESTING + 1)
    assert mail.defects == ["nested-too-deep"]


def test_lines_that_look_like_delimiters_are_searched_up_to_a_bound():
    mail = parse(MULTIPART + b"--x\n" * (limits.MAX_DELIMITER_LINES + 1) + b"--b0\n\ntext\n--b0--\n")
    assert "many-delimiters" in mail.defects
