"""A connection to a model that is read.

Hides SQLite's errors: damage in a page shows only when a query comes to it, so every query of a
reader, and every row of its answer, tells damage as the NbspamError that names the file.
"""

from __future__ import annotations

from nbspam.store.sqlite import sqlite3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nbspam.errors import NbspamError


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
