"""QR codes: a grid of dark and light modules to the text that it holds.

Hides what a code is made of: the pattern that is laid over it, the order of its bits, blocks that mend
themselves, and the ways in which it writes text.  A grid that is no code has no text; nothing raises.
Source: ISO/IEC 18004, 7.3 to 7.10, 8 and Annex B.
"""

from __future__ import annotations

from nbspam.mail.codes.reed_solomon import corrected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Grid = Sequence[Sequence[int]]  # rows of modules, 1 for dark

MAX_VERSION = 20  # the larger ones hold more than an address needs
_LEVELS = "MLHQ"  # of correction, by the two bits that name them
# Of each version from 1 on: how many bytes of a block correct it, and how many blocks there are.
_CORRECTING = {
    "L": (7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28),
    "M": (10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26),
    "Q": (13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30),
    "H": (17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28),
}
_BLOCKS = {
    "L": (1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8),
    "M": (1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16),
    "Q": (1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20),
    "H": (1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25),
}
# Each pattern turns the modules round for which this is nought.
_MASKS: tuple[Callable[[int, int], int], ...] = (
    lambda row, column: (row + column) % 2,
    lambda row, column: row % 2,
    lambda row, column: column % 3,
    lambda row, column: (row + column) % 3,
    lambda row, column: (row // 2 + column // 3) % 2,
    lambda row, column: row * column % 2 + row * column % 3,
    lambda row, column: (row * column % 2 + row * column % 3) % 2,
    lambda row, column: ((row + column) % 2 + row * column % 3) % 2,
)
_FORMAT_GENERATOR, _FORMAT_MASK = 0x537, 0x5412
_MAX_WRONG = 3  # of the fifteen bits of the format
_ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
# What the four bits before a segment say it is.
_DIGITS, _LETTERS, _LINKED, _BYTES, _CHARSET, _MARKED = 1, 2, 3, 4, 7, 9
# How many bits then say how long it is: up to version 9, and beyond.
_LENGTHS = {_DIGITS: (10, 12), _LETTERS: (9, 11), _BYTES: (8, 16)}


def read_code(grid: Grid) -> str:
    """The text of a code of 21, 25, ... 97 modules a side; "" if it has none, or none that can be read."""
    size = len(grid)
    version = (size - 17) // 4
    if size % 4 != 1 or not 1 <= version <= MAX_VERSION:
        return ""
    level, mask = _format(grid) if _has_rulers(grid) else ("", 0)
    if not level:
        return ""
    data = _data(
        _codewords(grid, version, mask), _CORRECTING[level][version - 1], _BLOCKS[level][version - 1]
    )
    return _text(data, version > 9)


def _has_rulers(grid: Grid) -> bool:
    """Whether modules between the squares are dark and light in turn; some may be covered."""
    between = range(8, len(grid) - 8)
    wrong = sum((grid[6][at] == at % 2) + (grid[at][6] == at % 2) for at in between)
    return 4 * wrong <= len(between)


def _format(grid: Grid) -> tuple[str, int]:
    """The level of correction and the number of the mask; "" if neither of the two places says it."""
    size = len(grid)
    beside = [
        *((row, 8) for row in (0, 1, 2, 3, 4, 5, 7, 8)),
        *((8, column) for column in (7, 5, 4, 3, 2, 1, 0)),
    ]
    apart = [*((8, size - 1 - bit) for bit in range(8)), *((size - 15 + bit, 8) for bit in range(8, 15))]
    for places in (beside, apart):
        read = sum(grid[row][column] << bit for bit, (row, column) in enumerate(places))
        for data in range(32):
            if (read ^ _with_check(data)).bit_count() <= _MAX_WRONG:
                return _LEVELS[data >> 3], data & 7
    return "", 0


def _with_check(data: int) -> int:
    """The fifteen bits that stand for five."""
    rest = data << 10
    for bit in range(14, 9, -1):
        if rest >> bit & 1:
            rest ^= _FORMAT_GENERATOR << (bit - 10)
    return (data << 10 | rest) ^ _FORMAT_MASK


def _codewords(grid: Grid, version: int, mask: int) -> list[int]:
    """The bytes of a code in the order in which they stand in it."""
    spares = _MASKS[mask]
    found: list[int] = []
    byte, bits = 0, 0
    for row, column in _places(version):
        byte = byte << 1 | grid[row][column] ^ (not spares(row, column))
        bits += 1
        if bits == 8:
            found.append(byte)
            byte, bits = 0, 0
    return found


def _places(version: int) -> Iterator[tuple[int, int]]:
    """Rows and columns of the modules that hold data: two columns at once, up and down in turn."""
    size = 17 + 4 * version
    fixed = _fixed(version)
    is_upward = True
    for right in (*range(size - 1, 6, -2), 5, 3, 1):
        for row in range(size - 1, -1, -1) if is_upward else range(size):
            for column in (right, right - 1):
                if not fixed[row][column]:
                    yield row, column
        is_upward = not is_upward


def _fixed(version: int) -> list[bytearray]:
    """Where a code of this version holds no data, 1."""
    size = 17 + 4 * version
    fixed = [bytearray(size) for _ in range(size)]

    def fix(top: int, left: int, height: int, width: int) -> None:
        for row in range(top, top + height):
            fixed[row][left : left + width] = b"\1" * width

    fix(0, 0, 9, 9)
    fix(0, size - 8, 9, 8)
    fix(size - 8, 0, 8, 9)
    fix(6, 0, 1, size)
    fix(0, 6, size, 1)
    if version >= 7:
        fix(0, size - 11, 6, 3)
        fix(size - 11, 0, 3, 6)
    places = _alignments(version)
    corners = ((6, 6), (6, size - 7), (size - 7, 6))
    for row in places:
        for column in places:
            if (row, column) not in corners:
                fix(row - 2, column - 2, 5, 5)
    return fixed


def _alignments(version: int) -> list[int]:
    """Rows, and columns, on which the middles of the small squares stand."""
    if version == 1:
        return []
    parts = version // 7 + 1
    step = (version * 4 + parts * 2 + 3) // (parts * 2) * 2
    last = 10 + 4 * version
    return [6, *range(last - step * (parts - 1), last + 1, step)]


def _data(codewords: list[int], correcting: int, blocks: int) -> bytes:
    """The data of all blocks, mended; none if one of them cannot be."""
    shortest = len(codewords) // blocks - correcting
    longer = len(codewords) % blocks  # blocks, the last ones, that hold a byte more
    begin_of_rest = shortest * blocks + longer
    found: list[int] = []
    for block in range(blocks):
        data = codewords[block : shortest * blocks : blocks]
        if block >= blocks - longer:
            data.append(codewords[shortest * blocks + block - (blocks - longer)])
        mended = corrected(data + codewords[begin_of_rest + block :: blocks], correcting)
        if not mended:
            return b""
        found += mended[: len(data)]
    return bytes(found)


class _Bits:
    """A string of bits that is read from its beginning; behind its end stand zeros."""

    __slots__ = ("left", "value")

    def __init__(self, data: bytes) -> None:
        self.value = int.from_bytes(data, "big")
        self.left = 8 * len(data)

    def take(self, count: int) -> int:
        """The number that the next bits are."""
        self.left -= count
        taken = self.value >> self.left if self.left >= 0 else self.value << -self.left
        return taken & ((1 << count) - 1) if self.left > -count else 0


def _text(data: bytes, is_long: bool) -> str:
    """What the segments say, one behind the other, up to one that cannot be read."""
    bits = _Bits(data)
    found: list[str] = []
    while bits.left > 4:
        kind = bits.take(4)
        if kind in _LENGTHS:
            length = bits.take(_LENGTHS[kind][is_long])
            found.append(_SEGMENTS[kind](bits, length))
        elif kind == _LINKED:
            bits.take(16)
        elif kind == _CHARSET:
            _skip_charset(bits)
        elif kind == _MARKED:
            bits.take(8)
        elif kind != 5:
            break
    return "".join(found)


def _skip_charset(bits: _Bits) -> None:
    """Its number has one byte, or as many as the first says: those who write one write UTF-8."""
    first = bits.take(8)
    bits.take((first >= 128) * 8 + (first >= 192) * 8)


def _digits(bits: _Bits, length: int) -> str:
    length = min(length, bits.left // 3)
    groups = [f"{bits.take(10):03d}"[-3:] for _ in range(length // 3)]
    rest = length % 3
    if rest:
        groups.append(f"{bits.take(1 + 3 * rest):0{rest}d}"[-rest:])
    return "".join(groups)


def _letters(bits: _Bits, length: int) -> str:
    length = min(length, bits.left // 5)
    pairs = [divmod(bits.take(11), 45) for _ in range(length // 2)]
    numbers = [number for pair in pairs for number in pair]
    if length % 2:
        numbers.append(bits.take(6))
    return "".join([_ALPHANUMERIC[number % 45] for number in numbers])


def _bytes(bits: _Bits, length: int) -> str:
    text = bytes([bits.take(8) for _ in range(min(length, bits.left // 8))])
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


_SEGMENTS = {_DIGITS: _digits, _LETTERS: _letters, _BYTES: _bytes}
