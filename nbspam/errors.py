"""Expected failures: each carries its data and an exit status of sysexits.h.

How to raise one below the command line:
  where   the file, folder or message as the user wrote it; with option= the value of that argument
  option  the wrong argument as Python names it: UsageError("x", "is not a number", option="alpha")
  allowed the values that would be right, where these can be listed; they become the remedy
  remedy  what to do next, one line
No text names a flag.  In `why` and `remedy` an argument is in backticks, written as in Python:
"train again with `features=both`", "add `update`"; the command line shows it as an option (cli/__init__.py).
A slug never changes: people search for it, tests check it.  Procmail and other programs read the exit status:
75 is a temporary failure, every other status from 64 a lasting one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

RETRAIN = "train it again: nbspam train SOURCE"
LOGGER = "nbspam"


class NbspamError(Exception):
    """An expected failure; see the top of this file for its data."""

    status = 70

    def __init__(
        self,
        where: str,
        why: str,
        remedy: str = "",
        slug: str = "internal",
        *,
        option: str = "",
        allowed: Iterable[str] = (),
    ) -> None:
        # Exception itself keeps the arguments, and the fields, for other processes (pickle).
        self.where = where
        self.why = why
        self.option = option
        self.allowed = tuple(allowed)
        self.remedy = remedy or ("use one of: " + ", ".join(self.allowed) if self.allowed else "")
        self.slug = slug

    def __str__(self) -> str:
        between = "=" if self.option and self.where else ""
        return f"{self.option}{between}{self.where}: {self.why}"


class UsageError(NbspamError):
    """The command line or an argument makes no sense (EX_USAGE)."""

    status = 64


class NoClassError(UsageError):
    """A model has no class of this name."""


class MissingExtraError(UsageError):
    """The packages that a command needs are not installed: an extra of docs/install.md."""

    def __init__(
        self, extra: str, error: ImportError, where: str = "", slug: str = "", *, option: str = ""
    ) -> None:
        why = f"it needs the extra {extra}, which is not installed ({error})"
        super().__init__(where, why, f"install the extra {extra}", slug or f"{extra}-extra", option=option)
        self.extra = extra


class BadDataError(NbspamError):
    """A file has wrong contents (EX_DATAERR)."""

    status = 65


class ForeignFileError(BadDataError):
    """A file in the place of a model holds something else."""


class DamagedModelError(BadDataError):
    """A model file has contents that this program never writes."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, f"the model file is damaged ({what})", RETRAIN, "model-damaged")


class NoInputError(NbspamError):
    """No such file or folder, no mail in it, or no model (EX_NOINPUT)."""

    status = 66


class NoModelError(NoInputError):
    """There is no model."""


class InternalError(NbspamError):
    """A fault of this program (EX_SOFTWARE)."""


class CannotCreateError(NbspamError):
    """An output file cannot be made (EX_CANTCREAT)."""

    status = 73


class InputOutputError(NbspamError):
    """Reading or writing failed half way (EX_IOERR)."""

    status = 74


class TryAgainError(NbspamError):
    """A temporary failure, such as a model that another program writes to (EX_TEMPFAIL)."""

    status = 75


def log_faults(name: str, faults: Sequence[str]) -> None:
    """Log the faults of this program met in one message, which is then judged by the rest of it.

    faults : as Tokens.failures, "STAGE: ERROR" and a traceback each; NBSPAM_TRACEBACK=1 shows the traceback
    """
    if not faults:
        return
    import logging  # 5 ms, only for a message that meets a fault

    logger = logging.getLogger(LOGGER)
    for fault in faults:
        summary, _, traceback = fault.partition("\n")
        result = "read by Python" if summary.startswith("core: ") else "read in part"
        logger.info("%s: %s (%s)", name or "message", result, summary)
        if os.environ.get("NBSPAM_TRACEBACK"):
            logger.warning("%s", traceback)


def show_faults() -> None:
    """Show on stderr which messages meet a fault: `-v`."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("nbspam: %(message)s"))
    logger = logging.getLogger(LOGGER)
    logger.handlers, logger.propagate = [handler], False  # what other packages log is not ours to show
    logger.setLevel(logging.INFO)
