"""Faults of this program met while a message is read: what is said of them.

The message is judged or counted by the rest of it, and the run goes on.  `-v` names such messages on stderr
through the standard library's logging, which a program that imports nbspam can listen to; with
NBSPAM_TRACEBACK=1 the traceback follows.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LOGGER = "nbspam"


def name_messages() -> None:
    """Let the messages that meet a fault be named on stderr: `-v`."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("nbspam: %(message)s"))
    logger = logging.getLogger(LOGGER)
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)


def report(name: str, failures: Sequence[str]) -> None:
    """Tell of the faults met in one message.

    failures : as Tokens.failures, "STAGE: ERROR" and a traceback each
    """
    if not failures:
        return
    import logging  # 5 ms, for a message that meets a fault

    logger = logging.getLogger(LOGGER)
    for failure in failures:
        summary, _, traceback = failure.partition("\n")
        logger.info("%s: read in part (%s)", name or "message", summary)
        if os.environ.get("NBSPAM_TRACEBACK"):
            logger.warning("%s", traceback)  # shown without -v, too
