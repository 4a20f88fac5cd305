"""The command line: words in, words out; no arithmetic.  Here are all options, and texts that commands share.

The table of options, options.txt, is read by a short parser, and by click in nbspam.cli.commands.  `classify`
and `learn` start once a mail, and click takes 35 ms to import: the short parser reads their arguments.  It
leaves help, rare forms and wrong values to click, which says what is wrong.

Text from mail and from the file system is made harmless: control characters are shown as escapes.  Names of
classes have none (nbspam.labels).
"""

from __future__ import annotations

import os
import sys
from functools import cache

from nbspam import settings
from nbspam.errors import BadDataError, MissingExtraError, UsageError, show_faults
from nbspam.labels import amount, format_counts, parse_class_name
from nbspam.tokens.bag import READ_VIEWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from nbspam.decision import Verdict
    from nbspam.errors import NbspamError


STDIN_NAME = "-"
NO_MESSAGE = "There is no message at these paths."
_IN_DATA_FOLDER = ("nbspam", "model.nbspam")


def plain(text: str) -> str:
    """The text with every character that is not printable written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode("ascii")
        for c in text.encode("utf-8", "backslashreplace").decode("utf-8")
    )


def write_text(text: str) -> None:
    """Write text to stdout, with an escape for each character that its charset lacks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """Write lines for people to stderr, unless they asked for quiet."""
    if not Command.is_quiet:
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
    return re.sub(argument, lambda match: flag_of(match[1]) + (match[2] and " ") + match[3], text)


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


def parse_time(text: str) -> float:
    """Milliseconds since 1970 of a local time."""
    from datetime import datetime  # for undo alone

    return 1000 * datetime.fromisoformat(text).timestamp()


def parse_age(text: str) -> float:
    """Seconds of some hours, days or weeks: 12h, 1d, 2w."""
    unit = {"h": 3_600.0, "d": 86_400.0, "w": 604_800.0}.get(text[-1:])
    if unit is None or not text[:-1].isdecimal():
        raise ValueError(text)
    return unit * float(text[:-1])


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
    "AGE": (parse_age, "of the form 12h, 1d or 2w"),
    "TIME": (parse_time, "of the form 2026-11-24, 2026-11-24 09:30 or 2026-11-24 09:30:15"),
}
# The defaults that options.txt has in parentheses, if there is one.
DEFAULTS: dict[str, Callable[[], Any]] = {
    "model": default_model,
    "start": default_start,
    "jobs": default_jobs,
    "config": _accounts_file,
}


class Option:
    """An option or argument, as options.txt has it.

    name    : of its attribute
    flags   : the short one first; an argument has none
    value   : what the help calls its value, of a kind in KINDS or text; empty for a switch
    marks   : argument, choice, many, rare, required
    choices : the allowed values
    range   : as in 1<=x<=9; empty without
    help    : what it does, its default and its range
    """

    def __init__(self, key: str, head: str, help: str) -> None:
        head, _, self._default = head.partition(" default=")
        words = head.split()[1:]
        notes = dict([word.split("=") for word in words if word.startswith(("name=", "range="))])
        flag = key.rpartition(".")[2]
        self.key, self.name, self.marks = key, notes.get("name", flag), set(words)
        self.flags = [word for word in words if word[0] == "-"] + [flag_of(flag)]
        if "argument" in words:
            self.flags = []
        self.value = "".join([word for word in words if word != word.lower()])
        self.choices = help.rstrip(".").rpartition(": ")[2].split(", ") if "choice" in words else []
        self._least, _, self._most = notes.get("range", "").partition("..")
        self.range = f"{self._least}<=x<={self._most}" if self._most else self._least and f"x>={self._least}"
        shown = [f"default: {self._default}"] * bool(self._default) + [self.range] * bool(self.range)
        self.help = f"{help}  [{'; '.join(shown)}]" if shown else help

    def read(self, text: str) -> Any:
        """The value of a text; ValueError says what is wrong with it."""
        convert, form = KINDS.get(self.value, (str, ""))
        try:
            value = convert(text)
        except ValueError:
            raise ValueError(f"{text!r} is not {form}.") from None
        if self.range and not float(self._least) <= value <= float(self._most or "inf"):
            raise ValueError(f"{value} is not in the range {self.range}.")
        if self.choices and value not in self.choices:
            raise ValueError(f"{text!r} is not one of {', '.join(map(repr, self.choices))}.")
        return value

    def find_default(self) -> Any:
        """The value if nobody gives one."""
        if self.key in DEFAULTS:
            return DEFAULTS[self.key]()
        if self._default and self._default[0] != "(":
            return self.read(self._default)
        return [] if "many" in self.marks else None if self.value else False


@cache
def _read_table() -> dict[str, str]:
    """The lines of each option in options.txt."""
    with open(os.path.join(os.path.dirname(__file__), "options.txt"), encoding="utf-8") as file:
        return {block.split(None, 1)[0]: block.strip() for block in file.read().split("\n\n")}


@cache
def find_option(key: str) -> Option:
    """An option by its name in options.txt."""
    head, _, help = _read_table()[key].partition("\n")
    return Option(key, _fill_in(head), _fill_in(help))


def _fill_in(text: str) -> str:
    """The text with the constants that it names."""
    if "{" not in text:
        return text
    constants = vars(settings) | {"READ_VIEWS": READ_VIEWS}
    lists = {name: ", ".join(map(str, value)) for name, value in constants.items() if type(value) is tuple}
    return text.format_map(constants | lists)


# In the order of the help.
SOURCE = ("source", "ham", "spam", "class", "rules", "skip_unread")
CLUSTER = ("scheduler", "local_cluster")
# A saved model keeps these ways of counting and scoring from its training; the others can be chosen again.
KEPT_SCORING = ("threshold", "views", "numeric_model", "bins", "binning", "normalise", "token_pattern")
SCORING = ("event_model", "alpha", "prior", "features", "textbook", *KEPT_SCORING)
RESCORING = ("score.event_model", "score.alpha", "score.prior", "score.features", "textbook")


class Options:
    """The values of a command's options, each an attribute.

    named : the values that are on the command line, by attribute; all others have their defaults
    """

    def __init__(self, keys: Iterable[str], named: dict[str, Any]) -> None:
        self._keys, self.named = keys, named
        vars(self).update(named)

    def __getattr__(self, name: str) -> Any:
        """A default, found when it is asked for: some take time."""
        for option in map(find_option, self._keys):
            if option.name == name:
                default = option.find_default()
                setattr(self, name, default)
                return default
        raise AttributeError(name)

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

    def refuse(
        self, names: Iterable[str], why: str, remedy: str, slug: str = "usage", method: str = ""
    ) -> None:
        """Raise UsageError for the first of these options that is on the command line.

        method : the option that it does not go with, for the error
        """
        for name in names:
            if name in self.named:
                raise UsageError(f"{method} {flag_of(name)}".lstrip(), why, remedy, slug)


class Command:
    """What a command does, and the keys of its options in the table, in the order of its help.

    is_quiet : the command that runs was asked for quiet: -q
    """

    is_quiet = False

    def __init__(self, work: Callable[[Options], int | None], keys: tuple[str, ...]) -> None:
        self.work, self.keys = work, keys

    def run(self, named: dict[str, Any]) -> int:
        """Run the command with the values that are on the command line; the exit status."""
        Command.is_quiet = "quiet" in named
        if "verbose" in named:
            show_faults()
        return self.work(Options(self.keys, named)) or 0

    def parse(self, arguments: Iterable[str]) -> dict[str, Any] | None:
        """The values on the command line; None for what click should read: help, rare forms, wrong values."""
        flags = {flag: option for option in map(find_option, self.keys) for flag in option.flags}
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
                option = flags.get(flag)
                if option is None or (equals and not flag.startswith("--")):  # click reads -m=x, too
                    return None
                written = text if equals else next(waiting, None) if option.value else ""
                if written is None or (equals and not option.value):
                    return None
                try:
                    value = option.read(written) if option.value else True
                except ValueError:
                    return None
                values = [*named.get(option.name, []), value] if "many" in option.marks else value
                named[option.name] = values
        return named if self._add_words(named, words) else None

    def _add_words(self, named: dict[str, Any], words: list[str]) -> bool:
        """Add the words that are no options; False if there are too many, or if something is missing."""
        for option in map(find_option, self.keys):
            if "argument" in option.marks and words:
                named[option.name], words = (words, []) if "many" in option.marks else (words[0], words[1:])
            if "required" in option.marks and option.name not in named:
                return False
        return not words


def command(*keys: str) -> Callable[[Callable[[Options], int | None]], Command]:
    """Make a function a command with the options of these keys; its docstring is the help."""
    return lambda work: Command(work, keys)


class Group:
    """Commands of one subject, by name."""

    def __init__(self, help: str, **commands: Command) -> None:
        self.help, self.commands = help, commands
