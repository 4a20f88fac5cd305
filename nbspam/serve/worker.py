"""One process that answers clients.

Connections are read and written side by side, so a slow client costs a descriptor and some memory.  With too
many, the one that has been idle longest is dropped.  Messages are judged one after the other.  Learning,
which may wait for another writer, has a process of its own.
"""

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, TypeVar

from nbspam.corpus.executor import give_back_memory
from nbspam.errors import InternalError, NbspamError, TryAgainError
from nbspam.learning.learn import LEARNED
from nbspam.limits import MAX_READ_BYTES
from nbspam.serve import codec
from nbspam.serve.codec import PONG, ClientError, Request, RequestReader, write_refusal
from nbspam.serve.gauges import Gauges
from nbspam.serve.users import Reply, UserFilters

LOG = logging.getLogger("nbspam.serve")  # info: a line for each message; error: what goes wrong
MAX_CONNECTIONS = 256  # at once in a process
IDLE_SECONDS = 0.5  # that a client may be idle while others wait for its place
MAX_HELD_BYTES = 256 << 20  # of all messages that are being read
RECEIVED_BYTES = 64 << 10
LINGER_SECONDS = 2.0  # for a client to read the answer while it is still sending
COLLECTION = 10_000  # new objects between two searches for cycles; __main__ sets more, for one mail
ACCEPT_PAUSE_SECONDS = 0.05  # while no client is idle, and after a failure such as too many open files
WORKER_SIGNALS = {signal.SIGTERM, signal.SIGHUP}
EX_TIMEOUT = 79  # of spamd
Result = TypeVar("Result")


class Client:
    """A connection.  active : time of its last byte, seconds; infinite while it is being answered"""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.reader = RequestReader()
        self.active = time.monotonic()
        self.is_answered = False
        self.received_bytes = 0


class Worker:
    """The connections of one process.  seconds, gauges : as for Daemon"""

    def __init__(
        self, sockets: list[socket.socket], filters: UserFilters, seconds: float, gauges: Gauges | None
    ) -> None:
        self._gauges = gauges
        self._sockets = sockets
        self._filters = filters
        self._seconds = seconds
        self._clients: dict[asyncio.Task[None], Client] = {}
        self._learning = asyncio.Lock()
        self._stopping = asyncio.Event()

    async def run(self, lifeline: int) -> None:
        """Answer clients until SIGTERM or the end of `lifeline`, then finish what has started."""
        gc.freeze()  # what is loaded now stays, and is not searched again
        gc.set_threshold(COLLECTION)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stopping.set)
        loop.add_signal_handler(signal.SIGHUP, self._filters.close)
        loop.add_reader(lifeline, self._stopping.set)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WORKER_SIGNALS)
        acceptors = [loop.create_task(self._accept_all(one)) for one in self._sockets]
        await self._stopping.wait()
        loop.remove_reader(lifeline)
        for task in acceptors:
            task.cancel()
        await self._finish()

    async def _finish(self) -> None:
        """Answer those who connected in time, except clients that have sent nothing yet."""
        for one in self._sockets:
            with contextlib.suppress(OSError):  # nobody else waits
                while True:
                    self._accept(one)
        await asyncio.sleep(0)  # their first bytes may be there
        for task, client in self._clients.items():
            if not client.reader.started:
                task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _accept_all(self, listener: socket.socket) -> None:
        """Accept clients if there is a place for one more, one at a time: other processes get theirs."""
        while True:
            while len(self._clients) >= MAX_CONNECTIONS and not self._drop_idle():
                await asyncio.sleep(ACCEPT_PAUSE_SECONDS)
            await _wait_readable(listener.fileno())
            try:
                self._accept(listener)
            except (BlockingIOError, ConnectionAbortedError):
                pass  # another process was first, or the client has gone
            except OSError as error:
                LOG.error("cannot accept a connection: %s", error.strerror)
                await asyncio.sleep(ACCEPT_PAUSE_SECONDS)

    def _accept(self, listener: socket.socket) -> None:
        client = Client(listener.accept()[0])
        task = asyncio.get_running_loop().create_task(self._serve(client))
        self._clients[task] = client
        task.add_done_callback(self._leave)

    def _leave(self, task: asyncio.Task[None]) -> None:
        """Forget a client.  A long message would stay in a cycle of its reader, and then in malloc."""
        if self._clients.pop(task).received_bytes > MAX_READ_BYTES:
            loop = asyncio.get_running_loop()
            loop.call_soon(gc.collect)
            loop.call_soon(give_back_memory)

    def _drop_idle(self, held_bytes: int = 0) -> bool:
        """Drop the client that has been idle longest, and long enough; False without one.

        held_bytes : only clients holding at least this many bytes
        """
        clients = self._clients
        held = [task for task, client in clients.items() if client.reader.held_bytes >= held_bytes]
        waiting = [task for task in held if not task.cancelling()]
        longest = min(waiting, key=lambda task: clients[task].active, default=None)
        if longest is None or clients[longest].active > time.monotonic() - IDLE_SECONDS:
            return False
        return longest.cancel()

    async def _serve(self, client: Client) -> None:
        """One connection."""
        with client.connection as connection:
            connection.setblocking(False)
            try:
                await self._exchange(client)
            except (OSError, TimeoutError) as error:  # the client went away, or does not read
                LOG.info("not answered: %s", type(error).__name__)
            except asyncio.CancelledError:  # its place is needed
                stop = TryAgainError("server", "is being stopped", "", "server-stops")
                idle = ClientError("is idle while others wait", EX_TIMEOUT)
                if not client.is_answered:
                    refusal = stop if self._stopping.is_set() else idle
                    self._count({"refused": refusal.status})
                    with contextlib.suppress(OSError):
                        connection.send(write_refusal(refusal))

    async def _exchange(self, client: Client) -> None:
        """A request, its answer, and a line in the log, with the time from connection to answer."""
        start = time.perf_counter()
        level = logging.INFO
        try:
            request = await self._read_request(client)
            if request is None or request.command == "SKIP":
                return
            client.active = inf
            reply = Reply(PONG, "", {}) if request.command == "PING" else await self._reply(request)
        except Exception as error:
            level = logging.ERROR
            failure = _explain_failure(error)
            fields = {"refused": failure.status, "why": str(failure)}
            reply = Reply(write_refusal(failure), "refused: %(refused)d %(why)s", fields)
        client.active = time.monotonic()
        client.is_answered = True
        async with asyncio.timeout(self._seconds):
            await asyncio.get_running_loop().sock_sendall(client.connection, reply.data)
        seconds = time.perf_counter() - start
        if reply.line:
            LOG.log(level, f"{reply.line} %(ms).1f ms", {**reply.fields, "ms": round(1000 * seconds, 1)})
        self._count(reply.fields, seconds)
        await _linger(client.connection)
        client.connection.close()
        self._filters.close_oldest()
        if reply.lesson is not None:
            await self._learn(reply.lesson)

    async def _read_request(self, client: Client) -> Request | None:
        reader = client.reader
        try:
            async with asyncio.timeout(self._seconds):
                while data := await asyncio.get_running_loop().sock_recv(client.connection, RECEIVED_BYTES):
                    client.active = time.monotonic()
                    client.received_bytes += len(data)
                    request = reader.feed(data)
                    if request is not None:
                        return request
                    held_bytes = sum(other.reader.held_bytes for other in self._clients.values())
                    if held_bytes > MAX_HELD_BYTES and not self._drop_idle(RECEIVED_BYTES):
                        raise TryAgainError("server", "too much mail at once", "", "server-full")
                return reader.end()
        except TimeoutError:
            why = f"({self._seconds:g} second timeout reading input from client)"
            raise ClientError(why, EX_TIMEOUT) from None

    async def _reply(self, request: Request) -> Reply:
        """Answer a whole request."""
        if request.command == "TELL":
            async with self._learning:  # one at a time: writers of one model wait for each other anyway
                reply = await run_in_child(lambda: self._filters.tell(request))
        else:
            reply = self._filters.judge(request)
        # Which mail it was, without its text.  Spaces separate the fields, and are in none.
        user = codec.make_printable(request.user).replace(" ", ".") or "-"
        fields = {**reply.fields, "bytes": len(request.message), "command": request.command, "user": user}
        fields["id"] = codec.find_message_id(request.message)
        line = f"{reply.line} %(bytes)d bytes %(command)s user=%(user)s id=%(id)s"
        return reply._replace(line=line, fields=fields)

    def _count(self, fields: Mapping[str, Any], seconds: float = 0.0) -> None:
        if self._gauges:
            self._gauges.count(fields, seconds)

    async def _learn(self, lesson: Callable[[], bool]) -> None:
        """Learn a verdict, unless something else is being learned: mail does not wait for it."""
        if self._learning.locked() or self._stopping.is_set():
            return
        async with self._learning:
            try:
                if await run_in_child(lesson):
                    self._count({"result": LEARNED, "teacher": "autolearn"})
            except Exception as error:
                LOG.error("not learned: %s", error)


def _explain_failure(error: Exception) -> NbspamError:
    """What a client hears of it; a fault of ours with one mail stops no other."""
    if isinstance(error, NbspamError):
        return error
    if isinstance(error, OSError | MemoryError):  # no descriptors, no processes
        why = getattr(error, "strerror", None) or "has too few resources"
        return TryAgainError("server", why, "", "server-io")
    if os.environ.get("NBSPAM_TRACEBACK"):
        LOG.error("fault", exc_info=error)
    return InternalError("server", f"{type(error).__name__}: a fault of nbspam", "", "bug")


async def run_in_child(work: Callable[[], Result]) -> Result:
    """Do the work in a forked process; TryAgainError if that is killed.

    A thread will not do.  SQLite's locks on a file are lost when the process closes any descriptor of that
    file, as a look at the first bytes of a model does; two writers would then write at once.
    """
    ours, theirs = multiprocessing.Pipe(duplex=False)

    def run() -> None:
        for number in WORKER_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # the work is finished before the server stops
        try:
            theirs.send(work())
        except Exception as error:
            theirs.send(error)

    child = multiprocessing.get_context("fork").Process(target=run)
    with ours:
        with theirs:
            child.start()
        await _wait_readable(ours.fileno())
        try:
            result: Result | Exception = ours.recv()
        except EOFError:
            result = TryAgainError("TELL", "the process that learns has died", "", "learner-died")
    child.join()
    if isinstance(result, Exception):
        raise result
    return result


async def _wait_readable(number: int) -> None:
    """Wait until there is something to read at a descriptor."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(number, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(number)


async def _linger(connection: socket.socket) -> None:
    """Wait until the client stops sending: to close before would throw the answer away."""
    with contextlib.suppress(OSError, TimeoutError):
        connection.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(LINGER_SECONDS):
            while await asyncio.get_running_loop().sock_recv(connection, RECEIVED_BYTES):
                pass
