"""Where the model lies: whose it is, who may write to it, what lies about.

Hides the file system.  Training that silently went to another place, or that failed on permissions, is what
users of spam filters ask for help with most: so a check-up says of the very file what would happen.
"""

from __future__ import annotations

import os
import pwd
import stat
import time
from collections.abc import Iterable, Iterator

from nbspam.errors import CannotCreateError, InputOutputError, NoInputError
from nbspam.files import left_over, nearest_folder
from nbspam.store.connection import journal_of
from nbspam.tasks.doctor.finding import Finding, note, wrong

EVERYONE_WRITES = 0o002


def missing(path: str, has_mail: bool, start: str) -> Iterator[Finding]:
    """Of a model that is not there.

    has_mail : labelled mail was named; its check needs no model
    start    : what it is to begin with, or empty
    """
    if start:
        yield Finding("file", f"none yet: {start} judges, and learn begins with a copy of it")
    elif os.path.islink(path):
        why = f"a link to {os.path.realpath(path)}, where nothing is"
        error = NoInputError(path, why, "mend the link, or train there: nbspam train SOURCE", "model-missing")
        yield wrong("file", error)
    elif has_mail:
        yield note("file", "there is no model here yet", "train one: nbspam train SOURCE")
    else:
        remedy = "train one: nbspam train SOURCE, or name it: --model PATH"
        yield wrong("file", NoInputError(path, "there is no model here", remedy, "model-missing"))
    folder = nearest_folder(path)
    if not (os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)):
        why = f"none can be made: {me()} cannot write to {folder}"
        yield wrong("writing", CannotCreateError(path, why, "choose another place: --model PATH", "denied"))


def place(path: str) -> Iterator[Finding]:
    """Of a model file that is there."""
    status = os.stat(path)
    link = f"; a link to {os.path.realpath(path)}" if os.path.islink(path) else ""
    mode = stat.filemode(status.st_mode)[1:]
    yield _owner(path, status, f"{user(status.st_uid)}'s, {mode}; you are {me()}{link}")
    yield _writing(path)
    yield _space(path, status.st_size)
    yield from _unfinished(path)


def user(number: int) -> str:
    """The name of a user, or the number where there is none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def me() -> str:
    """Who runs."""
    return user(os.geteuid())


def _owner(path: str, status: os.stat_result, text: str) -> Finding:
    if status.st_mode & EVERYONE_WRITES:
        return note("owner", text + "; everyone may train it", f"chmod o-w {path}")
    host = _whose_home(path, status.st_uid)
    if host is None:
        return Finding("owner", text)
    name = user(host)
    why = f"; it lies in a folder of {name}, and a filter that runs as {name} cannot learn"
    given = [one for one in (_folder(path), path) if os.stat(one).st_uid != host]
    return note("owner", text + why, f"as root: chown {name} {' '.join(given)}")


def _whose_home(path: str, owner: int) -> int | None:
    """Who has the folder that the model is kept in, if somebody else than its owner and no system folder."""
    folder = _folder(path)
    while folder != os.path.dirname(folder):
        found = os.stat(folder).st_uid
        if found not in (owner, 0):
            return found
        folder = os.path.dirname(folder)
    return None


def _writing(path: str) -> Finding:
    folder = _folder(path)
    denied = [one for one in (path, folder) if not os.access(one, os.W_OK)]
    if not denied:
        return Finding("writing", "you can learn into it: the file and its folder can be written to")
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        why, remedy = "the file system is read-only", "keep the model elsewhere: --model PATH"
    else:
        what = {path: "the file", folder: f"the folder {folder}"}
        why = f"{me()} cannot write to {' and '.join(what[one] for one in denied)}"
        remedy = f"give it to {me()} (chown, as root), or keep a model of your own: --model PATH"
        if all(os.stat(one).st_uid == os.geteuid() for one in denied):
            remedy = f"chmod u+w {' '.join(denied)}"
    why += ": learn and train fail" + (", classify works" if os.access(path, os.R_OK) else "")
    return wrong("writing", InputOutputError(path, why, remedy, "model-readonly"))


def _space(path: str, size_bytes: int) -> Finding:
    disk = os.statvfs(path)
    free = disk.f_bavail * disk.f_frsize
    remedy = "free some space; the model that is there is intact"
    if disk.f_files and not disk.f_favail:
        return wrong("space", InputOutputError(path, "the disk can hold no more files", remedy, "no-space"))
    text = f"{size(free)} free, the model has {size(size_bytes)}"
    if free < size_bytes:  # what train writes anew, and the journal of a large update
        return wrong("space", InputOutputError(path, text + ": too little to train", remedy, "no-space"))
    return Finding("space", text)


def size(n_bytes: float) -> str:
    """A size for people."""
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.1f} MB"


def moment(seconds: float) -> str:
    """A time for people, to the minute, where they are."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OSError, OverflowError, ValueError):  # the clock was wrong: no calendar goes so far
        return f"{seconds:.4g} seconds after 1970"


def _unfinished(path: str) -> Iterator[Finding]:
    """What a killed writer leaves.  An update that goes on has a journal, too: it is no fault."""
    if os.path.exists(journal_of(path)):
        yield note("journal", "another program is writing, or was killed; who next reads takes its half back")
    found = left_over(path)
    old = sum(is_old for _, is_old in found)
    if old:
        remedy = "the next nbspam train --replace takes them away"
        yield note("left over", f"{old} unfinished files of killed programs beside it", remedy)
    if len(found) > old:
        text = f"{len(found) - old} unfinished files beside it: being written, or a program was killed"
        remedy = f"a day later train --replace takes them away; to see them: ls -lA {_folder(path)}"
        yield note("left over", text, remedy)


def _folder(path: str) -> str:
    return os.path.dirname(os.path.realpath(path))


def others(path: str, places: Iterable[str]) -> Iterator[Finding]:
    """Models at other places where one may be looked for: training may have gone there."""
    used = _changed(path)
    seen = {os.path.realpath(path)}
    for other in places:
        changed = _changed(other)
        if changed is None or os.path.realpath(other) in seen:
            continue
        seen.add(os.path.realpath(other))
        owner = user(os.stat(other).st_uid)
        newer = ", later than this one: was that training meant for here?" if used and changed > used else ""
        text = f"{other} ({owner}'s, changed {moment(changed)}{newer})"
        yield note("another", text, f"to use it: --model {other} or NBSPAM_MODEL={other}")


def _changed(path: str) -> float | None:
    """When a file was last written to; None where none can be seen."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime if stat.S_ISREG(status.st_mode) else None
