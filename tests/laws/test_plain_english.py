"""Plain English, as far as a pattern can find what is not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KNOWS_OPTIONS = ("cli/", "__main__.py")
FLAG = re.compile(r"(?<![\w-])--[a-z]")
STILL_WITH_FLAGS = 130  # strings, to be converted; the number goes down only


def strings(path: Path) -> Iterator[str]:
    """The strings of a file, docstrings too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_only_the_command_line_speaks_of_flags() -> None:
    files = {path.relative_to(ROOT / "nbspam").as_posix(): path for path in ROOT.glob("nbspam/**/*.py")}
    found = [
        f"{name}: {text[:60]!r}"
        for name, path in files.items()
        if not name.startswith(KNOWS_OPTIONS)
        for text in strings(path)
        if FLAG.search(text)
    ]
    assert len(found) <= STILL_WITH_FLAGS, "\n".join(found)
