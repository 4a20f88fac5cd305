"""Judge new mail of an account, move spam to its folder for junk, and watch for more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from nbspam.errors import TryAgainError, UsageError
from nbspam.filter import Filter, Verdict
from nbspam.imap.account import Account
from nbspam.imap.mailbox import REFUSED, ImapMailbox
from nbspam.labels import SPAM
from nbspam.learning.learn import split_batches
from nbspam.tasks.sync import Known, Memory, Uid, identify, name_place

MOVED, FLAGGED = "moved", "flagged"
KEPT = "kept"  # it is no spam
LEFT = "left"  # its reader has taken it out of junk
Filed = tuple[str, Verdict]  # what was done, one of these four
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 1.0, 300.0


class Scan:
    """Judge the unread mail that has come into a folder since the last time.

    how : MOVED, or FLAGGED to only set a keyword, which a server without MOVE and UIDPLUS gets, too
    """

    def __init__(self, box: ImapMailbox, memory: Memory, is_dry: bool, flag_only: bool) -> None:
        self._box, self._memory, self._is_dry = box, memory, is_dry
        self._has_move = box.ask("has_capability", "MOVE")
        self.can_move = self._has_move or box.ask("has_capability", "UIDPLUS")
        self.how = MOVED if self.can_move and not flag_only else FLAGGED
        self._junk = box.junk() if self.how == MOVED else ""

    def run(self, folder: str, judge: Filter) -> Iterator[Filed]:
        """Each message that is judged, once all is done with it."""
        box, memory = self._box, self._memory
        known = memory.folder(folder, box.select(folder, must_write=not self._is_dry))
        if not self._is_dry:
            self._finish_copy(folder, known)
        for uids in split_batches(box.unread(known.scanned), lambda _: 0):
            bodies = box.fetch(uids)
            judged = {uid: self._judge(judge, data, name_place(folder, uid)) for uid, data in bodies.items()}
            spam = [uid for uid, (act, _) in judged.items() if act == self.how]
            if spam and not self._is_dry:
                memory.save()
                self._file(known, spam)
            known.scanned = uids[-1]
            memory.save()
            yield from judged.values()

    def _judge(self, judge: Filter, data: bytes, place: str) -> Filed:
        verdict = judge.classify(data, place)
        if verdict.label != SPAM:
            return KEPT, verdict
        identity = identify(data)
        if self._memory.filed.get(identity, place) != place:
            return LEFT, verdict
        self._memory.file(identity, place)
        return self.how, verdict

    def _file(self, known: Known, uids: Sequence[Uid]) -> None:
        """Mark and move messages of the open folder; again if others took some of them meanwhile."""
        try:
            self._move(known, uids)
        except TryAgainError as error:
            if error.slug != REFUSED:
                raise
            left = self._box.ask("search", ["UID", ",".join(map(str, uids))])
            if len(left) == len(uids):
                raise
            if left:
                self._file(known, left)

    def _move(self, known: Known, uids: Sequence[Uid]) -> None:
        box = self._box
        is_marked = box.mark(uids, SPAM)
        if self.how == FLAGGED:
            if not is_marked:
                why = "the server keeps no keywords, so mail cannot be flagged"
                raise UsageError(box.account.name, why, "leave out `flag_only`", "imap-keywords")
        elif self._has_move:
            box.ask("move", uids, self._junk)
        else:
            known.copied = (uids, box.ask("folder_status", self._junk, ["UIDNEXT"])[b"UIDNEXT"])
            self._memory.save()
            box.ask("copy", uids, self._junk)
            box.remove_copied(uids)
            known.copied = ((), 0)

    def _finish_copy(self, folder: str, known: Known) -> None:
        """After a cut: remove the messages whose copies have arrived; the others are copied again."""
        uids, first = known.copied
        if not uids or not self._junk:
            return
        box = self._box
        box.select(self._junk)
        arrived = set(map(identify, box.fetch(box.ask("search", ["UID", f"{first}:*"])).values()))
        box.select(folder, must_write=True)
        bodies = box.fetch(uids)
        box.remove_copied([uid for uid, data in bodies.items() if identify(data) in arrived])
        known.copied = ((), 0)


def watch(
    account: Account,
    work: Callable[[ImapMailbox], None],
    say: Callable[[TryAgainError, float], None],
    seconds: float,
) -> None:
    """Work whenever there may be new mail, and after `seconds`; connect again when the connection fails.

    work : leaves the folder open that is watched
    say  : told the failure, and after how many seconds the next trial comes
    """
    delay = FIRST_DELAY_SECONDS
    while True:
        try:
            with ImapMailbox(account) as box:
                while True:
                    work(box)
                    delay = FIRST_DELAY_SECONDS
                    box.wait(seconds)
        except TryAgainError as error:
            say(error, delay)
            time.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY_SECONDS)
