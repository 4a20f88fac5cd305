"""Whose model a request is about.

Hides what a user may be called.  The name comes from the client and becomes a part of a path, so what could
lead elsewhere, would be hidden, or leads to the model that all begin with, is no name: such mail is judged by
that one, and teaches nobody.
"""

from __future__ import annotations

import re

from nbspam.errors import UsageError
from nbspam.store.connection import BESIDE, file_identity
from nbspam.tasks.start import own_or_shared

USER = "%u"  # in the path of a model: the name of the user
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+=-]{0,127}")  # also an address of mail


class Models:
    """Where the models of all users lie.

    path  : of the model, USER in it if each user has one
    start : what a model begins with, or empty
    """

    def __init__(self, path: str, start: str = "") -> None:
        if USER in path and not start:
            remedy = "name the model that judges for who has none of his own: --start MODEL"
            raise UsageError(path, "each user has a model, and none at first", remedy, "serve-start")
        self.path = path
        self.start = start

    def judging(self, user: str) -> str:
        """The model that judges the mail of a user."""
        own = self.learning(user)
        return own_or_shared(own, self.start) if own else self.start

    def learning(self, user: str) -> str:
        """The model that learns from a user; empty where the name is none."""
        if USER not in self.path:
            return self.path
        path = self.path.replace(USER, user)
        return path if _NAME.fullmatch(user) and not self._is_of_others(path) else ""

    def _is_of_others(self, path: str) -> bool:
        """Whether it is the shared model, or would be taken for the journal of somebody's."""
        return path.endswith(BESIDE) or file_identity(path) == file_identity(self.start) is not None
