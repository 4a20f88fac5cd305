"""The options of all commands: one table.  `classify` has a short parser of its own (nbspam.cli.classify)."""

import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from math import isnan
from typing import Any, TypeVar

import click

from nbspam.cli import default_model, default_start, flag_of
from nbspam.cli.classify import SETTINGS
from nbspam.corpus.executor import default_jobs
from nbspam.errors import UsageError, show_faults
from nbspam.settings import ALPHA, BINNINGS, DEFAULT_BINS, EVENT_MODELS, FEATURES, NUMERIC_MODELS, THRESHOLD
from nbspam.tokens.bag import READ_VIEWS

Command = TypeVar("Command", bound=Callable[..., Any])
ANY_PATH = click.Path(readable=False)  # shells complete it; the file is checked when it is opened
_PATHS = ("FILE", "FILE.html", "FILE.json", "LIST", "MODEL", "PATH")


def parse_mode(value: str) -> int:
    """Permissions as chmod takes them, from 0 to 0o777: 600 is 0o600."""
    if not re.fullmatch("[0-7]{1,3}", value):
        raise click.BadParameter(f"{value!r} is not of the form 660")
    return int(value, 8)


def parse_size(value: str) -> int:
    """Bytes above 0, as 500K, 10M or 2G; K is 1,000."""
    found = re.fullmatch("([1-9][0-9]*)([KMG]?)", value.upper())
    if not found:
        raise click.BadParameter(f"{value!r} is not of the form 500K, 10M or 2G")
    return int(found[1]) * int(1000 ** " KMG".index(found[2] or " "))


class Real(click.FloatRange):
    """A float in a range; nan, which click takes, is an error."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """A number in the range."""
        number: float = super().convert(value, param, ctx)
        return self.fail(f"{value!r} is not a number", param, ctx) if isnan(number) else number


def _option(
    help: str,
    value: str = "",
    *,
    type: Any = None,
    shown: str = "",
    short: str = "",
    name: str = "",
    **more: Any,
) -> Callable[[str], Callable[[Command], Command]]:
    """An option for click, once its flag is known.

    value : the name of the value in the help; empty for a switch
    type  : of click, or the allowed values, which end the help
    shown : the default in the help, if it is not a constant
    short : a second flag;  name : of the parameter, if Python has another use for that of the flag
    """
    if not value:
        more["is_flag"] = True
    else:
        more["metavar"] = value
        more["type"] = click.Choice(type) if isinstance(type, tuple) else type
        if value in _PATHS:
            more["type"] = ANY_PATH
        more["show_default"] = shown or "default" in more
        if isinstance(type, tuple):
            help = f"{help.rstrip('.')}: {', '.join(type)}."
    return lambda flag: click.option(*filter(None, (short, flag, name)), help=help, **more)


def _accounts_file() -> str:
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(folder, "nbspam", "imap.toml")


def _show_faults(context: click.Context, option: click.Parameter, is_given: bool) -> bool:
    if is_given:
        show_faults()
    return is_given


_verbose = partial(_option, callback=_show_faults, short="-v")

_LOSS = "COSTS|FILE"
_COUNT, _SOME, _DAYS = click.IntRange(0), click.IntRange(2), Real(0, 36500)
_JOBS = click.IntRange(1, 1_000)  # more is a typing mistake
_PRIOR = "empirical, smoothed, uniform, or a probability for each class: spam=0.4,ham=0.6."

# By the name of the flag; "command.name" is the form of one command.
_TABLE: dict[str, Callable[[str], Callable[[Any], Any]]] = {
    # Arguments
    "source": lambda flag: click.argument("source", metavar="[SOURCE]...", nargs=-1, type=ANY_PATH),
    "files": lambda flag: click.argument("files", metavar="[FILE|-]...", nargs=-1, type=ANY_PATH),
    # Labelled mail
    "ham": _option("Ham: a Maildir, MH folder, mbox, folder, file; repeatable.", "PATH", multiple=True),
    "spam": _option("Spam, in the same forms; repeatable.", "PATH", multiple=True),
    "class": _option("Mail of a class; repeatable.", "NAME=PATH", name="classes", multiple=True),
    "rules": _option("A file with the class of each Maildir folder.", "FILE"),
    "skip_unread": _option("Skip unread ham of a Maildir: missed spam is often among it."),
    # The model, and how it counts and scores
    "model": _option(
        "The model file.",
        "MODEL",
        shown="$NBSPAM_MODEL, else ~/.local/share/nbspam/model.nbspam",
        default=default_model,
        short="-m",
    ),
    "eval.model": _option("Judge by this model, as classify does.", "MODEL", short="-m"),
    "start": _option(
        "While there is no model, judge by this one; the first learned message makes an overlay of it.",
        "MODEL",
        shown="$NBSPAM_START",
        default=default_start,
    ),
    "replace": _option("Write over an existing model."),
    "mode": _option("Permissions of the model file.", "MODE", type=parse_mode, shown="600 for a new file"),
    "event_model": _option(
        "The event model.", "NAME", type=EVENT_MODELS, shown="presence; gaussian with --features numeric"
    ),
    "alpha": _option(f"The smoothing constant. Default: {ALPHA:g} for averaged views, else 1.", "X|auto"),
    "threshold": _option(
        "With averaged views: ignore tokens whose log-odds are below NATS (in the header; less elsewhere).",
        "NATS",
        type=float,
        default=THRESHOLD,
    ),
    "views": _option(f"Read only these views: {', '.join(READ_VIEWS)}.", "VIEW,...", default="all"),
    "prior": _option(f"The prior: {_PRIOR}", "PRIOR", default="empirical"),
    "features": _option("What to count and score.", "NAME", type=FEATURES),
    "numeric_model": _option(
        "With --features both: the model of the numbers.", "NAME", type=NUMERIC_MODELS, shown="gaussian"
    ),
    "bins": _option("Bins of a number, for categorical and aode.", "N", type=int, default=DEFAULT_BINS),
    "binning": _option("What is equal in all bins.", "NAME", type=BINNINGS, default=BINNINGS[0]),
    "edges": _option("Edges of the bins of a feature: size=1000,5000.", "FEATURE=EDGES", multiple=True),
    "token_pattern": _option(
        r"Each match of this regular expression is a word: \w\w+ (not for the default model).", "REGEX"
    ),
    "normalise": _option("Normalise the complement model."),
    "textbook": _option("Score and decide by the plain formula of textbooks."),
    "vocab": _option("Count only the words of this vocabulary.", "FILE"),
    "loss": _option("Costs of decisions: FP=10,FN=1,unsure=0.2; 0-1; or a file.", _LOSS),
    # Another way of scoring than that of the model
    "score.event_model": _option(f"Score by another event model: {', '.join(EVENT_MODELS)}.", "NAME"),
    "score.alpha": _option("Score with another smoothing constant.", "X"),
    "score.prior": _option(f"Score with another prior: {_PRIOR}", "PRIOR"),
    "score.features": _option("Score by words, numeric or both.", "NAME"),
    # train
    "update": _option("Add the mail to a model; a message counted before counts again."),
    # classify, learn, serve
    "files_from": _option("Read the paths of messages from this file, one a line (- is stdin).", "LIST"),
    "attached": _option("Each message is a report: the messages attached to it are meant."),
    "passthrough": _option("Write the message with an X-Nbspam header inserted.", short="-p"),
    "spam_flag": _option("Insert X-Spam-Flag and X-Spam-Status after X-Nbspam."),
    "header_format": _option(
        "Insert the fields of another filter, too.", "NAME", type=("spamassassin", "bogofilter")
    ),
    "exit_code": _option("Exit with 0 for spam, 1 for ham, 2 for unsure."),
    "exit_style": _option("Exit as another filter does.", "NAME", type=("bogofilter",)),
    "autolearn": _option("Learn each message as its verdict, if the verdict is sure enough."),
    "socket": _option("Listen on a unix socket (spamc -U PATH).", "PATH"),
    "socket_mode": _option("Permissions of the socket.", "OCTAL", type=parse_mode, default="600"),
    "listen": _option("Listen on TCP (spamc -d HOST -p PORT).", "HOST:PORT", shown="localhost:783"),
    "classify.timeout": _option(
        "Time limit for the model, with -p for the whole verdict; then exit with 75.", "SECONDS", shown="10"
    ),
    "timeout": _option(
        "Time that a client has to send a message, and again to take the answer.",
        "SECONDS",
        type=Real(0.1, 3600),
        default=60,
    ),
    "metrics": _option("Show figures for Prometheus there; a port alone is on localhost.", "HOST:PORT"),
    "log_format": _option("The lines on stderr.", "NAME", type=("text", "json"), default="text"),
    "allow_tell": _option("Let clients correct the model (spamc -L)."),
    # log, undo
    "log.number": _option("Number of lines; 0 shows all.", "N", type=_COUNT, default=20, short="-n"),
    "last": _option("Take back the last line of nbspam log."),
    "since": _option(
        "Take back what was learned since this time.",
        "TIME",
        type=click.DateTime(["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"]),
    ),
    "undo.source": _option("Take back what came from this command, or from this folder.", "NAME"),
    # sync, imap
    "config": _option("Your accounts.", "FILE", shown="~/.config/nbspam/imap.toml", default=_accounts_file),
    "imap.class": _option(
        "Keep mail of a class in this folder; repeatable.",
        "NAME=FOLDER",
        multiple=True,
        name="classes",
    ),
    "flag_only": _option("Set the keyword $Junk, and move nothing."),
    "keep_days": _option("Days after which unread mail is learned, too.", "N", type=_DAYS, default=7),
    "dry_run": _option("Only show what would be done."),
    # eval, tune
    "folds": _option("Judge each of K parts by the others.", "K", type=int, default=10),
    "grouped": _option("With --folds: keep near-duplicates in one part."),
    "replay": _option("Judge each message in order of time, then learn it."),
    "feedback": _option(
        "With --replay: immediate, delayed:N, partial:SHARE, on-error, thick:MARGIN, first:N.",
        "KIND",
        default="immediate",
    ),
    "eval.autolearn": _option("With --replay: also learn the filter's own verdicts."),
    "holdout": _option("Judge this share of the mail by the rest.", "SHARE", type=float),
    "by_time": _option("With --holdout: judge the newest messages."),
    "results": _option("Write a line for each message, in the format of TREC.", "FILE"),
    "save": _option("Keep the evaluation, for nbspam compare.", "FILE.json"),
    "report": _option("Write a page with curves and mistakes (extra report).", "FILE.html"),
    "seed": _option("Seed of random choices.", "N", type=_COUNT, default=0),
    "write": _option("Train MODEL on SOURCE with the best settings."),
    # explain, vocab, vectorize, model
    "top": _option("Number of clues; 0 shows all.", "N", type=_COUNT, default=15),
    "vocab.top": _option("Number of codes; 0 shows all.", "N", type=_COUNT, default=20),
    "output": _option("The file to write; - is stdout.", "FILE", required=True, short="-o"),
    "dump.output": _option("The file to write; - is stdout.", "FILE", default="-", short="-o"),
    "merge.output": _option("The merged model.", "MODEL", required=True, short="-o"),
    "size": _option("Keep the N most frequent words. Default: all.", "N", type=int),
    "max_size": _option("Keep the most frequent tokens that fit into such a file.", "SIZE", type=parse_size),
    "prune.min_count": _option("Keep the tokens of N or more messages.", "N", type=_SOME),
    "min_count": _option("Keep words in N or more messages.", "N", type=int, default=1),
    "word_list": _option("Keep only the words of this dictionary, one a line.", "FILE"),
    "view": _option("The tokens to count.", "NAME", type=("all", "body"), shown="all; body with other words"),
    "vectorize.features": _option("The columns.", "NAME", type=("words", "numeric"), default="words"),
    "vectorize.vocab": _option("With words: the vocabulary; its codes are the columns.", "FILE"),
    "vectorize.event_model": _option(
        "How to count words.", "NAME", type=("bernoulli", "multinomial"), shown="multinomial"
    ),
    "format": _option("The format.", "NAME", type=("npz", "jsonl"), default="npz", name="form"),
    # All commands
    "jobs": _option("Processes.", "N", type=_JOBS, shown="all cores", default=default_jobs, short="-j"),
    "max_memory": _option(
        "Megabytes for all processes together, about; counts beyond wait in temporary files ($TMPDIR).",
        "MB",
        type=click.IntRange(1),
        shown="500, or what the jobs need",
    ),
    "scheduler": _option(
        "Let the workers of this Dask scheduler do the work; each must see SOURCE, by its path or as a URL "
        "(extra dask).",
        "tcp://HOST:PORT",
    ),
    "local_cluster": _option("Start N Dask workers here to do the work (extra dask).", "N", type=_JOBS),
    "json": _option("Write JSON to stdout, one object a line."),
    "verbose": _verbose("Name each message on which a part of nbspam failed.", expose_value=False),
    "train.verbose": _verbose(
        "Name the messages that are in more than one class, and each on which a part of nbspam failed."
    ),
    "eval.verbose": _verbose("Name every misclassified message, the worst with clues."),
    "quiet": _option("Write nothing to stderr except errors.", short="-q"),
    "doctor.quiet": _option("Show only what is wrong.", short="-q"),
}
SOURCE = ("source", "ham", "spam", "class", "rules", "skip_unread")
CLUSTER = ("scheduler", "local_cluster")
# A model keeps these ways of counting and scoring from its training; the others can be chosen again.
KEPT_BY_MODEL = ("threshold", "views", "numeric_model", "bins", "binning", "normalise", "token_pattern")
SCORING = (*SETTINGS, *KEPT_BY_MODEL)
OTHER_SCORING = ("score.event_model", "score.alpha", "score.prior", "score.features", "textbook")
RARE = {"classes", "rules", "grouped", "feedback", "autolearn", "results", "seed", "start"}
RARE |= {*SCORING, *CLUSTER, "edges", "vocab"}


class LongCommand(click.Command):
    """A command with so many options that the rare ones have a heading of their own in the help."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that most people need first."""
        for heading, is_rare in (("Options", False), ("Rare options", True)):
            shown = [one for one in self.get_params(context) if (one.name in RARE) == is_rare]
            with formatter.section(heading):
                records = [one.get_help_record(context) for one in shown if isinstance(one, click.Option)]
                formatter.write_dl([*filter(None, records)], col_max=20)


class LongGroup(click.Group):
    """A group whose help shows the first sentence of each command whole; click cuts it to a line."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in the order of the alphabet."""
        whole = [(name, one.get_short_help_str(999)) for name, one in sorted(self.commands.items())]
        with formatter.section("Commands"):
            formatter.write_dl(whole)


def options(*keys: str) -> Callable[[Command], Command]:
    """The options and arguments of these keys in the table, in the order of the help."""

    def decorate(command: Command) -> Command:
        for key in reversed(keys):
            command = _TABLE[key](flag_of(key.rpartition(".")[2]))(command)
        return command

    return decorate


def list_given(names: Iterable[str]) -> list[str]:
    """The parameters among `names` that are given on the command line."""
    source, context = click.core.ParameterSource.COMMANDLINE, click.get_current_context()
    return [name for name in names if context.get_parameter_source(name) == source]


def find_given(names: Iterable[str]) -> str:
    """The one of these parameters that is given on the command line, or empty; UsageError if two are."""
    asked = list_given(names)
    if len(asked) > 1:
        raise UsageError(" ".join(map(flag_of, asked)), "exclude each other", "give one of them", "usage")
    return asked[0] if asked else ""
