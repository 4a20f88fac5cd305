"""A large value that forked workers share with their parent.

Hides that it is never pickled: a worker is a copy of the process that made it, so it finds the
value in its own memory under the number that travels.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")

_numbers = count()
_values: dict[int, Any] = {}


class Held(Generic[Value]):
    """Holds a value until `release`; make it before the workers are made."""

    def __init__(self, value: Value) -> None:
        self._number = next(_numbers)
        _values[self._number] = value

    @property
    def value(self) -> Value:
        """The value."""
        held: Value = _values[self._number]
        return held

    def release(self) -> None:
        """Lets the value go."""
        _values.pop(self._number, None)

    def __enter__(self) -> Held[Value]:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
