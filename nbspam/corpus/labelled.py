"""Labelled mail as users name it, to a Source.

A SOURCE is recognised by what it is.  A regular file is an index file: lines `LABEL PATH`, whose order is
time.  A folder is a tree of mail folders (Maildir++, or with an INBOX in it), or else each folder in it is a
class; so is each folder at a URL.  In a tree with a file INBOX, as of Thunderbird, each file at the top or in
a folder `NAME.sbd` is a mail folder.  Whatever is wrong with a source is an error before the first message is
read.

The rules of a tree are lines `PATTERN CLASS`, or `PATTERN -` to leave a folder out; `#` begins a comment.
The pattern is that of the shell, in any case, for the folder's name without its leading dot (`INBOX`,
`Lists.python`) or that of a folder around it.  The first rule that matches wins.  Without one
nbspam.corpus.folder_names says what a folder is for; all others are ham.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import chain

from nbspam.corpus.folder_names import DOVECOT, JUNK, decoded, kind_of, smells_of_junk, special_uses
from nbspam.corpus.folders import (
    CODE,
    CODE_MARKS,
    MAILDIR_PARTS,
    UNREAD,
    Seen,
    enter,
    is_maildir,
    messages,
    scan,
)
from nbspam.corpus.item import HEAD_BYTES, Notes, Skipped, is_url, packed_as, reason_of
from nbspam.corpus.source import Source, SourcePart, index_entries, mode_of, unreadable
from nbspam.errors import BadDataError, NoInputError, UsageError
from nbspam.labels import HAM, SPAM, checked_name

NAME_CLASSES = "name each class: `ham=PATH` `spam=PATH`, or `class=NAME=PATH`"
INBOX = "INBOX"
OUTSIDE = "in no class folder"
PERHAPS_JUNK = "perhaps junk"

Rules = list[tuple[str, str]]  # pattern in small letters, class name or '' to leave out


def open_labelled(
    paths: Iterable[str] = (),
    *,
    ham: Iterable[str] = (),
    spam: Iterable[str] = (),
    classes: Mapping[str, Iterable[str]] | None = None,
    rules: str | None = None,
    skip_unread: bool = False,
    allow_one_class: bool = False,
    force: bool = False,
) -> Source:
    """The labelled mail of all these: SOURCEs, and paths whose class is given.

    rules : a file of rules for trees of mail folders
    skip_unread : leave out what nobody has opened in a Maildir, except spam and what an index file names
    allow_one_class : for adding to a model
    force : take what is no mail, such as programs and images, too
    A message in several of the paths counts once: in the innermost of them, else in the first.
    Raises a child of NbspamError if nothing can be learned from it.
    """
    paths = tuple(paths)
    notes = Notes()
    tree_rules = _read_rules(rules) if rules else None
    if not force:
        for path in (*paths, *ham, *spam, *chain.from_iterable((classes or {}).values())):
            _refuse_code(path)
    parts = [part for path in paths for part in _recognised(path, tree_rules, notes)]
    if rules and not any(map(os.path.isdir, paths)):
        why = "rules are for a tree of mail folders, but none is given"
        raise UsageError(rules, why, "name one", "rules-unused")
    for name, given in [(HAM, ham), (SPAM, spam), *(classes or {}).items()]:
        label = checked_name(name)
        parts += [SourcePart(_checked_path(path), (label,)) for path in given]
    parts = [part._replace(force=force) for part in _apart(parts)]
    if not parts:
        raise UsageError("SOURCE", "no labelled mail is named", NAME_CLASSES, "no-source")
    if skip_unread:
        parts = [p._replace(skip_unread=not p.is_index and p.labels != (SPAM,)) for p in parts]
    by_index = all(part.is_index for part in parts)
    source = Source(parts if by_index else _by_class(parts), notes, by_index)
    _check(source, " ".join(paths) or "SOURCE", allow_one_class)
    return source


def _apart(parts: list[SourcePart]) -> list[SourcePart]:
    """The parts, each without the paths in it that are named themselves."""
    places = [f"{os.path.realpath(part.path)}/" for part in parts]
    return [
        part._replace(
            without=tuple(
                inner
                for other, inner in enumerate(places)
                if (other < number if inner == outer else part.deep and inner.startswith(outer))
            )
        )
        for number, (outer, part) in enumerate(zip(places, parts, strict=True))
    ]


def _refuse_code(path: str) -> None:
    """Raise for a folder that holds the source code of a program."""
    marks = [mark for mark in sorted(CODE_MARKS) if os.path.lexists(os.path.join(path, mark))]
    if marks:
        why = f"holds {CODE}: {marks[0]} is in it"
        raise BadDataError(path, why, "name folders of mail; to read it all the same: `force`", "source-code")


def _checked_path(path: str) -> str:
    """`path`, if there can be mail in it."""
    if is_url(path):
        return path
    mode = mode_of(path)
    if stat.S_ISREG(mode):
        if os.path.getsize(path) == 0:
            remedy = "name a folder of mail, an mbox or a message"
            raise NoInputError(path, "an empty file", remedy, "source-empty")
    elif not stat.S_ISDIR(mode):
        remedy = "name a file or folder with mail"
        raise NoInputError(path, "neither a file nor a folder", remedy, "source-kind")
    if not os.access(path, os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)):
        raise unreadable(path, os.strerror(errno.EACCES))
    return path


def _unlabelled(path: str) -> BadDataError:
    remedy = f"{NAME_CLASSES}; or make folders ham and spam"
    return BadDataError(path, "nothing says which of its mail is spam", remedy, "unlabelled")


def _recognised(path: str, rules: Rules | None, notes: Notes) -> list[SourcePart]:
    """The parts of one SOURCE; files that are not mail are noted."""
    if is_url(path):
        from nbspam.corpus.urls import class_folders

        folders = class_folders(path)
        if not folders:
            raise _unlabelled(path)
        return [SourcePart(folder, (_class_named(folder),)) for folder in folders]
    if not os.path.isdir(_checked_path(path)):
        if _begins_as_mail(path):
            raise _unlabelled(path)
        labels = tuple(dict.fromkeys(label for label, _ in index_entries(path)))
        return [SourcePart(path, labels, is_index=True)]
    folders, files = scan(path, Notes())
    if rules is not None or _is_tree(path, folders, files):
        return _tree(path, rules or [], notes)
    loose = messages(files, Notes())
    visible = sorted(name for name in folders if not name.startswith("."))
    if is_maildir(folders) or (loose and not visible):
        raise _unlabelled(path)
    if not visible:
        remedy = "put mail into folders ham and spam in it"
        raise NoInputError(path, "an empty folder", remedy, "source-empty")
    if loose:
        notes.leave_out(OUTSIDE, len(loose))
    return [SourcePart(place, (_class_named(place),)) for place in (f"{path}/{name}" for name in visible)]


def _class_named(folder: str) -> str:
    """The class of the mail in a folder of classes: its name, or spam if that is one of junk."""
    name = os.path.basename(folder)
    return SPAM if kind_of(decoded(name), {}) == JUNK else checked_name(name, folder)


def _by_class(parts: list[SourcePart]) -> list[SourcePart]:
    """Class by class, as far as a part has one class; index files first."""
    order = Source(parts).classes
    return sorted(parts, key=lambda part: order.index(part.labels[0]) if len(part.labels) == 1 else -1)


def _check(source: Source, where: str, allow_one_class: bool) -> None:
    """Raises unless every class has a message that can be read, and there are two classes."""
    empty = {label: notes for label in source.classes if (notes := _notes_if_empty(source, label))}
    for label, notes in empty.items():
        if UNREAD in notes.left_out:
            why = f"nobody has opened a message of class {label}: {notes.left_out[UNREAD]:,} left out"
            remedy = "leave out `skip_unread`, or read some of this mail first"
            raise NoInputError(_place(source, label, where), why, remedy, "class-unread")
    if len(empty) == len(source.classes):
        skipped = [one for notes in empty.values() for one in notes.skipped]
        remedy, slug = "name a folder with mail in it", "source-empty"
        if source.ordered_by_index and skipped:
            remedy, slug = "paths are relative to the index file", "index-paths"
        raise NoInputError(where, f"no messages in it{_first_reason(skipped)}", remedy, slug)
    if len(source.classes) == 1 and not allow_one_class:
        raise BadDataError(where, f"one class only: {source.classes[0]}", NAME_CLASSES, "one-class")
    for label, notes in empty.items():
        why = f"no messages of class {label}{_first_reason(notes.skipped)}"
        remedy = "put mail into it, or leave this class out"
        raise NoInputError(_place(source, label, where), why, remedy, "class-empty")


def _notes_if_empty(source: Source, label: str) -> Notes | None:
    """What was passed over in a class without a message that can be read; None if there is one."""
    notes = Notes()
    for part in (one for one in source.parts if label in one.labels):
        files = (file for file in part.files(notes) if file.label == label)
        for item in chain.from_iterable(file.items(notes) for file in files):
            try:
                item.read(1)
            except OSError as error:
                notes.skip(item.name, error)
            else:
                return None
    return notes


def _place(source: Source, label: str, where: str) -> str:
    """The path of a class, if it has only one."""
    paths = [part.path for part in source.parts if not part.is_index and part.labels == (label,)]
    return paths[0] if len(paths) == 1 else where


def _first_reason(skipped: Skipped) -> str:
    return f"; {len(skipped)} skipped, the first {': '.join(skipped[0])}" if skipped else ""


def _begins_as_mail(path: str) -> bool:
    """True for mail in the place of an index file."""
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    first = head.split(None, 1)[0] if head.strip() else b""
    return bool(packed_as(head)) or first == b"From" or first.endswith(b":") or b"\0" in head


def _is_tree(top: str, folders: list[str], files: list[str]) -> bool:
    """True if a folder with these folders and files in it is a tree of mail folders."""
    if any(name.lower() == "inbox" for name in folders + files):
        return True
    inner = [name for name in folders if name.startswith(".") or is_maildir(folders)]
    return any(os.path.isdir(os.path.join(top, name, "cur")) for name in inner)


def _tree(top: str, rules: Rules, notes: Notes) -> list[SourcePart]:
    parts: list[SourcePart] = []
    special = special_uses(DOVECOT)
    for name, path in tree_folders("", top, set(), notes):
        label, why = _class_of(name, rules, special)
        part = SourcePart(path, (label,) if label else (), deep=False, name=name)
        if label:
            parts.append(part)
        elif count := part.message_counts(Notes()).total():
            if why == PERHAPS_JUNK:
                remedy = f"say what it is by a line in `rules=FILE`: {name} spam (or ham; - leaves it out)"
                raise BadDataError(
                    path, "the name looks like junk, but nbspam does not know it", remedy, "folder-unclear"
                )
            notes.leave_out(f"folder {name} ({why})", count)
    if not parts:
        remedy = "name the folder that holds INBOX and Junk"
        raise NoInputError(top, "no mail folder in it", remedy, "source-empty")
    return parts


def tree_folders(name: str, path: str, seen: Seen, notes: Notes) -> Iterator[tuple[str, str]]:
    """(name, path) of each mail folder of a tree, a folder before the folders in it."""
    if not enter(path, seen, notes):
        return
    folders, files = scan(path, notes)
    found = sorted(messages(files, notes))
    if is_maildir(folders):
        yield name or INBOX, path
    elif path.endswith(".sbd") or any(file.lower() == "inbox" for file in files):
        yield from ((_child(name, file), os.path.join(path, file)) for file in found)
    elif name and found:
        yield name, path
    elif found:
        notes.leave_out(OUTSIDE, len(found))
    for child in sorted(set(folders).difference(MAILDIR_PARTS if is_maildir(folders) else ())):
        inner = os.path.join(path, child)
        if not child.startswith(".") or os.path.isdir(os.path.join(inner, "cur")):
            yield from tree_folders(_child(name, child), inner, seen, notes)


def _child(name: str, child: str) -> str:
    child = decoded(child)
    return f"{name}/{child}" if name else child.removeprefix(".")


def _class_of(name: str, rules: Rules, special: dict[str, str]) -> tuple[str, str]:
    """The class of a mail folder, or '' and why it is left out.  special : of special_uses()"""
    lowered = name.lower()
    ends = [at for at, char in enumerate(lowered) if char in "./"] + [len(lowered)]
    for pattern, label in rules:
        if any(lowered[:end] == pattern or fnmatchcase(lowered[:end], pattern) for end in ends):
            return label, "by a rule"
    if kind := kind_of(name, special):
        return (SPAM, "") if kind == JUNK else ("", kind)
    return ("", PERHAPS_JUNK) if smells_of_junk(name) else (HAM, "")


def _read_rules(path: str) -> Rules:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as lines:
            return [rule for number, line in enumerate(lines, 1) for rule in _rule(line, f"{path}:{number}")]
    except OSError as error:
        raise NoInputError(path, reason_of(error), "name a file of rules", "no-such-rules") from error


def _rule(line: str, where: str) -> Rules:
    words = line.strip().rsplit(None, 1)
    if not words or line.lstrip().startswith("#"):
        return []
    if len(words) != 2:
        why = f"{words[0][:40]!r} is not `PATTERN CLASS` or `PATTERN -`"
        raise BadDataError(where, why, "write for example: Lists.* ham", "rules-line")
    pattern, name = words
    return [(pattern.removeprefix(".").lower(), "" if name == "-" else checked_name(name, where))]
