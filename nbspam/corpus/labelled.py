"""What the user names as labelled mail -> a Source; recognised by what it is.

Hides the recognition.  A regular file is an index file.  A folder is a tree of mail folders (see
tree), or else each folder in it is a class.  All that can be said against a source is said here,
before the first message is read: no such path, no labels, no mail, one class only.
"""

from __future__ import annotations

import errno
import os
import stat

from nbspam.corpus.folders import UNREAD, is_maildir, messages, scan, walk
from nbspam.corpus.index import NAME_CLASSES, IndexPart
from nbspam.corpus.notes import Notes, Skipped
from nbspam.corpus.source import PassedBy, PathPart, Source, SourcePart
from nbspam.corpus.tree import BESIDE, class_of, is_tree, read_rules, tree_folders
from nbspam.errors import BadDataError, NbspamError, NoInputError, UsageError
from nbspam.labels import HAM, SPAM, checked_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Rules = list[tuple[str, str]]


def open_labelled(
    paths: Iterable[str] = (),
    *,
    ham: Iterable[str] = (),
    spam: Iterable[str] = (),
    classes: Mapping[str, Iterable[str]] | None = None,
    rules: str | None = None,
    skip_unread: bool = False,
    allow_one_class: bool = False,
) -> Source:
    """The labelled mail of all these: SOURCEs, and paths whose class is given.

    rules : a file that says which folders of a tree have which class (see tree)
    skip_unread : leave out what nobody has opened (see unread), but of spam, and of index files, nothing
    allow_one_class : as for adding to a model
    Raises a child of NbspamError if there is nothing to be learned from it.
    """
    paths = tuple(paths)
    parts: list[SourcePart] = []
    read = read_rules(rules) if rules else None
    used = False
    for path in paths:
        used |= stat.S_ISDIR(mode_of(path))
        parts += _recognised(path, read)
    if rules and not used:
        raise UsageError(
            rules, "rules are for a tree of mail folders, and none is given", "name one", "rules-unused"
        )
    for name, given in [(HAM, ham), (SPAM, spam), *(classes or {}).items()]:
        label = checked_name(name)
        parts += [PathPart(label, _mail(path)) for path in given]
    if not parts:
        raise UsageError("SOURCE", "no labelled mail is named", NAME_CLASSES, "no-source")
    if skip_unread:
        parts = [_opened(part) for part in parts]
    by_index = all(isinstance(part, IndexPart) for part in parts)
    source = Source(parts if by_index else _by_class(parts), by_index)
    _check(source, " ".join(paths) or "SOURCE", allow_one_class)
    return source


def _opened(part: SourcePart) -> SourcePart:
    """The part without its unread mail; nobody opens spam."""
    from nbspam.corpus.unread import OpenedPart  # brings re: 5 ms, and `classify` imports this file, too

    if isinstance(part, PathPart) and part.labels != (SPAM,):
        return OpenedPart(part.labels[0], part.path, part.deep)
    return part


def mode_of(path: str) -> int:
    """The kind of what is at `path`; NoInputError if there is nothing to be seen."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        raise NoInputError(path, "no such file or folder", "check the path", "no-such-source") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or str(error)
        raise NoInputError(path, why, "check the path and its permissions", "source-unreadable") from None


def _mail(path: str) -> str:
    """`path`, if there can be mail in it."""
    mode = mode_of(path)
    if stat.S_ISREG(mode):
        if os.stat(path).st_size == 0:
            raise NoInputError(
                path, "an empty file", "name a folder of mail, an mbox or a message", "source-empty"
            )
    elif not stat.S_ISDIR(mode):
        raise NoInputError(
            path, "neither a file nor a folder", "name mail in files or folders", "source-kind"
        )
    if not os.access(path, os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)):
        raise NoInputError(path, os.strerror(errno.EACCES), "check its permissions", "source-unreadable")
    return path


def _recognised(path: str, rules: Rules | None) -> list[SourcePart]:
    if not os.path.isdir(_mail(path)):
        return [IndexPart(path)]
    notes = Notes()
    folders, files = scan(path, notes)
    if not folders and not files and notes.skipped:
        raise NoInputError(path, notes.skipped[0][1], "check its permissions", "source-unreadable")
    if rules is not None or is_tree(path, folders, files):
        return _tree(path, rules or [])
    if is_maildir(folders):
        raise BadDataError(
            path, "one Maildir: nothing says which of its mail is spam", NAME_CLASSES, "unlabelled"
        )
    _, loose = messages(files, Notes())
    visible = sorted(name for name in folders if not name.startswith("."))
    if not visible and loose:
        raise BadDataError(
            path, "files without a class", f"{NAME_CLASSES}; or make folders ham and spam", "unlabelled"
        )
    parts: list[SourcePart] = []
    for name in visible:
        inner = os.path.join(path, name)
        parts.append(PathPart(checked_name(name, inner), inner))
    if not parts:
        raise NoInputError(
            path, "an empty folder", "put mail into folders ham and spam in it", "source-empty"
        )
    return [*parts, PassedBy(BESIDE, len(loose))]


def _tree(top: str, rules: Rules) -> list[SourcePart]:
    parts: list[SourcePart] = []
    notes = Notes()
    for name, path in tree_folders(top, notes):
        label = class_of(name, rules)
        if label:
            parts.append(PathPart(label, path, deep=False))
        else:
            parts.append(PassedBy(f"folder {name}", _number_of_files(path)))
    parts += [PassedBy(reason, count) for reason, count in notes.left_out.items()]
    parts += [PassedBy(reason, path=path) for path, reason in notes.skipped]
    if not any(part.labels for part in parts):
        raise NoInputError(
            top, "no mail folder in it", "name the folder that holds INBOX and Junk", "source-empty"
        )
    return parts


def _number_of_files(path: str) -> int:
    return sum(1 for _ in walk(path, Notes(), deep=False)) if os.path.isdir(path) else 1


def _by_class(parts: list[SourcePart]) -> list[SourcePart]:
    """Class by class, as far as a part has one class; index files and notes first, as given."""
    order = Source(parts).classes
    return sorted(parts, key=lambda part: order.index(part.labels[0]) if len(part.labels) == 1 else -1)


def _check(source: Source, where: str, allow_one_class: bool) -> None:
    """Every class has a message that can be read, and there are two classes at least."""
    found: set[str] = set()
    notes = Notes()
    for part in source.parts:
        if found.issuperset(part.labels):
            continue
        for item in part.items(notes):
            found.add(item.label)
            if found.issuperset(part.labels):
                break
    empty = [label for label in source.classes if label not in found]
    for label in empty:
        _refuse_unread(source, label, where)
    if not found:
        raise _nothing(source, where, notes)
    if len(source.classes) == 1 and not allow_one_class:
        raise BadDataError(where, f"one class only: {source.classes[0]}", NAME_CLASSES, "one-class")
    if empty:
        raise NoInputError(
            _place(source, empty[0], where),
            f"no messages of class {empty[0]}{_first_reason(_of_class(source, empty[0], notes.skipped))}",
            "put mail into it, or leave this class out",
            "class-empty",
        )


def _refuse_unread(source: Source, label: str, where: str) -> None:
    """Raises if a class of which no message was found has unread ones."""
    notes = Notes()
    for part in source.parts:
        if part.labels == (label,):
            next(part.items(notes), None)
    if UNREAD in notes.left_out:
        raise NoInputError(
            _place(source, label, where),
            f"nobody has opened a message of class {label}: {notes.left_out[UNREAD]:,} left out",
            "leave out --skip-unread, or read some of this mail first",
            "class-unread",
        )


def _place(source: Source, label: str, where: str) -> str:
    """The path of a class, if it has but one."""
    paths = [p.path for p in source.parts if isinstance(p, PathPart) and p.labels == (label,)]
    return paths[0] if len(paths) == 1 else where


def _nothing(source: Source, where: str, notes: Notes) -> NbspamError:
    slug = "index-paths" if source.ordered_by_index and notes.skipped else "source-empty"
    remedy = (
        "paths are relative to the index file" if slug == "index-paths" else "name a folder with mail in it"
    )
    return NoInputError(where, f"no messages in it{_first_reason(notes.skipped)}", remedy, slug)


def _of_class(source: Source, label: str, skipped: Skipped) -> Skipped:
    """What was skipped of a class that has no message; of all classes where that says nothing.

    An index names its messages one by one; in a folder that it names, nobody knows whose it is.
    """
    notes = Notes()
    for part in source.parts:
        if part.labels == (label,):
            next(part.items(notes), None)
        elif label in part.labels:
            paths = {path for one, path, _ in part.files(Notes()) if one == label}
            notes.skipped += [one for one in skipped if one[0] in paths]
    return notes.skipped or skipped


def _first_reason(skipped: Skipped) -> str:
    """The first of the things skipped, to show what kind of trouble it is."""
    if not skipped:
        return ""
    path, reason = skipped[0]
    return f"; {len(skipped)} skipped, the first {path}: {reason}"
