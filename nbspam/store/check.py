"""Is a model file sound, and what is in it: the queries of `model check`, `model info` and doctor.

In a sound file, SQLite's own check passes, the rows have the digests that were written with them, and totals
are the sums over the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nbspam.decision import load_loss
from nbspam.errors import DamagedModelError, NbspamError
from nbspam.model.calibration import check_places
from nbspam.model.posterior import log_priors, parse_prior
from nbspam.settings import parse_settings
from nbspam.store.covariance import read_covariance
from nbspam.store.digest import differing_tables
from nbspam.store.reader import Model, find_rows, open_model
from nbspam.store.writer import sum_rows
from nbspam.tokens.bag import NOTAWORD, NOTAWORD_KEY, NOTAWORD_VIEW, VIEWS, hash_token


def check_model(path: str) -> list[str]:
    """What is wrong with a model, one line each; empty for a sound one.

    A file that cannot be opened as a model at all is a child of NbspamError.
    """
    found: list[str] = []
    with open_model(path, snapshot=True) as model:
        try:
            for complaint in _find_faults(model):
                found.append(complaint)
        except NbspamError as error:  # also of a query that has met a damaged page
            found.append(error.why)
    return found


def _find_faults(model: Model) -> Iterator[str]:
    found = [row[0] for row in model.connection.ask("PRAGMA integrity_check(10)") if row[0] != "ok"]
    if found:
        yield f"SQLite: {' '.join(' '.join(found).split())}"
        return
    for table in differing_tables(model.connection):
        yield f"{table}: its rows are not those that were written"
    for table, column in (("token", "since"), ("learned", "batch"), ("moved", "batch"), ("moved", "until")):
        sound = "BETWEEN 1 AND (SELECT max(number) FROM batch)"
        if rows := model.connection.ask(f"SELECT {column} FROM {table} WHERE {column} NOT {sound}"):
            yield f"{table}: {len(rows)} rows of batches that do not exist, {_some([row[0] for row in rows])}"
    texts = model.connection.stream("SELECT key, view, text FROM token")
    if strangers := [
        text for key, view, text in texts if type(text) is not str or key != compute_key(text, view)
    ]:
        yield f"token: {len(strangers)} texts that do not belong to their keys, {_some(strangers)}"
    for table, rows in sum_rows(model.connection).items():
        different = sorted({*rows} ^ {*model.connection.stream(f"SELECT * FROM {table}")}, key=repr)
        if different:
            yield f"{table}: {len(different)} rows differ from the sums over the tokens, {_some(different)}"
    check_usable(model)


def _some(found: Sequence[object]) -> str:
    return "such as " + ", ".join(map(repr, found[:3]))


def check_usable(model: Model) -> None:
    """Raise a child of NbspamError if messages cannot be scored by the settings or by the calibration."""
    settings = parse_settings(model.settings, model.path)
    try:
        log_priors(parse_prior(settings.prior), model.messages, model.classes)
        load_loss(model.settings, model.classes)
    except NbspamError as error:
        raise DamagedModelError(model.path, f"setting {error}") from None
    if weights := model.calibration():
        check_places(model.path, weights, len(model.classes), settings.kinds)
    read_covariance(model)


def compute_key(text: str, view: int) -> int:
    """The key of a row of `token`."""
    return NOTAWORD_KEY if view == NOTAWORD_VIEW and text == NOTAWORD else hash_token(text)


class TokenRow(NamedTuple):
    """A row of `token`, or a word of a vocabulary.

    view      : its number, see VIEW_NAMES
    documents : n_jk by class;  occurrences : N_jk by class
    """

    text: str
    view: int
    documents: tuple[int, ...]
    occurrences: tuple[int, ...]


def find_token(model: Model, text: str) -> TokenRow | None:
    """The row of a token, if the model has it."""
    return _find_row(model, f"WHERE key = {hash_token(text)}")


def telling_token(model: Model) -> TokenRow | None:
    """The word of the text that separates the last class best from the first: an example."""
    last = len(model.classes) - 1
    own = f"(documents_{last} / {float(max(1, model.messages[last]))})"
    first = f"(documents_0 / {float(max(1, model.messages[0]))})"
    order = f"({own} - {first}) * ({own} - {first}) / ({own} + {first}) DESC, text LIMIT 1"
    some, others = (f"WHERE view {which} ORDER BY {order}" for which in ("= 1", f"< {NOTAWORD_VIEW}"))
    return _find_row(model, some) or _find_row(model, others)


def _find_row(model: Model, condition: str) -> TokenRow | None:
    for key, text, view in model.connection.ask(f"SELECT key, text, view FROM token {condition}"):
        counts = model.counts([key])[key]
        return TokenRow(text, view, counts[0::2], counts[1::2])
    return None


def find_ham_words(model: Model, most: int) -> list[str]:
    """Words of the text that the most ham have and no spam; for a model of ham and spam."""
    query = (
        "SELECT text FROM token WHERE view = ? AND documents_1 = 0 ORDER BY documents_0 DESC, text LIMIT ?"
    )
    rows = model.connection.ask(query, (VIEWS.index("body"), 2 * most))
    return [text for (text,) in rows if text.isalpha()][:most]


def vocabulary_keys(model: Model) -> list[int] | None:
    """The keys of the words of a fixed vocabulary, ascending, without NOTAWORD; None if every word counts."""
    if model.settings.get("vocabulary") != "fixed":
        return None
    return [key for (key,) in model.connection.ask("SELECT key FROM token WHERE key != 0 ORDER BY key")]


def count_learned(model: Model) -> int:
    """How many different messages the model has counted."""
    return int(model.connection.ask("SELECT count(DISTINCT digest) FROM learned")[0][0])


def contradictions(model: Model) -> int:
    """How many different messages the model has counted in more than one class."""
    twice = "SELECT digest FROM learned GROUP BY digest HAVING count(DISTINCT class) > 1"
    return int(model.connection.ask(f"SELECT count(*) FROM ({twice})")[0][0])


def find_learned(model: Model, digests: list[int]) -> dict[int, set[int]]:
    """digest -> numbers of the classes that the model has counted it in, for the digests that it knows."""
    found: dict[int, set[int]] = {}
    query = "SELECT digest, class FROM learned WHERE digest"
    for digest, number in find_rows(model.connection, query, digests):
        found.setdefault(digest, set()).add(number)
    return found
