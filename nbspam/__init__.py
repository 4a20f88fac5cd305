"""Naive Bayes for mail.  The Python API is docs/api.md; reading order of the source: nbspam/README.md.

Names are loaded when they are used: every fresh `nbspam classify` imports this file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.decision import Verdict
    from nbspam.errors import NbspamError
    from nbspam.explain import Clue, Explanation
    from nbspam.filter import Filter
    from nbspam.mail import Message, parse
    from nbspam.tasks.api import Report, evaluate, load, train
    from nbspam.tokens import Tokens, tokenize

__version__ = "0.1.0"
__all__ = [
    "Clue",
    "Explanation",
    "Filter",
    "Message",
    "NbspamError",
    "Report",
    "Tokens",
    "Verdict",
    "evaluate",
    "load",
    "parse",
    "tokenize",
    "train",
]
_ROOMS = {
    "nbspam.errors": ("NbspamError",),
    "nbspam.decision": ("Verdict",),
    "nbspam.filter": ("Filter",),
    "nbspam.mail": ("Message", "parse"),
    "nbspam.explain": ("Clue", "Explanation"),
    "nbspam.tasks.api": ("Report", "evaluate", "load", "train"),
    "nbspam.tokens": ("Tokens", "tokenize"),
}


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(room), name)
    raise AttributeError(f"module 'nbspam' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
