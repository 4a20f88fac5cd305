"""The commands, read by click.

Hides which file holds a command: a command's module is imported only when that command is
named, so `nbspam learn` does not pay for matplotlib or scipy.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

import click

from nbspam import __version__
from nbspam.errors import UsageError

# name -> (module, short help); the order is that of the help text
COMMANDS = {
    "train": ("train", "Train a model on labelled mail."),
    "classify": ("classify_command", "Say of messages whether they are spam."),
    "serve": ("serve", "Answer mail servers by the SPAMD protocol."),
    "learn": ("learn", "Correct a model: count messages as CLASS."),
    "unlearn": ("learn", "Take messages out of a model again."),
    "explain": ("explain", "Say why a message got its verdict."),
    "eval": ("evaluate", "Report how good a filter is on labelled mail."),
    "compare": ("compare", "Compare two evaluations, paired by message."),
    "tune": ("tune", "Choose settings on your own mail, and train with them."),
    "vocab": ("vocab", "Build and show vocabularies."),
    "vectorize": ("vectorize", "Turn mail into a feature matrix."),
    "doctor": ("doctor", "Say what is wrong with a model, or with labels."),
    "model": ("model", "Inspect, merge and convert models."),
}


class Commands(click.Group):
    """Loads a command when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"nbspam.cli.{COMMANDS[name][0]}")
        command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 done; 64 and above as in sysexits.h: 64 usage, 65 bad data, "
    "66 no input or no model, 70 our bug, 73 cannot create, 74 I/O, 75 try again later.",
)
@click.version_option(__version__, prog_name="nbspam", message="%(prog)s %(version)s")
def program() -> None:
    """Filter spam with naive Bayes.

    Train a model on mail you have sorted, let it judge new mail, and measure how good it is.
    """


def run(arguments: list[str]) -> int:
    """Runs one command and returns its exit status."""
    try:
        result = program.main(arguments, prog_name="nbspam", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return UsageError.status
    except click.ClickException as error:
        command = _command_path(arguments)
        why = " ".join(error.format_message().split())  # click lists choices a line each
        raise UsageError(command, why, f"see {command} --help", "usage") from None
    return result if isinstance(result, int) else 0


def _command_path(arguments: list[str]) -> str:
    """`nbspam model info`: what was asked for, which click does not say of an option without its value."""
    path, command = "nbspam", cast(click.Command, program)
    for word in arguments:
        found = (
            command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
        )
        if found is None:
            break
        path, command = f"{path} {word}", found
    return path
