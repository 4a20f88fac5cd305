"""What is beyond the bounds of limits.py is cut off, and the rest is read."""

from nbspam import limits
from nbspam.mail import find_header_fields, parse

MULTIPART = b"From: a\nContent-Type: multipart/mixed; boundary=b0\n\n"


def nested(levels):
    return MULTIPART + b"".join(
        b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (level, level + 1)
        for level in range(levels)
    )


def test_nesting_ends_at_its_bound_and_the_rest_is_text():
    mail = parse(nested(100) + b"--b100\n\nhidden deep\n")
    assert mail.structure.count("multipart/mixed") == limits.MAX_NESTING + 1
    assert "nested-too-deep" in mail.defects
    assert "hidden deep" in mail.parts[0].text


def test_long_line_is_read_up_to_the_bound():
    mail = parse(b"a" * (4 << 20))
    assert mail.parts[0].text == "a" * limits.MAX_SCORED_BYTES
    assert mail.body_bytes == limits.MAX_SCORED_BYTES
    assert "long-body" in mail.defects


def test_long_header_does_not_hide_the_body():
    data = b"Subject: s\nX: " + b"a" * (4 << 20) + b"\n\nbody"
    mail = parse(data)
    assert mail.get("subject") == "s"
    assert mail.parts[0].text == "body"
    assert "long-header" in mail.defects
    assert find_header_fields(data)[-1][1] == len(data) - 5  # before the empty line


def test_lines_that_look_like_delimiters_are_searched_up_to_a_bound():
    mail = parse(MULTIPART + b"--x\n" * (limits.Allowance.delimiter_lines + 1) + b"--b0\n\ntext\n--b0--\n")
    assert "many-delimiters" in mail.defects
