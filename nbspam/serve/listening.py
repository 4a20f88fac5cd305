"""Where clients connect: a socket in the file system, TCP addresses, or sockets that systemd opened.

Hides how a socket file that a dead server left is told from one that is served, and that it never is missing
while one takes the place of another.  Also tells systemd of the state (sd_notify), which is a datagram.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import ipaddress
import os
import socket
import stat
from collections.abc import Iterator
from typing import Any

from nbspam.errors import CannotCreateError, UsageError

DEFAULT_ADDRESS = "localhost:783"  # where spamc looks, and spamd listens
LISTEN_REMEDY = "use for example --listen localhost:783, or --listen [::1]:783"
BACKLOG = 512  # connections that wait to be accepted; the system may have a lower bound
FIRST_INHERITED = 3  # SD_LISTEN_FDS_START


class Listening:
    """Open sockets, and the file of a unix socket, which goes when the server does."""

    def __init__(self, sockets: list[socket.socket], path: str = "") -> None:
        for one in sockets:
            one.setblocking(False)
        self.sockets = sockets
        self._path = path
        self._file = _identity(path) if path else None

    def names(self) -> list[str]:
        """Each address as people write it."""
        return [self._path] if self._path else [_name(one) for one in self.sockets]

    def open_to_others(self) -> list[str]:
        """Those names that other machines may reach."""
        return [_name(one) for one in self.sockets if not _is_local(one)]

    def hide(self) -> None:
        """Takes the socket file away, if it is still ours, so that nobody begins to connect."""
        if self._file is not None and _identity(self._path) == self._file:
            with contextlib.suppress(OSError):
                os.unlink(self._path)

    def close(self) -> None:
        """Closes the sockets in this process."""
        for one in self.sockets:
            one.close()


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _name(one: socket.socket) -> str:
    address = one.getsockname()
    if one.family == socket.AF_UNIX:
        return os.fsdecode(address) if address else "unix socket"
    host = f"[{address[0]}]" if one.family == socket.AF_INET6 else address[0]
    return f"{host}:{address[1]}"


def _is_local(one: socket.socket) -> bool:
    if one.family not in (socket.AF_INET, socket.AF_INET6):
        return True
    return ipaddress.ip_address(one.getsockname()[0].partition("%")[0]).is_loopback


def inherited() -> Listening | None:
    """The sockets that systemd opened for this process (LISTEN_FDS), None if there are none."""
    try:
        pid, count = int(os.environ.pop("LISTEN_PID", "0")), int(os.environ.pop("LISTEN_FDS", "0"))
    except ValueError:
        return None
    os.environ.pop("LISTEN_FDNAMES", None)
    if pid != os.getpid() or count <= 0:
        return None
    try:
        found = [socket.socket(fileno=number) for number in range(FIRST_INHERITED, FIRST_INHERITED + count)]
    except OSError as error:
        raise UsageError("LISTEN_FDS", f"no socket was passed: {error.strerror}", "", "listen-fds") from None
    for one in found:
        one.set_inheritable(False)
        if one.type != socket.SOCK_STREAM:
            raise UsageError("LISTEN_FDS", "a socket is no stream", "use ListenStream=", "listen-fds")
    return Listening(found)


def on_address(text: str) -> Listening:
    """Sockets on each address of HOST:PORT; a host left out is this machine alone."""
    host, port = _host_and_port(text)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise UsageError(f"--listen {text}", f"no such host: {error.strerror}", LISTEN_REMEDY, "listen-host")
    sockets: list[socket.socket] = []
    missing = None
    for family, _, _, _, address in dict.fromkeys(found):
        try:
            sockets.append(_bound(family, address))
        except OSError as error:
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise _no_address(text, error) from None
            missing = error  # localhost has two addresses also where IPv6 is switched off
    if missing is not None and not sockets:
        raise _no_address(text, missing)
    return Listening(sockets)


def _bound(family: int, address: tuple[Any, ...]) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind(address)
        one.listen(BACKLOG)
    except OSError:
        one.close()
        raise
    return one


def _host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0
    if not 0 < number < 65_536 or (":" in host and not text.startswith("[")):
        raise UsageError(f"--listen {text}", "is not HOST:PORT", LISTEN_REMEDY, "listen")
    return host or "localhost", number


def _no_address(text: str, error: OSError) -> CannotCreateError:
    if error.errno == errno.EADDRINUSE:
        remedy = "stop the server that has it, or choose another: --listen HOST:PORT"
        return CannotCreateError(text, "another server listens there", remedy, "listen-in-use")
    if error.errno == errno.EACCES:
        remedy = "choose a port above 1023 (spamc -p), or a socket: --socket PATH (spamc -U)"
        return CannotCreateError(text, "only root may listen there", remedy, "listen-denied")
    why = f"cannot be listened on: {error.strerror}"
    return CannotCreateError(text, why, LISTEN_REMEDY, "listen-failed")


def on_path(path: str, mode: int) -> Listening:
    """A unix socket with these permissions; the file of a server that is dead gives way, no other does."""
    if not path:
        raise UsageError("--socket", "names no path", "use for example --socket ~/.nbspam.socket", "socket")
    made = f"{path}.{os.getpid()}"  # not seen under its name before it is ready
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _alone_in(os.path.dirname(path) or "."):
            _check_free(path)
            before = os.umask(0o777)
            try:
                one.bind(made)
            finally:
                os.umask(before)
            try:
                os.chmod(made, mode)
                one.listen(BACKLOG)
                os.rename(made, path)
            except OSError:
                os.unlink(made)
                raise
    except OSError as error:
        one.close()
        why = error.strerror or str(error)
        remedy = "choose another place: --socket PATH"
        raise CannotCreateError(path, f"no socket can be made: {why}", remedy, "socket-failed") from None
    return Listening([one], path)


@contextlib.contextmanager
def _alone_in(folder: str) -> Iterator[None]:
    """Of two servers that begin at once, the second sees the socket of the first."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _check_free(path: str) -> None:
    """Raises unless there is nothing at the path, or a socket that nobody listens on."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        remedy = "choose another place: --socket PATH"
        raise CannotCreateError(path, "is there, and is no socket", remedy, "socket-no-socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)  # a server whose queue is full is alive, too
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return
        except BlockingIOError:
            pass
    remedy = "stop that server, or choose another place: --socket PATH"
    raise CannotCreateError(path, "another server listens there", remedy, "socket-in-use")


def notify(state: str) -> None:
    """Tells systemd, if it asked to be told; READY=1 and so on."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.sendto(state.encode(), "\0" + address[1:] if address.startswith("@") else address)
