"""`nbspam imap`: scan, learn and watch."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from nbspam.cli import Group, Options, command, plain, say, verdict_line, write_text
from nbspam.cli.shared import split_classes
from nbspam.cli.sync import open_memory, show_learned
from nbspam.errors import MissingExtraError, NoInputError, TryAgainError, UsageError
from nbspam.filter import open_filter
from nbspam.folders.learner import FolderLearner, FolderMemory
from nbspam.labels import HAM_AND_SPAM
from nbspam.learning.learn import check_classes, split_batches

MISSING: ModuleNotFoundError | None = None
LEARN_SECONDS = 300  # between two looks at the states of all mail
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 1.0, 300.0  # before connecting again

try:
    from nbspam.folders.account import AccessError, Account, ImapMailbox, choose_account, read_accounts
    from nbspam.folders.scan import Scan, check_folders
except ModuleNotFoundError as missing:  # the help and completion of all commands work without it
    MISSING = missing

GROUP_HELP = """Judge and learn mail on an IMAP server.

The accounts are tables of the file --config, see docs/imap.md.  Needs the extra imap (docs/install.md).

Exit status: 0 done; 64 usage; 65 no sound model or configuration; 66 no model, folder or access; 74 I/O;
75 try again later."""


@command("account", "config", "model", "imap.class", "flag_only", "dry_run", "quiet")
def scan_command(options: Options) -> None:
    """Judge unread mail that is new since the last time, and move spam to Junk.

    With --class, mail of other classes goes to its folders.  Without ACCOUNT, all accounts are scanned.  A
    message that you took out of such a folder is left where it is.
    Writes a line for each message to stdout: what was done, a tab, and the line of classify.

    \b
    Example:
        nbspam imap scan --dry-run
        nbspam imap scan --class newsletter=Newsletters
    """
    _each_account(options, _scan)


@command("account", "config", "model", "imap.class", "keep_days", "dry_run", "quiet")
def learn_folders_command(options: Options) -> None:
    """Learn from the folders of an account, and from what was read, as nbspam sync does.

    With --class, mail of that folder teaches its class in place of ham.

    \b
    Example:
        nbspam imap learn --dry-run
    """
    _each_account(options, _learn)


@command("account", "config", "model", "imap.class", "keep_days", "flag_only", "quiet")
def watch_command(options: Options) -> None:
    """Scan whenever there is new mail, and learn every 5 minutes, until it is stopped.

    Connects again after a failure, and waits longer each time, up to 5 minutes.  A login that is refused is
    such a failure only after one that was not: an OAuth2 token may have expired.

    \b
    Example:
        nbspam imap watch home
    """
    chosen = choose_account(_read_accounts(options.config), options.account)
    folders = _read_folders(options)
    learn_at, delay, was_in = 0.0, FIRST_DELAY_SECONDS, False
    while True:
        try:
            with ImapMailbox(chosen) as box:
                was_in = True
                check_folders(box, folders)
                while True:
                    learn_at = _learn_and_scan(options, folders, box, learn_at)
                    box.select(chosen.folders[0])
                    delay = FIRST_DELAY_SECONDS
                    box.wait(LEARN_SECONDS)
        except (NoInputError, TryAgainError) as error:
            # A token expires, and its program needs the network: what was right once is asked for again.
            if isinstance(error, NoInputError) and not (was_in and isinstance(error, AccessError)):
                raise
            say(f"nbspam: {plain(str(error))}; trying again in {delay:g} s")
            time.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY_SECONDS)


def read_junk(config: str, name: str, oldest: float) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of each message in the folder for junk of an account, as far as it came since this time.

    config : the file of accounts;  oldest : unix time; the server only knows days, so it may send some more
    """
    with ImapMailbox(choose_account(_read_accounts(config), name)) as box:
        junk = box.junk()
        box.select(junk)
        day = time.strftime("%d-%b-%Y", time.gmtime(max(0.0, oldest - 86_400)))
        for uids in split_batches(box.search("UNDELETED", "SINCE", day), lambda _: 0):
            for uid, data in box.fetch(uids).items():
                yield f"{name}: {junk}/{uid}", data


def _read_accounts(config: str) -> dict[str, Account]:
    """The accounts of a file, by name."""
    if MISSING:
        raise MissingExtraError("imap", MISSING, "imap", "imap-not-installed")
    return read_accounts(config)


def _each_account(options: Options, work: Callable[..., None]) -> None:
    name, accounts = options.account, _read_accounts(options.config)
    folders = _read_folders(options)
    for account in [choose_account(accounts, name)] if name else accounts.values():
        with _open_memory(account, options) as memory, ImapMailbox(account) as box:
            check_folders(box, folders)
            work(options, folders, box, memory)


def _read_folders(options: Options) -> dict[str, str]:
    """The folder of each class; check the model, and say which costs decide."""
    pairs = [*split_classes(options.classes, "FOLDER", "newsletter=Newsletters")]
    folders = dict(pairs)
    if len({*folders.values()}) < len(pairs):
        why, remedy = "a class or a folder is named twice", "give each class one folder of its own"
        raise UsageError(" ".join(options.classes), why, remedy, "class-twice", option="class")
    check_classes(options.model, *HAM_AND_SPAM, *folders)
    with open_filter(options.model) as judge:
        say(f"Decisions: {judge.costs}.")
        if homeless := [name for name in judge.classes if name not in (*HAM_AND_SPAM, *folders)]:
            mail = f"Mail of {', '.join(homeless)} stays, and teaches ham once it is read"
            say(f"{mail}: name its folder with --class.")
    return folders


def _open_memory(account: Account, options: Options) -> contextlib.closing[FolderMemory]:
    return open_memory(f"{options.model}-imap-{account.name.replace('/', '_')}.json", options)


def _scan(options: Options, folders: dict[str, str], box: ImapMailbox, memory: FolderMemory) -> None:
    scan = Scan(box, memory, "dry_run" in options.named, options.flag_only, folders)
    if not scan.can_move:
        say("The server has no MOVE: spam is only flagged, and nothing is moved.")
    would = "would be " if "dry_run" in options.named else ""
    with open_filter(options.model) as judge:
        for folder in box.account.folders:
            for action, verdict in scan.run(folder, judge):
                write_text(f"{would}{action}\t{verdict_line(verdict)}")


def _learn_and_scan(options: Options, folders: dict[str, str], box: ImapMailbox, learn_at: float) -> float:
    """Scan; learn only from the time `learn_at`.  Returns when to learn next, by the monotonic clock."""
    with _open_memory(box.account, options) as memory:
        if time.monotonic() >= learn_at:
            _learn(options, folders, box, memory, is_summed=False)
            learn_at = time.monotonic() + LEARN_SECONDS
        _scan(options, folders, box, memory)
    return learn_at


def _learn(
    options: Options, folders: dict[str, str], box: ImapMailbox, memory: FolderMemory, is_summed: bool = True
) -> None:
    source = f"imap {box.account.name}/"
    classes = {folder: label for label, folder in folders.items()}
    is_dry = "dry_run" in options.named
    learner = FolderLearner(options.model, box, memory, source, options.keep_days, is_dry, classes)
    show_learned(learner, is_summed)


imap_command = Group(GROUP_HELP, scan=scan_command, learn=learn_folders_command, watch=watch_command)
