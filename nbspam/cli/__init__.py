"""The command line: words in, words out; no arithmetic.  Here are all options, and texts that commands share.

The table of options is read by a short parser, and by click in nbspam.cli.commands.  `classify` and `learn`
start once a mail, and click takes 35 ms to import: the short parser reads their arguments.  It leaves help,
rare forms and wrong values to click, which says what is wrong.

Text from mail and from the file system is made harmless: control characters are shown as escapes.  Names of
classes have none (nbspam.labels).
"""

from __future__ import annotations

import os
import sys
from collections import namedtuple  # typing takes 5 ms

from nbspam.errors import BadDataError, MissingExtraError, UsageError, show_faults
from nbspam.labels import amount, format_counts, parse_class_name
from nbspam.settings import ALPHA, BINNINGS, DEFAULT_BINS, EVENT_MODELS, FEATURES, NUMERIC_MODELS, THRESHOLD
from nbspam.tokens.bag import READ_VIEWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from nbspam.decision import Verdict
    from nbspam.errors import NbspamError


STDIN_NAME = "-"
_IN_DATA_FOLDER = ("nbspam", "model.nbspam")


def plain(text: str) -> str:
    """The text with every character that is not printable written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape", "backslashreplace").decode("ascii")
        for one in text.encode("utf-8", "backslashreplace").decode("utf-8")
    )


def write_text(text: str) -> None:
    """Write text to stdout, with an escape for each character that its charset lacks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def say(text: str, quiet: bool = False) -> None:
    """Write lines for people to stderr, unless they asked for quiet."""
    if not quiet:
        sys.stderr.write(text + "\n")


def done_text(done: dict[str, int]) -> str:
    """The line `3 messages: 2 learned, 1 moved.`  done : result -> how many messages"""
    verbs = {result: result.removeprefix("was ").removeprefix("is ") for result in done}
    counts = ", ".join([f"{count:,} {verbs[result]}" for result, count in done.items()])
    return f"{amount(sum(done.values()), 'message')}{': ' + counts if counts else ''}."


def messages_text(classes: Sequence[str], messages: Sequence[int]) -> str:
    """How many messages there are, in all and of each class."""
    return f"{amount(sum(messages), 'message')} ({format_counts(classes, messages)})"


def read_class_name(name: str, where: str) -> str:
    """The canonical spelling of a class name; UsageError if it cannot be one.  where : what holds the name"""
    try:
        return parse_class_name(name, where)
    except BadDataError as error:
        raise UsageError(where, error.why, "give another name, for example: spam", error.slug) from None


def flag_of(name: str) -> str:
    """An option as people type it: event_model is --event-model."""
    return "--" + name.replace("_", "-")


def with_flags(text: str) -> str:
    """Write arguments in backticks as options: `bins=10` becomes --bins 10."""
    if "`" not in text:
        return text
    import re  # 5 ms, for errors only

    argument = "`([a-z_]+)(=?)([^`]*)`"
    return re.sub(argument, lambda found: flag_of(found[1]) + (found[2] and " ") + found[3], text)


def error_text(error: NbspamError) -> str:
    """Where, why, what to do next, and the slug at the end of the last line."""
    where = f"{flag_of(error.option)} {error.where}".rstrip() if error.option else error.where
    remedy = with_flags(error.remedy)
    if isinstance(error, MissingExtraError):
        from nbspam.cli.extras import install_command

        remedy = install_command(error.extra)
    first = ": ".join(["nbspam", *filter(None, [plain(where)]), plain(with_flags(error.why))])
    if not remedy:
        return f"{first}  [{error.slug}]\n"
    return f"{first}\n  next: {plain(remedy)}  [{error.slug}]\n"


def default_model() -> str:
    """$NBSPAM_MODEL, else model.nbspam in the user's data folder."""
    return model_places()[0][1]


def default_start() -> str:
    """$NBSPAM_START, or empty: no model to begin with."""
    return os.environ.get("NBSPAM_START", "")


def model_places() -> list[tuple[str, str]]:
    """(why, path) of the places where a model may be; the first one is used."""
    places = [("the default place", model_in_home(os.path.expanduser("~")))]
    if os.path.isabs(folder := os.environ.get("XDG_DATA_HOME", "")):  # its standard says to ignore any other
        places.insert(0, ("in $XDG_DATA_HOME", os.path.join(folder, *_IN_DATA_FOLDER)))
    if path := os.environ.get("NBSPAM_MODEL"):
        places.insert(0, ("named by $NBSPAM_MODEL", path))
    return places


def model_in_home(home: str) -> str:
    """The default place of the model of the user with this home folder."""
    return os.path.join(home, ".local", "share", *_IN_DATA_FOLDER)


def verdict_line(verdict: Verdict) -> str:
    """LABEL<TAB>PROBABILITY<TAB>NAME, probability with six digits, or `undefined`."""
    probability = "undefined" if verdict.probability is None else f"{verdict.probability:.6f}"
    return f"{verdict.label}\t{probability}\t{plain(verdict.name)}\n"


def parse_mode(text: str) -> int:
    """Permissions as chmod takes them, from 0 to 0o777: 600 is 0o600."""
    if len(text) > 3 or not text.isdecimal():
        raise ValueError(text)
    return int(text, 8)


def parse_size(text: str) -> int:
    """Bytes above 0, as 500K, 10M or 2G; K is 1,000."""
    power = max(0, " KMG".find(text[-1:].upper()))
    digits = text[:-1] if power else text
    if not digits.isdecimal() or digits.startswith("0"):
        raise ValueError(text)
    return int(digits) * int(1000**power)


def parse_time(text: str) -> float:
    """Milliseconds since 1970 of a local time."""
    from datetime import datetime  # for undo alone

    return 1000 * datetime.fromisoformat(text).timestamp()


def default_jobs() -> int:
    """The cores that this process may use."""
    from nbspam.corpus import executor  # for many messages

    return executor.default_jobs()


def _accounts_file() -> str:
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(folder, "nbspam", "imap.toml")


# By the name of a value: what makes it of a text, or raises ValueError, and what such a text is.
KINDS: dict[str, tuple[Callable[[str], Any], str]] = {
    **dict.fromkeys(("N", "K", "MB"), (int, "a whole number")),
    **dict.fromkeys(("DAYS", "NATS", "SECONDS", "SHARE"), (float, "a number")),
    **dict.fromkeys(("MODE", "OCTAL"), (parse_mode, "of the form 660")),
    "SIZE": (parse_size, "of the form 500K, 10M or 2G"),
    "TIME": (parse_time, "of the form 2026-11-24, 2026-11-24 09:30 or 2026-11-24 09:30:15"),
}
_Fields = namedtuple(
    "_Fields",
    "help value default shown choices least most short name many rare required is_argument",
    defaults=("", None, "", (), None, None, "", "", False, False, False, False),
)


class Option(_Fields):
    """An option, or a word of the command line that is no option (is_argument).

    help        : what it does, for the help text
    value       : what the help calls its value, of a kind in KINDS or text; empty for a switch
    default     : the value, or the text of it, or a function that finds it
    shown       : the default in the help, if it is not a constant
    choices     : the allowed values, which end the help
    least, most : bounds of a number
    short       : a second flag
    name        : of the attribute, if Python has another use for the name of the flag
    many        : its values are a list
    rare        : in a long help it comes after the others
    """

    __slots__ = ()

    def read(self, text: str) -> Any:
        """The value of a text; ValueError says what is wrong with it."""
        convert, form = KINDS.get(self.value, (str, ""))
        try:
            value = convert(text)
        except ValueError:
            raise ValueError(f"{text!r} is not {form}.") from None
        if self.range and not self.least <= value <= (value if self.most is None else self.most):
            raise ValueError(f"{value} is not in the range {self.range}.")
        if self.choices and value not in self.choices:
            raise ValueError(f"{text!r} is not one of {', '.join(map(repr, self.choices))}.")
        return value

    def find_default(self) -> Any:
        """The value if nobody gives one."""
        if self.default is None:
            return [] if self.many else None if self.value else False
        if callable(self.default):
            return self.default()
        return self.read(self.default) if isinstance(self.default, str) else self.default

    @property
    def range(self) -> str:
        """The bounds, as 1<=x<=9; empty without."""
        if self.least is None:
            return ""
        return f"x>={self.least:g}" if self.most is None else f"{self.least:g}<=x<={self.most:g}"


def _argument(metavar: str, **more: Any) -> Option:
    return Option("", metavar, is_argument=True, **more)


def _choice(help: str, choices: tuple[str, ...], default: str | None = None, shown: str = "") -> Option:
    return Option(help, "NAME", default, shown, choices)


MOST_JOBS = 1_000  # more is a typing mistake
_PRIOR = "empirical, smoothed, uniform, or a probability for each class: spam=0.4,ham=0.6."

# By the name of the flag; "command.name" is the form of one command.  In the order of the help.
SOURCE = {
    "source": _argument("[SOURCE]...", many=True),
    "ham": Option("Ham: a Maildir, MH folder, mbox, folder, file; repeatable.", "PATH", many=True),
    "spam": Option("Spam, in the same forms; repeatable.", "PATH", many=True),
    "class": Option("Mail of a class; repeatable.", "NAME=PATH", name="classes", many=True, rare=True),
    "rules": Option("A file with the class of each Maildir folder.", "FILE", rare=True),
    "skip_unread": Option("Skip unread ham of a Maildir: missed spam is often among it."),
}
CHOSEN_SCORING = {  # a saved model can be scored by others of these
    "event_model": _choice(
        "The event model", EVENT_MODELS, shown="presence; gaussian with --features numeric"
    ),
    "alpha": Option(f"The smoothing constant. Default: {ALPHA:g} for averaged views, else 1.", "X|auto"),
    "prior": Option(f"The prior: {_PRIOR}", "PRIOR", "empirical"),
    "features": _choice("What to count and score", FEATURES),
    "textbook": Option("Score and decide by the plain formula of textbooks."),
}
KEPT_SCORING = {  # a saved model keeps those of its training
    "threshold": Option(
        "With averaged views: ignore tokens whose log-odds are below NATS (in the header; less elsewhere).",
        "NATS",
        THRESHOLD,
    ),
    "views": Option(f"Read only these views: {', '.join(READ_VIEWS)}.", "VIEW,...", "all"),
    "numeric_model": _choice(
        "With --features both: the model of the numbers", NUMERIC_MODELS, shown="gaussian"
    ),
    "bins": Option("Bins of a number, for categorical and aode.", "N", DEFAULT_BINS),
    "binning": _choice("What is equal in all bins", BINNINGS, BINNINGS[0]),
    "normalise": Option("Normalise the complement model."),
    "token_pattern": Option(
        r"Each match of this regular expression is a word: \w\w+ (not for the default model).", "REGEX"
    ),
}
SCORING = CHOSEN_SCORING | KEPT_SCORING
RESCORING = {
    "score.event_model": Option(f"Score by another event model: {', '.join(EVENT_MODELS)}.", "NAME"),
    "score.alpha": Option("Score with another smoothing constant.", "X"),
    "score.prior": Option(f"Score with another prior: {_PRIOR}", "PRIOR"),
    "score.features": Option("Score by words, numeric or both.", "NAME"),
    "textbook": CHOSEN_SCORING["textbook"],
}
CLUSTER = {
    "scheduler": Option(
        "Let the workers of this Dask scheduler do the work; each must see SOURCE, by its path or as a URL "
        "(extra dask).",
        "tcp://HOST:PORT",
    ),
    "local_cluster": Option(
        "Start N Dask workers here to do the work (extra dask).", "N", least=1, most=MOST_JOBS
    ),
}
_OTHERS = {
    # The model
    "model": Option(
        "The model file.",
        "MODEL",
        default_model,
        shown="$NBSPAM_MODEL, else ~/.local/share/nbspam/model.nbspam",
        short="-m",
    ),
    "eval.model": Option("Judge by this model, as classify does.", "MODEL", short="-m"),
    "start": Option(
        "While there is no model, judge by this one; the first learned message makes an overlay of it.",
        "MODEL",
        default_start,
        shown="$NBSPAM_START",
        rare=True,
    ),
    "replace": Option("Write over an existing model."),
    "mode": Option("Permissions of the model file.", "MODE", shown="600 for a new file"),
    "edges": Option("Edges of the bins of a feature: size=1000,5000.", "FEATURE=EDGES", many=True, rare=True),
    "vocab": Option("Count only the words of this vocabulary.", "FILE", rare=True),
    "loss": Option("Costs of decisions: FP=10,FN=1,unsure=0.2; 0-1; or a file.", "COSTS|FILE"),
    # train
    "update": Option("Add the mail to a model; a message counted before counts again."),
    # classify, learn, serve
    "class_name": _argument("CLASS", required=True),
    "files": _argument("[FILE|-]...", many=True),
    "files_from": Option("Read the paths of messages from this file, one a line (- is stdin).", "LIST"),
    "attached": Option("Each message is a report: the messages attached to it are meant."),
    "passthrough": Option("Write the message with an X-Nbspam header inserted.", short="-p"),
    "spam_flag": Option("Insert X-Spam-Flag and X-Spam-Status after X-Nbspam."),
    "header_format": _choice("Insert the fields of another filter, too", ("spamassassin", "bogofilter")),
    "exit_code": Option("Exit with 0 for spam, 1 for ham, 2 for unsure."),
    "exit_style": _choice("Exit as another filter does", ("bogofilter",)),
    "autolearn": Option("Learn each message as its verdict, if the verdict is sure enough.", rare=True),
    "classify.timeout": Option(
        "Time limit for the model, with -p for the whole verdict; then exit with 75.",
        "SECONDS",
        10,
        least=0.1,
        most=3600,
    ),
    "socket": Option("Listen on a unix socket (spamc -U PATH).", "PATH"),
    "socket_mode": Option("Permissions of the socket.", "OCTAL", "600"),
    "trusted_user": Option(
        "This user may name others on the unix socket, as a mail server does; repeatable.", "NAME", many=True
    ),
    "listen": Option("Listen on TCP (spamc -d HOST -p PORT).", "HOST:PORT", shown="localhost:783"),
    "timeout": Option(
        "Time that a client has to send a whole request, and again to take the answer.",
        "SECONDS",
        60,
        least=0.1,
        most=3600,
    ),
    "metrics": Option("Show figures for Prometheus there; a port alone is on localhost.", "HOST:PORT"),
    "log_format": _choice("The lines on stderr", ("text", "json"), "text"),
    "allow_tell": Option("Let clients correct the model (spamc -L)."),
    # log, undo
    "number": Option("Number of lines; 0 shows all.", "N", 20, short="-n", least=0),
    "last": Option("Take back the last line of nbspam log."),
    "since": Option("Take back what was learned since this time.", "TIME"),
    "undo.source": Option("Take back what came from this command, or from this folder.", "NAME"),
    "paths": _argument("[PATH]...", many=True),
    # label, sync, imap, doctor
    "label.folders": _argument("FOLDER...", many=True, required=True),
    "sync.folders": _argument("[MAILDIR]...", many=True),
    "account": _argument("[ACCOUNT]", default=""),
    "config": Option("Your accounts.", "FILE", _accounts_file, shown="~/.config/nbspam/imap.toml"),
    "imap.class": Option(
        "Keep mail of a class in this folder; repeatable.", "NAME=FOLDER", name="classes", many=True
    ),
    "flag_only": Option("Set the keyword $Junk, and move nothing."),
    "keep_days": Option("Days after which unread mail is learned, too.", "DAYS", 7, least=0, most=36500),
    "dry_run": Option("Only show what would be done."),
    "mail": _argument("[MAIL]...", many=True),
    "doctor.quiet": Option("Show only what is wrong.", short="-q"),
    # eval, compare, tune
    "folds": Option("Judge each of K parts by the others.", "K", 10),
    "grouped": Option("With --folds: keep near-duplicates in one part.", rare=True),
    "replay": Option("Judge each message in order of time, then learn it."),
    "feedback": Option(
        "With --replay: immediate, delayed:N, partial:SHARE, on-error, thick:MARGIN, first:N.",
        "KIND",
        "immediate",
        rare=True,
    ),
    "eval.autolearn": Option("With --replay: also learn the filter's own verdicts.", rare=True),
    "holdout": Option("Judge this share of the mail by the rest.", "SHARE"),
    "by_time": Option("With --holdout: judge the newest messages."),
    "results": Option("Write a line for each message, in the format of TREC.", "FILE", rare=True),
    "save": Option("Keep the evaluation, for nbspam compare.", "FILE.json"),
    "report": Option("Write a page with curves and mistakes (extra report).", "FILE.html"),
    "seed": Option("Seed of random choices.", "N", 0, rare=True, least=0),
    "a": _argument("A", required=True),
    "b": _argument("B", required=True),
    "write": Option("Train MODEL on SOURCE with the best settings."),
    # explain, vocab, vectorize, model
    "top": Option("Number of clues; 0 shows all.", "N", 15, least=0),
    "vocab.top": Option("Number of codes; 0 shows all.", "N", 20, least=0),
    "file": _argument("FILE", required=True),
    "load.file": _argument("[FILE]", default=STDIN_NAME),
    "merge.models": _argument("A B [MODEL]...", many=True),
    "rebase.models": _argument("[MODEL]...", many=True),
    "output": Option("The file to write; - is stdout.", "FILE", required=True, short="-o"),
    "dump.output": Option("The file to write; - is stdout.", "FILE", STDIN_NAME, short="-o"),
    "merge.output": Option("The merged model.", "MODEL", required=True, short="-o"),
    "size": Option("Keep the N most frequent words. Default: all.", "N"),
    "max_size": Option("Keep the most frequent tokens that fit into such a file.", "SIZE"),
    "prune.min_count": Option("Keep the tokens of N or more messages.", "N", least=2),
    "min_count": Option("Keep words in N or more messages.", "N", 1),
    "word_list": Option("Keep only the words of this dictionary, one a line.", "FILE"),
    "view": _choice("The tokens to count", ("all", "body"), shown="all; body with other words"),
    "vectorize.features": _choice("The columns", ("words", "numeric"), "words"),
    "vectorize.vocab": Option("With words: the vocabulary; its codes are the columns.", "FILE"),
    "vectorize.event_model": _choice("How to count words", ("bernoulli", "multinomial"), shown="multinomial"),
    "format": _choice("The format", ("npz", "jsonl"), "npz"),
    # All commands
    "jobs": Option("Processes.", "N", default_jobs, shown="all cores", short="-j", least=1, most=MOST_JOBS),
    "max_memory": Option(
        "Megabytes for all processes together, about; counts beyond wait in temporary files ($TMPDIR).",
        "MB",
        shown="500, or what the jobs need",
        least=1,
    ),
    "json": Option("Write JSON to stdout, one object a line."),
    "verbose": Option("Name each message on which a part of nbspam failed.", short="-v"),
    "train.verbose": Option(
        "Name the messages that are in more than one class, and each on which a part of nbspam failed.",
        short="-v",
    ),
    "eval.verbose": Option("Name every misclassified message, the worst with clues.", short="-v"),
    "quiet": Option("Write nothing to stderr except errors.", short="-q"),
}
OPTIONS = SOURCE | SCORING | RESCORING | CLUSTER | _OTHERS


def attribute_of(key: str) -> str:
    """The name of the values of an option of the table: "eval.model" is model."""
    return OPTIONS[key].name or key.rpartition(".")[2]


def flags_of(key: str) -> list[str]:
    """The flags of an option of the table: "eval.model" has -m and --model; an argument has none."""
    short = OPTIONS[key].short
    return [] if OPTIONS[key].is_argument else [short] * bool(short) + [flag_of(key.rpartition(".")[2])]


class Options:
    """The values of a command's options, each an attribute.

    named : the values that are on the command line, by attribute; all others have their defaults
    """

    def __init__(self, keys: Iterable[str], named: dict[str, Any]) -> None:
        self._keys, self.named = keys, named
        vars(self).update(named)

    def __getattr__(self, name: str) -> Any:
        """A default, found when it is asked for: some take time.  The command may have no such option."""
        key = next((key for key in self._keys if attribute_of(key) == name), name)
        if key not in OPTIONS:
            raise AttributeError(name)
        default = OPTIONS[key].find_default()
        setattr(self, name, default)
        return default

    @property
    def scoring(self) -> Any:
        """The settings of scoring that are on the command line."""
        return {name: value for name, value in self.named.items() if name in SCORING}

    def find_named(self, names: Iterable[str]) -> str:
        """The one of these options that is on the command line, or empty; UsageError if two are."""
        named = [name for name in names if name in self.named]
        if len(named) > 1:
            raise UsageError(" ".join(map(flag_of, named)), "exclude each other", "give one of them", "usage")
        return named[0] if named else ""


class Command:
    """What a command does, and the keys of its options in the table, in the order of its help."""

    def __init__(self, work: Callable[[Options], int | None], keys: tuple[str, ...]) -> None:
        self.work, self.keys = work, keys

    def run(self, named: dict[str, Any]) -> int:
        """Run the command with the values that are on the command line; the exit status."""
        if "verbose" in named:
            show_faults()
        return self.work(Options(self.keys, named)) or 0

    def parse(self, arguments: Iterable[str]) -> dict[str, Any] | None:
        """The values on the command line; None for what click should read: help, rare forms, wrong values."""
        flags = {flag: key for key in self.keys for flag in flags_of(key)}
        named: dict[str, Any] = {}
        words: list[str] = []
        waiting = iter(arguments)
        for word in waiting:
            if word == "--":
                words += waiting
            elif word == STDIN_NAME or not word.startswith("-"):
                words.append(word)
            else:
                flag, equals, text = word.partition("=")
                key = flags.get(flag)
                if key is None or (equals and not flag.startswith("--")):  # click reads -m=x, too
                    return None
                option, name = OPTIONS[key], attribute_of(key)
                given = text if equals else next(waiting, None) if option.value else ""
                if given is None or (equals and not option.value):
                    return None
                try:
                    value = option.read(given) if option.value else True
                except ValueError:
                    return None
                named[name] = [*named.get(name, []), value] if option.many else value
        return named if self._add_words(named, words) else None

    def _add_words(self, named: dict[str, Any], words: list[str]) -> bool:
        """Add the words that are no options; False if there are too many, or if something is missing."""
        for key in self.keys:
            option, name = OPTIONS[key], attribute_of(key)
            if option.is_argument and words:
                named[name], words = (words, []) if option.many else (words[0], words[1:])
            if option.required and name not in named:
                return False
        return not words


def command(*keys: str) -> Callable[[Callable[[Options], int | None]], Command]:
    """Make a function a command with the options of these keys; its docstring is the help."""
    return lambda work: Command(work, keys)


class Group:
    """Commands of one subject, by name."""

    def __init__(self, help: str, commands: dict[str, Command]) -> None:
        self.help, self.commands = help, commands
