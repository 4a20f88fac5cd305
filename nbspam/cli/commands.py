"""The commands of click.

The module of a command is imported only when that command runs: `nbspam learn` needs no scipy.
"""

from difflib import get_close_matches
from importlib import import_module

import click

from nbspam import __version__
from nbspam.errors import InputOutputError, UsageError
from nbspam.tokens import describe_reader

# name -> (module, short help); the order is that of the help text
COMMANDS = {
    "train": ("train", "Train a model on labelled mail."),
    "classify": ("quick_commands", "Classify messages as ham or spam."),
    "serve": ("serve", "Serve mail servers over the SPAMD protocol."),
    "learn": ("quick_commands", "Learn messages as CLASS."),
    "unlearn": ("quick_commands", "Unlearn messages."),
    "log": ("ledger", "Show what was learned, and when."),
    "undo": ("ledger", "Take back what was learned."),
    "label": ("label", "Label the messages of a folder that teach most."),
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


class Commands(click.Group):
    """A group that imports a command when it runs."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"nbspam.cli.{COMMANDS[name][0]}")
        command: click.Command = getattr(module, f"{name}_command")
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = get_close_matches(name, COMMANDS, 1)
            question = f"; did you mean {near[0]}?" if near else ""
            context.fail(f"there is no command {name}{question}")
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        click.echo(f"nbspam {__version__}\nreader: {describe_reader()}")
        context.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="nbspam help COMMAND shows the options of a command, and an example.\n\n"
    "Exit status: 0 done; 64 and above as in sysexits.h: 64 usage, 65 bad data, "
    "66 no input or no model, 70 a fault of nbspam, 73 cannot create a file, 74 I/O, 75 try again later.",
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and the reader of mail, and exit.",
)
def program() -> None:
    """Filter spam with naive Bayes.

    Train a model on mail that you have sorted, let it judge new mail, and measure how good it is.
    """


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
        raise UsageError(where, why, f"nbspam help {where}".rstrip(), "usage") from None
    return result if isinstance(result, int) else 0
