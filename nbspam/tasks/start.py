"""A person's own model that begins as one that others share: the argument `start`.

It is made when the first message is learned, as an overlay (store/overlay.py).  Until then the shared model
judges.  What this is worth: docs/decisions.md, "Shared models".
"""

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


def begin_model(path: str, start: str) -> str:
    """Make the user's own model if it is missing: "an overlay" or "a copy" of `start`; "" if it exists."""
    if choose_model(path, start) == path:
        return ""
    from nbspam.store.overlay import start_model  # once in a model's life

    return start_model(start, path)
