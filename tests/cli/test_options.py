"""The table of options: each is used, its default is one of its values, and other texts are refused."""

import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from nbspam.cli import Command, Group, _read_table, find_option
from nbspam.cli.commands import COMMANDS


def list_commands() -> Iterator[Command]:
    for name, (module, _) in COMMANDS.items():
        command = getattr(import_module(f"nbspam.cli.{module}"), f"{name}_command")
        yield from command.commands.values() if isinstance(command, Group) else [command]


def test_each_option_of_the_table_is_used_and_has_a_default() -> None:
    used = {key for command in list_commands() for key in command.keys}
    assert used == _read_table().keys() - {"#"}
    for option in map(find_option, used):
        option.find_default()


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("mode", "640", 0o640),
        ("mode", "0660", None),
        ("mode", "68", None),
        ("since", "2026-11-24", 1000 * 86400 * 20781),
        ("since", "2026-11-24 09:30", 1000 * (86400 * 20781 + 34200)),
        ("since", "24.11.2026", None),
        ("keep_days", "0.5", 0.5),
        ("keep_days", "nan", None),
        ("keep_days", "36501", None),
        ("jobs", "1000", 1000),
        ("jobs", "0", None),
        ("jobs", "2.5", None),
        ("format", "npz", "npz"),
        ("format", "svm", None),
    ],
)
def test_a_text_is_a_value_or_refused(
    key: str, text: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    if value is None:
        with pytest.raises(ValueError, match="is not "):
            find_option(key).read(text)
    else:
        read = find_option(key).read(text)
        assert (read, type(read)) == (value, float if key in ("since", "keep_days") else type(value))
