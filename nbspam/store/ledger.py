"""The ledger: when, from where and by whom the messages of a model were learned, and as what before."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from nbspam.errors import DamagedModelError
from nbspam.store.connection import Connection
from nbspam.store.reader import Model, find_rows
from nbspam.store.updater import Updater, read_rows

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


def list_entries(model: Model) -> list[Entry]:
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


class Move(NamedTuple):
    """A row of `moved`: how often a message had counted as a class, until a batch moved it."""

    digest: int
    label: int
    batch: int
    times: int
    until: int


def list_moves(updater: Updater, digest: int) -> list[Move]:
    """The moves of a message, in whatever form."""
    return [Move(*row) for row in read_rows(updater.connection, "moved", digest)]


def forget_moved(updater: Updater, batches: Collection[int]) -> None:
    """Forget what these batches counted of messages that have moved since."""
    numbers = ",".join(map(str, batches))
    query = f"SELECT DISTINCT digest FROM moved WHERE batch IN ({numbers})"
    for (digest,) in updater.connection.ask(query):
        moves = left = list_moves(updater, digest)
        while gone := [move for move in left if move.batch in batches]:
            forgotten = gone[0]
            left = [move for move in left if move.batch != forgotten.batch]
            # What the forgotten batch had moved was then moved by the next one.
            left = [
                move._replace(until=forgotten.until) if move.until == forgotten.batch else move
                for move in left
            ]
        updater.change("moved", moves, left)


def list_digests(connection: Connection, batches: Collection[int]) -> tuple[set[int], set[int]]:
    """The messages of these batches that still count: those of a person's, and the filter's own."""
    ask, numbers = connection.ask, ",".join(map(str, batches))
    found = {digest for (digest,) in ask(f"SELECT digest FROM learned WHERE batch IN ({numbers})")}
    own = {digest for (digest,) in ask("SELECT digest FROM autolearned")} & found
    return found - own, own


def is_own(updater: Updater, batch: int) -> bool:
    """True if the filter itself learned the messages of this batch."""
    query = "SELECT own FROM batch JOIN source ON source.number = batch.source WHERE batch.number = ?"
    return bool(updater.connection.ask(query, (batch,)) == [(1,)])
