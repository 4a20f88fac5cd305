"""`nbspam imap`: scan, learn and watch."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import click

from nbspam.cli import plain, say, verdict_line, write_text
from nbspam.cli.options import LongGroup, options
from nbspam.cli.sync import show_learned
from nbspam.errors import MissingExtraError, TryAgainError
from nbspam.filter import open_filter
from nbspam.folders.learner import FolderLearner, FolderMemory
from nbspam.labels import HAM_AND_SPAM
from nbspam.learning.learn import check_classes

MISSING: ModuleNotFoundError | None = None
LEARN_SECONDS = 300  # between two looks at the states of all mail
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 1.0, 300.0  # before connecting again

try:
    from nbspam.folders.account import Account, ImapMailbox, choose_account, read_accounts
    from nbspam.folders.scan import Scan
except ModuleNotFoundError as missing:  # the help and completion of all commands work without it
    MISSING = missing

account_argument = click.argument("account", metavar="[ACCOUNT]", default="")


@click.group("imap", cls=LongGroup)
def imap_command() -> None:
    """Judge and learn mail on an IMAP server.

    The accounts are tables of the file --config, see docs/imap.md.  Needs the extra imap (docs/install.md).

    Exit status: 0 done; 64 usage; 65 no sound model or configuration; 66 no model, folder or access; 74 I/O;
    75 try again later.
    """
    if MISSING:
        raise MissingExtraError("imap", MISSING, "imap", "imap-not-installed")


@imap_command.command("scan")
@account_argument
@options("config", "model", "flag_only", "dry_run", "quiet")
def scan_command(account: str, config: str, **given: Any) -> None:
    """Judge unread mail that is new since the last time, and move spam to Junk.

    Without ACCOUNT, all accounts are scanned.  A message that you took out of Junk is left where it is.
    Writes a line for each message to stdout: what was done, a tab, and the line of classify.

    \b
    Example:
        nbspam imap scan --dry-run
    """
    _each_account(account, config, given, _scan)


@imap_command.command("learn")
@account_argument
@options("config", "model", "keep_days", "dry_run", "quiet")
def learn_folders_command(account: str, config: str, **given: Any) -> None:
    """Learn from the folders of an account, and from what was read, as nbspam sync does.

    \b
    Example:
        nbspam imap learn --dry-run
    """
    _each_account(account, config, given, _learn)


@imap_command.command("watch")
@account_argument
@options("config", "model", "keep_days", "flag_only", "quiet")
def watch_command(account: str, config: str, **given: Any) -> None:
    """Scan whenever there is new mail, and learn every 5 minutes, until it is stopped.

    Connects again after a failure, and waits longer each time, up to 5 minutes.

    \b
    Example:
        nbspam imap watch home
    """
    chosen, given = choose_account(read_accounts(config), account), given | {"dry_run": False}
    _begin(given)
    learn_at, delay = 0.0, FIRST_DELAY_SECONDS
    while True:
        try:
            with ImapMailbox(chosen) as box:
                while True:
                    learn_at = _learn_and_scan(given, box, learn_at)
                    box.select(chosen.folders[0])
                    delay = FIRST_DELAY_SECONDS
                    box.wait(LEARN_SECONDS)
        except TryAgainError as error:
            say(f"nbspam: {plain(str(error))}; trying again in {delay:g} s", given["quiet"])
            time.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY_SECONDS)


def _each_account(name: str, config: str, given: dict[str, Any], work: Callable[..., None]) -> None:
    accounts = read_accounts(config)
    _begin(given)
    for account in [choose_account(accounts, name)] if name else accounts.values():
        with _open_memory(account, given) as memory, ImapMailbox(account) as box:
            work(given, box, memory)


def _begin(given: dict[str, Any]) -> None:
    """Check the model, and say which costs decide."""
    check_classes(given["model"], *HAM_AND_SPAM)
    with contextlib.closing(open_filter(given["model"])) as judge:
        say(f"Decisions: {judge.costs}.", given["quiet"])


def _open_memory(account: Account, given: dict[str, Any]) -> contextlib.closing[FolderMemory]:
    path = f"{given['model']}-imap-{account.name.replace('/', '_')}.json"
    return contextlib.closing(FolderMemory(path, is_kept=not given["dry_run"]))


def _scan(given: dict[str, Any], box: ImapMailbox, memory: FolderMemory) -> None:
    scan = Scan(box, memory, given["dry_run"], given["flag_only"])
    if not scan.can_move:
        say("The server can neither MOVE nor remove single messages: spam is only flagged.", given["quiet"])
    would = "would be " if given["dry_run"] else ""
    with contextlib.closing(open_filter(given["model"])) as judge:
        for folder in box.account.folders:
            for action, verdict in scan.run(folder, judge):
                write_text(f"{would}{action}\t{verdict_line(verdict)}")


def _learn_and_scan(given: dict[str, Any], box: ImapMailbox, learn_at: float) -> float:
    """Scan; learn only from the time `learn_at`.  Returns when to learn next, by the monotonic clock."""
    with _open_memory(box.account, given) as memory:
        if time.monotonic() >= learn_at:
            _learn(given | {"quiet": True}, box, memory)
            learn_at = time.monotonic() + LEARN_SECONDS
        _scan(given, box, memory)
    return learn_at


def _learn(given: dict[str, Any], box: ImapMailbox, memory: FolderMemory) -> None:
    source = f"imap {box.account.name}/"
    learner = FolderLearner(given["model"], box, memory, source, given["keep_days"], given["dry_run"])
    show_learned(learner, given["quiet"])
