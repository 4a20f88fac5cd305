"""RFC 2047 encoded words and RFC 2231 parameters: the examples of the RFCs, then what mail really has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.mail.limits import MAX_ENCODED_WORDS, Allowance
from nbspam.mail.parameters import parse_parameters
from nbspam.mail.words import decode_words


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
        ("(=?ISO-8859-1?Q?a?=)", "(a)"),
        ("(=?ISO-8859-1?Q?a?= b)", "(a b)"),
        ("(=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=)", "(ab)"),
        ("(=?ISO-8859-1?Q?a?=  \t =?ISO-8859-1?Q?b?=)", "(ab)"),
        ("(=?ISO-8859-1?Q?a_b?=)", "(a b)"),
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
        ("=?utf-8?b?0?= =?utf-8?b?J8=?=", "П"),
        ("=?utf-8?q?=D0?= =?utf-8?b?nw==?=", "П"),
        ("=?utf-8?b?WW91cg?= =?utf-8?b?IHBlYXJz?=", "Your pears"),
        ("=?utf-8?b?WW91cg?= =?utf-8?b?IHA?= =?utf-8?q?ears?=", "Your pears"),
        ('"=?utf-8?Q?J=C3=BCrgen?=" <j@x.example>', '"Jürgen" <j@x.example>'),
        ("a=?utf-8?Q?b?=c", "abc"),
        ("=?utf-8?Q?two words?=", "two words"),
        ("=?utf-8?Q??=", ""),
        ("=?utf-8?Q?=41?=", "A"),
        ("=?utf-8?Q?=4?= =?utf-8?Q?=zz?=", "=4=zz"),
        ("=?utf-8?B?aGVsbG8?=", "hello"),
        ("=?utf-8?B?aGVs*bG8=?=", "hello"),
        ("=?gb2312?B?xOO6ww==?=", "你好"),
        ("=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?koi8-r?Q?=D0=D2=C9=D7=C5=D4?=", "привет"),
        ("=?x-nonsense?Q?=D0=9F?=", "П"),
        ("=?zlib?B?eJw=?=", "xœ"),
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
    import base64

    raw = text.encode()
    pieces = []
    for start in range(0, len(raw), 3):
        piece = raw[start : start + 3]
        if encoding == "b":
            pieces.append("=?utf-8?b?" + base64.b64encode(piece).decode() + "?=")
        else:
            pieces.append("=?utf-8?q?" + "".join(f"={byte:02X}" for byte in piece) + "?=")
    assert words(" ".join(pieces)) == text.removeprefix("\ufeff")


def test_the_number_of_decoded_words_is_bounded():
    allowance = Allowance()
    value = decode_words("=?utf-8?q?a?= " * (MAX_ENCODED_WORDS + 10), allowance)
    assert value.startswith("a" * MAX_ENCODED_WORDS + " =?utf-8?q?a?=")
    assert allowance.encoded_words == 0


def parameters(value):
    return parse_parameters(value, Allowance())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # RFC 2231, sections 3 and 4
        (
            'message/external-body; access-type=URL;\n URL*0="ftp://";\n URL*1="cs.utk.edu/pub/moore"',
            {"access-type": "URL", "url": "ftp://cs.utk.edu/pub/moore"},
        ),
        (
            "application/x-stuff; title*=us-ascii'en-us'This%20is%20%2A%2A%2Afun%2A%2A%2A",
            {"title": "This is ***fun***"},
        ),
        (
            "application/x-stuff\n ;title*0*=us-ascii'en'This%20is%20even%20more%20\n"
            " ;title*1*=%2A%2A%2Afun%2A%2A%2A%20\n"
            ' ;title*2="isn\'t it!"',
            {"title": "This is even more ***fun*** isn't it!"},
        ),
        ("a/b; name*=utf-8''%D0%9F; name=plain", {"name": "П"}),
        ("a/b; name*1=b; name*0=a", {"name": "ab"}),
        ("a/b; name*0*=utf-8''%D0; name*1*=%9F", {"name": "П"}),
        ("a/b; name*=bad%zz%4", {"name": "bad%zz%4"}),
        ("a/b; name*x=1; c=d", {"c": "d"}),
    ],
)
def test_rfc_2231_parameters_are_decoded(value, expected):
    read = parameters(value)[1]
    assert {name: text.encode("latin-1").decode("utf-8") for name, text in read.items()} == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Text/PLAIN", ("text/plain", {})),
        ("text/plain; Charset=UTF-8", ("text/plain", {"charset": "UTF-8"})),
        ("text/plain charset=us-ascii", ("text/plain", {"charset": "us-ascii"})),
        ('text/plain; charset = "a\\"b"', ("text/plain", {"charset": 'a"b'})),
        ('text/plain; name="a;b=c"; x=y', ("text/plain", {"name": "a;b=c", "x": "y"})),
        ('a/b; boundary="open; x=y', ("a/b", {"boundary": "open", "x": "y"})),
        ("text/plain (a comment (nested)); charset=x (y)", ("text/plain", {"charset": "x"})),
        ("a/b; name=photo(1).jpg", ("a/b", {"name": "photo(1).jpg"})),
        ("a/b; x=1; x=2", ("a/b", {"x": "1"})),
        ("a/b;;; junk; x=1", ("a/b", {"x": "1"})),
        ("text / html; x=1", ("text/html", {"x": "1"})),
        ("a/b; name=my file.doc", ("a/b", {"name": "my file.doc"})),
        ("", ("", {})),
        (";", ("", {})),
    ],
)
def test_parameters_are_read_as_they_are_really_written(value, expected):
    assert parameters(value) == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (b'Content-Disposition: attachment; filename="a.exe"', "a.exe"),
        (b"Content-Disposition: attachment; filename*=utf-8''%D0%9F.zip", "П.zip"),
        (
            b"Content-Disposition: attachment; filename*=utf-8''%C3%81%C3%89%C3%8D%C3%93%C3%9A.zip",
            "ÁÉÍÓÚ.zip",
        ),
        (b"Content-Disposition: attachment; filename*=utf-8''%C3%83%C2%A9.zip", "Ã©.zip"),
        (b"Content-Disposition: attachment; filename*=utf-8''%D0%9F=?.zip", "П=?.zip"),
        (b'Content-Type: application/zip; name="=?utf-8?B?0J8uemlw?="', "П.zip"),
        ("Content-Type: application/zip; name=П.zip".encode(), "П.zip"),
    ],
)
def test_file_names_are_decoded(field, expected):
    assert parse(b"From: a\n" + field + b"\n\nx").parts[0].filename == expected
