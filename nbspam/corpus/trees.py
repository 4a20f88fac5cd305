"""Trees of mail folders: the folders in one, and the class of each by its name or by rules.

The rules are lines `PATTERN CLASS`, or `PATTERN -` to leave a folder out; `#` begins a comment.  The pattern
is that of the shell, in any case, for the folder's name without its leading dot (`INBOX`, `Lists.python`) or
that of a folder around it.  The first rule that matches wins.  Without one nbspam.corpus.folder_names says
what a folder is for; all others are ham.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase

from nbspam.corpus.folder_names import JUNK, decode_name, recognise
from nbspam.corpus.index import read_lines
from nbspam.corpus.item import describe_error
from nbspam.corpus.walk import (
    MAILDIR_PARTS,
    OUTSIDE,
    Notes,
    Visited,
    choose_messages,
    enter,
    is_maildir,
    list_folder,
)
from nbspam.errors import BadDataError, NoInputError
from nbspam.labels import HAM, SPAM, parse_class_name

INBOX = "INBOX"

Rules = list[tuple[str, str]]  # pattern in small letters, class name or '' to leave out


def is_tree(top: str, folders: list[str], files: list[str]) -> bool:
    """True if a folder with these folders and files in it is a tree of mail folders."""
    if any(name.lower() == "inbox" for name in folders + files):
        return True
    inner = [name for name in folders if name.startswith(".") or is_maildir(folders)]
    return any(os.path.isdir(os.path.join(top, name, "cur")) for name in inner)


def walk_tree(name: str, path: str, visited: Visited, notes: Notes) -> Iterator[tuple[str, str]]:
    """(name, path) of each mail folder of a tree, a folder before the folders in it."""
    if not enter(path, visited, notes):
        return
    folders, files = list_folder(path, notes)
    found = sorted(choose_messages(files, notes))
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
            yield from walk_tree(_join_name(name, child), inner, visited, notes)


def _join_name(name: str, child: str) -> str:
    child = decode_name(child)
    return f"{name}/{child}" if name else child.removeprefix(".")


def choose_class(name: str, rules: Rules) -> tuple[str, str]:
    """The class of a mail folder, or '' and why it is left out."""
    lowered = name.lower()
    ends = [at for at, char in enumerate(lowered) if char in "./"] + [len(lowered)]
    for pattern, label in rules:
        if any(lowered[:end] == pattern or fnmatchcase(lowered[:end], pattern) for end in ends):
            return label, "by a rule"
    kind = recognise(name)
    return {"": (HAM, ""), JUNK: (SPAM, "")}.get(kind, ("", kind))


def read_rules(path: str) -> Rules:
    """The rules in a file."""
    try:
        lines = list(read_lines(path))
    except OSError as error:
        raise NoInputError(path, describe_error(error), "name a file of rules", "no-such-rules") from error
    rules: Rules = []
    for where, line in lines:
        words = line.rsplit(None, 1)
        if len(words) != 2:
            why = f"{words[0][:40]!r} is not `PATTERN CLASS` or `PATTERN -`"
            raise BadDataError(where, why, "write for example: Lists.* ham", "rules-line")
        pattern, name = words
        label = "" if name == "-" else parse_class_name(name, where)
        rules.append((pattern.removeprefix(".").lower(), label))
    return rules
