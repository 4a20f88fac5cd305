"""The SPAMD protocol: from what a client sends to a Request, from a verdict to the bytes of an answer.

Source: SpamAssassin's spamd/PROTOCOL, and spamd 4.0.1 where that is silent or differs.
"""

import asyncio
import os
import re
import zlib
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from nbspam.decision import Verdict
from nbspam.errors import BadDataError, NbspamError
from nbspam.labels import SPAM
from nbspam.mail.headers import find_header_fields
from nbspam.passthrough import compute_spamassassin_score

MAX_MESSAGE_BYTES = 32 << 20  # mail servers take less; spamc sends 0.5 MB at most unless it is told otherwise
MAX_LINE_BYTES = 8_192  # spamc writes its whole header into a buffer of this size
MAX_USER = 255  # characters
MAX_REASON = 200  # characters of a refusal
END_SECONDS = 0.1  # for the client to send more than it has announced, or to close its side
MakeRoom = Callable[[int], Awaitable[None]]

JUDGING = ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS")
WITHOUT_MESSAGE = ("PING", "SKIP")
VERBS = (*JUDGING, "TELL", *WITHOUT_MESSAGE)
VERSION = "SPAMD/1.5"
OK = f"{VERSION} 0 EX_OK\r\n"
PONG = f"{VERSION} 0 PONG\r\n".encode()
STATUS_NAMES = {getattr(os, name): name for name in dir(os) if name.startswith("EX_")}
_FIELDS = ("content-length", "user", "compress", "message-class", "set", "remove")
_FIRST_LINE = re.compile(r"([A-Z_]+) \s*SPAMC/([0-9]{1,2})\.([0-9]{1,2})\s*")


class ClientError(NbspamError):
    """A request that cannot be answered; status 76 is EX_PROTOCOL."""

    def __init__(self, why: str, status: int = 76) -> None:
        super().__init__("request", why, "", "protocol")
        self.status = status


class Request(NamedTuple):
    """What a client asks.

    version  : of the protocol, (1, 5)
    message  : the bytes of the mail, unpacked
    learn_as : of TELL, the class that the message is, as the client spells it; or empty
    forget   : of TELL, true to forget the message
    """

    command: str
    version: tuple[int, int]
    user: str = ""
    message: bytes = b""
    learn_as: str = ""
    forget: bool = False


async def read_request(line: str, stream: asyncio.StreamReader, make_room: MakeRoom) -> Request:
    """One request, as it comes.

    line      : its first, of read_line
    make_room : waits until so many bytes of a message may be in memory
    Raises a child of NbspamError for a bad request.
    """
    command, version = _parse_first_line(line)
    has_message = command not in WITHOUT_MESSAGE
    fields: dict[str, str] = {}
    is_header = has_message or version >= (1, 5)  # older versions have none
    while is_header:
        line = await read_line(stream)
        if has_message and not line.endswith("\n"):
            raise ClientError("(EOF during headers)")
        name, colon, value = line.partition(":")
        is_header = bool(line.rstrip("\r\n"))
        if is_header and not colon:
            raise ClientError("(header not in 'Name: value' format)")
        if name.strip().lower() in _FIELDS:
            fields[name.strip().lower()] = value.strip()
    message = await _read_message(stream, fields, make_room) if has_message else b""
    return _make_request(command, version, fields, message)


async def read_line(stream: asyncio.StreamReader) -> str:
    """The next line with its end, which it lacks if the stream ends there; empty at the end."""
    try:
        line = await stream.readline()
    except ValueError:  # it is longer than what the stream holds
        line = bytes(MAX_LINE_BYTES + 1)
    if len(line) > MAX_LINE_BYTES:
        raise ClientError(f"(line of more than {MAX_LINE_BYTES} bytes)")
    return line.decode("utf-8", "replace")


async def _read_message(stream: asyncio.StreamReader, fields: dict[str, str], make_room: MakeRoom) -> bytes:
    """The bytes of the mail; without a Content-length the end of the stream ends them."""
    text, packing = fields.get("content-length"), fields.get("compress")
    if text is not None and not re.fullmatch("[0-9]{1,18}", text):
        raise ClientError("(Content-Length contains non-numeric bytes)")
    if packing is not None and packing.lower() != "zlib":
        raise ClientError(f"(compression type not supported: {packing[:20]!r})")
    length = MAX_MESSAGE_BYTES if text is None else int(text)
    if length > MAX_MESSAGE_BYTES:
        raise _too_long()
    await make_room(length if packing is None else length + MAX_MESSAGE_BYTES)
    try:
        message = await stream.readexactly(length)
    except asyncio.IncompleteReadError as error:
        message = error.partial
    more = b"" if len(message) < length else await _read_end(stream)
    if text is None and more:
        raise _too_long()
    if text is not None and (more or len(message) < length):
        received = f"got {len(message)}{' and more' if more else ''} bytes"
        raise ClientError(f"(Content-Length mismatch: Expected {length} bytes, {received})")
    return message if packing is None else _unpack(message)


async def _read_end(stream: asyncio.StreamReader) -> bytes:
    """What a client sends after its message; it has a moment to close its side, and need not."""
    try:
        async with asyncio.timeout(END_SECONDS):
            return await stream.read(1)
    except TimeoutError:
        return b""


def _parse_first_line(line: str) -> tuple[str, tuple[int, int]]:
    """The command and the version of the protocol."""
    found = _FIRST_LINE.fullmatch(line)
    if not found or found[1] not in VERBS:
        raise ClientError(f"(not a request: {line.rstrip()[:40]!r})")
    return found[1], (int(found[2]), int(found[3]))


def _make_request(command: str, version: tuple[int, int], fields: dict[str, str], message: bytes) -> Request:
    user = fields.get("user", "")
    is_name = user.isprintable() and len(user) <= MAX_USER
    if command != "TELL":
        return Request(command, version, user if is_name else "", message)  # mail is judged whoever asks
    if not is_name:
        raise ClientError("(User header contains control chars, or is too long)")
    to_set = re.split(r"[\s,]+", fields.get("set", "").lower())
    to_remove = re.split(r"[\s,]+", fields.get("remove", "").lower())
    label = fields.get("message-class", "") if "local" in to_set else ""
    return Request(command, version, user, message, label, "local" in to_remove)


def _unpack(data: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        message = unpacker.decompress(data, MAX_MESSAGE_BYTES + 1)  # a byte more shows that it is too long
    except zlib.error:
        message = b""
    if len(message) > MAX_MESSAGE_BYTES:
        raise _too_long()
    if not unpacker.eof or unpacker.unused_data:
        raise ClientError("(the message is not compressed by zlib)")
    return message


def _too_long() -> BadDataError:
    remedy = "let the mail server skip such messages, as spamc -s does"
    return BadDataError("message", f"is longer than {MAX_MESSAGE_BYTES:,} bytes", remedy, "message-long")


def format_score(verdict: Verdict) -> str:
    """The score of a message and its threshold, in nats, as spamd writes them: `7.301 / 0.000`."""
    score, threshold = compute_spamassassin_score(verdict)
    return f"{score:.3f} / {threshold:.3f}"


def write_answer(request: Request, verdict: Verdict, content: bytes = b"") -> bytes:
    """The answer to a request for a verdict, as the version of the client expects it: 1.2 (Exim) or newer."""
    is_old = request.version < (1, 3)
    is_mail = request.command in ("PROCESS", "HEADERS")
    has_length = request.command != "CHECK" and (is_mail or not is_old)
    length = f"Content-length: {len(content)}\r\n" if has_length else ""
    spam = "" if is_mail and is_old else f"Spam: {verdict.label == SPAM} ; {format_score(verdict)}\r\n"
    end = b"\r\n" if request.command == "SYMBOLS" and is_old else b""
    return f"{OK}{length}{spam}\r\n".encode() + content + end


def write_tell_answer(did_set: bool, did_remove: bool) -> bytes:
    """The answer to TELL: what was changed."""
    text = ("DidSet: local\r\n" if did_set else "") + ("DidRemove: local\r\n" if did_remove else "")
    return f"{OK}{text}\r\n".encode()


def write_refusal(error: NbspamError) -> bytes:
    """The answer to a client that gets no verdict: one line, and no empty line after it.

    spamc -x then ends with 74, and sendmail tries again; else with 76, a lasting failure.
    """
    name = STATUS_NAMES.get(error.status, "Timeout")
    return f"{VERSION} {error.status} {name}: {make_printable(error.why)[:MAX_REASON]}\r\n".encode()


def make_printable(text: str) -> str:
    """The text with a dot for each character that is not printable."""
    return "".join(character if character.isprintable() else "." for character in text)


def write_symbols(clues: Sequence[tuple[str, float]]) -> bytes:
    """The tokens of the clues, separated by commas."""
    names = [make_printable(token).replace(",", ".").replace(" ", ".") for token, _ in clues]
    return ",".join(names).encode("utf-8", "replace")


def write_report(verdict: Verdict, spam: str) -> bytes:
    """The verdict, and its clues with their nats.  spam : the name of the class that is asked for"""
    probability = "undefined" if verdict.probability is None else f"{verdict.probability:.4f}"
    lines = [f"{verdict.label}: P({spam}) {probability}, score {format_score(verdict)}", "", "   nats  clue"]
    lines += [f"{nats:+7.2f}  {make_printable(token)}" for token, nats in verdict.clues]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def cut_header(data: bytes) -> bytes:
    """The header as spamc finds it; after the answer to HEADERS, spamc writes its own copy of the body."""
    ends = [data.find(blank) + len(blank) for blank in (b"\r\n\r\n", b"\n\n") if blank in data]
    return data[: min(ends)] if ends else data


def find_message_id(data: bytes) -> str:
    """The Message-ID of a mail for the log, "-" if it has none."""
    for start, stop, name in find_header_fields(data):
        if name == "message-id":
            value = data[start:stop].partition(b":")[2].decode("latin-1")
            return make_printable("".join(value.split()))[:MAX_REASON] or "-"
    return "-"
