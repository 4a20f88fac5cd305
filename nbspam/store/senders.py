"""The senders that a user has named, in a model file: see `sender` in schema.sql."""

from __future__ import annotations

import time

from nbspam.errors import NbspamError
from nbspam.senders import judge_sender
from nbspam.store.digest import DIGESTED, stream_sound
from nbspam.store.reader import OWN_SERVERS, open_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nbspam.store.reader import Model
    from nbspam.store.rows import Writer

    Sender = tuple[str, str, int, int]  # a row: who, decision, verified, since

_COLUMNS = DIGESTED["sender"]


def list_senders(model: Model) -> list[Sender]:
    """The entries of one model file, without those of its base, by name."""
    return [*stream_sound(model.connection, "sender", _COLUMNS, "ORDER BY who")]


def judge_by_list(model: Model, data: bytes) -> tuple[str, str]:
    """What judge_sender says of a message by the list of a model, own entries before those of the base."""

    def find(names: Sequence[str]) -> dict[str, tuple[str, int]]:
        entries: dict[str, tuple[str, int]] = {}
        for part in reversed(model.parts):
            where = f"WHERE who IN ({', '.join('?' * len(names))})"
            for who, decision, verified, _ in stream_sound(part.connection, "sender", _COLUMNS, where, names):
                entries[who] = decision, verified
        return entries

    return judge_sender(data, find, model.servers)


def name_senders(path: str, names: Iterable[str], decision: str, is_verified: bool) -> list[str]:
    """Give names this decision in place of any other; those for which that is new."""
    from nbspam.store.updater import open_updater  # a verdict needs none

    since = time.time_ns() // 1_000_000
    with open_updater(path) as updater:
        known = {row[0]: row for row in list_senders(updater.model)}
        rows = [(name, decision, int(is_verified), since) for name in dict.fromkeys(names)]
        new = [row for row in rows if row[:3] != known.get(row[0], row[:0])[:3]]
        updater.change("sender", gone=[known[row[0]] for row in new if row[0] in known], new=new)
    return [who for who, *_ in new]


def remove_senders(path: str, names: Iterable[str], decision: str) -> list[str]:
    """Take out the entries of names that have this decision; which had it."""
    from nbspam.store.updater import open_updater

    wanted = {(name, decision) for name in names}
    with open_updater(path) as updater:
        gone = [row for row in list_senders(updater.model) if row[:2] in wanted]
        updater.change("sender", gone=gone)
    return [who for who, *_ in gone]


def change_servers(path: str, names: Iterable[str], is_own: bool) -> None:
    """Add names to the user's own mail servers, or take them out."""
    from nbspam.store.updater import open_updater

    with open_updater(path) as updater:
        known = set(updater.model.settings.get(OWN_SERVERS, "").split())
        servers = known | {*names} if is_own else known - {*names}
        updater.settings({OWN_SERVERS: " ".join(sorted(servers))})


def join_senders(models: Sequence[Model]) -> tuple[list[Sender], list[str]]:
    """The entries of several models, of each name that of the first model; names with different decisions."""
    joined: dict[str, Sender] = {}
    rows = [row for model in models for row in list_senders(model)]
    different = {row[0] for row in rows if joined.setdefault(row[0], row)[1] != row[1]}
    return list(joined.values()), sorted(different)


def keep_senders(file: Writer, path: str) -> None:
    """Give a new model the senders and servers of the one that it replaces; of a damaged one none."""
    try:
        with open_model(path) as model:
            file.insert("sender", list_senders(model))
            file.settings({name: value for name, value in model.settings.items() if name == OWN_SERVERS})
    except NbspamError:
        pass
