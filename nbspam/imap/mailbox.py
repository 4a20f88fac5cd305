"""A connection to an IMAP server: the folders of an account, and what may be done with the mail in them.

Nothing is deleted: a message leaves a folder only when it is in another one.
"""

from __future__ import annotations

import contextlib
import ssl
import time
from collections.abc import Sequence
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, IMAPClientReadOnlyError, LoginError

from nbspam.corpus.folder_names import DRAFTS, JUNK, SENT, TRASH, UNCLEAR, recognise
from nbspam.errors import NbspamError, NoInputError, TryAgainError
from nbspam.imap.account import Account
from nbspam.labels import SPAM
from nbspam.mail.limits import MAX_READ_BYTES
from nbspam.tasks.sync import DAY_SECONDS, DELETED, Mail, Uid

TIMEOUT_SECONDS = 60
UIDS_AT_ONCE = 500  # in one line of the protocol
REFUSED, READ_ONLY = "imap-refused", "imap-read-only"  # slugs
POLL_SECONDS = 60  # where the server cannot say that there is new mail
# Flags of LIST (RFC 6154); the last two show mail of other folders once more.
_USES = {"\\junk": JUNK, "\\trash": TRASH, "\\drafts": DRAFTS, "\\sent": SENT}
_USES |= {"\\all": UNCLEAR, "\\flagged": UNCLEAR}
_NO_MAIL = {"\\noselect", "\\nonexistent"}


class ImapMailbox:
    """An account that is logged in; one folder is open at a time."""

    def __init__(self, account: Account) -> None:
        """NoInputError for a wrong password or certificate, TryAgainError if the server does not answer."""
        self.account = account
        self._writable = self._takes_keywords = False
        try:
            context = ssl.create_default_context(cafile=account.ca_file or None)
        except OSError as error:
            why = f"cannot be read: {error.strerror}"
            raise NoInputError(account.ca_file, why, "set ca_file to a PEM file", "imap-ca-file") from None
        secret = account.secret()
        try:
            self._client = IMAPClient(
                account.host, account.port, ssl_context=context, timeout=TIMEOUT_SECONDS
            )
            log_in = self._client.oauth2_login if account.token_command else self._client.login
            log_in(account.user, secret)
        except (IMAPClientError, OSError) as error:
            raise self._failure(error) from None

    def __enter__(self) -> ImapMailbox:
        return self

    def __exit__(self, *problem: Any) -> None:
        with contextlib.suppress(Exception):  # the server may be gone, or wait for something else
            self._client.shutdown() if problem[0] else self._client.logout()

    def folders(self) -> dict[str, str]:
        """As Mailbox; folders whose use the server names come first."""
        found: dict[str, str] = {}
        named: dict[str, str] = {self.account.junk: JUNK} if self.account.junk else {}
        for flags, _, name in self.ask("list_folders"):
            words = {flag.decode("ascii", "replace").lower() for flag in flags}
            if not words & _NO_MAIL:
                found[name] = recognise(name)
                for word in words & _USES.keys():
                    named.setdefault(name, _USES[word])
        return named | {name: kind for name, kind in found.items() if name not in named}

    def junk(self) -> str:
        """The folder for spam: that of the account, of the server, or the first with such a name."""
        for name, kind in self.folders().items():
            if kind == JUNK:
                return name
        remedy = "make a folder Junk, or name yours: junk = NAME"
        raise NoInputError(self.account.name, "there is no folder for junk", remedy, "imap-no-junk")

    def open(self, name: str) -> tuple[int, list[Mail]]:
        """As Mailbox; a folder that has vanished is empty."""
        try:
            validity = self.select(name)
        except NoInputError:
            return 0, []
        uids = self.ask("search", "ALL")
        wanted, now = ["FLAGS", "INTERNALDATE", "RFC822.SIZE"], time.time()
        mails: list[Mail] = []
        for uid, values in self._fetch(uids, wanted).items():
            if b"INTERNALDATE" in values and b"RFC822.SIZE" in values:
                flags = frozenset(flag.decode("ascii", "replace").lower() for flag in values[b"FLAGS"])
                age_days = (now - values[b"INTERNALDATE"].timestamp()) / DAY_SECONDS
                mails.append(Mail(uid, flags, age_days, values[b"RFC822.SIZE"]))
        return validity, mails

    def select(self, name: str, must_write: bool = False) -> int:
        """Open a folder; its UIDVALIDITY.

        Raises NoInputError if it does not exist, or if must_write is given and nothing can be changed in it.
        """
        self._writable = True
        try:
            answer = self.ask("select_folder", name)
        except NoInputError as error:
            if must_write or error.slug != READ_ONLY:
                raise
            self._writable = False
            answer = self.ask("select_folder", name, True)
        kept = answer.get(b"PERMANENTFLAGS", ())
        self._takes_keywords = b"\\*" in kept or b"$Junk" in kept
        return int(answer[b"UIDVALIDITY"])

    def unread(self, after: int) -> list[int]:
        """Unread messages of the open folder that came after the message `after`."""
        wanted = ["UID", f"{after + 1}:*", "UNSEEN", "UNDELETED", "UNKEYWORD", "$NotJunk"]
        return sorted(uid for uid in self.ask("search", wanted) if uid > after)

    def fetch(self, uids: Sequence[Uid]) -> dict[Uid, bytes]:
        """As Mailbox; unread messages stay unread."""
        found = self._fetch(uids, [f"BODY.PEEK[]<0.{MAX_READ_BYTES}>"])
        return {uid: values[b"BODY[]<0>"] for uid, values in found.items() if values.get(b"BODY[]<0>")}

    def mark(self, uids: Sequence[Uid], label: str) -> bool:
        """Set $Junk or $NotJunk; False where the folder keeps no keywords."""
        if not (self._writable and self._takes_keywords):
            return False
        new, *old = ("$Junk", "$NotJunk", "NonJunk") if label == SPAM else ("$NotJunk", "$Junk", "Junk")
        self.ask("remove_flags", uids, old, True)
        self.ask("add_flags", uids, [new], True)
        return True

    def remove_copied(self, uids: Sequence[Uid]) -> None:
        """Take messages that are in another folder out of the open one, and only these."""
        if uids:
            self.ask("add_flags", uids, [DELETED], True)
            self.ask("uid_expunge", uids)

    def wait(self, seconds: float) -> None:
        """Wait until something changes in the open folder, at most for some time."""
        if not self.ask("has_capability", "IDLE"):
            time.sleep(min(seconds, POLL_SECONDS))
            self.ask("noop")
            return
        self.ask("idle")
        self.ask("idle_check", seconds)
        self.ask("idle_done")

    def _fetch(self, uids: Sequence[Uid], wanted: list[str]) -> dict[Uid, Any]:
        found: dict[Uid, Any] = {}
        for start in range(0, len(uids), UIDS_AT_ONCE):
            found |= self.ask("fetch", uids[start : start + UIDS_AT_ONCE], wanted)
        return found

    def ask(self, command: str, *arguments: Any) -> Any:
        """The answer of a method of imapclient's IMAPClient; NoInputError or TryAgainError if it fails."""
        try:
            return getattr(self._client, command)(*arguments)
        except (IMAPClientError, OSError) as error:
            raise self._failure(error, arguments[0] if command == "select_folder" else "") from None

    def _failure(self, error: Exception, selected: str = "") -> NbspamError:
        """What an error of the library or of the connection means.  selected : the folder to be opened"""
        where = f"{self.account.name}: {selected or self.account.host}"
        causes = (error, error.__context__)
        if isinstance(error, ssl.SSLCertVerificationError):
            why = f"the certificate of the server is not accepted: {error.verify_message}"
            return NoInputError(where, why, "check host, or set ca_file", "imap-certificate")
        if isinstance(error, IMAPClientReadOnlyError):
            why = "the folder is read-only, so nothing can be moved out of it"
            return NoInputError(where, why, "ask the administrator for the right to change it", READ_ONLY)
        if any(isinstance(one, (IMAPClientAbortError, OSError)) for one in causes):
            return TryAgainError(where, f"the connection failed: {error}", "try again", "imap-connection")
        if isinstance(error, LoginError) and "[UNAVAILABLE]" not in str(error):
            why = f"the server refuses the login of {self.account.user}: {error}"
            return NoInputError(where, why, "check user and password", "imap-login")
        if selected:
            why = f"the folder cannot be opened: {error}"
            return NoInputError(where, why, "check the names of folders", "imap-folder")
        return TryAgainError(where, f"the server refuses: {error}", "try again", REFUSED)
