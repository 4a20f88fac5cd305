"""A model of one's own that begins as a copy of another: `--start`.

Many may share a model that somebody trained; who corrects it needs one of his own.  Hides when that is made:
as the first message is learned.  Until then the shared one judges, and what it is taught meanwhile counts,
too.  What that is worth: docs/decisions.md.
"""

from __future__ import annotations

import os


def judging(path: str, start: str) -> str:
    """Which model judges: the one at `path`, or its start where none is there yet.

    start : empty if it has none
    """
    if not start:
        return path
    try:
        os.stat(path)
    except FileNotFoundError:
        return start
    except OSError:
        pass  # it may be there: who opens it says what is wrong
    return path


def begin(path: str, start: str) -> bool:
    """Makes the model at `path` a copy of its start if none is there yet; whether it did."""
    if judging(path, start) == path:
        return False
    from nbspam.store.writer import copy_model

    return copy_model(start, path)
