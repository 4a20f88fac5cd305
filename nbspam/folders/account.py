"""An IMAP account: a table in a TOML file, the secret to log in with, the connection, and its folders.

Nothing is deleted: the server moves a message.
"""

from __future__ import annotations

import contextlib
import ssl
import subprocess
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from operator import index
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, IMAPClientReadOnlyError, LoginError

from nbspam.corpus.folder_names import DRAFTS, JUNK, SENT, TRASH, UNCLEAR, recognise
from nbspam.corpus.marks import BY_NBSPAM, HAM_WORDS, JUNK_WORDS
from nbspam.errors import BadDataError, NbspamError, NoInputError, TryAgainError, UsageError
from nbspam.folders.learner import MailState, Uid
from nbspam.labels import SPAM
from nbspam.limits import MAX_READ_BYTES

ANSWER_SECONDS = 60  # for a whole answer
MAX_ANSWER_BYTES = 16 << 20  # of BODIES_AT_ONCE, or the numbers of more than a million messages
BODIES_AT_ONCE = 8
UIDS_AT_ONCE = 500  # in one line of the protocol
MAX_NUMBER = (1 << 32) - 1  # of a UID or a UIDVALIDITY; neither is 0 (RFC 9051, 2.3.1.1)
MAX_SAID = 200  # characters of an error of the server that are shown
POLL_SECONDS = 60  # where the server cannot say that there is new mail
# Flags of LIST (RFC 6154, RFC 8457); the last three show mail of other folders once more.
_USES = {b"\\junk": JUNK, b"\\trash": TRASH, b"\\drafts": DRAFTS, b"\\sent": SENT}
_USES |= dict.fromkeys((b"\\all", b"\\flagged", b"\\important"), UNCLEAR)
_NO_MAIL = {b"\\noselect", b"\\nonexistent"}


class AccessError(NoInputError):
    """There is no password, or the server refuses it."""


class ReadOnlyError(NoInputError):
    """Nothing can be changed in a folder."""


class RefusedError(TryAgainError):
    """The server refuses a command, or does not do it."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(where, why, "try again", "imap-refused")


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
            if command:
                remedy = "run the command in a shell: it must print the secret, and nothing before it"
            raise AccessError(f"{self.name}: {self.user} at {self.host}", why, remedy, "imap-password")
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
        allowed = [setting.name for setting in fields(Account)][1:]
        why = str(error).replace("Account.__init__() ", "")
        raise BadDataError(where, why, slug="imap-config", allowed=allowed) from None
    for key, value in table.items():
        kinds = {"folders": list, "port": int}
        if type(value) is not kinds.get(key, str):
            raise BadDataError(where, f"{key} has a wrong value", "see docs/imap.md", "imap-config")
    return account


class AnswerSocket(ssl.SSLSocket):
    """A connection on which a whole answer has a deadline and a size."""

    _deadline = 0.0  # of the monotonic clock; 0 until the answer is waited for
    _left_bytes = MAX_ANSWER_BYTES

    def begin_answer(self) -> None:
        """Expect the next answer."""
        self._deadline, self._left_bytes = 0.0, MAX_ANSWER_BYTES
        self.settimeout(ANSWER_SECONDS)

    def recv_into(self, *buffer: Any) -> int:
        """As of a socket; an OSError of an answer that is too slow or too long."""
        self._deadline = self._deadline or time.monotonic() + ANSWER_SECONDS
        left_seconds = self._deadline - time.monotonic()
        if left_seconds <= 0 or self._left_bytes <= 0:
            raise TimeoutError(f"an answer has no end after {ANSWER_SECONDS} s or {MAX_ANSWER_BYTES:,} bytes")
        if self.gettimeout():  # not while idle_check only looks for bytes
            self.settimeout(left_seconds)
        received = super().recv_into(*buffer)
        self._left_bytes -= received
        return received


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
        context.sslsocket_class = AnswerSocket
        secret = account.read_secret()
        with self._guard():
            self._client = IMAPClient(account.host, account.port, ssl_context=context, timeout=ANSWER_SECONDS)
        self.ask("oauth2_login" if account.token_command else "login", account.user, secret)

    def __enter__(self) -> ImapMailbox:
        return self

    def __exit__(self, *problem: Any) -> None:
        with contextlib.suppress(Exception):  # the server may be gone, or wait for something else
            self.ask("shutdown" if problem[0] else "logout")

    def folders(self) -> dict[str, str]:
        """As Mailbox; folders whose use the server names come first."""
        kinds: dict[str, str] = {}
        named: dict[str, str] = {self.account.junk: JUNK} if self.account.junk else {}
        with self._guard():
            for flags, _, name in self.ask("list_folders"):
                if type(name) is not str:
                    raise TypeError("a folder has no name")
                words = {flag.lower() for flag in flags}
                if not words & _NO_MAIL:
                    kinds[name] = recognise(name)
                    for word in words & _USES.keys():
                        named.setdefault(name, _USES[word])
        return named | kinds | named

    def junk(self) -> str:
        """The folder for spam: that of the account, of the server, or the first with such a name."""
        for name, kind in self.folders().items():
            if kind == JUNK:
                return name
        remedy = "make a folder Junk, or name yours: junk = NAME"
        raise NoInputError(self.account.name, "there is no folder for junk", remedy, "imap-no-junk")

    def open(self, name: str) -> tuple[int, list[MailState]]:
        """As Mailbox; a folder that has vanished is empty, but not one that the server only does not open."""
        try:
            validity = self.select(name)
        except NoInputError as error:
            if name in self.folders():
                raise RefusedError(error.where, error.why) from None
            return 0, []
        states: list[MailState] = []
        wanted = "FLAGS", "INTERNALDATE", "RFC822.SIZE"
        with self._guard():
            for uid, values in self._fetch(self.search("ALL"), UIDS_AT_ONCE, *wanted):
                if b"INTERNALDATE" in values and b"RFC822.SIZE" in values:  # else it has gone
                    flags = frozenset(flag.decode("ascii", "replace").lower() for flag in values[b"FLAGS"])
                    arrived, size_bytes = values[b"INTERNALDATE"], index(values[b"RFC822.SIZE"])
                    states.append(MailState(uid, flags, arrived.timestamp(), size_bytes))
        return validity, states

    def select(self, name: str, must_write: bool = False) -> int:
        """Open a folder; its UIDVALIDITY.

        Raises NoInputError if it does not exist, or if must_write is given and nothing can be changed in it.
        """
        try:
            answer = self.ask("select_folder", name)
        except ReadOnlyError:
            if must_write:
                raise
            answer = self.ask("select_folder", name, True)
        with self._guard(name):
            kept = answer.get(b"PERMANENTFLAGS", ())
            self.takes_keywords = b"\\*" in kept  # any, also one of nbspam
            return _check_numbers([answer.get(b"UIDVALIDITY")])[0]

    def search(self, *wanted: str) -> list[int]:
        """Messages of the open folder by a search of IMAP."""
        with self._guard():
            return _check_numbers(self.ask("search", [*wanted]))

    def unread(self, after: int) -> list[int]:
        """Unread messages of the open folder that came after the message `after`."""
        uids = self.search("UID", f"{after + 1}:*", "UNSEEN", "UNDELETED", "UNKEYWORD", "$NotJunk")
        return sorted(uid for uid in uids if uid > after)

    def fetch(self, uids: Sequence[Uid]) -> dict[Uid, bytes]:
        """As Mailbox; unread messages stay unread."""
        bodies: dict[Uid, bytes] = {}
        with self._guard():
            for uid, values in self._fetch(uids, BODIES_AT_ONCE, f"BODY.PEEK[]<0.{MAX_READ_BYTES}>"):
                data = values.get(b"BODY[]<0>") or values.get(b"BODY[]")  # nothing of a message that has gone
                if data and type(data) is not bytes:
                    raise TypeError("the text of a message is not text")
                if data:
                    bodies[uid] = data[:MAX_READ_BYTES]
        return bodies

    def _fetch(self, uids: Sequence[Uid], at_once: int, *wanted: str) -> Iterator[tuple[Uid, Any]]:
        """Each of these messages with what the server answers about it; some are asked for at a time."""
        for start in range(0, len(uids), at_once):
            asked = uids[start : start + at_once]
            answer = self.ask("fetch", asked, wanted)
            yield from [(uid, answer.get(uid, {})) for uid in asked]

    def mark(self, uids: Sequence[Uid], label: str) -> None:
        """As Mailbox: with a word that tells it from a mark of the reader."""
        marks, opposite = ([], HAM_WORDS) if label == SPAM else (["$NotJunk"], JUNK_WORDS)
        if self.takes_keywords:
            self.ask("remove_flags", uids, sorted(opposite), True)
            self.ask("add_flags", uids, [*marks, BY_NBSPAM], True)

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
        with self._guard(arguments[0] if command == "select_folder" else ""):
            self._client.socket().begin_answer()
            return getattr(self._client, command)(*arguments)

    @contextlib.contextmanager
    def _guard(self, selected: str = "") -> Iterator[None]:
        """Raise NoInputError or TryAgainError in place of any error: a server may answer anything.

        selected : the folder to be opened
        """
        try:
            yield
        except NbspamError:
            raise
        except Exception as error:
            raise self._failure(error, selected) from None

    def _failure(self, error: Exception, selected: str = "") -> NbspamError:
        """What an error of the library or of the connection means."""
        where = f"{self.account.name}: {selected or self.account.host}"
        if isinstance(error, ssl.SSLCertVerificationError):
            why = f"the certificate of the server is not accepted: {error.verify_message}"
            return NoInputError(where, why, "check host, or set ca_file", "imap-certificate")
        if isinstance(error, IMAPClientReadOnlyError):
            why = "the folder is read-only, so nothing can be moved out of it"
            remedy = "ask the administrator for the right to change it"
            return ReadOnlyError(where, why, remedy, "imap-read-only")
        said = str(error)[:MAX_SAID]
        if any(isinstance(cause, (IMAPClientAbortError, OSError)) for cause in (error, error.__context__)):
            return TryAgainError(where, f"the connection failed: {said}", "try again", "imap-connection")
        if not isinstance(error, IMAPClientError):
            why = f"the answer of the server is not IMAP: {type(error).__name__}: {said}"
            return TryAgainError(where, why, "try again, or tell the administrator", "imap-answer")
        if isinstance(error, LoginError) and "[UNAVAILABLE]" not in said:
            why = f"the server refuses the login of {self.account.user}: {said}"
            secret = "token_command" if self.account.token_command else "password"
            return AccessError(where, why, f"check user and {secret}", "imap-login")
        if selected:
            why = f"the folder cannot be opened: {said}"
            return NoInputError(where, why, "check the names of folders", "imap-folder")
        return RefusedError(where, f"the server refuses: {said}")


def _check_numbers(numbers: Sequence[Any]) -> list[int]:
    """The same numbers, of messages or a folder; ValueError if one cannot be such a number."""
    if strange := [number for number in numbers if type(number) is not int or not 0 < number <= MAX_NUMBER]:
        raise ValueError(f"{strange[0]!r} cannot be the number of a message or a folder")
    return [*numbers]
