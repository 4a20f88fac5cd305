"""Bases that are open once for many overlays."""

import os

from nbspam.errors import DamagedModelError, NbspamError
from nbspam.store.overlay import changed_error, missing_error
from nbspam.store.reader import Model, open_model, state_digest

BASE_PAGES = 4_000  # of a base that a server has open: 16 MB hold a model of 5,000 messages


class Bases:
    """Bases that are open once for all overlays of a process; they belong to one thread.

    folder : of the bases.  An overlay may be written by a user, and must not name the model of another user
    """

    def __init__(self, folder: str) -> None:
        self._folder = os.path.realpath(folder)
        self._open: dict[str, Model] = {}
        self._digests: dict[str, int] = {}  # path -> state_digest

    def find(self, overlay: Model) -> Model:
        """The open base of an overlay; TryAgainError unless it is the one that the overlay names."""
        path = overlay.base_path
        base = self._open.get(path)
        if base is None or not base.is_at(path):
            self._close(path)
            base = self._open[path] = self._open_base(overlay)
        if base.refresh() or path not in self._digests:
            self._digests[path] = state_digest(base.connection)
        if self._digests[path] != overlay.base_digest:
            raise changed_error(overlay.path, path)
        return base

    def _open_base(self, overlay: Model) -> Model:
        try:
            if os.path.dirname(os.path.realpath(overlay.base_path)) != self._folder:
                raise DamagedModelError(overlay.base_path, f"it is not in {self._folder}")
            base = open_model(overlay.base_path)
        except NbspamError as error:
            raise missing_error(overlay.path, overlay.base_path, error) from None
        base.connection.execute(f"PRAGMA cache_size = {BASE_PAGES}")
        base.remember()
        return base

    def _close(self, path: str) -> None:
        self._digests.pop(path, None)
        if path in self._open:
            self._open.pop(path).close()

    def close(self) -> None:
        """Close all bases."""
        for path in [*self._open]:
            self._close(path)
