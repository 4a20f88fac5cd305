"""Plain English: patterns that are hard to read, and options named below the command line."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KNOWS_OPTIONS = ("nbspam/cli/", "nbspam/__main__.py")
FLAG = re.compile(r"(?<![\w-])--[a-z]")
OF_SPAMD = "--allow-tell"  # a sentence of its protocol, word for word
BANNED = {
    "Hides ...": r"\bHides\b",
    "a sentence that begins with Who": r"(?:^|[.;:] +)Who\b(?! (?:is|are)\b[^.]*\?)",
    "a sentence that begins with Whether": r"(?:^|[.;] +)Whether\b",
    "X is none": r"(?<!there )\b(?:is|are|was|be) none\b",
    "stands": r"\bstands?\b(?! for\b|-in\b)",
    "parted by": r"\bparted\b",
    "but for (except)": r"\bbut for\b(?! (?:a|an|each|every) )",
    "beside (in addition to)": r"\bbeside\b",
    "of which as a subject": r"(?:^|[.;:,] )[Oo]f which\b",
}
PATTERNS = {name: re.compile(pattern) for name, pattern in BANNED.items()}


def python_texts(path: Path) -> Iterator[str]:
    """Docstrings, other strings and comments."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


def page_texts(path: Path) -> Iterator[str]:
    """The paragraphs of a page, without code."""
    text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.S)
    yield from text.split("\n\n")


def files() -> dict[str, Path]:
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("nbspam/**/*.md")]
    paths = [*ROOT.glob("nbspam/**/*.py"), *pages]
    return {path.relative_to(ROOT).as_posix(): path for path in sorted(paths)}


def banned_in(path: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for text in python_texts(path) if path.suffix == ".py" else page_texts(path):
        line = " ".join(text.split())
        for name, pattern in PATTERNS.items():
            found[name] += len(pattern.findall(line))
    return +found


def test_prose_has_no_banned_pattern() -> None:
    found = [f"{name}: {kind}" for name, path in files().items() for kind in banned_in(path)]
    assert found == []


def test_only_the_command_line_speaks_of_flags() -> None:
    python = {name: path for name, path in files().items() if path.suffix == ".py"}
    found = [
        f"{name}: {text[:60]!r}"
        for name, path in python.items()
        if not name.startswith(KNOWS_OPTIONS)
        for text in python_texts(path)
        if FLAG.search(text) and OF_SPAMD not in text
    ]
    assert found == []
