"""nbspam and other filters on the same mail, by the same code: the table of README.md and docs/accuracy.md.

    python -m peers.table CORPORA FOLDER       (make peers)

CORPORA is the folder with the unpacked `sa` and `trec06p_late`.  Each evaluation is made once and kept in
FOLDER; all of them take some hours.  A program that is not installed is left out.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from nbspam.evaluation.figures import summary
from nbspam.evaluation.formats import load

TRIALS = ("split", "trec")
SCIKIT_LEARN = ("BernoulliNB", "ComplementNB", "MultinomialNB")
# Shown as, name, program that must be there
ONE_BY_ONE = (
    ("SpamProbe", "spamprobe", "spamprobe"),
    ("SpamAssassin's Bayes", "spamassassin", "spamassassin"),
    ("CRM114 (OSB)", "crm114", "crm"),
)
HEAD = """\
| filter | SpamAssassin, split | TREC 2006 (late), replay |
|---|---|---|"""


def commands(name: str, trial: str, corpora: Path, folder: Path) -> list[list[str]]:
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


def figures(name: str, trial: str, corpora: Path, folder: Path) -> tuple[float, float]:
    """((1-ROCA)%, spam missed in % where 0.1 % of the ham is lost) of one filter."""
    kept = folder / f"{name}.{trial}.json"
    if not kept.exists():
        *before, last = commands(name, trial, corpora, folder)
        for command in [*before, [*last, "--save", str(kept)]]:
            subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    found = summary(load(kept))
    return found["one_minus_roca_percent"], found["sm_percent_at_hm"]["0.1"]


def row(shown: str, names: tuple[str, ...], corpora: Path, folder: Path) -> str:
    """A line of the table; of several filters the best one in each column."""
    cells = []
    for trial in TRIALS:
        best, name = min((figures(name, trial, corpora, folder), name) for name in names)
        cells.append(f"{best[0]:.2g}, {best[1]:.1f} %" + (f" ({name})" if len(names) > 1 else ""))
    return f"| {shown} | {' | '.join(cells)} |"


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("usage: python -m peers.table CORPORA FOLDER")
    corpora, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    print(HEAD)
    print(row("**nbspam**", ("nbspam",), corpora, folder))
    for shown, name, program in (("bogofilter", "bogofilter", "bogofilter"), *ONE_BY_ONE):
        if shutil.which(program):
            print(row(shown, (name,), corpora, folder), flush=True)
        else:
            print(f"{program} is not installed: apt-get install {name}", file=sys.stderr)
    print(row("scikit-learn's best", SCIKIT_LEARN, corpora, folder))


if __name__ == "__main__":
    main()
