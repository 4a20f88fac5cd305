"""The processes of a server: a parent that answers nobody, and workers that do.

Hides fork and signals.  A worker that dies is replaced, and what it was at is tried again by its client.
SIGTERM and SIGINT end the server when what is begun is answered; a second one does not wait.  SIGHUP has the
model opened anew, which a replaced model does not need.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time

from nbspam.serve.filter import ServedModels
from nbspam.serve.listening import Listening, notify
from nbspam.serve.worker import Say, Shared, Worker

STOPS = {signal.SIGTERM, signal.SIGINT}
SIGNALS = STOPS | {signal.SIGHUP, signal.SIGCHLD}
SHORT_LIFE_SECONDS = 1.0  # a worker that dies younger is not replaced at once
GRACE_SECONDS = 5.0  # beyond the time that a client has
WORKER_FAILED = 70


class Daemon:
    """A server, from its first worker to its last.

    seconds  : that a client may take to send its request, and again to take the answer
    say      : writes a line to the log
    say_each : the same for the line of a message that was judged
    """

    def __init__(
        self,
        listening: Listening,
        judge: ServedModels,
        seconds: float,
        say: Say,
        say_each: Say,
    ) -> None:
        self._listening = listening
        self._lifeline = os.pipe()  # ends for the workers when this process does, whatever ended it
        self._seconds = seconds
        self._say = say
        self._shared = Shared(listening.sockets, judge, seconds, say, say_each, self._lifeline[0])
        self._workers: dict[int, float] = {}  # process -> when it began

    def run(self, jobs: int) -> None:
        """Serves until a signal ends it."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a parent may have left it ignored
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        full = self._filled(jobs)
        notify("READY=1")
        while (number := _signal(None if full else SHORT_LIFE_SECONDS)) not in STOPS:
            if number == signal.SIGHUP:
                self._tell(signal.SIGHUP)
            young = any(age < SHORT_LIFE_SECONDS for age in self._reaped())
            full = not young and self._filled(jobs)
        self._stop()

    def _filled(self, jobs: int) -> bool:
        """Whether there are as many workers as there should be, those who died replaced."""
        try:
            while len(self._workers) < jobs:
                self._fork()
        except OSError as error:  # no processes, no memory; those who are there go on
            self._say(f"no process can be made: {error.strerror}")
            return False
        return True

    def _fork(self) -> None:
        process = os.fork()
        if process:
            self._workers[process] = time.monotonic()
            return
        status = WORKER_FAILED
        try:
            os.close(self._lifeline[1])
            asyncio.run(Worker(self._shared).run())
            status = 0
        except BaseException as error:
            self._say(f"worker: {type(error).__name__}: {error}")
        finally:
            os._exit(status)

    def _reaped(self) -> list[float]:
        """Of each worker that has ended how long it lived, seconds."""
        ages = []
        for process in list(self._workers):
            found, status = os.waitpid(process, os.WNOHANG)
            if found:
                ages.append(time.monotonic() - self._workers.pop(process))
                if status:
                    self._say(f"worker {process} ended with {os.waitstatus_to_exitcode(status)}")
        return ages

    def _tell(self, number: int) -> None:
        for process in self._workers:
            os.kill(process, number)

    def _stop(self) -> None:
        """Lets the workers end what is begun, within the time that a client has."""
        notify("STOPPING=1")
        self._listening.hide()
        self._listening.close()
        self._tell(signal.SIGTERM)
        deadline = time.monotonic() + 2 * self._seconds + GRACE_SECONDS
        while self._workers:
            number = _signal(max(0.0, deadline - time.monotonic()))
            if number is None or number in STOPS:
                self._tell(signal.SIGKILL)
                deadline = time.monotonic() + GRACE_SECONDS
            self._reaped()


def _signal(seconds: float | None) -> int | None:
    """The next signal; None where none comes in this time.  seconds : None to wait for ever"""
    if seconds is None:
        return signal.sigwait(SIGNALS)
    found = signal.sigtimedwait(SIGNALS, seconds)
    return found.si_signo if found else None
