"""Trees of Maildirs on the disk, as a Mailbox of nbspam.folders.learner."""

import os
from collections.abc import Sequence

from nbspam.corpus.folder_names import recognise
from nbspam.corpus.item import Skipped, open_message, read_flags, strip_flags, unreadable
from nbspam.corpus.marks import Keywords
from nbspam.corpus.no_mail import explain_no_mail
from nbspam.corpus.source import stat_mode
from nbspam.corpus.trees import clean_name, walk_tree
from nbspam.corpus.walk import MailFile, Notes, is_maildir, list_folder, list_maildir_part, note_unread
from nbspam.errors import NoInputError
from nbspam.folders.learner import ANSWERED, DELETED, DELIVERED, DRAFT, SEEN, MailState, Uid

_FLAGS = {"S": SEEN, "R": ANSWERED, "T": DELETED, "D": DRAFT}


class Maildirs:
    """Trees of Maildirs; a folder has the name of its path.

    skipped  : what was no mail, or could not be read
    left_out : see Notes
    others   : the number of folders of mail that are no Maildirs
    """

    def __init__(self, tops: Sequence[str]) -> None:
        """NoInputError if there is no Maildir in one of these folders."""
        self._notes = Notes()
        self.skipped: Skipped = self._notes.skipped
        self.left_out = self._notes.left_out
        self.others = 0
        self._kinds: dict[str, str] = {}
        self._trees: dict[str, str] = {}  # folder -> the tree that it is in
        self._paths: dict[Uid, str] = {}
        for top in [os.path.realpath(top) for top in tops if stat_mode(top)]:  # not the empty name: here
            folders = [*walk_tree(top, self._notes)]
            maildirs = [folder for folder in folders if is_maildir(list_folder(folder.path, Notes(), top)[0])]
            if not maildirs:
                if os.path.isdir(top) and (closed := [one for one in self.skipped if one[0].startswith(top)]):
                    raise unreadable(*closed[0])
                remedy = f"name the folder with INBOX and Junk; for other kinds of mail: nbspam train {top}"
                raise NoInputError(top, "no Maildir in it", remedy, "source-empty")
            self.others += len(folders) - len(maildirs)
            for folder in maildirs:
                kind = folder.kind if folder.path != top else recognise(clean_name(os.path.basename(top)))
                self._kinds[folder.path], self._trees[folder.path] = kind, top

    def folders(self) -> dict[str, str]:
        """As Mailbox."""
        return self._kinds

    def open(self, name: str) -> tuple[int, list[MailState]]:
        """As Mailbox; messages keep their names for ever."""
        mails: list[MailState] = []
        parts, _ = list_folder(name, Notes(), self._trees[name])
        keywords = Keywords(name)
        for part in [part for part in ("new", "cur") if part in parts]:
            for file in list_maildir_part(name, part, self._notes, self._trees[name]):
                path = os.path.join(name, part, file)
                try:
                    status = os.stat(path)
                except FileNotFoundError:  # moved just now: the next time
                    continue
                except OSError as error:
                    self._notes.skip(path, error)
                    continue
                flags = {_FLAGS.get(flag, "") for flag in read_flags(file)} | keywords.find(file)
                if part == "new":
                    flags.add(DELIVERED)
                uid = strip_flags(file)
                self._paths[uid] = path
                mails.append(MailState(uid, frozenset(flags), status.st_mtime, status.st_size))
        note_unread(keywords, self._notes, self._trees[name])
        return 0, mails

    def fetch(self, uids: Sequence[Uid]) -> dict[Uid, bytes]:
        """As Mailbox; a file that `train` leaves out is empty, or what explain_no_mail explains."""
        bodies: dict[Uid, bytes] = {}
        for uid in uids:
            path = self._paths[uid]
            n_skipped = len(self.skipped)
            try:
                items = MailFile("", path, may_be_mbox=False, only_mail=True).items(self._notes)
                data = b"".join(item.read() for item in items) or _read_no_mail(path)
            except FileNotFoundError:  # moved just now: the next time
                continue
            except OSError as error:
                self._notes.skip(path, error)
            if len(self.skipped) == n_skipped:
                bodies[uid] = data
        return bodies

    def mark(self, uids: Sequence[Uid], label: str) -> None:
        """Nothing: only its server may change the keywords of a Maildir."""


def _read_no_mail(path: str) -> bytes:
    """What a file that is no mail begins with, empty if it is deleted mail."""
    with open_message(path) as file:
        head = file.read(4096)
    return head if explain_no_mail(head) else b""
