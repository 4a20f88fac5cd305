"""What the command line makes of an error: options as people type them, a remedy, the slug; and its help."""

import pickle

import pytest

from nbspam.cli import error_text
from nbspam.cli.commands import COMMANDS
from nbspam.errors import UsageError
from tests.tiny_mail import run

ERROR = UsageError(
    "x", "is not a number", "add `features=both`, or leave out `max_memory`", "alpha", option="alpha"
)


def test_an_argument_is_shown_as_an_option() -> None:
    assert error_text(ERROR) == (
        "nbspam: --alpha x: is not a number\n"
        "  next: add --features both, or leave out --max-memory  [alpha]\n"
    )


def test_an_error_crosses_a_process_as_it_is_and_shows_no_control_character() -> None:
    assert error_text(pickle.loads(pickle.dumps(ERROR))) == error_text(ERROR)
    assert "\x1b" not in error_text(UsageError("a\x1b[2Jb", "is not a number\r"))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_fits_a_screen(command: str) -> None:
    common, _, rare = run("help", command).partition("\nRare options:\n")
    assert common.count("\n") <= 50
    assert all(len(line) <= 80 for line in (common + rare).splitlines())
