"""Judge new mail of an IMAP account, and move spam to its folder for junk, other classes to theirs."""

from collections.abc import Iterator, Mapping, Sequence

from nbspam.decision import Verdict
from nbspam.errors import NoInputError, UsageError
from nbspam.filter import Filter
from nbspam.folders.account import ImapMailbox, RefusedError
from nbspam.folders.learner import FolderMemory, Uid, fingerprint
from nbspam.labels import SPAM

MOVED, FLAGGED = "moved", "flagged"
SCANNED_AT_ONCE = 32  # messages whose texts are in memory
KEPT = "kept"  # its class has no folder
LEFT = "left"  # its reader has taken it out of the folder of its class
Scanned = tuple[str, Verdict]  # what was done, one of these four


class Scan:
    """Judge the unread mail that has come into a folder since the last time.

    how     : MOVED, or FLAGGED to only set a keyword, which a server without MOVE (RFC 6851) gets, too
    folders : class -> where its mail goes; mail of other classes than spam is never flagged
    """

    def __init__(
        self,
        box: ImapMailbox,
        memory: FolderMemory,
        is_dry: bool,
        flag_only: bool,
        folders: Mapping[str, str] | None = None,
    ) -> None:
        self._box, self._memory, self._is_dry = box, memory, is_dry
        self.can_move = box.ask("has_capability", "MOVE")
        self.how = MOVED if self.can_move and not flag_only else FLAGGED
        self._folders = {SPAM: ""}
        if self.how == MOVED:
            self._folders = {SPAM: "", **(folders or {})}
            self._folders[SPAM] = self._folders[SPAM] or box.junk()

    def run(self, folder: str, judge: Filter) -> Iterator[Scanned]:
        """Each message that is judged, once all is done with it."""
        known = self._memory.recall(folder, self._box.select(folder, must_write=not self._is_dry))
        unread = self._box.unread(known.scanned)
        for start in range(0, len(unread), SCANNED_AT_ONCE):
            uids = unread[start : start + SCANNED_AT_ONCE]
            bodies = self._box.fetch(uids)
            scanned = {uid: self._judge(judge, data, f"{folder}/{uid}") for uid, data in bodies.items()}
            for label in self._folders if not self._is_dry else ():
                wanted = (self.how, label)
                filed = [uid for uid, (how, verdict) in scanned.items() if (how, verdict.label) == wanted]
                self._file(filed, label)
            left = self._find_left([uid for uid in uids if uid not in bodies])
            known.scanned = min(left) - 1 if left else uids[-1]
            self._memory.save()
            yield from scanned.values()
            if left:
                why = f"the server gives no text of message {min(left)}"
                raise RefusedError(f"{self._box.account.name}: {folder}", why)

    def _find_left(self, uids: Sequence[Uid]) -> list[int]:
        """Those of these messages that are still in the open folder."""
        return self._box.search("UID", ",".join(map(str, uids))) if uids else []

    def _judge(self, judge: Filter, data: bytes, place: str) -> Scanned:
        verdict = judge.classify(data, place)
        if verdict.label not in self._folders:
            return KEPT, verdict
        # A bare fingerprint is of spam: its reader says that it is ham by taking it out of junk.
        key = fingerprint(data) if verdict.label == SPAM else f"{verdict.label} {fingerprint(data)}"
        if self._memory.filed.get(key, place) != place:
            return LEFT, verdict
        self._memory.file(key, place)
        return self.how, verdict

    def _file(self, uids: Sequence[Uid], label: str) -> None:
        """Mark and move messages of the open folder; again if others took some of them meanwhile."""
        while uids:
            try:
                return self._move(uids, label)
            except RefusedError:
                left = self._find_left(uids)
                if len(left) == len(uids):
                    raise
                uids = left

    def _move(self, uids: Sequence[Uid], label: str) -> None:
        box = self._box
        self._memory.save()
        if label == SPAM:
            box.mark(uids, SPAM)
        if self.how == FLAGGED:
            if not box.takes_keywords:
                why = "the server keeps no keywords, so mail cannot be flagged"
                remedy = (
                    "leave out `flag_only`" if self.can_move else "nbspam can only learn there: imap learn"
                )
                raise UsageError(box.account.name, why, remedy, "imap-keywords")
            box.ask("add_flags", uids, ["$Junk"], True)
        else:
            box.ask("move", uids, self._folders[label])


def check_folders(box: ImapMailbox, folders: Mapping[str, str]) -> None:
    """Raise unless each folder exists, and no new mail is judged in it."""
    existing = box.folders()
    for folder in folders.values():
        if folder in box.account.folders:
            why = f"new mail is judged in {folder}: it is there already"
            raise UsageError(box.account.name, why, "name another folder", "imap-class-folder")
        if folder not in existing:
            why, remedy = f"there is no folder {folder}", "make it in your mail program, or correct the name"
            raise NoInputError(box.account.name, why, remedy, "imap-folder")
