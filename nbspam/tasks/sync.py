"""Learn from where mail lies, and from what its reader did with it.

Mail in a folder of junk is spam.  Other mail is ham once it is read, answered or kept for some days.  Trash,
sent mail, drafts and unread mail say nothing.  Mail that leaves a folder of junk is ham at once.  The same
rules serve a tree of Maildirs, which is here, and an IMAP account (nbspam.imap).

The model knows what it has learned, so a message that is looked at again changes nothing.  The memory only
saves that work, and knows a message again that moves to another folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import NamedTuple, Protocol

from nbspam.corpus.folder_names import DOVECOT, JUNK, decode_name, recognise, special_uses
from nbspam.corpus.folders import is_maildir, scan, walk_tree
from nbspam.corpus.item import Item, Notes, strip_flags
from nbspam.errors import BadDataError, NoInputError, TryAgainError
from nbspam.files import whole_file
from nbspam.labels import HAM, SPAM
from nbspam.learning.learn import learn_messages, split_batches
from nbspam.mail.limits import MAX_READ_BYTES
from nbspam.store.updater import Origin

MAX_FILED = 10_000  # messages that are known again when they move
DAY_SECONDS = 86_400
WOULD_LEARN = "would be learned"

SEEN, ANSWERED, DELETED, DRAFT = "\\seen", "\\answered", "\\deleted", "\\draft"
DELIVERED = "new"  # of a Maildir: no program has seen it yet
JUNK_WORDS, HAM_WORDS = {"$junk", "junk"}, {"$notjunk", "notjunk", "nonjunk"}
_MAILDIR_FLAGS = {"S": SEEN, "R": ANSWERED, "T": DELETED, "D": DRAFT}

# What the state of a message says; HAM and SPAM are two more.
NOTHING = "nothing"
UNREAD = "unread"
MARKED = "marked"  # as junk, in another folder
UNREAD_JUNK = "unread junk"

Uid = int | str  # of a message in its folder: a number of IMAP, or the name of a file
LearnedMail = tuple[str, str, str]  # (result as of learning.learn or WOULD_LEARN, class, place)


class Mail(NamedTuple):
    """The state of a message.  flags : in small letters, also keywords"""

    uid: Uid
    flags: frozenset[str]
    age_days: float
    size_bytes: int


class Mailbox(Protocol):
    """Folders of mail."""

    def folders(self) -> dict[str, str]:
        """Each folder and its kind: as recognise of nbspam.corpus.folder_names."""

    def open(self, name: str) -> tuple[int, list[Mail]]:
        """A number that changes when the folder numbers its messages anew, and the states of its messages."""

    def fetch(self, uids: Sequence[Uid]) -> dict[Uid, bytes]:
        """Messages of the folder that was opened last, without those that have gone."""

    def mark(self, uids: Sequence[Uid], label: str) -> bool:
        """Set the keyword of a class; False if the folder keeps no keywords."""


@dataclass
class Known:
    """What is remembered of a folder.

    states  : state -> the messages that were in it
    scanned : the last message that was judged
    copied  : the messages that are being copied, and the first number that a copy can have
    """

    validity: int
    states: dict[str, list[Uid]] = field(default_factory=dict)
    scanned: int = 0
    copied: tuple[Sequence[Uid], int] = ((), 0)


class Memory:
    """What is remembered of an account between two runs: a JSON file, for one program at a time.

    filed : identity of a message -> the place where it was last known as spam
    """

    def __init__(self, path: str, is_kept: bool = True) -> None:
        """is_kept : False to leave the file as it is."""
        self._path, self._is_kept = path, is_kept
        self._lock = os.open(path + ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            self.filed: dict[str, str] = dict(stored["filed"])
            self.folders = {name: Known(**known) for name, known in stored["folders"].items()}
        except BlockingIOError:
            why = "another nbspam is at work on this mail"
            raise TryAgainError(path, why, "wait until it has finished", "sync-busy") from None
        except FileNotFoundError:
            self.filed, self.folders = {}, {}
        except (ValueError, KeyError, TypeError, AttributeError):
            why = "is not a file in which nbspam remembers mail"
            raise BadDataError(path, why, "remove it: the model stays as it is", "sync-memory") from None

    def close(self) -> None:
        """Let other programs in."""
        os.close(self._lock)

    def folder(self, name: str, validity: int) -> Known:
        """What is known of a folder; nothing if it has numbered its messages anew."""
        if name not in self.folders or self.folders[name].validity != validity:
            self.folders[name] = Known(validity)
            for identity, place in self.filed.items():
                if place.rpartition("/")[0] == name:
                    self.filed[identity] = ""  # somewhere: it must not look as if it had moved
        return self.folders[name]

    def file(self, identity: str, place: str) -> None:
        """Remember a message that is spam, as the latest."""
        self.filed.pop(identity, None)
        self.filed[identity] = place

    def save(self) -> None:
        """Write the file, whole or not at all."""
        if self._is_kept:
            filed = dict(list(self.filed.items())[-MAX_FILED:])
            stored = {"filed": filed, "folders": {name: asdict(one) for name, one in self.folders.items()}}
            with whole_file(self._path) as file:
                file.write(json.dumps(stored).encode())


def identify(data: bytes) -> str:
    """The same for a message wherever it lies, also with the field that mbsync adds."""
    return blake2b(re.sub(rb"(?m)^X-TUID: .*\n", b"", data, count=1), digest_size=8).hexdigest()


def name_place(folder: str, uid: Uid) -> str:
    """Where a message lies, for people and for the memory."""
    return f"{folder}/{uid}"


def find_state(kind: str, mail: Mail, keep_days: float) -> str:
    """What the state of a message says.  kind : of its folder"""
    if kind not in ("", JUNK) or mail.flags & {DELETED, DRAFT}:
        return NOTHING
    is_kept = bool(mail.flags & {SEEN, ANSWERED}) or mail.age_days >= keep_days
    if kind == JUNK:
        # What was delivered into it is the verdict of a filter, until somebody looks.
        return SPAM if is_kept else NOTHING if DELIVERED in mail.flags else UNREAD_JUNK
    if mail.flags & HAM_WORDS:
        return HAM
    if mail.flags & JUNK_WORDS:
        return MARKED
    return HAM if is_kept else UNREAD


def choose_label(state: str, is_filed: bool, has_moved: bool) -> str:
    """The class that a message teaches, or ''.

    is_filed  : nbspam called it spam before, so unread junk and a mark may be its own verdict
    has_moved : it has left the place where it was filed
    """
    if state in (HAM, SPAM):
        return state
    if has_moved and state in (MARKED, UNREAD):
        return HAM
    return SPAM if state in (MARKED, UNREAD_JUNK) and not is_filed else ""


class Learning:
    """One run that learns from the folders of a mailbox.

    source    : before the name of each folder, for the ledger
    keep_days : after which unread mail counts as seen
    is_dry    : only say what would be learned
    """

    def __init__(
        self, model: str, box: Mailbox, memory: Memory, source: str, keep_days: float, is_dry: bool
    ) -> None:
        self._model, self._box, self._memory = model, box, memory
        self._source, self._keep_days, self._is_dry = source, keep_days, is_dry
        self._origin = Origin(source)  # one for all folders: the ledger shows one command
        self._present: set[str] = set()  # the places of all messages seen so far

    def run(self) -> Iterator[LearnedMail]:
        """Learn each message whose state has changed since the last time, folders of junk first."""
        folders = self._box.folders()
        for name in sorted(folders, key=lambda name: (folders[name] != JUNK, name != "INBOX", name)):
            if folders[name] in ("", JUNK):
                yield from self._learn_folder(name, folders[name])
        self._memory.save()

    def _learn_folder(self, folder: str, kind: str) -> Iterator[LearnedMail]:
        is_new = folder not in self._memory.folders
        validity, mails = self._box.open(folder)
        known = self._memory.folder(folder, validity)
        self._present.update(name_place(folder, mail.uid) for mail in mails)
        states = {mail.uid: find_state(kind, mail, self._keep_days) for mail in mails}
        changed = _find_changed(known, mails, states, is_new)
        for batch in split_batches(changed, lambda mail: min(mail.size_bytes, MAX_READ_BYTES)):
            lessons: dict[str, dict[Uid, bytes]] = {HAM: {}, SPAM: {}, "": {}}
            for uid, data in self._box.fetch([mail.uid for mail in batch]).items():
                label = self._label(data, kind, states[uid], name_place(folder, uid))
                lessons[label][uid] = data
                # The mark of ham will say so the next time.
                known.states.setdefault(HAM if label == HAM else states[uid], []).append(uid)
            for label in (HAM, SPAM):
                yield from self._learn_as(label, folder, lessons[label])
            self._memory.save()

    def _label(self, data: bytes, kind: str, state: str, place: str) -> str:
        """The class that a message teaches, or ''; the memory then knows where spam lies."""
        identity = identify(data)
        filed = self._memory.filed.get(identity)
        label = choose_label(state, filed is not None, bool(filed) and filed not in self._present)
        if kind == JUNK:
            self._memory.file(identity, place)
        elif label == HAM:
            self._memory.filed.pop(identity, None)
        return label

    def _learn_as(self, label: str, folder: str, mails: dict[Uid, bytes]) -> Iterator[LearnedMail]:
        results = [WOULD_LEARN] * len(mails)
        if mails and not self._is_dry:
            self._origin.source = self._source + folder
            results = learn_messages(
                self._model, label, [("", data) for data in mails.values()], self._origin
            )
            self._box.mark(list(mails), label)
        for uid, result in zip(mails, results, strict=True):
            yield result, label, name_place(folder, uid)


def _find_changed(known: Known, mails: list[Mail], states: Mapping[Uid, str], is_new: bool) -> list[Mail]:
    """The messages to look at; the others are known as they are now.

    Unread mail can only teach if it has come out of junk since the last time.
    """
    before = {uid: state for state, uids in known.states.items() for uid in uids}
    known.states = {}
    todo = []
    for mail in mails:
        state = states[mail.uid]
        if before.get(mail.uid) == state or state == NOTHING or (is_new and state == UNREAD):
            known.states.setdefault(state, []).append(mail.uid)
        else:
            todo.append(mail)
    return todo


class Maildirs:
    """Trees of Maildirs on the disk; a folder has the name of its path."""

    def __init__(self, tops: Sequence[str]) -> None:
        """NoInputError if there is no Maildir in one of these folders."""
        self._kinds: dict[str, str] = {}
        self._paths: dict[Uid, str] = {}
        special = special_uses(DOVECOT)
        for top in map(os.path.realpath, tops):
            found = [(name, path) for name, path in walk_tree("", top, set(), Notes()) if _is_box(path)]
            if not found:
                why, remedy = "no Maildir in it", "name the folder that holds INBOX and Junk"
                raise NoInputError(top, why, remedy, "source-empty")
            for name, path in found:
                name = os.path.basename(top) if path == top else name
                self._kinds[path] = recognise(decode_name(name.removeprefix(".")), special)

    def folders(self) -> dict[str, str]:
        """As Mailbox."""
        return self._kinds

    def open(self, name: str) -> tuple[int, list[Mail]]:
        """The states of the messages in a folder; its messages keep their names for ever."""
        mails: list[Mail] = []
        for part in ("new", "cur"):
            for file in scan(os.path.join(name, part), Notes())[1]:
                path = os.path.join(name, part, file)
                with contextlib.suppress(OSError):  # moved just now: the next time
                    status = os.stat(path)
                    flags = {_MAILDIR_FLAGS.get(flag, flag) for flag in file.partition(":2,")[2]}
                    flags |= {DELIVERED} if part == "new" else set()
                    age_days = (time.time() - status.st_mtime) / DAY_SECONDS
                    mails.append(Mail(strip_flags(file), frozenset(flags), age_days, status.st_size))
                    self._paths[mails[-1].uid] = path
        return 0, mails

    def fetch(self, uids: Sequence[Uid]) -> dict[Uid, bytes]:
        """The messages that are still there."""
        found: dict[Uid, bytes] = {}
        for uid in uids:
            with contextlib.suppress(OSError):
                path = self._paths[uid]
                found[uid] = Item(path, "", path).read()
        return found

    def mark(self, uids: Sequence[Uid], label: str) -> bool:
        """False: a Maildir has no keywords that all programs know."""
        return False


def _is_box(path: str) -> bool:
    return os.path.isdir(path) and is_maildir(scan(path, Notes())[0])
