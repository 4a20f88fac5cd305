"""`nbspam allow` and `nbspam deny`."""

from collections.abc import Sequence

from nbspam.cli import Options, command, plain, say, write_text
from nbspam.cli.progress import check_all_read
from nbspam.cli.tables import day, print_rows
from nbspam.errors import UsageError
from nbspam.filter import begin_model, choose_model
from nbspam.labels import ALLOWED, DENIED, HAM, SPAM, amount
from nbspam.learning.learn import check_classes
from nbspam.store.reader import open_model
from nbspam.store.senders import change_servers, list_senders, name_senders, remove_senders
from nbspam.tasks.senders import list_recipients, parse_server, parse_who, read_names

HOW_TO_VERIFY = (
    "name your own mail server: nbspam allow `server=NAME`; it is the first word of the topmost "
    "Authentication-Results field of a mail that you got.  If your mail has no such field: `unverified`"
)


@command("who", "senders.file", "sent", "server", "unverified", "remove", "model", "start", "quiet")
def allow_command(options: Options) -> None:
    """Allow senders: their mail is ham, whatever its words say.

    WHO is an address, or a domain with its subdomains.  An allowed name counts only in mail with one sender
    whose domain your own mail server has verified (DMARC, DKIM or SPF, in the topmost Authentication-Results
    field of a server named with --server), because anybody can write any From.  Your server must remove
    foreign fields with its name, as RFC 8601 asks.  The probability stays that of the words.  An address
    counts before a domain, a longer domain before a shorter one.  Without WHO and options, shows the list.

    \b
    Example:
        nbspam allow --server mx.example.org
        nbspam allow ann@example.org shop.example
        nbspam allow --sent ~/Maildir/.Sent
        nbspam allow --remove shop.example

    Exit status: 0 done; 64 usage, or no server is named; 65 no sound model, or a wrong line of FILE; 66 no
    model or no such file; 75 try again later.
    """
    _begin(options, HAM)
    servers = [parse_server(name) for name in options.server]
    if servers:
        change_servers(options.model, servers, is_own=not options.remove)
        say(f"{'No longer believed' if options.remove else 'Believed'}: {', '.join(servers)}.")
    names = _collect_names(options)
    if options.sent:
        names += _list_sent(options.sent)
    with open_model(options.model) as model:
        known = model.servers
    if names and not known and not options.unverified and not options.remove:
        why = "nothing is allowed, because no mail server is known that verifies senders"
        raise UsageError("allow", why, HOW_TO_VERIFY, "allow-no-server")
    if names or options.sent or options.file:
        _change(options, names, ALLOWED, is_verified=not options.unverified)
    elif not servers:
        _show(options, ALLOWED)
        say(f"Believed: {', '.join(map(plain, known)) or 'no server'}.")


@command("who", "senders.file", "remove", "model", "start", "quiet")
def deny_command(options: Options) -> None:
    """Deny senders: their mail is spam, whatever its words say.

    WHO is an address, or a domain with its subdomains.  A message is denied if any of its senders is; that
    needs no proof.  Without WHO, shows the list.

    \b
    Example:
        nbspam deny offers.example
        nbspam deny --remove offers.example

    Exit status: 0 done; 64 usage; 65 no sound model, or a wrong line of FILE; 66 no model or no such file;
    75 try again later.
    """
    _begin(options, SPAM)
    names = _collect_names(options)
    if names or options.file:
        _change(options, names, DENIED, is_verified=False)
    else:
        _show(options, DENIED)


def _begin(options: Options, label: str) -> None:
    """Check the class of the decision, and begin the person's own model if others share one."""
    check_classes(choose_model(options.model, options.start), label)
    if kind := begin_model(options.model, options.start):
        say(f"{plain(options.model)} begins as {kind} of {plain(options.start)}.")


def _collect_names(options: Options) -> list[str]:
    """The names on the command line and in the file."""
    names = [parse_who(text) for text in options.who]
    return names + (read_names(options.file) if options.file else [])


def _list_sent(folder: str) -> list[str]:
    names, left_out, skipped = list_recipients(folder)
    for reason, number in left_out.items():
        say(f"Left out: {number:,} {reason}.")
    check_all_read(skipped)
    return names


def _change(options: Options, names: Sequence[str], decision: str, is_verified: bool) -> None:
    """Name senders, or take them out, and write a line for each that changed."""
    if not names:
        say("No address was found.")
    if options.remove:
        changed, result = remove_senders(options.model, names, decision), f"no longer {decision}"
    else:
        changed, result = name_senders(options.model, names, decision, is_verified), decision
    write_text("".join(f"{result}\t{name}\n" for name in changed))
    if unchanged := len({*names} - {*changed}):
        say(f"{amount(unchanged, 'name')}: nothing to change.")


def _show(options: Options, decision: str) -> None:
    with open_model(options.model) as model:
        rows = [row for row in list_senders(model) if row[1] == decision]
    proof = {ALLOWED: ("unverified", "verified"), DENIED: ("", "")}[decision]
    shown = [(day(since), proof[verified], who) for who, _, verified, since in rows]
    print_rows(("since", "proof", "who"), shown, ("since", "proof"))
