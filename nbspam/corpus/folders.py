"""One folder -> the files of its messages, sorted, folder by folder.

Hides the layouts: Maildir (cur and new; tmp is mail still being written; a T or D flag is mail the
user threw away or has not sent), MH (numbers in numeric order; `,12` was deleted), and folders of
files in folders.  Any file of the last may be an mbox; those of Maildir and .mh_sequences never are.
A loop of links ends where a folder comes for the second time.
"""

from __future__ import annotations

import os

from nbspam.corpus.item import not_regular
from nbspam.corpus.notes import Notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER, FILE, MESSAGE = 0, 1, 2  # FILE may be an mbox, MESSAGE is one message
MAILDIR_PARTS = ("cur", "new", "tmp")
TRASHED, DRAFT, DELETED, UNREAD = "trashed", "draft", "deleted", "unread"
SUBFOLDER = "folder inside a Maildir"
NO_MESSAGE = "no message of the MH folder"
LINKED_BACK = "link back to a folder already read"
# Indexes that mail programs put beside mail.
_INDEX_STARTS = ("dovecot.", "dovecot-", "cyrus.")
_INDEX_ENDS = (".msf", ".lock")


def walk(top: str, notes: Notes, deep: bool = True) -> Iterator[tuple[str, bool]]:
    """(path, whether it may be an mbox) of each message file.

    deep : goes into folders in it; else it is a folder of a tree, and see listing
    """
    seen: set[tuple[int, int]] = set()
    pending = [iter([(FOLDER, top)])]
    while pending:
        kind, path = next(pending[-1], (-1, ""))
        if kind < 0:
            pending.pop()
        elif kind != FOLDER:
            yield path, kind == FILE
        elif (deep or not seen) and enter(path, seen, notes):
            pending.append(iter(listing(path, notes, deep)))


def enter(path: str, seen: set[tuple[int, int]], notes: Notes) -> bool:
    """Whether a folder comes for the first time in this walk and can be looked at."""
    try:
        status = os.stat(path)
    except OSError as error:
        notes.skip(path, error)
        return False
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        notes.leave_out(LINKED_BACK)  # its mail is read where it stands
        return False
    seen.add(identity)
    return True


def listing(path: str, notes: Notes, deep: bool) -> list[tuple[int, str]]:
    """(FOLDER, FILE or MESSAGE, path) of what is in one folder, sorted; for a Maildir its messages.

    deep : False for a folder of a tree: who found it there has noted what stands in it and is no mail
    """
    in_folder = notes if deep else Notes()
    folders, files = scan(path, in_folder)
    if is_maildir(folders):
        if deep:
            _note_subfolders(path, folders, notes)
        return _maildir(path, folders, notes)
    kind, files = messages(files, in_folder)
    found = [(_order(name), FOLDER, name) for name in folders if not name.startswith(".")]
    found += [(_order(name), kind, name) for name in files]
    found.sort()
    prefix = os.path.join(path, "")
    return [(kind, prefix + name) for _, kind, name in found]


def scan(path: str, notes: Notes) -> tuple[list[str], list[str]]:
    """Names of the folders and of the regular files in a folder; all else is noted as skipped."""
    folders: list[str] = []
    files: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    if entry.is_file():
                        files.append(entry.name)
                    elif entry.is_dir():
                        folders.append(entry.name)
                    else:
                        # stat says why: a link to nowhere, or something not to be read
                        raise not_regular(entry.path, entry.stat().st_mode)
                except OSError as error:
                    notes.skip(
                        entry.path, "link to nothing" if isinstance(error, FileNotFoundError) else error
                    )
    except OSError as error:
        notes.skip(path, error)
    return folders, files


def is_maildir(folders: list[str]) -> bool:
    """Whether these folders make a Maildir; empty ones may have been lost on the way (git, zip)."""
    return "cur" in folders or ("new" in folders and "tmp" in folders)


def _note_subfolders(path: str, folders: list[str], notes: Notes) -> None:
    for name in folders:
        if name not in MAILDIR_PARTS and os.path.isdir(os.path.join(path, name, "cur")):
            notes.leave_out(SUBFOLDER)


def _maildir(top: str, folders: list[str], notes: Notes) -> list[tuple[int, str]]:
    """The messages of `cur`, then those of `new`.

    `new` is looked into first: a message may go from there to `cur` at any time, and would be in neither.
    """
    new = _maildir_part(top, "new", notes) if "new" in folders else []
    cur = _maildir_part(top, "cur", notes) if "cur" in folders else []
    taken = set(map(unflagged, cur))
    gone = {name for name in new if unflagged(name) in taken and not os.path.lexists(f"{top}/new/{name}")}
    return [(MESSAGE, f"{top}/cur/{name}") for name in cur] + [
        (MESSAGE, f"{top}/new/{name}") for name in new if name not in gone
    ]


def unflagged(name: str) -> str:
    """What of the name of a file in a Maildir does not change when it is read, answered, flagged."""
    return name.partition(":")[0]


def _maildir_part(top: str, part: str, notes: Notes) -> list[str]:
    _, names = scan(os.path.join(top, part), notes)
    names.sort()
    found: list[str] = []
    for name in names:
        if name.startswith((".", *_INDEX_STARTS)):
            continue
        flags = flags_of(name)
        if "T" in flags:
            notes.leave_out(TRASHED)
        elif "D" in flags:
            notes.leave_out(DRAFT)
        else:
            found.append(name)
    return found


def messages(names: list[str], notes: Notes) -> tuple[int, list[str]]:
    """(kind, names) of the files in a folder that are mail."""
    is_mh = ".mh_sequences" in names
    kept: list[str] = []
    for name in names:
        if name.startswith((".", *_INDEX_STARTS)) or name.endswith(_INDEX_ENDS):
            continue
        if name[0] == "," and is_number(name[1:]):
            notes.leave_out(DELETED)
        elif is_mh and not is_number(name):
            notes.leave_out(NO_MESSAGE)
        else:
            kept.append(name)
    return MESSAGE if is_mh else FILE, kept


def flags_of(name: str) -> str:
    """The flags in the file name of a message of a Maildir."""
    return name.partition(":2,")[2]


def is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()


def _order(name: str) -> tuple[int, str]:
    """Sorting key: by name, but whole numbers (MH) before the rest and by size."""
    return (len(name), name) if is_number(name) else (1 << 30, name)
