"""The ledger: when, from where and by whom the messages of a model were learned, and as what before."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from nbspam.store.autolearned import read_autolearned
from nbspam.store.connection import Connection
from nbspam.store.digest import check_rows, stream_sound
from nbspam.store.reader import Model, find_rows
from nbspam.store.updater import Updater, read_rows

# Years 1 to 9999, less a day for any time zone: a wrong clock or a forger may have written any value.
_TIME = """CASE WHEN batch.number IS NULL THEN NULL WHEN typeof(time) = 'integer'
THEN min(max(time, -62135510400000), 253402214400000) ELSE 0 END"""
_ROWS = f"""
SELECT batch, {_TIME}, CAST(name AS TEXT), own, class, sum(times)
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
    check_rows(model.connection, "learned", "moved")
    for batch, time_ms, name, is_own, number, times in model.connection.ask(_ROWS):
        fresh = time_ms, tuple((name or "").split("\t")), bool(is_own)
        entry = found.setdefault(fresh, Entry(*fresh, set(), [0] * len(model.classes)))
        entry.batches.add(batch)
        entry.messages[number] += times
    return list(found.values())


def find_first_times(model: Model, keys: Sequence[int]) -> dict[int, int | None]:
    """key -> when the token was first counted, in ms since 1970, None if forgotten; for the tokens known."""
    query = f"SELECT key, {_TIME} FROM token LEFT JOIN batch ON batch.number = since WHERE key"
    times: dict[int, int | None] = {}
    for part in model.parts:
        rows: list[Any] = find_rows(part.connection, query, keys)
        times |= rows
    return times


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
    rows = stream_sound(updater.connection, "moved", "digest", f"WHERE batch IN ({numbers})")
    for (digest,) in {*rows}:
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
    numbers = ",".join(map(str, batches))
    rows = stream_sound(connection, "learned", "digest", f"WHERE batch IN ({numbers})")
    found = {digest for (digest,) in rows}
    own = {digest for digest, _, _ in read_autolearned(connection)} & found
    return found - own, own
