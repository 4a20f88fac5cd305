"""Make a model smaller: rare tokens are taken out.

The views see a pruned token as unknown.  The textbook sees it as NOTAWORD, to which its counts are added, so
the sum of all occurrences stays.  Nobody knows then how many messages hold a NOTAWORD: it is counted in as
many as can be.  Measures stay, because they are few.

A message counted before can still be unlearned.  Tokens that are left lose just what the message holds; of
what was pruned no count falls below zero (Updater.count).
"""

import os
import sqlite3
from contextlib import closing
from typing import NamedTuple

from nbspam.errors import UsageError
from nbspam.store.changes import PRUNED
from nbspam.store.connection import BUSY_SECONDS, connect, store_error
from nbspam.store.digest import check_tables
from nbspam.store.reader import count_columns, open_model
from nbspam.store.turns import PATIENCE_SECONDS, Turn
from nbspam.store.updater import Updater, open_updater
from nbspam.store.writer import sum_rows
from nbspam.tokens.bag import MEASURES_VIEW, NO_TEXTBOOK_VIEWS, NOTAWORD, NOTAWORD_KEY, NOTAWORD_VIEW

SPARE = 0.98  # of the space for tokens; how full SQLite's pages will be, is not known to the byte


class Pruned(NamedTuple):
    """What pruning did: tokens before and taken out, and the size of the file in bytes."""

    tokens: int
    pruned: int
    before_bytes: int
    after_bytes: int


def prune(path: str, max_bytes: int | None = None, min_count: int = 1) -> Pruned:
    """Take the tokens of the fewest messages out of a model, in one transaction, and shrink the file.

    max_bytes : size of the file afterwards, at most; None: no bound
    min_count : tokens in fewer messages go, all classes together
    Raises UsageError, and changes no count, if what is not a token needs more than max_bytes.
    """
    with open_model(path) as model:
        if model.base_path:
            why = f"is an overlay: nearly all of its tokens are in its base, {model.base_path}"
            raise UsageError(path, why, "prune the base, then: nbspam model rebase", "prune-overlay")
    before = os.path.getsize(path)
    _compact(path)  # what is free already is not what tokens need
    tokens, pruned = 0, 0
    while True:  # a second time if the estimate was wrong
        with open_updater(path) as updater:
            found, gone = _take_out(updater, max_bytes, min_count)
        _compact(path)
        tokens = tokens or found  # before the first time
        pruned += gone
        after = os.path.getsize(path)
        if not gone or max_bytes is None or after <= max_bytes:
            return Pruned(tokens, pruned, before, after)


def _compact(path: str) -> None:
    """Write the file anew without free space; SQLite does it whole or not at all."""
    try:
        with Turn(path, PATIENCE_SECONDS), closing(connect(path, "rw", BUSY_SECONDS)) as connection:
            connection.execute("VACUUM")
    except sqlite3.Error as error:
        raise store_error(path, error) from None


def _take_out(updater: Updater, max_bytes: int | None, min_count: int) -> tuple[int, int]:
    """Prune within a transaction; the number of tokens before, and of those taken out."""
    ask = updater.connection.ask
    check_tables(updater.connection, "token")
    _choose(updater, max_bytes, min_count)
    tokens, pruned = ask("SELECT (SELECT count(*) FROM token), (SELECT count(*) FROM temp.pruned)")[0]
    if pruned:
        outside = _outside(updater)
        gone = "key IN (SELECT key FROM temp.pruned)"
        updater.delete("token", f"WHERE {gone} OR key = {NOTAWORD_KEY}")
        if updater.model.fixed_vocabulary or any(outside):
            updater.insert("token", [(NOTAWORD_KEY, NOTAWORD_VIEW, NOTAWORD, *outside)])
        for table, rows in sum_rows(updater.connection).items():
            updater.replace(table, rows)
        updater.settings({PRUNED: "1"})
    return tokens, pruned


def _choose(updater: Updater, max_bytes: int | None, min_count: int) -> None:
    """Make the table temp.pruned of the keys that go."""
    model, connection = updater.model, updater.connection
    messages = " + ".join(count_columns(len(model.classes))[::2])
    # What SQLite needs for a row: key, header and pointer, and integers; 0 and 1 take no byte.
    size = f"length(CAST(text AS BLOB)) + {17 + 2 * len(model.classes)} + 2 * ({messages} > 1)"
    stays = f"view IN ({MEASURES_VIEW}, {NOTAWORD_VIEW})"
    room = all_bytes = connection.ask(f"SELECT total({size}) FROM token")[0][0]
    file_bytes = os.path.getsize(model.path)
    if max_bytes is not None and file_bytes > max_bytes:
        room = SPARE * (max_bytes - (file_bytes - all_bytes))
        if room < connection.ask(f"SELECT total({size}) FROM token WHERE {stays}")[0][0]:
            why = f"the part that is never pruned needs more than {max_bytes:,} bytes"
            raise UsageError(model.path, why, "allow more bytes: `max_size`", "prune-size")
    # Which go of those that are in equally many messages: their keys are as good as random.
    used = f"sum({size}) OVER (ORDER BY {stays} DESC, {messages} DESC, key)"
    rows = f"SELECT key, {stays} AS stays, {messages} AS n, {used} AS used FROM token"
    goes = f"n < {min_count} OR used > {room}"
    connection.execute(f"CREATE TEMP TABLE pruned AS SELECT key FROM ({rows}) WHERE NOT stays AND ({goes})")


def _outside(updater: Updater) -> list[int]:
    """The counts of NOTAWORD once the tokens of temp.pruned are gone: documents_0, occurrences_0, ..."""
    model = updater.model
    sums = ", ".join(f"sum({name})" for name in count_columns(len(model.classes)))
    counted = "" if updater.model.fixed_vocabulary else f"AND view NOT IN {NO_TEXTBOOK_VIEWS}"
    which = f"key = {NOTAWORD_KEY} OR (key IN (SELECT key FROM temp.pruned) {counted})"
    outside = [n or 0 for n in updater.connection.ask(f"SELECT {sums} FROM token WHERE {which}")[0]]
    for k, messages in enumerate(model.messages):
        outside[2 * k] = min(outside[2 * k], messages)
    return outside
