"""RFC 2047 encoded words: the examples of the RFC, then what mail really has."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail.encoded_words import decode_words
from nbspam.mail.limits import MAX_ENCODED_WORDS, Allowance


def words(value):
    return decode_words(value, Allowance())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # RFC 2047, section 8
        ("=?US-ASCII?Q?Keith_Moore?= <moore@cs.utk.edu>", "Keith Moore <moore@cs.utk.edu>"),
        ("=?ISO-8859-1?Q?Andr=E9?= Pirard", "André Pirard"),
        (
            "=?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?="
            " =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?=",
            "If you can read this you understand the example.",
        ),
        ("(=?ISO-8859-1?Q?a?= b)", "(a b)"),
        ("(=?ISO-8859-1?Q?a?=  \t =?ISO-8859-1?Q?b?=)", "(ab)"),
        ("(=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=)", "(a b)"),
        # RFC 2231, section 5
        ("=?US-ASCII*EN?Q?Keith_Moore?=", "Keith Moore"),
    ],
)
def test_the_examples_of_the_rfcs_are_decoded(value, expected):
    assert words(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("=?utf-8?q?=D0?= =?UTF-8?Q?=9F?=", "П"),
        ("=?utf-8?b?0A==?= =?utf-8?b?nw==?=", "П"),
        ("=?utf-8?b?WW91cg?= =?utf-8?b?IHBlYXJz?=", "Your pears"),
        ('"=?utf-8?Q?J=C3=BCrgen?=" <j@x.example>', '"Jürgen" <j@x.example>'),
        ("a=?utf-8?Q?b?=c", "abc"),
        ("=?utf-8?Q?two words?=", "two words"),
        ("=?utf-8?Q??=", ""),
        ("=?utf-8?Q?=4?= =?utf-8?Q?=zz?=", "=4=zz"),
        ("=?utf-8?B?aGVs*bG8=?=", "hello"),
        ("=?gb2312?B?xOO6ww==?=", "你好"),
        ("=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?koi8-r?Q?=D0=D2=C9=D7=C5=D4?=", "привет"),
        ("=?x-nonsense?Q?=D0=9F?=", "П"),
        ("=?utf-8?Q?a=0D=0AX-Evil:_1?=", "a  X-Evil: 1"),
        ("=?utf-8?X?abc?=", "=?utf-8?X?abc?="),
        ("=?utf-8?Q?abc", "=?utf-8?Q?abc"),
        ("=?", "=?"),
        ("=?=?utf-8?Q?a?=", "=?a"),
        ("gr\xc3\xbc\xdfe =?utf-8?q?x?=".replace("\xdf", "\xc3\x9f"), "grüße x"),
    ],
)
def test_words_are_decoded_as_readers_do(value, expected):
    assert words(value) == expected


@given(
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=30), st.sampled_from("qb")
)
def test_any_text_cut_anywhere_into_words_comes_back(text, encoding):
    raw = text.encode()
    pieces = [raw[start : start + 3] for start in range(0, len(raw), 3)]
    if encoding == "b":
        found = [f"=?utf-8?b?{base64.b64encode(piece).decode()}?=" for piece in pieces]
    else:
        found = ["=?utf-8?q?" + "".join(f"={byte:02X}" for byte in piece) + "?=" for piece in pieces]
    assert words(" ".join(found)) == text.removeprefix("\ufeff")


def test_the_number_of_decoded_words_is_bounded():
    allowance = Allowance()
    value = decode_words("=?utf-8?q?a?= " * (MAX_ENCODED_WORDS + 10), allowance)
    assert value.startswith("a" * MAX_ENCODED_WORDS + " =?utf-8?q?a?=")
    assert allowance.encoded_words == 0
