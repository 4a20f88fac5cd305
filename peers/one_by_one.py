"""Filters that learn and judge one message at a time, through the replay and the split of nbspam.

    python -m peers.one_by_one --filter spamprobe SOURCE --replay
    python -m peers.one_by_one --filter crm114 train.index --test test.index

Programs of Debian, with their defaults.  What they keep is in a temporary folder.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from nbspam.evaluation.outcomes import Outcome
from nbspam.labels import HAM, SPAM
from peers.common import (
    InReplay,
    Judge,
    Messages,
    OneByOne,
    evaluate,
    finish,
    make_parser,
    make_scratch_folder,
)


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


BAYES_ALONE = """\
loadplugin Mail::SpamAssassin::Plugin::Check
loadplugin Mail::SpamAssassin::Plugin::Bayes
use_bayes 1
bayes_path {folder}/bayes
bayes_file_mode 0777
bayes_auto_learn 0
bayes_auto_expire 0
bayes_min_ham_num 1
bayes_min_spam_num 1
lock_method flock
body BAYES_ALL eval:check_bayes('0.00', '1.00')
score BAYES_ALL 1
"""


def configure_bayes(folder: Path) -> str:
    """Settings of SpamAssassin: its Bayes alone, kept in the folder, from the first message on."""
    return BAYES_ALONE.format(folder=folder) + Path("/usr/share/spamassassin/20_aux_tlds.cf").read_text()


class SpamAssassin:
    """The Bayes of SpamAssassin alone, without its rules; a Perl process serves all messages."""

    SCRIPT = r"""
        use strict; use Mail::SpamAssassin; binmode STDIN; $| = 1;
        open my $settings, "<", $ARGV[0];
        my $filter = Mail::SpamAssassin->new({
            dont_copy_prefs => 1, local_tests_only => 1, config_text => join "", <$settings> });
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
        settings = folder / "bayes.cf"
        settings.write_text(configure_bayes(folder))
        command = ["perl", "-e", self.SCRIPT, str(settings)]
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


def decide(score: float) -> int:
    """Spam above 0.5."""
    return int(score > 0.5)


def main() -> None:
    parser = make_parser("Judge another filter as nbspam eval judges nbspam.")
    parser.add_argument("--filter", choices=FILTERS, required=True)
    options = parser.parse_args()
    if not options.replay and not options.test:
        parser.error("give --replay or --test SOURCE")
    program, make = FILTERS[options.filter]
    if shutil.which(program) is None:
        raise SystemExit(f"{program} is not installed: apt-get install {options.filter}")
    with make_scratch_folder() as folder:
        subject = make(Path(folder))

        def replayed(messages: Messages) -> InReplay:
            return InReplay(subject, messages, decide)

        def judge(messages: Messages) -> Judge:
            one, labels = replayed(messages), messages.corpus.truth().tolist()

            def judged(train: list[int], rows: list[int]) -> list[Outcome]:
                for row in train:
                    one.learn(row, labels[row])
                return [one.score(row) for row in rows]

            return judged

        evaluation = evaluate(options, {"filter": options.filter}, judge, replayed)
    finish(evaluation, options)


if __name__ == "__main__":
    main()
