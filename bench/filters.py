"""The filters of the bench: how they train, judge and learn.  A filter keeps what it learns in a folder.

All have their defaults.  SpamAssassin has its Bayes alone, no rules and no network, and judges in its server.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from peers.one_by_one import configure_bayes


class Command(NamedTuple):
    """A command, its stdin, and what NBSPAM_CORE is."""

    words: Sequence[str | Path]
    stdin: Path | None = None
    core: str = "no"


class Filter:
    """A filter.  What it cannot do has no command: None."""

    name: str
    program: str  # must be installed
    files: str  # of the model, as a pattern

    def __init__(self, folder: Path) -> None:
        self.folder = folder / self.name

    def train(self, ham: Path, spam: Path, is_mbox: bool) -> list[Command]:
        """In an empty folder, make a model of lists of paths, or of an mbox a class."""
        raise NotImplementedError

    def classify(self, paths: Path) -> Command | None:
        """Judge the messages of a list of paths."""

    def fresh(self, message: Path, learns: bool = False) -> Command | None:
        """Judge one message by a process of its own, or learn it as spam."""

    def serve(self, socket: Path) -> Command | None:
        """Answer spamc."""

    def size(self) -> float:
        """Megabytes of the model."""
        return sum(file.stat().st_size for file in self.folder.glob(self.files)) / 1e6


class Nbspam(Filter):
    """nbspam, which reads mail in Python."""

    name, files, core = "nbspam", "model.nbspam", "no"

    def __init__(self, folder: Path, program: Path) -> None:
        super().__init__(folder)
        self.path, self.model = program, self.folder / self.files

    def run(self, *words: str | Path, stdin: Path | None = None) -> Command:
        return Command([self.path, *words, "-m", self.model], stdin, self.core)

    def train(self, ham: Path, spam: Path, is_mbox: bool) -> list[Command]:
        source = ["--ham", ham, "--spam", spam] if is_mbox else [ham.parent / "train.index"]
        return [self.run("train", "-q", *source)]

    def classify(self, paths: Path) -> Command:
        return self.run("classify", "--files-from", paths)

    def fresh(self, message: Path, learns: bool = False) -> Command:
        return self.run(*(["learn", "spam"] if learns else ["classify"]), stdin=message)

    def serve(self, socket: Path) -> Command:
        return self.run("serve", "-q", "-j", "2", "--socket", socket)


class NbspamWithCore(Nbspam):
    """nbspam with its compiled core."""

    name, core = "nbspam with the core", "require"


class Bogofilter(Filter):
    name, program, files = "bogofilter", "bogofilter", "*.db"

    def run(self, *words: str, stdin: Path) -> Command:
        return Command(["bogofilter", "-d", self.folder, *words], stdin)

    def train(self, ham: Path, spam: Path, is_mbox: bool) -> list[Command]:
        form = "-M" if is_mbox else "-b"
        return [self.run("-n", form, stdin=ham), self.run("-s", form, stdin=spam)]

    def classify(self, paths: Path) -> Command:
        return self.run("-b", "-v", stdin=paths)

    def fresh(self, message: Path, learns: bool = False) -> Command:
        return self.run(*(["-s"] if learns else []), stdin=message)


class SpamProbe(Filter):
    name, program, files = "SpamProbe", "spamprobe", "sp_words"

    def run(self, *words: str, stdin: Path | None = None) -> Command:
        return Command(["spamprobe", "-c", "-d", self.folder, *words], stdin)

    def train(self, ham: Path, spam: Path, is_mbox: bool) -> list[Command]:
        return [self.run("good", *read_list(ham)), self.run("spam", *read_list(spam))]

    def classify(self, paths: Path) -> Command:
        return self.run("score", *read_list(paths))

    def fresh(self, message: Path, learns: bool = False) -> Command:
        return self.run("spam" if learns else "score", stdin=message)


class SpamAssassin(Filter):
    name, program, files = "SpamAssassin", "spamd", "bayes_*"

    def run(self, program: str, *words: str | Path) -> Command:
        return Command([program, "-C", self.folder, f"--siteconfigpath={self.folder}/none", "-L", *words])

    def train(self, ham: Path, spam: Path, is_mbox: bool) -> list[Command]:
        for folder in (self.folder.parent, self.folder):  # spamd of root judges as the user nobody
            folder.chmod(0o777)
        (self.folder / "bayes.cf").write_text(configure_bayes(self.folder))
        lists = (("--ham", "-f", ham), ("--spam", "-f", spam))
        return [self.run("sa-learn", "-p", "/dev/null", "--max-size", "0", *one) for one in lists]

    def serve(self, socket: Path) -> Command:
        return self.run("spamd", "-x", "-m", "2", f"--socketpath={socket}")


class ScikitLearn(Filter):
    """CountVectorizer and MultinomialNB."""

    name, program, files = "scikit-learn", sys.executable, "model"

    def run(self, verb: str, *paths: str | Path) -> Command:
        return Command([sys.executable, "-m", "bench.scikit_learn", verb, self.folder / "model", *paths])

    def train(self, ham: Path, spam: Path, is_mbox: bool) -> list[Command]:
        return [self.run("train", ham, spam)]

    def classify(self, paths: Path) -> Command:
        return self.run("classify", *read_list(paths))

    def fresh(self, message: Path, learns: bool = False) -> Command | None:
        return None if learns else self.run("classify", message)


OTHERS = (Bogofilter, SpamProbe, SpamAssassin, ScikitLearn)
NAMES = [one.name for one in (Nbspam, NbspamWithCore, *OTHERS)]


def read_list(paths: Path) -> list[str]:
    """The lines of a list of paths."""
    return paths.read_text().splitlines()


def make_filters(folder: Path, nbspam: Path) -> list[Filter]:
    """The filters that are installed.  nbspam : the program, in a virtual environment"""
    has_core = any(nbspam.parent.parent.glob("lib/*/site-packages/nbspam_core"))
    ours = [Nbspam, NbspamWithCore] if has_core else [Nbspam]
    others = [make(folder) for make in OTHERS if shutil.which(make.program)]
    return [*(make(folder, nbspam) for make in ours), *others]
