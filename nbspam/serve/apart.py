"""Learning in a process of its own, while this one judges on.

Hides fork, and why it is needed: who learns may wait for seconds for another writer.  A thread will not do.
The locks that SQLite has on a file are lost when the process closes any descriptor of that file, and every
look at a model's first bytes does: two writers would then be at it at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import Callable

from nbspam.errors import InternalError, NbspamError, TryAgainError
from nbspam.serve.filter import Answered

_CHUNK_BYTES = 4096


async def done_apart(work: Callable[[], Answered]) -> Answered:
    """What `work` returns, or the NbspamError that it raises; TryAgainError if its process is killed."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = _begun(work, theirs)
        ours.setblocking(False)
        text = b""
        while piece := await asyncio.get_running_loop().sock_recv(ours, _CHUNK_BYTES):
            text += piece
    os.waitpid(process, 0)  # it has ended, or does as it closes its socket
    if not text:
        raise TryAgainError("TELL", "the process that learns has died", "", "learner-died")
    status, first, second, slug = json.loads(text)
    if status:
        error = NbspamError(first, second, "", slug)
        error.status = status
        raise error
    return Answered(first.encode("latin-1"), second)


def _begun(work: Callable[[], Answered], theirs: socket.socket) -> int:
    """The process that does the work.  A signal for the server is not for it: what is begun is ended."""
    signals = {signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        process = os.fork()
        if process:
            return process
        try:
            theirs.sendall(json.dumps(_result(work)).encode())
        finally:
            os._exit(0)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def _result(work: Callable[[], Answered]) -> tuple[int, str, str, str]:
    """Status 0 and the answer, or that of an error and what it says."""
    try:
        answered = work()
    except NbspamError as error:
        return error.status, error.where, error.why, error.slug
    except Exception as error:
        return InternalError.status, "TELL", f"{type(error).__name__}: a fault of nbspam", "bug"
    return 0, answered.data.decode("latin-1"), answered.outcome, ""
