"""Experiments are run by hand, and rarely; that they fit the program they measure is tested here."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.conftest import ROOT

SCRIPTS = (ROOT / "tests" / "experiments").glob("*.py")
MODULES = sorted(path.stem for path in SCRIPTS if path.stem != "__init__")
FOLDER = ROOT / "docs" / "experiments"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "README")


@pytest.mark.parametrize("name", MODULES)
def test_an_experiment_finds_all_that_it_imports(name: str) -> None:
    import_module(f"tests.experiments.{name}")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_how_its_tables_are_made(page: str) -> None:
    assert f"make experiment-{page}" in (FOLDER / f"{page}.md").read_text()
    assert page in MODULES


def test_the_list_of_pages_is_whole() -> None:
    listed = (FOLDER / "README.md").read_text()
    assert [page for page in PAGES if f"]({page}.md)" not in listed] == []
