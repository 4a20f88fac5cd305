"""Encoded words, parameters and dates in header fields; golden/ shows the common forms."""

import base64
import datetime
from email.utils import format_datetime, parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.dates import find_date, parse_date
from nbspam.mail.encoded_words import decode_words
from nbspam.mail.headers import parse_parameters


def words(value):
    return decode_words(value, Allowance())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("=?US-ASCII?Q?Keith_Moore?= <moore@cs.utk.edu>", "Keith Moore <moore@cs.utk.edu>"),  # RFC 2047, 8
        ("(=?ISO-8859-1?Q?a?=  \t =?ISO-8859-2?Q?_b?=)", "(a b)"),
        ("=?utf-8?b?WW91cg?= =?utf-8?b?IHBlYXJz?=", "Your pears"),
        ("=?utf-8?Q?=4?= =?utf-8?Q?=zz?=", "=4=zz"),
        ("=?x-nonsense?Q?=D0=9F?=", "П"),
        ("=?utf-8?Q?a=0D=0AX-Evil:_1?=", "a  X-Evil: 1"),
        ("=?=?utf-8?Q?a?=", "=?a"),
    ],
)
def test_encoded_words_are_decoded_as_readers_do(value, expected):
    assert words(value) == expected


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


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            "application/x-stuff\n ;title*0*=us-ascii'en'This%20is%20even%20more%20\n"
            " ;title*1*=%2A%2A%2Afun%2A%2A%2A%20\n"
            ' ;title*2="isn\'t it!"',
            {"title": "This is even more ***fun*** isn't it!"},  # RFC 2231, 4
        ),
        ("a/b; name*=utf-8''%41; name=plain", {"name": "A"}),
        ("a/b; name*=bad%zz%4", {"name": "bad%zz%4"}),
        ("a/b charset=us-ascii", {"charset": "us-ascii"}),
        ('a/b; boundary="open; x=y', {"boundary": "open", "x": "y"}),
        ("a/b (a comment); (b) charset=x (y); name=photo (1).jpg", {"charset": "x", "name": "photo (1).jpg"}),
        ("a/b; name=photo(1).jpg", {"name": "photo(1).jpg"}),
        ("a/b;;; junk; x=1; x=2", {"x": "1"}),
        (r'a/b; name="C:\my\file.doc"; x=y', {"name": r"C:\my\file.doc", "x": "y"}),
    ],
)
def test_parameters_are_read_as_they_are_really_written(value, expected):
    assert parse_parameters(value, Allowance())[1] == expected


@pytest.mark.parametrize(("written", "name"), [("%C3%83%C2%A9.zip", "Ã©.zip"), ("%D0%9F=?.zip", "П=?.zip")])
def test_file_names_that_look_encoded_are_not_decoded_twice(written, name):
    field = f"Content-Disposition: attachment; filename*=utf-8''{written}"
    assert parse(f"From: a\n{field}\n\nx".encode()).parts[0].filename == name


ZONES = st.sampled_from([-720, -330, -1, 0, 60, 345, 840])
MOMENTS = st.datetimes(min_value=datetime.datetime(1971, 1, 2), max_value=datetime.datetime(2100, 12, 30))


@given(MOMENTS, ZONES)
def test_well_formed_dates_agree_with_the_stdlib(moment, minutes):
    zoned = moment.replace(microsecond=0, tzinfo=datetime.timezone(datetime.timedelta(minutes=minutes)))
    text = format_datetime(zoned)
    assert parse_date(text) == parsedate_to_datetime(text).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 Jan 98 00:00 EST", 883612800 + 5 * 3600),
        ("23-Sep-2002 12:34:56.789 -04:00 (EDT)", 1032798896),
        ("Mon, 23 Sep 102 12:34:56 -0400", 1032798896),
        ("Monday, 23 September 2002 12:34:56 XYZ", 1032798896 - 4 * 3600),
        *[
            (text, None)
            for text in ("", ":::", "1 Foo 2002 00:00:00", "1 Jan 2101 00:00:00", "1 Jan ² 00:00:00")
        ],
        ("1 Jan 2001 00:00:" + "9" * 200_000, None),
    ],
)
def test_dates_of_all_times_are_read_and_junk_is_no_date(text, expected):
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2024-06-03T10:00:00Z",
        "2024-06-03T12:00:00.123+02:00",
        "2024-06-03 12:00:00 +0200",
        "20240603T100000Z",
        "20240603T1200+0200",
        "2024-06-03T12:00:00+02",
        "Mon, 2024/06/03 12:00:00 +2",
        "3 Jun 2024 12:00:00 (CEST) +0200",
        "Mon, 3 Jun 2024 12:00:00 GMT+0200",
        "3 Jun 2024 08:00:00 UTC-2",
        "Mon, 3 Jun 2024 12:00:00 PM +0200",
        "Monday, June 3, 2024 12:00PM GMT+02:00",
    ],
)
def test_dates_of_programs_that_know_no_rfc_5322_are_read(text):
    assert parse_date(text) == 1717408800


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
