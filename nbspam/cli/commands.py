"""All commands as click knows them: help, completion, and what is wrong with a command line.

The module of a command is imported only when that command runs: `nbspam learn` needs no scipy.
"""

import os
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from inspect import cleandoc
from shlex import quote
from typing import Any

import click

from nbspam import __version__
from nbspam.cli import Command, Group, Option, find_option
from nbspam.errors import InputOutputError, UsageError
from nbspam.labels import HAM_AND_SPAM
from nbspam.tokens import describe_reader

# name -> (module, short help); the order is that of the help text
COMMANDS = {
    "train": ("train", "Train a model on labelled mail."),
    "classify": ("classify", "Classify messages as ham or spam."),
    "serve": ("serve", "Serve mail servers over the SPAMD protocol."),
    "learn": ("learn", "Learn messages as CLASS."),
    "unlearn": ("learn", "Unlearn messages."),
    "allow": ("senders", "Allow senders: their mail is ham."),
    "deny": ("senders", "Deny senders: their mail is spam."),
    "log": ("ledger", "Show what was learned, and when."),
    "undo": ("ledger", "Take back what was learned."),
    "label": ("label", "Label the messages of a folder that teach most."),
    "filed": ("filed", "List what lies in a spam folder, the most doubtful first."),
    "sync": ("sync", "Learn from the folders of local Maildirs."),
    "imap": ("imap", "Judge and learn mail on an IMAP server."),
    "explain": ("explain", "Explain the verdict on a message."),
    "eval": ("evaluate", "Evaluate a filter on labelled mail."),
    "compare": ("compare", "Compare two evaluations, paired by message."),
    "tune": ("tune", "Choose the best settings for your own mail."),
    "vocab": ("vocab", "Build and show vocabularies."),
    "vectorize": ("vocab", "Turn mail into a feature matrix."),
    "doctor": ("doctor", "Check a model, and how mail comes to it."),
    "model": ("model", "Inspect, merge and convert models."),
}
ANY_PATH = click.Path(readable=False)  # shells complete it; the file is checked when it is opened
PATHS = ("FILE", "FILE.html", "FILE.json", "LIST", "MODEL", "PATH")
WORDS = ("CLASS", "[ACCOUNT]", "WORD...")  # arguments that are no paths
MANY = 15  # options: with more, the rare ones have a heading of their own in the help


def read_value(option: Option, _: click.Context, __: click.Parameter, text: Any) -> Any:
    """The value, or values, that an option reads in a text; None without a text."""
    try:
        if "many" in option.marks:
            return [*map(option.read, text)]
        return None if text is None else option.read(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def make_parameter(option: Option) -> click.Parameter:
    """An option of ours, for click."""
    marks, is_many = option.marks, "many" in option.marks
    is_path = option.value in PATHS or ("argument" in marks and option.value not in WORDS)
    kind: Any = ANY_PATH if is_path else click.Choice(option.choices) if option.choices else click.UNPROCESSED
    more: dict[str, Any] = {"type": kind, "metavar": option.value, "required": "required" in marks}
    more["callback"] = partial(read_value, option)
    if "argument" in marks:
        return click.Argument([option.name], nargs=-1 if is_many else 1, **more)
    more = more | {"multiple": is_many} if option.value else {"is_flag": True}
    make = RareOption if "rare" in marks else click.Option
    return make([*option.flags, option.name], help=option.help, **more)


class RareOption(click.Option):
    """An option that has a place of its own in a long help."""


class LongCommand(click.Command):
    """A command with so many options that the rare ones have a heading of their own in the help."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that most people need first."""
        for heading, is_rare in (("Options", False), ("Rare options", True)):
            shown = [one for one in self.get_params(context) if isinstance(one, RareOption) == is_rare]
            with formatter.section(heading):
                records = [one.get_help_record(context) for one in shown if isinstance(one, click.Option)]
                formatter.write_dl([*filter(None, records)], col_max=20)


def is_named(value: Any) -> bool:
    """True for a value that is on the command line: click has None, False or an empty list for the others."""
    return value is not None and value is not False and value != []


def make_command(name: str, command: Command | Group) -> click.Command:
    """A command or group of ours, for click."""
    if isinstance(command, Group):
        inner = {name: make_command(name, one) for name, one in sorted(command.commands.items())}
        texts = {name: one.get_short_help_str(999) for name, one in inner.items()}  # whole first sentences
        return Commands(texts, inner.get, name=name, help=cleandoc(command.help))

    def run(**values: Any) -> int:
        return command.run({name: value for name, value in values.items() if is_named(value)})

    parameters = [make_parameter(find_option(key)) for key in command.keys]
    kind = LongCommand if len(parameters) > MANY else click.Command
    return kind(name, params=parameters, callback=run, help=cleandoc(command.work.__doc__ or ""))


class Commands(click.Group):
    """A group that shows the texts of its commands, in their order, and makes a command when it runs."""

    def __init__(
        self, texts: dict[str, str], find: Callable[[str], click.Command | None], **more: Any
    ) -> None:
        super().__init__(**more)
        self._texts, self._find = texts, find

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self._texts)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        return self._find(name) if name in self._texts else None

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if name not in self._texts and not name.startswith("-"):
            near = get_close_matches(name, self._texts, 1)
            question = f"; did you mean {near[0]}?" if near else ""
            context.fail(f"there is no command {name}{question}")
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*self._texts.items()])


def _find_command(name: str) -> click.Command:
    module = import_module(f"nbspam.cli.{COMMANDS[name][0]}")
    return make_command(name, getattr(module, f"{name}_command"))


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        click.echo(f"nbspam {__version__}\nreader: {describe_reader()}")
        context.exit()


program = Commands(
    {name: text for name, (_, text) in COMMANDS.items()},
    _find_command,
    help="Filter spam with naive Bayes.\n\n"
    "Train a model on mail that you have sorted, let it judge new mail, and measure how good it is.",
    epilog="nbspam help COMMAND shows the options of a command, and an example.\n\n"
    "Exit status: 0 done; 64 and above as in sysexits.h: 64 usage, 65 bad data, "
    "66 no input or no model, 70 a fault of nbspam, 73 cannot create a file, 74 I/O, 75 try again later.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Show the version and the reader of mail, and exit.",
        )
    ],
)


def _suggest(error: click.ClickException, context: click.Context | None, words: list[str], where: str) -> str:
    """What to type in place of a class that is written as an option, or a model as an argument; or ""."""
    names = [one.name for one in context.command.params] if context else []
    if isinstance(error, click.NoSuchOption) and "class_name" in names:
        label = error.option_name.lstrip("-")
        others = [quote(one) for one in words[1:] if one != error.option_name]
        return " ".join(["nbspam", where, label, *others]) if label in HAM_AND_SPAM else ""
    is_model = "model" in names and "unexpected extra argument" in error.message
    return f"nbspam {where} -m {quote(words[-1])}" if is_model and os.path.isfile(words[-1]) else ""


def run(arguments: list[str]) -> int:
    """Run one command; its exit status.  `help COMMAND` is `COMMAND --help`."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    try:
        result = program.main(arguments, prog_name="nbspam", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as end:  # 0: a shell completes a word; else the reader of a pipe went away
        return InputOutputError.status if end.code else 0
    except click.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # since click 8.2; older ones show the help, too
            error.show()
            return UsageError.status
        context = getattr(error, "ctx", None)  # a usage error has the command, such as `model info`
        where = context.command_path.partition(" ")[2] if context else arguments[0]
        why = " ".join(error.format_message().split())  # click writes each choice on its own line
        remedy = _suggest(error, context, arguments, where) or f"nbspam help {where}".rstrip()
        raise UsageError(where, why, remedy, "usage") from None
    return result if isinstance(result, int) else 0
