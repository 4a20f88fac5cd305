"""An IMAP account: a table in a TOML file, the secret to log in with, the connection, and its folders.

Nothing is deleted: a message leaves a folder only when it is in another one.
"""

from __future__ import annotations

import contextlib
import ssl
import subprocess
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, IMAPClientReadOnlyError, LoginError

from nbspam.corpus.folder_names import DRAFTS, JUNK, SENT, TRASH, UNCLEAR, recognise
from nbspam.errors import BadDataError, NbspamError, NoInputError, TryAgainError, UsageError
from nbspam.folders.learner import DELETED, HAM_WORDS, JUNK_WORDS, MailState, Uid
from nbspam.labels import SPAM
from nbspam.mail.limits import MAX_READ_BYTES

TIMEOUT_SECONDS = 60
UIDS_AT_ONCE = 500  # in one line of the protocol
REFUSED, READ_ONLY = "imap-refused", "imap-read-only"  # slugs
POLL_SECONDS = 60  # where the server cannot say that there is new mail
# Flags of LIST (RFC 6154); the last two show mail of other folders once more.
_USES = {b"\\junk": JUNK, b"\\trash": TRASH, b"\\drafts": DRAFTS, b"\\sent": SENT}
_USES |= {b"\\all": UNCLEAR, b"\\flagged": UNCLEAR}
_NO_MAIL = {b"\\noselect", b"\\nonexistent"}


@dataclass(frozen=True)
class Account:
    """What one table says.

    host, port, user : of the server
    password_command, token_command : print the password, or an OAuth2 token; else the keyring is asked
    ca_file : certificates to trust in place of those of the system
    folders : where new mail is judged
    junk    : where spam goes; '' for the folder that the server calls so
    """

    name: str
    host: str
    user: str
    port: int = 993
    password_command: str = ""
    token_command: str = ""
    ca_file: str = ""
    folders: Sequence[str] = ("INBOX",)
    junk: str = ""

    def read_secret(self) -> str:
        """The password or the token; NoInputError without one."""
        command = self.token_command or self.password_command
        why = f"{command!r} prints nothing" if command else "the keyring has no password for it"
        secret: str | None = None
        try:
            if command:
                done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, timeout=60, check=True)
                secret = done.stdout.decode("utf-8", "replace").partition("\n")[0].rstrip("\r")
            else:
                import keyring

                secret = keyring.get_password(self.host, self.user)
        except Exception as error:  # a keyring raises what its desktop raises
            why = f"there is no password: {error}"
        if not secret:
            remedy = f"set password_command, or: keyring set {self.host} {self.user}"
            raise NoInputError(f"{self.name}: {self.user} at {self.host}", why, remedy, "imap-password")
        return secret


def read_accounts(path: str) -> dict[str, Account]:
    """The accounts of a file by name."""
    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        raise NoInputError(path, why, "write it as docs/imap.md shows", "imap-config") from None
    except ValueError as error:
        raise BadDataError(path, str(error), "correct it", "imap-config") from None
    if not tables:
        raise BadDataError(path, "has no account", "add a table such as [home]", "imap-config")
    return {name: _parse_account(path, name, table) for name, table in tables.items()}


def choose_account(accounts: dict[str, Account], name: str) -> Account:
    """The account of this name, or the only one; UsageError if it does not exist."""
    if not name and len(accounts) == 1:
        return next(iter(accounts.values()))
    if name not in accounts:
        why = "there is no such account" if name else "there is more than one account"
        raise UsageError(name or "ACCOUNT", why, slug="imap-account", allowed=accounts)
    return accounts[name]


def _parse_account(path: str, name: str, table: Any) -> Account:
    where = f"{path}: [{name}]"
    try:
        account = Account(name, **table)
    except TypeError as error:
        allowed = [one.name for one in fields(Account)][1:]
        why = str(error).replace("Account.__init__() ", "")
        raise BadDataError(where, why, slug="imap-config", allowed=allowed) from None
    for key, value in table.items():
        kinds = {"folders": list, "port": int}
        if type(value) is not kinds.get(key, str):
            raise BadDataError(where, f"{key} has a wrong value", "see docs/imap.md", "imap-config")
    return account


class ImapMailbox:
    """An account that is logged in; one folder is open at a time."""

    def __init__(self, account: Account) -> None:
        """NoInputError for a wrong password or certificate, TryAgainError if the server does not answer."""
        self.account = account
        self.takes_keywords = False  # in the open folder
        try:
            context = ssl.create_default_context(cafile=account.ca_file or None)
        except OSError as error:
            why = f"cannot be read: {error.strerror}"
            raise NoInputError(account.ca_file, why, "set ca_file to a PEM file", "imap-ca-file") from None
        secret = account.read_secret()
        try:
            self._client = IMAPClient(
                account.host, account.port, ssl_context=context, timeout=TIMEOUT_SECONDS
            )
        except (IMAPClientError, OSError) as error:
            raise self._failure(error) from None
        self.ask("oauth2_login" if account.token_command else "login", account.user, secret)

    def __enter__(self) -> ImapMailbox:
        return self

    def __exit__(self, *problem: Any) -> None:
        with contextlib.suppress(Exception):  # the server may be gone, or wait for something else
            end = self._client.shutdown if problem[0] else self._client.logout
            end()

    def folders(self) -> dict[str, str]:
        """As Mailbox; folders whose use the server names come first."""
        found: dict[str, str] = {}
        named: dict[str, str] = {self.account.junk: JUNK} if self.account.junk else {}
        for flags, _, name in self.ask("list_folders"):
            words = {flag.lower() for flag in flags}
            if not words & _NO_MAIL:
                found[name] = recognise(name)
                for word in words & _USES.keys():
                    named.setdefault(name, _USES[word])
        return named | found | named

    def junk(self) -> str:
        """The folder for spam: that of the account, of the server, or the first with such a name."""
        for name, kind in self.folders().items():
            if kind == JUNK:
                return name
        remedy = "make a folder Junk, or name yours: junk = NAME"
        raise NoInputError(self.account.name, "there is no folder for junk", remedy, "imap-no-junk")

    def open(self, name: str) -> tuple[int, list[MailState]]:
        """As Mailbox; a folder that has vanished is empty."""
        try:
            validity = self.select(name)
        except NoInputError:
            return 0, []
        mails: list[MailState] = []
        for uid, values in self._fetch(self.ask("search", "ALL"), "FLAGS", "INTERNALDATE", "RFC822.SIZE"):
            if b"INTERNALDATE" in values and b"RFC822.SIZE" in values:
                flags = frozenset(flag.decode("ascii", "replace").lower() for flag in values[b"FLAGS"])
                received = values[b"INTERNALDATE"].timestamp()
                mails.append(MailState(uid, flags, received, values[b"RFC822.SIZE"]))
        return validity, mails

    def select(self, name: str, must_write: bool = False) -> int:
        """Open a folder; its UIDVALIDITY.

        Raises NoInputError if it does not exist, or if must_write is given and nothing can be changed in it.
        """
        try:
            answer = self.ask("select_folder", name)
        except NoInputError as error:
            if must_write or error.slug != READ_ONLY:
                raise
            answer = self.ask("select_folder", name, True)
        kept = answer.get(b"PERMANENTFLAGS", ())
        self.takes_keywords = b"\\*" in kept or b"$Junk" in kept
        return int(answer[b"UIDVALIDITY"])

    def unread(self, after: int) -> list[int]:
        """Unread messages of the open folder that came after the message `after`."""
        wanted = ["UID", f"{after + 1}:*", "UNSEEN", "UNDELETED", "UNKEYWORD", "$NotJunk"]
        return sorted(uid for uid in self.ask("search", wanted) if uid > after)

    def fetch(self, uids: Sequence[Uid]) -> dict[Uid, bytes]:
        """As Mailbox; unread messages stay unread."""
        found = self._fetch(uids, f"BODY.PEEK[]<0.{MAX_READ_BYTES}>")
        return {uid: values[b"BODY[]<0>"] for uid, values in found if values.get(b"BODY[]<0>")}

    def _fetch(self, uids: Sequence[Uid], *wanted: str) -> Iterator[tuple[Uid, Any]]:
        for start in range(0, len(uids), UIDS_AT_ONCE):
            yield from self.ask("fetch", uids[start : start + UIDS_AT_ONCE], wanted).items()

    def mark(self, uids: Sequence[Uid], label: str) -> None:
        """As Mailbox."""
        mark, opposite = ("$Junk", HAM_WORDS) if label == SPAM else ("$NotJunk", JUNK_WORDS)
        if self.takes_keywords:
            self.ask("remove_flags", uids, sorted(opposite), True)
            self.ask("add_flags", uids, [mark], True)

    def remove_copied(self, uids: Sequence[Uid]) -> None:
        """Take messages that are in another folder out of the open one, and only these."""
        if uids:
            self.ask("add_flags", uids, [DELETED], True)
            self.ask("uid_expunge", uids)

    def wait(self, seconds: float) -> None:
        """Wait until something changes in the open folder, at most for some time."""
        if self.ask("has_capability", "IDLE"):
            self.ask("idle")
            self.ask("idle_check", seconds)
            self.ask("idle_done")
        else:
            time.sleep(min(seconds, POLL_SECONDS))
            self.ask("noop")

    def ask(self, command: str, *arguments: Any) -> Any:
        """The answer of a method of imapclient's IMAPClient; NoInputError or TryAgainError if it fails."""
        try:
            return getattr(self._client, command)(*arguments)
        except (IMAPClientError, OSError) as error:
            raise self._failure(error, arguments[0] if command == "select_folder" else "") from None

    def _failure(self, error: Exception, selected: str = "") -> NbspamError:
        """What an error of the library or of the connection means.  selected : the folder to be opened"""
        where = f"{self.account.name}: {selected or self.account.host}"
        if isinstance(error, ssl.SSLCertVerificationError):
            why = f"the certificate of the server is not accepted: {error.verify_message}"
            return NoInputError(where, why, "check host, or set ca_file", "imap-certificate")
        if isinstance(error, IMAPClientReadOnlyError):
            why = "the folder is read-only, so nothing can be moved out of it"
            return NoInputError(where, why, "ask the administrator for the right to change it", READ_ONLY)
        if any(isinstance(one, (IMAPClientAbortError, OSError)) for one in (error, error.__context__)):
            return TryAgainError(where, f"the connection failed: {error}", "try again", "imap-connection")
        if isinstance(error, LoginError) and "[UNAVAILABLE]" not in str(error):
            why = f"the server refuses the login of {self.account.user}: {error}"
            return NoInputError(where, why, "check user and password", "imap-login")
        if selected:
            why = f"the folder cannot be opened: {error}"
            return NoInputError(where, why, "check the names of folders", "imap-folder")
        return TryAgainError(where, f"the server refuses: {error}", "try again", REFUSED)
