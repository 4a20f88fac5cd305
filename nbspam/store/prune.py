"""Make a model smaller: rare tokens are taken out.

The model no longer knows a pruned token, as if it had never been counted.  Measures stay, because they are
few.

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
from nbspam.store.reader import count_columns
from nbspam.store.turns import PATIENCE_SECONDS, Turn
from nbspam.store.updater import Updater, open_updater
from nbspam.store.writer import sum_rows
from nbspam.tokens.bag import MEASURES_VIEW, NOTAWORD_VIEW


class Pruned(NamedTuple):
    """What pruning did: tokens before and taken out, and the size of the file in bytes."""

    tokens: int
    pruned: int
    before_bytes: int
    after_bytes: int


def prune(path: str, min_count: int) -> Pruned:
    """Take the tokens of fewer messages out of a model, in one transaction, and shrink the file.

    min_count : tokens stay that are in so many messages, all classes together
    """
    with open_updater(path) as updater:
        before_bytes = os.path.getsize(path)
        tokens, pruned = _take_out(updater, min_count)
    _compact(path)
    return Pruned(tokens, pruned, before_bytes, os.path.getsize(path))


def _take_out(updater: Updater, min_count: int) -> tuple[int, int]:
    """Prune within a transaction; the number of tokens before, and of those taken out."""
    model = updater.model
    if model.base_path:
        why = f"is an overlay: nearly all of its tokens are in its base, {model.base_path}"
        raise UsageError(model.path, why, "prune the base, then: nbspam model rebase", "prune-overlay")
    check_tables(updater.connection)
    tokens = sum(model.words)
    messages = " + ".join(count_columns(len(model.classes))[::2])
    rare = f"view NOT IN ({MEASURES_VIEW}, {NOTAWORD_VIEW}) AND {messages} < {min_count}"
    updater.delete("token", f"WHERE {rare}")
    sums = sum_rows(updater.connection)
    for table, rows in sums.items():
        updater.replace(table, rows)
    updater.settings({PRUNED: "1"})
    return tokens, tokens - sum(words for _, _, words in sums["view"])


def _compact(path: str) -> None:
    """Write the file anew without free space; SQLite does it whole or not at all."""
    try:
        with Turn(path, PATIENCE_SECONDS), closing(connect(path, "rw", BUSY_SECONDS)) as connection:
            connection.execute("VACUUM")
    except sqlite3.Error as error:
        raise store_error(path, error) from None
