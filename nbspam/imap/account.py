"""Accounts in a TOML file, a table each, and the secrets to log in with."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from nbspam.errors import BadDataError, NoInputError, UsageError


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

    def secret(self) -> str:
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
