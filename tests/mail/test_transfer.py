"""Transfer encodings: the stdlib as the oracle, and broken forms as mail programs take them."""

import base64
import binascii
import quopri
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nbspam.limits import Allowance
from nbspam.mail import parse
from nbspam.mail.transfer import (
    decode_base64,
    decode_percent,
    decode_quoted_printable,
    decode_transfer,
)


@given(st.binary(max_size=400))
def test_what_the_stdlib_encodes_comes_back(data):
    allowance = Allowance()
    assert decode_base64(base64.encodebytes(data), allowance) == data
    line_feeds = data.replace(b"\r", b"")
    assert decode_quoted_printable(quopri.encodestring(line_feeds)) == line_feeds
    lines = b"".join(binascii.b2a_uu(data[start : start + 45]) for start in range(0, len(data), 45))
    payload = b"text before\nbegin 644 a.bin\n" + lines + b"`\nend\n"
    assert decode_transfer(payload, "x-uuencode", allowance) == data
    assert allowance.defects == []


@given(st.binary(max_size=200), st.sampled_from(["base64", "quoted-printable", "uuencode", "8bit", "x-odd"]))
def test_any_payload_is_decoded(payload, encoding):
    for text in (payload, b"begin 644 x\n" + payload):
        assert isinstance(decode_transfer(text, encoding, Allowance()), bytes)


@given(st.text("%0aF4 \t+_x").map(str.encode) | st.binary())
@example(b"100%")
@example(b"100%  sure")
def test_percent_signs_are_decoded_as_the_stdlib_decodes_them(data):
    assert decode_percent(data) == unquote_to_bytes(data)


@pytest.mark.parametrize("first", [b"minutes of the meeting 1...", b"minutes of the meeting 1...."])
def test_base64_after_a_foreign_line_is_read(first):
    rest = b"buy cheap pills now http://evil.example/ " * 6
    for gap in (b"\n-\n", b"\n\n-\n", b"\n\n"):
        data = base64.b64encode(first) + gap + base64.b64encode(rest)
        assert decode_transfer(data, "base64", Allowance()).endswith(rest)


DATA = bytes(range(256))


@pytest.mark.parametrize(
    "encoded",
    [
        b"begin 644\n" + binascii.b2a_uu(DATA[:45]) + b"`\nend\n",
        b"=ybegin line=128 size=256 name=a b.gif\n%s\n=yend size=256\n" % DATA.replace(b"\r", b"=M"),
    ],
)
def test_lines_of_encoded_files_are_no_words(encoded):
    text, *files = parse(b"Subject: s\n\nsee\n" + encoded + b"after").parts
    assert text.text.split() == ["see", "after"]
    assert [(file.filename, file.size_bytes) for file in files] == [("", 45)] * (encoded[:1] == b"b")


def test_data_in_yenc_that_is_cut_off_is_no_words():
    (text,) = parse(b"Subject: s\n\nsee\n=ybegin line=128 size=256 name=b.gif\n" + DATA).parts
    assert text.text.split() == ["see"]
