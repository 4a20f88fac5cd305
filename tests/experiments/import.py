"""What a model made of bogofilter's word list is worth; the tables of docs/experiments/import.md.

    make experiment-import

bogofilter learns some mail and its word list is imported; both judge other mail, beside nbspam trained on the
same.  Nothing here looks at a message of SpamAssassin's test.index.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from nbspam.engine.accumulator import time_order
from nbspam.evaluation.folds import fold_splits, stratified_folds
from nbspam.foreign import bogofilter as foreign
from nbspam.foreign import word_list
from nbspam.foreign.counterparts import body_word
from nbspam.labels import HAM_AND_SPAM
from nbspam.scoring.scorer import Counted
from nbspam.settings import Settings
from nbspam.sources import Item, open_labelled
from nbspam.workflow import importing
from nbspam.workflow.classifying import open_classifier
from nbspam.workflow.corpus import read_corpus
from nbspam.workflow.counting import counted_message
from nbspam.workflow.importing import import_words
from nbspam.workflow.prior_model import PriorModel
from nbspam.workflow.training import Choices, train
from nbspam.workflow.updating import update
from tests.experiments.lab import CORPORA, FOLDS, corpus_folder, heading, means, row
from tests.peers.bogofilter import MEMORY, Bogofilter
from tests.peers.subject_and_body import cut_down

CUTS = (30, 40, 50, 60, 70)  # per cent of the mail that bogofilter has learned
NEWER = 0.3  # of the mail: what comes then
SORTED = (0, 50, 200)  # messages drawn from that, which somebody has sorted; what is not among 200 is judged
EVEN = 50  # so many also as half ham and half spam
WEIGHTS = (100, 500, 2_000)  # messages that an imported prior model counts for
MARKS = '.,;:!?"()<>[]*'


class Mail(NamedTuple):
    """A corpus as files: bogofilter and nbspam read the same bytes."""

    paths: list[Path]
    labels: Any
    counted: list[Counted]

    def items(self, rows: Sequence[int]) -> list[Item]:
        """Labelled messages of nbspam."""
        names = "".join(f"{HAM_AND_SPAM[self.labels[row]]} {self.paths[row]}\n" for row in rows)
        with tempfile.NamedTemporaryFile("w", suffix=".index") as index:
            index.write(names)
            index.flush()
            return list(open_labelled([index.name]).items())


def read(corpus: str, folder: Path) -> Mail:
    """The messages of a corpus of the lab as files of their own."""
    archive, top, index, step, cut = CORPORA[corpus]
    found = corpus_folder(archive, top)
    items = list(open_labelled([str(found / index)]).items())[::step]
    paths, counted = [], []
    for number, item in enumerate(items):
        data = whole(cut_down(item.read()) if cut else item.read())
        paths.append(folder / f"{number:05}")
        paths[-1].write_bytes(data)
        counted.append(counted_message(data, Settings()))
    return Mail(paths, np.array([HAM_AND_SPAM.index(item.label) for item in items]), counted)


def whole(data: bytes) -> bytes:
    """The message with the empty line that ends a header: without it bogofilter takes the text for one."""
    first, _, rest = data.partition(b"\n")
    if b"\n\n" in data or b"\r\n\r\n" in data:
        return data
    return first + b"\n\n" + rest if first.startswith(b"Subject:") else b"\n" + data


def learned(mail: Mail, rows: Sequence[int], folder: Path) -> Bogofilter:
    """bogofilter with its word list in the folder, after these messages."""
    program = shutil.which("bogofilter")
    if program is None:
        sys.exit("bogofilter is not installed: apt-get install bogofilter")
    peer = Bogofilter(program, folder)
    for number, name in enumerate(HAM_AND_SPAM):
        peer.learn_files([mail.paths[i] for i in rows if mail.labels[i] == number], name)
    return peer


def its_scores(peer: Bogofilter, mail: Mail, rows: Sequence[int]) -> Any:
    """bogofilter's log-odds."""
    found = np.array(peer.score_files([mail.paths[i] for i in rows])).clip(1e-15, 1 - 1e-15)
    return np.log(found) - np.log1p(-found)


def imported(words: Path, path: Path) -> Path:
    """The model of a word list."""
    text = subprocess.run(["bogoutil", "-d", words / "wordlist.db"], capture_output=True, check=True).stdout
    import_words(text.splitlines(keepends=True), str(words), str(path))
    return path


def trained(mail: Mail, rows: Sequence[int], path: Path) -> Path:
    """nbspam trained on these messages."""
    train(mail.items(rows), HAM_AND_SPAM, str(path), Settings())
    return path


def updated(model: Path, mail: Mail, rows: Sequence[int], path: Path) -> Path:
    """A copy of the model after `train --update`."""
    shutil.copy(model, path)
    update(mail.items(rows), HAM_AND_SPAM, str(path))
    return path


def on_prior(model: Path, weight: float, mail: Mail, rows: Sequence[int], path: Path) -> Path:
    """`train --prior-model`."""
    with PriorModel(str(model), weight, HAM_AND_SPAM) as prior:
        train(mail.items(rows), HAM_AND_SPAM, str(path), Settings(), choices=Choices(prior=prior))
    return path


def our_scores(model: Path, mail: Mail, rows: Sequence[int]) -> Any:
    """The log-odds of a model."""
    classifier = open_classifier(str(model))
    found = [classifier.judge(mail.counted[i], "").log_odds for i in rows]
    classifier.model.close()
    return np.array(found)


def _with_signs(text: str) -> Any:
    return body_word(text.strip(MARKS))


@contextlib.contextmanager
def _every_weight() -> Iterator[None]:
    with mock.patch.dict(importing.FIRST_WEIGHTS, clear=True):
        yield


# What was tried otherwise when a word list is imported.
VARIANTS: dict[str, Callable[[], Any]] = {
    "imported": contextlib.nullcontext,
    "the weights that any calibration starts at": _every_weight,
    "the larger count of two spellings, not the sum": lambda: mock.patch.object(
        word_list, "together", lambda known, counts: list(map(max, known, counts))
    ),
    "words with signs around them, too": lambda: mock.patch.object(foreign, "body_word", _with_signs),
    "no words of To and Cc": lambda: mock.patch.dict(foreign._FIELDS, {"to": "x"}),
    "no names of fields": lambda: mock.patch.object(foreign, "_names_a_field", lambda text: False),
}


def folds_table(corpus: str, variants: Sequence[str], made: Path) -> None:
    """Each fold is judged by what learned the others."""
    folder = made / corpus
    folder.mkdir()
    mail = read(corpus, folder)
    heading(corpus, len(mail.paths))
    names = ("bogofilter", *variants, "nbspam trained on the same mail")
    scores = {name: np.zeros(len(mail.paths)) for name in names}
    for number, (past, rows) in enumerate(fold_splits(stratified_folds(mail.labels, FOLDS, 0))):
        words = made / f"{corpus}-{number}"
        scores["bogofilter"][rows] = its_scores(learned(mail, past, words), mail, rows)
        for name in variants:
            with VARIANTS[name]():
                scores[name][rows] = our_scores(imported(words, made / "model"), mail, rows)
        scores[names[-1]][rows] = our_scores(trained(mail, past, made / "own"), mail, rows)
    for name in names:
        print(row(name, scores[name], mail.labels), flush=True)


def later_table(made: Path) -> None:
    """bogofilter learned the past; of newer mail some is sorted by hand, and the rest is judged."""
    folder = made / "later"
    folder.mkdir()
    mail = read("spamassassin", folder)
    names = "".join(f"{HAM_AND_SPAM[k]} {path}\n" for k, path in zip(mail.labels, mail.paths, strict=True))
    (made / "index").write_text(names)
    source = open_labelled([str(made / "index")])
    order = time_order(read_corpus(source.items(), source.classes, 1).block)
    heading("spamassassin, judged is newer mail: means over five cuts", len(order))
    rows: dict[str, list[str]] = {}
    for percent in CUTS:
        cut = len(order) * percent // 100
        newer = np.random.default_rng(percent).permutation(order[cut : cut + int(len(order) * NEWER)])
        past, new, judged = order[:cut], newer[: max(SORTED)], newer[max(SORTED) :]
        for name, scores in later_scores(mail, past, new, judged, made / f"later-{percent}"):
            rows.setdefault(name, []).append(row("", scores, mail.labels[judged]))
    for name, found in rows.items():
        print(means(name, found), flush=True)


def later_scores(mail: Mail, past: Any, new: Any, judged: Any, made: Path) -> Iterator[tuple[str, Any]]:
    """(name, log-odds of the judged) by each way to go on."""
    made.mkdir()
    path = made / "model"
    model = None
    for sorted_ in (new[:size] for size in SORTED):
        more = f" and {len(sorted_)} newer messages" if len(sorted_) else ""
        both = np.concatenate([past, sorted_])
        words = made / f"words-{len(sorted_)}"
        yield "bogofilter" + more, its_scores(learned(mail, both, words), mail, judged)
        model = model or imported(words, made / "imported")
        found = updated(model, mail, sorted_, path) if len(sorted_) else model
        yield "imported" + more, our_scores(found, mail, judged)
        if len(sorted_) == EVEN:
            even = [row for k in (0, 1) for row in new[mail.labels[new] == k][: EVEN // 2]]
            found = updated(model, mail, even, path)
            yield f"imported and {EVEN} newer messages, half of them spam", our_scores(found, mail, judged)
        for weight in WEIGHTS if len(sorted_) else ():
            found = on_prior(model, weight, mail, sorted_, path)
            yield f"imported as prior model, weight {weight}{more}", our_scores(found, mail, judged)
        if len(sorted_):
            alone = trained(mail, sorted_, path)
            yield f"nbspam, {len(sorted_)} newer alone", our_scores(alone, mail, judged)
        yield f"nbspam, all that mail{more}", our_scores(trained(mail, both, path), mail, judged)


def main() -> None:
    """Prints the tables."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as name:
        folds_table("spamassassin", list(VARIANTS), Path(name))
        for corpus in ("enron", "sms", "ccert_zh"):
            folds_table(corpus, list(VARIANTS)[:2], Path(name))
        later_table(Path(name))


if __name__ == "__main__":
    main()
