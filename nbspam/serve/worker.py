"""One process that answers clients.

Hides the event loop.  Connections are read and written side by side, so a slow client costs a descriptor and
some memory; a message is judged in the one thread there is, which takes some milliseconds and is what the
processor is for anyway.  What waits for another writer of the model, learning, has a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable
from typing import NamedTuple

from nbspam.errors import InternalError, NbspamError, TryAgainError
from nbspam.serve.answer import PONG, dotted, message_id, refusal
from nbspam.serve.apart import done_apart
from nbspam.serve.filter import Answered, ServedModels
from nbspam.serve.request import Request, RequestReader

MAX_CONNECTIONS = 64  # at once, a process; others wait in the queue of the system
IDLE_SECONDS = 2.0  # that a client may say nothing where others wait for its place
MAX_HELD_BYTES = 256 << 20  # of all messages that are being read
CHUNK_BYTES = 64 << 10
LINGER_SECONDS = 2.0  # for a client to take the answer while it is still sending
COLLECTION = 10_000  # new objects between two searches for cycles: __main__ makes them rarer, for one mail
ACCEPT_PAUSE_SECONDS = 0.2  # where no connection can be made, as without descriptors

Say = Callable[[str], None]


class RequestTimeout(NbspamError):
    """A client that is too slow (EX_TIMEOUT of spamd)."""

    status = 79


class Shared(NamedTuple):
    """What all processes of a server share.

    seconds : that a client may take to send its request, and again to take the answer
    say     : writes a line to the log
    say_each : the same for the line of a message that was judged, which may be unwanted
    lifeline : a descriptor that ends when the parent does
    """

    sockets: list[socket.socket]
    filter: ServedModels
    seconds: float
    say: Say
    say_each: Say
    lifeline: int


class Open(NamedTuple):
    """A connection: what it has sent, and since when it is there, in seconds of the loop."""

    reader: RequestReader
    since: float


class Worker:
    """The connections of one process."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._open: dict[asyncio.Task[None], Open] = {}
        self._learning = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._accepting = False
        self._room: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Answers until it is told to stop, then ends what is begun."""
        gc.freeze()  # what is loaded by now stays, and is not looked at again
        gc.set_threshold(COLLECTION)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stopping.set)
        loop.add_signal_handler(signal.SIGHUP, self._shared.filter.forget)
        loop.add_reader(self._shared.lifeline, self._stopping.set)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGHUP})
        self._accept_more()
        await self._stopping.wait()
        loop.remove_reader(self._shared.lifeline)
        await self._end()

    async def _end(self) -> None:
        """Answers those who connected in time; who has sent nothing yet is not waited for."""
        self._accept_no_more()
        for one in self._shared.sockets:
            while self._accept(one):
                pass
        await asyncio.sleep(0)  # their first bytes may be there
        for task in self._silent(0.0):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _accept_more(self) -> None:
        if not self._accepting and not self._stopping.is_set() and len(self._open) < MAX_CONNECTIONS:
            self._accepting = True
            for one in self._shared.sockets:
                asyncio.get_running_loop().add_reader(one, self._accept, one)

    def _accept_no_more(self) -> None:
        self._accepting = False
        for one in self._shared.sockets:
            asyncio.get_running_loop().remove_reader(one)

    def _accept(self, listener: socket.socket) -> bool:
        """Takes one connection, so that the other processes have theirs; whether there was one."""
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return False  # another process was first, or the client has gone
        except OSError as error:
            self._shared.say(f"no connection can be taken: {error.strerror}")
            self._accept_no_more()
            asyncio.get_running_loop().call_later(ACCEPT_PAUSE_SECONDS, self._accept_more)
            return False
        loop, reader = asyncio.get_running_loop(), RequestReader()
        task = loop.create_task(self._serve(connection, reader))
        self._open[task] = Open(reader, loop.time())
        task.add_done_callback(self._closed)
        if self._accepting and len(self._open) >= MAX_CONNECTIONS:
            self._accept_no_more()
            self._make_room_later()
        return True

    def _make_room_later(self) -> None:
        if self._room is not None:
            self._room.cancel()  # one at a time, however often all places are taken
        self._room = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._make_room)

    def _make_room(self) -> None:
        """Where all places are taken and others wait, who has said nothing for a while gives up its own."""
        if len(self._open) < MAX_CONNECTIONS or self._stopping.is_set():
            return
        waiting = select.poll()
        for one in self._shared.sockets:
            waiting.register(one, select.POLLIN)
        if waiting.poll(0):
            for task in self._silent(IDLE_SECONDS):
                task.cancel()
        self._make_room_later()

    def _silent(self, seconds: float) -> list[asyncio.Task[None]]:
        """The connections that have been there for so long and have sent nothing."""
        latest = asyncio.get_running_loop().time() - seconds
        return [task for task, one in self._open.items() if not one.reader.begun and one.since <= latest]

    def _closed(self, task: asyncio.Task[None]) -> None:
        del self._open[task]
        self._accept_more()

    async def _serve(self, connection: socket.socket, reader: RequestReader) -> None:
        """One connection: a request, its answer, a line in the log."""
        with connection:
            connection.setblocking(False)
            try:
                await self._exchange(connection, reader)
            except (OSError, TimeoutError) as error:  # the client went away, or does not read
                self._shared.say_each(f"not answered: {type(error).__name__}")
            except asyncio.CancelledError:  # the client has sent nothing yet
                with contextlib.suppress(OSError):
                    connection.send(refusal(self._why_not()))

    def _why_not(self) -> NbspamError:
        """Why a client that has sent nothing is not waited for."""
        if self._stopping.is_set():
            return TryAgainError("server", "is being stopped", "", "server-stops")
        return RequestTimeout("client", "says nothing while others wait", "", "client-idle")

    async def _exchange(self, connection: socket.socket, reader: RequestReader) -> None:
        """Reads and answers; the log has how long that took from connection to answer."""
        begun, say = time.perf_counter(), self._shared.say_each
        try:
            request = await self._request(connection, reader)
            if request is None or request.command == "SKIP":
                return
            answered = await self._answered(request)
        except NbspamError as error:
            say = self._shared.say  # also where the line a message is not wanted
            answered = Answered(refusal(error), f"refused: {error.status} {error}")
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._shared.seconds):
            await loop.sock_sendall(connection, answered.data)
        if answered.outcome:
            say(f"{answered.outcome} {1000 * (time.perf_counter() - begun):.1f} ms")
        await self._linger(connection)
        if answered.later is not None:
            connection.close()
            await self._learn(answered.later)

    async def _learn(self, lesson: Callable[[], Answered]) -> None:
        """Learns the server's own verdict if nothing else is being learned: mail does not wait for it."""
        if self._learning.locked() or self._stopping.is_set():
            return
        async with self._learning:
            try:
                await done_apart(lesson)
            except (NbspamError, OSError) as error:
                self._shared.say(f"not learned: {error}")

    async def _request(self, connection: socket.socket, reader: RequestReader) -> Request | None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._shared.seconds):
                request = None
                while request is None:
                    data = await loop.sock_recv(connection, CHUNK_BYTES)
                    if not data:
                        return reader.end()
                    request = reader.feed(data)
                    self._check_room()
                return request
        except TimeoutError:
            why = f"({self._shared.seconds:g} second timeout reading input from client)"
            raise RequestTimeout("client", why, "", "client-timeout") from None

    def _check_room(self) -> None:
        if sum(one.reader.held for one in self._open.values()) > MAX_HELD_BYTES:
            raise TryAgainError("server", "too much mail at once", "", "server-full")

    async def _answered(self, request: Request) -> Answered:
        """The answer to a whole request; an NbspamError where there is none."""
        if request.command == "PING":
            return Answered(PONG, "")
        try:
            if request.command == "TELL":
                async with self._learning:  # one after the other: of one model they would wait anyway
                    answered = await done_apart(lambda: self._shared.filter.tell(request))
            else:
                answered = self._shared.filter.judged(request)
            return answered._replace(outcome=f"{answered.outcome} {_about(request)}")
        except NbspamError:
            raise
        except OSError as error:  # no descriptors, no processes
            raise TryAgainError("server", error.strerror or "is out of means", "", "server-io") from error
        except Exception as error:  # one mail that meets a fault of ours stops no other
            if os.environ.get("NBSPAM_TRACEBACK"):
                for line in traceback.format_exc().splitlines():
                    self._shared.say(line)
            raise InternalError("server", f"{type(error).__name__}: a fault of nbspam", "", "bug") from error

    async def _linger(self, connection: socket.socket) -> None:
        """Waits for the end of what the client sends: closing before would throw the answer away."""
        loop = asyncio.get_running_loop()
        try:
            connection.shutdown(socket.SHUT_WR)
            async with asyncio.timeout(LINGER_SECONDS):
                while await loop.sock_recv(connection, CHUNK_BYTES):
                    pass
        except (OSError, TimeoutError):
            pass  # it has gone, or has had its time


def _about(request: Request) -> str:
    """Which mail it was, without a word of it; a blank parts two fields, and is in none."""
    user = dotted(request.user).replace(" ", ".") or "-"
    return f"{len(request.message)} bytes {request.command} user={user} id={message_id(request.message)}"
