"""What a text or a character becomes, worked out once.

Hides how much is remembered.  Bulk training meets the same words, hosts and fields over and over; but no
mail, however hostile, may fill the memory: long texts are not kept, and a full memory starts anew.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Key = TypeVar("Key", bound=str | tuple[str, str])
    Value = TypeVar("Value")


PAIR = 2  # the length of a pair


class Memory(dict["Key", "Value"]):
    """Text, or a pair of texts -> what `work` makes of it.

    most    : how many are remembered
    longest : len() of the longest text that is; a pair has 2, and who asks keeps the long ones away
    """

    __slots__ = ("_longest", "_most", "_work")

    def __init__(self, work: Callable[[Key], Value], most: int, longest: int = PAIR) -> None:
        super().__init__()
        self._work = work
        self._most = most
        self._longest = longest

    def __missing__(self, text: Key) -> Value:
        value = self._work(text)
        if len(text) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[text] = value
        return value


class CharacterTable(dict[int, "str | None"]):
    """Code point -> what `become` makes of it: a table for str.translate, filled as characters come."""

    __slots__ = ("_become",)

    def __init__(self, become: Callable[[int], str | None]) -> None:
        super().__init__()
        self._become = become

    def __missing__(self, code: int) -> str | None:
        self[code] = become = self._become(code)
        return become
