"""The one walk from paths to messages: which files are messages, and why others are left out.

Every command takes this walk: training, evaluation, label, sync, and learn and classify of folders.

Three layouts of folders are known.  Maildir: `cur` and `new`; `tmp` is mail still being written, and a flag T
or D is mail that the user deleted or has not sent.  MH: numbers in numeric order; `,12` is deleted.  Or files
in folders, each of which may be an mbox; a file of a Maildir, or of an MH folder with .mh_sequences, never
is.  A folder that is met again through a link is left out, and so is a link that leads out of the folder that
was named: mail is read only where the user said.  nbspam.corpus.no_mail says what a file is.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

from nbspam.corpus import marks, no_mail
from nbspam.corpus.folder_names import JUNK
from nbspam.corpus.item import (
    Item,
    Skipped,
    Span,
    describe_error,
    detect_packing,
    is_url,
    list_files,
    not_regular,
    open_message,
    read_flags,
    read_index,
    strip_flags,
    unpack,
)
from nbspam.corpus.mbox import begins_mbox, count_unsplit, find_only_message, split_messages, unquote
from nbspam.labels import HAM, SPAM
from nbspam.limits import MAX_READ_BYTES
from nbspam.store.connection import file_identity

# Why mail, or what is not mail, is left out; more reasons are in nbspam.corpus.no_mail.
NO_MH_MESSAGE = "no message of the MH folder"
UNSEEN = "unread"
NESTED = "folder inside a Maildir"
LINKED = "link back to a folder already read"
OUT_OF_TREE = "link to a place outside of the folder"
OUTSIDE = "in no class folder"
NAMED_TWICE = "named twice"
BACKUP = "backup copy of an editor"

MBOX, GMAIL = "mbox", "mbox with labels of Gmail"
MAILDIR_PARTS = ("cur", "new", "tmp")
# Of Thunderbird, Claws Mail, and Evolution for accounts.
_UNREAD_INDEXES = (".msf", ".claws_mark", marks.EVOLUTION_INDEX)
_CYRUS_FILES = ("cyrus.header", "cyrus.index")
# Folders below NAME.mbox that hold the messages of that mailbox of Apple Mail.
_APPLE_STORE = re.compile(r"mbox(/[0-9A-F][0-9A-F-]{7,})?(/Data(/\d)*)?(/Messages)?")
_CACHE_FOLDER = re.compile("[0-9a-f]{2}")  # evolution-data-server src/camel/camel-data-cache.c
_STATE_BYTES = 1 << 12  # of a message: programs write its state first
_CHUNK_BYTES = 1 << 16
_KEPT_BYTES = 1 << 14  # of a message that waits to be read: of larger ones many would fill the memory
_HIDDEN = (".", ",")
MAX_DEPTH = 500  # folders in folders, from the root: a walk has a frame of Python for each
_READ_PACKINGS = ("gz", "bz2", "xz")  # what is in them tells what a file is
_UNSPLIT = "several messages in one: their lines From do not follow an empty line"
_OTHER_CLASS = "in another class"
_TAKEOUT = re.compile(rb"From \d+@xxx ")  # a message may have no label
_LABELS = re.compile(rb"^X-Gmail-Labels:.*(\n[ \t].*)*", re.MULTILINE)
_COPY = "copy in the mailbox of another label of Gmail"

Visited = set[tuple[int, int] | str]  # device and inode of the folders of a walk


class Notes:
    """What a walk passed over.

    skipped : path and reason of what could not be read, in the order met
    left_out : how many messages, files or folders were left out on purpose, by reason
    named : the files that index files name
    seen : what messages of Gmail begin with, hashed: each is in the mailboxes of all its labels
    """

    def __init__(self) -> None:
        self.skipped: Skipped = []
        self.left_out: Counter[str] = Counter()
        self.named: set[tuple[int, int] | str] = set()
        self.seen: set[int] = set()

    def skip(self, path: str, error: OSError) -> None:
        """Note that `path` could not be read."""
        self.skipped.append((path, describe_error(error)))

    def add(self, other: Notes) -> None:
        """Take over what another walk passed over."""
        self.skipped += other.skipped
        self.left_out += other.left_out


class MailFile(NamedTuple):
    """A file of one message or, if it may be an mbox, of several.

    label : canonical class name, '' where unlabelled
    only_mail : leave it out if it is no mail
    may_be_text : text without a header is mail, too
    by_labels : of an mbox only the messages that the labels of Gmail put into the class
    by_marks : a message that the reader has marked as junk, or as ham, has that class
    data : the bytes of a message in memory, which is no file
    span : the place of the only message of an mbox, where that is known
    """

    label: str
    path: str
    may_be_mbox: bool = True
    only_mail: bool = False
    may_be_text: bool = False
    by_labels: bool = False
    by_marks: bool = False
    data: bytes | None = None
    span: Span | None = None

    def items(self, notes: Notes) -> Iterator[Item]:
        """Its messages, streaming; what cannot be read is noted.

        A single message is called by its path, others path#1, path#2, ...
        """
        if not self.may_be_mbox and not self.only_mail:
            yield self._make_item()
            return
        try:
            with _open_unpacked(self.path, self.only_mail) as (stream, head, is_packed):
                is_mbox = begins_mbox(head)
                file = self
                if self.only_mail and not is_mbox:
                    reason, label = self._explain(head, stream)
                    if reason:
                        notes.left_out[reason] += 1
                        return
                    file = self._replace(label=label)
                is_held = is_packed or is_url(self.path) or not stream.seekable()
                if self.may_be_mbox and is_mbox:
                    yield from self._split(head, stream, notes, is_held)
                elif self.may_be_mbox and count_unsplit(head) > 1:
                    raise OSError(errno.EINVAL, _UNSPLIT)
                elif is_held:
                    yield file._make_item()._replace(data=head + stream.read(MAX_READ_BYTES - len(head)))
                else:
                    yield file._make_item(head)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not self.may_be_mbox:
                yield self._make_item()  # of a Maildir that changes: whoever reads it looks for it again
            else:
                notes.skip(self.path, error)

    def _make_item(self, head: bytes = b"") -> Item:
        """The only message of the file, with its bytes if they are few, so that they are not read twice.

        head : what the file begins with, if that was read
        """
        is_whole = 0 < len(head) <= _KEPT_BYTES and not head[:1].isdigit()  # as .emlx
        return Item(self.path, self.label, self.path, self.span, self.data, head if is_whole else None)

    def _explain(self, head: bytes, file: BinaryIO) -> tuple[str, str]:
        """Why a file that is no mbox is no mail to learn from, or '', and its class.

        head : what it begins with
        """
        reason = no_mail.explain_no_mail(head, self.may_be_text)
        if reason or self.may_be_text:
            return reason, self.label
        if self.path.endswith(".emlx"):
            flags = no_mail.read_emlx_flags(file, head)
            reason, words = no_mail.explain_emlx(flags), marks.read_bits(flags, marks.EMLX_BITS)
        else:
            reason = no_mail.explain_state(no_mail.read_notes(head[:_STATE_BYTES]), in_mbox=False)
            words = marks.read_mozilla_words(head)
        return (reason, self.label) if reason else self._choose_class(words)

    def _choose_class(self, words: set[str]) -> tuple[str, str]:
        """Why a message with these words is left out, or '', and its class."""
        if not self.by_marks:
            return "", self.label
        label = marks.choose_class(self.label, words)
        return "" if label else marks.OWN_JUNK, label

    def _split(self, head: bytes, stream: BinaryIO, notes: Notes, is_held: bool) -> Iterator[Item]:
        """The messages of an mbox of which `head` has been read.

        is_held : the stream cannot be read twice, so the items carry their bytes
        """
        only = find_only_message(head) if len(head) < _CHUNK_BYTES else None
        if only:
            data = head[slice(*only)]
            reason, item = self._judge(data, Span(*only), is_held, notes.seen)
            if not is_held and len(head) <= _KEPT_BYTES:
                item = item._replace(small=unquote(data))
            judged = iter([(reason, item)])
        else:
            chunks = chain((head,), iter(lambda: stream.read(_CHUNK_BYTES), b""))
            judged = self._mbox_items(chunks, is_held, notes.seen)
        first = [*islice(judged, 2)]
        for number, (reason, item) in enumerate(chain(first, judged), 1):
            named = item._replace(name=f"{self.path}#{number}") if len(first) > 1 else item
            if reason == _UNSPLIT:
                notes.skipped.append((named.name, reason))
            elif reason and reason != _OTHER_CLASS:
                notes.left_out[reason] += 1
            elif not reason:
                yield named

    def _mbox_items(
        self, chunks: Iterable[bytes], is_held: bool, seen: set[int]
    ) -> Iterator[tuple[str, Item]]:
        """Each message, and why it is left out, or ''."""
        start, data, n_unsplit = -1, bytearray(), 0
        limit = MAX_READ_BYTES if is_held else _STATE_BYTES
        for offset, piece, is_last in split_messages(chunks):
            start = offset if start < 0 else start
            data += piece[: max(0, limit - len(data))]
            n_unsplit += count_unsplit(piece)
            if is_last:
                yield self._judge(bytes(data), Span(start, offset + len(piece)), is_held, seen, n_unsplit)
                start, n_unsplit = -1, 0
                data.clear()

    def _judge(
        self, data: bytes, span: Span, is_held: bool, seen: set[int], n_unsplit: int = 0
    ) -> tuple[str, Item]:
        """Why a message of an mbox is left out, or '', and the message.

        data : what it begins with
        seen : see Notes
        """
        reason, label = _UNSPLIT if n_unsplit else self._leave_out(data[:_STATE_BYTES]), self.label
        if not reason:
            reason, label = self._choose_class(marks.read_mozilla_words(data[:_STATE_BYTES]))
        if self.by_labels and not reason:
            reason = _COPY if (start := hash(_LABELS.sub(b"", data[:_STATE_BYTES]))) in seen else ""
            seen.add(start)
        return reason, Item(self.path, label, self.path, span, unquote(data) if is_held else None)

    def _leave_out(self, head: bytes) -> str:
        """Why a message of an mbox is left out, or ''."""
        if self.may_be_text:
            return ""
        notes = no_mail.read_notes(head)
        if (reason := no_mail.explain_state(notes, in_mbox=True)) or not self.by_labels:
            return reason
        role = no_mail.find_role(notes.get("x-gmail-labels", ""))
        if role in ("", JUNK):
            return "" if (role == JUNK) == (self.label == SPAM) else _OTHER_CLASS
        return f"labelled by Gmail ({role})" if self.label == HAM else _OTHER_CLASS

    def examine(self, notes: Notes) -> tuple[MailFile | None, Counter[str]]:
        """The file as it is read later, None if it is passed over, and its number of messages by class.

        A file at a URL counts as one.  What cannot be read of an mbox is noted when it is read, what is left
        out of it now.
        """
        if is_url(self.path) or not (self.may_be_mbox or self.only_mail):
            return self, Counter([self.label])
        file_notes, counts, item = Notes(), Counter[str](), self._make_item()
        file_notes.seen = notes.seen
        for item in self.items(file_notes):
            counts[item.label] += 1
        if item.name != self.path or item.data is not None or (item.span and self.by_labels):
            notes.left_out += file_notes.left_out
            return self, counts
        notes.add(file_notes)
        known = MailFile(item.label, self.path, False, span=item.span)
        return known if counts else None, counts


class SourcePart(NamedTuple):
    """The mail of one file or folder, or of an index file.

    labels : the classes that it has: one, none if unlabelled, or those of the index file
    deep : go into the folders in a folder; False for a folder of a tree, whose other files are noted already
    skip_unread : leave out the messages of Maildirs that nobody has opened
    name : of a folder of a tree, for people
    without : paths in it that are named themselves, each with its links resolved and a slash at its end
    only_mail : leave out files that are no mail, also one that is named itself
    by_labels : of an mbox of Gmail, see MailFile
    by_marks : see MailFile
    tree : links are followed inside this folder; by default inside the path
    messages : in memory; then there is no path
    """

    path: str
    labels: tuple[str, ...] = ()
    deep: bool = True
    skip_unread: bool = False
    is_index: bool = False
    name: str = ""
    without: tuple[str, ...] = ()
    only_mail: bool = False
    by_labels: bool = False
    by_marks: bool = False
    tree: str = ""
    messages: Sequence[bytes] = ()

    def items(self, notes: Notes) -> Iterator[Item]:
        """The messages, in order."""
        for file in self.files(notes):
            yield from file.items(notes)

    def files(self, notes: Notes) -> Iterator[MailFile]:
        """The files of the messages, in order."""
        label = self.labels[0] if self.labels else ""
        for number, data in enumerate(self.messages, 1):
            yield MailFile(label, f"message {number:,} of {label}", may_be_mbox=False, data=data)
        keywords = marks.Keywords(self.path) if self.by_marks else None
        entries = read_index(self.path) if self.is_index else [(label, self.path)] if self.path else []
        for label, path in entries:
            for file, may_be_mbox in self._find(path, notes):
                if self._is_named_twice(file, notes):
                    notes.left_out[NAMED_TWICE] += 1
                    continue
                only_mail = self.only_mail or file != path
                kinds = self.is_index, self.by_labels, self.by_marks
                mail_file = MailFile(label, file, may_be_mbox, only_mail, *kinds)
                words = keywords.find(os.path.basename(file)) if keywords and not may_be_mbox else set()
                reason, own_label = mail_file._choose_class(words)
                if reason:
                    notes.left_out[reason] += 1
                else:
                    yield mail_file._replace(label=own_label)
        if keywords:
            note_unread(keywords, notes, self.tree or self.path)

    def _is_named_twice(self, file: str, notes: Notes) -> bool:
        """True for a file in a path of `without`, and for one that an index file has named before."""
        if self.without and f"{os.path.realpath(file)}/".startswith(self.without):
            return True
        if not self.is_index and not notes.named:
            return False
        identity = file_identity(file) or file
        if identity in notes.named:
            return True
        if self.is_index:
            notes.named.add(identity)
        return False

    def _find(self, path: str, notes: Notes) -> Iterator[tuple[str, bool]]:
        """(path, True if it may be an mbox) of each file at a path."""
        if is_url(path):
            return ((url, True) for url in list_files(path))
        if os.path.isdir(path):
            return self._walk(path, notes, set())
        return iter([(path, True)])

    def _walk(self, top: str, notes: Notes, visited: Visited) -> Iterator[tuple[str, bool]]:
        """As _find, of a folder.  visited : the folders of this walk"""
        if not enter(top, visited, notes):
            return
        files_notes = notes if self.deep else Notes()
        folders, files = list_folder(top, files_notes, self.tree or self.path)
        if is_maildir(folders):
            note_files(files, files_notes)
            for name in folders:
                if self.deep and name not in MAILDIR_PARTS and os.path.isdir(os.path.join(top, name, "cur")):
                    notes.left_out[NESTED] += 1
            yield from ((path, False) for path in self._walk_maildir(top, folders, notes))
            return
        inner = {name for name in folders if self._enters(top, name, folders)}
        may_be_mbox = ".mh_sequences" not in files
        for name in sorted([*inner, *choose_messages(files, files_notes)], key=_sort_key):
            path = os.path.join(top, name)
            if name in inner:
                yield from self._walk(path, notes, visited)
            else:
                yield path, may_be_mbox

    def _enters(self, top: str, name: str, folders: list[str]) -> bool:
        """True for a folder of folders, in `top`, that is walked."""
        if not self.deep:
            return is_apple_store(top, name)
        return not name.startswith(".") and not (name == "Attachments" and "Messages" in folders)

    def _walk_maildir(self, top: str, folders: list[str], notes: Notes) -> Iterator[str]:
        """The messages of `cur`, then those of `new`.

        `new` is listed first: a message may move from there to `cur` at any time, and would be in neither.
        """
        new = self._list_received(top, "new", notes) if "new" in folders else []
        cur = self._list_received(top, "cur", notes) if "cur" in folders else []
        in_cur = set(map(strip_flags, cur))
        yield from (f"{top}/cur/{name}" for name in cur)
        for name in new:
            path = f"{top}/new/{name}"
            if strip_flags(name) not in in_cur or os.path.lexists(path):
                yield path

    def _list_received(self, top: str, part: str, notes: Notes) -> list[str]:
        """The messages in a part of a Maildir, without trash and drafts, sorted."""
        names: list[str] = []
        for name in sorted(list_maildir_part(top, part, notes, self.tree or self.path)):
            flags = read_flags(name)
            if "T" in flags or "D" in flags:
                notes.left_out[no_mail.DELETED if "T" in flags else no_mail.DRAFT] += 1
            elif self.skip_unread and (part == "new" or "S" not in flags):
                notes.left_out[UNSEEN] += 1
            else:
                names.append(name)
        return names


@contextmanager
def _open_unpacked(path: str, only_mail: bool = True) -> Iterator[tuple[BinaryIO, bytes, bool]]:
    """The contents of a file, what they begin with, and True if it was packed.

    only_mail : leave a file as it is that is packed in a way that nbspam does not read; else an OSError
    """
    with open_message(path) as file:
        head = file.read(_CHUNK_BYTES)
        kind = detect_packing(head) if file.seekable() else ""
        if not kind or (only_mail and kind not in _READ_PACKINGS):
            yield file, head, False
            return
        file.seek(0)
        with unpack(file, kind) as stream:
            yield stream, stream.read(_CHUNK_BYTES), True


def look_at_file(path: str, notes: Notes) -> str | None:
    """What a file is: MBOX, GMAIL for one of Google's Takeout, '' for a message, else why it is no mail.

    None if it cannot be read, which is noted.
    """
    try:
        with _open_unpacked(path) as (_, head, _):
            if not begins_mbox(head):
                return no_mail.explain_no_mail(head)
            has_labels = _TAKEOUT.match(head) or b"\nX-Gmail-Labels:" in head[:_STATE_BYTES]
            return GMAIL if has_labels else MBOX
    except OSError as error:
        notes.skip(path, error)
        return None


def enter(path: str, visited: Visited, notes: Notes) -> bool:
    """True if a folder is met for the first time in this walk, and is not too deep."""
    if path.count(os.sep) > MAX_DEPTH:
        notes.skip(path, OSError(errno.ELOOP, f"more than {MAX_DEPTH} folders in folders"))
        return False
    identity = file_identity(path) or path
    if identity in visited:
        notes.left_out[LINKED] += 1
        return False
    visited.add(identity)
    return True


def list_folder(path: str, notes: Notes, tree: str) -> tuple[list[str], list[str]]:
    """Names of the folders and of the regular files in a folder; all else is noted as skipped.

    tree : a folder; links that lead out of it are left out
    """
    inside = os.path.join(os.path.realpath(tree), "")
    folders: list[str] = []
    files: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    if entry.is_symlink() and not f"{os.path.realpath(entry.path)}/".startswith(inside):
                        notes.left_out[OUT_OF_TREE] += 1
                    elif entry.is_file():
                        files.append(entry.name)
                    elif entry.name.endswith(".mozmsgs"):  # Thunderbird's copies, for a search
                        notes.left_out[no_mail.NO_MAIL] += 1
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


def is_apple_store(top: str, name: str) -> bool:
    """True if the folder `name` in `top` holds messages of the mailbox of Apple Mail around it."""
    place, _, inside = f"{top}/{name}".rpartition("mbox/")
    if not place or not _APPLE_STORE.fullmatch(f"mbox/{inside}"):
        return False
    return "/" in inside or name == "Messages" or os.path.isdir(os.path.join(top, name, "Data"))


def list_maildir_part(top: str, part: str, notes: Notes, tree: str) -> list[str]:
    """The names of the messages in `cur` or `new`, in any state.  tree : see list_folder

    The cache of Evolution has them in folders there: `0a/123`.
    """
    folders, files = list_folder(os.path.join(top, part), notes, tree)
    for folder in folders:
        if _CACHE_FOLDER.fullmatch(folder):
            cached = list_folder(os.path.join(top, part, folder), notes, tree)[1]
            files += [f"{folder}/{name}" for name in cached]
        else:
            notes.left_out[NESTED] += 1
    names: list[str] = []
    for name in files:
        if name.startswith(_HIDDEN) or name.startswith(("dovecot", "cyrus")):
            notes.left_out[no_mail.NO_MAIL] += 1
        else:
            names.append(name)
    return names


def choose_messages(names: list[str], notes: Notes) -> list[str]:
    """The names of the files in a folder, which is no Maildir, that may be mail."""
    is_mh = ".mh_sequences" in names
    is_cyrus = any(name in _CYRUS_FILES for name in names)
    chosen: list[str] = []
    for name in names:
        if name.startswith(",") and _is_number(name[1:]):
            notes.left_out[no_mail.DELETED] += 1
        elif name.endswith(".metadata.json"):
            notes.left_out[no_mail.PROTON] += 1
        elif name.endswith(_UNREAD_INDEXES):
            notes.left_out[f"{marks.MARKS_UNREAD}: index of Thunderbird, Claws Mail or Evolution"] += 1
        elif name.endswith(("~", "#")):
            notes.left_out[BACKUP] += 1
        elif name.startswith(_HIDDEN) or name.endswith(".lock"):
            notes.left_out[no_mail.NO_MAIL] += 1
        elif is_cyrus:
            notes.left_out[no_mail.CYRUS] += 1
        elif is_mh and not _is_number(name):
            notes.left_out[NO_MH_MESSAGE] += 1
        else:
            chosen.append(name)
    return chosen


def note_files(names: list[str], notes: Notes) -> None:
    """Note the files next to the parts of a Maildir."""
    is_read = marks.EVOLUTION_INDEX in names
    others = choose_messages([name for name in names if name != marks.EVOLUTION_INDEX], notes)
    if n_others := len(others) + is_read:
        notes.left_out[no_mail.NO_MAIL] += n_others


def note_unread(keywords: marks.Keywords, notes: Notes, tree: str) -> None:
    """Note the files of words in `tree` that did not say what the messages of a Maildir are marked as."""
    for place in keywords.unread:
        notes.left_out[f"{marks.MARKS_UNREAD}: {os.path.relpath(place, tree)}"] = 1


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()


def _sort_key(name: str) -> tuple[int, str]:
    """Sorting key: whole numbers (MH) by size, then all other names."""
    return (len(name), name) if _is_number(name) else (1 << 30, name)
