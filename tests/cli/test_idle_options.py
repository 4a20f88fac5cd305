"""An option without effect is a usage error, before any mail is read: another command was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mail_samples import make_corpus
from tests.tiny_mail import error, run

# For train, and for eval without a model: the options, and the one without effect.
IDLE = [
    ("--event-model bernoulli --threshold 3", "--threshold"),
    ("--textbook --threshold 3", "--threshold"),
    ("--normalise", "--normalise"),
    ("--event-model multinomial --normalise", "--normalise"),
    ("--bins 5", "--bins"),
    ("--binning width", "--binning"),
    ("--numeric-model aode", "--numeric-model"),
    ("--features numeric --numeric-model aode", "--numeric-model"),
    ("--features both --event-model gaussian --numeric-model aode", "--numeric-model aode"),
    ("--event-model gaussian --alpha 3", "--alpha"),
    ("--event-model gaussian --alpha auto", "--alpha"),
    ("--event-model complement --prior uniform", "--prior"),
    ("--textbook --views body,measures", "--views body,measures"),
]
ACTING = [
    "--threshold 3",
    "--event-model complement --normalise",
    "--event-model categorical --bins 5 --binning width",
    "--features both --numeric-model aode --bins 3",
    "--event-model gaussian --alpha 3 --prior smoothed",
    "--features both --event-model complement --prior uniform",
    "--views body,measures",
    "--textbook --views body",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("idle") / "mail", {"ham": 10, "spam": 10})


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    run("train", "-q", "-j1", folder, "-m", folder.parent / "model")
    return folder.parent / "model"


@pytest.mark.parametrize(("options", "named"), IDLE)
def test_an_option_without_effect_is_refused(options: str, named: str, tmp_path: Path) -> None:
    for command in (["train", "-m", tmp_path / "model"], ["eval"]):
        said = error(*command, tmp_path / "no-mail", *options.split(), status=64)
        assert said.startswith(f"nbspam: {named}")


@pytest.mark.parametrize("options", ACTING)
def test_an_option_with_an_effect_is_accepted(options: str, folder: Path, tmp_path: Path) -> None:
    run("train", "-q", "-j1", folder, "-m", tmp_path / "model", *options.split())


def test_bins_have_an_effect_in_a_model_and_none_in_an_evaluation(folder: Path, tmp_path: Path) -> None:
    options = ["--event-model", "gaussian", "--bins", "3"]
    run("train", "-q", "-j1", folder, "-m", tmp_path / "model", *options)
    assert error("eval", "-j1", folder, *options, status=64).startswith("nbspam: --bins: ")


@pytest.mark.parametrize("command", [["classify"], ["explain"], ["eval", "--model"]])
def test_an_option_without_effect_on_a_saved_model_is_refused(
    command: list[str], folder: Path, model: Path
) -> None:
    named = [*command, model] if len(command) == 2 else [*command, "-m", model]
    options = ["--event-model", "complement", "--prior", "uniform"]
    assert "nbspam: --prior: " in error(*named, *options, folder, status=64)


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (["classify", "--spam-flag"], "--spam-flag"),
        (["classify", "--header-format", "bogofilter"], "--header-format"),
        (["classify", "-p", "--spam-flag", "--header-format", "bogofilter"], "--spam-flag"),
        (["classify", "-p", "--json"], "--passthrough"),
        (["doctor", "--skip-unread"], "--skip-unread"),
        (["doctor", "--rules", "none"], "--rules"),
        (["model", "info", "--word", "pills"], "--word"),
        (["serve", "--listen", "localhost:0", "--socket-mode", "666"], "--socket-mode"),
    ],
)
def test_an_option_is_refused_without_the_one_it_belongs_to(
    command: list[str], named: str, model: Path
) -> None:
    assert error(*command, "-m", model, status=64).startswith(f"nbspam: {named}: ")
