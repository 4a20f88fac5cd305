"""Content-Type and Content-Disposition: the examples of RFC 2231, then what mail really has."""

import pytest

from nbspam.mail import parse
from nbspam.mail.headers import parse_parameters
from nbspam.mail.limits import Allowance


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
        ("a/b; name=my file.doc", ("a/b", {"name": "my file.doc"})),
        (r'a/b; name="C:\my\file.doc"; x=y', ("a/b", {"name": r"C:\my\file.doc", "x": "y"})),
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
        (b"Content-Disposition: attachment; filename*=utf-8''%C3%83%C2%A9.zip", "Ã©.zip"),
        (b"Content-Disposition: attachment; filename*=utf-8''%D0%9F=?.zip", "П=?.zip"),
        (b'Content-Type: application/zip; name="=?utf-8?B?0J8uemlw?="', "П.zip"),
        ("Content-Type: application/zip; name=П.zip".encode(), "П.zip"),
    ],
)
def test_file_names_are_decoded(field, expected):
    assert parse(b"From: a\n" + field + b"\n\nx").parts[0].filename == expected
