"""The short way of `nbspam classify`: no click.

A mail is a fresh process, so this parser knows the table of options and nothing else; whatever
it does not plainly understand (help, an unknown option, a missing value) it leaves to click.
"""

from __future__ import annotations

from nbspam.cli.options import CLASSIFY


def parse_arguments(arguments: list[str]) -> tuple[dict[str, str], list[str]] | None:
    """(options, paths) of `classify`, or None if click should read them."""
    by_flag = {flag: (name, takes_value) for name, flags, takes_value, _ in CLASSIFY for flag in flags}
    options: dict[str, str] = {}
    paths: list[str] = []
    waiting = list(reversed(arguments))
    while waiting:
        argument = waiting.pop()
        if argument == "--":
            return options, paths + list(reversed(waiting))
        if not argument.startswith("-") or argument == "-":
            paths.append(argument)
            continue
        flag, equals, value = argument.partition("=")
        if flag not in by_flag or (equals and not flag.startswith("--")):
            return None
        name, takes_value = by_flag[flag]
        if not takes_value:
            if equals:
                return None
            options[name] = "1"
        elif equals:
            options[name] = value
        elif waiting:
            options[name] = waiting.pop()
        else:
            return None
    return options, paths
