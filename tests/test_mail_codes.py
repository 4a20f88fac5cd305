"""QR codes: what Debian's qrencode writes is read again, from grids, pictures, text and documents."""

from __future__ import annotations

import random
import time
import zlib
from base64 import b64encode

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nbspam.mail import parse
from nbspam.mail.codes.qr import MAX_VERSION, read_code
from nbspam.mail.codes.reed_solomon import corrected
from nbspam.mail.documents.reader import read_document
from nbspam.mail.limits import MAX_PICTURE_PIXELS, Allowance
from nbspam.tokens import tokenize
from tests.codes_made import ADDRESS, BORDER, chunk, code_of, grey, png_of, scaled, turned
from tests.documents_made import archive, check_bounded, mailed, read

LEVELS = "LMQH"
SAYS = ("https://lake.example/a?b=%d", "HTTPS://LAKE.EXAMPLE/%d", "31415926535%d", "Grüße vom See %d")


def inner(code: list[list[int]]) -> list[list[int]]:
    return [row[BORDER:-BORDER] for row in code[BORDER:-BORDER]]


# A code to its text.


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("version", range(1, MAX_VERSION + 1))
def test_codes_of_each_size_and_level(level: str, version: int) -> None:
    kind = (version + LEVELS.index(level)) % len(SAYS)
    says = SAYS[kind] % version if version > 3 else str(31415926 * version)
    code = inner(code_of(says, level, version))
    assert len(code) == 17 + 4 * version
    assert read_code(code) == says


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize("length", range(1, 8))
def test_each_way_of_writing_at_each_length(says: str, length: int) -> None:
    says = says % 7 + "7" * length
    assert read_code(inner(code_of(says))) == says


def test_several_ways_of_writing_in_one_code() -> None:
    says = "https://lake.example/12345678901234567890/ABCDEFGHIJKLMNOPQRST"
    assert read_code(inner(code_of(says))) == says


@pytest.mark.parametrize("version", [2, 7, 14])
def test_a_logo_over_the_middle_is_mended(version: int) -> None:
    code = inner(code_of("https://lake.example/", "H", version))
    middle, half = len(code) // 2, len(code) // 10
    for row in range(middle - half, middle + half + 1):
        code[row][middle - half : middle + half + 1] = [1] * (2 * half + 1)
    assert read_code(code) == "https://lake.example/"


def test_the_second_place_says_the_format_where_the_first_is_covered() -> None:
    code = inner(code_of("https://lake.example/"))
    for at in (0, 1, 2, 3, 4, 5, 7, 8):
        code[at][8] = code[8][at] = 0
    assert read_code(code) == "https://lake.example/"


@given(st.randoms())
@settings(max_examples=30, deadline=None)
def test_a_grid_that_is_no_code_says_nothing(chance: random.Random) -> None:
    size = chance.choice((0, 1, 20, 21, 25, 57, 97, 101))
    assert read_code([[chance.randrange(2) for _ in range(size)] for _ in range(size)]) == ""


# Blocks that mend themselves.


def product(one: int, other: int) -> int:
    """Of two bytes as polynomials, bit by bit."""
    total = 0
    for bit in range(8):
        if other >> bit & 1:
            total ^= one << bit
    for bit in range(14, 7, -1):
        if total >> bit & 1:
            total ^= 0x11D << (bit - 8)
    return total


def block_of(data: list[int], correcting: int) -> list[int]:
    """The data with the rest of its division by (x - 1)(x - 2)(x - 4)... behind it."""
    generator, root = [1], 1
    for _ in range(correcting):
        times = [product(each, root) for each in generator]
        generator = [one ^ other for one, other in zip([*generator, 0], [0, *times], strict=True)]
        root = product(root, 2)
    rest = [*data, *[0] * correcting]
    for at in range(len(data)):
        factor = rest[at]
        for beside, each in enumerate(generator):
            rest[at + beside] ^= product(factor, each)
    return data + rest[len(data) :]


@given(st.lists(st.integers(0, 255), min_size=1, max_size=120), st.integers(2, 30), st.randoms())
@settings(deadline=None)
@example([0], 2, random.Random(0))
def test_half_as_many_wrong_bytes_as_correct_a_block_are_put_right(
    data: list[int], correcting: int, chance: random.Random
) -> None:
    block = block_of(data, correcting)
    wrong = list(block)
    for at in chance.sample(range(len(block)), min(chance.randint(0, correcting // 2), len(block))):
        wrong[at] ^= chance.randint(1, 255)
    assert corrected(wrong, correcting) == block


def test_more_wrong_bytes_are_not_put_right() -> None:
    block = block_of(list(range(40)), 10)
    wrong = [each ^ 1 if at % 4 == 0 else each for at, each in enumerate(block)]
    assert corrected(wrong, 10) == []


# A picture to the code.


def in_colours(rows: list[list[int]], dark: list[int], light: list[int]) -> list[list[int]]:
    return [[sample for pixel in row for sample in (dark if pixel else light)] for row in rows]


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("name", ["grey", "grey, 16 bits", "colours", "opacity", "grey and opacity"])
def test_pictures_of_each_kind_with_each_filter(name: str, kind: int) -> None:
    code = scaled(code_of(ADDRESS), 2)
    picture = {
        "grey": png_of(grey(code, 30, 200), 0, 8, (kind, 2)),
        "grey, 16 bits": png_of(grey(code, 30, 51_000), 0, 16, (kind, 2)),
        "colours": png_of(in_colours(code, [0, 80, 180], [255, 240, 200]), 2, 8, (kind, 2)),
        "opacity": png_of(in_colours(code, [0, 0, 0, 255], [0, 0, 0, 0]), 6, 8, (kind, 2)),
        "grey and opacity": png_of(in_colours(code, [0, 255], [0, 0]), 4, 8, (kind, 2)),
    }[name]
    found = read(picture)
    assert (found.addresses, found.marks) == ([ADDRESS], ["qr"])


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_pictures_of_several_pixels_in_a_byte_and_with_palettes(depth: int) -> None:
    code = scaled(code_of(ADDRESS), 3)
    assert read(png_of(grey(code, 0, (1 << depth) - 1), 0, depth)).addresses == [ADDRESS]
    palette = chunk(b"PLTE", bytes((250, 250, 250, 0, 0, 90)))
    assert read(png_of(code, 3, depth, extra=palette)).addresses == [ADDRESS]
    # What is seen through is light, whatever its colour is.
    unseen = chunk(b"PLTE", bytes((9, 9, 9, 9, 9, 9))) + chunk(b"tRNS", b"\0")
    assert read(png_of(code, 3, depth, extra=unseen)).addresses == [ADDRESS]


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("times", [1, 2, 5])
def test_codes_on_their_side_or_head_and_light_ones(turns: int, times: int) -> None:
    code = scaled(code_of(ADDRESS), times)
    for _ in range(turns):
        code = turned(code)
    assert read(png_of(grey(code))).addresses == [ADDRESS]
    assert read(png_of(grey(code, 255, 0))).addresses == [ADDRESS]


@pytest.mark.parametrize("filters", [(0,), (1, 2, 3, 4)])
@pytest.mark.parametrize("cut", [0, 1])
@pytest.mark.parametrize("times", [2, 3])
def test_codes_in_pictures_that_come_by_parts(times: int, cut: int, filters: tuple[int, ...]) -> None:
    code = [row[cut:] for row in scaled(code_of(ADDRESS), times)[cut:]]
    assert read(png_of(grey(code), 0, 8, filters, is_interlaced=True)).addresses == [ADDRESS]
    assert read(png_of(grey(code, 0, 1), 0, 1, filters, is_interlaced=True)).addresses == [ADDRESS]
    colours = in_colours(code, [0, 80, 180], [255, 240, 200])
    assert read(png_of(colours, 2, 8, filters, is_interlaced=True)).addresses == [ADDRESS]


@pytest.mark.parametrize("degrees", [-8, 3, 8])
def test_codes_that_are_turned_a_little(degrees: int) -> None:
    code = scaled(code_of(ADDRESS), 6)
    size = len(code)
    tangent = degrees / 57.3
    moved = [
        [
            code[y][x] if 0 <= (x := round(column - tangent * (row - size / 2))) < size
            and 0 <= (y := round(row + tangent * (column - size / 2))) < size else 0
            for column in range(size)
        ]
        for row in range(size)
    ]  # fmt: skip
    assert read(png_of(grey(moved))).addresses == [ADDRESS]


def test_two_codes_among_lines_of_text() -> None:
    other = "https://hill.example/"
    one, two = scaled(code_of(ADDRESS), 3), scaled(code_of(other), 4)
    chance = random.Random(7)
    lines = [[chance.randrange(2) for _ in range(400)] for _ in range(100)]
    lines += [[*[0] * 50, *row, *[0] * 350][:400] for row in one]
    lines += [[0, *row, *[0] * 400][:400] for row in two]
    assert read(png_of(grey(lines))).addresses == [other, ADDRESS]  # the larger one first


def test_a_code_that_leads_nowhere_says_something() -> None:
    found = read(png_of(grey(scaled(code_of("bitcoin:lake"), 2))))
    assert (found.addresses, found.says, found.marks) == ([], ["bitcoin:lake"], ["qr"])


@pytest.mark.parametrize(
    "picture",
    [
        b"\x89PNG",
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(13)),
        png_of([[0] * 30] * 30),
        png_of([[0] * 2_000] * 501),
        png_of([[0, 1] * 15] * 30, 0, 1, is_interlaced=True),
        png_of([[0, 1] * 15] * 30, 0, 1, is_interlaced=True)[:90],
    ],
)
def test_pictures_without_a_code(picture: bytes) -> None:
    assert read(picture).marks == []


@given(st.binary(max_size=60), st.integers(0, 400))
@settings(deadline=None)
def test_no_bytes_raise(piece: bytes, at: int) -> None:
    code = [[(row * 7 ^ column * 5) % 3 % 2 for column in range(40)] for row in range(40)]
    picture = png_of(grey(code), filters=(1, 2, 3, 4))
    read(picture[:at] + piece + picture[at + len(piece) :])


def hostile(name: str) -> bytes:
    chance = random.Random(5)
    filters = {"a code a row": 2, "noise": 4}.get(name, 0)
    if name == "low":
        rows = [bytes([0]) + chance.randbytes(1) * 21 for _ in range(40_000)]
        width = 21
    elif name == "squares":
        square = b"".join([bytes(4), b"\xff" * 4, bytes(12), b"\xff" * 4, bytes(4), b"\xff" * 4])
        rows = [bytes([filters]) + (square * 40)[at % 32 : 960 + at % 32] for at in range(1_000)]
        width = 960
    else:
        rows = [bytes([filters]) + chance.randbytes(1_000) for _ in range(1_000)]
        width = 1_000
    head = width.to_bytes(4, "big") + len(rows).to_bytes(4, "big") + bytes((8, 0, 0, 0, 0))
    packed = zlib.compress(b"".join(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed)


@pytest.mark.parametrize("name", ["noise", "squares", "low"])
def test_hostile_pictures_are_bounded(name: str) -> None:
    check_bounded(hostile(name))


def test_many_codes_of_one_message_are_bounded() -> None:
    allowance = Allowance()
    picture = png_of(grey(scaled(code_of(ADDRESS, "H", MAX_VERSION), 2)), filters=(4,))
    begun = time.process_time()
    read_in_time = [bool(read_document(picture, allowance).addresses) for _ in range(50)]
    assert read_in_time[0] and not read_in_time[-1]
    assert time.process_time() - begun < 1.0
    assert allowance.picture_pixels < MAX_PICTURE_PIXELS


# Codes in text, and in documents.


def drawn(code: list[list[int]], halves: bool) -> str:
    """With blocks: a line for two rows, or, without halves, two blocks for a module."""
    if not halves:
        return "\n".join("".join(" \u2588"[module] * 2 for module in row) for row in code)
    pairs = zip(code[::2], [*code[1::2], [0] * len(code)], strict=True)
    return "\n".join(
        "".join(" \u2580\u2584\u2588"[up + 2 * low] for up, low in zip(*pair, strict=True)) for pair in pairs
    )


PAGES = {
    "text": "%s",
    "pre": "<html><pre>%s</pre>",
    "lines": "<html><div>%s</div>",
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("halves", [True, False])
@pytest.mark.parametrize("is_light", [True, False])
def test_codes_that_a_text_draws_with_blocks(page: str, halves: bool, is_light: bool) -> None:
    code = [[module ^ is_light for module in row] for row in code_of(ADDRESS)]
    text = drawn(code, halves)
    if page == "lines":
        text = text.replace(" ", "&nbsp;").replace("\n", "</div>\n<div>")
    says = PAGES[page] % text
    kind = b"text/html" if page != "text" else b"text/plain"
    head = b"Subject: x\nContent-Type: " + kind + b"; charset=utf-8\n\nScan this\n"
    structure = tokenize(parse(head + says.encode() + b"\n")).structure
    assert {"document=#qr", "url=login.lake.example", "url=/read"} <= set(structure)


def test_a_code_in_the_address_of_an_image() -> None:
    picture = b64encode(png_of(grey(scaled(code_of(ADDRESS), 2)))).decode()
    page = f'<html><p>Scan this<img src="data:image/png;base64,{picture}">'
    structure = tokenize(parse(f"Subject: x\nContent-Type: text/html\n\n{page}\n".encode())).structure
    assert {"document=#qr", "url=login.lake.example", "image=data"} <= set(structure)


@pytest.mark.parametrize("text", ["\u2588" * 40, ("\u2588\u2580 \u2584" * 8 + "\n") * 30, "\u2588\n" * 30])
def test_blocks_that_are_no_code(text: str) -> None:
    head = b"Subject: x\nContent-Type: text/plain; charset=utf-8\n\n"
    assert "document=#qr" not in tokenize(parse(head + text.encode())).structure


def test_the_tokens_of_a_code_in_a_picture() -> None:
    structure = mailed(png_of(grey(scaled(code_of(ADDRESS), 2))), "image/png").structure
    at = structure.index("document=#qr")
    assert structure[at - 1] == "magic=png"
    assert structure[at + 1 : at + 4] == ["url=https", "url=login.lake.example", "url=lake.example"]


@pytest.mark.parametrize(
    "folder", ["word/media/image1.png", "xl/media/image2.png", "ppt/media/x.png", "Pictures/1.png"]
)
def test_a_code_in_an_office_document(folder: str) -> None:
    picture = png_of(grey(scaled(code_of(ADDRESS), 2)))
    assert read(archive({"[Content_Types].xml": "", folder: picture})).addresses == [ADDRESS]


def pdf_with(says: str, stream: bytes) -> bytes:
    head = f"%PDF-1.4\n1 0 obj\n<< /Type /XObject /Subtype /Image {says} /Length {len(stream)} >>\nstream\n"
    return head.encode() + stream + b"\nendstream\nendobj\n"


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("predictor", [1, 15])
def test_a_code_in_a_pdf(channels: int, predictor: int) -> None:
    code = scaled(code_of(ADDRESS), 2)
    size = len(code)
    rows = [bytes(in_colours([row], [20] * channels, [250] * channels)[0]) for row in code]
    samples = b"".join([b"\0" * (predictor > 9) + row for row in rows])
    says = f"/Width {size} /Height {size} /BitsPerComponent 8"
    parms = f"/DecodeParms << /Predictor {predictor} /Colors {channels} >>"
    packed = pdf_with(f"{says} /Filter /FlateDecode {parms}", zlib.compress(samples))
    assert read(packed).addresses == [ADDRESS]
    if predictor == 1:
        assert read(pdf_with(says, samples)).addresses == [ADDRESS]


def test_a_code_that_is_a_mask_of_a_pdf() -> None:
    code = scaled(code_of(ADDRESS), 2)
    size = len(code)
    rows = [
        int("".join(map(str, row)).ljust(-(-size // 8) * 8, "0"), 2).to_bytes(-(-size // 8), "big")
        for row in code
    ]
    says = f"/ImageMask true /Width {size} /Height {size} /Filter /FlateDecode"
    assert read(pdf_with(says, zlib.compress(b"".join(rows)))).addresses == [ADDRESS]


def test_a_photograph_in_a_pdf_is_left_alone() -> None:
    noise = random.Random(3).randbytes(300 * 300)
    allowance = Allowance()
    says = "/Width 300 /Height 300 /BitsPerComponent 8 /Filter /FlateDecode"
    read_document(pdf_with(says, zlib.compress(noise)), allowance)
    assert allowance.picture_pixels == MAX_PICTURE_PIXELS
