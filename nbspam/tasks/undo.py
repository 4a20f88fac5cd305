"""Take back what commands have learned, as the ledger notes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from nbspam.corpus.source import Source, stat_mode
from nbspam.corpus.walk import SourcePart
from nbspam.errors import UsageError
from nbspam.store.learn import FORGOTTEN, read_counted, split_batches, writing
from nbspam.store.ledger import FIRST, Entry, begin_undo, entries, undo
from nbspam.store.reader import open_model
from nbspam.tokens import Counted


def choose(path: str, last: bool, since_ms: float = 0, source: str = "") -> list[Entry]:
    """The entries of the ledger to take back, never the one that the model was made with; UsageError if none.

    last     : only the latest
    since_ms : of commands that began then or later, ms since 1970
    source   : from there: the first words of the entry, or one of its folders
    """
    begin, place = f"{source} " if source else "", os.path.abspath(source)
    with open_model(path) as model:
        known = [one for one in entries(model) if one.time_ms is not None and FIRST not in one.batches]
    found = [one for one in known if place in one.source or f"{' '.join(one.source)} ".startswith(begin)]
    found = [one for one in found if (one.time_ms or 0) >= since_ms]
    if not found:
        why, remedy = "nothing like that was learned, except what the model was made with", "see: nbspam log"
        raise UsageError(path, why, remedy, "undo-nothing")
    return found[:1] if last else found


def take_back(
    path: str, chosen: Sequence[Entry], paths: Sequence[str], say: Callable[[str, str], None]
) -> int:
    """Take out what these entries count; how many messages are left because their mail was not found.

    paths : where mail is looked for, after the folders of the entries
    say   : told the result, as of undo, and the name of each message when the model has lost it
    A message that the filter learned itself needs no mail.  Some messages are taken out in one transaction.
    """
    for place in paths:
        stat_mode(place)
    numbers = {number for entry in chosen for number in entry.batches}
    with writing(path) as updater:
        needed, own = begin_undo(updater, numbers)
    for some in split_batches(sorted(own), lambda _: 0):
        with writing(path) as updater:
            for digest in some:
                updater.take_back(digest)
        for _ in some:
            say(FORGOTTEN, "-")
    places = [(place, entry.source[0]) for entry in chosen for place in entry.source[1:]]
    parts = [SourcePart(place, deep=command.startswith("train")) for place, command in places]
    parts = [part for part in dict.fromkeys(parts) if os.path.exists(part.path)]
    mail = _find_mail(path, Source([*parts, *map(SourcePart, paths)]), needed)
    for named in split_batches(mail, lambda _: 0):
        with writing(path) as updater:
            results = [undo(updater, message, numbers) for _, message in named]
        for result, (name, _) in zip(results, named, strict=True):
            say(result, name)
    return len(needed)


def _find_mail(path: str, source: Source, needed: set[int]) -> Iterator[tuple[str, Counted]]:
    """Name and message of these digests, which are then no longer needed."""
    with open_model(path) as model:
        for item in source.items():
            if not needed:
                break
            try:
                message = read_counted(item.read(), model, item.name)
            except OSError:  # it has gone: it may be elsewhere
                continue
            if message.digest in needed:
                needed.remove(message.digest)
                yield item.name, message
