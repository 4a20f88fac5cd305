"""Filters that learn and judge one message at a time, through the replay and the split of nbspam.

    python -m peers.one_by_one --filter spamprobe SOURCE --replay
    python -m peers.one_by_one --filter crm114 train.index --test test.index

Programs of Debian, with their defaults.  What they keep is in a temporary folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Protocol

from nbspam.evaluation.outcomes import Evaluation, Outcome
from nbspam.labels import HAM, SPAM
from peers.common import Messages, arguments, by_replay, by_split, finish, read_messages

MEMORY = "/dev/shm"  # a data base there costs no disk


class OneByOne(Protocol):
    """A filter of bytes."""

    def learn(self, data: bytes, label: str) -> None:
        """Learn one message."""

    def score(self, data: bytes) -> float:
        """The filter's score of spam, 0 to 1; 0.5 if it cannot tell."""


class SpamProbe:
    """SpamProbe, with one data base for both classes."""

    def __init__(self, folder: Path) -> None:
        self._command = ["spamprobe", "-d", str(folder)]
        subprocess.run([*self._command, "create-db"], check=True)

    def learn(self, data: bytes, label: str) -> None:
        """Learn one message."""
        command = [*self._command, "spam" if label == SPAM else "good"]
        subprocess.run(command, input=data, check=True, capture_output=True)

    def score(self, data: bytes) -> float:
        """Its score: `SPAM 0.9999999 ...`, or `GOOD 0.0000001 ...`."""
        done = subprocess.run([*self._command, "score"], input=data, check=True, capture_output=True)
        return float(done.stdout.split()[1])


class Crm114:
    """CRM114 with its OSB classifier, which learns as its `mailtrainer` does: errors and near errors only."""

    THICKNESS = 10.0  # of pR, the log-ratio that CRM114 shows: below this a right answer is learned, too

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = {HAM: "nonspam.css", SPAM: "spam.css"}
        for label in self._files:
            self._learn(b"", label)

    def _run(self, program: str, data: bytes) -> bytes:
        command = ["crm", f"-{{ {program} }}"]
        return subprocess.run(command, input=data, check=True, capture_output=True, cwd=self._folder).stdout

    def _learn(self, data: bytes, label: str) -> None:
        self._run(f"learn <osb unique microgroom> ({self._files[label]}) /[[:graph:]]+/", data)

    def _ratio(self, data: bytes) -> float:
        """pR of spam: logarithm to base 10 of the odds."""
        classify = "classify <osb unique microgroom> (spam.css | nonspam.css) (:stats:) /[[:graph:]]+/"
        # `classify` goes on if the first class is likelier, else it jumps to the end of its block.
        shown = self._run(f"{{ {{ {classify} }} output /:*:stats:/ }}", data)
        found = re.search(rb"#0 \(spam\.css\):.*? pR: *(-?[\d.]+)", shown)
        if found is None:
            raise SystemExit(f"crm says: {shown!r}")
        return float(found[1])

    def learn(self, data: bytes, label: str) -> None:
        """Learn one message if the answer is wrong or not sure."""
        ratio = self._ratio(data)
        if (ratio if label == SPAM else -ratio) < self.THICKNESS:
            self._learn(data, label)

    def score(self, data: bytes) -> float:
        """pR as a probability that keeps its order; pR is at most 350."""
        return 0.5 + self._ratio(data) / 1000


class SpamAssassin:
    """The Bayes of SpamAssassin alone, without its rules; a Perl process serves all messages."""

    SCRIPT = r"""
        use strict; use Mail::SpamAssassin; binmode STDIN; $| = 1;
        my $filter = Mail::SpamAssassin->new({ dont_copy_prefs => 1, local_tests_only => 1, config_text =>
            "loadplugin Mail::SpamAssassin::Plugin::Check\nloadplugin Mail::SpamAssassin::Plugin::Bayes\n"
            . "use_bayes 1\nbayes_path $ARGV[0]/bayes\nbayes_auto_learn 0\nbayes_auto_expire 0\n"
            . "bayes_min_ham_num 1\nbayes_min_spam_num 1\nlock_method flock\n"
            . "body BAYES_ALL eval:check_bayes('0.00', '1.00')\nscore BAYES_ALL 1\n"
            . `cat /usr/share/spamassassin/20_aux_tlds.cf` });
        $filter->init(1);
        while (my $line = <STDIN>) {
            my ($verb, $size) = split ' ', $line;
            read STDIN, my $data, $size;
            my $message = $filter->parse($data);
            if ($verb eq 'score') {
                my $status = $filter->check($message);
                print $status->{bayes_score} // 0.5, "\n";
                $status->finish();
            } else {
                $filter->init_learner({});
                $filter->learn($message, undef, $verb eq 'spam' ? 1 : 0, 0)->finish();
                $filter->finish_learner();
                print "learned\n";
            }
            $message->finish();
        }
    """

    def __init__(self, folder: Path) -> None:
        command = ["perl", "-e", self.SCRIPT, str(folder)]
        self._perl = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _ask(self, verb: str, data: bytes) -> str:
        assert self._perl.stdin and self._perl.stdout
        self._perl.stdin.write(f"{verb} {len(data)}\n".encode() + data)
        self._perl.stdin.flush()
        answer = self._perl.stdout.readline().decode().strip()
        if not answer:
            raise SystemExit("the Perl process of SpamAssassin has ended")
        return answer

    def learn(self, data: bytes, label: str) -> None:
        """Learn one message."""
        self._ask(label, data)

    def score(self, data: bytes) -> float:
        """The probability that its rules BAYES_00 to BAYES_999 look at."""
        return float(self._ask("score", data))


FILTERS: dict[str, tuple[str, Callable[[Path], OneByOne]]] = {
    "spamprobe": ("spamprobe", SpamProbe),
    "crm114": ("crm", Crm114),
    "spamassassin": ("spamassassin", SpamAssassin),
}


def outcome_of(score: float) -> Outcome:
    """Spam above 0.5."""
    odds = log(score) - log(1 - score) if 0 < score < 1 else None
    return Outcome(int(score > 0.5), odds, (1 - score, score))


class InReplay:
    """A filter as evaluate.replay drives it."""

    def __init__(self, subject: OneByOne, messages: Messages, order: list[int]) -> None:
        self._subject = subject
        self._messages = messages
        self._order = order

    def score(self, message: int) -> Outcome:
        return outcome_of(self._subject.score(self._messages.contents[self._order[message]]))

    def learn(self, message: int, label: int) -> None:
        name = self._messages.corpus.classes[label]
        self._subject.learn(self._messages.contents[self._order[message]], name)

    def unlearn(self, message: int, label: int) -> None:
        raise SystemExit("this peer does not unlearn")


def evaluated(name: str, source: str, test: str, feedback: str = "immediate", seed: int = 0) -> Evaluation:
    """The evaluation of a filter: a replay of `source`, or trained on it and judged on `test`."""
    program, make = FILTERS[name]
    if shutil.which(program) is None:
        raise SystemExit(f"{program} is not installed: apt-get install {name}")
    messages, settings = read_messages(source), {"filter": name}
    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as folder:
        subject = make(Path(folder))
        if not test:
            return by_replay(
                messages, lambda order: InReplay(subject, messages, order), feedback, seed, settings
            )

        def judge(both: Messages, train: list[int], rows: list[int]) -> list[Outcome]:
            one = InReplay(subject, both, list(range(len(both.contents))))
            for row in train:
                one.learn(row, int(both.corpus.block.labels[row]))
            return [one.score(row) for row in rows]

        return by_split(messages, read_messages(test), judge, settings)


def main() -> None:
    parser = arguments("Judge another filter as nbspam eval judges nbspam.")
    parser.add_argument("--filter", choices=FILTERS, required=True)
    options = parser.parse_args()
    if not options.replay and not options.test:
        parser.error("give --replay or --test SOURCE")
    test = options.test or ""
    finish(evaluated(options.filter, options.source, test, options.feedback, options.seed), options)


if __name__ == "__main__":
    main()
