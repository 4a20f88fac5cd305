"""A model read in one state, whatever other programs write meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager

from nbspam.store.reader import Model, open_model


@contextmanager
def open_snapshot(path: str) -> Iterator[Model]:
    """A model of which everything read is of one state, see Model.one_state."""
    with open_model(path) as model, model.one_state():
        model.refresh()
        yield model
