"""A person's own model that begins as a copy of a shared one: the argument `start`.

The copy is made when the first message is learned.  Until then the shared model judges.
What this is worth: docs/decisions.md, "Shared models".
"""

from __future__ import annotations

import os


def choose_model(path: str, start: str) -> str:
    """The model that judges: the own model at `path`, or `start` if it does not exist yet.

    start : the shared model; may be empty
    """
    if not start:
        return path
    try:
        os.stat(path)
    except FileNotFoundError:
        return start
    except OSError:
        pass  # it may be there: opening it says what is wrong
    return path


def copy_shared(path: str, start: str) -> bool:
    """Copy `start` to `path` if there is no own model yet; True if it was copied."""
    if choose_model(path, start) == path:
        return False
    from nbspam.store.writer import copy_model  # once in a model's life

    return copy_model(start, path)
