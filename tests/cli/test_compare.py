"""`nbspam compare` on files that `nbspam eval` wrote, and on those of other filters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mail_samples import make_corpus, run_here


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a.json (the default), b.json (the textbook), b.results and other.json (other mail)."""
    folder = tmp_path_factory.mktemp("saved")
    mail = str(make_corpus(folder / "mail", {"ham": 40, "spam": 40}, noise=0.25))
    other = str(make_corpus(folder / "other", {"ham": 20, "spam": 20}, seed=9))
    for arguments in (
        ["eval", mail, "--folds", "4", "--save", "a.json"],
        ["eval", mail, "--folds", "4", "--textbook", "--save", "b.json", "--results", "b.results"],
        ["eval", other, "--folds", "4", "--save", "other.json"],
    ):
        status, _, complaint = run_here(*arguments, cwd=folder)
        assert status == 0, complaint
    return folder


def test_result_lines_replace_an_evaluation(saved: Path) -> None:
    by_file = json.loads(run_here("compare", "a.json", "b.json", "--json", cwd=saved)[1])
    status, output, complaint = run_here("compare", "a.json", "b.results", "--json", cwd=saved)
    assert status == 0, complaint
    by_lines = json.loads(output)
    assert by_lines["mcnemar"] == by_file["mcnemar"]
    assert by_lines["one_minus_roca_percent"] == by_file["one_minus_roca_percent"]
    assert by_lines["log_loss"] is None


def test_figures_that_neither_evaluation_has_are_left_out(tmp_path: Path) -> None:
    for name, decided in (("a", "lists"), ("b", "work")):
        lines = [f"file={n} judge={('lists', 'work')[n % 2]} class={decided} score=0\n" for n in range(8)]
        (tmp_path / name).write_text("".join(lines))
    status, output, complaint = run_here("compare", "a", "b", cwd=tmp_path)
    assert status == 0, complaint
    assert "nan" not in output
    assert "ROCA" not in output
    assert "decided rightly" in output
