"""The optional libraries of the report, or an error that says how to get them.

Hides the imports: everything else in the program works without these libraries.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from nbspam.errors import UsageError


def library(name: str) -> ModuleType:
    """A module of the extra `nbspam[report]`; UsageError naming the extra if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            "--report",
            f"the report needs {name.partition('.')[0]}, which cannot be imported here ({error})",
            "install the extra: pip install 'nbspam[report]'",
            "report-extra",
        ) from error


def check_libraries() -> None:
    """As `library` for all that a report needs."""
    for name in ("jinja2", "matplotlib"):
        library(name)
