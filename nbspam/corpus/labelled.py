"""Labelled mail as users name it, to a Source.

A SOURCE is recognised by what it is.  A regular file is an mbox of Gmail's Takeout, or an index file: lines
`LABEL PATH`, whose order is time.  A folder is a tree of mail folders (see nbspam.corpus.trees), or else each
folder in it is a class; so is each folder at a URL.  Whatever is wrong with a source is an error before the
first message is read.
"""

import errno
import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain

from nbspam.corpus import walk
from nbspam.corpus.folder_names import GUID, JUNK, UNCLEAR, decode_name, recognise
from nbspam.corpus.item import class_folders, detect_packing, is_url, read_index, unreadable
from nbspam.corpus.no_mail import CYRUS, ENCRYPTED, EXPORTS, GUIDS
from nbspam.corpus.source import Source, stat_mode
from nbspam.corpus.trees import RULED, Rules, choose_class, is_tree, read_rules, walk_tree
from nbspam.errors import BadDataError, NoInputError, UsageError
from nbspam.labels import HAM, SPAM, parse_class_name

NAME_CLASSES = "name each class: `ham=PATH` `spam=PATH`, or `class=NAME=PATH`"


def open_labelled(
    paths: Collection[str] = (),
    *,
    ham: Collection[str | bytes] = (),
    spam: Collection[str | bytes] = (),
    classes: Mapping[str, Collection[str | bytes]] | None = None,
    rules: str | None = None,
    skip_unread: bool = False,
    allow_one_class: bool = False,
) -> Source:
    """The labelled mail of all these: SOURCEs, and paths and messages (bytes) whose class is given.

    rules : a file of rules for trees of mail folders
    skip_unread : leave out what nobody has opened in a Maildir, except spam and what an index file names
    allow_one_class : for adding to a model
    A message in several of the paths counts once: in the innermost of them, else in the first.
    Raises a child of NbspamError if nothing can be learned from it.
    """
    given = [(HAM, ham), (SPAM, spam), *(classes or {}).items()]
    named = [(name, [one for one in mail if isinstance(one, str)]) for name, mail in given]
    for path in [*paths, *chain.from_iterable(places for _, places in named)]:
        _check_path(path)
    notes = walk.Notes()
    _check_named(named)
    tree_rules = read_rules(rules) if rules else None
    parts = [part for path in paths for part in _recognise(path, tree_rules, notes)]
    if rules and not any(map(os.path.isdir, paths)):
        why = "rules are for a tree of mail folders, but none is given"
        raise UsageError(rules, why, "name one", "rules-unused")
    parts += [walk.SourcePart(path, (parse_class_name(name),)) for name, places in named for path in places]
    held = [(name, [one for one in mail if isinstance(one, bytes)]) for name, mail in given]
    in_memory = [walk.SourcePart("", (parse_class_name(name),), messages=mail) for name, mail in held if mail]
    if not parts and not in_memory:
        raise UsageError("SOURCE", "no labelled mail is named", NAME_CLASSES, "no-source")
    parts = [*(part._replace(only_mail=True) for part in _separate(parts)), *in_memory]
    if skip_unread:
        parts = [part._replace(skip_unread=not part.is_index and part.labels != (SPAM,)) for part in parts]
    by_index = all(part.is_index for part in parts)
    if not by_index:  # class by class, as far as a part has one class; index files first
        order = Source(parts).classes
        parts.sort(key=lambda part: order.index(part.labels[0]) if len(part.labels) == 1 else -1)
    source = Source(parts, notes, by_index)
    _check(source, " ".join(paths) or "SOURCE", allow_one_class)
    return source


def open_unsorted(paths: Sequence[str]) -> Source:
    """The mail at these paths that somebody can label: of a tree without trash, drafts and the like."""
    parts: list[walk.SourcePart] = []
    notes = walk.Notes()
    for path in paths:
        if not (os.path.isdir(path) and is_tree(path)):
            stat_mode(path)  # NoInputError without it
            parts.append(walk.SourcePart(path))
            continue
        for folder in walk_tree(path, notes):
            if folder.kind in ("", JUNK, UNCLEAR):
                parts.append(walk.SourcePart(folder.path, deep=False, name=folder.name, tree=path))
            else:
                notes.left_out[f"folder {folder.name} ({folder.kind})"] += 1
    return Source(parts, notes)


def _separate(parts: list[walk.SourcePart]) -> list[walk.SourcePart]:
    """The parts, each without the paths in it that are named themselves."""
    places = [f"{os.path.realpath(part.path)}/" for part in parts]
    inner: dict[str, set[str]] = {place: set() for place in places}
    for place in inner:
        for around in accumulate(f"{name}/" for name in place.split("/")[:-2]):
            inner.get(around, set()).add(place)
    before: set[str] = set()
    separated: list[walk.SourcePart] = []
    for place, part in zip(places, parts, strict=True):
        named_before = before & {place} if not part.by_labels else set()
        before.add(place)
        separated.append(part._replace(without=(*(inner[place] if part.deep else ()), *named_before)))
    return separated


def _check_path(path: str) -> None:
    """Raise unless there can be mail at the path."""
    if is_url(path):
        return
    mode, remedy = stat_mode(path), "name a folder of mail, an mbox or a message"
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise NoInputError(path, "neither a file nor a folder", remedy, "source-kind")
    if stat.S_ISREG(mode) and os.path.getsize(path) == 0:
        raise NoInputError(path, "an empty file", remedy, "source-empty")
    if not os.access(path, os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)):
        raise unreadable(path, os.strerror(errno.EACCES))
    if stat.S_ISREG(mode) and (reason := walk.look_at_file(path, walk.Notes())):
        _check_store(path, [reason])
        if reason.startswith("packed"):
            raise BadDataError(path, reason, "unpack it, and name the folder", "source-packed")


def _check_named(named: Sequence[tuple[str, Collection[str]]]) -> None:
    """Raises if a path is named twice, or lies in one that is named for another class."""
    places = [(f"{os.path.realpath(path)}/", name, path) for name, paths in named for path in paths]
    for number, (place, name, path) in enumerate(places):
        for other, other_name, other_path in places[:number]:
            is_inside = place.startswith(other) or other.startswith(place)
            if place == other or (is_inside and name != other_name):
                why = f"names the same mail as {other_name}={other_path}"
                raise UsageError(path, why, "name each path for one class", "same-mail", option=name)


def _recognise(path: str, rules: Rules | None, notes: walk.Notes) -> list[walk.SourcePart]:
    """The parts of one SOURCE; files that are not mail are noted."""
    if is_url(path):
        folders = class_folders(path)
    elif os.path.isdir(path):
        if rules is not None or is_tree(path):
            return _open_tree(path, rules or [], notes)
        inner, files = walk.list_folder(path, notes, path)
        folders = _find_class_folders(path, inner, files, notes)
    elif walk.look_at_file(path, walk.Notes()) == walk.GMAIL:
        return _split_by_labels(walk.SourcePart(path))
    elif _is_mail(path):
        folders = []
    else:
        labels = tuple(dict.fromkeys(label for label, _ in read_index(path)))
        return [walk.SourcePart(path, labels, is_index=True)]
    if not folders:
        _check_store(path, notes.left_out)
        remedy = f"{NAME_CLASSES}; or make folders ham and spam"
        raise BadDataError(path, "nothing says which of its mail is spam", remedy, "unlabelled")
    return [walk.SourcePart(folder, (_name_class(folder),), tree=path) for folder in folders]


def _find_class_folders(path: str, inner: list[str], files: list[str], notes: walk.Notes) -> list[str]:
    """The paths of the folders in a folder, one a class; messages outside them are noted.

    inner, files : names of the folders and files in it
    """
    file_notes = walk.Notes()
    loose = walk.choose_messages(files, file_notes)
    notes.left_out += Counter({why: n for why, n in file_notes.left_out.items() if why in EXPORTS})
    if not inner and not loose:
        remedy = "put mail into folders ham and spam in it"
        raise NoInputError(path, "an empty folder", remedy, "source-empty")
    for name in loose:
        reason = walk.look_at_file(f"{path}/{name}", walk.Notes())
        notes.left_out[reason if reason in EXPORTS else walk.OUTSIDE] += 1
    if walk.is_maildir(inner):
        return []
    return [f"{path}/{name}" for name in sorted(inner) if not name.startswith(".")]


def _name_class(folder: str) -> str:
    """The class of the mail in a folder of classes: its name, or spam if that is one of junk."""
    name = os.path.basename(folder)
    return SPAM if recognise(decode_name(name)) == JUNK else parse_class_name(name, folder)


def _check(source: Source, where: str, allow_one_class: bool) -> None:
    """Raises unless every class has a message that can be read, and there are two classes."""
    searched = {label: _search_class(source, label) for label in source.classes}
    empty = {label: notes for label, (notes, has_message) in searched.items() if not has_message}
    is_single = len(source.classes) == 1 and not allow_one_class
    passed_over = [source.notes, *(notes for notes, _ in searched.values())]
    if is_single or len(empty) == len(searched) or any(CYRUS in notes.left_out for notes in passed_over):
        for notes in passed_over:
            _check_store(where, notes.left_out)
    if len(empty) == len(searched):
        reasons = next(map(_list_reasons, empty.values()), "")
        remedy = "name a folder with mail in it; paths in an index file are relative to it"
        if any(ENCRYPTED in notes.left_out for notes in empty.values()):
            remedy = f"decrypt it: {EXPORTS[ENCRYPTED]}"
        slug = "index-paths" if source.ordered_by_index and reasons else "source-empty"
        raise NoInputError(where, f"no messages in it{reasons}", remedy, slug)
    if is_single:
        remedy = NAME_CLASSES
        if any(part.name for part in source.parts):
            remedy = f"say which folder is spam by a line in `rules=FILE`: FOLDER spam; or {remedy}"
        why = f"one class only: {source.classes[0]}{_list_reasons(source.notes, 'packed')}"
        raise BadDataError(where, why, remedy, "one-class")
    for label, notes in empty.items():
        place = next(part.path for part in source.parts if label in part.labels)
        why, remedy = f"no messages of class {label}", "put mail into it, or leave this class out"
        slug = "class-unread" if walk.UNSEEN in notes.left_out else "class-empty"
        raise NoInputError(place, why + _list_reasons(notes), remedy, slug)


def _list_reasons(notes: walk.Notes, start: str = "") -> str:
    """Why there are no messages.  start : of the reasons to leave files out that count"""
    left_out = [(why, count) for why, count in notes.left_out.items() if why.startswith(start)]
    reasons = "".join(f"; {count:,} left out ({why})" for why, count in left_out)
    skipped = [": ".join(pair) for pair in notes.skipped]
    return reasons + (f"; {len(skipped)} skipped, the first {skipped[0]}" if skipped else "")


def _search_class(source: Source, label: str) -> tuple[walk.Notes, bool]:
    """What was passed over in a class up to its first message that can be read, and whether there is one."""
    notes = walk.Notes()
    parts = [part for part in source.parts if label in part.labels]
    for part in chain(parts, (part for part in source.parts if part.by_marks and part not in parts)):
        files = (file for file in part.files(notes) if file.label == label or file.by_marks)
        for item in chain.from_iterable(file.items(notes) for file in files):
            if item.label != label:
                continue
            try:
                item.read(1)
            except OSError as error:
                notes.skip(item.name, error)
            else:
                return notes, True
    return notes, False


def _is_mail(path: str) -> bool:
    """True if the file is mail, not an index."""
    with open(path, "rb") as file:
        head = file.read(1024)
    first = head.split(None, 1)[0] if head.strip() else b""
    return bool(detect_packing(head)) or first == b"From" or first.endswith(b":") or b"\0" in head


def _split_by_labels(part: walk.SourcePart) -> list[walk.SourcePart]:
    """The ham and the spam of an mbox of Gmail."""
    return [part._replace(labels=(label,), by_labels=True) for label in (HAM, SPAM)]


def _check_store(where: str, reasons: Iterable[str]) -> None:
    """Raises if one of the reasons is a store that nbspam does not read, with what exports it."""
    for reason in reasons:
        if reason in EXPORTS and reason != ENCRYPTED:
            raise BadDataError(where, reason, EXPORTS[reason], "store-foreign")


def _open_tree(top: str, rules: Rules, notes: walk.Notes) -> list[walk.SourcePart]:
    """The parts of a tree; the folders that are left out are noted."""
    parts: list[walk.SourcePart] = []
    folders = list(walk_tree(top, notes))
    for rule in rules:
        if not any(choose_class(folder, [rule])[1] == RULED for folder in folders):
            notes.left_out[f"rule {rule[0]} (it matches no folder)"] += 1
    for folder in folders:
        label, why = choose_class(folder, rules)
        part = walk.SourcePart(folder.path, (label,) if label else (), deep=False, name=folder.name, tree=top)
        part = part._replace(by_marks=bool(label) and not (why or folder.by_labels))
        if label and folder.by_labels and not why:
            parts += _split_by_labels(part)
        elif label:
            parts.append(part)
        elif count := sum(1 for _ in part.items(notes)):
            if why == UNCLEAR:
                _check_store(folder.path, [GUIDS] if re.search(f"{GUID}$", folder.path) else [])
                why = "the name looks like junk, but nbspam does not know whether it is"
                line = f"{folder.name} spam (or ham; - leaves it out)"
                remedy = f"say what it is by a line in `rules=FILE`: {line}"
                raise BadDataError(folder.path, why, remedy, "folder-unclear")
            notes.left_out[f"folder {folder.name} ({why})"] += count
    if not parts:
        _check_store(top, notes.left_out)
        remedy = "name the folder that holds INBOX and Junk"
        raise NoInputError(top, f"no mail folder in it{_list_reasons(notes)}", remedy, "source-empty")
    return _add_marked(parts)


def _add_marked(parts: list[walk.SourcePart]) -> list[walk.SourcePart]:
    """The parts; a class without a folder is of the first part in which mail is marked so."""
    for label in {HAM, SPAM}.difference(*(part.labels for part in parts)):
        for number, part in enumerate(parts):
            if part.by_marks and any(item.label == label for item in part.items(walk.Notes())):
                parts[number] = part._replace(labels=(*part.labels, label))
                break
    return parts
