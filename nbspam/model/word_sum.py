"""The sum of the textbook over the words of one message.

Hides which sums over the whole vocabulary an event model of words stands on, and that all unknown words are
one NOTAWORD.  Off the lane of averaged views, which do without.
"""

from __future__ import annotations

from math import inf

from nbspam.model.posterior import ScorePart
from nbspam.model.word_models import WordScorer, WordTotals, make_word_scorer
from nbspam.tokens.bag import NOTAWORD_VIEW, TEXTBOOK_VIEWS
from nbspam.tokens.keys import NOTAWORD, NOTAWORD_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbspam.model.scorer import Counted
    from nbspam.settings import Settings
    from nbspam.store.reader import Model

Rows = dict[int, tuple[int, ...]]  # key -> its counts as the model has them


def make_words(model: Model, settings: Settings) -> WordScorer:
    """The event model of words on the counts of a model; it knows no measures."""
    totals = WordTotals(
        model.messages,
        word_totals(model.documents),
        word_totals(model.occurrences),
        vocabulary_size(model),
        model.histogram("documents") if settings.event_model == "bernoulli" else (),
        model.histogram("complement") if settings.event_model == "complement" and settings.normalise else (),
    )
    return make_word_scorer(settings.event_model, totals, settings.alpha, settings.normalise)


def word_totals(by_view: list[list[int]]) -> list[int]:
    """Sums over the views that the textbook knows, and NOTAWORD, by class."""
    known = (*by_view[: len(TEXTBOOK_VIEWS)], by_view[NOTAWORD_VIEW])
    return [sum(column) for column in zip(*known, strict=True)]


def vocabulary_size(model: Model) -> int:
    """|V|, NOTAWORD among them: it is in the vocabulary even when never counted."""
    return sum(model.words[: len(TEXTBOOK_VIEWS)]) + max(model.words[NOTAWORD_VIEW], 1)


def word_parts(words: WordScorer, event_model: str, counted: Counted, rows: Rows) -> list[ScorePart]:
    """What each word of a message adds, and the base, which does not depend on the words."""
    parts = [
        ScorePart("token", text, view, words.token(counts[::2], counts[1::2], times), counts, times)
        for text, view, times, counts in _word_counts(counted, rows, len(words.base))
    ]
    ruled_out = words.ruled_out(part.counts[::2] for part in parts)
    parts.append(ScorePart("base", event_model, -1, list(words.base)))
    if any(ruled_out):
        absent = [-inf if out else 0.0 for out in ruled_out]
        parts.append(ScorePart("base", "a word of every message is absent", -1, absent))
    return parts


def _word_counts(
    counted: Counted, rows: Rows, n_classes: int
) -> Iterator[tuple[str, int, int, tuple[int, ...]]]:
    """(text, view, how often, stored counts) of each code; all unknown words are one NOTAWORD."""
    outside = 0
    for view, tokens in enumerate(counted.tokens[: len(TEXTBOOK_VIEWS)]):
        for key, (text, times) in tokens.items():
            counts = rows.get(key)
            if counts is None:
                outside += times
            else:
                yield text, view, times, counts
    if outside:
        yield NOTAWORD, NOTAWORD_VIEW, outside, rows.get(NOTAWORD_KEY, (0,) * (2 * n_classes))
