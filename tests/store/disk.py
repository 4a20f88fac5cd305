"""What a disk may hold after a power loss: the file operations of a command, recorded and cut short.

strace records the operations.  The disk has what was synchronised.  Of later writes it has any, in sectors;
of the later changes of folders it has the first ones, because journalling file systems keep their order.
"""

import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SECTOR = 512
CALLS = "openat,write,pwrite64,ftruncate,fsync,fdatasync,unlink,rename,link,mkdir"
_LINE = re.compile(r"(\d+) +(.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (\d+)")
_PART = re.compile(r'"((?:\\x..)*)"|(?:^|, )\d+<((?:\\x..)+)>|, (\d+)(?=$|,)')


class Operation(NamedTuple):
    """call, the paths of its files, and for a write its data and place; the size for ftruncate."""

    call: str
    paths: tuple[str, ...]
    data: bytes = b""
    place: int | None = None


def recorded(command: Sequence[str | Path], folder: Path, stdin: bytes = b"") -> list[Operation]:
    """What a command that succeeds does to the files of a folder."""
    log = folder.parent / "strace"
    strace = ["strace", "-f", "-y", "-xx", "-s", "16777216", "-e", f"trace={CALLS}", "-o", log]
    subprocess.run([*strace, *command], input=stdin, check=True, capture_output=True)
    return [one for one in _operations(log.read_text()) if one.paths[0].startswith(str(folder))]


def _operations(log: str) -> Iterator[Operation]:
    begun: dict[str, str] = {}
    for line in log.splitlines():
        found = _LINE.fullmatch(line)
        process, text = found.groups() if found else ("", "")
        if text.endswith(" <unfinished ...>"):
            begun[process] = text.removesuffix(" <unfinished ...>")
            continue
        text = re.sub(r"^<\.\.\. \w+ resumed>", lambda _: begun.pop(process, ""), text)  # noqa: B023
        call = _CALL.match(text)
        if call:
            yield from _operation(call[1], call[2])


def _operation(call: str, arguments: str) -> Iterator[Operation]:
    texts, numbers, files = [], [], []
    for text, file, number in _PART.findall(arguments):
        if file:
            files.append(_plain(file).decode())
        elif number:
            numbers.append(int(number))
        else:
            texts.append(_plain(text))
    if call == "openat":
        if "O_CREAT" in arguments:
            yield Operation("create", (texts[0].decode(),))
    elif call in ("write", "pwrite64"):
        yield Operation("write", (files[0],), texts[0], numbers[1] if call == "pwrite64" else None)
    elif call == "ftruncate":
        yield Operation("truncate", (files[0],), b"", numbers[0])
    elif call in ("fsync", "fdatasync"):
        yield Operation("sync", (files[0],))
    else:
        yield Operation(call, tuple(text.decode() for text in texts))


def _plain(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


class File:
    """The bytes on the disk, and the writes that may not be there yet: data and place, or None and a size."""

    def __init__(self, data: bytes = b"") -> None:
        self.data, self.size = data, len(data)
        self.later: list[tuple[bytes | None, int]] = []

    def write(self, data: bytes | None, place: int | None) -> None:
        at = self.size if place is None else place
        self.later.append((data, at))
        self.size = at if data is None else max(self.size, at + len(data))

    def sync(self) -> None:
        self.data = self._with(self.later)
        self.later = []

    def after_loss(self, drawn: random.Random) -> bytes:
        """The file with some of its later writes; of each write with some sectors."""
        kept = []
        share = drawn.choice((0, 0.5, 1))
        for data, place in self.later:
            if data is None:
                kept += [(data, place)] * (drawn.random() < share)
                continue
            for start in range(0, len(data), SECTOR):
                if drawn.random() < share:
                    kept.append((data[start : start + SECTOR], place + start))
        return self._with(kept)

    def _with(self, writes: list[tuple[bytes | None, int]]) -> bytes:
        new = bytearray(self.data)
        for data, place in writes:
            if data is None:
                new = new[:place].ljust(place, b"\0")
            else:
                new = new.ljust(place, b"\0")
                new[place : place + len(data)] = data
        return bytes(new)


class Disk:
    """The files of a folder, and the operations on them as far as they are done."""

    def __init__(self, folder: Path) -> None:
        paths = [path for path in folder.rglob("*") if path.is_file()]
        self.names = {str(path): File(path.read_bytes()) for path in paths}  # as programs see them
        self._on_disk = dict(self.names)
        self._later: list[tuple[str, dict[str, File]]] = []  # changed folders, and the names afterwards

    def do(self, one: Operation) -> None:
        """One operation."""
        path = one.paths[0]
        if one.call == "write" or one.call == "truncate":
            self.names[path].write(one.data if one.call == "write" else None, one.place)
        elif one.call == "sync" and path in self.names:
            self.names[path].sync()
        elif one.call == "sync":  # a folder; the order of all changes of names is kept
            done = [at for at, (folder, _) in enumerate(self._later, 1) if folder == path]
            if done:
                self._on_disk = self._later[done[-1] - 1][1]
                del self._later[: done[-1]]
        elif one.call == "create":
            if path not in self.names:
                self._name(path, {path: File()})
        elif one.call == "unlink":
            self._name(path, {}, path)
        elif one.call == "link":
            self._name(one.paths[1], {one.paths[1]: self.names[path]})
        elif one.call == "rename":
            self._name(one.paths[1], {one.paths[1]: self.names[path]}, path)

    def _name(self, path: str, new: dict[str, File], old: str = "") -> None:
        self.names = {name: file for name, file in self.names.items() if name != old} | new
        self._later.append((str(Path(path).parent), self.names))

    def after_loss(self, drawn: random.Random) -> dict[str, bytes]:
        """path -> content, as a power loss now may leave it."""
        states = [self._on_disk, *(names for _, names in self._later)]
        names = drawn.choice((states[0], states[-1], drawn.choice(states)))
        contents = {id(file): file.after_loss(drawn) for file in names.values()}
        return {name: contents[id(file)] for name, file in names.items()}
