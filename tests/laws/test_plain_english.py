"""Plain English, as far as a pattern can find what is not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ABOVE = ("cli/", "__main__.py")  # the rooms that know options
FLAG = re.compile(r"(?<![\w-])--[a-z]")
WITH_FLAGS = {  # still to be converted
    *("corpus/executor.py", "corpus/index.py", "corpus/labelled.py"),
    *("decision.py", "losses.py", "filter.py"),
    *("evaluate/folds.py", "evaluate/replay.py", "evaluate/report/extra.py", "evaluate/evaluation_file.py"),
    *("model/features.py", "model/numeric_models.py", "model/priors.py", "model/scorer.py"),
    *("model/credibility.py", "model/uncertainty.py", "model/word_models.py"),
    *("serve/filter.py", "serve/listening.py", "serve/users.py"),
    *("store/copying.py", "store/locking.py", "store/merge.py", "store/reader.py", "store/with_prior.py"),
    *("store/writer.py", "evaluate/summary.py", "tasks/alpha.py", "tasks/doctor/checkup.py"),
    *("tasks/doctor/delivery.py", "tasks/doctor/model_health.py", "tasks/doctor/model_place.py"),
    *("tasks/import_words.py", "tasks/judge_mail.py", "tasks/judges/bulk.py", "tasks/judges/fixed.py"),
    *("tasks/judges/replay.py", "tasks/prior_model.py", "tasks/regimes.py", "tasks/replay.py"),
    *("tasks/start.py", "tasks/train.py", "tasks/tune.py", "tasks/update.py", "tasks/vocabularies.py"),
    *("tasks/corpus.py", "tasks/inspect_model.py"),
}


def strings(path: Path) -> Iterator[str]:
    """The strings of a file, docstrings too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_only_the_command_line_speaks_of_flags() -> None:
    files = {path.relative_to(ROOT / "nbspam").as_posix(): path for path in ROOT.glob("nbspam/**/*.py")}
    below = {name: path for name, path in files.items() if not name.startswith(ABOVE)}
    found = {name for name, path in below.items() if any(map(FLAG.search, strings(path)))}
    assert found - WITH_FLAGS == set()
