"""`nbspam attack`: the command, and its table."""

from __future__ import annotations

import shlex
from typing import Any

import click

from nbspam.cli import amount, plain
from nbspam.cli.options import ANY_PATH, SOURCE, options
from nbspam.cli.shared import open_source
from nbspam.cli.tables import check_all_read, console, steps, table, write_json
from nbspam.tasks.attack import N_DISGUISES, Attack, Row, attack

TRIED = ("now", "loss", "learned")
HELPS = {"learned": "learning", "loss": "costs"}


@click.command("attack")
@click.argument("model", metavar="MODEL", type=ANY_PATH)
@options(*SOURCE, "attack.loss", "limit", "json", "verbose", "quiet")
def attack_command(model: str, loss: str, limit: int, json: bool, **given: Any) -> None:
    """Disguise spam, and see what gets through a model.

    SOURCE is as for nbspam train; name mail that the model has not learned.  The spam that MODEL catches is
    judged again in one disguise after another: other letters, split words, words of ham that show or do not
    show, the header of a ham, the words that say most for ham.  Without ham in SOURCE some are left out.

    Two defences are tried: other costs (--loss), and learning a few spam of each disguise.  The last column
    has the one with fewer mistakes, spam that gets through and ham that is lost.  Changes nothing.

    \b
    Example:
        nbspam attack ~/.local/share/nbspam/model.nbspam ~/Maildir
        nbspam attack my.nbspam --ham inbox --spam junk.mbox --loss FN=3

    Exit status: 0 done; 64 usage; 65 bad data, or too little spam is caught; 66 no spam, no model, or mail
    that cannot be read (the table is of the rest); 73 no room for a copy of the model in $TMPDIR; 74 I/O;
    75 try again later.
    """
    source = open_source(given, allow_one_class=True)
    with steps("Disguising", N_DISGUISES, given["quiet"]) as advance:
        found = attack(model, source, loss, limit, advance)
    if json:
        write_json(_content(found, loss))
    else:
        _show(found, model, loss)
    check_all_read(found.skipped)


def _content(found: Attack, loss: str) -> dict[str, Any]:
    """The result as JSON values."""
    rows = [row._asdict() | {"best": row.best} for row in found.rows]
    numbers = {name: getattr(found, name) for name in ("spam", "caught", "lessons", "judged", "ham")}
    return numbers | {"loss": loss, "disguises": rows}


def _show(found: Attack, model: str, loss: str) -> None:
    """The table, and how to turn on what helps."""
    out, rows, costs = console(), found.rows, f"--loss {plain(shlex.quote(loss))}"
    out.print(f"{found.caught:,} of {amount(found.spam, 'spam message')} are caught as they come.")
    out.print(
        f"{found.judged:,} of them are judged again in each disguise; "
        f"also with {costs}, and after {found.lessons} others are learned.\n"
    )
    heads = (">get\nthrough", ">with other\ncosts", f">after {found.lessons}\nlearned")
    shown = table("disguise", *heads, "helps")
    for row in rows:
        helps = HELPS.get(row.best, "neither" if row.now.through else "")
        shown.add_row(row.disguise, *_through([row]), helps)
    shown.add_row("all together", *_through(rows), style="bold")
    out.print(shown, "", sep="\n")
    if found.ham:
        now, loss, learned = (max(getattr(row, name).lost_ham for row in rows) for name in TRIED)
        lost = f"{now:,}, with other costs {loss:,}, after learning at most {learned:,}"
        out.print(f"Ham lost, of {found.ham:,}: {lost}.", soft_wrap=True)
    if len(rows) < N_DISGUISES:
        left_out = amount(N_DISGUISES - len(rows), "disguise")
        out.print(f"{left_out} left out: no ham to take from, or no words in the model.")
    commands = {"learned": "learn spam FILE", "loss": f"classify {costs}"}
    best = [row.best for row in rows if row.best in HELPS]
    for name in dict.fromkeys(best):
        command = f"nbspam {commands[name]} -m {plain(shlex.quote(model))}"
        out.print(f"To turn on {HELPS[name]}: {command}", style="bold", soft_wrap=True)


def _through(rows: list[Row]) -> list[str]:
    """Spam that gets through in each of TRIED."""
    return [f"{sum(getattr(row, name).through for row in rows):,}" for name in TRIED]
