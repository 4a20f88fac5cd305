"""Experiments are run by hand, and rarely; that they fit the program they measure is tested here."""

from importlib import import_module
from pkgutil import resolve_name

import pytest

from experiments.trials import TRIALS
from tests.conftest import ROOT

MODULES = sorted(path.stem for path in (ROOT / "experiments").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_an_experiment_finds_all_that_it_imports(name: str) -> None:
    import_module(f"experiments.{name}")


def test_a_trial_takes_out_what_the_program_has() -> None:
    for trial in TRIALS:
        for name in trial.patches:
            assert resolve_name(name), name
