"""Blocks of bytes that mend themselves: Reed and Solomon's code, as QR codes have it.

Hides the arithmetic: bytes are polynomials over two elements, modulo x^8 + x^4 + x^3 + x^2 + 1.
Source: ISO/IEC 18004, 7.5 and Annex B; Massey 1969 (the shortest register); Forney 1965 (the values).
"""

from __future__ import annotations

_MODULUS = 0x11D
_POWERS = [1] * 510  # of x, written twice, so that two logarithms can be added
for _at in range(1, 510):
    _POWERS[_at] = _POWERS[_at - 1] << 1
    if _POWERS[_at] > 255:
        _POWERS[_at] ^= _MODULUS
_LOGARITHMS = {power: at for at, power in enumerate(_POWERS[:255])}


def corrected(block: list[int], correcting: int) -> list[int]:
    """The block with its wrong bytes put right; [] if more than half as many as correct it are wrong.

    block      : bytes, the highest power first, at most 255
    correcting : how many of them, the last ones, correct it
    """
    syndromes = [_value(block[::-1], power) for power in range(correcting)]
    if not any(syndromes):
        return block
    locator = _shortest_register(syndromes)
    places = [at for at in range(len(block)) if not _value(locator, 255 - at)]
    if len(places) != len(locator) - 1 or 2 * len(places) > correcting:
        return []
    product = _multiplied(syndromes, locator)[:correcting]
    slope = [locator[at] if at % 2 else 0 for at in range(1, len(locator))]
    mended = list(block)
    for at in places:
        inverse = (255 - at) % 255
        wrong_by = _divided(_value(product, inverse), _value(slope, inverse))
        mended[-1 - at] ^= _times(wrong_by, _POWERS[at])
    return mended


def _shortest_register(syndromes: list[int]) -> list[int]:
    """The polynomial, the lowest power first, whose roots are where the block is wrong."""
    register, before = [1], [1]
    length, shift, was = 0, 1, 1
    for step, syndrome in enumerate(syndromes):
        differs = syndrome
        for at in range(1, min(length, len(register) - 1) + 1):
            differs ^= _times(register[at], syndromes[step - at])
        if not differs:
            shift += 1
            continue
        factor = _divided(differs, was)
        change = [0] * shift + [_times(factor, each) for each in before]
        if 2 * length <= step:
            before, was, length, shift = register, differs, step + 1 - length, 1
        else:
            shift += 1
        width = max(len(register), len(change))
        padded = [polynomial + [0] * (width - len(polynomial)) for polynomial in (register, change)]
        register = [one ^ other for one, other in zip(*padded, strict=True)]
    while not register[-1]:
        register.pop()
    return register


def _value(polynomial: list[int], power: int) -> int:
    """Of a polynomial, the lowest power first, at x to this power (0 to 255)."""
    total, at = 0, 0
    for each in polynomial:
        if each:
            total ^= _POWERS[_LOGARITHMS[each] + at]
        at = (at + power) % 255
    return total


def _multiplied(one: list[int], other: list[int]) -> list[int]:
    product = [0] * (len(one) + len(other) - 1)
    for at, first in enumerate(one):
        for beside, second in enumerate(other):
            product[at + beside] ^= _times(first, second)
    return product


def _times(one: int, other: int) -> int:
    return _POWERS[_LOGARITHMS[one] + _LOGARITHMS[other]] if one and other else 0


def _divided(one: int, other: int) -> int:
    return _POWERS[_LOGARITHMS[one] + 255 - _LOGARITHMS[other]] if one and other else 0
