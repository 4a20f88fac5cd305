"""One process that answers clients.

Clients are read and written side by side; their messages are judged one after the other.  What may take long
has a process of its own: a lesson, which waits for other writers, and a message that is slow to judge.  A
user with a model has one judged and one learned at a time, so that nobody waits for another user.
"""

import asyncio
import contextlib
import dataclasses
import gc
import logging
import multiprocessing
import os
import pwd
import signal
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from math import inf
from multiprocessing.connection import Connection
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from nbspam.corpus.executor import give_back_memory
from nbspam.errors import InternalError, NbspamError, TryAgainError, UsageError
from nbspam.learning.learn import LEARNED
from nbspam.serve import codec
from nbspam.serve.codec import PONG, ClientError, Request
from nbspam.serve.gauges import Gauges, answer_scraper
from nbspam.serve.users import Reply, TooSlow, UserFilters

LOG = logging.getLogger("nbspam.serve")  # info: a line for each message; error: what goes wrong
MAX_CONNECTIONS, MAX_SCRAPERS = 256, 16  # at once in a process
MAX_OF_USER = 64  # connections of one who may name no other
SLOW_SECONDS = 0.5  # that a client has to send its request, or to take the answer, if others need its place
FAST_BYTES = 10 << 20  # a second, in addition, for a long message
LONG_BYTES, MAX_LONG = 256 << 10, 2  # messages from this size on, and how many are in memory
PIECE_BYTES = 64 << 10
SCRAPE_SECONDS = 10.0
LINGER_SECONDS = 2.0  # for an answered client to close its side
SENDING_SECONDS = 30.0  # in all, if it still sends
PAUSE_SECONDS = 0.05  # while nobody gives way, and after a failure such as too many open files
LOCK_SECONDS, LOCK_PAUSE_SECONDS = 0.3, 0.02  # that a verdict waits for the writer of its model
JUDGE_SECONDS = 0.1  # of CPU, to judge a message in this process
CHILD_SECONDS, MAX_CHILDREN = 30, 8  # of a lesson, or of a message that is slow to judge
MAX_DESCRIPTORS = 4_096  # more than a process of ours has
COLLECTION = 10_000  # new objects between two searches for cycles; __main__ sets more, for one mail
EX_NOPERM, EX_TIMEOUT = 77, 79  # the latter of spamd
STOPS = TryAgainError("server", "is being stopped", "", "server-stops")
IDLE = ClientError("is idle while others wait", EX_TIMEOUT)
GONE = (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
Result = TypeVar("Result")


class Client:
    """A connection.

    user : who is at the other end, and may name no other; None if the client may name anyone
    due  : when it is late with what it does now; infinite while it waits for us
    held : gives back what it holds
    task : serves it
    """

    task: "asyncio.Task[None]"

    def __init__(self, connection: socket.socket, user: str | None) -> None:
        self.connection, self.user, self.held = connection, user, contextlib.AsyncExitStack()
        self.has_begun = self.is_answered = False
        self.allow(0)

    def allow(self, size_bytes: int) -> None:
        """Give it time to send or take so many bytes."""
        self.due = time.monotonic() + SLOW_SECONDS + size_bytes / FAST_BYTES

    async def run(self, serve: "Serve") -> None:
        """Serve it; to close at once would throw the answer away."""
        async with self.held:
            self.held.enter_context(self.connection)
            try:
                self.stream, self._writer = await asyncio.open_connection(
                    sock=self.connection, limit=PIECE_BYTES
                )
                self._writer.transport.set_write_buffer_limits(0)
                self.held.callback(self._writer.transport.abort)
                await serve(self)
                self._writer.write_eof()
            except GONE as error:  # or it does not read
                LOG.info("not answered: %s", type(error).__name__)
                return
            with contextlib.suppress(*GONE):
                async with asyncio.timeout(SENDING_SECONDS):
                    while await asyncio.wait_for(self.stream.read(PIECE_BYTES), LINGER_SECONDS):
                        pass

    async def answer(self, data: bytes) -> None:
        """Send the answer, in pieces of which no copy is large, and wait until the client has taken it."""
        self.is_answered = True
        self.allow(len(data))
        for start in range(0, len(data), PIECE_BYTES):
            self._writer.write(data[start : start + PIECE_BYTES])
            await self._writer.drain()


Serve = Callable[[Client], Awaitable[None]]


class Worker:
    """The connections of one process.

    trusted : numbers of the users who may name others
    seconds : that a client has to send its request, from the connection on, and again to take the answer
    gauges  : count what is done
    """

    def __init__(self, filters: UserFilters, trusted: Sequence[int], seconds: float, gauges: Gauges) -> None:
        self._filters, self._trusted, self._seconds, self.gauges = filters, trusted, seconds, gauges
        self._clients: set[Client] = set()
        self._long: set[Client] = set()  # with a long message
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._children = asyncio.Semaphore(MAX_CHILDREN)
        self._learning: asyncio.Task[None] | None = None  # a verdict, one at a time

    async def run(self, listeners: list[socket.socket], metrics: list[socket.socket], lifeline: int) -> None:
        """Answer clients until SIGTERM or the end of `lifeline`, then finish what has started."""
        gc.freeze()  # what is loaded now stays, and is not searched again
        gc.set_threshold(COLLECTION)
        loop, stopping = asyncio.get_running_loop(), asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, stopping.set)
        loop.add_signal_handler(signal.SIGHUP, self._filters.close)
        loop.add_reader(lifeline, stopping.set)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGHUP})
        mail, figures = (
            (self._clients, MAX_CONNECTIONS, self._serve),
            (set[Client](), MAX_SCRAPERS, self._show),
        )
        acceptors = [loop.create_task(self._accept_all(listener, *mail)) for listener in listeners]
        acceptors += [loop.create_task(self._accept_all(listener, *figures)) for listener in metrics]
        await stopping.wait()
        loop.remove_reader(lifeline)
        for task in acceptors:
            task.cancel()
        await asyncio.gather(*acceptors, return_exceptions=True)
        for listener in listeners:
            with contextlib.suppress(OSError):  # nobody else waits
                while True:
                    self._accept(listener.accept()[0], self._clients, self._serve)
            listener.close()  # who comes now is refused at once
        await asyncio.sleep(PAUSE_SECONDS)  # their first bytes may be there
        for client in self._clients:
            if not client.has_begun:
                self._drop(client, STOPS)
        await asyncio.gather(*[client.task for client in self._clients], return_exceptions=True)

    async def _accept_all(
        self, listener: socket.socket, clients: set[Client], most: int, serve: Serve
    ) -> None:
        """Accept clients while there are places, one at a time: other processes get theirs."""
        listener.setblocking(False)
        while True:
            await self._find_place(clients, most)
            try:
                self._accept((await asyncio.get_running_loop().sock_accept(listener))[0], clients, serve)
                await asyncio.sleep(0)
            except OSError as error:
                LOG.error("cannot accept a connection: %s", error.strerror)
                await asyncio.sleep(PAUSE_SECONDS)

    def _accept(self, connection: socket.socket, clients: set[Client], serve: Serve) -> None:
        client = Client(connection, find_user(connection, self._trusted))
        of_user = {other for other in clients if other.user == client.user is not None}
        if not self._has_place(of_user, MAX_OF_USER):
            connection.close()
            return
        client.task = asyncio.get_running_loop().create_task(client.run(serve))
        clients.add(client)

        def leave(_: object) -> None:
            clients.remove(client)
            del client.task  # the traceback of its error has the client: a cycle would stay for long

        client.task.add_done_callback(leave)

    async def _find_place(self, clients: set[Client], most: int) -> None:
        while not self._has_place(clients, most):
            await asyncio.sleep(PAUSE_SECONDS)

    def _has_place(self, clients: set[Client], most: int) -> bool:
        """True if one more has a place among these clients; the one that is late for longest gives way."""
        staying = [client for client in clients if not client.task.cancelling()]
        if len(staying) < most:
            return True
        slowest = min(staying, key=lambda client: client.due)
        is_late = slowest.due < time.monotonic()
        if is_late:
            self._drop(slowest, IDLE)
        return is_late

    def _drop(self, client: Client, refusal: NbspamError) -> None:
        client.task.cancel()
        if not client.is_answered:
            self.gauges.count({"refused": refusal.status})
            with contextlib.suppress(OSError):
                client.connection.send(codec.write_refusal(refusal))

    async def _serve(self, client: Client) -> None:
        """A request, its answer, and a line in the log, with the time from connection to answer."""
        start, level = time.perf_counter(), logging.INFO
        try:
            async with asyncio.timeout(self._seconds):
                line = await codec.read_line(client.stream)
                if not line:
                    return
                client.has_begun = True
                request = await codec.read_request(line, client.stream, partial(self._make_room, client))
            if request.command == "SKIP":
                return
            reply = Reply(PONG, {}) if request.command == "PING" else await self._reply(request, client)
            del request  # a long message
        except ConnectionError:
            raise
        except Exception as error:
            level, failure = logging.ERROR, _explain_failure(error, self._seconds)
            reply = Reply(codec.write_refusal(failure), {"refused": failure.status, "why": str(failure)})
        async with asyncio.timeout(self._seconds):
            await client.answer(reply.data)
        seconds = time.perf_counter() - start
        self.gauges.count(reply.fields, seconds)
        if reply.fields:
            LOG.log(level, "%s", {**reply.fields, "ms": round(1000 * seconds, 1)})
        if reply.lesson and (self._learning is None or self._learning.done()):
            self._learning = asyncio.get_running_loop().create_task(self._learn(reply.lesson))

    async def _make_room(self, client: Client, size_bytes: int) -> None:
        """Wait until a long message may be read, one of a user at a time; others that are late give way."""
        if size_bytes < LONG_BYTES:
            return
        await client.held.enter_async_context(self._lock("long", client.user or ""))
        await self._find_place(self._long, MAX_LONG)
        self._long.add(client)
        client.held.callback(asyncio.get_running_loop().call_later, PAUSE_SECONDS, _forget_message)
        client.held.callback(self._long.remove, client)
        client.allow(size_bytes)

    async def _reply(self, request: Request, client: Client) -> Reply:
        """Answer a whole request."""
        user, is_lesson = request.user if client.user is None else client.user, request.command == "TELL"
        if is_lesson and self._filters.has_users and request.user not in ("", user):
            raise ClientError(f"{user} may not teach for {request.user}, see docs/users.md", EX_NOPERM)
        request = request._replace(user=user)
        try:
            kind = "lesson" if is_lesson else "verdict"
            async with self._lock(kind, user if self._filters.has_users or is_lesson else ""):
                client.due = inf
                judge = partial(self._run_in_child, self._filters.tell) if is_lesson else self._judge
                reply = await judge(request)
        except NbspamError as error:  # whatever is wrong with a model may be right in a moment
            if isinstance(error, ClientError) or (is_lesson and isinstance(error, UsageError)):
                raise
            raise TryAgainError(error.where, error.why, error.remedy, error.slug) from error
        # Which mail it was, without its text.  Spaces separate the fields, and are in none.
        name = codec.make_printable(user).replace(" ", ".") or "-"
        mail = {"bytes": len(request.message), "command": request.command, "user": name}
        return reply._replace(fields={**reply.fields, **mail, "id": codec.find_message_id(request.message)})

    async def _judge(self, request: Request) -> Reply:
        """The reply to a request for a verdict."""
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                return self._filters.judge(request, JUDGE_SECONDS)
            except TooSlow:
                filters = dataclasses.replace(self._filters)  # what is open is not for two processes
                return (await self._run_in_child(filters.judge, request))._replace(lesson=None)
            except TryAgainError:
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(LOCK_PAUSE_SECONDS)

    def _lock(self, kind: str, name: str) -> asyncio.Lock:
        """The lock of one kind of work for a user; without a name a new one."""
        lock = asyncio.Lock()
        return self._locks.setdefault((kind, name), lock) if name else lock

    async def _learn(self, lesson: Callable[[], bool]) -> None:
        """Learn a verdict; mail does not wait for it."""
        try:
            if await self._run_in_child(lesson):
                self.gauges.count({"result": LEARNED, "teacher": "autolearn"})
        except Exception as error:
            LOG.error("not learned: %s", error)

    async def _show(self, client: Client) -> None:
        """Answer who asks for the figures."""
        async with asyncio.timeout(SCRAPE_SECONDS):
            head = await client.stream.readuntil(b"\r\n\r\n")
            await client.answer(answer_scraper(self.gauges, head))

    async def _run_in_child(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Do the work in a forked process; TryAgainError if that dies or takes longer than CHILD_SECONDS.

        A thread will not do.  SQLite's locks on a file are lost when the process closes any descriptor of
        that file, as a look at the first bytes of a model does; two writers would then write at once.
        """
        loop, readable = asyncio.get_running_loop(), asyncio.Event()
        fork = multiprocessing.get_context("fork")
        async with self._children:
            ours, theirs = fork.Pipe(duplex=False)
            child = fork.Process(target=_work, args=(theirs, work, *arguments))
            with ours:
                with theirs:
                    child.start()
                loop.add_reader(ours.fileno(), readable.set)
                await readable.wait()
                loop.remove_reader(ours.fileno())
                try:
                    result: Result | Exception = ours.recv()
                except EOFError:
                    result = TryAgainError("server", "the process that learns has died", "", "learner-died")
            child.join()
        if child.exitcode == -signal.SIGALRM:
            result = TryAgainError("server", f"no result within {CHILD_SECONDS} seconds", "", "too-slow")
        if isinstance(result, Exception):
            raise result
        return result


def _forget_message() -> None:
    """A long message may be in a cycle of its reader, and then in malloc."""
    gc.collect()
    give_back_memory()


def find_user(connection: socket.socket, trusted: Sequence[int]) -> str | None:
    """The login name at the other end of a unix socket; None for who may name others: on TCP, anyone."""
    if connection.family != socket.AF_UNIX:
        return None
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    number = struct.unpack("3i", peer)[1]
    if number in (0, os.geteuid(), *trusted):
        return None
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return ""


def _explain_failure(error: Exception, seconds: float) -> NbspamError:
    """What a client hears of it; a fault of ours with one mail stops no other."""
    if isinstance(error, NbspamError):
        return error
    if isinstance(error, TimeoutError):
        return ClientError(f"({seconds:g} second timeout reading input from client)", EX_TIMEOUT)
    if isinstance(error, OSError | MemoryError):  # no descriptors, no processes
        why = getattr(error, "strerror", None) or "has too few resources"
        return TryAgainError("server", why, "", "server-io")
    if os.environ.get("NBSPAM_TRACEBACK"):
        LOG.error("fault", exc_info=error)
    return InternalError("server", f"{type(error).__name__}: a fault of nbspam", "", "bug")


def _work(pipe: Connection, work: Callable[..., Any], *arguments: Any) -> None:
    """In the child: send what the work returns or raises; after CHILD_SECONDS the kernel ends it."""
    os.closerange(3, pipe.fileno())  # a client or a port would stay open as long as the child
    os.closerange(pipe.fileno() + 1, MAX_DESCRIPTORS)
    signal.set_wakeup_fd(-1)
    signal.alarm(CHILD_SECONDS)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the work is finished before the server stops
    try:
        pipe.send(work(*arguments))
    except Exception as error:
        pipe.send(error)
