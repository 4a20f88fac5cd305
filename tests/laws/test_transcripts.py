"""Transcripts of the program: commands, and what they answered when they were recorded.

A change inside the program leaves all of them as they are.  A transcript is a text file in transcripts/.
`$ ` begins a command, `| ` a line of its stdout, `! ` a line of its stderr, and `= ` its exit status if it is
not 0; all other lines are remarks.  A command of nbspam runs in this process, any other command in sh.  Each
transcript has a temporary folder of its own, in which `data` is the corpus of this project.

What other programs read does not change: exit statuses, error slugs, names of commands and options, JSON,
verdicts, header fields, files.  Sentences may be improved; then record again:
    python -m tests.laws.test_transcripts [TOPIC...]
This names each command of which other programs would read something else than before.  To add a command,
write its `$ ` line and record.
"""

import functools
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest

from nbspam import __version__
from nbspam.tokens import describe_reader
from tests.tiny_mail import program

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent.parent
TRANSCRIPTS = Path(__file__).resolve().parent / "transcripts"
TOPICS = sorted(path.stem for path in TRANSCRIPTS.glob("*.txt"))
RESULT_MARKS = ("|", "!", "=")
SAME_NUMBER = 1e-9  # relative; numbers that are printed with few digits are compared as text
FEW_DIGITS = 9
NUMBER = re.compile(r"(-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+)")
SLUG = re.compile(r"  \[([a-z-]+)\]$")
HELP_NAMES = re.compile(r"^\|   ((?:-\w, )?--[\w-]+|-\w\b|[a-z]+(?=  ))|\[([\w-]+(?:\|[\w-]+)+)\]")
PROSE = re.compile(
    r"nbspam (?!.*--json)(eval|compare|tune|explain|doctor|model (info|check|words)|vocab show)\b"
)


@dataclass(frozen=True)
class Step:
    """A line of a transcript, and the lines of the result if it is a command."""

    line: str
    result: list[str] = field(default_factory=list)


def parse(text: str) -> list[Step]:
    steps: list[Step] = []
    for line in text.split("\n")[:-1]:
        if line.startswith(RESULT_MARKS):
            steps[-1].result.append(line)
        else:
            steps.append(Step(line))
    return steps


def recorded(topic: str) -> list[Step]:
    return parse((TRANSCRIPTS / f"{topic}.txt").read_text("utf-8"))


@functools.cache
def replayed(topic: str) -> list[Step]:
    """The same commands, with what they answer now."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        (Path(folder) / "data").symlink_to(ROOT / "data")
        (Path(folder) / "home").mkdir()
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        environment = {"PATH": path, "PWD": folder, "HOME": "home", "TZ": "UTC"}
        environment |= {"LC_ALL": "C.UTF-8", "COLUMNS": "100"}
        before = os.umask(0o022)
        try:
            with mock.patch.dict(os.environ, environment, clear=True):
                return [Step(step.line, answer(step.line, folder)) for step in recorded(topic)]
        finally:
            os.umask(before)


def answer(line: str, folder: str) -> list[str]:
    """The result of a command, as lines of a transcript."""
    if not line.startswith("$ "):
        return []
    status, out, err = run_nbspam(line[2:]) if re.match(r"(\w+=\S* )*nbspam ", line[2:]) else run_sh(line[2:])
    result = [*marked("|", out, folder), *marked("!", err, folder)]
    return [*result, f"= {status}"] if status else result


def run_nbspam(command: str) -> tuple[int, bytes, bytes]:
    """Takes VARIABLE=VALUE before the command, and `< FILE` and `> FILE` after it."""
    words = shlex.split(command)
    variables = dict(os.path.expandvars(word).split("=", 1) for word in words[: words.index("nbspam")])
    arguments = words[words.index("nbspam") + 1 :]
    files = {"<": "", ">": ""}
    while arguments[-2:-1] and arguments[-2] in files:
        *arguments, redirection, name = arguments
        files[redirection] = name
    with mock.patch.dict(os.environ, variables):
        done = program(*arguments, stdin=Path(files["<"]).read_bytes() if files["<"] else b"")
    if files[">"]:
        Path(files[">"]).write_bytes(done.stdout)
    return done.returncode, b"" if files[">"] else done.stdout, done.stderr


def run_sh(command: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def marked(mark: str, output: bytes, folder: str) -> list[str]:
    """The lines of a stream, without what differs from run to run and from machine to machine."""
    text = output.decode("utf-8", "backslashreplace")
    text = re.sub(r"[\0-\x08\x0b-\x1f\x7f]", lambda found: repr(found[0])[1:-1], text)
    text = text.replace(os.path.realpath(folder), "TMP").replace(folder, "TMP")
    text = text.replace(f"nbspam {__version__}", "nbspam VERSION")
    text = text.replace(describe_reader(), "READER")
    text = re.sub(r"\d+\.\d ([MG])B\b", r"N \1B", text)
    text = re.sub(r'(?<="size_bytes": )\d+', "0", text)
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d|T\d\d:\d\d:\d\dZ)", "DATE", text)
    text = text.replace(time.strftime("%Y-%m-%d"), "0000-00-00")
    text = re.sub(r"(?<=you are )[\w.-]+|[\w.-]+(?='s, (?:rw|changed))", "USER", text)
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    if not text.endswith("\n"):
        lines[-1] += " (no newline)"
    return [f"{mark} {line}".rstrip(" ") for line in lines]


def machine_readable(step: Step) -> list[str]:
    """What other programs read of a result."""
    lines = [line for line in step.result if line.startswith("=")]
    errors = [line for line in step.result if line.startswith("!")]
    lines += [f"[{slug}]" for line in errors for slug in SLUG.findall(line)]
    out = [line for line in step.result if line.startswith("|")]
    if "--help" in step.line:
        return lines + ["".join(names) for line in out for names in HELP_NAMES.findall(line)]
    return lines if PROSE.search(step.line) else lines + [without_sentences(line) for line in out]


def without_sentences(line: str) -> str:
    """JSON with sorted keys and `...` for each text that has a blank in it; any other line as it is."""
    if not line.startswith("| {"):
        return line
    try:
        found = json.loads(line[2:], object_hook=shortened)
    except ValueError:
        return line
    return "| " + json.dumps(found, ensure_ascii=False, sort_keys=True)


def shortened(value: object) -> object:
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shortened(each) for each in value]
    return "..." if isinstance(value, str) and " " in value else value


def settled(new: list[str], old: list[str]) -> list[str]:
    """The new lines, with the old one wherever the two differ by rounding alone."""
    if len(new) != len(old):
        return new
    return [before if alike(now, before) else now for now, before in zip(new, old, strict=True)]


def alike(new: str, old: str) -> bool:
    ours, theirs = NUMBER.split(new), NUMBER.split(old)
    return len(ours) == len(theirs) and all(map(same_part, ours, theirs))


def same_part(new: str, old: str) -> bool:
    if new == old:
        return True
    if not (NUMBER.fullmatch(new) and NUMBER.fullmatch(old)) or max(len(new), len(old)) <= FEW_DIGITS:
        return False
    return math.isclose(float(new), float(old), rel_tol=SAME_NUMBER, abs_tol=1e-12)


def changes(topic: str) -> list[str]:
    """The commands of which other programs read something else than before."""
    pairs = zip(map(machine_readable, replayed(topic)), recorded(topic), strict=True)
    return [old.line for new, old in pairs if settled(new, machine_readable(old)) != machine_readable(old)]


def record(topic: str) -> None:
    """Writes the transcript anew; a number that differs by rounding alone stays as it was."""
    lines: list[str] = []
    for new, old in zip(replayed(topic), recorded(topic), strict=True):
        lines += [old.line, *settled(new.result, old.result)]
    (TRANSCRIPTS / f"{topic}.txt").write_text("".join(line + "\n" for line in lines), "utf-8")


@pytest.mark.parametrize("topic", TOPICS)
def test_commands_answer_as_recorded(topic: str) -> None:
    for new, old in zip(replayed(topic), recorded(topic), strict=True):
        expected = machine_readable(old)
        assert settled(machine_readable(new), expected) == expected, f"for programs: {old.line}"
        assert settled(new.result, old.result) == old.result, old.line


if __name__ == "__main__":
    for topic in sys.argv[1:] or TOPICS:
        for command in changes(topic):
            print(f"{topic}: other programs read something else: {command}")
        record(topic)
