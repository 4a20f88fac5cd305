"""Requests of the SPAMD protocol: bytes in, a request out.

Hides the grammar.  The bytes may come in any pieces, and what is read or refused is the same; no request
takes more memory than MAX_MESSAGE_BYTES and some kilobytes, packed or not.  What a client may send raises
nothing but a child of NbspamError, whose status and reason go back to it.
Source: SpamAssassin's spamd/PROTOCOL, and spamd 4.0.1 where that is silent or says something else.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

from nbspam.errors import BadDataError, NbspamError

MAX_MESSAGE_BYTES = 32 << 20  # mail servers take less; spamc sends 0.5 MB at most unless told otherwise
MAX_LINE_BYTES = 8_192  # spamc writes its whole header into a buffer of this size
MAX_FIELDS = 255  # as spamd
MAX_LENGTH_DIGITS = 18
MAX_USER = 255  # characters

JUDGING = ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS")
WITHOUT_MESSAGE = ("PING", "SKIP")
COMMANDS = (*JUDGING, "TELL", *WITHOUT_MESSAGE)


class ProtocolError(NbspamError):
    """A request that is none, or contradicts itself (EX_PROTOCOL)."""

    status = 76

    def __init__(self, why: str) -> None:
        super().__init__("request", f"({why})", "", "protocol")


class Request(NamedTuple):
    """What a client asks.

    version       : of the protocol, (1, 5)
    message       : the bytes of the mail, unpacked
    message_class : of TELL, as the client spells it
    set_local, remove_local : of TELL, whether the model shall learn or forget the message
    """

    command: str
    version: tuple[int, int]
    user: str = ""
    message: bytes = b""
    message_class: str = ""
    set_local: bool = False
    remove_local: bool = False


class RequestReader:
    """One request, read piece by piece; what comes behind it is left alone."""

    def __init__(self, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._most = max_message_bytes
        self._line = bytearray()  # what there is of a line that has no end yet
        self._fields: dict[str, str] = {}
        self._field_count = 0
        self._asked: Request | None = None  # once its first line is read
        self._message: _Message | None = None  # once its header is read
        self.begun = False

    @property
    def held(self) -> int:
        """Bytes kept in memory."""
        return len(self._line) + (len(self._message.data) if self._message else 0)

    def feed(self, data: bytes) -> Request | None:
        """Takes some bytes; the request, if it is complete with them."""
        self.begun = self.begun or bool(data)
        if self._message is None:
            done, data = self._read_header(data)
            if done:
                return self._asked
            if self._message is None:
                return None
        return self._finished() if self._message.take(data) else None

    def end(self) -> Request | None:
        """The client sends no more.  None where it sent nothing at all."""
        if self._message is not None:
            self._message.end()
            return self._finished()
        if self._asked is not None and self._asked.command in WITHOUT_MESSAGE:
            return self._asked
        if not self.begun:
            return None
        raise ProtocolError("EOF during headers")

    def _finished(self) -> Request:
        assert self._asked is not None and self._message is not None
        return self._asked._replace(message=bytes(self._message.data))

    def _read_header(self, data: bytes) -> tuple[bool, bytes]:
        """(whether the request is complete, what comes behind the header)."""
        start = 0
        while True:
            feed = data.find(b"\n", start)
            self._line += data[start : feed if feed >= 0 else len(data)]
            if len(self._line) > MAX_LINE_BYTES:
                raise ProtocolError(f"line of more than {MAX_LINE_BYTES} bytes")
            if feed < 0:
                return False, b""
            start = feed + 1
            line = self._line.decode("utf-8", "replace").removesuffix("\r")
            self._line.clear()
            if self._read_line(line):
                return True, b""
            if self._message is not None:
                return False, data[start:]

    def _read_line(self, line: str) -> bool:
        """Reads a line of the header; whether it completes a request, which then has no message."""
        if self._asked is None:
            self._asked = _first_line(line)
            if self._asked.command in WITHOUT_MESSAGE:
                return self._asked.version < (1, 5)  # their header came with 1.5
            if self._asked.version <= (1, 0):  # without a header
                self._message = _Message(None, False, self._most)
        elif line:
            self._read_field(line)
        elif self._asked.command in WITHOUT_MESSAGE:
            return True
        else:
            self._asked = _with_fields(self._asked, self._fields)
            self._message = _Message(_length(self._fields), _is_packed(self._fields), self._most)
        return False

    def _read_field(self, line: str) -> None:
        self._field_count += 1
        if self._field_count > MAX_FIELDS:
            raise ProtocolError("too many headers")
        name, colon, value = line.partition(":")
        if not colon:
            raise ProtocolError("header not in 'Name: value' format")
        name, value = name.strip().lower(), value.strip()
        if name == "content-length" and self._fields.get(name, value) != value:
            raise ProtocolError("two Content-lengths")
        if name in ("content-length", "user", "compress", "message-class", "set", "remove"):
            self._fields[name] = value


class _Message:
    """The bytes of a mail, as they come.

    length : how many come; None where the end of the stream ends them
    packed : whether they are compressed by zlib
    most   : bytes that the mail may have
    """

    def __init__(self, length: int | None, packed: bool, most: int) -> None:
        if length is not None and length > most:
            raise _too_long(most)
        self._length = length
        self._unpacker = zlib.decompressobj() if packed else None
        self._most = most
        self._came = 0
        self.data = bytearray()

    def take(self, data: bytes) -> bool:
        """Takes some bytes; whether the mail is complete with them."""
        if self._length is not None:
            data = data[: self._length - self._came]
        self._came += len(data)
        if data:
            self.data += self._unpacked(data)
        if len(self.data) > self._most:
            raise _too_long(self._most)
        if self._came != self._length:
            return False
        self._check_unpacked()
        return True

    def _unpacked(self, data: bytes) -> bytes:
        if self._unpacker is None:
            return data
        try:
            # One byte more than there is room for tells that it is too long; what is beyond is not unpacked.
            unpacked = self._unpacker.decompress(data, self._most - len(self.data) + 1)
        except zlib.error:
            raise ProtocolError("the message is not compressed by zlib") from None
        if self._unpacker.unused_data:
            raise ProtocolError("bytes behind the compressed message")
        return unpacked

    def _check_unpacked(self) -> None:
        if self._unpacker is not None and not self._unpacker.eof:
            raise ProtocolError("the compressed message is cut short")

    def end(self) -> None:
        """No more bytes come."""
        if self._length is not None:
            raise ProtocolError(
                f"Content-Length mismatch: Expected {self._length} bytes, got {self._came} bytes"
            )
        self._check_unpacked()


def _first_line(line: str) -> Request:
    command, _, rest = line.partition(" ")
    protocol, slash, version = rest.strip().partition("/")
    major, dot, minor = version.partition(".")
    numbers = [number for number in (major, minor) if number.isascii() and number.isdigit()]
    if command not in COMMANDS or protocol + slash != "SPAMC/" or not dot or len(numbers) != 2:
        raise ProtocolError(f"not a request: {line[:40]!r}")
    if len(major) > 2 or len(minor) > 2:
        raise ProtocolError(f"no such version: {version[:20]}")
    return Request(command, (int(major), int(minor)))


def _with_fields(asked: Request, fields: dict[str, str]) -> Request:
    """The request with what its header says of it."""
    user = fields.get("user", "")
    is_name = user.isprintable() and len(user) <= MAX_USER
    if asked.command != "TELL":
        return asked._replace(user=user if is_name else "")  # mail is judged whoever asks
    if not is_name:
        raise ProtocolError("User header contains control chars, or is too long")
    learn, forget = (
        {word.strip().lower() for word in fields.get(name, "").split(",")} for name in ("set", "remove")
    )
    for place in ("local", "remote"):
        if place in learn and place in forget:
            raise ProtocolError(f"Unable to set {place} and remove {place} in the same operation.")
    message_class = fields.get("message-class", "")
    if "local" in learn and not message_class:
        raise ProtocolError("Set without a Message-class")
    return asked._replace(
        user=user, message_class=message_class, set_local="local" in learn, remove_local="local" in forget
    )


def _length(fields: dict[str, str]) -> int | None:
    """The Content-length, None where there is none."""
    text = fields.get("content-length")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_LENGTH_DIGITS):
        raise ProtocolError("Content-Length contains non-numeric bytes")
    return int(text)


def _is_packed(fields: dict[str, str]) -> bool:
    kind = fields.get("compress")
    if kind is not None and kind.lower() != "zlib":
        raise ProtocolError(f"compression type not supported: {kind[:20]!r}")
    return kind is not None


def _too_long(most: int) -> BadDataError:
    remedy = "let the mail server pass it by, as spamc -s does"
    return BadDataError("message", f"is longer than {most:,} bytes", remedy, "message-long")
