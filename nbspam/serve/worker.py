"""One process that answers clients.

Connections are read and written side by side, so a slow client costs a descriptor and some memory.  Messages
are judged one after the other.  Learning, which may wait for another writer, has a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from typing import TypeVar

from nbspam.errors import InternalError, NbspamError, TryAgainError
from nbspam.serve.codec import PONG, ClientError, Request, RequestReader, dotted, message_id, refusal
from nbspam.serve.users import Reply, UserFilters

LOG = logging.getLogger("nbspam.serve")  # info: a line for each message; error: what goes wrong
MAX_CONNECTIONS = 64  # at once in a process; with one more, idle clients lose their place
IDLE_SECONDS = 2.0  # that a client may say nothing while others wait for its place
MAX_HELD_BYTES = 256 << 20  # of all messages that are being read
CHUNK_BYTES = 64 << 10
LINGER_SECONDS = 2.0  # for a client to read the answer while it is still sending
COLLECTION = 10_000  # new objects between two searches for cycles; __main__ sets more, for one mail
ACCEPT_PAUSE_SECONDS = 0.2  # after a failure such as too many open files
SIGNALS = {signal.SIGTERM, signal.SIGHUP}
EX_TIMEOUT = 79  # of spamd
Result = TypeVar("Result")


class Worker:
    """The connections of one process.  seconds : as for Daemon"""

    def __init__(self, sockets: list[socket.socket], filters: UserFilters, seconds: float) -> None:
        self._sockets = sockets
        self._filters = filters
        self._seconds = seconds
        self._clients: dict[asyncio.Task[None], RequestReader] = {}
        self._learning = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._making_room: asyncio.Task[None] | None = None

    async def run(self, lifeline: int) -> None:
        """Answer clients until SIGTERM or the end of `lifeline`, then finish what has started."""
        gc.freeze()  # what is loaded now stays, and is not searched again
        gc.set_threshold(COLLECTION)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stopping.set)
        loop.add_signal_handler(signal.SIGHUP, self._filters.close)
        loop.add_reader(lifeline, self._stopping.set)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        self._start_accepting()
        await self._stopping.wait()
        loop.remove_reader(lifeline)
        await self._finish()

    async def _finish(self) -> None:
        """Answer those who connected in time, except clients that have sent nothing yet."""
        self._stop_accepting()
        for one in self._sockets:
            while self._accept(one):
                pass
        await asyncio.sleep(0)  # their first bytes may be there
        self._drop_idle()
        await asyncio.gather(*self._clients, return_exceptions=True)

    def _start_accepting(self) -> None:
        if not self._stopping.is_set() and len(self._clients) <= MAX_CONNECTIONS:
            for one in self._sockets:
                asyncio.get_running_loop().add_reader(one, self._accept, one)

    def _stop_accepting(self) -> None:
        for one in self._sockets:
            asyncio.get_running_loop().remove_reader(one)

    def _accept(self, listener: socket.socket) -> bool:
        """Accept one connection, so that the other processes get theirs; False if there is none."""
        loop, reader = asyncio.get_running_loop(), RequestReader()
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return False  # another process was first, or the client has gone
        except OSError as error:
            LOG.error("no connection can be taken: %s", error.strerror)
            self._stop_accepting()
            loop.call_later(ACCEPT_PAUSE_SECONDS, self._start_accepting)
            return False
        task = loop.create_task(self._serve(connection, reader))
        self._clients[task] = reader
        task.add_done_callback(self._clients.pop)
        if len(self._clients) > MAX_CONNECTIONS and not self._stopping.is_set():
            self._stop_accepting()
            self._making_room = loop.create_task(self._make_room())
        return True

    async def _make_room(self) -> None:
        """Wait until a client leaves; if none does for IDLE_SECONDS, idle clients have to."""
        while len(self._clients) > MAX_CONNECTIONS:
            left, _ = await asyncio.wait(
                self._clients, timeout=IDLE_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if not left:
                self._drop_idle()
        self._start_accepting()

    def _drop_idle(self) -> None:
        """Refuse the clients that have sent nothing."""
        for task, reader in self._clients.items():
            if not reader.started:
                task.cancel()

    async def _serve(self, connection: socket.socket, reader: RequestReader) -> None:
        """One connection."""
        with connection:
            connection.setblocking(False)
            try:
                await self._exchange(connection, reader)
            except (OSError, TimeoutError) as error:  # the client went away, or does not read
                LOG.info("not answered: %s", type(error).__name__)
            except asyncio.CancelledError:  # by _drop_idle
                stop = TryAgainError("server", "is being stopped", "", "server-stops")
                idle = ClientError("says nothing while others wait", EX_TIMEOUT)
                with contextlib.suppress(OSError):
                    connection.send(refusal(stop if self._stopping.is_set() else idle))

    async def _exchange(self, connection: socket.socket, reader: RequestReader) -> None:
        """A request, its answer, and a line in the log, with the time from connection to answer."""
        start, level = time.perf_counter(), logging.INFO
        try:
            request = await self._request(connection, reader)
            if request is None or request.command == "SKIP":
                return
            reply = Reply(PONG, "") if request.command == "PING" else await self._reply(request)
        except NbspamError as error:
            level = logging.ERROR
            reply = Reply(refusal(error), f"refused: {error.status} {error}")
        async with asyncio.timeout(self._seconds):
            await asyncio.get_running_loop().sock_sendall(connection, reply.data)
        if reply.summary:
            LOG.log(level, "%s %.1f ms", reply.summary, 1000 * (time.perf_counter() - start))
        await _linger(connection)
        connection.close()
        if reply.lesson is not None:
            await self._learn(reply.lesson)

    async def _request(self, connection: socket.socket, reader: RequestReader) -> Request | None:
        try:
            async with asyncio.timeout(self._seconds):
                while data := await asyncio.get_running_loop().sock_recv(connection, CHUNK_BYTES):
                    request = reader.feed(data)
                    if request is not None:
                        return request
                    if sum(reader.held for reader in self._clients.values()) > MAX_HELD_BYTES:
                        raise TryAgainError("server", "too much mail at once", "", "server-full")
                return reader.end()
        except TimeoutError:
            why = f"({self._seconds:g} second timeout reading input from client)"
            raise ClientError(why, EX_TIMEOUT) from None

    async def _reply(self, request: Request) -> Reply:
        """The reply to a whole request, or an NbspamError."""
        try:
            if request.command == "TELL":
                async with self._learning:  # one at a time: writers of one model wait for each other anyway
                    reply = await in_child(lambda: self._filters.tell(request))
            else:
                reply = self._filters.judge(request)
        except Exception as error:
            raise _failure(error) from error
        # Which mail it was, without its text.  Spaces separate the fields, and are in none.
        user = dotted(request.user).replace(" ", ".") or "-"
        mail = f"{len(request.message)} bytes {request.command} user={user} id={message_id(request.message)}"
        return reply._replace(summary=f"{reply.summary} {mail}")

    async def _learn(self, lesson: Callable[[], str]) -> None:
        """Learn a verdict, unless something else is being learned: mail does not wait for it."""
        if self._learning.locked() or self._stopping.is_set():
            return
        async with self._learning:
            try:
                await in_child(lesson)
            except Exception as error:
                LOG.error("not learned: %s", error)


def _failure(error: Exception) -> NbspamError:
    """What a client hears of it; a fault of ours with one mail stops no other."""
    if isinstance(error, NbspamError):
        return error
    if isinstance(error, OSError):  # no descriptors, no processes
        return TryAgainError("server", error.strerror or "is out of means", "", "server-io")
    if os.environ.get("NBSPAM_TRACEBACK"):
        LOG.error("fault", exc_info=error)
    return InternalError("server", f"{type(error).__name__}: a fault of nbspam", "", "bug")


async def in_child(work: Callable[[], Result]) -> Result:
    """Do the work in a forked process; TryAgainError if that is killed.

    A thread will not do.  SQLite's locks on a file are lost when the process closes any descriptor of that
    file, as a look at the first bytes of a model does; two writers would then write at once.
    """
    ours, theirs = multiprocessing.Pipe(duplex=False)

    def run() -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # the work is finished before the server stops
        try:
            theirs.send(work())
        except Exception as error:
            theirs.send(error)

    child = multiprocessing.get_context("fork").Process(target=run)
    readable, loop = asyncio.Event(), asyncio.get_running_loop()
    with ours:
        with theirs:
            child.start()
        loop.add_reader(ours.fileno(), readable.set)
        await readable.wait()
        loop.remove_reader(ours.fileno())
        try:
            result: Result | Exception = ours.recv()
        except EOFError:
            result = TryAgainError("TELL", "the process that learns has died", "", "learner-died")
    child.join()
    if isinstance(result, Exception):
        raise result
    return result


async def _linger(connection: socket.socket) -> None:
    """Wait until the client stops sending: to close before would throw the answer away."""
    with contextlib.suppress(OSError, TimeoutError):
        connection.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(LINGER_SECONDS):
            while await asyncio.get_running_loop().sock_recv(connection, CHUNK_BYTES):
                pass
