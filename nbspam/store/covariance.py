"""The covariance of the calibration, as the model file has it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import islice
from math import isfinite

from nbspam.errors import DamagedModelError


def pack_covariance(lines: Sequence[Sequence[float]]) -> bytes:
    """The column `value`.  lines : of the matrix; what is above its diagonal may be missing"""
    cells = [cell + 0.0 for i, line in enumerate(lines) for cell in line[: i + 1]]  # 0.0 for -0.0
    return struct.pack(f"<{len(cells)}d", *cells)


def unpack_covariance(packed: object, size: int, path: str) -> list[list[float]]:
    """The symmetric matrix of the column `value`, in the model file `path`.  size : how many weights"""
    n_cells = size * (size + 1) // 2
    if type(packed) is not bytes or len(packed) != 8 * n_cells:
        raise DamagedModelError(path, "calibration_covariance is not a matrix for these weights")
    cells = struct.unpack(f"<{n_cells}d", packed)
    if not all(map(isfinite, cells)):
        raise DamagedModelError(path, "a covariance of the calibration is not a number")
    left = iter(cells)
    lines = [list(islice(left, i + 1)) for i in range(size)]
    if any(line[-1] <= 0 for line in lines):
        raise DamagedModelError(path, "a variance of the calibration is not above 0")
    for i, line in enumerate(lines):
        line += [lines[j][i] for j in range(i + 1, size)]
    return lines
