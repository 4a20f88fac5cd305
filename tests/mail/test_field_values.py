"""Encoded words, parameters and dates in header fields; golden/ shows the common forms."""

import base64
import datetime
from email.utils import format_datetime, parsedate_to_datetime

from hypothesis import given
from hypothesis import strategies as st

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.dates import find_date, parse_date
from nbspam.mail.encoded_words import decode_words


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
