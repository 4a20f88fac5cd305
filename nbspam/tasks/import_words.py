"""Another filter's word list -> a model.

Hides which form a text has and where the calibration of such a model starts.  No mail comes with the counts,
so nothing can be calibrated on it; and as others do not count half of what we look at, the evidence of a
message is smaller than that of a model of our own.  The calibration starts at weights that suit that, and
goes on with the first mail that is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from nbspam.corpus.accumulator import vocabulary_settings
from nbspam.errors import BadDataError
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.calibration import feature_names, first_weights
from nbspam.settings import Settings
from nbspam.store.writer import new_model
from nbspam.tasks import foreign_bogofilter as bogofilter
from nbspam.tasks import foreign_spambayes as spambayes
from nbspam.tasks.foreign_word_list import WordList
from nbspam.tokens.keys import token_key

if TYPE_CHECKING:
    from nbspam.model.calibration import Weights

AUTO = "auto"
SPAMASSASSIN = "spamassassin"
READERS: dict[str, Callable[[Iterable[bytes], str], WordList]] = {
    "bogofilter": bogofilter.read,
    "spambayes": spambayes.read,
}
FORMS = (*READERS, SPAMASSASSIN, AUTO)
# Where the calibration starts; what is not here begins as in any model.  Twice its weights and more were best
# on held-out mail of three corpora (docs/decisions.md).
FIRST_WEIGHTS = {
    "evidence:header": 2.0,
    "evidence:body": 1.4,
    "cautious:header": 0.5,
    "cautious:body": 1.0,
}


class Imported(NamedTuple):
    """What was taken: for the summary that people read.

    words : of the other filter;  taken : those that are tokens of ours;  tokens : of the model, fewer where
            several spellings are one
    """

    path: str
    form: str
    classes: tuple[str, ...]
    messages: tuple[int, ...]
    words: int
    taken: int
    tokens: int


def import_words(
    lines: Iterable[bytes], where: str, path: str, form: str = AUTO, replaces: bool = True
) -> Imported:
    """Writes the model of a word list at `path`, whole or not at all.

    lines : of the text form, bytes with their ends;  form : one of FORMS
    replaces : whether a model gives way that is there when this one is made; else that is an error
    """
    stream = iter(lines)
    first = next(stream, b"")
    form = form_of(first, where) if form == AUTO else form
    if form == SPAMASSASSIN:
        raise _hashed(where)
    words = READERS[form](chain([first] if first else [], stream), where)
    _write(words, form, path, replaces)
    tokens = len(words.tokens)
    return Imported(path, form, HAM_AND_SPAM, words.messages, words.words, words.taken, tokens)


def form_of(line: bytes, where: str) -> str:
    """Which filter wrote a text that begins with this line."""
    if b"\0" in line:
        why = "this is no text; a database is imported from its text form"
        raise BadDataError(where, why, "bogoutil -d wordlist.db | nbspam model import", "import-foreign")
    if line.startswith((b"v\t", b"t\t", b"s\t")):
        return SPAMASSASSIN
    if line.startswith(b"#nbspam-model\t"):
        raise BadDataError(where, "this is the text of a model", "nbspam model load", "import-foreign")
    fields = line.rstrip(b"\r\n").split(b",")
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        return "spambayes"
    fields = line.split()
    if len(fields) in (3, 4) and all(field.isdigit() for field in fields[1:]):
        return "bogofilter"
    remedy = "name the output of bogoutil -d or sb_dbexpimp -e, and which it is: --from"
    raise BadDataError(where, "this is not the text of a word list", remedy, "import-foreign")


def _hashed(where: str) -> BadDataError:
    why = "SpamAssassin keeps five bytes of a hash of each word, from which no word can be told"
    remedy = "nothing can be imported; train on sorted mail: nbspam train SOURCE"
    return BadDataError(where, why, remedy, "import-hashed")


def _write(words: WordList, form: str, path: str, replaces: bool) -> None:
    # No word list has bigrams: what is learned later would be all that is known of them, and does harm
    # (docs/decisions.md).
    settings = Settings(bigrams=False)
    names = feature_names(len(HAM_AND_SPAM), settings.kinds)
    weights, covariance = weights_at_start(len(HAM_AND_SPAM), settings.kinds, is_imported=True)
    with new_model(path, HAM_AND_SPAM, list(words.messages), replaces) as file:
        file.settings({**settings.as_text(), **vocabulary_settings(None), "imported": form})
        file.tokens(_rows(words))
        file.recount()
        file.calibration(names, weights, covariance)


def weights_at_start(n_classes: int, kinds: Sequence[str], is_imported: bool) -> Weights:
    """Weights and covariance of a calibration that no message has taught yet."""
    weights, covariance = first_weights(n_classes, kinds)
    if is_imported:
        names = feature_names(n_classes, kinds)
        weights = [FIRST_WEIGHTS.get(name, weight) for (name, _), weight in zip(names, weights, strict=True)]
    return weights, covariance


def _rows(words: WordList) -> Iterator[tuple[object, ...]]:
    """(key, view, text, documents_0, occurrences_0, ...) ascending by key; a word occurs once a message."""
    keyed = sorted((token_key(text), view, text, *counts) for (view, text), counts in words.tokens.items())
    return ((key, view, text, ham, ham, spam, spam) for key, view, text, ham, spam in keyed)
