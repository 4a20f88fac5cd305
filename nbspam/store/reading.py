"""A connection to a model that is read, by the C module `_sqlite3` without the modules that wrap it.

`sqlite3` loads datetime for conversions that no model needs, and `_sqlite3` loads functools, and with it
collections, for one decorator: half of the time that a fresh `nbspam classify` has.  The decorator is given
to it here from the C module that has it.  If that does not work (another build of Python), `sqlite3` serves.

Damage in a page shows only when a query comes to it, so every query of a reader, and every row of its answer,
tells damage as the NbspamError that names the file.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from nbspam.errors import NbspamError


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


class ReadingCursor(sqlite3.Cursor):
    """Rows, or the error of the connection."""

    def _safely(self, work: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return work(*arguments)
        except sqlite3.Error as error:
            told = self.connection.told  # type: ignore[attr-defined]
            if told is None:
                raise
            raise told(error) from None

    def execute(self, *arguments: Any) -> Any:
        """As of sqlite3."""
        return self._safely(super().execute, *arguments)

    def __next__(self) -> Any:
        return self._safely(super().__next__)

    def fetchone(self) -> Any:
        """As of sqlite3."""
        return self._safely(super().fetchone)

    def fetchall(self) -> list[Any]:
        """As of sqlite3."""
        rows: list[Any] = self._safely(super().fetchall)
        return rows


class ReadingConnection(sqlite3.Connection):
    """As of sqlite3; `told` makes an NbspamError of what SQLite met, None lets it through."""

    told: Callable[[sqlite3.Error], NbspamError] | None = None

    def cursor(self, factory: Any = ReadingCursor) -> Any:
        """A cursor that tells errors so."""
        return super().cursor(factory)

    def execute(self, *arguments: Any) -> Any:
        """As of sqlite3, whose own does not ask `cursor`."""
        return self.cursor().execute(*arguments)


__all__ = ["ReadingConnection", "ReadingCursor", "sqlite3"]
