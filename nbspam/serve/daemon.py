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
from nbspam.serve.gauges import Gauges
from nbspam.serve.users import UserFilters
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
METRICS = -1  # the slot of the process that answers for the gauges


class Listening:
    """Open sockets.  path : of a unix socket that is made here, and goes when the server does"""

    def __init__(self, sockets: list[socket.socket], path: str = "") -> None:
        for one in sockets:
            one.setblocking(False)
        self.sockets = sockets
        self._path = path
        self._file = file_identity(path)

    def names(self) -> dict[str, bool]:
        """Each address as people write it, and True if other machines can reach it."""
        local = ("::1", "127.0.0.1")
        return {
            _name(one): one.family != socket.AF_UNIX and one.getsockname()[0] not in local
            for one in self.sockets
        }

    def close(self) -> None:
        """Close the sockets in this process, and remove the socket file unless it is another server's now."""
        if self._file and file_identity(self._path) == self._file:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        for one in self.sockets:
            one.close()


def _name(one: socket.socket) -> str:
    address = one.getsockname()
    if one.family == socket.AF_UNIX:
        return os.fsdecode(address) or "unix socket"
    host = f"[{address[0]}]" if one.family == socket.AF_INET6 else address[0]
    return f"{host}:{address[1]}"


def take_inherited() -> Listening | None:
    """The sockets that systemd opened for this process (LISTEN_FDS); None if there are none."""
    pid, count = os.environ.pop("LISTEN_PID", ""), os.environ.pop("LISTEN_FDS", "")
    if pid != str(os.getpid()) or not count.isdecimal() or not int(count):
        return None
    try:
        sockets = [socket.socket(fileno=FIRST_INHERITED + number) for number in range(int(count))]
    except OSError:
        sockets = []
    if not sockets or any(one.type != socket.SOCK_STREAM for one in sockets):
        raise UsageError("LISTEN_FDS", "is not a stream socket", "use ListenStream=", "listen-fds")
    return Listening(sockets)


def listen_on_address(text: str, option: str = "listen") -> Listening:
    """Sockets on each address of HOST:PORT; without HOST on localhost.  option : that gave it"""
    found = re.fullmatch(r"(?:\[(.*)\]|([^:]*)):([0-9]{1,5})", text)
    if not found or not 0 < int(found[3]) < 65_536:
        raise UsageError(text, "is not HOST:PORT", ADDRESS_REMEDY, "listen", option=option)
    try:
        host = found[1] or found[2] or "localhost"
        addresses = socket.getaddrinfo(host, int(found[3]), type=socket.SOCK_STREAM)
    except OSError as error:
        why = f"no such host: {error.strerror}"
        raise UsageError(text, why, ADDRESS_REMEDY, "listen-host", option=option) from None
    sockets, failures = [], []
    for family, _, _, _, address in dict.fromkeys(addresses):
        try:
            sockets.append(socket.create_server(address, family=family, backlog=BACKLOG))
        except OSError as error:
            failures.append(error)
    for failure in failures:  # localhost has two addresses even where IPv6 is switched off
        if not sockets or failure.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            why = f"cannot listen there: {os.strerror(failure.errno or 0)}"
            remedy = "choose another: `listen=HOST:PORT` (spamc -p), or a socket: `socket=PATH` (spamc -U)"
            raise CannotCreateError(text, why, remedy, LISTEN_SLUGS.get(failure.errno or 0, "listen-failed"))
    return Listening(sockets)


def listen_on_path(path: str, mode: int) -> Listening:
    """A unix socket with these permissions; it replaces the socket of a dead server, and no other file."""
    if not path:
        remedy = "use for example `socket=~/.nbspam.socket`"
        raise UsageError("", "is not a path", remedy, "socket", option="socket")
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_dead_socket(path)
        one.bind(path)
        os.chmod(path, mode)
        one.listen(BACKLOG)  # nobody can connect before
    except OSError as error:
        one.close()
        why = f"cannot make a socket: {error.strerror or error}"
        raise CannotCreateError(path, why, PATH_REMEDY, "socket-failed") from None
    return Listening([one], path)


def _remove_dead_socket(path: str) -> None:
    """Raise unless there is nothing at the path, or a socket that nobody listens on."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise CannotCreateError(path, "exists and is not a socket", PATH_REMEDY, "socket-no-socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)  # a server whose queue is full is alive, too
        if probe.connect_ex(path) != errno.ECONNREFUSED:
            why, remedy = "another server listens there", f"stop that server, or {PATH_REMEDY}"
            raise CannotCreateError(path, why, remedy, "socket-in-use")
    os.unlink(path)


class Daemon:
    """A server.

    seconds : that a client has to send its request, and again to take the answer
    gauges  : count what is done, and have a process that shows it; or None
    """

    def __init__(
        self,
        listening: Listening,
        filters: UserFilters,
        seconds: float,
        gauges: Gauges | None,
    ) -> None:
        self._listening = listening
        self._filters = filters
        self._seconds = seconds
        self._gauges = gauges
        self._lifeline = os.pipe()  # workers see its end when this process dies, even by SIGKILL
        self._workers: dict[int, int] = {}  # process number -> slot

    def run(self, jobs: int) -> None:
        """Serve with so many workers until a signal stops the server."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a parent may have left it ignored
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        self._start_workers(jobs)
        _tell_systemd("READY=1")
        while (number := _wait_for_signal(CHECK_SECONDS)) not in STOPS:
            if number == signal.SIGHUP:
                self._send(signal.SIGHUP)
            self._remove_dead()
            if number is None:  # not at once: a worker that dies as it starts would fill the log
                self._start_workers(jobs)
        self._stop()

    def _start_workers(self, jobs: int) -> None:
        """Start the workers that are missing, as far as the system gives processes."""
        try:
            for slot in {*range(jobs), *([METRICS] if self._gauges else [])} - {*self._workers.values()}:
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
            if self._gauges:
                self._gauges.begin(slot)
            if self._gauges and slot == METRICS:
                self._gauges.answer(self._lifeline[0])
            else:
                worker = Worker(self._listening.sockets, self._filters, self._seconds, self._gauges)
                asyncio.run(worker.run(self._lifeline[0]))
            status = 0
        except BaseException as error:
            LOG.error("worker: %s: %s", type(error).__name__, error)
        finally:
            os._exit(status)

    def _remove_dead(self) -> None:
        """Forget the workers that have ended."""
        for process in list(self._workers):
            found, status = os.waitpid(process, os.WNOHANG)
            self._workers.pop(found, None)
            if status:
                LOG.error("worker %d ended with %d", process, os.waitstatus_to_exitcode(status))

    def _send(self, number: int) -> None:
        for process in self._workers:
            os.kill(process, number)

    def _stop(self) -> None:
        """Let the workers answer what has started, within the time that a client has."""
        _tell_systemd("STOPPING=1")
        self._listening.close()
        self._send(signal.SIGTERM)
        deadline = time.monotonic() + 2 * self._seconds + GRACE_SECONDS
        while self._workers:
            number = _wait_for_signal(max(0.0, deadline - time.monotonic()))
            if number is None or number in STOPS:
                self._send(signal.SIGKILL)
                deadline = time.monotonic() + GRACE_SECONDS
            self._remove_dead()


def _wait_for_signal(seconds: float) -> int | None:
    """The next signal; None if no signal comes in this time."""
    found = signal.sigtimedwait(SIGNALS, seconds)
    return found.si_signo if found else None


def _tell_systemd(state: str) -> None:
    """Send a state such as READY=1 if systemd asks for it (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address.startswith(("/", "@")):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
            one.sendto(state.encode(), "\0" + address[1:] if address[0] == "@" else address)
