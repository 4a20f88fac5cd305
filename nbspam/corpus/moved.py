"""Where a message of a Maildir is, once its file has another name.

Hides that mail programs rename files while others read them: new/1.host becomes cur/1.host:2,S when a
mailbox is opened, and every flag that a reader sets makes another name.  What is before the colon stays.
"""

from __future__ import annotations

import os
import time

from nbspam.corpus.folders import unflagged

_PARTS = ("cur", "new")  # where a message is looked for first
# Folder -> when it was changed last, and its names by what is before the colon.  A mailbox that is opened
# renames thousands, and one look at the folder finds them all.  Of a folder that has just changed that time
# tells nothing: with a clock that ticks each 4 ms, or each second, the next change may bear the same one.
_JUST_NOW = 2_000_000_000  # nanoseconds
_ANY_MOMENT = -1
_seen: dict[str, tuple[int, dict[str, str]]] = {}


def where_now(path: str) -> str:
    """The path that a vanished message has now; as given where it is in no Maildir, or has gone from it."""
    folder, name = os.path.split(path)
    top, part = os.path.split(folder)
    if part not in _PARTS:
        return path
    for other in _PARTS:
        found = _found(os.path.join(top, other), unflagged(name))
        if found:
            return found
    return path


def _found(folder: str, name: str) -> str:
    """The path of the message in this folder, '' if it is not there."""
    known = _seen.get(folder, (0, {}))[1].get(name)
    if known and os.path.lexists(os.path.join(folder, known)):
        return os.path.join(folder, known)
    try:
        changed = os.stat(folder).st_mtime_ns
        if folder not in _seen or _seen[folder][0] != changed:
            told = changed if time.time_ns() - changed > _JUST_NOW else _ANY_MOMENT
            _seen[folder] = told, {unflagged(entry): entry for entry in os.listdir(folder)}
    except OSError:  # the folder, too, has gone or is shut
        return ""
    known = _seen[folder][1].get(name)
    return os.path.join(folder, known) if known else ""
