"""Trees of mail folders: the folders in one, and the class of each by its name or by rules.

The rules are lines `PATTERN CLASS`, or `PATTERN -` to leave a folder out; `#` begins a comment.  The pattern
is that of the shell, in any case, for the folder's name without its leading dot (`INBOX`, `Lists.python`) or
that of a folder around it.  The first rule that matches wins.  Without one nbspam.corpus.folder_names says
what a folder is for; all others are ham.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from nbspam.corpus import folder_names, marks, walk
from nbspam.corpus.folder_names import COPIES, JUNK, ROLES, TRASH, decode_name, find_kind, is_inbox, recognise
from nbspam.corpus.item import describe_error, read_lines
from nbspam.errors import BadDataError, NoInputError
from nbspam.labels import HAM, SPAM, parse_class_name

_ENDINGS = re.compile(r"(\.(sbd|mbox|mbx|imapmbox|gz|bz2|xz|directory))+$", re.IGNORECASE)
# Of folders that only mail programs make, and files in them: Gnus, Evolution, Sylpheed, Claws Mail.
_MARKS = (".sbd", ".mbox", ".imapmbox", ".directory", ".nnmaildir")
_FILE_MARKS = (".overview", "cmeta", ".sylpheed_cache", ".sylpheed_mark", ".claws_cache", ".claws_mark")
_GNUS_LIST = "active"  # of the groups of Gnus, which keeps all mail that it has sorted for some days in:
_INCOMING = re.compile(r"Incoming\w{6,}")
_MESSAGE_NAME = re.compile(r"\d+\.?|.*\.emlx?", re.IGNORECASE)
_SAMPLE = 20  # files that tell a folder of messages

Rules = list[tuple[str, str]]  # pattern in small letters, class name or '' to leave out
RULED = "by a rule"  # why a folder has its class


class MailFolder(NamedTuple):
    """A mail folder of a tree.

    name : for people and rules, parts between `/`, without the endings of a program
    kind : what its name says, see recognise of nbspam.corpus.folder_names
    by_labels : an mbox of Gmail, whose messages say their class
    """

    name: str
    path: str
    kind: str
    by_labels: bool = False


def is_tree(top: str) -> bool:
    """True if a folder is a tree of mail folders: not of folders of messages, one a class.

    A tree has a name like Inbox or Sent, a mark of a mail program, mboxes in it, or folders in folders that
    are Maildirs or mboxes.
    """
    return _is_tree(top, top, 0, set())


def _is_tree(top: str, path: str, depth: int, visited: walk.Visited) -> bool:
    if not walk.enter(path, visited, walk.Notes()):
        return False
    folders, files = walk.list_folder(path, walk.Notes(), top)
    names = [clean_name(name) for name in [*folders, *(file for file in files if not file[:1].isdigit())]]
    if any(is_inbox(name) or find_kind(name) in ROLES for name in names):
        return True
    if any(_is_mark(path, name) for name in folders):
        return True
    if not depth and {HAM, SPAM} <= {name.lower() for name in folders}:
        return False
    if any(name.endswith(_FILE_MARKS) if depth else name == _GNUS_LIST for name in files):
        return True
    if depth and any(find_kind(clean_name(name)) == JUNK for name in folders):
        return True  # the folders of an account
    if walk.is_maildir(folders):
        inner = set(folders).difference(walk.MAILDIR_PARTS)
        if not depth and not marks.LISTS.isdisjoint([*folders, *files]):
            return True  # its marks say what is spam
        return depth > 1 or any(os.path.isdir(os.path.join(path, name, "cur")) for name in inner)
    sample = sorted(walk.choose_messages(files, walk.Notes()))[:_SAMPLE]
    kinds = [walk.look_at_file(os.path.join(path, name), walk.Notes()) for name in sample]
    if walk.GMAIL in kinds or (walk.MBOX in kinds and depth != 1):
        return True
    if walk.MBOX in kinds and depth and any(find_kind(clean_name(name)) == JUNK for name in sample):
        return True
    visible = [name for name in folders if not name.startswith(".")]
    if depth and "" in kinds:
        return False  # a folder of messages
    return any(_is_tree(top, os.path.join(path, name), depth + 1, visited) for name in visible)


def _is_mark(path: str, name: str) -> bool:
    """True if the folder `name` in `path` is one as only mail programs make."""
    is_hidden = name.startswith(".") and os.path.isdir(os.path.join(path, name, "cur"))
    return is_hidden or name.lower().endswith(_MARKS) or bool(re.fullmatch(folder_names.GUID, name))


def clean_name(name: str) -> str:
    """The name of a folder as people read it, from that on the disk."""
    return _ENDINGS.sub("", unicodedata.normalize("NFC", decode_name(name))).removeprefix(".")


def walk_tree(top: str, notes: walk.Notes) -> Iterator[MailFolder]:
    """Each mail folder of a tree, a folder before the folders in it."""
    return _walk(top, "", "", top, set(), notes)


def _walk(
    top: str, name: str, around: str, path: str, visited: walk.Visited, notes: walk.Notes
) -> Iterator[MailFolder]:
    """As walk_tree, of the folder `name` in `top`.

    around : names of the folders around it that say what it is for
    """
    if not walk.enter(path, visited, notes):
        return
    folders, files = walk.list_folder(path, notes, top)
    own_name = clean_name(os.path.basename(path)) if name else ""
    inner = sorted(child for child in folders if _is_entered(path, child, folders))
    is_store = any(walk.is_apple_store(path, child) for child in folders)
    if walk.is_maildir(folders):
        if any(child.startswith(".") for child in inner) and not find_kind(own_name):
            around, own_name = _keep_trash(around), ""  # the name of an account
        around = _join(around, own_name)
        walk.note_files(files, notes)
        yield MailFolder(name or "INBOX", path, recognise(around))
    elif is_store and name:
        around = _join(around, own_name)
        yield MailFolder(name, path, recognise(around))
    else:
        if any(is_inbox(clean_name(child)) for child in [*inner, *files]):
            around, own_name = _keep_trash(around), ""
        in_folder = _join(around, own_name)
        if not any(char in own_name for char in ".@"):  # the name of a server says nothing
            around = in_folder
        yield from _list_mailboxes(name, around, in_folder, path, files, notes)
    for child in inner:
        full_name = _join(name, clean_name(child))
        yield from _walk(top, full_name, around, os.path.join(path, child), visited, notes)


def _is_entered(path: str, name: str, folders: list[str]) -> bool:
    """True for a folder, in `path`, that may hold mail folders."""
    if name.startswith("."):
        return name.endswith(".directory") or _holds_maildirs(os.path.join(path, name))
    return not (walk.is_apple_store(path, name) or (name in walk.MAILDIR_PARTS and walk.is_maildir(folders)))


def _holds_maildirs(path: str) -> bool:
    """True if a folder is a Maildir, or has one in it, or is closed: the walk names what it cannot open."""
    if not os.access(path, os.R_OK | os.X_OK):
        return True
    inner = [path, *(os.path.join(path, name) for name in walk.list_folder(path, walk.Notes(), path)[0])]
    return any(os.path.isdir(f"{folder}/{part}") for folder in inner for part in ("cur", "new"))


def _list_mailboxes(
    name: str, around: str, in_folder: str, path: str, files: list[str], notes: walk.Notes
) -> Iterator[MailFolder]:
    """The mail folders that the files in a folder make: each mbox is one, or all are messages of the folder.

    around : what the folder says of mail folders in it;  in_folder : of its own messages
    """
    mail_files = sorted(walk.choose_messages(files, notes))
    file_notes = walk.Notes()
    kinds = {
        file: "" if _MESSAGE_NAME.fullmatch(file) else walk.look_at_file(f"{path}/{file}", file_notes)
        for file in mail_files
    }
    mboxes = [file for file, kind in kinds.items() if kind in (walk.MBOX, walk.GMAIL)]
    messages = [file for file, kind in kinds.items() if kind == ""]
    if name and ("mbox" in mboxes or len(messages) > len(mboxes)):
        yield MailFolder(name, path, recognise(in_folder))
        return
    notes.add(file_notes)
    for file in mboxes:
        child = clean_name(file)
        kind = "" if kinds[file] == walk.GMAIL else recognise(_join(around, child))
        kind = COPIES if _GNUS_LIST in files and _INCOMING.fullmatch(file) else kind
        yield MailFolder(_join(name, child), os.path.join(path, file), kind, kinds[file] == walk.GMAIL)
    for reason, number in Counter(kinds.values()).items():
        if reason not in (walk.MBOX, walk.GMAIL, None):
            notes.left_out[reason or walk.OUTSIDE] += number


def _keep_trash(around: str) -> str:
    """What is said of an account by the folders around it: that it is trash, or nothing."""
    return around if recognise(around) == TRASH else ""


def _join(name: str, child: str) -> str:
    return f"{name}/{child}" if name and child else name or child


def choose_class(folder: MailFolder, rules: Rules) -> tuple[str, str]:
    """The class of a mail folder, or '' and why it is left out."""
    lowered = folder.name.lower()
    ends = [at for at, char in enumerate(lowered) if char in "./"] + [len(lowered)]
    for pattern, label in rules:
        if any(lowered[:end] == pattern or fnmatchcase(lowered[:end], pattern) for end in ends):
            return label, RULED
    return {"": (HAM, ""), JUNK: (SPAM, "")}.get(folder.kind, ("", folder.kind))


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
