"""The ledger: when, from where and by whom the messages of a model were learned, and what undo takes back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from nbspam.errors import DamagedModelError
from nbspam.store.learn import FORGOTTEN, KNOWN, MOVED, count_message, keep_tokens
from nbspam.store.reader import Model, find_rows
from nbspam.store.updater import Updater, countings, read_rows
from nbspam.tokens import Counted

FIRST = 1  # the number of the batch that the model was made with
_ROWS = """
SELECT batch, time, name, own, class, sum(times)
FROM (SELECT batch, class, times FROM learned UNION ALL SELECT batch, class, 0 FROM moved)
LEFT JOIN batch ON batch.number = batch LEFT JOIN source ON source.number = batch.source
GROUP BY batch, class ORDER BY batch DESC
"""


class Entry(NamedTuple):
    """Messages that one command has learned.

    time_ms  : when it began, since 1970; None for what is forgotten, which is one entry without a source
    source   : the command, and the folders of its mail
    is_own   : the filter learned its own verdicts
    batches  : their numbers
    messages : how many of each class still count
    """

    time_ms: int | None
    source: tuple[str, ...]
    is_own: bool
    batches: set[int]
    messages: list[int]


def entries(model: Model) -> list[Entry]:
    """The entries of a ledger, the newest first; also those whose messages have all moved since."""
    found: dict[tuple[int | None, tuple[str, ...], bool], Entry] = {}
    try:
        for batch, time_ms, name, is_own, number, times in model.connection.ask(_ROWS):
            if not (type(batch) is type(times) is int and (time_ms is None or 0 <= time_ms < 1 << 47)):
                raise ValueError
            fresh = time_ms, tuple((name or "").split("\t")), bool(is_own)
            entry = found.setdefault(fresh, Entry(*fresh, set(), [0] * len(model.classes)))
            entry.batches.add(batch)
            entry.messages[number] += times
    except (AttributeError, LookupError, TypeError, ValueError):
        raise DamagedModelError(model.path, "a row of the ledger is not one of ours") from None
    return list(found.values())


def find_first_times(model: Model, keys: Sequence[int]) -> dict[int, int | None]:
    """key -> when the token was first counted, in ms since 1970, None if forgotten; for the tokens known."""
    query = "SELECT key, time FROM token LEFT JOIN batch ON batch.number = since WHERE key"
    rows = find_rows(model.connection, query, keys)
    return {key: time_ms if type(time_ms) is int else None for key, time_ms in rows}


def begin_undo(updater: Updater, batches: Collection[int]) -> tuple[set[int], set[int]]:
    """Forget what these batches counted of messages that have moved since.

    Returns the digests of their messages that still count: those of a person's, and the filter's own.
    """
    ask, numbers = updater.connection.ask, ",".join(map(str, batches))
    for (digest,) in ask(f"SELECT DISTINCT digest FROM moved WHERE batch IN ({numbers})"):
        rows = left = read_rows(updater.connection, "moved", digest)
        while gone := [row for row in left if row[2] in batches]:
            _, _, batch, _, until = gone[0]  # what it had moved was then moved by the next one
            left = [(*row[:4], until) if row[4] == batch else row for row in left if row[2] != batch]
        updater.change("moved", rows, left)
    found = {digest for (digest,) in ask(f"SELECT digest FROM learned WHERE batch IN ({numbers})")}
    own = {digest for (digest,) in ask("SELECT digest FROM autolearned")} & found
    return found - own, own


def undo(updater: Updater, message: Counted, batches: Collection[int]) -> str:
    """Take out what these batches counted of a message; what they had moved counts again.

    Returns FORGOTTEN, MOVED, or KNOWN if they counted nothing of it.
    """
    result = KNOWN
    for number, batch, times in countings(updater.connection, message.digest):
        if batch not in batches:
            continue
        result = FORGOTTEN
        for row in read_rows(updater.connection, "moved", message.digest):
            _, before, first, how_often, until = row
            if until == batch:
                result = MOVED
                count_message(updater, before, message, how_often, first)
                updater.change("moved", [row])
                if _is_own(updater, first):
                    keep_tokens(updater, before, message)
        count_message(updater, number, message, -times, batch)
    return result


def _is_own(updater: Updater, batch: int) -> bool:
    query = "SELECT own FROM batch JOIN source ON source.number = batch.source WHERE batch.number = ?"
    return bool(updater.connection.ask(query, (batch,)) == [(1,)])
