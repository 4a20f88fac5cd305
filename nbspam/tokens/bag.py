"""The tokens of one message, by view.

A view is a kind of evidence that is averaged by itself (accuracy-findings: header, body and
structure fail in different ways).  The text of a token says its view: `field:` begins those of the
header, a mark like `url=` those of the structure, so one token is never in two views.
"""

from __future__ import annotations

VIEWS = ("header", "body", "structure")


class Bag:
    """Token lists of one message, in order of appearance, repeats kept."""

    __slots__ = VIEWS

    def __init__(self, header: list[str], body: list[str], structure: list[str]) -> None:
        self.header = header
        self.body = body
        self.structure = structure

    def views(self) -> tuple[list[str], list[str], list[str]]:
        """The token lists in the order of VIEWS."""
        return self.header, self.body, self.structure

    def __len__(self) -> int:
        return len(self.header) + len(self.body) + len(self.structure)
