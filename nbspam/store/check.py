"""Is a model file sound, and what is in it: the queries of `model check`, `model info` and doctor.

In a sound file, SQLite's own check passes, each value is of its kind, the rows have the digests that were
written with them, and totals are the sums over the tokens.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from nbspam.decision import load_loss
from nbspam.errors import DamagedModelError, NbspamError
from nbspam.model.calibration import check_places
from nbspam.model.posterior import log_priors, parse_prior
from nbspam.settings import parse_settings
from nbspam.store.digest import check_rows, differing_tables
from nbspam.store.reader import COUNTED, Model, count_columns
from nbspam.store.snapshot import open_snapshot
from nbspam.store.writer import sum_rows
from nbspam.tokens.bag import FORM_BITS, NOTAWORD, NOTAWORD_KEY, NOTAWORD_VIEW, hash_token


def check_model(path: str) -> list[str]:
    """What is wrong with a model, and with the base of an overlay, one line each; empty for a sound one.

    A file that cannot be opened as a model at all is a child of NbspamError.
    """
    complaints: list[str] = []
    with open_snapshot(path) as model:
        for part in model.parts:
            where = "" if part is model else f"its base, {part.path}: "
            try:
                for complaint in _find_faults(part):
                    complaints.append(where + complaint)
            except NbspamError as error:  # also of a query that has met a damaged page
                complaints.append(where + error.why)
    return complaints


def _find_faults(model: Model) -> Iterator[str]:
    lines = [row[0] for row in model.connection.ask("PRAGMA integrity_check(10)") if row[0] != "ok"]
    if lines:
        yield f"SQLite: {' '.join(' '.join(lines).split())}"
        return
    check_rows(model.connection)  # of a file that is open read-only, integrity_check leaves the CHECKs out
    for table in differing_tables(model.connection):
        yield f"{table}: its rows are not those that were written"
    for table, column in (("token", "since"), ("learned", "batch")):
        sound = "BETWEEN 1 AND (SELECT max(number) FROM batch)"
        if rows := model.connection.ask(f"SELECT {column} FROM {table} WHERE {column} NOT {sound}"):
            yield f"{table}: {len(rows)} rows of batches that do not exist, {_show([row[0] for row in rows])}"
    below = "SELECT 1 FROM learned GROUP BY digest, class HAVING sum(times) < 0"
    if rows := model.connection.ask(below):
        yield f"learned: {len(rows)} messages were taken out of a class more often than they were in it"
    texts = model.connection.stream("SELECT key, view, text FROM token")
    if strangers := [text for key, view, text in texts if key != compute_key(text, view)]:
        yield f"token: {len(strangers)} texts that do not belong to their keys, {_show(strangers)}"
    for table, rows in sum_rows(model.connection, model.base).items():
        different = sorted({*rows} ^ {*model.connection.stream(f"SELECT * FROM {table}")}, key=repr)
        if different:
            yield f"{table}: {len(different)} rows differ from the sums over the tokens, {_show(different)}"
    check_usable(model)


def _show(values: Sequence[object]) -> str:
    return "such as " + ", ".join(map(repr, values[:3]))


def check_usable(model: Model) -> None:
    """Raise a child of NbspamError if messages cannot be scored by the settings or by the calibration."""
    settings = parse_settings(model.settings, model.path)
    try:
        log_priors(parse_prior(settings.prior), model.messages, model.classes)
        load_loss(model.settings, model.classes, model.path)
    except NbspamError as error:
        raise DamagedModelError(model.path, f"setting {error}") from None
    if weights := model.calibration():
        check_places(model.path, weights, len(model.classes), settings.kinds)
    model.covariance()


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


def vocabulary_keys(model: Model) -> list[int] | None:
    """The keys of the words of a fixed vocabulary, ascending, without NOTAWORD; None if every word counts."""
    if model.settings.get("vocabulary") != "fixed":
        return None
    return [key for (key,) in model.connection.ask("SELECT key FROM token WHERE key != 0 ORDER BY key")]


def count_learned(model: Model) -> int:
    """How many different messages the model has counted."""
    if not model.base:
        return int(model.connection.ask(f"SELECT count(DISTINCT digest) FROM {COUNTED}")[0][0])
    own = [digest for (digest,) in model.connection.ask(f"SELECT DISTINCT digest FROM {COUNTED}")]
    return count_learned(model.base) + len(own) - len(find_learned(model.base, own))


def count_different(model: Model) -> list[int]:
    """How many different messages each class has: what was copied into several folders counts once."""
    different = [0] * len(model.classes)
    query = f"SELECT class, count(DISTINCT digest) FROM {COUNTED} GROUP BY class"
    for label, count in _ask_files(model, "learned", query):
        different[label] += count
    return different


def list_fields(model: Model) -> dict[str, list[int]]:
    """Name of a header field -> messages of each class that have it."""
    documents = ", ".join(count_columns(len(model.classes))[::2])
    query = f"SELECT substr(text, 7), {documents} FROM token WHERE view = 0 AND text GLOB 'field:*'"
    fields: dict[str, list[int]] = {}
    for name, *counts in _ask_files(model, "token", query):
        fields[name] = [*map(int.__add__, counts, fields.get(name, [0] * len(counts)))]
    return fields


def _ask_files(model: Model, table: str, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
    """The rows of a query in each file of a model; DamagedModelError if the table has unsound rows."""
    for part in model.parts:
        check_rows(part.connection, table)
        yield from part.connection.ask(query, values)


def find_words(model: Model, words: Collection[str]) -> list[tuple[int, int, str]]:
    """(key, view, text) of each token of header, body and structure that is a word, or has it after its mark.

    `free` is also in `subject:free`, and `lake.example` in `from:lake.example` and `url=lake.example`.
    """
    after = "ltrim(substr(text, instr(text, '{}') + 1), '@#/') IN words"  # the whole text without the mark
    query = f"""
    WITH words AS (SELECT ltrim(value, '@#/') AS word FROM json_each(?) WHERE word != '')
    SELECT key, view, text FROM token
    WHERE view < 3 AND (text IN words OR {after.format(":")} OR {after.format("=")})
    """
    tokens: set[Any] = {*_ask_files(model, "token", query, json.dumps([*words]))}
    return sorted(tokens, key=lambda token: token[1:])


def find_learned(model: Model, digests: list[int]) -> set[int]:
    """The digests among these of messages that the model has counted, in whatever form."""
    known: set[int] = set()
    for part in model.parts:
        rows = part.connection.stream(f"SELECT DISTINCT digest >> {FORM_BITS} FROM {COUNTED}")
        known.update(identity for (identity,) in rows)
    return {digest for digest in digests if digest >> FORM_BITS in known}
