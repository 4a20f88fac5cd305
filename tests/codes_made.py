"""QR codes by Debian's qrencode, and pictures of them, as small as PNG allows."""

from __future__ import annotations

import shutil
import subprocess
import zlib
from collections.abc import Sequence

import pytest

Modules = list[list[int]]
# Of an interlaced picture: first column and row, and the steps to the next ones.
PARTS = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
BORDER = 4  # light modules around a code
ADDRESS = "https://login.lake.example/read?u=Ym9iQGxha2U"


def code_of(text: str, level: str = "M", version: int = 1) -> Modules:
    """The modules of a code, 1 for dark, with its border; of this version, or a larger one that has room."""
    program = shutil.which("qrencode")
    if program is None:
        pytest.skip("no qrencode: apt-get install qrencode")
    made = subprocess.run(
        [program, "-t", "ASCII", "-l", level, "-v", str(version), "-o", "-", text],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [[int(mark == "#") for mark in line[::2]] for line in made.stdout.splitlines()]


def scaled(rows: Sequence[Sequence[int]], times: int) -> Modules:
    """The same with each pixel so many times as wide and high."""
    return [[pixel for pixel in row for _ in range(times)] for row in rows for _ in range(times)]


def turned(rows: Sequence[Sequence[int]]) -> Modules:
    """The same by a right angle."""
    return [list(column) for column in zip(*rows[::-1], strict=True)]


def grey(rows: Sequence[Sequence[int]], dark: int = 0, light: int = 255) -> Modules:
    """Samples of one byte for dark and light pixels."""
    return [[dark if pixel else light for pixel in row] for row in rows]


def filtered(row: bytes, above: bytes, kind: int, pixel: int) -> bytes:
    """A row of samples as one of PNG's filters has it, with the kind before it."""
    made = bytearray((kind,))
    for at, value in enumerate(row):
        left, corner = (row[at - pixel], above[at - pixel]) if at >= pixel else (0, 0)
        up = above[at]
        near = left + up - corner
        paeth = min((left, up, corner), key=lambda each: abs(near - each))
        made.append((value - (0, left, up, (left + up) // 2, paeth)[kind]) & 255)
    return bytes(made)


def chunk(kind: bytes, content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + kind + content + zlib.crc32(kind + content).to_bytes(4, "big")


def packed_rows(
    pixels: Sequence[Sequence[Sequence[int]]], bits: int, depth: int, filters: Sequence[int]
) -> bytes:
    """Rows of pixels, of so many bits, as they stand in a PNG before they are deflated."""
    rows = []
    for row in pixels:
        text = "".join(f"{sample:0{depth}b}" for pixel in row for sample in pixel)
        padded = text + "0" * (-len(text) % 8)
        rows.append(int(padded, 2).to_bytes(len(padded) // 8, "big"))
    above = [bytes(len(rows[0])), *rows]
    kinds = [filters[at % len(filters)] for at in range(len(rows))]
    return b"".join(map(filtered, rows, above, kinds, [max(bits // 8, 1)] * len(rows)))


def png_of(
    samples: Sequence[Sequence[int]],
    colour: int = 0,
    depth: int = 8,
    filters: Sequence[int] = (0,),
    extra: bytes = b"",
    is_interlaced: bool = False,
) -> bytes:
    """A picture.

    samples : of each row, one behind the other, each a number of `depth` bits
    filters : of the rows, in turn
    extra   : chunks before the picture
    """
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    width, height = len(samples[0]) // channels, len(samples)
    pixels = [[row[at : at + channels] for at in range(0, len(row), channels)] for row in samples]
    parts = [[row[column::right] for row in pixels[first::down]] for column, first, right, down in PARTS]
    parts = [part for part in parts if part and part[0]] if is_interlaced else [pixels]
    packed = zlib.compress(b"".join([packed_rows(part, channels * depth, depth, filters) for part in parts]))
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    head = size + bytes((depth, colour, 0, 0, is_interlaced))
    chunks = chunk(b"IHDR", head) + extra + chunk(b"IDAT", packed[:99]) + chunk(b"IDAT", packed[99:])
    return b"\x89PNG\r\n\x1a\n" + chunks + chunk(b"IEND", b"")
