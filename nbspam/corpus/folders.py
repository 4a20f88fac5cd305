"""One folder to the files of its messages, sorted, folder by folder.

Three layouts are known.  Maildir: `cur` and `new`; `tmp` is mail still being written, and a flag T or D is
mail that the user deleted or has not sent.  MH: numbers in numeric order; `,12` is deleted.  Or files in
folders, each of which may be an mbox; a file of a Maildir, or of an MH folder with .mh_sequences, never is.
A folder that is met again through a link is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from nbspam.corpus.folder_names import decode_name
from nbspam.corpus.item import Notes, not_regular, strip_flags
from nbspam.store.connection import file_identity

MAILDIR_PARTS = ("cur", "new", "tmp")
# Indexes that mail programs write next to mail, and deleted messages of MH.
_INDEX_STARTS = (".", ",", "dovecot.", "dovecot-", "cyrus.")
_INDEX_ENDS = (".msf", ".lock")
# Names in the top folder of source code, and never in a mail folder.
CODE_MARKS = (".git", ".hg", ".svn", "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "Makefile")
CODE = "source code of a program"
INBOX = "INBOX"
OUTSIDE = "in no class folder"

Seen = set[tuple[int, int] | str]  # device and inode of the folders of a walk


def walk(
    top: str, notes: Notes, deep: bool, skip_unread: bool, force: bool, seen: Seen
) -> Iterator[tuple[str, bool]]:
    """(path, True if it may be an mbox) of each message file.

    deep : go into the folders in it; False for a folder of a tree, whose other files are noted already
    skip_unread : leave out the messages of a Maildir that nobody has opened; other mail is read
    force : go into source code, too
    seen : the folders of this walk
    """
    if not enter(top, seen, notes):
        return
    files_notes = notes if deep else Notes()
    folders, files = scan(top, files_notes)
    if is_maildir(folders):
        for name in folders:
            if deep and name not in MAILDIR_PARTS and os.path.isdir(os.path.join(top, name, "cur")):
                notes.left_out["folder inside a Maildir"] += 1
        yield from ((path, False) for path in _maildir(top, folders, notes, skip_unread))
        return
    if not force and any(mark in folders or mark in files for mark in CODE_MARKS):
        notes.left_out[CODE] += 1
        return
    inner = {name for name in folders if deep and not name.startswith(".")}
    for name in sorted([*inner, *messages(files, files_notes)], key=_sort_key):
        path = os.path.join(top, name)
        if name in inner:
            yield from walk(path, notes, deep, skip_unread, force, seen)
        else:
            yield path, ".mh_sequences" not in files


def walk_tree(name: str, path: str, seen: Seen, notes: Notes) -> Iterator[tuple[str, str]]:
    """(name, path) of each mail folder of a tree, a folder before the folders in it."""
    if not enter(path, seen, notes):
        return
    folders, files = scan(path, notes)
    found = sorted(messages(files, notes))
    if is_maildir(folders):
        yield name or INBOX, path
    elif path.endswith(".sbd") or any(file.lower() == "inbox" for file in files):
        yield from ((_join_name(name, file), os.path.join(path, file)) for file in found)
    elif name and found:
        yield name, path
    elif found:
        notes.left_out[OUTSIDE] += len(found)
    for child in sorted(set(folders).difference(MAILDIR_PARTS if is_maildir(folders) else ())):
        inner = os.path.join(path, child)
        if not child.startswith(".") or os.path.isdir(os.path.join(inner, "cur")):
            yield from walk_tree(_join_name(name, child), inner, seen, notes)


def _join_name(name: str, child: str) -> str:
    child = decode_name(child)
    return f"{name}/{child}" if name else child.removeprefix(".")


def enter(path: str, seen: Seen, notes: Notes) -> bool:
    """True if a folder is met for the first time in this walk."""
    identity = file_identity(path) or path
    if identity in seen:
        notes.left_out["link back to a folder already read"] += 1
        return False
    seen.add(identity)
    return True


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
                        raise not_regular(entry.path)
                except OSError as error:
                    notes.skip(entry.path, error)
    except OSError as error:
        notes.skip(path, error)
    return folders, files


def is_maildir(folders: list[str]) -> bool:
    """True if these folders make a Maildir; empty ones may have been lost on the way (git, zip)."""
    return "cur" in folders or ("new" in folders and "tmp" in folders)


def _maildir(top: str, folders: list[str], notes: Notes, skip_unread: bool) -> Iterator[str]:
    """The messages of `cur`, then those of `new`.

    `new` is listed first: a message may move from there to `cur` at any time, and would be in neither.
    """
    new = _maildir_part(top, "new", notes, skip_unread) if "new" in folders else []
    cur = _maildir_part(top, "cur", notes, skip_unread) if "cur" in folders else []
    in_cur = set(map(strip_flags, cur))
    yield from (f"{top}/cur/{name}" for name in cur)
    for name in new:
        path = f"{top}/new/{name}"
        if strip_flags(name) not in in_cur or os.path.lexists(path):
            yield path


def _maildir_part(top: str, part: str, notes: Notes, skip_unread: bool) -> list[str]:
    found: list[str] = []
    for name in sorted(scan(os.path.join(top, part), notes)[1]):
        flags = name.partition(":2,")[2]
        if name.startswith(_INDEX_STARTS):
            continue
        if "T" in flags or "D" in flags:
            notes.left_out["trashed" if "T" in flags else "draft"] += 1
        elif skip_unread and (part == "new" or "S" not in flags):
            notes.left_out["unread"] += 1
        else:
            found.append(name)
    return found


def messages(names: list[str], notes: Notes) -> list[str]:
    """The names of the files in a folder that are mail."""
    is_mh = ".mh_sequences" in names
    found: list[str] = []
    for name in names:
        if name.startswith(_INDEX_STARTS) or name.endswith(_INDEX_ENDS):
            continue
        if is_mh and not _is_number(name):
            notes.left_out["no message of the MH folder"] += 1
        else:
            found.append(name)
    return found


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()


def _sort_key(name: str) -> tuple[int, str]:
    """Sorting key: whole numbers (MH) by size, then all other names."""
    return (len(name), name) if _is_number(name) else (1 << 30, name)
