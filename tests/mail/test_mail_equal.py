"""The compiled core takes any mail apart as Python does: every field of the message and of its parts."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nbspam import limits, tokens
from nbspam.mail import Message, Part, parse
from tests.laws.equal import PIECES

compiled = tokens.find_core()
pytestmark = pytest.mark.skipif(compiled is None, reason=f"{tokens.describe_reader()}: make core builds one")

FORM = r"""
Content-Type: multipart/related; start="<a>"; boundary=b; boundary=c\n|
Content-Type: multipart/digest; boundary=b\n|Content-Type: multipart/mixed\n|Content-Type: text/calendar\n|
Content-Type: message/rfc822; name="a.eml"\n|Content-Type: text; charset="utf-8\n|
Content-Type: text/plain charset=big5\n|Content-ID: <a>\n|
Content-Type: application/octet-stream; name=a.html\n|Content-Type: application/pkcs7-mime; name=smime.p7m\n|
Content-Transfer-Encoding: x-uuencode\n|Content-Transfer-Encoding: "Base64" (x)\n|
Content-Disposition: attachment; filename="a.txt"\n|
Content-Disposition: inline; filename="=?utf-8?q?a=2Epdf?="\n|; charset*0*=utf-8''x; charset*1=y|
; filename*=iso-8859-1'en'%E4b|; name*1*=%e4;name*0=a|; delsp=yes|\n\n|\n--b \t\n|\n----\n|\n--|--\n|
>From x\n|From : a\n|\n\t:|\n :|\n:|\n \n|\r\r|\r\r\n|\xa0|\x1c|\f|\xef\xbb\xbf|\xff\xfe|\xfe\xff\0a\0b|\x0e|
\x1b(B|~{VPND~}|=?gb2312?b?1tA=?= =?gb2312?b?ztQ=?=|=?x-unknown?q?=e4=f6?=|=?utf-8?q?=?=|=?utf-8?b?4oKs=4?=|
GIF89a\0|%PDF-1.4\n1 0 obj\n|PK\3\4|{\\rtf1 x|\x78\x9f\x3e\x22|\1\2\3\4\5\6\7\x08|\xc0\xc1\xd2\xce|QUJD=\n=|Q|
QUJD\n\na footer of the list\n|=ybegin line=1\n\1\2\3\n=yend x\n|<html>|<meta charset=koi8-r>|
BEGIN:VCALENDAR\nSUMMARY:x\n
"""
MAIL = [piece.strip("\n").encode().decode("unicode_escape").encode("latin-1") for piece in FORM.split("|")]
texts = st.lists(st.sampled_from([*MAIL, *PIECES, b"\n", b" words "]), max_size=12).map(b"".join)
kinds = st.sampled_from([b"text/html", b"multipart/alternative; boundary=b", b"message/rfc822"])
bodies = st.lists(texts, max_size=4).map(b"\n--b\n".join)

CHARSETS = """
    utf-8 us-ascii iso-8859-1 iso-8859-2 iso-8859-15 windows-1252 windows-1251 koi8-r gb2312 big5 iso-2022-jp
    hz-gb-2312 utf-7 utf-16 utf-16le utf-32 unknown x-unknown nosuch 8bit cp437 euc-jp euc-kr ks_c_5601-1987
    shift_jis zlib idna macintosh utf8
    """
ENCODED = """
    plain|\xe4\xf6\xfc words|\xc3\xa4 ok|\xc3\xa4\xc3\xa4\xc3\xa4\xff bad|\xef\xbb\xbfmark|\xef\xbb\xbf\xff|
    \xff\xfea\0b\0|\xfe\xff\0a\0b|\xff\xfeabc|a\0b\0c\0d\0|\0a\0b\0c|nul\0in|\x1b$B$"\x1b(B x|\x1b[1mred|
    \x0eA\x0f|~{VPND~}|\xed\xa0\x80|\xc4\xe3\xba\xc3\xc4\xe3\xba\xc3|\x80\x81\x9f|+AGE-|
    \1\2\3\4\5\6\7\x10\x11|<html><meta charset=koi8-r>\xd2\xce|\xff
    """
ENCODINGS = """
    Q|QQ|QQ=|QQ==|QUI|QUJD=|QUJD==Q|=Q=|QQ=\n=\n|Q=Q=Q=Q=|QUJDRA==QUJD|QUJDRA==\n\na footer of the list|
    QU\xffJD|====|=|==|=4|=4g|=41|=\n|=\rx\ny|=  \nx|a =\t\n\nb|=a1|==41|=4\n1|_a|
    begin 644 a\n#0V%T\n`\nend|begin 644 a\n
    """

ALLOWED = limits.Allowance
MIXED = "Content-Type: multipart/mixed; boundary=b\n\n"
NESTED = "Content-Type: multipart/mixed; boundary=b{0}\n\n--b{0}\n"
UNBOUND = "Content-Type: multipart/mixed; boundary=b\n\n--c{}\n"
LIKELY = "".join(f"--a{n:03}\n\n" for n in range(ALLOWED.delimiter_lines // 1_000 + 1))
LINES = "#0V%T\n" * (ALLOWED.uu_lines // 2)
FIELDS = "X: b\n" * (limits.MAX_HEADER_BYTES // 5)
RUSSIAN = "=?x?q?=D0=D2=C9=D7=C5=D4?="
# One more than a bound allows, and what is not read because of it.
BOUNDS = {
    "header": "Subject: a\n" + "X: b\n" * limits.MAX_HEADER_LINES + "\nc",
    "a long header": "X: a\n b\n" + "c" * limits.MAX_HEADER_BYTES + "\n d\n\ne",
    "headers without an end": f"Content-Type: message/rfc822\nFrom {'a' * 300}\n" * 60 + FIELDS + "\nc",
    "a name": "a" * limits.MAX_FIELD_NAME + ": b\nFrom: c\n" + "a" * (limits.MAX_FIELD_NAME + 1) + ": d\n\ne",
    "From lines": "From a\n" * (limits.MAX_FROM_LINES + 1) + "To: b\n\nc",
    "body": "To: a\n\n" + "b" * limits.MAX_SCORED_BYTES + "\r\nc",
    "multiparts": "".join(map(NESTED.format, range(limits.MAX_NESTING + 2))) + "\ntext",
    "messages": "Content-Type: message/rfc822\n\n" * (limits.MAX_NESTING + 2) + "text",
    "parts": MIXED + "--b\n\na\n" * (ALLOWED.parts + 1),
    "words": "Subject: " + "=?utf-8?q?a?= b " * (ALLOWED.encoded_words + 1) + "\n\nc",
    "guesses": f"X: {RUSSIAN}\n" * (ALLOWED.guesses + 1) + "To: a\n\nb",
    "boundaries": "".join(map(UNBOUND.format, range(ALLOWED.boundary_guesses + 1))) + "Content-ID: a\n\nb",
    "delimiters": MIXED + "--c\n" * ALLOWED.delimiter_lines + "--b\n\na",
    "likely delimiters": f"Content-Type: multipart/mixed\n\n{LIKELY}--b\n\na\n--b\n",
    "parameters": "Content-Type: text/html" + "; a=b" * limits.MAX_PARAMETERS + "; charset=koi8-r\n\n\xc1",
    "a parameter": f"Content-Type: text/plain; a={'b' * limits.MAX_PARAMETER_BYTES}; charset=koi8-r\n\n\xc1",
    "base64": "Content-Transfer-Encoding: base64\n\n" + "QQ==\n" * (limits.MAX_BASE64_RUNS + 1),
    "uuencode": "To: a\n\n" + "begin 644 a\n#0V%T\n`\nend\n" * (limits.MAX_UU_BLOCKS + 1) + "b",
    "lines of uuencode": MIXED + f"--b\n\nbegin 644 a\n{LINES}end\n" * 2,
}


def dump(message: Message) -> dict[str, Any]:
    """All fields, as the core gives them."""
    names = ("headers", "header_sizes", "structure", "defects", "body_bytes")
    return {**{name: getattr(message, name) for name in names}, "parts": list(map(dump_part, message.parts))}


def dump_part(part: Part) -> dict[str, Any]:
    fields = {name: getattr(part, name) for name in vars(Part) if not name.startswith("_")} | vars(part)
    del fields["charset"]  # no token tells which codec was used
    return fields | {"document": vars(part.document) if part.document else None}


def check(data: bytes) -> None:
    assert compiled.parse_for_test(data) == dump(parse(data))


@settings(max_examples=500)
@given(texts, kinds, bodies)
@example(b"=\0?utf-8?q?a?= ~\0{VPND~}", b"text/plain", b"")  # no encoded word in the bytes that were sent
def test_any_mail_is_read_alike(value: bytes, kind: bytes, body: bytes) -> None:
    check(b"Subject: " + value + b"\nContent-Type: " + kind + b"\n\n--b\n" + body)


@pytest.mark.parametrize("charset", CHARSETS.split())
def test_charsets_are_read_alike(charset: str) -> None:
    for line in ENCODED.strip().split("|"):
        text = line.strip(" \n").encode("latin-1")
        words = f"=?{charset}?b?{b64encode(text).decode()}?= =?{charset}?q?".encode() + text + b"?= " + text
        name = "".join(f"%{byte:02x}" for byte in text)
        for kind in ("text/plain", "text/html", "application/x", f"text/plain; name*0*={charset}''{name}"):
            head = f"From: a\nContent-Type: {kind}; charset={charset}\nSubject: ".encode()
            check(head + words + b"\n\n" + text)
            check(head + text.replace(b"\n", b"") + b"\n\n" + text)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/pdf", "message/rfc822", "application/pkcs7-mime"]
)
def test_encodings_are_read_alike(kind: str) -> None:
    for encoding in ("base64", "quoted-printable", "x-uuencode", "Q\xdcOTED", "BASE-64 \xa0"):
        for line in ENCODINGS.strip().split("|"):
            field = f"Content-Type: {kind}\nContent-Transfer-Encoding: {encoding}\n\n{line.strip(' ')}"
            check(f"From: =?utf-8?{encoding[0]}?{line}?=\n{field}".encode("latin-1"))
            check(f"From: a\n{MIXED}--b\n{field}\n--b--\n".encode("latin-1"))


@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_are_the_same(bound: str) -> None:
    check(BOUNDS[bound].encode("latin-1"))
