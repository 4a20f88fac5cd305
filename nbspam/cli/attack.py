"""`nbspam attack`: the command, and its table."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from typing import Any

import click

from nbspam.cli import amount, plain, write_text
from nbspam.cli.options import ANY_PATH, SOURCE
from nbspam.cli.render import check_all_read, shows_progress, steps
from nbspam.cli.shared import labelled_source, options, source_argument
from nbspam.cli.tables import console, table
from nbspam.tasks.attack import LEARN, LOSS, N_DISGUISES, NOTHING, Attack, Row, attack

TRIED = ("now", "loss", "learned")


@click.command("attack")
@click.argument("model", metavar="MODEL", type=ANY_PATH)
@source_argument
@options(*SOURCE, "attack.loss", "limit", "json", "verbose", "quiet")
def attack_command(model: str, loss: str, limit: int, as_json: bool, **given: Any) -> None:
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
    that cannot be read (the table is of the rest); 74 I/O; 75 try again later.
    """
    source = labelled_source(given, allow_one_class=True)
    with steps("Disguising", N_DISGUISES, shows_progress(given["quiet"])) as advance:
        found = attack(model, source, loss, limit, advance)
    if as_json:
        write_text(json.dumps(_content(found, loss), ensure_ascii=True) + "\n")
    else:
        _show(found, model, loss)
    check_all_read(found.skipped)


def _content(found: Attack, loss: str) -> dict[str, Any]:
    """The result as JSON values."""
    rows = [
        {
            "disguise": row.disguise,
            **{name: getattr(row, name)._asdict() for name in TRIED},
            "defence": row.defence,
        }
        for row in found.rows
    ]
    numbers = {name: getattr(found, name) for name in ("spam", "caught", "judged", "lessons", "ham")}
    return numbers | {"loss": loss, "disguises": rows}


def _show(found: Attack, model: str, loss: str) -> None:
    """The table, and what to turn on."""
    out, rows = console(), found.rows
    costs = f"--loss {plain(shlex.quote(loss))}"
    out.print(f"{found.caught:,} of {amount(found.spam, 'spam message')} are caught as they come.")
    again = f"{found.judged:,} of them are judged again in each disguise"
    out.print(f"{again}; also with {costs}, and after {found.lessons} others are learned.\n")
    shown = table(
        "disguise", ">get\nthrough", ">with other\ncosts", f">after {found.lessons}\nlearned", "helps"
    )
    for row in rows:
        helps = {LEARN: "learning", LOSS: "costs", NOTHING: "neither" if row.now.through else ""}
        shown.add_row(row.disguise, *_numbers([row]), helps[row.defence])
    shown.add_row("all together", *_numbers(rows), style="bold")
    out.print(shown, "", sep="\n")
    if found.ham:
        now, by_loss, learned = (max(getattr(row, name).lost_ham for row in rows) for name in TRIED)
        lost = f"{now:,}, with other costs {by_loss:,}, after learning at most {learned:,}"
        out.print(f"Ham lost, of {found.ham:,}: {lost}.", soft_wrap=True)
    if len(rows) < N_DISGUISES:
        out.print(f"{amount(N_DISGUISES - len(rows), 'disguise')} left out: they need ham.")
    if not any(row.now.through for row in rows):
        out.print("Nothing gets through.", style="bold")
    helping, where = Counter(row.defence for row in rows), f"-m {shlex.quote(model)}"
    for defence, what, command in (
        (LEARN, "Learning helps", f"learn spam FILE {where}"),
        (LOSS, "Other costs help", f"classify {costs} {where}"),
    ):
        if helping[defence]:
            out.print(f"{what} most against {amount(helping[defence], 'disguise')}:", style="bold")
            out.print(f"  nbspam {plain(command)}", soft_wrap=True)


def _numbers(rows: list[Row]) -> list[str]:
    """Spam that gets through: now, under other costs, and after learning."""
    return [f"{sum(getattr(row, name).through for row in rows):,}" for name in TRIED]
