"""Take back what commands have learned, as the ledger notes it."""

import os
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from nbspam.corpus.item import Item, Skipped, read_items
from nbspam.corpus.source import Source, stat_mode
from nbspam.corpus.walk import SourcePart
from nbspam.errors import UsageError
from nbspam.learning.learn import (
    FORGOTTEN,
    KNOWN,
    MOVED,
    count_message,
    find_wanted,
    read_counted,
    split_batches,
)
from nbspam.store.autolearned import CORRECTED, LABELLED, read_autolearned
from nbspam.store.ledger import Entry, Rows, compare_copies, drop_batches, list_entries, list_rows
from nbspam.store.reader import open_model
from nbspam.store.rows import FIRST
from nbspam.store.updater import Updater, open_updater, read_rows
from nbspam.tokens import KeyedTokens


def choose_entries(path: str, last: bool, since_ms: float = 0, source: str = "") -> list[Entry]:
    """The entries of the ledger to take back, never the one that the model was made with; UsageError if none.

    last     : only those of the latest command: it has an entry for each folder
    since_ms : of commands that began then or later, ms since 1970
    source   : from there: the first words of the entry, or one of its folders
    """
    begin, place = f"{source} " if source else "", os.path.abspath(source)
    with open_model(path) as model:
        known = [one for one in list_entries(model) if FIRST not in one.batches]
    found = [one for one in known if place in one.source or f"{' '.join(one.source)} ".startswith(begin)]
    found = [one for one in found if one.time_ms >= since_ms]
    if not found:
        why, remedy = "nothing like that was learned, except what the model was made with", "see: nbspam log"
        raise UsageError(path, why, remedy, "undo-nothing")
    latest = found[0]
    if last:
        found = [one for one in found if (one.time_ms, one.source[0]) == (latest.time_ms, latest.source[0])]
    return found


class Lessons(NamedTuple):
    """What entries of the ledger count, and what of it can be taken back.

    batches : the numbers of the entries
    own     : digests of messages that the filter learned itself, which need no mail
    found   : digest -> the mail of a message
    missing : how many messages have no mail any more
    """

    batches: set[int]
    own: list[int]
    found: dict[int, Item]
    missing: int


def find_lessons(path: str, chosen: Sequence[Entry], paths: Sequence[str]) -> Lessons:
    """Look for the mail of these entries, and change nothing.

    paths : where mail is looked for, after the folders of the entries
    """
    for place in paths:
        stat_mode(place)
    places = [(place, entry.source[0]) for entry in chosen for place in entry.source[1:]]
    parts = [SourcePart(place, deep=command.startswith("train")) for place, command in places]
    parts = [part for part in dict.fromkeys(parts) if os.path.exists(part.path)]
    source = Source([*parts, *map(SourcePart, paths)])
    batches = {number for entry in chosen for number in entry.batches}
    found: dict[int, Item] = {}
    with open_model(path) as model:
        own = {digest for digest, _, _ in read_autolearned(model.connection)}
        rows = list_rows(model.connection, batches)
        own &= rows.keys()
        needed = {digest for digest in rows.keys() - own if _changes_counts(rows[digest], batches)}
        wanted = find_wanted(model)
        for item in source.items():
            if len(found) == len(needed):
                break
            try:
                digest = read_counted(item.read(), wanted, item.name).digest
            except OSError:  # it has gone: it may be elsewhere
                continue
            if digest in needed:
                found.setdefault(digest, item._replace(small=None))
    return Lessons(batches, sorted(own), found, len(needed) - len(found))


def take_back(path: str, lessons: Lessons, say: Callable[[str, str], None]) -> int:
    """Take out what these lessons count, where their mail is; how many messages still count.

    say : told FORGOTTEN or MOVED, and the name of each message when the model has lost it
    Some messages are taken out in one transaction.  The calibration keeps what it has learned.
    """
    with open_updater(path) as updater:
        for rows in list_rows(updater.connection, lessons.batches).values():
            if not _changes_counts(rows, lessons.batches):
                updater.change("learned", rows, drop_batches(rows, lessons.batches))
    for some in split_batches(lessons.own, lambda _: 0):
        with open_updater(path) as updater:
            for digest in some:
                updater.take_back(digest)
            reviews = {LABELLED, CORRECTED} & updater.model.settings.keys()
            updater.settings(dict.fromkeys(reviews, "0"))  # a filter that has stopped begins again
        for _ in some:
            say(FORGOTTEN, "-")
    gone: Skipped = []
    for items in split_batches(lessons.found.values(), lambda _: 0):
        with open_updater(path) as updater:
            wanted = find_wanted(updater.model)
            results = [
                (_take_out(updater, read_counted(data, wanted, item.name), lessons.batches), item.name)
                for item, data in read_items(items, gone)
            ]
        for result, name in results:
            say(result, name)
    return lessons.missing + len(gone)


def _changes_counts(rows: Rows, batches: Collection[int]) -> bool:
    """True if the message of these rows counts otherwise without these batches: to undo needs its mail."""
    return bool(compare_copies(rows, drop_batches(rows, batches)))


def _take_out(updater: Updater, message: KeyedTokens, batches: Collection[int]) -> str:
    """Take out what these batches counted of a message; what they had moved counts again.

    Returns FORGOTTEN, MOVED, or KNOWN if they counted nothing of it.
    """
    rows = [
        row for row in read_rows(updater.connection, "learned", message.digest) if row[0] == message.digest
    ]
    kept = drop_batches(rows, batches)
    changes = compare_copies(rows, kept)
    # First what counts again, so that its tokens do not become new ones.
    for label, times in sorted(changes.items(), key=lambda change: -change[1]):
        since = min((batch for _, k, batch, n in kept if k == label and n > 0), default=FIRST)
        count_message(updater, label, message, times, since)
    updater.change("learned", rows, kept)
    if not changes:
        return KNOWN
    return MOVED if max(changes.values()) > 0 else FORGOTTEN
