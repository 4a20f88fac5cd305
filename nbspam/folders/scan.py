"""Judge new mail of an IMAP account, and move spam to its folder for junk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nbspam.decision import Verdict
from nbspam.errors import TryAgainError, UsageError
from nbspam.filter import Filter
from nbspam.folders.account import REFUSED, ImapMailbox
from nbspam.folders.learner import FolderMemory, KnownFolder, Uid, fingerprint
from nbspam.labels import SPAM
from nbspam.learning.learn import split_batches

MOVED, FLAGGED = "moved", "flagged"
KEPT = "kept"  # it is no spam
LEFT = "left"  # its reader has taken it out of junk
Scanned = tuple[str, Verdict]  # what was done, one of these four


class Scan:
    """Judge the unread mail that has come into a folder since the last time.

    how : MOVED, or FLAGGED to only set a keyword, which a server without MOVE and UIDPLUS gets, too
    """

    def __init__(self, box: ImapMailbox, memory: FolderMemory, is_dry: bool, flag_only: bool) -> None:
        self._box, self._memory, self._is_dry = box, memory, is_dry
        self._has_move = box.ask("has_capability", "MOVE")
        self.can_move = self._has_move or box.ask("has_capability", "UIDPLUS")
        self.how = MOVED if self.can_move and not flag_only else FLAGGED
        self._junk = box.junk() if self.how == MOVED else ""

    def run(self, folder: str, judge: Filter) -> Iterator[Scanned]:
        """Each message that is judged, once all is done with it."""
        known = self._memory.recall(folder, self._box.select(folder, must_write=not self._is_dry))
        if not self._is_dry:
            self._finish_copy(folder, known)
        for uids in split_batches(self._box.unread(known.scanned), lambda _: 0):
            bodies = self._box.fetch(uids)
            scanned = {uid: self._judge(judge, data, f"{folder}/{uid}") for uid, data in bodies.items()}
            spam = [uid for uid, (action, _) in scanned.items() if action == self.how]
            if not self._is_dry:
                self._file(known, spam)
            known.scanned = uids[-1]
            self._memory.save()
            yield from scanned.values()

    def _judge(self, judge: Filter, data: bytes, place: str) -> Scanned:
        verdict = judge.classify(data, place)
        if verdict.label != SPAM:
            return KEPT, verdict
        key = fingerprint(data)
        if self._memory.filed.get(key, place) != place:
            return LEFT, verdict
        self._memory.file(key, place)
        return self.how, verdict

    def _file(self, known: KnownFolder, uids: Sequence[Uid]) -> None:
        """Mark and move messages of the open folder; again if others took some of them meanwhile."""
        while uids:
            try:
                return self._move(known, uids)
            except TryAgainError as error:
                if error.slug != REFUSED:
                    raise
                left = self._box.search("UID", ",".join(map(str, uids)))
                if len(left) == len(uids):
                    raise
                uids = left

    def _move(self, known: KnownFolder, uids: Sequence[Uid]) -> None:
        box = self._box
        self._memory.save()
        box.mark(uids, SPAM)
        if self.how == FLAGGED:
            if not box.takes_keywords:
                why = "the server keeps no keywords, so mail cannot be flagged"
                raise UsageError(box.account.name, why, "leave out `flag_only`", "imap-keywords")
        elif self._has_move:
            box.ask("move", uids, self._junk)
        else:
            known.copied = (uids, box.next_uid(self._junk))
            self._memory.save()
            box.ask("copy", uids, self._junk)
            box.remove_copied(uids)
            known.copied = ((), 0)

    def _finish_copy(self, folder: str, known: KnownFolder) -> None:
        """After a cut: remove the messages whose copies have arrived; the others are copied again."""
        box, (uids, first_copy) = self._box, known.copied
        if uids and self._junk:
            box.select(self._junk)
            arrived = set(map(fingerprint, box.fetch(box.search("UID", f"{first_copy}:*")).values()))
            box.select(folder, must_write=True)
            box.remove_copied([uid for uid, data in box.fetch(uids).items() if fingerprint(data) in arrived])
            known.copied = ((), 0)
