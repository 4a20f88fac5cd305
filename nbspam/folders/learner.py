"""Learn from the folders of a mailbox, and from what its reader did with the mail: Maildirs and IMAP alike.

Mail in a folder of junk is spam.  Other mail is ham once it is read, answered or kept for some days.  Trash,
sent mail, drafts and unread mail say nothing.  Mail that leaves a folder of junk is ham at once.
"""

import fcntl
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple, Protocol

from nbspam.corpus.folder_names import JUNK, UNCLEAR
from nbspam.corpus.marks import BY_NBSPAM, NOT_JUNK, OWN_HAM, OWN_JUNK, find_mark
from nbspam.corpus.no_mail import explain_no_mail
from nbspam.errors import BadDataError, TryAgainError
from nbspam.files import open_whole_file
from nbspam.labels import HAM, SPAM
from nbspam.learning.learn import learn_messages, split_batches
from nbspam.limits import MAX_READ_BYTES
from nbspam.store.reader import open_model
from nbspam.store.updater import Origin

MAX_FILED = 10_000  # messages that are known again when they move
DAY_SECONDS = 86_400
WOULD_LEARN = "would be learned"
SEEN, ANSWERED, DELETED, DRAFT = "\\seen", "\\answered", "\\deleted", "\\draft"
DELIVERED = "new"  # of a Maildir: no program has seen it yet
# What the state of a message says; HAM and SPAM are two more.
NOTHING, UNREAD = "nothing", "unread"
MARKED = "marked"  # as junk, in another folder
UNREAD_JUNK = "unread junk"
UNSEEN_JUNK = "unseen junk"  # no mail program has shown it yet
# More reasons why nothing is learned: of messages, and of folders.
SAME_AS_BEFORE = "same as before"
NOT_READ = "not read"  # it has gone, or may not be read
NO_LESSONS = "no lessons"  # drafts, sent and deleted mail
Uid = int | str  # of a message in its folder: a number of IMAP, or the name of a file


class MailState(NamedTuple):
    """A message in its folder.  flags : in small letters, also keywords; received : seconds since 1970"""

    uid: Uid
    flags: frozenset[str]
    received: float
    size_bytes: int


class LearnedMail(NamedTuple):
    """A message that taught.  result : of learn_messages, or WOULD_LEARN"""

    result: str
    label: str
    place: str


class Mailbox(Protocol):
    """Folders of mail."""

    def folders(self) -> dict[str, str]:
        """Each folder and its kind: as recognise of nbspam.corpus.folder_names."""

    def open(self, name: str) -> tuple[int, list[MailState]]:
        """A number that changes when the folder numbers its messages anew, and its messages."""

    def fetch(self, uids: Sequence[Uid]) -> dict[Uid, bytes]:
        """Messages of the folder that was opened last, without those that have gone."""

    def mark(self, uids: Sequence[Uid], label: str) -> None:
        """Note that messages were learned as ham, or seen in junk, if the folder keeps keywords."""


@dataclass
class KnownFolder:
    """What is remembered of a folder.

    states  : state -> the messages that were in it
    scanned : the last message that was judged
    """

    validity: int
    states: dict[str, list[Uid]] = field(default_factory=dict)
    scanned: int = 0


class FolderMemory:
    """A JSON file of known folders, for one program at a time.

    It only saves work, because the model knows what it has learned; and it knows a message again that moves.
    filed : fingerprint of a message -> the place where it was last known as spam
    is_foreign : True if it was of another model, which had learned what this one has not
    """

    def __init__(self, path: str, model: str, is_kept: bool = True) -> None:
        """model : the file that learns;  is_kept : False to leave the memory as it is."""
        self._path, self._is_kept = path, is_kept
        with open_model(model) as opened:
            self._model = opened.identity
        self.is_foreign, self._saved = False, b""
        self._lock = os.open(path + ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with open(path, "rb") as file:
                self._saved = file.read()
            stored = json.loads(self._saved)
            self.filed: dict[str, str] = {key: "" + place for key, place in stored["filed"].items()}
            self.folders = {name: KnownFolder(**known) for name, known in stored["folders"].items()}
            self._begin_anew(stored.get("model"))
        except BlockingIOError:
            why = "another nbspam is at work on this mail"
            raise TryAgainError(path, why, "wait until it has finished", "sync-busy") from None
        except FileNotFoundError:
            self.filed, self.folders = {}, {}
        except (ValueError, KeyError, TypeError, AttributeError):
            why = "is not a file in which nbspam remembers mail"
            raise BadDataError(path, why, "remove it: the model stays as it is", "sync-memory") from None

    def _begin_anew(self, model: object) -> None:
        """Forget what the mail has taught if it taught another model; where it was stays known."""
        self.is_foreign = model != self._model
        if self.is_foreign:
            for known in self.folders.values():
                known.states = {}

    def close(self) -> None:
        """Let other programs in."""
        os.close(self._lock)

    def recall(self, name: str, validity: int) -> KnownFolder:
        """What is known of a folder; nothing if it has numbered its messages anew."""
        if name not in self.folders or self.folders[name].validity != validity:
            self.folders[name] = KnownFolder(validity)
            for key, place in self.filed.items():
                if place.rpartition("/")[0] == name:
                    self.filed[key] = ""  # somewhere: it must not look as if it had moved
        return self.folders[name]

    def file(self, key: str, place: str) -> None:
        """Remember a message that is spam, as the latest.  key : its fingerprint"""
        self.filed.pop(key, None)
        self.filed[key] = place

    def save(self) -> None:
        """Write the file, whole or not at all, if anything has changed."""
        filed = dict(list(self.filed.items())[-MAX_FILED:])
        folders = {name: vars(folder) for name, folder in self.folders.items()}
        data = json.dumps({"model": self._model, "filed": filed, "folders": folders}).encode()
        if self._is_kept and data != self._saved:
            with open_whole_file(self._path) as file:
                file.write(data)
            self._saved = data


def fingerprint(data: bytes) -> str:
    """The same for a message in any folder, also with the field that mbsync adds."""
    without_tuid = re.sub(rb"(?m)^X-TUID: .*\n", b"", data, count=1)
    return blake2b(without_tuid, digest_size=8).hexdigest()


def find_state(kind: str, mail: MailState, kept_since: float) -> str:
    """What the state of a message says.

    kind       : of its folder
    kept_since : mail received before this, seconds since 1970, counts as read
    """
    if kind not in ("", JUNK) or mail.flags & {DELETED, DRAFT}:
        return NOTHING
    is_kept = bool(mail.flags & {SEEN, ANSWERED}) or mail.received <= kept_since
    if kind == JUNK and is_kept:
        return SPAM
    if kind == JUNK:  # what was delivered into it is the verdict of a filter, until somebody looks
        return UNSEEN_JUNK if DELIVERED in mail.flags else UNREAD_JUNK
    states = {HAM: HAM, OWN_HAM: HAM, SPAM: MARKED, OWN_JUNK: OWN_JUNK, "": HAM if is_kept else UNREAD}
    return states[find_mark(mail.flags)]


def choose_label(state: str, is_filed: bool, has_moved: bool) -> str:
    """The class that a message teaches, or ''.

    is_filed  : nbspam called it spam before, so unread junk and a mark may be its own verdict
    has_moved : it has left the place where it was filed
    """
    if state in (HAM, SPAM):
        return state
    if has_moved and state in (MARKED, OWN_JUNK, UNREAD):
        return HAM
    return SPAM if state in (MARKED, UNREAD_JUNK) and not is_filed else ""


class FolderLearner:
    """One run over the folders of a mailbox.

    idle      : why messages and folders taught nothing -> how many of them
    source    : before the name of each folder, for the ledger
    keep_days : after which unread mail counts as read
    is_dry    : only say what would be learned
    classes   : folder -> the class that its mail teaches in place of ham
    """

    def __init__(
        self,
        model: str,
        box: Mailbox,
        memory: FolderMemory,
        source: str,
        keep_days: float,
        is_dry: bool,
        classes: Mapping[str, str] | None = None,
    ) -> None:
        self._model, self._box, self._memory = model, box, memory
        self._classes = classes or {}
        self._source, self._is_dry = source, is_dry
        self._kept_since = time.time() - keep_days * DAY_SECONDS
        self._origin = Origin(source)  # one for all folders: the ledger shows one command
        self._present: set[str] = set()  # the places of all messages seen so far
        self.idle: Counter[str] = Counter()

    def learn(self) -> Iterator[LearnedMail]:
        """Learn each message whose state has changed since the last time, folders of junk first."""
        kinds = {folder: JUNK if label == SPAM else "" for folder, label in self._classes.items()}
        folders = self._box.folders()
        folders |= {name: kind for name, kind in kinds.items() if name in folders}
        try:
            for name in sorted(folders, key=lambda name: (folders[name] != JUNK, name != "INBOX", name)):
                if folders[name] in ("", JUNK):
                    yield from self._learn_folder(name, folders[name])
                else:
                    self.idle[UNCLEAR if folders[name] == UNCLEAR else NO_LESSONS] += 1
        finally:
            self._memory.save()

    def _learn_folder(self, folder: str, kind: str) -> Iterator[LearnedMail]:
        is_new = folder not in self._memory.folders or self._memory.is_foreign
        validity, mails = self._box.open(folder)
        known = self._memory.recall(folder, validity)
        self._present.update(f"{folder}/{mail.uid}" for mail in mails)
        states = {mail.uid: find_state(kind, mail, self._kept_since) for mail in mails}
        changed = self._find_changed(known, mails, states, is_new)
        for batch in split_batches(changed, lambda mail: min(mail.size_bytes, MAX_READ_BYTES)):
            wanted = self._classes.get(folder, HAM)
            filed = {mail.uid for mail in batch if BY_NBSPAM in mail.flags and NOT_JUNK not in mail.flags}
            lessons: dict[str, dict[Uid, bytes]] = {HAM: {}, SPAM: {}, "": {}}
            fetched = self._box.fetch([mail.uid for mail in batch])
            self.idle[NOT_READ] += len(batch) - len(fetched)
            for uid, data in fetched.items():
                no_mail = explain_no_mail(data)
                place = f"{folder}/{uid}"
                label = "" if no_mail else self._label(data, kind, states[uid], place, uid in filed)
                lessons[label][uid] = data
                if not label:
                    self.idle[no_mail or states[uid]] += 1
                # The mark of ham will say so the next time.
                known.states.setdefault(HAM if label == HAM else states[uid], []).append(uid)
            yield from self._learn_as(HAM if kind == JUNK else wanted, folder, lessons[HAM])
            yield from self._learn_as(SPAM, folder, lessons[SPAM], is_noted=kind == JUNK)

    def _find_changed(
        self, known: KnownFolder, mails: list[MailState], states: Mapping[Uid, str], is_new: bool
    ) -> list[MailState]:
        """The messages to look at; the others are known as they are now.

        Unread mail can only teach if it has come out of junk since the last time.
        """
        before = {uid: state for state, uids in known.states.items() for uid in uids}
        known.states = {}
        changed = []
        for mail in mails:
            state = states[mail.uid]
            is_idle = state in (NOTHING, UNSEEN_JUNK)
            is_same = before.get(mail.uid) == state
            if is_idle or is_same or (is_new and state == UNREAD):
                known.states.setdefault(state, []).append(mail.uid)
                self.idle[state if is_idle or state == UNREAD else SAME_AS_BEFORE] += 1
            else:
                changed.append(mail)
        return changed

    def _label(self, data: bytes, kind: str, state: str, place: str, is_filed: bool) -> str:
        """The class that a message teaches, or ''; the memory then knows where spam lies.

        is_filed : a word says that nbspam has seen it in junk, or marked it
        """
        key = fingerprint(data)
        filed_at = self._memory.filed.get(key)
        has_moved = bool(filed_at) and filed_at not in self._present
        label = choose_label(state, is_filed or filed_at is not None, has_moved)
        if kind == JUNK:
            self._memory.file(key, place)
        elif label == HAM:
            self._memory.filed.pop(key, None)
        return label

    def _learn_as(
        self, label: str, folder: str, mails: dict[Uid, bytes], is_noted: bool = True
    ) -> Iterator[LearnedMail]:
        """Learn messages.  is_noted : False for those that their reader has marked"""
        results = [WOULD_LEARN] * len(mails)
        if mails and not self._is_dry:
            self._origin.source = self._source + folder.replace("\t", " ")  # a tab would begin another folder
            messages = [("", data) for data in mails.values()]
            results = learn_messages(self._model, label, messages, self._origin)
            if is_noted:
                self._box.mark(list(mails), label)
        for uid, result in zip(mails, results, strict=True):
            yield LearnedMail(result, label, f"{folder}/{uid}")
