"""Header blocks: fields, raw lines, line ends, and where a block ends."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nbspam.mail import header_lines, parse
from nbspam.mail.headers import blank_line, header_start
from nbspam.mail.limits import MAX_HEADER_LINES


def test_folded_fields_are_unfolded_as_rfc_5322_says():
    mail = parse(b"Subject: one\n two\n\tthree\nTo: a@b.example\n\nbody\n")
    assert mail.headers == [("subject", "one two\tthree"), ("to", "a@b.example")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b"\r\r\n"])
def test_every_line_end_gives_the_same_message(end):
    lines = [
        b"Subject: one",
        b" two",
        b"Content-Type: multipart/mixed; boundary=b",
        b"",
        b"--b",
        b"",
        b"text",
        b"--b--",
    ]
    mail = parse(end.join(lines))
    assert mail.get("subject") == "one two"
    assert [part.text for part in mail.parts] == ["text"]
    assert mail.defects == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b"\r\r\n"])
def test_every_line_end_after_an_mbox_line_gives_the_same_fields(end):
    mail = parse(end.join([b"From a@b Mon Sep  9", b"Subject: one", b"To: c", b"", b"text"]))
    assert mail.headers == [("subject", "one"), ("to", "c")]
    assert mail.parts[0].text == "text"
    assert mail.defects == []


@pytest.mark.parametrize("first", [b"From a@b Mon Sep  9 10:00:00 2002\n", b">From a@b Mon Sep  9\n"])
def test_an_mbox_from_line_is_not_a_field(first):
    mail = parse(first + b"Subject: s\n\nbody")
    assert mail.headers == [("subject", "s")]
    assert mail.defects == []


def test_a_byte_order_mark_does_not_hide_the_first_field():
    assert parse(b"\xef\xbb\xbfSubject: s\n\nbody").get("subject") == "s"


@pytest.mark.parametrize("colon", [b" :", b" \t :", b"  :"])
def test_a_first_field_from_with_spaces_before_its_colon_is_not_an_mbox_line(colon):
    data = b"From" + colon + b" a@b\nTo: c\n\nbody"
    assert parse(data).headers == [("from", "a@b"), ("to", "c")]
    assert header_lines(data)[0][0] == header_start(data) == 0
    assert header_start(b"From a@b Mon Sep  9 10:00:00 2002\n" + data) == 34


def test_names_are_lower_case_and_doubles_stay_in_order():
    mail = parse(b"RECEIVED: 1\nReceived: 2\n\n")
    assert mail.headers == [("received", "1"), ("received", "2")]
    assert mail.get("received") == "1"
    assert mail.get("subject") is None


@pytest.mark.parametrize("spelled", [str.upper, str.lower, str.title, str.swapcase])
def test_spelling_of_content_fields_does_not_matter(spelled):
    names = (spelled(name) for name in ("Content-Type", "Content-Transfer-Encoding"))
    data = "Subject: lake\n{}: text/html\n{}: base64\n\nPGI+bGFrZTwvYj4=\n".format(*names).encode()
    for _ in range(2):
        (part,) = parse(data).parts
        assert (part.content_type, part.text) == ("text/html", "<b>lake</b>")


def test_a_line_that_is_not_a_field_begins_the_body():
    mail = parse(b"Subject: s\nDear friend,\nbuy now: cheap\n\nmore\n")
    assert mail.headers == [("subject", "s")]
    assert mail.parts[0].text == "Dear friend,\nbuy now: cheap\n\nmore\n"
    assert mail.defects == ["no-header-end"]


def test_one_junk_line_between_known_fields_does_not_hide_the_rest():
    mail = parse(b"From: a\nsome junk here\nContent-Transfer-Encoding: base64\n\naGVsbG8=\n")
    assert mail.parts[0].text == "hello"
    assert mail.defects == ["bad-header"]


@pytest.mark.parametrize("line", [b"From a@b", b">From c@d", b": a", b" : a", b"\f"])
def test_a_line_without_a_name_is_skipped_before_known_fields(line):
    mail = parse(b"Subject: s\n" + line + "\nTo: x\nX-Name: é\n\nbody".encode())
    assert mail.headers[0] == ("subject", "s" + (" : a" if line == b" : a" else ""))
    assert mail.headers[1:] == [("to", "x"), ("x-name", "é")]
    assert mail.parts[0].text == "body"


def test_long_text_is_never_left_out_as_junk_in_a_header():
    text = b"buy this now " * 40
    mail = parse(b"From: a\n" + text + b"\nTo: b\n\nbody\n")
    assert "buy this now" in mail.parts[0].text


def test_a_text_that_begins_with_a_colon_word_has_no_header():
    mail = parse(b"Reminder: call me\nback\n")
    assert mail.headers == []
    assert mail.parts[0].text == "Reminder: call me\nback\n"
    assert "no-header" in mail.defects


def test_a_leading_blank_line_ends_the_header():
    mail = parse(b"\nSubject: s\n")
    assert mail.headers == []
    assert mail.parts[0].text == "Subject: s\n"


def test_a_line_of_spaces_before_the_header_is_skipped():
    assert parse(b"    \nSubject: s\n\nbody").get("subject") == "s"


def test_raw_8_bit_fields_are_read_as_utf8_then_as_the_body_declares():
    mail = parse("Subject: Grüße\n\n".encode())
    assert mail.get("subject") == "Grüße"
    russian = "Subject: привет\nContent-Type: text/plain; charset=koi8-r\n\n".encode("koi8-r")
    assert parse(russian).get("subject") == "привет"


def test_raw_8_bit_fields_too_short_for_a_guess_are_read_as_the_body_declares():
    data = "Subject: ąć\nContent-Type: text/plain; charset=iso-8859-2\n\n".encode("iso-8859-2")
    assert parse(data).get("subject") == "ąć"


def test_raw_8_bit_fields_in_two_charsets_are_each_decoded():
    mail = parse("From: Jürgen\n".encode() + "Subject: Größe\n\n".encode("cp1252"))
    assert mail.headers == [("from", "Jürgen"), ("subject", "Größe")]


def test_header_lines_are_byte_exact_with_their_folded_lines():
    data = b"From x\nA: 1\n 2\r\nX-Nbspam: ham;\n\tp=0\nB : 3\n\nbody\n"
    assert [(data[start:stop], name) for start, stop, name in header_lines(data)] == [
        (b"A: 1\n 2\r\n", "a"),
        (b"X-Nbspam: ham;\n\tp=0\n", "x-nbspam"),
        (b"B : 3\n", "b"),
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", (0, 0)),
        (b"\n", (0, 1)),
        (b"\r\nbody", (0, 2)),
        (b"From x\nA: 1\n\nbody", (7, 13)),
        (b"A: 1\r\n\r\nbody", (0, 8)),
        (b"A: 1\r\rbody", (0, 6)),
        (b"A: 1\r\r\nB: 2\r\r\n\r\r\nbody", (0, 17)),
        (b"A: 1", (0, 4)),
        (b"\xef\xbb\xbfA: 1\n\nbody", (3, 9)),
    ],
)
def test_the_header_begins_after_an_mbox_line_and_ends_at_the_first_empty_line(data, expected):
    start = header_start(data)
    assert (start, blank_line(data, start)[1]) == expected


PIECES = st.lists(
    st.sampled_from(
        [
            b"\n",
            b"\r",
            b"\r\n",
            b"\r\r\r\r\n",
            b" ",
            b"\t",
            b"\f",
            b"\v",
            b":",
            b"\0",
            b"\xff",
            b"\xef\xbb\xbf",
        ]
        + [b"A:", b"X-Nbspam: x", b"From ", b"junk", b"--b"]
    ),
    max_size=40,
).map(b"".join)


@given(PIECES)
def test_raw_lines_are_contiguous_and_reassemble_the_input(data):
    start = header_start(data)
    stop, body = blank_line(data, start)
    spans = header_lines(data)
    edges = [start] + [end for _, end, _ in spans]
    assert [begin for begin, _, _ in spans] == edges[:-1]
    rebuilt = data[:start] + b"".join(data[a:b] for a, b, _ in spans) + data[edges[-1] :]
    assert rebuilt == data
    assert 0 <= start <= edges[-1] <= stop <= body <= len(data)
    assert data[stop:body].strip(b"\r\n") == b""


@example(b"\rA:")
@example(b"\rDate: d")
@example(b"\fA:")
@example(b"\f\n\f\n\f\nA: b")
@example(b"A:\r\r\r\r\nA:")
@example(b"\n\r\t:\r\nA:")
@example(b"--b\r :")
@example(b"junk\n  : A:")
@example(b"From \r :")
@given(PIECES)
def test_both_readers_of_the_header_see_the_same_known_fields(data):
    mail = parse(b"Subject: s\n" + data)
    names = [name for _, _, name in header_lines(b"Subject: s\n" + data) if name]
    assert [name for name, _ in mail.headers] == names


def test_a_colon_after_a_fold_makes_no_field():
    mail = parse(b"Subject: s\n : t\nA\n : hidden\nTo: x\n\nbody")
    assert mail.headers == [("subject", "s : t"), ("to", "x")]
    mail = parse(b"Subject: s\nA\n : shown\n\nbody")
    assert mail.parts[0].text == "A\n : shown\n\nbody"


def test_content_fields_after_a_thousand_others_count():
    content = b"CONTENT-TYPE : text/html;\n charset=koi8-r\nContent-Typewriter: x\n"
    content += b"Content-Transfer-Encoding: base64\nContent-Type: text/plain\n"
    mail = parse(b"Subject:\n" * 1001 + content + b"\n0NLJ18XU\n")
    assert (mail.parts[0].content_type, mail.parts[0].text) == ("text/html", "привет")
    assert len(mail.headers) == MAX_HEADER_LINES
    assert mail.defects == ["many-headers"]


@given(PIECES)
def test_a_new_first_field_can_be_put_in_without_changing_the_others(data):
    data = b"Subject: s\n" + data
    start = header_start(data)
    with_field = parse(data[:start] + b"X-Nbspam: spam\n" + data[start:])
    assert with_field.headers == [("x-nbspam", "spam"), *parse(data).headers]
    assert [part.text for part in with_field.parts] == [part.text for part in parse(data).parts]
