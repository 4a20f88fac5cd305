"""Dates of mail, with the stdlib as the oracle where a date is well formed."""

import datetime
from email.utils import format_datetime, parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.mail.dates import parse_date, received_date

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
        ("Thu, 01 Jan 1998 00:00:00 GMT", 883612800),
        ("1 Jan 98 00:00 EST", 883612800 + 5 * 3600),
        ("Mon, 23 Sep 2002 12:34:56 -0400 (EDT)", 1032798896),
        ("Mon Sep 23 12:34:56 2002", 1032798896 - 4 * 3600),
        ("23-Sep-2002 12:34:56 -0400", 1032798896),
        ("Mon, 23 Sep 2002 12:34:56 -04:00", 1032798896),
        ("Mon, 23 Sep 2002 12:34:56.789 -0400", 1032798896),
        ("Mon, 23 Sep 2002 17:34:56 BST", 1032798896),
        ("Mon, 23 Sep 102 12:34:56 -0400", 1032798896),
        ("Monday, 23 September 2002 12:34:56 XYZ", 1032798896 - 4 * 3600),
    ],
)
def test_dates_of_all_times_are_read(text, expected):
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "-", ":::", "yesterday", "1 Foo 2002 00:00:00", "1 Jan 1970 00:00:00", "1 Jan 2101 00:00:00"]
    + ["1 Jan 2002 aa:bb", "1 Jan ² 00:00:00", "1 Jan 2001 00:00:" + "9" * 200_000],
)
def test_junk_is_no_date(text):
    assert parse_date(text) is None


@given(st.text(st.sampled_from("0123456789:-+, JanFebUTC()٣²"), max_size=40))
def test_no_text_breaks_the_date_reader(text):
    seconds = parse_date(text)
    assert seconds is None or 0 < seconds < 4_200_000_000


def test_the_topmost_readable_received_field_goes_before_date():
    received = b"Received: by x; nonsense\nReceived: by y; 1 Jan 2002 00:00:00 +0000\n"
    date = b"Date: 1 Jan 2001 00:00:00 +0000\n\n"
    assert received_date(parse(received + date)) == 1009843200
    assert received_date(parse(date)) == 978307200
    assert received_date(parse(b"Subject: s\n\n")) is None
