"""nbspam and other filters on the same mail, by the same code: the table of README.md.

    python -m peers.table CORPORA FOLDER       (make peers)

CORPORA is the folder with the unpacked `sa` and `trec06p_late`.  Each evaluation is made once and kept in
FOLDER; all of them take some hours.  A program that is not installed is left out.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from nbspam.evaluation.figures import AT_HM, summarise
from nbspam.evaluation.formats import read_evaluation

TRIALS = {
    "split": "SpamAssassin: 2,992 messages train, 3,054 are judged",
    "trec": "trec06p_late: each message judged, then learned",
}
SCIKIT_LEARN = ("BernoulliNB", "ComplementNB", "MultinomialNB")
# Shown as, name, program that must be there
PROGRAMS = (
    ("bogofilter", "bogofilter", "bogofilter"),
    ("SpamProbe", "spamprobe", "spamprobe"),
    ("SpamAssassin's Bayes, without its rules", "spamassassin", "spamassassin"),
    ("CRM114 (OSB)", "crm114", "crm"),
)
HEAD = """
| {} | (1-ROCA)% | spam missed if 0.1 % of the ham is lost |
|---|---|---|"""


def list_commands(name: str, trial: str, corpora: Path, folder: Path) -> list[list[str]]:
    """The commands that evaluate one filter; the last one keeps its evaluation with --save."""
    split = [str(corpora / "sa/train.index"), "--test", str(corpora / "sa/test.index")]
    source = str(corpora / ("sa/train.index" if trial == "split" else "trec06p_late/index"))
    how = split if trial == "split" else [source, "--replay"]
    if name != "nbspam":
        module = [f"peers.{name}"] if name == "bogofilter" else ["peers.one_by_one", "--filter", name]
        module = ["peers.scikit_learn", "--event-model", name] if name in SCIKIT_LEARN else module
        return [["-m", *module, *how]]
    if trial != "split":
        return [["-m", "nbspam", "eval", *how]]
    model = str(folder / "split.nbspam")
    return [
        ["-m", "nbspam", "train", "-q", "--replace", source, "-m", model],
        ["-m", "nbspam", "eval", split[-1], "-m", model],
    ]


def find_figures(name: str, trial: str, corpora: Path, folder: Path) -> dict[str, Any]:
    """The summary of the evaluation of one filter."""
    kept = folder / f"{name}.{trial}.json"
    if not kept.exists():
        *before, last = list_commands(name, trial, corpora, folder)
        for command in [*before, [*last, "--save", str(kept)]]:
            subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    return summarise(read_evaluation(kept))


def format_row(shown: str, names: tuple[str, ...], trial: str, corpora: Path, folder: Path) -> str:
    """A line of the table; of several filters the one that ranks best."""
    all_figures = [(find_figures(name, trial, corpora, folder), name) for name in names]
    best, name = min(all_figures, key=lambda one: one[0]["one_minus_roca_percent"])
    area, (low, high) = best["one_minus_roca_percent"], best["one_minus_roca_percent_interval"]
    shown += f" ({name})" if len(names) > 1 else ""
    return f"| {shown} | {area:.2g} ({low:.2g} to {high:.2g}) | {best[AT_HM]['0.1']:.1f} % |"


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("usage: python -m peers.table CORPORA FOLDER")
    corpora, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for trial, title in TRIALS.items():
        print(HEAD.format(title))
        print(format_row("**nbspam**", ("nbspam",), trial, corpora, folder))
        for shown, name, program in PROGRAMS:
            if shutil.which(program):
                print(format_row(shown, (name,), trial, corpora, folder), flush=True)
            else:
                print(f"{program} is not installed: apt-get install {name}", file=sys.stderr)
        print(format_row("scikit-learn's best", SCIKIT_LEARN, trial, corpora, folder), flush=True)


if __name__ == "__main__":
    main()
