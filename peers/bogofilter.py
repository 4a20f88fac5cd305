"""Debian's bogofilter through the same replay, folds and split as nbspam.

    python -m peers.bogofilter SOURCE --replay [--feedback KIND] [--autolearn]
    python -m peers.bogofilter SOURCE --folds 10
    python -m peers.bogofilter train.index --test test.index

Its word lists are in a temporary folder.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from nbspam.decision import UNDECIDED
from nbspam.evaluation.outcomes import Outcome
from nbspam.evaluation.replay import Autolearn, ReplayFilter
from nbspam.labels import HAM, SPAM
from peers.common import (
    InReplay,
    Messages,
    evaluate,
    finish,
    make_outcome,
    make_parser,
    make_scratch_folder,
    read_messages,
)

# bogofilter's own defaults, given on the command line so that no configuration file of the machine counts.
SPAM_CUTOFF, HAM_CUTOFF = 0.99, 0.45
FLAGS = {HAM: "-n", SPAM: "-s"}
TAKEN_BACK = {HAM: "-N", SPAM: "-S"}
# A line before a message, the fields of its header, each with its continuation lines.
HEADER = re.compile(rb"(?:From [^\n]*\n)?(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*")
NO_WORDLIST = 3  # exit status before anything was learned


def add_empty_line(data: bytes) -> bytes:
    """The message with an empty line after its header: without one bogofilter reads text as header.

    Enron's files have a Subject and then their text, those of sms text alone.
    """
    fields = HEADER.match(data)
    end = fields.end() if fields else 0
    return data if data[end : end + 2].startswith((b"\n", b"\r\n")) else data[:end] + b"\n" + data[end:]


class Bogofilter:
    """One word list."""

    def __init__(self, program: str, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._command = [program, "-C", "-d", str(folder), "-o", f"{SPAM_CUTOFF},{HAM_CUTOFF}"]
        self._learned: set[str] = set()

    def learn(self, data: bytes, label: str) -> None:
        """Registers one message."""
        subprocess.run([*self._command, FLAGS[label]], input=data, check=True)
        self._learned.add(label)

    def unlearn(self, data: bytes, label: str) -> None:
        """Takes one message back."""
        subprocess.run([*self._command, TAKEN_BACK[label]], input=data, check=True)

    def learn_files(self, paths: list[Path], label: str) -> None:
        """Registers many."""
        if paths:
            names = "\n".join(map(str, paths)).encode()
            subprocess.run([*self._command, FLAGS[label], "-b"], input=names, check=True)
            self._learned.add(label)

    def score(self, data: bytes) -> float:
        """Spamicity of one message, 0 to 1, sixteen digits; 0.5 before anything was learned."""
        if not self._learned:
            return 0.5
        done = subprocess.run([*self._command, "-TT"], input=data, capture_output=True)
        if done.returncode >= NO_WORDLIST:
            raise SystemExit(done.stderr.decode())
        return float(done.stdout)

    def score_files(self, paths: list[Path]) -> list[float]:
        """Spamicity of each file."""
        names = "\n".join(map(str, paths)).encode()
        done = subprocess.run([*self._command, "-TT", "-b"], input=names, capture_output=True)
        if done.returncode >= NO_WORDLIST:
            raise SystemExit(done.stderr.decode())
        return [float(line.rpartition(b" ")[2]) for line in done.stdout.splitlines()]


def decide(score: float) -> int:
    """bogofilter's decision."""
    return 1 if score >= SPAM_CUTOFF else 0 if score <= HAM_CUTOFF else UNDECIDED


class BogofilterReplay(InReplay):
    """bogofilter as a filter that evaluation.replay drives."""

    def __init__(self, filter: Bogofilter, messages: Messages) -> None:
        super().__init__(filter, messages, decide)
        self._filter = filter

    def autolearn(self, message: int, outcome: Outcome) -> int:
        """As `bogofilter -u`: register every message that is not unsure."""
        if outcome.decided != UNDECIDED:
            self.learn(message, outcome.decided)
        return outcome.decided

    def unlearn(self, message: int, label: int) -> None:
        self._filter.unlearn(self._contents[message], self._classes[label])


class Batch:
    """Messages as files, trained and judged many at a time."""

    def __init__(self, program: str, folder: Path, messages: Messages) -> None:
        self._program = program
        self._folder = folder
        self._messages = messages
        self._paths = []
        for row, content in enumerate(messages.contents):
            path = folder / str(row)
            path.write_bytes(content)
            self._paths.append(path)

    def __call__(self, train: list[int], rows: list[int]) -> list[Outcome]:
        words = Path(tempfile.mkdtemp(dir=self._folder))
        filter = Bogofilter(self._program, words)
        labels, classes = self._messages.corpus.block.labels, self._messages.corpus.classes
        for number, name in enumerate(classes):
            filter.learn_files([self._paths[row] for row in train if labels[row] == number], name)
        scores = filter.score_files([self._paths[row] for row in rows])
        shutil.rmtree(words)
        return [make_outcome(score, decide(score)) for score in scores]


def read(source: str) -> Messages:
    """The messages, each with an empty line after its header."""
    corpus, contents = read_messages(source)
    return Messages(corpus, [add_empty_line(content) for content in contents])


def main() -> None:
    parser = make_parser("Judge bogofilter as nbspam eval judges nbspam.")
    parser.add_argument("--autolearn", action="store_true", help="with --replay: as bogofilter -u")
    options = parser.parse_args()
    program = shutil.which("bogofilter")
    if program is None:
        sys.exit("bogofilter is not installed: apt-get install bogofilter")
    settings = {"filter": f"bogofilter, cut-offs {SPAM_CUTOFF:g} and {HAM_CUTOFF:g}"}
    with make_scratch_folder() as name:
        folder = Path(name)

        def replayed(messages: Messages) -> ReplayFilter:
            subject = BogofilterReplay(Bogofilter(program, folder / "words"), messages)
            return Autolearn(subject) if options.autolearn else subject

        evaluation = evaluate(options, settings, partial(Batch, program, folder), replayed, read)
    finish(evaluation, options)


if __name__ == "__main__":
    main()
