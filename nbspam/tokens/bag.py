"""The tokens of one message, by view.

A view is a kind of evidence that is weighed by itself (docs/experiments/views.md: header, body and
structure fail in different ways).  The words of a view are averaged; measures are few, one token each
of the message's numeric features, and each has a weight of its own.  The text of a token says its view:
`field:` begins those of the header, a mark like `url=` those of the structure, a `+` joins two words of the
body, and a measure has its name, `<` or `>=`, and where its bin ends or begins; so one token is never in two
views.
"""

from __future__ import annotations

from itertools import pairwise

from nbspam.settings import BIGRAMS_NAME, MEASURES_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Begins the pairs of words at the edges of a text.  Most pairs are new in any text, so they are left out of
# the share of a view's tokens that the model never met (docs/experiments/edges.md).
EDGE = "edge="
FIRST_PAIRED = 50  # words of a text whose pairs are bigrams, and
LAST_PAIRED = 50  # so many of its last: docs/experiments/bigrams.md
TEXTBOOK_VIEWS = ("header", "body", "structure")  # what the event models of words know
VIEWS = (*TEXTBOOK_VIEWS, BIGRAMS_NAME)  # whose tokens are averaged
BIGRAMS_VIEW = 3
NOTAWORD_VIEW = 4
MEASURES_VIEW = 5
NO_TEXTBOOK_VIEWS = (BIGRAMS_VIEW, MEASURES_VIEW)
VIEW_NAMES = (*VIEWS, "NOTAWORD", MEASURES_NAME)  # by the number that a model file keeps
N_VIEWS = len(VIEW_NAMES)
READ_VIEWS = (*VIEWS, MEASURES_NAME)  # whose tokens a message has
READ_NUMBERS = (*range(len(VIEWS)), MEASURES_VIEW)


def neighbours(words: Sequence[str], mark: str = "") -> list[str]:
    """Each two neighbours as one token, behind a mark."""
    return [f"{mark}{first}+{second}" for first, second in pairwise(words)]


def bigram_tokens(body: Sequence[str], first: int = FIRST_PAIRED, last: int = LAST_PAIRED) -> list[str]:
    """Pairs of neighbours among the first and among the last words of a text; of a short one, all.

    body : all its words, in order
    """
    if len(body) <= first + last:
        return neighbours(body)
    return [*neighbours(body[:first]), *neighbours(body[len(body) - last :])]


class Bag:
    """Token lists of one message, in order of appearance, repeats kept.

    measures : one token a measure, see nbspam.tokens.measures
    bigrams  : pairs of words of the body, see bigram_tokens
    Both are empty where they were not asked for.
    """

    __slots__ = (*VIEWS, "measures")

    def __init__(
        self,
        header: list[str],
        body: list[str],
        structure: list[str],
        measures: Sequence[str] = (),
        bigrams: Sequence[str] = (),
    ) -> None:
        self.header = header
        self.body = body
        self.structure = structure
        self.measures = measures
        self.bigrams = bigrams

    def views(self) -> tuple[Sequence[str], ...]:
        """The lists of words in the order of VIEWS."""
        return self.header, self.body, self.structure, self.bigrams
