"""An option without effect is a usage error, before any mail is read: another command was meant."""

from pathlib import Path

import pytest

from tests.tiny_mail import error

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


@pytest.mark.parametrize(("options", "named"), IDLE)
def test_an_option_without_effect_is_refused(options: str, named: str, tmp_path: Path) -> None:
    for command in (["train", "-m", tmp_path / "model"], ["eval"]):
        said = error(*command, tmp_path / "no-mail", *options.split(), status=64)
        assert said.startswith(f"nbspam: {named}")


@pytest.mark.parametrize("command", ["classify", "explain", "eval"])
def test_an_option_without_effect_on_a_saved_model_is_refused(
    command: str, source: Path, model: Path
) -> None:
    options = ["--event-model", "complement", "--prior", "uniform"]
    assert "nbspam: --prior: " in error(command, "-m", model, *options, source, status=64)


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (["classify", "--spam-flag"], "--spam-flag"),
        (["classify", "--header-format", "bogofilter"], "--header-format"),
        (["classify", "-p", "--spam-flag", "--header-format", "bogofilter"], "--spam-flag"),
        (["classify", "-p", "--json"], "--passthrough"),
        (["serve", "--listen", "localhost:0", "--socket-mode", "666"], "--socket-mode"),
    ],
)
def test_an_option_is_refused_without_the_one_it_belongs_to(
    command: list[str], named: str, model: Path
) -> None:
    assert error(*command, "-m", model, status=64).startswith(f"nbspam: {named}: ")
