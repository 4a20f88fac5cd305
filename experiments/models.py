"""Every event model on two public corpora: the tables of docs/model-figures.md.

    make experiment-models         (NBSPAM_CORPORA names the folder of the archives)

Accuracy: the SpamAssassin corpus by its fixed split, and the SMS corpus in ten folds.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.corpora import corpus_folder
from nbspam.corpus.corpus import Corpus, list_views, read_corpus
from nbspam.corpus.executor import default_jobs
from nbspam.corpus.labelled import open_labelled
from nbspam.decision import zero_one_loss
from nbspam.evaluation.figures import summarise
from nbspam.evaluation.folds import draw_folds, split_by_fold
from nbspam.evaluation.outcomes import join
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.block import Block, keep_views, merge_blocks
from nbspam.settings import Settings
from nbspam.tasks.evaluate import judge_rows
from nbspam.tasks.judges import CorpusJudge
from nbspam.tasks.plan import Plan

PAGE = Path(__file__).resolve().parent.parent / "docs" / "model-figures.md"
MODELS: dict[str, dict[str, Any]] = {  # title -> settings
    "presence, views and calibration (the default)": {},
    "presence, λ = 1": {"averaged": False},
    "multinomial, λ = 1": {"event_model": "multinomial"},
    "Bernoulli, λ = 1": {"event_model": "bernoulli"},
    "complement, λ = 1": {"event_model": "complement"},
    "complement, normalised, λ = 1": {"event_model": "complement", "normalise": True},
    "Gaussian": {"event_model": "gaussian"},
    "categorical, 10 bins": {"event_model": "categorical"},
    "categorical, 10 bins of equal width": {"event_model": "categorical", "binning": "width"},
    "AODE, 10 bins": {"event_model": "aode"},
    "presence + Gaussian, λ = 1": {"features": "both"},
    "presence + categorical, λ = 1": {"features": "both", "numeric_model": "categorical"},
}
SMALL_LAMBDA: dict[str, dict[str, Any]] = {
    "presence, λ = 0.01": {"averaged": False, "alpha": 0.01},
    "multinomial, λ = 0.01": {"event_model": "multinomial", "alpha": 0.01},
    "Bernoulli, λ = 0.01": {"event_model": "bernoulli", "alpha": 0.01},
    "complement, λ = 0.01": {"event_model": "complement", "alpha": 0.01},
}


def read(source: Path) -> Block:
    """All messages of a source with what any of the models reads."""
    found = open_labelled([str(source)])
    wanted = frozenset[str]().union(*(Settings(**given).wanted for given in MODELS.values()))
    return read_corpus(found.items(), HAM_AND_SPAM, default_jobs(), wanted=wanted).block


def make_corpus(block: Block, settings: Settings) -> Corpus:
    """The messages with what one model reads."""
    return Corpus(keep_views(block, list_views(settings)), HAM_AND_SPAM, [], [], False)


def judged(block: Block, splits: list[tuple[Any, Any]], settings: Settings) -> tuple[dict[str, Any], float]:
    """The figures of a model over splits (train, test), and the seconds of counting, fitting and scoring."""
    corpus = make_corpus(block, settings)
    parts, seconds = [], 0.0
    for train, test in splits:
        begun = time.perf_counter()
        judge = CorpusJudge(corpus, Plan(settings), train)
        scores = judge.joints(test)
        seconds += time.perf_counter() - begun
        parts.append(judge_rows(corpus, test, scores, zero_one_loss(2)))
    return summarise(join(parts)), seconds


def accuracy_rows(block: Block, splits: list[tuple[Any, Any]]) -> list[list[str]]:
    """(1-ROCA)%, hm%, sm%, log loss and seconds of each model."""
    rows = []
    for title, given in (MODELS | SMALL_LAMBDA).items():
        found, seconds = judged(block, splits, Settings(**given))
        rows.append(
            [
                title,
                f"{found['one_minus_roca_percent']:.4f}",
                f"{found['hm_percent']:.2f}",
                f"{found['sm_percent']:.2f}",
                f"{found['log_loss']:.4f}",
                f"{seconds:.2f}",
            ]
        )
        print(" | ".join(rows[-1]), file=sys.stderr)
    return rows


def table(title: str, heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table under a line that says what it is."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    rule = "|---" + "|---:" * (len(heads) - 1) + "|"
    return "\n".join([title, "", "| " + " | ".join(heads) + " |", rule, *lines])


def accuracy(mail: Path, texts: Path) -> str:
    """The tables of accuracy."""
    block, train, test = split(mail)
    short = read(texts)
    splits = split_by_fold(draw_folds(short.labels.astype(np.int64), 10, 0))
    heads = ["model", "(1-ROCA)%", "hm%", "sm%", "log loss", "seconds"]
    whole = (
        f"SpamAssassin, trained on {len(train):,} messages and judged on {len(test):,}. Seconds: counting, "
        "fitting and scoring; reading the mail is not in them."
    )
    folds = f"SMS, ten folds of {len(short):,} texts."
    rows = table(whole, heads, accuracy_rows(block, [(train, test)]))
    return rows + "\n\n" + table(folds, heads, accuracy_rows(short, splits))


def split(mail: Path) -> tuple[Block, Any, Any]:
    """The SpamAssassin corpus, and the rows of its two halves."""
    parts = [read(mail / "train.index"), read(mail / "test.index")]
    block = merge_blocks(parts)
    return block, np.arange(len(parts[0])), np.arange(len(parts[0]), len(block))


def main() -> None:
    """Measures the models and writes the tables into the page."""
    mail, texts = corpus_folder("spamassassin", "sa"), corpus_folder("sms", "sms") / "index"
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition("<!-- models-table -->")
    _, end, after = rest.partition("<!-- /models-table -->")
    made = f"Made by `make experiment-models`.\n\n{accuracy(mail, texts)}"
    PAGE.write_text(f"{before}{begin}\n\n{made}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
