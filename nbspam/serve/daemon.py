"""The parent process of a server: it opens the sockets and keeps the workers, and answers nobody itself.

A worker that dies is replaced; its clients try again.  SIGTERM and SIGINT stop the server after the requests
that have started, a second one at once.  SIGHUP opens the models again.
"""

import asyncio
import contextlib
import errno
import os
import re
import signal
import socket
import stat
import time
from typing import NoReturn

from nbspam.errors import CannotCreateError, UsageError
from nbspam.serve.worker import LOG, Worker
from nbspam.store.connection import file_identity

DEFAULT_ADDRESS = "localhost:783"  # where spamc looks, and spamd listens
ADDRESS_REMEDY = "use for example `listen=localhost:783`, or `listen=[::1]:783`"
PATH_REMEDY = "choose another place: `socket=PATH`"
LISTEN_SLUGS = {errno.EADDRINUSE: "listen-in-use", errno.EACCES: "listen-denied"}
BACKLOG = 512  # connections that wait to be accepted; the system may have a lower bound
FIRST_INHERITED = 3  # SD_LISTEN_FDS_START
STOPS = {signal.SIGTERM, signal.SIGINT}
SIGNALS = STOPS | {signal.SIGHUP, signal.SIGCHLD}
CHECK_SECONDS = 1.0  # without a signal, after which the workers that are missing are replaced
GRACE_SECONDS = 5.0  # after the time that a client has


def take_inherited() -> list[socket.socket]:
    """The sockets that systemd opened for this process (LISTEN_FDS)."""
    pid, count = os.environ.pop("LISTEN_PID", ""), os.environ.pop("LISTEN_FDS", "0")
    numbers = range(int(count) if pid == str(os.getpid()) and count.isdecimal() else 0)
    try:
        sockets = [socket.socket(fileno=FIRST_INHERITED + number) for number in numbers]
    except OSError:
        sockets = []
    if len(sockets) < len(numbers) or any(one.type != socket.SOCK_STREAM for one in sockets):
        raise UsageError("LISTEN_FDS", "is not a stream socket", "use ListenStream=", "listen-fds")
    return sockets


def listen_on_address(text: str, option: str = "listen") -> list[socket.socket]:
    """Sockets on each address of HOST:PORT; without HOST on localhost.  option : that gave it"""
    parts = re.fullmatch(r"(?:\[(.*)\]|([^:]*)):([0-9]{1,5})", text)
    if not parts or not 0 < int(parts[3]) < 65_536:
        raise UsageError(text, "is not HOST:PORT", ADDRESS_REMEDY, "listen", option=option)
    try:
        host = parts[1] or parts[2] or "localhost"
        addresses = socket.getaddrinfo(host, int(parts[3]), type=socket.SOCK_STREAM)
    except OSError as error:
        why = f"no such host: {error.strerror}"
        raise UsageError(text, why, ADDRESS_REMEDY, "listen-host", option=option) from None
    sockets, failures = [], []
    for family, _, _, _, address in dict.fromkeys(addresses):
        try:
            sockets.append(socket.create_server(address, family=family, backlog=BACKLOG))
        except OSError as error:
            failures.append(error.errno or 0)
    for number in failures:  # localhost has two addresses even where IPv6 is switched off
        if not sockets or number not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            remedy = "choose another: `listen=HOST:PORT` (spamc -p), or a socket: `socket=PATH` (spamc -U)"
            slug = LISTEN_SLUGS.get(number, "listen-failed")
            raise CannotCreateError(text, f"cannot listen there: {os.strerror(number)}", remedy, slug)
    return sockets


def listen_on_path(path: str, mode: int) -> list[socket.socket]:
    """A unix socket with these permissions; it replaces the socket of a dead server, and no other file."""
    if not path:
        remedy = "use for example `socket=~/.nbspam.socket`"
        raise UsageError("", "is not a path", remedy, "socket", option="socket")
    listener, probe = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    probe.setblocking(False)  # a server whose queue is full is alive, too
    try:
        if os.path.lexists(path):
            if not stat.S_ISSOCK(os.lstat(path).st_mode):
                raise CannotCreateError(path, "exists and is not a socket", PATH_REMEDY, "socket-no-socket")
            if probe.connect_ex(path) != errno.ECONNREFUSED:
                remedy = f"stop that server, or {PATH_REMEDY}"
                raise CannotCreateError(path, "another server listens there", remedy, "socket-in-use")
            os.unlink(path)
        listener.bind(path)
        os.chmod(path, mode)
        listener.listen(BACKLOG)  # nobody can connect before
    except OSError as error:
        why = f"cannot make a socket: {error.strerror or error}"
        raise CannotCreateError(path, why, PATH_REMEDY, "socket-failed") from None
    return [listener]


def name_socket(listener: socket.socket) -> tuple[str, bool]:
    """The address of a socket as people write it, and if other machines can reach it."""
    address = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return os.fsdecode(address) or "unix socket", False
    host = f"[{address[0]}]" if listener.family == socket.AF_INET6 else address[0]
    return f"{host}:{address[1]}", address[0] not in ("::1", "127.0.0.1")


class Daemon:
    """A server.

    path : of a unix socket that goes when the server does, unless it is another server's then
    """

    def __init__(
        self, worker: Worker, sockets: list[socket.socket], metrics: list[socket.socket], path: str
    ) -> None:
        self._worker, self._sockets, self._metrics = worker, sockets, metrics
        self._path, self._file = path, file_identity(path)
        self._lifeline = os.pipe()  # workers see its end when this process dies, even by SIGKILL
        self._workers: dict[int, int] = {}  # process number -> slot

    def run(self, jobs: int, seconds: float) -> None:
        """Serve with so many workers until a signal; seconds : that a client has, see Worker."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a parent may have left it ignored
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        self._start_workers(jobs)
        _tell_systemd("READY=1")
        while (number := self._wait(CHECK_SECONDS)) not in STOPS:
            if number == signal.SIGHUP:
                self._send(signal.SIGHUP)
            if number is None:  # not at once: a worker that dies as it starts would fill the log
                self._start_workers(jobs)
        _tell_systemd("STOPPING=1")
        if self._file and file_identity(self._path) == self._file:
            os.unlink(self._path)
        for listener in (*self._sockets, *self._metrics):
            listener.close()
        self._send(signal.SIGTERM)
        deadline = time.monotonic() + 2 * seconds + GRACE_SECONDS
        while self._workers:
            if self._wait(max(0.0, deadline - time.monotonic())) in (None, *STOPS):
                self._send(signal.SIGKILL)
                deadline = time.monotonic() + GRACE_SECONDS

    def _start_workers(self, jobs: int) -> None:
        """Start the workers that are missing, as far as the system gives processes."""
        try:
            for slot in {*range(jobs)} - {*self._workers.values()}:
                process = os.fork()
                if not process:
                    self._work(slot)
                self._workers[process] = slot
        except OSError as error:
            LOG.error("cannot start a process: %s", error.strerror)

    def _work(self, slot: int) -> NoReturn:
        status = 70
        try:
            os.close(self._lifeline[1])
            metrics = self._metrics if slot == 0 else []  # one process shows the figures of all
            self._worker.gauges.slot = slot
            asyncio.run(self._worker.run(self._sockets, metrics, self._lifeline[0]))
            status = 0
        except BaseException as error:
            LOG.error("worker: %s: %s", type(error).__name__, error)
        finally:
            os._exit(status)

    def _send(self, number: int) -> None:
        for process in self._workers:
            os.kill(process, number)

    def _wait(self, seconds: float) -> int | None:
        """The next signal, or None if none comes in this time; forget the workers that have ended."""
        received = signal.sigtimedwait(SIGNALS, seconds)
        for process in list(self._workers):
            ended, status = os.waitpid(process, os.WNOHANG)
            self._workers.pop(ended, None)
            if status:
                LOG.error("worker %d ended with %d", process, os.waitstatus_to_exitcode(status))
        return received.si_signo if received else None


def _tell_systemd(state: str) -> None:
    """Send a state such as READY=1 if systemd asks for it (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address.startswith(("/", "@")):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)
