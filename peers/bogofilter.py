"""Debian's bogofilter through the same replay, folds and split as nbspam.

    python -m peers.bogofilter SOURCE --replay [--feedback KIND] [--autolearn]
    python -m peers.bogofilter SOURCE --folds 10
    python -m peers.bogofilter train.index --test test.index

Its word lists are in a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from math import log
from pathlib import Path

from nbspam.decision import UNDECIDED
from nbspam.evaluation.outcomes import Evaluation, Outcome
from nbspam.evaluation.replay import Autolearn, Filter
from nbspam.labels import HAM, SPAM
from peers.common import Messages, arguments, by_folds, by_replay, by_split, finish, read_messages

# bogofilter's own defaults, given on the command line so that no configuration file of the machine counts.
SPAM_CUTOFF, HAM_CUTOFF = 0.99, 0.45
FLAGS = {HAM: "-n", SPAM: "-s"}
TAKEN_BACK = {HAM: "-N", SPAM: "-S"}
# A line before a message, the fields of its header, each with its continuation lines.
HEADER = re.compile(rb"(?:From [^\n]*\n)?(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*")
NO_WORDLIST = 3  # exit status before anything was learned
MEMORY = "/dev/shm"  # a word list there costs no disk


def with_empty_line(data: bytes) -> bytes:
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


def outcome_of(score: float) -> Outcome:
    """bogofilter's decision.  Its score serves as probability; at 0 and 1 there are no log-odds."""
    decided = 1 if score >= SPAM_CUTOFF else 0 if score <= HAM_CUTOFF else UNDECIDED
    odds = log(score) - log(1 - score) if 0 < score < 1 else None
    return Outcome(decided, odds, (1 - score, score))


class BogofilterReplay:
    """bogofilter as a filter that evaluate.replay drives."""

    def __init__(self, filter: Bogofilter, messages: Messages, order: list[int]) -> None:
        self._filter = filter
        self._messages = messages
        self._order = order

    def score(self, message: int) -> Outcome:
        return outcome_of(self._filter.score(self._messages.contents[self._order[message]]))

    def learn(self, message: int, label: int) -> None:
        classes = self._messages.corpus.classes
        self._filter.learn(self._messages.contents[self._order[message]], classes[label])

    def autolearn(self, message: int, outcome: Outcome) -> int:
        """As `bogofilter -u`: register every message that is not unsure."""
        if outcome.decided != UNDECIDED:
            self.learn(message, outcome.decided)
        return outcome.decided

    def unlearn(self, message: int, label: int) -> None:
        classes = self._messages.corpus.classes
        self._filter.unlearn(self._messages.contents[self._order[message]], classes[label])


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
        return [outcome_of(score) for score in scores]


def main() -> None:
    parser = arguments("Judge bogofilter as nbspam eval judges nbspam.")
    parser.add_argument("--autolearn", action="store_true", help="with --replay: as bogofilter -u")
    options = parser.parse_args()
    program = shutil.which("bogofilter")
    if program is None:
        sys.exit("bogofilter is not installed: apt-get install bogofilter")
    messages = _read(options.source)
    settings = {"filter": f"bogofilter, cut-offs {SPAM_CUTOFF:g} and {HAM_CUTOFF:g}"}
    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as name:
        folder = Path(name)
        evaluation = _evaluate(program, folder, messages, options, settings)
    finish(evaluation, options)


def _read(source: str) -> Messages:
    corpus, contents = read_messages(source)
    return Messages(corpus, [with_empty_line(content) for content in contents])


def _evaluate(
    program: str, folder: Path, messages: Messages, options: argparse.Namespace, settings: dict[str, str]
) -> Evaluation:
    if options.replay:

        def begin(order: list[int]) -> Filter:
            subject = BogofilterReplay(Bogofilter(program, folder / "words"), messages, order)
            return Autolearn(subject) if options.autolearn else subject

        return by_replay(messages, begin, options.feedback, options.seed, settings)
    if options.test:

        def judge(both: Messages, train: list[int], rows: list[int]) -> list[Outcome]:
            return Batch(program, folder, both)(train, rows)

        return by_split(messages, _read(options.test), judge, settings)
    return by_folds(messages, options.folds, options.seed, Batch(program, folder, messages), settings)


if __name__ == "__main__":
    main()
