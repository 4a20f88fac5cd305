"""A model as it was at one moment, however long it takes to read.

Hides the transaction that keeps it so.  Who learns meanwhile waits with the commit, as for any reader.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from nbspam.store.reader import Model, OneState, open_model


@contextlib.contextmanager
def snapshot(path: str) -> Iterator[Model]:
    """The model, open until the context is left."""
    model = open_model(path)
    try:
        with OneState(model.connection):
            model.refresh()  # what was read as it was opened may be of a state before
            yield model
    finally:
        model.close()
