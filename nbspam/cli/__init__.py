"""The command line: words in, words out; no arithmetic.  Here are the texts that all commands share.

Text from mail and from the file system is made harmless: control characters are shown as escapes.  Names of
classes have none (nbspam.labels).
"""

from __future__ import annotations

import os
import sys

from nbspam.errors import BadDataError, MissingExtraError, UsageError
from nbspam.labels import amount, format_counts, parse_class_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbspam.decision import Verdict
    from nbspam.errors import NbspamError


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
