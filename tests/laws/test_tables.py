"""The tables of words: both readers take them apart in the same way, so their form is strict."""

from pathlib import Path

import pytest

from nbspam.tables import read_table

ROOT = Path(__file__).resolve().parents[2]
TABLES = sorted((ROOT / "nbspam/tables").glob("*.txt"))
REPEATING = ("folders", "letters", "unicode")


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_table_has_parts_of_different_words(path: Path) -> None:
    text = path.read_text("utf-8")
    parts = read_table(path.stem)
    assert all(parts.values())
    assert text.count("[") == text.count("]") == len(parts)  # none in a comment or word
    assert all(line[0] in "#[" or line == line.strip() for line in text.splitlines() if line)
    if path.stem not in REPEATING:
        assert [part for part, words in parts.items() if len(set(words)) < len(words)] == []


def test_core_has_the_same_tables() -> None:
    tables = sorted((ROOT / "core/tables").iterdir())
    assert tables
    for path in tables:
        assert path.read_bytes() == (ROOT / "nbspam/tables" / path.name).read_bytes()
