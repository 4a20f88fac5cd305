"""A tree of mail folders -> the class of each folder.

Hides what mail programs call their folders.  A tree is Maildir++ (`.Junk`, `.Lists.python` in a
Maildir), or any folder with an INBOX in it (mbsync, Dovecot with LAYOUT=fs, Thunderbird, MH).
Without rules: Junk and Spam are spam; Trash, Drafts, Sent, Templates and Outbox are left out; the
rest, INBOX too, is ham.  What holds for a folder holds for the folders in it.

Rules are lines `PATTERN CLASS`, or `PATTERN -` to leave a folder out; `#` begins a comment.  The
pattern is that of the shell (* ? [a-z]), case does not matter; it is held against the folder's name
without its leading dot (`INBOX`, `Lists.python`), and against those of the folders it is in.  The
first rule that matches wins; a folder that none matches has its class as without rules.
"""

from __future__ import annotations

import os

from nbspam.corpus.folders import MAILDIR_PARTS, enter, is_maildir, messages, scan
from nbspam.corpus.item import MAGIC_START, open_regular
from nbspam.corpus.mbox import begins_mbox
from nbspam.errors import BadDataError, NoInputError
from nbspam.labels import HAM, SPAM, checked_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbspam.corpus.notes import Notes

INBOX = "INBOX"
BESIDE = "beside the folders"
_SPAM_NAMES = frozenset(("spam", "junk", "junk e-mail", "junk email", "junk mail", "bulk mail"))
_NOT_RECEIVED = frozenset(
    ("trash", "drafts", "draft", "sent", "templates", "outbox", "deleted items", "deleted messages")
    + ("sent items", "sent messages", "sent mail", "sent-mail", "unsent messages")
)
_LEAVE_OUT = "-"


def is_tree(top: str, folders: list[str], files: list[str]) -> bool:
    """Whether a folder with these folders and files in it is a tree of mail folders."""
    if any(name.lower() == "inbox" for name in folders + files):
        return True
    return any(
        os.path.isdir(os.path.join(top, name, "cur"))
        for name in folders
        if name.startswith(".") or (is_maildir(folders) and name not in MAILDIR_PARTS)
    )


def tree_folders(top: str, notes: Notes) -> Iterator[tuple[str, str]]:
    """(name, path) of each mail folder of a tree; a folder's own folders come after it."""
    seen: set[tuple[int, int]] = set()
    pending = [("", top)]
    while pending:
        name, path = pending.pop()
        if not enter(path, seen, notes):
            continue
        folders, files = scan(path, notes)
        if is_maildir(folders):
            yield name or INBOX, path
            folders = [folder for folder in folders if folder not in MAILDIR_PARTS]
        else:
            yield from _files_as_folders(name, path, files, notes)
        pending += [(_child(name, child), os.path.join(path, child)) for child in _inner(path, folders)]


def _inner(path: str, folders: list[str]) -> list[str]:
    """Folders to look into, last first; hidden ones only where they are Maildirs."""
    kept = [n for n in folders if not n.startswith(".") or os.path.isdir(os.path.join(path, n, "cur"))]
    return sorted(kept, reverse=True)


def _child(name: str, child: str) -> str:
    return f"{name}/{child}" if name else child.removeprefix(".")


def _files_as_folders(name: str, path: str, files: list[str], notes: Notes) -> Iterator[tuple[str, str]]:
    """The mboxes in a folder are folders themselves; without any, its files are its messages."""
    _, files = messages(files, notes)
    paths = [os.path.join(path, file) for file in sorted(files)]
    mboxes = [path for path in paths if _is_mbox(path)]
    for mbox in mboxes:
        yield _child(name, os.path.basename(mbox)), mbox
    if not mboxes and paths and name:
        yield name, path
    elif len(paths) > len(mboxes):
        notes.leave_out(BESIDE, len(paths) - len(mboxes))


def _is_mbox(path: str) -> bool:
    try:
        descriptor, _ = open_regular(path)
    except OSError:
        return False
    try:
        head = os.read(descriptor, 1024)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return begins_mbox(head) or head.startswith(MAGIC_START)


def read_rules(path: str) -> list[tuple[str, str]]:
    """(pattern, class name or '') of a rules file."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as lines:
            return [rule for number, line in enumerate(lines, 1) for rule in _rule(line, f"{path}:{number}")]
    except OSError as error:
        raise NoInputError(
            path, error.strerror or str(error), "name a file of rules", "no-such-rules"
        ) from error


def _rule(line: str, where: str) -> list[tuple[str, str]]:
    words = line.strip().rsplit(None, 1)
    if not words or line.lstrip().startswith("#"):
        return []
    if len(words) != 2:
        raise BadDataError(
            where,
            f"{words[0][:40]!r} is not `PATTERN CLASS` or `PATTERN -`",
            "write for example: Lists.* ham",
            "rules-line",
        )
    pattern, name = words
    return [(pattern.removeprefix(".").lower(), "" if name == _LEAVE_OUT else checked_name(name, where))]


def class_of(name: str, rules: list[tuple[str, str]]) -> str:
    """The class of a mail folder, '' to leave it out."""
    from fnmatch import fnmatchcase  # brings re: 5 ms

    lowered = name.lower()
    ends = [at for at, char in enumerate(lowered) if char in "./"] + [len(lowered)]
    for pattern, label in rules:
        if any(lowered[:end] == pattern or fnmatchcase(lowered[:end], pattern) for end in ends):
            return label
    parts = lowered.replace("/", ".").split(".")
    if not _NOT_RECEIVED.isdisjoint(parts):
        return ""
    return HAM if _SPAM_NAMES.isdisjoint(parts) else SPAM
