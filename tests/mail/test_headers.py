"""Header blocks: fields, raw lines, line ends and the end; encoded words and dates in their values."""

import base64
import datetime
from email.utils import format_datetime, parsedate_to_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nbspam.limits import MAX_HEADER_LINES, Allowance
from nbspam.mail import find_header_fields, parse
from nbspam.mail.dates import find_date, parse_date
from nbspam.mail.encoded_words import decode_words
from nbspam.mail.headers import find_blank_line, find_header


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b"\r\r\n"])
@pytest.mark.parametrize("before", [[], [b"From a@b Mon Sep  9"]])
def test_every_line_end_gives_the_same_message(end, before):
    fields = [b"Subject: one", b" two", b"Content-Type: multipart/mixed; boundary=b"]
    mail = parse(end.join([*before, *fields, b"", b"--b", b"", b"text", b"--b--"]))
    assert mail.headers == [("subject", "one two"), ("content-type", "multipart/mixed; boundary=b")]
    assert [part.text for part in mail.parts] == ["text"]
    assert mail.defects == []


def test_a_first_field_from_with_spaces_before_its_colon_is_not_an_mbox_line():
    data = b"From \t : a@b\nTo: c\n\nbody"
    assert parse(data).headers == [("from", "a@b"), ("to", "c")]
    assert find_header_fields(data)[0][0] == find_header(data) == 0
    assert find_header(b"From a@b Mon Sep  9 10:00:00 2002\n" + data) == 34


def test_content_fields_after_a_thousand_others_count():
    content = b"CONTENT-TYPE : text/html;\n charset=koi8-r\nContent-Typewriter: x\n"
    content += b"Content-Transfer-Encoding: base64\nContent-Type: text/plain\n"
    mail = parse(b"Subject:\n" * 1001 + content + b"\n0NLJ18XU\n")
    assert (mail.parts[0].content_type, mail.parts[0].text) == ("text/html", "привет")
    assert len(mail.headers) == MAX_HEADER_LINES
    assert mail.defects == ["many-headers"]


PIECES = st.lists(
    st.sampled_from(
        b"\n|\r|\r\n|\r\r\r\r\n| |\t|\f|\v|:|\0|\xff|\xef\xbb\xbf|A:|X-Nbspam: x|From |junk|--b".split(b"|")
    ),
    max_size=40,
).map(b"".join)


@given(PIECES)
def test_raw_lines_are_contiguous_and_reassemble_the_input(data):
    start = find_header(data)
    stop, body = find_blank_line(data, start)
    spans = find_header_fields(data)
    edges = [start] + [end for _, end, _ in spans]
    assert [begin for begin, _, _ in spans] == edges[:-1]
    assert 0 <= start <= edges[-1] <= stop <= body <= len(data)
    assert data[stop:body].strip(b"\r\n") == b""


@example(b"\rA:")
@example(b"\fA:")
@example(b"\f\n\f\n\f\nA: b")
@example(b"A:\r\r\r\r\nA:")
@example(b"\n\r\t:\r\nA:")
@example(b"--b\r :")
@example(b"junk\n  : A:")
@example(b"From \r :")
@given(PIECES)
def test_both_readers_of_the_header_see_the_same_fields(data):
    mail = parse(b"Subject: s\n" + data)
    names = [name for _, _, name in find_header_fields(b"Subject: s\n" + data) if name]
    assert [name for name, _ in mail.headers] == names


def words(value):
    return decode_words(value, Allowance())


@given(
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=30), st.sampled_from("qb")
)
def test_text_cut_anywhere_into_encoded_words_comes_back(text, encoding):
    raw = text.encode()
    pieces = [raw[start : start + 3] for start in range(0, len(raw), 3)]
    if encoding == "b":
        found = [f"=?utf-8?b?{base64.b64encode(piece).decode()}?=" for piece in pieces]
    else:
        found = ["=?utf-8?q?" + "".join(f"={byte:02X}" for byte in piece) + "?=" for piece in pieces]
    assert words(" ".join(found)) == text.removeprefix("\ufeff")


def test_number_of_decoded_words_is_bounded():
    allowance = Allowance()
    value = decode_words("=?utf-8?q?a?= " * (Allowance.encoded_words + 10), allowance)
    assert value.startswith("a" * Allowance.encoded_words + " =?utf-8?q?a?=")
    assert allowance.encoded_words == 0


ZONES = st.sampled_from([-720, -330, -1, 0, 60, 345, 840])
MOMENTS = st.datetimes(min_value=datetime.datetime(1971, 1, 2), max_value=datetime.datetime(2100, 12, 30))


@given(MOMENTS, ZONES)
def test_well_formed_dates_agree_with_the_stdlib(moment, minutes):
    zoned = moment.replace(microsecond=0, tzinfo=datetime.timezone(datetime.timedelta(minutes=minutes)))
    text = format_datetime(zoned)
    assert parse_date(text) == parsedate_to_datetime(text).timestamp()


@given(st.text(st.sampled_from("0123456789:-+, JanFebUTCpm()٣²"), max_size=40))
def test_no_text_breaks_the_date_reader(text):
    seconds = parse_date(text)
    assert seconds is None or 0 < seconds < 4_200_000_000


def test_topmost_readable_received_field_goes_before_date():
    received = b"Received: by x; nonsense\nReceived: by y; 1 Jan 2002 00:00:00 +0000\n"
    date = b"Date: 1 Jan 2001 00:00:00 +0000\n\n"
    assert find_date(parse(received + date)) == 1009843200
    assert find_date(parse(date)) == 978307200
    assert find_date(parse(b"Subject: s\n\n")) is None
