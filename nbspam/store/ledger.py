"""The ledger: when, from where and by whom the messages of a model were learned, and as what before."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from nbspam.store.connection import Connection
from nbspam.store.digest import DIGESTED, check_rows, stream_sound
from nbspam.store.reader import Model, find_rows
from nbspam.store.updater import count_copies

# Years 1 to 9999, less a day for any time zone: a wrong clock or a forger may have written any value.
_TIME = "CASE typeof(time) WHEN 'integer' THEN min(max(time, -62135510400000), 253402214400000) ELSE 0 END"
# What still counts of a message that has moved is of the latest batches that have counted it.
_ROWS = f"""
WITH moved AS (SELECT digest FROM learned WHERE times < 1)
SELECT batch, {_TIME}, CAST(source AS TEXT), own, class, sum(still)
FROM (SELECT batch, class, times AS still FROM learned WHERE digest NOT IN moved UNION ALL
    SELECT batch, class, max(0, min(times, total - later)) FROM (
        SELECT batch, class, times, sum(times) OVER (PARTITION BY digest, class) AS total,
            sum(max(times, 0)) OVER (PARTITION BY digest, class ORDER BY batch DESC) - max(times, 0) AS later
        FROM learned WHERE digest IN moved))
JOIN batch ON batch.number = batch
GROUP BY batch, class ORDER BY batch DESC
"""


class Entry(NamedTuple):
    """Messages that one command has learned.

    time_ms  : when it began, since 1970
    source   : the command, and the folders of its mail
    is_own   : the filter learned its own verdicts
    batches  : their numbers
    messages : how many of each class still count
    """

    time_ms: int
    source: tuple[str, ...]
    is_own: bool
    batches: set[int]
    messages: list[int]


def list_entries(model: Model) -> list[Entry]:
    """The entries of a ledger, the newest first; also those whose messages have all moved since."""
    found: dict[tuple[int, tuple[str, ...], bool], Entry] = {}
    check_rows(model.connection, "learned")
    for batch, time_ms, name, is_own, number, times in model.connection.ask(_ROWS):
        fresh = time_ms, tuple((name or "").split("\t")), bool(is_own)
        entry = found.setdefault(fresh, Entry(*fresh, set(), [0] * len(model.classes)))
        entry.batches.add(batch)
        entry.messages[number] += times
    return list(found.values())


def find_first_times(model: Model, keys: Sequence[int]) -> dict[int, int]:
    """key -> when the token was first counted, in ms since 1970; for the tokens known."""
    query = f"SELECT key, {_TIME} FROM token JOIN batch ON batch.number = since WHERE key"
    times: dict[int, int] = {}
    for part in model.parts:
        rows: list[Any] = find_rows(part.connection, query, keys)
        times |= rows
    return times


Rows = list[tuple[int, ...]]  # of `learned`: digest, class, batch, times


def list_rows(connection: Connection, batches: Collection[int]) -> dict[int, Rows]:
    """digest -> all of its rows, for the messages that these batches have counted or taken out."""
    numbers = ",".join(map(str, batches))
    which = f"WHERE digest IN (SELECT digest FROM learned WHERE batch IN ({numbers}))"
    found: dict[int, Rows] = {}
    for row in stream_sound(connection, "learned", DIGESTED["learned"], which):
        found.setdefault(row[0], []).append(row)
    return found


def drop_batches(rows: Rows, batches: Collection[int]) -> Rows:
    """The rows of one digest as if these batches had not counted it.

    A batch that moves a message, which has a row of 0 or less, moves what it finds.  So what an earlier batch
    did is added to the next such batch, and the message counts as before.
    """
    kept = {row[:3]: row[3] for row in rows if row[2] not in batches}
    moves = sorted({batch for _, _, batch, times in rows if times < 1 and batch not in batches})
    for digest, label, batch, times in rows:
        later = [move for move in moves if move > batch]
        if batch in batches and later:
            place = digest, label, later[0]
            kept[place] = kept.get(place, 0) + times
    return [(*place, times) for place, times in kept.items()]


def compare_copies(before: Rows, after: Rows) -> dict[int, int]:
    """Class number -> how many times more a message counts by other rows; classes that differ."""
    old, new = count_copies(before), count_copies(after)
    changes = {message[1]: new.get(message, 0) - old.get(message, 0) for message in old | new}
    return {label: times for label, times in changes.items() if times}
