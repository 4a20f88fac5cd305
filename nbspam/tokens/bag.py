"""The tokens of one message, by view.

A view is a kind of evidence that is weighed by itself (docs/experiments/views.md: header, body and
structure fail in different ways).  The words of a view are averaged; measures are few, one token each
of the message's numeric features, and each has a weight of its own.  The text of a token says its view:
`field:` begins those of the header, a mark like `url=` those of the structure, and a measure has its name,
`<` or `>=`, and where its bin ends or begins; so one token is never in two views.
"""

from __future__ import annotations

from nbspam.settings import MEASURES_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Begins the pairs of words at the edges of a text.  Most pairs are new in any text, so they are left out of
# the share of a view's tokens that the model never met (docs/experiments/edges.md).
EDGE = "edge="
VIEWS = ("header", "body", "structure")  # of words
NOTAWORD_VIEW = 3
MEASURES_VIEW = 4
VIEW_NAMES = (*VIEWS, "NOTAWORD", MEASURES_NAME)  # by the number that a model file keeps
N_VIEWS = len(VIEW_NAMES)
READ_VIEWS = (*VIEWS, MEASURES_NAME)  # whose tokens a message has
READ_NUMBERS = (*range(len(VIEWS)), MEASURES_VIEW)


class Bag:
    """Token lists of one message, in order of appearance, repeats kept.

    measures : one token a measure, see nbspam.tokens.measures; empty where they were not asked for
    """

    __slots__ = (*VIEWS, "measures")

    def __init__(
        self, header: list[str], body: list[str], structure: list[str], measures: Sequence[str] = ()
    ) -> None:
        self.header = header
        self.body = body
        self.structure = structure
        self.measures = measures

    def views(self) -> tuple[list[str], list[str], list[str]]:
        """The lists of words in the order of VIEWS."""
        return self.header, self.body, self.structure
