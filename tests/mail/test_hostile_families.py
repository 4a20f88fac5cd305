"""Hostile mail of every family, at two sizes: it is read in linear time, bounded memory and bounded counts.

A family is a function of a size in bytes; the larger mail has four times the size of the smaller.  Some
families are written by hand, more are generated from all that opens something in HTML and CSS.  The normal
run stops at 120 kB, and takes a sample of the generated ones; `make crash` takes all, up to 1 MB.
"""

import base64
import functools
import gc
import io
import os
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from nbspam import limits, tokens
from nbspam.mail import find_header_fields, parse
from nbspam.tokens import bag
from tests.laws.escapes import read_lines, read_words, unescape
from tests.tokens.test_laws import check

Family = Callable[[int], bytes]

LARGE = int(os.environ.get("NBSPAM_HOSTILE_BYTES", 120_000))
N_SAMPLE = 50  # generated families of the normal run
SMALL = LARGE // 4
MAX_GROWTH = 5.0  # of CPU, at four times the size: 4 is linear, 16 quadratic
FLOOR_SECONDS = max(0.02, LARGE / 10_000_000)  # a small mail that takes less is too short to measure
MAX_SECONDS = 1.0
MAX_MEMORY_BYTES = 200_000_000
STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


# What is read of a mail; of NUMERIC the compiled core leaves all to Python.
WANTED = (bag.BIGRAMS, bag.RAW, bag.MEASURES, bag.DATE)
READERS = {"Python": (*WANTED, bag.NUMERIC), "core": WANTED}


@pytest.fixture(params=READERS)
def wanted(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """What is asked of one of the readers."""
    if request.param == "core" and tokens.find_core() is None:
        pytest.skip(f"{tokens.describe_reader()}: make core builds a compiled one")
    return READERS[request.param]


def check_counts(data: bytes, found: bag.Tokens) -> None:
    """Every count stays within the bounds of limits.py."""
    message = parse(data)
    assert len(message.headers) == len(message.header_sizes) <= limits.MAX_HEADER_LINES
    assert sum(len(value) for _, value in message.headers) <= limits.MAX_HEADER_BYTES
    assert len(message.structure) <= limits.Allowance.parts + limits.MAX_UU_BLOCKS
    assert 1 <= len(message.parts) <= limits.Allowance.parts + limits.MAX_UU_BLOCKS
    assert sum(len(part.text) for part in message.parts) <= 2 * limits.MAX_SCORED_BYTES
    assert message.body_bytes + sum(message.header_sizes) <= len(data) + 1
    spans = find_header_fields(data)
    assert all(stop == begin for (_, stop, _), (begin, _, _) in pairwise(spans))
    check(found, {})


# --- how a mail is built ---


def fill(piece: bytes | str, size: int) -> bytes:
    """`piece` again and again."""
    data = piece.encode() if isinstance(piece, str) else piece
    return (data * (size // len(data) + 1))[:size]


def count(pattern: bytes, size: int) -> bytes:
    """`pattern` with 0, 1, 2, ... in the places of %d, so that no two pieces are the same."""
    pieces: list[bytes] = []
    length = 0
    while length < size:
        pieces.append(pattern.replace(b"%d", b"%d" % len(pieces)))
        length += len(pieces[-1])
    return b"".join(pieces)


def mail(kind: str, body: bytes, encoding: str = "8bit") -> bytes:
    content = f"Content-Type: {kind}\nContent-Transfer-Encoding: {encoding}\n\n"
    return b"From: a@example.org\nSubject: s\n" + content.encode() + body


def text(body: bytes) -> bytes:
    return mail("text/plain; charset=utf-8", body)


def page(body: bytes) -> bytes:
    return mail("text/html; charset=utf-8", body)


def style(body: bytes) -> bytes:
    return page(b"<style>" + body + b"</style><p class=a>x")


def header(fields: bytes) -> bytes:
    return b"From: a@example.org\n" + fields + b"\n\nbody\n"


def field(name: str, value: bytes) -> bytes:
    return header(name.encode() + b": " + value)


def multipart(body: bytes, boundary: bytes = b"b") -> bytes:
    return b"From: a@example.org\nContent-Type: multipart/mixed; boundary=" + boundary + b"\n\n" + body


def attached(kind: str, name: str, content: bytes) -> bytes:
    packed = base64.encodebytes(content)
    field = f"Content-Type: {kind}; name={name}\nContent-Transfer-Encoding: base64\n"
    return multipart(b"--b\n\nread this\n--b\n" + field.encode() + b"\n" + packed + b"--b--\n")


def file(kind: str, name: str, piece: bytes) -> Family:
    """A file that is `piece` again and again."""
    return lambda size: attached(kind, name, fill(piece, size * 2 // 3))


def repeated(build: Callable[[bytes], bytes], piece: bytes | str) -> Family:
    return lambda size: build(fill(piece, size))


def counted(build: Callable[[bytes], bytes], pattern: bytes) -> Family:
    return lambda size: build(count(pattern, size))


# --- families ---


TABLE = Path(__file__).with_name("hostile.txt")
PIECES = read_words(TABLE)
ROWS = {name: [line.split(" | ") for line in lines] for name, lines in read_lines(TABLE).items()}

ZEROS = zlib.compress(bytes(1 << 20), 9)  # 1 MiB in 1 kB
SHOWN = zlib.compress(b"BT (a) Tj [(b) -9 (c)] TJ ET " * 40_000, 9)
BOMB = b"%d 0 obj\n<</Type/Page/Contents 7%d 0 R>>\nendobj\n7%d 0 obj\n"
BOMB += b"<</Filter/FlateDecode>>\nstream\n" + SHOWN + b"\nendstream\nendobj\n"


def pdf(body: bytes) -> bytes:
    return attached("application/pdf", "a.pdf", b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>\n%%EOF\n")


def zipped(names: Iterator[str], content: bytes, size: int) -> bytes:
    """An archive of files with the same content, of about `size` bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        while packed.tell() < size:
            archive.writestr(next(names), content)
    return packed.getvalue()


def numbers(pattern: str) -> Iterator[str]:
    """The pattern with nothing in its place, then with 1, 2, ..."""
    return (pattern.format(number or "") for number in range(1 << 30))


def archive(pattern: str, content: bytes, kind: str = "application/zip", name: str = "a.zip") -> Family:
    return lambda size: attached(kind, name, zipped(numbers(pattern), content, size * 2 // 3))


def document(name: str, path: str, unit: bytes) -> Family:
    """An office document, stored without compression, whose text is `unit` again and again."""

    def build(size: int) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("[Content_Types].xml", "<Types/>")
            archive.writestr(path, b"<w:document><w:body>" + fill(unit, size * 2 // 3))
        return attached("application/octet-stream", name, packed.getvalue())

    return build


def nested_multiparts(size: int) -> bytes:
    return multipart(count(b"--b%d\nContent-Type: multipart/mixed; boundary=c%d\n\n", size), b"b0")


def endless_headers(size: int) -> bytes:
    """Messages in each other, none of whose headers has an end."""
    within = b"Content-Type: message/rfc822\nFrom " + b"x" * 200 + b"\n"
    return within.replace(b"\nF", b"\n\nF", 1) + within * 60 + fill(b"!\n", size)


def bomb_drawn_again_and_again(size: int) -> bytes:
    """A stream that takes long to unpack, and has little in it."""
    packed = base64.a85encode(zlib.compress(b"x") + b"A" * 150_000) + b"~>"
    drawn = b"1 0 obj\n<</Type/Page/Contents[" + b"2 0 R " * (size // 1_000) + b"]>>endobj\n"
    return pdf(drawn + b"2 0 obj\n<</Filter[/A85/Fl]>>stream\n" + packed + b"\nendstream\n")


def sheet_and_page(rule: bytes, element: bytes, start: bytes = b"") -> Family:
    """Half of it rules, half elements."""

    def build(size: int) -> bytes:
        sheet = b"<style>" + count(rule, size // 2) + b"</style>"
        return page(sheet + start + count(element, size // 2))

    return build


OTHERS: dict[str, Family] = {
    "page: different attributes": counted(lambda body: page(b"<p " + body + b">x"), b"a%d=b "),
    "page: rules and elements": sheet_and_page(b".c%d{color:#fff}", b"<p class=c%d>x"),
    "page: ancestors and depth": sheet_and_page(b"div div div div div p{display:none}", b"<div>x"),
    "page: classes and rules": sheet_and_page(b".c%d{font-size:1px}", b"c%d ", b"<p class='"),
    "Subject: 8-bit letters": repeated(functools.partial(field, "Subject"), b"\xe3\xe4 "),
    "text: one letter with all the marks": repeated(lambda body: text(b"a" + body), "\u0315\u0300"),
    "text: different letters": lambda size: text(
        "".join(map(chr, range(0x20000, 0x20000 + size // 4))).encode()
    ),
    "text: a uuencoded file": repeated(lambda body: text(b"begin 644 a\n" + body), "M" + "86%A" * 15 + "\n"),
    "header: parameters of a file name": counted(
        lambda body: header(b"Content-Disposition: attachment" + body), b"; filename*%d*=utf-8''%41"
    ),
    "parts: nested": nested_multiparts,
    "parts: nested messages": lambda size: fill(b"From: a\nContent-Type: message/rfc822\n\n", size),
    "parts: nested digests": lambda size: fill(
        b"Content-Type: multipart/digest; boundary=b\n\n--b\n\n", size
    ),
    "parts: endless headers": endless_headers,
    "pdf: bombs of text": counted(pdf, BOMB),
    "pdf: a bomb drawn again and again": bomb_drawn_again_and_again,
    "parts: delimiters with one other letter": repeated(
        lambda body: multipart(body, b"x" * 69 + b"y"), b"--" + b"x" * 69 + b"z\n"
    ),
    "parts: delimiters deep down": lambda size: nested_multiparts(3_000) + fill(b"--x\n", size),
    "archive: zeros": archive("{}.txt", bytes(1 << 20)),
    "archive: zeros in pages": archive("{}.html", b"<b>" * (1 << 18)),
    "archive: a bomb of Word": archive("word/document{}.xml", b"<w:p>" * 200_000, name="a.docx"),
    "archive: beginnings": file("application/zip", "a.zip", b"PK\3\4"),
    "archive: gzip": file("application/gzip", "a.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\3" + ZEROS[2:-4]),
    "document: paragraphs": document("a.docx", "word/document.xml", b"<w:p><w:r><w:t>x</w:t></w:r></w:p>"),
    "document: entities": document("a.docx", "word/document.xml", b"<w:t>&amp;"),
    "document: open tags": document("a.odt", "content.xml", b"<"),
    "document: links": document("a.docx", "word/_rels/document.xml.rels", b"href   =   &quot;HYPERLINK "),
    "document: OLE": file("application/msword", "a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1_\0V\0B\0A\0"),
}

BUILD = {"page": page, "style": style, "text": text, "header": header, "parts": multipart, "pdf": pdf}


def builder(place: str) -> Callable[[bytes], bytes]:
    """A place that has no name of its own is a header field."""
    return BUILD.get(place) or functools.partial(field, place)


def read_families() -> dict[str, Family]:
    """Those of hostile.txt."""
    found: dict[str, Family] = {}
    for place in [name for name in PIECES if name not in ("openers", "bodies", "counted")]:
        found |= {f"{place}: {piece.decode()}": repeated(builder(place), piece) for piece in PIECES[place]}
    for name, pattern in ROWS["counted"]:
        found[name] = counted(builder(name.partition(":")[0]), unescape(pattern))
    for name, kind, encoding, piece in ROWS["bodies"]:
        found[f"body: {name}"] = repeated(functools.partial(mail, kind, encoding=encoding), unescape(piece))
    return found


FAMILIES = read_families() | OTHERS


# --- families generated ---

OPENERS = PIECES["openers"]
PLACES: dict[str, Callable[[bytes], bytes]] = {
    "page": page,
    "sheet": style,
    "style": lambda body: page(b"<p style='" + body.replace(b"'", b"") + b"'>x"),
    "tag": lambda body: page(b"<p " + body + b">x"),
    "address": lambda body: page(b'<a href="' + body.replace(b'"', b"") + b'">x</a>'),
    "text": text,
}


def nested(build: Callable[[bytes], bytes], opening: bytes, closing: bytes) -> Family:
    """All of one piece, and then all of another."""
    return lambda size: build(fill(opening, size // 2) + fill(closing, size // 2))


def generate() -> dict[str, Family]:
    """Every piece again and again in every place; pairs of pieces, mixed and one after the other."""
    found: dict[str, Family] = {}
    random = Random(43)
    for place, build in PLACES.items():
        found |= {f"{place}: {piece!r}": repeated(build, piece) for piece in OPENERS}
        for _ in range(15):
            one, other = random.sample(OPENERS, 2)
            found[f"{place}: mixed {one!r} {other!r}"] = repeated(build, one + other)
            found[f"{place}: nested {one!r} {other!r}"] = nested(build, one, other)
    return found


GENERATED = generate()
SAMPLE = GENERATED if LARGE >= 1_000_000 else dict(Random(1).sample([*GENERATED.items()], N_SAMPLE))


# --- what is asked of each ---


def measure(data: bytes, wanted: tuple[str, ...]) -> tuple[float, bag.Tokens]:
    """CPU seconds of reading a mail; without the collector, whose time depends on the other tests.

    No fault of the program is hidden by the guard around each stage.
    """
    gc.disable()
    try:
        start = time.process_time()
        found = tokens.read(data, wanted)
        seconds = time.process_time() - start
    finally:
        gc.enable()
    assert not found.failures
    return seconds, found


def memory_bytes(line: str) -> int:
    """VmRSS or VmHWM (the most since it was reset) of this process."""
    found = next(words for words in map(str.split, STATUS.read_text().splitlines()) if words[0] == f"{line}:")
    return int(found[1]) * 1024


@pytest.fixture(scope="module")
def memory_before() -> int:
    return memory_bytes("VmRSS") if CLEAR_REFS.exists() else 0


@pytest.mark.crash
@pytest.mark.parametrize("name", FAMILIES)
def test_hostile_mail_is_read_in_linear_time_and_little_memory(
    name: str, wanted: tuple[str, ...], memory_before: int
) -> None:
    check_family(FAMILIES[name], wanted, memory_before)


@pytest.mark.crash
@pytest.mark.parametrize("name", SAMPLE)
def test_generated_pages_are_read_in_linear_time_and_little_memory(
    name: str, wanted: tuple[str, ...], memory_before: int
) -> None:
    check_family(SAMPLE[name], wanted, memory_before)


def check_family(family: Family, wanted: tuple[str, ...], memory_before: int) -> None:
    """A mail of four times the size takes no more than MAX_GROWTH times as long, and no second."""
    small, large = family(SMALL), family(LARGE)
    measure(family(2_000), wanted)  # imports
    if memory_before:
        CLEAR_REFS.write_text("5")  # resets VmHWM
    seconds, found = measure(large, wanted)
    if memory_before:
        assert memory_bytes("VmHWM") - memory_before <= MAX_MEMORY_BYTES
    check_counts(large, found)
    if seconds <= MAX_GROWTH * FLOOR_SECONDS:
        return
    times = [(measure(small, wanted)[0], seconds)]
    if _is_slow(*times[0]):  # the machine may have been busy
        times.append((measure(small, wanted)[0], measure(large, wanted)[0]))
    least = min(one for one, _ in times), min(four for _, four in times)
    assert not _is_slow(*least), "{:.3f} s of CPU, at four times the size {:.3f} s".format(*least)


def _is_slow(small: float, large: float) -> bool:
    return large > MAX_SECONDS or large > MAX_GROWTH * max(small, FLOOR_SECONDS)
