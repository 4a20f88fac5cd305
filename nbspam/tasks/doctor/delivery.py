"""The files by which mail reaches the filter: ~/.procmailrc, ~/.mailfilter, ~/.forward.

Hides their syntax, as far as it is read: what calls nbspam, and with which flags.  Only what is certain is
told: a program that is named by its path and cannot be run; a filter whose output is no message; a pipe that
takes the mail away.  What stands in files that these include, and variables set elsewhere, is left alone.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from nbspam.errors import BadDataError
from nbspam.tasks.doctor.finding import Finding, note, wrong

PROGRAM = "nbspam"
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.*)")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_XFILTER = re.compile(r"""\bxfilter\s*\(?\s*(["'])(.*?)\1""")
_MAILDROP_TO = re.compile(r"""\bto\s*\(?\s*(["'])\s*\|(.*?)\1""")
_MAILDROP_CC = re.compile(r"""\bcc\s*\(?\s*(["'])\s*\|(.*?)\1""")
_FORWARD = re.compile(r"""^\s*"?\|\s*(.*?)"?\s*$""")
_FLAGS = re.compile(r":0([\sA-Za-z]*)")
# Of classify, as it is called in files: its options of one letter stand together, too.
_PASSES = re.compile(r"--passthrough$|-q*p")
_MODEL = re.compile(r"(?:--model(?:=|$)|-[qp]*m)(.*)")
_OPERATORS = frozenset("|&;()")  # of a shell, between commands
LOST = "nbspam delivers nothing, so this mail is lost"
_FILTER = "make it a filter: `:0 fw` and `| nbspam classify -p` (README, procmail)"
_COPY = {
    "procmailrc": "give it a copy: `:0 c`",
    "mailfilter": 'give it a copy: `cc "| nbspam learn …"`',
    "forward": 'name a mailbox, too: `\\user, "| nbspam learn …"`',
}


class Call(NamedTuple):
    """One call of nbspam.

    where     : file and line
    words     : the command, split; redirections are words of it
    flags     : of the procmail recipe
    kind      : filter, test, pipe, or piped into another program: what becomes of the message
    variables : what the file has set before
    is_copy   : the message itself goes on
    is_chosen : a condition chooses the messages, perhaps reports that are meant to end here
    """

    where: str
    words: list[str]
    flags: str
    kind: str
    variables: dict[str, str]
    is_copy: bool = False
    is_chosen: bool = False


def delivery(home: str, model: str) -> Iterator[Finding]:
    """Of the files in a home folder that call nbspam.  model : which the check-up is about"""
    for name, calls in ((".procmailrc", _procmail), (".mailfilter", _maildrop), (".forward", _forward)):
        path = os.path.join(home, name)
        lines = _lines(path)
        for call in calls(path, lines, {"HOME": home}):
            faults = list(_faults(call, model))
            yield from faults or [Finding(name[1:], f"{call.where}: calls {' '.join(call.words)}")]


def _lines(path: str) -> list[tuple[int, str]]:
    """(number, text) of the lines that are no comments; what a backslash continues is one line."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:  # none, or somebody else's
        return []
    found: list[tuple[int, str]] = []
    begun = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith("\\"):
            begun += line[:-1] + " "
        else:
            whole, begun = (begun + line).strip(), ""
            if whole and not whole.startswith("#"):
                found.append((number, whole))
    return found


def _procmail(path: str, lines: list[tuple[int, str]], variables: dict[str, str]) -> Iterator[Call]:
    flags: str | None = None  # of the recipe whose action has not come yet
    is_chosen = False
    blocks: list[bool] = []  # that are open: whether what goes through is a copy
    for number, line in lines:
        where = f"{path}:{number}"
        opened = _FLAGS.match(line)
        assigned = _ASSIGNMENT.fullmatch(line)
        is_copy = any(blocks)
        if opened:
            flags, is_chosen = "".join(opened[1].split()), bool(blocks)
        elif flags is not None and line.startswith("*"):
            command, is_chosen = line[1:].strip(), True
            if command.startswith("?"):
                yield from _calls(where, command[1:], flags, "test", variables)
        elif flags is not None:
            if line.startswith("|"):
                kind = "filter" if "f" in flags else "pipe"
                is_copy = is_copy or (kind == "pipe" and "c" in flags)
                for call in _calls(where, line[1:], flags, kind, variables):
                    yield call._replace(is_copy=is_copy, is_chosen=is_chosen)
            elif line.startswith("{") and not line.endswith("}"):
                blocks.append("c" in flags)
            flags = None
        elif line.startswith("}") and blocks:
            blocks.pop()
        elif assigned:
            variables = {**variables, assigned[1]: _expanded(assigned[2], variables)}


def _maildrop(path: str, lines: list[tuple[int, str]], variables: dict[str, str]) -> Iterator[Call]:
    depth = 0  # of the blocks that are open: what stands in one is for the mail that was chosen
    for number, line in lines:
        assigned = _ASSIGNMENT.fullmatch(line)
        if assigned:
            variables = {**variables, assigned[1]: _expanded(assigned[2], variables)}
        for pattern, kind in ((_XFILTER, "filter"), (_MAILDROP_TO, "pipe"), (_MAILDROP_CC, "pipe")):
            for found in pattern.finditer(line):
                is_chosen = depth > 0 or found.start() > 0
                for call in _calls(f"{path}:{number}", found[2], "w", kind, variables):
                    yield call._replace(is_copy=pattern is _MAILDROP_CC, is_chosen=is_chosen)
        opens = line.endswith("{") or (line.startswith("{") and not line.endswith("}"))
        depth = max(0, depth + opens - line.startswith("}"))


def _forward(path: str, lines: list[tuple[int, str]], variables: dict[str, str]) -> Iterator[Call]:
    parts = [(number, part) for number, line in lines for part in line.split(",") if part.strip()]
    for number, part in parts:
        found = _FORWARD.match(part)
        if found:
            for call in _calls(f"{path}:{number}", found[1], "w", "pipe", variables):
                yield call._replace(is_copy=len(parts) > 1)


def _calls(where: str, command: str, flags: str, kind: str, variables: dict[str, str]) -> Iterator[Call]:
    """The call, if it is nbspam that is called first; of several commands only that is read."""
    shell = shlex.shlex(_expanded(command, variables), posix=True, punctuation_chars=True)
    shell.whitespace_split = True
    try:
        words = list(shell)
    except ValueError:  # quotes that do not close: the shell will say so
        return
    ends = [place for place, word in enumerate(words) if word and _OPERATORS.issuperset(word)]
    if ends:
        words = words[: ends[0]]
        if kind == "pipe" or (kind == "filter" and words[1:2] != ["classify"]):
            kind = "piped"  # what comes after it may deliver, or pass on
    if words and os.path.basename(words[0]) == PROGRAM:
        yield Call(where, words, flags, kind, variables)


def _expanded(text: str, variables: dict[str, str]) -> str:
    """The text with the variables that are known; unknown ones stay."""
    text = text.strip().rstrip(";").strip()
    if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        text = text[1:-1]
    text = re.sub(r"^~(?=/)|(?<=[\s:])~(?=/)", variables["HOME"], text)
    return _VARIABLE.sub(lambda found: variables.get(found[1] or found[2], found[0]), text)


def _faults(call: Call, model: str) -> Iterator[Finding]:
    about = os.path.basename(call.where).partition(":")[0][1:]
    options = call.words[2:]
    yield from _program(call, about)
    if call.kind in ("pipe", "filter") and not call.is_copy:
        yield from _loss(call, about, options)
    if call.kind == "filter" and not set(call.flags) & {"w", "W"}:
        why = f"{call.where}: without the flag w nobody sees that nbspam failed"
        yield note(about, why, f":0 {call.flags}w")
    if call.kind == "test" and _command(call) == "classify":
        yield from _condition(call, about, options)
    yield from _other_model(call, about, model)


def _command(call: Call) -> str:
    return "".join(call.words[1:2])


def _loss(call: Call, about: str, options: list[str]) -> Iterator[Finding]:
    """Mail that is given to nbspam, which does not give it back, or to nobody."""
    command = _command(call)
    learns = command in ("learn", "unlearn")
    passes = command == "classify" and any(map(_PASSES.match, options))
    if call.kind == "pipe" and not (passes and any(word.startswith(">") for word in options)):
        remedy = _COPY[about] if learns else _FILTER
        if learns and call.is_chosen:
            yield note(about, f"{call.where}: mail that is learned here is not delivered", remedy)
        else:
            yield wrong(about, BadDataError(call.where, f"{call.where}: {LOST}", remedy, "recipe"))
    elif call.kind == "filter" and not passes:
        output = "the verdict" if command == "classify" else f"what nbspam {command}".rstrip() + " says"
        without = "without -p " if command == "classify" else ""
        why = f"{call.where}: {without}{output} takes the place of the message, so this mail is lost"
        yield wrong(about, BadDataError(call.where, why, "nbspam classify -p", "recipe"))


def _condition(call: Call, about: str, options: list[str]) -> Iterator[Finding]:
    """A condition of procmail: it gets the header alone unless told, and asks for the exit status."""
    if "--exit-code" not in options:
        why = f"{call.where}: without --exit-code the status is 0 for ham, too: all mail meets the condition"
        yield wrong(about, BadDataError(call.where, why, "nbspam classify --exit-code", "recipe"))
    if not {"H", "B"} <= set(call.flags):
        part = "body" if "B" in call.flags else "header"
        why = f"{call.where}: without the flags HB only the {part} is judged"
        yield note(about, why, ":0 HB" + re.sub("[HB]", "", call.flags))


def _program(call: Call, about: str) -> Iterator[Finding]:
    """Whether the program that is named can be run; by the file's own PATH, for procmail's is not known."""
    program, paths = call.words[0], call.variables.get("PATH", "")
    if "$" in program or ("/" not in program and (not paths or "$" in paths or "`" in paths)):
        return
    places = [program] if "/" in program else [os.path.join(folder, program) for folder in paths.split(":")]
    if not any(os.path.isfile(place) and os.access(place, os.X_OK) for place in places):
        where = program if "/" in program else f"any folder of PATH={paths}"
        why = f"{call.where}: no program that can be run is {'in ' if '/' not in program else ''}{where}"
        yield wrong(about, BadDataError(call.where, why, "name it by its path: command -v nbspam", "recipe"))


def _other_model(call: Call, about: str, model: str) -> Iterator[Finding]:
    named = _named_model(call)
    if named and "$" not in named and os.path.realpath(named) != os.path.realpath(model):
        yield note(about, f"{call.where}: uses another model, {named}", f"nbspam doctor -m {named}")


def _named_model(call: Call) -> str | None:
    """The model that the call names, or the file's $NBSPAM_MODEL."""
    for option, value in zip(call.words, [*call.words[1:], ""], strict=True):
        found = _MODEL.match(option)
        if found:
            return found[1] or value
    return call.variables.get("NBSPAM_MODEL")
