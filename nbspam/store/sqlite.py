"""SQLite for readers: the C module `_sqlite3` without the modules that wrap it.

Hides how it is loaded.  `sqlite3` loads datetime for conversions that no model needs, and `_sqlite3`
loads functools, and with it collections, for one decorator: together half of the time that a fresh
`nbspam classify` has.  The decorator is given to it here from the C module that has it.
Wherever that does not work (another build of Python), the ordinary `sqlite3` serves.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from types import ModuleType


def _load() -> ModuleType:
    try:
        if "functools" not in sys.modules:
            _load_with_decorator()
        import _sqlite3
    except (ImportError, AttributeError):
        import sqlite3

        return sqlite3
    return _sqlite3


def _load_with_decorator() -> None:
    """Imports _sqlite3 while a module with lru_cache alone stands where functools will."""
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

    part = type(sys)("functools")
    part.lru_cache = lambda size: lambda call: _lru_cache_wrapper(call, size, False, tuple)  # type: ignore[attr-defined]
    sys.modules["functools"] = part
    try:
        import _sqlite3  # noqa: F401
    finally:
        del sys.modules["functools"]


if not TYPE_CHECKING:
    sqlite3 = _load()

__all__ = ["sqlite3"]
